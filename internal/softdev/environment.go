package softdev

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/mem"
)

// MemoryVariable is the environment variable that sets how much memory each software device has: bytes, or a number with K, M, G or T behind it
// (powers of 1024), a multiple of 2 MiB after rounding down. Programs that allocate a share of the device's memory are kept from asking the host for all
// that the device of the profile would have.
const MemoryVariable = "GOCUDA_MEMORY"

// MemorySizeError says that an amount of memory (Options.Memory or MemoryVariable) is none.
type MemorySizeError struct {
	Value string
	Why   string
}

func (e *MemorySizeError) Error() string {
	return fmt.Sprintf("%s=%q: %s", MemoryVariable, e.Value, e.Why)
}

// The least memory of a device holds its own buffers and some modules; the most is what a window can hold.
const (
	leastMemory = 64 << 20
	mostMemory  = mem.MaxWindow / 2
)

// parseMemory reads the value of MemoryVariable; 0 means that it says nothing.
func parseMemory(text string) (uint64, error) {
	value := strings.TrimSpace(text)
	if value == "" {
		return 0, nil
	}
	digits, shift := value, 0
	if i := strings.IndexByte("KMGT", value[len(value)-1]&^0x20); i >= 0 {
		digits, shift = value[:len(value)-1], 10*(i+1)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err != nil:
		return 0, &MemorySizeError{text, "not a number of bytes, with K, M, G or T behind it or not"}
	case bits.Len64(n)+shift > 64 || n<<shift > mostMemory:
		return 0, &MemorySizeError{text, fmt.Sprintf("more than the %d GiB that the address window allows", uint64(mostMemory)>>30)}
	case n<<shift < leastMemory:
		return 0, &MemorySizeError{text, fmt.Sprintf("less than %d MiB", leastMemory>>20)}
	}
	return n << shift &^ (mem.Granule - 1), nil
}

// environment is what the driver reads of the process's environment when it starts (CUDA C++ Programming Guide, "CUDA Environment Variables").
type environment struct {
	eager      bool // CUDA_MODULE_LOADING=EAGER; LAZY, DEFAULT and anything else load functions when they are needed
	forcePTX   bool // CUDA_FORCE_PTX_JIT=1: machine code of containers is left aside
	memcheck   bool // GOCUDA_MEMCHECK
	stack      bool // GOCUDA_STACK
	disablePTX bool // CUDA_DISABLE_PTX_JIT=1: PTX is refused
	memory     uint64
}

func readEnvironment() (e environment, err error) {
	on := func(name string) bool {
		n, err := strconv.Atoi(os.Getenv(name))
		return err == nil && n != 0
	}
	e.eager = os.Getenv("CUDA_MODULE_LOADING") == "EAGER"
	e.stack = on(StackVariable)
	e.forcePTX, e.disablePTX = on("CUDA_FORCE_PTX_JIT"), on("CUDA_DISABLE_PTX_JIT")
	switch os.Getenv(MemcheckVariable) {
	case "1", "true", "on":
		e.memcheck = true
	}
	e.memory, err = parseMemory(os.Getenv(MemoryVariable))
	return e, err
}
