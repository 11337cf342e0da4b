// Command bundle builds one test program out of all examples, for machines without Go:
//
//	go run ./examples/internal/bundle -o examples.test
//	GOCUDA_DEVICE=driver ./examples.test -test.v    # where the GPU is
//
// Each example becomes a package that the test program calls: the compiler sees its files, with another package clause,
// through an overlay, so nothing is written beside the output. Each one runs in a process of its own, since an example
// that breaks its context on purpose costs a process its GPU.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const module = "github.com/gocuda/cuda"

func main() {
	out := flag.String("o", "examples.test", "file to write")
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

var (
	clause = regexp.MustCompile(`(?m)^package main$`)
	tests  = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
)

func run(root, out string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	dirs, err := filepath.Glob(filepath.Join(root, "examples", "[0-9][0-9]-*"))
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return fmt.Errorf("no examples in %s", root)
	}
	work, err := os.MkdirTemp("", "bundle")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	replace := map[string]string{} // file that the compiler sees: file on disk
	bundled := filepath.Join(root, "examples", "internal", "bundled")
	var imports, list strings.Builder
	for _, dir := range dirs {
		name := filepath.Base(dir)
		pkg := "e" + name[:2]
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		fmt.Fprintf(&imports, "\t%s %q\n", pkg, module+"/examples/internal/bundled/"+pkg)
		for _, f := range files {
			from := filepath.Join(dir, f.Name())
			if !strings.HasSuffix(f.Name(), ".go") {
				if !strings.HasSuffix(f.Name(), ".cu") { // the compiler takes no other source files
					replace[filepath.Join(bundled, pkg, f.Name())] = from
				}
				continue
			}
			src, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			as := f.Name()
			if rest, ok := strings.CutSuffix(as, "_test.go"); ok {
				as = rest + "_checks.go"
				for _, m := range tests.FindAllSubmatch(src, -1) {
					fmt.Fprintf(&list, "\t{%q, %s.%s},\n", name+"/"+strings.TrimPrefix(string(m[1]), "Test"), pkg, m[1])
				}
			}
			if err := add(replace, filepath.Join(work, pkg+"_"+as), filepath.Join(bundled, pkg, as),
				clause.ReplaceAll(src, []byte("package "+pkg))); err != nil {
				return err
			}
		}
	}
	text := strings.NewReplacer("IMPORTS\n", imports.String(), "LIST\n", list.String()).Replace(program)
	if err := add(replace, filepath.Join(work, "all_test.go"), filepath.Join(bundled, "all_test.go"),
		[]byte(text)); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-ldflags=-s -w", "-o", out,
		"./examples/internal/bundled")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(msg))
	}
	return nil
}

func add(replace map[string]string, disk, seen string, data []byte) error {
	replace[seen] = disk
	return os.WriteFile(disk, data, 0o600)
}

// program is the test that calls the examples.
const program = `package bundled

import (
	"os"
	"os/exec"
	"testing"

IMPORTS
)

var examples = []struct {
	name string
	test func(*testing.T)
}{
LIST
}

const child = "GOCUDA_EXAMPLE"

func TestExamples(t *testing.T) {
	inside := os.Getenv(child)
	for _, e := range examples {
		if inside != "" && inside != e.name {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			if inside != "" {
				e.test(t)
				return
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(exe, "-test.run=^TestExamples$", "-test.v")
			c.Env = append(os.Environ(), child+"="+e.name)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if testing.Verbose() {
				t.Logf("%s", out)
			}
		})
	}
}
`
