package tileir

import (
	"sync"
	"sync/atomic"
)

// Module is a Tile IR file: what it defines, in the order of the file.
type Module struct {
	Minor    uint8 // version 13.Minor
	Producer string
	Globals  []Global
	Funcs    []*Func

	stop      *atomic.Bool // nil, or what ends the decoding of bodies when it is set
	mu        sync.Mutex   // guards types and debug records while bodies are decoded
	strings   stringTable
	types     typeTable
	constants []cursor
	debug     debugTable
}

// Global is a variable in global memory that lives as long as the module.
type Global struct {
	Name       string
	Value      *Constant // initial value; its type is a tile of rank 1
	Align      uint64    // 0: as the element
	Visibility Visibility
	Constant   bool
	Offset     uint64 // in the file
}

// Func is a function of a module. All are entries: kernels.
type Func struct {
	Name    string
	Type    *Type // Kind Function
	Private bool
	Entry   bool
	Hints   *Attr // dictionary by architecture, nil when there is none
	Loc     Loc
	Offset  uint64 // in the file

	module *Module
	locs   locList
	body   cursor
	once   sync.Once
	block  *Block
	err    error
}

// Params are the types of the parameters, in the order of cuLaunchKernel. Those of a verified entry are tiles of rank
// 0.
func (f *Func) Params() []*Type { return f.Type.Params }

// Param is where a parameter lies in the parameter buffer of a launch, in bytes.
type Param struct {
	Offset, Size uint64
	Type         *Type
}

// Layout places the parameters of a verified entry: each has the size of its element in memory and is aligned to it.
func (f *Func) Layout() []Param {
	var out []Param
	at := uint64(0)
	for _, t := range f.Params() {
		size := t.Elem.Bytes()
		at = (at + size - 1) &^ (size - 1)
		out = append(out, Param{at, size, t})
		at += size
	}
	return out
}

// Bytes is the size of a global in memory.
func (g *Global) Bytes() uint64 {
	t := g.Value.Type
	if t.Elem.Kind.Bits() == 4 {
		return uint64(t.Elements()+1) / 2
	}
	return uint64(t.Elements()) * t.Elem.Bytes()
}

// Body decodes the operations of the function, once. The values of the block's arguments are the parameters. The error
// is an *Error.
func (f *Func) Body() (*Block, error) {
	f.once.Do(func() { f.block, f.err = f.decode() })
	return f.block, f.err
}

// Block is a sequence of operations, the last of which ends it.
type Block struct {
	Args   []*Val
	Ops    []*Op
	Parent *Op // nil for the body of a function
}

// Region is a part of an operation. The verifier allows one block in each, none in the else part of an if.
type Region struct{ Blocks []*Block }

// Val is a value: an argument of a block or a result of an operation.
type Val struct {
	Type  *Type
	Op    *Op    // that it is a result of, or nil
	Block *Block // that it is an argument of, or nil
	Index int    // among the results or arguments
}

// Op is an operation. Which of the fields mean something is said by the attributes in its Info; the others are zero.
type Op struct {
	Code        Opcode
	Rounding    Rounding
	Overflow    Overflow
	Sign        Signedness // of the left operand where SignRHS is the right one's
	SignRHS     Signedness
	Compare     Predicate
	Ordering    Ordering
	MemoryOrder MemoryOrder
	Scope       Scope // NoScope when left out
	RMW         RMW
	Reduction   Reduction
	Flags       Flags
	Loc         Loc
	Operands    []*Val
	Results     []*Val
	Regions     []Region
	Extra       *Extra // nil when the operation has none of its fields
	Offset      uint64 // in the file
	Parent      *Block

	// groups are the numbers of operands of each group when operands are counted group by group.
	groups []uint32
}

// Flags are the unit attributes of an operation.
type Flags uint8

// The flags.
const (
	FlushToZero  Flags = 1 << iota
	PropagateNaN       // maxf, minf
	UnsignedCmp        // for
	Saturating         // ftoi
	FastAcc            // mmaf
	GlobalScope        // alloca: other tile blocks may use the memory
	Reverse            // scan
)

// Extra holds the larger attributes.
type Extra struct {
	Name       string    // message of assert, format of print_tko, symbol of get_global
	Constant   *Constant // of constant
	Predicate  *Attr     // of assume
	Hints      *Attr     // optimization hints
	Identities []*Attr   // of reduce and scan
	Ints       []int64   // permutation
	InBounds   []bool    // dimensions along which an access to a view stays inside
	Dim        int64     // of cat, reduce, scan
	Count      uint64    // elements of alloca
	Align      uint64    // of alloca, in bytes
}

func (o *Op) extra() *Extra {
	if o.Extra == nil {
		o.Extra = &Extra{}
	}
	return o.Extra
}

// InBounds says for each index of an access to a view whether it is promised to be inside; false where nothing is said.
func (o *Op) InBounds(i int) bool {
	return o.Extra != nil && i < len(o.Extra.InBounds) && o.Extra.InBounds[i]
}

// Info is the row of the table of operations.
func (o *Op) Info() *Info { return o.Code.Info() }

// Group gives the operands of the i-th slot in Info: none for an optional one that is absent.
func (o *Op) Group(i int) []*Val {
	slots := o.Info().Operands
	if o.groups != nil {
		at := uint32(0)
		for _, n := range o.groups[:i] {
			at += n
		}
		return o.Operands[at : at+o.groups[i]]
	}
	// At most one slot is open.
	open := len(o.Operands)
	for _, s := range slots {
		if s.Arity == Single {
			open--
		}
	}
	at := 0
	for j := range slots {
		n := 1
		if slots[j].Arity != Single {
			n = open
		}
		if j == i {
			return o.Operands[at : at+n]
		}
		at += n
	}
	return nil
}

// Operand gives the single or optional operand of a name; nil when it is absent.
func (o *Op) Operand(name string) *Val {
	if g := o.named(name); len(g) > 0 {
		return g[0]
	}
	return nil
}

// named gives the operands of the slot of a name.
func (o *Op) named(name string) []*Val {
	for i := range o.Info().Operands {
		if o.Info().Operands[i].Name == name {
			return o.Group(i)
		}
	}
	return nil
}

// result gives the results of the slot of a name.
func (o *Op) result(name string) []*Val {
	at := 0
	for _, s := range o.Info().Results {
		n := 1
		if s.Arity != Single || at >= len(o.Results) {
			n = len(o.Results) - at
		}
		if s.Name == name {
			return o.Results[at : at+n]
		}
		at += n
	}
	return nil
}

// slot gives the operands or results of a name.
func (o *Op) slot(name string) []*Val {
	for i := range o.Info().Operands {
		if o.Info().Operands[i].Name == name {
			return o.Group(i)
		}
	}
	return o.result(name)
}
