package driver

import (
	"iter"
	"sort"
	"strings"
)

// Symbol describes one function of the table.
type Symbol struct {
	Name    string // C symbol, for example cuMemAlloc_v2
	Base    string // name without version, as cuGetProcAddress takes it
	Version int    // 1 for a plain name, n for _vn
	// first CUDA version that has it, 1000*major + 10*minor; 0 when not recorded (GL, EGL, VDPAU, profiler)
	Since      int
	Deprecated bool
	Exported   bool // the 13.0 library for Linux exports it
	HasPTDS    bool // there is a symbol Name_ptds
	HasPTSZ    bool // there is a symbol Name_ptsz
	Group      string
	Header     string
	Field      int // argument of Table.Func
	Params     []Param
}

// Param is one C parameter.
type Param struct {
	Name  string
	Type  string // C type
	Out   bool   // written by the call, not read
	InOut bool   // read and written
	Len   string // parameter (or number) that says how many elements a pointer has
}

// Symbols yields every function in the order of the table. The Params must not be changed.
func Symbols() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for i := range symbols {
			if !yield(symbols[i]) {
				return
			}
		}
	}
}

// NumSymbols is the number of functions in the table; Symbol.Field is below it.
const NumSymbols = len(symbols)

// Lookup finds a function by its C symbol. A name with _ptds or _ptsz finds the function that it is a variant of, if
// that has such a variant; PerThreadVariant tells the two apart.
func Lookup(name string) (Symbol, bool) {
	plain := name
	if v := PerThreadVariant(name); v != "" {
		plain = strings.TrimSuffix(name, v)
	}
	i := sort.Search(len(symbols), func(i int) bool { return symbols[i].Name >= plain })
	if i == len(symbols) || symbols[i].Name != plain {
		return Symbol{}, false
	}
	s := symbols[i]
	if plain != name && !(strings.HasSuffix(name, "_ptds") && s.HasPTDS ||
		strings.HasSuffix(name, "_ptsz") && s.HasPTSZ) {
		return Symbol{}, false
	}
	return s, true
}

// PerThreadVariant returns "_ptds" or "_ptsz" when a symbol ends in it, else "".
func PerThreadVariant(name string) string {
	if strings.HasSuffix(name, "_ptds") || strings.HasSuffix(name, "_ptsz") {
		return name[len(name)-5:]
	}
	return ""
}

// Current returns the symbol that the 13.5 headers use for a base name: cuMemAlloc is cuMemAlloc_v2.
func Current(base string) string {
	i := sort.Search(len(current), func(i int) bool { return current[i].base >= base })
	if i < len(current) && current[i].base == base {
		return current[i].symbol
	}
	return base
}

// Undocumented returns the symbols that the 13.0 library exports and no public header declares; the table has no field
// for them.
func Undocumented() []string { return append([]string(nil), undocumented[:]...) }

// ByName returns the function with a C symbol, _ptds and _ptsz included, nil when it is not provided.
func (t *Table) ByName(name string) any {
	s, ok := Lookup(name)
	if !ok {
		return nil
	}
	if PerThreadVariant(name) != "" {
		t = t.PerThread
		if t == nil {
			return nil
		}
	}
	return t.Func(s.Field)
}
