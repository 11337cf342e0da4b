package num

import (
	"math"
	"math/bits"
	"testing"

	"github.com/gocuda/cuda/internal/num/numtest"
)

// TestApproxRows shows that the results of a row determine it: no C0, C1 and C2 give them all but the row's own, within
// 64 units of its C1 and C2. A C2 further away bends the curve by more than the result's last place, whatever the
// others; with a C2 in this range, a C1 further away tilts it by more.
func TestApproxRows(t *testing.T) {
	step := 8 // every eighth row, unless -all says every one
	if *numtest.All {
		step = 1
	}
	for name, c := range map[string]struct {
		curve
		cut   int // the bit that the value is cut to
		exact int // the unit takes no value from the table for multiples of this
	}{
		"rcp": {rcpCurve, 0, 1 << 23}, "rsqrt": {rsqrtCurve, 0, 1 << 24}, "sqrt": {sqrtCurve, 0, 1 << 24},
		"ex2": {ex2Curve, 0, 1 << 24},
		"lg2": {lg2Curve, 4, 1 << 23}, "sin": {sinCurve, 3, 1 << 24},
	} {
		t.Run(name, func(t *testing.T) {
			for s := 0; s < len(c.seg); s += step {
				onlyRow(t, &c.curve, s, c.cut, s<<c.n%c.exact == 0)
			}
		})
	}
	t.Run("tanh", func(t *testing.T) {
		for i, o := range tanhOctaves {
			c := curve{seg: tanhTable[:], n: 17, low: 19, shift: [3]uint{16, uint(o.shift), uint(o.shift)}}
			for s := range 1 << o.man {
				if at := int(o.first) + s; at%step == 0 {
					onlyRow(t, &c, at, 0, i+s == 0)
				}
			}
		}
	})
}

// onlyRow looks for other rows than row s that give its results, the first of which counts unless skip is set.
func onlyRow(t *testing.T, c *curve, s, cut int, skip bool) {
	t.Helper()
	shift := c.shift
	if s >= len(c.seg)/2 {
		shift[1] += c.c1Extra
	}
	type bound struct{ n, q, lo, hi int64 } // lo and hi: how far the value may move
	var all []bound
	for i := range uint32(1) << c.n {
		n := bits.Reverse32(i) >> (32 - c.n) // the ones far from each other first
		if n == 0 && skip {
			continue
		}
		v := c.at(uint32(s)<<c.n | n)
		// Results are cut to 24 bits.
		last := max(bits.Len64(uint64(max(v, 0)))-24, cut)
		lo := v>>last<<last - v
		all = append(all, bound{int64(n) << shift[1], int64(square(n, c.low)) << shift[2], lo, lo + 1<<last - 1})
	}
	const far = 64
	for c2 := int64(-far); c2 <= far; c2++ {
		for c1 := int64(-far); c1 <= far; c1++ {
			lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
			for _, b := range all {
				move := c1*b.n + c2*b.q
				if lo, hi = max(lo, b.lo-move), min(hi, b.hi-move); lo > hi {
					break
				}
			}
			lo, hi = -(-lo >> shift[0]), hi>>shift[0] // of C0
			if own := c1 == 0 && c2 == 0; own && (lo != 0 || hi != 0) || !own && lo <= hi {
				t.Errorf("row %d: C0%+d to %+d, C1%+d, C2%+d give the same results", s, lo, hi, c1, c2)
			}
		}
	}
}
