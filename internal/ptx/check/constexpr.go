package check

import (
	"math"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// valueKind is the type of a constant expression (PTX ISA 4.5.4).
type valueKind uint8

const (
	valueS64 valueKind = iota
	valueU64
	valueF64
	valueF32 // a 0f literal by itself: raw bits
	valueSym // the address of a symbol plus i
)

// value is the value of a constant expression.
type value struct {
	kind    valueKind
	i       uint64
	f       float64
	sym     symbol
	name    string // of the symbol
	pos     ptx.Pos
	generic bool
	mask    uint64
	masked  bool
}

// warpSize is the value of WARP_SZ, the one run-time constant that the grammar knows.
const warpSize = 32

func (v *value) isInt() bool { return v.kind <= valueU64 }

func (v *value) float() float64 {
	switch v.kind {
	case valueS64:
		return float64(int64(v.i))
	case valueU64:
		return float64(v.i)
	case valueF32:
		return float64(math.Float32frombits(uint32(v.i)))
	}
	return v.f
}

func (v *value) truth() bool {
	if v.isInt() {
		return v.i != 0
	}
	return v.float() != 0
}

func boolean(b bool) value {
	if b {
		return value{kind: valueS64, i: 1}
	}
	return value{kind: valueS64}
}

// eval computes a constant expression; names are allowed only as addresses. The text is the fault, "" when there is none.
func (c *checker) eval(e ptx.Operand) (value, string) {
	switch e := e.(type) {
	case *ptx.Int:
		v := value{kind: valueS64, i: e.Value, pos: e.Pos}
		if e.Unsigned {
			v.kind = valueU64
		}
		return v, ""
	case *ptx.Float:
		if e.Exact && e.Width == 32 {
			return value{kind: valueF32, i: e.Bits, pos: e.Pos}, ""
		}
		return value{kind: valueF64, i: e.Bits, f: math.Float64frombits(e.Bits), pos: e.Pos}, ""
	case *ptx.Ident:
		if e.Name == "WARP_SZ" && e.Comp == "" {
			return value{kind: valueS64, i: warpSize, pos: e.Pos}, ""
		}
		sym, ok := c.find(e.Name)
		if !ok {
			return value{}, "Unknown symbol '" + e.Name + "'"
		}
		if sym.f == nil && (sym.v == nil || sym.v.Space == "reg") || e.Comp != "" {
			return value{}, "Constant expression expected"
		}
		return value{kind: valueSym, sym: sym, name: e.Name, pos: e.Pos}, ""
	case *ptx.Index:
		sym, ok := c.find(e.Name)
		if !ok {
			return value{}, "Unknown symbol '" + e.Name + "'"
		}
		if sym.v == nil || sym.v.Space == "reg" {
			return value{}, "Constant expression expected"
		}
		x, msg := c.eval(e.X)
		if msg != "" {
			return x, msg
		}
		if !x.isInt() {
			return value{}, "Constant expression expected"
		}
		return value{kind: valueSym, sym: sym, name: e.Name, i: x.i * sym.v.stride(), pos: e.Pos}, ""
	case *ptx.Neg:
		return c.unary(ptx.OpMinus, e.X)
	case *ptx.Not:
		return c.unary(ptx.OpLNot, e.X)
	case *ptx.Generic:
		v, msg := c.eval(e.X)
		if msg == "" && v.kind != valueSym {
			msg = "Address expected in generic()"
		}
		v.generic = true
		return v, msg
	case *ptx.Mask:
		v, msg := c.eval(e.X)
		if msg == "" && v.kind != valueSym && !v.isInt() {
			msg = "Illegal operand of mask operator"
		}
		v.masked, v.mask = true, e.Mask.Value
		return v, msg
	case *ptx.Expr:
		switch {
		case e.Op == ptx.OpCond:
			x, msg := c.eval(e.X)
			if msg != "" {
				return x, msg
			}
			y, msg := c.eval(e.Y)
			if msg != "" {
				return y, msg
			}
			z, msg := c.eval(e.Z)
			if msg != "" {
				return z, msg
			}
			if y.isInt() && z.isInt() && y.kind != z.kind {
				y.kind, z.kind = valueU64, valueU64
			}
			if x.truth() {
				return y, ""
			}
			return z, ""
		case e.Y == nil:
			return c.unary(e.Op, e.X)
		}
		return c.binary(e)
	}
	return value{}, "Constant expression expected"
}

func (c *checker) unary(op ptx.Op, x ptx.Operand) (value, string) {
	v, msg := c.eval(x)
	if msg != "" {
		return v, msg
	}
	if v.kind == valueSym {
		if op == ptx.OpPlus {
			return v, ""
		}
		return v, "Illegal operation on address in constant expression"
	}
	switch op {
	case ptx.OpPlus:
	case ptx.OpMinus:
		if v.isInt() {
			v.i = -v.i
			return v, ""
		}
		f := -v.float()
		return value{kind: valueF64, f: f, i: math.Float64bits(f)}, ""
	case ptx.OpLNot:
		return boolean(!v.truth()), ""
	case ptx.OpNot:
		if !v.isInt() {
			return v, "Illegal operation on floating-point constant"
		}
		return value{kind: valueU64, i: ^v.i}, ""
	case ptx.OpS64, ptx.OpU64:
		if !v.isInt() {
			if op == ptx.OpS64 {
				v.i = uint64(int64(v.float()))
			} else {
				v.i = uint64(v.float())
			}
		}
		v.kind = valueS64
		if op == ptx.OpU64 {
			v.kind = valueU64
		}
	default:
		return v, "Constant expression expected"
	}
	return v, ""
}

func (c *checker) binary(e *ptx.Expr) (value, string) {
	x, msg := c.eval(e.X)
	if msg != "" {
		return x, msg
	}
	y, msg := c.eval(e.Y)
	if msg != "" {
		return y, msg
	}
	if x.kind == valueSym || y.kind == valueSym {
		switch {
		case e.Op == ptx.OpAdd && y.isInt():
			x.i += y.i
			return x, ""
		case e.Op == ptx.OpAdd && x.isInt():
			y.i += x.i
			return y, ""
		case e.Op == ptx.OpSub && y.isInt():
			x.i -= y.i
			return x, ""
		}
		return x, "Illegal operation on address in constant expression"
	}
	if !x.isInt() || !y.isInt() {
		return floatOp(e.Op, x.float(), y.float(), &x, &y)
	}
	k := valueS64
	if x.kind == valueU64 || y.kind == valueU64 {
		k = valueU64
	}
	a, b := x.i, y.i
	less := a < b
	if k == valueS64 {
		less = int64(a) < int64(b)
	}
	switch e.Op {
	case ptx.OpMul:
		return value{kind: k, i: a * b}, ""
	case ptx.OpDiv:
		if b == 0 {
			return x, divisionByZero
		}
		if k == valueU64 {
			return value{kind: k, i: a / b}, ""
		}
		if int64(b) == -1 {
			return value{kind: k, i: -a}, "" // Go panics only for zero, but be plain about MinInt64
		}
		return value{kind: k, i: uint64(int64(a) / int64(b))}, ""
	case ptx.OpRem: // unsigned whatever its operands are (measured: -7 % 3 is 0)
		if b == 0 {
			return x, divisionByZero
		}
		return value{kind: valueU64, i: a % b}, ""
	case ptx.OpAdd:
		return value{kind: k, i: a + b}, ""
	case ptx.OpSub:
		return value{kind: k, i: a - b}, ""
	case ptx.OpShl:
		return value{kind: x.kind, i: a << b}, ""
	case ptx.OpShr:
		if x.kind == valueS64 {
			return value{kind: x.kind, i: uint64(int64(a) >> b)}, ""
		}
		return value{kind: x.kind, i: a >> b}, ""
	case ptx.OpLT:
		return boolean(less), ""
	case ptx.OpGE:
		return boolean(!less), ""
	case ptx.OpGT:
		return boolean(!less && a != b), ""
	case ptx.OpLE:
		return boolean(less || a == b), ""
	case ptx.OpEQ:
		return boolean(a == b), ""
	case ptx.OpNE:
		return boolean(a != b), ""
	case ptx.OpAnd:
		return value{kind: valueU64, i: a & b}, ""
	case ptx.OpXor:
		return value{kind: valueU64, i: a ^ b}, ""
	case ptx.OpOr:
		return value{kind: valueU64, i: a | b}, ""
	case ptx.OpLAnd:
		return boolean(a != 0 && b != 0), ""
	case ptx.OpLOr:
		return boolean(a != 0 || b != 0), ""
	}
	return x, "Constant expression expected"
}

const divisionByZero = "Constant expression has division by zero"

func floatOp(op ptx.Op, a, b float64, x, y *value) (value, string) {
	var f float64
	switch op {
	case ptx.OpMul:
		f = float64(a * b)
	case ptx.OpDiv:
		f = float64(a / b)
	case ptx.OpAdd:
		f = float64(a + b)
	case ptx.OpSub:
		f = float64(a - b)
	case ptx.OpLT:
		return boolean(a < b), ""
	case ptx.OpGT:
		return boolean(a > b), ""
	case ptx.OpLE:
		return boolean(a <= b), ""
	case ptx.OpGE:
		return boolean(a >= b), ""
	case ptx.OpEQ:
		return boolean(a == b), ""
	case ptx.OpNE:
		return boolean(a != b), ""
	case ptx.OpLAnd:
		return boolean(x.truth() && y.truth()), ""
	case ptx.OpLOr:
		return boolean(x.truth() || y.truth()), ""
	default:
		return *x, "Illegal operation on floating-point constant"
	}
	return value{kind: valueF64, f: f, i: math.Float64bits(f)}, ""
}

// bitsAs converts a constant to the bits of a type, and says whether the type takes such a constant. In an instruction a .bN
// type takes only a floating literal of its own width; in an initialiser it takes any (measured: group consts).
func (v *value) bitsAs(t optab.Type, initialiser bool) (uint64, bool) {
	switch t.Class {
	case optab.Float:
		if v.isInt() || v.kind == valueSym {
			return 0, false
		}
		switch t.Bits {
		case 64:
			return v.i, true // a 0f literal gives its raw bits
		case 32:
			return uint64(v.f32()), true
		}
		if !initialiser {
			return 0, false // 16-bit floats have no immediates
		}
		return uint64(f16bits(v.float(), t.Name == "bf16")), true
	case optab.Bits, optab.Packed:
		switch v.kind {
		case valueF64:
			if t.Bits == 64 {
				return v.i, true
			}
			if initialiser && t.Bits == 32 {
				return uint64(v.f32()), true
			}
			return 0, false
		case valueF32:
			if t.Bits == 32 || initialiser && t.Bits == 64 {
				return v.i, true
			}
			return 0, false
		}
	case optab.Pred:
		if !v.isInt() {
			return 0, false
		}
		if v.i != 0 {
			return 1, true
		}
		return 0, true
	}
	if !v.isInt() {
		return 0, false
	}
	if t.Bits < 64 {
		return v.i & (1<<t.Bits - 1), true
	}
	return v.i, true
}

// f32 rounds to nearest even; NaNs keep the top of their payload and become quiet.
func (v *value) f32() uint32 {
	if v.kind == valueF32 {
		return uint32(v.i)
	}
	b := math.Float64bits(v.f)
	if b&(1<<63-1) > 0x7ff<<52 {
		return uint32(b>>32)&(1<<31) | 0x7fc00000 | uint32(b>>29)&0x3fffff
	}
	return math.Float32bits(float32(v.f))
}

// f16bits rounds to nearest even to binary16 or bfloat16.
func f16bits(f float64, bf bool) uint16 {
	mant, bias := 10, 15
	if bf {
		mant, bias = 7, 127
	}
	b := math.Float64bits(f)
	sign := uint16(b>>63) << 15
	inf := uint16((2*bias + 1) << mant)
	switch {
	case f != f:
		return sign | inf | 1<<(mant-1)
	case math.IsInf(f, 0):
		return sign | inf
	case f == 0:
		return sign
	}
	frac, exp := math.Frexp(math.Abs(f)) // frac in [0.5, 1)
	e := exp - 1 + bias
	scale := mant + 1
	if e < 1 { // subnormal
		scale -= 1 - e
		e = 0
	}
	if scale < -1 {
		return sign
	}
	r := math.RoundToEven(math.Ldexp(frac, scale))
	m := uint32(r)
	if e == 0 {
		return sign | uint16(m) // a carry makes it the smallest normal
	}
	m += uint32(e-1) << mant // the leading one adds one to the exponent, a carry one more
	if m >= uint32(inf) {
		return sign | inf
	}
	return sign | uint16(m)
}
