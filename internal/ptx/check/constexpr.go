package check

import (
	"errors"
	"math"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// value is the value of an expression: a constant, or the address of a symbol plus an offset.
type value struct {
	c   ptx.Const
	sym symbol // when v or f is set, the value is its address plus c.Bits

	generic bool // inside generic()
	masked  bool // under a mask operator
	mask    uint64
}

func (v *value) isSym() bool { return v.sym.v != nil || v.sym.f != nil }
func (v *value) isInt() bool { return !v.isSym() && !v.c.IsFloat() }

const (
	notConstant     = "Constant expression expected"
	integerExpected = "Integer constant expression expected"
	divisionByZero  = "Constant expression has division by zero"
	notAddress      = "Illegal operation on address in constant expression"
)

// eval computes a constant expression in which the address of one symbol may stand. The text is the fault, "" when
// there is none; unknown is then the name that is not declared, if that is the fault.
func (c *checker) eval(e ptx.Operand) (v value, fault string, unknown string) {
	if f, ok := e.(*ptx.Float); ok && !f.Exact && f.Bits&(1<<63-1) == 0x7ff<<52 {
		return v, "Constant overflow", ""
	}
	k, err := ptx.Eval(e)
	switch {
	case err == nil:
		return value{c: k}, "", ""
	case !errors.Is(err, ptx.ErrNotConstant):
		return v, ptx.EvalMessage(err), ""
	}
	switch e := e.(type) {
	case *ptx.Ident:
		sym, ok := c.find(e.Name)
		switch {
		case !ok:
			return v, "Unknown symbol '" + e.Name + "'", e.Name
		case sym.f == nil && (sym.v == nil || sym.v.Space == "reg"), e.Comp != "":
			return v, notConstant, ""
		}
		return value{sym: sym}, "", ""
	case *ptx.Index:
		sym, ok := c.find(e.Name)
		switch {
		case !ok:
			return v, "Unknown symbol '" + e.Name + "'", e.Name
		case sym.v == nil || sym.v.Space == "reg":
			return v, notConstant, ""
		}
		x, fault, unknown := c.eval(e.X)
		if fault != "" {
			return v, fault, unknown
		}
		if !x.isInt() {
			return v, notConstant, ""
		}
		v.sym, v.c.Bits = sym, x.c.Bits*sym.v.stride()
		return v, "", ""
	case *ptx.Generic:
		v, fault, unknown = c.eval(e.X)
		if fault == "" && !v.isSym() {
			fault = notAddress
		}
		v.generic = true
		return v, fault, unknown
	case *ptx.Mask:
		v, fault, unknown = c.eval(e.X)
		if fault == "" && !v.isSym() && !v.isInt() {
			fault = notAddress
		}
		v.masked, v.mask = true, e.Mask.Value
		return v, fault, unknown
	case *ptx.Expr:
		if _, ok := e.X.(*ptx.Generic); !ok {
			if _, ok = ptx.Summand(e); !ok {
				return v, notConstant, ""
			}
		}
		if v, fault, unknown = c.eval(e.X); fault != "" {
			return v, fault, unknown
		}
		y, fault, unknown := c.eval(e.Y)
		if fault == "" && !y.isInt() {
			fault = integerExpected
		}
		v.c.Bits += y.c.Bits
		return v, fault, unknown
	}
	return v, notConstant, ""
}

// bitsAs converts a constant to the bits of a type, and says whether the type takes such a constant. In an instruction
// a .bN type takes only a floating literal of its own width; in an initialiser it takes any (measured: group consts).
func (v *value) bitsAs(t *optab.Type, initialiser bool) (uint64, bool) {
	if v.isSym() {
		return 0, false
	}
	switch t.Class {
	case optab.Float:
		if !v.c.IsFloat() {
			return 0, false
		}
		switch t.Bits {
		case 64:
			return v.c.F64(), true
		case 32:
			return uint64(v.c.F32()), true
		}
		if !initialiser {
			return 0, false // 16-bit floats have no immediates
		}
		return uint64(f16bits(v.c.Float(), t.Name == "bf16")), true
	case optab.Bits, optab.Packed:
		switch v.c.Kind {
		case ptx.ConstF64:
			if t.Bits == 64 {
				return v.c.Bits, true
			}
			if initialiser && t.Bits == 32 {
				return uint64(v.c.F32()), true
			}
			return 0, false
		case ptx.ConstF32:
			if t.Bits == 32 || initialiser && t.Bits == 64 {
				return v.c.Bits, true
			}
			return 0, false
		}
	case optab.Predicate:
		if !v.isInt() {
			return 0, false
		}
		if v.c.Bits != 0 {
			return 1, true
		}
		return 0, true
	}
	if !v.isInt() {
		return 0, false
	}
	if t.Bits < 64 {
		return v.c.Bits & (1<<t.Bits - 1), true
	}
	return v.c.Bits, true
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
