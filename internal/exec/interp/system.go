package interp

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// systemOps are operations that speak to the world outside the kernel.
var systemOps = map[optab.Opcode]resolver{
	optab.OpBrkpt:   resolveBreakpoint,
	optab.OpPmevent: resolveNothing, // nobody listens to performance monitor events
}

// resolveBreakpoint is brkpt. Without a debugger it ends the kernel as trap does (recorded on an H200).
func resolveBreakpoint(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) { w.Throw(exec.FaultTrap, first(m), "brkpt") }
	return nil
}

func resolveNothing(in *inst, op *ir.Op) error {
	in.fn = func(*exec.Warp, *inst, uint32) {}
	return nil
}

// Builtin says whether the engine provides an undefined function of this name.
func Builtin(name string) bool { return builtins[name] != nil }

// builtins are the system functions that compiled code calls. Their parameters and results are those of the
// declarations that nvcc emits (CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation",
// "Assertion").
var builtins = map[string]resolver{
	"vprintf": resolveVprintf, "malloc": resolveMalloc, "free": resolveFree, "__assertfail": resolveAssert,
	"__assert_fail":            resolveAssert,
	"gocuda_tile_print":        resolveTilePrint,
	"cudaGraphSetConditional":  resolveSetConditional,
	"cudaCGGetIntrinsicHandle": resolveGridHandle, "cudaCGSynchronize": resolveGridSync,
	"cudaCGGetSize": resolveGridSize, "cudaCGGetRank": resolveGridRank,
}

func resolveBuiltin(in *inst, op *ir.Op) error {
	r := systemFunction(op.Call.Builtin)
	if r == nil {
		return fmt.Errorf("the system function %s", op.Call.Builtin)
	}
	return r(in, op)
}

// argument reads the nth argument of a call to a system function.
func argument(w *exec.Warp, op *ir.Op, n, lane int) uint64 {
	if n >= len(op.Call.Args) {
		w.Throw(exec.FaultInstruction, lane, op.Call.Builtin+" is called with too few arguments")
	}
	c := &op.Call.Args[n]
	if c.Row != nil {
		return get(w, c.Row, lane)
	}
	p := unsafe.Add(w.Base[0], uint64(c.Slot.Off)+uint64(lane)*uint64(c.Slot.Stride))
	if c.Slot.Size >= 8 {
		return *(*uint64)(p)
	}
	return uint64(*(*uint32)(p))
}

// result writes the result of a call to a system function; one that is not wanted is dropped.
func result(w *exec.Warp, op *ir.Op, lane int, v uint64) {
	if len(op.Call.Rets) == 0 {
		return
	}
	c := &op.Call.Rets[0]
	if c.Row != nil {
		set(w, c.Row, lane, v)
		return
	}
	p := unsafe.Add(w.Base[0], uint64(c.Slot.Off)+uint64(lane)*uint64(c.Slot.Stride))
	switch {
	case c.Slot.Size >= 8:
		*(*uint64)(p) = v
	case c.Slot.Size >= 4:
		*(*uint32)(p) = uint32(v)
	}
}

// cstring reads a NUL-terminated string at a generic address.
func cstring(w *exec.Warp, lane int, addr uint64) string {
	const limit = 1 << 16
	var b []byte
	for len(b) < limit {
		c := *(*byte)(w.Ptr(ir.Generic, lane, addr, 1, 1, false))
		if c == 0 {
			break
		}
		b = append(b, c)
		addr++
	}
	return string(b)
}

func resolveMalloc(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v := uint64(0)
			if s := w.CTA.Launch.Sys; s != nil {
				v = s.Malloc(argument(w, op, 0, i))
				if f := w.CTA.Launch.HeapCall; f != nil && v != 0 {
					f(false, v, w.CallSite(i))
				}
			}
			result(w, op, i, v)
		}
	}
	return nil
}

func resolveFree(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if a := argument(w, op, 0, i); a != 0 && w.CTA.Launch.Sys != nil {
				if f := w.CTA.Launch.HeapCall; f != nil {
					f(true, a, w.CallSite(i))
				}
				w.CTA.Launch.Sys.Free(a)
			}
		}
	}
	return nil
}

// resolveAssert is __assertfail(message, file, line, function, charsize). Every lane that fails prints; then the kernel
// ends.
func resolveAssert(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		f, failed := first(m), ""
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			t := w.ThreadIndex(i)
			b := w.CTA.Index
			at := fmt.Sprintf("%s:%d: %s: ", cstring(w, i, argument(w, op, 1, i)), uint32(argument(w, op, 2, i)),
				cstring(w, i, argument(w, op, 3, i)))
			what := fmt.Sprintf("Assertion `%s` failed.", cstring(w, i, argument(w, op, 0, i)))
			if i == f {
				failed = at + what // the fault itself names the thread
			}
			if w.CTA.Launch.Sys != nil { // the driver's own words, as recorded on an H200
				w.CTA.Launch.Sys.Assert(fmt.Sprintf("%sblock: [%d,%d,%d], thread: [%d,%d,%d] %s\n", at, b[0], b[1],
					b[2], t[0], t[1], t[2], what))
			}
		}
		w.Throw(exec.FaultAssert, f, failed)
	}
	return nil
}

// The functions of cooperative groups in the device runtime: those of a grid, and those of the grids of a launch on
// several devices (cuLaunchCooperativeKernelMultiDevice), whose group CUDA had up to version 12 (multi_grid_group).
// Their handle is not 0; which number it is beyond that is ours.
const (
	scopeMultiGrid  = 2 // cudaCGScopeMultiGrid
	handleMultiGrid = scopeMultiGrid + 1
)

// resolveGridHandle is cudaCGGetIntrinsicHandle(scope): 0 for several grids where there is one.
func resolveGridHandle(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v := argument(w, op, 0, i) + 1
			if v == handleMultiGrid && w.CTA.Launch.Multi == nil {
				v = 0
			}
			result(w, op, i, v)
		}
	}
	return nil
}

// gridNumbers is cudaCGGetSize or cudaCGGetRank: two numbers, for either of which there may be no place.
func gridNumbers(in *inst, op *ir.Op, of func(w *exec.Warp, lane int, several bool) (threads, grids uint64)) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			threads, grids := of(w, i, argument(w, op, 2, i) == handleMultiGrid)
			for n, v := range [2]uint64{threads, grids} {
				if p := argument(w, op, n, i); p != 0 {
					*(*uint32)(w.Ptr(ir.Generic, i, p, 4, 4, true)) = uint32(v)
				}
			}
			result(w, op, i, 0)
		}
	}
	return nil
}

func resolveGridSize(in *inst, op *ir.Op) error {
	return gridNumbers(in, op, func(w *exec.Warp, lane int, several bool) (threads, grids uint64) {
		threads, _ = w.RankInGrid(lane)
		if !several {
			return threads, 1
		}
		n, _ := w.CTA.Launch.Grids()
		return threads * uint64(n), uint64(n)
	})
}

func resolveGridRank(in *inst, op *ir.Op) error {
	return gridNumbers(in, op, func(w *exec.Warp, lane int, several bool) (thread, grid uint64) {
		n, rank := w.RankInGrid(lane)
		if !several {
			return rank, 0
		}
		_, of := w.CTA.Launch.Grids()
		return uint64(of)*n + rank, uint64(of)
	})
}

func resolveGridSync(in *inst, op *ir.Op) error {
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		meet := w.GridBarrier
		if argument(w, op, 0, first(m)) == handleMultiGrid {
			meet = w.MultiGridBarrier
		}
		done := meet(m)
		if done == 0 {
			w.GiveWay()
			return exec.EventYield, true
		}
		for k := done; k != 0; k &= k - 1 {
			result(w, op, bits.TrailingZeros32(k)&31, 0)
		}
		w.Cur.PC = next
		return exec.EventReschedule, true
	}
	return nil
}
