// Package silicon reads sets of instruction cases: PTX kernels with inputs and the bytes that real hardware wrote, in
// the format that testdata/silicon/README.md describes (format 1).
//
// Any folder with index.json, inputs.bin.gz, outputs.bin.gz and the group modules is a set.
package silicon

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/gocuda/cuda/internal/setfile"
)

// Array describes one input array.
type Array struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Count  int    `json:"count"`
	Size   int    `json:"size"`
}

// Operand is an input of a case.
type Operand struct {
	Array     string `json:"array"`
	Type      string `json:"type"`
	PerThread int    `json:"per_thread"`
	Pointer   bool   `json:"pointer"`
}

// Output is a recorded result.
type Output struct {
	Type      string `json:"type"`
	Offset    int    `json:"offset"`
	Size      int    `json:"size"`
	PerThread int    `json:"per_thread"`
	Pointer   bool   `json:"pointer"`
}

// Exact says whether the case's results must be equal bit for bit: where the manual fixes them, and where fragments
// lie, in which a device follows the recorded one.
func (c *Case) Exact() bool { return c.Kind == "exact" || c.Kind == "layout" }

// Case is one kernel with its inputs and recorded outputs.
type Case struct {
	ID                string    `json:"id"`
	Group             string    `json:"group"`
	Kernel            string    `json:"kernel"`
	SM                string    `json:"sm"`
	PTX               string    `json:"ptx"`
	Kind              string    `json:"kind"` // exact, approx, fusion, layout, opaque, machine
	MaxError          string    `json:"-"`
	Note              string    `json:"note"`
	CompilerDependent bool      `json:"compiler_dependent"`
	N                 int       `json:"n"`
	Grid              [3]uint32 `json:"grid"`
	Block             [3]uint32 `json:"block"`
	Shared            uint32    `json:"shared"`
	Operands          []Operand `json:"operands"`
	Outputs           []Output  `json:"outputs"`
}

// Group names a module file and its target.
type Group struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Target string `json:"target"`
}

// Set is a loaded folder.
type Set struct {
	Machine string  `json:"machine"`
	Driver  string  `json:"driver"`
	CUDA    string  `json:"cuda"`
	Groups  []Group `json:"groups"`
	Cases   []Case  `json:"cases"`
	Inputs  []Array `json:"inputs"`

	fsys    fs.FS
	in, out []byte
	arrays  map[string]*Array
	mu      sync.Mutex
	modules map[string]*Module
}

// Open reads a set. Group modules are read when they are asked for.
func Open(fsys fs.FS) (*Set, error) {
	b, err := setfile.Read("index.json", fsys)
	if err != nil {
		return nil, err
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("index.json: %w", err)
	}
	if head.Format != 1 {
		return nil, fmt.Errorf("index.json: format %d, this program reads format 1", head.Format)
	}
	s := &Set{fsys: fsys, arrays: map[string]*Array{}, modules: map[string]*Module{}}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("index.json: %w", err)
	}
	if s.in, err = setfile.Read("inputs.bin", fsys); err != nil {
		return nil, err
	}
	if s.out, err = setfile.Read("outputs.bin", fsys); err != nil {
		return nil, err
	}
	for i := range s.Inputs {
		a := &s.Inputs[i]
		if a.Offset < 0 || a.Size < 0 || a.Size > len(s.in) || a.Offset > len(s.in)-a.Size {
			return nil, fmt.Errorf("input %s lies outside inputs.bin", a.Name)
		}
		s.arrays[a.Name] = a
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		for _, o := range c.Operands {
			if s.arrays[o.Array] == nil {
				return nil, fmt.Errorf("case %s: no input array %s", c.ID, o.Array)
			}
		}
		for _, o := range c.Outputs {
			if o.Offset < 0 || o.Size < 0 || o.Size > len(s.out) || o.Offset > len(s.out)-o.Size {
				return nil, fmt.Errorf("case %s: output lies outside outputs.bin", c.ID)
			}
		}
	}
	return s, nil
}

// Input returns the bytes of an input array.
func (s *Set) Input(name string) []byte {
	a := s.arrays[name]
	return s.in[a.Offset : a.Offset+a.Size]
}

// Expected returns the recorded bytes of an output.
func (s *Set) Expected(o *Output) []byte { return s.out[o.Offset : o.Offset+o.Size] }

// Module is the text of a group: what stands outside kernels, and each kernel.
type Module struct {
	Text    string
	Header  string
	Kernels map[string]string
}

// Module returns the text of a group's module.
func (s *Set) Module(group string) (*Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.modules[group]; m != nil {
		return m, nil
	}
	for i := range s.Groups {
		if s.Groups[i].Name != group {
			continue
		}
		b, err := setfile.Read(path.Clean(s.Groups[i].File), s.fsys)
		if err != nil {
			return nil, err
		}
		m := split(string(b))
		s.modules[group] = m
		return m, nil
	}
	return nil, fmt.Errorf("no group %s", group)
}

// Keep returns the module's text with only the kernels that a function wants, in their order.
func (m *Module) Keep(want func(kernel string) bool) string {
	var b strings.Builder
	rest := m.Text
	for {
		i := strings.Index(rest, entryMark)
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		name, end := cut(rest[i:])
		b.WriteString(rest[:i])
		if want(name) {
			b.WriteString(rest[i : i+end])
		}
		rest = strings.TrimLeft(rest[i+end:], "\n")
	}
}

// entryMark starts a kernel.
const entryMark = ".visible .entry "

// cut returns the name of the kernel that a text starts with, and where the kernel ends.
func cut(text string) (name string, end int) {
	end = strings.Index(text, "\n}\n") + 3
	if end == 2 {
		end = len(text)
	}
	name = strings.TrimPrefix(text[:end], entryMark)
	if i := strings.IndexAny(name, "(\n "); i >= 0 {
		name = name[:i]
	}
	return name, end
}

// split cuts a module written by the recorder at its kernels: each starts with ".visible .entry" at the start of a line
// and ends with a line "}".
func split(text string) *Module {
	m := &Module{Text: text, Kernels: map[string]string{}}
	var header strings.Builder
	rest := text
	for {
		i := strings.Index(rest, entryMark)
		if i < 0 {
			header.WriteString(rest)
			break
		}
		header.WriteString(rest[:i])
		name, end := cut(rest[i:])
		m.Kernels[name] = rest[i : i+end]
		rest = rest[i+end:]
	}
	m.Header = header.String()
	return m
}

// Source returns a module with just one kernel.
func (m *Module) Source(kernel string) string { return m.Header + m.Kernels[kernel] }
