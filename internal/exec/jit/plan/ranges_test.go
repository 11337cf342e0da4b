package plan_test

import (
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// TestSharedAccess: by hand, for blocks of 256 threads and a variable of 1,024 bytes at offset 1,024, of which words
// are read. What is loaded may be anything, and so is what has two definitions.
func TestSharedAccess(t *testing.T) {
	for _, x := range []struct {
		text            string // makes %q5, the offset in the variable
		disp            int
		inside, aligned bool
	}{
		{"mul.wide.u32 %q5, %r1, 4;", 0, true, true},
		{"mul.wide.u32 %q5, %r1, 4;", 4, false, true},                        // thread 255 reads behind it
		{"mul.wide.u32 %q5, %r1, 3;", 0, true, false},                        // at most 765
		{"mul.wide.u32 %q5, %r1, 8;", 0, false, true},                        // up to 2,040
		{"cvt.u64.u32 %q5, %r1;", 764, true, false},                          // 255 and the word: 1,023
		{"and.b32 %r3, %r2, 255; mul.wide.u32 %q5, %r3, 4;", 0, true, true},  // whatever is loaded
		{"and.b32 %r3, %r2, 1020; cvt.u64.u32 %q5, %r3;", 0, true, true},     // the mask aligns
		{"and.b32 %r3, %r2, -4; cvt.u64.u32 %q5, %r3;", 0, false, true},      // and bounds nothing
		{"shr.u32 %r3, %r2, 24; mul.wide.u32 %q5, %r3, 4;", 0, true, true},   // eight bits are left
		{"shr.s32 %r3, %r2, 24; mul.wide.s32 %q5, %r3, 4;", 0, false, true},  // and a sign
		{"bfe.u32 %r3, %r2, 3, 8; mul.wide.u32 %q5, %r3, 4;", 0, true, true}, // a field of eight bits
		{"rem.u32 %r3, %r2, 250; mul.wide.u32 %q5, %r3, 4;", 24, true, true}, // 249 * 4 + 28 is 1,024
		{"rem.s32 %r3, %r2, 250; mul.wide.u32 %q5, %r3, 4;", 0, false, true}, // may be negative
		{"sub.u32 %r3, %r1, 1; mul.wide.u32 %q5, %r3, 4;", 0, false, true},   // thread 0 wraps around
		{"sub.u32 %r3, 255, %r1; mul.wide.u32 %q5, %r3, 4;", 0, true, true},  // thread 255 has 0
		{"xor.b32 %r3, %r1, 7; mul.wide.u32 %q5, %r3, 4;", 0, true, true},    // below 256 still
		{"xor.b32 %r3, %r1, 256; mul.wide.u32 %q5, %r3, 4;", 0, false, true}, // not below 512
		{"shl.b32 %r3, %r1, 30; cvt.u64.u32 %q5, %r3;", 0, false, true},      // wraps around: aligned all the same
		{"min.u32 %r3, %r2, 255; mul.wide.u32 %q5, %r3, 4;", 0, false, true}, // what is loaded is not known to be small
		{"mov.u32 %r3, %r1; @%p1 mov.u32 %r3, %r2; mul.wide.u32 %q5, %r3, 4;", 0, false, true},
		{"mul.lo.u32 %r3, %r1, 0x1000001; and.b32 %r3, %r3, 255; mul.wide.u32 %q5, %r3, 4;", 0, true, true},
	} {
		m, err := exectest.Check(fmt.Sprintf(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in) {
	.shared .align 16 .b8 s[1024];
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<2>;
	ld.param.u64 %%q1, [in]; ld.global.u32 %%r2, [%%q1]; mov.u32 %%r1, %%tid.x; setp.eq.u32 %%p1, %%r2, 5;
	mov.u64 %%q4, s;
	%s
	add.u64 %%q6, %%q4, %%q5;
	ld.shared.u32 %%r7, [%%q6+%d]; st.global.u32 [%%q1], %%r7;
	ret;
}`, x.text, x.disp))
		if err != nil {
			t.Fatal(x.text, err)
		}
		k, err := ir.LowerVerified(m.Funcs[0], exectest.Symbols(m))
		if err != nil {
			t.Fatal(x.text, err)
		}
		f := k.Funcs[0]
		a := plan.Analyse(f, all(f), true)
		a.Kernel = k
		v, err := plan.Evaluate(a, [3]uint32{256, 1, 1}, make([]bool, len(f.Ops)))
		if err != nil {
			t.Fatal(x.text, err)
		}
		found := false
		for i := range f.Ops {
			op := &f.Ops[i]
			if op.Ctl != ir.Plain || len(op.Args) < 2 || op.Args[1].Kind != ir.Addr || op.Args[1].Space != ir.Shared {
				continue
			}
			ac, ok := plan.AccessOf(op, &op.Args[1], &op.Args[0])
			if !ok {
				t.Fatal(x.text, "no plain access")
			}
			found = true
			if inside, aligned := v.SharedAccess(int32(i), &ac); inside != x.inside || aligned != x.aligned {
				t.Errorf("%s at %d: inside %t, aligned %t, want %t and %t", x.text, x.disp, inside, aligned, x.inside,
					x.aligned)
			}
		}
		if !found {
			t.Errorf("%s: no access to shared memory", x.text)
		}
	}
}
