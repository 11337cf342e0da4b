package jit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// matrixMoves is a kernel that stores matrices to shared memory in a random order of rows, loads them in another and
// transposes one.
const matrixMoves = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b32 %%r<40>; .reg .b64 %%q<8>; .shared .align 16 .b8 sm[2048];
	ld.param.u64 %%q1, [in]; ld.param.u64 %%q2, [out]; mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; shl.b32 %%r1, %%r1, 5; add.u32 %%r1, %%r1, %%r0;
	mul.wide.u32 %%q3, %%r1, 24; add.u64 %%q1, %%q1, %%q3; mul.wide.u32 %%q3, %%r1, 20; add.u64 %%q2, %%q2, %%q3;
	ld.global.u32 %%r10, [%%q1]; ld.global.u32 %%r11, [%%q1+4]; ld.global.u32 %%r12, [%%q1+8]; ld.global.u32 %%r13, [%%q1+12];
	ld.global.u32 %%r2, [%%q1+16]; ld.global.u32 %%r3, [%%q1+20]; mov.u32 %%r4, sm; add.u32 %%r2, %%r2, %%r4; add.u32 %%r3, %%r3, %%r4;
	mov.u32 %%r20, 0; mov.u32 %%r21, 0; mov.u32 %%r22, 0; mov.u32 %%r23, 0;
	shl.b32 %%r5, %%r0, 6; add.u32 %%r5, %%r5, %%r4; st.shared.v4.u32 [%%r5], {%%r10, %%r11, %%r12, %%r13}; st.shared.v4.u32 [%%r5+16], {%%r13, %%r12, %%r11, %%r10};
	st.shared.v4.u32 [%%r5+32], {%%r11, %%r10, %%r11, %%r10}; st.shared.v4.u32 [%%r5+48], {%%r2, %%r12, %%r3, %%r0};
	%[2]s
	stmatrix.sync.aligned.m8n8.%[1]s.b16 [%[4]s], %[3]s;
	bar.warp.sync 0xffffffff;
	ldmatrix.sync.aligned.m8n8.%[1]s.b16 %[5]s, [%[6]s];
	movmatrix.sync.aligned.m8n8.trans.b16 %%r24, %%r13;
	st.global.u32 [%%q2], %%r20; st.global.u32 [%%q2+4], %%r21; st.global.u32 [%%q2+8], %%r22; st.global.u32 [%%q2+12], %%r23; st.global.u32 [%%q2+16], %%r24;
	ret;
}`

// TestMatrixMoves compares ldmatrix, stmatrix and movmatrix with the interpreter, whose results are those of the
// recorded cases (silicon, matmove), also where addresses are wrong.
func TestMatrixMoves(t *testing.T) {
	const warps = 20
	eachISA(t, func(t *testing.T, e *engine) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, regs := range []struct{ x, b, d string }{{"x1", "{%r10}", "{%r20}"},
			{"x2", "{%r10, %r11}", "{%r20, %r21}"}, {"x4", "{%r10, %r11, %r12, %r13}", "{%r20, %r21, %r22, %r23}"}} {
			for _, trans := range []string{"", ".trans"} {
				for _, space := range []string{".shared", ""} {
					for _, bad := range []int{0, 1, 2} { // no address, one that is not a multiple of 16, one outside
						for _, cluster := range []uint32{0, 1} {
							window, at, from := "", "%r2", "%r3"
							if space == "" {
								window, at, from = "cvt.u64.u32 %q4, %r2; cvta.shared.u64 %q4, %q4; cvt.u64.u32 %q5, %r3; cvta.shared.u64 %q5, %q5;", "%q4", "%q5"
							}
							src := fmt.Sprintf(matrixMoves, regs.x+trans+space, window, regs.b, at, regs.d, from)
							in := make([]byte, warps*32*24)
							for i := range in {
								in[i] = byte(r.Uint32())
							}
							for w := range warps {
								for n, perm := range [][]int{r.Perm(128), r.Perm(128)} {
									for lane := range 32 {
										a := 16 * perm[lane]
										if bad != 0 && w == warps-1 && n == 1 && lane == 5 {
											a += []int{4, 1 << 20}[bad-1]
										}
										copy(in[(w*32+lane)*24+16+4*n:],
											[]byte{byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24)})
									}
								}
							}
							var want []byte
							var wantErr string
							d := exectest.Open(t)
							for _, x := range []bool{false, true} {
								d.Engine = interp.New()
								if x {
									d.Engine = e
								}
								k, err := d.Load(src).Kernel("k")
								if err != nil {
									t.Fatalf("%v\n%s", err, src)
								}
								a, buf := d.Alloc(len(in))
								copy(buf, in)
								b, out := d.Alloc(warps * 32 * 20)
								c := exectest.Config{Grid: exectest.Dim(warps), Block: exectest.Dim(32), Workers: 1}
								if cluster != 0 {
									c.Cluster = exectest.Dim(1)
								}
								said := ""
								if err := k.Run(c, a, b); err != nil {
									said = err.Error()
								}
								switch {
								case !x:
									want, wantErr = bytes.Clone(out), said
									if (said != "") != (bad != 0) {
										t.Fatalf("%s%s%s: %q", regs.x, trans, space, said)
									}
								case said != wantErr:
									t.Errorf("%s%s%s, cluster %d: %q, want %q", regs.x, trans, space, cluster, said,
										wantErr)
								case bad == 0 && !bytes.Equal(out, want):
									t.Errorf("%s%s%s, cluster %d: other results", regs.x, trans, space, cluster)
								}
							}
						}
					}
				}
			}
		}
	})
}
