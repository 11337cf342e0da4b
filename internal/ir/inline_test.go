package ir_test

import (
	"testing"

	"github.com/gocuda/cuda/internal/ir"
)

const inlineHead = ".version 8.0\n.target sm_90\n.address_size 64\n"

// TestInline looks at which calls are left, and whether parameters became registers.
func TestInline(t *testing.T) {
	const leaf = ".func (.param .b32 r) leaf(.param .b32 a, .param .b64 b) { .reg .b32 %r<4>; .reg .b64 %q<2>; ld.param.b32 %r1, [a]; ld.param.b64 %q1, [b]; " +
		"cvt.u32.u64 %r2, %q1; add.u32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n"
	const call = "{ .param .b32 a; .param .b64 b; .param .b32 r; st.param.b32 [a], %r1; st.param.b64 [b], %q1; $G call (r), F, (a, b); ld.param.b32 %r2, [r]; }\n"
	kernel := func(f, guard string) string {
		body := ""
		for i := 0; i < len(call); i++ {
			switch {
			case call[i] == '$':
				body += guard
				i++
			case call[i] == 'F':
				body += f
			default:
				body += call[i : i+1]
			}
		}
		return ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %q<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; mov.b64 %q1, 7; setp.eq.u32 %p1, %r1, 3;\n" + body +
			"ld.param.u64 %q1, [out]; st.global.u32 [%q1], %r2; ret; }\n"
	}
	for _, c := range []struct {
		name, src     string
		calls, memory int // of the entry: operations that are left
	}{
		{"leaf", leaf + kernel("leaf", ""), 0, 0},
		{"guarded", leaf + kernel("leaf", "@%p1"), 0, 0},
		{"nested", leaf + ".func (.param .b32 r) outer(.param .b32 a, .param .b64 b) { .reg .b32 %r<4>; .reg .b64 %q<2>; ld.param.b32 %r1, [a]; ld.param.b64 %q1, [b];\n" +
			"{ .param .b32 a2; .param .b64 b2; .param .b32 r2; st.param.b32 [a2], %r1; st.param.b64 [b2], %q1; call (r2), leaf, (a2, b2); ld.param.b32 %r2, [r2]; }\n" +
			"st.param.b32 [r], %r2; ret; }\n" + kernel("outer", ""), 0, 0},
		{"registers", ".func (.reg .b32 r) f(.reg .b32 a) { add.u32 r, a, 1; ret; }\n.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %q<2>; mov.u32 %r1, %tid.x; " +
			"call (%r2), f, (%r1); ld.param.u64 %q1, [out]; st.global.u32 [%q1], %r2; ret; }", 0, 0},
		{"recursive", ".func (.param .b32 r) leaf(.param .b32 a, .param .b64 b) { .reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %q<2>; ld.param.b32 %r1, [a]; ld.param.b64 %q1, [b]; " +
			"setp.eq.u32 %p1, %r1, 0; @%p1 bra E; sub.u32 %r1, %r1, 1;\n" +
			"{ .param .b32 a2; .param .b64 b2; .param .b32 r2; st.param.b32 [a2], %r1; st.param.b64 [b2], %q1; call (r2), leaf, (a2, b2); ld.param.b32 %r1, [r2]; }\n" +
			"E: st.param.b32 [r], %r1; ret; }\n" + kernel("leaf", ""), 1, 3},
		// An access that is to fault stays one (TestParameterBounds of softdev has what it gives).
		{"misaligned", ".func f(.param .align 8 .b8 a[8]) { .reg .b32 %r<4>; ld.param.b32 %r1, [a+2]; ret; }\n.visible .entry k(.param .u64 out) { .param .align 8 .b8 a[8]; " +
			"st.param.b64 [a], 1; call f, (a); ret; }", 0, 2},
	} {
		k := lower(t, inlineHead+c.src)
		calls, memory := 0, 0
		for i := range k.Funcs[0].Ops {
			op := &k.Funcs[0].Ops[i]
			if op.Ctl == ir.Call {
				calls++
			}
			for j := range op.Args {
				if op.Args[j].Space == ir.FrameParam {
					memory++
				}
			}
		}
		if calls != c.calls || memory != c.memory {
			t.Errorf("%s: %d calls and %d accesses to parameters are left, want %d and %d", c.name, calls, memory,
				c.calls, c.memory)
		}
	}
}
