//go:build !(linux && amd64)

package jit

import "github.com/gocuda/cuda/internal/ir"

// List compiles a kernel for looking at; there is no machine code on this platform.
func List(_ *ir.Kernel, _ [3]uint32, isa string) ([]Listing, error) {
	_, err := New(isa)
	return nil, err
}
