package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Accesses to shared memory of code that follows what nobody has written. abi.DefinedOff behind each byte stands
// another one, all ones where it is defined: the code looks at these before it reads, and writes them before it writes.
// Where a byte is not defined, or an address is no good, the operation is left to the interpreter.

// ones is all ones, as a number.
const ones = 0xffffffff

// followedAddresses loads the addresses of an access that is followed: bases of lanes that stand side by side, or at
// one place, by halves; else vectors.
func (g *gen) followedAddresses(f *plan.Followed) addressed {
	if f.Addr.Base == nil {
		return addressed{}
	}
	return g.addresses(f.Addr.Base, func(s plan.Variation) bool {
		if g.op.Guard >= 0 || f.Lanes < 32 {
			return false
		}
		return s.Kind == plan.Uniform || g.full && (s.Stride == 0 || s.Stride == int64(f.Size))
	})
}

// follow looks at the bytes of an access, or makes them defined. Registers 0 to 6, k0, k7 and the general registers of
// templates are used.
func (g *gen) follow(f *plan.Followed, a *addressed) {
	miss := g.exit(abi.ExitUndefined, g.left)
	disp := int32(f.Addr.Disp)
	switch {
	case a.base == nil || a.base.Kind == ir.Imm && g.op.Guard < 0:
		g.MovI32(asm.RAX, 0)
		if a.base != nil {
			g.LdR(a.base.Class == ir.W64, asm.RAX, rowMem(a.base.Ref))
		}
		if g.op.Guard >= 0 { // it may have no lanes
			for p := range 2 {
				g.VR(asm.BroadcastDR, asm.Z, asm.Vec(p), asm.RAX)
			}
			g.followLanes(f, [2]asm.Vec{0, 1}, miss)
			return
		}
		g.followRun(f, asm.RAX, disp, f.Size, miss)
	case a.scalars != nil:
		s := &a.s
		if s.Kind == plan.Uniform {
			g.followRun(f, a.scalars[0], disp, f.Size, miss)
			return
		}
		n := f.Size
		if s.Stride != 0 {
			n *= 16
		}
		switch {
		case len(a.scalars) == 2:
			g.followRun(f, a.scalars[0], disp, n, miss)
			g.followRun(f, a.scalars[1], disp, n, miss)
		case s.Linear() && s.Stride != 0:
			g.followRun(f, a.scalars[0], disp, 2*n, miss)
		default:
			g.followRun(f, a.scalars[0], disp, n, miss)
			g.followRun(f, a.scalars[0], disp+int32(s.Lane16()), n, miss)
		}
	case a.base.Class == ir.W64:
		g.Ld32(asm.RCX, inContext(abi.OffSharedTop))
		g.VR(asm.BroadcastQR, asm.Z, 2, asm.RCX)
		for p, z := range a.vectors {
			g.VCmp(asm.CmpUQ, asm.Z.Mask(g.mask(ir.W64, p)), asm.K0, z, 2, asm.CmpGT)
			g.KOrTestB(asm.K0, asm.K0)
			g.J(asm.NE, miss)
			g.VM(asm.MovQD, asm.Z, z, 0, inContext(abi.OffAddrs+int32(32*p)))
		}
		for h := range 2 {
			g.VM(asm.MovU32, asm.Z, asm.Vec(h), 0, inContext(abi.OffAddrs+int32(64*h)))
		}
		g.followLanes(f, [2]asm.Vec{0, 1}, miss)
	default:
		g.followLanes(f, [2]asm.Vec{a.vectors[0], a.vectors[1]}, miss)
	}
}

// followRun is for n bytes from an address on. rax may hold the address; rcx, rsi, and registers 0 and 1 are used.
func (g *gen) followRun(f *plan.Followed, r asm.GPR, disp, n int32, miss asm.Label) {
	g.Ld32(asm.RCX, inContext(abi.OffSharedTop)) // of one byte
	g.RI(asm.ArithSub, true, asm.RCX, disp+n-1)
	g.J(asm.S, miss)
	g.RR(asm.ArithCmp, true, r, asm.RCX)
	g.J(asm.A, miss)
	g.holdShared()
	at := func(i int32) asm.Mem { return asm.Indexed(asm.RSI, r, 1, disp+abi.DefinedOff+i) }
	if f.Write {
		if n%64 == 0 {
			g.VI(asm.TernD, asm.Z, 0, 0, 0, 0xff)
		}
		for i := int32(0); i < n; {
			switch left := n - i; {
			case left >= 64 && n%64 == 0:
				g.VM(asm.MovU32St, asm.Z, 0, 0, at(i))
				i += 64
			case left >= 4:
				g.StI32(at(i), ones)
				i += 4
			default:
				g.MovI32(asm.RCX, ones)
				if left >= 2 {
					g.St16(at(i), asm.RCX)
					i += 2
				} else {
					g.St8(at(i), asm.RCX)
					i++
				}
			}
		}
		return
	}
	if n%64 == 0 {
		g.VM(asm.MovU32, asm.Z, 0, 0, at(0))
		for i := int32(64); i < n; i += 64 {
			g.VM(asm.AndD, asm.Z, 0, 0, at(i))
		}
		g.VI(asm.TernD, asm.Z, 1, 1, 1, 0xff)
		g.VCmp(asm.CmpUD, asm.Z, asm.K0, 0, 1, asm.CmpNE)
		g.KOrTestW(asm.K0, asm.K0)
		g.J(asm.NE, miss)
		return
	}
	for i := int32(0); i < n; {
		switch left := n - i; {
		case left >= 8:
			g.MI(asm.ArithCmp, true, at(i), -1)
			i += 8
		case left >= 4:
			g.MI(asm.ArithCmp, false, at(i), -1)
			i += 4
		case left >= 2:
			g.Ld16(asm.RCX, at(i))
			g.CmpI32(asm.RCX, 0xffff)
			i += 2
		default:
			g.Ld8(asm.RCX, at(i))
			g.CmpI32(asm.RCX, 0xff)
			i++
		}
		g.J(asm.NE, miss)
	}
}

// followLanes is for offsets of 32 bits in two registers.
func (g *gen) followLanes(f *plan.Followed, index [2]asm.Vec, miss asm.Label) {
	halves := 2
	if f.Lanes <= 16 {
		halves = 1
	}
	g.k6 = 0
	disp := int32(f.Addr.Disp)
	g.Ld32(asm.RCX, inContext(abi.OffSharedTop))
	g.RI(asm.ArithSub, true, asm.RCX, disp+f.Size-1)
	g.J(asm.S, miss)
	g.VR(asm.BroadcastDR, asm.Z, 2, asm.RCX)
	for h := range halves {
		g.followMask(f, h)
		g.VCmp(asm.CmpUD, asm.Z.Mask(asm.K7), asm.K0, index[h], 2, asm.CmpGT)
		g.KOrTestW(asm.K0, asm.K0)
		g.J(asm.NE, miss)
	}
	g.holdShared()
	if f.Write && f.Size < 4 {
		g.followBytes(f, index)
		return
	}
	g.VI(asm.TernD, asm.Z, 3, 3, 3, 0xff)
	if f.Write {
		for h := range halves {
			for i := int32(0); i < f.Size; i += 4 {
				g.followMask(f, h)
				g.VX(asm.ScatterDD, asm.Z.Mask(asm.K7), 3, asm.RSI, index[h], 1, disp+abi.DefinedOff+i)
			}
		}
		return
	}
	g.V(asm.MovA32, asm.Z, 4, 0, 3)
	for h := range halves {
		for i := int32(0); i < f.Size; i += 4 {
			g.V(asm.MovA32, asm.Z, 5, 0, 3)
			g.followMask(f, h)
			g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), 5, asm.RSI, index[h], 1, disp+abi.DefinedOff+i)
			g.V(asm.AndD, asm.Z, 4, 4, 5)
		}
	}
	if f.Size < 4 { // the bytes of the word that belong to it
		shift := uint8(32 - 8*f.Size)
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 3, 3, shift)
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 4, 4, shift)
	}
	g.VCmp(asm.CmpUD, asm.Z, asm.K0, 4, 3, asm.CmpNE)
	g.KOrTestW(asm.K0, asm.K0)
	g.J(asm.NE, miss)
}

// followMask puts the lanes of a half whose addresses count into k7.
func (g *gen) followMask(f *plan.Followed, h int) {
	if f.Lanes < 16 {
		g.laneMask(asm.RAX)
		g.AndI32(asm.RAX, 1<<f.Lanes-1)
		g.KMovDR(asm.K7, asm.RAX)
		return
	}
	g.gatherMask(g.mask(ir.W32, h))
}

// followBytes makes the bytes defined of a store of less than four, lane by lane.
func (g *gen) followBytes(f *plan.Followed, index [2]asm.Vec) {
	for h, z := range index {
		g.VM(asm.MovU32St, asm.Z, z, 0, inContext(abi.OffAddrs+int32(64*h)))
	}
	g.laneMask(asm.RDI)
	g.MovI32(asm.RCX, ones)
	loop, end := g.NewLabel(), g.NewLabel()
	g.Test32(asm.RDI, asm.RDI)
	g.J(asm.E, end)
	g.Bind(loop)
	g.Bsf32(asm.RAX, asm.RDI)
	g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RAX, 4, abi.OffAddrs))
	m := asm.Indexed(asm.RSI, asm.RAX, 1, int32(f.Addr.Disp)+abi.DefinedOff)
	if f.Size == 2 {
		g.St16(m, asm.RCX)
	} else {
		g.St8(m, asm.RCX)
	}
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
}
