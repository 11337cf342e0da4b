package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// geometries are those of textures and surfaces: the image, the coordinates before and after those that count, offsets
// and derivatives.
var geometries = map[string]struct {
	img    Image
	layer  int // leading coordinates that are layers
	dims   int // coordinates that count
	pad    int
	offset int
	grad   int
}{
	"1d":    {Image{Width: 16}, 0, 1, 0, 1, 1},
	"2d":    {Image{Width: 8, Height: 8}, 0, 2, 0, 2, 2},
	"3d":    {Image{Width: 4, Height: 4, Depth: 4}, 0, 3, 1, 4, 4},
	"a1d":   {Image{Width: 8, Depth: 4, Layered: true}, 1, 1, 0, 1, 1},
	"a2d":   {Image{Width: 8, Height: 4, Depth: 3, Layered: true}, 1, 2, 1, 2, 2},
	"cube":  {Image{Width: 4, Height: 4, Depth: 6, Cube: true}, 0, 3, 1, 0, 4},
	"acube": {Image{Width: 4, Height: 4, Depth: 12, Cube: true, Layered: true}, 1, 3, 0, 0, 4},
}

func geometryOf(m *optab.Match) string {
	return m.One("1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms")
}

// image adds a texture or surface object to the parameters and loads its handle into %a4.
func (g *gen) image(img Image) {
	kind := ParamTexture
	if img.Surface {
		kind = ParamSurface
	}
	n := len(g.p.Params)
	g.p.Params = append(g.p.Params, Param{Kind: kind, Image: &img})
	g.params = append(g.params, fmt.Sprintf(".param .u64 im%d", n))
	g.emit("ld.param.u64 %%a4,[im%d];", n)
}

// coordinates puts a place for each thread into %t registers and returns the whole vector of coordinates. Surfaces
// count bytes in the first dimension.
func (g *gen) coordinates(geometry string, float bool, surface bool, size int) string {
	geo := geometries[geometry]
	var list []string
	limits := []uint64{geo.img.Width, geo.img.Height, geo.img.Depth}
	if geo.layer > 0 {
		g.emit("and.b32 %%t3,%%t,1;")
		list = append(list, "%t3")
	}
	for i := range geo.dims {
		r := fmt.Sprintf("%%t%d", 4+i)
		limit := max(1, limits[i])
		switch {
		case float && geo.img.Cube:
			g.emit("and.b32 %%t1,%%t,7;\nadd.u32 %%t1,%%t1,%d;\ncvt.rn.f32.s32 %s,%%t1;\nadd.rn.f32 %s,%s,0f%08X;",
				1+7*i, r, r, r, []uint32{0xc0800000, 0xc0e00000, 0xc1880000}[i])
		case float:
			g.emit("shr.u32 %%t1,%%t,%d;\nand.b32 %%t1,%%t1,%d;\ncvt.rn.f32.u32 %s,%%t1;\nadd.rn.f32 %s,%s,0f3F000000;",
				i, limit-1, r, r, r)
		case surface && i == 0:
			g.emit("and.b32 %s,%%t,%d;\nshl.b32 %s,%s,%d;", r, limit-1, r, r, log2(size))
		default:
			g.emit("shr.u32 %s,%%t,%d;\nand.b32 %s,%s,%d;", r, i, r, r, limit-1)
		}
		list = append(list, r)
	}
	for range geo.pad {
		list = append(list, list[len(list)-1])
	}
	return "{" + strings.Join(list, ",") + "}"
}

// texture writes tex and tld4.
func (g *gen) texture(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil || g.loops > 0 {
		return false
	}
	name := geometryOf(m)
	geo, ok := geometries[name]
	if !ok {
		return g.unreached(f, words, m)
	}
	img := geo.img
	dtype, ctype := m.Type(0), "f32"
	if f.Name == "tex" {
		ctype = m.Type(1)
	}
	img.Channels = 4
	switch dtype {
	case "u32":
		img.Format, img.Integer = pick(g, "u8", "u16", "u32"), true
	case "s32":
		img.Format, img.Integer = pick(g, "s8", "s16", "s32"), true
	default:
		img.Format = pick(g, "f16", "f32")
	}
	if f.Name == "tex" && g.chance(3) {
		img.Channels = pick[uint32](g, 1, 2)
	}
	img.Address = 1
	elems := 4
	set := "%m"
	if m.Has("v2") {
		elems = 2
	}
	g.need(".reg .b32 %m<160>;")
	g.need(".reg .b16 %mh<4>;")
	if dtype == "f16" {
		set = "%mh"
	}
	d := fragmentNames(set, 0, elems)
	if g.chance(3) {
		d += "|%pq"
	}
	float := ctype == "f32"
	text := func(coords string) string {
		s := fmt.Sprintf("%s %s,[%%a4,%s]", mnemonic(f, words), d, coords)
		if m.Has("level") {
			if float {
				s += ",0f00000000"
			} else {
				s += ",0"
			}
		}
		if m.Has("grad") {
			z := "{" + strings.TrimSuffix(strings.Repeat("0f3E000000,", geo.grad), ",") + "}"
			s += "," + z + "," + z
		}
		return s
	}
	probe := "{%t1,%t1,%t1,%t1}"
	switch geo.layer + geo.dims + geo.pad {
	case 1:
		probe = "{%t1}"
	case 2:
		probe = "{%t1,%t1}"
	}
	extra := ""
	if f.Operand("e") != nil && g.chance(3) && name != "1d" && name != "a1d" {
		var o []string
		for range geo.offset {
			o = append(o, pick(g, "1", "0", "-1"))
		}
		extra = ",{" + strings.Join(o, ",") + "}"
	}
	if !g.accepts(text(probe) + extra + ";") {
		return false
	}
	g.image(img)
	coords := g.coordinates(name, float, false, 0)
	g.emit("%s%s;", text(coords), extra)
	if strings.Contains(d, "|") {
		g.emit("selp.b32 %%t1,1,2,%%pq;\nst.global.b32 [%s],%%t1;", g.row(1))
	}
	if set == "%mh" {
		for i := range elems {
			g.emit("st.global.b16 [%s],%%mh%d;", g.row(1), i)
		}
		return true
	}
	g.show(0, elems)
	return true
}

// unreached writes an instruction on an object that no program can have, where no thread comes.
func (g *gen) unreached(f *optab.Form, words []string, m *optab.Match) bool {
	g.need(".reg .b32 %m<160>;")
	g.need(".reg .b16 %mh<4>;")
	set, n := "%m", 4
	if m.Has("v2") {
		n = 2
	}
	if m.Type(0) == "f16" {
		set = "%mh"
	}
	line := fmt.Sprintf("%s %s,[%%a4,{%%t1,%%t2,%%t3,%%t4}];", mnemonic(f, words), fragmentNames(set, 0, n))
	if !g.accepts(line) {
		return false
	}
	l := g.newLabel()
	g.emit("@%%pt bra %s;\nmov.u64 %%a4,0;\nmov.u32 %%t1,0;\nmov.u32 %%t2,0;\nmov.u32 %%t3,0;\nmov.u32 %%t4,0;\n%s\n%s:", l, line, l)
	return true
}

// query writes txq, suq and istypep.
func (g *gen) query(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil {
		return false
	}
	img := geometries["2d"].img
	img.Format, img.Channels, img.Address = "f32", 4, 1
	switch f.Name {
	case "istypep":
		l := g.newLabel() // about opaque variables, which are not what handles are
		line := fmt.Sprintf("%s %%pq,%%a4;", mnemonic(f, words))
		if !g.accepts(line) {
			return false
		}
		g.emit("mov.u64 %%a4,0;\n@%%pt bra %s;\n%s\n%s:", l, line, l)
		return true
	case "suq":
		img.Surface, img.Format, img.Channels = true, "u32", 1
	}
	line := mnemonic(f, words) + " %t1,[%a4]"
	if m.Has("level") {
		line += ",0"
	}
	line += ";"
	if !g.accepts(line) {
		return false
	}
	g.image(img)
	g.emit("%s\nst.global.b32 [%s],%%t1;", line, g.row(1))
	return true
}

// surface writes suld, sust and sured. Threads that meet at a texel do the same.
func (g *gen) surface(f *optab.Form, words []string, m *optab.Match) bool {
	// blocks do not wait for each other
	if g.fn != nil || !g.uniform || g.loops > 0 || f.Name == "sured" && g.p.Grid != [3]uint32{1, 1, 1} {
		return false
	}
	name := geometryOf(m)
	img := geometries[name].img
	img.Surface = true
	t := optab.FindType(m.Types[len(m.Types)-1])
	size := accessSize(m)
	switch size {
	case 1:
		img.Format, img.Channels = "u8", 1
	case 2:
		img.Format, img.Channels = "u16", 1
	case 4:
		img.Format, img.Channels = "u32", 1
	case 8:
		img.Format, img.Channels = "u32", 2
	default:
		img.Format, img.Channels = "u32", 4
	}
	if f.Name == "sust" && m.Has("p") {
		img.Format, img.Channels = "f32", uint32(elements(m))
	}
	probe := "{%t1,%t1,%t1,%t1}"
	switch geo := geometries[name]; geo.layer + geo.dims + geo.pad {
	case 1:
		probe = "{%t1}"
	case 2:
		probe = "{%t1,%t1}"
	}
	n := elements(m)
	set := map[int]string{8: "%hx", 16: "%hx", 32: "%m", 64: "%a"}[t.Bits]
	if t.Bits == 64 && n > 2 {
		return false
	}
	g.need(".reg .b32 %m<160>;")
	v := fragmentNames(set, 0, n)
	if n == 1 && g.chance(2) {
		v = strings.Trim(v, "{}")
	}
	text := func(coords string) string {
		if f.Name == "suld" {
			return fmt.Sprintf("%s %s,[%%a4,%s];", mnemonic(f, words), v, coords)
		}
		return fmt.Sprintf("%s [%%a4,%s],%s;", mnemonic(f, words), coords, v)
	}
	if !g.accepts(text(probe)) {
		return false
	}
	g.image(img)
	bytes := size
	if m.Has("p") {
		bytes = 1 // formatted stores count texels
	}
	// values that depend on the texel alone; every dimension has at most eight places
	coords := g.coordinates(name, false, true, bytes)
	if f.Name != "suld" {
		first := "%t4"
		for i := range n {
			switch t.Bits {
			case 32:
				g.emit("mad.lo.u32 %s%d,%s,%d,%d;", set, i, first, 77+i, 12345*i)
			case 64:
				g.emit("cvt.u64.u32 %s%d,%s;", set, i, first)
			default:
				g.emit("cvt.u16.u32 %s%d,%s;", set, i, first)
			}
		}
	}
	if f.Name == "suld" {
		g.emit("%s", text(coords))
		switch t.Bits {
		case 32:
			g.show(0, n)
		case 64:
			for i := range n {
				g.emit("st.global.b64 [%s],%s%d;", g.row(2), set, i)
			}
		default:
			for i := range n {
				g.emit("st.global.b%d [%s],%s%d;", t.Bits, g.row(1), set, i)
			}
		}
		return true
	}
	g.emit("bar.sync 0;\n%s\nbar.sync 0;", text(coords))
	if m.Has("p") {
		g.emit("mov.u32 %%t1,%%t4;")
		coords = strings.Replace(coords, "%t4", "%t1", -1)
		g.emit("shl.b32 %%t1,%%t1,%d;", log2(4*int(max(1, img.Channels))))
	}
	back := ""
	switch {
	case f.Name == "sust" && m.Has("p"):
		back = fmt.Sprintf("suld.b.%s.b32.clamp %%m8,[%%a4,%s];\nst.global.b32 [%s],%%m8;", name, coords, g.row(1))
	case size == 1, size == 2:
		back = fmt.Sprintf("suld.b.%s.b%d.clamp %%hx3,[%%a4,%s];\nst.global.b16 [%s],%%hx3;", name, 8*size, coords,
			g.row(1))
	case size == 4:
		back = fmt.Sprintf("suld.b.%s.b32.clamp %%m8,[%%a4,%s];\nst.global.b32 [%s],%%m8;", name, coords, g.row(1))
	case size == 8:
		back = fmt.Sprintf("suld.b.%s.v2.b32.clamp {%%m8,%%m9},[%%a4,%s];\nst.global.v2.b32 [%s],{%%m8,%%m9};", name,
			coords, g.row(2))
	default:
		back = fmt.Sprintf("suld.b.%s.v4.b32.clamp {%%m8,%%m9,%%m10,%%m11},[%%a4,%s];\nst.global.v4.b32 [%s],{%%m8,%%m9,%%m10,%%m11};", name, coords, g.row(4))
	}
	g.emit("%s", back)
	return true
}
