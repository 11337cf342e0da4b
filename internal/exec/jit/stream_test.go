package jit

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestStream stores past the caches: from bases on lines and beside them, with blocks that end in the middle of a warp,
// and behind loads of other memory.
func TestStream(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		e.stream = 1
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(`.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p, %r5, %r1;
	@%p bra done;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [in];
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd5];
	add.f32 %f2, %f1, %f1;
	st.global.f32 [%rd4], %f2;
done:
	ret;
}`).Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		const n = 10000
		in, src := d.Alloc(4*n + 64)
		out, dst := d.Alloc(4*n + 256)
		for i := range n {
			binary.LittleEndian.PutUint32(src[4*i:], math.Float32bits(float32(i)))
		}
		for _, off := range []uint64{0, 4, 64, 100} {
			clear(dst)
			if err := k.Run(exectest.Config{Grid: exectest.Dim(42), Block: exectest.Dim(256), Workers: 2}, out+off, in,
				uint32(n)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(dst[int(off)+4*i:])); got != float32(2*i) {
					t.Fatalf("offset %d, element %d: %v", off, i, got)
				}
			}
			if rest := binary.LittleEndian.Uint32(dst[int(off)+4*n:]); rest != 0 {
				t.Fatalf("offset %d: %#x behind the last element", off, rest)
			}
		}
		if v := k.Code.(*code).cta.versions; len(v) == 0 {
			t.Fatal("the kernel did not run as whole CTAs")
		} else {
			for _, x := range v {
				if x.code.Values.Streams == 0 {
					t.Fatal("the store is none that may go past the caches")
				}
			}
		}
	})
}
