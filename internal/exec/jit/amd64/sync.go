package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// The object's layout is that of package interp: pending arrivals in bits 0 to 19, expected ones in 20 to 39,
// transactions in 40 to 60, the phase in 63.
const (
	mbCount = 1<<20 - 1
	mbTx    = 1<<21 - 1
	mbPhase = 1 << 63
)

// settle ends the phase of the object in rax when nothing is pending. rdx is used.
func (l *laneLoop) settle() {
	end := l.NewLabel()
	l.MovI(asm.RDX, mbCount|mbTx<<40)
	l.RR(asm.ArithAnd, true, asm.RDX, asm.RAX)
	l.J(asm.NE, end)
	l.MovI(asm.RDX, mbPhase)
	l.RR(asm.ArithXor, true, asm.RAX, asm.RDX)
	l.MovR(true, asm.RDX, asm.RAX)
	l.ShiftI(asm.ScalarShr, true, asm.RDX, 20)
	l.AndI32(asm.RDX, mbCount)
	l.RR(asm.ArithOr, true, asm.RAX, asm.RDX)
	l.Bind(end)
}

// addField adds rcx to the field of the object in rax at a bit. rcx and rdx are used.
func (l *laneLoop) addField(at uint8, mask uint64) {
	l.MovR(true, asm.RDX, asm.RAX)
	if at > 0 {
		l.ShiftI(asm.ScalarShr, true, asm.RDX, at)
	}
	l.RR(asm.ArithAdd, true, asm.RCX, asm.RDX)
	l.MovI(asm.RDX, mask)
	l.RR(asm.ArithAnd, true, asm.RCX, asm.RDX)
	if at > 0 {
		l.ShiftI(asm.ScalarShl, true, asm.RCX, at)
	}
	l.MovI(asm.RDX, ^(mask << at))
	l.RR(asm.ArithAnd, true, asm.RAX, asm.RDX)
	l.RR(asm.ArithOr, true, asm.RAX, asm.RCX)
}

// mbarrierOperand is the object that an operation names, when it is surely in shared memory.
func mbarrierOperand(op *ir.Op) (x laneAccess, ok bool) {
	a := op.Arg("a")
	if a == nil {
		return x, false
	}
	x, ok = anyAccess(a, 8)
	return x, ok && x.space == ir.Shared
}

func mbarrierTemplate(op *ir.Op) emitter {
	x, ok := mbarrierOperand(op)
	d, n := op.Arg("d"), op.Arg("b")
	form := op.Opcode()
	if !ok || n != nil && (!n.Reg() || n.Class != ir.W32) {
		return nil
	}
	if d == nil || d.Kind != ir.Row {
		d = ir.NoArg()
	} else if d.Class != ir.W64 {
		return nil
	}
	var in []*ir.Arg
	if n != nil {
		in = append(in, n)
	}
	expect, drop := op.Mods().ExpectTx, form == optab.OpMbarrierArriveDrop
	noinc := op.Mods().NoInc
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		m := asm.At(asm.R8, disp)
		l.Ld(asm.RAX, m)
		if d.Kind == ir.Row {
			l.st(0, asm.RAX)
		}
		arrivals := func(count func()) {
			if drop {
				count()
				l.NegR(true, asm.RCX)
				l.addField(20, mbCount)
			}
			count()
			l.NegR(true, asm.RCX)
			l.addField(0, mbCount)
			l.settle()
		}
		one := func() { l.MovI32(asm.RCX, 1) }
		switch form {
		case optab.OpMbarrierInit:
			l.ld(asm.RAX, first)
			l.AndI32(asm.RAX, mbCount)
			l.MovR(true, asm.RDX, asm.RAX)
			l.ShiftI(asm.ScalarShl, true, asm.RDX, 20)
			l.RR(asm.ArithOr, true, asm.RAX, asm.RDX)
		case optab.OpMbarrierInval:
			l.MovI32(asm.RAX, 0)
		case optab.OpMbarrierExpectTx, optab.OpMbarrierCompleteTx:
			l.ld(asm.RCX, first)
			if form == optab.OpMbarrierCompleteTx {
				l.NegR(true, asm.RCX)
			}
			l.addField(40, mbTx)
			l.settle()
		case optab.OpCpAsyncMbarrierArrive:
			if noinc {
				arrivals(one)
			}
		default:
			switch {
			case n != nil && expect: // announced and arrived in one: nothing can complete in between
				l.ld(asm.RCX, first)
				l.addField(40, mbTx)
				arrivals(one)
			case n != nil:
				none := l.NewLabel()
				l.ld(asm.RCX, first)
				l.TestR(false, asm.RCX, asm.RCX)
				l.J(asm.E, none)
				arrivals(func() { l.ld(asm.RCX, first) })
				l.Bind(none)
			default:
				arrivals(one)
			}
		}
		l.St(m, asm.RAX)
	})
}

// mbarrierWait is test_wait and try_wait where the phase is over for all lanes. Else the warp gives way, which is the
// scheduler's.
func mbarrierWait(op *ir.Op) emitter {
	x, ok := mbarrierOperand(op)
	d, b := op.Arg("d"), op.Arg("b")
	parity := op.Mods().Parity
	if !ok || d == nil || d.Kind != ir.Row || d.Class != ir.WPred || b == nil || !b.Reg() ||
		b.Class != ir.W32 && b.Class != ir.W64 {
		return nil
	}
	var all []*ir.Arg
	if x.base {
		all = append(all, x.a.Base)
	}
	first := len(all)
	all = append(all, b)
	if !laneable(all, nil) {
		return nil
	}
	return func(g *gen) {
		for i, a := range all {
			g.stage(i, a)
		}
		slow := g.slow()
		l := &laneLoop{g, all, nil}
		g.eachLane(false, func() {
			l.address(&x, 0)
			l.check(&x, slow)
			disp := l.pointer(&x)
			l.Ld(asm.RAX, asm.At(asm.R8, disp))
			l.ld(asm.RCX, first)
			if parity {
				l.ShiftI(asm.ScalarShl, true, asm.RCX, 63)
			}
			l.RR(asm.ArithXor, true, asm.RAX, asm.RCX)
			l.J(asm.NS, slow) // the same phase still
		})
		g.laneMask(asm.RAX)
		g.setPred(d, asm.RAX)
	}
}

func pendingTemplate(op *ir.Op) emitter {
	d, a := op.Arg("d"), op.Arg("a")
	if d == nil || a == nil || d.Kind != ir.Row || d.Class != ir.W32 || !a.Reg() || a.Class != ir.W64 {
		return nil
	}
	return byLanes([]*ir.Arg{a}, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.AndI32(asm.RAX, mbCount)
		l.st(0, asm.RAX)
	})
}

// stackTemplate is stacksave, stackrestore and alloca: context.tops points at the lanes' stack pointers.
func stackTemplate(op *ir.Op) emitter {
	form := op.Opcode()
	top := asm.Indexed(asm.R8, asm.RSI, 4, 0)
	var in, out []*ir.Arg
	switch form {
	case optab.OpStacksave:
		out = []*ir.Arg{&op.Args[0]}
	case optab.OpStackrestore:
		in = []*ir.Arg{&op.Args[0]}
	default:
		d, a := op.Arg("d"), op.Arg("a")
		if d == nil || a == nil {
			return nil
		}
		in, out = []*ir.Arg{a}, []*ir.Arg{d}
	}
	align := uint64(8)
	if n := op.Arg("n"); n != nil {
		align = max(align, n.Bits)
	}
	if !laneable(in, out) || align > 1<<20 || align&(align-1) != 0 {
		return nil
	}
	return func(g *gen) {
		for i, a := range in {
			g.stage(i, a)
		}
		slow := g.slow()
		l := &laneLoop{g, in, out}
		run := func(write bool) {
			g.eachLane(false, func() {
				l.Ld(asm.R8, inContext(abi.OffTops))
				switch form {
				case optab.OpStacksave:
					l.Ld32(asm.RAX, top)
					l.st(0, asm.RAX)
				case optab.OpStackrestore:
					l.ld(asm.RAX, 0)
					if !write {
						l.Ld32(asm.RCX, inContext(abi.OffActTop))
						l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
						l.J(asm.B, slow)
						l.Ld32(asm.RCX, inContext(abi.OffLocalSize))
						l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
						l.J(asm.A, slow)
						return
					}
					l.St32(top, asm.RAX)
				default:
					l.Ld32(asm.RAX, top)
					l.RI(asm.ArithAdd, true, asm.RAX, int32(align-1))
					l.RI(asm.ArithAnd, true, asm.RAX, -int32(align))
					l.ld(asm.RDX, 0)
					if !write {
						l.Ld32(asm.RCX, inContext(abi.OffLocalSize))
						l.RR(asm.ArithCmp, true, asm.RDX, asm.RCX)
						l.J(asm.A, slow)
						l.RR(asm.ArithAdd, true, asm.RDX, asm.RAX)
						l.RR(asm.ArithCmp, true, asm.RDX, asm.RCX)
						l.J(asm.A, slow)
						return
					}
					l.RR(asm.ArithAdd, true, asm.RDX, asm.RAX)
					l.St32(top, asm.RDX)
					l.st(0, asm.RAX)
				}
			})
		}
		run(false)
		if form != optab.OpStacksave {
			run(true)
		}
		g.collect(out, false)
	}
}
