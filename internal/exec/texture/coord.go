package texture

import "math"

// coordinateUnit is how many parts of 1 the texture unit tells apart in a normalised coordinate: it keeps 21 fractional
// bits, 22 from 8,193 texels on and 23 from 65,537 on (recorded for 22 sizes from 3 to 131,071; the last limit lies
// between 65,535 and 100,001).
func coordinateUnit(size uint32) float64 {
	switch {
	case size > 1<<16:
		return 1 << 23
	case size > 1<<13:
		return 1 << 22
	}
	return 1 << 21
}

// scaled is a coordinate in texels: u times the size for normalised coordinates.
func scaled(u float32, size uint32, normalized bool) float64 {
	x := float64(u)
	if normalized {
		unit := coordinateUnit(size)
		x = math.Floor(x*unit) * float64(size) / unit
	}
	const far = 1 << 40 // texels; nothing is this large, and it is where conversions to integers stay safe
	switch {
	case x != x:
		return 0 // not recorded
	case x > far:
		return far
	case x < -far:
		return -far
	}
	return x
}

// fixed is x - 0.5 in steps of 1/256; a tie goes up.
func fixed(x float64) int64 { return int64(math.Floor(x*256 - 127.5)) }

// place is a texel index along one dimension: -1 is the border.
func place(i int64, size uint32, mode AddressMode, normalized bool) int64 {
	n := int64(size)
	if i >= 0 && i < n {
		return i
	}
	if !normalized && (mode == Wrap || mode == Mirror) {
		mode = Clamp // CUtexture addressing: wrap and mirror need normalised coordinates
	}
	switch mode {
	case Wrap:
		if i %= n; i < 0 {
			i += n
		}
		return i
	case Mirror:
		if i %= 2 * n; i < 0 {
			i += 2 * n
		}
		if i >= n {
			i = 2*n - 1 - i
		}
		return i
	case Border:
		return -1
	}
	return min(max(i, 0), n-1)
}

// span is the footprint of a filtered fetch along one dimension: two texels and the weight of the second in 1/256.
type span struct {
	i [2]int64
	w int32
}

// along finds the footprint. off is the instruction's texel offset.
func along(x float64, off int32, size uint32, mode AddressMode, normalized bool) span {
	f := fixed(x) + int64(off)<<8
	i, w := f>>8, int32(f&255)
	if mode == Clamp || !normalized && mode != Border {
		switch {
		case i < 0:
			return span{}
		case i >= int64(size)-1:
			return span{i: [2]int64{int64(size) - 1, int64(size) - 1}}
		}
	}
	return span{[2]int64{place(i, size, mode, normalized), place(i+1, size, mode, normalized)}, w}
}

// nearest is the texel of a point-sampled fetch.
func nearest(x float64, off int32, size uint32, mode AddressMode, normalized bool) int64 {
	return place(int64(math.Floor(x))+int64(off), size, mode, normalized)
}
