package trace

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// space is a kind of memory with rules of its own for how requests are served.
type space uint8

const (
	global space = iota
	shared
	local
	constant
	spaces
)

// What the memory system serves at once (CUDA C++ Programming Guide: "Device Memory Accesses", and "Shared Memory" of
// the compute capabilities).
const (
	sectorBytes = 32
	banks       = 32
	bankBytes   = 4
)

// accessKind is how the addresses of an operation stand in its operands.
type accessKind uint8

const (
	noAccess    accessKind = iota
	plainAccess            // each lane has an address
	copyAccess             // cp.async: each lane has two
	rowAccess              // ldmatrix and stmatrix: eight lanes have the addresses of the rows of a matrix
	otherAccess            // memory is accessed in a way whose traffic is not counted
)

// access says which memory an operation touches.
type access struct {
	kind     accessKind
	addr, to *ir.Arg // to: the destination in shared memory of copyAccess
	size     uint32  // bytes of a lane
	matrices int     // of rowAccess
	given    *ir.Arg // of copyAccess: bytes that are read in fact; nil for size
	ignored  *ir.Arg // of copyAccess: nothing is read where it holds; nil for never
}

// accessOf finds the memory operands of an operation.
func accessOf(op *ir.Op) access {
	switch op.Opcode() {
	case optab.OpCpAsync:
		a, ok := op.Access()
		if to := op.Arg("a"); ok && to != nil {
			return access{kind: copyAccess, addr: a.Addr, to: to, size: a.Size, given: op.Arg("s"),
				ignored: op.Arg("i")}
		}
		return access{kind: otherAccess}
	case optab.OpLdmatrix, optab.OpStmatrix:
		rows, regs := op.Arg("a"), op.Arg("d")
		if regs == nil {
			regs = op.Arg("b")
		}
		if s := op.Mods().Shape; rows != nil && regs != nil && s.M == 8 && s.N == 8 {
			return access{kind: rowAccess, addr: rows, size: 16, matrices: len(regs.Elements())}
		}
		return access{kind: otherAccess}
	}
	a, ok := op.Access()
	switch {
	case !ok:
		if e := op.Effect(); e == optab.MemCopy || e == optab.MemOther && op.Form().Group != "sync" {
			return access{kind: otherAccess}
		}
		return access{}
	case a.Addr.Space == ir.KernelParam || a.Addr.Space == ir.FrameParam: // constants and registers on the hardware
		return access{}
	}
	return access{kind: plainAccess, addr: a.Addr, size: a.Size}
}

// request is an access of a warp: by lane the address within its space and the number of bytes.
type request struct {
	space [32]space
	addr  [32]uint64
	size  [32]uint32
}

// requests notes addresses before the operation is executed, which may overwrite the registers that hold them. Those
// of all lanes are taken: lanes that wait in a synchronising operation execute it together with the last.
func (a *access) requests(w *exec.Warp, m uint32, list *[2]request) int {
	if a.kind == otherAccess {
		return 0
	}
	if a.kind == rowAccess {
		m = ^uint32(0)
	}
	a.note(w, m, a.addr, &list[0])
	if a.kind != copyAccess {
		return 1
	}
	a.note(w, m, a.to, &list[1])
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if a.given != nil {
			list[0].size[l] = min(w.R32(a.given.Ref)[l], a.size)
		}
		if a.ignored != nil && predicate(w, a.ignored)>>l&1 != 0 {
			list[0].size[l] = 0
		}
	}
	return 2
}

func predicate(w *exec.Warp, a *ir.Arg) uint32 {
	p := *(*uint32)(unsafe.Add(w.Base[a.Ref.Sel], a.Ref.Off))
	if a.Neg {
		p = ^p
	}
	return p
}

func (a *access) note(w *exec.Warp, m uint32, addr *ir.Arg, r *request) {
	mem := w.CTA.Launch.Mem
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := uint64(addr.Disp)
		if b := addr.Base; b != nil {
			if b.Class == ir.W64 {
				v += w.R64(b.Ref)[l]
			} else {
				v += uint64(w.R32(b.Ref)[l])
			}
		}
		s, at := addr.Space, v
		if s == ir.Generic {
			switch s = w.SpaceOf(v); s {
			case ir.Shared:
				at -= mem.Base + mem.SharedOff
			case ir.Local:
				at -= mem.Base + mem.LocalOff
			}
		}
		r.addr[l], r.size[l] = at, a.size
		switch s {
		case ir.Shared, ir.SharedCluster:
			r.space[l] = shared
		case ir.Local:
			r.space[l] = local
		case ir.Const, ir.KernelParam:
			r.space[l] = constant
		default:
			r.space[l] = global
		}
	}
}

// record adds a request of the lanes of m.
func (a *access) record(w *exec.Warp, r *request, m uint32, c *count) {
	var lanes [spaces]uint32
	var sum [spaces]uint64
	if a.kind == rowAccess {
		m = uint32(1<<(8*a.matrices) - 1) // 8 lanes a matrix, at most 32
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if r.size[l] != 0 {
			lanes[r.space[l]] |= 1 << l
			sum[r.space[l]] += uint64(r.size[l])
		}
	}
	for s, m := range lanes {
		if m == 0 {
			continue
		}
		n := uint64(bits.OnesCount32(m))
		var units, ideal uint64
		switch space(s) {
		case global:
			units, ideal = r.sectors(m), (sum[s]+sectorBytes-1)/sectorBytes
		case local:
			units, ideal = r.localSectors(m), (max(sum[s], bankBytes*n)+sectorBytes-1)/sectorBytes
		case shared:
			if a.kind == rowAccess { // matrix by matrix
				for k := range a.matrices {
					units += r.passes(m & (0xff << (8 * k)))
				}
			} else {
				units = r.passes(m)
			}
			ideal = (sum[s] + banks*bankBytes - 1) / (banks * bankBytes)
		case constant:
			units, ideal = r.different(m), 1
		}
		t := &c.traffic[s]
		t.requests.Add(1)
		t.bytes.Add(sum[s])
		t.units.Add(units)
		t.ideal.Add(min(ideal, units))
	}
}

// set holds the different numbers that were put into it.
type set struct {
	n    int
	have [256]uint64
}

func (s *set) put(v uint64) {
	for i := s.n - 1; i >= 0; i-- {
		if s.have[i] == v {
			return
		}
	}
	s.have[s.n] = v
	s.n++
}

// most is the largest access of a lane in bytes: 32 lanes then touch 256 words at most.
const most = 32

// sectors counts the 32-byte sectors that lanes touch.
func (r *request) sectors(m uint32) uint64 {
	var seen set
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		last := r.addr[l] + uint64(min(r.size[l], most)) - 1
		for v := r.addr[l] / sectorBytes; v <= last/sectorBytes; v++ {
			seen.put(v)
		}
	}
	return uint64(seen.n)
}

// localSectors counts the 32-byte sectors of local memory, where words of the same address of consecutive threads lie
// side by side (CUDA C++ Programming Guide, "Local Memory").
func (r *request) localSectors(m uint32) uint64 {
	var seen set
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		last := r.addr[l] + uint64(min(r.size[l], most)) - 1
		for v := r.addr[l] / bankBytes; v <= last/bankBytes; v++ {
			seen.put(v*(banks*bankBytes/sectorBytes) + uint64(l*bankBytes/sectorBytes))
		}
	}
	return uint64(seen.n)
}

// passes counts the passes over the banks of shared memory. Lanes that want the same word share it; different words of
// one bank take one pass each.
func (r *request) passes(m uint32) uint64 {
	var words [banks]struct {
		n    int
		have [32]uint64
	}
	top := 0
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		last := r.addr[l] + uint64(min(r.size[l], most)) - 1
	next:
		for v := r.addr[l] / bankBytes; v <= last/bankBytes; v++ {
			b := &words[v%banks]
			for _, x := range b.have[:b.n] {
				if x == v {
					continue next
				}
			}
			b.have[b.n] = v
			b.n++
			top = max(top, b.n)
		}
	}
	return uint64(top)
}

// different counts the different addresses.
func (r *request) different(m uint32) uint64 {
	var seen set
	for ; m != 0; m &= m - 1 {
		seen.put(r.addr[bits.TrailingZeros32(m)])
	}
	return uint64(seen.n)
}
