package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
)

// warpTemplates exchange values between lanes. Those with a member mask take a constant one.
var warpTemplates = map[string]template{"shfl": shflTemplate, "vote": voteTemplate, "bar.warp": barWarpTemplate, "activemask": activeMaskTemplate}

// together leaves for the interpreter unless all members that live stand here, so that none has to wait. rax and rcx are used.
func (g *gen) together(op *ir.Op) {
	slow := g.slow()
	live := inContext(offLive)
	if g.v != nil {
		live = amd64asm.At(amd64asm.RBX, g.lay.live)
	} else {
		g.CmpMI32(inContext(offReleased), 0)
		g.J(amd64asm.NE, slow)
	}
	if g.full && g.op.Guard < 0 {
		return
	}
	g.laneMask(amd64asm.RCX)
	if g.op.Guard >= 0 {
		// Lanes that are guarded off would have to be told from those that wait.
		g.CmpLd32(amd64asm.RCX, inContext(offMask))
		g.J(amd64asm.NE, slow)
	}
	g.Not32(amd64asm.RCX)
	g.AndLd32(amd64asm.RCX, live)
	if m := op.Arg("membermask"); m != nil {
		g.AndI32(amd64asm.RCX, int32(uint32(m.Bits)))
	}
	g.Test32(amd64asm.RCX, amd64asm.RCX)
	g.J(amd64asm.NE, slow)
}

// known says whether the members are known when the kernel is compiled.
func known(op *ir.Op) bool {
	m := op.Arg("membermask")
	return m == nil || m.Kind == ir.Imm && !m.Sym
}

func shflTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if !known(op) || b.Kind != ir.Imm || c.Kind != ir.Imm || !op.Match.Form.Sync || !a.Reg() || a.Class != ir.W32 || d.Kind == ir.Row && d.Class != ir.W32 {
		return nil
	}
	mode := op.Match.One("up", "down", "bfly", "idx")
	var from [2][16]uint32
	inRange := uint32(0)
	for l := range 32 {
		j, ok := shflSource(mode, l, int(uint32(b.Bits)), int(uint32(c.Bits)))
		from[l/16][l%16] = uint32(j)
		if ok {
			inRange |= 1 << l
		}
	}
	return func(g *gen) {
		g.together(op)
		if d.Kind == ir.Row {
			g.pin()
			r0, r1 := g.rawReg(a, 0), g.rawReg(a, 0)
			if a.Kind == ir.Row {
				r1 = g.rawReg(a, 1)
			}
			lazy := g.lazyPiece(r0) || g.lazyPiece(r1) // NaNs stay as they are
			if lazy && g.v != nil && !g.full {
				g.canon(r0)
				g.canon(r1)
				lazy = false
			}
			if g.v != nil && d.Ref != a.Ref && g.destMask(d, 0) == 0 {
				for p := range 2 {
					z, _ := g.dst(d, p)
					g.VL(amd64asm.MovU32, amd64asm.Z, z, 0, g.vector(from[p]))
					g.V(amd64asm.PermI2D, amd64asm.Z, z, r0, r1)
					g.c.slots[z].lazy = lazy
				}
			} else {
				for p := range 2 {
					g.LeaLabel(amd64asm.RAX, g.vector(from[p]))
					g.VM(amd64asm.MovU32, amd64asm.Z, uint8(p), 0, amd64asm.At(amd64asm.RAX, 0))
					g.V(amd64asm.PermI2D, amd64asm.Z, uint8(p), r0, r1)
				}
				if lazy && g.op.Guard >= 0 {
					g.canonical(0, 0)
					g.canonical(1, 0)
					lazy = false
				}
				for p := range 2 {
					z, o := g.dst(d, p)
					g.V(amd64asm.MovA32, o, z, 0, uint8(p))
					if lazy {
						g.lazyNaN(z)
					}
				}
			}
		}
		if d.Second != nil && d.Second.Kind == ir.Row {
			g.MovI32(amd64asm.RAX, inRange)
			g.setPred(d.Second, amd64asm.RAX)
		}
	}
}

// lazyPiece says whether a register of the cache holds NaNs of any kind.
func (g *gen) lazyPiece(z uint8) bool { return g.c.slots[z].lazy }

// shflSource is the lane that lane l reads, itself when the source is out of range (PTX ISA, shfl.sync).
func shflSource(mode string, l, b, c int) (j int, ok bool) {
	bval, cval, seg := b&31, c&31, c>>8&31
	maxLane, minLane := l&seg|cval&^seg, l&seg
	switch mode {
	case "up":
		j = l - bval
		ok = j >= maxLane
	case "down":
		j = l + bval
		ok = j <= maxLane
	case "bfly":
		j = l ^ bval
		ok = j <= maxLane
	default:
		j = minLane | bval&^seg
		ok = j <= maxLane
	}
	if !ok {
		j = l
	}
	return j & 31, ok
}

func voteTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	mode := op.Match.One("all", "any", "uni", "ballot")
	if !known(op) || !op.Match.Form.Sync || !a.Reg() || d.Kind != ir.Row || mode == "uni" {
		return nil
	}
	return func(g *gen) {
		g.together(op)
		g.pred(amd64asm.RAX, a)
		g.laneMask(amd64asm.RCX)
		g.And32(amd64asm.RAX, amd64asm.RCX)
		if mode == "ballot" {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.RAX)
			}
			return
		}
		g.Xor32(amd64asm.RDX, amd64asm.RDX)
		if mode == "all" {
			g.Cmp32(amd64asm.RAX, amd64asm.RCX)
			g.Setcc(amd64asm.E, amd64asm.RDX)
		} else {
			g.Test32(amd64asm.RAX, amd64asm.RAX)
			g.Setcc(amd64asm.NE, amd64asm.RDX)
		}
		g.Neg32(amd64asm.RDX)
		g.setPred(d, amd64asm.RDX)
	}
}

func barWarpTemplate(op *ir.Op) emitter {
	if !known(op) {
		return nil
	}
	return func(g *gen) { g.together(op) }
}

func activeMaskTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	if d.Kind != ir.Row || d.Class != ir.W32 {
		return nil
	}
	return func(g *gen) {
		g.laneMask(amd64asm.RAX)
		for p := range 2 {
			g.pin()
			z, o := g.dst(d, p)
			g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.RAX)
		}
	}
}
