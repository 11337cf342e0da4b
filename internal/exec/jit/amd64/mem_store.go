package amd64

import (
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

func storeTemplate(op *ir.Op) emitter {
	a, v := &op.Args[0], &op.Args[1]
	ac, ok := plan.AccessOf(op, a, v)
	if !ok || ac.Space == ir.KernelParam {
		return nil
	}
	for _, r := range ac.Regs {
		if r.Kind == ir.None {
			return nil
		}
	}
	if ac.Base.Kind == ir.Imm {
		return nil // every lane writes the same place
	}
	ac.Phase = exec.StorePhase(ac.Total, op.Mods().Mmio)
	if len(ac.Regs) == 1 {
		return func(g *gen) { g.store1(&ac) }
	}
	if ac.ElemSize < 4 {
		return nil
	}
	return func(g *gen) { g.storeVector(&ac) }
}

// store1 stores one element a lane.
func (g *gen) store1(ac *plan.Access) {
	if g.affineStore(ac) {
		return
	}
	v := ac.Regs[0]
	for h := range 2 {
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	value := make([]asm.Vec, plan.Pieces(v.Class))
	for p := range value {
		value[p] = g.reg(v, p)
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.noteLanes(ac, h)
	}
	for _, h := range ac.Parts(16) {
		done := g.NewLabel()
		g.k6 = 0
		g.skipEmpty(h, done)
		g.differences(ac, h)
		scattered := g.outOfLine(func() {
			g.vectorCheck(ac, h, slow)
			if !ac.Global() {
				g.Ld(asm.RSI, inContext(abi.OffShared))
			}
			if ac.ElemSize < 4 {
				g.scatterNarrow(ac, h, value[h])
			} else {
				g.scatter(ac, h, value, ac.Disp)
			}
			g.Jmp(done)
		})
		g.unlessContiguous(ac, h, scattered)
		g.runCheck(ac, h, slow)
		if ac.Global() {
			g.Mov(asm.RSI, asm.RAX)
		} else {
			g.Ld(asm.RSI, inContext(abi.OffShared))
			g.Add(asm.RSI, asm.RAX)
		}
		m := asm.At(asm.RSI, ac.Disp)
		switch ac.ElemSize {
		case 8:
			g.VM(asm.MovU64St, asm.Z.Mask(g.mask(ir.W64, 2*h)), value[2*h], 0, m)
			m.Disp += 64
			g.VM(asm.MovU64St, asm.Z.Mask(g.mask(ir.W64, 2*h+1)), value[2*h+1], 0, m)
		case 4:
			g.VM(asm.MovU32St, asm.Z.Mask(g.mask(ir.W32, h)), value[h], 0, m)
		case 2:
			g.VM(asm.MovDW, asm.Z.Mask(g.mask(ir.W32, h)), value[h], 0, m)
		case 1:
			g.VM(asm.MovDB, asm.Z.Mask(g.mask(ir.W32, h)), value[h], 0, m)
		}
		g.rejoin(done, 1<<poolStart-1)
		g.k6 = 0
	}
}

// scatter stores the elements of half h at disp, from the registers of the value's pieces, in the order of
// exec.StorePhase. Registers 0 to 4 are used.
func (g *gen) scatter(ac *plan.Access, h int, value []asm.Vec, disp int32) {
	base := asm.None
	if !ac.Global() {
		base = asm.RSI
	}
	if ac.ElemSize == 4 && !ac.Wide() {
		g.scatterPart(ac, asm.ScatterDD, g.mask(ir.W32, h), value[h], base, g.cached(ac.Base, h), disp)
		return
	}
	for _, q := range ac.Parts(8) {
		p := 2*h + q
		var v, index asm.Vec
		x := asm.ScatterQQ
		if ac.ElemSize == 8 {
			v = value[p]
		} else {
			x = asm.ScatterQD
			v = g.upper(value[h], q)
		}
		if ac.Wide() {
			index = g.cached(ac.Base, p)
		} else {
			x = asm.ScatterDQ
			index = g.upper(g.cached(ac.Base, h), q)
		}
		g.scatterPart(ac, x, g.mask(ir.W64, p), v, base, index, disp)
	}
}

// upper is a register with half q of another in its lower half: register 0 for the upper one.
func (g *gen) upper(z asm.Vec, q int) asm.Vec {
	if q == 0 {
		return z
	}
	g.VI(asm.ExtractQ4, asm.Z, z, 0, 0, 1)
	return 0
}

// scatterPart is a scatter of 8 or 16 lanes. The instruction stores the lowest lane first, so the lanes of each phase
// are put into the opposite order.
func (g *gen) scatterPart(ac *plan.Access, x asm.Op, k asm.Mask, v asm.Vec, base asm.GPR, index asm.Vec, disp int32) {
	if ac.Phase == 1 {
		g.gatherMask(k)
		g.VX(x, asm.Z.Mask(asm.K7), v, base, index, 1, disp)
		return
	}
	lanes := 8
	if x == asm.ScatterDD {
		lanes = 16
	}
	swap := min(ac.Phase, lanes) - 1
	turn := func(to, from asm.Vec, wide bool) {
		var words [16]uint32
		for i := range words {
			if words[i] = uint32(i ^ swap); wide {
				words[i] = uint32(i ^ 2*swap)
			}
		}
		g.VL(asm.MovU32, asm.Z, 1, 0, g.vector(words))
		g.V(asm.PermD, asm.Z, to, 1, from)
	}
	wideIndex := x == asm.ScatterQQ || x == asm.ScatterQD
	wideValue := x == asm.ScatterQQ || x == asm.ScatterDQ
	turn(2, index, wideIndex)
	turn(3, v, wideValue)
	if k == 0 {
		g.gatherMask(asm.K0)
	} else {
		g.VI(asm.TernD, asm.Z.Mask(k).Zeroing(), 4, 4, 4, 0xff)
		turn(4, 4, false)
		g.VTest(asm.TestMD, asm.Z, asm.K7, 4, 4)
	}
	g.VX(x, asm.Z.Mask(asm.K7), 3, base, 2, 1, disp)
}

// scatterNarrow stores 1- and 2-byte elements of half h lane by lane.
func (g *gen) scatterNarrow(ac *plan.Access, h int, value asm.Vec) {
	g.VM(asm.MovU32St, asm.Z, value, 0, inContext(abi.OffScratch))
	if !ac.Global() {
		for i, p := range ac.AddressPieces(h) {
			g.VM(asm.MovU32St, asm.Z, g.cached(ac.Base, p), 0, inContext(abi.OffAddrs+int32(64*i)))
		}
	}
	g.laneMask(asm.RDI)
	if h == 0 {
		g.AndI32(asm.RDI, 0xffff)
	} else {
		g.ShrI32(asm.RDI, 16)
	}
	loop := g.NewLabel()
	end := g.NewLabel()
	g.J(asm.E, end)
	g.Bind(loop)
	g.takeLane(asm.RCX, ac.Phase != 1)
	g.Ld32(asm.R8, asm.Indexed(asm.R15, asm.RCX, 4, abi.OffScratch))
	off := abi.OffAddrs
	if ac.Global() {
		off += int32(128 * h)
	}
	if ac.Wide() {
		g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, off))
	} else {
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, off))
	}
	if !ac.Global() {
		g.Add(asm.RAX, asm.RSI)
	}
	m := asm.At(asm.RAX, ac.Disp)
	if ac.ElemSize == 1 {
		g.St8(m, asm.R8)
	} else {
		g.St16(m, asm.R8)
	}
	g.Test32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
	g.Ld(asm.RDX, inContext(abi.OffTables))
}

// takeLane takes the highest or the lowest lane from those in rdi.
func (g *gen) takeLane(to asm.GPR, highest bool) {
	if highest {
		g.Bsr32(to, asm.RDI)
	} else {
		g.Bsf32(to, asm.RDI)
	}
	g.Btr32(asm.RDI, to)
}

// storeVector stores several elements a lane by scatters, element after element: aligned accesses overlap wholly or not
// at all, so that of all elements the same lane's stay.
func (g *gen) storeVector(ac *plan.Access) {
	if g.affineStore(ac) {
		return
	}
	for h := range 2 {
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.Global() {
		g.Ld(asm.RSI, inContext(abi.OffShared))
	}
	for i, r := range ac.Regs {
		g.pin()
		for h := range 2 {
			for _, p := range ac.AddressPieces(h) {
				g.reg(ac.Base, p)
			}
		}
		value := make([]asm.Vec, plan.Pieces(r.Class))
		for p := range value {
			value[p] = g.reg(r, p)
		}
		for _, h := range ac.Parts(16) {
			g.scatter(ac, h, value, ac.Disp+int32(i*ac.ElemSize))
		}
	}
}

// atomTemplate is atom and red that add 32- and 64-bit integers, lane by lane.
func atomTemplate(op *ir.Op) emitter {
	i := 0
	var d *ir.Arg
	if op.Opcode() == optab.OpAtom {
		d, i = &op.Args[0], 1
	}
	a, b := &op.Args[i], &op.Args[i+1]
	typ := op.Type(0)
	if op.Mods().Func != optab.FuncAdd {
		return nil
	}
	switch typ {
	case optab.U32, optab.S32, optab.U64, optab.S64:
	default:
		return nil
	}
	ac, ok := plan.AccessOf(op, a, b)
	if !ok || len(ac.Regs) != 1 || ac.Base.Kind != ir.Row || ac.Space != ir.Global && ac.Space != ir.Shared {
		return nil
	}
	if d != nil && d.Kind == ir.Row && d.Class != b.Class {
		return nil
	}
	if d != nil && d.Kind == ir.None {
		d = nil
	}
	lane := laneAtom(op)
	return func(g *gen) {
		if g.redAdd(&ac, b) {
			return
		}
		if _, scalar := g.scalarWeb(b); scalar && lane != nil {
			lane(g) // it does not stand in its row
			return
		}
		g.atomAdd(&ac, d, b)
	}
}

func (g *gen) atomAdd(ac *plan.Access, d, b *ir.Arg) {
	for h := range 2 {
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	if b.Kind == ir.Row {
		g.flushRow(b.Ref.Off)
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
	}
	for h := range 2 {
		for i, p := range ac.AddressPieces(h) {
			off := int32(128*h + 64*i)
			if !ac.Wide() {
				off = int32(64 * h)
			}
			g.VM(asm.MovU64St, asm.Z, g.cached(ac.Base, p), 0, inContext(abi.OffAddrs+off))
		}
	}
	if ac.Global() {
		g.accessing(abi.AccessLanes)
	} else {
		g.Ld(asm.RSI, inContext(abi.OffShared))
	}
	if d != nil {
		g.flushRow(d.Ref.Off) // lanes that take no part keep their value
		g.forget(d.Ref.Off)
	}
	size := uint8(ac.ElemSize)
	g.laneMask(asm.RDI)
	loop, end := g.NewLabel(), g.NewLabel()
	g.Test32(asm.RDI, asm.RDI)
	g.J(asm.E, end)
	wide := ac.ElemSize == 8
	if b.Kind == ir.Imm {
		if wide {
			g.Ld(asm.RDX, rowMem(b.Ref))
		} else {
			g.Ld32(asm.RDX, rowMem(b.Ref))
		}
	}
	g.Bind(loop)
	g.Bsf32(asm.RCX, asm.RDI)
	if ac.Wide() {
		g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, abi.OffAddrs))
	} else {
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, abi.OffAddrs))
	}
	if !ac.Global() {
		g.Add(asm.RAX, asm.RSI)
	}
	value := asm.RDX
	if b.Kind == ir.Row {
		value = asm.R8
		m := asm.Indexed(asm.RBX, asm.RCX, size, int32(b.Ref.Off))
		if wide {
			g.Ld(value, m)
		} else {
			g.Ld32(value, m)
		}
	} else if d != nil {
		value = asm.R8
		g.Mov(value, asm.RDX)
	}
	m := asm.At(asm.RAX, ac.Disp)
	switch {
	case d == nil && ac.Global() && wide:
		g.LockAddM(m, value)
	case d == nil && ac.Global():
		g.LockAddM32(m, value)
	case d == nil && wide:
		g.AddM(m, value)
	case d == nil:
		g.AddM32(m, value)
	case wide:
		g.XaddM(m, value)
	default:
		g.XaddM32(m, value)
	}
	if d != nil {
		to := asm.Indexed(asm.RBX, asm.RCX, size, int32(d.Ref.Off))
		if wide {
			g.St(to, value)
		} else {
			g.St32(to, value)
		}
	}
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
}
