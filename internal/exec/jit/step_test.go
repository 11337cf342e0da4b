package jit

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// stepHead has for every thread its number in the block (%r1), a word of shared memory at %q5 with what stands in the
// input, and the place of its result (%q3). stepTail stores the word, what %r7 has, and whether %p2 holds.
const (
	stepHead = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {
	.reg .b32 %r<24>; .reg .b64 %q<16>; .reg .pred %p<8>; .shared .align 8 .b8 s[8192];
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [in]; ld.param.u32 %r20, [n];
	mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.y; mov.u32 %r19, %tid.x; mad.lo.u32 %r1, %r3, %r2, %r19; mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ntid.y; mul.lo.u32 %r6, %r5, %r2; mad.lo.u32 %r7, %r4, %r6, %r1;
	mul.wide.u32 %q3, %r7, 4; add.u64 %q4, %q2, %q3; add.u64 %q3, %q1, %q3; ld.global.u32 %r8, [%q4];
	mul.wide.u32 %q5, %r1, 4; mov.u64 %q6, s; add.u64 %q5, %q6, %q5; st.shared.u32 [%q5], %r8;
	mov.u32 %r7, 0; setp.eq.u32 %p2, %r7, 1; bar.sync 0;
`
	stepTail = `
	ld.shared.u32 %r8, [%q5]; add.u32 %r8, %r8, %r7; @%p2 add.u32 %r8, %r8, 1000; st.global.u32 [%q3], %r8; ret;
}`
	// stepAdd adds the word so many bytes on.
	stepAdd = "ld.shared.u32 %%r9, [%%q5+%d]; ld.shared.u32 %%r10, [%%q5]; mad.lo.u32 %%r9, %%r9, 3, %%r10;\n" +
		"st.shared.u32 [%%q5], %%r9;\n"
)

// stepKernels are kernels whose warps have less to do from part to part.
func stepKernels() map[string]string {
	tree := ""
	for s := 128; s > 0; s /= 2 {
		tree += fmt.Sprintf("setp.gt.u32 %%p1, %%r19, %d; @%%p1 bra L%d;\n"+stepAdd+"L%d: bar.sync 0;\n", s-1, s, 4*s, s)
	}
	add := fmt.Sprintf(stepAdd, 4)
	return map[string]string{
		"a tree": tree,
		"a tree as a loop": `shr.u32 %r11, %r6, 1;
LOOP: setp.ge.u32 %p1, %r19, %r11; @%p1 bra SKIP; mul.wide.u32 %q7, %r11, 4; add.u64 %q8, %q5, %q7;
	ld.shared.u32 %r9, [%q8]; ld.shared.u32 %r10, [%q5]; mad.lo.u32 %r9, %r9, 3, %r10; st.shared.u32 [%q5], %r9;
SKIP: bar.sync 0; add.u32 %r7, %r7, %r11; shr.u32 %r11, %r11, 1; setp.gt.u32 %p3, %r11, 0;
	@%p3 bra LOOP;`,
		"the loop's end behind the test": `mov.u32 %r11, %r6;
LOOP: shr.u32 %r12, %r11, 1; mov.u32 %r11, %r12; mad.lo.u32 %r7, %r7, 5, %r11; setp.lt.u32 %p1, %r19, %r12;
	@%p1 bra DO; bra SKIP;
DO: mul.wide.u32 %q7, %r12, 4; add.u64 %q8, %q5, %q7;
	ld.shared.u32 %r9, [%q8]; ld.shared.u32 %r10, [%q5]; mad.lo.u32 %r9, %r9, 3, %r10; st.shared.u32 [%q5], %r9;
SKIP: bar.sync 0; setp.ne.u32 %p3, %r12, 1; @%p3 bra LOOP;`,
		"one thread, and its predicate later": "setp.ne.s32 %p2, %r19, 0; @%p2 bra L1;\n" + add +
			"L1: bar.sync 0; @%p2 bra L2;\n" + add + "L2: bar.sync 0;",
		"one thread, which others are not": "setp.eq.u32 %p2, %r19, 0; @!%p2 bra L1;\n" + add + "L1: bar.sync 0;",
		"warps by number": "shr.u32 %r11, %r19, 5; setp.gt.s32 %p1, %r11, 1; @%p1 bra L1;\n" + add +
			"L1: bar.sync 0; setp.ge.u32 %p1, %r11, 3; @%p1 bra L2;\n" + add + "L2: bar.sync 0;",
		"rows": "setp.ge.u32 %p1, %r3, 2; @%p1 bra L1;\n" + add + "L1: bar.sync 0;",
		"by a parameter": "add.u32 %r11, %r20, %r4; setp.lt.s32 %p1, %r19, %r11; @!%p1 bra L1;\n" + add +
			"L1: bar.sync 0;",
		"a loop inside": "setp.ge.u32 %p1, %r19, 40; @%p1 bra L1; and.b32 %r11, %r19, 7;\nL0: " + add +
			"sub.u32 %r11, %r11, 1; setp.gt.s32 %p3, %r11, 0; @%p3 bra L0;\nL1: bar.sync 0;",
		"threads that end": "setp.ge.u32 %p1, %r19, 40; @%p1 bra L1;\n" + add +
			"L1: bar.sync 0; setp.ge.u32 %p1, %r19, 50; @%p1 bra END;" + stepTail[:len(stepTail)-len(" ret;\n}")] +
			" bra END;\nEND: ret;\n}",
		"a barrier that some warps do not come to": "setp.ge.u32 %p1, %r19, 64; @%p1 bra END;\n" + add + "bar.sync 0;\n" +
			add + "END:",
		"a branch that all warps take, and one that not all do": `and.b32 %r11, %r4, 1; setp.eq.u32 %p3, %r11, 0; @%p3 bra A;
` + add + `bar.sync 0; bra B;
A: setp.ge.u32 %p1, %r19, 33; @%p1 bra B;
` + add + "B: bar.sync 0;\n" + add + "bar.sync 0;",
	}
}

// TestInStep: warps that have nothing to do until the next barrier are left out, and what comes behind it is what the
// interpreter computes: whatever their number, when launches pause, and when CTAs stop and go on without that code.
func TestInStep(t *testing.T) { eachISA(t, testInStep) }

func testInStep(t *testing.T, e *engine) {
	const grid = 3
	e.later = 1 << 20 // nothing is left for later
	run := func(engine exec.Engine, text string, block [3]uint32, quantum int32) ([]byte, *exectest.Kernel) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(text).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		in, data := d.Alloc(1 << 14)
		for i := range data {
			data[i] = byte(mix(uint32(i), 5))
		}
		out, result := d.Alloc(int(4 * grid * block[0] * block[1]))
		c := exectest.Config{Grid: exectest.Dim(grid), Block: block, Quantum: quantum}
		if err := k.Run(c, out, in, uint32(45)); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(result), k
	}
	defer func() { e.probe = 0 }()
	for name, body := range stepKernels() {
		text := stepHead + body
		if name != "threads that end" {
			text += stepTail
		}
		for _, block := range [][3]uint32{{256, 1, 1}, {32, 4, 1}, {64, 1, 1}, {128, 2, 1}, {32, 1, 1}, {72, 1, 1}} {
			want, _ := run(interp.New(), text, block, 0)
			for _, quantum := range []int32{0, 2} {
				for _, probe := range []int32{0, 3, 29, 61, 200, 333} {
					e.probe = probe
					got, k := run(e, text, block, quantum)
					if !bytes.Equal(got, want) {
						t.Errorf("%s, block %v, quantum %d, probe %d: another result", name, block, quantum, probe)
					}
					n := block[0] * block[1]
					v := k.Code.(*code).cta.versions[ctaKey{dims: block}]
					if probe > 0 || v == nil {
						continue
					}
					all := name != "a barrier that some warps do not come to"
					if v.code.InStep != (all && n%32 == 0 && n > 32) {
						t.Errorf("%s, block %v: in step %v", name, block, v.code.InStep)
					}
					idle := 0
					if s := v.code.Values.Steps(); s != nil {
						for _, x := range s.Idle {
							if x.Found {
								idle++
							}
						}
					}
					if v.code.InStep && block[1] == 1 && name != "rows" && idle == 0 {
						t.Errorf("%s, block %v: no warp is idle", name, block)
					}
				}
			}
		}
	}
}
