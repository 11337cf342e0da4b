package tileir

import "slices"

// access checks what loads and stores have in common; strong is the memory order that they may have beside relaxed.
func (v *verifier) access(o *Op, what string, strong MemoryOrder) error {
	if err := v.multimem(o); err != nil {
		return err
	}
	if err := multicast(o); err != nil {
		return err
	}
	if err := inBounds(o); err != nil {
		return err
	}
	return memoryModel(o, what, strong)
}

// memoryModel checks memory order and scope of a load or store; strong is its order beside relaxed.
func memoryModel(o *Op, what string, strong MemoryOrder) error {
	switch {
	case o.MemoryOrder != Weak && o.MemoryOrder != Relaxed && o.MemoryOrder != strong:
		return bad(o, "expect one of: weak, relaxed, or %s, but got: %s", strong, o.MemoryOrder)
	case o.MemoryOrder == Weak && o.Scope != NoScope:
		return bad(o, "weak %s must not have memory scope", what)
	case o.MemoryOrder != Weak && o.Scope == NoScope:
		return bad(o, "memory scope is required for %s %s", o.MemoryOrder, what)
	}
	return nil
}

// multimem checks the operations on multicast memory.
func (v *verifier) multimem(o *Op) error {
	if o.Info().Since < 5 {
		return nil
	}
	view := o.Operand("view").Type
	t := view.View
	if b := t.Elem.Kind.Bits(); t.Elem.Kind.Integer() && b != 32 && b != 64 {
		return bad(o, "multimem requires 32- or 64-bit integer/index element types; got %d bits", b)
	}
	if e := t.Elem; e.Kind.Float() {
		n := accessedTile(o).Type.Elements()
		bits := int64(e.Kind.Bits())
		switch {
		case !slices.Contains(floatKinds, e.Kind):
			return bad(o, "multimem supports only f16, bf16, f32, and f64 floating-point element types")
		case n*bits%32 != 0:
			return bad(o, "multimem op requires tile total size to be a multiple of 4 bytes for float element types; got %d element(s) of %d bits (total %d bits)",
				n, bits, n*bits)
		}
	}
	if err := reduction(o, t.Elem); err != nil {
		return err
	}
	if t.Attr != MulticastPointer {
		got := t.Attr
		if got == NoPointerAttr {
			got = PlainPointer
		}
		return bad(o, "expected a multicast pointer, but got %s", got)
	}
	if view.Kind != PartitionView {
		return bad(o, "multimem view operations support only partition_view; got '%s'", view)
	}
	if k := t.Elem.Kind; k == F16 || k == BF16 {
		if n := unitStrides(t); len(n) != 1 {
			return bad(o, "f16/bf16 multimem views must have exactly one element stride statically known to equal 1; got %d", len(n))
		}
	}
	return nil
}

// unitStrides gives the dimensions of a tensor view along which elements are known to be neighbours.
func unitStrides(t *Type) []int {
	var out []int
	for i, d := range t.Strides {
		if d == 1 {
			out = append(out, i)
		}
	}
	return out
}

// packed checks an access to elements of four bits: which dimension they are packed along must be known.
func packed(o *Op, view *Type) error {
	n := unitStrides(view.View)
	switch {
	case view.View.Elem.Kind != F4E2M1FN:
	case len(n) != 1:
		return bad(o, "an f4 view access requires exactly one statically encoded unit stride to identify the packing dimension; got %d in '%s'", len(n), view.View)
	case view.Kind == GatherScatterView && view.SparseDim == int64(n[0]):
		return bad(o, "an f4 gather/scatter view cannot use packing dimension %d as its sparse dimension", n[0])
	}
	return nil
}

// multicast refuses multicast memory where an operation works with no such memory.
func multicast(o *Op) error {
	var p *Val
	words := "multicast pointer is not allowed"
	switch o.Code {
	case LoadPtr:
		p = o.Operand("source")
	case StorePtr:
		p = o.Operand("destination")
	case AtomicRMW, AtomicCAS:
		p = o.Operand("pointers")
		words = "multicast pointer is not supported for " +
			map[Opcode]string{AtomicRMW: "atomic_rmw", AtomicCAS: "atomic_cas"}[o.Code]
	case LoadView, StoreView, AtomicRedView:
		if o.Operand("view").Type.View.Attr == MulticastPointer {
			return bad(o, "multicast ptr_attr is not allowed")
		}
	}
	if p != nil && p.Type.Elem.Attr == MulticastPointer {
		return bad(o, "%s", words)
	}
	return nil
}

// reduction checks that a reduction in multicast memory has elements that it works with.
func reduction(o *Op, e *Type) error {
	r := o.Reduction
	bitwise := r == ReduceAnd || r == ReduceOr || r == ReduceXor || r == ReduceUMin || r == ReduceUMax
	switch {
	case o.Code == MultimemStoreView || e.Kind.Integer():
		return nil
	case bitwise:
		return bad(o, "and/or/xor/umin/umax reductions require integer element types")
	case o.Code == MultimemReduceView && r != ReduceAdd:
		return bad(o, "supports only add for floating-point element types")
	case r != ReduceAdd && e.Kind != F16 && e.Kind != BF16:
		return bad(o, "min/max supports f16 and bf16 float types only; got '%s'", e)
	}
	return nil
}

func (v *verifier) makeTensorView(o *Op) error {
	t := o.Results[0].Type
	p := o.Operands[0].Type.Elem
	if p.Elem != t.Elem {
		return bad(o, "expected pointer to '%s' to build tensor_view of this type, got '%s'", t.Elem, p.Elem)
	}
	text := func(a PointerAttr) string { return "#cuda_tile.ptr_attr<" + a.String() + ">" }
	switch {
	case p.Attr == t.Attr:
	case p.Attr == NoPointerAttr:
		return bad(o, "pointer base without ptr_attr cannot produce tensor_view with ptr_attr")
	case t.Attr == NoPointerAttr:
		return bad(o, "tensor_view must preserve ptr_attr from base pointer (%s)", text(p.Attr))
	default:
		return bad(o, "ptr_attr mismatch between base pointer (%s) and result tensor_view (%s)", text(p.Attr),
			text(t.Attr))
	}
	dynamic := func(vs []int64) int {
		n := 0
		for _, d := range vs {
			if d == Dynamic {
				n++
			}
		}
		return n
	}
	shape, strides := o.Group(1), o.Group(2)
	if want := dynamic(t.Shape); len(shape) != want {
		return bad(o, "expected %d dynamic shape operands, got %d", want, len(shape))
	}
	if want := dynamic(t.Strides); len(strides) != want {
		return bad(o, "expected %d dynamic stride operands, got %d", want, len(strides))
	}
	for k, group := range [][]*Val{shape, strides} {
		what := []string{"shape", "stride"}[k]
		for i, x := range group {
			if first := o.Operands[1].Type; x.Type != first {
				return bad(o, "expected dynamic %s index %d to be of the same type as the other dynamic values ('%s'), got '%s'", what, i, first, x.Type)
			}
		}
	}
	return nil
}

// mmaTypes are the accumulators that the inputs of mmaf may have.
var mmaTypes = map[Kind][]Kind{
	F8E4M3FN: {F16, F32}, F8E5M2: {F16, F32}, F16: {F16, F32}, BF16: {F32}, TF32: {F32}, F32: {F32}, F64: {F64},
}

func (v *verifier) mma(o *Op) error {
	l, r, acc := o.Operands[0].Type, o.Operands[1].Type, o.Operands[2].Type
	if l.Rank() != 2 && l.Rank() != 3 {
		return bad(o, "operands must be 2D or 3D tiles")
	}
	row := l.Rank() - 2
	col := row + 1
	var pairs []dimPair
	if row == 1 {
		pairs = append(pairs, dimPair{l, r, "lhs", "rhs", 0, 0, ""}, dimPair{l, acc, "lhs", "acc", 0, 0, ""})
	}
	pairs = append(pairs, dimPair{l, r, "lhs", "rhs", col, row, " "}, dimPair{l, acc, "lhs", "acc", row, row, " "},
		dimPair{r, acc, "rhs", "acc", col, col, " "})
	if err := samePairs(o, pairs); err != nil {
		return err
	}
	switch o.Code {
	case MmaF:
		e := l.Elem.Kind
		if allowed := mmaTypes[e]; !slices.Contains(allowed, acc.Elem.Kind) {
			return bad(o, "unsupported combination of element types. Input type '%s' expects accumulator/result type to be one of {%s}, but got '%s'", l.Elem,
				quotedKinds(allowed), acc.Elem)
		}
	case MmaFScaled:
		return v.scaled(o, row, col)
	}
	return nil
}

func quotedKinds(ks []Kind) string {
	s := ""
	for i, k := range ks {
		if i > 0 {
			s += ", "
		}
		s += "'" + scalars[k].name + "'"
	}
	return s
}

// scaled checks the scales of mmaf_scaled: one for each block of elements along the inner dimension.
func (v *verifier) scaled(o *Op, row, col int) error {
	l, r, ls, rs := o.Operands[0].Type, o.Operands[1].Type, o.Operands[3].Type, o.Operands[4].Type
	var pairs []dimPair
	if row == 1 {
		pairs = append(pairs, dimPair{l, ls, "lhs", "lhs_scale", 0, 0, ""},
			dimPair{r, rs, "rhs", "rhs_scale", 0, 0, ""})
	}
	pairs = append(pairs, dimPair{l, ls, "lhs", "lhs_scale", row, row, ""},
		dimPair{r, rs, "rhs", "rhs_scale", col, col, ""},
		dimPair{ls, rs, "lhs_scale", "rhs_scale", col, row, ""})
	if err := samePairs(o, pairs); err != nil {
		return err
	}
	k, n := l.Shape[col], ls.Shape[col]
	if k%n != 0 {
		return bad(o, "shape error: dim %d of lhs_scale (%d) must be a divisor of dim %d of lhs (%d), but got lhs_scale shape (%s) and lhs shape (%s)",
			col, n, col, k, listed(ls.Shape), listed(l.Shape))
	}
	e, s, block := l.Elem.Kind, ls.Elem, k/n
	const factor = " requires block scale factor of lhs_scale and rhs_scale to be "
	switch {
	case s.Kind != F8E8M0FNU && e != F4E2M1FN:
		return bad(o, "unsupported combination of element types. Scale type '%s' expects lhs and rhs element types to be 'f4E2M1FN', but got '%s'", s, l.Elem)
	case e != F4E2M1FN && block != 32:
		return bad(o, "shape error: f8 element type"+factor+"32, but got %d", block)
	case s.Kind == F8E4M3FN && block != 16:
		return bad(o, "shape error: f4E2M1FN element type with f8E4M3FN scales"+factor+"16, but got %d", block)
	case block != 16 && block != 32:
		return bad(o, "shape error: f4E2M1FN element type with %s scales"+factor+"16 or 32, but got %d", s, block)
	}
	return nil
}

// dimPair is a dimension of one operand that must be as large as one of another.
type dimPair struct {
	a, b         *Type
	aName, bName string
	aDim, bDim   int
	leadingSpace string // that the message has
}

func samePairs(o *Op, pairs []dimPair) error {
	for _, p := range pairs {
		if x, y := p.a.Shape[p.aDim], p.b.Shape[p.bDim]; x != y {
			return bad(o, "%sshape error: dim %d of %s (%d) and dim %d of %s (%d) must match, but got %s shape (%s) and %s shape (%s)", p.leadingSpace,
				p.aDim, p.aName, x, p.bDim, p.bName, y, p.aName, listed(p.a.Shape), p.bName, listed(p.b.Shape))
		}
	}
	return nil
}
