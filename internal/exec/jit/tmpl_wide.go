package jit

import (
	"golang.org/x/sys/cpu"

	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Registers of 128 bits are always in the frame: lane by lane, 16 bytes each.

// wideTemplates take what other tables leave of these operations.
var wideTemplates = map[optab.Opcode]template{optab.OpMov: wideMove, optab.OpMovPack: wideMove, optab.OpMovUnpack: wideMove, optab.OpLd: wideLoad, optab.OpLdu: wideLoad, optab.OpSt: wideStore, optab.OpAtom: wideAtom}

func wide128(a *ir.Arg) bool { return a != nil && a.Kind == ir.Row && a.Class == ir.W128 }

// rowBase puts the frame's address, 16 bytes on for each lane, into a register: what rowMem of a 128-bit row is for lane 0 is then this lane's.
func (l *laneLoop) rowBase(to uint8) {
	l.MovR(true, to, a64.RSI)
	l.ShiftI(a64.ScalarShl, true, to, 4)
	l.Add(to, a64.RBX)
}

// wideHalf is a 64-bit half of the lane's value, with the address from rowBase in a register.
func wideHalf(base uint8, a *ir.Arg, half int) a64.Mem {
	return a64.At(base, int32(a.Ref.Off)+int32(8*half))
}

// wideParts are the elements of a vector that stands for 128 bits: two of 64 or four of 32.
func wideParts(a *ir.Arg) ([]*ir.Arg, bool) {
	if a.Kind != ir.Vec || len(a.Elems) != 2 && len(a.Elems) != 4 {
		return nil, false
	}
	var parts []*ir.Arg
	for i := range a.Elems {
		e := &a.Elems[i]
		if e.Kind != ir.None && !alike(128/len(a.Elems), e) {
			return nil, false
		}
		parts = append(parts, e)
	}
	return parts, true
}

// wideMove is mov.b128 between registers, from parts and to parts.
func wideMove(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	switch {
	case wide128(d) && wide128(a):
		return byLanes(nil, nil, func(l *laneLoop) {
			l.rowBase(a64.RDX)
			for h := range 2 {
				l.Ld(a64.RAX, wideHalf(a64.RDX, a, h))
				l.St(wideHalf(a64.RDX, d, h), a64.RAX)
			}
		})
	case wide128(d):
		in, ok := wideParts(a)
		if !ok {
			return nil
		}
		return byLanes(in, nil, func(l *laneLoop) {
			l.rowBase(a64.RDX)
			step := 16 / len(in)
			for i := range in {
				l.ld(a64.RAX, i)
				m := wideHalf(a64.RDX, d, 0)
				m.Disp += int32(i * step)
				l.StR(step == 8, m, a64.RAX)
			}
		})
	case wide128(a):
		out, ok := wideParts(d)
		if !ok {
			return nil
		}
		return byLanes(nil, out, func(l *laneLoop) {
			l.rowBase(a64.RDX)
			step := 16 / len(out)
			for i, e := range out {
				if e.Kind != ir.Row {
					continue
				}
				m := wideHalf(a64.RDX, a, 0)
				m.Disp += int32(i * step)
				l.LdR(step == 8, a64.RAX, m)
				l.st(i, a64.RAX)
			}
		})
	}
	return nil
}

func wideLoad(op *ir.Op) emitter {
	d := &op.Args[0]
	x, ok := anyAccess(&op.Args[1], 16)
	if !ok || !wide128(d) {
		return nil
	}
	return laneMemory([]laneAccess{x}, nil, nil, func(l *laneLoop, _ int, disp int32) {
		l.Ld(a64.RAX, a64.At(a64.R8, disp))
		l.Ld(a64.RCX, a64.At(a64.R8, disp+8))
		l.rowBase(a64.RDX)
		l.St(wideHalf(a64.RDX, d, 0), a64.RAX)
		l.St(wideHalf(a64.RDX, d, 1), a64.RCX)
	})
}

func wideStore(op *ir.Op) emitter {
	v := &op.Args[1]
	x, ok := anyAccess(&op.Args[0], 16)
	if !ok || !wide128(v) || x.space == ir.KernelParam {
		return nil
	}
	return laneMemory([]laneAccess{x}, nil, nil, func(l *laneLoop, _ int, disp int32) {
		l.rowBase(a64.RDX)
		for h := range 2 {
			l.Ld(a64.RAX, wideHalf(a64.RDX, v, h))
			l.St(a64.At(a64.R8, disp+int32(8*h)), a64.RAX)
		}
	})
}

// wideAtom is atom.exch and atom.cas of 128 bits. Package interp has the same instruction for them.
func wideAtom(op *ir.Op) emitter {
	if !cpu.X86.HasCX16 || op.Match.Form.Name != "atom" || len(op.Match.Types) == 0 || op.Match.Type(0) != "b128" {
		return nil
	}
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], op.Arg("c")
	what := op.Match.One("exch", "cas")
	x, ok := anyAccess(a, 16)
	if !ok || x.space == ir.Local || x.space == ir.KernelParam || x.space == ir.FrameParam || x.space == ir.Const || !wide128(b) || !wide128(d) && d.Kind != ir.None {
		return nil
	}
	v := b
	switch what {
	case "exch":
	case "cas":
		if v = c; !wide128(c) {
			return nil
		}
	default:
		return nil
	}
	return laneMemory([]laneAccess{x}, nil, nil, func(l *laneLoop, _ int, disp int32) {
		m := a64.At(a64.R8, disp)
		l.St(inContext(offScratch), a64.RBX)
		l.rowBase(a64.RCX)
		if what == "cas" {
			l.Ld(a64.RAX, wideHalf(a64.RCX, b, 0))
			l.Ld(a64.RDX, wideHalf(a64.RCX, b, 1))
		} else { // as a first guess
			l.Ld(a64.RAX, m)
			l.Ld(a64.RDX, a64.At(a64.R8, disp+8))
		}
		l.Ld(a64.RBX, wideHalf(a64.RCX, v, 0))
		l.Ld(a64.RCX, wideHalf(a64.RCX, v, 1))
		again := l.NewLabel()
		l.Bind(again)
		l.LockCmpxchg16(m)
		if what == "exch" {
			l.J(a64.NE, again)
		}
		l.Ld(a64.RBX, inContext(offScratch))
		if d.Kind == ir.Row {
			l.rowBase(a64.RCX)
			l.St(wideHalf(a64.RCX, d, 0), a64.RAX)
			l.St(wideHalf(a64.RCX, d, 1), a64.RDX)
		}
	})
}
