package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// vectorOf gives the registers of an operand: one written without braces is alone.
func vectorOf(a *ir.Arg) []*ir.Arg {
	if a.Kind != ir.Vec {
		return []*ir.Arg{a}
	}
	list := make([]*ir.Arg, len(a.Elems))
	for i := range a.Elems {
		list[i] = &a.Elems[i]
	}
	return list
}

// mmaTemplate calls the routine for products of floating-point numbers (matrix.go).
func mmaTemplate(op *ir.Op) emitter {
	m, ok := matrixOf(op)
	if !ok || len(op.Args) != 4 {
		return nil
	}
	d, a, b, c := vectorOf(&op.Args[0]), vectorOf(&op.Args[1]), vectorOf(&op.Args[2]), vectorOf(&op.Args[3])
	for i, list := range [][]*ir.Arg{d, a, b, c} {
		for _, x := range list {
			if x.Class != ir.W32 || x.Kind != ir.Row && (i == 0 || x.Kind != ir.Imm) {
				return nil
			}
		}
	}
	rows, per := 16, 4/int(2-m.format/2) // bytes of an element
	if m.format == matrixInt {
		per = 1
		if op.Mods().Shape.M == 8 {
			rows = 8
		}
	}
	if 128*len(a) != rows*int(m.k)*per || 128*len(b) != 8*int(m.k)*per || len(c) != len(d) ||
		len(c) != rows/4 && !(m.half && len(c) == 2) {
		return nil
	}
	return func(g *gen) {
		g.allLanes()
		for i, x := range a {
			g.putMatrix(x, matrixOffsets.a+int32(128*i), nothingMore)
		}
		for i, x := range b {
			g.putMatrix(x, matrixOffsets.b+int32(128*i), nothingMore)
		}
		for i, x := range c {
			g.putMatrix(x, matrixOffsets.c+m.place(i), nothingMore)
		}
		g.Lea(asm.R8, work(matrixOffsets.quick))
		g.Call(g.matrix[m].begin)
		g.takeProduct(m, d)
	}
}

// place is where register i of C or D stands in matrixWork.c: beside the one with the other rows of the same columns.
func (m matrixKind) place(i int) int32 {
	if m.half {
		return 128 * int32(i)
	}
	return 128 * int32(i&1<<1|i>>1)
}

// What putMatrix does with a register besides: combine it with a word of matrixWork.
type more struct {
	op  asm.Op
	off int32
	any bool
}

var nothingMore = more{}

// putMatrix stores a register for the routine; RSI points at the matrixWork then.
func (g *gen) putMatrix(x *ir.Arg, off int32, m more) {
	for p := range 2 {
		g.pin()
		z := g.reg(x, p)
		g.Ld(asm.RSI, inContext(abi.OffMatrix))
		if m.any {
			g.VM(m.op, asm.Z.Broadcast(), 0, z, work(m.off))
			z = 0
		}
		g.VM(asm.MovU32St, asm.Z, z, 0, work(off+int32(64*p)))
	}
}

// takeProduct loads the registers of D.
func (g *gen) takeProduct(m matrixKind, d []*ir.Arg) {
	for i, x := range d {
		for p := range g.each(x) {
			g.pin()
			z, o := g.dst(x, p)
			g.Ld(asm.RSI, inContext(abi.OffMatrix))
			g.VM(asm.MovU32, o, z, 0, work(matrixOffsets.d+m.place(i)+int32(64*p)))
		}
	}
}

// wgmmaTemplate is wgmma.mma_async with elements of f16, bf16 and tf32, matrices in shared memory with k contiguous:
// the warp's 16 rows of A times eight columns of B after the other. The mma.sync of the same elements has the same
// fragments.
func wgmmaTemplate(op *ir.Op) emitter {
	m, ok := matrixOf(op)
	if !ok || len(op.Args) < 3 {
		return nil
	}
	d, a, b, scale := vectorOf(&op.Args[0]), vectorOf(&op.Args[1]), &op.Args[2], op.Arg("p")
	imm := func(name string) int32 {
		if x := op.Arg(name); x != nil {
			return int32(x.Bits)
		}
		return 0
	}
	per := 4
	if m.half {
		per = 2
	}
	for _, x := range d {
		if x.Class != ir.W32 || x.Kind != ir.Row {
			return nil
		}
	}
	shared := op.Args[1].Kind != ir.Vec
	for _, x := range a {
		if !x.Reg() || x.Class != ir.W32 && !shared || x.Class != ir.W64 && shared {
			return nil
		}
	}
	if len(d)%per != 0 || !shared && len(a) != 4 || !b.Reg() || b.Class != ir.W64 || scale == nil ||
		scale.Class != ir.WPred || imm("ta") != 0 || imm("tb") != 0 {
		return nil
	}
	negate := uint32(0)
	if (imm("sa") == -1) != (imm("sb") == -1) {
		negate = 0x80008000
		if m.format == matrixTF32 {
			negate = 0x80000000
		}
	}
	blocks := len(d) / per
	return func(g *gen) {
		g.allLanes()
		slow := g.slow()
		g.Ld(asm.RSI, inContext(abi.OffMatrix))
		g.Ld(asm.RAX, inContext(abi.OffShared))
		if g.v == nil {
			g.AddLd(asm.RAX, inContext(abi.OffSharedLow))
		}
		g.St(work(matrixOffsets.shared), asm.RAX)
		g.StI32(work(matrixOffsets.negate), negate)
		g.pred(asm.RAX, scale)
		g.Ld(asm.RSI, inContext(abi.OffMatrix))
		g.AndI32(asm.RAX, 1)
		g.Neg32(asm.RAX)
		g.St32(work(matrixOffsets.scale), asm.RAX)
		g.stage(1, b)
		if shared {
			g.stage(0, a[0])
			g.descriptor(0, 2, true, slow)
			for h := range int32(2) {
				g.Lea(asm.RCX, work(matrixOffsets.a+128*h))
				g.MovI32(asm.R8, 256)
				g.Call(g.rowGather)
			}
			for i := range int32(8) {
				off := matrixOffsets.a + 64*i
				g.VM(asm.MovU32, asm.Z, 0, 0, work(off))
				g.VM(asm.XorD, asm.Z.Broadcast(), 0, 0, work(matrixOffsets.negate))
				g.VM(asm.MovU32St, asm.Z, 0, 0, work(off))
			}
		} else {
			for i, x := range a {
				g.putMatrix(x, matrixOffsets.a+int32(128*i), more{asm.XorD, matrixOffsets.negate, true})
			}
		}
		g.descriptor(1, blocks, false, slow)
		for i := range blocks {
			for r, x := range d[i*per : (i+1)*per] {
				g.putMatrix(x, matrixOffsets.c+m.place(r), more{asm.AndD, matrixOffsets.scale, true})
			}
			g.Lea(asm.RCX, work(matrixOffsets.b))
			g.MovI32(asm.R8, 128)
			g.Call(g.rowGather)
			g.Lea(asm.R8, work(matrixOffsets.quick))
			if i == 0 {
				g.Call(g.matrix[m].begin)
			} else {
				g.Call(g.matrix[m].sameA)
			}
			g.takeProduct(m, d[i*per:(i+1)*per])
		}
	}
}

// descriptor takes apart the matrix descriptor of shared memory (PTX ISA 9.7.15.5.1, "Matrix Descriptor Format") that
// stage left at number i, for so many groups of eight rows, A's of the warp's own 16 rows. It leaves for slow when one
// may lie outside of the CTA's memory. RAX, RCX, RDX and RSI are used.
func (g *gen) descriptor(i, groups int, ofWarp bool, slow asm.Label) {
	field := func(shift uint8) {
		g.Ld(asm.RAX, inContext(laneIn(i)))
		if shift != 0 {
			g.ShrI(asm.RAX, shift)
		}
		g.AndI32(asm.RAX, 0x3fff)
		g.ShlI32(asm.RAX, 4)
	}
	g.Ld(asm.RSI, inContext(abi.OffMatrix))
	g.Ld(asm.RCX, inContext(laneIn(i)))
	g.ShrI(asm.RCX, 62)
	g.Ld32(asm.RDX, asm.Indexed(asm.RSI, asm.RCX, 4, matrixOffsets.steps))
	g.St32(work(matrixOffsets.rowStep), asm.RDX)
	g.Ld32(asm.RAX, asm.Indexed(asm.RSI, asm.RCX, 4, matrixOffsets.swizzles))
	g.St32(work(matrixOffsets.swizzle), asm.RAX)
	field(16)
	g.MovI32(asm.RDX, 16)
	g.Test32(asm.RCX, asm.RCX)
	g.Cmov32(asm.NE, asm.RAX, asm.RDX)
	g.St32(work(matrixOffsets.chunkStep), asm.RAX)
	field(32)
	g.St32(work(matrixOffsets.stride), asm.RAX)
	g.Mov32(asm.RCX, asm.RAX)
	field(0)
	if ofWarp {
		if g.v != nil {
			g.Ld32(asm.RDX, g.inFrame(g.lay.Warp))
		} else {
			g.Ld32(asm.RDX, inContext(abi.OffWarp))
		}
		g.AndI32(asm.RDX, 3)
		g.ShlI32(asm.RDX, 1)
		g.Imul32(asm.RDX, asm.RCX)
		g.Add32(asm.RAX, asm.RDX)
	}
	g.St32(work(matrixOffsets.next), asm.RAX)
	// The highest address; the swizzle changes bits 4 to 6.
	g.ImulI(false, asm.RCX, asm.RCX, int32(groups-1))
	g.Add32(asm.RAX, asm.RCX)
	g.Ld32(asm.RCX, work(matrixOffsets.rowStep))
	g.ImulI(false, asm.RCX, asm.RCX, 7)
	g.Add32(asm.RAX, asm.RCX)
	g.AddLd32(asm.RAX, work(matrixOffsets.chunkStep))
	g.OrI32(asm.RAX, 0x7f)
	g.CmpLd32(asm.RAX, inContext(abi.OffSharedTop))
	g.J(asm.A, slow)
}

// writeGather writes the routine that copies eight rows of two chunks of 16 bytes as a descriptor says: of each chunk
// they come to lie one behind the other, at RCX and R8 bytes further. The next call takes the next eight rows. RAX,
// RCX, RDX and RDI are used.
func (g *gen) writeGather() {
	g.Align(64)
	g.Bind(g.rowGather)
	g.Ld32(asm.RDX, work(matrixOffsets.next))
	for range 2 {
		g.Mov32(asm.RDI, asm.RDX)
		for row := range int32(8) {
			g.Mov32(asm.RAX, asm.RDI)
			g.ShrI32(asm.RAX, 3)
			g.AndLd32(asm.RAX, work(matrixOffsets.swizzle))
			g.Xor32(asm.RAX, asm.RDI)
			g.AddLd(asm.RAX, work(matrixOffsets.shared))
			g.VM(asm.MovU32, asm.X, 0, 0, asm.At(asm.RAX, 0))
			g.VM(asm.MovU32St, asm.X, 0, 0, asm.At(asm.RCX, 16*row))
			g.AddLd32(asm.RDI, work(matrixOffsets.rowStep))
		}
		g.AddLd32(asm.RDX, work(matrixOffsets.chunkStep))
		g.Add(asm.RCX, asm.R8)
	}
	g.Ld32(asm.RAX, work(matrixOffsets.stride))
	g.AddM32(work(matrixOffsets.next), asm.RAX)
	g.Ret()
}
