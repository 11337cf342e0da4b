package check

import "testing"

// TestIntegerRules: operand combinations of the integer and video instructions as the manual's syntax lines have them
// (PTX ISA 9.7.1, 9.7.2, 9.7.8, 9.7.19); what the driver said of types and modifiers is in TestRejected.
func TestIntegerRules(t *testing.T) {
	for _, c := range []struct {
		text  string
		legal bool
	}{
		{"vadd.u32.u32.u32 %a, %b, %c;", true},
		{"vadd.u32.u32.u32 %a, %b, %c, %d;", false},
		{"vadd.u32.u32.u32.add %a, %b, %c;", false},
		{"vadd.u32.u32.u32.add %a, %b.h1, %c.b3, %d;", true},
		{"vadd.u32.u32.u32 %a.b2, %b.h1, %c.b3, %d;", true},
		{"vadd.u32.u32.u32 %a.b2, %b.h1, %c.b3;", false},
		{"vadd.u32.u32.u32 %a, %b.h2, %c;", false},
		{"vadd.u32.u32.u32 %a, %b.b4, %c;", false},
		{"vadd.u32.u32.u32 %a, -%b, %c;", false},
		{"vset.u32.s32.lt %a, %b, %c;", true},
		{"vset.u32.s32.lt.min %a, %b, %c, %d;", true},
		{"vmin.u32.u32.u32.min %a, %b, %c, %d;", true},
		{"vmin.u32.u32.u32.min %a, %b, %c;", false},
		{"vshl.u32.u32.u32.clamp %a, %b, %c;", true},
		{"vshl.u32.u32.u32 %a, %b, %c;", false},
		{"vmad.u32.u32.u32.shr7 %a, %b, -%c, %d;", true},
		{"vmad.u32.u32.u32.po %a, %b, -%c, %d;", false},
		{"vadd2.u32.u32.u32 %a.h10, %b.h21, %c.h30, %d;", true},
		{"vadd2.u32.u32.u32 %a.h01, %b, %c, %d;", false},
		{"vadd2.u32.u32.u32 %a, %b.h2, %c, %d;", false},
		{"vadd4.u32.u32.u32 %a.b320, %b.b7531, %c, %d;", true},
		{"vadd4.u32.u32.u32 %a, %b.b831, %c, %d;", false},
		{"lop3.b32 %a, %b, %c, %d, 0xff;", true},
		{"lop3.b32 %a, %b, %c, %d, 0x100;", false},
		{"lop3.and.b32 %a|%p, %b, %c, %d, 0x80, %q;", true},
		{"lop3.and.b32 %a, %b, %c, %d, 0x80, %q;", false},
		{"setp.lt.u32 %p|%q, %a, %b;", true},
		{"setp.lt.u32 _|%q, %a, %b;", true},
		{"bfi.b32 %a, %b, %c, %d, 4;", true},
		{"bfi.b32 %a, %b, %c, %d;", false},
		{"mul.wide.u32 %w, %a, %b;", true},
		{"mul.wide.u32 %a, %b, %c;", false},
		{"madc.hi.cc.u64 %w, %w, %w, %w;", true},
		{"dp4a.u32.s32 %a, %b, %c, %d;", true},
	} {
		list := faults(t, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .b32 %a, %b, %c, %d;\n.reg .b64 %w;\n.reg .pred %p, %q;\n"+c.text+"\nret;\n}\n")
		if (len(list) == 0) != c.legal {
			t.Errorf("%s: %v", c.text, list)
		}
	}
}
