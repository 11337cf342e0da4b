package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rulesTexture are the rules of texture and surface instructions (PTX ISA 9.7.10, 9.7.11).
var rulesTexture = ruleSet{
	"tex":     ruleTex,
	"txq":     func(ic *instCheck) string { return opaqueOperand(ic, "texref", "samplerref") },
	"suq":     func(ic *instCheck) string { return opaqueOperand(ic, "surfref") },
	"surface": ruleSurface,
}

// geometry describes the coordinates of a texture or surface geometry.
type geometry struct {
	word   string
	coords int // elements of the coordinate vector, padding included
	index  int // leading ones that are unsigned: layer, sample
	used   int // elements that count, leading ones included; the rest is padding
	offset int // elements of an offset, 0 where none is allowed
	grad   int // elements of a derivative
}

var geometries = []geometry{
	{"1d", 1, 0, 1, 1, 1}, {"2d", 2, 0, 2, 2, 2}, {"3d", 4, 0, 3, 4, 4}, {"a1d", 2, 1, 2, 1, 1}, {"a2d", 4, 1, 3, 2, 2},
	{"cube", 4, 0, 3, 0, 4}, {"acube", 4, 1, 4, 0, 4}, {"2dms", 4, 1, 3, 2, 0}, {"a2dms", 4, 2, 4, 2, 0},
}

func geometryOf(ic *instCheck) *geometry {
	for i := range geometries {
		if ic.Has(geometries[i].word) {
			return &geometries[i]
		}
	}
	return &geometries[0]
}

// opaqueOperand checks what stands first in the brackets: a variable of one of the types, or a 64-bit register with its
// address.
func opaqueOperand(ic *instCheck, types ...string) string {
	a := ic.Arg("a")
	if a == nil || a.Kind != ArgAddr || a.Base == nil {
		return ic.Mismatch()
	}
	return opaqueName(ic, a.Base, types)
}

func opaqueName(ic *instCheck, a *Arg, types []string) string {
	switch a.Kind {
	case ArgReg:
		if t := a.Var.Type; t.Bits == 64 && t.Class <= optab.Signed {
			return ""
		}
	case ArgSym:
		if a.Var == nil {
			break
		}
		if a.Var.Space == "tex" && types[0] == "texref" || a.Var.Space == "param" && a.Var.Type.Bits == 64 {
			return ""
		}
		for _, t := range types {
			if a.Var.Type.Name == t {
				return ""
			}
		}
	}
	return ic.Mismatch()
}

// vectorOf resolves src as a vector of elements whose types word gives; src may also be a vector register, or for one
// element stand alone.
func vectorOf(ic *instCheck, loose *Arg, src ptx.Operand, word func(i int) string) (Arg, int, string) {
	if loose.Kind == ArgVec {
		if _, register := src.(*ptx.Ident); register {
			for i := range loose.Elems {
				if loose.Elems[i].Var.Type.Bits != 32 {
					return *loose, 0, ic.Mismatch()
				}
			}
			return *loose, len(loose.Elems), ""
		}
	}
	elems := []ptx.Operand{src}
	if v, ok := src.(*ptx.Vector); ok {
		elems = v.Elems
	}
	out := newArg(ic.c.position(loose.Op, ""), src.Position())
	resolved := ic.c.takeArgs(len(elems))
	out.Kind, ic.c.rest(&out).Elems = ArgVec, resolved
	for i, e := range elems {
		var fault string
		if resolved[i], fault = ic.Resolve(loose.Op, e, word(i)); fault != "" {
			return out, 0, fault
		}
	}
	return out, len(elems), ""
}

// coordinates checks and types the coordinate vector, the last operand in the brackets.
func coordinates(ic *instCheck, g *geometry, typ string) string {
	a := ic.Arg("a")
	addr, ok := ic.Source("a").(*ptx.Addr)
	if !ok || len(a.Extra) == 0 {
		return ic.Mismatch()
	}
	last := len(a.Extra) - 1
	v, n, fault := vectorOf(ic, &a.Extra[last], addr.Extra[last], func(i int) string {
		switch {
		case i < g.index:
			return "u32"
		case i >= g.used:
			return "b32"
		}
		return typ
	})
	switch {
	case fault != "":
		return fault
	case n != g.coords:
		text := fmt.Sprintf("Operand vector size doesn't match geometry for instruction '%s'", ic.Name())
		ic.Errorf("%s", text) // the driver says it twice
		return text
	}
	a.Extra[last] = v
	return ""
}

// ruleTex is for tex and tld4.
func ruleTex(ic *instCheck) string {
	g := geometryOf(ic)
	d := ic.Arg("d")
	want := 4
	if ic.Has("v2") {
		want = 2
	}
	if n := len(ic.Elems(d)); d.Kind != ArgVec || n != want {
		if n == 3 || n > 4 {
			ic.Errorf("Illegal vector size: %d", n)
		}
		return fmt.Sprintf("Argument vector size mismatch for instruction '%s'", ic.Name())
	}
	if d.Second != nil {
		if s := ic.NeedPTX(ic.Name()+" with destination predicate", 71); s != "" {
			return s
		}
		if s := ic.NeedSM(ic.Name()+" with destination predicate", 60); s != "" {
			return s
		}
	}
	if s := opaqueOperand(ic, "texref"); s != "" {
		return s
	}
	a := ic.Arg("a")
	switch len(a.Extra) {
	case 1:
	case 2:
		if !ic.c.texIndependent {
			return "Instruction or declaration violates .target texmode_unified setting"
		}
		if s := opaqueName(ic, &a.Extra[0], []string{"samplerref"}); s != "" {
			return s
		}
	default:
		return ic.Mismatch()
	}
	typ := "f32"
	if ic.Name() == "tex" {
		typ = ic.Type(1).Name
	}
	if s := coordinates(ic, g, typ); s != "" {
		return s
	}
	for _, name := range []string{"x", "y"} {
		i := ic.index(name)
		if i < 0 {
			continue
		}
		v, n, fault := vectorOf(ic, &ic.Args[i], ic.src[i], func(int) string { return "f32" })
		if fault != "" || n != g.grad {
			return ic.Mismatch()
		}
		ic.Args[i] = v
	}
	return texExtras(ic, g)
}

// texExtras tells offsets from comparison values.
func texExtras(ic *instCheck, g *geometry) string {
	i := ic.index("e")
	if i >= 0 {
		_, vector := ic.src[i].(*ptx.Vector)
		f := ic.Match.Form.Operand("f")
		switch {
		case vector || ic.Args[i].Kind == ArgVec:
			v, n, fault := vectorOf(ic, &ic.Args[i], ic.src[i], func(int) string { return "s32" })
			if fault != "" || n != g.offset {
				return ic.Mismatch()
			}
			ic.Args[i] = v
			if s := ic.NeedPTX(ic.Name()+" with offset", 43); s != "" {
				return s
			}
		case f != nil && ic.Arg("f") == nil:
			v, fault := ic.Resolve(f, ic.src[i], "f32")
			if fault != "" {
				return fault
			}
			v.Position = ic.c.position(f, v.Type)
			ic.Args[i] = v
		default:
			return ic.Mismatch()
		}
	}
	if ic.Arg("f") == nil {
		return ""
	}
	if ic.Has("3d") {
		return ic.Mismatch() // depth comparison is not for volumes
	}
	if ic.Name() == "tex" && ic.Type(1).Class != optab.Float {
		return ic.Mismatch()
	}
	return ic.NeedPTX(ic.Name()+" with depth compare", 43)
}

// ruleSurface is for suld, sust and sured.
func ruleSurface(ic *instCheck) string {
	if s := opaqueOperand(ic, "surfref"); s != "" {
		return s
	}
	if len(ic.Arg("a").Extra) != 1 {
		return ic.Mismatch()
	}
	n := 1
	switch ic.One("v2", "v4") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	}
	if n*ic.Type(0).Bits > 128 {
		return "Vector type too large, exceeds 128 bit limit"
	}
	return coordinates(ic, geometryOf(ic), "s32")
}

// missTexture words what no form fits (ptxas 13.0, testdata/ptxas.txt).
var missTexture = map[string]missRule{"suld": missClamp("suld"), "sust": missClamp("sust"), "sured": missClamp("sured")}

// missClamp: an access to a surface says what it does outside.
func missClamp(name string) missRule {
	return func(_ *checker, words []string) string {
		for _, w := range words {
			if w == "trap" || w == "clamp" || w == "zero" {
				return ""
			}
		}
		if len(words) == 0 || words[0] != "b" && words[0] != "p" {
			return ""
		}
		return fmt.Sprintf("Clamp modifier required for instruction '%s.%s'", name, words[0])
	}
}
