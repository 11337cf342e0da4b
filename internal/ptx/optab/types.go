package optab

// Class is the kind of number a fundamental type holds.
type Class uint8

// The classes of fundamental types (PTX ISA 5.2.1, "Fundamental Types").
const (
	Bits Class = iota
	Unsigned
	Signed
	Float
	Predicate
	Packed // an alternate or packed format held in a .bN register: f16x2, bf16x2, e4m3x2, tf32, ...
)

// Type describes a fundamental type or an instruction type.
type Type struct {
	Name  string
	Class Class
	Bits  int // width of the register that holds it; 1 for a predicate
	Lanes int // elements in a packed type
}

// Bytes is the size of the type in memory.
func (t Type) Bytes() int { return t.Bits / 8 }

// types lists every word that an instruction uses as a type. Widths of sub-byte and packed formats are those of the
// containers that PTX puts them in (PTX ISA 5.2.3 and 5.2.5).
var types = []Type{
	{"b8", Bits, 8, 1}, {"b16", Bits, 16, 1}, {"b32", Bits, 32, 1}, {"b64", Bits, 64, 1}, {"b128", Bits, 128, 1},
	{"b1", Bits, 1, 1}, {"b4", Bits, 4, 1},
	{"u8", Unsigned, 8, 1}, {"u16", Unsigned, 16, 1}, {"u32", Unsigned, 32, 1}, {"u64", Unsigned, 64, 1},
	{"u4", Unsigned, 4, 1}, {"u2", Unsigned, 2, 1},
	{"s8", Signed, 8, 1}, {"s16", Signed, 16, 1}, {"s32", Signed, 32, 1}, {"s64", Signed, 64, 1}, {"s4", Signed, 4, 1},
	{"s2", Signed, 2, 1},
	{"f16", Float, 16, 1}, {"f32", Float, 32, 1}, {"f64", Float, 64, 1},
	{"bf16", Float, 16, 1}, {"tf32", Packed, 32, 1},
	{"f16x2", Packed, 32, 2}, {"bf16x2", Packed, 32, 2}, {"u16x2", Packed, 32, 2}, {"s16x2", Packed, 32, 2},
	{"f32x2", Packed, 64, 2},
	{"u8x4", Packed, 32, 4}, {"s8x4", Packed, 32, 4}, {"u8x2", Packed, 16, 2}, {"b8x16", Packed, 128, 16},
	{"b4x16", Packed, 64, 16}, {"b4x16_p64", Packed, 128, 16}, {"b6x16_p32", Packed, 128, 16},
	{"b6p2x16", Packed, 128, 16},
	{"e4m3", Packed, 8, 1}, {"e5m2", Packed, 8, 1}, {"e3m2", Packed, 8, 1}, {"e2m3", Packed, 8, 1},
	{"e2m1", Packed, 8, 1},
	{"e4m3x2", Packed, 16, 2}, {"e5m2x2", Packed, 16, 2}, {"e2m3x2", Packed, 16, 2}, {"e3m2x2", Packed, 16, 2},
	{"e2m1x2", Packed, 8, 2},
	{"e4m3x4", Packed, 32, 4}, {"e5m2x4", Packed, 32, 4}, {"e2m3x4", Packed, 32, 4}, {"e3m2x4", Packed, 32, 4},
	{"e2m1x4", Packed, 16, 4},
	{"ue8m0", Packed, 8, 1}, {"ue8m0x2", Packed, 16, 2}, {"ue4m3", Packed, 8, 1}, {"s2f6x2", Packed, 16, 2},
	{"pred", Predicate, 1, 1},
	{"texref", Bits, 64, 1}, {"samplerref", Bits, 64, 1}, {"surfref", Bits, 64, 1},
}

// TypeNames returns every type word.
func TypeNames() []string {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Name
	}
	return names
}

// TypeOf returns the description of a type word.
func TypeOf(name string) (Type, bool) {
	t := FindType(name)
	return *t, t != &noType
}

// FindType returns the description of a type word in the table, [NoType] when it is none. Nobody may write to it.
func FindType(name string) *Type {
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return &noType
}

// NoType is the type of what has none: all its fields are zero.
func NoType() *Type { return &noType }

var noType Type

// IsType says whether a modifier word is a type.
func IsType(word string) bool { _, ok := TypeOf(word); return ok }

// Widen returns the integer type twice as wide.
func Widen(name string) string {
	switch name {
	case "u8":
		return "u16"
	case "s8":
		return "s16"
	case "u16":
		return "u32"
	case "s16":
		return "s32"
	case "u32":
		return "u64"
	case "s32":
		return "s64"
	case "b16":
		return "b32"
	case "b32":
		return "b64"
	case "b64":
		return "b128"
	}
	return ""
}

// Halve returns the integer type half as wide.
func Halve(name string) string {
	for _, t := range types {
		if t.Class <= Signed && Widen(t.Name) == name {
			return t.Name
		}
	}
	return ""
}
