package jit

import (
	"fmt"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// laneMemoryTemplates are memory accesses lane by lane: those that the vector templates leave, those to local memory and to the parameters of functions, atomic operations,
// and copies from global to shared memory.
var laneMemoryTemplates = map[optab.Opcode]template{
	optab.OpLd: laneLoad, optab.OpLdu: laneLoad, optab.OpSt: laneStore, optab.OpAtom: laneAtom, optab.OpRed: laneAtom, optab.OpCpAsync: laneCopy,
	optab.OpCpAsyncCommitGroup: nothing, optab.OpCpAsyncWaitGroup: nothing, optab.OpFence: fenceTemplate, optab.OpGriddepcontrol: nothing, optab.OpSetmaxnreg: nothing,
}

// usesLocal says whether an operation needs local memory.
func usesLocal(op *ir.Op) bool {
	if op.Ctl == ir.FrameAddr {
		return true
	}
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space == ir.Local {
			return true
		}
	}
	return false
}

func fenceTemplate(op *ir.Op) emitter {
	if op.Match.One("cta", "cluster") != "" {
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
		return x, x.base && a.Base.Class == ir.W64 && a.Disp > -slack && a.Disp < slack
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

// address puts a lane's address into r8: of global memory without the displacement, of other spaces the offset. Source i is the base.
func (l *laneLoop) address(x *laneAccess, i int) {
	disp := int32(x.a.Disp)
	switch {
	case x.global():
		l.ld(a64.R8, i)
	case x.base:
		l.ld(a64.R8, i)
		if disp != 0 {
			l.RI(a64.ArithAdd, x.a.Base.Class == ir.W64, a64.R8, disp)
		}
	case x.space == ir.Local:
		l.Ld32(a64.R8, inContext(offLocalOff))
		l.AddI(a64.R8, disp)
	default:
		l.MovI32(a64.R8, uint32(disp))
	}
}

// check leaves for slow unless the address in r8 is good. rax, rcx are used.
func (l *laneLoop) check(x *laneAccess, slow a64.Label) {
	if x.space == ir.FrameParam {
		return
	}
	if x.global() {
		l.MovR(true, a64.RAX, a64.R8)
		l.SubLd(a64.RAX, inContext(offLow))
		l.CmpLd(a64.RAX, inContext(offSpan))
		l.J(a64.A, slow)
		l.St(a64.Indexed(a64.R15, a64.RSI, 8, offAddrs), a64.R8)
		if x.total > 1 {
			l.Lea(a64.RAX, a64.At(a64.R8, int32(x.a.Disp)))
			l.TestI32(a64.RAX, uint32(x.total-1))
			l.J(a64.NE, slow)
		}
		return
	}
	switch x.space {
	case ir.SharedCluster:
		l.checkCluster(x, slow)
		return
	case ir.Shared:
		l.Ld32(a64.RCX, inContext(offSharedTop))
		l.AddI(a64.RCX, 1-int32(x.total))
	case ir.Local:
		l.Ld32(a64.RCX, inContext(offLocalSize))
		l.AddI(a64.RCX, -int32(x.total))
	default:
		l.Ld32(a64.RCX, inContext(offParamSize))
		l.AddI(a64.RCX, -int32(x.total))
	}
	l.J(a64.S, slow)
	if x.space == ir.Shared && l.v == nil {
		l.AddLd(a64.RCX, inContext(offSharedLow))
		l.CmpLd(a64.R8, inContext(offSharedLow))
		l.J(a64.B, slow)
	}
	l.RR(a64.ArithCmp, true, a64.R8, a64.RCX)
	l.J(a64.A, slow)
	if x.total > 1 {
		l.TestI32(a64.R8, uint32(x.total-1))
		l.J(a64.NE, slow)
	}
}

// pointer makes a host address of the address in r8; rax is used. The displacement that remains is returned.
func (l *laneLoop) pointer(x *laneAccess) int32 {
	switch x.space {
	case ir.Shared:
		l.AddLd(a64.R8, inContext(offShared))
	case ir.SharedCluster:
		l.pointerCluster()
	case ir.Local:
		l.Ld32(a64.RAX, inContext(offLocalSize))
		l.ImulR(true, a64.RAX, a64.RSI)
		l.Add(a64.R8, a64.RAX)
		l.AddLd(a64.R8, inContext(offLocal))
	case ir.KernelParam:
		l.AddLd(a64.R8, inContext(offParams))
	case ir.FrameParam:
		l.ImulI(true, a64.R8, a64.RSI, int32(x.a.Bits))
		l.Add(a64.R8, a64.RBX)
		return int32(x.a.Ref.Off) + int32(x.a.Disp)
	default:
		return int32(x.a.Disp)
	}
	return 0
}

// laneMemory writes an access: in are the sources behind the bases. body has the lane's host address in r8, and the displacement.
func laneMemory(xs []laneAccess, in, out []*ir.Arg, body func(l *laneLoop, first int, disp int32)) emitter {
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
			g.accessing(accessLanes)
		}
		x := &xs[0]
		g.eachLane(false, func() {
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
	t, known := optab.TypeOf(op.Match.Types[len(op.Match.Types)-1])
	if !known || t.Bits%8 != 0 || t.Bits > 64 {
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
			l.loadElement(a64.RAX, a64.At(a64.R8, disp+int32(i*size)), size, signed)
			if r.Class == ir.W32 && r.Width != 0 && r.Width < 32 {
				l.AndI32(a64.RAX, int32(1)<<r.Width-1)
			}
			l.st(i, a64.RAX)
		}
	})
}

// loadElement loads an element, extended to 64 bits.
func (l *laneLoop) loadElement(to uint8, m a64.Mem, size int, signed bool) {
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

func laneStore(op *ir.Op) emitter {
	regs, size, _, ok := elements(op, &op.Args[1])
	if !ok {
		return nil
	}
	x, ok := anyAccess(&op.Args[0], size*len(regs))
	if !ok || x.space == ir.KernelParam {
		return nil
	}
	return laneMemory([]laneAccess{x}, regs, nil, func(l *laneLoop, first int, disp int32) {
		for i := range regs {
			l.ld(a64.RAX, first+i)
			m := a64.At(a64.R8, disp+int32(i*size))
			switch size {
			case 1:
				l.St8(m, a64.RAX)
			case 2:
				l.St16(m, a64.RAX)
			default:
				l.StR(size == 8, m, a64.RAX)
			}
		}
	})
}

// laneCopy is cp.async: the copy is made at once, as in the interpreter. With a size of its own, and where it is to be ignored, the rest is zeros.
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
			v := [2]uint8{a64.RCX, a64.RDX}
			for i := 0; i < size; i += step {
				l.LdR(step == 8, v[i/step], a64.At(a64.R8, disp+int32(i)))
			}
			l.address(&to, at)
			l.AddLd(a64.R8, inContext(offShared))
			for i := 0; i < size; i += step {
				l.StR(step == 8, a64.At(a64.R8, int32(i)), v[i/step])
			}
			return
		}
		// byte by byte from rdx to r8, rcx of them
		l.MovR(true, a64.RDX, a64.R8)
		if disp != 0 {
			l.AddI(a64.RDX, disp)
		}
		l.address(&to, at)
		l.AddLd(a64.R8, inContext(offShared))
		l.MovI32(a64.RAX, 0)
		for i := 0; i < size; i += step {
			l.StR(step == 8, a64.At(a64.R8, int32(i)), a64.RAX)
		}
		l.MovI32(a64.RCX, uint32(size))
		if s != nil {
			l.ld(a64.RAX, first)
			l.RR(a64.ArithCmp, false, a64.RAX, a64.RCX)
			l.CmovR(a64.B, false, a64.RCX, a64.RAX)
		}
		loop, end := l.NewLabel(), l.NewLabel()
		if ignore != nil {
			l.ld(a64.RAX, len(l.in)-1)
			l.TestR(false, a64.RAX, a64.RAX)
			l.J(a64.NE, end)
		}
		// from the first byte on, so that the first that is not there is what a fault names
		l.TestR(false, a64.RCX, a64.RCX)
		l.J(a64.E, end)
		l.Add(a64.RDX, a64.RCX)
		l.Add(a64.R8, a64.RCX)
		l.NegR(true, a64.RCX)
		l.Bind(loop)
		l.Ld8(a64.RAX, a64.Indexed(a64.RDX, a64.RCX, 1, 0))
		l.St8(a64.Indexed(a64.R8, a64.RCX, 1, 0), a64.RAX)
		l.RI(a64.ArithAdd, true, a64.RCX, 1)
		l.J(a64.NE, loop)
		l.Bind(end)
	})
}

// halfAtom is atom and red on halves: add of f16 and bf16, single and in pairs, and cas and exch of 16 bits, in the word around them.
func halfAtom(op *ir.Op, x laneAccess, d *ir.Arg, in []*ir.Arg, what, typ string) emitter {
	bf, pair, float := halfType(typ)
	if !float && typ != "b16" || float && what != "add" || !float && what != "cas" && what != "exch" || !alike(32, in...) || d.Kind == ir.Row && !alike(32, d) {
		return nil
	}
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		if disp != 0 {
			l.AddI(a64.R8, disp)
		}
		place := inContext(offScratch) // bit 1: the upper half of its word
		if !pair {
			l.St(place, a64.R8)
			l.RI(a64.ArithAnd, true, a64.R8, -4)
		}
		m := a64.At(a64.R8, 0)
		upper := func(f func()) {
			if pair {
				return
			}
			skip := l.NewLabel()
			l.Ld32(a64.RCX, place)
			l.TestI32(a64.RCX, 2)
			l.J(a64.E, skip)
			f()
			l.Bind(skip)
		}
		again, keep := l.NewLabel(), l.NewLabel()
		l.Ld32(a64.RAX, m)
		l.Bind(again)
		l.Mov32(a64.RDX, a64.RAX)
		upper(func() { l.ShiftI(a64.ScalarShr, false, a64.RDX, 16) })
		if !pair {
			l.MovZX16(a64.RDX, a64.RDX)
		}
		l.ld(a64.RCX, first)
		switch {
		case what == "cas":
			l.MovZX16(a64.RCX, a64.RCX)
			l.RR(a64.ArithCmp, false, a64.RDX, a64.RCX)
			l.J(a64.NE, keep)
			l.ld(a64.RDX, first+1)
		case what == "exch":
			l.Mov32(a64.RDX, a64.RCX)
		default:
			l.V(a64.BroadcastDR, a64.Z, 1, 0, a64.RDX)
			l.V(a64.BroadcastDR, a64.Z, 2, 0, a64.RCX)
			n := 1
			if pair {
				n = 2
			}
			for h := n - 1; h >= 0; h-- {
				l.halfToSingle(3, 1, bf, h == 1)
				l.halfToSingle(4, 2, bf, h == 1)
				l.V(a64.AddPS, a64.Z, 0, 3, 4)
				l.singleToHalf(0, 5, bf, 0)
				if h == 1 {
					l.VI(a64.ShiftD, a64.Z, a64.ShiftSll, 6, 0, 16)
				} else if pair {
					l.V(a64.OrD, a64.Z, 0, 0, 6)
				}
			}
			l.V(a64.MovD, a64.X, 0, 0, a64.RDX)
		}
		if !pair {
			// the other half of the word
			l.MovZX16(a64.RDX, a64.RDX)
			l.St32(inContext(offScratch+8), a64.RDX)
			low := l.NewLabel()
			l.Ld32(a64.RCX, place)
			l.Mov32(a64.RDX, a64.RAX)
			l.TestI32(a64.RCX, 2)
			l.Ld32(a64.RCX, inContext(offScratch+8))
			done := l.NewLabel()
			l.J(a64.E, low)
			l.ShiftI(a64.ScalarShl, false, a64.RCX, 16)
			l.AndI32(a64.RDX, 0xffff)
			l.Jmp(done)
			l.Bind(low)
			l.AndI32(a64.RDX, -0x10000)
			l.Bind(done)
			l.Or32(a64.RDX, a64.RCX)
		}
		l.LockCmpxchg(false, m, a64.RDX)
		l.J(a64.NE, again)
		l.Bind(keep)
		upper(func() { l.ShiftI(a64.ScalarShr, false, a64.RAX, 16) })
		if !pair {
			l.MovZX16(a64.RAX, a64.RAX)
		}
		if d.Kind == ir.Row {
			l.st(0, a64.RAX)
		}
	})
}

// laneAtom is atom and red on words of 32 and 64 bits.
func laneAtom(op *ir.Op) emitter {
	i := 0
	d := ir.NoArg()
	if op.Match.Form.Name == "atom" {
		d, i = &op.Args[0], 1
	} else if op.Match.Form.Name != "red" {
		return nil
	}
	a, b, c := &op.Args[i], &op.Args[i+1], op.Arg("c")
	typ := op.Match.Type(0)
	t, ok := optab.TypeOf(typ)
	if !ok || t.Bits > 64 || t.Bits < 16 || b.Kind == ir.Vec {
		return nil
	}
	x, ok := anyAccess(a, t.Bits/8)
	if !ok || x.space == ir.Local || x.space == ir.KernelParam || x.space == ir.FrameParam || x.space == ir.Const {
		return nil
	}
	if x.space == ir.SharedCluster && (t.Class == optab.Packed || t.Bits < 32 || typ[0] == 'f') {
		return nil // what is added to where depends on whose memory it is
	}
	wide := t.Bits == 64
	in := []*ir.Arg{b}
	what := op.Match.One("and", "or", "xor", "exch", "cas", "inc", "dec", "add", "min", "max")
	float := typ[0] == 'f'
	if _, _, half := halfType(typ); half || t.Bits == 16 {
		if what == "cas" && c != nil {
			in = append(in, c)
		}
		return halfAtom(op, x, d, in, what, typ)
	}
	switch {
	case what == "cas" && c != nil:
		in = append(in, c)
	case c != nil && c.Reg(), what == "", t.Class == optab.Packed, typ[0] == 'b' && (what == "add" || what == "min" || what == "max"), float && what != "add" && what != "exch":
		return nil
	}
	if float && what == "add" && (typ != "f32" && typ != "f64" || x.space == ir.Generic) {
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
	less, greater := a64.B, a64.A
	if t.Class == optab.Signed {
		less, greater = a64.L, a64.G
	}
	return laneMemory([]laneAccess{x}, in, []*ir.Arg{d}, func(l *laneLoop, first int, disp int32) {
		m := a64.At(a64.R8, disp)
		done := func(r uint8) {
			if d.Kind == ir.Row {
				l.st(0, r)
			}
		}
		l.ld(a64.RCX, first)
		switch what {
		case "exch":
			l.XchgM(wide, m, a64.RCX)
			done(a64.RCX)
			return
		case "cas":
			l.MovR(wide, a64.RAX, a64.RCX)
			l.ld(a64.RCX, first+1)
			l.LockCmpxchg(wide, m, a64.RCX)
			done(a64.RAX)
			return
		case "add":
			if float {
				break
			}
			if wide {
				l.XaddM(m, a64.RCX)
			} else {
				l.XaddM32(m, a64.RCX)
			}
			done(a64.RCX)
			return
		}
		again := l.NewLabel()
		l.LdR(wide, a64.RAX, m)
		l.Bind(again)
		l.MovR(wide, a64.RDX, a64.RAX)
		switch what {
		case "and":
			l.RR(a64.ArithAnd, wide, a64.RDX, a64.RCX)
		case "or":
			l.RR(a64.ArithOr, wide, a64.RDX, a64.RCX)
		case "xor":
			l.RR(a64.ArithXor, wide, a64.RDX, a64.RCX)
		case "min", "max":
			// the old value, unless b is less, or not less
			l.RR(a64.ArithCmp, wide, a64.RCX, a64.RAX)
			cc := less
			if what == "max" {
				cc = greater
			}
			l.CmovR(cc, wide, a64.RDX, a64.RCX)
		case "inc":
			zero, end := l.NewLabel(), l.NewLabel()
			l.RR(a64.ArithCmp, false, a64.RAX, a64.RCX)
			l.J(a64.AE, zero)
			l.RI(a64.ArithAdd, false, a64.RDX, 1)
			l.Jmp(end)
			l.Bind(zero)
			l.MovI32(a64.RDX, 0)
			l.Bind(end)
		case "dec":
			wrap, end := l.NewLabel(), l.NewLabel()
			l.TestR(false, a64.RAX, a64.RAX)
			l.J(a64.E, wrap)
			l.RR(a64.ArithCmp, false, a64.RAX, a64.RCX)
			l.J(a64.A, wrap)
			l.RI(a64.ArithSub, false, a64.RDX, 1)
			l.Jmp(end)
			l.Bind(wrap)
			l.MovR(false, a64.RDX, a64.RCX)
			l.Bind(end)
		default:
			l.atomicSum(wide, x.global())
		}
		l.LockCmpxchg(wide, m, a64.RDX)
		l.J(a64.NE, again)
		done(a64.RAX)
	})
}

// atomicSum is rdx = rax + rcx of f32 or f64, rax the word in memory. The memory units outside shared memory flush f32's subnormals and hand on f64's NaNs as they are.
func (l *laneLoop) atomicSum(wide, outside bool) {
	end := l.NewLabel()
	if wide {
		l.V(a64.BroadcastQR, a64.X, 1, 0, a64.RAX)
		l.V(a64.BroadcastQR, a64.X, 2, 0, a64.RCX)
		order := []uint8{a64.RAX, a64.RCX}
		if outside {
			order = []uint8{a64.RCX, a64.RAX}
		}
		for _, r := range order {
			number := l.NewLabel()
			v := uint8(1)
			if r == a64.RCX {
				v = 2
			}
			l.VI(a64.CmpPD, a64.X, 7, v, v, 3)
			l.KOrTestB(7, 7)
			l.J(a64.E, number)
			if outside {
				l.MovR(true, a64.RDX, r)
			} else {
				l.MovI(a64.RDX, 1<<51)
				l.RR(a64.ArithOr, true, a64.RDX, r)
			}
			l.Jmp(end)
			l.Bind(number)
		}
		l.V(a64.AddPD, a64.X, 1, 1, 2)
		l.V(a64.MovQ, a64.X, 1, 0, a64.RDX)
		l.VI(a64.CmpPD, a64.X, 7, 1, 1, 3)
		l.KOrTestB(7, 7)
		l.J(a64.E, end)
		l.MovI(a64.RDX, 0xfff8000000000000)
		l.Bind(end)
		return
	}
	flush := func(r uint8) {
		if !outside {
			return
		}
		normal := l.NewLabel()
		l.TestI32(r, 0x7f800000)
		l.J(a64.NE, normal)
		l.AndI32(r, -1<<31)
		l.Bind(normal)
	}
	flush(a64.RDX)
	flush(a64.RCX)
	l.V(a64.BroadcastDR, a64.X, 1, 0, a64.RDX)
	l.V(a64.BroadcastDR, a64.X, 2, 0, a64.RCX)
	l.V(a64.AddPS, a64.X, 1, 1, 2)
	l.V(a64.MovD, a64.X, 1, 0, a64.RDX)
	flush(a64.RDX)
	l.VI(a64.CmpPS, a64.X, 7, 1, 1, 3)
	l.KOrTestB(7, 7)
	l.J(a64.E, end)
	l.MovI32(a64.RDX, 0x7fffffff)
	l.Bind(end)
}

// launchWords are special registers that a launch fixes, by their place in exec.Launch.
var launchWords = map[string]struct {
	off  uintptr
	wide bool
}{
	"%gridid":            {unsafe.Offsetof(exec.Launch{}.GridID), true},
	"%dynamic_smem_size": {unsafe.Offsetof(exec.Launch{}.Shared), false},
	"%nwarpid":           {unsafe.Offsetof(exec.Launch{}.Device) + unsafe.Offsetof(exec.DeviceInfo{}.WarpsPerSM), false},
	"%nsmid":             {unsafe.Offsetof(exec.Launch{}.Device) + unsafe.Offsetof(exec.DeviceInfo{}.SMs), false},
}

// specialWord reads special registers that are fixed by the launch, the warp or the lane.
func specialWord(op *ir.Op) emitter {
	d := &op.Args[0]
	if d.Kind != ir.Row || d.Class != ir.W32 && d.Class != ir.W64 || d.Width != 0 && d.Width < 32 {
		return nil
	}
	whole := d.Class == ir.W64
	same := func(load func(g *gen, to uint8)) emitter {
		return func(g *gen) {
			load(g, a64.RAX)
			x := a64.BroadcastDR
			if whole {
				x = a64.BroadcastQR
			}
			for p := range pieces(d.Class) {
				g.pin()
				z, o := g.dst(d, p)
				g.V(x, o, z, 0, a64.RAX)
			}
		}
	}
	launch := func(off uintptr, wide bool) emitter {
		return same(func(g *gen, to uint8) {
			g.Ld(to, inContext(offLaunch))
			g.LdR(wide, to, a64.At(to, int32(off)))
		})
	}
	if w, ok := launchWords[op.Name]; ok {
		return launch(w.off, w.wide)
	}
	var n int
	if _, err := fmt.Sscanf(op.Name, "%%envreg%d", &n); err == nil && n >= 0 && n < 32 {
		return launch(unsafe.Offsetof(exec.Launch{}.Env)+uintptr(4*n), false)
	}
	if load := clusterRegister(op.Name); load != nil {
		return same(load)
	}
	switch op.Name {
	case "%warpid":
		return same(func(g *gen, to uint8) {
			if g.v != nil {
				g.Ld32(to, g.inFrame(g.lay.warp))
			} else {
				g.Ld32(to, inContext(offWarp))
			}
		})
	case "%pm0", "%pm1", "%pm2", "%pm3", "%pm4", "%pm5", "%pm6", "%pm7":
		return same(func(g *gen, to uint8) { g.MovI32(to, 0) })
	case "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt":
		if whole {
			return nil
		}
		var words [2][16]uint32
		for l := range 32 {
			bit := uint32(1) << l
			words[l/16][l%16] = map[string]uint32{"eq": bit, "le": bit | (bit - 1), "lt": bit - 1, "ge": -bit, "gt": -bit &^ bit}[op.Name[len(op.Name)-2:]]
		}
		return func(g *gen) {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.VL(a64.MovU32, o, z, 0, g.vector(words[p]))
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
		g.Ld32(a64.RAX, inContext(offLocalOff))
		g.AddI(a64.RAX, int32(op.Disp))
		x := a64.BroadcastDR
		if d.Class == ir.W64 {
			x = a64.BroadcastQR
		}
		for p := range pieces(d.Class) {
			g.pin()
			z, o := g.dst(d, p)
			g.V(x, o, z, 0, a64.RAX)
		}
	}
}
