// Package check decides whether a PTX module is valid for a target, as ptxas does, and resolves every name in it.
//
// Its result, Module, is what the linker and the lowering read: declarations with sizes and initial bytes, functions
// with their registers, and instructions with the form of the opcode table that they fit and operands that point at
// declarations.
package check

import (
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Target is what the module is checked against.
type Target struct {
	SM     int    // 90 for sm_90
	Suffix string // "a" when the module's .target names an architecture-specific variant, "f" a family-specific one
	PTX    int    // ten times the module's .version
}

// Module is a checked module.
type Module struct {
	AST     *ptx.Module
	Target  Target
	Vars    []*Var  // module-scope variables in source order (.global .const .shared .tex ...), extern ones too
	Funcs   []*Func // entries and functions in source order, one for all declarations of a name
	Aliases map[string]*Func
	Files   map[int]string // .file table
	Debug   bool           // target debug
}

// Var is a variable: of the module, of a function, a parameter, or a register (Space "reg").
type Var struct {
	Name  string // with the number, for a member of a parameterised register set
	Index int    // number among the function's registers, parameters or locals, or the module's variables

	*Declared // never nil
}

// Declared is what a declaration says of a variable. The members of a parameterised register set share it: a big kernel
// has tens of thousands of them.
type Declared struct {
	Decl    *ptx.Var
	Linkage ptx.Linkage
	Space   string      // global const shared local param reg tex
	Type    *optab.Type // of one element
	Vec     int         // 0, 2, 4, 8
	Dims    []uint64    // nil for a scalar; 0 for an unsized first dimension
	Size    uint64      // bytes, of [SizeBits] bits; 0 for unsized
	Align   uint64      // bytes
	Managed bool
	Func    *Func // the function it is local to, nil at module scope
	// nil when there is no initialiser; else the first bytes, zero where relocated; those behind them are zero
	Init   []byte
	Relocs []Reloc // addresses inside Init
	// of a register with Vec: its components, which are registers of their own (the vector is not in Regs)
	Elems []*Var

	role role // of a parameter
}

// role is which list of the function a parameter stands in.
type role uint8

const (
	roleNone role = iota
	roleInput
	roleOutput
)

// Reloc is the address of a symbol inside an initialiser.
type Reloc struct {
	Offset  uint64
	Size    int    // bytes
	Var     *Var   // one of Var and Func is set
	Func    *Func  //
	Addend  int64  //
	Generic bool   // generic(sym): the generic address instead of the one in its state space
	Shift   int    // mask operator: right shift in bits of the address before it is cut to Size
	Mask    uint64 // mask operator's constant, 0 when not used
}

// Func is an entry or a function.
type Func struct {
	Decl     *ptx.Func // the definition when there is one
	Name     string
	Linkage  ptx.Linkage
	Entry    bool
	Defined  bool
	Params   []*Var // offsets are the business of the lowering: C layout by Size and Align
	Returns  []*Var
	NoReturn bool

	Regs   []*Var   // every register, numbered by Var.Index
	Locals []*Var   // function-scope .local .shared .param .const .global variables
	Insts  []Inst   // in source order; labels point between them
	Labels []*Label // all labels of the body
	Tables []*Table // .branchtargets, .calltargets, .callprototype
	Attrs  Attrs
	Index  int
	Calls  bool           // it has a call
	Files  map[int]string // the module's .file table, for Loc.File

	uses funcUses
}

// Attrs are an entry's directives.
type Attrs struct {
	MaxNTid, ReqNTid  [3]uint32 // 0 where absent
	MinNCtaPerSM      uint32
	MaxNReg           uint32
	ReqNCtaPerCluster [3]uint32
	ExplicitCluster   bool
	MaxClusterRank    uint32
	BlocksAreClusters bool
}

// Label is a branch target.
type Label struct {
	Name string
	Pos  ptx.Pos
	Inst int // index in Func.Insts of the instruction that follows
}

// Table is a labelled list or prototype inside a body.
type Table struct {
	Name   string
	Pos    ptx.Pos
	Labels []*Label // .branchtargets
	Funcs  []*Func  // .calltargets
	Proto  *Proto   // .callprototype
}

// Proto is the signature of an indirect call.
type Proto struct {
	Returns, Params []*Var
	NoReturn        bool
}

// Inst is a checked instruction.
type Inst struct {
	AST   *ptx.Instr
	Match *optab.Match // shared by all instructions with the same modifiers
	Guard *Var         // predicate register, nil when unguarded
	Neg   bool         // @!p
	// one for each operand of the form that is present, in the form's order; a pair gives one Arg with Second
	Args []Arg
	Loc  Loc
}

// Loc is a position in the source that the PTX was compiled from (.loc); File 0 means none.
type Loc struct {
	File, Line, Col int32
}

// ArgKind says what an operand is.
type ArgKind uint8

// The operand kinds after resolution.
const (
	ArgNone  ArgKind = iota // absent or the sink "_"
	ArgReg                  // Var is the register, plus Off; Neg for !p or -r
	ArgImm                  // Imm holds the bits, already converted to the operand's type and cut to its width
	ArgSReg                 // Name is the special register, as %tid.x
	ArgSym                  // the address of Var or Func, plus Off
	ArgAddr                 // [base + Off]: Base is ArgReg, ArgSym or ArgImm; Extra what follows the comma
	ArgVec                  // Elems
	ArgLabel                // Label
	ArgTable                // Table
	ArgList                 // Elems of a parenthesised list
)

// Arg is a resolved operand.
type Arg struct {
	Kind ArgKind
	Neg  bool
	Pos  ptx.Pos
	Var  *Var
	Imm  uint64
	Off  int64
	Base *Arg

	*optab.Position // never nil
	*ArgRest        // never nil
}

// ArgRest is what few operands have. The others, registers and constants above all, share one that is empty: a big
// kernel has a hundred thousand of them.
type ArgRest struct {
	Func   *Func
	Hi     uint64 // upper half of a 128-bit immediate
	Name   string
	Comp   string // video selector: b0..b3, h0, h1, b7654...
	Label  *Label
	Table  *Table
	Elems  []Arg
	Extra  []Arg
	Second *Arg // of a pair p|q
	Suffix string
}

var noArgRest ArgRest // never written

// newArg is an operand of no kind yet.
func newArg(at *optab.Position, pos ptx.Pos) Arg {
	return Arg{Position: at, Pos: pos, ArgRest: &noArgRest}
}
