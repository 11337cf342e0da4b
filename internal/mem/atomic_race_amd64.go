//go:build race

package mem

// Under the race detector sync/atomic works in C, where a fault at an address ends the process instead of becoming a
// panic. Memory of a device may be unmapped at any time, and kernels are allowed to race: these do without the
// detector.

// AddUint32 adds n to the word at p, which may be device memory that is no longer mapped: then it faults as a plain
// access does.
//
//go:noescape
func AddUint32(p *uint32, n uint32)

// LoadUint32 is the word at p, with the conditions of AddUint32.
//
//go:noescape
func LoadUint32(p *uint32) uint32

// LoadUint64 is the word of 64 bits at p, with the conditions of AddUint32.
//
//go:noescape
func LoadUint64(p *uint64) uint64

// CompareAndSwapUint32 writes n over old at p and says whether it did, with the conditions of AddUint32.
//
//go:noescape
func CompareAndSwapUint32(p *uint32, old, n uint32) bool

// CompareAndSwapUint64 is CompareAndSwapUint32 for 64 bits.
//
//go:noescape
func CompareAndSwapUint64(p *uint64, old, n uint64) bool
