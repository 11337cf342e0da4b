package cuda_test

import (
	"errors"
	"fmt"
	"log"

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
	if err := fill.Launch(nil, cuda.Linear(x.Len()), cuda.Ptr(x), cuda.Val(uint32(7)), cuda.Val(uint32(x.Len()))); err != nil {
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
