package tileir

import "slices"

// Opcode names an operation. Its numbers are those of the bytecode; the constants and what is known of each stand in
// ops.tab.
type Opcode uint8

// MinMinor and MaxMinor are the versions of the format that can be read: 13.MinMinor to 13.MaxMinor.
const (
	Major    = 13
	MinMinor = 1
	MaxMinor = 5
)

// Constraint is what the type of an operand or result must be.
type Constraint uint8

// The constraints. A tile is of any shape, a scalar has no dimensions.
const (
	Any Constraint = iota
	AnyTile
	IntTile
	ConvertTile  // integers, i4 as well
	FloatTile    // f16 to f64
	AnyFloatTile // f8 and tf32 as well
	NumberTile
	PointerTile
	BoolTile
	I8Tile
	I64Tile
	PackTile
	MmaTile
	MmaAccTile
	MmaITile
	MmaIAccTile
	MmaIResultTile
	ScaledTile
	ScaledAccTile
	ScaleTile
	ScalarInt
	ScalarI32
	ScalarBool
	ScalarPointer
	ExponentTile // integers of up to 32 bits
	TokenType
	TensorViewType
	PartitionViewType
	StridedViewType
	GatherScatterViewType
	AnyTileView
)

// Arity says how often an operand or result occurs.
type Arity uint8

// The arities.
const (
	Single Arity = iota
	Optional
	Variadic
)

// Slot is an operand or result of an operation, or a group of them.
type Slot struct {
	Name  string
	Type  Constraint
	Arity Arity
	Since uint8 // 0 or the first minor version that has it
}

// AttrKind says what an attribute is and how the bytecode has it.
type AttrKind uint8

// The kinds of attribute.
const (
	UnitAttr AttrKind = iota // a bit of the flag word
	BoolAttr
	RoundingAttr
	OverflowAttr
	SignAttr
	SignRHSAttr
	CompareAttr
	OrderingAttr
	MemoryOrderAttr
	ScopeAttr
	RMWAttr
	ReductionAttr
	DimAttr   // i64
	Dim32Attr // i32, not negative
	CountAttr
	AlignAttr
	StringAttr
	SymbolAttr
	ConstAttr
	TaggedAttr
	IdentitiesAttr
	HintsAttr
	I32ArrayAttr
	InBoundsAttr
)

// Attribute is an attribute of an operation.
type Attribute struct {
	Name     string
	Kind     AttrKind
	Optional bool
	Since    uint8
}

// RuleKind is what a Rule asks of the slots that it names.
type RuleKind uint8

// The kinds of rule.
const (
	SameType RuleKind = iota
	SameShape
	SameRank
	SameElement
	AllSameShape   // of all operands and results
	AllSameElement // of all operands and results
	BoolOfOperand  // the result is the tile of i1 with the operands' shape
	LoadPointer    // result, mask and padding fit the pointers
	StorePointer   // value and mask fit the pointers
	ViewAccess     // tile and indices fit the view
)

// Rule is a condition on the types of an operation.
type Rule struct {
	Kind  RuleKind
	Slots []string
}

// Info is a row of the table of operations.
type Info struct {
	Name       string // as the text has it
	Class      string // as messages of NVIDIA's reader call it
	Since      uint8  // first minor version
	Results    []Slot
	Operands   []Slot
	Attributes []Attribute
	Regions    int
	Terminator bool // ends a block
	// Segmented operands are counted group by group, and optional ones have a bit in the flag word; otherwise operands
	// are counted together where their number is open.
	Segmented bool
	Rules     []Rule
	Format    string // how the text goes on after the name; empty when a function writes it
	NotSM90   string // why an sm_90 cannot run it, empty when it can
}

// Info gives the row of an operation, nil for a number without one.
func (c Opcode) Info() *Info {
	if int(c) < len(operations) && operations[c].Name != "" {
		return &operations[c]
	}
	return nil
}

// String is the name in the text.
func (c Opcode) String() string {
	if i := c.Info(); i != nil {
		return i.Name
	}
	return "unknown"
}

// Opcodes lists the operations.
func Opcodes() []Opcode {
	var out []Opcode
	for c := range operations {
		if operations[c].Name != "" {
			out = append(out, Opcode(c))
		}
	}
	return out
}

func variadic(s Slot) bool { return s.Arity == Variadic }

// countsResults reports whether the bytecode has a number of results: it has where operands or results are variadic.
func (i *Info) countsResults() bool {
	return slices.ContainsFunc(i.Operands, variadic) || slices.ContainsFunc(i.Results, variadic)
}

// openOperands reports whether the bytecode has the number of all operands together.
func (i *Info) openOperands() bool {
	return !i.Segmented && slices.ContainsFunc(i.Operands, func(s Slot) bool { return s.Arity != Single })
}

// flagged lists the versions of the fields that have a bit in the flag word, in the order of the bits.
func (i *Info) flagged(yield func(since uint8) bool) {
	for _, a := range i.Attributes {
		if (a.Optional || a.Kind == UnitAttr) && !yield(max(a.Since, i.Since)) {
			return
		}
	}
	if i.Segmented {
		for _, s := range i.Operands {
			if s.Arity == Optional && !yield(max(s.Since, i.Since)) {
				return
			}
		}
	}
}
