package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

type recording struct {
	Inputs []struct {
		Name                string
		Offset, Count, Size int
	}
	Cases []struct {
		ID       string
		N        int
		Operands []struct{ Array string }
		Outputs  []struct{ Offset, Size int }
	}
	in, out []byte
}

func open(dir string) (*recording, error) {
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, err
	}
	r := new(recording)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	for name, dst := range map[string]*[]byte{"inputs.bin.gz": &r.in, "outputs.bin.gz": &r.out} {
		z, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		g, err := gzip.NewReader(bytes.NewReader(z))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if *dst, err = io.ReadAll(g); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r, nil
}

// results lists operands and result of the named cases, element by element.
func (r *recording) results(ids ...string) [][]uint64 {
	word := func(b []byte, w, i int) uint64 {
		var v [8]byte
		copy(v[:], b[w*i:w*i+w])
		return binary.LittleEndian.Uint64(v[:])
	}
	var all [][]uint64
	for _, id := range ids {
		for _, c := range r.Cases {
			if c.ID != id {
				continue
			}
			for i := range c.N {
				var v []uint64
				for _, o := range c.Operands {
					for _, in := range r.Inputs {
						if in.Name == o.Array {
							v = append(v, word(r.in[in.Offset:], in.Size/in.Count, i))
						}
					}
				}
				all = append(all, append(v, word(r.out[c.Outputs[0].Offset:], c.Outputs[0].Size/c.N, i)))
			}
		}
	}
	return all
}

// forms are the recorded spellings of one function on f32.
func forms(op string) []string {
	return []string{op + ".approx.f32", op + ".approx.f32/wide", op + ".approx.ftz.f32", op + ".approx.ftz.f32/wide"}
}

func f32(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) }

// ulp is the unit of an f32 encoding's last place.
func ulp(b uint64) float64 { return math.Ldexp(1, int(b>>23&255)-150) }

// up scales a value to the fit's units.
func up(v float64) float64 { return math.Ldexp(v, unit) }

func normal(b uint64) bool { return b&0x7fffffff >= 1<<23 && b&0x7fffffff < 0x7f800000 }

// tables gathers every sample. Grids and biases were found by the scans that APPROX.md describes.
func tables(r *recording) []*table {
	// grow makes a table of equal segments of bits bits; truth is the function of an index over the whole table.
	grow := func(name, doc string, n, bits int, low uint, bias float64, grid [3]int, truth func(at float64) float64) *table {
		t := &table{name: name, doc: doc, elem: "coef", low: low, segs: make([]segment, n)}
		for i := range t.segs {
			t.segs[i] = segment{grid: grid, bias: bias * (1 << (unit - 40)), top: 1<<bits - 1,
				truth: func(n int64) float64 { return up(truth(float64(int64(i)<<bits | n))) }}
		}
		return t
	}
	into := func(t *table, bits int) func(at int, lo, hi float64) {
		return func(at int, lo, hi float64) {
			g := &t.segs[at>>bits]
			g.samples = append(g.samples, sample{int64(at & (1<<bits - 1)), up(lo), up(hi)})
		}
	}
	const one = 1 << 23
	// In the second half of a root's table the operand is in [2, 4).
	radicand := func(at float64) float64 {
		if at < one {
			return 1 + at/one
		}
		return 2 * (at / one)
	}
	rcp := grow("rcpTable", "the reciprocal in [1, 2)", 128, 16, 17, 4064, [3]int{26, 39, 39}, func(at float64) float64 { return 1 / (1 + at/one) })
	fitRcp(r, into(rcp, 16))
	rsqrt := grow("rsqrtTable", "the reciprocal square root in [1, 2) and [2, 4)", 128, 17, 19, 16380, [3]int{26, 40, 38},
		func(at float64) float64 { return 1 / math.Sqrt(radicand(at)) })
	fitRoot(r, "rsqrt", -1, into(rsqrt, 17))
	sqrt := grow("sqrtTable", "the square root in [1, 2) and [2, 4)", 128, 17, 19, 32679, [3]int{25, 40, 39},
		func(at float64) float64 { return math.Sqrt(radicand(at)) })
	for i := 64; i < 128; i++ {
		sqrt.segs[i].grid[1] = 39
	}
	fitRoot(r, "sqrt", 1, into(sqrt, 17))
	ex2 := grow("ex2Table", "2^x in [0, 1)", 64, 17, 19, 24448, [3]int{25, 38, 38}, func(at float64) float64 { return math.Exp2(at / one) })
	fitEx2(r, into(ex2, 17))
	lg2 := grow("lg2Table", "the logarithm in [1, 2)", 64, 17, 19, 3350, [3]int{26, 38, 37}, func(at float64) float64 { return math.Log2(1 + at/one) })
	fitLg2(r, into(lg2, 17))
	sin := grow("sinTable", "the sine in a quadrant", 64, 17, 19, 0, [3]int{25, 37, 37}, func(at float64) float64 { return math.Sin(at / one * math.Pi / 2) })
	fitSin(r, into(sin, 17))
	return []*table{rcp, rsqrt, sqrt, ex2, lg2, sin, tanhTable(r)}
}

func fitRcp(r *recording, add func(at int, lo, hi float64)) {
	const ulp24 = 1.0 / (1 << 24)
	for _, v := range r.results(forms("rcp")...) {
		if a := v[0] & 0x7fffffff; a >= 1<<23 && a < 0x7e000000 && a&0x7fffff != 0 {
			y := float64(v[1]&0x7fffff|0x800000) * ulp24
			add(int(a&0x7fffff), y, y+ulp24)
		}
	}
	for _, v := range r.results("rcp.approx.ftz.f64") { // the unit on high words
		if h := v[0] >> 32 & 0x7fffffff; h >= 1<<20 && h < 0x7fc00000 && h&0xfffff != 0 {
			y := float64(v[1]>>32&0xfffff|0x100000) * ulp24 * 8
			add(int(h&0xfffff<<3), y, y+8*ulp24)
		}
	}
	// A quotient bounds the reciprocal that it was made from.
	for _, v := range r.results("div.approx.f32", "div.approx.f32/wide") {
		a, b, y := v[0]&0x7fffffff, v[1]&0x7fffffff, v[2]&0x7fffffff
		if !normal(a) || !normal(b) || !normal(y) || b >= 0x7e000000 || b&0x7fffff == 0 || y == 1<<23 {
			continue
		}
		guess := int(math.Float32bits(float32(1 / f32(b))))
		lo, hi := 0.0, 0.0
		for k := guess - 3; k <= guess+3; k++ {
			if c := f32(uint64(k)); normal(uint64(k)) && float32(f32(a)*c) == math.Float32frombits(uint32(y)) {
				if lo == 0 {
					lo = c
				}
				hi = c
			}
		}
		if lo != 0 {
			e := int(b>>23) - 127
			add(int(b&0x7fffff), math.Ldexp(lo, e), math.Ldexp(hi, e)+ulp24)
		}
	}
}

// fitRoot gathers sqrt (half 1) and rsqrt (half -1). Subnormal operands are scaled by 2^24, their results back.
func fitRoot(r *recording, op string, half int, add func(at int, lo, hi float64)) {
	for _, v := range r.results(forms(op)...) {
		x, y := v[0], v[1]
		if x > 0 && x < 1<<23 && normal(y) {
			x = uint64(math.Float32bits(float32(f32(x) * (1 << 24))))
			y += uint64(half * 12 << 23)
		}
		if x < 1<<23 || x >= 0x7f800000 || x&0xffffff == 0x800000 {
			continue // x&0xffffff: an even exponent (127 is odd) and no fraction is exact
		}
		at := x&0x7fffff | (x>>23-127)&1<<23
		scale := math.Ldexp(1, -24)
		if half > 0 {
			scale *= 2
		}
		m := float64(y&0x7fffff | 0x800000)
		add(int(at), m*scale, (m+1)*scale)
	}
	if half > 0 {
		return
	}
	for _, v := range r.results("rsqrt.approx.ftz.f64", "rsqrt.approx.ftz.f64/wide") { // the unit on high words
		h := v[0] >> 32
		at := h&0xfffff<<3 | (h>>20-1023)&1<<23
		if h >= 1<<20 && h < 0x7ff00000 && at != 0 {
			m := float64(v[1]>>32&0xfffff | 0x100000)
			add(int(at), math.Ldexp(m, -21), math.Ldexp(m+1, -21))
		}
	}
}

func fitEx2(r *recording, add func(at int, lo, hi float64)) {
	for _, v := range r.results("ex2.approx.ftz.f32", "ex2.approx.ftz.f32/wide") {
		x := f32(v[0])
		if !(x > -126 && x < 128) || x == 0 {
			continue
		}
		k := int64(math.Ldexp(x, 23)) // toward zero
		if x < 0 {
			if k&0x7fffff == 0 {
				continue // exact
			}
			k-- // ones' complement of the magnitude
		}
		y := math.Ldexp(f32(v[1]), -int(k>>23))
		if k&0x7fffff != 0 {
			add(int(k&0x7fffff), y, y+math.Ldexp(1, -23))
		}
	}
}

func fitLg2(r *recording, add func(at int, lo, hi float64)) {
	for _, v := range r.results(forms("lg2")...) {
		x, y := v[0], v[1]
		if x > 0 && x < 1<<23 && y>>31 != 0 && y < 0xff800000 {
			// lg2(x * 2^24) - 24, rounded: bounds on the first term.
			x = uint64(math.Float32bits(float32(f32(x) * (1 << 24))))
			guess := int(math.Float32bits(float32(math.Log2(f32(x)))))
			var lo, hi, u float64
			for k := guess - 4; k <= guess+4; k++ {
				if l := f32(uint64(k)); float32(l-24) == math.Float32frombits(uint32(y)) {
					if hi == 0 {
						hi = l
					}
					lo, u = l, ulp(uint64(k))
				}
			}
			if lo != 0 && x&0x7fffff != 0 {
				e := float64(int(x>>23) - 127)
				add(int(x&0x7fffff), lo-e-u, hi-e)
			}
			continue
		}
		if x < 1<<23 || x >= 0x7f800000 || x&0x7fffff == 0 {
			continue
		}
		e := int(x>>23) - 127
		u := math.Max(ulp(y), math.Ldexp(1, -36))
		lo := f32(y) - float64(e)
		if e < 0 {
			lo -= u // complemented bit by bit
		}
		add(int(x&0x7fffff), lo, lo+u)
	}
}

func fitSin(r *recording, add func(at int, lo, hi float64)) {
	for quarter, op := range []string{"sin", "cos"} {
		for _, v := range r.results(forms(op)...) {
			// The operand times 1/(2 pi), cut to f32 and then to 2^-25.
			t := math.Abs(f32(v[0]) * f32(0x3e22f983))
			t = math.Float64frombits(math.Float64bits(t) &^ (1<<29 - 1))
			if !(t < 1<<20) {
				continue
			}
			k := int64(math.Ldexp(t, 25))
			at := k & 0x7fffff
			if at == 0 {
				continue // exact
			}
			if (k>>23+int64(quarter))&1 != 0 {
				at = 0x7fffff - at
			}
			y := v[1] & 0x7fffffff
			u := math.Max(ulp(y), math.Ldexp(1, -37))
			if f32(y) >= 1 {
				u *= 8 // the largest result
			}
			add(int(at), f32(y), f32(y)+u)
		}
	}
}

func tanhTable(r *recording) *table {
	t := &table{name: "tanhTable", doc: "the hyperbolic tangent from 2^-8 to 8, as tanhOctaves divides it", elem: "coef", low: 19}
	data := r.results("tanh.approx.f32", "tanh.approx.f32/wide")
	for i, o := range [][3]int{{0, 6, 40}, {0, 6, 39}, {0, 6, 38}, {1, 5, 38}, {1, 5, 37}, {2, 4, 37}, {2, 4, 37}, {2, 4, 36}, {3, 3, 37}, {4, 2, 39}, {3, 3, 37}} {
		man, drop, grid := o[0], o[1], o[2]
		segs := make([]segment, 1<<man)
		for k := range segs {
			segs[k].grid = [3]int{24, grid, grid}
			segs[k].top = 1<<(23-man-drop) - 1
			segs[k].truth = func(n int64) float64 {
				x := 1 + float64(int64(k)<<(23-man)|n<<drop)/(1<<23)
				return up(math.Tanh(math.Ldexp(x, i-8)))
			}
		}
		for _, v := range data {
			x, y := v[0]&0x7fffffff, v[1]&0x7fffffff
			if int(x>>23) != 119+i || x == 119<<23 {
				continue
			}
			frac := int64(x & 0x7fffff)
			g := &segs[frac>>(23-man)]
			g.samples = append(g.samples, sample{frac & (1<<(23-man) - 1) >> drop, up(f32(y)), up(f32(y) + ulp(y))})
		}
		t.segs = append(t.segs, segs...)
	}
	return t
}
