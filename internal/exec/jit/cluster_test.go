package jit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// clusterKernel wraps a body: %r1 is the thread, %r2 the CTA's rank, %r3 the address of the CTA's shared array, %rd1
// the output's 64 bytes of the thread.
func clusterKernel(body string) string {
	return `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .b16 %h<4>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .pred %p<9>;
	.shared .align 16 .b8 s[4096];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, s;
	ld.param.u64 %rd1, [out];
	mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r4, %r4, %r5, %r1;
	mul.wide.u32 %rd2, %r4, 64; add.u64 %rd1, %rd1, %rd2;
	mad.lo.u32 %r6, %r4, 2654435761, 12345;
` + body + "\n\tret;\n}\n"
}

// TestClusters runs kernels in clusters on the interpreter and on machine code: every CTA of the cluster has its own
// window in shared memory, and what its accesses give, or how they fail, must be the same. That the interpreter does
// what an H200 does is shown with the recorded cases (group cluster).
func TestClusters(t *testing.T) { eachISA(t, testClusters) }

func testClusters(t *testing.T, e *engine) {
	store := "shl.b32 %r7, %r1, 4; add.u32 %r7, %r3, %r7; st.shared.u32 [%r7], %r6; st.shared.u16 [%r7+4], %r6; not.b32 %r8, %r6; st.shared.v2.u32 [%r7+8], {%r8, %r1};\n" +
		"barrier.cluster.arrive; barrier.cluster.wait;\n"
	peer := "add.u32 %r9, %r2, 1; mov.u32 %r10, %cluster_nctarank; rem.u32 %r9, %r9, %r10; mapa.shared::cluster.u32 %r11, %r7, %r9;\n"
	cases := []struct{ name, body string }{
		{"own", store + "ld.shared.u32 %r12, [%r7]; ld.shared.u8 %r13, [%r7+1]; ld.shared.v4.u32 {%r14,%r15,%r16,%r17}, [%r7]; xor.b32 %r18, %r1, 5; shl.b32 %r18, %r18, 4; add.u32 %r18, %r18, %r3; ld.shared.u32 %r19, [%r18+8];" +
			"atom.shared.add.u32 %r20, [%r3], 1; ld.shared.s16 %r21, [%r18+2]; cvt.u64.u32 %rd5, %r18; ld.shared.u64 %rd6, [%rd5+8];" +
			"st.global.v4.u32 [%rd1], {%r12,%r13,%r14,%r15}; st.global.v4.u32 [%rd1+16], {%r16,%r17,%r19,%r21}; st.global.u64 [%rd1+32], %rd6; barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r22, [%r3]; st.global.u32 [%rd1+40], %r22;"},
		{"peer", store + peer + "ld.shared::cluster.u32 %r12, [%r11]; ld.shared::cluster.s16 %r13, [%r11+4]; ld.shared::cluster.v2.u32 {%r14,%r15}, [%r11+8]; atom.shared::cluster.add.u32 %r16, [%r11+12], 3;" +
			"barrier.cluster.arrive; barrier.cluster.wait; st.shared::cluster.u32 [%r11+8], %r13; barrier.cluster.arrive; barrier.cluster.wait; ld.shared.v2.u32 {%r17,%r18}, [%r7+8];" +
			"st.global.v4.u32 [%rd1], {%r12,%r13,%r14,%r15}; st.global.v2.u32 [%rd1+16], {%r17,%r18}; getctarank.shared::cluster.u32 %r19, %r11; st.global.v2.u32 [%rd1+24], {%r19,%r16};"},
		{"generic", store + "cvt.u64.u32 %rd4, %r7; cvta.shared.u64 %rd3, %rd4; add.u32 %r9, %r2, 1; mov.u32 %r10, %cluster_nctarank; rem.u32 %r9, %r9, %r10; mapa.u64 %rd5, %rd3, %r9; ld.u32 %r12, [%rd5]; ld.u32 %r13, [%rd3];" +
			"getctarank.u64 %r14, %rd5; isspacep.shared::cta %p1, %rd5; isspacep.shared::cluster %p2, %rd5; isspacep.shared %p3, %rd3; isspacep.local %p4, %rd3; isspacep.shared::cluster %p5, %rd1; isspacep.param %p6, %rd3; add.u64 %rd6, %rd3, 0x4000000; isspacep.shared::cluster %p7, %rd6;" +
			"selp.u32 %r15, 1, 0, %p1; selp.u32 %r16, 2, 0, %p2; selp.u32 %r17, 4, 0, %p3; selp.u32 %r18, 8, 0, %p4; selp.u32 %r19, 16, 0, %p5; selp.u32 %r20, 32, 0, %p6; selp.u32 %r21, 64, 0, %p7;" +
			"or.b32 %r15, %r15, %r16; or.b32 %r15, %r15, %r17; or.b32 %r15, %r15, %r18; or.b32 %r15, %r15, %r19; or.b32 %r15, %r15, %r20; or.b32 %r15, %r15, %r21; st.global.v4.u32 [%rd1], {%r12,%r13,%r14,%r15}; barrier.cluster.arrive; barrier.cluster.wait;"},
		{"bulk", store + peer + "mapa.shared::cluster.u32 %r20, %r3, %r9; add.u32 %r12, %r3, 3072; add.u32 %r13, %r20, 3072; add.u32 %r14, %r20, 2048; setp.ne.u32 %p1, %r1, 0; mov.u32 %r15, 512; @%p1 bra OUT;" +
			"mbarrier.init.shared.b64 [%r12], 1; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r12], %r15; barrier.cluster.arrive; barrier.cluster.wait;" +
			"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14], [%r3], %r15, [%r13];\n" +
			"W: mbarrier.try_wait.shared.b64 %p2, [%r12], %rd5;\n@!%p2 bra W;\nld.shared.v4.u32 {%r16,%r17,%r18,%r19}, [%r3+2544]; st.global.v4.u32 [%rd1], {%r16,%r17,%r18,%r19}; bra END;\nOUT: barrier.cluster.arrive; barrier.cluster.wait;\nEND: barrier.cluster.arrive; barrier.cluster.wait;"},
		{"registers", "mov.u32 %r7, %cluster_ctaid.x; mov.u32 %r8, %cluster_nctaid.x; mov.u32 %r9, %clusterid.x; mov.u32 %r10, %nclusterid.x; mov.u32 %r11, %cluster_nctarank; mov.u32 %r12, %smid; mov.pred %p1, %is_explicit_cluster; selp.u32 %r13, 1, 0, %p1;" +
			"mov.u32 %r14, %total_smem_size; mov.u32 %r15, %aggr_smem_size; mov.u32 %r16, %cluster_ctaid.y; mov.u32 %r17, %nclusterid.z; st.global.v4.u32 [%rd1], {%r7,%r8,%r9,%r10}; st.global.v4.u32 [%rd1+16], {%r11,%r12,%r13,%r14}; st.global.v4.u32 [%rd1+32], {%r15,%r16,%r17,%r2};"},
		{"peer by plain shared", store + peer + "ld.shared.u32 %r12, [%r11]; st.global.u32 [%rd1], %r12; barrier.cluster.arrive; barrier.cluster.wait;"},
		{"no such rank", "mov.u32 %r9, 4; mapa.shared::cluster.u32 %r11, %r3, %r9; ld.shared::cluster.u32 %r12, [%r11]; st.global.u32 [%rd1], %r12;"},
		{"beyond the end", "setp.ne.u32 %p1, %r2, 2; @%p1 bra OUT; shl.b32 %r7, %r1, 10; add.u32 %r7, %r3, %r7; ld.shared.u32 %r12, [%r7]; st.global.u32 [%rd1], %r12; OUT:"},
		{"peer beyond the end", "mov.u32 %r9, 1; add.u32 %r7, %r3, 0x8000; mapa.shared::cluster.u32 %r11, %r7, %r9; st.shared::cluster.u32 [%r11], %r1;"},
		{"misaligned", "mov.u32 %r9, 1; mapa.shared::cluster.u32 %r11, %r3, %r9; ld.shared::cluster.u32 %r12, [%r11+2]; st.global.u32 [%rd1], %r12;"},
	}
	for _, cluster := range [][3]uint32{{4, 1, 1}, {}} {
		for _, c := range cases {
			var outs [2][]byte
			var errs [2]string
			for i, engine := range []exec.Engine{interp.New(), e} {
				d := exectest.Open(t)
				d.Engine = engine
				k, err := d.Load(clusterKernel(c.body)).Kernel("k")
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				const ctas, threads = 8, 96
				at, out := d.Alloc(64 * ctas * threads)
				var n exec.Counters
				err = k.Run(exectest.Config{Grid: exectest.Dim(ctas), Block: exectest.Dim(threads), Cluster: cluster,
					Workers: 1, Counters: &n}, at)
				errs[i], outs[i] = fmt.Sprint(err), bytes.Clone(out)
				if i == 1 && err == nil && !strings.Contains(c.name, "generic") && !strings.Contains(c.name, "plain") &&
					c.name != "bulk" && cluster[0] != 0 {
					// Only the cluster's barrier and the return are left to the scheduler.
					if most := uint64((strings.Count(c.body, "barrier.cluster") +
						1) * ctas * threads / 32); n.Fallbacks.Load() > most {
						t.Errorf("%s: %d operations fell back, at most %d expected", c.name, n.Fallbacks.Load(), most)
					}
				}
			}
			switch c.name {
			case "no such rank", "beyond the end", "peer beyond the end", "misaligned":
				if cluster[0] != 0 && errs[0] == "<nil>" {
					t.Errorf("%s, clusters of %v: no fault", c.name, cluster)
				}
			default:
				if cluster[0] != 0 && errs[0] != "<nil>" {
					t.Errorf("%s: %s", c.name, errs[0])
				}
			}
			if errs[0] != errs[1] || errs[0] == "<nil>" && !bytes.Equal(outs[0], outs[1]) {
				i := 0
				for i < len(outs[0])-1 && outs[0][i] == outs[1][i] {
					i++
				}
				t.Errorf("%s, clusters of %v: interpreter: %s, machine code: %s; first difference at byte %d of thread %d", c.name, cluster, errs[0], errs[1], i%64, i/64)
			}
		}
	}
}
