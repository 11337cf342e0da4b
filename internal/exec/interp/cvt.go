package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// cvtOps are the conversions (PTX ISA 9.7.9.21 and 9.7.9.22). The packed ones stand in cvt_pack.go.
var cvtOps = map[optab.Opcode]resolver{
	optab.OpCvt: resolveCvt, optab.OpCvtPair: resolveCvtPair, optab.OpCvtHalves: resolveCvtHalves,
	optab.OpCvtWiden: resolveCvtWiden,
	optab.OpCvtRs:    resolveCvtRS, optab.OpCvtQuad: resolveCvtQuad, optab.OpCvtPack: resolveCvtPack,
}

// formats are the floating point formats of package num by PTX type; the packed types give that of their elements.
var formats = map[optab.TypeID]num.Format{
	optab.F16: num.F16, optab.Bf16: num.BF16, optab.Tf32: num.TF32, optab.F32: num.F32, optab.F64: num.F64,
	optab.F16x2: num.F16, optab.Bf16x2: num.BF16,
	optab.E4m3x2: num.E4M3, optab.E5m2x2: num.E5M2, optab.E2m3x2: num.E2M3, optab.E3m2x2: num.E3M2,
	optab.E2m1x2: num.E2M1, optab.Ue8m0x2: num.UE8M0,
	optab.E4m3x4: num.E4M3, optab.E5m2x4: num.E5M2, optab.E2m3x4: num.E2M3, optab.E3m2x4: num.E3M2,
	optab.E2m1x4: num.E2M1,
}

// integer describes an integer type of cvt.
type integer struct {
	bits   uint
	signed bool
}

// extend takes the value of the type out of the low bits of x.
func (t integer) extend(x uint64) uint64 {
	if t.signed {
		return uint64(int64(x<<(64-t.bits)) >> (64 - t.bits))
	}
	return x << (64 - t.bits) >> (64 - t.bits)
}

// clamp brings a value of type src, extended to 64 bits, into the range of t.
func (t integer) clamp(x uint64, src integer) uint64 {
	if src.signed && int64(x) < 0 {
		if !t.signed {
			return 0
		}
		return uint64(max(int64(x), math.MinInt64>>(64-t.bits)))
	}
	top := uint64(math.MaxUint64) >> (64 - t.bits)
	if t.signed {
		top >>= 1
	}
	return min(x, top)
}

func resolveCvt(in *inst, op *ir.Op) error {
	dt, st := op.Type(0), op.Type(1)
	d, a := &op.Args[0], &op.Args[1]
	if in.fn = commonCvt(op, dt, st); in.fn != nil {
		return nil
	}
	r, o := direction(op), options(op)
	df, dfloat := formats[dt]
	sf, sfloat := formats[st]
	di, si := integer{uint(dt.Info().Bits), dt.Signed()}, integer{uint(st.Info().Bits), st.Signed()}
	if di.bits == 0 || si.bits == 0 {
		return unsupported(op)
	}
	integral := op.Mods().Integral()
	low := integer{bits: si.bits} // a register wider than the source's type is cut
	var f func(x uint64) uint64
	switch {
	case dfloat && sfloat && integral:
		f = func(x uint64) uint64 { return num.RoundInt(df, low.extend(x), r, o) }
	case dfloat && sfloat:
		f = func(x uint64) uint64 { return num.CvtFloat(df, sf, low.extend(x), r, o) }
	case sfloat:
		f = func(x uint64) uint64 { return num.ToInt(sf, low.extend(x), r, o, di.bits, di.signed) }
	case dfloat && si.signed:
		f = func(x uint64) uint64 { return num.FromInt(df, int64(si.extend(x)), r, o) }
	case dfloat:
		f = func(x uint64) uint64 { return num.FromUint(df, si.extend(x), r, o) }
	case op.Mods().Sat:
		f = func(x uint64) uint64 { return di.clamp(si.extend(x), si) }
	default:
		f = func(x uint64) uint64 { return di.extend(si.extend(x)) }
	}
	in.fn = convert(d, a, f)
	return nil
}

// convert makes a handler of a conversion between registers of any width. f yields a value extended to 64 bits as the
// destination's type demands; it is cut to the register.
func convert(d, a *ir.Arg, f func(x uint64) uint64) handler {
	cut := registerMask(d)
	switch {
	case d.Class == ir.W32 && a.Class == ir.W32:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R32(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = uint32(f(uint64(ar[i])) & cut)
			}
		}
	case d.Class == ir.W32 && a.Class == ir.W64:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R32(in.d), w.R64(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = uint32(f(ar[i]) & cut)
			}
		}
	case d.Class == ir.W64 && a.Class == ir.W32:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = f(uint64(ar[i]))
			}
		}
	case d.Class == ir.W64 && a.Class == ir.W64:
		return un64(f)
	}
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			set(w, d, i, f(get(w, a, i))&cut)
		}
	}
}

// registerMask has the bits that the destination register holds.
func registerMask(d *ir.Arg) uint64 {
	if d.Width == 0 || d.Width >= 64 {
		return math.MaxUint64
	}
	return 1<<d.Width - 1
}

// cvtTypes are what a conversion goes by.
type cvtTypes struct {
	d     optab.TypeID
	round optab.Round
	s     optab.TypeID
}

// commonCvt is what compilers write most, when the registers have exactly the types' widths; nil for anything else.
func commonCvt(op *ir.Op, dt, st optab.TypeID) handler {
	d, a := &op.Args[0], &op.Args[1]
	dtype, stype := dt.Info(), st.Info()
	if d.Kind != ir.Row || int(d.Width) != dtype.Bits || a.Class != ir.ClassOf(stype.Bits) ||
		a.Kind == ir.Row && int(a.Width) != stype.Bits || options(op) != 0 {
		return nil
	}
	switch (cvtTypes{dt, op.Mods().Round, st}) {
	case cvtTypes{optab.U64, optab.NoRound, optab.U32}, cvtTypes{optab.S64, optab.NoRound, optab.U32}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = uint64(ar[i])
			}
		}
	case cvtTypes{optab.U64, optab.NoRound, optab.S32}, cvtTypes{optab.S64, optab.NoRound, optab.S32}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = uint64(int64(int32(ar[i])))
			}
		}
	case cvtTypes{optab.U32, optab.NoRound, optab.U64}, cvtTypes{optab.U32, optab.NoRound, optab.S64},
		cvtTypes{optab.S32, optab.NoRound, optab.U64}, cvtTypes{optab.S32, optab.NoRound, optab.S64}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R32(in.d), w.R64(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = uint32(ar[i])
			}
		}
	case cvtTypes{optab.F32, optab.RoundRn, optab.S32}:
		return un32(func(x uint32) uint32 { return math.Float32bits(float32(int32(x))) })
	case cvtTypes{optab.F32, optab.RoundRn, optab.U32}:
		return un32(func(x uint32) uint32 { return math.Float32bits(float32(x)) })
	case cvtTypes{optab.S32, optab.RoundRzi, optab.F32}:
		return un32(func(x uint32) uint32 {
			if f := math.Float32frombits(x); f > -(1<<31) && f < 1<<31 {
				return uint32(int32(f))
			}
			return uint32(num.ToInt(num.F32, uint64(x), num.RZ, 0, 32, true))
		})
	case cvtTypes{optab.U32, optab.RoundRzi, optab.F32}:
		return un32(func(x uint32) uint32 {
			if f := math.Float32frombits(x); f >= 0 && f < 1<<31 {
				return uint32(int32(f))
			}
			return uint32(num.ToInt(num.F32, uint64(x), num.RZ, 0, 32, false))
		})
	case cvtTypes{optab.F32, optab.NoRound, optab.F16}:
		return un32(func(x uint32) uint32 { return num.F16ToF32(uint16(x)) })
	case cvtTypes{optab.F16, optab.RoundRn, optab.F32}:
		return un32(func(x uint32) uint32 { return uint32(num.F32ToF16(x)) })
	case cvtTypes{optab.F32, optab.NoRound, optab.Bf16}:
		return un32(func(x uint32) uint32 { return x << 16 })
	case cvtTypes{optab.Bf16, optab.RoundRn, optab.F32}:
		return un32(func(x uint32) uint32 { return uint32(num.F32ToBF16(x)) })
	case cvtTypes{optab.F64, optab.NoRound, optab.F32}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if f := math.Float32frombits(ar[i]); f == f {
					dr[i] = math.Float64bits(float64(f))
				} else {
					dr[i] = num.CvtFloat(num.F64, num.F32, uint64(ar[i]), num.RN, 0)
				}
			}
		}
	case cvtTypes{optab.F32, optab.RoundRn, optab.F64}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R32(in.d), w.R64(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if f := math.Float64frombits(ar[i]); f == f {
					dr[i] = math.Float32bits(float32(f))
				} else {
					dr[i] = uint32(num.CvtFloat(num.F32, num.F64, ar[i], num.RN, 0))
				}
			}
		}
	case cvtTypes{optab.F64, optab.RoundRn, optab.S32}:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(in.d), w.R32(in.a)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = math.Float64bits(float64(int32(ar[i])))
			}
		}
	}
	return nil
}
