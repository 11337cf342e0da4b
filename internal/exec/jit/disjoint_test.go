package jit

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// disjointKernel loads from where a block's number, times a power of two, and the thread's number or-ed say, and stores
// what it loaded with the two or-ed in 32 bits; its arguments are the shift and an operation on the thread's number.
const disjointKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
	.reg .b32 %%r<12>; .reg .b64 %%q<16>;
	ld.param.u64 %%q1, [out]; ld.param.u64 %%q2, [in]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x;
	mov.u32 %%r3, %%ntid.x; mad.lo.u32 %%r4, %%r2, %%r3, %%r1; mul.wide.u32 %%q3, %%r4, 4; add.u64 %%q3, %%q1, %%q3;
	shl.b32 %%r5, %%r2, %[1]d; %[2]s
	or.b32 %%r7, %%r5, %%r6; cvt.u64.u32 %%q4, %%r5; cvt.u64.u32 %%q5, %%r6; or.b64 %%q6, %%q4, %%q5;
	shl.b64 %%q7, %%q6, 2; add.u64 %%q7, %%q7, %%q2; ld.global.u32 %%r8, [%%q7]; shl.b32 %%r9, %%r7, 16;
	add.u32 %%r8, %%r8, %%r9; st.global.u32 [%%q3], %%r8; ret;
}`

// TestDisjointOr: an or of values that have no bit in common is computed as a sum, of one base and a stride; that of
// others is not.
func TestDisjointOr(t *testing.T) { eachISA(t, testDisjointOr) }

func testDisjointOr(t *testing.T, e *engine) {
	run := func(engine exec.Engine, text string, block uint32) []byte {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(text).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		in, data := d.Alloc(1 << 16)
		for i := range data {
			data[i] = byte(mix(uint32(i), 3))
		}
		out, result := d.Alloc(int(4 * 7 * block))
		if err := k.Run(exectest.Config{Grid: exectest.Dim(7), Block: exectest.Dim(block)}, out, in); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(result)
	}
	for _, lanes := range []string{"mov.u32 %r6, %r1;", "and.b32 %r6, %r1, 31;", "and.b32 %r6, %r1, 63;",
		"shl.b32 %r6, %r1, 2;", "mov.u32 %r6, %laneid;", "add.u32 %r6, %r1, 1;", "and.b32 %r6, %r1, 15;"} {
		for shift := range 10 {
			text := fmt.Sprintf(disjointKernel, shift, lanes)
			for _, block := range []uint32{16, 20, 32, 48, 64, 96, 128} {
				if !bytes.Equal(run(e, text, block), run(interp.New(), text, block)) {
					t.Errorf("%s shift %d, block %d: another result", lanes, shift, block)
				}
			}
		}
	}
}
