package interp

import (
	"fmt"
	"math/bits"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// runWords runs a body for one warp. Thread i has the words in[4i..4i+3] in %a %b %c %e (%ab and %ce as pairs) and
// gives %r0 and %r1.
func runWords(t testing.TB, body string, threads int, in []uint32) []uint32 {
	t.Helper()
	src := `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
.reg .b32 %a, %b, %c, %e, %r0, %r1, %t, %x, %y;
.reg .b64 %in, %out, %ab, %ce, %w;
.reg .pred %p, %q, %s, %u;
ld.param.u64 %in, [pin];
ld.param.u64 %out, [pout];
mov.u32 %t, %tid.x;
mad.wide.u32 %in, %t, 16, %in;
mad.wide.u32 %out, %t, 8, %out;
ld.global.v4.b32 {%a, %b, %c, %e}, [%in];
mov.b64 %ab, {%a, %b};
mov.b64 %ce, {%c, %e};
mov.u32 %r0, 0;
mov.u32 %r1, 0;
` + body + `
st.global.v2.b32 [%out], {%r0, %r1};
ret;
}
`
	code, _, err := compile(src, "k", 90)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	ia, ibuf := b.alloc(t, 16*threads)
	oa, obuf := b.alloc(t, 8*threads)
	copy(unsafe.Slice((*uint32)(unsafe.Pointer(&ibuf[0])), 4*threads), in)
	pa, params := b.alloc(t, 16)
	*(*uint64)(unsafe.Pointer(&params[0])), *(*uint64)(unsafe.Pointer(&params[8])) = ia, oa
	l := &exec.Launch{Code: code, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{uint32(threads), 1, 1}, Params: params,
		ParamAddr: pa, Mem: &b.mem, Stack: 1024, Workers: 1,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000}}
	l.Consts = exec.NewConstRows(code.Kernel(), func(*ir.ConstRow) uint64 { return 0 })
	if err := exec.Run(l); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 2*threads)
	copy(out, unsafe.Slice((*uint32)(unsafe.Pointer(&obuf[0])), 2*threads))
	return out
}

// TestIntegerForms covers forms that the recorded set lacks; expectations follow the manual's definitions (PTX ISA
// 9.7.1, 9.7.8, 9.7.9).
func TestIntegerForms(t *testing.T) {
	const x, y = 0xf0e1d2c3, 0x8796a5b4
	sel := func(a, b uint32, picks ...uint) uint32 { // picks from byte 3 down to byte 0
		v, d := uint64(b)<<32|uint64(a), uint32(0)
		for _, p := range picks {
			d = d<<8 | uint32(v>>(8*p))&0xff
		}
		return d
	}
	ab := uint64(y)<<32 | x
	rev := bits.Reverse64(ab)
	for _, c := range []struct {
		body   string
		a, b   uint32
		c, e   uint32
		r0, r1 uint32
	}{
		// 9.7.9.8: edge clamp selectors
		{"prmt.b32.ecl %r0, %a, %b, %c;", x, y, 0, 0, sel(x, y, 3, 2, 1, 0), 0},
		{"prmt.b32.ecl %r0, %a, %b, %c;", x, y, 1, 0, sel(x, y, 3, 2, 1, 1), 0},
		{"prmt.b32.ecl %r0, %a, %b, %c;", x, y, 2, 0, sel(x, y, 3, 2, 2, 2), 0},
		{"prmt.b32.ecl %r0, %a, %b, %c;", x, y, 3, 0, sel(x, y, 3, 3, 3, 3), 0},
		{"prmt.b32.ecr %r0, %a, %b, %c;", x, y, 0, 0, sel(x, y, 0, 0, 0, 0), 0},
		{"prmt.b32.ecr %r0, %a, %b, %c;", x, y, 1, 0, sel(x, y, 1, 1, 1, 0), 0},
		{"prmt.b32.ecr %r0, %a, %b, %c;", x, y, 2, 0, sel(x, y, 2, 2, 1, 0), 0},
		{"prmt.b32.ecr %r0, %a, %b, %c;", x, y, 7, 0, sel(x, y, 3, 2, 1, 0), 0},
		// 9.7.1.22: a mask of b bits from position a
		{"bmsk.clamp.b32 %r0, %a, %b; bmsk.wrap.b32 %r1, %a, %b;", 4, 8, 0, 0, 0xff0, 0xff0},
		{"bmsk.clamp.b32 %r0, %a, %b; bmsk.wrap.b32 %r1, %a, %b;", 4, 40, 0, 0, 0xfffffff0, 0xff0},
		{"bmsk.clamp.b32 %r0, %a, %b; bmsk.wrap.b32 %r1, %a, %b;", 36, 8, 0, 0, 0, 0xff0},
		{"clz.b32 %r0, %a; popc.b64 %r1, %ab;", 0x00010000, 0xff, 0, 0, 15, 9},
		{"clz.b32 %r0, %a; or.b32 %r1, %b, %c;", 0, 0xf0, 0x0f, 0, 32, 0xff},
		{"brev.b64 %w, %ab; mov.b64 {%r0, %r1}, %w;", x, y, 0, 0, uint32(rev), uint32(rev >> 32)},
		{"bfe.u64 %w, %ab, %c, %e; mov.b64 {%r0, %r1}, %w;", x, y, 28, 40, uint32(ab >> 28), uint32(ab >> 60)},
		{"bfe.u64 %w, %ab, %c, %e; mov.b64 {%r0, %r1}, %w;", x, y, 64, 4, 0, 0},
		{"shl.b32 %r0, %a, %b; shr.b32 %r1, %a, %b;", 0x80000001, 4, 0, 0, 0x10, 0x08000000},
		{"shl.b32 %r0, %a, %b; shr.s32 %r1, %a, %b;", 0x80000001, 100, 0, 0, 0, 0xffffffff},
		{"szext.clamp.s32 %r0, %a, %b; szext.clamp.u32 %r1, %a, %b;", 0x1ff, 40, 0, 0, 0x1ff, 0x1ff},
		{"szext.wrap.s32 %r0, %a, %b; szext.wrap.u32 %r1, %a, %b;", 0x1ff, 36, 0, 0, 0xffffffff, 0xf},
		{"setp.ne.u32 %p, %a, 0; setp.ne.u32 %q, %b, 0; or.pred %s, %p, !%q; selp.u32 %r0, 7, 9, %s;", 0, 1, 0, 0, 9,
			0},
		{"setp.ne.u32 %p, %a, 0; setp.ne.u32 %q, %b, 0; or.pred %s, %p, !%q; selp.u32 %r0, 7, 9, %s;", 0, 0, 0, 0, 7,
			0},
		{"sad.u32 %r0, %a, %b, %c; mul24.lo.s32 %r1, %a, %b;", 3, 0xfffffe, 10, 0, 0xfffffb + 10, 0xfffffffa},
		{"setp.lo.and.u32 %p|%q, %a, %b, 1; selp.u32 %r0, 1, 0, %p; selp.u32 %r1, 1, 0, %q;", 1, 2, 0, 0, 1, 0},
	} {
		got := runWords(t, c.body, 1, []uint32{c.a, c.b, c.c, c.e})
		if got[0] != c.r0 || got[1] != c.r1 {
			t.Errorf("%s a=%#x b=%#x c=%#x e=%#x: got %#x %#x, want %#x %#x", c.body, c.a, c.b, c.c, c.e, got[0],
				got[1], c.r0, c.r1)
		}
	}
}

// TestDivergedLanes runs the loops of frequent operations with every kind of lane mask: a lane that is guarded off
// keeps its value, and each thread has a carry flag of its own.
func TestDivergedLanes(t *testing.T) {
	in := make([]uint32, 4*32)
	for i := range in {
		in[i] = uint32(i)*0x9e3779b9 + 0x80000000>>(i%32)
	}
	for _, c := range []struct {
		body string
		want func(a, b, c, e uint32) (uint32, uint32)
	}{
		{"add.u32 %r0, %a, %b; @%p sub.u32 %r0, %a, %b; @%p mad.lo.u32 %r1, %a, %b, %c;",
			func(a, b, c, e uint32) (uint32, uint32) {
				if e&1 == 0 {
					return a + b, 0
				}
				return a - b, a*b + c
			}},
		{"@%p setp.lt.s32 %q, %a, %b; @!%p setp.ge.u32 %q, %a, %b; selp.b32 %r0, %a, %b, %q; @%q mov.u32 %r1, 5;",
			func(a, b, c, e uint32) (uint32, uint32) {
				q := a >= b
				if e&1 != 0 {
					q = int32(a) < int32(b)
				}
				if q {
					return a, 5
				}
				return b, 0
			}},
		// the flag after a subtraction is set when nothing was borrowed
		{"@%p add.cc.u32 %r0, %a, %b; @!%p sub.cc.u32 %r0, %a, %b; addc.u32 %r1, %c, 0;",
			func(a, b, c, e uint32) (uint32, uint32) {
				if e&1 != 0 {
					s, k := bits.Add32(a, b, 0)
					return s, c + k
				}
				d, k := bits.Sub32(a, b, 0)
				return d, c + 1 - k
			}},
		{"@%p shl.b32 %r0, %a, 5; @%p lop3.b32 %r1, %a, %b, %c, 0x1e; @!%p max.s32 %r0, %a, %b; @!%p min.u32 %r1, %a, %b;", func(a, b, c, e uint32) (uint32, uint32) {
			if e&1 != 0 {
				return a << 5, a ^ (b | c)
			}
			return uint32(max(int32(a), int32(b))), min(a, b)
		}},
	} {
		for _, threads := range []int{1, 7, 32} {
			got := runWords(t, "and.b32 %x, %e, 1; setp.ne.u32 %p, %x, 0;\n"+c.body, threads, in[:4*threads])
			for i := 0; i < threads; i++ {
				r0, r1 := c.want(in[4*i], in[4*i+1], in[4*i+2], in[4*i+3])
				if got[2*i] != r0 || got[2*i+1] != r1 {
					t.Errorf("%s, %d threads, thread %d: got %#x %#x, want %#x %#x", c.body, threads, i, got[2*i],
						got[2*i+1], r0, r1)
				}
			}
		}
	}
}

func BenchmarkInteger(b *testing.B) {
	for _, op := range []string{"add.u32 %r0, %r0, %a;", "mad.lo.u32 %r0, %r0, %a, %b;",
		"lop3.b32 %r0, %r0, %a, %b, 0x1e;", "setp.lt.s32 %q, %r0, %a;",
		"setp.lt.f32 %q, %r0, %a;", "prmt.b32 %r0, %r0, %a, %b;", "add.cc.u32 %r0, %r0, %a;", "add.s64 %w, %w, %ab;"} {
		b.Run(op, func(b *testing.B) {
			body := fmt.Sprintf("mov.b64 %%w, 0; mov.u32 %%x, %d;\nL:\n", b.N)
			for range 16 {
				body += op + "\n"
			}
			body += "sub.u32 %x, %x, 1; setp.ne.u32 %p, %x, 0; @%p bra L;"
			runWords(b, body, 32, make([]uint32, 128))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/warp-op")
		})
	}
}
