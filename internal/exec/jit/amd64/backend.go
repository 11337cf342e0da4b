package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// ISA is an instruction set.
type ISA uint8

const (
	AVX512 ISA = iota
	AVX2       // the same vocabulary, lowered (asm.Asm.LowerToAVX2)
)

func (i ISA) String() string { return [...]string{"AVX-512", "AVX2"}[i] }

// Backend makes code of an instruction set.
type Backend struct {
	set    ISA
	tables *engineTables
}

// New returns what makes code of an instruction set.
func New(set ISA) *Backend { return &Backend{set, newTables()} }

var _ = [1]struct{}{}[asm.FileSize-abi.RegistersSize]

// Name is the instruction set's.
func (b *Backend) Name() string { return b.set.String() }

// Supports says whether there is machine code for an operation.
func (b *Backend) Supports(op *ir.Op) bool { return lookup(op) != nil }

// CompileWarp writes the code of a function.
func (b *Backend) CompileWarp(f *plan.Func, full bool, marks *[]abi.Mark) (text []byte, entry []int32, err error) {
	return generate(b.set, f, full, marks)
}

// CompileCTA writes the code of whole CTAs.
func (b *Backend) CompileCTA(k *ir.Kernel, v *plan.Values, o abi.CTAOptions) (*abi.CTACode, error) {
	return generateCTA(b.set, k, v, o)
}

// CompileRest writes what CompileCTA left out of the code of whole CTAs.
func (b *Backend) CompileRest(k *ir.Kernel, c *abi.CTACode, o abi.CTAOptions) (*abi.CTARest, error) {
	return generateRest(b.set, k, c, o)
}

// Layout is what the code expects of the context.
func (b *Backend) Layout() abi.Layout {
	return abi.Layout{
		Tables:     unsafe.Pointer(b.tables),
		Multiplies: func(op *ir.Op) bool { _, ok := matrixOf(op); return ok },
		NewMatrix:  func() unsafe.Pointer { return unsafe.Pointer(newMatrixWork()) },
		Samples:    func(op *ir.Op) bool { _, ok := sampleOf(op); return ok },
	}
}

// SelfTest stores twice the numbers 0 to 15 in the context's scratch words, and 7 as its operation, loads a word from
// its low address and returns 0x1234.
func (b *Backend) SelfTest() ([]byte, error) {
	var a asm.Asm
	if b.set == AVX2 {
		a.LowerToAVX2(asm.R15, abi.OffRegisters)
	}
	a.Ld(asm.RAX, inContext(abi.OffTables))
	a.VM(asm.BroadcastD, asm.Z, 31, 0, asm.At(asm.RAX, offNaN))
	a.VM(asm.MovU32, asm.Z, 20, 0, asm.At(asm.RAX, offStepsD))
	a.V(asm.AddD, asm.Z, 8, 20, 20)
	a.VM(asm.MovU32St, asm.Z, 8, 0, inContext(abi.OffScratch))
	a.Ld(asm.RCX, inContext(abi.OffLow))
	a.StI32(inContext(abi.OffOp), 7)
	a.Ld32(asm.RAX, asm.At(asm.RCX, 0)) // may fault
	a.VZeroUpper()
	a.MovI32(asm.RAX, 0x1234)
	a.Ret()
	return a.Finish()
}
