package cuda

import (
	_ "embed"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

const argsPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry four(.param .f32 a, .param .u64 .ptr .global x, .param .u64 .ptr .global y, .param .u32 n)
{
	ret;
}
.visible .entry pair(.param .align 8 .b8 p[24], .param .u32 n)
{
	ret;
}
`

// stub loads kernels on the software device and then answers every launch at once, so that what is measured is this
// package and cu.
func stub(t testing.TB) (four, pair *Kernel, x *Buffer[float32]) {
	t.Helper()
	sys, err := Open(WithSoftware())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sys.dev.Close() })
	c, err := sys.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Load([]byte(argsPTX))
	if err != nil {
		t.Fatal(err)
	}
	if four, err = m.Kernel("four"); err != nil {
		t.Fatal(err)
	}
	if pair, err = m.Kernel("pair"); err != nil {
		t.Fatal(err)
	}
	if x, err = Alloc[float32](c, 16); err != nil {
		t.Fatal(err)
	}
	table := *sys.dev.Table
	table.LaunchKernel = func(driver.CUcontext, driver.CUfunction, uint32, uint32, uint32, uint32, uint32, uint32,
		uint32, driver.CUstream, *unsafe.Pointer, *uintptr) driver.CUresult {
		return driver.CUDA_SUCCESS
	}
	table.LaunchKernelEx = func(driver.CUcontext, *driver.CUlaunchConfig, driver.CUfunction, *unsafe.Pointer,
		*uintptr) driver.CUresult {
		return driver.CUDA_SUCCESS
	}
	c.api = cu.New(&table).In(c.handle)
	return four, pair, x
}

// launches are the ways to launch; none may allocate.
func launches(t testing.TB) map[string]func() error {
	four, pair, x := stub(t)
	v := x.Slice(1, 9)
	s := four.c.Default()
	typed, err := Bind4[float32, Pointer[float32], Pointer[float32], int32](four)
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := four.Prepare(Linear(8), Val(float32(1)), Ptr(x), Ptr(x), Val(int32(8)))
	if err != nil {
		t.Fatal(err)
	}
	n := int32(7)
	type params struct {
		a, b float64
		c    int32
	}
	return map[string]func() error{
		"args": func() error {
			return four.Launch(s, Linear(8), Val(float32(1)), Ptr(x), Ptr(v), Val(n))
		},
		"typed": func() error {
			return typed.Launch(s, Linear(8), 1, x.Ptr(), v.Ptr(), n)
		},
		"prepared": func() error { return prepared.Launch(s) },
		"struct": func() error {
			p := params{a: 1, b: 2, c: n}
			return pair.Launch(s, Linear(8), StructArg(&p), Val(n))
		},
		"attributes": func() error {
			return four.Launch(s, LaunchConfig{Grid: Dim(2), Block: Dim(32), Cooperative: true,
				Attrs: []LaunchAttr{LaunchPriority(1)}}, Val(float32(1)), Ptr(x), Ptr(v), Val(n))
		},
	}
}

func TestLaunchAllocates(t *testing.T) {
	if skip.Race {
		skip.Without(t, skip.Pools)
	}
	for name, f := range launches(t) {
		if n := testing.AllocsPerRun(200, func() {
			if err := f(); err != nil {
				t.Fatal(name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for each launch, want 0", name, n)
		}
	}
}

// TestUnknownParameters: where neither the driver (before CUDA 12.4) nor the image tells the parameters, arguments are
// passed as they are, and what can be wrong without knowing them is still found.
func TestUnknownParameters(t *testing.T) {
	four, _, x := stub(t)
	four.known, four.params = false, nil
	table := *four.c.api.Table()
	var got [3]uint64
	table.LaunchKernel = func(_ driver.CUcontext, _ driver.CUfunction, _, _, _, _, _, _, _ uint32, _ driver.CUstream,
		params *unsafe.Pointer, _ *uintptr) driver.CUresult {
		p := unsafe.Slice(params, 3)
		got = [3]uint64{uint64(*(*uint8)(p[0])), *(*uint64)(p[1]), uint64(*(*uint32)(p[2]))}
		return driver.CUDA_SUCCESS
	}
	four.c.api = cu.New(&table).In(four.c.handle)
	if _, ok := four.Params(); ok {
		t.Error("the parameters are known")
	}
	for range 2 {
		if err := four.Launch(nil, Linear(1), Val(uint8(7)), Ptr(x), Val(uint32(9))); err != nil {
			t.Fatal(err)
		}
		if want := [3]uint64{7, uint64(x.ptr), 9}; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	p, err := four.Prepare(Linear(1), Val(uint8(7)), Ptr(x), Val(uint32(9)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set(2, Val(uint32(10))); err != nil {
		t.Fatal(err)
	}
	if err := p.Launch(nil); err != nil || got[2] != 10 {
		t.Errorf("%v %v", got, err)
	}
	if err := p.Set(2, Val(uint64(10))); err == nil {
		t.Error("an argument of another size was set")
	}
	if err := four.Launch(nil, Linear(1), Arg{}); err == nil {
		t.Error("a zero Arg was launched")
	}
	if _, err := Bind1[uint32](four); err == nil {
		t.Error("types were bound to unknown parameters")
	}
}

func BenchmarkLaunchOverhead(b *testing.B) {
	for name, f := range launches(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
