package nvidia_test

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/skip"
)

// TestTagGivesStaticBinary builds a program with and without the tag and looks at the binaries.
func TestTagGivesStaticBinary(t *testing.T) {
	skip.Short(t, "builds programs")
	tool := skip.Command(t, "go")
	if runtime.GOOS != "linux" {
		skip.Without(t, skip.Linux, "ELF files")
	}
	build := func(args ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "program")
		cmd := exec.Command(tool, append(append([]string{"build", "-o", out}, args...), "./testdata/static")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, b)
		}
		return out
	}
	needs := func(path string) (interpreter bool, libraries []string) {
		t.Helper()
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			interpreter = interpreter || p.Type == elf.PT_INTERP
		}
		libraries, _ = f.ImportedLibraries()
		return interpreter, libraries
	}
	static := build("-tags", "gocuda_nodriver")
	if interpreter, libs := needs(static); interpreter || len(libs) > 0 {
		t.Errorf("with the tag: interpreter %v, libraries %v, want none", interpreter, libs)
	}
	if interpreter, _ := needs(build()); !interpreter {
		t.Error("without the tag there is no interpreter either: the test proves nothing")
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	b, err := exec.Command(static).CombinedOutput()
	if err != nil || !strings.Contains(string(b), nvidia.ErrExcluded.Error()) {
		t.Errorf("the static program says %q, %v", b, err)
	}
}

func TestExcludedError(t *testing.T) {
	err := error(&nvidia.LoadError{Reason: nvidia.ErrExcluded, Detail: "for a test"})
	if !errors.Is(err, nvidia.ErrExcluded) || !strings.Contains(err.Error(), "software device") {
		t.Errorf("%v", err)
	}
}
