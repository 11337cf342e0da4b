package cc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGo writes the files of examples/18-cc anew: the repository has what the generator writes.
func TestGo(t *testing.T) {
	const dir = "../../../../examples/18-cc"
	out := filepath.Join(t.TempDir(), "kernels_cuda.go")
	if _, text, err := compile(t, "-go", "-package", "main", "-o", out, dir+"/kernels.cu"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(dir + "/kernels_cuda.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGoTypes(t *testing.T) {
	for _, c := range [][3]string{
		{"float const*", "u64", "cuda.Pointer[float32]"}, {"const int *__restrict", "u64", "cuda.Pointer[int32]"},
		{"unsigned long long", "u64", "uint64"}, {"float4*", "u64", "cuda.Pointer[[4]float32]"},
		{"Particle*", "u64", "cuda.Pointer[byte]"}, {"Field", "[20]byte", "[20]byte"}, {"", "f64", "float64"},
		{"float4", "[16]byte", "[16]byte"}, {"Color", "u32", "uint32"}, {"int**", "u64", "cuda.Pointer[byte]"},
	} {
		if got := goType(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
	got := strings.Join(splitTypes("void f<std::pair<int, float> >(int (*)(int, float), std::pair<int, float>, char)"), ";")
	if got != "int (*)(int, float);std::pair<int, float>;char" {
		t.Errorf("split into %q", got)
	}
	for s, want := range map[string]string{"ns::scale<float>": "NsScaleFloat", "my_kernel": "MyKernel", "_x": "X",
		"9": "K9"} {
		if got := goName(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
