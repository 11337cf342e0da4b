package jit

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// lateKernel adds and multiplies what it loads from shared memory, with nothing between load and use but other such
// operations: by lane, by half of the warp, and one word for all.
const lateKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 off) {
	.shared .align 16 .b8 s[4096];
	.reg .b32 %r<8>; .reg .b64 %q<16>; .reg .f32 %f<32>; .reg .pred %p<2>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [in]; ld.param.u32 %r5, [off];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %q3, %r4, 4; add.u64 %q2, %q2, %q3; add.u64 %q1, %q1, %q3; mov.u64 %q4, s; add.u64 %q5, %q4, %q3;
	ld.global.f32 %f1, [%q2]; st.shared.f32 [%q5], %f1; st.shared.f32 [%q5+1024], %f1; bar.sync 0;
	cvt.u64.u32 %q6, %r5; mul.wide.u32 %q7, %r1, 4; mul.wide.u32 %q8, %r2, 64;
	add.u64 %q9, %q4, %q7; add.u64 %q10, %q4, %q8; add.u64 %q11, %q4, %q6;
	ld.shared.f32 %f2, [%q10]; ld.shared.f32 %f3, [%q9]; fma.rn.f32 %f1, %f2, %f3, %f1;
	ld.shared.f32 %f4, [%q9+64]; ld.shared.f32 %f5, [%q10+4]; fma.rn.f32 %f1, %f4, %f5, %f1;
	ld.shared.f32 %f6, [%q5+512]; add.f32 %f7, %f6, %f1; ld.shared.f32 %f8, [%q5]; sub.f32 %f9, %f7, %f8;
	ld.shared.f32 %f10, [%q11]; ld.shared.f32 %f11, [%q5+4]; mul.f32 %f12, %f10, %f11; add.f32 %f13, %f12, %f9;
	ld.shared.f32 %f14, [%q10+8]; sub.f32 %f15, %f14, %f13; ld.shared.f32 %f16, [%q9+128]; mul.f32 %f17, %f15, %f16;
	st.global.f32 [%q1], %f17; ret;
}`

// TestLateLoads: what operations take from shared memory is what the interpreter loads, NaNs too, also where CTAs stop
// between load and use, and an address out of bounds is the operation's that loads.
func TestLateLoads(t *testing.T) { eachISA(t, testLateLoads) }

func testLateLoads(t *testing.T, e *engine) {
	run := func(engine exec.Engine, block [3]uint32, off uint32) ([]byte, error) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(lateKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		in, data := d.Alloc(1024)
		for i := range data {
			data[i] = byte(mix(uint32(i), 11))
		}
		out, result := d.Alloc(2 * 1024)
		err = k.Run(exectest.Config{Grid: exectest.Dim(2), Block: block}, out, in, off)
		return bytes.Clone(result), err
	}
	for _, block := range [][3]uint32{{16, 16, 1}, {32, 8, 1}, {256, 1, 1}, {20, 10, 1}} {
		want, err := run(interp.New(), block, 36)
		if err != nil {
			t.Fatal(err)
		}
		for _, probe := range []int32{0, 1, 2, 3, 5, 7, 11, 29, 41, 53} {
			e.probe = probe
			if got, err := run(e, block, 36); err != nil || !bytes.Equal(got, want) {
				t.Errorf("block %v, probe %d: another result, %v", block, probe, err)
			}
		}
		e.probe = 0
		_, want1 := run(interp.New(), block, 1<<20)
		if _, got := run(e, block, 1<<20); got == nil || want1 == nil || got.Error() != want1.Error() {
			t.Errorf("block %v: %v, not %v", block, got, want1)
		}
	}
}
