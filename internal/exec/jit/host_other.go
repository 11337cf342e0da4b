//go:build !(linux && amd64)

package jit

import (
	"runtime"
	"unsafe"
)

// hostError is why machine code cannot run here. No engine is made, so that nothing below is called.
func hostError() error {
	return &UnavailableError{"machine code is generated for linux/amd64 only, this is " + runtime.GOOS + "/" +
		runtime.GOARCH}
}

func enter(uintptr, unsafe.Pointer) uint64 { panic(hostError()) }

func features() uint32 { return 0 }

func mapExecutable([]byte) ([]byte, error) { return nil, hostError() }

func mapHole() ([]byte, error) { return nil, hostError() }

func unmap([]byte) {}
