package cuda_test

import (
	_ "embed"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

//go:embed testdata/kernels/kernels.ptx
var kernelsPTX []byte

// box is the struct that the kernels kinds and unbox take.
type box struct {
	X, Y float64
	N    int32
}

// TestArgumentMistakes: every wrong count, size and kind is found before the launch, and the message names the
// parameter. The parameters are those of the kernels kinds and fill in testdata/kernels/kernels.ptx.
func TestArgumentMistakes(t *testing.T) {
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, kernelsPTX)
	kinds, err := m.Kernel("kinds")
	if err != nil {
		t.Fatal(err)
	}
	x := cudatest.Alloc[float64](t, c, 4)
	closed, err := cuda.Alloc[int32](c, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	other := cudatest.Alloc[int32](t, secondContext(t), 4)

	b := box{1, 2, 3}
	good := func() []cuda.Arg {
		return []cuda.Arg{
			cuda.Val(uint8(1)), cuda.Val(int16(2)), cuda.Val(uint32(3)), cuda.Val(float32(4)), cuda.Val(5.0),
			cuda.Ptr(x), cuda.Ptr(x), cuda.StructArg(&b), cuda.Val(float32(1)),
		}
	}
	if err := kinds.Launch(nil, cuda.Linear(1), good()...); err != nil {
		t.Fatalf("right arguments: %v", err)
	}
	goInt, goPointer := 7, &b
	withPointer := struct{ p *int }{&goInt}
	var nilBox *box
	for _, c := range []struct {
		name string
		at   int
		arg  cuda.Arg
		want string
	}{
		{"int for u8", 0, cuda.Val(1), "argument 0 `byte`: 8 bytes given (int), kernel wants 1 (.u8)"},
		{"int16 for u8", 0, cuda.Val(int16(1)), "argument 0 `byte`: 2 bytes given (int16), kernel wants 1"},
		{"pointer for u8", 0, cuda.Ptr(x), "argument 0 `byte`: a pointer given, kernel wants a number (.u8)"},
		{"struct of one byte for u8", 0, cuda.Val(struct{ b byte }{1}),
			"argument 0 `byte`: struct given, kernel wants a number"},
		{"int32 for s16", 1, cuda.Val(int32(1)), "argument 1 `short`: 4 bytes given (int32), kernel wants 2 (.s16)"},
		{"uint8 for s16", 1, cuda.Val(uint8(1)), "argument 1 `short`: 1 bytes given (uint8), kernel wants 2"},
		{"int for u32", 2, cuda.Val(3), "argument 2 `count`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)"},
		{"uint for u32", 2, cuda.Val(uint(3)), "argument 2 `count`: 8 bytes given (uint), kernel wants 4 (.u32); pass uint32(v)"},
		{"int64 for u32", 2, cuda.Val(int64(3)), "argument 2 `count`: 8 bytes given (int64), kernel wants 4"},
		{"float32 for u32", 2, cuda.Val(float32(3)),
			"argument 2 `count`: float32 given, kernel wants an integer (.u32)"},
		{"float64 for u32", 2, cuda.Val(3.0), "argument 2 `count`: 8 bytes given (float64), kernel wants 4"},
		{"pointer for u32", 2, cuda.Ptr(x), "argument 2 `count`: a pointer given, kernel wants a number (.u32)"},
		{"nil pointer for u32", 2, cuda.NilPtr(), "argument 2 `count`: a pointer given"},
		{"struct for u32", 2, cuda.StructArg(&struct{ n int32 }{1}),
			"argument 2 `count`: struct given, kernel wants a number (.u32)"},
		{"array for u32", 2, cuda.Val([2]int16{1, 2}), "argument 2 `count`: array given, kernel wants a number (.u32)"},
		{"int32 for f32", 3, cuda.Val(int32(4)), "argument 3 `scale`: int32 given, kernel wants a float (.f32)"},
		{"float64 for f32", 3, cuda.Val(4.0), "argument 3 `scale`: 8 bytes given (float64), kernel wants 4 (.f32)"},
		{"untyped constant for f32", 3, cuda.Val(4), "argument 3 `scale`: 8 bytes given (int), kernel wants 4"},
		{"bool for f32", 3, cuda.Val(true), "argument 3 `scale`: 1 bytes given (bool), kernel wants 4"},
		{"float32 for f64", 4, cuda.Val(float32(5)),
			"argument 4 `exact`: 4 bytes given (float32), kernel wants 8 (.f64)"},
		{"int64 for f64", 4, cuda.Val(int64(5)), "argument 4 `exact`: int64 given, kernel wants a float (.f64)"},
		{"pointer for f64", 4, cuda.Ptr(x), "argument 4 `exact`: a pointer given, kernel wants a number (.f64)"},
		{"float64 for an address", 5, cuda.Val(5.0),
			"argument 5 `address`: float64 given, kernel wants an integer (.u64)"},
		{"int32 for an address", 5, cuda.Val(int32(5)), "argument 5 `address`: 4 bytes given (int32), kernel wants 8"},
		{"number for a pointer", 6, cuda.Val(int64(5)),
			"argument 6 `data`: int64 given, kernel wants a pointer (.u64 .ptr); pass cuda.Ptr"},
		{"float64 for a pointer", 6, cuda.Val(5.0), "argument 6 `data`: float64 given, kernel wants a pointer"},
		{"closed memory", 6, cuda.Ptr(closed), "argument 6 `data`: the memory is closed"},
		{"part of closed memory", 6, cuda.Ptr(closed.Slice(1, 2)), "argument 6 `data`: the memory is closed"},
		{"memory of another system", 6, cuda.Ptr(other),
			"argument 6 `data`: the memory belongs to another cuda.System"},
		{"Go pointer", 6, cuda.Val(goPointer), "argument 6 `data`: the value is or holds a Go pointer"},
		{"slice", 6, cuda.StructArg(&[]float64{1}), "argument 6 `data`: the value is or holds a Go pointer"},
		{"short struct", 7, cuda.StructArg(&struct{ a, b float64 }{}),
			"argument 7 `box`: 16 bytes given (struct), kernel wants 24 (.b8[])"},
		{"pointer for a struct", 7, cuda.Ptr(x), "argument 7 `box`: 8 bytes given (pointer), kernel wants 24"},
		{"long value by Val", 7, cuda.Val(b), "argument 7 `box`: 24 bytes are too long for cuda.Val; pass cuda.StructArg(&v)"},
		{"struct with a Go pointer", 7, cuda.StructArg(&withPointer),
			"argument 7 `box`: the value is or holds a Go pointer"},
		{"nil struct", 7, cuda.StructArg(nilBox), "argument 7 `box`: no value"},
		{"string", 7, cuda.Val("text"), "argument 7 `box`: the value is or holds a Go pointer"},
		{"float64 for b32", 8, cuda.Val(1.0), "argument 8 `bits`: 8 bytes given (float64), kernel wants 4 (.b32)"},
		{"zero Arg", 8, cuda.Arg{}, "argument 8 `bits`: no value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := good()
			args[c.at] = c.arg
			wantMistake(t, kinds.Launch(nil, cuda.Linear(1), args...), c.want)
		})
	}
	for _, c := range []struct {
		name string
		args []cuda.Arg
		want string
	}{
		{"none", nil, "0 arguments given, kernel wants 9: no argument 0 `byte`"},
		{"one missing", good()[:8], "8 arguments given, kernel wants 9: no argument 8 `bits`"},
		{"one too many", append(good(), cuda.Val(int32(1))), "10 arguments given, kernel wants 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantMistake(t, kinds.Launch(nil, cuda.Linear(1), c.args...), c.want)
			_, err := kinds.Prepare(cuda.Linear(1), c.args...)
			wantMistake(t, err, c.want)
		})
	}
	p, err := kinds.Prepare(cuda.Linear(1), good()...)
	if err != nil {
		t.Fatal(err)
	}
	wantMistake(t, p.Set(2, cuda.Val(1)), "argument 2 `count`: 8 bytes given (int), kernel wants 4")
	wantMistake(t, p.Set(9, cuda.Val(1)), "argument 9 set, kernel wants 9 arguments")
}

// secondContext is a context of another system.
func secondContext(t *testing.T) *cuda.Context {
	t.Helper()
	return cudatest.Open(t, cuda.WithSoftware())
}

func wantMistake(t *testing.T, err error, want string) {
	t.Helper()
	var e *cuda.Error
	if !errors.As(err, &e) || !errors.Is(err, cuda.ErrInvalidValue) {
		t.Fatalf("error %v, want ErrInvalidValue", err)
	}
	if !strings.HasPrefix(e.Detail, want) {
		t.Errorf("message %q, want %q", e.Detail, want)
	}
}

// TestShapeMistakes: launches that the driver would refuse with a bare CUDA_ERROR_INVALID_VALUE get a reason.
func TestShapeMistakes(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "wild")
	for _, test := range []struct {
		name string
		cfg  cuda.LaunchConfig
		want string
	}{
		{"nothing", cuda.LaunchConfig{}, "the grid is empty"},
		{"no elements", cuda.Linear(0), "the grid is empty"},
		{"negative", cuda.Linear(-5), "the grid is empty: -5 threads in blocks of 256"},
		{"negative dimension", cuda.LaunchConfig{Grid: cuda.Dim(4, -1), Block: cuda.Dim(1)},
			"the grid has the negative size -1"},
		{"grid over 32 bits", cuda.LaunchConfig{Grid: cuda.Dim(1 << 33), Block: cuda.Dim(1)},
			"the grid has the size 8589934592, which does not fit 32 bits"},
		{"block over 32 bits", cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1, 1<<32)},
			"the block has the size 4294967296, which does not fit 32 bits"},
		{"negative cluster", cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1), Cluster: cuda.Dim(-2)},
			"the cluster has the negative size -2"},
		{"four dimensions", cuda.LaunchConfig{Grid: cuda.Dim(1, 1, 1, 7), Block: cuda.Dim(1)},
			"the grid has a fourth size, 7"},
		{"no rows", cuda.Grid2D(100, 0, 32, 8), "the grid is empty: 100 x 0 threads in blocks of 32 x 8"},
		{"negative depth", cuda.Grid3D(8, 8, -3, 4, 4, 4),
			"the grid is empty: 8 x 8 x -3 threads in blocks of 4 x 4 x 4"},
		{"negative block", cuda.LinearBlock(8, -2), "the grid is empty: 8 threads in blocks of -2"},
		{"too large", cuda.Linear(math.MaxInt), "the grid does not fit 32 bits: 9223372036854775807 threads in blocks of 256"},
		{"no block", cuda.LaunchConfig{Grid: cuda.Dim(1)}, "the block is empty"},
		{"long block", cuda.LinearBlock(1, 1025), "a block of 1025 x 1 x 1 is 1025 threads; the kernel can have 1024"},
		{"deep block", cuda.Grid3D(1, 1, 1, 32, 32, 2), "a block of 32 x 32 x 2 is 2048 threads"},
		{"shared", cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1), Shared: -1},
			"-1 bytes of dynamic shared memory"},
		{"cluster", cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1), Cluster: cuda.Dim(0, 2)},
			"the cluster is empty"},
	} {
		t.Run(test.name, func(t *testing.T) { wantMistake(t, k.Launch(nil, test.cfg), test.want) })
	}
}

func TestBind(t *testing.T) {
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, kernelsPTX)
	k, err := m.Kernel("fill")
	if err != nil {
		t.Fatal(err)
	}
	fill, err := cuda.Bind3[cuda.Pointer[uint32], uint32, uint32](k)
	if err != nil {
		t.Fatal(err)
	}
	x := cudatest.Alloc[uint32](t, c, 300)
	if err := fill.Launch(nil, cuda.Linear(299), x.Ptr(), 42, 299); err != nil {
		t.Fatal(err)
	}
	want := make([]uint32, 300)
	for i := range 299 {
		want[i] = 42
	}
	cudatest.Equal(t, x.View, want)

	_, err = cuda.Bind2[cuda.Pointer[uint32], uint32](k)
	wantMistake(t, err, "2 arguments given, kernel wants 3: no argument 2 `n`")
	_, err = cuda.Bind3[cuda.Pointer[uint32], uint64, uint32](k)
	wantMistake(t, err, "argument 1 `value`: 8 bytes given (uint64), kernel wants 4 (.u32)")
	_, err = cuda.Bind3[*uint32, uint32, uint32](k)
	wantMistake(t, err, "argument 0: type *uint32: a ptr is a Go pointer inside")
	_, err = cuda.Bind3[cuda.Pointer[uint32], uint32, float32](k)
	wantMistake(t, err, "argument 2 `n`: float32 given, kernel wants an integer (.u32)")
	var zero cuda.Kernel1[int32]
	if err := zero.Launch(nil, cuda.Linear(1), 1); !errors.Is(err, cuda.ErrInvalidHandle) {
		t.Errorf("zero value: %v", err)
	}
}

func TestStructArg(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "unbox")
	out := cudatest.Alloc[box](t, c, 2)
	b := box{1.5, -2.5, 77}
	if err := k.Launch(nil, cuda.LinearBlock(1, 1), cuda.Ptr(out.Slice(1, 2)), cuda.StructArg(&b)); err != nil {
		t.Fatal(err)
	}
	got := cudatest.Download(t, out.View)
	if got[0] != (box{}) || got[1] != b {
		t.Errorf("%+v, want a zero box and %+v", got, b)
	}
}

func TestPrepared(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	x := cudatest.Alloc[uint32](t, c, 4)
	p, err := k.Prepare(cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(1)), cuda.Val(uint32(4)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Launch(nil); err != nil {
		t.Fatal(err)
	}
	cudatest.Equal(t, x.View, []uint32{1, 1, 1, 1})
	if err := p.Set(1, cuda.Val(uint32(9))); err != nil {
		t.Fatal(err)
	}
	if err := p.Set(2, cuda.Val(uint32(2))); err != nil {
		t.Fatal(err)
	}
	if err := p.Launch(nil); err != nil {
		t.Fatal(err)
	}
	cudatest.Equal(t, x.View, []uint32{9, 9, 1, 1})
}

func TestParams(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	params, ok := k.Params()
	if !ok || len(params) != 3 {
		t.Fatalf("%v %v, want the 3 parameters of fill", params, ok)
	}
	// Offsets as cuFuncGetParamInfo gives them: u64, u32, u32 one behind the other.
	if p := params[2]; p != (cuda.Param{Name: "n", Type: ".u32", Offset: 12, Size: 4}) {
		t.Errorf("%+v", p)
	}
}
