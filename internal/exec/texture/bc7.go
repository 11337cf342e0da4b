package texture

// mode7 is a mode of BC7: how many subsets, and the bits of what a block has in this order: partition, rotation,
// selection of indices, each colour channel of each end, alpha likewise, a lowest bit of each end or of both ends of a
// subset, indices, second indices.
type mode7 struct {
	subsets, partition, rotation, selection, colour, alpha, endBits, sharedBits, index, second int
}

var modes7 = [8]mode7{
	{3, 4, 0, 0, 4, 0, 1, 0, 3, 0},
	{2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
	{3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
	{2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
	{1, 0, 2, 1, 5, 6, 0, 0, 2, 3},
	{1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
	{1, 0, 0, 0, 7, 7, 1, 0, 4, 0},
	{2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
}

// decodeBC7 is texel i of a block, zeros where the block has no mode.
func decodeBC7(low, high uint64, i int) (v texel) {
	r := bitReader{low, high}
	mode := 0
	for mode < len(modes7) && r.take(1) == 0 {
		mode++
	}
	if mode == len(modes7) {
		return v
	}
	m := &modes7[mode]
	partition, rotation, selection := int(r.take(m.partition)), r.take(m.rotation), r.take(m.selection)
	var ends [6][4]int32
	n := 2 * m.subsets
	for c := range 4 {
		width := m.colour
		if c == 3 {
			width = m.alpha
		}
		for e := range n {
			ends[e][c] = int32(r.take(width))
		}
	}
	var lowest [6]int32
	switch {
	case m.endBits != 0:
		for e := range n {
			lowest[e] = int32(r.take(1))
		}
	case m.sharedBits != 0:
		for s := range m.subsets {
			lowest[2*s] = int32(r.take(1))
			lowest[2*s+1] = lowest[2*s]
		}
	}
	more := m.endBits + m.sharedBits
	for e := range n {
		for c := range 4 {
			width := m.colour
			if c == 3 {
				width = m.alpha
			}
			if width == 0 { // there is no alpha
				ends[e][c] = 255
				continue
			}
			x := ends[e][c]<<more | lowest[e]
			width += more
			x <<= 8 - width
			ends[e][c] = x | x>>width
		}
	}
	anchors := anchorsOf(m.subsets, partition)
	s := subsetOf(m.subsets, partition, i)
	again := r
	again.skip(16*m.index - len(anchors)) // where the second indices begin
	w := indexWeights[m.index][indexOf(&r, i, m.index, anchors)]
	wa := w
	if m.second != 0 {
		wa = indexWeights[m.second][indexOf(&again, i, m.second, anchors)]
		if selection != 0 {
			w, wa = wa, w
		}
	}
	for c := range 3 {
		v[c] = uint32(between(ends[2*s][c], ends[2*s+1][c], w))
	}
	v[3] = uint32(between(ends[2*s][3], ends[2*s+1][3], wa))
	if rotation != 0 {
		v[3], v[rotation-1] = v[rotation-1], v[3]
	}
	return v
}

func (r *bitReader) skip(n int) {
	for ; n > 0; n -= 32 {
		r.take(min(n, 32))
	}
}
