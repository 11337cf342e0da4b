package jit

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// turnsKernel sums products of a row and a column, as many of them as the thread's number says: all warps load the
// same columns, and lanes leave the loop one after the other.
const turnsKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {
	.reg .b32 %r<16>; .reg .b64 %q<16>; .reg .f32 %f<8>; .reg .pred %p<4>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [in]; ld.param.u32 %r9, [n];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
	mov.u32 %r5, %ctaid.x; add.u32 %r9, %r9, %r5;
	and.b32 %r6, %r4, 7; mul.lo.u32 %r7, %r6, %r9; add.u32 %r7, %r7, %r2; // iterations
	mov.f32 %f1, 0f00000000; mov.u32 %r8, 0;
	setp.ge.u32 %p1, %r8, %r7; @%p1 bra END;
	mul.wide.u32 %q3, %r1, 4; add.u64 %q4, %q2, %q3; mul.wide.u32 %q5, %r2, 64; add.u64 %q5, %q5, %q2;
L:	ld.global.f32 %f2, [%q4]; ld.global.f32 %f3, [%q5]; fma.rn.f32 %f1, %f2, %f3, %f1;
	add.u64 %q4, %q4, 128; add.u64 %q5, %q5, 4; add.u32 %r8, %r8, 1;
	setp.lt.u32 %p1, %r8, %r7; @%p1 bra L;
END: mov.u32 %r10, %ntid.y; mul.lo.u32 %r10, %r10, %r3; mad.lo.u32 %r11, %r5, %r10, %r4;
	mul.wide.u32 %q6, %r11, 4; add.u64 %q6, %q6, %q1; st.global.f32 [%q6], %f1; ret;
}`

// TestTurns: warps that take turns in a loop compute what the interpreter does, whatever the lanes that leave it, when
// the launch pauses and when CTAs stop.
func TestTurns(t *testing.T) { eachISA(t, testTurns) }

func testTurns(t *testing.T, e *engine) {
	const grid = 5
	run := func(engine exec.Engine, block [3]uint32, quantum int32) ([]byte, *exectest.Kernel) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(turnsKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		in, data := d.Alloc(1 << 16)
		for i := range data {
			if data[i] = byte(i * 37); i%4 == 3 {
				data[i] = 0x3f
			}
		}
		out, result := d.Alloc(int(4 * grid * block[0] * block[1]))
		c := exectest.Config{Grid: exectest.Dim(grid), Block: block, Quantum: quantum}
		if err := k.Run(c, out, in, uint32(9)); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(result), k
	}
	for _, block := range [][3]uint32{{16, 8, 1}, {32, 4, 1}, {8, 9, 1}, {16, 3, 1}, {48, 2, 1}, {32, 1, 1}} {
		want, _ := run(interp.New(), block, 0)
		for _, quantum := range []int32{0, 1, 2, 7} {
			for _, probe := range []int32{0, 3, 50} {
				e.probe = probe
				got, k := run(e, block, quantum)
				if !bytes.Equal(got, want) {
					t.Errorf("block %v, quantum %d, probe %d: another result", block, quantum, probe)
				}
				v := k.Code.(*code).cta.versions[ctaKey{dims: block}]
				if turns := v != nil && v.code.Values.Turns != nil; turns != (block[1] > 1 && 32%block[0] == 0) {
					t.Errorf("block %v: turns %v", block, turns)
				}
			}
		}
	}
	e.probe = 0
}
