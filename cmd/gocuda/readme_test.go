package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadmeCommands types the commands of the README that start this program; the first of them is the first command
// after the installation.
func TestReadmeCommands(t *testing.T) {
	root(t)
	n, first := 0, true
	for _, l := range strings.Split(readme(t), "\n") {
		args := strings.Fields(l)
		if !strings.HasPrefix(l, "\t") || len(args) < 3 || args[0] != "go" ||
			args[1] == "get" || args[1] == "install" { // TestInstall in internal/tools/release
			continue
		}
		if args[1] != "run" || args[2] != "./cmd/gocuda" {
			if first {
				t.Errorf("the first command is %q", l)
			}
			first = false
			continue
		}
		n++
		out := works(t, args[3:]...)
		if first {
			contains(t, "the first command", out, "kernel  saxpy",
				"check   argument 2 equals testdata/saxpy/want.npy (exact): ok")
		}
		first = false
	}
	if n == 0 {
		t.Error("no command")
	}
}

// TestReadmeProgram compiles and runs the program that the README shows, in a folder of the repository that the
// compiler alone sees, with the file that it embeds.
func TestReadmeProgram(t *testing.T) {
	skip.Short(t, "compiles a program")
	goTool := skip.Command(t, "go")
	root(t)
	_, rest, ok := strings.Cut(readme(t), "```go\n")
	program, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("the README shows no program")
	}
	dir := t.TempDir()
	file, overlay, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "program.exe")
	if err := os.WriteFile(file, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const name = "zz_readme_program"
	b, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, name, "main.go"):   file,
		filepath.Join(here, name, "saxpy.ptx"): filepath.Join(here, "testdata", "saxpy", "saxpy.ptx"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(goTool, "build", "-overlay", overlay, "-o", exe,
		"./"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(exe).CombinedOutput()
	if err != nil || string(out) != "4 4\n" { // the comment behind the last line says so
		t.Errorf("the program prints %q, %v", out, err)
	}
}
