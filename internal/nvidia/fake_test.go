//go:build !gocuda_nodriver && linux && (amd64 || arm64)

package nvidia

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// fakeLibrary compiles testdata/fakecuda.c once. The compiler is $CC, else gcc; without one the test is skipped. (For
// an emulated processor: CC must make code for that processor.)
var fakeLibrary = sync.OnceValues(func() (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "fakecuda")
	if err != nil {
		return "", err
	}
	lib := filepath.Join(dir, "libfakecuda.so")
	out, err := exec.Command(cc, "-O1", "-shared", "-fPIC", "-pthread", "-Wall", "-o", lib,
		"testdata/fakecuda.c").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out) + err.Error())
	}
	return lib, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if lib, err := fakeLibrary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(lib))
	}
	os.Exit(code)
}

// fake is the library of testdata/fakecuda.c behind a Driver.
type fake struct {
	*Driver
	t *driver.Table
}

func openFake(tb testing.TB) *fake {
	tb.Helper()
	lib, err := fakeLibrary()
	if errors.Is(err, exec.ErrNotFound) {
		skip.Without(tb, skip.Tool, err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	d, err := Open(Options{Path: lib})
	if err != nil {
		tb.Fatal(err)
	}
	return &fake{d, d.Table()}
}

// c calls a control function of the library.
//
//go:uintptrescapes
func (f *fake) c(tb testing.TB, name string, args ...uintptr) uintptr {
	tb.Helper()
	fn := f.sym(tb, name)
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

func (f *fake) sym(tb testing.TB, name string) uintptr {
	tb.Helper()
	fn := librarySymbol(f.handle, name)
	if fn == 0 {
		tb.Fatalf("the test library has no %s", name)
	}
	return fn
}

// record is the C struct of the same name.
type record struct {
	name  [64]byte
	w     [24]uint64
	f     [2]float64
	cur   uint64
	calls uint64
}

func (r *record) String() string { return string(r.name[:bytes.IndexByte(r.name[:], 0)]) }

func (f *fake) last(tb testing.TB) *record {
	tb.Helper()
	r := new(record)
	f.c(tb, "fake_read", uintptr(unsafe.Pointer(r)))
	return r
}

// current is the context of the calling thread.
func (f *fake) current(tb testing.TB) driver.CUcontext {
	tb.Helper()
	var c driver.CUcontext
	want(tb, f.t.CtxGetCurrent(0, &c), driver.CUDA_SUCCESS)
	return c
}

func want(tb testing.TB, got, want driver.CUresult) {
	tb.Helper()
	if got != want {
		tb.Fatalf("result %v, want %v", got, want)
	}
}

func TestLoadErrorNamesEveryPath(t *testing.T) {
	t.Setenv(env.Driver, "")
	d, err := Open(Options{})
	if err == nil {
		skip.Without(t, skip.NoDriver, d.Path())
	}
	var le *LoadError
	if !errors.As(err, &le) {
		t.Fatalf("error %T, want *LoadError", err)
	}
	text, details := err.Error(), le.Details()
	if strings.Contains(text, "\n") {
		t.Errorf("the text has several lines:\n%s", text)
	}
	for _, p := range defaultPaths(env.Settings{}) {
		if strings.Count("\n"+details, "\n"+p+": ") != 1 {
			t.Errorf("the details do not name %s once:\n%s", p, details)
		}
	}
	// What is there and cannot be used stands in the line.
	broken := &LoadError{Tried: []Attempt{{Path: "/a/libcuda.so.1", Err: errors.New("no such file")},
		{Path: "/b/libcuda.so.1", Err: errors.New("/b/libcuda.so.1: wrong ELF class"), Here: true}}}
	if s := broken.Error(); strings.Contains(s, "/a/") || !strings.Contains(s, "in 2 places; /b/libcuda.so.1: wrong ELF class;") {
		t.Errorf("a library that cannot be used: %s", s)
	}
	if len(le.Tried) != len(defaultPaths(env.Settings{})) {
		t.Errorf("%d attempts, want %d", len(le.Tried), len(defaultPaths(env.Settings{})))
	}
	for _, advice := range []string{"install it", env.Driver, "software"} {
		if !strings.Contains(text, advice) {
			t.Errorf("the text does not say %q:\n%s", advice, text)
		}
	}
}

func TestPathOverrides(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "libcuda.so.1")
	t.Setenv(env.Driver, missing)
	_, err := Open(Options{})
	var le *LoadError
	if !errors.As(err, &le) || len(le.Tried) != 1 || le.Tried[0].Path != missing {
		t.Fatalf("%s: %v, want one attempt at %s", env.Driver, err, missing)
	}
	if !strings.Contains(err.Error(), env.Driver+"="+missing) {
		t.Errorf("the text does not say that %s forced it: %v", env.Driver, err)
	}
	// an option wins over the environment, and a library that is something else is refused
	_, err = Open(Options{Path: "libc.so.6"})
	if !errors.Is(err, errNotCUDA) {
		t.Errorf("libc as driver: %v, want %v", err, errNotCUDA)
	}
	f := openFake(t)
	t.Setenv(env.Driver, f.Path())
	d, err := Open(Options{})
	if err != nil || d.Path() != f.Path() {
		t.Errorf("%s=%s: %v", env.Driver, f.Path(), err)
	}
}

func TestMissingSymbol(t *testing.T) {
	f := openFake(t)
	if f.LastDetail() != "" || len(f.Missing()) != 0 {
		t.Error("something is missing before the first call")
	}
	var c driver.CUcontext
	for range 2 {
		want(t, f.t.CtxCreate_v4(0, &c, nil, 0, 0), driver.CUDA_ERROR_NOT_SUPPORTED)
	}
	// cuCtxCreate_v4 came with CUDA 12.5 (entry_point_versions in api/cuda-13.0.json); the test library says 12.2
	for _, s := range []string{"cuCtxCreate_v4", "CUDA 12.5", "CUDA 12.2", f.Path()} {
		if !strings.Contains(f.LastDetail(), s) {
			t.Errorf("detail %q does not say %s", f.LastDetail(), s)
		}
	}
	want(t, f.t.ArrayDestroy(0, 1), driver.CUDA_ERROR_NOT_SUPPORTED)
	m := f.Missing()
	if len(m) != 2 || m[0].Name != "cuArrayDestroy" || m[1].Name != "cuCtxCreate_v4" || m[1].Since != 12050 ||
		m[1].Have != 12020 {
		t.Errorf("missing: %+v", m)
	}
}

func TestClose(t *testing.T) {
	f := openFake(t)
	want(t, f.t.MemFree_v2(0, 8), driver.CUDA_SUCCESS)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, f.t.MemFree_v2(0, 8), driver.CUDA_ERROR_DEINITIALIZED)
	want(t, f.t.MemFree_v2(7, 8), driver.CUDA_ERROR_DEINITIALIZED)
	want(t, f.t.Init(0, 0), driver.CUDA_ERROR_DEINITIALIZED) // never called before
	want(t, f.t.ParamSetf(0, 1, 2, 3), driver.CUDA_ERROR_DEINITIALIZED)
	if err := f.Close(); err != nil {
		t.Error("second Close: ", err)
	}
}
