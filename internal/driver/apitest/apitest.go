// Package apitest compares Go declarations with the API as data, for the tests of packages driver and cu. It reads the
// layout dump of the JSON on its own, so that an error of the generator does not hide itself.
package apitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// API is what the tests need of api/cuda-13.5.json.
type API struct {
	Functions []struct {
		Name, Base, Variant, Group string
		Deprecated                 bool
		Params                     []struct {
			Name, Type string
			Out        bool
		}
	}
	Enums []struct {
		Tag    string
		Values [][2]any
	}
	Typedefs  []struct{ Name, Type string }
	Records   map[string]Record
	Macros    map[string]string
	Exported  []string            `json:"exported_symbols"`
	Hidden    []string            `json:"undocumented_symbols"`
	Current   map[string]string   `json:"current_symbol"`
	PerThread map[string][]string `json:"per_thread_default_stream"`
	Entries   map[string][]struct {
		Version         int
		Variant, Symbol string
	} `json:"entry_point_versions"`
}

// Record is a struct or union of the layout dump.
type Record struct {
	Kind        string
	Size, Align int
	Fields      []struct {
		Offset, Depth int
		Decl          string
	}
}

// Load reads the JSON of the repository.
func Load(t testing.TB) *API {
	t.Helper()
	root, err := os.Getwd() // of the package under test: source paths are cut off with -trimpath
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			t.Fatal("no go.mod above the working folder")
		}
		root = filepath.Dir(root)
	}
	b, err := os.ReadFile(filepath.Join(root, "api", "cuda-13.5.json"))
	if err != nil {
		t.Fatal(err)
	}
	api := new(API)
	if err := json.Unmarshal(b, api); err != nil {
		t.Fatal(err)
	}
	return api
}

// CheckEnums compares every enumeration constant and reports how many there are.
func (api *API) CheckEnums(t *testing.T, have map[string]int64) int {
	t.Helper()
	n := 0
	for _, e := range api.Enums {
		for _, v := range e.Values {
			n++
			name, want := v[0].(string), int64(v[1].(float64))
			if got, ok := have[name]; !ok || got != want {
				t.Errorf("%s of %s = %d (there: %t), want %d", name, e.Tag, got, ok, want)
			}
		}
	}
	if n != len(have) {
		t.Errorf("%d constants, the JSON has %d", len(have), n)
	}
	return n
}

// CheckRecords compares size, offset and size of every member at every depth with the Go types and reports how many
// members it compared.
func (api *API) CheckRecords(t *testing.T, types map[string]reflect.Type) int {
	t.Helper()
	if len(types) != len(api.Records) {
		t.Errorf("%d records, the JSON has %d", len(types), len(api.Records))
	}
	n := 0
	for tag, r := range api.Records {
		typ, ok := types[tag]
		if !ok {
			t.Errorf("%s: no Go type", tag)
			continue
		}
		if int(typ.Size()) != r.Size {
			t.Errorf("%s: size %d, want %d", tag, typ.Size(), r.Size)
		}
		if want := min(r.Align, 8); typ.Align() != want {
			t.Errorf("%s: alignment %d, want %d", tag, typ.Align(), want)
		}
		v := reflect.New(typ)
		// path[d] is the pointer to the record that members of depth d+1 belong to
		path := []reflect.Value{v}
		for _, f := range r.Fields {
			n++
			outer := path[f.Depth-1]
			m := member(outer, name(f.Decl))
			if name(f.Decl) == "" && !m.IsValid() { // the members of the union are fields and methods of the record
				path = append(path[:f.Depth], outer)
				continue
			}
			if !m.IsValid() {
				t.Errorf("%s: %s has no member for %q", tag, outer.Type(), f.Decl)
				break
			}
			if off := int(m.Pointer() - v.Pointer()); off != f.Offset {
				t.Errorf("%s: %q at %d, want %d", tag, f.Decl, off, f.Offset)
			}
			if want := api.size(f.Decl); want != 0 && int(m.Type().Elem().Size()) != want {
				t.Errorf("%s: %q takes %d bytes, want %d", tag, f.Decl, m.Type().Elem().Size(), want)
			}
			path = append(path[:f.Depth], m)
		}
	}
	return n
}

// name is the member name in a line of the dump, "" for an anonymous member.
func name(decl string) string {
	if strings.HasSuffix(decl, "::(anonymous)") {
		return ""
	}
	return decl[strings.LastIndexByte(decl, ' ')+1:]
}

// member returns a pointer to a member of the struct or union that p points to.
func member(p reflect.Value, c string) reflect.Value {
	if c == "" {
		for i := range p.Type().Elem().NumField() {
			if f := p.Type().Elem().Field(i); f.Anonymous {
				return at(p, f)
			}
		}
		return reflect.Value{}
	}
	goName := strings.TrimLeft(c, "_")
	goName = strings.ToUpper(goName[:1]) + goName[1:]
	if f, ok := p.Type().Elem().FieldByName(goName); ok {
		return at(p, f)
	}
	if m := p.MethodByName(goName); m.IsValid() {
		return m.Call(nil)[0]
	}
	return reflect.Value{}
}

func at(p reflect.Value, f reflect.StructField) reflect.Value {
	return reflect.NewAt(f.Type, unsafe.Add(p.UnsafePointer(), f.Offset))
}

// size is the size of a member by its C declaration, 0 when it is a struct or union (whose own members are compared).
func (api *API) size(decl string) int {
	typ := decl
	if i := strings.LastIndexByte(decl, ' '); i >= 0 {
		typ = decl[:i]
	}
	n := 1
	if i := strings.IndexByte(typ, '['); i >= 0 {
		n, _ = strconv.Atoi(strings.Trim(typ[i:], "[]"))
		typ = strings.TrimSpace(typ[:i])
	}
	return n * api.scalar(typ)
}

func (api *API) scalar(c string) int {
	switch c {
	case "char", "unsigned char":
		return 1
	case "unsigned short":
		return 2
	case "int", "unsigned int", "float":
		return 4
	case "size_t", "long long", "unsigned long long", "unsigned long", "uint64_t":
		return 8
	case "uint32_t":
		return 4
	}
	switch {
	case strings.HasSuffix(c, "*"), strings.Contains(c, "(*)"):
		return 8
	case strings.HasPrefix(c, "enum "):
		return 4
	case strings.HasPrefix(c, "struct "), strings.HasPrefix(c, "union "):
		return 0
	}
	for _, t := range api.Typedefs {
		if t.Name == c {
			return api.scalar(t.Type)
		}
	}
	return 0
}
