package amd64

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// sampleOp is a texture fetch that machine code can do by itself, if the texture is one that it knows (texture.Direct).
type sampleOp struct {
	d      []ir.Arg
	handle *ir.Arg // a register or constant; nil: a parameter at off
	off    int32
	coord  [3]*ir.Arg // nil where the geometry has none
	layer  *ir.Arg
}

// sampleOf gives the operands of tex with coordinates that are floating-point numbers, without offsets, comparison and
// a sampler of its own. The level of detail counts only where a texture has several, which such code does not know.
func sampleOf(op *ir.Op) (s sampleOp, ok bool) {
	if op.Ctl != ir.Plain || op.Opcode() != optab.OpTex || len(op.Args) < 2 || op.Arg("e") != nil ||
		op.Arg("f") != nil {
		return s, false
	}
	mods := op.Mods()
	if t := mods.Type(0); t != optab.F32 && t != optab.U32 && t != optab.S32 || mods.Type(1) != optab.F32 {
		return s, false
	}
	d, a := op.Arg("d"), op.Arg("a")
	if d == nil || d.Kind != ir.Vec || d.Second != nil || len(d.Elems) > 4 ||
		a == nil || a.Kind != ir.Addr || len(a.Extra) != 1 || a.Extra[0].Kind != ir.Vec {
		return s, false
	}
	s.d = d.Elems
	for i := range s.d {
		if s.d[i].Kind == ir.Row && s.d[i].Class != ir.W32 {
			return s, false
		}
	}
	switch {
	case a.Base == nil && a.Space == ir.KernelParam && a.Disp >= 0 && a.Disp <= abi.MaxParams-8:
		s.off = int32(a.Disp)
	case a.Base != nil && a.Base.Reg() && a.Base.Class == ir.W64 && a.Disp == 0:
		s.handle = a.Base
	default:
		return s, false
	}
	elems := a.Extra[0].Elems
	layer, first, n := mods.Dim.Coordinates()
	if n == 0 || mods.Dim == optab.DimCube || mods.Dim == optab.DimAcube || first+n > len(elems) {
		return s, false
	}
	for i := range n {
		s.coord[i] = &elems[first+i]
	}
	if layer >= 0 {
		s.layer = &elems[layer]
	}
	for _, x := range s.places() {
		if x != nil && (!x.Reg() || x.Class != ir.W32) {
			return s, false
		}
	}
	return s, true
}

// places are the operands that the routine reads: x, y, z and the layer.
func (s *sampleOp) places() [4]*ir.Arg {
	return [...]*ir.Arg{s.coord[0], s.coord[1], s.coord[2], s.layer}
}

// sample fetches and goes to done, if the texture is known; else it goes on. All registers stand in their rows.
func (g *gen) sample(s sampleOp, done asm.Label) {
	miss, exit := g.NewLabel(), g.NewLabel()
	g.Dead(^uint32(1<<nanReg), 0xff&^liveMasks)
	partial := !g.full || g.op.Guard >= 0
	if g.full {
		g.MovI32(asm.RAX, 0xffffffff)
	} else {
		g.Ld32(asm.RAX, inContext(abi.OffMask))
	}
	if g.op.Guard >= 0 {
		g.Ld32(asm.RCX, rowMem(ir.Ref{Off: uint32(g.op.Guard)}))
		if g.op.Neg {
			g.Not32(asm.RCX)
		}
		g.And32(asm.RAX, asm.RCX)
		g.J(asm.E, done)
	}
	g.StI32(inContext(abi.OffOp), uint32(g.pc)|abi.AccessTexture<<24)
	g.Ld(asm.RSI, inContext(abi.OffSampling))
	g.St32(work(samplingOffMask), asm.RAX)
	g.Ld(asm.R9, work(samplingOffSamplers))
	if n := g.samplers[g.pc]; n > 0 {
		g.AddI(asm.R9, n*samplerSize)
	}
	// The same texture in all lanes?
	if s.handle == nil {
		g.Ld(asm.RCX, inContext(abi.OffParamCopy+s.off))
		g.CmpLd(asm.RCX, ofSampler(samplerOffHandle))
		g.J(asm.NE, miss)
	} else {
		row := rowMem(s.handle.Ref)
		lane := func() asm.Mem { return asm.Indexed(row.Base, asm.RDX, 8, row.Disp) }
		same, loop := g.NewLabel(), g.NewLabel()
		g.Bsf32(asm.RDX, asm.RAX)
		g.Ld(asm.RCX, lane())
		g.CmpLd(asm.RCX, ofSampler(samplerOffHandle))
		g.J(asm.NE, miss)
		if s.handle.Kind == ir.Row && !partial {
			g.VM(asm.BroadcastQ, asm.Z, 1, 0, ofSampler(samplerOffHandle))
			g.VM(asm.XorQ, asm.Z, 0, 1, row)
			for p := 1; p < 4; p++ {
				g.VM(asm.XorQ, asm.Z, 2, 1, rowMem(pieceRef(s.handle.Ref, p)))
				g.V(asm.OrQ, asm.Z, 0, 0, 2)
			}
			g.VTest(asm.TestMQ, asm.Z, asm.K7, 0, 0)
			g.KOrTestW(asm.K7, asm.K7)
			g.J(asm.NE, exit)
		} else if s.handle.Kind == ir.Row {
			g.Bind(loop)
			g.Blsr32(asm.RAX, asm.RAX)
			g.J(asm.E, same)
			g.Bsf32(asm.RDX, asm.RAX)
			g.CmpLd(asm.RCX, lane())
			g.J(asm.E, loop)
			g.Jmp(exit)
			g.Bind(same)
		}
	}
	g.CmpMI32(ofSampler(samplerOffReady), 0)
	g.J(asm.E, exit)
	for i, x := range s.places() {
		for p := range int32(2) {
			switch {
			case x != nil:
				g.VM(asm.MovU32, asm.Z, 0, 0, rowMem(pieceRef(x.Ref, int(p))))
			case g.sampled[i]:
				g.V(asm.XorD, asm.Z, 0, 0, 0)
			default:
				continue // nothing has been stored there
			}
			g.VM(asm.MovU32St, asm.Z, 0, 0, work(samplingOffCoord+128*int32(i)+64*p))
		}
	}
	g.Call(g.sampler)
	g.Test32(asm.RAX, asm.RAX)
	g.J(asm.E, exit)
	if partial {
		g.Ld32(asm.RAX, work(samplingOffMask))
		g.KMovDR(asm.K5, asm.RAX)
		g.KShiftRD(asm.K6, asm.K5, 16)
	}
	for i := range s.d {
		if s.d[i].Kind != ir.Row || slices.Contains(g.dies, s.d[i].Ref.Off) && !g.keeps(s.d[i].Ref.Off) {
			continue
		}
		for p := range int32(2) {
			o := asm.Z
			if partial {
				o = o.Mask(asm.K5 + asm.Mask(p))
			}
			g.VM(asm.MovU32, asm.Z, 0, 0, work(samplingOffOut+128*int32(i)+64*p))
			g.VM(asm.MovU32St, o, 0, 0, rowMem(pieceRef(s.d[i].Ref, int(p))))
		}
	}
	g.Jmp(done)
	g.Bind(miss)
	g.St(ofSampler(samplerOffWanted), asm.RCX)
	g.Bind(exit)
}

// Layers stand behind the coordinates.
var _ = [1]struct{}{}[unsafe.Offsetof(abi.Sampling{}.Layer)-unsafe.Offsetof(abi.Sampling{}.Coord)-3*128]
