package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// atomOps are atom and red (PTX ISA 9.7.13.6 and 9.7.13.7). Lanes act in lane order. Every operation is sequentially
// consistent, which is at least what any .sem and .scope asks for.
var atomOps = map[optab.Opcode]resolver{optab.OpAtom: resolveAtom, optab.OpRed: resolveAtom,
	optab.OpAtomVec: resolveAtomVec}

// rmw computes the new value of a word; c is the third operand of cas.
type rmw func(old, b, c uint64) uint64

func resolveAtom(in *inst, op *ir.Op) error {
	i := 0
	d := ir.NoArg()
	if x := op.Arg("d"); x != nil { // atom
		d = x
		i = 1
	}
	a, b := &op.Args[i], &op.Args[i+1]
	c := op.Arg("c")
	if c == nil {
		c = ir.NoArg()
	}
	typ := op.Type(0)
	t := typ.Info()
	ac := memoryAccess(op, a, b, typ)
	f, outside, ok := atomFunc(op.Mods().Func, typ)
	if !ok {
		return unsupported(op)
	}
	if t.Bits == 128 {
		in.fn = atom128(op, ac, d, b, c)
		return nil
	}
	var remote rmw
	if ac.space == ir.SharedCluster && i == 1 && t.Lanes == 2 && t.Class == optab.Packed &&
		op.Mods().Func == optab.FuncAdd {
		// On another CTA's shared memory an H200 adds the whole words as integers (recorded for f16x2); on its own,
		// halves as they should be.
		remote = func(o, b, _ uint64) uint64 { return o + b }
	}
	cReg := c.Reg()
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			p := ac.pointer(w, l, true)
			g := f
			own := ac.shared(w, l) // only this worker touches a group's shared memory
			if outside != nil && !own {
				g = outside
			}
			if remote != nil && uint32(ac.at(w, l))>>24 != w.CTA.Rank {
				g = remote
			}
			x := get(w, b, l)
			y := uint64(0)
			if cReg {
				y = get(w, c, l)
			}
			set(w, d, l, update(p, ac.size, own, x, y, g))
		}
	}
	return nil
}

// shared says whether a lane's address lies in shared memory.
func (ac *access) shared(w *exec.Warp, lane int) bool {
	switch ac.space {
	case ir.Shared, ir.SharedCluster:
		return true
	case ir.Generic:
		return w.SpaceOf(ac.at(w, lane)) == ir.Shared
	}
	return false
}

// update applies f to the element at p and returns the value before.
func update(p unsafe.Pointer, size uint32, plain bool, b, c uint64, f rmw) uint64 {
	switch size {
	case 4:
		q := (*uint32)(p)
		if plain {
			old := *q
			*q = uint32(f(uint64(old), b, c))
			return uint64(old)
		}
		for {
			old := mem.LoadUint32(q)
			if mem.CompareAndSwapUint32(q, old, uint32(f(uint64(old), b, c))) {
				return uint64(old)
			}
		}
	case 8:
		q := (*uint64)(p)
		for {
			old := mem.LoadUint64(q)
			if mem.CompareAndSwapUint64(q, old, f(old, b, c)) {
				return old
			}
		}
	}
	// 16 bits: half of the aligned word around it
	shift := uint(uintptr(p)&2) * 8
	q := (*uint32)(unsafe.Add(p, -int(uintptr(p)&2)))
	for {
		word := mem.LoadUint32(q)
		old := uint64(word >> shift & 0xffff)
		nv := uint32(f(old, b, c)&0xffff)<<shift | word&^(0xffff<<shift)
		if mem.CompareAndSwapUint32(q, word, nv) {
			return old
		}
	}
}

// atomFunc picks the operation. outside, when not nil, is what it does outside shared memory: an H200 flushes subnormal
// inputs and results of f32 additions there (recorded), and treats NaNs of f64 differently.
func atomFunc(what optab.Func, typ optab.TypeID) (f, outside rmw, ok bool) {
	t := typ.Info()
	signed := func(v uint64) int64 {
		if t.Bits == 32 {
			return int64(int32(v))
		}
		return int64(v)
	}
	less := func(a, b uint64) bool {
		if t.Class == optab.Signed {
			return signed(a) < signed(b)
		}
		return a < b
	}
	switch what {
	case optab.FuncAnd:
		f = func(o, b, _ uint64) uint64 { return o & b }
	case optab.FuncOr:
		f = func(o, b, _ uint64) uint64 { return o | b }
	case optab.FuncXor:
		f = func(o, b, _ uint64) uint64 { return o ^ b }
	case optab.FuncExch:
		f = func(_, b, _ uint64) uint64 { return b }
	case optab.FuncCas:
		mask := ^uint64(0) >> (64 - min(t.Bits, 64))
		f = func(o, b, c uint64) uint64 {
			if o == b&mask {
				return c
			}
			return o
		}
	case optab.FuncInc:
		f = func(o, b, _ uint64) uint64 {
			if uint32(o) >= uint32(b) {
				return 0
			}
			return o + 1
		}
	case optab.FuncDec:
		f = func(o, b, _ uint64) uint64 {
			if o == 0 || uint32(o) > uint32(b) {
				return uint64(uint32(b))
			}
			return o - 1
		}
	case optab.FuncAdd:
		switch typ {
		case optab.F32:
			f = func(o, b, _ uint64) uint64 { return uint64(num.AddRN32(uint32(o), uint32(b))) }
			outside = func(o, b, _ uint64) uint64 { return uint64(num.Add32(uint32(o), uint32(b), num.RN, num.FTZ)) }
		case optab.F64:
			// With NaNs, shared memory's loop of loads and additions keeps the old value's, made quiet; the memory
			// units outside return an operand's NaN as it stands, the operand's before memory's (recorded on an H200).
			f = func(o, b, _ uint64) uint64 {
				if nan64(o) {
					return o | 1<<51
				}
				return num.Add64(o, b, num.RN)
			}
			outside = func(o, b, _ uint64) uint64 {
				switch {
				case nan64(b):
					return b
				case nan64(o):
					return o
				}
				return num.Add64(o, b, num.RN)
			}
		case optab.F16, optab.Bf16, optab.F16x2, optab.Bf16x2:
			f = halves(typ, func(bf bool, a, b uint16) uint16 {
				if bf {
					return num.AddBF16(a, b)
				}
				return num.AddF16(a, b, 0)
			})
		default:
			f = func(o, b, _ uint64) uint64 { return o + b }
		}
	case optab.FuncMin, optab.FuncMax:
		larger := what == optab.FuncMax
		switch typ {
		case optab.F16, optab.Bf16, optab.F16x2, optab.Bf16x2:
			f = halves(typ, func(bf bool, a, b uint16) uint16 {
				switch {
				case bf && larger:
					return num.MaxBF16(a, b, 0)
				case bf:
					return num.MinBF16(a, b, 0)
				case larger:
					return num.MaxF16(a, b, 0)
				}
				return num.MinF16(a, b, 0)
			})
		default:
			f = func(o, b, _ uint64) uint64 {
				if less(b, o) != larger {
					return b
				}
				return o
			}
		}
	default:
		return nil, nil, false
	}
	return f, outside, true
}

func nan64(x uint64) bool { return x<<1 > 0x7ff<<53 }

// halves lifts an operation on 16-bit floats to one or two of them.
func halves(typ optab.TypeID, g func(bf bool, a, b uint16) uint16) rmw {
	bf := typ == optab.Bf16 || typ == optab.Bf16x2
	if typ == optab.F16 || typ == optab.Bf16 {
		return func(o, b, _ uint64) uint64 { return uint64(g(bf, uint16(o), uint16(b))) }
	}
	return func(o, b, _ uint64) uint64 {
		return uint64(g(bf, uint16(o), uint16(b))) | uint64(g(bf, uint16(o>>16), uint16(b>>16)))<<16
	}
}

// resolveAtomVec is atom and red on vectors: each element is an atomic operation of its own.
func resolveAtomVec(in *inst, op *ir.Op) error {
	i := 0
	d := ir.NoArg()
	if x := op.Arg("d"); x != nil { // atom
		d = x
		i = 1
	}
	a, b := &op.Args[i], &op.Args[i+1]
	typ := op.Type(0)
	ac := memoryAccess(op, a, b, typ)
	f, outside, ok := atomFunc(op.Mods().Func, typ)
	if !ok {
		return unsupported(op)
	}
	if outside != nil {
		f = outside
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			p := ac.pointer(w, l, true)
			var old [8]uint64
			for j, r := range ac.regs {
				old[j] = update(unsafe.Add(p, uint32(j)*ac.size), ac.size, false, get(w, r, l), 0, f)
			}
			for j := range d.Elems {
				set(w, &d.Elems[j], l, old[j])
			}
		}
	}
	return nil
}
