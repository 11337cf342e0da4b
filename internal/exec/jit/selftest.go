package jit

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/mem"
)

// selfTest runs what the engine relies on: executable memory, a call and return, vector registers, and a memory fault
// that becomes a panic with the address.
func (e *engine) selfTest() (err error) {
	text, err := e.back.SelfTest()
	if err != nil {
		return err
	}
	r, err := mapCode(text, &e.mapped)
	if err != nil {
		return err
	}
	defer r.free()
	hole, err := newHole()
	if err != nil {
		return err
	}
	defer hole.close()
	x := &context{abi.Context{Tables: e.layout.Tables}}
	x.Low = uint64(uintptr(unsafe.Pointer(&x.Scratch[16])))
	if got := enter(r.base(), unsafe.Pointer(x)); got != 0x1234 {
		return fmt.Errorf("self-test: machine code returned %#x", got)
	}
	for i := range 16 {
		if x.Scratch[i] != uint32(2*i) {
			return fmt.Errorf("self-test: vector element %d is %d", i, x.Scratch[i])
		}
	}
	for range 3 {
		x.Low, x.Op = hole.addr, 0
		addr, faulted := tryEnter(r.base(), x)
		if !faulted || addr != hole.addr || x.Op != 7 {
			return fmt.Errorf("self-test: a memory fault at %#x was reported as %#x, %t", hole.addr, addr, faulted)
		}
	}
	return nil
}

// tryEnter runs machine code and catches a memory fault.
func tryEnter(code uintptr, x *context) (addr uint64, faulted bool) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			addr, faulted = mem.Faulted(r)
		}
	}()
	enter(code, unsafe.Pointer(x))
	return 0, false
}
