//go:build !race || !amd64

package mem

import "sync/atomic"

// AddUint32 adds n to the word at p, which may be device memory that is no longer mapped: then it faults as a plain
// access does.
func AddUint32(p *uint32, n uint32) { atomic.AddUint32(p, n) }

// LoadUint32 is the word at p, with the conditions of AddUint32.
func LoadUint32(p *uint32) uint32 { return atomic.LoadUint32(p) }

// LoadUint64 is the word of 64 bits at p, with the conditions of AddUint32.
func LoadUint64(p *uint64) uint64 { return atomic.LoadUint64(p) }

// CompareAndSwapUint32 writes n over old at p and says whether it did, with the conditions of AddUint32.
func CompareAndSwapUint32(p *uint32, old, n uint32) bool {
	return atomic.CompareAndSwapUint32(p, old, n)
}

// CompareAndSwapUint64 is CompareAndSwapUint32 for 64 bits.
func CompareAndSwapUint64(p *uint64, old, n uint64) bool {
	return atomic.CompareAndSwapUint64(p, old, n)
}
