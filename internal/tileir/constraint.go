package tileir

import (
	"slices"
	"strings"
)

// Sets of element types, in the order in which messages list them.
var (
	intKinds      = []Kind{I1, I8, I16, I32, I64}
	floatKinds    = []Kind{F16, BF16, F32, F64}
	anyFloatKinds = []Kind{F16, BF16, F32, F64, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, F8E5M3FNU}
	numberKinds   = []Kind{I1, I8, I16, I32, I64, F16, BF16, F32, F64, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN,
		F8E5M3FNU}
	packKinds   = append(slices.Clip(numberKinds), I4)
	mmaKinds    = []Kind{F16, BF16, F32, F64, TF32, F8E4M3FN, F8E5M2}
	mmaAccKinds = []Kind{F16, F32, F64}
)

// constraints say what the constraints ask, and in which words.
var constraints = [...]struct {
	what   string // what it must be, before "of ... values"
	kinds  []Kind // elements of a tile
	kind   Kind   // else the kind of type
	scalar bool
}{
	AnyTile:               {what: "Tile type", kind: Tile},
	IntTile:               {what: "tile", kinds: intKinds},
	FloatTile:             {what: "tile", kinds: floatKinds},
	AnyFloatTile:          {what: "tile", kinds: anyFloatKinds},
	NumberTile:            {what: "tile", kinds: numberKinds},
	PointerTile:           {what: "tile", kinds: []Kind{Pointer}},
	ConvertTile:           {what: "tile", kinds: []Kind{I1, I8, I16, I32, I64, I4}},
	BoolTile:              {what: "tile", kinds: []Kind{I1}},
	I8Tile:                {what: "tile", kinds: []Kind{I8}},
	I64Tile:               {what: "tile", kinds: []Kind{I64}},
	PackTile:              {what: "tile", kinds: packKinds},
	MmaTile:               {what: "mmaf operand tile type", kinds: mmaKinds},
	MmaAccTile:            {what: "mmaf acc/result tile type", kinds: mmaAccKinds},
	MmaITile:              {what: "mmai operand tile type", kinds: []Kind{I8}},
	MmaIAccTile:           {what: "mmai acc tile type", kinds: []Kind{I32}},
	MmaIResultTile:        {what: "mmai result tile type", kinds: []Kind{I32}},
	ScaledTile:            {what: "mmaf_scaled operand tile type", kinds: []Kind{F8E4M3FN, F8E5M2, F4E2M1FN}},
	ScaledAccTile:         {what: "mmaf_scaled result tile type", kinds: []Kind{F32}},
	ScaleTile:             {what: "mmaf_scaled scale tile type", kinds: []Kind{F8E4M3FN, F8E8M0FNU, F8E5M3FNU}},
	ScalarInt:             {what: "0D tile", kinds: intKinds, scalar: true},
	ScalarI32:             {what: "0D tile", kinds: []Kind{I32}, scalar: true},
	ScalarBool:            {what: "0D tile", kinds: []Kind{I1}, scalar: true},
	ScalarPointer:         {what: "0D tile", kinds: []Kind{Pointer}, scalar: true},
	ExponentTile:          {what: "tile", kinds: []Kind{I1, I8, I16, I32}},
	TokenType:             {what: "cuda tile token type", kind: Token},
	TensorViewType:        {what: "tensor view type", kind: TensorView},
	PartitionViewType:     {what: "partition view type", kind: PartitionView},
	StridedViewType:       {what: "strided view type", kind: StridedView},
	GatherScatterViewType: {what: "gather/scatter view type", kind: GatherScatterView},
	AnyTileView:           {what: "TileView instance"},
}

// allows reports whether a type satisfies a constraint.
func (k Constraint) allows(t *Type) bool {
	c := &constraints[k]
	switch {
	case k == Any:
		return true
	case k == AnyTileView:
		return t.Kind.TileView()
	case c.kinds == nil:
		return t.Kind == c.kind
	case t.Kind != Tile || !slices.Contains(c.kinds, t.Elem.Kind):
		return false
	}
	return !c.scalar || t.Rank() == 0
}

// words say what a constraint asks.
func (k Constraint) words() string {
	c := &constraints[k]
	if c.kinds == nil {
		return c.what
	}
	var names []string
	for _, e := range c.kinds {
		if e == Pointer {
			names = append(names, "Pointer type")
		} else {
			names = append(names, scalars[e].name)
		}
	}
	return c.what + " of " + strings.Join(names, " or ") + " values"
}

// slotTypes checks the types of operands or results.
func slotTypes(o *Op, slots []Slot, what string, group func(int) []*Val, all []*Val) error {
	at := 0
	for i := range slots {
		for _, v := range group(i) {
			if k := slots[i].Type; !k.allows(v.Type) {
				open := ""
				if slots[i].Arity == Variadic {
					open = "variadic of "
				}
				return bad(o, "%s #%d must be %s%s, but got '%s'", what, at, open, k.words(), v.Type)
			}
			at++
		}
	}
	return nil
}
