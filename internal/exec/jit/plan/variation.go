package plan

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Variation is how a value differs between the lanes of a warp.
type Variation struct {
	Kind Kind
	// affine: lanes 0 to 15 and 16 to 31 have bases of their own; else lane 16's is that of lane 0, 16 strides and the
	// skew
	Halves bool
	Stride int64 // affine: what lane i+1 has more than lane i, in one half
	Skew   int64 // affine: what lane 16 has more than a stride more than lane 15
	align  uint8 // the bases are multiples of this power of two
	width  uint8 // all lanes are below this power of two; 0: not known
}

type Kind uint8

const (
	unknown   Kind = iota // not known yet
	Uniform               // every lane that runs has the same
	Affine                // base + lane * stride
	Divergent             // anything
)

var (
	same      = Variation{Kind: Uniform}
	divergent = Variation{Kind: Divergent}
)

// maxAlign bounds variation.align.
const maxAlign = 12

func (s Variation) aligned(n uint8) Variation {
	if s.Scalar() {
		s.align = min(n, maxAlign)
	}
	return s
}

// below says that all lanes are below a power of two, if that can be in a word of so many bits.
func (s Variation) below(n, bits uint8) Variation {
	if s.width = 0; s.Scalar() && n <= bits {
		s.width = n
	}
	return s
}

// wordBits is how many bits the results of a rule have.
func (in *Info) wordBits() uint8 {
	if in.Wide {
		return 64
	}
	return 32
}

// apart says whether two values have no bit in common: one is below a power of two that the other, with all its lanes,
// is a multiple of.
func apart(a, b Variation) bool {
	under := func(a, b Variation) bool { // a is that which is below
		return a.width > 0 && b.align >= a.width && b.Stride == 0 && b.Skew == 0
	}
	return a.Scalar() && b.Scalar() && (under(a, b) || under(b, a))
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

func affine(stride, skew int64, halves bool) Variation {
	if halves = halves || skew > 16*maxStride || skew < -16*maxStride; halves {
		skew = 0
	}
	switch {
	case stride == 0 && skew == 0 && !halves:
		return same
	case stride > maxStride || stride < -maxStride:
		return divergent
	}
	return Variation{Kind: Affine, Halves: halves, Stride: stride, Skew: skew}
}

// Linear says whether one base and the stride make all lanes.
func (s Variation) Linear() bool { return !s.Halves && s.Skew == 0 }

// Lane16 is what lane 16 has more than lane 0, when its half has no base of its own.
func (s Variation) Lane16() int64 { return 16*s.Stride + s.Skew }

// Span is the least and the most that a lane can have more than its base.
func (s Variation) Span() (low, high int64) {
	low, high = min(0, 15*s.Stride), max(0, 15*s.Stride)
	if !s.Halves {
		low, high = min(low, low+s.Lane16()), max(high, high+s.Lane16())
	}
	return low, high
}

// Scalar says whether a base, and a stride, make all values.
func (s Variation) Scalar() bool { return s.Kind == Uniform || s.Kind == Affine }

// join is the variation of a value that has one or the other.
func join(a, b Variation) Variation {
	switch {
	case a.Kind == unknown:
		return b
	case b.Kind == unknown || a == b:
		return a
	case a.Kind == Divergent || b.Kind == Divergent || a.Stride != b.Stride:
		return divergent
	}
	align := min(a.align, b.align)
	if a.Kind == b.Kind && a.Halves == b.Halves && a.Skew == b.Skew {
		a.align = align
		if a.width != b.width {
			a.width = 0
		}
		return a
	}
	return affine(a.Stride, 0, true).aligned(align)
}

func addShapes(a, b Variation, sign int64) Variation {
	switch {
	case a.Kind == Divergent || b.Kind == Divergent:
		return divergent
	case a.Kind == unknown || b.Kind == unknown:
		return Variation{}
	}
	return affine(a.Stride+sign*b.Stride, a.Skew+sign*b.Skew, a.Halves || b.Halves).aligned(min(a.align, b.align))
}

// scaleShape is the variation of a times b; c is the value of b where it is a constant.
func scaleShape(a, b Variation, c int64, constant bool) Variation {
	switch {
	case a.Kind == Divergent || b.Kind == Divergent:
		return divergent
	case a.Kind == unknown || b.Kind == unknown:
		return Variation{}
	case constant:
		align := a.align + alignOf(c)
		if c > maxStride || c < -maxStride {
			if a.Stride != 0 {
				return divergent
			}
			return affine(0, 0, a.Kind == Affine).aligned(align)
		}
		return affine(a.Stride*c, a.Skew*c, a.Halves).aligned(align)
	case a.Stride == 0 && b.Stride == 0:
		return affine(0, 0, a.Kind == Affine || b.Kind == Affine).aligned(a.align + b.align)
	}
	return divergent
}

// VariationOf is that of a source of operation i.
func (v *Values) VariationOf(i int32, a *ir.Arg) Variation {
	switch a.Kind {
	case ir.Imm:
		if c, ok := Immediate(a); ok {
			s := same.aligned(alignOf(c))
			if c > 0 {
				s = s.below(uint8(bits.Len64(uint64(c))), 64)
			}
			return s
		}
		return same
	case ir.Row:
		return v.Webs[v.UseWeb(i, a.Ref.Off)].Variation
	}
	return divergent
}

// Immediate is the value of a constant that is known.
func Immediate(a *ir.Arg) (int64, bool) {
	if a.Kind != ir.Imm || a.Sym {
		return 0, false
	}
	if a.Class == ir.W64 {
		return int64(a.Bits), true
	}
	return int64(int32(a.Bits)), true
}

func product(v *Values, i int32, a, b *ir.Arg) Variation {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	c, ok := Immediate(b)
	return scaleShape(v.VariationOf(i, a), v.VariationOf(i, b), c, ok)
}

// widened is the variation of a 32-bit value after extension to 64 bits: the machine code checks that it does not wrap
// around.
func (v *Values) widened(i int32, s Variation) Variation {
	if s.Kind == Affine && (s.Stride != 0 || s.Skew != 0) && v.MayWrap[i] {
		return divergent
	}
	return s
}

// allUniform says whether all sources are uniform; an unknown one counts as such.
func (v *Values) allUniform(i int32) Variation {
	s := same
	for _, u := range v.Ops[i].Uses {
		switch v.Webs[u.Web].Variation.Kind {
		case unknown:
			if s.Kind == Uniform {
				s = Variation{}
			}
		case Uniform:
		default:
			return divergent
		}
	}
	return s
}

// result is the variation of an operation's results.
func (v *Values) result(i int32) Variation {
	op := &v.Func.IR.Ops[i]
	in := &v.Info[i]
	if op.Guard >= 0 {
		return divergent
	}
	arg := func(n int) Variation { return v.VariationOf(i, &op.Args[n]) }
	switch in.Rule {
	case RuleMov, RuleCvta:
		if op.Args[0].Class == ir.WPred && arg(1).Kind == Affine {
			return divergent
		}
		return arg(1)
	case RuleAdd:
		return addShapes(arg(1), arg(2), 1)
	case RuleSub:
		return addShapes(arg(1), arg(2), -1)
	case RuleNeg:
		return addShapes(same, arg(1), -1)
	case RuleMul:
		return product(v, i, &op.Args[1], &op.Args[2])
	case RuleMad:
		return addShapes(product(v, i, &op.Args[1], &op.Args[2]), arg(3), 1)
	case RuleMulWide:
		return v.widened(i, product(v, i, &op.Args[1], &op.Args[2]))
	case RuleMadWide:
		return addShapes(v.widened(i, product(v, i, &op.Args[1], &op.Args[2])), arg(3), 1)
	case RuleShl:
		if n, ok := Immediate(&op.Args[2]); ok && n >= 0 && n < 20 {
			s := scaleShape(arg(1), same, 1<<n, true)
			if w := arg(1).width; w > 0 {
				s = s.below(w+uint8(n), in.wordBits())
			}
			return s
		}
		return v.allUniform(i)
	case RuleCvt:
		s := arg(1)
		if in.Signed && s.width >= in.SourceBits {
			s.width = 0
		}
		if in.Bits > in.SourceBits {
			return v.widened(i, s)
		}
		return s
	case RuleShr:
		switch n, ok := Immediate(&op.Args[2]); {
		case ok && n >= 5 && n < 32 && arg(1).Lane():
			return same
		case ok && n == 4 && arg(1).Lane():
			return affine(0, 1, false).aligned(arg(1).align - 4)
		}
		return v.allUniform(i)
	case RuleAnd:
		if n, ok := Immediate(&op.Args[2]); ok && n >= 31 && n&(n+1) == 0 && arg(1).Lane() {
			align := arg(1).align
			if n == 31 {
				align = maxAlign
			}
			return arg(1).aligned(align).below(uint8(bits.Len64(uint64(n))), in.wordBits())
		} else if ok && n == 15 && arg(1).Lane() {
			return affine(1, -16, false).aligned(maxAlign).below(4, 32)
		}
		return v.allUniform(i)
	case RuleOr:
		if a, b := arg(1), arg(2); apart(a, b) {
			return addShapes(a, b, 1)
		}
		return v.allUniform(i)
	case RuleXor, RuleNot, RuleMin, RuleMax, RuleSelp, RuleSetp, RuleSetpFloat, RuleLogic, RulePiece:
		return v.allUniform(i)
	case RuleParam:
		return same
	case RuleLoad:
		return v.allUniform(i)
	case RuleSpecial:
		return v.special(op)
	}
	return divergent
}

// Lane says whether a value is a multiple of 32 plus the lane's number.
func (s Variation) Lane() bool {
	return s.Kind == Affine && s.Linear() && s.Stride == 1 && s.align >= 5
}

func (v *Values) special(op *ir.Op) Variation {
	if d := &op.Args[0]; d.Kind != ir.Row || d.Class != ir.W32 {
		return divergent
	}
	switch op.SReg {
	case optab.SRegNtid:
		if int(op.Axis) < len(v.dims) {
			return same.aligned(alignOf(int64(v.dims[op.Axis])))
		}
		return same
	case optab.SRegCtaid, optab.SRegNctaid:
		return same
	case optab.SRegLaneid:
		return affine(1, 0, false).aligned(maxAlign).below(5, 32)
	case optab.SRegTid:
		s := v.tid(op)
		if int(op.Axis) < len(v.dims) {
			s = s.below(uint8(max(bits.Len32(v.dims[op.Axis]-1), 1)), 32)
		}
		return s
	}
	return divergent
}

// tid is the variation of a component of %tid.
func (v *Values) tid(op *ir.Op) Variation {
	x := v.dims[0]
	switch {
	case op.Axis == 0 && (x%32 == 0 || v.Warps == 1 && v.dims[1]*v.dims[2] == 1):
		return affine(1, 0, false).aligned(5)
	case x == 16 && v.dims[1]%2 == 0 && op.Axis < 3: // two rows of a layer
		return [3]Variation{affine(1, -16, false), affine(0, 1, false).aligned(1), same}[op.Axis]
	case op.Axis == 0 && x%16 == 0:
		return affine(1, 0, true)
	case x%32 == 0 || v.Warps == 1 && v.dims[1]*v.dims[2] == 1:
		return same
	case x%16 == 0:
		return affine(0, 0, true)
	}
	return divergent
}
