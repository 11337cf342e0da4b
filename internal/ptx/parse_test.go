package ptx

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string) *Module {
	t.Helper()
	m, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if err := roundTrip(m); err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return m
}

// TestOperands holds one line per operand form of the manual (PTX ISA 9.0,
// chapters "Instruction Operands" and "Instruction Set"; the examples given
// with each instruction).
func TestOperands(t *testing.T) {
	for _, c := range []struct{ src, op, args string }{
		{"ret;", "ret", ""},
		{"add.s32 %r1, %r2, -5;", "add.s32", "%r1, %r2, -5"},
		{"add .s32 %r1, /* x */ %r2,\n 0x10U;", "add.s32", "%r1, %r2, 16U"},
		{"mov.u32 r, %tid.x;", "mov.u32", "r, %tid:x"},
		{"mov.u64 r, sym+8;", "mov.u64", "r, +(sym 8)"},
		{"mov.u32 r, arr[3];", "mov.u32", "r, arr@3"},
		{"mov.b64 {lo, _}, %rd1;", "mov.b64", "vec(lo sink), %rd1"},
		{"mov.u32 r, 5 | 8;", "mov.u32", "r, |(5 8)"},
		{"mov.u32 r, WARP_SZ | 1;", "mov.u32", "r, |(WARP_SZ 1)"},
		{"mov.u32 r, a + 1 | 2;", "mov.u32", "r, +(a |(1 2))"},
		{"add.u32 r, !p, -a.x;", "add.u32", "r, not(p), neg(a:x)"},
		{"mov.b64 r, {a, 1 + 2};", "mov.b64", "r, vec(a +(1 2))"},
		{"mov.u32 r, 7%3;", "mov.u32", "r, %(7 3)"},
		{"mov.u32 r, 1+7%3;", "mov.u32", "r, +(1 %(7 3))"},
		{"mov.u32 r, 7 % WARP_SZ;", "mov.u32", "r, %(7 WARP_SZ)"},
		{"mov.u64 r, 1 ? 2 : 3 ? 4 : 5;", "mov.u64", "r, ?:(1 2 ?:(3 4 5))"},
		{"mov.u64 r, (1 ? 2 : 3) ? 4 : 5;", "mov.u64", "r, ?:(?:(1 2 3) 4 5)"},
		{"mov.u64 r, 1 - (2 - 3) - 4;", "mov.u64", "r, -(-(1 -(2 3)) 4)"},
		{"mov.u64 r, (.u64) - 1 >> 63;", "mov.u64", "r, >>(unary(.u64)(-1) 63)"},
		{"mov.u64 r, -(-5) + ~ +5 + !5;", "mov.u64", "r, +(+(unary-(-5) unary~(unary+(5))) unary!(5))"},
		{"mov.f32 r, 0f3F800000;", "mov.f32", "r, f32:3f800000"},
		{"mov.f32 r, -0F3f800000;", "mov.f32", "r, f32:bf800000"},
		{"mov.f64 r, 0d3FF0000000000000;", "mov.f64", "r, f64:3ff0000000000000"},
		{"mov.f64 r, .5e1;", "mov.f64", "r, f64:4014000000000000"},
		{"op (.5), x;", "op", "f64:3fe0000000000000, x"}, // FuzzOperand: printed ".5" was a modifier
		{"mov.f64 r, -5.;", "mov.f64", "r, f64:c014000000000000"},
		{"ld.param.u64 d, [p];", "ld.param.u64", "d, [p nil]"},
		{"ld.global.v4.f32 {a,b,c,d}, [%rd1+16];", "ld.global.v4.f32", "vec(a b c d), [%rd1 16]"},
		{"ld.global.u32 r, [%rd1+-16];", "ld.global.u32", "r, [%rd1 -16]"},
		{"ld.global.u32 r, [%rd1 + -16 + 8];", "ld.global.u32", "r, [%rd1 +(-16 8)]"},
		{"ld.global.u32 r, [a + 4 * 2 - 1];", "ld.global.u32", "r, [a -(*(4 2) 1)]"},
		{"ld.const.u32 r, [256];", "ld.const.u32", "r, [nil 256]"},
		{"ld.global.b32 r, [a].unified;", "ld.global.b32", "r, [a nil]unified"},
		{"ld.global.L1::no_allocate.L2::cache_hint.L2::128B.b32 r, [a+4], pol;",
			"ld.global.L1::no_allocate.L2::cache_hint.L2::128B.b32", "r, [a 4], pol"},
		{"st.volatile.shared::cta.u32 [s], 0;", "st.volatile.shared::cta.u32", "[s nil], 0"},
		{"setp.lt.and.s32 p|q, a, b, !c;", "setp.lt.and.s32", "pair(p q), a, b, not(c)"},
		{"setp.eq.s32 _|q, a, b;", "setp.eq.s32", "pair(sink q), a, b"},
		{"shfl.sync.up.b32 r|_, a, 1, 0, -1;", "shfl.sync.up.b32", "pair(r sink), a, 1, 0, -1"},
		{"tex.2d.v4.f32.f32 {r,g,b,a}|p, [t, s, {x,y}], {dx,dy}, dc;", "tex.2d.v4.f32.f32",
			"pair(vec(r g b a) p), [t nil ,s ,vec(x y)], vec(dx dy), dc"},
		{"tex.1d.v4.s32.s32 {r1,r2,r3,r4}, [tex_a,{f1}];", "tex.1d.v4.s32.s32",
			"vec(r1 r2 r3 r4), [tex_a nil ,vec(f1)]"},
		{"suld.b.1d.v2.b16.clamp {r0,r1}, [surf_B, {x}];", "suld.b.1d.v2.b16.clamp",
			"vec(r0 r1), [surf_B nil ,vec(x)]"},
		{"txq.width.b32 r, [tex_A];", "txq.width.b32", "r, [tex_A nil]"},
		{"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [d], [m, {0, y}], [bar];",
			"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
			"[d nil], [m nil ,vec(0 y)], [bar nil]"},
		{"vadd.s32.u32.s32.sat r1, r2.b0, -r3.h1, r4;", "vadd.s32.u32.s32.sat", "r1, r2:b0, neg(r3:h1), r4"},
		{"vadd2.s32.s32.u32.sat r1.h10, r2.h32, r3, r4;", "vadd2.s32.s32.u32.sat", "r1:h10, r2:h32, r3, r4"},
		{"vmad.s32.s32.u32.sat r0, r1, r2, -r3;", "vmad.s32.s32.u32.sat", "r0, r1, r2, neg(r3)"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a,b}, {c}, {d}, {0f00000000, e};",
			"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "vec(a b), vec(c), vec(d), vec(f32:0 e)"},
		{"tcgen05.ld.sync.aligned.16x64b.x2.b32 {r0,r1}, [ta + 4];", "tcgen05.ld.sync.aligned.16x64b.x2.b32",
			"vec(r0 r1), [ta 4]"},
		{"mbarrier.arrive.shared::cluster.b64 _, [remote];", "mbarrier.arrive.shared::cluster.b64",
			"sink, [remote nil]"},
		{"call.uni f;", "call.uni", "f"},
		{"call f, ();", "call", "f, list()"},
		{"call (q, _), f, (a, 7, 0f3F800000);", "call", "list(q sink), f, list(a 7 f32:3f800000)"},
		{"call (r), %fp, (a), proto;", "call", "list(r), %fp, list(a), proto"},
		{"call %fp, (a), {b, c};", "call", "%fp, list(a), vec(b c)"},
		{"brx.idx.uni %r1, table;", "brx.idx.uni", "%r1, table"},
		{"lop3.or.b32 r|p, a, b, c, 0x3f, q;", "lop3.or.b32", "pair(r p), a, b, c, 63, q"},
		{"bra $L__BB0_1;", "bra", "$L__BB0_1"},
	} {
		m := mustParse(t, header+".func f() { "+c.src+" }")
		in := m.Decls[0].(*Func).Body.Stmts[0].(*Instr)
		if got := in.Opcode(); got != c.op {
			t.Errorf("%s: opcode %q, want %q", c.src, got, c.op)
		}
		if got := shapes(in.Args); got != c.args {
			t.Errorf("%s: operands %q, want %q", c.src, got, c.args)
		}
	}
}

func TestInitialisers(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{".global .u32 a = 5;", "5"},
		{".global .s32 a[2][2] = {{1, -2}, {3}};", "init(init(1 -2) init(3))"},
		{".global .u32 a[] = {1, 2, 3,};", "init(1 2 3)"},
		{".global .f32 a[2] = {.25, -1e3};", "init(f64:3fd0000000000000 f64:c08f400000000000)"},
		{".const .u64 a[2] = { generic(v)+4, f };", "init(+(generic(v) 4) f)"},
		{".const .u64 a = v+8;", "+(v 8)"},
		{".global .u8 a[] = {0xff(foo), 0xFF00(foo+4), 0xff0000(generic(foo)) };",
			"init(mask(255 foo) mask(65280 +(foo 4)) mask(16711680 generic(foo)))"},
		{".global .u64 a = 7 + 8;", "+(7 8)"},
		{".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };",
			"init(addr_mode_0=(clamp_to_border) filter_mode=(nearest))"},
		{".const .s32 e[2] = { (1 << 4) | 3, 1 < 2 ? 11 : 22 };", "init(|(<<(1 4) 3) ?:(<(1 2) 11 22))"},
	} {
		m := mustParse(t, header+c.src)
		if got := shape(m.Decls[0].(*Var).Init); got != c.want {
			t.Errorf("%s: %s, want %s", c.src, got, c.want)
		}
	}
}

func TestVars(t *testing.T) {
	for _, c := range []struct {
		src  string
		want Var
	}{
		{".reg .b32 %r<100>;", Var{Space: "reg", Bank: -1, Type: "b32", Name: "%r", HasNum: true, Count: 100}},
		{".reg .v4 .f32 q;", Var{Space: "reg", Bank: -1, Vec: 4, Type: "f32", Name: "q"}},
		{".extern .shared .align 16 .b8 smem[];", Var{Linkage: LinkExtern, Space: "shared", Bank: -1,
			Alignment: Alignment{16, true}, Type: "b8", Name: "smem", Dims: []uint64{0}}},
		{".visible .const .align 8 .b64 t[2][3];",
			Var{Linkage: LinkVisible, Space: "const", Bank: -1, Alignment: Alignment{8, true}, Type: "b64", Name: "t",
				Dims: []uint64{2, 3}}},
		{".const[3] .u32 c;", Var{Space: "const", Bank: 3, Type: "u32", Name: "c"}},
		{".weak .global .u8 w;", Var{Linkage: LinkWeak, Space: "global", Bank: -1, Type: "u8", Name: "w"}},
		{".common .global .u8 w;", Var{Linkage: LinkCommon, Space: "global", Bank: -1, Type: "u8", Name: "w"}},
		{".global .attribute(.managed, .unified(0xAB, 2)) .s32 g;",
			Var{Space: "global", Bank: -1, Type: "s32", Name: "g",
				Attrs: []Attribute{{Name: "managed"}, {Name: "unified", Args: []uint64{0xab, 2}}}}},
		{".tex .u32 tex_a;", Var{Space: "tex", Bank: -1, Type: "u32", Name: "tex_a"}},
		{".global .texref t;", Var{Space: "global", Bank: -1, Type: "texref", Name: "t"}},
		{".shared::cta .b64 bar;", Var{Space: "shared::cta", Bank: -1, Type: "b64", Name: "bar"}},
		{".global .b32 $str$10;", Var{Space: "global", Bank: -1, Type: "b32", Name: "$str$10"}},
	} {
		m := mustParse(t, header+c.src)
		if d := diffTrees(m.Decls[0].(*Var), &c.want); d != "" {
			t.Errorf("%s: differs at %s", c.src, d)
		}
	}
	m := mustParse(t, header+".reg .pred p, q<3>;")
	if len(m.Decls) != 2 || m.Decls[1].(*Var).Name != "q" || m.Decls[1].(*Var).Count != 3 {
		t.Errorf("two names: %+v", m.Decls)
	}
}

func TestFunctions(t *testing.T) {
	m := mustParse(t, header+`
.extern .func (.param .b32 r) ext (.param .b64 a, .param .align 8 .b8 b[16]);
.visible .entry k (.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q)
.maxntid 16, 4
.minnctapersm 2
.reqnctapercluster 2,1,1 .explicitcluster .maxclusterrank 8
.pragma "nounroll", "x\"y\\z\n";
{
	.reg .b32 r<3>; .loc 1 2 3, function_name $L0 + 5, inlined_at 1 4 5
	{ .local .u32 x; @!p bra L; }
L: ts: .branchtargets L, L2;
 ct: .calltargets f, g;
	proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _) .noreturn;
	.pragma "used_bytes_mask 3";
}
.func noargs .noreturn .abi_preserve 4 { ret; }
.func .attribute(.unified(1, 2)) attr ();
.weak .func () none () { }
.alias a, noargs;
.entry old { exit; }
.file 1 "a\\b.cu", 5, 6
.section .debug_info { .b8 1, -2
  L: .b32 .debug_abbrev, L+4 .b64 L1-L2 .b16 3 }
.section .debug_empty { }
`)
	f := m.Decls[1].(*Func)
	if f.Kind != KindEntry || f.Linkage != LinkVisible || f.Name != "k" {
		t.Errorf("entry: %+v", f)
	}
	if want := (&Ptr{Space: "global", Alignment: Alignment{16, true}}); diffTrees(f.Params[0].Ptr, want) != "" {
		t.Errorf("ptr: %+v", f.Params[0].Ptr)
	}
	if f.Params[1].Ptr == nil || f.Params[1].Ptr.Space != "" {
		t.Errorf("bare ptr: %+v", f.Params[1].Ptr)
	}
	if d := f.Directive("reqnctapercluster"); d == nil || !reflect.DeepEqual(d.Values, []uint64{2, 1, 1}) {
		t.Errorf("reqnctapercluster: %+v", d)
	}
	if d := f.Directive("pragma"); d == nil || !reflect.DeepEqual(d.Strings, []string{"nounroll", "x\"y\\z\n"}) {
		t.Errorf("pragma: %+v", d)
	}
	var kinds []string
	for _, s := range f.Body.Stmts {
		kinds = append(kinds, strings.TrimPrefix(reflect.TypeOf(s).String(), "*ptx."))
	}
	if got, want := strings.Join(kinds, " "), "Var Loc Block Label BranchTargets CallTargets CallPrototype Pragma"; got != want {
		t.Errorf("statements %q, want %q", got, want)
	}
	loc := f.Body.Stmts[1].(*Loc)
	if shape(loc.Function) != "+($L0 5)" || loc.Inlined == nil || *loc.Inlined != (LocAt{1, 4, 5}) {
		t.Errorf("loc: %+v", loc)
	}
	cp := f.Body.Stmts[6].(*CallPrototype)
	if cp.Name != "proto" || len(cp.Returns) != 1 || len(cp.Params) != 2 || cp.Directives[0].Name != "noreturn" {
		t.Errorf("prototype: %+v", cp)
	}
	if n := m.Decls[2].(*Func); n.HasParams || n.Body == nil || n.Directives[1].Values[0] != 4 {
		t.Errorf("function without parameters: %+v", n)
	}
	if n := m.Decls[4].(*Func); !n.HasReturn || !n.HasParams {
		t.Errorf("empty lists: %+v", n)
	}
	if a := m.Decls[5].(*Alias); a.Name != "a" || a.Target != "noargs" {
		t.Errorf("alias: %+v", a)
	}
	if fd := m.Files[0]; fd.Name != `a\b.cu` || fd.Stamp != 5 || fd.Size != 6 {
		t.Errorf("file: %+v", fd)
	}
	s := m.Sections[0]
	var rows []string
	for _, it := range s.Items {
		rows = append(rows, it.Label+shapes(it.Values))
	}
	if got, want := strings.Join(rows, "; "), "1, -2; L; .debug_abbrev, +(L 4); -(L1 L2); 3"; got != want {
		t.Errorf("section: %q, want %q", got, want)
	}
}

func TestHeader(t *testing.T) {
	m := mustParse(t, "// c\n.version 8.10\n.target sm_90a, texmode_unified\n.target debug\n")
	if m.Version != (Version{8, 10}) || !m.HasVersion || m.VersionPos != (Pos{2, 1}) || m.AddressSize != 0 {
		t.Errorf("header: %+v", m)
	}
	var words []string
	for _, w := range m.Target {
		words = append(words, w.Text)
	}
	if strings.Join(words, " ") != "sm_90a texmode_unified debug" {
		t.Errorf("target: %v", words)
	}
	if !(Version{8, 9}).Less(m.Version) || m.Version.Less(Version{8, 10}) || !m.Version.Less(Version{9, 0}) {
		t.Error("order of versions")
	}
}

func TestPositions(t *testing.T) {
	m := mustParse(t, ".version 7.0\r\n.target sm_75\r\n.func f()\n{\n/* a\nb */ @!%p\n  add.s32\t%r1, [x+4],\n -5 ;\n}")
	in := m.Decls[0].(*Func).Body.Stmts[0].(*Instr)
	for _, c := range []struct {
		what      string
		got, want Pos
	}{
		{"function", m.Decls[0].Position(), Pos{3, 1}},
		{"instruction", in.Pos, Pos{6, 6}},
		{"guard register", in.Guard.Reg.Pos, Pos{6, 8}},
		{"name", in.NamePos, Pos{7, 3}},
		{"first operand", in.Args[0].Position(), Pos{7, 11}},
		{"address", in.Args[1].Position(), Pos{7, 16}},
		{"negative literal", in.Args[2].Position(), Pos{8, 2}},
		{"semicolon", in.EndPos, Pos{8, 5}},
		{"closing brace", m.Decls[0].(*Func).Body.EndPos, Pos{9, 1}},
	} {
		if c.got != c.want {
			t.Errorf("%s at %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestTolerance: texts that are read although the manual does not describe
// them.
func TestTolerance(t *testing.T) {
	for _, src := range []string{
		"# 1 \"file.cu\"\n.func f() { ret; }",
		"@@DWARF .section .debug_info\n.func f() {\n @@DWARF .byte 1 { \n ret; }",
		".func f() { ;ret;; }",
	} {
		m := mustParse(t, header+src)
		if b := m.Decls[0].(*Func).Body; len(b.Stmts) != 1 || b.Stmts[0].(*Instr).Name != "ret" {
			t.Errorf("%q: %v", src, b.Stmts)
		}
	}
	m, err := Parse([]byte(header + ".func f();\x00 \xff garbage {"))
	if err != nil || len(m.Decls) != 1 {
		t.Errorf("text after NUL: %v, %v", m, err)
	}
}

func TestWalk(t *testing.T) {
	m := mustParse(t, header+".global .u32 g = h+1; .func (.reg .u32 r) f(.reg .u32 a) { @p mov.b64 {x, y}, [z+4, {w}]; { setp.eq.u32 c|d, !e, -i; } }")
	var names []string
	Walk(m, func(n Node) bool {
		switch n := n.(type) {
		case *Ident:
			names = append(names, n.Name)
		case *Var:
			names = append(names, n.Name)
		}
		return true
	})
	if got := strings.Join(names, " "); got != "g h r a p x y z w c d e i" {
		t.Errorf("walk: %s", got)
	}
	var ops []string
	for in := range m.Decls[1].(*Func).Body.Instrs() {
		ops = append(ops, in.Opcode())
	}
	if got := strings.Join(ops, " "); got != "mov.b64 setp.eq.u32" {
		t.Errorf("instructions: %s", got)
	}
	in := m.Decls[1].(*Func).Body.Stmts[0].(*Instr)
	if got := in.String(); got != "@p mov.b64 {x, y}, [z+4, {w}];" {
		t.Errorf("printed: %s", got)
	}
	if !in.Has("b64") || in.Has("b32") {
		t.Error("modifiers")
	}
}

// TestLinear parses texts that would take long, or exhaust the stack, if
// something in the parser were quadratic or recursed without limit.
func TestLinear(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		name, src string
		ok        bool
	}{
		{"open parentheses", ".global .u32 a = " + strings.Repeat("(", n), false},
		{"open braces", ".global .u32 a = " + strings.Repeat("{", n), false},
		{"blocks", ".func f() " + strings.Repeat("{", n), false},
		{"sum", ".global .u32 a = 1" + strings.Repeat("+1", n) + ";", false},
		{"signs", ".global .u32 a = " + strings.Repeat("-", n) + "1;", false},
		{"brackets", ".func f() { mov a, " + strings.Repeat("a[", n) + "; }", false},
		{"elements", ".global .u8 a[] = {1" + strings.Repeat(",1", n) + "};", true},
		{"comments", strings.Repeat("/* */\n # \n", n), true},
		{"hashes", strings.Repeat("#", n), true},
		{"one line", ".func f() { " + strings.Repeat("add.s32 a, b, c; ", n) + "}", true},
		{"closing braces", strings.Repeat("}", n), false},
		{"faults", ".func f() { " + strings.Repeat("add a b; ", n) + "}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(header + c.src))
			if (err == nil) != c.ok {
				t.Fatalf("error %v", err)
			}
			if l, is := err.(ErrorList); err != nil && (!is || len(l) > maxErrors) {
				t.Errorf("%T with %d entries", err, len(l))
			}
			if err := Fprint(new(bytes.Buffer), m); err != nil {
				t.Error(err)
			}
		})
	}
}
