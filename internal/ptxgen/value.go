package ptxgen

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// reg is a register that always holds a defined value.
type reg struct {
	name string
	typ  *optab.Type
}

// regSets are the registers of a kernel. Others serve addresses and predicates that no statement chooses.
var regSets = []struct {
	prefix, typ string
	n           int
}{
	{"%b", "b32", 3}, {"%u", "u32", 2}, {"%s", "s32", 2}, {"%f", "f32", 4}, {"%x", "f16x2", 1},
	{"%lb", "b64", 2}, {"%lu", "u64", 1}, {"%ls", "s64", 1}, {"%d", "f64", 3},
	{"%hb", "b16", 3}, {"%hu", "u16", 1}, {"%hs", "s16", 1}, {"%hf", "f16", 1}, {"%cb", "b8", 4}, {"%cu", "u8", 1},
	{"%p", "pred", 4}, {"%q", "b128", 2},
}

// ownRegs are those that no statement chooses.
const ownRegs = ".reg .b32 %t,%g,%S,%t<8>;\n.reg .b64 %o,%i,%I,%o1,%o2,%o4,%a<8>;\n.reg .pred %pf,%pt,%pq,%pn;\n.reg .b16 %hx<4>;"

func (g *gen) declareRegs() {
	for _, s := range regSets {
		if s.typ == "b128" && g.version < 83 {
			continue
		}
		g.decls = append(g.decls, fmt.Sprintf(".reg .%s %s<%d>;", s.typ, s.prefix, s.n))
		for i := range s.n {
			g.regs = append(g.regs, reg{fmt.Sprintf("%s%d", s.prefix, i), optab.FindType(s.typ)})
		}
	}
	// %t<8> would declare %t0 to %t7 beside %t.
	g.decls = append(g.decls, ownRegs)
}

// declareVectors adds registers of vector type. Their elements are operands of plain instructions alone: what ptxas
// expands does not take them.
func (g *gen) declareVectors() bool {
	if !g.chance(3) {
		return false
	}
	g.decls = append(g.decls, ".reg .v4 .b32 %va;", ".reg .v2 .u32 %vb;")
	for _, c := range []string{"%va.x", "%va.y", "%va.z", "%va.w", "%vb.x", "%vb.y"} {
		d := g.regs[g.IntN(9)] // one of 32 bits
		g.atExit = append(g.atExit, fmt.Sprintf("add.u32 %%t1,%s,%d;\nmov.b32 %s,%%t1;\nmov.b32 %s,%s;\nst.global.b32 [%s],%s;", c, g.IntN(99), c, d.name, c, g.row(1), d.name))
	}
	return true
}

// agrees is PTX's rule for a register at a position of a type of the same width (PTX ISA 9.5).
func agrees(r, t *optab.Type) bool {
	if r.Bits != t.Bits || (r.Class == optab.Predicate) != (t.Class == optab.Predicate) {
		return false
	}
	switch t.Class {
	case optab.Bits, optab.Predicate:
		return true
	case optab.Unsigned, optab.Signed:
		return r.Class <= optab.Signed
	}
	return r.Class == optab.Bits || r.Name == t.Name ||
		t.Class == optab.Packed && (t.Name == "u16x2" || t.Name == "s16x2") && r.Class <= optab.Signed
}

// candidates are the registers that fit.
func (g *gen) candidates(t *optab.Type, wider bool) []*reg {
	var list []*reg
	for i := range g.regs {
		r := &g.regs[i]
		ok := agrees(r.typ, t)
		if !ok && wider && r.typ.Bits > t.Bits && r.typ.Class != optab.Predicate && t.Class != optab.Predicate {
			switch t.Class {
			case optab.Bits:
				ok = r.typ.Bits <= 64
			case optab.Unsigned, optab.Signed:
				ok = r.typ.Class <= optab.Signed && r.typ.Bits <= 64
			default:
				ok = r.typ.Class == optab.Bits && r.typ.Bits <= 64
			}
		}
		if ok {
			list = append(list, r)
		}
	}
	return list
}

// source chooses a register to read. Operands of f64 are registers that hold one NaN at most: which of two survives is
// open.
func (g *gen) source(t *optab.Type, wider bool) *reg {
	list := g.candidates(t, wider && g.chance(3))
	if t.Name == "f64" {
		var only []*reg
		for _, r := range list {
			if r.typ.Name == "f64" {
				only = append(only, r)
			}
		}
		list = only
	}
	if len(list) == 0 {
		return nil
	}
	return list[g.IntN(len(list))]
}

// result chooses a register to write.
func (g *gen) result(t *optab.Type, wider bool) *reg {
	list := g.candidates(t, wider && g.chance(3))
	if len(list) == 0 {
		return nil
	}
	return list[g.IntN(len(list))]
}

// results chooses n different registers to write.
func (g *gen) results(t *optab.Type, n int, wider bool) []*reg {
	list := g.candidates(t, wider && g.chance(4))
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if n > 1 && len(list) > 0 {
		list = alike(list, list[0])
	}
	if len(list) < n {
		return nil
	}
	return list[:n]
}

// alike are the registers of a list that may stand in a vector with one of them.
func alike(list []*reg, first *reg) []*reg {
	var l []*reg
	for _, r := range list {
		a, b := r.typ, first.typ
		integers := a.Class <= optab.Signed && b.Class <= optab.Signed && a.Class != optab.Bits && b.Class != optab.Bits
		if a.Bits == b.Bits && (a.Name == b.Name || integers || b.Class != optab.Bits && a.Class == optab.Bits) {
			l = append(l, r)
		}
	}
	return l
}

// settle makes the NaN in a register of f64 the one that all others are.
func (g *gen) settle(r *reg, guard string) {
	if r.typ.Name == "f64" {
		g.emit("setp.nan.f64 %%pn,%s,%s;\nselp.f64 %s,0d7FF8000000000000,%s,%%pn;", r.name, r.name, r.name, r.name)
	}
}

// fold makes a register's value part of the output.
func (g *gen) fold(r *reg) {
	name := r.name
	if g.fn != nil {
		g.mix(r)
		return
	}
	switch r.typ.Bits {
	case 1:
		g.emit("selp.b32 %%t1,1,2,%s;\nst.global.b32 [%s],%%t1;", name, g.row(1))
	case 128:
		g.emit("st.global.b128 [%s],%s;", g.row(4), name)
	default:
		g.emit("st.global.b%d [%s],%s;", r.typ.Bits, g.row((r.typ.Bits+31)/32), name)
	}
}

// mix folds a register into a function's checksum.
func (g *gen) mix(r *reg) {
	name := r.name
	word := func(s string) { g.emit("mad.lo.u32 %%acc,%%acc,31,%s;", s) }
	switch r.typ.Bits {
	case 1:
		g.emit("selp.b32 %%t1,1,2,%s;", name)
		word("%t1")
	case 8:
		g.emit("cvt.u32.u8 %%t1,%s;", name)
		word("%t1")
	case 16:
		g.emit("mov.b32 %%t1,{%s,%s};", name, name)
		word("%t1")
	case 32:
		g.emit("mov.b32 %%t1,%s;", name)
		word("%t1")
	case 64:
		g.emit("mov.b64 {%%t1,%%t2},%s;", name)
		word("%t1")
		word("%t2")
	case 128:
		g.emit("mov.b128 {%%a6,%%a7},%s;\nmov.b64 {%%t1,%%t2},%%a6;", name)
		word("%t1")
		word("%t2")
		g.emit("mov.b64 {%%t1,%%t2},%%a7;")
		word("%t1")
		word("%t2")
	}
}

// immediate is a constant of a type, "" where it takes none.
func (g *gen) immediate(t *optab.Type) string {
	switch t.Class {
	case optab.Bits, optab.Unsigned, optab.Signed:
		if t.Bits > 64 || t.Bits < 16 {
			return ""
		}
		v := pick(g, 0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 100, 255, 1000, 4095, 65535)
		if t.Bits > 16 {
			v = pick(g, v, v, 0x12345678, 0x7fffffff, 1<<20)
		}
		switch g.IntN(10) {
		case 0:
			if t.Class != optab.Unsigned {
				return fmt.Sprintf("-%d", min(v, 30000))
			}
		case 1:
			return fmt.Sprintf("0x%x", v)
		case 2:
			return fmt.Sprintf("0%o", v)
		case 3:
			return fmt.Sprintf("(%d+%d*2)", v/4, g.IntN(50))
		case 4:
			return fmt.Sprintf("(%d<<%d)", g.IntN(8), g.IntN(8))
		case 5:
			return fmt.Sprintf("(%d>%d?%d:%d)", g.IntN(5), g.IntN(5), g.IntN(50), g.IntN(50))
		case 6:
			return fmt.Sprintf("(%d&~%d|%d)", v, g.IntN(16), g.IntN(4))
		case 7:
			if t.Bits >= 32 {
				return fmt.Sprintf("%dU", v)
			}
		case 8:
			return fmt.Sprintf("0b%b", v&1023)
		}
		return fmt.Sprint(v)
	case optab.Float:
		if t.Name == "f32" || t.Name == "f64" {
			f := pick(g, 1.5, -2.25, 3, 0.1, -7.75, 1e3, 0.015625, 12345.5)
			switch g.IntN(4) {
			case 0:
				return fmt.Sprintf("0f%08X", math.Float32bits(float32(f)))
			case 1:
				return fmt.Sprintf("0d%016X", math.Float64bits(f))
			case 2:
				return fmt.Sprintf("%.5e", f)
			}
			s := fmt.Sprint(f)
			if !strings.ContainsAny(s, ".e") {
				s += ".0"
			}
			return s
		}
	}
	return ""
}
