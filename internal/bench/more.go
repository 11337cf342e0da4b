package bench

import "math"

// rowLength is the length of a row of softmax and layernorm.
const rowLength = 1024

// eachRow are the rows that are checked.
func (c *Case) eachRow(check func(first int) error) error {
	step := 1
	if c.n > 64 {
		step = 31
	}
	for r := 0; r < c.n; r += step {
		if err := check(r * rowLength); err != nil {
			return err
		}
	}
	return nil
}

func rows(c *Case, s Size) (n int) {
	n = s.pick(8192, 256, 16)
	c.n = n
	c.work(float64(n*rowLength), "elements")
	c.output(4 * n * rowLength)
	c.input(floats(n*rowLength, 23, -4, 4))
	c.shape(n, 1, 256, 1)
	return n
}

// softmax's tolerance is 1e-5 of each value.
func softmax(c *Case, s Size) {
	rows(c, s)
	c.verify = func(c *Case, got [][]byte) error {
		o, x := as[float32](got[0]), as[float32](c.buffers[1].init)
		return c.eachRow(func(first int) error {
			sum := 0.0
			for _, v := range x[first : first+rowLength] {
				sum += math.Exp(float64(v))
			}
			for i := first; i < first+rowLength; i++ {
				if !near(float64(o[i]), math.Exp(float64(x[i]))/sum, 1e-5, 0) {
					return wrong("at %d: %g", i, o[i])
				}
			}
			return nil
		})
	}
}

// layerNorm's tolerance is 1e-5, of the value and beside it.
func layerNorm(c *Case, s Size) {
	const eps = float32(1e-5)
	rows(c, s)
	c.input(floats(rowLength, 24, 0.5, 2))
	c.input(floats(rowLength, 25, -1, 1))
	c.f32(eps)
	c.verify = func(c *Case, got [][]byte) error {
		o, x := as[float32](got[0]), as[float32](c.buffers[1].init)
		scale, shift := as[float32](c.buffers[2].init), as[float32](c.buffers[3].init)
		return c.eachRow(func(first int) error {
			mean, v := 0.0, 0.0
			for _, e := range x[first : first+rowLength] {
				mean += float64(e) / rowLength
			}
			for _, e := range x[first : first+rowLength] {
				d := float64(e) - mean
				v += float64(d * d)
			}
			v = 1 / math.Sqrt(v/rowLength+float64(eps))
			for i := range rowLength {
				want := float64((float64(x[first+i])-mean)*v*float64(scale[i])) + float64(shift[i])
				if !near(float64(o[first+i]), want, 1e-5, 1e-5) {
					return wrong("at %d: %g not %g", first+i, o[first+i], want)
				}
			}
			return nil
		})
	}
}

// stencil7 leaves the border of a cube of doubles as it was, at zero. The tolerance is 1e-14: kernels fuse products and
// sums.
func stencil7(c *Case, s Size) {
	n := s.pick(256, 64, 32)
	c.n = n
	const a, b = 0.4, 0.1
	c.work(float64(n*n*n), "points")
	c.inout(make([]byte, 8*n*n*n))
	c.again = true
	x := make([]float64, n*n*n)
	for i := range x {
		x[i] = float64(mix(uint32(i), 26)) / (1 << 32)
	}
	c.input(raw(x))
	c.i32(n)
	c.u64(math.Float64bits(a))
	c.u64(math.Float64bits(b))
	c.shape(n/32, n/8, 32, 8)
	c.verify = func(c *Case, got [][]byte) error {
		o, plane := as[float64](got[0]), n*n
		inside := func(i int) bool { return i > 0 && i < n-1 }
		for k := range o {
			w := 0.0
			if inside(k%n) && inside(k/n%n) && inside(k/plane) {
				w = a*x[k] + b*(x[k-plane]+x[k+plane]+x[k-1]+x[k+1]+x[k-n]+x[k+n])
			}
			if !near(o[k], w, 1e-14, 1e-15) {
				return wrong("at %d: %g not %g", k, o[k], w)
			}
		}
		return nil
	}
}

// f16Value is the value of a float16 that is no infinity or NaN.
func f16Value(h uint16) float64 {
	m, e := float64(h&1023), int(h>>10&31)
	if e == 0 {
		e = 1
	} else {
		m += 1024
	}
	if h>>15 != 0 {
		m = -m
	}
	return math.Ldexp(m, e-25)
}

// halfPairs is 64 steps on pairs of float16 whose rounding errors fade: an error of 2^-11 of at most 3.7 in each of
// them is at most 5e-3 in the end.
func halfPairs(c *Case, s Size) {
	const steps, a, b = 64, -0.625, 0.5
	n := s.pick(4<<20, 1<<16, 1<<13)
	c.n = n
	c.work(float64(2*n)*steps, "steps")
	c.output(4 * n)
	c.input(halves(2*n, 27, 1024, f16Bits))
	c.u32(uint32(f16Bits(a)) * 0x10001)
	c.u32(uint32(f16Bits(b)) * 0x10001)
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, in, step := as[uint16](got[0]), as[uint16](c.buffers[1].init), 1
		if n > 65536 {
			step = 101
		}
		for i := 0; i < 2*n; i += step {
			x := f16Value(in[i])
			y := x
			for range steps {
				t := float64(y*a) + x
				y = max(t, t*b)
			}
			if !near(f16Value(o[i]), y, 0, 5e-3) {
				return wrong("at %d: %g not %g", i, f16Value(o[i]), y)
			}
		}
		return nil
	}
}

func randomWords(n int, seed uint32) []uint32 {
	x := make([]uint32, n)
	for i := range x {
		x[i] = mix(uint32(i), seed)
	}
	return x
}

// tile is what a block of scan and radix has of the words.
const tile = 2048

// prefixSum is one launch whose blocks look back at the sums of those before them.
func prefixSum(c *Case, s Size) {
	n := s.pick(16<<20, 1<<18, 1<<14)
	c.n = n
	x := randomWords(n, 28)
	c.work(float64(n), "elements")
	c.output(4 * n)
	c.input(raw(x))
	c.inout(make([]byte, n/tile*8))
	c.inout(make([]byte, 4))
	c.again = true // states have the number of the launch
	c.shape(n/tile, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		sum := uint32(0)
		for i, v := range as[uint32](got[0]) {
			if sum += x[i]; v != sum {
				return wrong("at %d: %d not %d", i, v, sum)
			}
		}
		return nil
	}
}

// radix is the scatter of one pass of a radix sort, with the blocks' places known.
func radix(c *Case, s Size) {
	const shift = 8
	n := s.pick(8<<20, 1<<18, 1<<14)
	c.n = n
	x, offsets := randomWords(n, 29), make([]uint32, n/tile*256)
	digit := func(i int) int { return int(x[i] >> shift & 255) }
	for i := range x {
		offsets[i/tile*256+digit(i)]++
	}
	at := uint32(0)
	for d := range 256 {
		for b := d; b < len(offsets); b += 256 {
			at, offsets[b] = at+offsets[b], at
		}
	}
	c.work(float64(n), "keys")
	c.output(4 * n)
	c.input(raw(x))
	c.input(raw(offsets))
	c.i32(shift)
	c.shape(n/tile, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o := as[uint32](got[0])
		var next [257]uint32
		for i := range x {
			next[digit(i)+1]++
		}
		for d := range 256 {
			next[d+1] += next[d]
		}
		for i, v := range x {
			k := next[digit(i)]
			next[digit(i)]++
			if o[k] != v {
				return wrong("at %d: %d not %d", k, o[k], v)
			}
		}
		return nil
	}
}
