package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// What is a sentence and what is not, and how it stands on the page.
func TestCollect(t *testing.T) {
	tree := fstest.MapFS{}
	file := func(name, text string) { tree[name] = &fstest.MapFile{Data: []byte("package x\n" + text)} }
	file("a/a.go", `import "two words/in path"
var e = errors.New("the first is said")
func (*T) Error() string { return "the kernel " + name + " is " + "gone" }
type c struct { F string `+"`json:\"not this one\" help:\"Says what to do.\"`"+` }
const p = "mov.u32 %r1, %tid.x;\\n"
var q, r, s = "CU_NAME", "const CUfoo *", "ab\x01 two words"
var page = "<html><style>a b { c }</style><p>Nothing was {{.Found}} at all.</p><b>Two words</b></html>"
var again = "the first is said"
`)
	file("a/a_test.go", `var e = "not a sentence of a user"`)
	file("internal/ir/b.go", `var m, f = "a name of something", fmt.Errorf("a fault of %s", m)`)
	file("internal/tools/c.go", `var m = "of a tool that nobody runs"`)
	got, err := collect(tree)
	if err != nil {
		t.Fatal(err)
	}
	_, got2, _ := strings.Cut(string(got), "\n\n")
	want := `a
	the first is said
	the kernel ... is gone
	Says what to do.
	Nothing was
	  at all.
	  Two words

internal/ir
	a fault of %s
`
	if got2 != want {
		t.Errorf("got\n%s\nwant\n%s", got2, want)
	}
	if _, err := collect(fstest.MapFS{}); err == nil {
		t.Error("an empty tree has sentences")
	}
}
