package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

func checkBody(t *testing.T, header, decl, body string) error {
	t.Helper()
	src := header + "\n.address_size 64\n" + decl + `
.visible .entry k(.param .u64 p) {
.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .f32 %f<12>; .reg .pred %p<5>; .reg .v4 .f32 %v;
` + body + "\nret;\n}\n"
	m, err := ptx.Parse([]byte(src))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	_, err = Check(m, Options{SM: 90})
	return err
}

// TestTextureOperands: the texts of the first five rejected ones are the driver's (580.159.04, probe of operand types);
// the rest follows the manual's syntax (PTX ISA 9.7.10, 9.7.11).
func TestTextureOperands(t *testing.T) {
	const unified, independent = ".version 9.0\n.target sm_90", ".version 9.0\n.target sm_90, texmode_independent"
	const refs = ".global .texref t;\n.global .surfref s;"
	for _, c := range []struct{ header, decl, body, fault string }{
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3},[%rd1,{%f1,%f2}];", "Illegal vector size: 3"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1}];",
			"Operand vector size doesn't match geometry for instruction 'tex'"},
		{unified, ".global .samplerref b;", "", "Instruction or declaration violates .target texmode_unified setting"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%r2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%h1,%h2}];",
			"Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%rd1,%r1];", ""},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%rd1,{%r1}];", ""},
		{unified, refs, "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[t,{%r1}];", ""},
		{unified, refs, "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[s,{%r1}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%r1,{%r1}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,%v];", ""},
		{unified, "", "tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%f1,%f2,%f2}];", ""},
		{unified, "", "tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f1,%f2,%f2}];",
			"Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.cube.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2,%f3,%f3}];", ""},
		{unified, "", "tex.cube.v4.f32.s32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%r2,%r3,%r3}];", "for instruction 'tex'"},
		{unified, "", "tex.2d.v4.f16.f32 {%h1,%h2,%h3,%h4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v2.f16x2.f32 {%r1,%r2},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.level.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f5;", ""},
		{unified, "", "tex.level.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f5,{%r1,%r2};", ""},
		{unified, "", "tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%f5,%f5},{%f5,%f6};", ""},
		{unified, "", "tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%f5,%f5,%f5,%f5},{%f5,%f6};",
			"Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p1,[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%r1,%r2},%f6;", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f6;", ""},
		{unified, "", "tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2,%f3,%f3}],%f6;",
			"Arguments mismatch for instruction 'tex'"},
		{independent, ".global .texref t; .global .samplerref b;",
			"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[t,b,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,%rd2,{%f1,%f2}];",
			"Instruction or declaration violates .target texmode_unified setting"},
		{unified, "", "tld4.r.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "txq.width.b32 %r1,[%rd1];", ""},
		{unified, "", "txq.level.width.b32 %r1,[%rd1],%r2;", ""},
		{unified, "", "istypep.texref %p1,%rd1;", ""},
		{unified, "", "suld.b.2d.v4.b32.trap {%r1,%r2,%r3,%r4},[%rd1,{%r5,%r6}];", ""},
		{unified, "", "suld.b.2d.b8.trap {%h1},[%rd1,{%r5,%r6}];", ""},
		{unified, "", "suld.b.1d.v4.b64.trap {%rd1,%rd2,%rd3,%rd4},[%rd1,{%r5}];",
			"Vector type too large, exceeds 128 bit limit"},
		// ptxas 13.0
		{unified, "", "suld.b.1d.b32 %r1,[%rd1,{%r5,%r6}];", "Clamp modifier required for instruction 'suld.b'"},
		{unified, "", "suld.b.1d.b32.trap %r1,[%rd1,{%r5,%r6}];",
			"Operand vector size doesn't match geometry for instruction 'suld'"},
		{unified, refs, "sust.b.1d.b32.clamp [s,{%r5}],%r1;", ""},
		{unified, refs, "sust.p.1d.v4.b32.trap [s,{%r5}],{%f1,%f2,%f3,%f4};", ""},
		{unified, "", "sured.b.add.2d.u32.trap [%rd1,{%r1,%r2}],%r1;", ""},
		{unified, "", "sured.b.max.1d.u64.trap [%rd1,{%r1}],%rd2;", ""},
		{unified, "", "suq.width.b32 %r1,[%rd1];", ""},
	} {
		err := checkBody(t, c.header, c.decl, c.body)
		var list Errors
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.body, err)
		case c.fault == "":
		case !errors.As(err, &list):
			t.Errorf("%s: %v, want %s", c.body, err, c.fault)
		case !strings.Contains(list[0].Text, c.fault):
			t.Errorf("%s: %s, want %s", c.body, list[0].Text, c.fault)
		}
	}
}

// TestNeedsBlackwell: instructions of sm_100 are refused for sm_90 in the words that the driver has for such
// instructions.
func TestNeedsBlackwell(t *testing.T) {
	for body, fault := range map[string]string{
		"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;":                                       "Instruction 'tcgen05.alloc' not supported on .target 'sm_90'",
		"tcgen05.mma.cta_group::1.kind::tf32 [%r1], %rd1, %rd2, %r2, %p1;":                                         "Instruction 'tcgen05.mma' not supported on .target 'sm_90'",
		"tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r3], %rd2, %r2, {%r1,%r2,%r3,%r4}, %p1, 1;":                   "Instruction 'tcgen05.mma' not supported on .target 'sm_90'",
		"tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;": "Instruction 'tcgen05.mma' not supported on .target 'sm_90'",
		"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1,%r2}, [%r3];":                                                  "Instruction 'tcgen05.ld' not supported on .target 'sm_90'",
		"tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r3], 16, {%r1};":                                                "Instruction 'tcgen05.st' not supported on .target 'sm_90'",
		"tcgen05.wait::ld.sync.aligned;":                                                                           "Instruction 'tcgen05.wait' not supported on .target 'sm_90'",
		"tcgen05.fence::before_thread_sync;":                                                                       "Instruction 'tcgen05.fence' not supported on .target 'sm_90'",
		"tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r1], %rd1;":                                            "Instruction 'tcgen05.cp' not supported on .target 'sm_90'",
		"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];":                             "Instruction 'tcgen05.commit' not supported on .target 'sm_90'",
		"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];":        "Feature 'clusterlaunchcontrol.try_cancel' requires .target sm_100 or higher",
		"{ .reg .b128 q; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, q; }":                        "Feature 'clusterlaunchcontrol.query_cancel' requires .target sm_100 or higher",
		"{ .reg .b128 q; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1,%r2,%r3,_}, q; }":      "Feature 'clusterlaunchcontrol.query_cancel' requires .target sm_100 or higher",
		"{ .reg .b128 q; clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r1, q; }":                  "Feature 'clusterlaunchcontrol.query_cancel' requires .target sm_100 or higher",
		"tcgen05.mma.ws.sp.cta_group::1.kind::i8.collector::b1::lastuse [%r1], %rd1, %rd2, [%r4], %r2, %p1;":       "Instruction 'tcgen05.mma.ws.sp' not supported on .target 'sm_90'",
		"tcgen05.mma.sp.cta_group::1.kind::f8f6f4.ashift.collector::a::fill [%r1], [%r2], %rd2, [%r4], %r2, %p1;":  "Instruction 'tcgen05.mma.sp' not supported on .target 'sm_90'",
	} {
		err := checkBody(t, ".version 9.0\n.target sm_90", "", body)
		var list Errors
		if !errors.As(err, &list) || list[0].Text != fault {
			t.Errorf("%s: %v, want %s", body, err, fault)
		}
	}
}
