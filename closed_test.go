package cuda_test

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// things is one of each type of the package that has methods with errors.
type things struct {
	sys      *cuda.System
	dev      *cuda.Device
	c        *cuda.Context
	buffer   *cuda.Buffer[uint32]
	view     cuda.View[uint32]
	pinned   *cuda.Pinned[uint32]
	managed  *cuda.Managed[uint32]
	matrix   *cuda.Matrix[uint32]
	array    *cuda.Array[uint32]
	texture  *cuda.Texture
	surface  *cuda.Surface
	stream   *cuda.Stream
	event    *cuda.Event
	pool     *cuda.Pool
	own      *cuda.Pool // the device's
	module   *cuda.Module
	kernel   *cuda.Kernel
	prepared *cuda.Prepared
	typed    cuda.Kernel3[cuda.Pointer[uint32], uint32, uint32]
	library  *cuda.Library
	in       *cuda.LibraryIn
	linker   *cuda.Linker
	graph    *cuda.Graph
	body     *cuda.Graph
	node     cuda.Node
	exec     *cuda.GraphExec
	number   cuda.Conditional
}

func made[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// makeThings opens a software device and makes one of everything.
func makeThings(t *testing.T) *things {
	o := new(things)
	o.sys = made(cuda.Open(cuda.WithSoftware()))(t)
	o.dev = made(o.sys.Device(0))(t)
	o.c = made(o.dev.NewContext(0))(t)
	o.buffer = made(cuda.Alloc[uint32](o.c, 4))(t)
	o.view = o.buffer.View
	o.pinned = made(cuda.AllocPinned[uint32](o.c, 4, cuda.PinnedOptions{}))(t)
	o.managed = made(cuda.AllocManaged[uint32](o.c, 4))(t)
	o.matrix = made(cuda.AllocMatrix[uint32](o.c, 2, 2))(t)
	o.array = made(cuda.AllocArray[uint32](o.c, 4, 0, 0, cuda.ArrayOptions{Surface: true}))(t)
	o.texture = made(cuda.NewTexture(o.array, cuda.TextureOptions{}))(t)
	o.surface = made(cuda.NewSurface(o.array))(t)
	o.stream = made(o.c.NewStream(cuda.StreamOptions{NonBlocking: true}))(t)
	o.event = made(o.c.NewEvent(cuda.EventOptions{NoTiming: true}))(t)
	o.pool = made(o.dev.NewPool(cuda.PoolOptions{}))(t)
	o.own = made(o.dev.DefaultPool())(t)
	o.module = made(o.c.Load([]byte(kernelsPTX)))(t)
	o.kernel = made(o.module.Kernel("fill"))(t)
	o.prepared = made(o.kernel.Prepare(cuda.Linear(4), cuda.Ptr(o.buffer), cuda.Val(uint32(1)), cuda.Val(uint32(4))))(t)
	o.typed = made(cuda.Bind3[cuda.Pointer[uint32], uint32, uint32](o.kernel))(t)
	o.library = made(o.sys.LoadLibrary([]byte(kernelsPTX)))(t)
	o.in = o.library.In(o.c)
	o.linker = made(o.c.NewLinker())(t)
	o.graph = made(o.c.NewGraph())(t)
	o.number = made(o.graph.NewConditional(1))(t)
	n, body, err := o.graph.AddIf(nil, o.number)
	check(t, err)
	o.node, o.body = n, body
	o.exec = made(o.graph.Instantiate())(t)
	return o
}

// close closes everything, in reverse order.
func (o *things) close(t *testing.T) {
	for _, x := range []io.Closer{o.exec, o.graph, o.linker, o.library, o.module, o.pool, o.event, o.stream, o.surface,
		o.texture, o.array, o.matrix, o.managed, o.pinned, o.buffer, o.c, o.sys} {
		check(t, x.Close())
	}
}

// each calls f with the fields of things by name.
func (o *things) each(f func(name string, v reflect.Value)) {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		f(v.Type().Field(i).Name, reflect.NewAt(v.Field(i).Type(), v.Field(i).Addr().UnsafePointer()).Elem())
	}
}

var errorType = reflect.TypeFor[error]()

// argument is a value for a parameter: one of the open things where there is one of that type, and what a call would do
// something with.
func argument(t *testing.T, open *things, typ reflect.Type) (v reflect.Value) {
	open.each(func(_ string, f reflect.Value) {
		if f.Type() == typ {
			v = f
		}
	})
	if v.IsValid() {
		return v
	}
	switch typ {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case reflect.TypeFor[cuda.LaunchConfig]():
		return reflect.ValueOf(cuda.Linear(4))
	case reflect.TypeFor[cuda.LaunchAttr]():
		return reflect.ValueOf(cuda.LaunchPriority(0))
	case reflect.TypeFor[cuda.PinnedView[uint32]]():
		return reflect.ValueOf(open.pinned.PinnedView)
	case reflect.TypeFor[func(*cuda.Stream) error]():
		return reflect.ValueOf(func(*cuda.Stream) error { return nil })
	case reflect.TypeFor[func()]():
		return reflect.ValueOf(func() {})
	case reflect.TypeFor[func() error]():
		return reflect.ValueOf(func() error { return nil })
	case reflect.TypeFor[[]uint32]():
		return reflect.ValueOf(make([]uint32, 4))
	case reflect.TypeFor[[]byte]():
		return reflect.ValueOf([]byte(kernelsPTX))
	case reflect.TypeFor[string]():
		return reflect.ValueOf("fill")
	}
	switch typ.Kind() {
	case reflect.Int:
		return reflect.ValueOf(0)
	case reflect.Interface:
		files := fstest.MapFS{"fill": {Data: []byte(kernelsPTX)}}
		if reflect.TypeOf(files).Implements(typ) {
			return reflect.ValueOf(files)
		}
	}
	return reflect.Zero(typ)
}

// unclosed are the methods with an error whose answer does not depend on what is open, with the reason.
var unclosed = map[string]string{
	"c.Err": "is nil while the context is well", "own.Close": "belongs to the device",
	"body.Close": "belongs to its node", "sys.Why": "is of Open", "sys.Device": "is a look at a list",
}

// TestClosed calls every exported method with an error among its results on closed things: it returns ErrClosed, and
// nothing panics. Arguments are open things of another system, or of the same where there are none of that type.
func TestClosed(t *testing.T) {
	cudatest.SoftwareOnly(t)
	open := makeThings(t)
	defer open.close(t)
	closed := makeThings(t)
	closed.close(t)
	methods := 0
	closed.each(func(name string, v reflect.Value) {
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			f := v.Method(i)
			where := name + "." + m.Name
			if m.Name == "Slice" || m.Name == "Row" || m.Name == "Planes" || m.Name == "Sub" || m.Name == "From" {
				continue // panic as slice expressions do
			}
			var args []reflect.Value
			for j := range f.Type().NumIn() {
				if typ := f.Type().In(j); !f.Type().IsVariadic() || j < f.Type().NumIn()-1 {
					args = append(args, argument(t, open, typ))
				}
			}
			if m.Name == "WriteDOT" {
				args[0] = reflect.ValueOf(filepath.Join(t.TempDir(), "x"))
			}
			out := f.Call(args)
			if len(out) == 0 || out[len(out)-1].Type() != errorType || unclosed[where] != "" {
				continue
			}
			methods++
			err, _ := out[len(out)-1].Interface().(error)
			if !errors.Is(err, cuda.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", where, err)
			}
		}
	})
	t.Logf("%d methods", methods)
	if methods < 150 {
		t.Errorf("only %d methods with an error found", methods)
	}
}

// TestClosedArguments: closed things as arguments are refused too.
func TestClosedArguments(t *testing.T) {
	cudatest.SoftwareOnly(t)
	o, gone := makeThings(t), makeThings(t)
	gone.close(t)
	empty := made(cuda.Alloc[uint32](o.c, 0))(t)
	check(t, empty.Close())
	// An attribute keeps what it names.
	e := made(o.c.NewEvent(cuda.EventOptions{NoTiming: true}))(t)
	attr := cuda.CompletionEvent(e)
	check(t, e.Close())
	cfg := cuda.Linear(4)
	cfg.Attrs = []cuda.LaunchAttr{attr}
	args := []cuda.Arg{cuda.Ptr(o.buffer), cuda.Val(uint32(1)), cuda.Val(uint32(4))}
	for name, err := range map[string]error{
		"attribute":                     o.kernel.Launch(nil, cfg, args...),
		"attribute of a stream":         o.stream.SetAttribute(attr),
		"peer":                          o.c.EnablePeer(gone.c),
		"peer taken back":               o.c.DisablePeer(gone.c),
		"copy of an empty buffer":       empty.CopyFrom(nil),
		"copy out of an empty buffer":   empty.CopyTo(nil),
		"copy between empty buffers":    cuda.Copy(empty.View, empty.View),
		"empty buffer set to zero":      empty.Zero(),
		"empty buffer filled":           empty.Fill(1),
		"update by a closed graph":      o.exec.Update(gone.graph),
		"node of a closed graph":        o.exec.SetEnabled(gone.node, true),
		"kernel of a closed module":     o.exec.SetKernel(o.node, gone.prepared),
		"prepared launch, module gone":  second(o.graph.AddPrepared(nil, gone.prepared)),
		"matrix":                        cuda.CopyMatrix(nil, o.matrix.MatrixView, gone.matrix.MatrixView),
		"event":                         o.stream.WaitEvent(gone.event),
		"event in a graph":              second(o.graph.AddWait(nil, gone.event)),
		"child":                         second(o.graph.AddChild(nil, gone.graph)),
		"body":                          second(o.graph.AddChild(nil, gone.body)),
		"typed kernel of closed module": second(cuda.Bind3[cuda.Pointer[uint32], uint32, uint32](gone.kernel)),
		"closed memory as another type": second(cuda.Cast[float32](gone.view)),
	} {
		if !errors.Is(err, cuda.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	o.close(t)
}

func second[T any](_ T, err error) error { return err }

// TestSizes: numbers that are no sizes are refused with the number, not cut to 32 bits.
func TestSizes(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	d := c.Device()
	for _, n := range []int{-5, math.MinInt, 1<<32 + 1} {
		for name, err := range map[string]error{
			"shared memory of blocks":  second(k.AvailableShared(n, 32)),
			"shared memory of a block": second(k.AvailableShared(1, n)),
			"occupancy":                second(k.Occupancy(n, 0)),
			"green context":            second(d.NewGreenContext(n)),
			"registers":                second(c.Load([]byte(kernelsPTX), cuda.MaxRegisters(n))),
			"threads":                  second(c.NewLinker(cuda.ThreadsPerBlock(n))),
			"level":                    second(d.System().LoadLibrary([]byte(kernelsPTX), cuda.OptLevel(n))),
			"dynamic shared memory":    k.SetMaxDynamicShared(n),
			"shared memory of a launch": second(k.Prepare(cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1),
				Shared: n})),
			"clusters": second(k.ResidentClusters(cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1), Shared: n})),
			"cluster":  second(k.LargestCluster(cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1), Shared: n})),
		} {
			var e *cuda.Error
			if !errors.As(err, &e) || e.Code != cuda.ErrInvalidValue || !strings.Contains(e.Detail, strconv.Itoa(n)) {
				t.Errorf("%s of %d: %v, want ErrInvalidValue", name, n, err)
			}
		}
	}
	for _, n := range []int{-5, math.MinInt} {
		for name, err := range map[string]error{
			"buffer":              second(cuda.Alloc[uint32](c, n)),
			"pinned memory":       second(cuda.AllocPinned[uint32](c, n, cuda.PinnedOptions{})),
			"managed memory":      second(cuda.AllocManaged[uint32](c, n)),
			"asynchronous memory": second(cuda.AllocAsync[uint32](c.Default(), n)),
			"matrix":              second(cuda.AllocMatrix[uint32](c, n, 1)),
			"volume":              second(cuda.AllocVolume[uint32](c, 1, 1, n)),
			"array":               second(cuda.AllocArray[uint32](c, 1, n, 0, cuda.ArrayOptions{})),
		} {
			if !errors.Is(err, cuda.ErrInvalidValue) {
				t.Errorf("%s of %d: %v, want ErrInvalidValue", name, n, err)
			}
		}
	}
	// Priorities beyond the range are taken as its ends (cuStreamCreateWithPriority); they are not cut either.
	s := cudatest.Stream(t, c, cuda.StreamOptions{Priority: 1 << 32})
	least, _, err := c.PriorityRange()
	check(t, err)
	if p, err := s.Priority(); err != nil || p != least {
		t.Errorf("priority 1<<32 became %d, %v; the least is %d", p, err, least)
	}
}
