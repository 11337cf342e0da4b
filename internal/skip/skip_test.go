package skip

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/env"
)

// taker is a test that notes how it ends.
type taker struct {
	testing.TB
	failed, skipped string
}

func (t *taker) Helper() {}
func (t *taker) Fatalf(format string, args ...any) {
	t.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (t *taker) Skipf(format string, args ...any) {
	t.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func take(f func(testing.TB)) *taker {
	t, done := new(taker), make(chan bool)
	go func() { defer close(done); f(t) }()
	<-done
	return t
}

// A skip for want of something that is there fails the test.
func TestWithout(t *testing.T) {
	t.Setenv(env.TestDevice, "")
	t.Setenv(env.Profile, "")
	if r := take(func(tb testing.TB) {
		Without(tb, DeviceFeature, "no graphs")
	}); !strings.Contains(r.failed, "no graphs") || r.skipped != "" {
		t.Errorf("a feature that the software device has: %+v", r)
	}
	t.Setenv(env.Profile, "l4")
	if r := take(func(tb testing.TB) {
		Without(tb, DeviceFeature, "no clusters")
	}); !strings.Contains(r.skipped, "no clusters") || r.failed != "" {
		t.Errorf("a feature that another profile lacks: %+v", r)
	}
	t.Setenv(env.TestDevice, "driver")
	if r := take(func(tb testing.TB) { Without(tb, Software) }); r.skipped == "" {
		t.Errorf("a test of the software device, on the driver: %+v", r)
	}
	if r := take(func(tb testing.TB) {
		Command(tb, "no-such-program")
	}); !strings.Contains(r.skipped, "no-such-program") {
		t.Errorf("a program that is not there: %+v", r)
	}
}

// Only these are skipped for on a caller's word; of the others the machine is asked.
var uncertain = []Thing{Driver, NoDriver, Tool, Sanitizer, Recordings, Testdata, Argument}

// TestList reads the tests of the module: none skips but through this package. It prints what they may be skipped for,
// and how many places there are.
func TestList(t *testing.T) {
	set := token.NewFileSet()
	uses := map[string]int{}
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		testing, here := strings.HasSuffix(path, "_test.go"), f.Name.Name == "skip"
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			testing = testing || p == "testing"
		}
		if !testing || here {
			return nil
		}
		files++
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := fun.X.(*ast.Ident)
			switch fun.Sel.Name {
			case "Skip", "Skipf", "SkipNow":
				t.Errorf("%s: a skip that does not go through package skip", set.Position(call.Pos()))
			case "Command", "Short":
				if from != nil && from.Name == "skip" {
					uses[map[string]Thing{"Command": Tool, "Short": Time}[fun.Sel.Name].String()]++
				}
			case "Without":
				if from == nil || from.Name != "skip" {
					return true
				}
				what, ok := call.Args[1].(*ast.SelectorExpr)
				if !ok {
					return true // a function that chooses between things, each counted elsewhere
				}
				uses[what.Sel.Name]++
				if dir := filepath.ToSlash(filepath.Dir(path)); what.Sel.Name == Driver.String() &&
					dir != "../../internal/nvidia" {
					t.Errorf("%s: only the tests of internal/nvidia need the driver", set.Position(call.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("only %d test files found", files)
	}
	var list strings.Builder
	for thing := range count {
		if n := uses[thing.String()]; n == 0 {
			t.Errorf("%s: no test is skipped for it: take it off the list", thing)
		}
		looked := "looked for"
		if slices.Contains(uncertain, thing) {
			looked = ""
		}
		if (things[thing].here == nil) != (looked == "") {
			t.Errorf("%s is looked for: %v", thing, things[thing].here != nil)
		}
		fmt.Fprintf(&list, "%-14s %3d places  %-11s %s\n", thing, uses[thing.String()], looked, thing.Why())
		delete(uses, thing.String())
	}
	if len(uses) != 0 {
		t.Errorf("unknown things: %v", uses)
	}
	t.Logf("what a test may be skipped for:\n%s", list.String())
}
