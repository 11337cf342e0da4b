package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// bulkTemplate is cp.async.bulk between global and shared memory, and between CTAs' shared memories, made at once as in
// the interpreter. Copies to several CTAs and what is not well-formed are left to Go.
func bulkTemplate(op *ir.Op) emitter {
	a, b, n, m := op.Arg("a"), op.Arg("b"), op.Arg("n"), op.Arg("m")
	if a == nil || b == nil || n == nil || !n.Reg() || n.Class != ir.W32 || op.Arg("k") != nil || op.Mods().Mask {
		return nil
	}
	xs := []laneAccess{}
	for _, at := range []*ir.Arg{a, b, m} {
		if at == nil {
			continue
		}
		total := 16
		if at == m {
			total = 8
		}
		x, ok := anyAccess(at, total)
		if !ok {
			return nil
		}
		xs = append(xs, x)
	}
	inside := func(x *laneAccess) bool { return x.space == ir.Shared || x.space == ir.SharedCluster }
	if !inside(&xs[0]) && !inside(&xs[1]) || !inside(&xs[0]) && !xs[0].global() || !inside(&xs[1]) && !xs[1].global() ||
		m != nil && !inside(&xs[2]) {
		return nil
	}
	var in []*ir.Arg
	at := make([]int, len(xs))
	for i := range xs {
		at[i] = len(in)
		if xs[i].base {
			in = append(in, xs[i].a.Base)
		}
	}
	size := len(in)
	in = append(in, n)
	if !laneable(in, nil) {
		return nil
	}
	return func(g *gen) {
		for i, x := range in {
			g.stage(i, x)
		}
		l := &laneLoop{g, in, nil}
		slow := g.slow()
		g.eachLane(false, func() {
			l.ld(asm.RAX, size)
			l.TestI32(asm.RAX, 15)
			l.J(asm.NE, slow)
			l.TestR(false, asm.RAX, asm.RAX)
			l.J(asm.E, slow) // nothing is touched then, whatever the addresses are
			for _, i := range []int{2, 0, 1} {
				if i >= len(xs) {
					continue
				}
				l.address(&xs[i], at[i])
				l.check(&xs[i], slow)
				if i < 2 {
					l.checkEnd(&xs[i], size, slow)
				}
			}
			if inside(&xs[0]) && inside(&xs[1]) { // a copy from the first byte on must not read what it wrote
				l.address(&xs[1], at[1])
				l.pointer(&xs[1])
				l.MovR(true, asm.RDX, asm.R8)
				l.address(&xs[0], at[0])
				l.pointer(&xs[0])
				l.ld(asm.RCX, size)
				l.RR(asm.ArithSub, true, asm.R8, asm.RDX)
				l.RR(asm.ArithCmp, true, asm.R8, asm.RCX)
				l.J(asm.B, slow)
			}
		})
		if xs[0].global() || xs[1].global() {
			g.noted = 0
			g.accessing(abi.AccessLane)
		}
		g.eachLane(false, func() {
			l.St(inContext(abi.OffAddr), asm.RSI)
			l.address(&xs[1], at[1])
			from := l.pointer(&xs[1])
			l.Lea(asm.RDX, asm.At(asm.R8, from))
			l.address(&xs[0], at[0])
			to := l.pointer(&xs[0])
			// from the first byte on, so that the first that is not there is what a fault names
			l.ld(asm.RCX, size)
			l.Add(asm.RDX, asm.RCX)
			l.Add(asm.R8, asm.RCX)
			l.NegR(true, asm.RCX)
			loop := l.NewLabel()
			l.Bind(loop)
			l.Ld(asm.RAX, asm.Indexed(asm.RDX, asm.RCX, 1, 0))
			l.St(asm.Indexed(asm.R8, asm.RCX, 1, to), asm.RAX)
			l.RI(asm.ArithAdd, true, asm.RCX, 8)
			l.J(asm.NE, loop)
			if m != nil {
				l.address(&xs[2], at[2])
				l.completeTx(l.pointer(&xs[2]), func() { l.ld(asm.RCX, size) })
			}
		})
	}
}

// checkEnd leaves for slow unless the bytes from the checked address in r8 on, as many as source n says, are there. rax
// and rcx are used.
func (l *laneLoop) checkEnd(x *laneAccess, n int, slow asm.Label) {
	l.ld(asm.RCX, n)
	if x.global() {
		l.Lea(asm.RAX, asm.At(asm.R8, int32(x.a.Disp)))
		l.SubLd(asm.RAX, inContext(abi.OffLow))
		l.RR(asm.ArithAdd, true, asm.RAX, asm.RCX)
		l.CmpLd(asm.RAX, inContext(abi.OffSpan))
		l.J(asm.A, slow)
		return
	}
	l.MovR(true, asm.RAX, asm.R8)
	if x.space == ir.SharedCluster {
		l.AndI32(asm.RAX, 0xffffff)
	} else {
		l.SubLd(asm.RAX, inContext(abi.OffSharedLow))
	}
	l.RR(asm.ArithAdd, true, asm.RAX, asm.RCX)
	l.RI(asm.ArithSub, true, asm.RAX, 1)
	l.Ld32(asm.RCX, inContext(abi.OffSharedTop))
	l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
	l.J(asm.A, slow)
}

// completeTx completes a transaction of the bytes that size puts into rcx, on the object at r8+disp. rax, rcx and rdx
// are used.
func (l *laneLoop) completeTx(disp int32, size func()) {
	m := asm.At(asm.R8, disp)
	l.Ld(asm.RAX, m)
	size()
	l.NegR(true, asm.RCX)
	l.addField(40, mbTx)
	l.settle()
	l.St(m, asm.RAX)
}

// asyncStore is st.async. A launch without clusters must not use it: that is left to Go.
func asyncStore(op *ir.Op) emitter {
	a, v, m := op.Arg("a"), op.Arg("b"), op.Arg("m")
	if a == nil || v == nil || m == nil || op.Mods().NumTypes == 0 {
		return nil
	}
	regs, size, _, ok := elements(op, v)
	if !ok || size < 4 {
		return nil
	}
	x, ok1 := anyAccess(a, size*len(regs))
	y, ok2 := anyAccess(m, 8)
	if !ok1 || !ok2 || x.space != ir.SharedCluster || y.space != ir.SharedCluster || !alike(8*size, regs...) {
		return nil
	}
	at := 0 // of the second base
	if x.base {
		at = 1
	}
	e := laneMemory([]laneAccess{x, y}, regs, nil, func(l *laneLoop, first int, disp int32) {
		for i := range regs {
			l.ld(asm.RAX, first+i)
			l.StR(size == 8, asm.At(asm.R8, disp+int32(i*size)), asm.RAX)
		}
		l.address(&y, at)
		l.completeTx(l.pointer(&y), func() { l.MovI32(asm.RCX, uint32(x.total)) })
	})
	if e == nil {
		return nil
	}
	return func(g *gen) {
		slow := g.slow()
		g.Ld(asm.RAX, inContext(abi.OffLaunch))
		g.Ld32(asm.RAX, asm.At(asm.RAX, launchExpl))
		g.Test32(asm.RAX, asm.RAX)
		g.J(asm.E, slow)
		e(g)
	}
}
