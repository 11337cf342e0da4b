package jit

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/mem"
)

// selfTest runs what the engine relies on: executable memory, a call and return, vector registers, and a memory fault that becomes a panic
// with the address.
func (e *engine) selfTest() (err error) {
	var a asm.Asm
	if e.isa == avx2 {
		a.LowerToAVX2(asm.R15, offRegisters)
	}
	a.Ld(asm.RAX, inContext(offTables))
	a.VM(asm.BroadcastD, asm.Z, 31, 0, asm.At(asm.RAX, offNaN))
	a.VM(asm.MovU32, asm.Z, 20, 0, asm.At(asm.RAX, offStepsD))
	a.V(asm.AddD, asm.Z, 8, 20, 20)
	a.VM(asm.MovU32St, asm.Z, 8, 0, inContext(offScratch))
	a.Ld(asm.RCX, inContext(offLow))
	a.StI32(inContext(offOp), 7)
	a.Ld32(asm.RAX, asm.At(asm.RCX, 0)) // may fault
	a.VZeroUpper()
	a.MovI32(asm.RAX, 0x1234)
	a.Ret()
	text, err := a.Finish()
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
	x := &context{tables: unsafe.Pointer(e.tables)}
	x.low = uint64(uintptr(unsafe.Pointer(&x.scratch[16])))
	if got := enter(r.base(), unsafe.Pointer(x)); got != 0x1234 {
		return fmt.Errorf("self-test: machine code returned %#x", got)
	}
	for i := range 16 {
		if x.scratch[i] != uint32(2*i) {
			return fmt.Errorf("self-test: vector element %d is %d", i, x.scratch[i])
		}
	}
	for range 3 {
		x.low, x.op = hole.addr, 0
		addr, faulted := tryEnter(r.base(), x)
		if !faulted || addr != hole.addr || x.op != 7 {
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
