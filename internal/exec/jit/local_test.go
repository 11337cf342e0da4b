package jit

import (
	"encoding/binary"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestLocalWithoutVariables has every thread of eight warps write to the end of its local memory, by an address, in a
// kernel that has no local variables.
func TestLocalWithoutVariables(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 at) {
	.reg .b32 %r<4>; .reg .b64 %q<8>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %q3, %r1, 4; add.u64 %q3, %q1, %q3;
	st.local.u32 [%q2], %r1; bar.sync 0; ld.local.u32 %r2, [%q2]; st.global.u32 [%q3], %r2; ret;
}`).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		const threads, stack = 256, 1024
		l := &exec.Launch{Code: k.Code, Block: [3]uint32{threads, 1, 1}, Stack: stack}
		if n := k.Code.(*code).localBytes(l); n < threads*stack {
			t.Fatalf("%d bytes of local memory for %d threads with %d each", n, threads, stack)
		}
		out, bytes := d.Alloc(4 * threads)
		if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(threads), Stack: stack}, out,
			uint64(stack-4)); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(threads) {
			if got := binary.LittleEndian.Uint32(bytes[4*i:]); got != i {
				t.Fatalf("thread %d reads %d", i, got)
			}
		}
	})
}
