package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// The scalar video instructions, in 64 bits like the interpreter's (interp/video.go says where they differ from the manual).

// videoPart loads the byte or half-word of source i that its operand names, extended to 64 bits.
func (l *laneLoop) videoPart(to uint8, i int, comp string, signed bool) {
	shift, width := videoPlace(comp)
	l.ld(to, i)
	if s := 64 - width - shift; s > 0 {
		l.ShiftI(asm.ScalarShl, true, to, s)
	}
	kind := uint8(asm.ScalarShr)
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
		l.videoPart(asm.RAX, 0, op.Args[1].Comp, sa)
		l.videoPart(asm.RCX, 1, op.Args[2].Comp, sb)
		switch name {
		case "vadd":
			l.RR(asm.ArithAdd, true, asm.RAX, asm.RCX)
		case "vsub":
			l.RR(asm.ArithSub, true, asm.RAX, asm.RCX)
		case "vabsdiff":
			positive := l.NewLabel()
			l.RR(asm.ArithSub, true, asm.RAX, asm.RCX)
			l.J(asm.NS, positive)
			l.NegR(true, asm.RAX)
			l.Bind(positive)
		case "vmin", "vmax":
			less := asm.L
			if name == "vmax" {
				less = asm.G
			}
			l.RR(asm.ArithCmp, true, asm.RCX, asm.RAX)
			l.CmovR(less, true, asm.RAX, asm.RCX)
		case "vshl", "vshr":
			if op.Match.Has("wrap") {
				l.AndI32(asm.RCX, 31)
			} else {
				l.MovI32(asm.RDX, 32)
				l.RR(asm.ArithCmp, true, asm.RCX, asm.RDX)
				l.CmovR(asm.G, true, asm.RCX, asm.RDX)
			}
			kind := uint8(asm.ScalarShl)
			if name == "vshr" {
				kind = asm.ScalarSar
			}
			l.ShiftCL(kind, true, asm.RAX)
		case "vset":
			l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
			l.cond(cmp, asm.RAX)
		}
		if op.Match.Has("sat") {
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
		if name == "vadd" || name == "vsub" {
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
		case second == "add":
			l.RR(asm.ArithAdd, false, asm.RAX, asm.RCX)
		case second != "":
			if signedThird {
				l.MovSXD(asm.RCX, asm.RCX)
			}
			cc := map[string]asm.Cond{"min false": asm.AE, "max false": asm.B, "min true": asm.GE, "max true": asm.L}[second+" "+map[bool]string{true: "true", false: "false"}[signedThird]]
			l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
			l.CmovR(cc, true, asm.RAX, asm.RCX)
		}
		l.st(0, asm.RAX)
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
		if op.Match.Has("po") {
			l.AddI(asm.RAX, 1)
		}
		if shift > 0 {
			l.ShiftI(asm.ScalarSar, true, asm.RAX, shift)
		}
		if op.Match.Has("sat") {
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
