package trace

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Class is a kind of instruction.
type Class uint8

// The classes of the instruction mix.
const (
	Other Class = iota
	Float16
	Float32
	Float64
	SpecialFunction
	Integer
	Compare
	Convert
	Move
	Control
	Synchronize
	WarpWide
	GlobalMemory
	SharedMemory
	LocalMemory
	Parameter
	Atomic
	AsyncCopy
	Texture
	Tensor
	classes
)

var classNames = [classes]struct{ name, meaning string }{
	Other:           {"other", "prefetch, cache control and what is in no other class"},
	Float16:         {"float16", "arithmetic of f16, bf16 and their pairs"},
	Float32:         {"float32", "arithmetic of f32"},
	Float64:         {"float64", "arithmetic of f64"},
	SpecialFunction: {"special", "div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh of any type"},
	Integer:         {"integer", "integer arithmetic, logic, shifts, SIMD video"},
	Compare:         {"compare", "setp, set, selp, slct"},
	Convert:         {"convert", "cvt"},
	Move:            {"move", "mov, reads of special registers, conversions of addresses"},
	Control:         {"control", "branches, calls, returns, exits"},
	Synchronize:     {"synchronize", "barriers, fences, mbarrier"},
	WarpWide:        {"warp", "shfl, vote, match, redux and other exchange within a warp"},
	GlobalMemory:    {"global", "loads and stores of global memory and by generic addresses"},
	SharedMemory:    {"shared", "loads and stores of shared memory, ldmatrix, stmatrix"},
	LocalMemory:     {"local", "loads and stores of local memory"},
	Parameter:       {"parameter", "loads of kernel parameters and constant memory"},
	Atomic:          {"atomic", "atom and red"},
	AsyncCopy:       {"async", "cp.async, bulk and tensor copies"},
	Texture:         {"texture", "textures and surfaces"},
	Tensor:          {"tensor", "mma, wgmma and their kin"},
}

func (c Class) String() string { return classNames[c].name }

// Meaning says which instructions the class has.
func (c Class) Meaning() string { return classNames[c].meaning }

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; a class that is not known is Other.
func (c *Class) UnmarshalText(text []byte) error {
	*c = Other
	for i := range classNames {
		if classNames[i].name == string(text) {
			*c = Class(i)
		}
	}
	return nil
}

// ClassOf is the class of an operation.
func ClassOf(op *ir.Op) Class {
	switch op.Ctl {
	case ir.Branch, ir.Jump, ir.BranchX, ir.Call, ir.Ret, ir.Exit, ir.Trap:
		return Control
	case ir.Special, ir.FrameAddr:
		return Move
	}
	switch op.Opcode() {
	case optab.NoOp, optab.OpMov:
		return Move
	case optab.OpFdiv, optab.OpRcp, optab.OpSqrt, optab.OpRsqrt, optab.OpSin, optab.OpCos, optab.OpLg2, optab.OpEx2,
		optab.OpTanh:
		return SpecialFunction
	case optab.OpLdmatrix, optab.OpStmatrix:
		return SharedMemory
	case optab.OpMovmatrix:
		return WarpWide
	}
	f := op.Form()
	switch f.Mem {
	case optab.MemLoad, optab.MemStore:
		if a, ok := op.Access(); ok {
			switch a.Addr.Space {
			case ir.Shared, ir.SharedCluster:
				return SharedMemory
			case ir.Local:
				return LocalMemory
			case ir.Const, ir.KernelParam, ir.FrameParam:
				return Parameter
			}
			return GlobalMemory
		}
	case optab.MemAtomic:
		return Atomic
	case optab.MemCopy:
		return AsyncCopy
	}
	switch f.Group {
	case "float":
		switch t := op.Type(0).Info(); {
		case t.Bits/max(t.Lanes, 1) == 16:
			return Float16
		case t.Bits/max(t.Lanes, 1) == 64:
			return Float64
		}
		return Float32
	case "int", "video":
		return Integer
	case "compare":
		return Compare
	case "cvt":
		return Convert
	case "control":
		return Control
	case "sync":
		return Synchronize
	case "warp":
		return WarpWide
	case "async", "tensor":
		return AsyncCopy
	case "texture":
		return Texture
	case "mma", "tcgen05":
		return Tensor
	case "mem", "stack":
		if f.Pure {
			return Move
		}
	}
	return Other
}

// Flops counts floating point operations: an addition or a multiplication is one, a fused multiply-add two.
type Flops struct {
	F16    uint64 `json:"f16"`    // of f16 and bf16, each element of a pair by itself
	F32    uint64 `json:"f32"`    //
	F64    uint64 `json:"f64"`    //
	Tensor uint64 `json:"tensor"` // of mma and wgmma on floating point matrices; zeros of sparse ones left out
}

func (f *Flops) add(o Flops) {
	f.F16 += o.F16
	f.F32 += o.F32
	f.F64 += o.F64
	f.Tensor += o.Tensor
}

// Total is the sum.
func (f Flops) Total() uint64 { return f.F16 + f.F32 + f.F64 + f.Tensor }

// flopsOf is what so many executions by a thread compute.
func flopsOf(op *ir.Op, threads uint64) (f Flops) {
	n := threads
	switch op.Opcode() {
	case optab.OpFadd, optab.OpFsub, optab.OpFmul:
	case optab.OpFfma:
		n *= 2
	case optab.OpMma, optab.OpMmaSp, optab.OpWgmmaMma, optab.OpWgmmaSp:
		return Flops{Tensor: tensorFlops(op, threads)}
	default:
		return f
	}
	t := op.Type(0).Info()
	n *= uint64(max(t.Lanes, 1))
	switch t.Bits / max(t.Lanes, 1) {
	case 16:
		f.F16 = n
	case 32:
		f.F32 = n
	case 64:
		f.F64 = n
	}
	return f
}

// tensorFlops is what products of matrices compute; those of integers count as nothing.
func tensorFlops(op *ir.Op, threads uint64) uint64 {
	if t := op.Type(0); t.Integer() {
		return 0
	}
	s := op.Mods().Shape
	n := threads / 32 * 2 * uint64(s.M) * uint64(s.N) * uint64(s.K)
	switch op.Opcode() {
	case optab.OpMmaSp:
		n /= 2
	case optab.OpWgmmaMma: // four warps compute it together
		n /= 4
	case optab.OpWgmmaSp:
		n /= 8
	}
	return n
}
