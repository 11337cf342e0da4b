package devlib_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/skip"
)

// clang returns a clang that knows sm_90.
func clang(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("GOCUDA_CLANG"), "clang-19", "clang-20", "clang-18", "clang-17", "clang"} {
		if name == "" {
			continue
		}
		out, err := exec.Command(name, "--version").Output()
		var major int
		if _, text, ok := strings.Cut(string(out), "clang version "); ok && err == nil {
			fmt.Sscanf(text, "%d", &major)
		}
		if major >= 17 {
			return name
		}
	}
	skip.Without(t, skip.Tool, "a clang with an NVPTX back end (17 or later)")
	return ""
}

// compile compiles CUDA C++ with the library to PTX, as gocuda cc does.
func compile(t testing.TB, source string) string {
	t.Helper()
	cc, dir := clang(t), t.TempDir()
	lib, in, out := filepath.Join(dir, devlib.FileName), filepath.Join(dir, "a.cu"), filepath.Join(dir, "a.ptx")
	for name, data := range map[string][]byte{lib: devlib.Bitcode(), in: []byte(source)} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(cc, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
		"-Xclang", "-target-sdk-version=12.5", "-Xclang", "-target-feature", "-Xclang", "+ptx80",
		"-Wno-linker-warnings", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", lib, "-O2", "-S", in, "-o", out)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ptx, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(ptx)
}

// cTypes are the types of functions.tab in C.
var cTypes = map[byte]string{'i': "int", 'u': "unsigned", 'l': "long long", 'L': "unsigned long long",
	'h': "unsigned short", 'f': "float", 'd': "double", 'F': "float *", 'D': "double *", 'I': "int *",
	'p': "const float *", 'q': "const double *", 's': "const signed char *", '-': "void"}

// TestEveryFunction compiles a call of each function that clang declares: with the library none is left open.
func TestEveryFunction(t *testing.T) {
	var b strings.Builder
	list := devlib.Functions()
	if len(list) != 430 {
		t.Errorf("functions.tab has %d functions, __clang_cuda_libdevice_declares.h 430", len(list))
	}
	for _, f := range list {
		var params, args []string
		for i, p := range []byte(f.Params) {
			params = append(params, fmt.Sprintf("%s a%d", cTypes[p], i))
			args = append(args, fmt.Sprintf("a%d", i))
		}
		p, a := strings.Join(params, ", "), strings.Join(args, ", ")
		fmt.Fprintf(&b, "extern \"C\" __attribute__((device)) %s __nv_%s(%s);\n", cTypes[f.Result], f.Name, p)
		fmt.Fprintf(&b, "extern \"C\" __attribute__((global)) void k_%s(%s * r, %s) { ", f.Name, cTypes[f.Result], p)
		if f.Result != '-' {
			b.WriteString("*r = ")
		}
		fmt.Fprintf(&b, "__nv_%s(%s); }\n", f.Name, a)
	}
	ptx := compile(t, b.String())
	if n := strings.Count(ptx, ".visible .entry k_"); n != len(list) {
		t.Errorf("%d kernels of %d", n, len(list))
	}
	for line := range strings.Lines(ptx) {
		if strings.Contains(line, ".extern .func") {
			t.Error("left open:", line)
		}
	}
}
