package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// resolveDiscard is discard.L2: the data may be lost without being written back; keeping them is a legal outcome.
func resolveDiscard(in *inst, op *ir.Op) error { return resolveNothing(in, op) }

// resolveCreatepolicy is createpolicy. The policy is opaque and has no effect here; the fractional form has the bits that an H200 gives: the
// primary priority in bits 56 to 59, sixteenths of the fraction less one in bits 52 to 55, and bit 60.
func resolveCreatepolicy(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	if op.Match.Has("cvt") {
		in.fn = copyLanes(d, &op.Args[1])
		return nil
	}
	prio := map[string]uint64{"L2::evict_unchanged": 0, "L2::evict_first": 2, "L2::evict_last": 4, "L2::evict_normal": 6}
	primary := uint64(0)
	for _, w := range op.Match.Words {
		if p, ok := prio[w]; ok {
			primary = p
			break
		}
	}
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
