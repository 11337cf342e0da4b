package bench

import "math"

// A matrix product of small types is C = A B with B stored by columns. Elements are multiples of 1/levels in [-1, 1),
// exact in their type, as their products are in float32.

func matmulF16(c *Case, s Size) { matmulHalf(c, s, 1024, f16Bits) }
func matmulBF16(c *Case, s Size) {
	matmulHalf(c, s, 128, func(x float32) uint16 { return uint16(math.Float32bits(x) >> 16) })
}

// f16Bits is a number as float16. It has to be zero, or exact and normal there.
func f16Bits(x float32) uint16 {
	u := math.Float32bits(x)
	if x == 0 {
		return 0
	}
	return uint16(u>>16&0x8000 | (u>>13&0x3ffff - 112<<10))
}

// level is a pseudo-random multiple of 1/levels in [-1, 1).
func level(i int, seed, levels uint32) float32 {
	return (float32(mix(uint32(i), seed)>>8&(2*levels-1)) - float32(levels)) / float32(levels)
}

func halves(n int, seed, levels uint32, bits func(float32) uint16) []byte {
	p := make([]uint16, n)
	for i := range p {
		p[i] = bits(level(i, seed, levels))
	}
	return raw(p)
}

func matmulShape(c *Case, s Size) (n int) {
	n = s.pick(1024, 128, 64)
	c.n = n
	c.output(4 * n * n)
	c.shape(n/64, n/64, 128, 1)
	return n
}

// matmulHalf's tolerance is 1e-5 of the sum of the products' magnitudes: tensor cores cut sums off instead of rounding
// them.
func matmulHalf(c *Case, s Size, levels uint32, bits func(float32) uint16) {
	n := matmulShape(c, s)
	c.work(2*float64(n)*float64(n)*float64(n), "flops")
	c.input(halves(n*n, 21, levels, bits))
	c.input(halves(n*n, 22, levels, bits))
	c.i32(n)
	c.verify = func(c *Case, got [][]byte) error {
		o := as[float32](got[0])
		for at := range sampled(n * n) {
			i, j, w, mag := at/n, at%n, 0.0, 0.0
			for k := range n {
				t := float64(level(i*n+k, 21, levels)) * float64(level(j*n+k, 22, levels))
				w += t
				mag += math.Abs(t)
			}
			if !near(float64(o[at]), w, 0, 1e-5*mag) {
				return wrong("at %d,%d: %g not %g", i, j, o[at], w)
			}
		}
		return nil
	}
}

func matmulS8(c *Case, s Size) {
	n := matmulShape(c, s)
	c.work(2*float64(n)*float64(n)*float64(n), "ops")
	for seed := range uint32(2) {
		p := make([]int8, n*n)
		for i := range p {
			p[i] = int8(mix(uint32(i), 21+seed) >> 8)
		}
		c.input(raw(p))
	}
	c.i32(n)
	c.verify = func(c *Case, got [][]byte) error {
		o, a, b := as[int32](got[0]), as[int8](c.buffers[1].init), as[int8](c.buffers[2].init)
		for at := range sampled(n * n) {
			i, j, w := at/n, at%n, int32(0)
			for k := range n {
				w += int32(a[i*n+k]) * int32(b[j*n+k])
			}
			if o[at] != w {
				return wrong("at %d,%d: %d not %d", i, j, o[at], w)
			}
		}
		return nil
	}
}

// attention is softmax(scale Q K^T) V for heads of rows of 64 float16. The tolerance is 1e-3 of the sum of magnitudes:
// probabilities are rounded to float16, too.
func attention(c *Case, s Size) {
	const dim, scale = 64, float32(0.5)
	length, heads := s.pick(1024, 256, 128), s.pick(8, 2, 2)
	n := heads * length
	c.n = n
	c.work(4*float64(n)*dim*float64(length), "flops")
	c.output(4 * n * dim)
	for seed := range uint32(3) {
		c.input(halves(n*dim, 30+seed, 1024, f16Bits))
	}
	c.i32(length)
	c.f32(scale)
	c.shape(length/64, heads, 128, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, p, step := as[float32](got[0]), make([]float64, length), 1
		if n > 512 {
			step = 61
		}
		value := func(row, d int, seed uint32) float64 { return float64(level(row*dim+d, seed, 1024)) }
		for row := 0; row < n; row += step {
			head, sum := row/length*length, 0.0
			for j := range p {
				dot := 0.0
				for d := range dim {
					dot += float64(value(row, d, 30) * value(head+j, d, 31))
				}
				p[j] = math.Exp(dot * float64(scale))
				sum += p[j]
			}
			for d := range dim {
				w, mag := 0.0, 0.0
				for j := range p {
					t := p[j] / sum * value(head+j, d, 32)
					w += t
					mag += math.Abs(t)
				}
				if !near(float64(o[row*dim+d]), w, 0, 1e-3*mag) {
					return wrong("row %d at %d: %g not %g", row, d, o[row*dim+d], w)
				}
			}
		}
		return nil
	}
}

// sampled are indices below n: all of them, or 4,096.
func sampled(n int) func(yield func(int) bool) {
	const most = 4096
	return func(yield func(int) bool) {
		for s := range min(n, most) {
			at := s
			if n > most {
				at = int(mix(uint32(s), 77) % uint32(n))
			}
			if !yield(at) {
				return
			}
		}
	}
}
