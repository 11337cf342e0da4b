package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// golden has a line for each rule by which requests are served. The comments name the lines.
const golden = `
.version 8.0
.target sm_90
.address_size 64
.const .align 4 .u32 c[64];
.visible .entry k(.param .u64 o)
{
	.reg .pred %p<4>;
	.reg .b16 %h<4>;
	.reg .b32 %r<16>;
	.reg .f32 %f<8>;
	.reg .f64 %d<4>;
	.reg .b64 %q<16>;
	.local .align 4 .b8 l[128];
	.shared .align 16 .b8 s[8192];
	ld.param.u64 %q0, [o];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %q1, %r0, 4;
	add.u64 %q1, %q0, %q1;
	ld.global.u32 %r1, [%q1]; // neighbours
	ld.global.u32 %r1, [%q1+4]; // shifted
	mul.wide.u32 %q2, %r0, 8;
	add.u64 %q2, %q0, %q2;
	ld.global.u32 %r1, [%q2]; // every second
	ld.global.u32 %r1, [%q0]; // one word
	mul.wide.u32 %q3, %r0, 16;
	add.u64 %q3, %q0, %q3;
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q3]; // vectors
	cvt.u64.u32 %q4, %r0;
	add.u64 %q4, %q0, %q4;
	ld.global.u8 %r1, [%q4]; // bytes
	atom.global.add.u32 %r1, [%q0], 0; // atomic
	mov.u32 %r5, s;
	shl.b32 %r6, %r0, 2;
	add.u32 %r6, %r5, %r6;
	st.shared.u32 [%r6], %r0; // banks in order
	and.b32 %r7, %r0, 31;
	shl.b32 %r8, %r7, 3;
	add.u32 %r8, %r5, %r8;
	st.shared.u32 [%r8], %r0; // two to a bank
	shl.b32 %r9, %r7, 7;
	add.u32 %r9, %r5, %r9;
	st.shared.u32 [%r9], %r0; // one bank
	mul.lo.u32 %r10, %r7, 132;
	add.u32 %r10, %r5, %r10;
	st.shared.u32 [%r10], %r0; // padded
	ld.shared.u32 %r1, [%r5]; // the same word
	ld.shared.v2.u32 {%r1, %r2}, [%r8]; // pairs
	cvt.u64.u32 %q5, %r6;
	cvta.shared.u64 %q5, %q5;
	ld.u32 %r1, [%q5]; // generic shared
	ld.u32 %r1, [%q1]; // generic global
	mov.u32 %r11, l;
	st.local.u32 [%r11], %r0; // local, one index
	shl.b32 %r12, %r7, 2;
	add.u32 %r12, %r11, %r12;
	st.local.u32 [%r12], %r0; // local, an index each
	ld.const.u32 %r1, [c]; // one constant
	mov.u32 %r13, c;
	mov.u64 %q6, c;
	mul.wide.u32 %q7, %r7, 4;
	add.u64 %q6, %q6, %q7;
	ld.const.u32 %r1, [%q6]; // constants
	setp.gt.u32 %p0, %r0, 1000;
	@%p0 ld.global.u32 %r1, [%q1]; // nobody
	setp.lt.u32 %p1, %r0, 8;
	@%p1 ld.global.u32 %r1, [%q1]; // eight
	fma.rn.f32 %f0, %f1, %f2, %f3; // fma
	add.f16x2 %r1, %r2, %r3; // pair
	mul.rn.f64 %d0, %d1, %d2; // double
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f4,%f5,%f6,%f7}; // mma
	shl.b32 %r14, %r7, 4;
	add.u32 %r14, %r5, %r14;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r14]; // rows in order
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r9]; // rows in one bank
	cp.async.cg.shared.global [%r14], [%q3], 16; // copy
	cp.async.wait_all;
	setp.lt.u32 %p2, %r0, 16;
	@%p2 bra DONE; // branch
	add.u32 %r1, %r1, 1; // divided
DONE:
	ret;
}
`

func at(t Traffic) Memory         { return Memory{Global: t} }
func inShared(t Traffic) Memory   { return Memory{Shared: t} }
func inLocal(t Traffic) Memory    { return Memory{Local: t} }
func inConstant(t Traffic) Memory { return Memory{Const: t} }

// The numbers are of two warps, computed by hand from the rules: 32-byte sectors that lanes touch, words of the same
// bank one after the other, local memory with the words of consecutive threads side by side, one constant address at a
// time. The arrays begin at multiples of 128 bytes.
var goldenWant = map[string]Work{
	"neighbours":           {Count: Count{2, 64, 0, at(Traffic{2, 256, 2 * 4, 2 * 4}), 0}},
	"shifted":              {Count: Count{2, 64, 0, at(Traffic{2, 256, 2 * 5, 2 * 4}), 0}},
	"every second":         {Count: Count{2, 64, 0, at(Traffic{2, 256, 2 * 8, 2 * 4}), 0}},
	"one word":             {Count: Count{2, 64, 0, at(Traffic{2, 256, 2, 2}), 0}},
	"vectors":              {Count: Count{2, 64, 0, at(Traffic{2, 1024, 2 * 16, 2 * 16}), 0}},
	"bytes":                {Count: Count{2, 64, 0, at(Traffic{2, 64, 2, 2}), 0}},
	"atomic":               {Count: Count{2, 64, 0, at(Traffic{2, 256, 2, 2}), 0}},
	"banks in order":       {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2, 2}), 0}},
	"two to a bank":        {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2 * 2, 2}), 0}},
	"one bank":             {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2 * 32, 2}), 0}},
	"padded":               {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2, 2}), 0}},
	"the same word":        {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2, 2}), 0}},
	"pairs":                {Count: Count{2, 64, 0, inShared(Traffic{2, 512, 2 * 2, 2 * 2}), 0}},
	"generic shared":       {Count: Count{2, 64, 0, inShared(Traffic{2, 256, 2, 2}), 0}},
	"generic global":       {Count: Count{2, 64, 0, at(Traffic{2, 256, 2 * 4, 2 * 4}), 0}},
	"local, one index":     {Count: Count{2, 64, 0, inLocal(Traffic{2, 256, 2 * 4, 2 * 4}), 0}},
	"local, an index each": {Count: Count{2, 64, 0, inLocal(Traffic{2, 256, 2 * 32, 2 * 4}), 0}},
	"one constant":         {Count: Count{2, 64, 0, inConstant(Traffic{2, 256, 2, 2}), 0}},
	"constants":            {Count: Count{2, 64, 0, inConstant(Traffic{2, 256, 2 * 32, 2}), 0}},
	"nobody":               {Count: Count{2, 0, 0, Memory{}, 0}},
	"eight":                {Count: Count{2, 8, 0, at(Traffic{1, 32, 1, 1}), 0}},
	"fma":                  {Count: Count{2, 64, 0, Memory{}, 0}, Flops: Flops{F32: 128}},
	"pair":                 {Count: Count{2, 64, 0, Memory{}, 0}, Flops: Flops{F16: 128}},
	"double":               {Count: Count{2, 64, 0, Memory{}, 0}, Flops: Flops{F64: 64}},
	"mma":                  {Count: Count{2, 64, 0, Memory{}, 0}, Flops: Flops{Tensor: 2 * 2 * 16 * 8 * 16}},
	"rows in order":        {Count: Count{2, 64, 0, inShared(Traffic{2, 1024, 2 * 4, 2 * 4}), 0}},
	"rows in one bank":     {Count: Count{2, 64, 0, inShared(Traffic{2, 1024, 2 * 32, 2 * 4}), 0}},
	"copy": {Count: Count{2, 64, 0, Memory{Global: Traffic{2, 1024, 2 * 16, 2 * 16},
		Shared: Traffic{2, 1024, 2 * 4, 2 * 4}}, 0}},
	"branch":  {Count: Count{2, 64, 1, Memory{}, 0}, Branches: 2},
	"divided": {Count: Count{2, 48, 0, Memory{}, 0}},
}

func TestGolden(t *testing.T) {
	names := map[int32]string{}
	for i, l := range strings.Split(golden, "\n") {
		if _, name, ok := strings.Cut(l, "; // "); ok {
			names[int32(i+1)] = name
		}
	}
	counting := New()
	run := func(e exec.Engine, n *exec.Counters) {
		t.Helper()
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(golden).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		a, _ := d.Alloc(4096)
		if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(64), Counters: n}, a); err != nil {
			t.Fatal(err)
		}
	}
	run(counting, nil)
	s := counting.Kernels()[0].Summary()
	seen := 0
	for _, l := range s.Lines {
		if name, ok := names[l.Line]; ok {
			seen++
			if want, ok := goldenWant[name]; !ok || l.Work != want {
				t.Errorf("%s: %+v, want %+v", name, l.Work, want)
			}
		}
	}
	if seen != len(goldenWant) || seen != len(names) {
		t.Errorf("%d lines of %d and %d", seen, len(names), len(goldenWant))
	}
	var sum Work
	for i := range s.Lines {
		sum.add(&s.Lines[i].Work)
	}
	if sum != s.Total {
		t.Errorf("the total %+v is not the sum %+v", s.Total, sum)
	}
	// The other engines execute the same operations.
	engines := []exec.Engine{interp.New()}
	for _, isa := range []string{"avx512", "avx2"} {
		e, err := jit.New(isa)
		var none *jit.UnavailableError
		if errors.As(err, &none) {
			t.Log(err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		engines = append(engines, e)
	}
	for _, e := range engines {
		var n exec.Counters
		run(e, &n)
		if got := n.WarpInstructions.Load(); got != s.Operations {
			t.Errorf("%s: %d operations, counted %d", e.Name(), got, s.Operations)
		}
	}
}
