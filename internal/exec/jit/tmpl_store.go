package jit

import (
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

func storeTemplate(op *ir.Op) emitter {
	a, v := &op.Args[0], &op.Args[1]
	ac, ok := accessOf(op, a, v)
	if !ok || ac.space == ir.KernelParam {
		return nil
	}
	for _, r := range ac.regs {
		if r.Kind == ir.None {
			return nil
		}
	}
	if ac.base.Kind == ir.Imm {
		return nil // every lane writes the same place
	}
	ac.phase = exec.StorePhase(ac.total, op.Match.Has("mmio"))
	if len(ac.regs) == 1 {
		return func(g *gen) { g.store1(&ac) }
	}
	if ac.es < 4 {
		return nil
	}
	return func(g *gen) { g.storeVector(&ac) }
}

// store1 stores one element a lane.
func (g *gen) store1(ac *access) {
	if g.affineStore(ac) {
		return
	}
	v := ac.regs[0]
	for h := range 2 {
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	value := make([]uint8, pieces(v.Class))
	for p := range value {
		value[p] = g.reg(v, p)
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.noteLanes(ac, h)
	}
	for _, h := range ac.parts(16) {
		done := g.NewLabel()
		g.k6 = 0
		g.skipEmpty(h, done)
		g.differences(ac, h)
		scattered := g.outOfLine(func() {
			g.vectorCheck(ac, h, slow)
			if !ac.global() {
				g.Ld(asm.RSI, inContext(offShared))
			}
			if ac.es < 4 {
				g.scatterNarrow(ac, h, value[h])
			} else {
				g.scatter(ac, h, value, ac.disp)
			}
			g.Jmp(done)
		})
		g.unlessContiguous(ac, h, scattered)
		g.runCheck(ac, h, slow)
		if ac.global() {
			g.Mov(asm.RSI, asm.RAX)
		} else {
			g.Ld(asm.RSI, inContext(offShared))
			g.Add(asm.RSI, asm.RAX)
		}
		m := asm.At(asm.RSI, ac.disp)
		switch ac.es {
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

// parts is the order in which a store writes the two parts of so many lanes each of what it writes: a part of a phase stores before those with lower lanes.
func (ac *access) parts(lanes int) [2]int {
	if ac.phase > lanes {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// scatter stores the elements of half h at disp, from the registers of the value's pieces, in the order of exec.StorePhase. Registers 0 to 4 are used.
func (g *gen) scatter(ac *access, h int, value []uint8, disp int32) {
	base := uint8(asm.None)
	if !ac.global() {
		base = asm.RSI
	}
	if ac.es == 4 && !ac.wide() {
		g.scatterPart(ac, asm.ScatterDD, g.mask(ir.W32, h), value[h], base, g.cached(ac.base, h), disp)
		return
	}
	for _, q := range ac.parts(8) {
		p := 2*h + q
		var v, index uint8
		x := asm.ScatterQQ
		if ac.es == 8 {
			v = value[p]
		} else {
			x = asm.ScatterQD
			v = g.upper(value[h], q)
		}
		if ac.wide() {
			index = g.cached(ac.base, p)
		} else {
			x = asm.ScatterDQ
			index = g.upper(g.cached(ac.base, h), q)
		}
		g.scatterPart(ac, x, g.mask(ir.W64, p), v, base, index, disp)
	}
}

// upper is a register with half q of another in its lower half: register 0 for the upper one.
func (g *gen) upper(z uint8, q int) uint8 {
	if q == 0 {
		return z
	}
	g.VI(asm.ExtractQ4, asm.Z, z, 0, 0, 1)
	return 0
}

// scatterPart is a scatter of 8 or 16 lanes. The instruction stores the lowest lane first, so the lanes of each phase are put into the opposite order.
func (g *gen) scatterPart(ac *access, x asm.Op, k, v, base, index uint8, disp int32) {
	if ac.phase == 1 {
		g.gatherMask(k)
		g.VX(x, asm.Z.Mask(7), v, base, index, 1, disp)
		return
	}
	lanes := 8
	if x == asm.ScatterDD {
		lanes = 16
	}
	swap := min(ac.phase, lanes) - 1
	turn := func(to, from uint8, wide bool) {
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
		g.gatherMask(0)
	} else {
		g.VI(asm.TernD, asm.Z.Mask(k).Zeroing(), 4, 4, 4, 0xff)
		turn(4, 4, false)
		g.V(asm.TestMD, asm.Z, 7, 4, 4)
	}
	g.VX(x, asm.Z.Mask(7), 3, base, 2, 1, disp)
}

// scatterNarrow stores 1- and 2-byte elements of half h lane by lane.
func (g *gen) scatterNarrow(ac *access, h int, value uint8) {
	g.VM(asm.MovU32St, asm.Z, value, 0, inContext(offScratch))
	if !ac.global() {
		for i, p := range ac.addressPieces(h) {
			g.VM(asm.MovU32St, asm.Z, g.cached(ac.base, p), 0, inContext(offAddrs+int32(64*i)))
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
	g.takeLane(asm.RCX, ac.phase != 1)
	g.Ld32(asm.R8, asm.Indexed(asm.R15, asm.RCX, 4, offScratch))
	off := offAddrs
	if ac.global() {
		off += int32(128 * h)
	}
	if ac.wide() {
		g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, off))
	} else {
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, off))
	}
	if !ac.global() {
		g.Add(asm.RAX, asm.RSI)
	}
	m := asm.At(asm.RAX, ac.disp)
	if ac.es == 1 {
		g.St8(m, asm.R8)
	} else {
		g.St16(m, asm.R8)
	}
	g.Test32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
	g.Ld(asm.RDX, inContext(offTables))
}

// takeLane takes the highest or the lowest lane from those in rdi.
func (g *gen) takeLane(to uint8, highest bool) {
	if highest {
		g.Bsr32(to, asm.RDI)
	} else {
		g.Bsf32(to, asm.RDI)
	}
	g.Btr32(asm.RDI, to)
}

// storeVector stores several elements a lane by scatters, element after element: aligned accesses overlap wholly or not at all, so that of all elements the same lane's stay.
func (g *gen) storeVector(ac *access) {
	if g.affineStore(ac) {
		return
	}
	for h := range 2 {
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.global() {
		g.Ld(asm.RSI, inContext(offShared))
	}
	for i, r := range ac.regs {
		g.pin()
		for h := range 2 {
			for _, p := range ac.addressPieces(h) {
				g.reg(ac.base, p)
			}
		}
		value := make([]uint8, pieces(r.Class))
		for p := range value {
			value[p] = g.reg(r, p)
		}
		for _, h := range ac.parts(16) {
			g.scatter(ac, h, value, ac.disp+int32(i*ac.es))
		}
	}
}

// atomTemplate is atom and red that add 32- and 64-bit integers, lane by lane.
func atomTemplate(op *ir.Op) emitter {
	i := 0
	var d *ir.Arg
	if op.Opcode() == optab.OpAtom && op.Match.Form.Name == "atom" {
		d, i = &op.Args[0], 1
	}
	a, b := &op.Args[i], &op.Args[i+1]
	typ := op.Match.Type(0)
	if op.Match.Form.Name != "atom" && op.Match.Form.Name != "red" || op.Match.One("and", "or", "xor", "exch", "cas", "inc", "dec", "add", "min", "max") != "add" {
		return nil
	}
	switch typ {
	case "u32", "s32", "u64", "s64":
	default:
		return nil
	}
	ac, ok := accessOf(op, a, b)
	if !ok || len(ac.regs) != 1 || ac.base.Kind != ir.Row || ac.space != ir.Global && ac.space != ir.Shared {
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

func (g *gen) atomAdd(ac *access, d, b *ir.Arg) {
	for h := range 2 {
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	if b.Kind == ir.Row {
		g.flushRow(b.Ref.Off)
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
	}
	for h := range 2 {
		for i, p := range ac.addressPieces(h) {
			off := int32(128*h + 64*i)
			if !ac.wide() {
				off = int32(64 * h)
			}
			g.VM(asm.MovU64St, asm.Z, g.cached(ac.base, p), 0, inContext(offAddrs+off))
		}
	}
	if ac.global() {
		g.accessing(accessLanes)
	} else {
		g.Ld(asm.RSI, inContext(offShared))
	}
	if d != nil {
		g.flushRow(d.Ref.Off) // lanes that take no part keep their value
		g.forget(d.Ref.Off)
	}
	size := uint8(ac.es)
	g.laneMask(asm.RDI)
	loop, end := g.NewLabel(), g.NewLabel()
	g.Test32(asm.RDI, asm.RDI)
	g.J(asm.E, end)
	wide := ac.es == 8
	if b.Kind == ir.Imm {
		if wide {
			g.Ld(asm.RDX, rowMem(b.Ref))
		} else {
			g.Ld32(asm.RDX, rowMem(b.Ref))
		}
	}
	g.Bind(loop)
	g.Bsf32(asm.RCX, asm.RDI)
	if ac.wide() {
		g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, offAddrs))
	} else {
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, offAddrs))
	}
	if !ac.global() {
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
	m := asm.At(asm.RAX, ac.disp)
	switch {
	case d == nil && ac.global() && wide:
		g.LockAddM(m, value)
	case d == nil && ac.global():
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
