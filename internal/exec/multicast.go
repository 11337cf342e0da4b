package exec

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
)

// Replicas are the places in host memory that an address of a multicast object stands for, one for each device of its
// team in the order in which they were added, or the fault of an address that is none (PTX ISA 9.7.9.14: "otherwise,
// the behavior is undefined"). They are valid until the warp asks again. size and align are as for Ptr.
func (w *Warp) Replicas(lane int, addr uint64, size, align uint32, write bool) []unsafe.Pointer {
	w.Lane = lane
	if addr&uint64(align-1) != 0 {
		w.ThrowAddr(FaultMisaligned, lane, ir.Global.String(), addr, size, write)
	}
	m := w.CTA.Launch.Mem
	if m.Multicast != nil {
		w.replicas = m.Multicast(addr, uint64(size), write, w.replicas[:0])
	}
	if m.Multicast == nil || len(w.replicas) == 0 {
		w.ThrowAddr(FaultAddress, lane, ir.Global.String(), addr, size, write)
	}
	return w.replicas
}
