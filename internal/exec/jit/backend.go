package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// backend makes machine code. It works on what package plan found out, for the engine that package abi describes.
type backend interface {
	// Name is the instruction set's.
	Name() string
	// Supports says whether there is machine code for an operation.
	Supports(op *ir.Op) bool
	// CompileWarp writes the code of a function for warps with all lanes, or with any; entry has the offset at which
	// each operation can be entered, -1 for none.
	CompileWarp(f *plan.Func, full bool, marks *[]abi.Mark) (text []byte, entry []int32, err error)
	// CompileCTA writes the code of a kernel for whole CTAs.
	CompileCTA(k *ir.Kernel, v *plan.Values, o abi.CTAOptions) (*abi.CTACode, error)
	// CompileRest writes the part of a kernel's code that CompileCTA left out, with the same options.
	CompileRest(k *ir.Kernel, c *abi.CTACode, o abi.CTAOptions) (*abi.CTARest, error)
	// Layout is what the code expects of the context.
	Layout() abi.Layout
	// SelfTest is code that reads constants and tells with which of them it computes: see engine.selfTest.
	SelfTest() ([]byte, error)
}
