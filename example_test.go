package cuda_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gocuda/cuda"
)

func Example() {
	sys, err := cuda.Open(cuda.WithSoftware())
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	c, err := sys.Context(0)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	mod, err := c.Load(kernelsPTX)
	if err != nil {
		log.Fatal(err)
	}
	defer mod.Close()
	fill, err := mod.Kernel("fill")
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Alloc[uint32](c, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	if err := fill.Launch(nil, cuda.Linear(x.Len()), cuda.Ptr(x), cuda.Val(uint32(7)),
		cuda.Val(uint32(x.Len()))); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Download())
	// Output: [7 7 7 7] <nil>
}

func ExampleKernel_Launch_mistake() {
	sc, c, mod := open()
	defer sc.Close()
	fill, err := mod.Kernel("fill")
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Alloc[uint32](c, 4)
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x)
	err = fill.Launch(nil, cuda.Linear(4), cuda.Ptr(x), cuda.Val(7), cuda.Val(uint32(4)))
	fmt.Println(err)
	// Output: cuda: cuLaunchKernel (fill): CUDA_ERROR_INVALID_VALUE: invalid argument: argument 1 `value`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)
}

func ExampleBind3() {
	sc, c, mod := open()
	defer sc.Close()
	k, err := mod.Kernel("fill")
	if err != nil {
		log.Fatal(err)
	}
	fill, err := cuda.Bind3[cuda.Pointer[uint32], uint32, uint32](k)
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Upload(c, []uint32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x)
	if err := fill.Launch(nil, cuda.Linear(2), x.Slice(1, 3).Ptr(), 9, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Download())
	// Output: [1 9 9 4] <nil>
}

func ExampleStream_Capture() {
	sc, c, mod := open()
	defer sc.Close()
	k, err := mod.Kernel("addbias") // adds 5
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Upload(c, []uint32{1, 2})
	if err != nil {
		log.Fatal(err)
	}
	s, err := c.NewStream(cuda.StreamOptions{})
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x, s)
	g, err := s.Capture(func(s *cuda.Stream) error {
		return k.Launch(s, cuda.Linear(2), cuda.Ptr(x), cuda.Val(uint32(2)))
	})
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(g)
	exec, err := g.Instantiate()
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(exec)
	for range 10 {
		if err := exec.Launch(s); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Synchronize(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Download())
	// Output: [51 52] <nil>
}

func ExampleView_Slice() {
	sc, c, _ := open()
	defer sc.Close()
	x, err := cuda.Upload(c, []float32{0, 1, 2, 3, 4, 5})
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x)
	if err := x.Slice(2, 4).Fill(-1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.From(1).Download())
	// Output: [1 -1 -1 4 5] <nil>
}

func ExampleError() {
	sc, c, _ := open()
	defer sc.Close()
	_, err := cuda.Alloc[byte](c, 1<<50)
	fmt.Println(errors.Is(err, cuda.ErrOutOfMemory))
	var e *cuda.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Code)
	}
	// Output:
	// true
	// cuMemAlloc CUDA_ERROR_OUT_OF_MEMORY: out of memory
}

func ExampleStructArg() {
	sc, c, mod := open()
	defer sc.Close()
	unbox, err := mod.Kernel("unbox") // out = box
	if err != nil {
		log.Fatal(err)
	}
	out, err := cuda.Alloc[box](c, 1)
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(out)
	b := box{X: 1.5, Y: 2.5, N: 3} // as C has it: double x, y; int n;
	if err := unbox.Launch(nil, cuda.LinearBlock(1, 1), cuda.Ptr(out), cuda.StructArg(&b)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Download())
	// Output: [{1.5 2.5 3}] <nil>
}

func ExampleKernel_Prepare() {
	sc, c, mod := open()
	defer sc.Close()
	fill, err := mod.Kernel("fill")
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Upload(c, make([]uint32, 3))
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x)
	p, err := fill.Prepare(cuda.Linear(3), cuda.Ptr(x), cuda.Val(uint32(0)), cuda.Val(uint32(3)))
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 { // each launch leaves one element to those before it
		if err := p.Set(1, cuda.Val(uint32(10*i))); err != nil {
			log.Fatal(err)
		}
		if err := p.Set(2, cuda.Val(uint32(3-i))); err != nil {
			log.Fatal(err)
		}
		if err := p.Launch(nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(x.Download())
	// Output: [20 10 0] <nil>
}

func ExampleView_CopyFromAsync() {
	sc, c, _ := open()
	defer sc.Close()
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		log.Fatal(err)
	}
	host, err := cuda.AllocPinned[float32](c, 4, cuda.PinnedOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Alloc[float32](c, 4)
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(s, host, x)
	copy(host.Data(), []float32{1, 2, 3, 4})
	if err := x.CopyFromAsync(s, host.PinnedView); err != nil {
		log.Fatal(err)
	}
	if err := s.Synchronize(); err != nil { // until here host must not change
		log.Fatal(err)
	}
	fmt.Println(x.Download())
	// Output: [1 2 3 4] <nil>
}

func ExampleStream_Wait() {
	sc, c, mod := open()
	defer sc.Close()
	forever, err := mod.Kernel("forever") // while (*x == 0);
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Upload(c, []uint32{0})
	if err != nil {
		log.Fatal(err)
	}
	if err := forever.Launch(nil, cuda.Linear(1), cuda.Ptr(x)); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err = c.Default().Wait(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, cuda.ErrLaunchTimeout))
	// The software device has stopped the kernel, which broke the context.
	fmt.Println(c.Err() != nil)
	// Output:
	// true true
	// true
}

func ExampleGraphExec_Update() {
	sc, c, mod := open()
	defer sc.Close()
	fill, err := mod.Kernel("fill")
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Alloc[uint32](c, 2)
	if err != nil {
		log.Fatal(err)
	}
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		log.Fatal(err)
	}
	sc.Add(x, s)
	var exec *cuda.GraphExec
	for step := range 3 {
		g, err := s.Capture(func(s *cuda.Stream) error {
			return fill.Launch(s, cuda.Linear(2), cuda.Ptr(x), cuda.Val(uint32(step)), cuda.Val(uint32(2)))
		})
		if err != nil {
			log.Fatal(err)
		}
		if exec == nil {
			if exec, err = g.Instantiate(); err != nil {
				log.Fatal(err)
			}
			sc.Add(exec)
		} else if err := exec.Update(g); err != nil { // the same shape: cheaper than a new one
			log.Fatal(err)
		}
		if err := g.Close(); err != nil {
			log.Fatal(err)
		}
		if err := exec.Launch(s); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Synchronize(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Download())
	// Output: [2 2] <nil>
}

func ExampleGlobalOf() {
	sc, _, mod := open()
	defer sc.Close()
	coefficient, err := cuda.GlobalOf[float32](mod, "coefficient") // __constant__ float coefficient[4] = {1, 2, 3, 4};
	if err != nil {
		log.Fatal(err)
	}
	if err := coefficient.Slice(1, 2).CopyFrom([]float32{20}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(coefficient.Download())
	// Output: [1 20 3 4] <nil>
}

func ExampleWithLeakReports() {
	sys, err := cuda.Open(cuda.WithSoftware(), cuda.WithLeakReports(nil))
	if err != nil {
		log.Fatal(err)
	}
	c, err := sys.Context(0)
	if err != nil {
		log.Fatal(err)
	}
	x, err := cuda.Alloc[float64](c, 100)
	if err != nil {
		log.Fatal(err)
	}
	var open *cuda.OpenError
	if errors.As(c.Close(), &open) {
		l := open.Leaks[0] // l.Stack has the place
		fmt.Println(open.Kind, "not closed:", l.Kind, "of", l.Bytes, "bytes is open")
	}
	fmt.Println(x.Close(), c.Close(), sys.Close())
	// Output:
	// context not closed: buffer of 800 bytes is open
	// <nil> <nil> <nil>
}

// open opens the software device and loads the kernels of the tests; the scope closes everything.
func open() (*cuda.Scope, *cuda.Context, *cuda.Module) {
	sys, err := cuda.Open(cuda.WithSoftware())
	if err != nil {
		log.Fatal(err)
	}
	c, err := sys.Context(0)
	if err != nil {
		log.Fatal(err)
	}
	mod, err := c.Load(kernelsPTX)
	if err != nil {
		log.Fatal(err)
	}
	sc := cuda.NewScope()
	sc.Add(sys, c, mod)
	return sc, c, mod
}
