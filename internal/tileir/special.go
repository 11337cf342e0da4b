package tileir

import (
	"slices"
	"strings"
)

// special checks what an operation asks beyond the table.
func (v *verifier) special(o *Op) error {
	switch o.Code {
	case AddF, SubF, MulF, Fma:
		if err := rounding(o, NearestEven, Zero, NegativeInf, PositiveInf); err != nil {
			return err
		}
		return onlyF32(o)
	case DivF:
		if err := rounding(o, NearestEven, Zero, NegativeInf, PositiveInf, Approx, Full); err != nil {
			return err
		}
		return onlyF32(o)
	case Sqrt:
		if err := rounding(o, NearestEven, Zero, NegativeInf, PositiveInf, Approx); err != nil {
			return err
		}
		return onlyF32(o)
	case TanH, Exp:
		if err := rounding(o, Approx, Full); err != nil {
			return err
		}
		return onlyF32Approx(o)
	case Exp2, MaxF, MinF, Rsqrt:
		return onlyF32(o)
	case DivI:
		if err := rounding(o, Zero, NegativeInf, PositiveInf); err != nil {
			return err
		}
		if o.Rounding == NegativeInf && o.Sign == Unsigned {
			return bad(o, "rounding mode 'negative_inf' is not allowed with 'unsigned' flag")
		}
	case NegI:
		if o.Overflow == NoUnsignedWrap {
			return bad(o, "'no_unsigned_wrap' overflow flag is not supported")
		}
	case Assume:
		return v.assume(o)
	case AtomicRMW, AtomicCAS:
		return v.atomic(o)
	case Bitcast, Pack, Unpack, ExtI, TruncI, IToF, FToI, FToF:
		return v.conversion(o)
	case Broadcast, Cat, Extract, Insert, Iota, Permute, Reshape:
		return v.shape(o)
	case Break, Continue:
		return v.loopExit(o)
	case Return:
		return v.returns(o)
	case GetIndexSpaceShape, GetTensorShape:
		t := o.Operands[0].Type
		what := "view index space"
		if o.Code == GetTensorShape {
			what = "tensor"
		}
		if len(o.Results) != t.Rank() {
			return bad(o, "expected %d results due to %s rank, but got %d", t.Rank(), what, len(o.Results))
		}
	case Select:
		if o.Results[0].Type.Elem.Kind == F4E2M1FN {
			return bad(o, "cannot operate on sub-byte type F4E2M1FN")
		}
	case GetGlobal:
		v.naming = append(v.naming, o)
		return nil
	case JoinTokens:
		if len(o.Operands) < 2 {
			return bad(o, "expect two or more tokens")
		}
	case LoadPtr, LoadView, MultimemLoadReduceView:
		return v.access(o, "load", Acquire)
	case AtomicRedView:
		return multicast(o)
	case StorePtr, StoreView, MultimemStoreView:
		return v.access(o, "store", Release)
	case MultimemReduceView:
		if err := v.multimem(o); err != nil {
			return err
		}
		return inBounds(o)
	case MakePartitionView, MakeStridedView, MakeGatherScatterView:
		if have, want := o.Operands[0].Type, o.Results[0].Type.View; have != want {
			return bad(o, "expected the type of the provided tensor_view value ('%s') to be the same as the view's tensor_view type ('%s')", have, want)
		}
	case MakeTensorView:
		return v.makeTensorView(o)
	case MmaF, MmaI, MmaFScaled:
		return v.mma(o)
	case Print:
		return v.print(o)
	case Reduce, Scan:
		return v.aggregate(o)
	case If:
		return v.ifElse(o)
	case Alloca:
		return v.alloca(o)
	}
	return nil
}

// rounding checks that an operation has one of the rounding modes.
func rounding(o *Op, allowed ...Rounding) error {
	if slices.Contains(allowed, o.Rounding) {
		return nil
	}
	var names []string
	for _, r := range allowed {
		names = append(names, r.String())
	}
	return bad(o, "invalid rounding mode specified, expect one of [%s]", strings.Join(names, ", "))
}

// onlyF32 checks that what only f32 has is asked of f32 only: flush to zero, and the approximate rounding modes.
func onlyF32(o *Op) error {
	if e := o.Results[0].Type.Elem; o.Flags&FlushToZero != 0 && e.Kind != F32 {
		return bad(o, "flush_to_zero modifier only supported for f32 data type, but got: '%s'", e)
	}
	if o.Code != DivF && o.Code != Sqrt {
		return nil
	}
	return onlyF32Approx(o)
}

func onlyF32Approx(o *Op) error {
	e := o.Results[0].Type.Elem
	switch {
	case e.Kind == F32:
	case o.Rounding == Approx:
		return bad(o, "approx modifier only supported for f32 data type, but got: '%s'", e)
	case o.Rounding == Full && o.Code == DivF:
		return bad(o, "full modifier only supported for f32 data type, but got: '%s'", e)
	}
	return nil
}

func (v *verifier) assume(o *Op) error {
	a, t := o.Extra.Predicate, o.Operands[0].Type
	ints := t.Kind == Tile && (t.Elem.Kind.Integer() || t.Elem.Kind == Pointer)
	switch a.Kind {
	case DivByValue:
		return divBy(o, a, t, ints)
	case SameElementsValue:
		if !ints {
			return bad(o, "'cuda_tile.same_elements' is valid only for tile of integer/pointer values")
		}
		if len(a.Ints) != t.Rank() {
			return bad(o, "expected number of values in 'cuda_tile.same_elements' (%d) to match rank of constrained tile (%d)", len(a.Ints), t.Rank())
		}
		for i, n := range a.Ints {
			if n < 0 || n > t.Shape[i] {
				return bad(o, "expected 'cuda_tile.same_elements' value %d to be within 0 and the size of the respective dimension (%d)", i, t.Shape[i])
			}
		}
	case BoundedValue:
		if t.Kind != Tile || !t.Elem.Kind.Integer() {
			return bad(o, "'cuda_tile.bounded' is valid only for tile of integer values")
		}
		bits := t.Elem.Kind.Bits()
		low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
		switch {
		case a.HasLow && (a.Low < low || a.Low > high):
			return bad(o, "'cuda_tile.bounded' expects lower bound to be within [%d, %d]", low, high)
		case a.HasHigh && (a.High < low || a.High > high):
			return bad(o, "'cuda_tile.bounded' expects upper bound to be within [%d, %d]", low, high)
		case a.HasLow && a.HasHigh && a.Low > a.High:
			return bad(o, "'cuda_tile.bounded' expects lower bound to be less than or equal to upper bound")
		}
	}
	return nil
}

func divBy(o *Op, a *Attr, t *Type, ints bool) error {
	const name = "'cuda_tile.div_by'"
	d := a.Bits
	switch {
	case d == 0 || d&(d-1) != 0:
		return bad(o, name+" divisor must be a power of 2")
	case a.HasLow != a.HasHigh:
		return bad(o, name+" 'every'/'along' must be used in combination")
	case d > 1<<62:
		return bad(o, name+" divisor is too large")
	case t.Kind == TensorView && a.HasLow:
		return bad(o, name+" 'every'/'along' cannot be used if the constrained value is a tensor_view")
	case t.Kind == TensorView:
		return nil
	case t.Kind == Tile && t.Rank() == 0 && a.HasLow:
		return bad(o, name+" 'every'/'along' cannot be used if the constrained value is a 0D tile")
	case !ints:
		return bad(o, name+" is valid only for tile of integer/pointer or tensor_view values")
	case !a.HasLow:
		return nil
	case a.High < 0 || a.High >= int64(t.Rank()):
		return bad(o, name+" every_dim (%d) must be >= 0 and < tile rank (%d)", a.High, t.Rank())
	case a.Low < 0 || a.Low > t.Shape[a.High]:
		return bad(o, "expected "+name+" every_dim to be within 0 and the size of the respective dimension (%d)",
			t.Shape[a.High])
	}
	return nil
}

// width32or64 reports whether a type has 32 or 64 bits.
func width32or64(t *Type) bool { return t.Kind.Bits() == 32 || t.Kind.Bits() == 64 }

func (v *verifier) atomic(o *Op) error {
	if err := multicast(o); err != nil {
		return err
	}
	p := o.Operand("pointers").Type.Elem.Elem
	name := "arg"
	if o.Code == AtomicCAS {
		name = "val"
	}
	e := o.Operand(name).Type.Elem
	if p != e {
		return bad(o, "expected pointee type ('%s') to match element type of '%s' ('%s')", p, name, e)
	}
	if o.Code == AtomicCAS && (!e.Number() || !width32or64(e)) {
		return bad(o, "expect only float or integer types with 32 or 64 bit")
	}
	if m := o.Operand("mask"); m != nil && !sameShape(m.Type, o.Operand(name).Type) {
		if o.Code == AtomicCAS {
			return bad(o, "failed to verify that all of {pointers, val, cmp and mask} have same shape")
		}
		return bad(o, "failed to verify that all of {pointers, arg, mask} have same shape")
	}
	if o.Code == AtomicRMW {
		if err := rmw(o, e); err != nil {
			return err
		}
	}
	if o.MemoryOrder == Weak {
		return bad(o, "memory ordering semantics must be one of: relaxed, acquire, release, acq_rel")
	}
	return nil
}

// rmw checks that an atomic operation has elements that it works with.
func rmw(o *Op, e *Type) error {
	switch o.RMW {
	case RMWAddF:
		if !slices.Contains([]Kind{F16, BF16, F32, F64}, e.Kind) {
			return bad(o, "'addf' works only with floats f16, bf16, f32, and f64")
		}
	case RMWExchange:
		if !e.Number() || !width32or64(e) {
			return bad(o, "'xchg' works only with integers or float of 32 or 64 bitwidth")
		}
	default:
		if e.Kind != I32 && e.Kind != I64 {
			return bad(o, "'%s' works only with integers i32 and i64", o.RMW)
		}
	}
	return nil
}

// atomicRedView checks an atomic reduction through a view, but for the indices.
func (v *verifier) atomicRedView(o *Op) error {
	view, value := o.Operand("view").Type, o.Operand("value").Type
	switch {
	case view.Kind == GatherScatterView:
		return bad(o, "gather_scatter_view is not supported; use partition_view instead")
	case view.View.Elem != value.Elem:
		return bad(o, "view element type ('%s') must match value element type ('%s')", view.View.Elem, value.Elem)
	case !slices.Equal(view.Shape, value.Shape):
		return bad(o, "view tile shape %s must match value shape %s for element-wise atomic operations",
			listed(view.Shape), listed(value.Shape))
	case o.RMW == RMWExchange:
		return bad(o, "atomic_red_view_tko op cannot use xchg operation")
	}
	if err := rmw(o, value.Elem); err != nil {
		return err
	}
	if err := inBounds(o); err != nil {
		return err
	}
	switch {
	case o.MemoryOrder != Relaxed:
		return bad(o, "only 'relaxed' memory ordering is supported for view-based atomic reductions")
	case o.Scope == SystemScope:
		return bad(o, "memory scope 'sys' is not supported for view-based atomic reductions; use 'tl_blk' or 'device' for TMA compatibility")
	}
	return nil
}

func (v *verifier) conversion(o *Op) error {
	from, to := o.Operands[0].Type, o.Results[0].Type
	fb, tb := from.Elem.Kind.Bits(), to.Elem.Kind.Bits()
	switch o.Code {
	case Bitcast:
		if fb != tb {
			return bad(o, "types must be equal width, cannot convert '%s' of width %d to type '%s' of width %d", from,
				fb, to, tb)
		}
	case Pack, Unpack:
		return repack(o, from, to)
	case ExtI:
		if tb <= fb {
			return bad(o, "extending to smaller or identical integer")
		}
	case TruncI:
		if tb >= fb {
			return bad(o, "truncating to larger or identical integer")
		}
	case IToF:
		if to.Elem.Kind == F8E8M0FNU {
			return bad(o, "integer to f8E8M0FNU conversion is not supported, please first convert to another float type")
		}
		if o.Rounding != NearestEven {
			return bad(o, "invalid rounding mode specified. Only 'nearest_even' is supported")
		}
	case FToI:
		if o.Rounding != NearestIntToZero {
			return bad(o, "invalid rounding mode specified. Only 'nearest_int_to_zero' is supported")
		}
	case FToF:
		return floatConversion(o, from, to)
	}
	return nil
}

// repack checks pack and unpack: the bytes of one tile are those of the other. A tf32 has four.
func repack(o *Op, from, to *Type) error {
	bits := func(t *Type) int64 {
		if t.Elem.Kind == TF32 {
			return t.Elements() * 32
		}
		return t.Elements() * int64(t.Elem.Kind.Bits())
	}
	switch f, t := bits(from), bits(to); {
	case from.Rank() != 1:
		return bad(o, "expects source and result to be rank-1 tiles")
	case from.Elem.Kind.Bits() == to.Elem.Kind.Bits():
		return bad(o, "expects source and result to have different element type widths")
	case f%8 != 0:
		return bad(o, "expects source tile to be byte-aligned")
	case t%8 != 0:
		return bad(o, "expects result tile to be byte-aligned")
	case f != t:
		return bad(o, "expects source and result to have the same size in bytes, but got source tile size %d bytes and result tile size %d bytes", f/8, t/8)
	}
	return nil
}

func floatConversion(o *Op, from, to *Type) error {
	if from == to {
		return bad(o, "converting tiles must not be a no-op")
	}
	f, t := from.Elem.Kind, to.Elem.Kind
	check := func(words string, allowed ...Rounding) error {
		if slices.Contains(allowed, o.Rounding) {
			return nil
		}
		return bad(o, "invalid rounding mode specified%s", words)
	}
	switch {
	case t == F8E8M0FNU:
		return check(" for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are supported", Zero, PositiveInf)
	case t.Bits() <= 8:
		return check(" for conversion to low-precision type. Only 'nearest_even' is supported", NearestEven)
	case f == F32 && t == TF32:
		return check(" for conversion from f32 to tf32. Only 'nearest_even', 'zero', and 'nearest_away' are supported",
			NearestEven, Zero, NearestAway)
	case f == F64 && t == F32:
		return check(" for conversion from f64 to f32. Only 'nearest_even', 'zero', 'negative_inf', and 'positive_inf' are supported",
			NearestEven, Zero, NegativeInf, PositiveInf)
	case widens(f, t):
		return check(" for widening conversion. Only IEEE float rounding modes are supported: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'nearest_away'",
			NearestEven, Zero, NegativeInf, PositiveInf, NearestAway)
	}
	return check(". Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types",
		NearestEven, Zero)
}

// widens reports whether a format has the precision and the exponents of normal numbers that another one has.
func widens(from, to Kind) bool {
	f, t := &floatFormats[from], &floatFormats[to]
	return f.mantissa <= t.mantissa && f.least() >= t.least() && f.most() <= t.most()
}

func (v *verifier) shape(o *Op) error {
	to := o.Results[0].Type
	switch o.Code {
	case Broadcast:
		from := o.Operands[0].Type
		for i, n := range from.Shape {
			if n != to.Shape[i] && n != 1 {
				return bad(o, "expects the shape of source tile to be compatible with that of the result tile, but got: %s and %s", listed(from.Shape), listed(to.Shape))
			}
		}
	case Cat:
		return v.cat(o, to)
	case Extract:
		from := o.Operands[0].Type
		return v.slice(o, from, to, "source", "result", len(o.Operands)-1)
	case Insert:
		return v.slice(o, o.Operands[1].Type, o.Operands[0].Type, "destination", "source", len(o.Operands)-2)
	case Iota:
		if to.Rank() != 1 {
			return bad(o, "expects result type to be 1-d tile")
		}
		if bits := to.Elem.Kind.Bits(); bits < 32 && to.Shape[0] > 1<<bits {
			return bad(o, "the number of elements %d exceeds the maximum value of element type '%s'", to.Shape[0],
				to.Elem)
		}
	case Permute:
		return v.permute(o, to)
	case Reshape:
		if o.Operands[0].Type.Elements() != to.Elements() {
			return bad(o, "expected source tile and result tile to have the same number of elements")
		}
	}
	return nil
}

// listed writes a shape as messages do.
func listed(vs []int64) string {
	b := buffer{max: maxTypeText}
	b.dims(vs, ", ")
	return string(b.b)
}

func (v *verifier) cat(o *Op, to *Type) error {
	l, r, dim := o.Operands[0].Type, o.Operands[1].Type, o.Extra.Dim
	if dim < 0 || dim >= int64(l.Rank()) {
		return bad(o, "expect dim to be [0, %d), but got: %d", l.Rank(), dim)
	}
	if sum := l.Shape[dim] + r.Shape[dim]; sum != to.Shape[dim] {
		return bad(o, "invalid concat at position %d, expected: %d but got: %d", dim, sum, to.Shape[dim])
	}
	for i := range to.Shape {
		switch {
		case int64(i) == dim:
		case l.Shape[i] != r.Shape[i]:
			return bad(o, "expect lhs and rhs shapes to match at non-concat position %d, expected: %d but got: %d", i,
				l.Shape[i], r.Shape[i])
		case l.Shape[i] != to.Shape[i]:
			return bad(o, "expect lhs and result shapes to match at non-concat position %d, expected: %d but got: %d",
				i, l.Shape[i], to.Shape[i])
		}
	}
	return nil
}

// slice checks extract and insert: the part divides the whole, and there is an index for each dimension.
func (v *verifier) slice(o *Op, whole, part *Type, wholeName, partName string, indices int) error {
	if whole.Elem != part.Elem {
		return bad(o, "%s and %s element type do not match", wholeName, partName)
	}
	for i, n := range whole.Shape {
		if n%part.Shape[i] != 0 {
			return bad(o, "%s dimension %d size (%d) must be evenly divisible by %s dimension %d size (%d)", wholeName,
				i, n, partName, i, part.Shape[i])
		}
	}
	if indices != whole.Rank() {
		return bad(o, "incorrect number of indices, expected %d, but found %d", whole.Rank(), indices)
	}
	return nil
}

func (v *verifier) permute(o *Op, to *Type) error {
	from, perm := o.Operands[0].Type, o.Extra.Ints
	rank := from.Rank()
	switch {
	case rank < 2:
		return bad(o, "expects at least rank 2, but got: %d", rank)
	case len(perm) != rank:
		return bad(o, "expect permutation size (%d) to equal the rank of the source (%d)", len(perm), rank)
	}
	sorted := slices.Sorted(slices.Values(perm))
	if len(slices.Compact(sorted)) != rank {
		return bad(o, "expect permutation elements to be unique")
	}
	for i, d := range perm {
		if d < 0 || d >= int64(rank) {
			return bad(o, "permutation element at index %d (%d) is out of bound [0, %d)", i, d, rank)
		}
	}
	for i, d := range perm {
		if to.Shape[i] != from.Shape[d] {
			return bad(o, "result shape invalid at index %d, expected: %d, but got: %d", i, from.Shape[d], to.Shape[i])
		}
	}
	return nil
}

func (v *verifier) alloca(o *Op) error {
	a := o.Extra.Align
	e := o.Results[0].Type.Elem.Elem
	const positive = "attribute '%s' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0"
	switch size := elementBytes(e.Kind); {
	case int64(o.Extra.Count) < 0:
		return bad(o, positive, "num_elem")
	case int64(a) < 0:
		return bad(o, positive, "alignment")
	case a == 0 || a&(a-1) != 0:
		return bad(o, "'alignment' must be power of two")
	case a < size:
		return bad(o, "'alignment' (%d) must be at least the natural size (%d bytes) for element type '%s'", a, size, e)
	}
	return nil
}

// print checks that the format has as many expressions as there are values.
func (v *verifier) print(o *Op) error {
	s, want := o.Extra.Name, 0
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		n := strings.IndexAny(s[i+1:], "diuoxXeEfFgGaAcspn%")
		if n < 0 {
			return bad(o, "found unterminated format expression")
		}
		if s[i:i+n+2] == "%%" {
			i++
			continue
		}
		want++
	}
	if have := len(o.Group(0)); have != want {
		return bad(o, "incorrect number of operands: expected %d, found %d", want, have)
	}
	return nil
}
