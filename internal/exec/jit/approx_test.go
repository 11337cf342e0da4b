package jit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/num"
)

// TestApproximate compares the approximate functions in machine code with package num: edge values, every exponent,
// random bits.
func TestApproximate(t *testing.T) { eachISA(t, testApproximate) }

func testApproximate(t *testing.T, e *engine) {
	div := func(f func(a, b uint32, o num.Opt) uint32) func(x, y uint32, o num.Opt) uint32 { return f }
	one := func(f func(x uint32, o num.Opt) uint32) func(x, y uint32, o num.Opt) uint32 {
		return func(x, _ uint32, o num.Opt) uint32 { return f(x, o) }
	}
	funcs := []struct {
		op  string
		f   func(x, y uint32, o num.Opt) uint32
		two bool
	}{
		{"rcp.approx", one(num.RcpApprox32), false}, {"sqrt.approx", one(num.SqrtApprox32), false},
		{"rsqrt.approx", one(num.RsqrtApprox32), false},
		{"ex2.approx", one(num.Ex2Approx32), false}, {"lg2.approx", one(num.Lg2Approx32), false},
		{"sin.approx", one(func(x uint32, _ num.Opt) uint32 { return num.SinApprox32(x) }), false},
		{"cos.approx", one(func(x uint32, _ num.Opt) uint32 { return num.CosApprox32(x) }), false},
		{"tanh.approx", one(func(x uint32, _ num.Opt) uint32 { return num.TanhApprox32(x) }), false},
		{"div.approx", div(num.DivApprox32), true}, {"div.full", div(num.DivFull32), true},
	}
	d := exectest.Open(t)
	d.Engine = e
	rnd := rand.New(rand.NewPCG(1, 2))
	n := 1 << 18
	if testing.Short() {
		n = 1 << 14
	}
	edges := []uint32{0, 1, 0x7fffff, 0x800000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x7e800000, 0x7e800001, 0x7effffff,
		0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fffffff,
		0x42fc0000, 0x42fc0001, 0x43000000, 0x42ffffff, 0x43160000, 0x43800000, 0x437fffff, 0x4b800000, 0x3fc90fdb,
		0x40490fdb, 0x40c90fdb, 0x3b7fffff, 0x3b800000, 0x3b800001, 0x40ffffff, 0x41000000}
	xa, xs := d.Alloc(4 * n)
	ya, ys := d.Alloc(4 * n)
	da, ds := d.Alloc(4 * n)
	for i := range n {
		x, y := rnd.Uint32(), rnd.Uint32()
		if i&1 != 0 { // exponents near one
			x = x&0x83ffffff | 0x3c000000
		}
		if i < len(edges)*len(edges)*4 {
			k := i / 4
			x, y = edges[k/len(edges)]|uint32(i&1)<<31, edges[k%len(edges)]|uint32(i&2)<<30
		}
		binary.LittleEndian.PutUint32(xs[4*i:], x)
		binary.LittleEndian.PutUint32(ys[4*i:], y)
	}
	for _, f := range funcs {
		for _, ftz := range []string{"", ".ftz"} {
			if f.op == "tanh.approx" && ftz != "" {
				continue // there is none
			}
			second := ""
			if f.two {
				second = ", %f2"
			}
			src := fmt.Sprintf(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 d) {
	.reg .b32 %%r<5>; .reg .b64 %%q<8>; .reg .f32 %%f<4>;
	ld.param.u64 %%q1, [x]; ld.param.u64 %%q2, [y]; ld.param.u64 %%q3, [d];
	mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x; mad.lo.u32 %%r3, %%r1, 256, %%r2;
	mul.wide.u32 %%q4, %%r3, 4;
	add.u64 %%q1, %%q1, %%q4; add.u64 %%q2, %%q2, %%q4; add.u64 %%q3, %%q3, %%q4;
	ld.global.f32 %%f1, [%%q1]; ld.global.f32 %%f2, [%%q2];
	%s%s.f32 %%f3, %%f1%s;
	st.global.f32 [%%q3], %%f3;
	ret;
}`, f.op, ftz, second)
			k, err := d.Load(src).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			var c exec.Counters
			if err := k.Run(exectest.Config{Grid: exectest.Dim(uint32(n / 256)), Block: exectest.Dim(256),
				Counters: &c}, xa, ya, da); err != nil {
				t.Fatal(err)
			}
			o := num.Opt(0)
			if ftz != "" {
				o = num.FTZ
			}
			bad := 0
			for i := range n {
				x, y, got := binary.LittleEndian.Uint32(xs[4*i:]), binary.LittleEndian.Uint32(ys[4*i:]),
					binary.LittleEndian.Uint32(ds[4*i:])
				if want := f.f(x, y, o); got != want {
					if bad++; bad < 8 {
						t.Errorf("%s%s of %08x, %08x: %08x, want %08x", f.op, ftz, x, y, got, want)
					}
				}
			}
			if share := float64(c.Fallbacks.Load()) / float64(c.WarpInstructions.Load()); share > 0.11 &&
				!(f.two && ftz != "") {
				t.Errorf("%s%s fell back: %.2f of the operations", f.op, ftz, share)
			}
		}
	}
}

// TestApproxEvery compares kernels' results with an H200's by their hashes: some of each function, or all of every
// function with -all.
func TestApproxEvery(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) { exectest.CompareApprox(t, e) })
}
