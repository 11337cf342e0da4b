package tileir

import (
	"encoding/binary"
	"slices"
)

// The tags of type records.
const (
	tagPointer       = 12
	tagTile          = 13
	tagTensorView    = 14
	tagPartitionView = 15
	tagFunction      = 16
	tagToken         = 17
	tagGatherScatter = 20
	tagStrided       = 21
)

// simpleTypes are the tags of types without parameters, and the first minor version that has them.
var simpleTypes = map[uint64]struct {
	kind  Kind
	since uint8
	words string // what messages call a type that not all versions have
}{
	0: {kind: I1}, 1: {kind: I8}, 2: {kind: I16}, 3: {kind: I32}, 4: {kind: I64},
	5: {kind: F16}, 6: {kind: BF16}, 7: {kind: F32}, 8: {kind: TF32}, 9: {kind: F64}, 10: {kind: F8E4M3FN},
	11: {kind: F8E5M2}, tagToken: {kind: Token},
	18: {F8E8M0FNU, 2, "Float8E8M0FNU"}, 19: {F4E2M1FN, 3, "Float4E2M1FN"}, 22: {I4, 3, "Int4"},
	130: {F8E5M3FNU, 4, "FloatNV8E5M3FNU"},
}

// typeTable reads type records when they are asked for.
type typeTable struct {
	table
	minor   uint8
	types   []*Type
	state   []typeState
	byKey   map[string]*Type
	numbers map[*Type]uint32 // of interned types, for keys
	depth   int
}

type typeState uint8

const (
	typeUnread typeState = iota
	typeReading
	typeRead
)

// MaxNesting is how deep types, attributes and regions may nest. NVIDIA's reader has no bound but its stack.
const MaxNesting = 1024

func readTypes(c *cursor, minor uint8) (typeTable, error) {
	t, err := readTable(c, 4, "types")
	out := typeTable{table: t, minor: minor}
	if err == nil {
		out.types, out.state = make([]*Type, t.n), make([]typeState, t.n)
	}
	return out, err
}

// read reads the index of a type and gives the type, nil when there is none or the index cannot be read.
func (t *typeTable) read(c *cursor) (*Type, error) {
	i, ok := c.varint()
	if !ok {
		return nil, nil
	}
	return t.get(i)
}

// get gives type i; nil when there is no such type, its record has wrong bounds, or it is part of itself. The error is
// for a record that breaks a rule.
func (t *typeTable) get(i uint64) (*Type, error) {
	if i >= t.n || t.state[i] == typeReading {
		return nil, nil
	}
	if t.state[i] == typeRead {
		return t.types[i], nil
	}
	c, ok := t.record(i)
	if !ok {
		return nil, nil
	}
	tag, ok := c.varint()
	if !ok {
		return nil, nil
	}
	if t.depth++; t.depth > MaxNesting {
		return nil, c.bare(TooLarge, "types nest more than %d deep", MaxNesting)
	}
	defer func() { t.depth-- }()
	t.state[i] = typeReading
	rest := c.sub(c.at, len(c.data)-c.at)
	typ, err := t.parse(tag, &rest)
	if err != nil {
		t.state[i] = typeUnread
		return nil, err
	}
	typ = t.intern(typ)
	t.types[i], t.state[i] = typ, typeRead
	return typ, nil
}

// intern makes equal types one object.
func (t *typeTable) intern(typ *Type) *Type {
	key := []byte{byte(typ.Kind), byte(typ.Padding), byte(typ.Attr)}
	ref := func(ts ...*Type) {
		key = binary.AppendUvarint(key, uint64(len(ts)))
		for _, x := range ts {
			n := uint32(0)
			if x != nil {
				n = t.numbers[x] + 1
			}
			key = binary.AppendUvarint(key, uint64(n))
		}
	}
	nums := func(vs []int64) {
		key = binary.AppendUvarint(key, uint64(len(vs)))
		for _, v := range vs {
			key = binary.AppendVarint(key, v)
		}
	}
	ref(typ.Elem, typ.View)
	ref(typ.Params...)
	ref(typ.Results...)
	nums(typ.Shape)
	nums(typ.Strides)
	nums(typ.DimMap)
	key = binary.AppendVarint(key, typ.SparseDim)
	if have := t.byKey[string(key)]; have != nil {
		return have
	}
	if t.byKey == nil {
		t.byKey, t.numbers = map[string]*Type{}, map[*Type]uint32{}
	}
	t.numbers[typ] = uint32(len(t.numbers))
	t.byKey[string(key)] = typ
	return typ
}

// tile gives the tile type of a shape and element, which must be types of the table.
func (t *typeTable) tile(shape []int64, elem *Type) *Type {
	return t.intern(&Type{Kind: Tile, Elem: elem, Shape: shape, Padding: NoPadding, Attr: NoPointerAttr})
}

// scalar gives the type of a kind of number.
func (t *typeTable) scalar(k Kind) *Type {
	return t.intern(&Type{Kind: k, Padding: NoPadding, Attr: NoPointerAttr})
}

func (t *typeTable) parse(tag uint64, c *cursor) (*Type, error) {
	if s, ok := simpleTypes[tag]; ok {
		if s.since > t.minor {
			return nil, tooOld(c, s.words, s.since, t.minor)
		}
		return &Type{Kind: s.kind, Padding: NoPadding, Attr: NoPointerAttr}, nil
	}
	switch tag {
	case tagPointer:
		return t.pointer(c)
	case tagTile:
		return t.tileType(c)
	case tagTensorView:
		return t.tensorView(c)
	case tagPartitionView, tagGatherScatter, tagStrided:
		if tag == tagGatherScatter && t.minor < 3 {
			return nil, tooOld(c, "GatherScatterViewType", 3, t.minor)
		}
		if tag == tagStrided && t.minor < 3 {
			return nil, tooOld(c, "StridedViewType", 3, t.minor)
		}
		return t.tileView(tag, c)
	case tagFunction:
		return t.function(c)
	}
	return nil, c.bare(Malformed, "unknown type tag: %d", uint8(tag))
}

// tooOld makes the error of a type that the file's version does not have.
func tooOld(c *cursor, what string, since, minor uint8) error {
	return c.bare(Malformed, "type '%s' requires bytecode version %d.%d+, file version is %d.%d", what, Major, since,
		Major, minor)
}

// flags reads the word that says which optional parameters a type has; at most one.
func (t *typeTable) flags(c *cursor, since uint8) (uint64, error) {
	if t.minor < since {
		return 0, nil
	}
	f, ok := c.varint()
	if !ok {
		return 0, c.fail("failed to read optional parameter flags")
	}
	return f, nil
}

// unused checks, when all has been read, that only the known flag is set.
func unused(c *cursor, flags uint64) error {
	if flags&^1 != 0 {
		return c.fail("unused bits set in optional parameter flags")
	}
	return nil
}

// elem reads an element or pointee type.
func (t *typeTable) elem(c *cursor, what string) (*Type, error) {
	e, err := t.read(c)
	if err == nil && e == nil {
		err = c.fail("failed to get %s type", what)
	}
	return e, err
}

func pointerAttr(c *cursor, flags uint64, minor uint8) (PointerAttr, error) {
	a := NoPointerAttr
	if flags&1 != 0 {
		v, err := enumeration(c, len(pointerAttrNames))
		if err != nil {
			return a, err
		}
		if a = PointerAttr(v); a != PlainPointer && minor < 5 {
			return a, c.fail("enum value %d is not available in bytecode version %d.%d", v, Major, minor)
		}
	}
	return a, unused(c, flags)
}

const numberWords = "f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64"

func (t *typeTable) pointer(c *cursor) (*Type, error) {
	flags, err := t.flags(c, 4)
	if err != nil {
		return nil, err
	}
	e, err := t.elem(c, "pointeeType")
	if err != nil {
		return nil, err
	}
	attr, err := pointerAttr(c, flags, t.minor)
	if err != nil {
		return nil, err
	}
	if !e.Number() || e.Kind == I4 {
		return nil, c.illTyped("failed to verify 'pointeeType': %s", numberWords)
	}
	return &Type{Kind: Pointer, Elem: e, Attr: attr, Padding: NoPadding}, nil
}

// illTyped is fail for a type that can be read and breaks a rule.
func (c *cursor) illTyped(format string, args ...any) *Error {
	e := c.fail(format, args...)
	e.Class = IllTyped
	return e
}

func (t *typeTable) tileType(c *cursor) (*Type, error) {
	e, err := t.elem(c, "elementType")
	if err != nil {
		return nil, err
	}
	shape, ok := c.ints(8)
	if !ok {
		return nil, c.fail("failed to read concreteShapeCache")
	}
	if c.left() > 0 {
		return nil, c.fail("malformed bytecode: preview type extension requires the header to advertise preview content")
	}
	if !e.Number() && e.Kind != Pointer {
		return nil, c.illTyped("failed to verify 'elementType': %s or Pointer type or i4 or A not-yet-resolved (parametric) dtype usable as an element type", numberWords)
	}
	if err := checkTile(c, shape, e); err != nil {
		return nil, err
	}
	return &Type{Kind: Tile, Elem: e, Shape: shape, Padding: NoPadding, Attr: NoPointerAttr}, nil
}

// checkTile checks shape and element of a tile.
func checkTile(c *cursor, shape []int64, elem *Type) error {
	list := func() string {
		b := buffer{max: maxTypeText}
		b.dims(shape, ", ")
		return string(b.b)
	}
	if elem.Kind == Pointer && elem.Elem.Kind == F4E2M1FN && len(shape) > 0 {
		return c.illTyped("tiles of ptr<f4E2M1FN> must have rank 0; use an f4 tile view for memory accesses")
	}
	n := int64(1)
	for _, d := range shape {
		switch {
		case d <= 0:
			return c.illTyped("all dimensions must be positive constants, got %s", list())
		case d&(d-1) != 0:
			return c.illTyped("all dimensions must be powers of two, got %s", list())
		case n > MaxTileElements/d:
			return c.illTyped("tile would exceed the maximum of %d elements", MaxTileElements)
		}
		n *= d
	}
	if elem.Kind == F4E2M1FN && n%2 != 0 {
		return c.illTyped("F4E2M1FN tiles must have an even number of elements")
	}
	return nil
}

// bracketed writes numbers as messages do.
func bracketed(vs []int64) string {
	b := buffer{max: maxTypeText}
	b.string("[")
	b.dims(vs, ", ")
	b.string("]")
	return string(b.b)
}

func (t *typeTable) tensorView(c *cursor) (*Type, error) {
	flags, err := t.flags(c, 4)
	if err != nil {
		return nil, err
	}
	e, err := t.elem(c, "elementType")
	if err != nil {
		return nil, err
	}
	shape, ok := c.ints(8)
	if !ok {
		return nil, c.fail("failed to read shape")
	}
	strides, ok := c.ints(8)
	if !ok {
		return nil, c.fail("failed to read strides")
	}
	attr, err := pointerAttr(c, flags, t.minor)
	if err != nil {
		return nil, err
	}
	outside := func(d int64) bool { return d <= 0 && d != Dynamic }
	switch {
	case !e.Number() || e.Kind == I4:
		return nil, c.illTyped("failed to verify 'elementType': %s", numberWords)
	case len(shape) != len(strides):
		return nil, c.illTyped("expected shape and stride to be of same rank but got shape of rank %d and stride of rank %d", len(shape), len(strides))
	case slices.ContainsFunc(shape, outside):
		return nil, c.illTyped("dimensions must have strictly positive constant sizes but got %s", bracketed(shape))
	case slices.ContainsFunc(strides, outside):
		return nil, c.illTyped("dimensions must have strictly positive constant strides but got %s", bracketed(strides))
	}
	return &Type{Kind: TensorView, Elem: e, Shape: shape, Strides: strides, Attr: attr, Padding: NoPadding}, nil
}

func (t *typeTable) tileView(tag uint64, c *cursor) (*Type, error) {
	v := &Type{Kind: PartitionView, Padding: NoPadding, Attr: NoPointerAttr}
	flags, err := t.flags(c, 3)
	if err != nil {
		return nil, err
	}
	var ok bool
	if v.Shape, ok = c.ints(4); !ok {
		return nil, c.fail("failed to read tile_shape data")
	}
	if tag == tagStrided {
		v.Kind = StridedView
		if v.Strides, ok = c.ints(4); !ok {
			return nil, c.fail("failed to read traversal_strides data")
		}
	}
	if v.View, err = t.elem(c, "tensor_view"); err != nil {
		return nil, err
	}
	if v.View.Kind != TensorView {
		return nil, c.illTyped("expected ::mlir::cuda_tile::TensorViewType but got '%s'", v.View)
	}
	if tag == tagGatherScatter {
		v.Kind = GatherScatterView
		dim, ok := c.varint()
		if !ok {
			return nil, c.fail("failed to read sparse_dim")
		}
		v.SparseDim = int64(dim)
	} else if v.DimMap, ok = c.ints(4); !ok {
		return nil, c.fail("failed to read dim_map")
	}
	if t.minor < 3 {
		b, ok := c.byte()
		if !ok {
			return nil, c.fail("failed to read presence byte for optional parameter")
		}
		if b != 0 {
			flags = 1
		}
	}
	if flags&1 != 0 {
		p, err := enumeration(c, len(paddingNames))
		if err != nil {
			return nil, err
		}
		v.Padding = Padding(p)
	}
	if err := unused(c, flags); err != nil {
		return nil, err
	}
	return v, checkView(c, v)
}

// checkView checks a tile view.
func checkView(c *cursor, v *Type) error {
	rank := len(v.Shape)
	notPower := func(d int64) bool { return d&(d-1) != 0 }
	notPositive := func(d int64) bool { return d <= 0 }
	switch {
	case rank == 0:
		return c.illTyped("0-dimension tile shape is not supported")
	case rank != v.View.Rank():
		return c.illTyped("expected tensor_view rank and tile rank to match, got tensor_view of rank %d and tiles of rank %d", v.View.Rank(), rank)
	case v.Kind != GatherScatterView && len(v.DimMap) != rank:
		return c.illTyped("expected dim_map to map exactly all %d dimensions of the tile, got %d mappings", rank,
			len(v.DimMap))
	case slices.ContainsFunc(v.Shape, notPositive):
		return c.illTyped("tile shape dimensions must have positive length but got %s", bracketed(v.Shape))
	case slices.ContainsFunc(v.Shape, notPower):
		return c.illTyped("tile shape dimensions must have power of two length but got %s", bracketed(v.Shape))
	case v.Kind == StridedView && len(v.Strides) != rank:
		return c.illTyped("expected %d traversal strides, got %d", rank, len(v.Strides))
	case v.Kind == StridedView && slices.ContainsFunc(v.Strides, notPositive):
		return c.illTyped("traversal strides must be strictly positive but got %s", bracketed(v.Strides))
	case v.Kind == GatherScatterView && uint64(v.SparseDim) >= uint64(rank):
		return c.illTyped("gather dimension is outside of tensor view dimensions, expected strictly less than %d, got %d", rank, v.SparseDim)
	}
	used := make([]int, rank)
	for i, d := range v.DimMap {
		switch {
		case d < 0:
			return c.illTyped("target dimension must not be negative, got %d", d)
		case d >= int64(rank):
			return c.illTyped("target dimension is outside of tensor view dimensions, expected strictly less than %d, got %d", rank, d)
		case used[d] != 0:
			return c.illTyped("target dimension %d mapped at least twice (for tile dimensions %d and %d)", d, used[d]-1,
				i)
		}
		used[d] = i + 1
	}
	if err := checkTile(c, v.Shape, v.View.Elem); err != nil {
		return err
	}
	if p := v.Padding; p != NoPadding && p != PadZero && !v.View.Elem.Kind.Float() {
		return c.illTyped("padding_value %s can only be used with floating point element types, got '%s'", p,
			v.View.Elem)
	}
	return nil
}

func (t *typeTable) function(c *cursor) (*Type, error) {
	list := func(what, one string) ([]*Type, error) {
		n, ok := c.varint()
		if !ok {
			return nil, c.fail("failed to read number of %s", what)
		}
		var out []*Type
		for range n {
			e, err := t.elem(c, one)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	params, err := list("parameters", "parameter")
	if err != nil {
		return nil, err
	}
	results, err := list("results", "result")
	if err != nil {
		return nil, err
	}
	return &Type{Kind: Function, Params: params, Results: results, Padding: NoPadding, Attr: NoPointerAttr}, nil
}
