// Command messages writes docs/messages.txt: every sentence that the library, the command gocuda and libcuda.so.1 can
// show, by package, so that somebody can read them all. It is run in the root of the repository:
//
//	go run ./internal/tools/messages [-check]
//
// A sentence is a string of the source with two words in a row: of errors, reports, logs, help and pages. What is no
// language is left out: text of PTX and machine code, styles, and files that write programs.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	page    = "docs/messages.txt"
	command = "go run ./internal/tools/messages"
)

// aside are folders whose programs and packages no user runs: tests and what supports them, generators, examples.
var aside = []string{
	"api", "clients", "docs", "examples", "testdata", "include", "internal/conform", "internal/cudagen",
	"internal/deps", "internal/docs", "internal/exec/exectest", "internal/gen", "internal/launchbench",
	"internal/num/numtest", "internal/driver/apitest", "internal/plant", "internal/ptxgen", "internal/randc",
	"internal/skip", "internal/tileir/tiletest", "internal/tools", "internal/checker/finds",
}

// code are packages and files that write programs: their strings are PTX, C or machine code. Of these only the strings
// of errors are sentences.
var code = []string{
	"internal/bench", "internal/tileir/lower", "internal/tileir/devmath", "internal/ir", "internal/exec/jit",
	"internal/ptx/optab", "internal/devlib",
}

// says are functions whose strings are sentences wherever they are called.
var says = regexp.MustCompile(`^(New|Errorf|errorf|errorAt|fail|failf|fatal|hint|refuse|unsupported|bad|invalid|explain)$`)

func main() {
	check := flag.Bool("check", false, "say whether the page is fresh instead of writing it")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	text, err := collect(os.DirFS("."))
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(page, text, 0o644)
	}
	have, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not fresh: %s", page, command)
	}
	return nil
}

func under(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
}

// collect makes the page from a source tree.
func collect(tree fs.FS) ([]byte, error) {
	packages := map[string][]string{} // sentences by folders, in the order of files and lines
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if under(name, aside) || name != "." && (base[0] == '.' || base == "testdata" || base == "build") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		list, err := sentences(name, src)
		for _, s := range list {
			if !slices.Contains(packages[dir], s) {
				packages[dir] = append(packages[dir], s)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		return nil, errors.New("no sentences: is this the root of the repository?")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Every sentence that users can be shown, by package. Written by %s from the source.\n"+
		"%%d and the like stand for values, ... for what the program puts in.\n", command)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(&b, "\n%s\n", dir)
		for _, s := range packages[dir] {
			fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(s, "\n", "\n\t  "))
		}
	}
	return b.Bytes(), nil
}

// sentences are those of one file.
func sentences(name string, src []byte) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []string
	add := func(s string) {
		if s = tidy(s); s != "" {
			list = append(list, s)
		}
	}
	program := under(name, code) || under(path.Dir(name), code)
	var visit func(n ast.Node, spoken bool)
	visit = func(n ast.Node, spoken bool) {
		ast.Inspect(n, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				if x.Tag != nil {
					if tag, err := strconv.Unquote(x.Tag.Value); err == nil {
						add(reflect.StructTag(tag).Get("help"))
					}
				}
				visit(x.Type, spoken)
				return false
			case *ast.FuncDecl:
				if x != n && x.Body != nil && x.Name.Name == "Error" && x.Recv != nil {
					visit(x.Body, true)
					return false
				}
			case *ast.CallExpr:
				if x != n && says.MatchString(calledName(x)) {
					visit(x, true)
					return false
				}
			case *ast.BinaryExpr, *ast.BasicLit:
				if s, ok := joined(x.(ast.Expr)); ok {
					if spoken || !program {
						add(s)
					}
					return false
				}
			}
			return true
		})
	}
	visit(f, false)
	return list, nil
}

// calledName is the last part of the name of what is called.
func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// joined is a string literal, or a sum that has one; other operands become "...".
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x, left := joined(e.X)
			y, right := joined(e.Y)
			switch {
			case left && right:
				return x + y, true
			case left:
				return x + "...", true
			case right:
				return "..." + y, true
			}
		}
	case *ast.ParenExpr:
		return joined(e.X)
	}
	return "", false
}

var (
	twoWords = regexp.MustCompile(`[A-Za-z]{2,}[,:;]? (%[a-z]|[A-Za-z]{2})|%[sdvq] [A-Za-z]{2,}`)
	styles   = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`)
	tags     = regexp.MustCompile(`(?s)<[/!a-z][^<>]*>|\{\{.*?\}\}`)
	blanks   = regexp.MustCompile(`[ \t]+`)
	// assembler is PTX, C or JavaScript: statements and registers; declared a type of C; control what no text has.
	declared  = regexp.MustCompile(`^(const |unsigned |struct )*\w+ \*+$`)
	control   = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]|\x{FFFD}`)
	assembler = regexp.MustCompile(`;\s*(\n|$)|^\s*[.@]|%(r|rd|f|p)\d|\{\s*\n|[a-z]+\.[a-z]\d+ |^\W*#|=> |var\(--`)
)

// tidy is a text with the markup of pages taken out; empty when it is no sentence.
func tidy(s string) string {
	if strings.Contains(s, "</") || strings.Contains(s, "<!DOCTYPE") {
		s = tags.ReplaceAllString(styles.ReplaceAllString(s, "\n"), "\n")
	} else if assembler.MatchString(s) || declared.MatchString(s) || control.MatchString(s) {
		return ""
	}
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(blanks.ReplaceAllString(l, " ")); l != "" && l != "..." {
			lines = append(lines, l)
		}
	}
	if s = strings.Join(lines, "\n"); !twoWords.MatchString(s) {
		return ""
	}
	return s
}
