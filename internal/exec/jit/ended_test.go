package jit

import (
	"encoding/binary"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestEndedWarps stops a CTA in its last warp, which has too few lanes for ldmatrix: what the warps before it did must
// not be done again.
func TestEndedWarps(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		const threads = 72
		for _, barrier := range []string{"", "bar.sync 0;"} {
			d := exectest.Open(t)
			d.Engine = e
			k, err := d.Load(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .b32 %r<16>; .reg .b64 %q<4>; .shared .align 128 .b8 sm[1024];
	ld.param.u64 %q1, [out]; mov.u32 %r1, sm;
	atom.global.add.u32 %r2, [%q1], 1;
	` + barrier + `
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];
	st.global.u32 [%q1+4], %r10;
	ret;
}`).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			out, bytes := d.Alloc(64)
			for i := range uint32(3) {
				if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(threads)}, out); err != nil {
					t.Fatal(err)
				}
				if got := binary.LittleEndian.Uint32(bytes); got != threads*(i+1) {
					t.Errorf("%q, launch %d: %d threads added 1, the sum is %d", barrier, i, threads*(i+1), got)
				}
			}
		}
	})
}
