package texture

// A block of BC6H has two ends for each subset, with three channels each: w is the first end, x the second, y and z
// those of the second subset. A layout says where their bits stand, behind the bits of the mode: pieces of a channel,
// an end, and a range of bits, the first of which is the lowest in the block.

// mode6 is a mode of BC6H.
type mode6 struct {
	subsets int
	base    int    // bits of the first end, and of all ends where they are not differences
	deltas  [3]int // bits of the others, by channel
	plain   bool   // the others are no differences to the first end
	layout  string
}

// modes6 are by the 2 or 5 bits of the mode. In a layout, "rw9-0" is bits 0 to 9 of red of w, "rw10-11" bits 11 and
// then 10, and "gy4" bit 4 of green of y.
var modes6 = map[uint32]mode6{
	0: {2, 10, [3]int{5, 5, 5}, false, "gy4 by4 bz4 rw9-0 gw9-0 bw9-0 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 bx4-0 bz1 " +
		"by3-0 ry4-0 bz2 rz4-0 bz3"},
	1: {2, 7, [3]int{6, 6, 6}, false, "gy5 gz4 gz5 rw6-0 bz0 bz1 by4 gw6-0 by5 bz2 gy4 bw6-0 bz3 bz5 bz4 rx5-0 gy3-0 " +
		"gx5-0 gz3-0 bx5-0 by3-0 ry5-0 rz5-0"},
	2: {2, 11, [3]int{5, 4, 4}, false, "rw9-0 gw9-0 bw9-0 rx4-0 rw10 gy3-0 gx3-0 gw10 bz0 gz3-0 bx3-0 bw10 bz1 by3-0 " +
		"ry4-0 bz2 rz4-0 bz3"},
	6: {2, 11, [3]int{4, 5, 4}, false, "rw9-0 gw9-0 bw9-0 rx3-0 rw10 gz4 gy3-0 gx4-0 gw10 gz3-0 bx3-0 bw10 bz1 by3-0 " +
		"ry3-0 bz0 bz2 rz3-0 gy4 bz3"},
	10: {2, 11, [3]int{4, 4, 5}, false, "rw9-0 gw9-0 bw9-0 rx3-0 rw10 by4 gy3-0 gx3-0 gw10 bz0 gz3-0 bx4-0 bw10 " +
		"by3-0 ry3-0 bz1 bz2 rz3-0 bz4 bz3"},
	14: {2, 9, [3]int{5, 5, 5}, false, "rw8-0 by4 gw8-0 gy4 bw8-0 bz4 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 bx4-0 bz1 by3-0 " +
		"ry4-0 bz2 rz4-0 bz3"},
	18: {2, 8, [3]int{6, 5, 5}, false, "rw7-0 gz4 by4 gw7-0 bz2 gy4 bw7-0 bz3 bz4 rx5-0 gy3-0 gx4-0 bz0 gz3-0 bx4-0 " +
		"bz1 by3-0 ry5-0 rz5-0"},
	22: {2, 8, [3]int{5, 6, 5}, false, "rw7-0 bz0 by4 gw7-0 gy5 gy4 bw7-0 gz5 bz4 rx4-0 gz4 gy3-0 gx5-0 gz3-0 bx4-0 " +
		"bz1 by3-0 ry4-0 bz2 rz4-0 bz3"},
	26: {2, 8, [3]int{5, 5, 6}, false, "rw7-0 bz1 by4 gw7-0 by5 gy4 bw7-0 bz5 bz4 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 " +
		"bx5-0 by3-0 ry4-0 bz2 rz4-0 bz3"},
	30: {2, 6, [3]int{6, 6, 6}, true, "rw5-0 gz4 bz0 bz1 by4 gw5-0 gy5 by5 bz2 gy4 bw5-0 gz5 bz3 bz5 bz4 rx5-0 gy3-0 " +
		"gx5-0 gz3-0 bx5-0 by3-0 ry5-0 rz5-0"},
	3:  {1, 10, [3]int{10, 10, 10}, true, "rw9-0 gw9-0 bw9-0 rx9-0 gx9-0 bx9-0"},
	7:  {1, 11, [3]int{9, 9, 9}, false, "rw9-0 gw9-0 bw9-0 rx8-0 rw10 gx8-0 gw10 bx8-0 bw10"},
	11: {1, 12, [3]int{8, 8, 8}, false, "rw9-0 gw9-0 bw9-0 rx7-0 rw10-11 gx7-0 gw10-11 bx7-0 bw10-11"},
	15: {1, 16, [3]int{4, 4, 4}, false, "rw9-0 gw9-0 bw9-0 rx3-0 rw10-15 gx3-0 gw10-15 bx3-0 bw10-15"},
}

// bit6 is where a bit of a block goes.
type bit6 struct{ end, channel, bit uint8 }

// layouts6 are the layouts, bit for bit.
var layouts6 = func() map[uint32][]bit6 {
	all := map[uint32][]bit6{}
	for id, m := range modes6 {
		all[id] = parseLayout6(m.layout)
	}
	return all
}()

func parseLayout6(text string) (bits []bit6) {
	number := func() (n int) {
		for ; text != "" && text[0] >= '0' && text[0] <= '9'; text = text[1:] {
			n = 10*n + int(text[0]-'0')
		}
		return n
	}
	for text != "" {
		b := bit6{channel: map[byte]uint8{'r': 0, 'g': 1, 'b': 2}[text[0]], end: text[1] - 'w'}
		text = text[2:]
		from := number()
		last := from
		if text != "" && text[0] == '-' {
			text = text[1:]
			last = number()
		}
		// As the tables of the format have it: the bit that is named last stands lowest.
		for n := last; ; {
			b.bit = uint8(n)
			bits = append(bits, b)
			if n == from {
				break
			}
			if n < from {
				n++
			} else {
				n--
			}
		}
		if text != "" {
			text = text[1:] // a space
		}
	}
	return bits
}

// decodeBC6H is texel i of a block as three numbers of half precision, zeros where the block has no mode.
func decodeBC6H(low, high uint64, i int, signed bool) (v [3]uint16) {
	r := bitReader{low, high}
	id := r.take(2)
	if id > 1 {
		id |= r.take(3) << 2
	}
	m, ok := modes6[id]
	if !ok {
		return v
	}
	var ends [4][3]int32
	for _, b := range layouts6[id] {
		ends[b.end][b.channel] |= int32(r.take(1)) << b.bit
	}
	partition, width := 0, 4
	if m.subsets == 2 {
		partition, width = int(r.take(5)), 3
	}
	anchors := anchorsOf(m.subsets, partition)
	s := subsetOf(m.subsets, partition, i)
	w := indexWeights[width][indexOf(&r, i, width, anchors)]
	for c := range 3 {
		for e := range ends {
			x := &ends[e][c]
			switch {
			case e == 0:
				if signed {
					*x = extend(*x, m.base)
				}
				continue
			case !m.plain:
				*x = (ends[0][c] + extend(*x, m.deltas[c])) & (1<<m.base - 1)
			}
			if signed {
				*x = extend(*x, m.base)
			}
		}
		a, b := ends[2*s][c], ends[2*s+1][c]
		v[c] = halfOf(between(widen6(a, m.base, signed), widen6(b, m.base, signed), w), signed)
	}
	return v
}

// extend takes the low bits of a number as a signed one.
func extend(x int32, bits int) int32 { return x << (32 - bits) >> (32 - bits) }

// widen6 brings a number of so many bits to 16.
func widen6(x int32, bits int, signed bool) int32 {
	switch {
	case !signed && (bits >= 15 || x == 0), signed && (bits >= 16 || x == 0):
		return x
	case !signed && x == 1<<bits-1:
		return 0xffff
	case !signed:
		return (x<<16 + 0x8000) >> bits
	}
	sign := int32(1)
	if x < 0 {
		x, sign = -x, -1
	}
	if x >= 1<<(bits-1)-1 {
		return sign * 0x7fff
	}
	return sign * ((x<<15 + 0x4000) >> (bits - 1))
}

// halfOf scales a number of 16 bits to the largest finite number of half precision.
func halfOf(x int32, signed bool) uint16 {
	switch {
	case !signed:
		return uint16(x * 31 >> 6)
	case x < 0 && -x*31>>5 != 0: // there is no negative zero
		return uint16(-x*31>>5) | 0x8000
	case x < 0:
		return 0
	}
	return uint16(x * 31 >> 5)
}
