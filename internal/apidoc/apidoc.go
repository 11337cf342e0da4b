// Package apidoc knows of every function of the driver API what package cu makes of it, what its parameters mean, and
// what of package cuda does the same.
package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/nearest"
)

//go:embed zz_generated_functions.json
var functions []byte // one object a line, sorted by name, from internal/gen

//go:embed names.json
var names []byte // from internal/cudagen

// Function is one function of the API.
type Function struct {
	C          string   `json:"c"`         // the symbol
	Prototype  string   `json:"prototype"` // in C
	Go         string   `json:"go"`        // the name in package cu, of a function and a method of API
	Signature  string   `json:"signature"` // in Go
	Params     []Param  `json:"params"`
	Results    []string `json:"results"` // documented result codes
	Group      string   `json:"group"`
	Header     string   `json:"header"`
	Since      string   `json:"since,omitempty"` // first CUDA version; empty when not recorded
	Deprecated bool     `json:"deprecated,omitempty"`
	Current    string   `json:"current,omitempty"` // the symbol that the headers mean by the plain name, where another
	Cuda       string   `json:"cuda,omitempty"`    // what of package cuda does it, or why nothing has to
}

// Param is a parameter of C.
type Param struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Place string `json:"place,omitempty"` // where it went in Go; empty for a plain parameter
	Words string `json:"words"`
}

// UnknownError is a name that the API does not have.
type UnknownError struct {
	Name, Meant string // Meant may be empty
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("the driver API has no function %s", e.Name)
	if e.Meant != "" {
		s += "; did you mean " + e.Meant + "?"
	}
	return s
}

// Find finds a function by its C symbol (cuMemAlloc_v2), its plain C name (cuMemAlloc, which is the current version) or
// its name in package cu (MemAlloc, cu.MemAlloc). The error is an [*UnknownError].
func Find(name string) (*Function, error) {
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "cu."), "API.")
	if v := driver.PerThreadVariant(plain); v != "" {
		plain = strings.TrimSuffix(plain, v)
	}
	for _, symbol := range []string{driver.Current("cu" + plain), driver.Current(plain), "cu" + plain, plain,
		"cu" + strings.TrimSuffix(plain, "_v1"), strings.TrimSuffix(plain, "_v1")} {
		if f, ok := lookup(symbol); ok {
			return f, nil
		}
	}
	var all []string
	for s := range driver.Symbols() {
		all = append(all, s.Base)
	}
	slices.Sort(all)
	like := plain
	if !strings.HasPrefix(like, "cu") {
		like = "cu" + like
	}
	return nil, &UnknownError{name, nearest.Meant(like, slices.Compact(all))}
}

// lookup finds a symbol.
func lookup(symbol string) (*Function, bool) {
	s, ok := driver.Lookup(symbol)
	if !ok {
		return nil, false
	}
	key := []byte(`{"c":"` + s.Name + `"`)
	for line := range bytes.Lines(functions) {
		if !bytes.HasPrefix(line, key) {
			continue
		}
		f := new(Function)
		if json.Unmarshal(line, f) != nil {
			return nil, false
		}
		var users map[string]string
		if json.Unmarshal(names, &users) != nil {
			return nil, false
		}
		f.Group, f.Header, f.Deprecated, f.Cuda = s.Group, s.Header, s.Deprecated, users[s.Base]
		if s.Since > 0 {
			f.Since = fmt.Sprintf("%d.%d", s.Since/1000, s.Since%1000/10)
		}
		if c := driver.Current(s.Base); c != s.Name {
			f.Current = c
		}
		return f, true
	}
	return nil, false
}
