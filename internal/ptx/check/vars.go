package check

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// stride is the size of what one index of the first dimension steps over.
func (v *Var) stride() uint64 {
	n := uint64(v.Type.Bytes())
	if v.Vec > 1 {
		n *= uint64(v.Vec)
	}
	for i, d := range v.Dims {
		if i > 0 {
			n *= d
		}
	}
	return n
}

// plainSpace drops the sub-space of shared::cta and param::entry.
func plainSpace(s string) string {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == ':' {
			return s[:i]
		}
	}
	return s
}

// varType returns the type of a declaration, false when it cannot be declared in its space.
func varType(d *ptx.Var, space string) (*optab.Type, bool) {
	t := optab.FindType(d.Type)
	switch d.Type {
	case "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "f32",
		"f64":
		return t, true
	case "pred":
		return t, space == "reg"
	case "texref", "samplerref", "surfref":
		return t, space == "global" || space == "param" || space == "tex"
	}
	return t, false
}

// makeVar fills a variable from its declaration: type, dimensions, alignment, size.
// Those of formal parameters have 32-bit numbers of elements.
func (c *checker) makeVar(d *ptx.Var, space string, formal bool) *Var {
	t, ok := varType(d, space)
	switch {
	case d.Type == "pred" && d.Vec > 1:
		c.errorf(d.Pos, Semantic, predVector)
		ok = false
	case d.Type == "samplerref" && !c.texIndependent && space != "param":
		c.errorf(d.Pos, Semantic, "Instruction or declaration violates .target texmode_unified setting")
	case !ok && d.Type == "pred":
		c.errorf(d.Pos, Semantic, "Predicate variable '%s' must be in register state space", d.Name)
	case !ok:
		c.errorf(d.Pos, Semantic, "Illegal type '.%s' for variable '%s' in state space '.%s'", d.Type, d.Name, space)
	}
	if !ok {
		t = optab.FindType("b32")
	}
	v := c.newVar()
	*v = Var{Name: d.Name, Declared: &Declared{Decl: d, Linkage: d.Linkage, Space: space, Type: t, Vec: d.Vec,
		Dims: d.Dims}}
	elem := uint64(t.Bytes())
	if d.Vec > 1 {
		elem *= uint64(d.Vec)
		if elem > 16 && leads(d) {
			c.errorf(d.Pos, Semantic, "Vector type too large, exceeds 128 bit limit")
		}
	}
	c.shared = c.shared || space == "shared"
	v.Align = elem
	if n, ok := c.alignment(d.Pos, d.Alignment, leads(d)); ok {
		v.Align = n
	}
	if d.Ptr != nil {
		c.alignment(d.Ptr.Pos, d.Ptr.Alignment, true)
	}
	if formal && len(d.Dims) > 0 {
		v.Dims = []uint64{uint64(c.word(d.NamePos, d.Dims[0]))}
	}
	v.Size = sizeOf(v.Dims, elem)
	for _, a := range d.Attrs {
		switch a.Name {
		case "managed":
			if space != "global" {
				c.errorf(a.Pos, Semantic, "Illegal attribute '.managed' for symbol '%s'", d.Name)
			}
			c.need(a.Pos, ".managed", 40, 30)
			v.Managed = true
		case "unified":
			c.need(a.Pos, ".unified", 90, 90)
			c.tail = append(c.tail, func() { // the driver compiles and loads in one go
				c.report(&Error{Kind: Feature, Text: "Feature 'unified Functions' requires command line option '--compile-only'."})
			})
		default:
			c.errorf(a.Pos, Semantic, "Unknown attribute '.%s'", a.Name)
		}
	}
	if t.Bits == 128 {
		c.need(d.Pos, ".b128", 83, 70)
	}
	switch d.Linkage {
	case ptx.LinkWeak:
		c.need(d.Pos, ".weak", 31, 20)
	case ptx.LinkCommon:
		c.need(d.Pos, ".common", 50, 20)
	}
	return v
}

const predVector = "Predicate type can only be used to define scalar register variables"

// word is a number that the driver's compiler keeps in 32 bits. It says so of numbers above, but not of those that are
// negative as 64-bit numbers (recorded).
func (c *checker) word(pos ptx.Pos, n uint64) uint32 {
	if int64(n) > math.MaxUint32 {
		c.errorf(pos, Semantic, "Constant overflow")
	}
	return uint32(n)
}

// leads says whether a name is the first of its declaration, with which the faults of what names share are reported.
func leads(d *ptx.Var) bool { return d.Pos != d.NamePos }

// alignment judges an .align; told says whether its faults have not been reported with another name of the declaration.
func (c *checker) alignment(pos ptx.Pos, a ptx.Alignment, told bool) (uint64, bool) {
	n := uint32(a.Align)
	if a.HasAlign && told {
		c.word(pos, a.Align)
		if bits.OnesCount32(n) != 1 {
			c.errorf(pos, Semantic, "Alignment must be a power of two")
		}
	}
	return uint64(n), bits.OnesCount32(n) == 1
}

// sizeOf multiplies the dimensions; an unsized array has size 0.
func sizeOf(dims []uint64, elem uint64) uint64 {
	for _, n := range dims {
		elem *= n
	}
	return elem & (1<<SizeBits - 1)
}

// initialise turns an initialiser into bytes and relocations.
func (c *checker) initialise(v *Var) {
	d := v.Decl
	if d.Init == nil {
		return
	}
	switch v.Type.Name {
	case "texref", "samplerref", "surfref":
		c.opaque(v)
		return
	}
	switch {
	case v.Linkage == ptx.LinkExtern:
		c.errorf(d.NamePos, Semantic, "No initial value is allowed for external symbol '%s'", v.Name)
		return
	case v.Space != "global" && v.Space != "const":
		c.errorf(d.NamePos, Semantic, "No initial value is allowed for '%s' in this state space", v.Name)
		return
	case v.Type.Class == optab.Float && v.Type.Bits == 16:
		c.fatal(d.NamePos, "No initial value is allowed for .%s type", v.Type.Name)
		return
	}
	if len(v.Dims) > 0 && v.Dims[0] == 0 {
		l, ok := d.Init.(*ptx.InitList)
		n := 0
		if ok {
			n = len(l.Elems)
		}
		if n == 0 {
			c.fatal(d.Init.Position(), "Initial value type mismatch")
			return
		}
		v.Dims = append([]uint64{uint64(n)}, v.Dims[1:]...)
		v.Size = sizeOf(v.Dims[:1], v.stride())
	}
	v.Init = []byte{}
	dims := v.Dims
	if v.Vec > 1 {
		dims = append(slices.Clone(dims), uint64(v.Vec))
	}
	c.fill(v, d.Init, dims, 0)
	v.Size = max(v.Size, uint64(len(v.Init)))
}

// opaqueFields are the fields of texture, sampler and surface variables (PTX ISA 5.3, table of fields), and the named
// values that each accepts; a field without names takes an integer.
var opaqueFields = map[string][]string{
	"width": nil, "height": nil, "depth": nil, "array_size": nil, "num_mipmap_levels": nil, "num_samples": nil,
	"channel_data_type": nil, "channel_order": nil, "memory_layout": nil,
	"normalized_coords":         nil,
	"force_unnormalized_coords": nil,
	"filter_mode":               {"nearest", "linear"},
	"addr_mode_0":               {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"},
	"addr_mode_1":               {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"},
	"addr_mode_2":               {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"},
}

// opaque checks the initialiser of an opaque variable. It has no bytes: Decl.Init keeps it.
func (c *checker) opaque(v *Var) {
	list, ok := v.Decl.Init.(*ptx.InitList)
	if !ok {
		c.fatal(v.Decl.Init.Position(), "Initial value type mismatch")
		return
	}
	for _, e := range list.Elems {
		f, ok := e.(*ptx.InitField)
		if !ok {
			c.fatal(e.Position(), "Initial value type mismatch")
			return
		}
		names, known := opaqueFields[f.Name]
		if !known {
			c.errorf(f.Pos, Semantic, "Unknown field '%s' in initial value of variable '%s'", f.Name, v.Name)
			continue
		}
		if id, ok := f.X.(*ptx.Ident); ok {
			if names == nil && f.Name != "channel_data_type" && f.Name != "channel_order" ||
				names != nil && !slices.Contains(names, id.Name) {
				c.errorf(f.Pos, Semantic, "Illegal value '%s' of field '%s'", id.Name, f.Name)
			}
			continue
		}
		if x, msg, _ := c.eval(f.X); msg != "" || !x.isInt() {
			c.errorf(f.Pos, Semantic, "Illegal value of field '%s'", f.Name)
		}
	}
}

// fill writes an initialiser for the block of the given dimensions at off and returns where the next element goes. Each
// dimension has its braces, but elements follow one another without gaps: a short inner list does not leave room
// (recorded: {{1, 2}, {3}, {4, 5}} is 1 2 3 4 5 on the driver).
func (c *checker) fill(v *Var, init ptx.Operand, dims []uint64, off uint64) uint64 {
	list, braces := init.(*ptx.InitList)
	if braces != (len(dims) > 0) {
		c.fatal(init.Position(), "Initial value type mismatch")
		return off
	}
	if !braces {
		c.scalar(v, init, off)
		return off + uint64(v.Type.Bytes())
	}
	if uint64(len(list.Elems)) > dims[0] {
		c.fatal(list.Elems[dims[0]].Position(), "Greater number of elements in array initializer")
		return off
	}
	for _, e := range list.Elems {
		if off = c.fill(v, e, dims[1:], off); c.stop || c.stopped() {
			break
		}
	}
	return off
}

// scalar writes one element.
func (c *checker) scalar(v *Var, e ptx.Operand, off uint64) {
	x, msg, unknown := c.eval(e)
	if msg != "" {
		if unknown != "" {
			c.fatal(e.Position(), "Invalid initial value symbol '%s'", unknown)
		} else if msg == divisionByZero {
			c.fatal(e.Position(), "%s", msg)
		} else {
			c.errorf(e.Position(), Semantic, "%s", msg)
		}
		return
	}
	n := v.Type.Bytes()
	if need := int(off) + n; len(v.Init) < need {
		v.Init = append(v.Init, make([]byte, need-len(v.Init))...)
	}
	if x.isSym() {
		r := Reloc{Offset: off, Size: n, Var: x.sym.v, Func: x.sym.f, Addend: int64(x.c.Bits), Generic: x.generic}
		if x.masked {
			if !maskOK(x.mask) {
				c.errorf(e.Position(), Semantic, "Illegal mask 0x%x in initial value", x.mask)
				return
			}
			r.Mask, r.Shift = x.mask, bits.TrailingZeros64(x.mask)
		}
		if v.Type.Class == optab.Float || v.Type.Bits < 32 && !x.masked {
			c.fatal(e.Position(), "Initial value type mismatch")
			return
		}
		if x.sym.v != nil {
			switch x.sym.v.Space {
			case "global", "const", "shared", "tex":
			default:
				c.fatal(e.Position(), "Initial value type mismatch")
				return
			}
		}
		v.Relocs = append(v.Relocs, r)
		return
	}
	if x.masked {
		if !maskOK(x.mask) || !x.isInt() {
			c.errorf(e.Position(), Semantic, "Illegal mask 0x%x in initial value", x.mask)
			return
		}
		x.c.Bits = x.c.Bits & x.mask >> bits.TrailingZeros64(x.mask)
	}
	b, ok := x.bitsAs(v.Type, true)
	if !ok {
		c.fatal(e.Position(), "Initial value type mismatch")
		return
	}
	switch n {
	case 1:
		v.Init[off] = byte(b)
	case 2:
		binary.LittleEndian.PutUint16(v.Init[off:], uint16(b))
	case 4:
		binary.LittleEndian.PutUint32(v.Init[off:], uint32(b))
	case 8, 16:
		binary.LittleEndian.PutUint64(v.Init[off:], b)
	}
}

// maskOK says whether a mask selects one byte, as the manual's mask operator (PTX ISA 5.4.5) does.
func maskOK(m uint64) bool {
	return m != 0 && m>>bits.TrailingZeros64(m) == 0xff && bits.TrailingZeros64(m)%8 == 0
}
