package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// The scalar video instructions, in 64 bits like the interpreter's (interp/video.go says where they differ from the
// manual).

// videoPart loads the byte or half-word of source i that its operand names, extended to 64 bits.
func (l *laneLoop) videoPart(to asm.GPR, i int, comp string, signed bool) {
	shift, width := videoPlace(comp)
	l.ld(to, i)
	if s := 64 - width - shift; s > 0 {
		l.ShiftI(asm.ScalarShl, true, to, s)
	}
	kind := asm.ScalarShift(asm.ScalarShr)
	if signed {
		kind = asm.ScalarSar
	}
	l.ShiftI(kind, true, to, 64-width)
}

func videoPlace(comp string) (shift, width uint8) {
	switch {
	case comp == "":
		return 0, 32
	case comp[0] == 'h':
		return (comp[1] - '0') * 16, 16
	}
	return (comp[1] - '0') * 8, 8
}

// clamp64 limits rax, a signed number, to a range. rdx is used.
func (l *laneLoop) clamp64(lo, hi int64) {
	l.MovI(asm.RDX, uint64(lo))
	l.RR(asm.ArithCmp, true, asm.RAX, asm.RDX)
	l.CmovR(asm.L, true, asm.RAX, asm.RDX)
	l.below64(hi, asm.G)
}

// below64 puts hi into rax when rax is greater by a condition. rdx is used.
func (l *laneLoop) below64(hi int64, greater asm.Cond) {
	l.MovI(asm.RDX, uint64(hi))
	l.RR(asm.ArithCmp, true, asm.RAX, asm.RDX)
	l.CmovR(greater, true, asm.RAX, asm.RDX)
}

// Ranges of 32 bits.
const (
	lowest32, highest32 = -1 << 31, 1<<31 - 1
	highestU32          = 1<<32 - 1
)

// videoTypes says which of destination and sources are signed; the result of vset is unsigned.
func videoTypes(op *ir.Op) (d, a, b bool) {
	m := op.Mods()
	if m.NumTypes == 3 {
		return m.Type(0).Signed(), m.Type(1).Signed(), m.Type(2).Signed()
	}
	return false, m.Type(0).Signed(), m.Type(1).Signed()
}

// scalarVideo is vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset: the operation, then another one with the third
// source or a merge into it.
func scalarVideo(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	code, second := op.Opcode(), op.Mods().Func
	if len(in) != 2 && len(in) != 3 || !alike(32, d) || !alike(32, in...) || op.Mods().NumTypes < 2 ||
		(second != optab.NoFunc || d.Comp != "") && len(in) != 3 {
		return nil
	}
	signed, sa, sb := videoTypes(op)
	signedThird := signed
	if code == optab.OpVset {
		signedThird = sa
	}
	shifts := code == optab.OpVshl || code == optab.OpVshr
	shift, width := videoPlace(d.Comp)
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.videoPart(asm.RAX, 0, op.Args[1].Comp, sa)
		l.videoPart(asm.RCX, 1, op.Args[2].Comp, sb)
		switch code {
		case optab.OpVadd:
			l.RR(asm.ArithAdd, true, asm.RAX, asm.RCX)
		case optab.OpVsub:
			l.RR(asm.ArithSub, true, asm.RAX, asm.RCX)
		case optab.OpVabsdiff:
			positive := l.NewLabel()
			l.RR(asm.ArithSub, true, asm.RAX, asm.RCX)
			l.J(asm.NS, positive)
			l.NegR(true, asm.RAX)
			l.Bind(positive)
		case optab.OpVmin, optab.OpVmax:
			less := asm.L
			if code == optab.OpVmax {
				less = asm.G
			}
			l.RR(asm.ArithCmp, true, asm.RCX, asm.RAX)
			l.CmovR(less, true, asm.RAX, asm.RCX)
		case optab.OpVshl, optab.OpVshr:
			if op.Mods().Bound == optab.BoundWrap {
				l.AndI32(asm.RCX, 31)
			} else {
				l.MovI32(asm.RDX, 32)
				l.RR(asm.ArithCmp, true, asm.RCX, asm.RDX)
				l.CmovR(asm.G, true, asm.RCX, asm.RDX)
			}
			kind := asm.ScalarShift(asm.ScalarShl)
			if code == optab.OpVshr {
				kind = asm.ScalarSar
			}
			l.ShiftCL(kind, true, asm.RAX)
		case optab.OpVset:
			l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
			l.cond(signedConds[op.Mods().Cmp], asm.RAX)
		}
		if op.Mods().Sat {
			switch {
			case shifts: // 34 bits are kept
				l.ShiftI(asm.ScalarShl, true, asm.RAX, 30)
				l.ShiftI(asm.ScalarSar, true, asm.RAX, 30)
				if signed {
					l.clamp64(lowest32, highest32)
				} else {
					l.clamp64(0, highestU32)
				}
				l.MovSXD(asm.RAX, asm.RAX)
			case width < 32:
				top := int64(1)<<width - 1
				if signed {
					top >>= 1
				}
				l.below64(top, asm.A)
			case signed:
				l.clamp64(lowest32, highest32)
			default:
				l.MovI32(asm.RDX, 0)
				l.RR(asm.ArithCmp, true, asm.RAX, asm.RDX)
				l.CmovR(asm.L, true, asm.RAX, asm.RDX)
			}
		}
		if code == optab.OpVadd || code == optab.OpVsub {
			l.MovSXD(asm.RAX, asm.RAX)
		}
		if len(in) == 3 {
			l.ld(asm.RCX, 2)
		}
		switch {
		case d.Comp != "":
			if d.Comp == "h1" { // the result's own upper half
				shift = 0
			}
			mask := uint32(uint64(1)<<width-1) << shift
			if d.Comp == "h1" {
				mask = 0xffff0000
			}
			if shift > 0 {
				l.ShiftI(asm.ScalarShl, false, asm.RAX, shift)
			}
			l.AndI32(asm.RAX, int32(mask))
			l.AndI32(asm.RCX, int32(^mask))
			l.Or32(asm.RAX, asm.RCX)
		case second == optab.FuncAdd:
			l.RR(asm.ArithAdd, false, asm.RAX, asm.RCX)
		case second != optab.NoFunc:
			if signedThird {
				l.MovSXD(asm.RCX, asm.RCX)
			}
			cc := map[optab.Func]asm.Cond{optab.FuncMin: asm.AE, optab.FuncMax: asm.B}[second]
			if signedThird {
				cc = map[optab.Func]asm.Cond{optab.FuncMin: asm.GE, optab.FuncMax: asm.L}[second]
			}
			l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
			l.CmovR(cc, true, asm.RAX, asm.RCX)
		}
		l.st(0, asm.RAX)
	})
}

// videoMad is vmad.
func videoMad(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) || op.Mods().NumTypes < 2 {
		return nil
	}
	_, sa, sb := videoTypes(op)
	a, b, c := in[0], in[1], in[2]
	negProduct := a.Neg != b.Neg
	signed := sa || sb || negProduct || c.Neg
	shift := [...]uint8{optab.NoShift: 0, optab.ShiftShr7: 7, optab.ShiftShr15: 15}[op.Mods().Shift]
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.videoPart(asm.RAX, 0, a.Comp, sa)
		l.videoPart(asm.RCX, 1, b.Comp, sb)
		l.MovSXD(asm.RAX, asm.RAX)
		l.MovSXD(asm.RCX, asm.RCX)
		l.ImulR(true, asm.RAX, asm.RCX)
		if negProduct {
			l.NegR(true, asm.RAX)
		}
		l.ld(asm.RCX, 2)
		l.MovSXD(asm.RCX, asm.RCX)
		if c.Neg {
			l.NegR(true, asm.RCX)
		}
		l.RR(asm.ArithAdd, true, asm.RAX, asm.RCX)
		if op.Mods().PlusOne {
			l.AddI(asm.RAX, 1)
		}
		if shift > 0 {
			l.ShiftI(asm.ScalarSar, true, asm.RAX, shift)
		}
		if op.Mods().Sat {
			switch {
			case signed:
				l.clamp64(lowest32, highest32)
			case shift > 0:
				l.below64(highestU32, asm.A)
			default:
				l.clamp64(0, highestU32)
			}
		}
		l.st(0, asm.RAX)
	})
}
