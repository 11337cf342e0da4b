package optab

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/lazy"
)

//go:embed *.tab
var files embed.FS

// Slot is one modifier position of a form.
type Slot struct {
	Optional bool
	Type     bool     // its alternatives are fundamental types
	Words    []string // the alternatives, without the dot
}

func (s *Slot) has(w string) bool {
	for _, x := range s.Words {
		if x == w {
			return true
		}
	}
	return false
}

// OperandKind says what an operand position accepts.
type OperandKind uint8

// The operand kinds; doc.go describes the notation of each.
const (
	KindType  OperandKind = iota // a value of Operand.Type
	KindPred                     // a predicate
	KindMem                      // [address]
	KindVec                      // vector of Count elements (0: by the .vN modifier, -1: by rule)
	KindImm                      // constant expression
	KindLabel                    // branch target
	KindFunc                     // function name or register holding a function address
	KindProto                    // call prototype or target list
	KindList                     // (a, b, ...)
	KindTex                      // [texture, coordinates]
	KindSurf                     // [surface, coordinates]
	KindSamp                     // sampler
	KindAny                      // left to the rule
)

// Operand is one operand position of a form.
type Operand struct {
	Name     string
	Dst      bool
	Kind     OperandKind
	Type     string // T U V W, wide(T), T/2, or a type name
	Wider    bool   // T+
	RegOnly  bool   // T!
	Optional bool
	Sink     bool
	Count    int    // vector elements
	Space    string // fixed state space of a memory operand
	Pair     *Operand
}

// Form is one line of the table: one syntax line of the manual.
type Form struct {
	Index    int
	Name     string // first word: add, cp, mbarrier
	Op       Opcode // what engines call it: the first word unless the line says op=
	OpName   string // the same as text: optabgen makes the opcodes from it
	Slots    []Slot
	Operands []Operand
	PTX      int  // ten times the PTX ISA version
	MaxPTX   int  // last version that has it, 0 for no end
	SM       int  // lowest sm
	Arch     bool // needs an architecture-specific target
	Only     []string
	Rule     string
	Pure     bool // computes its results from its operands, and does nothing else
	Mem      Mem  // what it does to memory
	Acc      bool // reads the operands that it writes
	Carry    bool // reads or writes the carry flag
	Stack    bool // reads or moves the stack pointer of local memory
	Vector   bool // processors compute it for many lanes at once
	Sync     bool // waits for the lanes of its member mask
	Warp     bool // does nothing unless all lanes of the warp execute it together
	Doc      string
	Feature  string // what ptxas calls it when the version or target is too old; name and types when empty
	What     string // what ptxas calls it when an architecture-specific target is missing; Feature when empty
	Group    string // file it stands in
	Line     int    // line in that file
	Syntax   string // the text of the line, without attributes
}

// Mem says what an instruction does to memory.
type Mem uint8

// Effects on memory.
const (
	MemNone   Mem = iota
	MemLoad       // each lane loads a value, or a vector of them, from its address
	MemStore      // stores
	MemAtomic     // replaces by what an operation makes of old and new
	MemCopy       // copies
	MemOther      // accesses memory in another way: objects and matrices in it, tiles, textures
)

var memNames = map[string]Mem{"load": MemLoad, "store": MemStore, "atomic": MemAtomic, "copy": MemCopy,
	"other": MemOther}

// Operand returns the operand position of the given name, nil when the form has none.
func (f *Form) Operand(name string) *Operand {
	for i := range f.Operands {
		if f.Operands[i].Name == name {
			return &f.Operands[i]
		}
	}
	return nil
}

// Table is the table. The lines of an instruction are compiled when it is first looked up: a program uses few of them.
type Table struct {
	lines   []line
	byName  map[string]*instruction
	sets    []map[string]string // of each file
	allSets map[string]string   // of all files
}

// line is a form before it is compiled.
type line struct {
	text, group string
	common      string // attributes that it shares with its neighbours
	file, at    int    // number of the file, and of the line in it
}

// instruction is what the table has of a first word.
type instruction struct {
	lines []int
	once  lazy.Once
	forms []*Form
}

// Lookup returns the forms of an instruction's first word, in table order.
func (t *Table) Lookup(name string) []*Form {
	in := t.byName[name]
	if in == nil {
		return nil
	}
	in.once.Do(func() {
		in.forms = make([]*Form, 0, len(in.lines))
		for _, i := range in.lines {
			f, err := t.compile(i)
			if err != nil {
				panic("optab: " + err.Error()) // the table is part of the program; a test compiles it
			}
			in.forms = append(in.forms, f)
		}
	})
	return in.forms
}

// Forms returns all forms in table order; their Index is their place in it.
func (t *Table) Forms() []*Form {
	all := make([]*Form, len(t.lines))
	for name := range t.byName {
		for _, f := range t.Lookup(name) {
			all[f.Index] = f
		}
	}
	return all
}

// Names returns every first word, sorted.
func (t *Table) Names() []string {
	n := make([]string, 0, len(t.byName))
	for k := range t.byName {
		n = append(n, k)
	}
	sort.Strings(n)
	return n
}

var load = lazy.Func(func() *Table {
	t, err := readAll()
	if err != nil {
		panic("optab: " + err.Error()) // the table is part of the program; a test compiles it
	}
	return t
})

// Get returns the table, read at the first call.
func Get() *Table { return load() }

// readAll finds the lines and the sets of all files.
func readAll() (*Table, error) {
	ents, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	t := &Table{byName: map[string]*instruction{}, sets: make([]map[string]string, len(ents)),
		allSets: map[string]string{}}
	for n, e := range ents {
		b, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		t.sets[n] = map[string]string{}
		group, at, common := strings.TrimSuffix(e.Name(), ".tab"), 0, ""
		for text := range strings.Lines(string(b)) {
			at++
			text = strings.TrimSpace(text)
			if text == "" || text[0] == '#' {
				continue
			}
			if text[0] == ';' {
				common = text[1:]
				continue
			}
			if text[0] != '@' {
				name := text[:nameEnd(text)]
				in := t.byName[name]
				if in == nil {
					in = &instruction{}
					t.byName[name] = in
				}
				in.lines = append(in.lines, len(t.lines))
				t.lines = append(t.lines, line{text, group, common, n, at})
				continue
			}
			k, v, ok := strings.Cut(text[1:], "=")
			if !ok {
				return nil, fmt.Errorf("%s:%d: set without =", e.Name(), at)
			}
			k = strings.TrimSpace(k)
			t.sets[n][k] = strings.TrimSpace(v)
			t.allSets[k] = t.sets[n][k]
		}
	}
	return t, nil
}

// compile reads a line. A file's own sets come before those of other files.
func (t *Table) compile(i int) (*Form, error) {
	l := &t.lines[i]
	f, err := parseLine(l.text, l.common, func(name string) (string, bool) {
		if v, ok := t.sets[l.file][name]; ok {
			return v, true
		}
		v, ok := t.allSets[name]
		return v, ok
	})
	if err != nil {
		return nil, fmt.Errorf("%s.tab:%d: %v", l.group, l.at, err)
	}
	f.Group, f.Line, f.Index = l.group, l.at, i
	return f, nil
}

// nameEnd is where a line's first word ends.
func nameEnd(line string) int {
	if i := strings.IndexAny(line, " .\t;"); i >= 0 {
		return i
	}
	return len(line)
}

func parseLine(line, common string, sets func(string) (string, bool)) (*Form, error) {
	f := &Form{PTX: 10, SM: 10}
	body, attrs, _ := strings.Cut(line, ";")
	body = strings.TrimSpace(body)
	f.Syntax = strings.Join(strings.Fields(body), " ")
	i := nameEnd(body)
	f.Name = body[:i]
	rest := strings.TrimLeft(body[i:], " \t")
	for strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		var s Slot
		var words string
		switch {
		case strings.HasPrefix(rest, "<"):
			j := strings.IndexByte(rest, '>')
			if j < 0 {
				return nil, fmt.Errorf("missing >")
			}
			words, rest = rest[1:j], rest[j+1:]
		case strings.HasPrefix(rest, "{"):
			j := strings.IndexByte(rest, '}')
			if j < 0 {
				return nil, fmt.Errorf("missing }")
			}
			words, rest, s.Optional = rest[1:j], rest[j+1:], true
		default:
			j := strings.IndexAny(rest, ". \t")
			if j < 0 {
				j = len(rest)
			}
			words, rest = rest[:j], rest[j:]
		}
		for _, w := range strings.Split(words, "|") {
			w = strings.TrimPrefix(strings.TrimSpace(w), ".")
			if strings.HasPrefix(w, "@") {
				v, ok := sets(w[1:])
				if !ok {
					return nil, fmt.Errorf("unknown set %s", w)
				}
				for _, x := range strings.Split(v, "|") {
					s.Words = append(s.Words, strings.TrimSpace(x))
				}
				continue
			}
			s.Words = append(s.Words, w)
		}
		s.Type = true
		for _, w := range s.Words {
			if !IsType(w) {
				s.Type = false
			}
		}
		f.Slots = append(f.Slots, s)
		rest = strings.TrimLeft(rest, " \t")
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		for _, o := range splitTop(rest) {
			op, err := parseOperand(o)
			if err != nil {
				return nil, err
			}
			f.Operands = append(f.Operands, op)
		}
	}
	f.OpName = f.Name
	if err := parseAttrs(f, common); err != nil {
		return nil, err
	}
	err := parseAttrs(f, attrs)
	f.Op = OpcodeOf(f.OpName)
	return f, err
}

func parseAttrs(f *Form, attrs string) error {
	for attrs = strings.TrimSpace(attrs); attrs != ""; attrs = strings.TrimSpace(attrs) {
		if key, rest, ok := strings.Cut(attrs, "=\""); ok && !strings.Contains(key, " ") {
			text, after, ok := strings.Cut(rest, "\"")
			if !ok {
				return fmt.Errorf("unterminated %s", key)
			}
			switch key {
			case "doc":
				f.Doc = text
			case "feature":
				f.Feature = text
			case "what":
				f.What = text
			default:
				return fmt.Errorf("unknown attribute %q", key)
			}
			attrs = after
			continue
		}
		var w string
		w, attrs, _ = strings.Cut(attrs, " ")
		k, v, _ := strings.Cut(w, "=")
		var err error
		switch k {
		case "ptx":
			f.PTX, err = strconv.Atoi(v)
		case "max":
			f.MaxPTX, err = strconv.Atoi(v)
		case "sm":
			f.SM, err = strconv.Atoi(v)
		case "arch":
			f.Arch = true
		case "only":
			f.Only = strings.Split(v, ",")
		case "rule":
			f.Rule = v
		case "op":
			f.OpName = v
		case "pure":
			f.Pure = true
		case "mem":
			if f.Mem = memNames[v]; f.Mem == MemNone {
				err = fmt.Errorf("it is none of %v", slices.Sorted(maps.Keys(memNames)))
			}
		case "acc":
			f.Acc = true
		case "carry":
			f.Carry = true
		case "stack":
			f.Stack = true
		case "vector":
			f.Vector = true
		case "sync":
			f.Sync = true
		case "warp":
			f.Warp = true
		default:
			return fmt.Errorf("unknown attribute %q", w)
		}
		if err != nil {
			return fmt.Errorf("attribute %q: %v", w, err)
		}
	}
	return nil
}

func splitTop(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

func parseOperand(s string) (Operand, error) {
	if a, b, ok := strings.Cut(s, "|"); ok {
		o, err := parseOperand(a)
		if err != nil {
			return o, err
		}
		p, err := parseOperand(b)
		p.Dst = o.Dst
		o.Pair = &p
		return o, err
	}
	name, kind, ok := strings.Cut(s, ":")
	if !ok {
		return Operand{}, fmt.Errorf("operand %q has no kind", s)
	}
	o := Operand{Name: name, Dst: strings.HasPrefix(name, "d")}
	for {
		switch {
		case strings.HasSuffix(kind, "?"):
			o.Optional = true
		case strings.HasSuffix(kind, "_"):
			o.Sink = true
		case strings.HasSuffix(kind, "+"):
			o.Wider = true
		case strings.HasSuffix(kind, "!"):
			o.RegOnly = true
		default:
			goto done
		}
		kind = kind[:len(kind)-1]
	}
done:
	head, arg, paren := strings.Cut(kind, "(")
	arg = strings.TrimSuffix(arg, ")")
	switch {
	case kind == "pred":
		o.Kind = KindPred
	case kind == "mem" || strings.HasPrefix(kind, "mem."):
		o.Kind = KindMem
		o.Space = strings.TrimPrefix(strings.TrimPrefix(kind, "mem"), ".")
	case kind == "label":
		o.Kind = KindLabel
	case kind == "func":
		o.Kind = KindFunc
	case kind == "fproto":
		o.Kind = KindProto
	case kind == "list":
		o.Kind = KindList
	case kind == "tex":
		o.Kind = KindTex
	case kind == "surf":
		o.Kind = KindSurf
	case kind == "samp":
		o.Kind = KindSamp
	case kind == "any":
		o.Kind = KindAny
	case paren && head == "vec":
		o.Kind, o.Type = KindVec, arg
	case paren && head == "imm":
		o.Kind, o.Type = KindImm, arg
	case paren && head == "wide":
		o.Kind, o.Type = KindType, kind
	case paren && head == "v?":
		o.Kind, o.Type, o.Count = KindVec, arg, -1
	case paren && strings.HasPrefix(head, "v"):
		n, err := strconv.Atoi(head[1:])
		if err != nil {
			return o, fmt.Errorf("operand %q: bad vector length", s)
		}
		o.Kind, o.Type, o.Count = KindVec, arg, n
	default:
		o.Kind, o.Type = KindType, kind
		switch strings.TrimSuffix(kind, "/2") {
		case "T", "U", "V", "W":
		default:
			if !IsType(kind) {
				return o, fmt.Errorf("operand %q: unknown kind", s)
			}
		}
	}
	for _, suffix := range []string{"+", "!"} { // vec(T+)
		if strings.HasSuffix(o.Type, suffix) {
			o.Type = strings.TrimSuffix(o.Type, suffix)
			o.Wider = o.Wider || suffix == "+"
			o.RegOnly = o.RegOnly || suffix == "!"
		}
	}
	return o, nil
}
