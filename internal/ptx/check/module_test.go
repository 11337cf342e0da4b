package check

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

const head = ".version 9.0\n.target sm_90\n.address_size 64\n"

// mustCheck parses and checks a module that is legal.
func mustCheck(t *testing.T, text string) *Module {
	t.Helper()
	m, err := ptx.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	out, err := Check(m, Options{SM: 90})
	if err != nil {
		t.Fatalf("check: %v\n%s", err, text)
	}
	return out
}

// faults parses and checks and returns the faults.
func faults(t *testing.T, text string) Errors {
	t.Helper()
	m, err := ptx.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse: %v\n%s", err, text)
	}
	_, err = Check(m, Options{SM: 90})
	var list Errors
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("unexpected error type %T", err)
	}
	return list
}

// TestBroken compares with what an H200's driver (580, CUDA 13.0) answered for damaged PTX: corpus/broken. Modules that
// need the linker to be refused, or memory to be allocated, are accepted here.
func TestBroken(t *testing.T) {
	dir := shared(t, "corpus", "broken")
	var items []struct {
		Name string
		Load struct {
			Name string
			Log  string `json:"error_log"`
		} `json:"cuModuleLoadDataEx"`
	}
	if err := json.Unmarshal(readText(t, filepath.Join(dir, "broken.json")), &items); err != nil {
		t.Fatal(err)
	}
	later := map[string]bool{
		"ptx_func_declared_not_defined": true, // the linker's
		"ptx_global_huge":               true, // the allocator's
	}
	n := 0
	for _, it := range items {
		if !strings.HasPrefix(it.Name, "ptx_") || it.Load.Name == "CUDA_ERROR_INVALID_IMAGE" {
			continue
		}
		n++
		text := readText(t, filepath.Join(dir, "images", it.Name+".ptx.gz"))
		m, err := ptx.Parse(text)
		if err == nil {
			_, err = Check(m, Options{SM: 90})
		}
		if it.Load.Name == "CUDA_SUCCESS" || later[it.Name] {
			if err != nil {
				t.Errorf("%s: accepted by the driver, refused here: %v", it.Name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: accepted here, the driver says %s", it.Name, it.Load.Log)
			continue
		}
		if got := Log(err); got != it.Load.Log {
			t.Errorf("%s:\ngot    %q\ndriver %q", it.Name, got, it.Load.Log)
		}
		var e *Error
		if errors.As(err, &e) &&
			(e.Kind == UnsupportedVersion) != (it.Load.Name == "CUDA_ERROR_UNSUPPORTED_PTX_VERSION") {
			t.Errorf("%s: kind %d for %s", it.Name, e.Kind, it.Load.Name)
		}
	}
	if n < 40 {
		t.Errorf("only %d cases", n)
	}
}

// TestFaults holds modules that are illegal and where and how they are refused. Texts in the driver's words are those
// of its log (silicon/rejected.json.gz, corpus/broken); others are this package's.
func TestFaults(t *testing.T) {
	body := func(s string) string { return head + ".visible .entry k(.param .u64 p)\n{\n" + s + "\nret;\n}\n" }
	for _, c := range []struct {
		name, text string
		line, col  int32
		want       string
	}{
		{"unknown instruction", body("frobnicate.u32 1;"), 6, 1, "Not a name of any known instruction: 'frobnicate'"},
		{"width", body(".reg .b32 r;\n.reg .b64 d;\nmov.u64 d, r;"), 8, 12, "Arguments mismatch for instruction 'mov'"},
		{"float to int", body(".reg .f32 r;\nmov.u32 r, 7;"), 7, 9, "Arguments mismatch for instruction 'mov'"},
		{"int literal for float", body(".reg .f32 r;\nmov.f32 r, 2;"), 7, 12,
			"Arguments mismatch for instruction 'mov'"},
		{"decimal for b32", body(".reg .b32 r;\nmov.b32 r, 1.5;"), 7, 12, "Arguments mismatch for instruction 'mov'"},
		{"0f for b64", body(".reg .b64 r;\nmov.b64 r, 0f3f800000;"), 7, 12, "Arguments mismatch for instruction 'mov'"},
		{"division by zero", body(".reg .b64 r;\nmov.b64 r, 5 / 0;"), 7, 12, divisionByZero},
		{"mov.f16", body(".reg .b16 r;\nmov.f16 r, r;"), 7, 1, "Unexpected instruction types specified for 'mov'"},
		{"predicate where none", body(".reg .pred q;\n.reg .b32 r;\nmov.b32 r, q;"), 8, 12,
			"Arguments mismatch for instruction 'mov'"},
		{"guard", body(".reg .b32 r;\n@r bra L;\nL:"), 7, 2, "Predicate expression expected"},
		{"undeclared guard", body("@r bra L;\nL:"), 6, 2, "Unknown symbol 'r'"},
		{"label", body("bra M;\nL:"), 6, 5, "Unknown symbol 'M'"},
		{"not a label", body(".reg .b32 r;\nbra r;"), 7, 5, "Label expected for argument 0 of instruction 'bra'"},
		{"label of an inner block", body("{\nL:\n}\nbra L;"), 9, 5, "Unknown symbol 'L'"},
		{"label twice", body("L:\nL:"), 7, 1, "Duplicate definition of label 'L'"},
		{"register twice", body(".reg .b32 r;\n.reg .b64 r;"), 7, 11, "Duplicate definition of variable 'r'"},
		{"register in a set", body(".reg .b32 %r<4>;\n.reg .b64 %r3;"), 7, 11,
			"Duplicate definition of variable '%r3'"},
		{"set over a register", body(".reg .b64 %r3;\n.reg .b32 %r<4>;"), 7, 11,
			"Duplicate definition of variable '%r3'"},
		{"beyond a set", body(".reg .b32 %r<4>;\nmov.u32 %r4, 1;"), 7, 9, "Unknown symbol '%r4'"},
		{"of an ended scope", body("{ .reg .b32 r; }\nmov.u32 r, 1;"), 7, 9, "Unknown symbol 'r'"},
		{"special register feature", ".version 7.0\n.target sm_80\n.entry k(){ .reg .u32 r; mov.u32 r, %cluster_ctarank; ret; }", 3, 37, "Feature '%cluster_ctarank' requires PTX ISA .version 7.8 or later"},
		{"special register component", body(".reg .u32 r;\nmov.u32 r, %tid;"), 7, 12,
			"Argument vector size mismatch for instruction 'mov'"},
		{"setmaxnreg", body("setmaxnreg.dec.sync.aligned.u32 24;"), 6, 1,
			"Instruction 'setmaxnreg.dec' not supported on .target 'sm_90'"},
		{"call unknown", body("call nobody;"), 6, 6, "Unknown symbol 'nobody'"},
		{"call count", head + ".func f(.param .b32 a) { ret; }\n.entry k() {\ncall f;\nret; }", 6, 1,
			"Call has wrong number of parameters"},
		{"call type", head + ".func f(.param .b32 a) { ret; }\n.entry k() {\n.param .b64 x;\ncall f, (x);\nret; }", 7,
			1, "Type of argument does not match formal parameter 'a'"},
		{"indirect call", head + ".entry k() {\n.reg .b64 x;\ncall x;\nret; }", 6, 1,
			"Indirect call without call prototype or call target list"},
		{"int for float initialiser", head + ".const .f32 c = 3;", 4, 17, "Initial value type mismatch"},
		{"too many values", head + ".global .u32 c[2] = {1, 2, 3};", 4, 28,
			"Greater number of elements in array initializer"},
		{"forward symbol", head + ".global .u64 a = b;\n.global .u64 b;", 4, 18, "Invalid initial value symbol 'b'"},
		{"predicate in memory", head + ".global .pred a;", 4, 1,
			"Predicate variable 'a' must be in register state space"},
		{"local with ABI", head + ".local .b32 a;", 4, 1,
			"Module-scoped variables in .local state space are not allowed with ABI"},
		{"alignment", head + ".global .align 3 .b8 a;", 4, 1, "Alignment must be a power of two"},
		{"alignment beyond 32 bits", head + ".global .align 4294967296 .b8 a;", 4, 1, "Constant overflow"},
		{"twice", head + ".global .u32 a;\n.global .u32 a;", 5, 14, "Duplicate definition of variable 'a'"},
		{"function and variable", head + ".global .u32 a;\n.func a() { ret; }", 5, 7,
			"Inconsistent redefinition of variable 'a'"},
		{"function twice", head + ".func a() { ret; }\n.func a() { ret; }", 5, 7,
			"Duplicate definition of function 'a'"},
		{"unlike declaration", head + ".func a(.param .b32 x);\n.func a(.param .b64 x) { ret; }", 5, 7,
			"Inconsistent prototypes of 'a', parameter types differ"},
		{"constant space", head + ".const .b8 a[65537];", 0, 0,
			"File uses too much global constant data (0x10001 bytes, 0x10000 max)"},
		{"shared", body(".shared .b8 a[232449];"), 0, 0,
			"Entry function 'k' uses too much shared data (0x38c01 bytes, 0x38c00 max)"},
		{"parameters", head + ".entry k(.param .b8 a[32765])\n{ ret; }", 5, 8,
			"Entry function 'k' uses too much parameter space (0x7ffd bytes, 0x7ffc max)."},
		{"reqntid and maxntid", head + ".entry k() .maxntid 4 .reqntid 4 { ret; }", 4, 23,
			"Conflicting directives: .maxntid and .reqntid cannot both be specified"},
		{"branch targets", body("T: .branchtargets A, B;\nA:"), 6, 22, "Unknown symbol 'B'"},
	} {
		list := faults(t, c.text)
		if len(list) == 0 {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		found := false
		for _, e := range list {
			found = found || e.Text == c.want && e.Line == c.line && e.Col == c.col
		}
		if !found {
			t.Errorf("%s: got %v, want %d:%d: %s", c.name, list, c.line, c.col, c.want)
		}
	}
}

// TestFatalStops: a fatal fault is the last one.
func TestFatalStops(t *testing.T) {
	list := faults(t, head+".const .f32 c = 3;\n.global .pred a;")
	if len(list) != 1 || !list[0].Fatal {
		t.Errorf("got %v", list)
	}
	if got, want := Log(list), "ptxas application ptx input, line 4; fatal   : Initial value type mismatch\nptxas fatal   : Ptx assembly aborted due to errors"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

// TestErrorLimit: a module of many faults is cut off.
func TestErrorLimit(t *testing.T) {
	list := faults(t, head+".entry k() {\n"+strings.Repeat("bra X;\n", 1000)+"}")
	if len(list) != MaxErrors {
		t.Errorf("%d faults, want %d", len(list), MaxErrors)
	}
}

// TestInitialisers: bytes follow from the language (little endian, nested braces in row order) and from the values an
// H200 loaded for the same initialisers (silicon, group consts).
func TestInitialisers(t *testing.T) {
	for _, c := range []struct{ decl, want string }{
		{".global .u32 v = 1", "01000000"},
		{".global .u8 v = 255", "ff"},
		{".global .s8 v = -129", "7f"},
		{".global .u16 v = 65536", "0000"},
		{".global .b16 v = 0x12345", "4523"},
		{".global .u32 v = 4294967296", "00000000"},
		{".const .f32 v = 0f3f800000", "0000803f"},
		{".const .f32 v = 1.5", "0000c03f"},
		{".const .f64 v = 0f3f800000", "0000803f00000000"},
		{".const .f32 v = 0d3ff0000000000000", "0000803f"},
		{".const .f32 v = 1e-40", "c2160100"},
		{".const .f32 v = 1e39", "0000807f"},
		{".const .f32 v = 1.0 + 1.0", "00000040"},
		{".const .b32 v = 1.5", "0000c03f"},
		{".const .b32 v = 0f3f800000", "0000803f"},
		{".const .b64 v = 0d3ff0000000000000", "000000000000f03f"},
		{".global .u64 v = -7 / 2", "fdffffffffffffff"},
		{".global .s32 v = -7 % 3", "00000000"},
		{".global .u16 v[2][3] = { {1, 2}, {3} }", "010002000300000000000000"},
		{".global .u8 v[] = { 1, 2, 3 }", "010203"},
		{".global .v4 .u8 v = { 1, 2, 3, 4 }", "01020304"},
		{".global .v2 .u8 v[2] = { {1, 2}, {3, 4} }", "01020304"},
		{".global .u32 v[3] = { 5 }", "050000000000000000000000"},
	} {
		m := mustCheck(t, head+c.decl+";")
		b := make([]byte, m.Vars[0].Size)
		copy(b, m.Vars[0].Init)
		if got := hex.EncodeToString(b); got != c.want {
			t.Errorf("%s: %s, want %s", c.decl, got, c.want)
		}
		if m.Vars[0].Size != uint64(len(c.want)/2) {
			t.Errorf("%s: size %d", c.decl, m.Vars[0].Size)
		}
	}
}

// TestRelocations: PTX ISA 5.4.5, "Initializers".
func TestRelocations(t *testing.T) {
	m := mustCheck(t, head+`
.extern .global .u64 later[4];
.global .u32 a[6];
.func f() { ret; }
.global .u64 p[5] = { a, a+8, generic(a)+4, f, later };
.global .u8 m[3] = { 0xff(a), 0xff00(a), 0xff0000(a+1) };
.visible .global .u64 later[4] = { generic(later)+8, 0 };
`)
	byName := map[string]*Var{}
	for _, v := range m.Vars {
		byName[v.Name] = v
	}
	a, later := byName["a"], byName["later"]
	want := []Reloc{
		{Offset: 0, Size: 8, Var: a}, {Offset: 8, Size: 8, Var: a, Addend: 8},
		{Offset: 16, Size: 8, Var: a, Addend: 4, Generic: true},
		{Offset: 24, Size: 8, Func: m.Funcs[0]}, {Offset: 32, Size: 8, Var: later},
	}
	compare := func(name string, got, want []Reloc) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d relocations, want %d", name, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: relocation %d is %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
	compare("p", byName["p"].Relocs, want)
	compare("m", byName["m"].Relocs, []Reloc{
		{Offset: 0, Size: 1, Var: a, Mask: 0xff}, {Offset: 1, Size: 1, Var: a, Mask: 0xff00, Shift: 8},
		{Offset: 2, Size: 1, Var: a, Addend: 1, Mask: 0xff0000, Shift: 16},
	})
	compare("later", later.Relocs, []Reloc{{Offset: 0, Size: 8, Var: later, Addend: 8, Generic: true}})
	if later.Linkage != ptx.LinkVisible || len(m.Vars) != 4 {
		t.Errorf("later has linkage %v; %d variables", later.Linkage, len(m.Vars))
	}
}

// TestScopes: blocks shadow, labels go forward, sets are made as they are used.
func TestScopes(t *testing.T) {
	m := mustCheck(t, head+`
.visible .entry k(.param .u64 p) .maxntid 32, 2 .minnctapersm 3
{
	.reg .b32 %r<1000000>;
	.reg .pred q;
	bra L;
	{ .reg .b64 %r5; .reg .b32 x; mov.u64 %r5, p; mov.u32 x, %r6; }
	mov.u32 %r5, %r999999;
L:	@!q bra L;
	ret;
}`)
	f := m.Funcs[0]
	var names []string
	for i, r := range f.Regs {
		names = append(names, r.Name)
		if r.Index != i {
			t.Errorf("register %s has index %d, want %d", r.Name, r.Index, i)
		}
	}
	if got, want := strings.Join(names, " "), "q %r5 x %r6 %r5 %r999999"; got != want {
		t.Errorf("registers %q, want %q", got, want)
	}
	if f.Labels[0].Inst != 4 || f.Insts[0].Args[0].Label != f.Labels[0] {
		t.Errorf("label at %d", f.Labels[0].Inst)
	}
	if g := f.Insts[4]; g.Guard != f.Regs[0] || !g.Neg {
		t.Errorf("guard %+v", g)
	}
	if a := f.Insts[1].Args[1]; a.Kind != ArgSym || a.Var != f.Params[0] {
		t.Errorf("address of p: %+v", a)
	}
	if f.Attrs.MaxNTid != [3]uint32{32, 2, 1} || f.Attrs.MinNCtaPerSM != 3 {
		t.Errorf("attributes %+v", f.Attrs)
	}
}

// TestCalls resolves direct and indirect calls.
func TestCalls(t *testing.T) {
	m := mustCheck(t, head+`
.func (.param .s32 r) g(.param .s32 a) { ret; }
.func (.reg .s32 ra, .reg .s32 rb) two(.reg .s32 a, .reg .s32 b) { ret; }
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.entry k()
{
	.reg .b64 h; .reg .s32 x, y;
	.param .s32 r; .param .s32 a;
	P: .callprototype (.param .s32 _) _ (.param .s32 _);
	T: .calltargets g;
	mov.u64 h, g;
	call (r), g, (a);
	call.uni (r), h, (a), P;
	call (r), h, (a), T;
	call (x, _), two, (y, 7);
	ret;
}`)
	k := m.Funcs[3]
	call := k.Insts[1]
	if len(call.Args) != 3 || call.Args[1].Func != m.Funcs[0] || call.Args[0].Elems[0].Var.Name != "r" ||
		call.Args[2].Elems[0].Var.Name != "a" {
		t.Errorf("direct call: %+v", call.Args)
	}
	if c := k.Insts[2]; c.Args[1].Kind != ArgReg || c.Args[3].Table.Proto == nil {
		t.Errorf("indirect call: %+v", c.Args)
	}
	if c := k.Insts[3]; len(c.Args[3].Table.Funcs) != 1 {
		t.Errorf("call targets: %+v", c.Args)
	}
	c := k.Insts[4]
	if c.Args[0].Elems[1].Kind != ArgNone || c.Args[2].Elems[1].Imm != 7 || c.Args[2].Elems[0].Var.Name != "y" {
		t.Errorf("register call: %+v", c.Args)
	}
}

// TestMoves resolves packing, vector registers and immediates.
func TestMoves(t *testing.T) {
	m := mustCheck(t, head+`
.shared .b32 s[4];
.entry k()
{
	.reg .b64 d; .reg .b32 a, b; .reg .b16 h<4>; .reg .v4 .f32 v; .reg .f32 f; .reg .pred p;
	mov.b64 d, {a, b};
	mov.b64 {a, _}, d;
	mov.b64 {h0, h1, h2, h3}, d;
	mov.f32 f, v.y;
	mov.u16 h0, -2;
	mov.f64 d, 0f3f800000;
	mov.u32 a, s+8;
	mov.u32 a, s[1];
	mov.pred p, %is_explicit_cluster;
	mov.u32 a, %tid.x;
	mov.u32 a, WARP_SZ;
}`)
	in := m.Funcs[0].Insts
	if in[0].Match.Form.Op != optab.OpMovPack || in[1].Match.Form.Op != optab.OpMovUnpack ||
		in[1].Args[0].Elems[1].Kind != ArgNone || len(in[2].Args[0].Elems) != 4 {
		t.Errorf("packing: %v %v", in[0].Match.Form.Op, in[1].Match.Form.Op)
	}
	if v := in[3].Args[1].Var; v.Name != "v.y" || m.Funcs[0].Regs[v.Index] != v {
		t.Errorf("component: %+v", v)
	}
	if in[4].Args[1].Imm != 0xfffe || in[5].Args[1].Imm != 0x3f800000 || in[10].Args[1].Imm != 32 {
		t.Errorf("immediates: %x %x %x", in[4].Args[1].Imm, in[5].Args[1].Imm, in[10].Args[1].Imm)
	}
	if a := in[6].Args[1]; a.Var != m.Vars[0] || a.Off != 8 {
		t.Errorf("address: %+v", a)
	}
	if a := in[7].Args[1]; a.Var != m.Vars[0] || a.Off != 4 {
		t.Errorf("element: %+v", a)
	}
	if in[8].Args[1].Name != "%is_explicit_cluster" || in[9].Args[1].Name != "%tid.x" {
		t.Errorf("special registers: %+v", in[8].Args[1])
	}
}

// TestManaged: PTX ISA 5.4.8, attribute .managed.
func TestManaged(t *testing.T) {
	m := mustCheck(t, head+".visible .global .attribute(.managed) .align 8 .b8 buf[16];")
	if v := m.Vars[0]; !v.Managed || v.Align != 8 || v.Size != 16 {
		t.Errorf("%+v", v)
	}
}
