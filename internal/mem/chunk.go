package mem

import "math/bits"

// chunkUnits is the number of units of MinAlign bytes in a granule.
const chunkUnits = Granule / MinAlign

// chunk keeps the units of a granule that small allocations share; the heap's lock guards it.
type chunk struct {
	used   [chunkUnits / 64]uint64 // bit for each unit
	free   int                     // units
	room   int                     // no run of free units is longer
	cursor int                     // where the search begins: freed units are used again as late as possible
	index  int                     // place in the heap's list of chunks with free units; -1 when not there
}

func newChunk() *chunk { return &chunk{free: chunkUnits, room: chunkUnits, index: -1} }

// take finds and takes n free units at a multiple of step, which is a power of two.
func (c *chunk) take(n, step int) (at int, ok bool) {
	if n > c.room {
		return 0, false
	}
	at, ok = c.find(c.cursor, n, step)
	if !ok {
		if at, ok = c.find(0, n, step); !ok {
			if step == 1 {
				c.room = n - 1
			}
			return 0, false
		}
	}
	c.mark(at, n, true)
	c.free -= n
	c.cursor = at + n
	return at, true
}

// release gives units back.
func (c *chunk) release(at, n int) {
	c.mark(at, n, false)
	c.free += n
	c.room = chunkUnits
}

func (c *chunk) find(from, n, step int) (int, bool) {
	for at := from; ; {
		at = (c.next(at, false) + step - 1) &^ (step - 1)
		if at+n > chunkUnits {
			return 0, false
		}
		end := c.next(at, true)
		if end-at >= n {
			return at, true
		}
		at = end
	}
}

// next returns the first unit from at on that is used or not used; chunkUnits when there is none.
func (c *chunk) next(at int, used bool) int {
	for i := at / 64; i < len(c.used); i++ {
		w := c.used[i]
		if !used {
			w = ^w
		}
		if i == at/64 {
			w &= ^uint64(0) << (at % 64)
		}
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return chunkUnits
}

func (c *chunk) mark(at, n int, used bool) {
	for end := at + n; at < end; {
		k := min(end-at, 64-at%64)
		m := (^uint64(0) >> (64 - k)) << (at % 64)
		if used {
			c.used[at/64] |= m
		} else {
			c.used[at/64] &^= m
		}
		at += k
	}
}
