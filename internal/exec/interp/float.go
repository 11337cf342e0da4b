package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// floatOps are floating point arithmetic of all formats (PTX ISA 9.7.3 to 9.7.5). Half precision stands in half.go, the
// approximate functions in approx.go.
var floatOps = map[optab.Opcode]resolver{
	optab.OpFadd: resolveFadd, optab.OpFsub: resolveFsub, optab.OpFmul: resolveFmul, optab.OpFfma: resolveFfma,
	optab.OpMixedAdd: resolveFmixed, optab.OpMixedSub: resolveFmixed, optab.OpMixedFma: resolveFmixed,
	optab.OpFdiv: resolveFdiv, optab.OpRcp: resolveRcp, optab.OpSqrt: resolveSqrt, optab.OpRsqrt: resolveApprox,
	optab.OpSin: resolveApprox, optab.OpCos: resolveApprox,
	optab.OpLg2: resolveApprox, optab.OpEx2: resolveApprox, optab.OpTanh: resolveApprox,
	optab.OpFmin: resolveFmin, optab.OpFmax: resolveFmax, optab.OpFmin3: resolveFmin3, optab.OpFmax3: resolveFmax3,
	optab.OpFabs: resolveFabs, optab.OpFneg: resolveFneg,
	optab.OpCopysign: resolveCopysign, optab.OpTestp: resolveTestp,
}

// direction returns the rounding direction of an instruction, to nearest even when it names none.
func direction(op *ir.Op) num.Round {
	switch op.Mods().Round {
	case optab.RoundRz, optab.RoundRzi:
		return num.RZ
	case optab.RoundRm, optab.RoundRmi:
		return num.RM
	case optab.RoundRp, optab.RoundRpi:
		return num.RP
	case optab.RoundRna:
		return num.RNA
	}
	return num.RN
}

// options are the modifiers that package num takes.
func options(op *ir.Op) (o num.Opt) {
	m := op.Mods()
	add := func(given bool, opt num.Opt) {
		if given {
			o |= opt
		}
	}
	add(m.Ftz, num.FTZ)
	add(m.Sat, num.Sat)
	add(m.Relu, num.Relu)
	add(m.Satfinite, num.SatFinite)
	add(m.PropNaN, num.PropNaN)
	add(m.Xorsign, num.XorSign)
	return o
}

func resolveFadd(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	switch op.Type(0) {
	case optab.F32:
		if in.fn = addF32; r != num.RN || o != 0 {
			in.fn = bin32(func(a, b uint32) uint32 { return num.Add32(a, b, r, o) })
		}
	case optab.F64:
		switch {
		case op.First:
			in.fn = bin64(func(a, b uint64) uint64 { return num.Add64(b, a, r) })
		case r != num.RN:
			in.fn = bin64(func(a, b uint64) uint64 { return num.Add64(a, b, r) })
		default:
			in.fn = addF64
		}
	case optab.F32x2:
		in.fn = bin64(pairs2(func(a, b uint32) uint32 { return num.Add32(a, b, r, o) }))
	default:
		return halfBinary(in, op, func(a, b uint16) uint16 { return num.AddF16(a, b, o) }, num.AddBF16)
	}
	return nil
}

func resolveFsub(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	switch op.Type(0) {
	case optab.F32:
		if in.fn = subF32; r != num.RN || o != 0 {
			in.fn = bin32(func(a, b uint32) uint32 { return num.Sub32(a, b, r, o) })
		}
	case optab.F64:
		in.fn = bin64(func(a, b uint64) uint64 { return num.Sub64(a, b, r) })
		if op.First {
			in.fn = bin64(func(a, b uint64) uint64 {
				if a&^(1<<63) > infF64 { // a - 0 makes it quiet
					return num.Sub64(a, 0, r)
				}
				return num.Sub64(a, b, r)
			})
		}
	case optab.F32x2:
		in.fn = bin64(pairs2(func(a, b uint32) uint32 { return num.Sub32(a, b, r, o) }))
	default:
		return halfBinary(in, op, func(a, b uint16) uint16 { return num.SubF16(a, b, o) }, num.SubBF16)
	}
	return nil
}

func resolveFmul(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	switch op.Type(0) {
	case optab.F32:
		if in.fn = mulF32; r != num.RN || o != 0 {
			in.fn = bin32(func(a, b uint32) uint32 { return num.Mul32(a, b, r, o) })
		}
	case optab.F64:
		switch {
		case op.First:
			in.fn = bin64(func(a, b uint64) uint64 { return num.Mul64(b, a, r) })
		case r != num.RN:
			in.fn = bin64(func(a, b uint64) uint64 { return num.Mul64(a, b, r) })
		default:
			in.fn = mulF64
		}
	case optab.F32x2:
		in.fn = bin64(pairs2(func(a, b uint32) uint32 { return num.Mul32(a, b, r, o) }))
	default:
		return halfBinary(in, op, func(a, b uint16) uint16 { return num.MulF16(a, b, o) }, num.MulBF16)
	}
	return nil
}

// infF64 is the encoding of f64's infinity; larger magnitudes are NaNs.
const infF64 = 0x7ff0000000000000

// resolveFfma is fma and mad. An fma that the lowering made of mul and sub has negated operands.
func resolveFfma(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	if op.First || op.Args[1].Neg || op.Args[2].Neg || op.Args[3].Neg {
		return resolveContracted(in, op, r, o)
	}
	switch op.Type(0) {
	case optab.F32:
		if in.fn = fmaF32; r != num.RN || o != 0 {
			in.fn = tri32(func(a, b, c uint32) uint32 { return num.Fma32(a, b, c, r, o) })
		}
	case optab.F64:
		if in.fn = fmaF64; r != num.RN {
			in.fn = tri64(func(a, b, c uint64) uint64 { return num.Fma64(a, b, c, r) })
		}
	case optab.F32x2:
		in.fn = tri64(func(a, b, c uint64) uint64 {
			hi := num.Fma32(uint32(a>>32), uint32(b>>32), uint32(c>>32), r, o)
			return uint64(hi)<<32 | uint64(num.Fma32(uint32(a), uint32(b), uint32(c), r, o))
		})
	default:
		f, ok := halfFma(op, r, o)
		if !ok {
			return unsupported(op)
		}
		in.fn = tri32(f)
	}
	return nil
}

// resolveContracted is fma with operands that are negated, which leaves the sign of an f64 NaN alone, or with the NaN
// of the first operand going first.
func resolveContracted(in *inst, op *ir.Op, r num.Round, o num.Opt) error {
	flip := func(bit uint64) (x [3]uint64) {
		for i := range x {
			if op.Args[1+i].Neg {
				x[i] = bit
			}
		}
		return x
	}
	switch op.Type(0) {
	case optab.F32:
		x := flip(1 << 31)
		in.fn = tri32(func(a, b, c uint32) uint32 {
			return num.Fma32(a^uint32(x[0]), b^uint32(x[1]), c^uint32(x[2]), r, o)
		})
	case optab.F64:
		x := flip(1 << 63)
		neg := func(a, x uint64) uint64 {
			if x != 0 && a&^(1<<63) <= infF64 {
				a ^= 1 << 63
			}
			return a
		}
		first := op.First
		in.fn = tri64(func(a, b, c uint64) uint64 {
			a, b, c = neg(a, x[0]), neg(b, x[1]), neg(c, x[2])
			if first {
				a, b = b, a
			}
			return num.Fma64(a, b, c, r)
		})
	case optab.F16, optab.Bf16, optab.F16x2, optab.Bf16x2:
		x := flip(0x80008000)
		if op.Type(0) == optab.F16 || op.Type(0) == optab.Bf16 {
			x = flip(0x8000)
		}
		f, ok := halfFma(op, r, o)
		if !ok {
			return unsupported(op)
		}
		in.fn = tri32(func(a, b, c uint32) uint32 { return f(a^uint32(x[0]), b^uint32(x[1]), c^uint32(x[2])) })
	default:
		return unsupported(op)
	}
	return nil
}

// pairs2 applies an operation of f32 to both halves of f32x2.
func pairs2(f func(a, b uint32) uint32) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return uint64(f(uint32(a>>32), uint32(b>>32)))<<32 | uint64(f(uint32(a), uint32(b)))
	}
}

// resolveFmixed is add, sub and fma of narrow operands with an f32 one (9.7.5).
func resolveFmixed(in *inst, op *ir.Op) error {
	r, o := direction(op), options(op)
	widen := func(x uint32) uint32 { return num.F16ToF32(uint16(x)) }
	if op.Type(1) == optab.Bf16 {
		widen = func(x uint32) uint32 { return num.BF16ToF32(uint16(x)) }
	}
	switch op.Opcode() {
	case optab.OpMixedAdd:
		in.fn = bin32(func(a, c uint32) uint32 { return num.Add32(widen(a), c, r, o) })
	case optab.OpMixedSub:
		in.fn = bin32(func(a, c uint32) uint32 { return num.Sub32(widen(a), c, r, o) })
	case optab.OpMixedFma:
		in.fn = tri32(func(a, b, c uint32) uint32 { return num.Fma32(widen(a), widen(b), c, r, o) })
	default:
		return unsupported(op)
	}
	return nil
}

func resolveFdiv(in *inst, op *ir.Op) error {
	if op.Mods().Approx || op.Mods().Full {
		return resolveApprox(in, op)
	}
	r, o := direction(op), options(op)
	if op.Type(0) == optab.F64 {
		in.fn = bin64(func(a, b uint64) uint64 { return num.Div64(a, b, r) })
		return nil
	}
	in.fn = bin32(func(a, b uint32) uint32 { return num.Div32(a, b, r, o) })
	return nil
}

func resolveRcp(in *inst, op *ir.Op) error {
	if op.Mods().Approx {
		return resolveApprox(in, op)
	}
	r, o := direction(op), options(op)
	if op.Type(0) == optab.F64 {
		in.fn = un64(func(a uint64) uint64 { return num.Rcp64(a, r) }) // .ftz does nothing here (recorded)
		return nil
	}
	in.fn = un32(func(a uint32) uint32 { return num.Rcp32(a, r, o) })
	return nil
}

func resolveSqrt(in *inst, op *ir.Op) error {
	if op.Mods().Approx {
		return resolveApprox(in, op)
	}
	r, o := direction(op), options(op)
	if op.Type(0) == optab.F64 {
		in.fn = un64(func(a uint64) uint64 { return num.Sqrt64(a, r) })
		return nil
	}
	in.fn = un32(func(a uint32) uint32 { return num.Sqrt32(a, r, o) })
	return nil
}

func resolveFmin(in *inst, op *ir.Op) error {
	o := options(op)
	switch op.Type(0) {
	case optab.F32:
		if in.fn = minF32; o != 0 {
			in.fn = bin32(func(a, b uint32) uint32 { return num.Min32(a, b, o) })
		}
	case optab.F64:
		in.fn = bin64(num.Min64)
	default:
		return halfBinary(in, op, func(a, b uint16) uint16 {
			return num.MinF16(a, b, o)
		}, func(a, b uint16) uint16 { return num.MinBF16(a, b, o) })
	}
	return nil
}

func resolveFmax(in *inst, op *ir.Op) error {
	o := options(op)
	switch op.Type(0) {
	case optab.F32:
		if in.fn = maxF32; o != 0 {
			in.fn = bin32(func(a, b uint32) uint32 { return num.Max32(a, b, o) })
		}
	case optab.F64:
		in.fn = bin64(num.Max64)
	default:
		return halfBinary(in, op, func(a, b uint16) uint16 {
			return num.MaxF16(a, b, o)
		}, func(a, b uint16) uint16 { return num.MaxBF16(a, b, o) })
	}
	return nil
}

func resolveFmin3(in *inst, op *ir.Op) error { return extremum3(in, op, num.Min3) }

func resolveFmax3(in *inst, op *ir.Op) error { return extremum3(in, op, num.Max3) }

// extremum3 is min and max of three operands; .abs takes the operands' magnitudes.
func extremum3(in *inst, op *ir.Op, f func(a, b, c uint32, o num.Opt) uint32) error {
	o, mask := options(op), uint32(math.MaxUint32)
	if op.Mods().Abs {
		mask = math.MaxInt32
	}
	in.fn = tri32(func(a, b, c uint32) uint32 { return f(a&mask, b&mask, c&mask, o) })
	return nil
}

func resolveFabs(in *inst, op *ir.Op) error {
	o := options(op)
	switch op.Type(0) {
	case optab.F32:
		in.fn = un32(func(a uint32) uint32 { return num.Abs32(a, o) })
	case optab.F64:
		in.fn = un64(num.Abs64)
	default:
		return halfUnary(in, op, func(a uint16) uint16 { return num.AbsF16(a, o) }, num.AbsBF16)
	}
	return nil
}

func resolveFneg(in *inst, op *ir.Op) error {
	o := options(op)
	switch op.Type(0) {
	case optab.F32:
		in.fn = un32(func(a uint32) uint32 { return num.Neg32(a, o) })
	case optab.F64:
		in.fn = un64(num.Neg64)
	default:
		return halfUnary(in, op, func(a uint16) uint16 { return num.NegF16(a, o) }, num.NegBF16)
	}
	return nil
}

func resolveCopysign(in *inst, op *ir.Op) error {
	if op.Type(0) == optab.F64 {
		in.fn = bin64(num.Copysign64)
	} else {
		in.fn = bin32(num.Copysign32)
	}
	return nil
}

var tests = [...]num.Test{
	optab.FloatClassFinite: num.TestFinite, optab.FloatClassInfinite: num.TestInfinite,
	optab.FloatClassNumber:     num.TestNumber,
	optab.FloatClassNotANumber: num.TestNotANumber, optab.FloatClassNormal: num.TestNormal,
	optab.FloatClassSubnormal: num.TestSubnormal,
}

func resolveTestp(in *inst, op *ir.Op) error {
	test, f := tests[op.Mods().FloatClass], num.F32
	if op.Type(0) == optab.F64 {
		f = num.F64
	}
	d, a := &op.Args[0], &op.Args[1]
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		v := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if num.Testp(f, get(w, a, i), test) {
				v |= 1 << i
			}
		}
		setPred(w, d, m, v)
	}
	return nil
}

// The handlers below are what most kernels spend their time in: no modifiers, rounding to nearest.

func addF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = num.AddRN32(a[i], b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.AddRN32(a[i], b[i])
	}
}

func subF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = num.SubRN32(a[i], b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.SubRN32(a[i], b[i])
	}
}

func mulF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = num.MulRN32(a[i], b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.MulRN32(a[i], b[i])
	}
}

func fmaF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		for i := range d {
			d[i] = num.FmaRN32(a[i], b[i], c[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.FmaRN32(a[i], b[i], c[i])
	}
}

func minF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		switch x, y := math.Float32frombits(a[i]), math.Float32frombits(b[i]); {
		case x < y:
			d[i] = a[i]
		case y < x:
			d[i] = b[i]
		default: // equal, which zeros of both signs are, or a NaN
			d[i] = num.Min32(a[i], b[i], 0)
		}
	}
}

func maxF32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		switch x, y := math.Float32frombits(a[i]), math.Float32frombits(b[i]); {
		case x > y:
			d[i] = a[i]
		case y > x:
			d[i] = b[i]
		default:
			d[i] = num.Max32(a[i], b[i], 0)
		}
	}
}

// The f64 handlers try the host's operation and leave results that are NaN to package num, which knows whose payload
// survives.

func addF64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if z := math.Float64frombits(a[i]) + math.Float64frombits(b[i]); z == z {
			d[i] = math.Float64bits(z)
		} else {
			d[i] = num.Add64(a[i], b[i], num.RN)
		}
	}
}

func mulF64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if z := float64(math.Float64frombits(a[i]) * math.Float64frombits(b[i])); z == z {
			d[i] = math.Float64bits(z)
		} else {
			d[i] = num.Mul64(a[i], b[i], num.RN)
		}
	}
}

func fmaF64(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R64(in.d), w.R64(in.a), w.R64(in.b), w.R64(in.c)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if z := math.FMA(math.Float64frombits(a[i]), math.Float64frombits(b[i]), math.Float64frombits(c[i])); z == z {
			d[i] = math.Float64bits(z)
		} else {
			d[i] = num.Fma64(a[i], b[i], c[i], num.RN)
		}
	}
}
