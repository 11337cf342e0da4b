package jit

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// stackKernel takes local memory of as many bytes as the thread's number says, several times, gives some of it back,
// and stores what stands in it and where it lies. Some threads take none.
const stackKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
	.local .align 8 .b8 fixed[24];
	.reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p<4>;
	ld.param.u64 %q1, [out]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %q2, %r4, 8; add.u64 %q2, %q1, %q2; st.local.u32 [fixed+4], %r4;
	stacksave.u64 %q9; and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 3; add.u32 %r5, %r5, 8; cvt.u64.u32 %q3, %r5;
	mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u64 %q8, 0;
L:	setp.eq.u32 %p1, %r5, 24; @%p1 bra NONE;
	alloca.u64 %q4, %q3; st.local.u32 [%q4], %r4; st.local.u32 [%q4+4], %r6; add.u64 %q8, %q8, %q4;
	ld.local.u32 %r8, [%q4]; add.u32 %r7, %r7, %r8; and.b32 %r10, %r1, 1; setp.eq.u32 %p2, %r10, 0; @%p2 bra NONE;
	stackrestore.u64 %q9;
NONE: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, %r9; @%p3 bra L;
	ld.local.u32 %r8, [fixed+4]; add.u32 %r7, %r7, %r8; st.global.u32 [%q2], %r7; cvt.u32.u64 %r8, %q8;
	st.global.u32 [%q2+4], %r8; ret;
}`

// TestStack: local memory that kernels take as they run lies where the interpreter has it, when launches pause, when
// CTAs stop, and where there is no more of it.
func TestStack(t *testing.T) { eachISA(t, testStack) }

func testStack(t *testing.T, e *engine) {
	const grid = 3
	run := func(engine exec.Engine, block uint32, n uint32, quantum int32) ([]byte, *exectest.Kernel, string) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(stackKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, result := d.Alloc(int(8 * grid * block))
		c := exectest.Config{Grid: exectest.Dim(grid), Block: exectest.Dim(block), Quantum: quantum}
		if err := k.Run(c, out, n); err != nil {
			return nil, k, err.Error()
		}
		return bytes.Clone(result), k, ""
	}
	defer func() { e.probe = 0 }()
	for _, later := range []int{0, 1 << 20} {
		e.later = later
		for _, block := range []uint32{32, 50, 128} {
			for _, n := range []uint32{1, 9, 100000} {
				if n > 1000 && block > 32 {
					continue
				}
				want, _, why := run(interp.New(), block, n, 0)
				for _, quantum := range []int32{0, 1, 3} {
					for _, probe := range []int32{0, 3, 17, 90} {
						e.probe = probe
						got, k, is := run(e, block, n, quantum)
						if !bytes.Equal(got, want) || is != why || (why != "") != (n > 1000) {
							t.Errorf("block %d, %d times, quantum %d, probe %d: another result: %q, %q", block, n, quantum,
								probe, is, why)
						}
						v := k.Code.(*code).cta.versions[ctaKey{dims: [3]uint32{block, 1, 1}}]
						if v == nil && probe == 0 && why == "" {
							t.Errorf("block %d: it does not run as whole CTAs: %v", block, k.Code.(*code).cta.falls)
						}
					}
				}
			}
		}
	}
}
