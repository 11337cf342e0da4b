package ptx

import (
	"path/filepath"
	"testing"
)

// FuzzParse: no text may make the parser panic, and what parses must survive
// printing and parsing again.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.ptx.gz"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range files {
		if text := readText(f, path); len(text) < 3000 {
			f.Add(text)
		}
	}
	f.Add([]byte(kernel))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			if l, ok := err.(ErrorList); !ok || len(l) == 0 || len(l) > maxErrors {
				t.Fatalf("error list: %#v", err)
			}
			return
		}
		if err := roundTrip(m); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOperand does the same with the text as operands of one instruction.
func FuzzOperand(f *testing.F) {
	for _, s := range []string{
		"a, -b.h1, [c+-4], {d,_}|p, !q", "(a|b), 1 ? 2 : 3, (.s64)-5 % 7", "[8+a-b, {x}].unified, -(-5), 0f3F800000",
		"arr[WARP_SZ*2], ~+!-a, .5, 5.e3, 0x1U << 3 >= 2 && 1", "(a, 1), f, (_)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, op := range []string{"call ", "op "} {
			m, err := Parse([]byte(header + ".func f() { " + op + s + "; } .global .u64 g = {" + s + "};"))
			if err == nil {
				if err := roundTrip(m); err != nil {
					t.Error(err)
				}
			}
			m, err = Parse([]byte(header + ".func f() { " + op + s + "; }"))
			if err != nil {
				continue
			}
			if err := roundTrip(m); err != nil {
				t.Error(err)
			}
		}
	})
}
