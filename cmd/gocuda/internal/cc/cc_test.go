package cc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gocuda/cuda/include"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/skip"
)

// compile runs a command line as gocuda cc does.
func compile(t testing.TB, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	o, err := Parse(args)
	if err != nil {
		return "", "", err
	}
	clang, err := Find(t.Context(), env.Read(nil).Clang)
	var none *NotFoundError
	if errors.As(err, &none) {
		skip.Without(t, skip.Tool, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Install(t.TempDir(), "include", include.FS())
	if err != nil {
		t.Fatal(err)
	}
	var out, text bytes.Buffer
	d := &Driver{Options: o, Clang: clang, Include: dir, Stdout: &out, Stderr: &text}
	err = d.Run(t.Context())
	return out.String(), text.String(), err
}

func TestPTX(t *testing.T) {
	out, text, err := compile(t, "-ptx", "-o", "-", "testdata/saxpy.cu")
	if err != nil || text != "" {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := strings.Join(Kernels([]byte(out)), " "); got != "_Z4axpyIfEvT_PKS0_PS0_i saxpy" {
		t.Errorf("kernels %s", got)
	}
	l, err := link.Module([]byte(out), link.Options{SM: 90, Builtin: func(n string) bool { return n == "vprintf" }})
	if err != nil {
		t.Fatal(err)
	}
	if k := l.Kernel("saxpy"); k == nil {
		t.Error("no kernel saxpy")
	}
}

func TestCode(t *testing.T) {
	tests := []struct {
		args      string
		has, lack []string
	}{
		{"-maxrregcount 40", []string{".maxnreg 40"}, []string{"div.approx", "ex2.approx.ftz"}},
		{"-fmad=false", []string{"mul.rn.f32", "add.rn.f32"}, []string{"fma.rn"}},
		{"-use_fast_math", []string{"fma.rn.ftz.f32"}, nil},
		{"-lineinfo", []string{".loc"}, []string{".debug_info"}},
		{"-arch=sm_80", []string{".target sm_80"}, nil},
		{"-gencode arch=compute_86,code=sm_86", []string{".target sm_86"}, nil},
	}
	for _, c := range tests {
		args := append(strings.Fields(c.args), "-ptx", "-o", "-", "testdata/saxpy.cu")
		out, text, err := compile(t, args...)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.args, err, text)
		}
		for _, s := range c.has {
			if !strings.Contains(out, s) {
				t.Errorf("%s: no %s in the PTX", c.args, s)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(out, s) {
				t.Errorf("%s: %s in the PTX", c.args, s)
			}
		}
	}
}

// The directives are those of the PTX manual for __cluster_dims__ and __launch_bounds__; the operands of redux.sync
// are the value and then the mask.
func TestAttributes(t *testing.T) {
	out, text, err := compile(t, "-ptx", "-o", "-", "testdata/cluster.cu")
	if err != nil || text != "" {
		t.Fatalf("%v\n%s", err, text)
	}
	for kernel, want := range map[string]string{
		"_Z10inClustersPi": `\)\n\.explicitcluster\s*(//.*)?\n\.reqnctapercluster 2, 3, 1\s`,
		"_Z7boundedPi":     `\)\n\.explicitcluster\s*(//.*)?\n\.reqnctapercluster 4, 1, 1\s`,
		"_Z5alonePi":       `\)\n\.maxntid 128, 1, 1\n\.minnctapersm 2\s`,
	} {
		if !regexp.MustCompile(`(?s)\.entry ` + kernel + `\(.*` + want).MatchString(out) {
			t.Errorf("%s has no %s in\n%s", kernel, want, out)
		}
	}
	if _, err := link.Module([]byte(out), link.Options{SM: 90}); err != nil {
		t.Error(err)
	}
}

// The directive is that of the PTX manual; programs that use such variables are in clients/cuda-programs.
func TestManaged(t *testing.T) {
	out, text, err := compile(t, "-ptx", "-o", "-", "testdata/managed.cu")
	if err != nil || text != "" {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{`\.visible \.global \.attribute\(\.managed\) \.align 256 \.u32 total = 3;`,
		`\.visible \.global \.align 4 \.u32 plain;`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if _, err := link.Module([]byte(out), link.Options{SM: 90}); err != nil {
		t.Error(err)
	}
	o := filepath.Join(t.TempDir(), "x.o")
	if _, text, err := compile(t, "-c", "-o", o, "testdata/managed.cu"); err != nil || text != "" {
		t.Errorf("%v\n%s", err, text)
	}
	_, _, err = compile(t, "-dc", "-o", o, "testdata/managed.cu")
	var u *UsageError
	if !errors.As(err, &u) || !strings.Contains(u.Text, "__managed__") {
		t.Errorf("with -dc: %v", err)
	}
}

// Variables in shared memory may have types with constructors; none is called.
func TestSharedObjects(t *testing.T) {
	out, text, err := compile(t, "-ptx", "-o", "-", "testdata/shared.cu")
	if err != nil || text != "" {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{`\.shared \.align 4 \.b8 \S*one\[4\];`, `\.shared \.align 16 \.b8 \S*many\[24\];`} {
		if n := len(regexp.MustCompile(want).FindAllString(out, -1)); n != 2 {
			t.Errorf("%d times %s in\n%s", n, want, out)
		}
	}
	if _, text, err := compile(t, "-c", "-o", filepath.Join(t.TempDir(), "x.o"), "testdata/shared.cu"); err != nil ||
		text != "" {
		t.Errorf("%v\n%s", err, text)
	}
	// Where the declaration is not understood, clang's error stands.
	_, text, err = compile(t, "-ptx", "-o", "-", "testdata/sharedtwo.cu")
	var clang *ClangError
	if !errors.As(err, &clang) || !strings.Contains(text, "sharedtwo.cu:6:21: error: initialization is not supported") ||
		!strings.Contains(clang.Hint, "one declaration") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestObject(t *testing.T) {
	o := filepath.Join(t.TempDir(), "x.o")
	if _, text, err := compile(t, "-c", "-o", o, "-gencode=arch=compute_80,code=sm_80",
		"-gencode=arch=compute_90,code=sm_90",
		"testdata/saxpy.cu"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := os.ReadFile(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := image.Inspect(b, o)
	if err != nil || r.Host == nil || len(r.Host.Containers) != 1 || len(r.Host.Containers[0].Entries) != 2 {
		t.Fatalf("the object has %+v", r)
	}
	for i, want := range []string{"compute_80", "compute_90"} {
		if e := r.Host.Containers[0].Entries[i]; e.Arch != want || e.Problem != "" {
			t.Errorf("entry %d is %s %s, want %s", i, e.Arch, e.Problem, want)
		}
	}
}

func TestErrors(t *testing.T) {
	_, text, err := compile(t, "-c", "-o", filepath.Join(t.TempDir(), "x.o"), "testdata/wrong.cu")
	var clang *ClangError
	if !errors.As(err, &clang) || !strings.Contains(text, "wrong.cu:2:19: error: use of undeclared identifier") {
		t.Errorf("%v\n%s", err, text)
	}
	if n := strings.Count(text, "error: use of"); n != 1 {
		t.Errorf("the error is there %d times:\n%s", n, text)
	}
	for header, hint := range map[string]string{"cub/cub.cuh": "CCCL", "cublas_v2.h": "cuBLAS", "mine.h": ""} {
		file := filepath.Join(t.TempDir(), "x.cu")
		if err := os.WriteFile(file, []byte("#include <"+header+">\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err = compile(t, "-ptx", "-o", "-", file)
		if !errors.As(err, &clang) || !strings.Contains(clang.Hint, hint) || hint == "" && clang.Hint != "" {
			t.Errorf("%s: %v: %s", header, err, clang.Hint)
		}
	}
	_, text, err = compile(t, "-ptx", "-o", "-", "testdata/nested.cu")
	if !errors.As(err, &clang) || !strings.Contains(clang.Hint, "dynamic parallelism") {
		t.Errorf("%v\n%s", err, text)
	}
	var un *UnresolvedError
	_, text, err = compile(t, "-ptx", "-o", "-", "testdata/unresolved.cu")
	if !errors.As(err, &un) || len(un.Names) != 1 || un.Names[0] != "_Z9elsewherei" {
		t.Errorf("%v\n%s", err, text)
	}
	_, text, err = compile(t, "-c", "-o", filepath.Join(t.TempDir(), "x.o"), "testdata/twice.cu")
	if n := strings.Count(text, "warning: using the result of an assignment"); err != nil || n != 1 {
		t.Errorf("%v, %d warnings:\n%s", err, n, text)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, ""); err == nil {
		t.Error("a cancelled search found a clang")
	}
}
