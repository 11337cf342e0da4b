package jit

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
)

// matchKernel has the lanes whose bit a mask has compare words of few bits, and counts bits.
const matchKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 mask) {
	.reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p<4>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [in]; ld.param.u32 %r9, [mask];
	mov.u32 %r1, %tid.x; mul.wide.u32 %q3, %r1, 4; add.u64 %q2, %q2, %q3; mul.wide.u32 %q3, %r1, 16;
	add.u64 %q1, %q1, %q3; ld.global.u32 %r2, [%q2]; popc.b32 %r3, %r2; st.global.u32 [%q1], %r3;
	and.b32 %r4, %r2, 7; match.any.sync.b32 %r5, %r4, -1; st.global.u32 [%q1+4], %r5;
	mov.u32 %r6, %laneid; shr.u32 %r7, %r9, %r6; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra END;
	match.any.sync.b32 %r5, %r4, %r9; st.global.u32 [%q1+8], %r5; popc.b32 %r3, %r5; st.global.u32 [%q1+12], %r3;
END: ret;
}`

// TestMatch compares match.any and popc of words with what PTX ISA 9.7.13.9 and 9.7.1.13 say, for all lanes and for
// some.
func TestMatch(t *testing.T) { eachISA(t, testMatch) }

func testMatch(t *testing.T, e *engine) {
	d := exectest.Open(t)
	d.Engine = e
	k, err := d.Load(matchKernel).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	in, data := d.Alloc(4 * 64)
	words := make([]uint32, 64)
	for i := range words {
		words[i] = mix(uint32(i), 5) >> (i % 33)
		binary.LittleEndian.PutUint32(data[4*i:], words[i])
	}
	out, result := d.Alloc(16 * 64)
	for _, mask := range []uint32{0xffffffff, 1, 0x80000000, 0x12345678, 0xffff0000, 0x0000ffff, 0} {
		clear(result)
		if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(64)}, out, in, mask); err != nil {
			t.Fatal(err)
		}
		got := exectest.Words(result)
		for i, w := range words {
			same := uint32(0)
			for j, x := range words[i&^31 : i&^31+32] {
				if x&7 == w&7 {
					same |= 1 << j
				}
			}
			want := [4]uint32{uint32(bits.OnesCount32(w)), same}
			if mask>>(i%32)&1 != 0 {
				want[2], want[3] = same&mask, uint32(bits.OnesCount32(same&mask))
			}
			if [4]uint32(got[4*i:]) != want {
				t.Fatalf("mask %#x, thread %d, word %#x: %#x, not %#x", mask, i, w, got[4*i:4*i+4], want)
			}
		}
	}
}
