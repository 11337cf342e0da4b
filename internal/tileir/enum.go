package tileir

// The enumerations of the dialect. Their numbers are those of the bytecode, their names those of the text.

// Rounding of an arithmetic operation or conversion.
type Rounding uint8

// The rounding modes.
const (
	NearestEven Rounding = iota
	Zero
	NegativeInf
	PositiveInf
	Approx
	Full
	NearestIntToZero
	NearestAway // 13.4
)

// Overflow says which overflows an integer operation promises not to have.
type Overflow uint8

// The promises.
const (
	MayWrap Overflow = iota
	NoSignedWrap
	NoUnsignedWrap
	NoWrap
)

// Signedness of an integer operation.
type Signedness uint8

// How integers are interpreted.
const (
	Unsigned Signedness = iota
	Signed
)

// Predicate of a comparison.
type Predicate uint8

// The comparisons.
const (
	Equal Predicate = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

// Ordering says what a comparison of floats answers for NaN.
type Ordering uint8

// The orderings.
const (
	Unordered Ordering = iota
	Ordered
)

// MemoryOrder is the memory ordering semantics of an access.
type MemoryOrder uint8

// The memory orders.
const (
	Weak MemoryOrder = iota
	Relaxed
	Acquire
	Release
	AcquireRelease
)

// Scope is the memory scope of an access.
type Scope uint8

// The scopes. NoScope: the operation has none.
const (
	TileBlockScope Scope = iota
	DeviceScope
	SystemScope
	NoScope
)

// RMW is what an atomic read-modify-write computes.
type RMW uint8

// The modes.
const (
	RMWAnd RMW = iota
	RMWOr
	RMWXor
	RMWAdd
	RMWAddF
	RMWMax
	RMWMin
	RMWUMax
	RMWUMin
	RMWExchange
)

// Reduction is what a multicast reduction computes.
type Reduction uint8

// The reductions.
const (
	ReduceAdd Reduction = iota
	ReduceMin
	ReduceMax
	ReduceAnd
	ReduceOr
	ReduceXor
	ReduceUMin
	ReduceUMax
)

// Padding is what a load from outside a tensor view gives.
type Padding uint8

// The padding values. NoPadding: the view names none.
const (
	PadZero Padding = iota
	PadNegZero
	PadNaN
	PadPosInf
	PadNegInf
	NoPadding
)

// PointerAttr says what memory a pointer leads to.
type PointerAttr uint8

// The attributes of pointers. NoPointerAttr: the type names none.
const (
	PlainPointer PointerAttr = iota
	UnicastPointer
	MulticastPointer
	NoPointerAttr
)

// Visibility of a global.
type Visibility uint8

// The visibilities.
const (
	Public Visibility = iota
	Private
)

var (
	roundingNames = [...]string{"nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full",
		"nearest_int_to_zero", "nearest_away"}
	overflowNames   = [...]string{"none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"}
	signednessNames = [...]string{"unsigned", "signed"}
	predicateNames  = [...]string{"equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
		"greater_than_or_equal"}
	orderingNames    = [...]string{"unordered", "ordered"}
	memoryOrderNames = [...]string{"weak", "relaxed", "acquire", "release", "acq_rel"}
	scopeNames       = [...]string{"tl_blk", "device", "sys"}
	rmwNames         = [...]string{"and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"}
	reductionNames   = [...]string{"add", "min", "max", "and", "or", "xor", "umin", "umax"}
	paddingNames     = [...]string{"zero", "neg_zero", "nan", "pos_inf", "neg_inf"}
	pointerAttrNames = [...]string{"none", "unicast", "multicast"}
	visibilityNames  = [...]string{"public", "private"}
)

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "?"
}

func (v Rounding) String() string    { return name(roundingNames[:], uint8(v)) }
func (v Overflow) String() string    { return name(overflowNames[:], uint8(v)) }
func (v Signedness) String() string  { return name(signednessNames[:], uint8(v)) }
func (v Predicate) String() string   { return name(predicateNames[:], uint8(v)) }
func (v Ordering) String() string    { return name(orderingNames[:], uint8(v)) }
func (v MemoryOrder) String() string { return name(memoryOrderNames[:], uint8(v)) }
func (v Scope) String() string       { return name(scopeNames[:], uint8(v)) }
func (v RMW) String() string         { return name(rmwNames[:], uint8(v)) }
func (v Reduction) String() string   { return name(reductionNames[:], uint8(v)) }
func (v Padding) String() string     { return name(paddingNames[:], uint8(v)) }
func (v PointerAttr) String() string { return name(pointerAttrNames[:], uint8(v)) }
func (v Visibility) String() string  { return name(visibilityNames[:], uint8(v)) }
