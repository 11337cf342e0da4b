package jit

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// checkedCases are kernels whose machine code once went wrong with a memory checker, though no access is bad. want is what thread i stores; it follows from the text.
var checkedCases = []struct {
	name, source string
	want         func(i uint32) uint32
}{
	// Every activation has its own variables: the address of a variable is made by machine code also where its accesses are left to the checker.
	{"variables of activations", `
.func (.param .b32 r) f(.param .b32 a, .param .b32 b)
{
	.reg .b32 %r<6>; .reg .pred %p; .reg .b64 %q;
	.local .align 8 .b8 stack[32];
	ld.param.b32 %r0, [a];
	ld.param.b32 %r1, [b];
	mov.u64 %q, stack;
	st.local.u32 [%q], %r1;
	and.b32 %r2, %r0, 3;
	setp.eq.u32 %p, %r2, 0;
	@%p bra L;
	sub.u32 %r2, %r2, 1;
	add.u32 %r3, %r1, 34;
	{ .param .b32 pa; .param .b32 pb; .param .b32 pr;
	st.param.b32 [pa], %r2; st.param.b32 [pb], %r3;
	call (pr), f, (pa, pb);
	ld.param.b32 %r4, [pr]; }
L:
	ld.local.u32 %r5, [%q];
	st.param.b32 [r], %r5;
	ret;
}
.visible .entry k(.param .u64 out, .param .u64 total)
{
	.reg .b32 %r<3>; .reg .b64 %q<2>;
	mov.u32 %r0, %tid.x;
	add.u32 %r1, %r0, 1000;
	{ .param .b32 pa; .param .b32 pb; .param .b32 pr;
	st.param.b32 [pa], %r0; st.param.b32 [pb], %r1;
	call (pr), f, (pa, pb);
	ld.param.b32 %r2, [pr]; }
	ld.param.u64 %q0, [out];
	mad.wide.u32 %q0, %r0, 4, %q0;
	st.global.u32 [%q0], %r2;
	ret;
}`, func(i uint32) uint32 { return i + 1000 }},
	// The stack pointers of the lanes are at hand too.
	{"alloca", `
.visible .entry k(.param .u64 out, .param .u64 total)
{
	.reg .b32 %r<4>; .reg .b64 %q<6>;
	mov.u32 %r0, %tid.x;
	add.u32 %r1, %r0, 1;
	mul.wide.u32 %q1, %r1, 16;
	stacksave.u64 %q2;
	alloca.u64 %q3, %q1;
	st.local.u32 [%q3], %r1;
	alloca.u64 %q4, %q1;
	st.local.u32 [%q4], 7;
	ld.local.u32 %r2, [%q3];
	stackrestore.u64 %q2;
	alloca.u64 %q4, %q1;
	ld.local.u32 %r3, [%q4];
	mad.lo.u32 %r2, %r3, 1000, %r2;
	ld.param.u64 %q0, [out];
	mad.wide.u32 %q0, %r0, 4, %q0;
	st.global.u32 [%q0], %r2;
	ret;
}`, func(i uint32) uint32 { return 1001 * (i + 1) }},
}

func TestChecked(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, c := range checkedCases {
			t.Run(c.name, func(t *testing.T) {
				for _, engine := range []exec.Engine{interp.New(), e} {
					for _, checked := range []bool{false, true} {
						d := exectest.Open(t)
						d.Engine = engine
						asked := 0
						if checked {
							d.Mem.Check = func(uint64, uint64, bool) bool { asked++; return true }
						}
						k, err := d.Load(".version 8.6\n.target sm_90\n.address_size 64" + c.source).Kernel("k")
						if err != nil {
							t.Fatal(err)
						}
						const threads = 96
						oa, out := d.Alloc(4 * threads)
						if err := k.Run(exectest.Config{Block: exectest.Dim(threads), Stack: 1 << 14}, oa, uint64(0)); err != nil {
							t.Fatalf("%s, checked %v: %v", engine.Name(), checked, err)
						}
						for i, got := range exectest.Words(out) {
							if want := c.want(uint32(i)); got != want {
								t.Fatalf("%s, checked %v: thread %d stored %d, want %d", engine.Name(), checked, i, got, want)
							}
						}
						if checked != (asked > 0) {
							t.Errorf("%s: the checker was asked %d times", engine.Name(), asked)
						}
					}
				}
			})
		}
	})
}
