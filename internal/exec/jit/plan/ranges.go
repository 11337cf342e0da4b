package plan

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// valueRange is what is known of a value in every lane that computes it, in any warp of a block: the least and the
// greatest it can be, where it is known to be small, and a power of two that it is a multiple of. A small value is the
// same whether its bits are read as a signed number or not, and arithmetic on small values that ends in small ones does
// not wrap around.
type valueRange struct {
	small     bool
	low, high int64
	align     uint8
}

func exactly(c int64) valueRange { return between(c, c).multiple(alignOf(c)) }

// between is the range of values from low to high.
func between(low, high int64) valueRange {
	return valueRange{small: true, low: low, high: high}
}

// multiple says that a value is a multiple of a power of two, besides what else is known of it.
func (r valueRange) multiple(n uint8) valueRange {
	r.align = min(n, maxAlign)
	return r
}

// bounded is what is left of a range that arithmetic gives: a value that is not below the sign of a word may have
// wrapped around, which leaves the low bits alone.
func (r valueRange) bounded() valueRange {
	if r.small && (r.low < 0 || r.high > math.MaxInt32) {
		r.small, r.low, r.high = false, 0, 0
	}
	return r
}

// under is the least number of one bits that no value of the range is above.
func (r valueRange) under() int64 { return 1<<bits.Len64(uint64(r.high)) - 1 }

func (r valueRange) plus(s valueRange) valueRange {
	out := valueRange{small: r.small && s.small, align: min(r.align, s.align)}
	if out.small {
		out.low, out.high = r.low+s.low, r.high+s.high
	}
	return out
}

// minus is r - s. A difference that may be negative is not small.
func (r valueRange) minus(s valueRange) valueRange {
	out := valueRange{small: r.small && s.small, align: min(r.align, s.align)}
	if out.small {
		out.low, out.high = r.low-s.high, r.high-s.low
	}
	return out
}

func (r valueRange) times(s valueRange) valueRange {
	out := valueRange{small: r.small && s.small}
	if out.small { // both are below 2^31
		out.low, out.high = r.low*s.low, r.high*s.high
	}
	return out.multiple(r.align + s.align)
}

// either is the range of a value that is one of two.
func (r valueRange) either(s valueRange) valueRange {
	out := valueRange{small: r.small && s.small, align: min(r.align, s.align)}
	if out.small {
		out.low, out.high = min(r.low, s.low), max(r.high, s.high)
	}
	return out
}

// findRanges finds the ranges of values that one operation defines, in the order of operations: what is defined
// further down, or in several places, may be anything. They are asked for addresses in shared memory alone.
func (v *Values) findRanges() {
	if v.Func.Kernel == nil || v.Func.Kernel.SharedSize == 0 {
		return
	}
	v.ranges = make([]valueRange, len(v.Webs))
	for i := range v.Ops {
		op := &v.Func.IR.Ops[i]
		if len(v.Ops[i].Defs) != 1 || op.Guard >= 0 || len(op.Args) == 0 || op.Args[0].Kind != ir.Row ||
			op.Args[0].Second != nil {
			continue
		}
		w := v.Ops[i].Defs[0].Web
		if x := &v.Webs[w]; x.Defs != 1 || x.undef || x.narrow || x.Class != ir.W32 && x.Class != ir.W64 {
			continue
		}
		v.ranges[w] = v.rangeOf(int32(i)).bounded()
	}
}

// operand is the range of a source of operation i.
func (v *Values) operand(i int32, a *ir.Arg) valueRange {
	switch a.Kind {
	case ir.Imm:
		if c, ok := Immediate(a); ok {
			return exactly(c).bounded()
		}
		if x := a.Var; a.Sym && x != nil && x.Space == "shared" {
			consts := v.Func.Kernel.Consts
			n, ok := slices.BinarySearchFunc(consts, a.Ref.Off, func(c ir.ConstRow, off uint32) int {
				return cmp.Compare(c.Off, off)
			})
			if ok && consts[n].Var == x && consts[n].Lo <= math.MaxInt32 {
				return exactly(int64(consts[n].Lo))
			}
		}
	case ir.Row:
		if w := v.UseWeb(i, a.Ref.Off); w >= 0 && a.Class != ir.WPred && !a.Neg {
			return v.ranges[w]
		}
	}
	return valueRange{}
}

// rangeOf is the range of the result of operation i, which has one.
func (v *Values) rangeOf(i int32) valueRange {
	op, in := &v.Func.IR.Ops[i], &v.Info[i]
	arg := func(n int) valueRange { return v.operand(i, &op.Args[n]) }
	switch in.Rule {
	case RuleMov:
		return arg(1)
	case RuleAdd:
		return arg(1).plus(arg(2))
	case RuleSub:
		return arg(1).minus(arg(2))
	case RuleMul, RuleMulWide:
		return arg(1).times(arg(2))
	case RuleMad, RuleMadWide:
		return arg(1).times(arg(2)).bounded().plus(arg(3))
	case RuleShl:
		if n, ok := Immediate(&op.Args[2]); ok && n >= 0 && n < 31 {
			return arg(1).times(exactly(1 << n))
		}
	case RuleShr:
		return v.shifted(i)
	case RuleAnd:
		a, b := arg(1), arg(2)
		r := valueRange{align: max(a.align, b.align)}
		for _, x := range []valueRange{a, b} { // no more than either that is small
			if x.small && (!r.small || x.high < r.high) {
				r.small, r.high = true, x.high
			}
		}
		return r
	case RuleOr, RuleXor:
		a, b := arg(1), arg(2)
		r := valueRange{align: min(a.align, b.align)}
		if a.small && b.small {
			r.small, r.high = true, max(a.under(), b.under())
		}
		return r
	case RuleMin, RuleMax, RuleSelp:
		return arg(1).either(arg(2))
	case RuleCvt:
		return arg(1)
	case RuleSpecial:
		return v.specialRange(op)
	}
	return v.fieldRange(i)
}

// shifted is the range of a shift to the right.
func (v *Values) shifted(i int32) valueRange {
	op, in := &v.Func.IR.Ops[i], &v.Info[i]
	n, ok := Immediate(&op.Args[2])
	if !ok || n < 0 || n >= int64(in.wordBits()) {
		return valueRange{}
	}
	switch a := v.operand(i, &op.Args[1]); {
	case a.small:
		return between(a.low>>n, a.high>>n).multiple(a.align - min(a.align, uint8(n)))
	case !in.Signed && int64(in.wordBits())-n < 32:
		return between(0, 1<<(int64(in.wordBits())-n)-1)
	}
	return valueRange{}
}

// fieldRange is the range of operations whose results have few bits whatever their sources are.
func (v *Values) fieldRange(i int32) valueRange {
	op := &v.Func.IR.Ops[i]
	if op.Ctl != ir.Plain {
		return valueRange{}
	}
	switch typ := op.Type(0); op.Opcode() {
	case optab.OpBfe:
		n, ok := Immediate(&op.Args[3])
		if ok && n >= 0 && n < 31 && (typ == optab.U32 || typ == optab.U64) {
			return between(0, 1<<n-1)
		}
	case optab.OpRem:
		c, ok := Immediate(&op.Args[2])
		if ok && c > 0 && (typ == optab.U32 || typ == optab.U64) {
			return between(0, c-1)
		}
	}
	return valueRange{}
}

// specialRange is the range of a special register.
func (v *Values) specialRange(op *ir.Op) valueRange {
	switch op.SReg {
	case optab.SRegLaneid:
		return between(0, 31)
	case optab.SRegTid:
		if int(op.Axis) < len(v.dims) {
			return between(0, int64(v.dims[op.Axis])-1)
		}
	case optab.SRegNtid:
		if int(op.Axis) < len(v.dims) {
			return exactly(int64(v.dims[op.Axis]))
		}
	}
	return valueRange{}
}

// SharedAccess says of operation i's access to shared memory what holds in every lane, so that no instruction has to
// find out: that it lies in the variables of the kernel, and that it is aligned.
func (v *Values) SharedAccess(i int32, ac *Access) (inside, aligned bool) {
	if v.ranges == nil || ac.Space != ir.Shared || ac.Base == nil {
		return false, false
	}
	r := v.operand(i, ac.Base)
	end := int64(ir.ReservedShared) + int64(v.Func.Kernel.SharedSize)
	return r.small && r.low+int64(ac.Disp) >= 0 && r.high+int64(ac.Disp)+int64(ac.Total) <= end, r.align >= ac.Align
}
