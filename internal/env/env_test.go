package env

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func from(vars map[string]string) Lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestRead(t *testing.T) {
	if s := Read(from(nil)); !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("nothing set: %+v", s)
	}
	s := Read(from(map[string]string{
		Device: "driver", TestDevice: "auto", Driver: "/a", NVRTC: "/b", Profile: " h200, l4", Engine: "jit",
		ISA:    "avx2",
		Memory: "1G", PTX: "9.0", DriverVersion: "13.5",
		Check: "race", CheckOut: "a.json", CheckSkip: "b", CheckExit: "3", Memcheck: "on", Stack: "1",
		Trace: "errors", Visible: "", Loading: "EAGER", ForcePTX: "1", DisablePTX: "2",
		cudaPath: "c", systemRoot: "d", virtualEnv: "e", condaPrefix: "f", Clang: "e", Lib: "f", CCCL: "g", Cache: "h",
		CoredumpOnException: "1", CoredumpLight: "1", CoredumpFile: "c", CoredumpFlags: "d",
		NCCL: "n", home: "h", path: "p", goPackage: "q",
	}))
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if v.Field(i).IsZero() && v.Type().Field(i).Name != "Visible" {
			t.Errorf("%s is not read", v.Type().Field(i).Name)
		}
	}
	if !slices.Equal(s.Profiles(), []string{"h200", "l4"}) {
		t.Errorf("%q", s.Profiles())
	}
	s = Read(from(map[string]string{Stack: "0", ForcePTX: "yes", Loading: "eager", Memcheck: "0"}))
	if !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("values that mean no: %+v", s)
	}
	t.Setenv(Engine, "jit")
	if Read(nil).Engine != "jit" {
		t.Error("the environment is not read")
	}
}

// What ReadLaunch gives is what is set, and every variable of its block is read.
func TestReadLaunch(t *testing.T) {
	all := map[string]string{}
	for _, name := range launchVariables {
		all[name] = "1"
	}
	if l := ReadLaunch(from(all)); len(l) != 18 || len(l) != len(launchVariables) {
		t.Errorf("%d of %d variables", len(l), len(launchVariables))
	}
	if l := ReadLaunch(from(map[string]string{Rank: "", WorldSize: "2"})); len(l) != 1 || l[WorldSize] != "2" {
		t.Errorf("%v", l)
	}
}

// docs/environment.md has every variable that this package reads, and no GOCUDA_ or CUDA_ variable that nothing reads.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "env.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`^"[A-Za-z]+(_[A-Z_]+)?"$`)
	var read []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for _, v := range s.(*ast.ValueSpec).Values {
				if lit, ok := v.(*ast.BasicLit); ok && variable.MatchString(lit.Value) {
					read = append(read, strings.Trim(lit.Value, `"`))
				}
			}
		}
	}
	if len(read) < 25 {
		t.Fatalf("only %d variables: %q", len(read), read)
	}
	for _, name := range read {
		if !regexp.MustCompile("`" + name + "[`=]").MatchString(page) {
			t.Errorf("%s is not on the page", name)
		}
	}
	// What other programs of the module read is on the page with the name of the program.
	for _, name := range regexp.MustCompile(`\bG?O?CUDA_[A-Z_]+[A-Z]\b`).FindAllString(page, -1) {
		if !strings.HasPrefix(name, "CUDA_ERROR_") && !slices.Contains(read, name) {
			t.Errorf("the page names %s, which nothing reads", name)
		}
	}
}

// elsewhere are folders of commands and test programs, which have variables of their own.
var elsewhere = []string{"examples", "internal/bench", "internal/launchbench", "internal/tools", "internal/gen",
	"internal/conform"}

// No other package reads the environment, and none changes it: in a C program that is a data race.
func TestReadHereOnly(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (slices.Contains(elsewhere, rel) || rel == "internal/env" ||
			rel != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && (x.Name == "os" || x.Name == "syscall") {
					switch s.Sel.Name {
					case "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "Clearenv", "ExpandEnv":
						t.Errorf("%v uses %s.%s", set.Position(n.Pos()), x.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v", files, err)
	}
}
