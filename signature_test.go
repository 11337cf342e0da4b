package cuda

import (
	"compress/gzip"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
)

const (
	signatureFloat = ".version 8.0\n.target sm_80\n.address_size 64\n" +
		".visible .entry k(.param .f32 a, .param .u64 .ptr .global b) { ret; }\n"
	signatureWord = ".version 8.0\n.target sm_80\n.address_size 64\n" +
		".visible .entry k(.param .u32 x, .param .u64 y) { ret; }\n"
)

func software(t *testing.T) *Context {
	t.Helper()
	s, err := Open(WithSoftware())
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.dev.Close() })
	return c
}

// wantFloat checks that the kernel's parameters are those of signatureFloat.
func wantFloat(t *testing.T, what string, params []param, ok bool) {
	t.Helper()
	if !ok || len(params) != 2 || params[0].name != "a" || params[0].class != classFloat || params[0].size != 4 ||
		params[1].name != "b" || params[1].class != classPointer || params[1].offset != 8 {
		t.Errorf("%s: %+v, %t", what, params, ok)
	}
}

// The caller's slice is his again when Load returns: kernels that are looked up later have the parameters of what was
// loaded.
func TestLoadedImageIsTheCallers(t *testing.T) {
	c := software(t)
	img := []byte(signatureFloat)
	m, err := c.Load(img)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.dev.sys.LoadLibrary(img)
	if err != nil {
		t.Fatal(err)
	}
	copy(img, signatureWord)
	clear(img[len(signatureWord):])
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	wantFloat(t, "module", k.params, k.known)
	if k, err = l.In(c).Kernel("k"); err != nil {
		t.Fatal(err)
	}
	wantFloat(t, "library", k.params, k.known)

	img = []byte(signatureFloat)
	s := imageSignatures(img, 90) // as with the NVIDIA driver
	clear(img)
	params, ok := s.of("k")
	wantFloat(t, "image", params, ok)
}

// A library or linker that is forgotten stays with the device. It does not end the program, as pinned memory does of
// which the collector finds that nobody can unpin it.
func TestForgottenLibrary(t *testing.T) {
	c := software(t)
	for range 3 {
		if _, err := c.dev.sys.LoadLibrary([]byte(signatureFloat)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.NewLinker(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
	for range 5 { // finalizers run a cycle later
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}

// Of a fat binary in which the device runs an image of the project's own linker and a driver would take the PTX beside
// it, the parameters are those of what runs.
func TestParamsOfWhatRuns(t *testing.T) {
	c := software(t)
	l, err := c.NewLinker()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add("a", []byte(signatureFloat)); err != nil {
		t.Fatal(err)
	}
	linked, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	var w fatbin.Writer
	for _, s := range []fatbin.Source{
		{Kind: fatbin.PTX, Arch: sm.Arch{Number: 90}, Data: []byte(signatureWord)},
		{Kind: fatbin.ELF, Arch: sm.Arch{Number: 90}, Data: linked},
	} {
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	m, err := c.Load(w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	wantFloat(t, "fat binary", k.params, k.known)
}

// What images tell by themselves, which is what there is with the NVIDIA driver: the PTX that it would compile, or the
// sizes in the tables of machine code. saxpy(float, float*, float*, int) was compiled by nvcc.
func TestImageSignatures(t *testing.T) {
	unzip := func(name string) []byte {
		f, err := os.Open("internal/image/testdata/corpus/modules/saxpy/" + name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, name := range []string{"saxpy.mode_speed.fatbin", "saxpy.compute_75.ptx", "saxpy.sm_90.cubin"} {
		data := unzip(name)
		kind := image.Detect(data)
		s := imageSignatures(data, 90)
		clear(data)
		if s == nil {
			t.Errorf("%s: nothing", name)
			continue
		}
		params, ok := s.of("saxpy")
		if !ok || len(params) != 4 {
			t.Errorf("%s: %+v, %t", name, params, ok)
			continue
		}
		for i, want := range []param{
			{0, 4, "saxpy_param_0", classFloat, ".f32"}, {8, 8, "saxpy_param_1", classPointer, ".u64 .ptr"},
			{16, 8, "saxpy_param_2", classPointer, ".u64 .ptr"}, {24, 4, "saxpy_param_3", classInt, ".u32"},
		} {
			got := params[i]
			if got.offset != want.offset || got.size != want.size {
				t.Errorf("%s, parameter %d: %+v, want %+v", name, i, got, want)
			}
			if kind != image.Cubin && (got.name != want.name || got.typ[:4] != want.typ[:4]) {
				t.Errorf("%s, parameter %d: %+v, want %+v", name, i, got, want)
			}
		}
	}
	for _, data := range [][]byte{nil, []byte("x"), []byte("\x7fELF"), unzip("saxpy.host.o")} {
		if s := imageSignatures(data, 90); s != nil {
			t.Errorf("%d bytes: %+v", len(data), s)
		}
	}
}
