//go:build !amd64

package interp

import "unsafe"

const has128 = false

func cas128(unsafe.Pointer, uint64, uint64, uint64, uint64) (low, high uint64) {
	panic("interp: no 128-bit atomics")
}
