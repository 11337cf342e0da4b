package texture

import "math"

// Coord is where a fetch reads.
type Coord struct {
	X, Y, Z float32  // texture coordinates, or the direction into a cubemap
	I       [3]int32 // integer coordinates
	Layer   uint32
	Offset  [3]int32 // in texels
}

// Fetch says what kind of fetch it is.
type Fetch struct {
	Integer bool  // I instead of X, Y, Z
	Gather  bool  // the four texels of the footprint instead of their mean
	Comp    uint8 // channel of a gather
	Compare bool  // compare texels with Ref first
	Level   float32
	Lod     Lod
	DX, DY  [3]float32 // derivatives, for Grad
	Ref     float32
}

// Lod says how a fetch chooses the level.
type Lod uint8

// The ways to choose a level (PTX ISA tex: .base, .level, .grad).
const (
	Base Lod = iota
	Explicit
	Grad
)

// Fetch reads the texture: four float32 or integers. Of a gather, the texels counter-clockwise from the lower left.
func (t *Texture) Fetch(c *Coord, f *Fetch) [4]uint32 {
	if f.Integer {
		return t.whole(c, f)
	}
	if t.Image.Linear && t.Dims == 1 {
		i := *c
		// linear memory has no filter; the guide fetches it by integers only
		i.I[0] = int32(scaled(c.X, t.Levels[0].Width, false))
		return t.whole(&i, f)
	}
	lo, hi, w := t.levels(f)
	n, along := t.anisotropic(f, &lo, &hi, &w)
	if n <= 1 {
		return t.mip(c, f, lo, hi, w)
	}
	// The mean of n fetches along the longer axis of the footprint.
	var sum [4]float64
	for i := range n {
		at := *c
		d := (float32(i)+0.5)/float32(n) - 0.5
		at.X += float32(d * along[0])
		at.Y += float32(d * along[1])
		at.Z += float32(d * along[2])
		v := t.mip(&at, f, lo, hi, w)
		for k := range v {
			sum[k] += float64(math.Float32frombits(v[k]))
		}
	}
	var out [4]uint32
	for k := range out {
		out[k] = math.Float32bits(float32(sum[k] / float64(n)))
	}
	return out
}

// mip fetches from one level or between two.
func (t *Texture) mip(c *Coord, f *Fetch, lo, hi int, w int32) [4]uint32 {
	a := t.level(c, f, lo)
	if w == 0 || lo == hi || t.reading() == asInteger {
		return a
	}
	b := t.level(c, f, hi)
	for k := range a {
		a[k] = single.blend([]uint32{a[k], b[k]}, []int32{256 - w, w})
	}
	return a
}

// whole is a fetch by integer coordinates: no filter, and zeros outside. All of a plain 1D array is outside: such a
// fetch reads linear memory (recorded). A fetch from a level that is named clamps its coordinates instead, whatever the
// address modes; a level that the image does not have is outside (recorded for 2D and 3D images and layers of 1D ones).
func (t *Texture) whole(c *Coord, f *Fetch) [4]uint32 {
	if t.Dims == 1 && !t.Layered && !t.Image.Linear {
		return [4]uint32{}
	}
	n := 0
	if f.Lod == Explicit {
		n = int(math.Floor(float64(f.Level)))
	}
	if n < 0 || n >= len(t.Levels) {
		return [4]uint32{}
	}
	l := &t.Levels[n]
	x, y, z := int64(c.I[0])+int64(c.Offset[0]), int64(0), int64(0)
	if t.Dims >= 2 {
		y = int64(c.I[1]) + int64(c.Offset[1])
	}
	switch {
	case t.Layered:
		z = int64(min(c.Layer, l.Depth-1))
	case t.Dims == 3:
		z = int64(c.I[2]) + int64(c.Offset[2])
	}
	if f.Lod == Explicit && !t.Image.Linear {
		x, y, z = min(max(x, 0), int64(l.Width)-1), min(max(y, 0), int64(l.Height)-1), min(max(z, 0), int64(l.Depth)-1)
	}
	if x < 0 || y < 0 || z < 0 || x >= int64(l.Width) || y >= int64(l.Height) || z >= int64(l.Depth) {
		return [4]uint32{}
	}
	v := t.Format.fetch(l, uint32(x), uint32(y), uint32(z))
	return t.compared(t.finish(v, t.reading()), f)
}

// compared replaces the channels of a texel by the outcome of the depth comparison. The API gives no way to choose the
// function; this is the usual one, reference less than or equal to the texel (not recorded).
func (t *Texture) compared(v [4]uint32, f *Fetch) [4]uint32 {
	if !f.Compare {
		return v
	}
	r := uint32(0)
	if f.Ref <= math.Float32frombits(v[0]) {
		r = one
	}
	return [4]uint32{r, r, r, one}
}

// tap is one texel of a footprint: indices that lie in the level, or the border.
type tap struct {
	x, y, z uint32
	border  bool
}

// level fetches from one level.
func (t *Texture) level(c *Coord, f *Fetch, n int) [4]uint32 {
	l := &t.Levels[n]
	layer := min(c.Layer, t.layers()-1)
	x, y, z := c.X, c.Y, c.Z
	address, normalized := t.Address, t.Normalized
	if t.Cube {
		face, s, u := faceOf(x, y, z)
		layer = layer*6 + face
		x, y, normalized = s, u, true
		if t.Seamless {
			return t.seamless(f, l, layer, x, y)
		}
		for i := range address { // faces are clamped unless a border was asked for
			if address[i] != Border {
				address[i] = Clamp
			}
		}
	}
	if t.Dims == 1 {
		y = 0
	}
	volume := t.Dims == 3
	sx, sy, sz := scaled(x, l.Width, normalized), scaled(y, l.Height, normalized), 0.0
	if volume {
		sz = scaled(z, l.Depth, normalized)
	}
	var taps [8]tap
	put := func(k int, x, y, z int64) {
		if x < 0 || y < 0 || z < 0 {
			taps[k] = tap{border: true}
			return
		}
		if !volume {
			z = int64(layer)
		}
		taps[k] = tap{x: uint32(x), y: uint32(y), z: uint32(z)}
	}
	if !f.Gather && !t.Sampler.Linear {
		i := nearest(sx, c.Offset[0], l.Width, address[0], normalized)
		j := nearest(sy, c.Offset[1], l.Height, address[1], normalized)
		k := int64(0)
		if volume {
			k = nearest(sz, c.Offset[2], l.Depth, address[2], normalized)
		}
		put(0, i, j, k)
		return t.compared(t.one(l, taps[0]), f)
	}
	hx := along(sx, c.Offset[0], l.Width, address[0], normalized)
	hy := along(sy, c.Offset[1], l.Height, address[1], normalized)
	if f.Gather {
		// Clamping of the footprint leaves both texels the same at the edges.
		hx, hy = pair(sx, c.Offset[0], l.Width, address[0], normalized),
			pair(sy, c.Offset[1], l.Height, address[1], normalized)
		put(0, hx.i[0], hy.i[1], 0)
		put(1, hx.i[1], hy.i[1], 0)
		put(2, hx.i[1], hy.i[0], 0)
		put(3, hx.i[0], hy.i[0], 0)
		return t.gather(l, taps[:4], f)
	}
	n8 := 4
	var hz span
	if volume {
		hz = along(sz, c.Offset[2], l.Depth, address[2], normalized)
		n8 = 8
	}
	for k := range n8 {
		put(k, hx.i[k&1], hy.i[k>>1&1], hz.i[k>>2])
	}
	w := weights(hx.w, hy.w, hz.w)
	return t.filter(l, taps[:n8], w[:n8], f)
}

// pair is along without the clamp of the coordinate.
func pair(x float64, off int32, size uint32, mode AddressMode, normalized bool) span {
	i := fixed(x)>>8 + int64(off)
	return span{i: [2]int64{place(i, size, mode, normalized), place(i+1, size, mode, normalized)}}
}

// texel is what stands at one place of a footprint.
func (t *Texture) texel(l *Level, p tap, r reading) texel {
	if p.border {
		return t.border(r)
	}
	return t.Format.fetch(l, p.x, p.y, p.z)
}

// one is the result of a fetch of a single texel.
func (t *Texture) one(l *Level, p tap) [4]uint32 {
	r := t.reading()
	return t.finish(t.texel(l, p, r), r)
}

// gather takes one channel of each tap. Subnormal numbers become zero of their sign, which they do not where a texel is
// fetched (recorded).
func (t *Texture) gather(l *Level, taps []tap, f *Fetch) (out [4]uint32) {
	const sign, exponent = 1 << 31, 0xff << 23
	for i, p := range taps {
		v := t.compared(t.one(l, p), f)[f.Comp]
		if v&exponent == 0 && t.reading() != asInteger {
			v &= sign
		}
		out[i] = v
	}
	return out
}

// filter is the weighted mean of a footprint.
func (t *Texture) filter(l *Level, taps []tap, w []int32, f *Fetch) (out [4]uint32) {
	r := t.reading()
	p := single
	switch {
	case f.Compare:
	case r == asSRGB:
		p = srgb
	case r == asFloat && t.Format.Bits == 16:
		p = half
	}
	raw := (r == asUnorm || r == asSnorm) && !f.Compare // these are blended as the integers that stand in memory
	var column [4][8]uint32
	var alpha [8]uint32 // of sRGB, which is blended as it stands
	for i, tap := range taps {
		var v [4]uint32
		switch {
		case w[i] == 0:
			continue
		case raw:
			v = t.texel(l, tap, r)
		case r == asSRGB:
			x := t.texel(l, tap, r)
			alpha[i] = x[3]
			v = t.compared(t.finish(x, r), f)
		default:
			v = t.compared(t.one(l, tap), f)
		}
		for k := range v {
			column[k][i] = v[k]
		}
	}
	n := len(taps)
	for k := range out {
		switch {
		case k >= int(t.Format.Channels) && !f.Compare:
			return out
		case r == asInteger:
			out[k] = blendInteger(column[k][:n], w, t.Format)
		case r == asSRGB && k == 3 && !f.Compare:
			out[k] = blendUnorm(alpha[:n], w, t.Format.Bits)
		case raw && r == asUnorm:
			out[k] = blendUnorm(column[k][:n], w, t.Format.bits(k))
		case raw:
			out[k] = blendSnorm(column[k][:n], w, t.Format.Bits)
		default:
			out[k] = p.blend(column[k][:n], w)
		}
	}
	return out
}
