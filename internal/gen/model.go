package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// API is the content of the driver API in api/ (apiFile); api/README.md says what each field means.
type API struct {
	CUDAVersion         int                    `json:"cuda_version"`
	Functions           []*Function            `json:"functions"`
	CurrentSymbol       map[string]string      `json:"current_symbol"`
	PerThread           map[string][]string    `json:"per_thread_default_stream"`
	EntryPoints         map[string][]*Entry    `json:"entry_point_versions"`
	Enums               []*Enum                `json:"enums"`
	Typedefs            []*Typedef             `json:"typedefs"`
	Records             map[string]*JSONRecord `json:"records"`
	Macros              map[string]string      `json:"macros"`
	ExportedSymbols     []string               `json:"exported_symbols"`
	UndocumentedSymbols []string               `json:"undocumented_symbols"`
	// error_strings.json: code -> name, text, "unrecorded" when in doubt, afterRecorded when 13.0 does not have it
	Strings map[string][]string `json:"-"`
}

// recordedVersion is the CUDA version of the library whose exports and answers are recorded.
const recordedVersion = 13000

// afterRecorded marks a result code that the recorded version does not have.
const afterRecorded = "after 13.0"

// exports are the symbols that a library of this API exports: the recorded ones, and what came later.
func (a *API) exports() []string {
	all := slices.Clone(a.ExportedSymbols)
	for _, f := range a.Functions {
		if f.Since > recordedVersion {
			all = append(all, f.Name)
		}
	}
	slices.Sort(all)
	return all
}

// versionText is a CUDA version as people write it.
func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Function is one C symbol with a prototype.
type Function struct {
	Name       string   `json:"name"`
	Base       string   `json:"base"`
	Header     string   `json:"header"`
	Group      string   `json:"group"`
	Result     string   `json:"result"`
	Params     []*Param `json:"params"`
	Results    []string `json:"results"`
	Exported   bool     `json:"exported"`
	Deprecated bool     `json:"deprecated"`
	Variant    string   `json:"variant"` // "ptds" or "ptsz"
	Plain      string   `json:"plain"`   // symbol that Variant belongs to
	Since      int      `json:"since"`
}

// Param is one C parameter with the direction marks that C does not have.
type Param struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Out     bool   `json:"out"`
	InOut   bool   `json:"inout"`
	Buffer  bool   `json:"buffer"`
	Len     string `json:"len"`
	Default string `json:"default"` // of C++
}

// Entry is one version of an entry point as cuGetProcAddress knows it.
type Entry struct {
	Version int    `json:"version"`
	Variant string `json:"variant"`
	Symbol  string `json:"symbol"`
}

// Enum is a C enumeration.
type Enum struct {
	Tag    string       `json:"tag"`
	Header string       `json:"header"`
	Values []*EnumValue `json:"values"`
}

// EnumValue is a name and its number, written as a pair in the JSON.
type EnumValue struct {
	Name  string
	Value int64
}

// UnmarshalJSON reads the pair ["NAME", number].
func (v *EnumValue) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&v.Name, &v.Value})
}

// Typedef is a C type name.
type Typedef struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Header string `json:"header"`
}

// JSONRecord is a struct or union as the compiler's layout dump gives it: all fields in one list with their nesting
// depth.
type JSONRecord struct {
	Kind   string      `json:"kind"`
	Header string      `json:"header"`
	Size   int         `json:"size"`
	Align  int         `json:"align"`
	Fields []JSONField `json:"fields"`
}

// JSONField is one line of the layout dump.
type JSONField struct {
	Offset int    `json:"offset"`
	Depth  int    `json:"depth"`
	Decl   string `json:"decl"`
}

// Record is a struct or union with its fields as a tree.
type Record struct {
	GoName string
	CName  string // tag, or Outer::field for a nested one
	Union  bool
	Size   int
	Align  int
	Header string
	Fields []*Field
}

// Field is a member of a Record; Offset counts from the beginning of that record.
type Field struct {
	CName  string
	GoName string
	CType  string // element type for an array
	Count  int    // 0 = no array
	Offset int
	Record *Record // set when the type is a struct or union
	Nested bool    // Record is defined inside the outer one
	// Flat is set for a union without a name whose first member is a member of the outer record in Go: it was one in
	// C before the union came.
	Flat  bool
	Embed bool // member without a name
}

// Model is the API with names resolved, what the writers work from.
type Model struct {
	API     *API
	Types   map[string]*Type // by C name
	Order   []*Type          // in header order
	Records []*Record        // named first, nested ones after their outer
	RecByC  map[string]*Record
	EnumGo  map[string]string // tag -> Go name
	Funcs   []*Function       // without ptds/ptsz variants, sorted by symbol
	Groups  []string
	ByName  map[string]*Function
	Words   *words

	byTypedef map[string]string // typedef of a record -> its tag, where members are of such types
}

// Type is a typedef.
type Type struct {
	Name  string
	C     string // what it stands for
	Kind  string // scalar, handle, record, enum, callback, alias
	Go    string // Go name
	Alias string // Go name of the type it is an alias of
	Base  string // Go base type of a scalar
	Enum  *Enum
	Rec   *Record
}

var versioned = regexp.MustCompile(`_v\d+$`)

func load(dir string) (*Model, error) {
	api := new(API)
	for name, into := range map[string]any{apiFile: api, "error_strings.json": &api.Strings} {
		b, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m := &Model{API: api, Types: map[string]*Type{}, RecByC: map[string]*Record{}, EnumGo: map[string]string{},
		ByName: map[string]*Function{}}
	if err := m.resolveTypes(); err != nil {
		return nil, err
	}
	var err error
	if m.Words, err = loadWords(dir + "/" + wordsFile); err != nil {
		return nil, err
	}
	groups := map[string]bool{}
	for _, f := range api.Functions {
		m.ByName[f.Name] = f
		if f.Variant == "" {
			m.Funcs = append(m.Funcs, f)
			groups[f.Group] = true
		}
	}
	sort.Slice(m.Funcs, func(i, j int) bool { return m.Funcs[i].Name < m.Funcs[j].Name })
	for g := range groups {
		m.Groups = append(m.Groups, g)
	}
	sort.Strings(m.Groups)
	return m, nil
}

// scalars maps the C scalar types to Go. size_t and long are 64 bits wide: the package is for 64-bit hosts.
var scalars = map[string]string{
	"int": "int32", "unsigned int": "uint32", "size_t": "uint64", "unsigned long long": "uint64", "long long": "int64",
	"unsigned long": "uint64", "long": "int64", "double": "float64", "unsigned short": "uint16",
	"unsigned char": "uint8", "char": "byte", "float": "float32",
	"cuuint32_t": "uint32", "cuuint64_t": "uint64", "uint32_t": "uint32", "uint64_t": "uint64",
}

var scalarSize = map[string]int{"int32": 4, "uint32": 4, "uint64": 8, "int64": 8, "uint16": 2, "uint8": 1, "byte": 1,
	"float32": 4, "float64": 8, "uintptr": 8}

func (m *Model) resolveTypes() error {
	// The Go definition sits under the name without a version when there is one, so that godoc shows the fields there.
	all := map[string]bool{}
	for _, t := range m.API.Typedefs {
		all[t.Name] = true
	}
	target := map[string]string{} // typedef -> what it stands for
	for _, t := range m.API.Typedefs {
		target[t.Name] = t.Type
	}
	final := func(name string) string {
		for {
			t, ok := target[name]
			if !ok {
				return name
			}
			if _, scalar := scalars[name]; scalar {
				return name
			}
			name = t
		}
	}
	// primary[x] for every group of typedefs of one record or enum
	primary := map[string]string{}
	for _, t := range m.API.Typedefs {
		f := final(t.Name)
		if !strings.HasPrefix(f, "struct ") && !strings.HasPrefix(f, "union ") && !strings.HasPrefix(f, "enum ") ||
			strings.HasSuffix(f, "*") {
			continue
		}
		if _, ok := primary[f]; ok {
			continue
		}
		p := t.Name
		if s := versioned.ReplaceAllString(p, ""); s != p && all[s] && final(s) == f {
			p = s
		}
		primary[f] = p
	}
	// records
	tags := make([]string, 0, len(m.API.Records))
	for tag := range m.API.Records {
		tags = append(tags, tag)
	}
	sort.Strings(tags)
	for _, tag := range tags {
		jr := m.API.Records[tag]
		goName := tag
		if p, ok := primary[jr.Kind+" "+tag]; ok {
			goName = p
		} else {
			goName = strings.TrimSuffix(goName, "_st")
		}
		m.RecByC[tag] = &Record{GoName: export(goName), CName: tag, Union: jr.Kind == "union", Size: jr.Size,
			Align: jr.Align}
	}
	for _, tag := range tags {
		r := m.RecByC[tag]
		m.Records = append(m.Records, r)
		jr := m.API.Records[tag]
		fs := jr.Fields
		if _, err := m.tree(r, fs, 1, 0); err != nil {
			return fmt.Errorf("%s: %w", tag, err)
		}
	}
	enums := map[string]*Enum{}
	for _, e := range m.API.Enums {
		enums[e.Tag] = e
		if p, ok := primary["enum "+e.Tag]; ok {
			m.EnumGo[e.Tag] = export(p)
		} else {
			return fmt.Errorf("enum %q has no typedef", e.Tag)
		}
	}
	for _, td := range m.API.Typedefs {
		if _, ok := scalars[td.Name]; ok {
			continue
		}
		t := &Type{Name: td.Name, C: td.Type, Go: export(td.Name)}
		f := final(td.Name)
		switch {
		case strings.Contains(f, "(*)"):
			t.Kind = "callback"
		case td.Name == "VdpGetProcAddress", f == "void *":
			t.Kind, t.Base = "handle", "uintptr"
		case strings.HasSuffix(f, "*"):
			t.Kind, t.Base = "handle", "uintptr"
		case strings.HasPrefix(f, "enum "):
			t.Kind = "enum"
			t.Enum = enums[strings.TrimPrefix(f, "enum ")]
			if t.Enum == nil {
				return fmt.Errorf("typedef %s: no %s", td.Name, f)
			}
			if p := export(primary[f]); p != t.Go {
				t.Kind, t.Alias = "alias", p
			}
		case strings.HasPrefix(f, "struct "), strings.HasPrefix(f, "union "):
			t.Kind = "record"
			t.Rec = m.RecByC[f[strings.Index(f, " ")+1:]]
			if t.Rec == nil {
				return fmt.Errorf("typedef %s: no layout of %s", td.Name, f)
			}
			if t.Rec.GoName != t.Go {
				t.Kind, t.Alias = "alias", t.Rec.GoName
			}
		default:
			b, ok := scalars[f]
			if !ok {
				return fmt.Errorf("typedef %s: unknown type %q", td.Name, f)
			}
			t.Kind, t.Base = "scalar", b
			// CUdevice_v1 stands for CUdevice, but CUdeviceptr_v1 (32 bits) is a type of its own
			if s := versioned.ReplaceAllString(td.Name, ""); s != td.Name && all[s] && target[s] == td.Name {
				t.Kind, t.Alias = "alias", s
			}
		}
		m.Types[td.Name] = t
		m.Order = append(m.Order, t)
	}
	return nil
}

// flatMembers are members that CUDA 13.1 and later put into a union without a name.
var flatMembers = map[string]bool{"ctx": true, "id": true}

var arrayType = regexp.MustCompile(`^(.*?)\[(\d+)\]$`)

// tree reads the members at one depth and returns how many lines of the dump it used.
func (m *Model) tree(r *Record, fs []JSONField, depth, base int) (int, error) {
	i := 0
	for i < len(fs) {
		f := fs[i]
		if f.Depth < depth {
			break
		}
		if f.Depth > depth {
			return 0, fmt.Errorf("field %q: depth %d inside %d", f.Decl, f.Depth, depth)
		}
		i++
		j := i
		for j < len(fs) && fs[j].Depth > depth {
			j++
		}
		fd := &Field{Offset: f.Offset - base}
		decl := f.Decl
		if k := strings.Index(decl, "::("); k >= 0 {
			kind := decl[:strings.Index(decl, " ")]
			rest := decl[strings.Index(decl, ")")+1:]
			fd.CName = strings.TrimSpace(rest)
			if fd.CName == "" {
				fd.Embed = true
				fd.CName = "anonymous"
			}
			fd.Nested = true
			n := &Record{GoName: r.GoName + "_" + fd.CName, CName: r.CName + "::" + fd.CName, Union: kind == "union"}
			if _, err := m.tree(n, fs[i:j], depth+1, f.Offset); err != nil {
				return 0, err
			}
			n.Align, n.Size = m.extent(n)
			fd.Record = n
			fd.CType = kind
			fd.Flat = fd.Embed && n.Union && flatMembers[n.Fields[0].CName]
			m.Records = append(m.Records, n)
		} else {
			k := strings.LastIndex(decl, " ")
			fd.CName, fd.CType = decl[k+1:], decl[:k]
			if a := arrayType.FindStringSubmatch(fd.CType); a != nil {
				n, err := strconv.Atoi(a[2])
				if err != nil {
					return 0, err
				}
				fd.CType, fd.Count = strings.TrimSpace(a[1]), n
			}
			if tag, ok := m.byTypedef[fd.CType]; ok {
				fd.Record = m.RecByC[tag]
			}
			for _, p := range []string{"struct ", "union "} {
				if t, ok := strings.CutPrefix(fd.CType, p); ok && !strings.Contains(fd.CType, "*") {
					fd.Record = m.RecByC[t]
					if fd.Record == nil {
						return 0, fmt.Errorf("no record %q", t)
					}
				}
			}
		}
		fd.GoName = export(fd.CName)
		r.Fields = append(r.Fields, fd)
		i = j
	}
	return i, nil
}

// extent computes size and alignment of a nested record, which the dump does not state.
func (m *Model) extent(r *Record) (align, size int) {
	align = 1
	for _, f := range r.Fields {
		a, s := m.fieldExtent(f)
		align = max(align, a)
		size = max(size, f.Offset+s)
	}
	size = (size + align - 1) / align * align
	return align, size
}

func (m *Model) fieldExtent(f *Field) (align, size int) {
	switch {
	case f.Record != nil:
		align, size = f.Record.Align, f.Record.Size
	case strings.HasSuffix(f.CType, "*"):
		align, size = 8, 8
	default:
		s := m.cSize(f.CType)
		align, size = s, s
	}
	if f.Count > 0 {
		size *= f.Count
	}
	return align, size
}

// cSize is the size of a scalar C type; records are handled by the caller.
func (m *Model) cSize(c string) int {
	if g, ok := scalars[c]; ok {
		return scalarSize[g]
	}
	for _, td := range m.API.Typedefs {
		if td.Name != c {
			continue
		}
		switch {
		case strings.HasPrefix(td.Type, "enum "):
			return 4
		case strings.Contains(td.Type, "*"):
			return 8
		default:
			return m.cSize(td.Type)
		}
	}
	return 4 // enum typedefs of enums
}

// export makes a C name visible in Go: leading underscores go, the first letter becomes a capital.
func export(s string) string {
	s = strings.TrimLeft(s, "_")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// clean splits a C parameter type into its base and the number of stars, without const and struct.
func clean(c string) (base string, stars int) {
	stars = strings.Count(c, "*")
	base = strings.ReplaceAll(c, "*", "")
	words := strings.Fields(base)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "const" || w == "struct" })
	return strings.Join(words, " "), stars
}

// goKeyword renames parameters whose C name Go reserves.
func goKeyword(s string) string {
	switch s {
	case "type", "func", "map", "range", "interface", "select", "var", "import", "package", "len", "cap", "string",
		"error", "free", "unsafe", "driver", "cur":
		return s + "_"
	}
	return s
}
