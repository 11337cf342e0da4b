package cudatest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
)

// recorder is a test that keeps its errors instead of failing.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper() {}
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, fmt.Sprint(args...))
}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

func TestOpenFindsLeaks(t *testing.T) {
	r := &recorder{TB: t}
	c := Open(r)
	b, err := cuda.Alloc[int32](c, 3)
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	if len(r.errors) != 2 || !strings.Contains(r.errors[0], "buffer of 12 bytes made at") ||
		!strings.Contains(r.errors[0], "cudatest_test.go") || !strings.Contains(r.errors[1], "context made at") {
		t.Errorf("errors %q, want the open buffer, and the context that could not be closed", r.errors)
	}
	for _, closer := range []interface{ Close() error }{b, c, c.Device().System()} {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenFindsFaults(t *testing.T) {
	SoftwareOnly(t)
	const wild = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry wild() { .reg .b64 %p; mov.u64 %p, 0; st.global.u32 [%p], 1; ret; }\n"
	for _, broken := range []bool{false, true} {
		r := &recorder{TB: t}
		c := Open(r)
		if broken {
			c = OpenBroken(r)
		}
		if err := Kernel(r, c, []byte(wild), "wild").Launch(nil, cuda.Linear(1)); err != nil {
			t.Fatal(err)
		}
		Alloc[byte](t, Open(t), 1) // another system is not disturbed
		r.end()
		found := strings.Contains(strings.Join(r.errors, "\n"), "CUDA_ERROR_ILLEGAL_ADDRESS")
		if found == broken {
			t.Errorf("OpenBroken %v: errors %q", broken, r.errors)
		}
	}
}

// A kernel that stores to NULL, and one whose threads race: each is an error with the report.
func TestCheckFailsTheTest(t *testing.T) {
	SoftwareOnly(t)
	const text = ".version 8.0\n.target sm_80\n.address_size 64\n" +
		".visible .entry wild() { .reg .b64 %p; mov.u64 %p, 0; st.global.u32 [%p], 1; ret; }\n" +
		".visible .entry racy() { .reg .b32 %r; .shared .b32 s; mov.u32 %r, %tid.x; st.shared.u32 [s], %r; ret; }\n"
	for kernel, want := range map[string]string{"wild": "Invalid __global__ write of size 4 bytes: NULL",
		"racy": "Race in shared memory"} {
		r := &recorder{TB: t}
		c := OpenBroken(r, Check(r, "memory", "race"))
		if err := Kernel(r, c, []byte(text), kernel).Launch(nil, cuda.Linear(64)); err != nil {
			t.Fatal(err)
		}
		r.end()
		if got := strings.Join(r.errors, "\n"); !strings.Contains(got, want) ||
			!strings.Contains(got, "in kernel "+kernel) {
			t.Errorf("errors %q, want %q", got, want)
		}
	}
}

// What a test is told without asking: of accesses to memory, and by the environment of all else; nothing where it does
// not want to be told. A test that breaks the context on purpose is not failed by that.
func TestDefaultChecks(t *testing.T) {
	SoftwareOnly(t)
	const text = ".version 8.0\n.target sm_80\n.address_size 64\n" +
		".visible .entry outside(.param .u64 p) { .reg .b64 %p; ld.param.u64 %p, [p]; st.global.u8 [%p+5], 1; ret; }\n" +
		".visible .entry racy(.param .u64 p) { .reg .b32 %r; .shared .b32 s; mov.u32 %r, %tid.x; st.shared.u32 [s], %r; ret; }\n" +
		".visible .entry flag(.param .u64 p) { .shared .b32 s; st.shared.u32 [s], 1; ret; }\n"
	for _, c := range []struct {
		kernel, variable string
		broken           bool
		options          []cuda.Option
		want             string // in the errors; "" for none
	}{
		{"outside", "", false, nil, "Invalid __global__ write of size 1 bytes"},
		{"outside", "", true, nil, ""},
		{"outside", "", false, []cuda.Option{cuda.WithoutChecks()}, ""}, // a device maps more than was asked for
		{"racy", "", false, nil, ""},
		{"racy", "race", false, nil, "Race in shared memory"},
		{"racy", "all", true, nil, "Race in shared memory"},
		{"racy", "race", false, []cuda.Option{cuda.WithoutChecks()}, ""},
		{"flag", "race", false, nil, ""}, // a warning
	} {
		t.Setenv("GOCUDA_CHECK", c.variable)
		r := &recorder{TB: t}
		open := Open
		if c.broken {
			open = OpenBroken
		}
		ctx := open(r, c.options...)
		if err := Kernel(r, ctx, []byte(text), c.kernel).Launch(nil, cuda.Linear(64),
			cuda.Ptr(Alloc[byte](r, ctx, 5))); err != nil {
			t.Fatal(err)
		}
		r.end()
		got := strings.Join(r.errors, "\n")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: errors %q", c, got)
		}
	}
}

func TestCompare(t *testing.T) {
	c := Open(t)
	x := Upload(t, c, []float64{1, 2, math.NaN(), 1e6})
	for _, test := range []struct {
		name string
		run  func(t testing.TB)
		want string
	}{
		{"equal", func(t testing.TB) { Equal(t, x.Slice(0, 2), []float64{1, 2}) }, ""},
		{"not equal", func(t testing.TB) {
			Equal(t, x.Slice(0, 2), []float64{1, 3})
		}, "1 of 2 elements differ:\n\t[1] 2, want 3"},
		{"length", func(t testing.TB) { Equal(t, x.Slice(0, 2), []float64{1}) }, "2 elements, want 1"},
		{"near", func(t testing.TB) { Near(t, x.View, []float64{1.0001, 2, math.NaN(), 1e6 + 50}, 1e-4) }, ""},
		{"not near", func(t testing.TB) {
			Near(t, x.View, []float64{1.001, 2, 3, 1e6 + 500}, 1e-4)
		}, "3 of 4 elements differ:\n\t[0] 1, want 1.001\n\t[2] NaN, want 3"},
	} {
		r := &recorder{TB: t}
		test.run(r)
		got := strings.Join(r.errors, "\n")
		if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	all := &recorder{TB: t}
	Equal(all, Alloc[int32](t, c, 10).View, []int32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	if len(all.errors) != 1 || strings.Count(all.errors[0], "want") != mostShown ||
		!strings.HasSuffix(all.errors[0], "...") {
		t.Errorf("%q, want %d differences and a hint that there are more", all.errors, mostShown)
	}
}
