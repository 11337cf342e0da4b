package jit

import (
	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// syncTemplates are mbarrier objects in the CTA's own shared memory, and the stack of local memory.
var syncTemplates = map[optab.Opcode]template{
	optab.OpMbarrierInit: mbarrierTemplate, optab.OpMbarrierInval: mbarrierTemplate, optab.OpMbarrierExpectTx: mbarrierTemplate, optab.OpMbarrierCompleteTx: mbarrierTemplate,
	optab.OpMbarrierArrive: mbarrierTemplate, optab.OpMbarrierArriveDrop: mbarrierTemplate, optab.OpCpAsyncMbarrierArrive: mbarrierTemplate,
	optab.OpMbarrierTestWait: mbarrierWait, optab.OpMbarrierTryWait: mbarrierWait, optab.OpMbarrierPendingCount: pendingTemplate,
	optab.OpStacksave: stackTemplate, optab.OpStackrestore: stackTemplate, optab.OpAlloca: stackTemplate,
}

// The object's layout is that of package interp: pending arrivals in bits 0 to 19, expected ones in 20 to 39, transactions in 40 to 60, the phase in 63.
const (
	mbCount = 1<<20 - 1
	mbTx    = 1<<21 - 1
	mbPhase = 1 << 63
)

// settle ends the phase of the object in rax when nothing is pending. rdx is used.
func (l *laneLoop) settle() {
	end := l.NewLabel()
	l.MovI(a64.RDX, mbCount|mbTx<<40)
	l.RR(a64.ArithAnd, true, a64.RDX, a64.RAX)
	l.J(a64.NE, end)
	l.MovI(a64.RDX, mbPhase)
	l.RR(a64.ArithXor, true, a64.RAX, a64.RDX)
	l.MovR(true, a64.RDX, a64.RAX)
	l.ShiftI(a64.ScalarShr, true, a64.RDX, 20)
	l.AndI32(a64.RDX, mbCount)
	l.RR(a64.ArithOr, true, a64.RAX, a64.RDX)
	l.Bind(end)
}

// addField adds rcx to the field of the object in rax at a bit. rcx and rdx are used.
func (l *laneLoop) addField(at uint8, mask uint64) {
	l.MovR(true, a64.RDX, a64.RAX)
	if at > 0 {
		l.ShiftI(a64.ScalarShr, true, a64.RDX, at)
	}
	l.RR(a64.ArithAdd, true, a64.RCX, a64.RDX)
	l.MovI(a64.RDX, mask)
	l.RR(a64.ArithAnd, true, a64.RCX, a64.RDX)
	if at > 0 {
		l.ShiftI(a64.ScalarShl, true, a64.RCX, at)
	}
	l.MovI(a64.RDX, ^(mask << at))
	l.RR(a64.ArithAnd, true, a64.RAX, a64.RDX)
	l.RR(a64.ArithOr, true, a64.RAX, a64.RCX)
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
	expect, drop := op.Match.Has("expect_tx"), op.Match.Has("arrive_drop") || form == optab.OpMbarrierArriveDrop
	noinc := op.Match.Has("noinc")
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		m := a64.At(a64.R8, disp)
		l.Ld(a64.RAX, m)
		if d.Kind == ir.Row {
			l.st(0, a64.RAX)
		}
		arrivals := func(count func()) {
			if drop {
				count()
				l.NegR(true, a64.RCX)
				l.addField(20, mbCount)
			}
			count()
			l.NegR(true, a64.RCX)
			l.addField(0, mbCount)
			l.settle()
		}
		one := func() { l.MovI32(a64.RCX, 1) }
		switch form {
		case optab.OpMbarrierInit:
			l.ld(a64.RAX, first)
			l.AndI32(a64.RAX, mbCount)
			l.MovR(true, a64.RDX, a64.RAX)
			l.ShiftI(a64.ScalarShl, true, a64.RDX, 20)
			l.RR(a64.ArithOr, true, a64.RAX, a64.RDX)
		case optab.OpMbarrierInval:
			l.MovI32(a64.RAX, 0)
		case optab.OpMbarrierExpectTx, optab.OpMbarrierCompleteTx:
			l.ld(a64.RCX, first)
			if form == optab.OpMbarrierCompleteTx {
				l.NegR(true, a64.RCX)
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
				l.ld(a64.RCX, first)
				l.addField(40, mbTx)
				arrivals(one)
			case n != nil:
				none := l.NewLabel()
				l.ld(a64.RCX, first)
				l.TestR(false, a64.RCX, a64.RCX)
				l.J(a64.E, none)
				arrivals(func() { l.ld(a64.RCX, first) })
				l.Bind(none)
			default:
				arrivals(one)
			}
		}
		l.St(m, a64.RAX)
	})
}

// mbarrierWait is test_wait and try_wait where the phase is over for all lanes. Else the warp gives way, which is the scheduler's.
func mbarrierWait(op *ir.Op) emitter {
	x, ok := mbarrierOperand(op)
	d, b := op.Arg("d"), op.Arg("b")
	parity := op.Match.Has("parity")
	if !ok || d == nil || d.Kind != ir.Row || d.Class != ir.WPred || b == nil || !b.Reg() || b.Class != ir.W32 && b.Class != ir.W64 {
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
			l.Ld(a64.RAX, a64.At(a64.R8, disp))
			l.ld(a64.RCX, first)
			if parity {
				l.ShiftI(a64.ScalarShl, true, a64.RCX, 63)
			}
			l.RR(a64.ArithXor, true, a64.RAX, a64.RCX)
			l.J(a64.NS, slow) // the same phase still
		})
		g.laneMask(a64.RAX)
		g.setPred(d, a64.RAX)
	}
}

func pendingTemplate(op *ir.Op) emitter {
	d, a := op.Arg("d"), op.Arg("a")
	if d == nil || a == nil || d.Kind != ir.Row || d.Class != ir.W32 || !a.Reg() || a.Class != ir.W64 {
		return nil
	}
	return byLanes([]*ir.Arg{a}, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(a64.RAX, 0)
		l.AndI32(a64.RAX, mbCount)
		l.st(0, a64.RAX)
	})
}

// stacking says whether an operation changes or reads the stack pointers of local memory.
func stacking(op *ir.Op) bool {
	return op.Ctl == ir.Plain && (op.Opcode() == optab.OpStacksave || op.Opcode() == optab.OpStackrestore || op.Opcode() == optab.OpAlloca)
}

// stackTemplate is stacksave, stackrestore and alloca: context.tops points at the lanes' stack pointers.
func stackTemplate(op *ir.Op) emitter {
	form := op.Opcode()
	top := a64.Indexed(a64.R8, a64.RSI, 4, 0)
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
				l.Ld(a64.R8, inContext(offTops))
				switch form {
				case optab.OpStacksave:
					l.Ld32(a64.RAX, top)
					l.st(0, a64.RAX)
				case optab.OpStackrestore:
					l.ld(a64.RAX, 0)
					if !write {
						l.Ld32(a64.RCX, inContext(offActTop))
						l.RR(a64.ArithCmp, true, a64.RAX, a64.RCX)
						l.J(a64.B, slow)
						l.Ld32(a64.RCX, inContext(offLocalSize))
						l.RR(a64.ArithCmp, true, a64.RAX, a64.RCX)
						l.J(a64.A, slow)
						return
					}
					l.St32(top, a64.RAX)
				default:
					l.Ld32(a64.RAX, top)
					l.RI(a64.ArithAdd, true, a64.RAX, int32(align-1))
					l.RI(a64.ArithAnd, true, a64.RAX, -int32(align))
					l.ld(a64.RDX, 0)
					if !write {
						l.Ld32(a64.RCX, inContext(offLocalSize))
						l.RR(a64.ArithCmp, true, a64.RDX, a64.RCX)
						l.J(a64.A, slow)
						l.RR(a64.ArithAdd, true, a64.RDX, a64.RAX)
						l.RR(a64.ArithCmp, true, a64.RDX, a64.RCX)
						l.J(a64.A, slow)
						return
					}
					l.RR(a64.ArithAdd, true, a64.RDX, a64.RAX)
					l.St32(top, a64.RDX)
					l.st(0, a64.RAX)
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
