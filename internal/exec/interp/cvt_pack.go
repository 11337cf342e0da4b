package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// resolveCvtPair converts two f32 to a packed pair, the first operand in the upper half.
func resolveCvtPair(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	f, ok := formats[op.Type(0)]
	switch {
	case !ok:
		return unsupported(op)
	case f == num.F16 || f == num.BF16:
		in.fn = bin32(func(a, b uint32) uint32 {
			return uint32(num.CvtFloat(f, num.F32, uint64(a), r, o))<<16 |
				uint32(num.CvtFloat(f, num.F32, uint64(b), r, o))
		})
	case f == num.UE8M0:
		in.fn = bin32(func(a, b uint32) uint32 {
			return uint32(num.ToUE8M0(num.F32, uint64(a), r, o))<<8 | uint32(num.ToUE8M0(num.F32, uint64(b), r, o))
		})
	default:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(num.PairToMini(f, a, b, o)) })
	}
	return nil
}

// resolveCvtHalves converts f16x2 or bf16x2 to a pair of a narrower format.
func resolveCvtHalves(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	f, ok := formats[op.Type(0)]
	s, sok := formats[op.Type(1)]
	switch {
	case !ok || !sok:
		return unsupported(op)
	case f == num.UE8M0:
		in.fn = un32(func(a uint32) uint32 {
			return uint32(num.ToUE8M0(s, uint64(a>>16), r, o))<<8 | uint32(num.ToUE8M0(s, uint64(a&0xffff), r, o))
		})
	default:
		in.fn = un32(func(a uint32) uint32 { return uint32(num.HalvesToMini(f, s, a, o)) })
	}
	return nil
}

// resolveCvtWiden converts a pair of a format of eight bits or less to f16x2 or bf16x2.
func resolveCvtWiden(in *inst, op *ir.Op) error {
	o := options(op)
	s, ok := formats[op.Type(1)]
	switch {
	case !ok:
		return unsupported(op)
	case s == num.UE8M0:
		in.fn = un32(func(a uint32) uint32 {
			return uint32(num.UE8M0ToBF16(uint8(a>>8)))<<16 | uint32(num.UE8M0ToBF16(uint8(a)))
		})
	default:
		in.fn = un32(func(a uint32) uint32 { return num.MiniToHalves(s, uint16(a), o) })
	}
	return nil
}

// resolveCvtRS is cvt.rs to f16x2 and bf16x2: the upper half of the random bits serves the first operand.
func resolveCvtRS(in *inst, op *ir.Op) error {
	o := options(op)
	f, ok := formats[op.Type(0)]
	if !ok {
		return unsupported(op)
	}
	in.fn = tri32(func(a, b, random uint32) uint32 {
		return uint32(num.CvtRS(f, a, uint16(random>>16), o))<<16 | uint32(num.CvtRS(f, b, uint16(random), o))
	})
	return nil
}

// resolveCvtQuad is cvt.rs to four elements.
func resolveCvtQuad(in *inst, op *ir.Op) error {
	o := options(op)
	f, ok := formats[op.Type(0)]
	d, a, c := &op.Args[0], &op.Args[1], &op.Args[2]
	if !ok || len(a.Elems) != 4 {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v [4]uint32
			for j := range v {
				v[j] = uint32(get(w, &a.Elems[j], i))
			}
			set(w, d, i, uint64(num.QuadToMini(f, v, uint32(get(w, c, i)), o)))
		}
	}
	return nil
}

// resolveCvtPack is cvt.pack.sat.
func resolveCvtPack(in *inst, op *ir.Op) error {
	width, signed := uint(op.Type(0).Info().Bits), op.Type(0).Signed()
	if len(op.Args) == 3 {
		in.fn = bin32(func(a, b uint32) uint32 { return num.CvtPack(int32(a), int32(b), 0, width, signed) })
	} else {
		in.fn = tri32(func(a, b, c uint32) uint32 { return num.CvtPack(int32(a), int32(b), c, width, signed) })
	}
	return nil
}
