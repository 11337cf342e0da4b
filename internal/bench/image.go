package bench

import "math"

// The cosine and the sine of the angle by which images are turned.
const turnCos, turnSin = float32(0.8), float32(0.6)

// turned gives for each pixel of an image of width w that is turned about its centre the four texels between which it
// lies, the nearest ones outside, and where between them.
func turned(w int, pixel func(at int, texel [4]int, x, y float64) error) error {
	clamp := func(i int) int { return min(max(i, 0), w-1) }
	c, s, h := float64(turnCos), float64(turnSin), float64(w)/2
	for at := range w * w {
		i, j := float64(at%w)+0.5-h, float64(at/w)+0.5-h
		x, y := c*i-s*j+h-0.5, s*i+c*j+h-0.5
		l, t := int(math.Floor(x)), int(math.Floor(y))
		l0, l1, t0, t1 := clamp(l), clamp(l+1), clamp(t)*w, clamp(t+1)*w
		if err := pixel(at, [4]int{t0 + l0, t0 + l1, t1 + l0, t1 + l1}, x-float64(l), y-float64(t)); err != nil {
			return err
		}
	}
	return nil
}

func between(v [4]float64, x, y float64) float64 {
	return (1-y)*((1-x)*v[0]+x*v[1]) + y*((1-x)*v[2]+x*v[3])
}

// bilinear's tolerance is 2^-8 for each direction: a texture unit's weights have eight fractional bits.
func bilinear(c *Case, s Size) {
	w := s.pick(1024, 128, 64)
	c.n = w
	c.work(float64(w*w), "pixels")
	c.output(4 * w * w)
	c.texture(floats(w*w, 30, 0, 1), w, false)
	c.i32(w)
	c.f32(float32(w) / 2)
	c.f32(turnCos)
	c.f32(turnSin)
	c.shape(w/32, w/8, 32, 8)
	c.verify = func(c *Case, got [][]byte) error {
		o, image := as[float32](got[0]), as[float32](c.buffers[1].init)
		return turned(w, func(at int, texel [4]int, x, y float64) error {
			var v [4]float64
			for k, i := range texel {
				v[k] = float64(image[i])
			}
			if want := between(v, x, y); !near(float64(o[at]), want, 0, 1./128) {
				return wrong("at %d: %g not %g", at, o[at], want)
			}
			return nil
		})
	}
}

// bilinearRGBA's tolerance is that of bilinear, and half a level for the rounding.
func bilinearRGBA(c *Case, s Size) {
	w := s.pick(1024, 128, 64)
	c.n = w
	c.work(float64(w*w), "pixels")
	c.output(4 * w * w)
	c.texture(raw(randomWords(w*w, 31)), w, true)
	c.i32(w)
	c.f32(1 / float32(w))
	c.f32(turnCos)
	c.f32(turnSin)
	c.shape(w/32, w/8, 32, 8)
	c.verify = func(c *Case, got [][]byte) error {
		image := c.buffers[1].init
		return turned(w, func(at int, texel [4]int, x, y float64) error {
			for channel := range 4 {
				var v [4]float64
				for k, i := range texel {
					v[k] = float64(image[4*i+channel])
				}
				if want, g := between(v, x, y), got[0][4*at+channel]; !near(float64(g), want, 0, 255./128+0.5) {
					return wrong("at %d, channel %d: %d not %g", at, channel, g, want)
				}
			}
			return nil
		})
	}
}
