package ptx

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kernel = `.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 o)
{
  .reg .b64 d;
  .reg .b32 r;
  ld.param.u64 d, [o];
  mov.u32 r, 7;
  st.global.u32 [d], r;
  ret;
}
`

// TestDriverMessages: what driver 580.159.04 wrote into the error log for
// these texts (recorded damaged images; the last one from the rejected forms).
// The columns are ours, the driver gives none.
func TestDriverMessages(t *testing.T) {
	edit := func(old, new string) string {
		if !strings.Contains(kernel, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(kernel, old, new, 1)
	}
	for _, c := range []struct {
		name, src, log string
		kind           ErrorKind
		col            int32
	}{
		{"entry with results", edit("k(", "(.param .u32 x) k("),
			"ptxas application ptx input, line 4; fatal   : Parsing error near '(': syntax error", SyntaxError, 17},
		{"extra brace", kernel + "}\n", "ptxas application ptx input, line 13; fatal   : Parsing error near '}': syntax error", SyntaxError, 1},
		{"no semicolon", edit("ret;", "ret"), "ptxas application ptx input, line 12; fatal   : Parsing error near '}': syntax error", SyntaxError, 1},
		{"non-ASCII comment", edit(".visible", "// caf\xc3\xa9\n.visible"),
			"ptxas fatal   : Unexpected non-ASCII character encountered on line 4", NonASCII, 7},
		{"NUL", edit(".reg .b32", ".reg\x00 .b32"),
			"ptxas application ptx input, line 7; fatal   : Parsing error near '': syntax error", SyntaxError, 7},
		{"no target word", edit("sm_75", ""), "ptxas application ptx input, line 3; fatal   : Parsing error near '.address_size': syntax error", SyntaxError, 1},
		{"truncated", kernel[:90], "ptxas application ptx input, line 6; fatal   : Parsing error near '': syntax error",
			SyntaxError, 12},
		{"two modules", kernel + kernel, "ptxas application ptx input, line 13; fatal   : Parsing error near '.version 7.0': syntax error", SyntaxError, 1},
		{"unknown directive", edit(".reg .b32", ".wobble .b32"),
			"ptxas application ptx input, line 7; fatal   : Parsing error near '.wobble': syntax error", SyntaxError,
			3},
		{"version alone", ".version 7.0\n", "ptxas application ptx input, line 2; fatal   : Missing .target directive at start of file 'application ptx input'", MissingTarget, 1},
		{"version twice", ".version 7.0\n" + kernel,
			"ptxas application ptx input, line 2; fatal   : Missing .target directive at start of file 'application ptx input'", MissingTarget, 1},
		{"version word", edit("7.0", "seven"), "ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file 'application ptx input'", MissingVersion, 1},
		{"character literal", edit("r, 7", "r, 'a'"),
			"ptxas application ptx input, line 9; fatal   : Parsing error near ''': syntax error", SyntaxError, 14},
	} {
		_, err := Parse([]byte(c.src))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if e.Log() != c.log || e.Kind != c.kind || e.Col != c.col {
			t.Errorf("%s:\n got %s (kind %d, column %d)\nwant %s (kind %d, column %d)", c.name, e.Log(), e.Kind, e.Col,
				c.log, c.kind, c.col)
		}
	}
}

// TestErrors: first fault of each text, as line:column: text. The words are
// the driver's syntax error with the token where it stands; other words are
// ours.
func TestErrors(t *testing.T) {
	near := func(s string) string { return "Parsing error near '" + s + "': syntax error" }
	for _, c := range []struct{ src, want string }{
		{"add.s32 a b;", "4:11: " + near("b")},
		{"add.s32 a,;", "4:11: " + near(";")},
		{"add.s32 a, b", "4:13: " + near("}")},
		{"add.s32 a, {};", "4:13: " + near("}")},
		{"add.s32 a, {b;", "4:14: " + near(";")},
		{"ld.u32 a, [b;", "4:13: " + near(";")},
		{"ld.u32 a, [];", "4:12: " + near("]")},
		{"call (a, f, (b);", "4:14: " + near("b")},
		{"@ add a, b;", "4:8: " + near(",")},
		{"@p ;", "4:4: " + near(";")},
		{"add.s32 a, 08;", "4:12: " + near("8")},
		{"add.s32 a, 0x;", "4:13: " + near("x")},
		{"add.s32 a, 0f3F8000;", "4:13: " + near("f3F8000")},
		{"add.s32 a, 0f3F8000001;", "4:22: " + near("1")},
		{"add.s32 a, 12ab;", "4:14: " + near("ab")},
		{"add.s32 a, 99999999999999999999999;", "4:12: Constant overflow"},
		{"add.s32 a, 1 +;", "4:15: " + near(";")},
		{"add.s32 a, 1 ? 2;", "4:17: " + near(";")},
		{"add.s32 a, (1;", "4:14: " + near(";")},
		{"add.s32 a, (.u32)1;", "4:13: " + near(".u32")},
		{"add.s32 a, [b]+1;", "4:15: " + near("+")},
		{"add.s32 a, 1 + {b};", "4:16: " + near("{")},
		{"add.s32 a, 0xff(b);", "4:16: " + near("(")},
		{"call 0&A%0;", "4:8: " + near("A")}, // found by FuzzOperand
		// Names stand in no expression; a constant may be added to one (an H200's driver and ptxas 13.0).
		{"mov.u32 r, a - 1;", "4:14: " + near("-")},
		{"mov.u32 r, a | 1;", "4:14: " + near("|")},
		{"mov.u32 r, a + b;", "4:16: " + near("b")},
		{"mov.u32 r, 1 + a;", "4:16: " + near("a")},
		{"mov.u32 r, (a);", "4:13: " + near("a")},
		{"mov.u32 r, -a + 1;", "4:15: " + near("+")},
		{"mov.u32 r, a.x + 1;", "4:16: " + near("+")},
		{"mov.u32 r, a[1] + 1;", "4:17: " + near("+")},
		{"mov.u32 r, 1 ? a : 2;", "4:16: " + near("a")},
		{"mov.b64 r, {a + 1, b};", "4:15: " + near("+")},
		{"mov.b64 r, {a[1], b};", "4:14: " + near("[")},
		{"mov.b64 r, {-a, b};", "4:14: " + near("a")},
		{"mov.b64 r, {{a, b}, c};", "4:13: " + near("{")},
		{"setp.eq.u32 p|!q, a, b;", "4:15: " + near("!")},
		{"call f, (a + 1);", "4:12: " + near("+")},
		{"call f, ({a, b});", "4:10: " + near("{")},
		{"ld.u32 r, [a - 4];", "4:14: " + near("-")},
		{"ld.u32 r, [4 + a];", "4:16: " + near("a")},
		{"ld.u32 r, [a[1]];", "4:13: " + near("[")},
		{"ld.u32 r, [a.x];", "4:13: " + near(".x")},
		{".reg .u32 WARP_SZ;", "4:11: " + near("WARP_SZ")},
		{"add. s32 a;", "4:4: " + near(".")},
		{"add.s32 a, `b`;", "4:12: " + near("`")},
		{"7;", "4:1: " + near("7")},
		{"\"x\";", "4:1: " + near("\"x\"")},
		{".pragma x;", "4:9: " + near("x")},
		{".pragma \"x;", "4:9: " + near("\"")},
		{".pragma \"x\"", "4:12: " + near("}")},
		{".reg .b32 ;", "4:11: " + near(";")},
		{".reg r;", "4:6: " + near("r")},
		{".reg .v4 r;", "4:10: " + near("r")},
		{".reg .b32 .b32 r;", "4:11: " + near(".b32")},
		{".reg .foo r;", "4:6: " + near(".foo")},
		{".reg .b32 r<-1>;", "4:11: Negative count of a parameterised name"},
		{".reg .b32 r<n>;", "4:13: " + near("n")},
		{".reg .b32 r<4;", "4:14: " + near(";")},
		{".local .b8 a[2][];", "4:17: " + near("]")},
		{".local .b8 a[-1];", "4:14: " + near("-")},
		{".local .b8 a[1/0];", "4:15: " + near("/")},
		{".local .b8 a[(4)];", "4:14: " + near("(")},
		{".reg .v8 .b32 r;", "4:6: " + near(".v8")},
		{".const[11] .b8 a;", "4:1: Constant bank out of range"},
		{"l: .branchtargets ;", "4:19: " + near(";")},
		{".loc 1 2;", "4:9: " + near(";")},
		{".loc 1 2 3, other x", "4:13: " + near("other")},
		{".entry k() { }", "4:1: " + near(".entry")},
		{"ret; /* no end", "4:6: " + near("/")},
		{strings.Repeat("{", 1001), "4:1000: nesting deeper than 1000 levels"},
	} {
		_, err := Parse([]byte(header[:len(header)-len(".address_size 64\n")] + ".func f() {\n" + c.src + "}"))
		l, ok := err.(ErrorList)
		if !ok {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := l[0].Error(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
	for _, c := range []struct{ src, want string }{
		{".address_size 16", "3:15: Invalid .address_size: 32 or 64 expected"},
		{".global .u32 a = ;", "3:18: " + near(";")},
		{".global .u32 a = {1;", "3:20: " + near(";")},
		{".global .u32 a[ = 1;", "3:17: " + near("=")},
		{".func f(.param .u32 a,) ;", "3:23: " + near(")")},
		{".func f(.u32 a);", "3:9: " + near(".u32")},
		{".func f() .maxntid 1,2,3,4 { }", "3:11: More than three dimensions in .maxntid"},
		{".func f() .wobble { }", "3:11: " + near(".wobble")},
		{".func f() x { }", "3:11: " + near("x")},
		{".extern .visible .func f();", "3:9: " + near(".visible")},
		{".alias a;", "3:9: " + near(";")},
		{".file 1 a", "3:9: " + near("a")},
		{".section .d { .b7 1 }", "3:15: " + near(".b7")},
		{".section .d { .b8 }", "3:19: " + near("}")},
		{"add.s32 a, b;", "3:1: " + near("add")},
	} {
		_, err := Parse([]byte(".version 9.0\n.target sm_90\n" + c.src))
		l, ok := err.(ErrorList)
		if !ok {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := l[0].Error(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// TestRecovery: each fault is reported once and what stands around is kept.
func TestRecovery(t *testing.T) {
	m, err := Parse([]byte(header + `.func f() {
	mov a b;
	add.s32 a, {b,,c}, d;
	{ sub a b; neg.s32 x, y; }
	ret;
}
.global .u32 = 5;
.func g( { ret; }
.func h() { ret; }
`))
	l, ok := err.(ErrorList)
	if !ok {
		t.Fatal(err)
	}
	want := []string{"5:8", "6:16", "7:10", "10:14", "11:10"}
	var got []string
	for _, e := range l {
		got = append(got, strings.SplitN(e.Error(), ": ", 2)[0])
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("faults at %v, want %v\n%v", got, want, err)
	}
	last := m.Decls[len(m.Decls)-1].(*Func)
	if last.Name != "h" || len(last.Body.Stmts) != 1 {
		t.Errorf("last function: %+v", last)
	}
	f := m.Decls[0].(*Func)
	if n := len(f.Body.Stmts); n != 2 {
		t.Errorf("%d statements kept in f, want 2", n)
	}
}

// TestSharedBroken holds the recorded damaged texts against the driver: where
// it wrote a syntax error the first fault must read the same, and where it
// found another fault or none the text must parse.
func TestSharedBroken(t *testing.T) {
	dir := filepath.Join(sharedDir(t), "corpus", "broken")
	b, err := os.ReadFile(filepath.Join(dir, "broken.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Image string
		Load        struct {
			Name string
			Log  string `json:"error_log"`
		} `json:"cuModuleLoadDataEx"`
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range cases {
		if !strings.HasSuffix(c.Image, ".ptx") || c.Load.Name == "CUDA_ERROR_INVALID_IMAGE" {
			continue
		}
		n++
		_, err := Parse(readText(t, filepath.Join(dir, filepath.FromSlash(c.Image)+".gz")))
		first, _, _ := strings.Cut(c.Load.Log, "\n")
		isSyntax := strings.Contains(first, "syntax error") || strings.Contains(first, "Missing .") ||
			strings.Contains(first, "non-ASCII")
		if l, ok := err.(ErrorList); ok && isSyntax {
			if l[0].Log() != first {
				t.Errorf("%s:\n got %s\nwant %s", c.Name, l[0].Log(), first)
			}
		} else if ok || isSyntax {
			t.Errorf("%s: %v; the driver: %s", c.Name, err, c.Load.Log)
		}
	}
	if n < 30 {
		t.Errorf("only %d texts", n)
	}
}

// TestSharedRejected: of the 7,062 forms that the driver refused for an H200,
// all but the character literals have a legal syntax.
func TestSharedRejected(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedDir(t), "silicon", "rejected.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ ID, Ptx, Log string }
	if err := json.NewDecoder(z).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 7000 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		if strings.Contains(c.Ptx, "...") { // the record is cut short
			continue
		}
		m, err := Parse([]byte(header + ".func f() {\n" + c.Ptx + "\n}"))
		if syntax := strings.Contains(c.Log, "Parsing error"); syntax != (err != nil) {
			t.Errorf("%s: %v; the driver: %s", c.ID, err, c.Log)
		} else if err == nil {
			if err := roundTrip(m); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
}
