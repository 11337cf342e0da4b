package check

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

// FuzzCheck: whatever parses is checked without a panic, and a module comes out exactly when no fault does.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		head + ".global .u32 a[2][3] = { {1, 2}, {3} };\n.visible .entry k(.param .u64 p) { .reg .b32 %r<9>; mov.u32 %r1, %tid.x; ret; }",
		head + ".const .u64 c = { generic(c)+8 };\n.global .u8 m[3] = { 0xff(c), 0xff00(c) };\n.shared .v4 .f32 s[];",
		head + ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.entry k() { .reg .b64 x; .param .b32 q; call (q), f, (q); P: .callprototype _ (.reg .b32 a); call x, (1), P; T: .branchtargets L; L: brx.idx 0, T; }",
		head + ".entry k() .maxntid 1 .reqntid 4294967296 { .reg .v4 .f32 v; .reg .pred p; @!p mov.f32 v.x, v.y; mov.b64 {_, _}, 5 / 0; { .reg .b32 p; bra L; } L: }",
		".version 1.0\n.target sm_10\n.global .samplerref s = { addr_mode_0 = wrap };\n.tex .u32 t;\n.alias a, b;",
		head + ".global .b64 big[4294967295][4294967295][4294967295] = {1};\n.global .u32 e[0] = {1};",
		head + ".entry k() { .reg .b32 r; .reg .b64 d; ld.global.v2.u32 {r, _}, [d+-8]; st.shared.b32 [r], {r}; setp.eq.s32 d|r, r, 1; cvt.u8.u8 r, [r]; }",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ptx.Parse([]byte(text))
		if err != nil {
			return
		}
		out, err := Check(m, Options{SM: 90})
		if (out == nil) != (err != nil) {
			t.Fatalf("module %v with error %v", out != nil, err)
		}
		if err != nil {
			var list Errors
			if !errors.As(err, &list) || len(list) == 0 || len(list) > MaxErrors {
				t.Fatalf("error %T %v", err, err)
			}
			if Log(err) == "" {
				t.Fatal("no log")
			}
			return
		}
		for _, fn := range out.Funcs {
			for i, r := range fn.Regs {
				if r.Index != i {
					t.Fatalf("register %s has index %d at %d", r.Name, r.Index, i)
				}
			}
		}
	})
}
