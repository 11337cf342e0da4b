package jit

import (
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
		done := g.NewLabel()
		g.k6 = 0
		g.skipEmpty(h, done)
		g.differences(ac, h)
		scattered := g.outOfLine(func() {
			g.vectorCheck(ac, h, slow)
			g.noteLanes(ac, h)
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
		g.halfPointer(ac, h, accessHalf0+uint32(h))
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

// scatter stores the elements of half h at disp, from the registers of the value's pieces, in the order of the lanes.
func (g *gen) scatter(ac *access, h int, value []uint8, disp int32) {
	base := uint8(asm.None)
	if !ac.global() {
		base = asm.RSI
	}
	for q := range 2 {
		p := 2*h + q
		switch {
		case ac.es == 8 && ac.wide():
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.ScatterQQ, asm.Z.Mask(7), value[p], base, g.cached(ac.base, p), 1, disp)
		case ac.es == 8:
			index := g.cached(ac.base, h)
			if q == 1 {
				g.VI(asm.ExtractQ4, asm.Z, index, 0, 0, 1)
				index = 0
			}
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.ScatterDQ, asm.Z.Mask(7), value[p], base, index, 1, disp)
		case ac.wide():
			v := value[h]
			if q == 1 {
				g.VI(asm.ExtractQ4, asm.Z, v, 0, 0, 1)
				v = 0
			}
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.ScatterQD, asm.Z.Mask(7), v, base, g.cached(ac.base, p), 1, disp)
		case q == 0:
			g.gatherMask(g.mask(ir.W32, h))
			g.VX(asm.ScatterDD, asm.Z.Mask(7), value[h], base, g.cached(ac.base, h), 1, disp)
		}
	}
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
	g.Bsf32(asm.RCX, asm.RDI)
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
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
	g.Ld(asm.RDX, inContext(offTables))
}

// storeVector stores several elements a lane by scatters. Elements of one lane stay together only where lanes do not overlap, and where they
// do the highest lane's stay: aligned accesses overlap wholly or not at all.
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
		for h := range 2 {
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
