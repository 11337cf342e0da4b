package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

const root = "../.."

// pages are the documents of the module by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	walk(t, ".md", func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(b)
	})
	if len(all) < 10 {
		t.Fatalf("only %d documents", len(all))
	}
	return all
}

func walk(t *testing.T, ext string, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ext:
			f(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tests are the names of all tests, fuzz targets and benchmarks, with the folders that they are in.
func tests(t *testing.T) map[string][]string {
	t.Helper()
	names, set := map[string][]string{}, token.NewFileSet()
	walk(t, ".go", func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				dir, _ := filepath.Rel(root, filepath.Dir(path))
				names[fn.Name.Name] = append(names[fn.Name.Name], filepath.ToSlash(dir))
			}
		}
	})
	if len(names) < 500 {
		t.Fatalf("only %d tests", len(names))
	}
	return names
}

var (
	testName = regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*`)
	runs     = regexp.MustCompile(`-(run|bench|fuzz) \S+`)
	named    = regexp.MustCompile("`(Test[A-Z]\\w*|Fuzz[A-Z]\\w*|Benchmark[A-Z]\\w*)`(?:, `\\w+`| and `\\w+`)* \\(`([a-z][\\w/]*)`")
)

// TestNamedTests: every test that a document names exists, and in the folder that the document gives.
func TestNamedTests(t *testing.T) {
	all := tests(t)
	found := 0
	for path, text := range pages(t) {
		for _, name := range testName.FindAllString(runs.ReplaceAllString(text, ""), -1) {
			found++
			if all[name] == nil {
				t.Errorf("%s: there is no %s", path, name)
			}
		}
		for _, run := range runs.FindAllString(text, -1) { // an expression: the beginning of a name will do
			for _, name := range testName.FindAllString(run, -1) {
				found++
				if !slices.ContainsFunc(keys(all), func(n string) bool { return strings.HasPrefix(n, name) }) {
					t.Errorf("%s: %s runs nothing", path, run)
				}
			}
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(all[m[1]], m[2]) {
				t.Errorf("%s: %s is in %q, not in %s", path, m[1], all[m[1]], m[2])
			}
		}
	}
	t.Logf("%d names", found)
	if found < 40 {
		t.Errorf("only %d names of tests found", found)
	}
}

func keys[V any](m map[string]V) []string {
	var k []string
	for name := range m {
		k = append(k, name)
	}
	return k
}

var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

// TestLinks: what a document of the module leads to is there.
func TestLinks(t *testing.T) {
	found := 0
	for path, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			found++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d links found", found)
	}
}

var ofAll = regexp.MustCompile(`(\d+) of (\d+) functions`)

// exported is how many symbols libcuda.so.1 has: the functions with their variants for default streams of threads, and
// those that no header declares.
func exported() int {
	n := len(driver.Undocumented())
	for s := range driver.Symbols() {
		for _, is := range []bool{s.Exported || s.Since > 13000, s.HasPTDS, s.HasPTSZ} {
			if is {
				n++
			}
		}
	}
	return n
}

// TestNumbers: counts of functions are those of the tables.
func TestNumbers(t *testing.T) {
	all := pages(t)
	page := func(name string) string { return all[filepath.Join(root, filepath.FromSlash(name))] }
	// written from the tables, and compared with them by its own test
	support := ofAll.FindStringSubmatch(page("docs/api-support.md"))
	if support == nil || support[2] != fmt.Sprint(driver.NumSymbols) {
		t.Fatalf("docs/api-support.md counts %q of %d functions", support, driver.NumSymbols)
	}
	for path, text := range all {
		for _, m := range ofAll.FindAllStringSubmatch(text, -1) {
			if m[2] == support[2] && m[1] != support[1] {
				t.Errorf("%s: %q, but docs/api-support.md has %q", path, m[0], support[0])
			}
		}
	}
	for _, c := range []struct {
		page, text string
		n          int
	}{
		{"README.md", "whole driver API 13.5, %d functions", driver.NumSymbols},
		{"README.md", "of %d functions", driver.NumSymbols},
		{"RATIONALE.md", "old versions included: %d.", driver.NumSymbols},
		{"RATIONALE.md", "there is one of each for all %d", driver.NumSymbols + threadVariants()},
		{"docs/libcuda.md", "its %d symbols", exported()},
	} {
		if want := fmt.Sprintf(c.text, c.n); !strings.Contains(page(c.page), want) {
			t.Errorf("%s does not say %q", c.page, want)
		}
	}
}

// threadVariants is how many functions have a form for default streams of threads.
func threadVariants() (n int) {
	for s := range driver.Symbols() {
		if s.HasPTDS || s.HasPTSZ {
			n++
		}
	}
	return n
}

// TestWorkflow: the workflow that users copy builds with a cache, tests with the race detector and the checker, and
// names only variables that docs/environment.md has. It is not run here.
func TestWorkflow(t *testing.T) {
	b, err := os.ReadFile(root + "/docs/ci/github-actions.yml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(root + "/docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, "\t") {
		t.Error("YAML has no tabs")
	}
	for _, want := range []string{"actions/setup-go@", "run: go test -race ./...", "GOCUDA_CHECK: memory",
		"permissions:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, name := range regexp.MustCompile(`GOCUDA_\w+`).FindAllString(text, -1) {
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s is not in docs/environment.md", name)
		}
	}
}
