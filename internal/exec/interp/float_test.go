package interp

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// runFloat runs a body for one warp on a target. All threads start with the words in in %a %b %c %e (%ab and %ce as
// pairs, %ha and %hb the low halves of %a and %b, %fa to %fe the same as %a to %e) and the result is each thread's %r0
// and %r1.
func runFloat(t testing.TB, target string, sm int, body string, in [4]uint32) []uint32 {
	t.Helper()
	src := ".version 9.0\n.target " + target + `
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
.reg .b8 %q0;
.reg .b16 %ha, %hb, %hc, %hr;
.reg .b32 %a, %b, %c, %e, %r0, %r1, %t;
.reg .f32 %fa, %fb, %fc, %fe, %f0, %f1;
.reg .b64 %in, %out, %ab, %ce, %w;
.reg .pred %p;
ld.param.u64 %in, [pin];
ld.param.u64 %out, [pout];
mov.u32 %t, %tid.x;
mad.wide.u32 %out, %t, 8, %out;
ld.global.v4.b32 {%a, %b, %c, %e}, [%in];
mov.b64 %ab, {%a, %b};
mov.b64 %ce, {%c, %e};
mov.b32 {%ha, _}, %a;
mov.b32 {%hb, _}, %b;
mov.b32 {%hc, _}, %c;
mov.b32 %fa, %a;
mov.b32 %fb, %b;
mov.b32 %fc, %c;
mov.b32 %fe, %e;
mov.u32 %r0, 0;
mov.u32 %r1, 0;
` + body + `
st.global.v2.b32 [%out], {%r0, %r1};
ret;
}
`
	code, _, err := compile(src, "k", sm)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	ia, ibuf := b.alloc(t, 16)
	oa, obuf := b.alloc(t, 8*32)
	*(*[4]uint32)(unsafe.Pointer(&ibuf[0])) = in
	pa, params := b.alloc(t, 16)
	*(*uint64)(unsafe.Pointer(&params[0])), *(*uint64)(unsafe.Pointer(&params[8])) = ia, oa
	l := &exec.Launch{Code: code, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: params, ParamAddr: pa,
		Mem: &b.mem, Stack: 1024, Workers: 1,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000}}
	l.Consts = exec.NewConstRows(code.Kernel(), func(*ir.ConstRow) uint64 { return 0 })
	if err := exec.Run(l); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 64)
	copy(out, unsafe.Slice((*uint32)(unsafe.Pointer(&obuf[0])), 64))
	return out
}

// TestBlackwellForms: forms that the H200 does not have. Expectations follow the manual's text (PTX ISA 9.0, 9.7.3,
// 9.7.5, 9.7.9.21); no silicon confirmed them.
func TestBlackwellForms(t *testing.T) {
	const (
		one, two, half, nan = 0x3f800000, 0x40000000, 0x3f000000, 0x7fffffff
		three, four, m1, m3 = 0x40400000, 0x40800000, 0xbf800000, 0xc0400000
	)
	for _, c := range []struct {
		body   string
		in     [4]uint32
		r0, r1 uint32
	}{
		{"add.rn.f32x2 %w, %ab, %ce; mov.b64 {%r0, %r1}, %w;", [4]uint32{one, two, two, two}, three, four},
		{"sub.f32x2 %w, %ab, %ce; mov.b64 {%r0, %r1}, %w;", [4]uint32{one, two, two, m1}, m1, three},
		{"mul.rz.f32x2 %w, %ab, %ce; mov.b64 {%r0, %r1}, %w;", [4]uint32{half, two, two, two}, one, four},
		{"fma.rn.f32x2 %w, %ab, %ce, %ab; mov.b64 {%r0, %r1}, %w;", [4]uint32{one, two, two, half}, three, three},
		{"max.f32 %f0, %fa, %fb, %fc; mov.b32 %r0, %f0; min.f32 %f0, %fa, %fb, %fc; mov.b32 %r1, %f0;",
			[4]uint32{one, m3, two}, two, m3},
		{"max.NaN.f32 %f0, %fa, %fb, %fc; mov.b32 %r0, %f0; max.abs.f32 %f0, %fa, %fb, %fb; mov.b32 %r1, %f0;",
			[4]uint32{one, m3, nan}, nan, three},
		{"add.f32.f16 %f0, %ha, %fb; mov.b32 %r0, %f0; sub.f32.bf16 %f0, %hc, %fb; mov.b32 %r1, %f0;",
			[4]uint32{0x3c00, two, 0x3f80}, three, m1},
		{"fma.rn.f32.bf16 %f0, %ha, %hb, %fc; mov.b32 %r0, %f0;", [4]uint32{0x4000, 0x3f80, one}, three, 0},
		// e2m1: 1 is 2, 6 (the largest) is 7, -0.5 is 9; the first operand in the upper half
		{"cvt.rn.satfinite.e2m1x2.f32 %q0, %fa, %fb; cvt.u32.u8 %r0, %q0; cvt.rn.f16x2.e2m1x2 %r1, %q0;",
			[4]uint32{one, 0x42c80000}, 0x27, 0x3c004600},
		{"cvt.rn.satfinite.relu.e2m1x2.f32 %q0, %fa, %fb; cvt.u32.u8 %r0, %q0;", [4]uint32{m1, one}, 0x02, 0},
		// e2m3: 1 is 0x08, 7.5 (the largest) 0x1f; e3m2: 1 is 0x0c, 28 (the largest) 0x1f
		{"cvt.rn.satfinite.e2m3x2.f32 %hr, %fa, %fb; cvt.u32.u16 %r0, %hr; cvt.rn.satfinite.e3m2x2.f32 %hr, %fa, %fb; cvt.u32.u16 %r1, %hr;", [4]uint32{one, 0x42c80000}, 0x081f, 0x0c1f},
		{"cvt.rn.f16x2.e3m2x2 %r0, %ha; cvt.rn.f16x2.e2m3x2 %r1, %ha;", [4]uint32{0x0c1f}, 0x3c004f00, 0x3e004780},
		// ue8m0: 2^(x-127); 3 rounds to 2 or 4
		{"cvt.rz.ue8m0x2.f32 %hr, %fa, %fb; cvt.u32.u16 %r0, %hr; cvt.rp.ue8m0x2.f32 %hr, %fa, %fb; cvt.u32.u16 %r1, %hr;", [4]uint32{three, one}, 0x807f, 0x817f},
		{"cvt.rn.bf16x2.ue8m0x2 %r0, %ha; cvt.rz.ue8m0x2.bf16x2 %hr, %r0; cvt.u32.u16 %r1, %hr;", [4]uint32{0x807f},
			0x40003f80, 0x807f},
		// .rs with no random bits truncates, with all of them carries whatever is left over
		{"cvt.rs.f16x2.f32 %r0, %fa, %fa, %b; cvt.rs.bf16x2.f32 %r1, %fa, %fa, %b;", [4]uint32{0x3f800001, 0x1fff0000},
			0x3c013c00, 0x3f803f80},
		{"cvt.rs.satfinite.e4m3x4.f32 %r0, {%fa, %fb, %fb, %fa}, %e;", [4]uint32{one, two, 0, 0}, 0x38404038, 0},
		{"cvt.rn.satfinite.tf32.f32 %r0, %fa; cvt.rz.satfinite.tf32.f32 %r1, %fb;", [4]uint32{0x7f800000, 0x3f801fff},
			0x7f7fe000, 0x3f800000},
	} {
		name, _, _ := strings.Cut(c.body, " ")
		t.Run(name, func(t *testing.T) {
			out := runFloat(t, "sm_100a", 100, c.body, c.in)
			if out[0] != c.r0 || out[1] != c.r1 {
				t.Errorf("%s\n\tgot  %08x %08x\n\twant %08x %08x", c.body, out[0], out[1], c.r0, c.r1)
			}
		})
	}
}

// TestFloatGuards: lanes that are guarded off keep what they had, in the handlers for all lanes and in the general
// ones.
func TestFloatGuards(t *testing.T) {
	two, three := math.Float32bits(2), math.Float32bits(3)
	bodies := map[string]uint32{
		"add.f32 %f0, %fa, %fb;":                                 math.Float32bits(5),
		"sub.f32 %f0, %fa, %fb;":                                 math.Float32bits(-1),
		"mul.f32 %f0, %fa, %fb;":                                 math.Float32bits(6),
		"fma.rn.f32 %f0, %fa, %fb, %fb;":                         math.Float32bits(9),
		"add.rz.ftz.f32 %f0, %fa, %fb;":                          math.Float32bits(5),
		"min.f32 %f0, %fa, %fb;":                                 two,
		"max.f32 %f0, %fa, %fb;":                                 three,
		"neg.f32 %f0, %fa;":                                      math.Float32bits(-2),
		"cvt.rn.f32.s32 %f0, 7;":                                 math.Float32bits(7),
		"cvt.f32.f16 %f0, %ha;":                                  0, // the low half of 2.0 is a zero
		"copysign.f32 %f0, 0fBF800000, %fb;":                     math.Float32bits(-3),
		"div.rn.f32 %f0, %fb, %fa;":                              math.Float32bits(1.5),
		"cvt.rn.f32.f64 %f0, 0d4008000000000000;":                three,
		"testp.finite.f32 %p, %fa; @%p mov.f32 %f0, 0f41200000;": math.Float32bits(10),
		"testp.subnormal.f32 %p, %fa; @!%p mov.f32 %f0, %fb;":    three,
		"cvt.rna.tf32.f32 %r0, %fa; mov.b32 %f0, %r0;":           two,
		"rcp.approx.ftz.f32 %f0, 0f40000000;":                    math.Float32bits(0.5),
		// the out-of-bounds NaN (recorded, testdata/generated)
		"mov.b16 %ha, 0xfff7; mov.b16 %hb, 0x3c00; fma.rn.oob.f16 %hr, %ha, %hb, %hb; cvt.u32.u16 %r0, %hr; mov.b32 %f0, %r0;": 0,
		"mov.b16 %ha, 0x7fff; mov.b16 %hb, 0x3c00; fma.rn.oob.f16 %hr, %ha, %hb, %hb; cvt.u32.u16 %r0, %hr; mov.b32 %f0, %r0;": 0x7fff,
		"sqrt.rn.f32 %f0, 0f40800000;":                              two,
		"ex2.approx.f32 %f0, 0f40000000;":                           math.Float32bits(4),
		"lg2.approx.f32 %f0, 0f40800000;":                           two,
		"mul.f32 %f1, %fa, %fb; add.f32 %f0, %f1, %fa;":             math.Float32bits(8),
		"mul.f32 %f1, %fa, %fb; sub.f32 %f0, %f1, %fa;":             math.Float32bits(4),
		"mul.f32 %f1, %fa, %fb; sub.f32 %f0, %fa, %f1;":             math.Float32bits(-4),
		"cvt.f32.bf16 %f0, %ha;":                                    0,
		"abs.f32 %f0, 0fC0400000;":                                  three,
		"cvt.rzi.s32.f32 %r0, 0fC0400000; cvt.rn.f32.s32 %f0, %r0;": math.Float32bits(-3),
	}
	for body, want := range bodies {
		// the odd lanes run it
		src := "mov.b32 %f0, 0x42280000;\nand.b32 %t, %t, 1;\nsetp.eq.u32 %p, %t, 0;\n@%p bra E;\n" + body +
			"\nE:\nmov.b32 %r0, %f0;"
		out := runFloat(t, "sm_90", 90, src, [4]uint32{two, three})
		for i := 0; i < 32; i++ {
			w := want
			if i%2 == 0 {
				w = 0x42280000
			}
			if out[2*i] != w {
				t.Errorf("%s: lane %d has %08x, want %08x", body, i, out[2*i], w)
				break
			}
		}
	}
}

// TestCvtRegisters: destinations wider than the type are extended, sources wider than it are cut (PTX ISA 9.4.1; the
// group cvt_int of the recorded set has the integer cases).
func TestCvtRegisters(t *testing.T) {
	for _, c := range []struct {
		body   string
		in     [4]uint32
		r0, r1 uint32
	}{
		{"cvt.s8.s32 %hr, %a; mov.b32 %r0, {%hr, 0}; cvt.u8.u32 %w, %b; mov.b64 {%r1, _}, %w;", [4]uint32{0x80, 0x180},
			0xff80, 0x80},
		{"cvt.rn.f16.f32 %r0, %fa; cvt.f32.f16 %f0, %b; mov.b32 %r1, %f0;", [4]uint32{0x3f800000, 0xffff3c00}, 0x3c00,
			0x3f800000},
		{"cvt.rzi.s8.f32 %w, %fa; mov.b64 {%r0, %r1}, %w;", [4]uint32{0xc3000000}, 0xffffff80, 0xffffffff},
		{"cvt.rn.f32.u8 %f0, %a; mov.b32 %r0, %f0; cvt.rn.f32.s8 %f0, %a; mov.b32 %r1, %f0;", [4]uint32{0x1234ff},
			0x437f0000, 0xbf800000},
		{"cvt.u32.u32 %r0, %tid.y; cvt.u16.u32 %hr, %ntid.x; mov.b32 %r1, {%hr, %hr};", [4]uint32{}, 0, 0x200020},
	} {
		out := runFloat(t, "sm_90", 90, c.body, c.in)
		if out[0] != c.r0 || out[1] != c.r1 {
			t.Errorf("%s: got %08x %08x, want %08x %08x", c.body, out[0], out[1], c.r0, c.r1)
		}
	}
}
