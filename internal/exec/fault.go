package exec

import (
	"fmt"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// FaultKind says what went wrong in a kernel.
type FaultKind uint8

// The kinds of faults; each corresponds to one result code of the driver.
const (
	FaultAddress    FaultKind = iota // access outside any allocation: CUDA_ERROR_ILLEGAL_ADDRESS
	FaultMisaligned                  // CUDA_ERROR_MISALIGNED_ADDRESS
	FaultSpace                       // address of the wrong state space: CUDA_ERROR_INVALID_ADDRESS_SPACE
	// CUDA_ERROR_ILLEGAL_INSTRUCTION (an operand that the hardware refuses; shared memory out of range)
	FaultInstruction
	FaultPC       // call through a bad function address: CUDA_ERROR_INVALID_PC
	FaultTrap     // trap: CUDA_ERROR_LAUNCH_FAILED
	FaultAssert   // __assertfail: CUDA_ERROR_ASSERT
	FaultStack    // local memory exhausted: CUDA_ERROR_ILLEGAL_ADDRESS
	FaultDeadlock // nothing can run any more: CUDA_ERROR_LAUNCH_TIMEOUT
	FaultStopped  // stopped from outside: CUDA_ERROR_LAUNCH_TIMEOUT
	FaultMemory   // no memory for local variables and calls: CUDA_ERROR_OUT_OF_MEMORY
	// a valid operation that the software device does not implement: CUDA_ERROR_NOT_SUPPORTED
	FaultUnsupported
	FaultInternal // a defect of the software device
)

var faultText = [...]string{"illegal address", "misaligned access", "address of the wrong state space",
	"illegal instruction", "call to an invalid address",
	"trap", "assertion failed", "stack overflow", "deadlock", "stopped", "out of memory", "not supported",
	"internal error"}

func (k FaultKind) String() string { return faultText[k] }

// Fault is the error of a kernel that broke.
type Fault struct {
	Kind      FaultKind
	Kernel    string
	Func      string // function of the faulting operation
	Line      int32  // PTX line
	Loc       check.Loc
	File      string // source file of Loc, "" when unknown
	Block     [3]uint32
	Thread    [3]uint32
	HasThread bool
	Addr      uint64
	Size      uint32
	Write     bool
	HasAddr   bool
	Space     string
	Text      string        // detail
	Defect    *defect.Error // of FaultInternal

	// With a memory checker (Memory.Check): the kernel, and how many more threads of the warp make a bad access with
	// the same operation; the last of them and its address.
	Program    *ir.Kernel
	More       int
	LastThread [3]uint32
	LastAddr   uint64
}

func (f *Fault) Error() string {
	s := f.Kind.String()
	if f.Defect != nil {
		s = f.Defect.Reason()
	}
	if f.HasAddr {
		rw := "read"
		if f.Write {
			rw = "write"
		}
		if f.Size > 0 {
			s += fmt.Sprintf(": %s of %d bytes at %#x", rw, f.Size, f.Addr)
		} else {
			s += fmt.Sprintf(" at %#x", f.Addr)
		}
		if f.Space != "" {
			s += " (" + f.Space + ")"
		}
	}
	if f.Text != "" {
		s += ": " + f.Text
	}
	s += " in kernel " + f.Kernel
	if f.Func != "" && f.Func != f.Kernel {
		s += ", function " + f.Func
	}
	if f.Line > 0 {
		s += fmt.Sprintf(", PTX line %d", f.Line)
	}
	if f.Loc.Line > 0 {
		if f.File != "" {
			s += fmt.Sprintf(" (%s:%d)", f.File, f.Loc.Line)
		} else {
			s += fmt.Sprintf(" (source line %d)", f.Loc.Line)
		}
	}
	if f.HasThread {
		s += fmt.Sprintf(", block (%d,%d,%d), thread (%d,%d,%d)", f.Block[0], f.Block[1], f.Block[2], f.Thread[0],
			f.Thread[1], f.Thread[2])
	}
	if f.Defect != nil {
		s += f.Defect.Request()
	}
	return s
}

// Unwrap gives the defect of a FaultInternal.
func (f *Fault) Unwrap() error {
	if f.Defect == nil {
		return nil
	}
	return f.Defect
}

// fault is the panic value that carries a Fault out of an operation.
type fault struct{ *Fault }

// Throw ends the kernel with a fault at the warp's current operation; lane is the faulting lane, -1 when it is not one
// lane's.
func (w *Warp) Throw(kind FaultKind, lane int, text string) {
	panic(fault{w.fault(kind, lane, text)})
}

// ThrowAddr ends the kernel with a fault that has an address.
func (w *Warp) ThrowAddr(kind FaultKind, lane int, space string, addr uint64, size uint32, write bool) {
	f := w.fault(kind, lane, "")
	f.Addr, f.Size, f.Write, f.HasAddr, f.Space = addr, size, write, true, space
	if w.CTA.Launch.Mem.Check != nil && !w.probing {
		w.others(f)
	}
	panic(fault{f})
}

// missed is the fault of the current operation's access that failed at an address of the window at which there is no
// memory. exact says that it is the address of the kernel's access; else that of w.Lane counts: atomic operations on
// half a word access all of it.
func (w *Warp) missed(addr uint64, exact bool) *Fault {
	f := w.fault(FaultAddress, w.Lane, "")
	f.Addr, f.HasAddr = addr, true
	if op := w.operation(); op != nil {
		if a, ok := op.Access(); ok {
			f.Size, f.Write, f.Space = a.Size, a.Write, a.Addr.Space.String()
			if !exact && w.Lane >= 0 {
				f.Addr = w.laneAddress(a.Addr, w.Lane)
			}
		}
	}
	return f
}

// operation is the current one, nil when there is none.
func (w *Warp) operation() *ir.Op {
	if w.Op < 0 || w.Act == nil || int(w.Op) >= len(w.Act.Func.Ops) {
		return nil
	}
	return &w.Act.Func.Ops[w.Op]
}

func (w *Warp) fault(kind FaultKind, lane int, text string) *Fault {
	f := &Fault{Kind: kind, Kernel: w.CTA.Launch.Code.Kernel().Name, Block: w.CTA.Index, Text: text}
	if op := w.operation(); op != nil {
		of := op.Text(w.Act.Func)
		f.Func, f.Line, f.Loc, f.File = of.Name, op.Line, op.Loc, of.Files[int(op.Loc.File)]
	}
	if lane >= 0 {
		f.Thread, f.HasThread = w.CTA.threadIndex(w.Index*32+lane), true
	}
	return f
}
