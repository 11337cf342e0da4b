package bench

import (
	"math"
)

// cases are the workloads. host/cases.c has the same in C.
var cases = [...]struct {
	name string
	make func(*Case, Size)
}{
	{"vecadd", vecadd}, {"saxpy", saxpy}, {"mandelbrot", mandelbrot}, {"nbody", nbody}, {"sgemm_naive", sgemm},
	{"sgemm_tiled", sgemm}, {"reduce_shared", reduce}, {"reduce_shfl", reduce},
	{"hist_shared", histShared}, {"hist_global", histGlobal}, {"transpose", transpose}, {"stencil5", stencil},
	{"blackscholes", blackScholes}, {"hash64", hash64}, {"sha256", sha256},
	{"matmul_f16", matmulF16}, {"matmul_bf16", matmulBF16}, {"matmul_s8", matmulS8}, {"matmul_wmma", matmulF16},
	{"attention", attention}, {"softmax", softmax}, {"layernorm", layerNorm}, {"stencil7_f64", stencil7},
	{"half_pairs", halfPairs}, {"scan", prefixSum}, {"radix", radix}, {"bilinear", bilinear},
	{"bilinear_rgba", bilinearRGBA},
	{"store_1", store1}, {"store_1_batch", storeBatch}, {"store_10k", store10k}, {"big5k", big5k}, {"big50k", big50k},
}

func vecadd(c *Case, s Size) {
	n := s.pick(16<<20, 1<<20, 1<<14)
	c.n = n
	c.work(12*float64(n), "bytes")
	c.output(4 * n)
	c.input(floats(n, 1, -1, 1))
	c.input(floats(n, 2, 0.5, 2))
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, a, b := as[float32](got[0]), as[float32](c.buffers[1].init), as[float32](c.buffers[2].init)
		for i := range o {
			if !near(float64(o[i]), float64(a[i])+float64(b[i]), 1e-6, 0) {
				return wrong("at %d: %g", i, o[i])
			}
		}
		return nil
	}
}

func saxpy(c *Case, s Size) {
	n := s.pick(16<<20, 1<<20, 1<<14)
	c.n = n
	c.work(12*float64(n), "bytes")
	c.inout(floats(n, 3, -1, 1))
	c.input(floats(n, 4, -1, 1))
	c.f32(0.3)
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, y, x := as[float32](got[0]), as[float32](c.buffers[0].init), as[float32](c.buffers[1].init)
		for i := range o {
			if !near(float64(o[i]), float64(float64(float32(0.3))*float64(x[i]))+float64(y[i]), 1e-6, 1e-7) {
				return wrong("at %d: %g", i, o[i])
			}
		}
		return nil
	}
}

const mandelbrotSteps = 256

// mandelbrot's kernel calculates in float32, the reference in float64: they may disagree on a few pixels of the border.
func mandelbrot(c *Case, s Size) {
	w := s.pick(2048, 256, 64)
	c.n = w
	c.work(float64(w*w), "pixels")
	x0, y0, d := float32(-2), float32(-1.25), float32(2.5)/float32(w)
	c.output(4 * w * w)
	c.i32(w)
	c.i32(w)
	for _, v := range []float32{x0, y0, d, d} {
		c.f32(v)
	}
	c.i32(mandelbrotSteps)
	c.shape(w/16, w/16, 16, 16)
	c.verify = func(c *Case, got [][]byte) error {
		o := as[int32](got[0])
		differ, sum, want := 0, 0.0, 0.0
		for i, g := range o {
			cx, cy := float64(x0)+float64(float64(i%w)*float64(d)), float64(y0)+float64(float64(i/w)*float64(d))
			zx, zy, it := 0.0, 0.0, int32(0)
			for it < mandelbrotSteps && float64(zx*zx)+float64(zy*zy) <= 4 {
				zx, zy = float64(zx*zx)-float64(zy*zy)+cx, float64(2*zx*zy)+cy
				it++
			}
			if g < 0 || g > mandelbrotSteps {
				return wrong("pixel %d,%d: %d", i%w, i/w, g)
			}
			if g != it {
				differ++
			}
			sum += float64(g)
			want += float64(it)
		}
		if float64(differ) > 0.02*float64(w*w) || !near(sum, want, 0.002, 0) {
			return wrong("in %d pixels", differ)
		}
		return nil
	}
}

func nbody(c *Case, s Size) {
	n := s.pick(8192, 1024, 256)
	c.n = n
	const eps = float32(0.01)
	c.work(float64(n)*float64(n), "interactions")
	c.output(16 * n)
	c.input(floats(4*n, 5, 0.01, 1))
	c.i32(n)
	c.f32(eps)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, p := as[float32](got[0]), as[float32](c.buffers[1].init)
		for i := 0; i < n; i += n / 128 {
			var a [3]float64
			mag := 0.0
			for j := range n {
				var r [3]float64
				d2 := float64(eps)
				for k := range r {
					r[k] = float64(p[4*j+k]) - float64(p[4*i+k])
					d2 += float64(r[k] * r[k])
				}
				s := float64(p[4*j+3]) / float64(d2*math.Sqrt(d2))
				for k := range r {
					a[k] += float64(r[k] * s)
					mag += math.Abs(float64(r[k] * s))
				}
			}
			for k := range a {
				if !near(float64(o[4*i+k]), a[k], 1e-4, 1e-5*mag) {
					return wrong("body %d axis %d: %g not %g", i, k, o[4*i+k], a[k])
				}
			}
		}
		return nil
	}
}

func sgemm(c *Case, s Size) {
	n := s.pick(1024, 128, 64)
	c.n = n
	c.work(2*float64(n)*float64(n)*float64(n), "flops")
	c.output(4 * n * n)
	c.input(floats(n*n, 6, -1, 1))
	c.input(floats(n*n, 7, -1, 1))
	c.i32(n)
	c.shape(n/16, n/16, 16, 16)
	c.verify = func(c *Case, got [][]byte) error {
		o, a, b := as[float32](got[0]), as[float32](c.buffers[1].init), as[float32](c.buffers[2].init)
		samples := min(n*n, 8192)
		for s := range samples {
			at := s
			if samples < n*n {
				at = int(mix(uint32(s), 77) % uint32(n*n))
			}
			w, mag := 0.0, 0.0
			for k := range n {
				t := float64(a[at/n*n+k]) * float64(b[k*n+at%n])
				w += t
				mag += math.Abs(t)
			}
			if !near(float64(o[at]), w, 0, 2e-6*mag) {
				return wrong("at %d,%d: %g not %g", at/n, at%n, o[at], w)
			}
		}
		return nil
	}
}

// reduce gives one partial sum for every 512 elements.
func reduce(c *Case, s Size) {
	n := s.pick(16<<20, 1<<18, 1<<14)
	c.n = n
	c.work(float64(n), "elements")
	c.output(n / 512 * 4)
	c.input(floats(n, 8, 0, 1))
	c.i32(n)
	c.shape(n/512, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		o, x := as[float32](got[0]), as[float32](c.buffers[1].init)
		for b := range o {
			w := 0.0
			for _, v := range x[512*b : 512*b+512] {
				w += float64(v)
			}
			if !near(float64(o[b]), w, 2e-6, 0) {
				return wrong("block %d: %g not %g", b, o[b], w)
			}
		}
		return nil
	}
}

func histShared(c *Case, s Size) { histogram(c, s, s.pick(256, 64, 16)) }
func histGlobal(c *Case, s Size) { histogram(c, s, 0) }

// histogram counts bytes; blocks 0 is one thread for every four of them.
func histogram(c *Case, s Size, blocks int) {
	n := s.pick(16<<20, 1<<20, 1<<16)
	c.n = n
	c.work(float64(n), "elements")
	x := make([]uint32, n/4)
	for i := range x {
		x[i] = mix(uint32(i), 9)
	}
	c.inout(make([]byte, 1024))
	c.input(raw(x))
	c.i32(n / 4)
	if blocks == 0 {
		blocks = n / 4 / 256
	}
	c.shape(blocks, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		var want [256]uint32
		for _, b := range c.buffers[1].init {
			want[b]++
		}
		for b, v := range as[uint32](got[0]) {
			if v != want[b] {
				return wrong("bin %d: %d not %d", b, v, want[b])
			}
		}
		return nil
	}
}

func transpose(c *Case, s Size) {
	n := s.pick(4096, 512, 128)
	c.n = n
	c.work(8*float64(n)*float64(n), "bytes")
	c.output(4 * n * n)
	c.input(floats(n*n, 10, -1, 1))
	c.i32(n)
	c.shape(n/32, n/32, 32, 8)
	c.verify = func(c *Case, got [][]byte) error {
		o, x := as[float32](got[0]), as[float32](c.buffers[1].init)
		for i := range n {
			for j := range n {
				if o[i*n+j] != x[j*n+i] {
					return wrong("at %d,%d", i, j)
				}
			}
		}
		return nil
	}
}

// stencil leaves the border as it was, at zero.
func stencil(c *Case, s Size) {
	n := s.pick(4096, 512, 128)
	c.n = n
	c.work(float64(n)*float64(n), "points")
	c.inout(make([]byte, 4*n*n))
	c.again = true
	c.input(floats(n*n, 11, -1, 1))
	c.i32(n)
	c.i32(n)
	c.f32(0.5)
	c.f32(0.125)
	c.shape(n/32, n/8, 32, 8)
	c.verify = func(c *Case, got [][]byte) error {
		o, x := as[float32](got[0]), as[float32](c.buffers[1].init)
		for k := range o {
			i, j, w := k/n, k%n, 0.0
			if i > 0 && j > 0 && i < n-1 && j < n-1 {
				w = 0.5*float64(x[k]) + 0.125*(float64(x[k-1])+float64(x[k+1])+float64(x[k-n])+float64(x[k+n]))
			}
			if !near(float64(o[k]), w, 1e-5, 1e-6) {
				return wrong("at %d,%d: %g not %g", i, j, o[k], w)
			}
		}
		return nil
	}
}

func blackScholes(c *Case, s Size) {
	n := s.pick(4<<20, 1<<16, 1<<13)
	c.n = n
	const rate, vol = float32(0.02), float32(0.3)
	c.work(float64(n), "options")
	c.output(4 * n)
	c.output(4 * n)
	c.input(floats(n, 12, 5, 30))
	c.input(floats(n, 13, 1, 100))
	c.input(floats(n, 14, 0.25, 10))
	c.f32(rate)
	c.f32(vol)
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		call, put := as[float32](got[0]), as[float32](got[1])
		price, strike, years := as[float32](c.buffers[2].init), as[float32](c.buffers[3].init),
			as[float32](c.buffers[4].init)
		normal := func(d float64) float64 { return 0.5 * math.Erfc(-d*math.Sqrt2/2) }
		step := 1
		if n > 65536 {
			step = 13
		}
		for i := 0; i < n; i += step {
			s, x, t, r, v := float64(price[i]), float64(strike[i]), float64(years[i]), float64(rate), float64(vol)
			sq := math.Sqrt(t)
			d1 := (math.Log(s/x) + (r+0.5*v*v)*t) / (v * sq)
			d2 := d1 - v*sq
			e := math.Exp(-r * t)
			wc, wp := s*normal(d1)-x*e*normal(d2), x*e*normal(-d2)-s*normal(-d1)
			if !near(float64(call[i]), wc, 1e-4, 1e-3) || !near(float64(put[i]), wp, 1e-4, 1e-3) {
				return wrong("option %d: %g %g not %g %g", i, call[i], put[i], wc, wp)
			}
		}
		return nil
	}
}

const (
	hashRounds = 128
	hashSeed   = 0x0123456789abcdef
)

func hash64(c *Case, s Size) {
	n := s.pick(1<<20, 1<<14, 1<<10)
	c.n = n
	c.work(float64(n)*hashRounds, "rounds")
	c.output(8 * n)
	c.u64(hashSeed)
	c.i32(hashRounds)
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		for i, v := range as[uint64](got[0]) {
			x, h := uint64(hashSeed)+uint64(i)*0x9E3779B97F4A7C15, uint64(0xcbf29ce484222325)
			for range hashRounds {
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
				h += x
				h = h<<31 | h>>33
				h *= 0x100000001b3
				h ^= h >> 29
			}
			if v != h^x {
				return wrong("at %d", i)
			}
		}
		return nil
	}
}

func store1(c *Case, s Size)     { store(c, 1, 32, 1) }
func storeBatch(c *Case, s Size) { store(c, 1, 32, s.pick(1000, 10, 10)) }
func store10k(c *Case, s Size)   { store(c, s.pick(10000, 100, 100), 256, 1) }

// latencyUnit is the unit of the cases that show what a launch costs. They are no part of the geometric means.
const latencyUnit = "launches"

// store is a launch whose blocks store one word each.
func store(c *Case, grid, block, launches int) {
	const v = 0x9E3779B1
	c.file, c.entry, c.launches, c.n = "store", "store", launches, grid
	c.work(1, latencyUnit)
	c.output(4 * grid)
	c.u32(v)
	c.shape(grid, 1, block, 1)
	c.verify = func(c *Case, got [][]byte) error {
		for i, w := range as[uint32](got[0]) {
			if want := uint32(v + i); w != want {
				return wrong("at %d: %d not %d", i, w, want)
			}
		}
		return nil
	}
}
