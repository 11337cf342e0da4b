package ptx

import "slices"

// Pos is a place in the source text: 1-based line and 1-based column, the
// column counted in bytes. The zero Pos means "no place".
type Pos struct{ Line, Col int32 }

// Position returns p itself; nodes embed Pos and so satisfy [Node].
func (p Pos) Position() Pos { return p }

// Node is any part of the syntax tree.
type Node interface{ Position() Pos }

// Decl is a module-level declaration or directive: *[Var], *[Func], *[Alias],
// *[FileDirective], *[Section], *[Pragma] or *[Loc].
type Decl interface {
	Node
	declNode()
}

// Stmt is a statement of a function body: *[Label], *[Instr], *[Block],
// *[Var], *[Loc], *[Pragma], *[BranchTargets], *[CallTargets],
// *[CallPrototype], *[FileDirective] or *[Section].
type Stmt interface {
	Node
	stmtNode()
}

// Operand is an operand of an instruction, or a constant expression in an
// initialiser, array size or debug section: *[Ident], *[Int], *[Float],
// *[Expr], *[Addr], *[Index], *[Vector], *[Pair], *[Not], *[Neg], *[Sink],
// *[List], and in initialisers only *[InitList], *[InitField], *[Generic],
// *[Mask].
type Operand interface {
	Node
	operandNode()
}

// Version is the PTX ISA version that a module names, for example 9.0.
type Version struct{ Major, Minor int }

// Less reports whether v is an older version than o.
func (v Version) Less(o Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

// TargetWord is one word of a .target directive: sm_90a, texmode_unified,
// map_f64_to_f32, debug.
type TargetWord struct {
	Pos
	Text string
}

// Module is one PTX translation unit. Its position is that of .version.
type Module struct {
	Version     Version // of the first .version directive; zero when absent
	HasVersion  bool
	VersionPos  Pos
	Target      []TargetWord // words of all .target directives, in order
	AddressSize int          // bits: 32 or 64; 0 when absent
	AddressPos  Pos

	// Decls holds everything after the header in source order.
	Decls []Decl

	// Files, Sections and Pragmas repeat the entries of those kinds in Decls
	// (and .file directives inside bodies).
	Files    []*FileDirective
	Sections []*Section
	Pragmas  []*Pragma
}

// Position returns VersionPos.
func (m *Module) Position() Pos { return m.VersionPos }

// Linkage is the linking directive of a variable or function.
type Linkage uint8

// Linking directives, PTX ISA "Linking Directives".
const (
	LinkNone Linkage = iota
	LinkExtern
	LinkVisible
	LinkWeak
	LinkCommon
)

var linkageText = [...]string{"", ".extern", ".visible", ".weak", ".common"}

// String returns the directive with its dot, or "" for LinkNone.
func (l Linkage) String() string { return linkageText[l] }

// Attribute is one entry of an .attribute(...) directive: managed, unified.
type Attribute struct {
	Pos
	Name string // without dot
	Args []uint64
}

// Alignment is an .align of a declaration, as it is written: package check judges it.
type Alignment struct {
	Align    uint64 // bytes; 0 when absent
	HasAlign bool
}

// Ptr is the .ptr attribute of a kernel parameter.
type Ptr struct {
	Pos
	Space string // const, global, local, shared; "" is generic
	Alignment
}

// Var is one declared name: a variable, register (family) or parameter.
// A declaration of several names becomes several Vars.
type Var struct {
	Pos             // of the declaration's first token; for second and later names, of the name
	NamePos Pos     // of the name
	Linkage Linkage //
	Space   string  // without dot: reg global const shared local param tex sreg, shared::cta ...
	Bank    int     // of the old .const[bank]; -1 when absent
	Attrs   []Attribute
	Alignment
	Vec    int    // 2, 4 or 8; 0 when scalar
	Type   string // without dot: u32, b8, pred, texref, samplerref, surfref ...
	Ptr    *Ptr
	Name   string
	HasNum bool     // parameterised name: %r<Count>
	Count  uint64   // N of %r<N>, declares Name0 ... Name(N-1)
	Dims   []uint64 // array sizes in elements; 0 for an empty first one, which is the same; nil for no array
	Init   Operand  // nil when absent
}

// FuncKind tells kernels from device functions.
type FuncKind uint8

// Kinds of function.
const (
	KindFunc FuncKind = iota
	KindEntry
)

// FuncDirective is a performance or other directive between a function's head
// and its body: maxntid, reqntid, minnctapersm, maxnctapersm, maxnreg,
// maxclusterrank, reqnctapercluster, explicitcluster, blocksareclusters,
// noreturn, abi_preserve, abi_preserve_control, pragma.
type FuncDirective struct {
	Pos
	Name    string // without dot
	Values  []uint64
	Strings []string // of .pragma, decoded
}

// Func is a kernel (.entry) or device function (.func), declared or defined.
type Func struct {
	Pos
	NamePos    Pos
	Kind       FuncKind
	Linkage    Linkage
	Attrs      []Attribute
	Name       string
	HasReturn  bool // a return list was written, even an empty one
	Returns    []*Var
	HasParams  bool // a parameter list was written, even an empty one
	Params     []*Var
	Directives []FuncDirective
	Body       *Block // nil for a declaration
}

// Directive returns the last directive called name (without dot), or nil.
func (f *Func) Directive(name string) *FuncDirective {
	for i := len(f.Directives) - 1; i >= 0; i-- {
		if f.Directives[i].Name == name {
			return &f.Directives[i]
		}
	}
	return nil
}

// Alias is ".alias Name, Target;".
type Alias struct {
	Pos
	Name, Target string
	TargetPos    Pos
}

// FileDirective is ".file index "name", timestamp, size".
type FileDirective struct {
	Pos
	Index    uint64
	Name     string // decoded
	HasStamp bool
	Stamp    uint64
	HasSize  bool
	Size     uint64
}

// Section is a .section with debug data.
type Section struct {
	Pos
	Name  string // with its dot
	Items []SectionItem
}

// SectionItem is a label or a row of data in a section.
type SectionItem struct {
	Pos
	Label  string // "name" of "name:"; then the rest is empty
	Width  int    // bits of one value: 8, 16, 32, 64
	Values []Operand
}

// Pragma is ".pragma "text", ...;".
type Pragma struct {
	Pos
	Strings []string // decoded
}

// Block is a function body or a nested scope.
type Block struct {
	Pos
	Stmts  []Stmt
	EndPos Pos // of the closing brace
}

// Label is "Name:".
type Label struct {
	Pos
	Name string
}

// LocAt is a place in a file of the .file table.
type LocAt struct {
	File, SrcLine, SrcCol uint64
}

// Loc is ".loc file line column [, function_name label[+n]] [, inlined_at file line column]".
type Loc struct {
	Pos
	LocAt
	Function Operand // label or label plus constant; nil when absent
	Inlined  *LocAt
}

// BranchTargets is "Name: .branchtargets Labels;".
type BranchTargets struct {
	Pos
	Name   string
	Labels []*Ident
}

// CallTargets is "Name: .calltargets Funcs;".
type CallTargets struct {
	Pos
	Name  string
	Funcs []*Ident
}

// CallPrototype is "Name: .callprototype (returns) _ (params) directives;".
type CallPrototype struct {
	Pos
	Name       string
	HasReturn  bool
	Returns    []*Var
	HasParams  bool
	Params     []*Var
	Directives []FuncDirective // noreturn, abi_preserve, abi_preserve_control
}

// Guard is the predicate of an instruction: "@p" or "@!p".
type Guard struct {
	Pos
	Reg Ident
	Neg bool
}

// Operation is the name of an instruction with its modifiers. The
// instructions of a module with the same ones share it, and must not write
// to it.
type Operation struct {
	Name string // first word: add, ld, mbarrier
	// Mods are the dotted parts after the name, without their dots: "rn",
	// "f32", "shared::cta", "L2::128B", "m16n8k16", "1d".
	Mods []string
	text string // name and modifiers joined with dots
}

// Instr is an instruction. Pos is that of its first token, the guard included.
type Instr struct {
	Pos
	NamePos Pos
	Guard   *Guard
	*Operation
	Args   []Operand // call: [List of returns], callee, [List of arguments], [prototype]
	EndPos Pos       // of the semicolon
}

// Has reports whether text is among the modifiers.
func (o *Operation) Has(text string) bool { return slices.Contains(o.Mods, text) }

// Opcode returns the name and all modifiers joined with dots.
func (o *Operation) Opcode() string { return o.text }

// Ident is a name: register, special register, label, function, variable,
// WARP_SZ. Comp is what follows its dot: x y z w r g b a, or a byte or
// half-word selector of the video instructions (b0, h1, b3210).
type Ident struct {
	Pos
	Name string
	Comp string
}

// Int is an integer literal; a minus sign before a literal is part of it.
type Int struct {
	Pos
	Text     string // as written, without sign, with the U suffix
	Value    uint64 // two's complement, the sign applied
	Neg      bool   // a minus sign was written
	Unsigned bool   // U suffix, or too large for int64: the constant has type u64
}

// Float is a floating literal; a minus sign before a literal is part of it.
type Float struct {
	Pos
	Text  string // as written, without sign; ".5" becomes "0.5"
	Bits  uint64 // IEEE bits in Width bits, the sign applied
	Width int    // 32 for 0f, 64 for 0d and decimal literals
	Exact bool   // 0f or 0d form: raw bits
	Neg   bool   // a minus sign was written
}

// Op is an operator of a constant expression.
type Op uint8

// Operators, PTX ISA "Constant Expressions".
const (
	OpInvalid Op = iota
	OpPlus       // +X
	OpMinus      // -X
	OpLNot       // !X
	OpNot        // ~X
	OpS64        // (.s64)X
	OpU64        // (.u64)X
	OpMul
	OpDiv
	OpRem
	OpAdd
	OpSub
	OpShl
	OpShr
	OpLT
	OpGT
	OpLE
	OpGE
	OpEQ
	OpNE
	OpAnd
	OpXor
	OpOr
	OpLAnd
	OpLOr
	OpCond // X ? Y : Z
)

var opText = [...]string{
	OpInvalid: "?", OpPlus: "+", OpMinus: "-", OpLNot: "!", OpNot: "~", OpS64: "(.s64)", OpU64: "(.u64)",
	OpMul: "*", OpDiv: "/", OpRem: "%", OpAdd: "+", OpSub: "-", OpShl: "<<", OpShr: ">>",
	OpLT: "<", OpGT: ">", OpLE: "<=", OpGE: ">=", OpEQ: "==", OpNE: "!=",
	OpAnd: "&", OpXor: "^", OpOr: "|", OpLAnd: "&&", OpLOr: "||", OpCond: "?:",
}

// String returns the operator as PTX spells it.
func (o Op) String() string { return opText[o] }

// Expr is an expression of constants (and, for addresses, one symbol).
// Parentheses are not kept; the printer writes those that are needed.
type Expr struct {
	Pos
	Op      Op
	X, Y, Z Operand // Y and Z nil for unary, Z nil for binary operators
}

// Addr is a bracketed operand. "[imm]" has a nil Base and the value in Offset.
type Addr struct {
	Pos
	Base   Operand   // *Ident or *Index; nil for an absolute address
	Offset Operand   // constant; nil when absent
	Extra  []Operand // after the comma: "[tex, samp, {x,y}]", "[map, {c0,c1}]"
	Suffix string    // "unified" for "[a].unified"
}

// Index is an array element reference outside brackets: name[X].
type Index struct {
	Pos
	Name string
	X    Operand
}

// Vector is "{a, b}".
type Vector struct {
	Pos
	Elems []Operand
}

// Pair is "First|Second".
type Pair struct {
	Pos
	First, Second Operand
}

// Not is "!X" with a register.
type Not struct {
	Pos
	X Operand
}

// Neg is "-X" with a register.
type Neg struct {
	Pos
	X Operand
}

// Sink is the bit bucket "_".
type Sink struct{ Pos }

// List is a parenthesised list of call arguments or results.
type List struct {
	Pos
	Elems []Operand
}

// InitList is a braced part of an initialiser.
type InitList struct {
	Pos
	Elems []Operand
}

// Generic is "generic(X)" in an initialiser: X's generic address.
type Generic struct {
	Pos
	X Operand
}

// Mask is "0xff(X)" in an initialiser: the byte of X that the mask covers.
type Mask struct {
	Pos
	Mask *Int
	X    Operand
}

// InitField is "Name = X" in the initialiser of a .samplerref or .texref.
type InitField struct {
	Pos
	Name string
	X    Operand
}

func (*Var) declNode()           {}
func (*Func) declNode()          {}
func (*Alias) declNode()         {}
func (*FileDirective) declNode() {}
func (*Section) declNode()       {}
func (*Pragma) declNode()        {}
func (*Loc) declNode()           {}

func (*Label) stmtNode()         {}
func (*Instr) stmtNode()         {}
func (*Block) stmtNode()         {}
func (*Var) stmtNode()           {}
func (*Loc) stmtNode()           {}
func (*Pragma) stmtNode()        {}
func (*BranchTargets) stmtNode() {}
func (*CallTargets) stmtNode()   {}
func (*CallPrototype) stmtNode() {}
func (*FileDirective) stmtNode() {}
func (*Section) stmtNode()       {}

func (*Ident) operandNode()     {}
func (*Int) operandNode()       {}
func (*Float) operandNode()     {}
func (*Expr) operandNode()      {}
func (*Addr) operandNode()      {}
func (*Index) operandNode()     {}
func (*Vector) operandNode()    {}
func (*Pair) operandNode()      {}
func (*Not) operandNode()       {}
func (*Neg) operandNode()       {}
func (*Sink) operandNode()      {}
func (*List) operandNode()      {}
func (*InitList) operandNode()  {}
func (*Generic) operandNode()   {}
func (*Mask) operandNode()      {}
func (*InitField) operandNode() {}
