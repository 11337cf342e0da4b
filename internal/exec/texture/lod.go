package texture

import "math"

// levels chooses the level or the two levels between which a fetch reads, and the weight of the second in 1/256.
func (t *Texture) levels(f *Fetch) (lo, hi int, w int32) {
	last := len(t.Levels) - 1
	if last == 0 {
		return 0, 0, 0
	}
	lod := 0.0
	switch f.Lod {
	case Explicit:
		lod = float64(f.Level)
	case Grad:
		major, _, _ := t.footprint(f)
		lod = math.Log2(major)
	}
	return t.between(lod, last)
}

// between applies bias and clamps to a level of detail (CUDA_TEXTURE_DESC).
func (t *Texture) between(lod float64, last int) (lo, hi int, w int32) {
	lod += float64(t.Bias)
	lod = min(max(lod, float64(t.MinLevel)), float64(t.MaxLevel))
	if !(lod > 0) { // also a NaN, and the logarithm of 0
		return 0, 0, 0
	}
	lod = min(lod, float64(last))
	if !t.MipLinear {
		n := int(math.Floor(lod + 0.5))
		return n, n, 0
	}
	v := int64(math.Floor(lod*256 + 0.5)) // eight fractional bits, as coordinates have
	lo = int(v >> 8)
	return lo, min(lo+1, last), int32(v & 255)
}

// footprint is the length in texels of the longer and the shorter derivative, and the longer one in texture
// coordinates.
func (t *Texture) footprint(f *Fetch) (major, minor float64, axis [3]float32) {
	l := &t.Levels[0]
	size := [3]float64{1, 1, 1}
	if t.Normalized || t.Cube {
		size = [3]float64{float64(l.Width), float64(l.Height), float64(l.Depth)}
	}
	length := func(d *[3]float32) float64 {
		s := 0.0
		for i := range int(t.Dims) {
			v := float64(d[i]) * size[i]
			s += float64(v * v)
		}
		return math.Sqrt(s)
	}
	x, y := length(&f.DX), length(&f.DY)
	if x >= y {
		return x, y, f.DX
	}
	return y, x, f.DY
}

// anisotropic replaces the choice of a level for fetches with derivatives where the sampler allows more than one
// sample, in the way of the OpenGL extension EXT_texture_filter_anisotropic; what the hardware does is not documented.
func (t *Texture) anisotropic(f *Fetch, lo, hi *int, w *int32) (n int, axis [3]float32) {
	if f.Lod != Grad || t.Anisotropy <= 1 || !t.Sampler.Linear || t.reading() == asInteger || t.Cube ||
		len(t.Levels) == 1 {
		return 1, axis
	}
	major, minor, axis := t.footprint(f)
	n = int(t.Anisotropy)
	if minor > 0 {
		n = min(n, int(math.Ceil(min(major/minor, 16))))
	}
	if n <= 1 {
		return 1, axis
	}
	*lo, *hi, *w = t.between(math.Log2(major/float64(n)), len(t.Levels)-1)
	return n, axis
}
