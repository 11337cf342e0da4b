package conform

import (
	"testing"

	"github.com/gocuda/cuda"
)

// stackParams has a function that takes the address of its parameters, as clang's code does for structs that are
// indexed or written to: the parameters are copied to local memory (PTX ISA 9.7.9.1). It calls itself, so each
// activation has a copy of its own.
const stackParams = `.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) pick(.param .align 8 .b8 s[44], .param .b32 i)
{
	.reg .pred %p;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.local .align 4 .b8 beside[20];
	mov.b64 %rd1, s;
	ld.param.b32 %r1, [i];
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	ld.local.u32 %r2, [%rd2];        // s[i]
	st.local.u32 [beside+16], %r2;
	mul.lo.u32 %r3, %r2, 3;
	st.local.u32 [%rd2], %r3;        // s[i] *= 3, in the copy
	mov.b64 %rd3, s+40;
	cvta.local.u64 %rd4, %rd3;
	ld.u8 %r4, [%rd4];               // the last bytes, by a generic address
	setp.eq.u32 %p, %r1, 0;
	mov.u32 %r6, 0;
	@%p bra LAST;
	{
		.param .align 8 .b8 t[44];
		.param .b32 j;
		.param .b32 q;
		mov.u32 %r5, 0;
	COPY:
		mad.wide.u32 %rd5, %r5, 4, %rd1;
		ld.local.u32 %r7, [%rd5];
		st.local.u32 [%rd5], %r7;
		add.u32 %r5, %r5, 1;
		setp.lt.u32 %p, %r5, 11;
		@%p bra COPY;
		ld.local.u32 %r7, [%rd1];
		st.param.b32 [t], %r7;
		ld.local.u32 %r7, [%rd1+4];
		st.param.b32 [t+4], %r7;
		ld.local.u32 %r7, [%rd1+8];
		st.param.b32 [t+8], %r7;
		ld.local.u32 %r7, [%rd1+12];
		st.param.b32 [t+12], %r7;
		st.param.b32 [t+40], 9;
		sub.u32 %r7, %r1, 1;
		st.param.b32 [j], %r7;
		call (q), pick, (t, j);
		ld.param.b32 %r6, [q];
	}
LAST:
	ld.local.u32 %r7, [%rd2];        // still this activation's
	mad.lo.u32 %r6, %r6, 5, %r7;
	ld.local.u32 %r7, [beside+16];
	add.u32 %r6, %r6, %r7;
	add.u32 %r6, %r6, %r4;
	st.param.b32 [r], %r6;
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd1, %r1, 4, %rd1;
	and.b32 %r2, %r1, 3;
	{
		.param .align 8 .b8 s[44];
		.param .b32 i;
		.param .b32 q;
		add.u32 %r3, %r1, 100;
		st.param.b32 [s], %r3;
		add.u32 %r3, %r1, 200;
		st.param.b32 [s+4], %r3;
		add.u32 %r3, %r1, 300;
		st.param.b32 [s+8], %r3;
		add.u32 %r3, %r1, 400;
		st.param.b32 [s+12], %r3;
		st.param.b32 [s+40], 9;
		st.param.b32 [i], %r2;
		call (q), pick, (s, i);
		ld.param.b32 %r4, [q];
	}
	st.global.u32 [%rd1], %r4;
	ret;
}
`

// TestStackParameters: the expectation is the same function in Go.
func TestStackParameters(t *testing.T) {
	c := openContext(t)
	l, err := c.Load([]byte(stackParams))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k, err := l.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	out, err := cuda.Alloc[uint32](c, n)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := k.Launch(nil, cuda.LaunchConfig{Grid: cuda.Dim3{X: 1, Y: 1, Z: 1}, Block: cuda.Dim3{X: n, Y: 1, Z: 1}},
		cuda.Ptr(out)); err != nil {
		t.Fatal(err)
	}
	got, err := out.Download()
	if err != nil {
		t.Fatal(err)
	}
	var pick func(s [4]uint32, i uint32) uint32
	pick = func(s [4]uint32, i uint32) uint32 {
		old, deeper := s[i], uint32(0)
		s[i] *= 3
		if i > 0 {
			deeper = pick(s, i-1)
		}
		return deeper*5 + s[i] + old + 9
	}
	for i, g := range got {
		x := uint32(i)
		if want := pick([4]uint32{x + 100, x + 200, x + 300, x + 400}, x&3); g != want {
			t.Errorf("thread %d: %d, want %d", i, g, want)
		}
	}
}
