package check

import "github.com/gocuda/cuda/internal/ptx/optab"

// sreg is a special register as instructions of a module see it.
type sreg struct {
	name string
	typ  string
	ptx  int
	sm   int
	vec  bool // has components x, y, z, w
}

// findSReg returns the special register called name (with its percent sign, without component).
func findSReg(name string) (sreg, bool) {
	s, number := optab.FindSReg(name)
	x := s.Info()
	r := sreg{name, x.Type.String(), x.PTX, x.SM, x.Vector}
	if s == optab.SRegPm && number > 3 { // the others came later
		r.ptx, r.sm = 30, 20
	}
	return r, s != optab.NoSReg
}

// reads says whether an instruction type reads a special register of type t: the same width. Two older programs' habits
// are kept: 16-bit reads of the thread and block numbers, which were 16 bits wide before PTX 2.0, and a 32-bit %gridid.
func (r sreg) reads(t, typ *optab.Type) bool {
	if t.Class == optab.Predicate || typ.Class == optab.Predicate {
		return t.Class == typ.Class
	}
	if typ.Class > optab.Signed {
		return false
	}
	switch {
	case t.Bits == typ.Bits:
		return true
	case r.vec && r.sm < 90:
		return typ.Bits == 16
	case r.name == "%gridid":
		return typ.Bits == 32
	}
	return false
}
