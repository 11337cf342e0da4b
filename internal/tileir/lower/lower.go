package lower

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/tileir"
)

// Options say for what a module is lowered.
type Options struct {
	// MaxShared is the largest shared memory of a tile block in bytes; 0 stands for DefaultMaxShared.
	MaxShared uint64
	// Stop, if not nil, ends the work with tileir.ErrStopped soon after it is set.
	Stop *atomic.Bool
}

// DefaultMaxShared is the largest shared memory that a tile block may have unless Options say otherwise, in bytes: what
// the window of shared memory holds. It is more than a CTA of PTX may have, so the checker has to be told
// (check.Options).
const DefaultMaxShared = 1<<24 - 1024

// Threads is how many threads a tile block has: one warp.
const Threads = 32

// Program is a module as PTX.
type Program struct {
	// PTX is the text of the module. Public globals have the names of the module, entries their Symbol.
	PTX     []byte
	Entries []Entry
}

// Entry is a kernel of a Program. It has to be launched with blocks of Threads x 1 x 1 threads.
type Entry struct {
	Name string
	// Symbol is the entry's name in the PTX: Name, where PTX takes that.
	Symbol string
	Shared uint64 // static shared memory in bytes
}

// Error says which operation cannot be lowered.
type Error struct {
	Func   string // or the global
	Op     tileir.Opcode
	Offset uint64 // of the operation in the file, in bytes
	// Location is where the operation stands in the source; its File is empty when that is not known.
	Location tileir.Location
	Words    string
}

func (e *Error) Error() string {
	at := ""
	if e.Location.File != "" {
		at = fmt.Sprintf(" (%s:%d)", e.Location.File, e.Location.Line)
	}
	if e.Op == globalOp {
		return fmt.Sprintf("Tile IR: global %s at %#x: %s", e.Func, e.Offset, e.Words)
	}
	return fmt.Sprintf("Tile IR: function %s, operation %s at %#x%s: %s", e.Func, e.Op, e.Offset, at, e.Words)
}

// Module lowers a verified module. The error is an *Error, that of a body that cannot be decoded, or tileir.ErrStopped.
func Module(m *tileir.Module, o Options) (*Program, error) {
	if o.MaxShared == 0 {
		o.MaxShared = DefaultMaxShared
	}
	w := &module{m: m, o: o, files: map[string]int{}, constants: map[*tileir.Constant]string{},
		strings: map[string]string{}, library: map[string]bool{}}
	p := &Program{}
	for _, f := range m.Funcs {
		entry, err := w.function(f)
		if err != nil {
			return nil, err
		}
		p.Entries = append(p.Entries, *entry)
	}
	var err error
	if p.PTX, err = w.text(); err != nil {
		return nil, err
	}
	return p, nil
}

// module is what the functions of a module share.
type module struct {
	m         *tileir.Module
	o         Options
	data      strings.Builder // variables
	code      strings.Builder
	files     map[string]int
	fileNames []string
	constants map[*tileir.Constant]string
	strings   map[string]string
	library   map[string]bool // functions that are called
	prints    bool
	heap      bool
	// descriptions is how many prints there are.
	descriptions int
}

// stopped is what check gives up with; function catches it.
type stopped struct{}

// check gives up when nobody waits for the result any more. It is called for every operation.
func (w *module) check() {
	if w.o.Stop != nil && w.o.Stop.Load() {
		panic(stopped{})
	}
}

// text puts the parts of the module together.
func (w *module) text() ([]byte, error) {
	var b strings.Builder
	b.WriteString(".version 9.0\n.target sm_90\n.address_size 64\n\n")
	for i, f := range w.fileNames {
		fmt.Fprintf(&b, ".file %d \"%s\"\n", i+1, plainText(f))
	}
	if err := w.globals(&b); err != nil {
		return nil, err
	}
	b.WriteString(w.data.String())
	if w.prints {
		b.WriteString(printDeclaration)
	}
	if w.heap {
		b.WriteString(heapDeclaration)
	}
	w.functions(&b)
	b.WriteString(w.code.String())
	return []byte(b.String()), nil
}

// functions writes the mathematical functions that are called, in order of their names, those that they call first.
func (w *module) functions(b *strings.Builder) {
	written := map[string]bool{}
	var write func(name string)
	write = func(name string) {
		if written[name] {
			return
		}
		written[name] = true
		text, needs, ok := mathSource(name)
		if !ok {
			return
		}
		for _, n := range needs {
			write(n)
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	names := make([]string, 0, len(w.library))
	for n := range w.library {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		write(n)
	}
}

// fail gives up with an error about an operation; function catches it.
func (g *fn) fail(o *tileir.Op, format string, args ...any) {
	e := &Error{Func: g.f.Name, Op: o.Code, Offset: o.Offset, Words: fmt.Sprintf(format, args...)}
	if l, ok := g.w.m.Location(o.Loc); ok {
		e.Location = l
	}
	panic(e)
}

// function lowers an entry.
func (w *module) function(f *tileir.Func) (entry *Entry, err error) {
	body, err := f.Body()
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			switch e := r.(type) {
			case *Error:
				err = e
			case stopped:
				err = tileir.ErrStopped
			default:
				panic(r)
			}
		}
	}()
	g := newFn(w, f, body)
	if g.symbol = f.Name; !plainName(f.Name) {
		g.symbol = fmt.Sprintf("tile$entry%d", slices.Index(w.m.Funcs, f))
	}
	g.plan()
	g.parameters(body)
	g.prepareHeap(body)
	g.block(body)
	g.code(&w.code)
	return &Entry{Name: f.Name, Symbol: g.symbol, Shared: g.arena.size}, nil
}

// code writes the function around its instructions.
func (g *fn) code(b *strings.Builder) {
	vis := ".visible "
	if g.f.Private {
		vis = ""
	}
	fmt.Fprintf(b, "\n%s.entry %s(", vis, g.symbol)
	for i, p := range g.f.Layout() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "\n\t.param .b%d $param%d", 8*p.Size, i)
	}
	fmt.Fprintf(b, "\n)\n.reqntid %d, 1, 1\n{\n", Threads)
	for c := range classes {
		if n := g.e.regs[c]; n > 0 {
			fmt.Fprintf(b, "\t.reg %s %s<%d>;\n", classType[c], classPrefix[c], n+1)
		}
	}
	if g.arena.size > 0 {
		fmt.Fprintf(b, "\t.shared .align 128 .b8 %s[%d];\n", arenaName, g.arena.size)
	}
	if g.depot > 0 {
		fmt.Fprintf(b, "\t.local .align 8 .b8 %s[%d];\n", depotName, g.depot)
	}
	b.Write(g.e.scopes[0].text.Bytes())
	b.WriteString("}\n")
}

// parameters loads the arguments of the kernel.
func (g *fn) parameters(body *tileir.Block) {
	g.laneVar()
	for i, a := range body.Args {
		t := typeOf(a.Type.Elem)
		r := g.load(t, "ld.param", fmt.Sprintf("[$param%d]", i), nil)
		g.scalars[a] = r
	}
}
