package exec_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// TestAsCompiled: what an H200 makes of instructions that NVIDIA's compiler translates otherwise than the manual says.
// The results were recorded on one.
func TestAsCompiled(t *testing.T) {
	const f3, f1e5, fm1, nan32 = 0x40490fdb, 0x47c35000, 0xbf800000, 0x7fc12345 // pi, 100000, -1
	engines := []exec.Engine{interp.New()}
	for _, name := range []string{"avx512", "avx2"} {
		if e, err := jit.New(name); err == nil {
			engines = append(engines, e)
		}
	}
	for _, c := range []struct {
		name, body string
		in, want   [4]uint32
	}{
		{"st.b16 of f32", "st.b16 [o], f0; st.b16 [o+4], f1; st.b16 [o+8], f2; st.b16 [o+12], f3;",
			[4]uint32{f3, f1e5, fm1, nan32}, [4]uint32{3, 0xffff, 0, 0}},
		{"st.b8 of f32", "st.b8 [o], f0; st.b8 [o+4], f1; st.b8 [o+8], f2; st.b8 [o+12], f3;",
			[4]uint32{f3, f1e5, 0x40200000, 0x437f0000}, [4]uint32{3, 0xff, 2, 0xff}},
		{"st.b32 of f64", "st.b32 [o], d0; st.b16 [o+4], d0; st.b8 [o+8], d0; st.b32 [o+12], d1;",
			[4]uint32{0, 0x40f86a00, 0xffffffff, 0xffffffff},
			[4]uint32{100000, 0xffff, 0xff, 0x80000000}},
		{"st.f32 of b64", "st.f32 [o], l0; st.f32 [o+4], l1;",
			[4]uint32{0xc386bbc4, 0x1027c4d1, 0xffffffff, 0xffffffff}, [4]uint32{0x5d813e27, 0x5f800000}},
		{"the last of a vector decides", "st.v2.b16 [o], {w0, f1}; st.v2.b16 [o+4], {f0, w1}; st.v2.b16 [o+8], {f0, f1};", [4]uint32{f3, f1e5}, [4]uint32{0xffff0003, 0x50000fdb, 0xffff0003}},
		{"st.param.b16 of f32", "{ .param .b16 x; .param .b32 y; st.param.b16 [x], f0; call (y), wide, (x); ld.param.b32 w0, [y]; } st.b32 [o], w0;", [4]uint32{f3}, [4]uint32{3}},
		{"ld.param.b128", "{ .param .align 16 .b8 x[16]; .param .align 16 .b8 y[16]; st.param.v2.b64 [x], {l0, l1}; call (y), echo, (x); ld.param.b128 q, [y]; } st.b128 [o], q;",
			[4]uint32{1, 2, 3, 4}, [4]uint32{1, 2, 0, 0}},
		{"ld.param.v2.b64", "{ .param .align 16 .b8 x[16]; .param .align 16 .b8 y[16]; st.param.v2.b64 [x], {l0, l1}; call (y), echo, (x); ld.param.v2.b64 {l0, l1}, [y]; } st.v2.b64 [o], {l0, l1};",
			[4]uint32{1, 2, 3, 4}, [4]uint32{1, 2, 3, 4}},
		{"max of one NaN", "max.f32 f0, f0, f0; min.f32 f1, f1, f1; max.NaN.f32 f2, f2, f2; st.v4.b32 [o], {f0, f1, f2, f3};", [4]uint32{nan32, 0xff812345, nan32, nan32},
			[4]uint32{nan32, 0xff812345, 0x7fffffff, nan32}},
		{"set.bf16.f32 of a literal", "set.eq.bf16.f32 h, f0, 3.0; st.b16 [o], h; set.eq.bf16.f32 h, f1, 3.0; st.b16 [o+4], h; set.eq.bf16.f32 h, f2, 0d400921FB54442D18; st.b16 [o+8], h; set.eq.bf16.f32 h, f0, 0f40400000; st.b16 [o+12], h;",
			[4]uint32{0x40400000, 0x80000000, 0x54442d18}, [4]uint32{0, 0x3f80, 0x3f80, 0x3f80}},
		{"fma.rz.oob", "fma.rz.oob.bf16 h, i0, i0, i1; st.b16 [o], h; fma.rn.oob.bf16 h, i0, i0, i1; st.b16 [o+4], h; fma.rz.oob.relu.bf16 h, i1, i0, i1; st.b16 [o+8], h; fma.rz.oob.bf16x2 w0, w1, w1, w1; st.b32 [o+12], w0;",
			[4]uint32{0xa5bdfff7, 0xfff7fff7}, [4]uint32{0x7fff, 0, 0x7fff, 0}},
	} {
		text := fmt.Sprintf(`.version 8.5
.target sm_90
.address_size 64
.func (.param .b32 y) wide(.param .b16 x) { .reg .u32 a; ld.param.u16 a, [x]; st.param.b32 [y], a; ret; }
.func (.param .align 16 .b8 y[16]) echo(.param .align 16 .b8 x[16]) { .reg .b64 a<2>; ld.param.v2.b64 {a0, a1}, [x]; st.param.v2.b64 [y], {a0, a1}; ret; }
.visible .entry k(.param .u64 at) {
	.reg .b64 o; .reg .f32 f<4>; .reg .b32 w<4>; .reg .f64 d<2>; .reg .b64 l<2>; .reg .b128 q; .reg .b16 h, i0, i1;
	ld.param.u64 o, [at]; ld.v4.f32 {f0, f1, f2, f3}, [o]; ld.v4.b32 {w0, w1, w2, w3}, [o]; ld.v2.f64 {d0, d1}, [o]; ld.v2.b64 {l0, l1}, [o]; ld.v2.b16 {i0, i1}, [o]; add.u64 o, o, 16;
	%s
	ret;
}`, c.body)
		for _, e := range engines {
			d := exectest.Open(t)
			d.Engine = e
			k, err := d.Load(text).Kernel("k")
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			at, out := d.Alloc(32)
			for i, v := range c.in {
				binary.LittleEndian.PutUint32(out[4*i:], v)
			}
			if err := k.Run(exectest.Config{Block: exectest.Dim(1)}, at); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := exectest.Words(out)[4:8]; !slices.Equal(got, c.want[:]) {
				t.Errorf("%s, %s: %#x, want %#x", c.name, e.Name(), got, c.want)
			}
		}
	}
}
