package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func count(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func TestViews(t *testing.T) {
	c := cudatest.Open(t)
	b := cudatest.Upload(t, c, count(10))
	v := b.Slice(2, 7)
	if v.Len() != 5 || v.Bytes() != 20 || v.Ptr() != b.Ptr()+8 || v.Context() != c {
		t.Errorf("%v of %v", v, b)
	}
	cudatest.Equal(t, v, []int32{2, 3, 4, 5, 6})
	cudatest.Equal(t, v.Slice(1, 3).From(1), []int32{4})
	check(t, v.From(3).CopyFrom([]int32{50, 60}))
	cudatest.Equal(t, b.View, []int32{0, 1, 2, 3, 4, 50, 60, 7, 8, 9})
	for _, bad := range [][2]int{{-1, 2}, {3, 2}, {0, 11}, {11, 11}} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(v.(string), "slice bounds out of range") {
					t.Errorf("Slice(%d, %d): %v, want a panic as of a slice", bad[0], bad[1], v)
				}
			}()
			b.Slice(bad[0], bad[1])
		}()
	}
	wide, err := cuda.Cast[int64](b.View)
	check(t, err)
	if wide.Len() != 5 || cudatest.Download(t, wide)[0] != 1<<32 {
		t.Errorf("as int64: %v", cudatest.Download(t, wide))
	}
	if _, err := cuda.Cast[[3]int32](b.View); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("10 int32 as [3]int32: %v", err)
	}
}

func TestElementTypes(t *testing.T) {
	c := cudatest.Open(t)
	type vec struct{ X, Y, Z float32 }
	v := cudatest.Upload(t, c, []vec{{1, 2, 3}, {4, 5, 6}})
	cudatest.Equal(t, v.Slice(1, 2), []vec{{4, 5, 6}})
	cudatest.Equal(t, cudatest.Upload(t, c, []complex128{1i}).View, []complex128{1i})
	cudatest.Equal(t, cudatest.Upload(t, c, []bool{true, false}).View, []bool{true, false})
	cudatest.Equal(t, cudatest.Upload(t, c, [][2]uint16{{1, 2}}).View, [][2]uint16{{1, 2}})
	wrong := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, cuda.ErrInvalidValue) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, err := cuda.Alloc[*int](c, 1)
	wrong(err, "a ptr is a Go pointer inside")
	_, err = cuda.Alloc[struct {
		N int
		S string
	}](c, 1)
	wrong(err, "field S: a string is a Go pointer inside")
	_, err = cuda.Alloc[[2][]byte](c, 1)
	wrong(err, "a slice is a Go pointer inside")
	_, err = cuda.Alloc[struct{}](c, 1)
	wrong(err, "have no size")
	_, err = cuda.Alloc[byte](c, -1)
	wrong(err, "-1 elements")
	_, err = cuda.Alloc[[4]float64](c, 1<<60)
	if !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("2^65 bytes: %v", err)
	}
	empty, err := cuda.Alloc[int32](c, 0)
	check(t, err)
	check(t, empty.CopyFrom(nil))
	check(t, empty.Fill(1))
	check(t, empty.Close())
}

func TestCopies(t *testing.T) {
	c := cudatest.Open(t)
	src := count(1000)
	a, b := cudatest.Upload(t, c, src), cudatest.Alloc[int32](t, c, 1000)
	check(t, cuda.Copy(b.View, a.View))
	cudatest.Equal(t, b.View, src)
	if err := cuda.Copy(b.Slice(0, 2), a.Slice(0, 3)); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("3 elements to 2: %v", err)
	}
	if err := b.CopyFrom(make([]int32, 1001)); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("1001 elements to 1000: %v", err)
	}
	if err := b.CopyTo(make([]int32, 1001)); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("1001 elements from 1000: %v", err)
	}
	if err := (cuda.View[int32]{}).CopyFrom([]int32{1}); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("copy to the zero View: %v", err)
	}

	// Asynchronous copies take pinned memory.
	p, err := cuda.AllocPinned[int32](c, 1000, cuda.PinnedOptions{})
	check(t, err)
	defer func() { check(t, p.Close()) }()
	mine := count(1000)
	r, err := cuda.Register(c, mine)
	check(t, err)
	defer func() { check(t, r.Close()) }()
	copy(p.Data(), count(1000))
	for i := range p.Data() {
		p.Data()[i] *= 3
	}
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	check(t, b.CopyFromAsync(s, p.PinnedView))
	check(t, cuda.CopyAsync(s, a.Slice(500, 1000), b.Slice(0, 500)))
	check(t, a.CopyToAsync(s, r.PinnedView))
	check(t, s.Synchronize())
	for i, v := range mine {
		want := int32(i)
		if i >= 500 {
			want = int32(3 * (i - 500))
		}
		if v != want {
			t.Fatalf("[%d] %d, want %d", i, v, want)
		}
	}
	// Kernels reach pinned memory in place.
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	check(t, k.Launch(s, cuda.Linear(10), cuda.Ptr(p.Slice(5, 15)), cuda.Val(uint32(8)), cuda.Val(uint32(10))))
	check(t, s.Synchronize())
	if d := p.Data(); d[4] != 12 || d[5] != 8 || d[14] != 8 || d[15] != 45 {
		t.Errorf("pinned memory after the kernel: %v", d[:16])
	}
	dev, err := p.Device()
	check(t, err)
	cudatest.Equal(t, dev.Slice(4, 6), []int32{12, 8})
}

func TestManaged(t *testing.T) {
	c := cudatest.Open(t)
	m, err := cuda.AllocManaged[uint32](c, 100)
	check(t, err)
	defer func() { check(t, m.Close()) }()
	for i := range m.Data() {
		m.Data()[i] = uint32(i)
	}
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	check(t, k.Launch(nil, cuda.Linear(100), cuda.Ptr(m), cuda.Val(uint32(100))))
	check(t, c.Synchronize())
	for i, v := range m.Data() {
		if v != uint32(i)+5 { // bias of the module
			t.Fatalf("[%d] %d, want %d", i, v, i+5)
		}
	}
}

func TestFill(t *testing.T) {
	c := cudatest.Open(t)
	filled(t, c, byte(7))
	filled(t, c, int16(-300))
	filled(t, c, float32(1.5))
	filled(t, c, float64(-2.25))
	filled(t, c, [3]byte{1, 2, 3})
	filled(t, c, [3]uint16{1, 2, 3})
	filled(t, c, struct{ A, B, C float32 }{1, 2, 3})
	filled(t, c, complex(1, -1))
}

// filled checks Fill, FillAsync and Zero on part of a buffer.
func filled[T comparable](t *testing.T, c *cuda.Context, value T) {
	t.Helper()
	b := cudatest.Alloc[T](t, c, 9)
	check(t, b.Slice(2, 7).Fill(value))
	want := make([]T, 9)
	for i := 2; i < 7; i++ {
		want[i] = value
	}
	cudatest.Equal(t, b.View, want)
	check(t, b.Slice(3, 5).Zero())
	clear(want[3:5])
	cudatest.Equal(t, b.View, want)
}

func TestMatrix(t *testing.T) {
	c := cudatest.Open(t)
	m, err := cuda.AllocMatrix[int32](c, 5, 4)
	check(t, err)
	defer func() { check(t, m.Close()) }()
	if m.Pitch() < 20 || m.Width() != 5 || m.Height() != 4 || m.Depth() != 1 {
		t.Errorf("%d x %d x %d, pitch %d", m.Width(), m.Height(), m.Depth(), m.Pitch())
	}
	check(t, m.CopyFrom(count(20)))
	got := make([]int32, 20)
	check(t, m.CopyTo(got))
	for i, v := range got {
		if v != int32(i) {
			t.Fatalf("[%d] %d", i, v)
		}
	}
	inner := make([]int32, 6)
	check(t, m.Sub(1, 1, 4, 3).CopyTo(inner))
	if want := []int32{6, 7, 8, 11, 12, 13}; !equal(inner, want) {
		t.Errorf("inner box %v, want %v", inner, want)
	}
	cudatest.Equal(t, m.Row(3), []int32{15, 16, 17, 18, 19})

	flat := cudatest.Alloc[int32](t, c, 6)
	as, err := flat.Matrix(3)
	check(t, err)
	check(t, cuda.CopyMatrix(nil, as, m.Sub(0, 0, 3, 2)))
	cudatest.Equal(t, flat.View, []int32{0, 1, 2, 5, 6, 7})
	if err := cuda.CopyMatrix(nil, as, m.Sub(0, 0, 2, 2)); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("boxes of different sizes: %v", err)
	}

	v, err := cuda.AllocVolume[int32](c, 3, 2, 2)
	check(t, err)
	defer func() { check(t, v.Close()) }()
	check(t, v.CopyFrom(count(12)))
	corner := make([]int32, 4)
	check(t, v.Sub(1, 1, 3, 2).CopyTo(corner))
	if want := []int32{4, 5, 10, 11}; !equal(corner, want) {
		t.Errorf("box of a volume %v, want %v", corner, want)
	}
	plane := make([]int32, 6)
	check(t, v.Planes(1, 2).CopyTo(plane))
	if want := []int32{6, 7, 8, 9, 10, 11}; !equal(plane, want) {
		t.Errorf("plane %v, want %v", plane, want)
	}
}

func equal(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestPools(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{})
	a, err := cuda.AllocAsync[int32](s, 100)
	check(t, err)
	check(t, a.FillAsync(s, 3))
	check(t, s.Synchronize())
	if got := cudatest.Download(t, a.View); got[99] != 3 {
		t.Errorf("%v", got[99])
	}
	check(t, a.CloseAsync(s))
	if err := a.CloseAsync(s); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}

	p, err := c.Device().NewPool(cuda.PoolOptions{KeepBytes: cuda.KeepAll})
	check(t, err)
	b, err := cuda.AllocFrom[float64](p, s, 1<<16)
	check(t, err)
	u, err := p.Usage()
	check(t, err)
	if u.Used != 1<<19 || u.UsedHigh < u.Used {
		t.Errorf("usage %+v, want %d bytes used", u, 1<<19)
	}
	check(t, b.CloseAsync(s)) // after Close the driver of an H200 still counts it as used
	check(t, s.Synchronize())
	u, err = p.Usage()
	check(t, err)
	if u.Used != 0 {
		t.Errorf("usage %+v after CloseAsync, want none", u)
	}
	check(t, p.Trim(0))
	check(t, p.Close())
}
