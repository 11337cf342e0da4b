package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

const faultsPTX = `.version 8.0
.target sm_80
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .align 1 .b8 message[6] = {120, 32, 60, 32, 52, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[2] = {107, 0};
.visible .entry failed(.param .u64 .ptr .global x)
{
	.reg .b64 %q<8>; .reg .b32 %r<4>; .reg .pred %p;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p, %r1, 4;
	@%p bra done;
	mov.u64 %q1, message; cvta.global.u64 %q1, %q1;
	mov.u64 %q2, file; cvta.global.u64 %q2, %q2;
	mov.u64 %q3, name; cvta.global.u64 %q3, %q3;
	{
	.param .b64 a0; .param .b64 a1; .param .b32 a2; .param .b64 a3; .param .b64 a4;
	st.param.b64 [a0], %q1; st.param.b64 [a1], %q2; st.param.b32 [a2], 7; st.param.b64 [a3], %q3; st.param.b64 [a4], 1;
	call.uni __assertfail, (a0, a1, a2, a3, a4);
	}
done:
	ret;
}
.visible .entry misaligned(.param .u64 .ptr .global x)
{
	.reg .b64 %q; .reg .b32 %r;
	ld.param.u64 %q, [x];
	ld.global.u32 %r, [%q+2];
	st.global.u32 [%q], %r;
	ret;
}
.visible .entry outside(.param .u64 .ptr .global x)
{
	.reg .b64 %q; .reg .b32 %r;
	ld.param.u64 %q, [x];
	ld.global.u32 %r, [%q+1073741824];
	st.global.u32 [%q], %r;
	ret;
}`

// TestFaultTexts: what an error says of a kernel that broke: each thing once, with kind, size and thread of the access
// whether it was found by a check or by the host.
func TestFaultTexts(t *testing.T) {
	cudatest.SoftwareOnly(t)
	for _, x := range []struct {
		kernel string
		code   error
		words  []string // each once
	}{
		{"failed", cuda.ErrAssert, []string{"assert triggered", "a.cu:7: k: Assertion `x < 4` failed.",
			"block (0,0,0), thread (4,0,0)", "thread"}},
		{"misaligned", cuda.ErrMisalignedAddress, []string{"misaligned address", "misaligned access", "read of 4 bytes",
			"thread (0,0,0)"}},
		{"outside", cuda.ErrIllegalAddress, []string{"illegal address", "read of 4 bytes", "thread (0,0,0)"}},
	} {
		t.Run(x.kernel, func(t *testing.T) {
			c := cudatest.OpenBroken(t)
			k := cudatest.Kernel(t, c, []byte(faultsPTX), x.kernel)
			b := cudatest.Alloc[uint32](t, c, 4)
			check(t, k.Launch(nil, cuda.LinearBlock(32, 32), cuda.Ptr(b)))
			err := c.Synchronize()
			if !errors.Is(err, x.code) {
				t.Fatalf("%v, want %v", err, x.code)
			}
			for _, w := range x.words {
				if n := strings.Count(err.Error(), w); n != 1 {
					t.Errorf("%q is there %d times, not once: %v", w, n, err)
				}
			}
		})
	}
}
