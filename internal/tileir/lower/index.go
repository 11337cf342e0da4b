package lower

import (
	"strconv"

	"github.com/gocuda/cuda/internal/tileir"
)

// dims splits the number of an element into those along each dimension.
func dims(shape []int64, ix index) []index {
	out := make([]index, len(shape))
	at := 0
	for i := len(shape) - 1; i >= 0; i-- {
		n := log2(shape[i])
		out[i] = ix[at : at+n]
		at += n
	}
	return out
}

// joined is the number of an element from those along each dimension.
func joined(parts []index) index {
	var out index
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return out
}

// scalarBits are the lowest n bits of an integer of one element.
func (g *fn) scalarBits(v *tileir.Val, n int) index {
	if o := v.Op; o != nil && o.Code == tileir.ConstantOp {
		return constantIndex(int64(o.Extra.Constant.Bits(0)), n)
	}
	x := g.dynamic[v]
	if x == nil {
		// While the plan is made the value has no register yet.
		x = &ivar{width: 32, r: reg{text: "s" + strconv.Itoa(len(g.dynamic))}}
		g.dynamic[v] = x
	}
	if r, ok := g.scalars[v]; ok {
		x.r = r
	}
	ix := make(index, n)
	for i := range ix {
		ix[i] = ibit{v: x, bit: uint8(i)}
	}
	return ix
}

// operandIndex says which elements of operand i of an operation an element of its result is computed from.
func (g *fn) operandIndex(o *tileir.Op, i int, ix index) []index {
	switch o.Code {
	case tileir.Broadcast:
		from := o.Operands[0].Type.Shape
		parts := dims(o.Results[0].Type.Shape, ix)
		for d := range parts {
			if from[d] == 1 {
				parts[d] = nil
			}
		}
		return []index{joined(parts)}
	case tileir.Permute:
		parts := dims(o.Results[0].Type.Shape, ix)
		from := make([]index, len(parts))
		for d, p := range o.Extra.Ints {
			from[p] = parts[d]
		}
		return []index{joined(from)}
	case tileir.Extract:
		if i > 0 {
			return []index{nil}
		}
		parts := dims(o.Results[0].Type.Shape, ix)
		for d, n := range o.Operands[0].Type.Shape {
			have := len(parts[d])
			parts[d] = append(parts[d][:have:have], g.scalarBits(o.Operands[1+d], log2(n)-have)...)
		}
		return []index{joined(parts)}
	case tileir.Insert:
		switch i {
		case 0:
			parts := dims(o.Results[0].Type.Shape, ix)
			for d, n := range o.Operands[0].Type.Shape {
				parts[d] = parts[d][:log2(n)]
			}
			return []index{joined(parts)}
		case 1:
			return []index{ix}
		}
		return []index{nil}
	case tileir.Cat:
		parts := dims(o.Results[0].Type.Shape, ix)
		d := o.Extra.Dim
		parts[d] = parts[d][:len(parts[d])-1]
		return []index{joined(parts)}
	case tileir.Pack, tileir.Unpack:
		from, to := o.Operands[0].Type.Elem.Kind.Bits(), o.Results[0].Type.Elem.Kind.Bits()
		if from >= to {
			// Part of one element: its number without the bits that say which part.
			return []index{ix[log2(int64(from/to)):]}
		}
		n := to / from
		var out []index
		for k := range n {
			out = append(out, append(constantIndex(int64(k), log2(int64(n))), ix...))
		}
		return out
	case tileir.LoadView:
		if i == 0 || o.Operands[i].Type.Kind != tileir.Tile {
			return nil
		}
		return g.sparseIndex(o, i, ix)
	}
	return []index{ix}
}
