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

// TestTextureOperands: the texts of the first five rejected ones are the driver's (580.159.04, probe of operand types); the rest follows the manual's
// syntax (PTX ISA 9.7.10, 9.7.11).
func TestTextureOperands(t *testing.T) {
	const unified, independent = ".version 9.0\n.target sm_90", ".version 9.0\n.target sm_90, texmode_independent"
	const refs = ".global .texref t;\n.global .surfref s;"
	for _, c := range []struct{ header, decl, body, fault string }{
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3},[%rd1,{%f1,%f2}];", "Illegal vector size: 3"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1}];", "Operand vector size doesn't match geometry for instruction 'tex'"},
		{unified, ".global .samplerref b;", "", "Instruction or declaration violates .target texmode_unified setting"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%r2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%h1,%h2}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%rd1,%r1];", ""},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%rd1,{%r1}];", ""},
		{unified, refs, "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[t,{%r1}];", ""},
		{unified, refs, "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[s,{%r1}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4},[%r1,{%r1}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,%v];", ""},
		{unified, "", "tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%f1,%f2,%f2}];", ""},
		{unified, "", "tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f1,%f2,%f2}];", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.cube.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2,%f3,%f3}];", ""},
		{unified, "", "tex.cube.v4.f32.s32 {%f1,%f2,%f3,%f4},[%rd1,{%r1,%r2,%r3,%r3}];", "Unexpected instruction types specified for 'tex'"},
		{unified, "", "tex.2d.v4.f16.f32 {%h1,%h2,%h3,%h4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v2.f16x2.f32 {%r1,%r2},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.level.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f5;", ""},
		{unified, "", "tex.level.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f5,{%r1,%r2};", ""},
		{unified, "", "tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%f5,%f5},{%f5,%f6};", ""},
		{unified, "", "tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%f5,%f5,%f5,%f5},{%f5,%f6};", "Arguments mismatch for instruction 'tex'"},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p1,[%rd1,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],{%r1,%r2},%f6;", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}],%f6;", ""},
		{unified, "", "tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2,%f3,%f3}],%f6;", "Arguments mismatch for instruction 'tex'"},
		{independent, ".global .texref t; .global .samplerref b;", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[t,b,{%f1,%f2}];", ""},
		{unified, "", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,%rd2,{%f1,%f2}];", "Instruction or declaration violates .target texmode_unified setting"},
		{unified, "", "tld4.r.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}];", ""},
		{unified, "", "txq.width.b32 %r1,[%rd1];", ""},
		{unified, "", "txq.level.width.b32 %r1,[%rd1],%r2;", ""},
		{unified, "", "istypep.texref %p1,%rd1;", ""},
		{unified, "", "suld.b.2d.v4.b32.trap {%r1,%r2,%r3,%r4},[%rd1,{%r5,%r6}];", ""},
		{unified, "", "suld.b.2d.b8.trap {%h1},[%rd1,{%r5,%r6}];", ""},
		{unified, "", "suld.b.1d.v4.b64.trap {%rd1,%rd2,%rd3,%rd4},[%rd1,{%r5}];", "Vector type too large, exceeds 128 bit limit"},
		{unified, "", "suld.b.1d.b32 %r1,[%rd1,{%r5,%r6}];", "Operand vector size doesn't match geometry for instruction 'suld'"},
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
