package softdev

import (
	"os"
	"strconv"
)

// environment is what the driver reads of the process's environment when it starts (CUDA C++ Programming Guide, "CUDA Environment Variables").
type environment struct {
	eager      bool // CUDA_MODULE_LOADING=EAGER; LAZY, DEFAULT and anything else load functions when they are needed
	forcePTX   bool // CUDA_FORCE_PTX_JIT=1: machine code of containers is left aside
	memcheck   bool // GOCUDA_MEMCHECK
	disablePTX bool // CUDA_DISABLE_PTX_JIT=1: PTX is refused
}

func readEnvironment() (e environment) {
	on := func(name string) bool {
		n, err := strconv.Atoi(os.Getenv(name))
		return err == nil && n != 0
	}
	e.eager = os.Getenv("CUDA_MODULE_LOADING") == "EAGER"
	e.forcePTX, e.disablePTX = on("CUDA_FORCE_PTX_JIT"), on("CUDA_DISABLE_PTX_JIT")
	switch os.Getenv(MemcheckVariable) {
	case "1", "true", "on":
		e.memcheck = true
	}
	return e
}
