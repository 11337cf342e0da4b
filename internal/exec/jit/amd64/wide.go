package amd64

import (
	"golang.org/x/sys/cpu"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Registers of 128 bits are always in the frame: lane by lane, 16 bytes each.

func wide128(a *ir.Arg) bool { return a != nil && a.Kind == ir.Row && a.Class == ir.W128 }

// rowBase puts the frame's address, 16 bytes on for each lane, into a register: what rowMem of a 128-bit row is for
// lane 0 is then this lane's.
func (l *laneLoop) rowBase(to asm.GPR) {
	l.MovR(true, to, asm.RSI)
	l.ShiftI(asm.ScalarShl, true, to, 4)
	l.Add(to, asm.RBX)
}

// wideHalf is a 64-bit half of the lane's value, with the address from rowBase in a register.
func wideHalf(base asm.GPR, a *ir.Arg, half int) asm.Mem {
	return asm.At(base, int32(a.Ref.Off)+int32(8*half))
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
			l.rowBase(asm.RDX)
			for h := range 2 {
				l.Ld(asm.RAX, wideHalf(asm.RDX, a, h))
				l.St(wideHalf(asm.RDX, d, h), asm.RAX)
			}
		})
	case wide128(d):
		in, ok := wideParts(a)
		if !ok {
			return nil
		}
		return byLanes(in, nil, func(l *laneLoop) {
			l.rowBase(asm.RDX)
			step := 16 / len(in)
			for i := range in {
				l.ld(asm.RAX, i)
				m := wideHalf(asm.RDX, d, 0)
				m.Disp += int32(i * step)
				l.StR(step == 8, m, asm.RAX)
			}
		})
	case wide128(a):
		out, ok := wideParts(d)
		if !ok {
			return nil
		}
		return byLanes(nil, out, func(l *laneLoop) {
			l.rowBase(asm.RDX)
			step := 16 / len(out)
			for i, e := range out {
				if e.Kind != ir.Row {
					continue
				}
				m := wideHalf(asm.RDX, a, 0)
				m.Disp += int32(i * step)
				l.LdR(step == 8, asm.RAX, m)
				l.st(i, asm.RAX)
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
		l.Ld(asm.RAX, asm.At(asm.R8, disp))
		l.Ld(asm.RCX, asm.At(asm.R8, disp+8))
		l.rowBase(asm.RDX)
		l.St(wideHalf(asm.RDX, d, 0), asm.RAX)
		l.St(wideHalf(asm.RDX, d, 1), asm.RCX)
	})
}

func wideStore(op *ir.Op) emitter {
	v := &op.Args[1]
	x, ok := anyAccess(&op.Args[0], 16)
	if !ok || !wide128(v) || x.space == ir.KernelParam {
		return nil
	}
	return lanePhases([]laneAccess{x}, nil, nil, storePhase(&x, op), func(l *laneLoop, _ int, disp int32) {
		l.rowBase(asm.RDX)
		for h := range 2 {
			l.Ld(asm.RAX, wideHalf(asm.RDX, v, h))
			l.St(asm.At(asm.R8, disp+int32(8*h)), asm.RAX)
		}
	})
}

// wideAtom is atom.exch and atom.cas of 128 bits. Package interp has the same instruction for them.
func wideAtom(op *ir.Op) emitter {
	if !cpu.X86.HasCX16 || op.Type(0) != optab.B128 {
		return nil
	}
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], op.Arg("c")
	what := op.Mods().Func
	x, ok := anyAccess(a, 16)
	if !ok || x.space == ir.Local || x.space == ir.KernelParam || x.space == ir.FrameParam || x.space == ir.Const ||
		!wide128(b) || !wide128(d) && d.Kind != ir.None {
		return nil
	}
	v := b
	switch what {
	case optab.FuncExch:
	case optab.FuncCas:
		if v = c; !wide128(c) {
			return nil
		}
	default:
		return nil
	}
	return laneMemory([]laneAccess{x}, nil, nil, func(l *laneLoop, _ int, disp int32) {
		m := asm.At(asm.R8, disp)
		l.St(inContext(abi.OffScratch), asm.RBX)
		l.rowBase(asm.RCX)
		if what == optab.FuncCas {
			l.Ld(asm.RAX, wideHalf(asm.RCX, b, 0))
			l.Ld(asm.RDX, wideHalf(asm.RCX, b, 1))
		} else { // as a first guess
			l.Ld(asm.RAX, m)
			l.Ld(asm.RDX, asm.At(asm.R8, disp+8))
		}
		l.Ld(asm.RBX, wideHalf(asm.RCX, v, 0))
		l.Ld(asm.RCX, wideHalf(asm.RCX, v, 1))
		again := l.NewLabel()
		l.Bind(again)
		l.LockCmpxchg16(m)
		if what == optab.FuncExch {
			l.J(asm.NE, again)
		}
		l.Ld(asm.RBX, inContext(abi.OffScratch))
		if d.Kind == ir.Row {
			l.rowBase(asm.RCX)
			l.St(wideHalf(asm.RCX, d, 0), asm.RAX)
			l.St(wideHalf(asm.RCX, d, 1), asm.RDX)
		}
	})
}
