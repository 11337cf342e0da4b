// Command 13-context-independent loads a library once, in no context, and launches one kernel handle in every context
// of every device: the pattern of "context-independent loading" in the CUDA programming guide. A __device__ variable is
// there once in each context, a __managed__ one once in all, and attributes of the kernel belong to a device. On the
// software device it makes two devices; with one GPU it makes two contexts on it.
package main

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
)

//go:embed count.ptx
var code []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	if sys.Kind() == cuda.Software && len(sys.Devices()) < 2 {
		if err := sys.Close(); err != nil {
			return err
		}
		if sys, err = cuda.Open(cuda.WithSoftware("h200", "h200")); err != nil {
			return err
		}
	}
	defer sys.Close()

	// No context is needed for any of this.
	api := sys.API()
	lib, err := api.LibraryLoadData(code, nil, nil, nil, nil)
	if err != nil {
		return err
	}
	kernel, err := api.LibraryGetKernel(lib, "count")
	if err != nil {
		return err
	}

	first, second := sys.Devices()[0], sys.Devices()[len(sys.Devices())-1]
	one, err := first.Primary()
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := second.NewContext(cuda.SchedAuto)
	if err != nil {
		return err
	}
	defer two.Close()

	// The contexts know nothing of the library; it comes into each when it is needed there.
	contexts := []*cuda.Context{one, two}
	shared := make([]cu.CUdeviceptr, len(contexts))
	for i, c := range contexts {
		if err := launch(c, kernel, i+1); err != nil {
			return fmt.Errorf("context %d: %w", i, err)
		}
		n, err := variable(c, lib, "blocks")
		if err != nil {
			return err
		}
		if shared[i], _, err = c.API().LibraryGetManaged(lib, "total"); err != nil {
			return err
		}
		fmt.Fprintf(w, "context %d: %d blocks counted\n", i, n)
	}
	total, err := word(one, shared[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "together: %d, at the addresses %#x and %#x\n", total, shared[0], shared[1])

	// The module in a context belongs to the library: it goes with the library and not before.
	mod, err := one.API().LibraryGetModule(lib)
	if err != nil {
		return err
	}
	err = one.API().ModuleUnload(mod)
	if !errors.Is(err, cu.CUDA_ERROR_NOT_PERMITTED) {
		return fmt.Errorf("the module was unloaded without its library: %v", err)
	}
	fmt.Fprintln(w, "unloading the module alone:", err)
	return api.LibraryUnload(lib)
}

// launch runs n blocks, each of which adds 10 to the total.
func launch(c *cuda.Context, kernel cu.CUkernel, n int) error {
	const each = 10
	add := uint32(each)
	api := c.API() // calls through it run with this context current
	if err := api.LaunchKernel(cu.CUfunction(kernel), uint32(n), 1, 1, 32, 1, 1, 0, 0,
		[]unsafe.Pointer{unsafe.Pointer(&add)}, nil); err != nil {
		return err
	}
	return api.CtxSynchronize()
}

// variable reads a __device__ variable as it is in a context.
func variable(c *cuda.Context, lib cu.CUlibrary, name string) (uint32, error) {
	p, _, err := c.API().LibraryGetGlobal(lib, name)
	if err != nil {
		return 0, err
	}
	return word(c, p)
}

func word(c *cuda.Context, p cu.CUdeviceptr) (uint32, error) {
	var b [4]byte
	err := c.API().MemcpyDtoH(b[:], p)
	return binary.NativeEndian.Uint32(b[:]), err
}
