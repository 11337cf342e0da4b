package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// ClassOf is the class of a type of whole 32- or 64-bit registers, which vector code takes; ok is false for others.
func ClassOf(typ optab.TypeID) (c ir.Class, ok bool) {
	switch typ {
	case optab.U32, optab.S32, optab.B32, optab.F32:
		return ir.W32, true
	case optab.U64, optab.S64, optab.B64, optab.F64:
		return ir.W64, true
	}
	return 0, false
}

// Wide32 says whether a type has 32 bits.
func Wide32(typ optab.TypeID) bool { return typ.Info().Bits == 32 }
