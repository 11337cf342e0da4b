package texture

import "math"

// faceOf projects a direction on a face of the cube and gives coordinates from 0 to 1 on it (CUDA Programming Guide,
// "Cubemap Textures"). Of components that are equal z counts before y before x, as an H200 has it; where the greatest
// is 0 or above 2^126 it is the middle of face 4, and a NaN beside it is the middle of its row or column (recorded).
func faceOf(x, y, z float32) (face uint32, s, t float32) {
	ax, ay, az := abs(x), abs(y), abs(z)
	var m, u, v float32
	switch {
	case ax > ay && ax > az:
		m, u, v = ax, -z, -y
		if math.Signbit(float64(x)) {
			face, u = 1, z
		}
	case ay > az:
		face, m, u, v = 2, ay, x, z
		if math.Signbit(float64(y)) {
			face, v = 3, -z
		}
	default:
		face, m, u, v = 4, az, x, -y
		if math.Signbit(float64(z)) {
			face, u = 5, -x
		}
	}
	if m == 0 || m != m || m > 0x1p126 { // its reciprocal is infinite, NaN or 0
		return 4, 0.5, 0.5
	}
	return face, onFace(u, m), onFace(v, m)
}

func onFace(u, m float32) float32 {
	if u != u {
		return 0.5
	}
	return float32((float64(u)/float64(m) + 1) / 2)
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// direction is the inverse of faceOf: from coordinates between -1 and 1 on a face, or a little outside, to a direction.
func direction(face uint32, u, v float64) (x, y, z float64) {
	switch face {
	case 0:
		return 1, -v, -u
	case 1:
		return -1, -v, u
	case 2:
		return u, 1, v
	case 3:
		return u, -1, -v
	case 4:
		return u, -v, 1
	}
	return -u, -v, -1
}

// seamless fetches from a cubemap with filtering across its edges (CU_TRSF_SEAMLESS_CUBEMAP). A texel outside the face
// is the one of the neighbouring face; at a corner, where there is no fourth texel, its weight goes to the other three
// (not recorded).
func (t *Texture) seamless(f *Fetch, l *Level, layer uint32, x, y float32) [4]uint32 {
	sx, sy := scaled(x, l.Width, true), scaled(y, l.Height, true)
	if !f.Gather && (!t.Sampler.Linear || t.reading() == asInteger) {
		p := tap{x: uint32(nearest(sx, 0, l.Width, Clamp, true)), y: uint32(nearest(sy, 0, l.Height, Clamp, true)),
			z: layer}
		return t.compared(t.one(l, p), f)
	}
	fx, fy := fixed(sx), fixed(sy)
	w := weights(int32(fx&255), int32(fy&255), 0)
	var taps [4]tap
	corner := -1
	for k := range taps {
		var ok bool
		if taps[k], ok = t.across(l, layer, fx>>8+int64(k&1), fy>>8+int64(k>>1)); !ok {
			corner = k
		}
	}
	if corner >= 0 {
		third := w[corner] / 3
		for k := range taps {
			if k != corner {
				w[k] += third
			}
		}
		w[corner^3] += w[corner] - 3*third
		w[corner] = 0
		taps[corner] = taps[corner^3]
	}
	if f.Gather {
		return t.gather(l, []tap{taps[2], taps[3], taps[1], taps[0]}, f)
	}
	return t.filter(l, taps[:], w[:4], f)
}

// across finds a texel of a face or, one step outside it, of the neighbour; false at a corner.
func (t *Texture) across(l *Level, layer uint32, i, j int64) (tap, bool) {
	n := int64(l.Width)
	outX, outY := i < 0 || i >= n, j < 0 || j >= n
	switch {
	case outX && outY:
		return tap{}, false
	case !outX && !outY:
		return tap{x: uint32(i), y: uint32(j), z: layer}, true
	}
	// The texel's centre, seen from the centre of the cube, lies on the neighbouring face.
	u, v := float64(2*i+1)/float64(n)-1, float64(2*j+1)/float64(n)-1
	x, y, z := direction(layer%6, u, v)
	face, s, q := faceOf(float32(x), float32(y), float32(z))
	at := func(c float32) uint32 {
		return uint32(place(int64(math.Floor(float64(c)*float64(n))), l.Width, Clamp, true))
	}
	return tap{x: at(s), y: at(q), z: layer/6*6 + face}, true
}
