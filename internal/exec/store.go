package exec

import (
	"math/bits"
	"unsafe"
)

// StorePhase is how many lanes of a warp a store of so many bytes a lane takes at a time. It says whose value stays
// when lanes of one store write to one address. The phases store one after another, lanes 0 and up first, each 128
// bytes; of a phase's lanes that write to one address the lowest one's value stays. So with up to 4 bytes a lane the
// warp's lowest active lane wins; with 8 bytes the lowest of lanes 16 to 31, if one of them writes there, else the
// lowest of the others; with 16 bytes the phases are of eight lanes. Memory-mapped I/O is stored lane by lane, so that
// the highest one wins.
//
// That holds for global and shared memory and for generic addresses, for all caching and ordering qualifiers, whatever
// lanes take part, and within each warp of a block: an H200 answered so in every run of every recorded kernel
// (race/ in exectest/testdata/lanes.json.gz).
func StorePhase(size int, mmio bool) int {
	if mmio {
		return 1
	}
	return min(32, max(1, 128/max(size, 1)))
}

// StoreLanes says which lanes of one store write: those of a phase to whose address no lower lane of it writes. So the
// lanes can store in ascending order, and the lowest one that cannot is the one whose fault is told.
type StoreLanes struct {
	phase int
	taken uint32 // lanes that were asked for
	at    [32]unsafe.Pointer
	last  uintptr // highest address
}

// StoresOf makes the StoreLanes of a store with phases of so many lanes.
func StoresOf(phase int) StoreLanes { return StoreLanes{phase: phase} }

// Writes says whether a lane, which is higher than those before, writes at its address.
func (s *StoreLanes) Writes(lane int, p unsafe.Pointer) bool {
	s.at[lane&31] = p
	higher := uintptr(p) > s.last
	taken := s.taken >> (lane &^ (s.phase - 1)) << (lane &^ (s.phase - 1))
	s.taken |= 1 << lane
	if higher {
		s.last = uintptr(p)
		return true
	}
	for m := taken; m != 0; m &= m - 1 {
		if s.at[bits.TrailingZeros32(m)&31] == p {
			return false
		}
	}
	return true
}
