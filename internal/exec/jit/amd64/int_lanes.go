package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// sources are the operands behind the destination.
func sources(op *ir.Op) (in []*ir.Arg) {
	for i := 1; i < len(op.Args); i++ {
		in = append(in, &op.Args[i])
	}
	return in
}

// alike says whether operands have the class of a width.
func alike(n int, as ...*ir.Arg) bool {
	c := ir.W32
	if n == 64 {
		c = ir.W64
	}
	for _, a := range as {
		if a.Class != c {
			return false
		}
	}
	return n != 0
}

// divideTemplate is div and rem: by zero gives all ones, the smallest by -1 itself and no remainder.
func divideTemplate(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 || !alike(n, d, in[0], in[1]) {
		return nil
	}
	rem := op.Opcode() == optab.OpRem
	wide := n == 64
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		zero, one, end := l.NewLabel(), l.NewLabel(), l.NewLabel()
		if n == 16 && signed {
			l.MovSX16(asm.RAX, asm.RAX)
			l.MovSX16(asm.RCX, asm.RCX)
		}
		l.TestR(wide, asm.RCX, asm.RCX)
		l.J(asm.E, zero)
		if signed {
			l.RI(asm.ArithCmp, wide, asm.RCX, -1)
			l.J(asm.E, one)
			l.SignRAX(wide)
			l.IdivR(wide, asm.RCX)
		} else {
			l.MovI32(asm.RDX, 0)
			l.DivR(wide, asm.RCX)
		}
		if rem {
			l.MovR(wide, asm.RAX, asm.RDX)
		}
		l.Jmp(end)
		l.Bind(one)
		if rem {
			l.MovI32(asm.RAX, 0)
		} else {
			l.NegR(wide, asm.RAX)
		}
		l.Jmp(end)
		l.Bind(zero)
		l.MovI(asm.RAX, ^uint64(0))
		l.Bind(end)
		if n == 16 {
			l.MovZX16(asm.RAX, asm.RAX)
		}
		l.st(0, asm.RAX)
	})
}

// countTemplate is popc, clz and bfind.
func countTemplate(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 1 || n < 32 || !alike(n, in[0]) || !alike(32, d) {
		return nil
	}
	wide := n == 64
	form, amount := op.Opcode(), op.Mods().ShiftAmount
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		if form == optab.OpPopc {
			l.Popcnt64(asm.RAX, asm.RAX)
			l.st(0, asm.RAX)
			return
		}
		if signed {
			l.MovR(wide, asm.RCX, asm.RAX)
			l.ShiftI(asm.ScalarSar, wide, asm.RCX, uint8(n-1))
			l.RR(asm.ArithXor, wide, asm.RAX, asm.RCX)
		}
		// n-1-bsr, or bsr; without a bit n, or all ones
		none := int32(-1)
		if form == optab.OpClz {
			none = int32(n)
		}
		l.MovI32(asm.RDX, uint32(none))
		l.BsrR(wide, asm.RCX, asm.RAX)
		end := l.NewLabel()
		l.J(asm.E, end)
		l.Mov32(asm.RDX, asm.RCX)
		if form == optab.OpClz || amount {
			l.RI(asm.ArithXor, false, asm.RDX, int32(n-1))
		}
		l.Bind(end)
		l.st(0, asm.RDX)
	})
}

func brevTemplate(op *ir.Op) emitter {
	n, _ := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 1 || n < 32 || !alike(n, d, in[0]) {
		return nil
	}
	wide := n == 64
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.BswapR(wide, asm.RAX)
		for _, s := range []struct {
			n uint8
			m uint64
		}{{4, 0x0f0f0f0f0f0f0f0f}, {2, 0x3333333333333333}, {1, 0x5555555555555555}} {
			l.MovI(asm.RDX, s.m)
			l.MovR(true, asm.RCX, asm.RAX)
			l.ShiftI(asm.ScalarShr, wide, asm.RCX, s.n)
			l.RR(asm.ArithAnd, wide, asm.RCX, asm.RDX)
			l.RR(asm.ArithAnd, wide, asm.RAX, asm.RDX)
			l.ShiftI(asm.ScalarShl, wide, asm.RAX, s.n)
			l.RR(asm.ArithOr, wide, asm.RAX, asm.RCX)
		}
		l.st(0, asm.RAX)
	})
}

// lowBits puts the mask of the low n bits into to, n in RCX: all ones from 64 on. RCX is changed.
func (l *laneLoop) lowBits(to asm.GPR) {
	end := l.NewLabel()
	l.MovI(to, ^uint64(0))
	l.RI(asm.ArithCmp, false, asm.RCX, 64)
	l.J(asm.AE, end)
	l.MovI32(to, 1)
	l.ShiftCL(asm.ScalarShl, true, to)
	l.RI(asm.ArithSub, true, to, 1)
	l.Bind(end)
}

// shiftBy64 shifts by RCX, which may be any number.
func (l *laneLoop) shift64(kind asm.ScalarShift, r asm.GPR) {
	l.RI(asm.ArithCmp, false, asm.RCX, 64)
	end := l.NewLabel()
	small := l.NewLabel()
	l.J(asm.B, small)
	if kind == asm.ScalarSar {
		l.ShiftI(kind, true, r, 63)
	} else {
		l.MovI32(r, 0)
	}
	l.Jmp(end)
	l.Bind(small)
	l.ShiftCL(kind, true, r)
	l.Bind(end)
}

// signField extends the sign of the lowest rcx bits of rax: none of them are 0, 64 and more are all. rcx is lost.
func (l *laneLoop) signField() {
	end, empty := l.NewLabel(), l.NewLabel()
	l.TestR(false, asm.RCX, asm.RCX)
	l.J(asm.E, empty)
	l.RI(asm.ArithCmp, false, asm.RCX, 64)
	l.J(asm.AE, end)
	l.NegR(false, asm.RCX)
	l.RI(asm.ArithAdd, false, asm.RCX, 64)
	l.ShiftCL(asm.ScalarShl, true, asm.RAX)
	l.ShiftCL(asm.ScalarSar, true, asm.RAX)
	l.Jmp(end)
	l.Bind(empty)
	l.MovI32(asm.RAX, 0)
	l.Bind(end)
}

// fieldTemplate is bfe. Position and length of 32-bit fields are the low 8 bits of their operands.
func fieldTemplate(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || n < 32 || !alike(n, d, in[0]) || !alike(32, in[1], in[2]) {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		number := func(i int) {
			l.ld(asm.RCX, i)
			if n == 32 {
				l.AndI32(asm.RCX, 0xff)
			}
		}
		l.ld(asm.RAX, 0)
		kind := asm.ScalarShift(asm.ScalarShr)
		if signed {
			kind = asm.ScalarSar
			if n == 32 {
				l.MovSXD(asm.RAX, asm.RAX)
			}
		}
		number(1)
		l.shift64(kind, asm.RAX)
		number(2)
		if !signed {
			l.lowBits(asm.RDX)
			l.RR(asm.ArithAnd, true, asm.RAX, asm.RDX)
			l.st(0, asm.RAX)
			return
		}
		l.signField()
		l.st(0, asm.RAX)
	})
}

// insertTemplate is bfi.
func insertTemplate(op *ir.Op) emitter {
	n, _ := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 4 || n < 32 || !alike(n, d, in[0], in[1]) || !alike(32, in[2], in[3]) {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		number := func(i int) {
			l.ld(asm.RCX, i)
			if n == 32 {
				l.AndI32(asm.RCX, 0xff)
			}
		}
		number(3)
		l.lowBits(asm.RDX)
		l.ld(asm.RAX, 0)
		l.RR(asm.ArithAnd, true, asm.RAX, asm.RDX)
		number(2)
		l.shift64(asm.ScalarShl, asm.RAX)
		l.shift64(asm.ScalarShl, asm.RDX)
		l.NotR(true, asm.RDX)
		l.ld(asm.RCX, 1)
		l.RR(asm.ArithAnd, true, asm.RCX, asm.RDX)
		l.RR(asm.ArithOr, true, asm.RAX, asm.RCX)
		l.st(0, asm.RAX)
	})
}

// clamp32 limits a register to 32, or takes it modulo 32.
func (l *laneLoop) clamp32(r, t asm.GPR, clamp bool) {
	if !clamp {
		l.AndI32(r, 31)
		return
	}
	l.MovI32(t, 32)
	l.RR(asm.ArithCmp, false, r, t)
	l.CmovR(asm.A, false, r, t)
}

func bmskTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 || !alike(32, d, in[0], in[1]) {
		return nil
	}
	clamp := op.Mods().Bound == optab.BoundClamp
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RCX, 1)
		l.clamp32(asm.RCX, asm.RDX, clamp)
		l.lowBits(asm.RAX)
		l.ld(asm.RCX, 0)
		l.clamp32(asm.RCX, asm.RDX, clamp)
		l.ShiftCL(asm.ScalarShl, true, asm.RAX)
		l.st(0, asm.RAX)
	})
}

func szextTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 || !alike(32, d, in[0], in[1]) {
		return nil
	}
	clamp, signed := op.Mods().Bound == optab.BoundClamp, op.Type(0) == optab.S32
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		l.clamp32(asm.RCX, asm.RDX, clamp)
		if !signed {
			l.lowBits(asm.RDX)
			l.RR(asm.ArithAnd, true, asm.RAX, asm.RDX)
			l.st(0, asm.RAX)
			return
		}
		l.signField()
		l.st(0, asm.RAX)
	})
}

func sadTemplate(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(n, d, in[0], in[1], in[2]) {
		return nil
	}
	wide := n == 64
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		c := asm.B
		if signed {
			c = asm.L
			if n == 16 {
				l.MovSX16(asm.RAX, asm.RAX)
				l.MovSX16(asm.RCX, asm.RCX)
			}
		}
		l.MovR(wide, asm.RDX, asm.RAX)
		l.RR(asm.ArithSub, wide, asm.RDX, asm.RCX)
		l.RR(asm.ArithCmp, wide, asm.RAX, asm.RCX)
		end := l.NewLabel()
		l.J(c^1, end)
		l.NegR(wide, asm.RDX)
		l.Bind(end)
		l.ld(asm.RAX, 2)
		l.RR(asm.ArithAdd, wide, asm.RDX, asm.RAX)
		if n == 16 {
			l.MovZX16(asm.RDX, asm.RDX)
		}
		l.st(0, asm.RDX)
	})
}

// mulHigh64 is mul.hi and mad.hi of 64 bits, and mad.hi.sat.
func mulHigh64(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	sat := op.Mods().Sat
	if op.Mods().Part != optab.PartHi || n < 32 || !alike(n, d) || !alike(n, in...) || sat && n != 32 {
		return nil
	}
	wide := n == 64
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		if signed {
			l.ImulWideR(wide, asm.RCX)
		} else {
			l.MulR(wide, asm.RCX)
		}
		if len(in) == 3 {
			l.ld(asm.RAX, 2)
			if sat {
				l.saturatingAdd(asm.RDX, asm.RAX)
			} else {
				l.RR(asm.ArithAdd, wide, asm.RDX, asm.RAX)
			}
		}
		l.st(0, asm.RDX)
	})
}

// saturatingAdd is d = d + s, clamped to s32. RCX is used.
func (l *laneLoop) saturatingAdd(d, s asm.GPR) {
	end := l.NewLabel()
	l.MovR(false, asm.RCX, d)
	l.ShiftI(asm.ScalarSar, false, asm.RCX, 31)
	l.RI(asm.ArithXor, false, asm.RCX, 0x7fffffff) // the limit on d's side
	l.RR(asm.ArithAdd, false, d, s)
	l.J(asm.NO, end)
	l.MovR(false, d, asm.RCX)
	l.Bind(end)
}

func mul24Template(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if !alike(32, d) || !alike(32, in...) {
		return nil
	}
	signed, hi, sat := op.Type(0) == optab.S32, op.Mods().Part == optab.PartHi, op.Mods().Sat
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		for i, r := range []asm.GPR{asm.RAX, asm.RCX} {
			l.ld(r, i)
			l.ShiftI(asm.ScalarShl, false, r, 8)
			if signed {
				l.ShiftI(asm.ScalarSar, false, r, 8)
				l.MovSXD(r, r)
			} else {
				l.ShiftI(asm.ScalarShr, false, r, 8)
			}
		}
		l.ImulR(true, asm.RAX, asm.RCX)
		if hi {
			l.ShiftI(asm.ScalarSar, true, asm.RAX, 16)
		}
		if len(in) == 3 {
			l.ld(asm.RDX, 2)
			if sat {
				l.saturatingAdd(asm.RAX, asm.RDX)
			} else {
				l.RR(asm.ArithAdd, false, asm.RAX, asm.RDX)
			}
		}
		l.st(0, asm.RAX)
	})
}

func dotTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) || op.Mods().NumTypes < 2 {
		return nil
	}
	sa, sb := op.Type(0) == optab.S32, op.Type(1) == optab.S32
	n, wa, shift := 4, uint8(8), uint8(0)
	if op.Opcode() == optab.OpDp2a {
		n, wa = 2, 16
		if op.Mods().Part == optab.PartHi {
			shift = 16
		}
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.R8, 2)
		field := func(r asm.GPR, i int, at, width uint8, signed bool) {
			l.ld(r, i)
			if s := 32 - at - width; s > 0 {
				l.ShiftI(asm.ScalarShl, false, r, s)
			}
			kind := asm.ScalarShift(asm.ScalarShr)
			if signed {
				kind = asm.ScalarSar
			}
			l.ShiftI(kind, false, r, 32-width)
		}
		for i := range n {
			field(asm.RAX, 0, uint8(i)*wa, wa, sa)
			field(asm.RCX, 1, shift+uint8(i)*8, 8, sb)
			l.ImulR(false, asm.RAX, asm.RCX)
			l.RR(asm.ArithAdd, false, asm.R8, asm.RAX)
		}
		l.st(0, asm.R8)
	})
}

// permuteTemplate is prmt with any selector.
func permuteTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) || op.Mods().Permute != optab.NoPermute {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, (*laneLoop).permute)
}

// permute is prmt of the sources.
func (l *laneLoop) permute() {
	l.MovI32(asm.R8, 0)
	for j := 3; j >= 0; j-- {
		l.ld(asm.RAX, 1)
		l.ShiftI(asm.ScalarShl, true, asm.RAX, 32)
		l.ld(asm.RDX, 0)
		l.RR(asm.ArithOr, true, asm.RAX, asm.RDX)
		l.ld(asm.RDX, 2)
		if j > 0 {
			l.ShiftI(asm.ScalarShr, false, asm.RDX, uint8(4*j))
		}
		l.MovR(false, asm.RCX, asm.RDX)
		l.AndI32(asm.RCX, 7)
		l.ShiftI(asm.ScalarShl, false, asm.RCX, 3)
		l.ShiftCL(asm.ScalarShr, true, asm.RAX)
		l.MovSX8(asm.RAX, asm.RAX)
		plain := l.NewLabel()
		l.TestI32(asm.RDX, 8)
		l.J(asm.E, plain)
		l.ShiftI(asm.ScalarSar, false, asm.RAX, 8) // the sign everywhere
		l.Bind(plain)
		l.MovZX8(asm.RAX, asm.RAX)
		l.ShiftI(asm.ScalarShl, false, asm.R8, 8)
		l.RR(asm.ArithOr, false, asm.R8, asm.RAX)
	}
	l.st(0, asm.R8)
}

func cnotTemplate(op *ir.Op) emitter {
	n, _ := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	if len(in) != 1 || !alike(n, d, in[0]) {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RCX, 0)
		l.TestR(n == 64, asm.RCX, asm.RCX)
		l.cond(asm.E, asm.RAX)
		l.st(0, asm.RAX)
	})
}

// fnsTemplate finds the nth set bit from a base.
func fnsTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		// RAX mask, RCX position, RDX how many, R8 step
		none, zero, end, loop, next, up := l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(),
			l.NewLabel()
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		l.ld(asm.RDX, 2)
		l.MovI32(asm.R8, 1)
		l.TestR(false, asm.RDX, asm.RDX)
		l.J(asm.NS, up)
		l.NegR(false, asm.RDX)
		l.J(asm.S, zero) // -2^31 has no magnitude
		l.MovI32(asm.R8, 0xffffffff)
		l.Bind(up)
		l.TestR(false, asm.RDX, asm.RDX)
		l.J(asm.NE, loop)
		l.RI(asm.ArithCmp, false, asm.RCX, 32)
		l.J(asm.AE, none)
		l.Bt32(asm.RAX, asm.RCX)
		l.J(asm.AE, none)
		l.Jmp(end)
		l.Bind(loop)
		l.RI(asm.ArithCmp, false, asm.RCX, 32)
		l.J(asm.AE, none)
		l.Bt32(asm.RAX, asm.RCX)
		l.J(asm.AE, next)
		l.RI(asm.ArithSub, false, asm.RDX, 1)
		l.J(asm.E, end)
		l.Bind(next)
		l.RR(asm.ArithAdd, false, asm.RCX, asm.R8)
		l.Jmp(loop)
		l.Bind(zero)
		l.MovI32(asm.RCX, 0)
		l.Jmp(end)
		l.Bind(none)
		l.MovI32(asm.RCX, 0xffffffff)
		l.Bind(end)
		l.st(0, asm.RCX)
	})
}

// ccMem is where the carry flags are.
func (g *gen) ccMem() asm.Mem {
	if g.v != nil {
		return g.inFrame(g.lay.CC)
	}
	return inContext(abi.OffCC)
}

// carryTemplate is the extended precision arithmetic: the flag is set by a carry, or when a subtraction does not
// borrow.
func carryTemplate(op *ir.Op) emitter {
	n, signed := op.Type(0).IntegerBits()
	d, in := &op.Args[0], sources(op)
	mad := len(in) == 3
	if n < 32 || !alike(n, d) || !alike(n, in...) || !laneable(in, []*ir.Arg{d}) || d.Kind != ir.Row {
		return nil
	}
	code := op.Opcode()
	reads, writes := code == optab.OpAddc || code == optab.OpSubc || code == optab.OpMadc, op.Mods().Cc
	subtract, hi := code == optab.OpSubcc || code == optab.OpSubc, op.Mods().Part == optab.PartHi
	wide := n == 64
	return func(g *gen) {
		for i, a := range in {
			g.stage(i, a)
		}
		out := []*ir.Arg{d}
		l := &laneLoop{g, in, out}
		g.StI32(inContext(laneOut(1)), 0) // flags that come out
		g.eachLane(false, func() {
			l.ld(asm.RAX, 0)
			l.ld(asm.RCX, 1)
			if mad {
				switch {
				case !hi:
					l.ImulR(wide, asm.RAX, asm.RCX)
				case signed:
					l.ImulWideR(wide, asm.RCX)
				default:
					l.MulR(wide, asm.RCX)
				}
				if hi {
					l.MovR(wide, asm.RAX, asm.RDX)
				}
				l.ld(asm.RCX, 2)
			}
			if subtract {
				l.NotR(wide, asm.RCX)
			}
			switch {
			case reads:
				l.Ld32(asm.RDX, g.ccMem())
				l.Bt32(asm.RDX, asm.RSI)
			case subtract:
				l.MovI32(asm.RDX, 1)
				l.ShiftI(asm.ScalarShr, false, asm.RDX, 1) // sets the carry
			default:
				l.TestR(false, asm.RDX, asm.RDX) // clears it
			}
			l.RR(asm.ArithAdc, wide, asm.RAX, asm.RCX)
			skip := l.NewLabel()
			if writes {
				l.J(asm.AE, skip)
				l.BtsM32(inContext(laneOut(1)), asm.RSI)
				l.Bind(skip)
			}
			l.st(0, asm.RAX)
		})
		if writes {
			g.laneMask(asm.RCX)
			g.Ld32(asm.RAX, inContext(laneOut(1)))
			g.Ld32(asm.RDX, g.ccMem())
			g.Xor32(asm.RAX, asm.RDX)
			g.And32(asm.RAX, asm.RCX)
			g.Xor32(asm.RAX, asm.RDX)
			g.St32(g.ccMem(), asm.RAX)
		}
		g.collect(out, false)
	}
}

// simdVideo is vadd2, vabsdiff4 and their kin: operations on two half-words or four bytes, picked from the eight bytes
// of the first two sources.
func simdVideo(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	n, code := 2, op.Opcode()
	switch code {
	case optab.OpVadd4, optab.OpVsub4, optab.OpVavrg4, optab.OpVabsdiff4, optab.OpVmin4, optab.OpVmax4:
		n = 4
	}
	if len(in) != 3 || !alike(32, d) || !alike(32, in...) || op.Mods().NumTypes != 3 {
		return nil
	}
	width := uint8(32 / n)
	signed := func(i int) bool { return op.Type(i) == optab.S32 }
	place := func(comp string, i, base int) uint8 {
		if comp != "" {
			return (comp[len(comp)-1-i] - '0') * width
		}
		return uint8(base+i) * width
	}
	written := func(i int) bool {
		comp := d.Comp
		for j := 1; j < len(comp); j++ {
			if int(comp[j]-'0') == i {
				return true
			}
		}
		return comp == ""
	}
	sat, add := op.Mods().Sat, op.Mods().Func == optab.FuncAdd
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.R8, 2)
		field := func(r asm.GPR, at uint8, signed bool) {
			src := 0
			if at >= 32 {
				src, at = 1, at-32
			}
			l.ld(r, src)
			kind := asm.ScalarShift(asm.ScalarShr)
			if signed {
				kind = asm.ScalarSar
			}
			if s := 32 - width - at; s > 0 {
				l.ShiftI(asm.ScalarShl, false, r, s)
			}
			l.ShiftI(kind, false, r, 32-width)
		}
		for i := range n {
			if !written(i) {
				continue
			}
			field(asm.RAX, place(op.Args[1].Comp, i, 0), signed(1))
			field(asm.RCX, place(op.Args[2].Comp, i, n), signed(2))
			less := asm.L
			switch code {
			case optab.OpVadd2, optab.OpVadd4:
				l.RR(asm.ArithAdd, false, asm.RAX, asm.RCX)
			case optab.OpVsub2, optab.OpVsub4:
				l.RR(asm.ArithSub, false, asm.RAX, asm.RCX)
			case optab.OpVmin2, optab.OpVmin4, optab.OpVmax2, optab.OpVmax4:
				if code == optab.OpVmax2 || code == optab.OpVmax4 {
					less = asm.G
				}
				l.RR(asm.ArithCmp, false, asm.RCX, asm.RAX)
				l.CmovR(less, false, asm.RAX, asm.RCX)
			case optab.OpVavrg2, optab.OpVavrg4: // rounded up where the sum is not negative
				l.RR(asm.ArithAdd, false, asm.RAX, asm.RCX)
				l.MovR(false, asm.RCX, asm.RAX)
				l.NotR(false, asm.RCX)
				l.ShiftI(asm.ScalarShr, false, asm.RCX, 31)
				l.RR(asm.ArithAdd, false, asm.RAX, asm.RCX)
				l.ShiftI(asm.ScalarSar, false, asm.RAX, 1)
			default:
				positive := l.NewLabel()
				l.RR(asm.ArithSub, false, asm.RAX, asm.RCX)
				l.J(asm.NS, positive)
				l.NegR(false, asm.RAX)
				l.Bind(positive)
			}
			if sat {
				lo, hi := int32(0), int32(1)<<width-1
				if signed(0) {
					lo, hi = -1<<(width-1), 1<<(width-1)-1
				}
				l.MovI32(asm.RCX, uint32(lo))
				l.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
				l.CmovR(asm.L, false, asm.RAX, asm.RCX)
				l.MovI32(asm.RCX, uint32(hi))
				l.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
				l.CmovR(asm.G, false, asm.RAX, asm.RCX)
			}
			if add {
				l.RR(asm.ArithAdd, false, asm.R8, asm.RAX)
				continue
			}
			mask := uint32(1<<width-1) << (uint8(i) * width)
			if i > 0 {
				l.ShiftI(asm.ScalarShl, false, asm.RAX, uint8(i)*width)
			}
			l.AndI32(asm.RAX, int32(mask))
			l.AndI32(asm.R8, int32(^mask))
			l.Or32(asm.R8, asm.RAX)
		}
		l.st(0, asm.R8)
	})
}
