package jit

import (
	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
)

// The scalar video instructions, in 64 bits like the interpreter's (interp/video.go says where they differ from the manual).

// videoPart loads the byte or half-word of source i that its operand names, extended to 64 bits.
func (l *laneLoop) videoPart(to uint8, i int, comp string, signed bool) {
	shift, width := videoPlace(comp)
	l.ld(to, i)
	if s := 64 - width - shift; s > 0 {
		l.ShiftI(a64.ScalarShl, true, to, s)
	}
	kind := uint8(a64.ScalarShr)
	if signed {
		kind = a64.ScalarSar
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
	l.MovI(a64.RDX, uint64(lo))
	l.RR(a64.ArithCmp, true, a64.RAX, a64.RDX)
	l.CmovR(a64.L, true, a64.RAX, a64.RDX)
	l.below64(hi, a64.G)
}

// below64 puts hi into rax when rax is greater by a condition. rdx is used.
func (l *laneLoop) below64(hi int64, greater a64.Cond) {
	l.MovI(a64.RDX, uint64(hi))
	l.RR(a64.ArithCmp, true, a64.RAX, a64.RDX)
	l.CmovR(greater, true, a64.RAX, a64.RDX)
}

// Ranges of 32 bits.
const (
	lowest32, highest32 = -1 << 31, 1<<31 - 1
	highestU32          = 1<<32 - 1
)

// videoTypes says which of destination and sources are signed; the result of vset is unsigned.
func videoTypes(op *ir.Op) (d, a, b bool) {
	ts := op.Match.Types
	if len(ts) == 3 {
		return ts[0] == "s32", ts[1] == "s32", ts[2] == "s32"
	}
	return false, ts[0] == "s32", ts[1] == "s32"
}

// scalarVideo is vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset: the operation, then another one with the third source or a merge into it.
func scalarVideo(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	name := op.Match.Form.Name
	cmp, ok := signedConds[op.Match.One("eq", "ne", "lt", "le", "gt", "ge")]
	switch name {
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr":
	case "vset":
		if !ok {
			return nil
		}
	default:
		return nil
	}
	second := op.Match.One("add", "min", "max")
	if len(in) != 2 && len(in) != 3 || !alike(32, d) || !alike(32, in...) || len(op.Match.Types) < 2 || (second != "" || d.Comp != "") && len(in) != 3 {
		return nil
	}
	signed, sa, sb := videoTypes(op)
	signedThird := signed
	if name == "vset" {
		signedThird = sa
	}
	shifts := name == "vshl" || name == "vshr"
	shift, width := videoPlace(d.Comp)
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.videoPart(a64.RAX, 0, op.Args[1].Comp, sa)
		l.videoPart(a64.RCX, 1, op.Args[2].Comp, sb)
		switch name {
		case "vadd":
			l.RR(a64.ArithAdd, true, a64.RAX, a64.RCX)
		case "vsub":
			l.RR(a64.ArithSub, true, a64.RAX, a64.RCX)
		case "vabsdiff":
			positive := l.NewLabel()
			l.RR(a64.ArithSub, true, a64.RAX, a64.RCX)
			l.J(a64.NS, positive)
			l.NegR(true, a64.RAX)
			l.Bind(positive)
		case "vmin", "vmax":
			less := a64.L
			if name == "vmax" {
				less = a64.G
			}
			l.RR(a64.ArithCmp, true, a64.RCX, a64.RAX)
			l.CmovR(less, true, a64.RAX, a64.RCX)
		case "vshl", "vshr":
			if op.Match.Has("wrap") {
				l.AndI32(a64.RCX, 31)
			} else {
				l.MovI32(a64.RDX, 32)
				l.RR(a64.ArithCmp, true, a64.RCX, a64.RDX)
				l.CmovR(a64.G, true, a64.RCX, a64.RDX)
			}
			kind := uint8(a64.ScalarShl)
			if name == "vshr" {
				kind = a64.ScalarSar
			}
			l.ShiftCL(kind, true, a64.RAX)
		case "vset":
			l.RR(a64.ArithCmp, true, a64.RAX, a64.RCX)
			l.cond(cmp, a64.RAX)
		}
		if op.Match.Has("sat") {
			switch {
			case shifts: // 34 bits are kept
				l.ShiftI(a64.ScalarShl, true, a64.RAX, 30)
				l.ShiftI(a64.ScalarSar, true, a64.RAX, 30)
				if signed {
					l.clamp64(lowest32, highest32)
				} else {
					l.clamp64(0, highestU32)
				}
				l.MovSXD(a64.RAX, a64.RAX)
			case width < 32:
				top := int64(1)<<width - 1
				if signed {
					top >>= 1
				}
				l.below64(top, a64.A)
			case signed:
				l.clamp64(lowest32, highest32)
			default:
				l.MovI32(a64.RDX, 0)
				l.RR(a64.ArithCmp, true, a64.RAX, a64.RDX)
				l.CmovR(a64.L, true, a64.RAX, a64.RDX)
			}
		}
		if name == "vadd" || name == "vsub" {
			l.MovSXD(a64.RAX, a64.RAX)
		}
		if len(in) == 3 {
			l.ld(a64.RCX, 2)
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
				l.ShiftI(a64.ScalarShl, false, a64.RAX, shift)
			}
			l.AndI32(a64.RAX, int32(mask))
			l.AndI32(a64.RCX, int32(^mask))
			l.Or32(a64.RAX, a64.RCX)
		case second == "add":
			l.RR(a64.ArithAdd, false, a64.RAX, a64.RCX)
		case second != "":
			if signedThird {
				l.MovSXD(a64.RCX, a64.RCX)
			}
			cc := map[string]a64.Cond{"min false": a64.AE, "max false": a64.B, "min true": a64.GE, "max true": a64.L}[second+" "+map[bool]string{true: "true", false: "false"}[signedThird]]
			l.RR(a64.ArithCmp, true, a64.RAX, a64.RCX)
			l.CmovR(cc, true, a64.RAX, a64.RCX)
		}
		l.st(0, a64.RAX)
	})
}

// videoMad is vmad.
func videoMad(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) || len(op.Match.Types) < 2 {
		return nil
	}
	_, sa, sb := videoTypes(op)
	a, b, c := in[0], in[1], in[2]
	negProduct := a.Neg != b.Neg
	signed := sa || sb || negProduct || c.Neg
	shift := map[string]uint8{"shr7": 7, "shr15": 15}[op.Match.One("shr7", "shr15")]
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.videoPart(a64.RAX, 0, a.Comp, sa)
		l.videoPart(a64.RCX, 1, b.Comp, sb)
		l.MovSXD(a64.RAX, a64.RAX)
		l.MovSXD(a64.RCX, a64.RCX)
		l.ImulR(true, a64.RAX, a64.RCX)
		if negProduct {
			l.NegR(true, a64.RAX)
		}
		l.ld(a64.RCX, 2)
		l.MovSXD(a64.RCX, a64.RCX)
		if c.Neg {
			l.NegR(true, a64.RCX)
		}
		l.RR(a64.ArithAdd, true, a64.RAX, a64.RCX)
		if op.Match.Has("po") {
			l.AddI(a64.RAX, 1)
		}
		if shift > 0 {
			l.ShiftI(a64.ScalarSar, true, a64.RAX, shift)
		}
		if op.Match.Has("sat") {
			switch {
			case signed:
				l.clamp64(lowest32, highest32)
			case shift > 0:
				l.below64(highestU32, a64.A)
			default:
				l.clamp64(0, highestU32)
			}
		}
		l.st(0, a64.RAX)
	})
}
