package jit

import (
	"math/bits"
	"strings"

	"github.com/gocuda/cuda/internal/ir"
)

// shape is how a value differs between the lanes of a warp.
type shape struct {
	kind   kind
	halves bool  // affine: lanes 0 to 15 and 16 to 31 have bases of their own; else lane 16's is that of lane 0 and 16 strides
	stride int64 // affine: what lane i+1 has more than lane i, in one half
	align  uint8 // the bases are multiples of this power of two
}

type kind uint8

const (
	kindNone    kind = iota // not known yet
	kindUniform             // every lane that runs has the same
	kindAffine              // base + lane * stride
	kindVector              // anything
)

var (
	uniform = shape{kind: kindUniform}
	general = shape{kind: kindVector}
)

// maxAlign bounds shape.align.
const maxAlign = 12

func (s shape) aligned(n uint8) shape {
	if s.scalar() {
		s.align = min(n, maxAlign)
	}
	return s
}

// alignOf is the power of two that a constant is a multiple of.
func alignOf(c int64) uint8 {
	if c == 0 {
		return maxAlign
	}
	return uint8(min(bits.TrailingZeros64(uint64(c)), maxAlign))
}

// maxStride bounds strides.
const maxStride = 1 << 20

func affine(stride int64, halves bool) shape {
	switch {
	case stride == 0 && !halves:
		return uniform
	case stride > maxStride || stride < -maxStride:
		return general
	}
	return shape{kind: kindAffine, halves: halves, stride: stride}
}

func (s shape) scalar() bool { return s.kind == kindUniform || s.kind == kindAffine }

// meet is the shape of a value that has one or the other.
func meet(a, b shape) shape {
	switch {
	case a.kind == kindNone:
		return b
	case b.kind == kindNone || a == b:
		return a
	case a.kind == kindVector || b.kind == kindVector || a.stride != b.stride:
		return general
	}
	align := min(a.align, b.align)
	if a.kind == b.kind && a.halves == b.halves {
		return shape{a.kind, a.halves, a.stride, align}
	}
	return shape{kindAffine, true, a.stride, align}
}

func addShapes(a, b shape, sign int64) shape {
	switch {
	case a.kind == kindVector || b.kind == kindVector:
		return general
	case a.kind == kindNone || b.kind == kindNone:
		return shape{}
	}
	return affine(a.stride+sign*b.stride, a.halves || b.halves).aligned(min(a.align, b.align))
}

// scaleShape is the shape of a times b; c is the value of b where it is a constant.
func scaleShape(a, b shape, c int64, constant bool) shape {
	switch {
	case a.kind == kindVector || b.kind == kindVector:
		return general
	case a.kind == kindNone || b.kind == kindNone:
		return shape{}
	case constant:
		align := a.align + alignOf(c)
		if c > maxStride || c < -maxStride {
			if a.stride != 0 {
				return general
			}
			c = 0
		}
		return affine(a.stride*c, a.halves).aligned(align)
	case a.stride == 0 && b.stride == 0:
		return affine(0, a.halves || b.halves).aligned(a.align + b.align)
	}
	return general
}

// shapeOf is the shape of a source.
func (v *values) shapeOf(i int32, a *ir.Arg) shape {
	switch a.Kind {
	case ir.Imm:
		if c, ok := immediate(a); ok {
			return uniform.aligned(alignOf(c))
		}
		return uniform
	case ir.Row:
		return v.webs[v.useWeb(i, a.Ref.Off)].shape
	}
	return general
}

// immediate is the value of a constant that is known.
func immediate(a *ir.Arg) (int64, bool) {
	if a.Kind != ir.Imm || a.Sym {
		return 0, false
	}
	if a.Class == ir.W64 {
		return int64(a.Bits), true
	}
	return int64(int32(a.Bits)), true
}

func product(v *values, i int32, a, b *ir.Arg) shape {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	c, ok := immediate(b)
	return scaleShape(v.shapeOf(i, a), v.shapeOf(i, b), c, ok)
}

// widened is the shape of a 32-bit value after extension to 64 bits: the machine code checks that it does not wrap around.
func (v *values) widened(i int32, s shape) shape {
	if s.kind == kindAffine && s.stride != 0 && v.deny[i] {
		return general
	}
	return s
}

// allUniform says whether all sources are uniform; an unknown one counts as such.
func (v *values) allUniform(i int32) shape {
	s := uniform
	for _, u := range v.ops[i].uses {
		switch v.webs[u.web].shape.kind {
		case kindNone:
			if s.kind == kindUniform {
				s = shape{}
			}
		case kindUniform:
		default:
			return general
		}
	}
	return s
}

// result is the shape of an operation's results.
func (v *values) result(i int32) shape {
	op := &v.a.f.Ops[i]
	in := &v.info[i]
	if op.Guard >= 0 {
		return general
	}
	arg := func(n int) shape { return v.shapeOf(i, &op.Args[n]) }
	switch in.code {
	case opMov, opCvta:
		if op.Args[0].Class == ir.WPred && arg(1).kind == kindAffine {
			return general
		}
		return arg(1)
	case opAdd:
		return addShapes(arg(1), arg(2), 1)
	case opSub:
		return addShapes(arg(1), arg(2), -1)
	case opNeg:
		return addShapes(uniform, arg(1), -1)
	case opMul:
		return product(v, i, &op.Args[1], &op.Args[2])
	case opMad:
		return addShapes(product(v, i, &op.Args[1], &op.Args[2]), arg(3), 1)
	case opMulWide:
		return v.widened(i, product(v, i, &op.Args[1], &op.Args[2]))
	case opMadWide:
		return addShapes(v.widened(i, product(v, i, &op.Args[1], &op.Args[2])), arg(3), 1)
	case opShl:
		if n, ok := immediate(&op.Args[2]); ok && n >= 0 && n < 20 {
			return scaleShape(arg(1), uniform, 1<<n, true)
		}
		return v.allUniform(i)
	case opCvt:
		s := arg(1)
		if in.dbits > in.sbits {
			return v.widened(i, s)
		}
		return s
	case opShr:
		if n, ok := immediate(&op.Args[2]); ok && n >= 5 && n < 32 && arg(1).lanes() {
			return uniform
		}
		return v.allUniform(i)
	case opAnd:
		if n, ok := immediate(&op.Args[2]); ok && n >= 31 && n&(n+1) == 0 && arg(1).lanes() {
			align := arg(1).align
			if n == 31 {
				align = maxAlign
			}
			return arg(1).aligned(align)
		}
		return v.allUniform(i)
	case opOr, opXor, opNot, opMin, opMax, opSelp, opSetp, opSetpFloat, opLogic, opPiece:
		return v.allUniform(i)
	case opParam:
		return uniform
	case opLoad:
		return v.allUniform(i)
	case opSpecial:
		return v.special(op)
	}
	return general
}

// lanes says whether a value is a multiple of 32 plus the lane's number.
func (s shape) lanes() bool {
	return s.kind == kindAffine && !s.halves && s.stride == 1 && s.align >= 5
}

func (v *values) special(op *ir.Op) shape {
	if d := &op.Args[0]; d.Kind != ir.Row || d.Class != ir.W32 {
		return general
	}
	name, _, _ := strings.Cut(op.Name, ".")
	switch name {
	case "%ntid":
		if axis := strings.Index("xyz", strings.TrimPrefix(op.Name, "%ntid.")); axis >= 0 {
			return uniform.aligned(alignOf(int64(v.dims[axis])))
		}
		return uniform
	case "%ctaid", "%nctaid":
		return uniform
	case "%laneid":
		return affine(1, false).aligned(maxAlign)
	case "%tid":
		x := v.dims[0]
		switch {
		case strings.HasSuffix(op.Name, ".x") && (x%32 == 0 || v.warps == 1 && v.dims[1]*v.dims[2] == 1):
			return affine(1, false).aligned(5)
		case strings.HasSuffix(op.Name, ".x") && x%16 == 0:
			return affine(1, true)
		case x%32 == 0 || v.warps == 1 && v.dims[1]*v.dims[2] == 1:
			return uniform
		case x%16 == 0:
			return affine(0, true)
		}
	}
	return general
}
