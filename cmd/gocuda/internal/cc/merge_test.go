package cc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/link"
)

// TestMerge joins two files that call each other, share a variable, and both have a static function and a static
// variable of one name; what comes out must load as one module.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	var units [][]byte
	for i, src := range []string{`
__device__ int shared_value = 3;
static __device__ int hidden[2] = {1, 2};
static __device__ __attribute__((noinline)) int local(int x) { return x + hidden[x & 1]; }
extern __device__ int other(int);
extern __device__ int defined_later;
__device__ int *points = &defined_later;
inline __device__ __attribute__((noinline)) int both(int x) { return x * 7 + hidden[0]; }
__global__ void first(int *p) { *p = other(local(*p)) + both(*p); hidden[*p & 1]++; }
`, `
extern __device__ int shared_value;
__device__ int defined_later;
static __device__ int hidden[2] = {10, 20};
static __device__ __attribute__((noinline)) int local(int x) { return x + hidden[x & 1]; }
inline __device__ __attribute__((noinline)) int both(int x) { return x * 7 + hidden[0]; }
__device__ int other(int x) { hidden[x & 1] += both(x); printf("%d\n", x); return local(x) * shared_value; }
__global__ void second(int *p) { *p = other(*p); }
`} {
		src1 := filepath.Join(dir, string(rune('a'+i))+".cu")
		if err := os.WriteFile(src1, []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
		out, text, err := compile(t, "-rdc=true", "-lineinfo", "-ptx", "-o", "-", src1)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		units = append(units, []byte(out))
	}
	builtin := func(n string) bool { return n == "vprintf" }
	got := merge(units)
	m, err := link.Module(got, link.Options{SM: 90, Builtin: builtin})
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, k := range []string{"_Z5firstPi", "_Z6secondPi"} {
		if m.Kernel(k) == nil {
			t.Errorf("no kernel %s", k)
		}
	}
	if m.Variable("shared_value") == nil {
		t.Error("no variable shared_value")
	}
	if n := len(m.Variables); n < 3 {
		t.Errorf("%d variables", n)
	}
}
