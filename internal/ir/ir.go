// Package ir is the lowered program: flat, resolved operations in an order that engines can run as it stands.
//
// A Kernel is one entry with every function it can reach, lowered together: shared memory is laid out, constants stand
// in a pool of rows, branches name operations. Operations keep the form of the opcode table that they fit
// (optab.Match), so an engine picks its implementation by Op.Opcode, modifiers and types when it prepares the kernel,
// never while it runs.
//
// # Register frame
//
// Registers of a warp live in a frame of rows of 32 lanes; virtual registers that are never live together share a row
// (rows.go). A row of class W32 is 128 bytes (8- and 16-bit registers are zero-extended in it), W64 256 bytes, W128 512
// bytes (lane i at 16*i, low half first). A predicate is a 32-bit mask, four bytes, bit i for lane i. Offsets are bytes
// from the frame's start; rows are aligned to 128 bytes. Constants are rows too, in the kernel's pool, so that
// operations read every source in the same way.
package ir

import (
	"strings"

	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Class is the width class of a register row.
type Class uint8

// The classes of rows.
const (
	W32 Class = iota
	W64
	W128
	WPred
)

// RowSize is the size of a row of the class in bytes.
func (c Class) RowSize() uint32 {
	switch c {
	case W32:
		return 128
	case W64:
		return 256
	case W128:
		return 512
	}
	return 4
}

// ClassOf returns the class of a register of the given width in bits.
func ClassOf(bits int) Class {
	switch {
	case bits == 1:
		return WPred
	case bits <= 32:
		return W32
	case bits == 64:
		return W64
	}
	return W128
}

// Ref is the place of a row: in the frame of the running function (Sel 0) or in the kernel's constant pool (Sel 1).
type Ref struct {
	Off uint32
	Sel uint8
}

// Space is a state space.
type Space uint8

// The state spaces (PTX ISA 5.1).
const (
	Generic Space = iota
	Global
	Const
	Shared        // shared::cta
	SharedCluster // shared::cluster
	Local
	KernelParam // parameters of the entry
	FrameParam  // parameters of functions and calls, kept in the frame
)

var spaceNames = [...]string{"generic", "global", "const", "shared", "shared::cluster", "local", "param", "param"}

func (s Space) String() string { return spaceNames[s] }

// ArgKind says what an operand is.
type ArgKind uint8

// The operand kinds.
const (
	None  ArgKind = iota // absent, or the sink
	Row                  // Ref in the frame
	Imm                  // Ref in the constant pool; Bits holds the value when it needs no relocation
	Addr                 // memory address: Base + Disp in Space
	Vec                  // Elems
	Label                // Target
	List                 // Elems
)

// Arg is an operand.
type Arg struct {
	Kind  ArgKind
	Class Class
	Neg   bool  // !p or -r; an operand of an fma that contract.go made
	Width uint8 // declared bits of a register: 8 and 16 stand in W32 rows with zero upper bits
	Space Space
	Sym   bool // the base or value is a symbol's address
	Ref   Ref
	Bits  uint64
	Disp  int64 // bytes added to the base; the offset itself when Base is nil
	// Row or Imm; nil: the address is Disp (Param: offset into the parameters, Local: offset into the function's local
	// frame)
	Base *Arg

	*optab.Position // never nil, but in the zero Arg
	*ArgRest        // likewise
}

// NoArg is an operand that is absent.
func NoArg() *Arg { return &Arg{Position: optab.NoPosition(), ArgRest: &noRest} }

// ArgRest is what few operands have. The others, registers and constants above all, share one that is empty: a big
// kernel has a hundred thousand of them.
type ArgRest struct {
	// of a 128-bit constant; of an address of a parameter by its name, the bytes from offset 0 on that there are
	Hi     uint64
	Comp   string // video selector
	Elems  []Arg
	Extra  []Arg // coordinates and the like that follow the address
	Second *Arg  // of a pair p|q
	Var    *check.Var
	Func   *check.Func
}

var noRest ArgRest // never written

// Elements are the registers of an operand: one that is written without braces is alone.
func (a *Arg) Elements() []Arg {
	if a.Kind == Vec {
		return a.Elems
	}
	return []Arg{*a}
}

// Name is that of the operand position in the form: d, a, b, membermask; "" where the form has none.
func (a *Arg) Name() string {
	if a.Op == nil {
		return ""
	}
	return a.Op.Name
}

// Arg returns the operand of the given name, nil when the instruction was written without it.
func (o *Op) Arg(name string) *Arg {
	for i := range o.Args {
		if p := o.Args[i].Op; p != nil && p.Name == name {
			return &o.Args[i]
		}
	}
	return nil
}

// Reg says whether the operand is a register or constant row.
func (a *Arg) Reg() bool { return a.Kind == Row || a.Kind == Imm }

// Ctl says how an operation takes part in control flow.
type Ctl uint8

// Control operations. Everything else is Plain.
const (
	Plain   Ctl = iota
	Branch      // bra: Target, by guard
	Jump        // unconditional continuation at Target, made by the lowering
	BranchX     // brx.idx: Targets by the value of Args[0]
	Call        // Callee or indirect through Args
	Ret
	Exit
	Trap
	Special   // reads a special register into Args[0]; SReg says which
	FrameAddr // address of a local variable into Args[0]: local frame + Disp
)

// Op is one operation.
type Op struct {
	Ctl    Ctl
	Neg    bool         // @!p
	First  bool         // f64 arithmetic with two NaN operands: that of a survives, not that of b (see contract.go)
	Guard  int32        // frame offset of the guard predicate, -1 when unguarded
	Match  *optab.Match // nil for operations made by the lowering
	Args   []Arg
	Target int32 // operation index in the same function
	Line   int32 // PTX line
	Loc    check.Loc

	*OpRest // never nil
}

// Opcode is what the operation does, NoOp for those made by the lowering.
func (o *Op) Opcode() optab.Opcode { return o.Form().Op }

// Mods is what the operation's modifiers mean; nobody may write to it. Those of operations made by the lowering are all
// zero.
func (o *Op) Mods() *optab.Mods {
	if o.Match == nil {
		return &noMods
	}
	return &o.Match.Mods
}

var noMods optab.Mods // never written

// Type is the operation's nth type, NoTypeID where it has fewer.
func (o *Op) Type(n int) optab.TypeID { return o.Mods().Type(n) }

// Form is the operation's line in the opcode table, with what it does; an empty one for operations made by the
// lowering. Nobody may write to it.
func (o *Op) Form() *optab.Form {
	if o.Match == nil {
		return &noForm
	}
	return o.Match.Form
}

var noForm optab.Form // never written

// Effect is what the operation does to memory.
func (o *Op) Effect() optab.Mem { return o.Form().Mem }

// Sync says whether the operation waits for the lanes of its member mask, or for all lanes of the warp.
func (o *Op) Sync() bool { return o.Form().Sync }

// Text is the function of the text that an operation of f stands in.
func (o *Op) Text(f *Func) *Func {
	if o.In != nil {
		return o.In
	}
	return f
}

// Pure says whether the operation computes its results from its operands and does nothing else.
func (o *Op) Pure() bool { return o.Form().Pure }

// OpRest is what few operations have. The others share one that is empty.
type OpRest struct {
	SReg    optab.SReg // of Special, with its number and component
	Number  uint8
	Axis    uint8   // 0 to 3 for x to w
	Name    string  // the same as messages have it
	Disp    int64   // FrameAddr
	Targets []int32 // BranchX
	Call    *CallInfo
	In      *Func // the function of the text that has the operation, when it was put into another; else nil
}

var noOpRest OpRest // never written

// newSpecial is the reading of a special register, or of a component of one.
func newSpecial(name string) Op {
	register, component, _ := strings.Cut(name, ".")
	s, number := optab.FindSReg(register)
	r := &OpRest{SReg: s, Number: uint8(number), Name: name}
	if component != "" {
		r.Axis = uint8(max(strings.Index("xyzw", component), 0))
	}
	return Op{Ctl: Special, OpRest: r}
}

// CallInfo describes a call.
type CallInfo struct {
	Func    int    // index in Kernel.Funcs; -1 when indirect or built in
	Builtin string // name of a system function
	Pointer *Arg   // indirect: the row with the function's address
	Args    []Copy // from the caller's frame into the callee's
	Rets    []Copy // from the callee's frame into the caller's, after it returns
	Slots   []Slot // the callee's parameter and return slots by position, for indirect calls and built-ins
}

// Copy moves one parameter. One of Src and SrcSlot is used: a row, or a slot of parameter bytes.
type Copy struct {
	Row  *Arg // register or constant in the caller (source of an argument, destination of a result)
	Slot Slot // the caller's parameter variable, when Row is nil
	To   int  // number of the parameter or result in the callee
	// At is where the value begins in the callee's parameter variable: a register of vector type goes there by
	// components.
	At uint64
}

// Slot is the storage of a parameter variable in a frame: lane i's bytes are at Off + i*Stride.
type Slot struct {
	Off, Stride, Size uint64
}

// Func is a lowered function.
type Func struct {
	Name      string
	Check     *check.Func
	Files     map[int]string // source files by number (.file), for Op.Loc
	Index     int
	Ops       []Op
	FrameSize uint64 // bytes, at most MaxFrame
	Params    []Slot // functions only
	ParamRegs []*Arg // a parameter declared as a register instead of a .param variable; nil entries otherwise
	Returns   []Slot
	RetRegs   []*Arg
	Local     check.Layout // of .local variables, of one thread
	Handle    uint64       // the function's address as kernels see it, 0 when it is never taken
	Loops     bool         // has a back edge
	Registers []Register   // with Symbols.Registers

	rows  []rowInfo // by number, until place has run
	slots []Slot
}

// Register is a register of a function by its name in PTX.
type Register struct {
	Name  string
	Class Class
	Ref   Ref
}

// Param is a kernel parameter.
type Param struct {
	Name         string
	Offset, Size uint64
	Align        uint64
}

// ConstRow is a constant broadcast to 32 lanes.
type ConstRow struct {
	Off   uint32
	Class Class
	Lo    uint64
	Hi    uint64
	Var   *check.Var // add the address of this variable
	Func  *check.Func
}

// Kernel is an entry with what it reaches.
type Kernel struct {
	Name       string
	Funcs      []*Func // the entry first
	Params     []Param
	ParamSize  uint64
	Consts     []ConstRow
	ConstSize  uint32
	Shared     map[*check.Var]uint64 // offset in the CTA's shared memory
	SharedSize uint32                // static bytes, the system's reserved part not counted
	Local      uint64                // bytes of .local variables of the entry
	// and of the functions that it calls, at their deepest; 0 where recursion or an indirect call leaves it open
	Stack uint64
	// Shared or Local, of which it needs more than a launch can have; Generic for nearly all
	TooBig            Space
	Attrs             check.Attrs
	Handles           map[uint64]int // function address -> index in Funcs
	Globals           []*check.Var   // module variables whose addresses it uses
	Barriers          int
	UsesDynamicShared bool
}

// What a kernel may have at most: offsets of rows and slots are 32 bits wide in operations, and displacements of
// machine code.
const (
	MaxFrame   = 64 << 20               // bytes of a function's registers and parameters, of all lanes
	maxConsts  = 1 << 30                // bytes of the constant pool
	maxShared  = 1<<24 - ReservedShared // of a CTA, in the window of shared memory
	maxParams  = 1 << 16                // of the entry
	maxLocal   = 2 * check.MaxLocal     // where a function's last local variable begins, and of one of its parameters
	localAlign = 16                     // of a function's local variables at the least
)

// ReservedShared is the part of a CTA's shared memory that the system keeps below the kernel's own variables on
// compute capability 8.0 and later (%reserved_smem_offset; 1 KiB on an H200).
const ReservedShared = 1024
