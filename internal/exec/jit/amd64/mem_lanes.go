package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

func fenceTemplate(op *ir.Op) emitter {
	if op.Mods().InCluster() {
		return nothing(op)
	}
	return func(g *gen) { g.MFence() }
}

// laneAccess is a memory operand of any kind.
type laneAccess struct {
	a     *ir.Arg
	space ir.Space
	total int
	base  bool // it has a base, which is source 0
}

// anyAccess describes an operand that lane loops can access.
func anyAccess(a *ir.Arg, total int) (laneAccess, bool) {
	x := laneAccess{a, a.Space, total, a.Base != nil}
	if a.Kind != ir.Addr || total == 0 || total > 32 || total&(total-1) != 0 || a.Disp != int64(int32(a.Disp)) {
		return x, false
	}
	if x.base && (!a.Base.Reg() || a.Base.Class != ir.W64 && a.Base.Class != ir.W32) {
		return x, false
	}
	switch a.Space {
	case ir.Generic, ir.Global, ir.Const:
		return x, x.base && a.Base.Class == ir.W64 && a.Disp > -plan.Slack && a.Disp < plan.Slack
	case ir.Shared, ir.SharedCluster, ir.Local, ir.KernelParam:
		return x, true
	case ir.FrameParam:
		return x, !x.base && a.Disp >= 0 && uint64(a.Disp)+uint64(total) <= a.Hi && a.Disp&int64(total-1) == 0
	}
	return x, false
}

func (x *laneAccess) global() bool {
	return x.space == ir.Generic || x.space == ir.Global || x.space == ir.Const
}

// spaceOf is the operand's state space. A CTA that runs as a whole is a cluster of its own: shared memory of the
// cluster is the CTA's.
func (l *laneLoop) spaceOf(x *laneAccess) ir.Space {
	if x.space == ir.SharedCluster && l.v != nil {
		return ir.Shared
	}
	return x.space
}

// address puts a lane's address into r8: of global memory without the displacement, of other spaces the offset. Source
// i is the base.
func (l *laneLoop) address(x *laneAccess, i int) {
	disp := int32(x.a.Disp)
	switch {
	case x.global():
		l.ld(asm.R8, i)
	case x.base:
		l.ld(asm.R8, i)
		if disp != 0 {
			l.RI(asm.ArithAdd, x.a.Base.Class == ir.W64, asm.R8, disp)
		}
	case x.space == ir.Local:
		l.Ld32(asm.R8, inContext(abi.OffLocalOff))
		l.AddI(asm.R8, disp)
	default:
		l.MovI32(asm.R8, uint32(disp))
	}
}

// check leaves for slow unless the address in r8 is good. rax, rcx are used.
func (l *laneLoop) check(x *laneAccess, slow asm.Label) {
	if x.space == ir.FrameParam {
		return
	}
	if x.global() {
		l.MovR(true, asm.RAX, asm.R8)
		l.SubLd(asm.RAX, inContext(abi.OffLow))
		l.CmpLd(asm.RAX, inContext(abi.OffSpan))
		l.J(asm.A, slow)
		l.St(asm.Indexed(asm.R15, asm.RSI, 8, abi.OffAddrs), asm.R8)
		if x.total > 1 {
			l.Lea(asm.RAX, asm.At(asm.R8, int32(x.a.Disp)))
			l.TestI32(asm.RAX, uint32(x.total-1))
			l.J(asm.NE, slow)
		}
		return
	}
	switch l.spaceOf(x) {
	case ir.SharedCluster:
		l.checkCluster(x, slow)
		return
	case ir.Shared:
		l.Ld32(asm.RCX, inContext(abi.OffSharedTop))
		l.AddI(asm.RCX, 1-int32(x.total))
	case ir.Local:
		l.Ld32(asm.RCX, inContext(abi.OffLocalSize))
		l.AddI(asm.RCX, -int32(x.total))
	default:
		l.Ld32(asm.RCX, inContext(abi.OffParamSize))
		l.AddI(asm.RCX, -int32(x.total))
	}
	l.J(asm.S, slow)
	if l.spaceOf(x) == ir.Shared && l.v == nil {
		l.AddLd(asm.RCX, inContext(abi.OffSharedLow))
		l.CmpLd(asm.R8, inContext(abi.OffSharedLow))
		l.J(asm.B, slow)
	}
	l.RR(asm.ArithCmp, true, asm.R8, asm.RCX)
	l.J(asm.A, slow)
	if x.total > 1 {
		l.TestI32(asm.R8, uint32(x.total-1))
		l.J(asm.NE, slow)
	}
}

// pointer makes a host address of the address in r8; rax is used. The displacement that remains is returned.
func (l *laneLoop) pointer(x *laneAccess) int32 {
	switch l.spaceOf(x) {
	case ir.Shared:
		l.AddLd(asm.R8, inContext(abi.OffShared))
	case ir.SharedCluster:
		l.pointerCluster()
	case ir.Local:
		l.Ld32(asm.RAX, inContext(abi.OffLocalSize))
		l.ImulR(true, asm.RAX, asm.RSI)
		l.Add(asm.R8, asm.RAX)
		l.AddLd(asm.R8, inContext(abi.OffLocal))
	case ir.KernelParam:
		l.AddLd(asm.R8, inContext(abi.OffParams))
	case ir.FrameParam:
		l.ImulI(true, asm.R8, asm.RSI, int32(x.a.Bits))
		l.Add(asm.R8, asm.RBX)
		return int32(x.a.Ref.Off) + int32(x.a.Disp)
	default:
		return int32(x.a.Disp)
	}
	return 0
}

// laneMemory writes an access: in are the sources behind the bases. body has the lane's host address in r8, and the
// displacement.
func laneMemory(xs []laneAccess, in, out []*ir.Arg, body func(l *laneLoop, first int, disp int32)) emitter {
	return lanePhases(xs, in, out, 1, body)
}

// lanePhases is laneMemory in phases of so many lanes, in the order of exec.StorePhase.
func lanePhases(xs []laneAccess, in, out []*ir.Arg, phase int, body func(l *laneLoop, first int, disp int32)) emitter {
	var all []*ir.Arg
	at := make([]int, len(xs))
	for i := range xs {
		at[i] = len(all)
		if xs[i].base {
			all = append(all, xs[i].a.Base)
		}
	}
	first := len(all)
	all = append(all, in...)
	if !laneable(all, out) {
		return nil
	}
	return func(g *gen) {
		for i, a := range all {
			g.stage(i, a)
		}
		g.clearPreds(out)
		l := &laneLoop{g, all, out}
		slow := g.slow()
		memory := false
		checks := false
		for i := range xs {
			memory = memory || xs[i].global()
			checks = checks || xs[i].space != ir.FrameParam
		}
		if checks {
			g.eachLane(false, func() {
				for i := len(xs) - 1; i >= 0; i-- { // the first one's addresses are those that stay for Locate
					l.address(&xs[i], at[i])
					l.check(&xs[i], slow)
				}
			})
		}
		if memory {
			g.accessing(abi.AccessLanes)
		}
		x := &xs[0]
		g.eachPhase(phase, func() {
			if x.space != ir.FrameParam {
				l.address(x, at[0])
			}
			body(l, first, l.pointer(x))
		})
		g.collect(out, false)
	}
}

// elements are the registers of an access with the bytes and sign of an element.
func elements(op *ir.Op, v *ir.Arg) (regs []*ir.Arg, size int, signed, ok bool) {
	typ := op.Mods().LastType()
	t := typ.Info()
	if typ == optab.NoTypeID || t.Bits%8 != 0 || t.Bits > 64 {
		return nil, 0, false, false
	}
	if v.Kind == ir.Vec {
		for i := range v.Elems {
			regs = append(regs, &v.Elems[i])
		}
	} else {
		regs = []*ir.Arg{v}
	}
	return regs, t.Bits / 8, t.Class == optab.Signed, true
}

func laneLoad(op *ir.Op) emitter {
	regs, size, signed, ok := elements(op, &op.Args[0])
	if !ok {
		return nil
	}
	x, ok := anyAccess(&op.Args[1], size*len(regs))
	if !ok {
		return nil
	}
	for _, r := range regs {
		if r.Kind == ir.Imm || r.Class == ir.WPred {
			return nil
		}
	}
	return laneMemory([]laneAccess{x}, nil, regs, func(l *laneLoop, _ int, disp int32) {
		for i, r := range regs {
			if r.Kind != ir.Row {
				continue
			}
			l.loadElement(asm.RAX, asm.At(asm.R8, disp+int32(i*size)), size, signed)
			if r.Class == ir.W32 && r.Width != 0 && r.Width < 32 {
				l.AndI32(asm.RAX, int32(1)<<r.Width-1)
			}
			l.st(i, asm.RAX)
		}
	})
}

// loadElement loads an element, extended to 64 bits.
func (l *laneLoop) loadElement(to asm.GPR, m asm.Mem, size int, signed bool) {
	switch {
	case size == 8:
		l.Ld(to, m)
	case size == 4 && signed:
		l.LdS32(to, m)
	case size == 4:
		l.Ld32(to, m)
	case size == 2 && signed:
		l.LdS16(to, m)
	case size == 2:
		l.Ld16(to, m)
	case signed:
		l.LdS8(to, m)
	default:
		l.Ld8(to, m)
	}
}

// storePhase is how many lanes of a store stand in a phase.
func storePhase(x *laneAccess, op *ir.Op) int {
	if x.space == ir.Local || x.space == ir.FrameParam { // lanes have their own
		return 1
	}
	return exec.StorePhase(x.total, op.Mods().Mmio)
}

func laneStore(op *ir.Op) emitter {
	regs, size, _, ok := elements(op, &op.Args[1])
	if !ok {
		return nil
	}
	x, ok := anyAccess(&op.Args[0], size*len(regs))
	if !ok || x.space == ir.KernelParam {
		return nil
	}
	return lanePhases([]laneAccess{x}, regs, nil, storePhase(&x, op), func(l *laneLoop, first int, disp int32) {
		for i := range regs {
			l.ld(asm.RAX, first+i)
			m := asm.At(asm.R8, disp+int32(i*size))
			switch size {
			case 1:
				l.St8(m, asm.RAX)
			case 2:
				l.St16(m, asm.RAX)
			default:
				l.StR(size == 8, m, asm.RAX)
			}
		}
	})
}

// laneCopy is cp.async: the copy is made at once, as in the interpreter. With a size of its own, and where it is to be
// ignored, the rest is zeros.
func laneCopy(op *ir.Op) emitter {
	a, b, n, s, ignore := op.Arg("a"), op.Arg("b"), op.Arg("n"), op.Arg("s"), op.Arg("i")
	if a == nil || b == nil || n == nil || n.Kind != ir.Imm || op.Guard >= 0 && a.Base == nil {
		return nil
	}
	size := int(n.Bits)
	to, ok1 := anyAccess(a, size)
	from, ok2 := anyAccess(b, size)
	if !ok1 || !ok2 || to.space != ir.Shared || !from.global() || size != 4 && size != 8 && size != 16 {
		return nil
	}
	if s != nil && s.Kind == ir.Imm && !s.Sym && s.Bits >= n.Bits {
		s = nil
	}
	var in []*ir.Arg
	for _, x := range []*ir.Arg{s, ignore} {
		if x != nil {
			in = append(in, x)
		}
	}
	// the source first: Locate wants its addresses
	xs := []laneAccess{from, to}
	at := 1 // of the other base
	return laneMemory(xs, in, nil, func(l *laneLoop, first int, disp int32) {
		step := min(size, 8)
		if len(in) == 0 {
			v := [2]asm.GPR{asm.RCX, asm.RDX}
			for i := 0; i < size; i += step {
				l.LdR(step == 8, v[i/step], asm.At(asm.R8, disp+int32(i)))
			}
			l.address(&to, at)
			l.AddLd(asm.R8, inContext(abi.OffShared))
			for i := 0; i < size; i += step {
				l.StR(step == 8, asm.At(asm.R8, int32(i)), v[i/step])
			}
			return
		}
		// byte by byte from rdx to r8, rcx of them
		l.MovR(true, asm.RDX, asm.R8)
		if disp != 0 {
			l.AddI(asm.RDX, disp)
		}
		l.address(&to, at)
		l.AddLd(asm.R8, inContext(abi.OffShared))
		l.MovI32(asm.RAX, 0)
		for i := 0; i < size; i += step {
			l.StR(step == 8, asm.At(asm.R8, int32(i)), asm.RAX)
		}
		l.MovI32(asm.RCX, uint32(size))
		if s != nil {
			l.ld(asm.RAX, first)
			l.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
			l.CmovR(asm.B, false, asm.RCX, asm.RAX)
		}
		loop, end := l.NewLabel(), l.NewLabel()
		if ignore != nil {
			l.ld(asm.RAX, len(l.in)-1)
			l.TestR(false, asm.RAX, asm.RAX)
			l.J(asm.NE, end)
		}
		// from the first byte on, so that the first that is not there is what a fault names
		l.TestR(false, asm.RCX, asm.RCX)
		l.J(asm.E, end)
		l.Add(asm.RDX, asm.RCX)
		l.Add(asm.R8, asm.RCX)
		l.NegR(true, asm.RCX)
		l.Bind(loop)
		l.Ld8(asm.RAX, asm.Indexed(asm.RDX, asm.RCX, 1, 0))
		l.St8(asm.Indexed(asm.R8, asm.RCX, 1, 0), asm.RAX)
		l.RI(asm.ArithAdd, true, asm.RCX, 1)
		l.J(asm.NE, loop)
		l.Bind(end)
	})
}

// halfAtom is atom and red on halves: add of f16 and bf16, single and in pairs, and cas and exch of 16 bits, in the
// word around them.
func halfAtom(op *ir.Op, x laneAccess, d *ir.Arg, in []*ir.Arg, what optab.Func, typ optab.TypeID) emitter {
	bf, pair, float := halfType(typ)
	if !float && typ != optab.B16 || float && what != optab.FuncAdd ||
		!float && what != optab.FuncCas && what != optab.FuncExch || !alike(32, in...) ||
		d.Kind == ir.Row && !alike(32, d) {
		return nil
	}
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		if disp != 0 {
			l.AddI(asm.R8, disp)
		}
		place := inContext(abi.OffScratch) // bit 1: the upper half of its word
		if !pair {
			l.St(place, asm.R8)
			l.RI(asm.ArithAnd, true, asm.R8, -4)
		}
		m := asm.At(asm.R8, 0)
		upper := func(f func()) {
			if pair {
				return
			}
			skip := l.NewLabel()
			l.Ld32(asm.RCX, place)
			l.TestI32(asm.RCX, 2)
			l.J(asm.E, skip)
			f()
			l.Bind(skip)
		}
		again, keep := l.NewLabel(), l.NewLabel()
		l.Ld32(asm.RAX, m)
		l.Bind(again)
		l.Mov32(asm.RDX, asm.RAX)
		upper(func() { l.ShiftI(asm.ScalarShr, false, asm.RDX, 16) })
		if !pair {
			l.MovZX16(asm.RDX, asm.RDX)
		}
		l.ld(asm.RCX, first)
		switch {
		case what == optab.FuncCas:
			l.MovZX16(asm.RCX, asm.RCX)
			l.RR(asm.ArithCmp, false, asm.RDX, asm.RCX)
			l.J(asm.NE, keep)
			l.ld(asm.RDX, first+1)
		case what == optab.FuncExch:
			l.Mov32(asm.RDX, asm.RCX)
		default:
			l.VR(asm.BroadcastDR, asm.Z, 1, asm.RDX)
			l.VR(asm.BroadcastDR, asm.Z, 2, asm.RCX)
			n := 1
			if pair {
				n = 2
			}
			for h := n - 1; h >= 0; h-- {
				l.halfToSingle(3, 1, bf, h == 1)
				l.halfToSingle(4, 2, bf, h == 1)
				l.V(asm.AddPS, asm.Z, 0, 3, 4)
				l.singleToHalf(0, 5, bf, 0)
				if h == 1 {
					l.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 6, 0, 16)
				} else if pair {
					l.V(asm.OrD, asm.Z, 0, 0, 6)
				}
			}
			l.VR(asm.MovD, asm.X, 0, asm.RDX)
		}
		if !pair {
			// the other half of the word
			l.MovZX16(asm.RDX, asm.RDX)
			l.St32(inContext(abi.OffScratch+8), asm.RDX)
			low := l.NewLabel()
			l.Ld32(asm.RCX, place)
			l.Mov32(asm.RDX, asm.RAX)
			l.TestI32(asm.RCX, 2)
			l.Ld32(asm.RCX, inContext(abi.OffScratch+8))
			done := l.NewLabel()
			l.J(asm.E, low)
			l.ShiftI(asm.ScalarShl, false, asm.RCX, 16)
			l.AndI32(asm.RDX, 0xffff)
			l.Jmp(done)
			l.Bind(low)
			l.AndI32(asm.RDX, -0x10000)
			l.Bind(done)
			l.Or32(asm.RDX, asm.RCX)
		}
		l.LockCmpxchg(false, m, asm.RDX)
		l.J(asm.NE, again)
		l.Bind(keep)
		upper(func() { l.ShiftI(asm.ScalarShr, false, asm.RAX, 16) })
		if !pair {
			l.MovZX16(asm.RAX, asm.RAX)
		}
		if d.Kind == ir.Row {
			l.st(0, asm.RAX)
		}
	})
}

// laneAtom is atom and red on words of 32 and 64 bits.
func laneAtom(op *ir.Op) emitter {
	i := 0
	d := ir.NoArg()
	if op.Opcode() == optab.OpAtom {
		d, i = &op.Args[0], 1
	}
	a, b, c := &op.Args[i], &op.Args[i+1], op.Arg("c")
	typ := op.Type(0)
	t := typ.Info()
	if t.Bits > 64 || t.Bits < 16 || b.Kind == ir.Vec {
		return nil
	}
	x, ok := anyAccess(a, t.Bits/8)
	if !ok || x.space == ir.Local || x.space == ir.KernelParam || x.space == ir.FrameParam || x.space == ir.Const {
		return nil
	}
	if x.space == ir.SharedCluster && (t.Class == optab.Packed || t.Bits < 32 || t.Class == optab.Float) {
		return nil // what is added to where depends on whose memory it is
	}
	wide := t.Bits == 64
	in := []*ir.Arg{b}
	what := op.Mods().Func
	float := t.Class == optab.Float
	if _, _, half := halfType(typ); half || t.Bits == 16 {
		if what == optab.FuncCas && c != nil {
			in = append(in, c)
		}
		return halfAtom(op, x, d, in, what, typ)
	}
	switch {
	case what == optab.FuncCas && c != nil:
		in = append(in, c)
	case c != nil && c.Reg(), what == optab.NoFunc, t.Class == optab.Packed,
		t.Class == optab.Bits && (what == optab.FuncAdd || what == optab.FuncMin || what == optab.FuncMax),
		float && what != optab.FuncAdd && what != optab.FuncExch:
		return nil
	}
	if float && what == optab.FuncAdd && (typ != optab.F32 && typ != optab.F64 || x.space == ir.Generic) {
		return nil
	}
	for _, s := range in {
		if !alike(t.Bits, s) {
			return nil
		}
	}
	if d.Kind == ir.Row && !alike(t.Bits, d) {
		return nil
	}
	less, greater := asm.B, asm.A
	if t.Class == optab.Signed {
		less, greater = asm.L, asm.G
	}
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		m := asm.At(asm.R8, disp)
		done := func(r asm.GPR) {
			if d.Kind == ir.Row {
				l.st(0, r)
			}
		}
		l.ld(asm.RCX, first)
		switch what {
		case optab.FuncExch:
			l.XchgM(wide, m, asm.RCX)
			done(asm.RCX)
			return
		case optab.FuncCas:
			l.MovR(wide, asm.RAX, asm.RCX)
			l.ld(asm.RCX, first+1)
			l.LockCmpxchg(wide, m, asm.RCX)
			done(asm.RAX)
			return
		case optab.FuncAdd:
			if float {
				break
			}
			if wide {
				l.XaddM(m, asm.RCX)
			} else {
				l.XaddM32(m, asm.RCX)
			}
			done(asm.RCX)
			return
		}
		again := l.NewLabel()
		l.LdR(wide, asm.RAX, m)
		l.Bind(again)
		l.MovR(wide, asm.RDX, asm.RAX)
		switch what {
		case optab.FuncAnd:
			l.RR(asm.ArithAnd, wide, asm.RDX, asm.RCX)
		case optab.FuncOr:
			l.RR(asm.ArithOr, wide, asm.RDX, asm.RCX)
		case optab.FuncXor:
			l.RR(asm.ArithXor, wide, asm.RDX, asm.RCX)
		case optab.FuncMin, optab.FuncMax:
			// the old value, unless b is less, or not less
			l.RR(asm.ArithCmp, wide, asm.RCX, asm.RAX)
			cc := less
			if what == optab.FuncMax {
				cc = greater
			}
			l.CmovR(cc, wide, asm.RDX, asm.RCX)
		case optab.FuncInc:
			zero, end := l.NewLabel(), l.NewLabel()
			l.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
			l.J(asm.AE, zero)
			l.RI(asm.ArithAdd, false, asm.RDX, 1)
			l.Jmp(end)
			l.Bind(zero)
			l.MovI32(asm.RDX, 0)
			l.Bind(end)
		case optab.FuncDec:
			wrap, end := l.NewLabel(), l.NewLabel()
			l.TestR(false, asm.RAX, asm.RAX)
			l.J(asm.E, wrap)
			l.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
			l.J(asm.A, wrap)
			l.RI(asm.ArithSub, false, asm.RDX, 1)
			l.Jmp(end)
			l.Bind(wrap)
			l.MovR(false, asm.RDX, asm.RCX)
			l.Bind(end)
		default:
			l.atomicSum(wide, x.global())
		}
		l.LockCmpxchg(wide, m, asm.RDX)
		l.J(asm.NE, again)
		done(asm.RAX)
	})
}

// atomicSum is rdx = rax + rcx of f32 or f64, rax the word in memory. The memory units outside shared memory flush
// f32's subnormals and hand on f64's NaNs as they are.
func (l *laneLoop) atomicSum(wide, outside bool) {
	end := l.NewLabel()
	if wide {
		l.VR(asm.BroadcastQR, asm.X, 1, asm.RAX)
		l.VR(asm.BroadcastQR, asm.X, 2, asm.RCX)
		order := []asm.GPR{asm.RAX, asm.RCX}
		if outside {
			order = []asm.GPR{asm.RCX, asm.RAX}
		}
		for _, r := range order {
			number := l.NewLabel()
			v := asm.Vec(1)
			if r == asm.RCX {
				v = 2
			}
			l.VCmp(asm.CmpPD, asm.X, asm.K7, v, v, asm.FloatUnord)
			l.KOrTestB(asm.K7, asm.K7)
			l.J(asm.E, number)
			if outside {
				l.MovR(true, asm.RDX, r)
			} else {
				l.MovI(asm.RDX, asm.F64Quiet)
				l.RR(asm.ArithOr, true, asm.RDX, r)
			}
			l.Jmp(end)
			l.Bind(number)
		}
		l.V(asm.AddPD, asm.X, 1, 1, 2)
		l.VR(asm.MovQ, asm.X, 1, asm.RDX)
		l.VCmp(asm.CmpPD, asm.X, asm.K7, 1, 1, asm.FloatUnord)
		l.KOrTestB(asm.K7, asm.K7)
		l.J(asm.E, end)
		l.MovI(asm.RDX, asm.F64NaN)
		l.Bind(end)
		return
	}
	flush := func(r asm.GPR) {
		if !outside {
			return
		}
		normal := l.NewLabel()
		l.TestI32(r, asm.F32Inf)
		l.J(asm.NE, normal)
		l.AndI32(r, -1<<31)
		l.Bind(normal)
	}
	flush(asm.RDX)
	flush(asm.RCX)
	l.VR(asm.BroadcastDR, asm.X, 1, asm.RDX)
	l.VR(asm.BroadcastDR, asm.X, 2, asm.RCX)
	l.V(asm.AddPS, asm.X, 1, 1, 2)
	l.VR(asm.MovD, asm.X, 1, asm.RDX)
	flush(asm.RDX)
	l.VCmp(asm.CmpPS, asm.X, asm.K7, 1, 1, asm.FloatUnord)
	l.KOrTestB(asm.K7, asm.K7)
	l.J(asm.E, end)
	l.MovI32(asm.RDX, 0x7fffffff)
	l.Bind(end)
}

// launchWords are special registers that a launch fixes, by their place in exec.Launch.
var launchWords = map[optab.SReg]struct {
	off  uintptr
	wide bool
}{
	optab.SRegGridid:          {unsafe.Offsetof(exec.Launch{}.GridID), true},
	optab.SRegDynamicSmemSize: {unsafe.Offsetof(exec.Launch{}.Shared), false},
	optab.SRegNwarpid: {unsafe.Offsetof(exec.Launch{}.Device) + unsafe.Offsetof(exec.DeviceInfo{}.WarpsPerSM),
		false},
	optab.SRegNsmid: {unsafe.Offsetof(exec.Launch{}.Device) + unsafe.Offsetof(exec.DeviceInfo{}.SMs), false},
}

// specialWord reads special registers that are fixed by the launch, the warp or the lane.
func specialWord(op *ir.Op) emitter {
	d := &op.Args[0]
	if d.Kind != ir.Row || d.Class != ir.W32 && d.Class != ir.W64 || d.Width != 0 && d.Width < 32 {
		return nil
	}
	whole := d.Class == ir.W64
	same := func(load func(g *gen, to asm.GPR)) emitter {
		return func(g *gen) {
			load(g, asm.RAX)
			x := asm.BroadcastDR
			if whole {
				x = asm.BroadcastQR
			}
			for p := range plan.Pieces(d.Class) {
				g.pin()
				z, o := g.dst(d, p)
				g.VR(x, o, z, asm.RAX)
			}
		}
	}
	launch := func(off uintptr, wide bool) emitter {
		return same(func(g *gen, to asm.GPR) {
			g.Ld(to, inContext(abi.OffLaunch))
			g.LdR(wide, to, asm.At(to, int32(off)))
		})
	}
	if w, ok := launchWords[op.SReg]; ok {
		return launch(w.off, w.wide)
	}
	if op.SReg == optab.SRegEnvreg {
		return launch(unsafe.Offsetof(exec.Launch{}.Env)+4*uintptr(op.Number), false)
	}
	if load := clusterRegister(op.SReg, int32(op.Axis)); load != nil {
		return same(load)
	}
	switch op.SReg {
	case optab.SRegWarpid:
		return same(func(g *gen, to asm.GPR) {
			if g.v != nil {
				g.Ld32(to, g.inFrame(g.lay.Warp))
			} else {
				g.Ld32(to, inContext(abi.OffWarp))
			}
		})
	case optab.SRegPm:
		return same(func(g *gen, to asm.GPR) { g.MovI32(to, 0) })
	case optab.SRegLanemaskEq, optab.SRegLanemaskLe, optab.SRegLanemaskLt, optab.SRegLanemaskGe, optab.SRegLanemaskGt:
		if whole {
			return nil
		}
		var words [2][16]uint32
		for l := range 32 {
			bit := uint32(1) << l
			words[l/16][l%16] = map[optab.SReg]uint32{
				optab.SRegLanemaskEq: bit, optab.SRegLanemaskLe: bit | (bit - 1), optab.SRegLanemaskLt: bit - 1,
				optab.SRegLanemaskGe: -bit, optab.SRegLanemaskGt: -bit &^ bit,
			}[op.SReg]
		}
		return func(g *gen) {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.VL(asm.MovU32, o, z, 0, g.vector(words[p]))
			}
		}
	}
	return nil
}

// frameAddress is the address of a local variable.
func frameAddress(op *ir.Op) emitter {
	d := &op.Args[0]
	if d.Kind != ir.Row || d.Class != ir.W32 && d.Class != ir.W64 || op.Disp != int64(int32(op.Disp)) {
		return nil
	}
	return func(g *gen) {
		g.Ld32(asm.RAX, inContext(abi.OffLocalOff))
		g.AddI(asm.RAX, int32(op.Disp))
		x := asm.BroadcastDR
		if d.Class == ir.W64 {
			x = asm.BroadcastQR
		}
		for p := range plan.Pieces(d.Class) {
			g.pin()
			z, o := g.dst(d, p)
			g.VR(x, o, z, asm.RAX)
		}
	}
}
