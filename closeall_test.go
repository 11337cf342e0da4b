package cuda_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
)

// What CloseAll closes is given back to the device, is closed for the program, and is closed once.
func TestCloseAll(t *testing.T) {
	o := makeThings(t)
	other := made(o.dev.Primary())(t)
	before, _, err := other.MemoryInfo()
	check(t, err)
	big := made(cuda.Alloc[byte](o.c, 64<<20))(t)
	if free, _, err := other.MemoryInfo(); err != nil || free >= before {
		t.Fatalf("%d bytes free, %v; %d before 64 MiB were allocated", free, err, before)
	}
	check(t, o.c.CloseAll())
	if free, _, err := other.MemoryInfo(); err != nil || free < before {
		t.Errorf("%d bytes free after CloseAll, %v; want %d or more", free, err, before)
	}
	closers := map[string]func() error{"big": big.Close}
	o.each(func(name string, v reflect.Value) {
		switch name {
		case "sys", "library", "pool", "own", "body": // not the context's, or closed by another
		default:
			if c, ok := v.Interface().(interface{ Close() error }); ok {
				closers[name] = c.Close
			}
		}
	})
	if len(closers) < 13 {
		t.Errorf("only %d resources", len(closers))
	}
	for name, end := range closers {
		if err := end(); !errors.Is(err, cuda.ErrClosed) {
			t.Errorf("%s: Close after CloseAll of the context: %v, want ErrClosed", name, err)
		}
	}
	if o.pinned.Data() != nil || o.managed.Data() != nil {
		t.Error("memory that was freed is still handed out")
	}
	if err := o.body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := o.body.Len(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("the body of a graph that was closed: %v", err)
	}
	if err := o.c.CloseAll(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("second CloseAll: %v", err)
	}
	check(t, o.sys.CloseAll()) // library, pool and the other context are still open
	for _, end := range []func() error{o.library.Close, o.pool.Close, other.Close, o.sys.Close, o.sys.CloseAll} {
		if err := end(); !errors.Is(err, cuda.ErrClosed) {
			t.Errorf("Close after CloseAll of the system: %v, want ErrClosed", err)
		}
	}
}

// A fault that no call has reported comes from CloseAll, once; one that the program knows does not.
func TestCloseAllBroken(t *testing.T) {
	for _, known := range []bool{false, true} {
		o := makeThings(t)
		m := made(o.c.Load([]byte(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry trap() { trap; }\n")))(t)
		check(t, made(m.Kernel("trap"))(t).Launch(nil, cuda.Linear(1)))
		if known {
			if err := o.c.Synchronize(); !errors.Is(err, cuda.ErrLaunchFailed) {
				t.Fatalf("trap: %v, want what an H200 gives, CUDA_ERROR_LAUNCH_FAILED", err)
			}
		}
		err := o.sys.CloseAll()
		switch {
		case known && err != nil:
			t.Errorf("CloseAll says again what is known: %v", err)
		case !known && (!errors.Is(err, cuda.ErrLaunchFailed) || strings.Count(err.Error(), "LAUNCH_FAILED") != 1):
			t.Errorf("CloseAll: %v, want the fault, once", err)
		}
		for _, end := range []func() error{o.buffer.Close, o.texture.Close, o.c.Close, o.sys.Close} {
			if err := end(); !errors.Is(err, cuda.ErrClosed) {
				t.Errorf("Close after CloseAll: %v", err)
			}
		}
	}
}

// The error of a Close over open resources shows all of them.
func TestOpenErrorTree(t *testing.T) {
	sys := made(cuda.Open(cuda.WithSoftware()))(t)
	c := made(sys.Context(0))(t)
	a := made(cuda.AllocArray[float32](c, 4, 0, 0, cuda.ArrayOptions{}))(t)
	made(cuda.NewTexture(a, cuda.TextureOptions{}))(t)
	for range 2 {
		made(cuda.Alloc[uint64](c, 3))(t)
	}
	made(c.NewStream(cuda.StreamOptions{}))(t)
	err := sys.Close()
	const want = "cuda: system not closed: 1 of its resources still open\n" +
		"\t1 x context\n" +
		"\t\t1 x array, 16 bytes\n" +
		"\t\t\t1 x texture\n" +
		"\t\t2 x buffer, 48 bytes\n" +
		"\t\t1 x stream"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	var open *cuda.OpenError
	if !errors.As(err, &open) || len(open.Tree) != 1 || len(open.Tree[0].Below) != 3 ||
		open.Tree[0].Below[1].Count != 2 {
		t.Errorf("%+v", open)
	}
	check(t, sys.CloseAll())

	sys = made(cuda.Open(cuda.WithSoftware(), cuda.WithLeakReports(func(cuda.Leak) {})))(t)
	c = made(sys.Context(0))(t)
	for range 12 {
		made(cuda.Alloc[byte](c, 1))(t)
	}
	if err := sys.Close(); err == nil || strings.Count(err.Error(), "buffer of 1 bytes made at") != 10 ||
		!strings.Contains(err.Error(), "\t\t\tand 2 more") || !strings.Contains(err.Error(), "closeall_test.go") {
		t.Errorf("with leak reports: %v", err)
	}
	check(t, sys.CloseAll())
}
