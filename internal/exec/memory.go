package exec

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
)

// Ptr turns an address of a state space into host memory for one lane, or ends the kernel with the fault that the
// hardware gives. size is that of the access in bytes, a power of two (or what must be contiguous); align what the
// address must be a multiple of.
func (w *Warp) Ptr(space ir.Space, lane int, addr uint64, size, align uint32, write bool) unsafe.Pointer {
	w.Lane = lane
	if w.Trace != nil {
		return w.traced(space, lane, addr, size, align, write)
	}
	if addr&uint64(align-1) != 0 {
		w.ThrowAddr(FaultMisaligned, lane, space.String(), addr, size, write)
	}
	switch space {
	case ir.Generic, ir.Global, ir.Const:
		m := w.CTA.Launch.Mem
		off := addr - m.Base
		if at := off - m.Low; at < m.Span && uint64(size) <= m.Span-at {
			if m.Check != nil && !m.Check(addr, uint64(size), write) {
				w.ThrowAddr(FaultAddress, lane, space.String(), addr, size, write)
			}
			return unsafe.Add(m.Ptr, off)
		}
		return w.slow(space, lane, addr, size, write)
	case ir.Shared, ir.SharedCluster:
		return w.shared(lane, addr, size, write)
	case ir.Local:
		return w.local32(lane, addr, size, write)
	case ir.KernelParam:
		p := w.CTA.Launch.Params
		if addr+uint64(size) > uint64(len(p)) || addr+uint64(size) < addr {
			w.ThrowAddr(FaultAddress, lane, "param", addr, size, write)
		}
		return unsafe.Pointer(&p[addr])
	}
	panic("an address in " + space.String() + " space")
}

// reaches says whether a kernel may have made an access to an address: it lies in the window, or in memory of the
// program that the API allows on the device.
func (m *Memory) reaches(addr uint64) bool {
	return addr-m.Base < m.Size || m.Foreign != nil && m.Foreign(addr, 1) != nil
}

// slow serves generic addresses outside global memory.
func (w *Warp) slow(space ir.Space, lane int, addr uint64, size uint32, write bool) unsafe.Pointer {
	m := w.CTA.Launch.Mem
	if off := addr - m.Base; off < m.Special {
		if space == ir.Generic {
			if o := off - m.SharedOff; o < sharedWindow {
				return w.shared(lane, o, size, write)
			}
			if o := off - m.LocalOff; o < localWindow {
				return w.local32(lane, o, size, write)
			}
		}
	} else if m.Foreign != nil {
		if p := m.Foreign(addr, uint64(size)); p != nil &&
			(m.Check == nil || addr-m.Base >= m.Size || m.Check(addr, uint64(size), write)) {
			return p
		}
	}
	w.ThrowAddr(FaultAddress, lane, space.String(), addr, size, write)
	return nil
}

// Sizes of the generic windows: sixteen CTAs of a cluster with 16 MiB each, and one thread's local memory.
const (
	sharedWindow = 16 << 24
	localWindow  = 1 << 24
)

// shared resolves an address of the shared window: bits 24 and up are the CTA's rank in its cluster. As on an H200, a
// rank that the cluster does not have is an illegal instruction, an offset beyond the CTA's memory an illegal address.
func (w *Warp) shared(lane int, addr uint64, size uint32, write bool) unsafe.Pointer {
	c := w.CTA
	rank, off := uint32(addr>>24), uint32(addr&0xffffff)
	if addr>>32 != 0 {
		w.ThrowAddr(FaultInstruction, lane, "shared", addr, size, write)
	}
	if rank != c.Rank {
		if int(rank) >= len(c.Group.CTAs) {
			w.ThrowAddr(FaultInstruction, lane, "shared", addr, size, write)
		}
		c = c.Group.CTAs[rank]
		if w.CTA.Launch.Defects != nil {
			w.touchRemote(c, lane, off, size, write)
		}
	}
	if uint64(off)+uint64(size) > uint64(c.SharedSize) ||
		w.CTA.Launch.Mem.Check != nil && uint64(off)+uint64(size) > uint64(c.SharedEnd()) {
		w.ThrowAddr(FaultAddress, lane, "shared", addr, size, write)
	}
	return unsafe.Add(c.Shared, off)
}

func (w *Warp) local32(lane int, addr uint64, size uint32, write bool) unsafe.Pointer {
	if w.LocalBase == nil {
		w.localMemory()
	}
	if uint64(size) > uint64(w.LocalSize) || addr > uint64(w.LocalSize)-uint64(size) ||
		w.CTA.Launch.Mem.Check != nil && addr+uint64(size) > w.localEnd(lane) {
		w.ThrowAddr(FaultAddress, lane, "local", addr, size, write)
	}
	return unsafe.Add(w.LocalBase, uint64(lane)*uint64(w.LocalSize)+addr)
}

// SharedAddress is the 32-bit shared-window address of an offset in this CTA's shared memory.
func (c *CTA) SharedAddress(off uint32) uint32 { return c.Rank<<24 | off }

// SpaceOf says what a generic address points at; ir.Generic when at nothing.
func (w *Warp) SpaceOf(addr uint64) ir.Space {
	m := w.CTA.Launch.Mem
	off := addr - m.Base
	switch {
	case off-m.SharedOff < sharedWindow:
		return ir.Shared
	case off-m.LocalOff < localWindow:
		return ir.Local
	case addr-w.CTA.Launch.ParamAddr < uint64(len(w.CTA.Launch.Params)):
		return ir.KernelParam
	case m.Const != nil && m.Const(addr):
		return ir.Const
	}
	return ir.Global
}
