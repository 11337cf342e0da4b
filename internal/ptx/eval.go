package ptx

import (
	"errors"
	"math"
)

// ConstKind is the type of a constant expression.
type ConstKind uint8

// Constant types, PTX ISA "Constants".
const (
	ConstS64 ConstKind = iota
	ConstU64
	ConstF64
	ConstF32 // a 0f literal standing alone: 32 raw bits
)

// Const is the value of a constant expression.
type Const struct {
	Kind ConstKind
	Bits uint64 // two's complement, or the IEEE bits of Kind's width
}

// Float returns the value of a floating constant.
func (c Const) Float() float64 {
	switch c.Kind {
	case ConstF64:
		return math.Float64frombits(c.Bits)
	case ConstF32:
		return float64(math.Float32frombits(uint32(c.Bits)))
	case ConstS64:
		return float64(int64(c.Bits))
	default:
		return float64(c.Bits)
	}
}

// IsFloat reports whether c is a floating constant.
func (c Const) IsFloat() bool { return c.Kind >= ConstF64 }

// WarpSize is the value of WARP_SZ.
const WarpSize = 32

// Errors of [Eval].
var (
	ErrNotConstant  = errors.New("not a constant expression")
	ErrDivideByZero = errors.New("constant expression has division by zero")
	ErrConstType    = errors.New("floating operand of an integer operator")
)

// EvalMessage returns an error of [Eval] in the words of the driver's compiler
// where they are known.
func EvalMessage(err error) string {
	if errors.Is(err, ErrDivideByZero) {
		return "Constant expression has division by zero"
	}
	return err.Error()
}

// Eval computes a constant expression: literals, WARP_SZ and operators in
// 64 bits (PTX ISA "Constant Expression Evaluation"). Departing from the
// manual, % is unsigned whatever its operands are: driver 580 does so. A shift
// has the type of its left operand. Symbols give [ErrNotConstant].
func Eval(x Operand) (Const, error) {
	switch x := x.(type) {
	case *Int:
		k := ConstS64
		if x.Unsigned {
			k = ConstU64
		}
		return Const{k, x.Value}, nil
	case *Float:
		if x.Width == 32 {
			return Const{ConstF32, x.Bits}, nil
		}
		return Const{ConstF64, x.Bits}, nil
	case *Ident:
		if isWarpSize(x) {
			return Const{ConstS64, WarpSize}, nil
		}
	case *Expr:
		return evalExpr(x)
	}
	return Const{}, ErrNotConstant
}

const warpSize = "WARP_SZ"

func isWarpSize(x *Ident) bool { return x.Name == warpSize && x.Comp == "" }

// Summand returns the name of a name plus a constant.
func Summand(x *Expr) (*Ident, bool) {
	id, ok := x.X.(*Ident)
	return id, ok && x.Op == OpAdd && !isWarpSize(id)
}

func boolConst(b bool) Const {
	if b {
		return Const{ConstS64, 1}
	}
	return Const{ConstS64, 0}
}

func (c Const) truth() bool {
	if c.IsFloat() {
		return c.Float() != 0
	}
	return c.Bits != 0
}

func evalExpr(e *Expr) (Const, error) {
	x, err := Eval(e.X)
	if err != nil {
		return x, err
	}
	if e.Op == OpCond {
		y, err := Eval(e.Y)
		if err != nil {
			return y, err
		}
		z, err := Eval(e.Z)
		if err != nil {
			return z, err
		}
		k := common(y, z)
		if x.truth() {
			return y.as(k), nil
		}
		return z.as(k), nil
	}
	if e.Y == nil {
		return evalUnary(e.Op, x)
	}
	y, err := Eval(e.Y)
	if err != nil {
		return y, err
	}
	switch e.Op {
	case OpLAnd:
		return boolConst(x.truth() && y.truth()), nil
	case OpLOr:
		return boolConst(x.truth() || y.truth()), nil
	}
	k := common(x, y)
	if k == ConstF64 {
		return evalFloat(e.Op, x.Float(), y.Float())
	}
	return evalInt(e.Op, k, x, y)
}

// common is the usual arithmetic conversion.
func common(x, y Const) ConstKind {
	switch {
	case x.IsFloat() || y.IsFloat():
		return ConstF64
	case x.Kind == ConstU64 || y.Kind == ConstU64:
		return ConstU64
	}
	return ConstS64
}

func (c Const) as(k ConstKind) Const {
	if k == ConstF64 {
		return Const{k, math.Float64bits(c.Float())}
	}
	return Const{k, c.Bits}
}

func evalUnary(op Op, x Const) (Const, error) {
	switch op {
	case OpPlus:
		return x, nil
	case OpMinus:
		switch x.Kind {
		case ConstF32:
			return Const{ConstF32, x.Bits ^ 1<<31}, nil
		case ConstF64:
			return Const{ConstF64, x.Bits ^ 1<<63}, nil
		}
		return Const{x.Kind, -x.Bits}, nil
	case OpLNot:
		return boolConst(!x.truth()), nil
	}
	if x.IsFloat() {
		return Const{}, ErrConstType
	}
	switch op {
	case OpNot:
		return Const{x.Kind, ^x.Bits}, nil
	case OpS64:
		return Const{ConstS64, x.Bits}, nil
	case OpU64:
		return Const{ConstU64, x.Bits}, nil
	}
	return Const{}, ErrNotConstant
}

func evalFloat(op Op, x, y float64) (Const, error) {
	var r float64
	switch op {
	case OpAdd:
		r = x + y
	case OpSub:
		r = x - y
	case OpMul:
		r = float64(x * y)
	case OpDiv:
		r = x / y
	case OpLT:
		return boolConst(x < y), nil
	case OpGT:
		return boolConst(x > y), nil
	case OpLE:
		return boolConst(x <= y), nil
	case OpGE:
		return boolConst(x >= y), nil
	case OpEQ:
		return boolConst(x == y), nil
	case OpNE:
		return boolConst(x != y), nil
	default:
		return Const{}, ErrConstType
	}
	return Const{ConstF64, math.Float64bits(r)}, nil
}

func evalInt(op Op, k ConstKind, x, y Const) (Const, error) {
	a, b := x.Bits, y.Bits
	signed := k == ConstS64
	less := func(a, b uint64) bool {
		if signed {
			return int64(a) < int64(b)
		}
		return a < b
	}
	switch op {
	case OpAdd:
		return Const{k, a + b}, nil
	case OpSub:
		return Const{k, a - b}, nil
	case OpMul:
		return Const{k, a * b}, nil
	case OpDiv:
		switch {
		case b == 0:
			return Const{}, ErrDivideByZero
		case !signed:
			return Const{k, a / b}, nil
		case int64(b) == -1: // Go and PTX both wrap here; the hardware of some hosts traps
			return Const{k, -a}, nil
		}
		return Const{k, uint64(int64(a) / int64(b))}, nil
	case OpRem:
		if b == 0 {
			return Const{}, ErrDivideByZero
		}
		return Const{ConstU64, a % b}, nil
	case OpShl:
		return Const{x.Kind, a << (b & 63)}, nil // the count is cut as x86 does (recorded)
	case OpShr:
		if x.Kind == ConstS64 {
			return Const{ConstS64, uint64(int64(a) >> (b & 63))}, nil
		}
		return Const{ConstU64, a >> (b & 63)}, nil
	case OpAnd:
		return Const{k, a & b}, nil
	case OpOr:
		return Const{k, a | b}, nil
	case OpXor:
		return Const{k, a ^ b}, nil
	case OpLT:
		return boolConst(less(a, b)), nil
	case OpGT:
		return boolConst(less(b, a)), nil
	case OpLE:
		return boolConst(!less(b, a)), nil
	case OpGE:
		return boolConst(!less(a, b)), nil
	case OpEQ:
		return boolConst(a == b), nil
	case OpNE:
		return boolConst(a != b), nil
	}
	return Const{}, ErrNotConstant
}

// F32 returns the bits that c has as an f32 operand or initialiser: a 0f
// literal as it is, an f64 value rounded to nearest even (a decimal literal is
// thus rounded twice, as the driver does), an integer's low bits.
func (c Const) F32() uint32 {
	if c.Kind != ConstF64 {
		return uint32(c.Bits)
	}
	const frac = 1<<52 - 1
	if c.Bits>>52&0x7ff == 0x7ff && c.Bits&frac != 0 {
		// Go leaves a NaN's payload to the host.
		return uint32(c.Bits>>32)&0x80000000 | 0x7fc00000 | uint32(c.Bits>>29)&0x7fffff
	}
	return math.Float32bits(float32(math.Float64frombits(c.Bits)))
}

// F64 returns the bits that c has as an f64 operand or initialiser. A 0f
// literal is not converted: its 32 bits are the low half.
func (c Const) F64() uint64 { return c.Bits }
