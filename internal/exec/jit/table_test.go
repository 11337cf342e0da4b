package jit

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// tableKernel is a machine of four states, whose next one each thread's number and the state's own work give: branches
// by an index forwards, backwards and to the same place twice, with a guard in one of them.
const tableKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
	.reg .b32 %r<16>; .reg .b64 %q<8>; .reg .pred %p<4>;
	ld.param.u64 %q1, [out]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %q2, %r4, 4; add.u64 %q2, %q1, %q2;
	mov.u32 %r5, %r4; mov.u32 %r6, 0; and.b32 %r7, %r1, 3; bra GO;
T:	.branchtargets A, B, C, A, D;
U:	.branchtargets D, GO;
GO: add.u32 %r6, %r6, 1; setp.gt.u32 %p1, %r6, %r9; @%p1 bra D; brx.idx %r7, T;
A:	mad.lo.u32 %r5, %r5, 3, 1; shr.u32 %r7, %r5, 3; and.b32 %r7, %r7, 3; bra GO;
B:	mad.lo.u32 %r5, %r5, 5, 7; and.b32 %r8, %r5, 1; setp.eq.u32 %p2, %r8, 0; mov.u32 %r7, 2;
	@%p2 brx.idx %r8, U; add.u32 %r5, %r5, 11;
C:	xor.b32 %r5, %r5, 0x55; shr.u32 %r7, %r5, 5; rem.u32 %r7, %r7, 5; bra GO;
D:	add.u32 %r5, %r5, %r6; st.global.u32 [%q2], %r5; ret;
}`

// noTarget branches by the thread's number, which all but two threads have no target for.
const noTarget = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
	.reg .b32 %r<4>; mov.u32 %r1, %tid.x;
T:	.branchtargets A, B;
	brx.idx %r1, T;
A:	mov.u32 %r2, 1;
B:	ret;
}`

// TestTable: branches by an index go where the interpreter goes, when launches pause, when CTAs stop, and with an index
// that has no target.
func TestTable(t *testing.T) { eachISA(t, testTable) }

func testTable(t *testing.T, e *engine) {
	const grid = 3
	run := func(engine exec.Engine, block uint32, n uint32, quantum int32) ([]byte, *exectest.Kernel) {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(tableKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, result := d.Alloc(int(4 * grid * block))
		c := exectest.Config{Grid: exectest.Dim(grid), Block: exectest.Dim(block), Quantum: quantum}
		if err := k.Run(c, out, n); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(result), k
	}
	fail := func(engine exec.Engine) string {
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(noTarget).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		if err = k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(64)}); err == nil {
			return ""
		}
		return err.Error()
	}
	if got, want := fail(e), fail(interp.New()); got != want || want == "" {
		t.Errorf("without a target: %q, not %q", got, want)
	}
	defer func() { e.probe = 0 }()
	for _, later := range []int{0, 1 << 20} {
		e.later = later
		for _, block := range []uint32{32, 50, 128} {
			for _, n := range []uint32{0, 1, 40} {
				want, _ := run(interp.New(), block, n, 0)
				for _, quantum := range []int32{0, 1, 3} {
					for _, probe := range []int32{0, 3, 17, 90} {
						e.probe = probe
						got, k := run(e, block, n, quantum)
						if !bytes.Equal(got, want) {
							t.Errorf("block %d, %d steps, quantum %d, probe %d: another result", block, n, quantum, probe)
						}
						v := k.Code.(*code).cta.versions[ctaKey{dims: [3]uint32{block, 1, 1}}]
						if v == nil && probe == 0 {
							t.Errorf("block %d: it does not run as whole CTAs: %v", block, k.Code.(*code).cta.falls)
						}
					}
				}
			}
		}
	}
}
