package jit

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// halfFormat is a format of 16 bits.
type halfFormat struct {
	name           string
	fraction, bias int
}

var halfFormats = []halfFormat{{"f16", 10, 15}, {"bf16", 7, 127}}

// of is the number (1 + f/2^fraction) * 2^e, 0 where it is not normal.
func (h halfFormat) of(f, e int) uint16 {
	if e += h.bias; e < 1 || e >= 2*h.bias+1 {
		return 0
	}
	return uint16(e<<h.fraction | f)
}

// value is what a finite pattern stands for.
func (h halfFormat) value(x uint16) float64 {
	e, f := int(x&0x7fff)>>h.fraction, int(x)&(1<<h.fraction-1)
	v := math.Ldexp(float64(f), 1-h.bias-h.fraction)
	if e > 0 {
		v = math.Ldexp(float64(f+1<<h.fraction), e-h.bias-h.fraction)
	}
	if x>>15 != 0 {
		v = -v
	}
	return v
}

// hard are operands of fma whose exact result lies next to a number halfway between two of the format, nearer than an
// f32 tells: the product is half of c's last bit and a little more or less. Then the numbers at all edges of the
// format, with each other, and random ones.
func (h halfFormat) hard() (x [][3]uint16) {
	one := 1 << h.fraction
	for m := one; m < 2*one; m++ {
		for n := 2*one*one/m - 1; n <= 2*one*one/m+2; n++ {
			if n < one || n >= 2*one {
				continue
			}
			for _, e := range []int{-h.bias / 2, -3, 0, 5} {
				for sign := range 4 {
					// m*n is near 2*one^2, so the product is near 2^(e+1).
					c := h.of((m*7+n+sign)&(one-1), e+1+h.fraction+1)
					x = append(x, [3]uint16{h.of(m-one, e) | uint16(sign&1)<<15, h.of(n-one, 0),
						c | uint16(sign>>1)<<15})
				}
			}
		}
	}
	var edges []uint16
	inf := uint16(2*h.bias+1) << h.fraction
	for _, e := range []uint16{
		0, 1, 2, 3, uint16(one - 1), uint16(one), uint16(one + 1), h.of(0, 0), h.of(1, 0), h.of(one-1, -1),
		h.of(0, -h.fraction-1), h.of(one/2, 3), h.of(0, -h.bias/2), h.of(1, -h.bias/2-1), inf - 1, inf - 2,
		inf, inf + 1, 0x7fff,
	} {
		edges = append(edges, e, e|0x8000)
	}
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range edges {
				x = append(x, [3]uint16{a, b, c})
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1 << 15 {
		x = append(x, [3]uint16{uint16(r.Uint32()), uint16(r.Uint32()), uint16(r.Uint32())})
	}
	for len(x)%256 != 0 {
		x = append(x, [3]uint16{})
	}
	return x
}

// twice is how many of the operands give another result when fma is rounded to f32 first.
func (h halfFormat) twice(x [][3]uint16) (n int) {
	round := func(v float64) float64 { // to nearest even, in the range of normal numbers
		_, e := math.Frexp(v)
		return math.Ldexp(math.RoundToEven(math.Ldexp(v, h.fraction+1-e)), e-h.fraction-1)
	}
	for _, t := range x {
		a, b, c := h.value(t[0]), h.value(t[1]), h.value(t[2])
		exact := math.FMA(a, b, c) // of hard operands: 35 bits at most
		once := float64(float32(exact))
		if once != exact && math.Abs(exact) > math.Ldexp(1, 2-h.bias) && round(exact) != round(once) {
			n++
		}
	}
	return n
}

// TestHalves compares arithmetic of halves with the interpreter, whose results are those of an H200 (TestSilicon),
// where rounding twice would go wrong.
func TestHalves(t *testing.T) {
	for _, h := range halfFormats {
		ops := []string{
			"fma.rn.T %r, %a, %b, %c", "mul.rn.T %r, %a, %b", "add.rn.T %r, %a, %c", "sub.rn.T %r, %c, %a",
			"min.T %r, %a, %c", "max.T %r, %a, %c", "neg.T %r, %c", "abs.T %r, %c", "fma.rn.relu.T %r, %a, %b, %c",
		}
		if h.name == "f16" {
			ops = append(ops, "fma.rn.ftz.T %r, %a, %b, %c", "fma.rn.sat.T %r, %a, %b, %c", "max.ftz.T %r, %a, %c")
		}
		x := h.hard()
		if n := h.twice(x); n < 500 {
			t.Fatalf("%s: %d operands for which rounding twice is wrong", h.name, n)
		}
		eachISA(t, func(t *testing.T, e *engine) {
			for _, op := range ops {
				for _, pair := range []bool{false, true} {
					want := runHalves(t, interp.New(), h, op, pair, x)
					got := runHalves(t, e, h, op, pair, x)
					bad := 0
					for i := range x {
						w, g := binary.LittleEndian.Uint16(want[2*i:]), binary.LittleEndian.Uint16(got[2*i:])
						if w != g {
							if bad++; bad < 4 {
								t.Errorf("%s %s (pair: %v) of %04x: %04x, want %04x", h.name, op, pair, x[i], g, w)
							}
						}
					}
				}
			}
		})
	}
}

// runHalves runs an operation for all operands and returns the results.
func runHalves(t *testing.T, e exec.Engine, h halfFormat, op string, pair bool, x [][3]uint16) []byte {
	t.Helper()
	typ, bits := h.name, 16
	threads := len(x)
	if pair {
		typ, bits, threads = typ+"x2", 32, threads/2
	}
	text := ".version 8.4\n.target sm_90\n.address_size 64\n" +
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 r) {\n" +
		".reg .b64 %q<5>; .reg .b32 %t<3>;\n" + fmt.Sprintf(".reg .b%d %%a, %%b, %%c, %%r;\n", bits) +
		"mov.u32 %t0, %ctaid.x; mov.u32 %t1, %tid.x; mad.lo.u32 %t0, %t0, 128, %t1;\n"
	for i, p := range "abcr" {
		text += fmt.Sprintf("ld.param.u64 %%q%d, [%c]; mad.wide.u32 %%q%[1]d, %%t0, %[3]d, %%q%[1]d;\n", i, p, bits/8)
	}
	for i, p := range "abc" {
		text += fmt.Sprintf("ld.global.b%d %%%c, [%%q%d];\n", bits, p, i)
	}
	text += strings.Replace(op, "T", typ, 1) + fmt.Sprintf(";\nst.global.b%d [%%q3], %%r;\nret; }", bits)
	d := exectest.Open(t)
	d.Engine = e
	k, err := d.Load(text).Kernel("k")
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	var at [4]uint64
	var out []byte
	for i := range at {
		var b []byte
		at[i], b = d.Alloc(2 * len(x))
		out = b
		if i < 3 {
			for j, o := range x {
				binary.LittleEndian.PutUint16(b[2*j:], o[i])
			}
		}
	}
	shape := exectest.Config{Grid: exectest.Dim(uint32(threads / 128)), Block: exectest.Dim(128)}
	if err := k.Run(shape, at[0], at[1], at[2], at[3]); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return out
}
