package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

// TestAsyncForms holds forms of warp operations, barriers and asynchronous copies against the syntax of PTX ISA 9.0:
// what sm_90 has is accepted, and the rest refused with a word of the reason.
func TestAsyncForms(t *testing.T) {
	for _, c := range []struct{ target, text, fault string }{
		{"sm_90", "cp.async.ca.shared.global [%r1], [%q1], 16;", ""},
		{"sm_90", "cp.async.cg.shared::cta.global.L2::128B [%r1], [%q1], 16, 16;", ""},
		{"sm_90", "cp.async.ca.shared.global.L2::cache_hint.L2::64B [%r1], [%q1], 8, %r2, %q2;", ""},
		{"sm_90", "cp.async.ca.shared.global.L2::cache_hint [%r1], [%q1], 4, %p1, %q2;", ""},
		{"sm_90", "cp.async.ca.shared.global [%r1], [%q1], 4, %p1, %q2;",
			"Arguments mismatch for instruction 'cp.async'"},
		{"sm_90", "cp.async.ca.shared.global [%r1], [%q1], 4, 8;", "expected to be at most 4"},
		{"sm_90", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];", ""},
		{"sm_90", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%q1], %r2, [%r3], %q2;", ""},
		{"sm_90", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%q1], 32, [%r3], %h1, %q2;", ""},
		{"sm_90", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1], 8, [%r3];",
			"multiple of 16"},
		{"sm_90", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1], 16, [%r3], %h1;",
			"Arguments mismatch"},
		{"sm_90", "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%q1], [%r1], 16, %q2, %h1;",
			"sm_100 or higher"},
		{"sm_90", "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%q1], 64, %q2;", ""},
		{"sm_90", "cp.async.bulk.wait_group.read 3;", ""},
		{"sm_90", "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 [%q1], [%r1], 16, %q2;", ""},
		{"sm_90", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32 [%q1], [%r1], 16;", "noftz"},
		{"sm_90", "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2}], [%r3];", ""},
		{"sm_90", "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%q1, {%r2, %r2, 0, %r2, -1}], [%r3], %h1, %q2;", ""},
		{"sm_90", "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r2, %r2, %r2}], [%r3], {%h1, %h2};", ""},
		{"sm_90", "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r2, %r2}], [%r3], {%h1};", ""},
		{"sm_90", "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r2, %r2, %r2}], [%r3], {%h1};", "Arguments mismatch"},
		{"sm_90", "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1, {%q2, %r2}], [%r3];", "Arguments mismatch"},
		{"sm_90", "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r2, %r2, %r2, %r2}], [%r3];", "sm_100 or higher"},
		{"sm_90", "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::1 [%r1], [%q1, {%r2, %r2}], [%r3];", "not supported on .target 'sm_90'"},
		{"sm_90", "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%q1, {%r1, %r2, %r3}], [%r1];",
			""},
		{"sm_90", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile.bulk_group.L2::cache_hint [%q1, {%r1, %r2}], [%r1], %q2;", ""},
		{"sm_90", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%q1, {%r1, %r2}];", ""},
		{"sm_90", "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%q1, {%r1, %r2, %r3}], {%h1};", ""},
		{"sm_90a", "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 3, %q1;", ""},
		{"sm_90a", "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 4, %q1;", "range 0..3"},
		{"sm_90", "tensormap.replace.tile.rank.global.b1024.b32 [%q1], %r1;", "not supported on .target 'sm_90'"},
		{"sm_90", "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%q1], [%r1], 64;", "expected to be 128"},
		{"sm_90", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%r1], {%f1, %f2, %f1, %f2}, [%r2];", ""},
		{"sm_90", "st.async.release.gpu.global.u32 [%q1], %r1;", "sm_100 or higher"},
		{"sm_90", "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r1], %r2;", ""},
		{"sm_90", "mbarrier.arrive.shared::cluster.b64 %q1, [%r1];", "Arguments mismatch"},
		{"sm_90", "mbarrier.arrive_drop.noComplete.release.cta.shared.b64 %q1, [%r1], 2;", ""},
		{"sm_90", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16;", ""},
		{"sm_90", "mbarrier.complete_tx.shared::cluster.b64 [%r1], %r2;", ""},
		{"sm_90", "mbarrier.try_wait.parity.acquire.cta.b64 %p1, [%q1], %r1, 1000;", ""},
		{"sm_90", "mbarrier.test_wait.relaxed.cluster.shared.b64 %p1, [%r1], %q1;", ""},
		{"sm_80", "mbarrier.try_wait.shared.b64 %p1, [%r1], %q1;", "sm_90 or higher"},
		{"sm_80", "mbarrier.arrive.shared.b64 _, [%r1], 2;", "sm_90 or higher"},
		{"sm_80", "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2;", ""},
		{"sm_90", "fence.proxy.async.shared::cta;", ""},
		{"sm_90", "fence.proxy.async;", ""},
		{"sm_90", "fence.proxy.alias;", ""},
		{"sm_90", "fence.proxy.alias.global;", "cannot be combined"},
		{"sm_90", "fence.proxy.tensormap::generic.acquire.sys [%q1], 128;", ""},
		{"sm_90", "fence.acquire.sync_restrict::shared::cluster.cluster;", ""},
		{"sm_90", "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;", ""},
		{"sm_90", "fence.sc.cluster;", ""},
		{"sm_80", "fence.sc.cluster;", "sm_90 or higher"},
		{"sm_90", "membar.proxy.alias;", ""},
		{"sm_90", "barrier.cluster.arrive.relaxed.aligned;", ""},
		{"sm_80", "barrier.cluster.wait;", "sm_90 or higher"},
		{"sm_90", "bar.cta.red.and.pred %p1, 1, 64, !%p2;", ""},
		{"sm_90", "bar.arrive 1;", "Arguments mismatch"},
		{"sm_90", "griddepcontrol.wait;", ""},
		{"sm_90", "elect.sync _|%p1, %r1;", ""},
		{"sm_90", "match.any.sync.b32 %r1|%p1, %r2, -1;", "Arguments mismatch"},
		{"sm_90", "setmaxnreg.inc.sync.aligned.u32 64;", "not supported on .target 'sm_90'"},
		{"sm_90", "multimem.red.release.gpu.global.add.v2.f32 [%q1], {%f1, %f2};", ""},
		{"sm_90", "multimem.st.weak.global.v8.bf16x2 [%q1], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};",
			"Arguments mismatch"},
		{"sm_90", "multimem.ld_reduce.relaxed.gpu.global.and.u32 %r1, [%q1];",
			"Incorrect type '.u32' for operation '.and'"},
	} {
		src := fmt.Sprintf(".version 9.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<4>; .reg .b64 %%q<4>; .reg .pred %%p<3>; .reg .b16 %%h<3>; .reg .f32 %%f<3>;\n%s\nret;\n}\n", c.target, c.text)
		m, err := ptx.Parse([]byte(src))
		if err == nil {
			_, err = Check(m, Options{SM: 90})
		}
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s %s\n\tgot  %v\n\twant %q", c.target, c.text, err, c.fault)
		}
	}
}
