//go:build !(linux && amd64)

package jit

import (
	"runtime"

	"github.com/gocuda/cuda/internal/exec"
)

// New returns the engine for an instruction set, or an *UnavailableError with the reason why it cannot work here.
func New(string) (exec.Engine, error) {
	return nil, &UnavailableError{"machine code is generated for linux/amd64 only, this is " + runtime.GOOS + "/" + runtime.GOARCH}
}
