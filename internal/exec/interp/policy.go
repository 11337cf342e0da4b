package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// resolveDiscard is discard.L2: the data may be lost without being written back; keeping them is a legal outcome.
func resolveDiscard(in *inst, op *ir.Op) error { return resolveNothing(in, op) }

// resolveConvertPolicy is createpolicy.cvt.
func resolveConvertPolicy(in *inst, op *ir.Op) error {
	in.fn = copyLanes(&op.Args[0], &op.Args[1])
	return nil
}

// resolveCreatepolicy is createpolicy. The policy is opaque and has no effect here; the fractional form has the bits
// that an H200 gives: the primary priority in bits 56 to 59, sixteenths of the fraction less one in bits 52 to 55, and
// bit 60.
func resolveCreatepolicy(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	primary := [...]uint64{optab.EvictUnchanged: 0, optab.EvictFirst: 2, optab.EvictLast: 4,
		optab.EvictNormal: 6}[op.Mods().Evict]
	f := op.Arg("f")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			frac := uint64(15)
			if f != nil && f.Reg() {
				x := math.Float32frombits(uint32(get(w, f, l)))
				frac = uint64(max(0, min(15, math.Ceil(float64(x)*16)-1)))
			}
			set(w, d, l, 1<<60|primary<<56|frac<<52)
		}
	}
	return nil
}
