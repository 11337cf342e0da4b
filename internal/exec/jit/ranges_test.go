package jit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// rangeKernel is a kernel whose accesses to shared memory go to offsets that a random chain of integer operations makes
// of the thread's index and of what it loads: some stay in the variable whatever is loaded, which the code need not
// check, others do not.
func rangeKernel(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
	.shared .align 16 .b8 before[64];
	.shared .align 16 .b8 s[2048];
	.reg .b32 %r<64>; .reg .b64 %q<16>; .reg .pred %p<2>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [in];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
	mul.wide.u32 %q3, %r3, 4; add.u64 %q2, %q2, %q3; add.u64 %q1, %q1, %q3; mov.u64 %q4, s;
	ld.global.u32 %r4, [%q2]; mov.u32 %r5, %laneid; setp.gt.u32 %p1, %r4, 0x7fffffff;
`)
	n := 6
	source := func() string { return fmt.Sprintf("%%r%d", r.IntN(n)) }
	small := func() int { return []int{1, 2, 3, 4, 5, 8, 16, 31, 64, 255, 1020}[r.IntN(11)] }
	for range 3 + r.IntN(8) {
		d := fmt.Sprintf("%%r%d", n)
		switch r.IntN(14) {
		case 0:
			fmt.Fprintf(&b, "\tand.b32 %s, %s, %d;\n", d, source(), []int{7, 15, 31, 60, 252, 255, 1020, -4}[r.IntN(8)])
		case 1:
			fmt.Fprintf(&b, "\tshl.b32 %s, %s, %d;\n", d, source(), r.IntN(9))
		case 2:
			fmt.Fprintf(&b, "\tshr.%s %s, %s, %d;\n", []string{"u32", "s32"}[r.IntN(2)], d, source(), r.IntN(32))
		case 3:
			fmt.Fprintf(&b, "\tmul.lo.u32 %s, %s, %d;\n", d, source(), small())
		case 4:
			fmt.Fprintf(&b, "\tadd.s32 %s, %s, %s;\n", d, source(), source())
		case 5:
			fmt.Fprintf(&b, "\tadd.s32 %s, %s, %d;\n", d, source(), small()-64)
		case 6:
			fmt.Fprintf(&b, "\tsub.s32 %s, %s, %s;\n", d, source(), source())
		case 7:
			fmt.Fprintf(&b, "\tmad.lo.s32 %s, %s, %d, %s;\n", d, source(), small(), source())
		case 8:
			fmt.Fprintf(&b, "\t%s %s, %s, %d;\n", []string{"min.u32", "min.s32", "max.u32", "max.s32"}[r.IntN(4)], d,
				source(), small())
		case 9:
			fmt.Fprintf(&b, "\tbfe.%s %s, %s, %d, %d;\n", []string{"u32", "s32"}[r.IntN(2)], d, source(), r.IntN(32),
				r.IntN(12))
		case 10:
			fmt.Fprintf(&b, "\trem.%s %s, %s, %d;\n", []string{"u32", "s32"}[r.IntN(2)], d, source(), small())
		case 11:
			fmt.Fprintf(&b, "\t%s.b32 %s, %s, %s;\n", []string{"or", "xor", "and"}[r.IntN(3)], d, source(), source())
		case 12:
			fmt.Fprintf(&b, "\tselp.b32 %s, %s, %s, %%p1;\n", d, source(), source())
		default:
			fmt.Fprintf(&b, "\tmov.u32 %s, %s;\n\t@%%p1 mov.u32 %s, %s;\n", d, source(), d, source())
		}
		n++
	}
	last := fmt.Sprintf("%%r%d", n-1)
	switch r.IntN(4) { // most are aligned and in bounds, or nothing would be seen but faults
	case 0:
		fmt.Fprintf(&b, "\tmul.wide.%s %%q5, %s, %d;\n", []string{"u32", "s32"}[r.IntN(2)], last,
			[]int{1, 4, 8}[r.IntN(3)])
	case 1:
		fmt.Fprintf(&b, "\tand.b32 %%r60, %s, 255;\n\tmul.wide.u32 %%q5, %%r60, 4;\n", last)
	case 2:
		fmt.Fprintf(&b, "\tand.b32 %%r60, %s, 1020;\n\tcvt.u64.u32 %%q5, %%r60;\n", last)
	default:
		fmt.Fprintf(&b, "\tcvt.%s %%q5, %s;\n\tshl.b64 %%q5, %%q5, 2;\n\tand.b64 %%q5, %%q5, %d;\n",
			[]string{"u64.u32", "s64.s32"}[r.IntN(2)], last, []int{508, 2044, 4092, 4095}[r.IntN(4)])
	}
	access := []string{
		"ld.shared.u32 %%r61, [%%q6+%d]; add.u32 %%r4, %%r4, %%r61;",
		"st.shared.u32 [%%q6+%d], %%r3;",
		"red.shared.add.u32 [%%q6+%d], 3;",
		"atom.shared.add.u32 %%r61, [%%q6+%d], %%r3;",
		"ld.shared.v2.u32 {%%r61, %%r62}, [%%q6+%d]; add.u32 %%r4, %%r61, %%r62;",
		"ld.shared.u8 %%r61, [%%q6+%d]; add.u32 %%r4, %%r4, %%r61;",
		"st.shared.v4.b32 [%%q6+%d], {%%r3, %%r4, %%r3, %%r4};",
		"@%%p1 st.shared.u32 [%%q6+%d], %%r4;",
	}
	b.WriteString("\tadd.u64 %q6, %q4, %q5;\n")
	for range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "\t"+access[r.IntN(len(access))]+"\n", []int{0, 0, 4, 16, 64, 1024}[r.IntN(6)])
		if r.IntN(3) == 0 {
			b.WriteString("\tbar.sync 0;\n")
		}
	}
	b.WriteString(`	bar.sync 0; add.u64 %q7, %q4, %q3; ld.shared.u32 %r63, [%q7]; ld.shared.u32 %r62, [%q7+1024];
	add.u32 %r4, %r4, %r63; xor.b32 %r4, %r4, %r62; st.global.u32 [%q1], %r4; ret;
}`)
	return b.String()
}

// TestSharedRanges: machine code that leaves out checks which values make needless comes to the results and the faults
// of the interpreter, which checks every lane. At least a quarter of the programs must end well and a quarter must not,
// or one of the two was not looked at.
func TestSharedRanges(t *testing.T) {
	programs := 150
	if testing.Short() {
		programs = 50
	}
	if *long {
		programs = 20000
	}
	eachISA(t, func(t *testing.T, e *engine) {
		r := rand.New(rand.NewPCG(14, 3))
		good := 0
		for n := 0; n < programs; n += 50 { // devices are closed with the test that opened them
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				for i := range 50 {
					if sharedRange(t, e, r, uint32(n+i)) {
						good++
					}
				}
			})
		}
		t.Logf("%d of %d programs without a fault", good, programs)
		if good < programs/4 || good > programs-programs/4 {
			t.Errorf("%d of %d programs end without a fault", good, programs)
		}
	})
}

// sharedRange runs a program on both engines, and says whether it ends without a fault.
func sharedRange(t *testing.T, e *engine, r *rand.Rand, n uint32) bool {
	text := rangeKernel(r)
	block := [][3]uint32{{32, 1, 1}, {256, 1, 1}, {16, 16, 1}, {48, 2, 1}, {20, 3, 1}}[r.IntN(5)]
	run := func(engine exec.Engine) ([]byte, error) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(text).Kernel("k")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		in, data := d.Alloc(1024)
		for i := range data {
			data[i] = byte(mix(uint32(i), n))
		}
		out, result := d.Alloc(1024)
		err = k.Run(exectest.Config{Grid: exectest.Dim(1), Block: block}, out, in)
		return bytes.Clone(result), err
	}
	want, fault := run(interp.New())
	got, err := run(e)
	switch {
	case (fault == nil) != (err == nil) || fault != nil && fault.Error() != err.Error():
		t.Fatalf("program %d, block %v: %v, not %v\n%s", n, block, err, fault, text)
	case fault == nil && !bytes.Equal(got, want):
		t.Fatalf("program %d, block %v: other results\n%s", n, block, text)
	}
	return fault == nil
}
