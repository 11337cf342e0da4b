package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// multimemOps are the operations on multicast objects (PTX ISA 9.7.9.14). No GPU's results are recorded. What the
// manual leaves open is done as reductions on global memory are: the replicas' values are combined in the order of the
// team, and additions of f32 flush subnormals. Each element of a replica is read or changed atomically; that all
// replicas are changed at one moment is not promised.
var multimemOps = map[optab.Opcode]resolver{optab.OpMultimemLdReduce: resolveMultimemLoad,
	optab.OpMultimemSt: resolveMultimemStore, optab.OpMultimemRed: resolveMultimemReduce}

// replicas are the places that a lane's address stands for.
func (ac *access) replicas(w *exec.Warp, lane int, write bool) []unsafe.Pointer {
	return w.Replicas(lane, ac.at(w, lane), ac.total, ac.total, write)
}

// multimemFunc combines two elements of a type.
func multimemFunc(op *ir.Op) (rmw, bool) {
	f, outside, ok := atomFunc(op.Mods().Func, op.Type(0))
	if outside != nil {
		f = outside
	}
	return f, ok
}

func resolveMultimemLoad(in *inst, op *ir.Op) error {
	typ := op.Type(0)
	ac := memoryAccess(op, &op.Args[1], &op.Args[0], typ)
	f, ok := multimemFunc(op)
	if !ok {
		return unsupported(op)
	}
	fold := func(list []unsafe.Pointer, at uint32) uint64 {
		v := loadElement(unsafe.Add(list[0], at), ac.size, false)[0]
		for _, p := range list[1:] {
			v = f(v, loadElement(unsafe.Add(p, at), ac.size, false)[0], 0)
		}
		return v
	}
	if op.Mods().AccF32 {
		to, from, packed, ok := widened(typ)
		if !ok {
			return unsupported(op)
		}
		fold = func(list []unsafe.Pointer, at uint32) uint64 { return wideSum(list, at, ac.size, to, from, packed) }
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var v [8]uint64 // a destination may be the address register too
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			list := ac.replicas(w, l, false)
			for j := range ac.regs {
				v[j] = fold(list, uint32(j)*ac.size)
			}
			for j, r := range ac.regs {
				set(w, r, l, v[j])
			}
		}
	}
	return nil
}

// widened converts elements of 16 bits to f32 and back.
func widened(typ optab.TypeID) (to func(uint16) uint32, from func(uint32) uint16, packed, ok bool) {
	switch typ {
	case optab.F16, optab.F16x2:
		return num.F16ToF32, num.F32ToF16, typ == optab.F16x2, true
	case optab.Bf16, optab.Bf16x2:
		return num.BF16ToF32, num.F32ToBF16, typ == optab.Bf16x2, true
	}
	return nil, nil, false, false
}

// wideSum adds elements in f32 and rounds once (.acc::f32).
func wideSum(list []unsafe.Pointer, at, size uint32, to func(uint16) uint32, from func(uint32) uint16,
	packed bool) uint64 {
	var lo, hi uint32
	for i, p := range list {
		v := loadElement(unsafe.Add(p, at), size, false)[0]
		if i == 0 { // not added to 0, which would lose the sign of -0
			lo, hi = to(uint16(v)), to(uint16(v>>16))
			continue
		}
		lo = num.AddRN32(lo, to(uint16(v)))
		if packed {
			hi = num.AddRN32(hi, to(uint16(v>>16)))
		}
	}
	if !packed {
		return uint64(from(lo))
	}
	return uint64(from(lo)) | uint64(from(hi))<<16
}

func resolveMultimemStore(in *inst, op *ir.Op) error {
	ac := memoryAccess(op, &op.Args[0], &op.Args[1], op.Type(0))
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			for _, p := range ac.replicas(w, l, true) {
				for j, r := range ac.regs {
					storeElement(unsafe.Add(p, uint32(j)*ac.size), ac.size, [2]uint64{get(w, r, l)})
				}
			}
		}
	}
	return nil
}

func resolveMultimemReduce(in *inst, op *ir.Op) error {
	ac := memoryAccess(op, &op.Args[0], &op.Args[1], op.Type(0))
	f, ok := multimemFunc(op)
	if !ok {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			for _, p := range ac.replicas(w, l, true) {
				for j, r := range ac.regs {
					update(unsafe.Add(p, uint32(j)*ac.size), ac.size, false, get(w, r, l), 0, f)
				}
			}
		}
	}
	return nil
}
