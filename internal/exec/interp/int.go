package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// intOps are integer arithmetic, extended precision, logic, shifts and bit fields.
var intOps = map[optab.Opcode]resolver{
	optab.OpIadd: resolveIAdd, optab.OpIsub: resolveISub, optab.OpImul: resolveIMul, optab.OpImad: resolveIMad,
	optab.OpMul24: resolveMul24, optab.OpMad24: resolveMul24,
	optab.OpSad: resolveSad, optab.OpIdiv: resolveIDiv, optab.OpRem: resolveRem, optab.OpIabs: resolveIAbs,
	optab.OpIneg: resolveINeg, optab.OpImin: resolveIMin, optab.OpImax: resolveIMin,
	optab.OpPopc: resolvePopc, optab.OpClz: resolveClz, optab.OpBfind: resolveBfind, optab.OpFns: resolveFns,
	optab.OpBrev: resolveBrev, optab.OpBfe: resolveBfe, optab.OpBfi: resolveBfi,
	optab.OpSzext: resolveSzext, optab.OpBmsk: resolveBmsk, optab.OpDp4a: resolveDp4a, optab.OpDp2a: resolveDp2a,
	optab.OpAddcc: resolveCarry, optab.OpSubcc: resolveCarry, optab.OpAddc: resolveCarry, optab.OpSubc: resolveCarry,
	optab.OpMadcc: resolveCarryMad, optab.OpMadc: resolveCarryMad,
	optab.OpAnd: resolveLogic, optab.OpOr: resolveLogic, optab.OpXor: resolveLogic, optab.OpNot: resolveNot,
	optab.OpCnot: resolveCnot, optab.OpLop3: resolveLop3, optab.OpLop3p: resolveLop3,
	optab.OpShf: resolveShf, optab.OpShl: resolveShl, optab.OpShr: resolveShr, optab.OpPrmt: resolvePrmt,
}

func signExtend16(a uint32) int32 { return int32(int16(a)) }

func resolveIAdd(in *inst, op *ir.Op) error {
	switch t := op.Type(0); {
	case op.Mods().Sat:
		in.fn = bin32(func(a, b uint32) uint32 { return saturate32(int64(int32(a)) + int64(int32(b))) })
	case t == optab.U16x2, t == optab.S16x2:
		in.fn = bin32(func(a, b uint32) uint32 { return (a+b)&0xffff | (a&0xffff0000 + b&0xffff0000) })
	case t == optab.U16, t == optab.S16:
		in.fn = bin32(func(a, b uint32) uint32 { return (a + b) & 0xffff })
	case t == optab.U32, t == optab.S32:
		in.fn = add32
	default:
		in.fn = add64
	}
	return nil
}

func resolveISub(in *inst, op *ir.Op) error {
	switch t := op.Type(0); {
	case op.Mods().Sat:
		in.fn = bin32(func(a, b uint32) uint32 { return saturate32(int64(int32(a)) - int64(int32(b))) })
	case t == optab.U16, t == optab.S16:
		in.fn = bin32(func(a, b uint32) uint32 { return (a - b) & 0xffff })
	case t == optab.U32, t == optab.S32:
		in.fn = sub32
	default:
		in.fn = sub64
	}
	return nil
}

// saturate32 clamps to the range of s32.
func saturate32(v int64) uint32 { return uint32(int32(min(max(v, -1<<31), 1<<31-1))) }

// high64 is the upper half of a 128-bit product.
func high64(a, b uint64, signed bool) uint64 {
	hi, _ := bits.Mul64(a, b)
	if signed {
		if int64(a) < 0 {
			hi -= b
		}
		if int64(b) < 0 {
			hi -= a
		}
	}
	return hi
}

func mulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }
func mulHiS32(a, b uint32) uint32 { return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32) }

// productOf is the part of a product that an operation takes, and the type of the factors.
type productOf struct {
	part optab.Part
	typ  optab.TypeID
}

func resolveIMul(in *inst, op *ir.Op) error {
	switch (productOf{op.Mods().Part, op.Type(0)}) {
	case productOf{optab.PartLo, optab.U16}, productOf{optab.PartLo, optab.S16}:
		in.fn = bin32(func(a, b uint32) uint32 { return a * b & 0xffff })
	case productOf{optab.PartLo, optab.U32}, productOf{optab.PartLo, optab.S32}:
		in.fn = mul32
	case productOf{optab.PartLo, optab.U64}, productOf{optab.PartLo, optab.S64}:
		in.fn = mul64
	case productOf{optab.PartHi, optab.U16}:
		in.fn = bin32(func(a, b uint32) uint32 { return a * b >> 16 })
	case productOf{optab.PartHi, optab.S16}:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(signExtend16(a)*signExtend16(b)) >> 16 })
	case productOf{optab.PartHi, optab.U32}:
		in.fn = bin32(mulHiU32)
	case productOf{optab.PartHi, optab.S32}:
		in.fn = bin32(mulHiS32)
	case productOf{optab.PartHi, optab.U64}:
		in.fn = bin64(func(a, b uint64) uint64 { return high64(a, b, false) })
	case productOf{optab.PartHi, optab.S64}:
		in.fn = bin64(func(a, b uint64) uint64 { return high64(a, b, true) })
	case productOf{optab.PartWide, optab.U16}:
		in.fn = bin32(func(a, b uint32) uint32 { return a * b })
	case productOf{optab.PartWide, optab.S16}:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(signExtend16(a) * signExtend16(b)) })
	case productOf{optab.PartWide, optab.U32}:
		in.fn = mulWideU32
	case productOf{optab.PartWide, optab.S32}:
		in.fn = mulWideS32
	default:
		return unsupported(op)
	}
	return nil
}

func resolveIMad(in *inst, op *ir.Op) error {
	switch (productOf{op.Mods().Part, op.Type(0)}) {
	case productOf{optab.PartLo, optab.U16}, productOf{optab.PartLo, optab.S16}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return (a*b + c) & 0xffff })
	case productOf{optab.PartLo, optab.U32}, productOf{optab.PartLo, optab.S32}:
		in.fn = mad32
	case productOf{optab.PartLo, optab.U64}, productOf{optab.PartLo, optab.S64}:
		in.fn = mad64
	case productOf{optab.PartHi, optab.U16}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return (a*b>>16 + c) & 0xffff })
	case productOf{optab.PartHi, optab.S16}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return (uint32(signExtend16(a)*signExtend16(b))>>16 + c) & 0xffff })
	case productOf{optab.PartHi, optab.U32}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return mulHiU32(a, b) + c })
	case productOf{optab.PartHi, optab.S32}:
		if op.Mods().Sat {
			in.fn = tri32(func(a, b, c uint32) uint32 {
				return saturate32(int64(int32(mulHiS32(a, b))) + int64(int32(c)))
			})
		} else {
			in.fn = tri32(func(a, b, c uint32) uint32 { return mulHiS32(a, b) + c })
		}
	case productOf{optab.PartHi, optab.U64}:
		in.fn = tri64(func(a, b, c uint64) uint64 { return high64(a, b, false) + c })
	case productOf{optab.PartHi, optab.S64}:
		in.fn = tri64(func(a, b, c uint64) uint64 { return high64(a, b, true) + c })
	case productOf{optab.PartWide, optab.U16}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return a*b + c })
	case productOf{optab.PartWide, optab.S16}:
		in.fn = tri32(func(a, b, c uint32) uint32 { return uint32(signExtend16(a)*signExtend16(b)) + c })
	case productOf{optab.PartWide, optab.U32}:
		in.fn = madWideU32
	case productOf{optab.PartWide, optab.S32}:
		in.fn = madWideS32
	default:
		return unsupported(op)
	}
	return nil
}

// resolveMul24 is mul24 and mad24: .lo the low 32 bits of the 48-bit product, .hi its upper 32 (9.7.1.7).
func resolveMul24(in *inst, op *ir.Op) error {
	signed, shift := op.Type(0) == optab.S32, 0
	if op.Mods().Part == optab.PartHi {
		shift = 16
	}
	product := func(a, b uint32) uint32 {
		if signed {
			return uint32(int64(int32(a<<8)>>8) * int64(int32(b<<8)>>8) >> shift)
		}
		return uint32(uint64(a&0xffffff) * uint64(b&0xffffff) >> shift)
	}
	switch {
	case op.Opcode() == optab.OpMul24:
		in.fn = bin32(product)
	case op.Mods().Sat:
		in.fn = tri32(func(a, b, c uint32) uint32 { return saturate32(int64(int32(product(a, b))) + int64(int32(c))) })
	default:
		in.fn = tri32(func(a, b, c uint32) uint32 { return product(a, b) + c })
	}
	return nil
}

func resolveSad(in *inst, op *ir.Op) error {
	switch n, signed := op.Type(0).IntegerBits(); {
	case n == 16 && signed:
		in.fn = tri32(func(a, b, c uint32) uint32 {
			x, y := signExtend16(a), signExtend16(b)
			return (uint32(max(x, y)-min(x, y)) + c) & 0xffff
		})
	case n == 16:
		in.fn = tri32(func(a, b, c uint32) uint32 { return (max(a, b) - min(a, b) + c) & 0xffff })
	case n == 32 && signed:
		in.fn = tri32(func(a, b, c uint32) uint32 {
			return uint32(max(int32(a), int32(b))) - uint32(min(int32(a), int32(b))) + c
		})
	case n == 32:
		in.fn = tri32(func(a, b, c uint32) uint32 { return max(a, b) - min(a, b) + c })
	case signed:
		in.fn = tri64(func(a, b, c uint64) uint64 {
			return uint64(max(int64(a), int64(b))) - uint64(min(int64(a), int64(b))) + c
		})
	default:
		in.fn = tri64(func(a, b, c uint64) uint64 { return max(a, b) - min(a, b) + c })
	}
	return nil
}

// resolveIDiv: division by zero gives all ones, MIN / -1 gives MIN (recorded).
func resolveIDiv(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.U16:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return 0xffff
			}
			return a / b
		})
	case optab.S16:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return 0xffff
			}
			return uint32(signExtend16(a)/signExtend16(b)) & 0xffff
		})
	case optab.U32:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return full
			}
			return a / b
		})
	case optab.S32:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return full
			}
			return uint32(int32(a) / int32(b))
		})
	case optab.U64:
		in.fn = bin64(func(a, b uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return a / b
		})
	case optab.S64:
		in.fn = bin64(func(a, b uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return uint64(int64(a) / int64(b))
		})
	default:
		return unsupported(op)
	}
	return nil
}

// resolveRem: the remainder by zero is all ones, MIN % -1 is zero (recorded).
func resolveRem(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.U16:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return 0xffff
			}
			return a % b
		})
	case optab.S16:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return 0xffff
			}
			return uint32(signExtend16(a)%signExtend16(b)) & 0xffff
		})
	case optab.U32:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return full
			}
			return a % b
		})
	case optab.S32:
		in.fn = bin32(func(a, b uint32) uint32 {
			if b == 0 {
				return full
			}
			return uint32(int32(a) % int32(b))
		})
	case optab.U64:
		in.fn = bin64(func(a, b uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return a % b
		})
	case optab.S64:
		in.fn = bin64(func(a, b uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return uint64(int64(a) % int64(b))
		})
	default:
		return unsupported(op)
	}
	return nil
}

func resolveIAbs(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.S16:
		in.fn = un32(func(a uint32) uint32 { return uint32(max(signExtend16(a), -signExtend16(a))) & 0xffff })
	case optab.S32:
		in.fn = un32(func(a uint32) uint32 {
			if int32(a) < 0 {
				return -a
			}
			return a
		})
	default:
		in.fn = un64(func(a uint64) uint64 {
			if int64(a) < 0 {
				return -a
			}
			return a
		})
	}
	return nil
}

func resolveINeg(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.S16:
		in.fn = un32(func(a uint32) uint32 { return -a & 0xffff })
	case optab.S32:
		in.fn = neg32
	default:
		in.fn = un64(func(a uint64) uint64 { return -a })
	}
	return nil
}

// resolveIMin is min and max.
func resolveIMin(in *inst, op *ir.Op) error {
	larger, relu := op.Opcode() == optab.OpImax, op.Mods().Relu
	switch op.Type(0) {
	case optab.U16, optab.U32:
		in.fn = minU32
		if larger {
			in.fn = maxU32
		}
	case optab.S32:
		switch {
		case relu && larger:
			in.fn = bin32(func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b), 0)) })
		case relu:
			in.fn = bin32(func(a, b uint32) uint32 { return uint32(max(min(int32(a), int32(b)), 0)) })
		case larger:
			in.fn = maxS32
		default:
			in.fn = minS32
		}
	case optab.S16:
		if larger {
			in.fn = bin32(func(a, b uint32) uint32 { return uint32(max(signExtend16(a), signExtend16(b))) & 0xffff })
		} else {
			in.fn = bin32(func(a, b uint32) uint32 { return uint32(min(signExtend16(a), signExtend16(b))) & 0xffff })
		}
	case optab.U16x2:
		in.fn = bin32(func(a, b uint32) uint32 {
			return minMaxU16(a&0xffff, b&0xffff, larger) | minMaxU16(a>>16, b>>16, larger)<<16
		})
	case optab.S16x2:
		in.fn = bin32(func(a, b uint32) uint32 {
			return minMaxS16(a, b, larger, relu) | minMaxS16(a>>16, b>>16, larger, relu)<<16
		})
	case optab.U64:
		if larger {
			in.fn = bin64(func(a, b uint64) uint64 { return max(a, b) })
		} else {
			in.fn = bin64(func(a, b uint64) uint64 { return min(a, b) })
		}
	case optab.S64:
		if larger {
			in.fn = bin64(func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) })
		} else {
			in.fn = bin64(func(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) })
		}
	default:
		return unsupported(op)
	}
	return nil
}

func minMaxU16(a, b uint32, larger bool) uint32 {
	if larger {
		return max(a, b)
	}
	return min(a, b)
}

func minMaxS16(a, b uint32, larger, relu bool) uint32 {
	x, y := signExtend16(a), signExtend16(b)
	if larger {
		x = max(x, y)
	} else {
		x = min(x, y)
	}
	if relu {
		x = max(x, 0)
	}
	return uint32(x) & 0xffff
}

// dot adds the products of n pairs of elements, one of width wa from a and one byte of b each, to c.
func dot(n, wa uint, sa, sb bool, shift uint) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		b >>= shift
		for i := uint(0); i < n; i++ {
			x, y := a>>(i*wa)&(1<<wa-1), b>>(i*8)&0xff
			if sa {
				x = uint32(int32(x<<(32-wa)) >> (32 - wa))
			}
			if sb {
				y = uint32(int32(int8(y)))
			}
			c += x * y
		}
		return c
	}
}

func resolveDp4a(in *inst, op *ir.Op) error {
	in.fn = tri32(dot(4, 8, op.Type(0) == optab.S32, op.Type(1) == optab.S32, 0))
	return nil
}

func resolveDp2a(in *inst, op *ir.Op) error {
	shift := uint(0)
	if op.Mods().Part == optab.PartHi {
		shift = 16
	}
	in.fn = tri32(dot(2, 16, op.Type(0) == optab.S32, op.Type(1) == optab.S32, shift))
	return nil
}
