package tileir

import (
	"fmt"
	"slices"
)

// typeList writes types as messages do.
func typeList(vs []*Val) string {
	b := buffer{max: maxTypeText}
	for i, v := range vs {
		if i > 0 {
			b.string(", ")
		}
		b.string("'")
		b.fullType(v.Type)
		b.string("'")
	}
	return string(b.b)
}

func sameTypes(a, b []*Val) bool {
	return slices.EqualFunc(a, b, func(x, y *Val) bool { return x.Type == y.Type })
}

// loopExit checks break and continue: they leave ifs up to a loop, with the values that it carries or gives.
func (v *verifier) loopExit(o *Op) error {
	loop := o.Parent.Parent
	for loop != nil && loop.Code == If {
		loop = loop.Parent.Parent
	}
	loops := "cuda_tile.for', 'cuda_tile.loop"
	if o.Code == Break {
		loops = "cuda_tile.loop"
	}
	if loop == nil || loop.Code != Loop && (o.Code == Break || loop.Code != For) {
		return bad(o, "can only be nested within a ancestor chain of '%s', 'cuda_tile.if' operations", loops)
	}
	if o.Code == Break {
		if !sameTypes(loop.Results, o.Operands) {
			return bad(o, "operand types must correspond to the parent loop result types: (%s) vs (%s)",
				typeList(o.Operands), typeList(loop.Results))
		}
		return nil
	}
	want, what := loop.Results, "return types"
	if loop.Code == Loop {
		want, what = loop.Operands, "iter_values"
	}
	if !sameTypes(want, o.Operands) {
		return &Error{Class: IllTyped, Offset: o.Offset, Local: -1, Words: fmt.Sprintf(
			"`%s` is missing a valid terminator. `continue` op should have operand types that match the parent loop %s: (%s), but found: (%s)",
			loop.Code, what, typeList(want), typeList(o.Operands))}
	}
	return nil
}

func (v *verifier) returns(o *Op) error {
	parent := o.Parent.Parent
	for parent != nil && (parent.Code == If || parent.Code == Loop) {
		parent = parent.Parent.Parent
	}
	switch {
	case parent != nil:
		return bad(o, "must be used within a cuda_tile.entry, cuda_tile.if, or cuda_tile.loop operation")
	case len(o.Operands) != 0:
		return bad(o, "has %d operands, but enclosing function (@%s) returns 0", len(o.Operands), v.f.Name)
	}
	return nil
}

// carried reports which kind of view a type is that no loop and no if may hand on, "" for others.
func carried(t *Type) string {
	switch {
	case t.Kind == TensorView:
		return "tensor_view"
	case t.Kind.TileView():
		return "tile view"
	}
	return ""
}

func (v *verifier) ifElse(o *Op) error {
	for i, r := range o.Regions {
		if len(r.Blocks) > 0 && len(r.Blocks[0].Args) != 0 {
			return bad(o, "region #%d should have no arguments", i)
		}
	}
	for i, r := range o.Results {
		if what := carried(r.Type); what != "" {
			return bad(o, "result type %d is a %s, which is not supported", i, what)
		}
	}
	for i, r := range o.Regions {
		name := []string{"then", "else"}[i]
		if len(r.Blocks) == 0 {
			if len(o.Results) != 0 {
				return bad(o, "has non-empty return type, must define else branch")
			}
			continue
		}
		ops := r.Blocks[0].Ops
		yield := ops[len(ops)-1]
		if yield.Code != Yield {
			continue
		}
		switch {
		case len(o.Results) != 0 && len(yield.Operands) == 0:
			return bad(o, "has return type of %s but %s branch does not yield anything", typeList(o.Results), name)
		case len(o.Results) == 0 && len(yield.Operands) != 0:
			return bad(o, "does not return a value, but %s branch yields %s", name, typeList(yield.Operands))
		case !sameTypes(yield.Operands, o.Results):
			return bad(o, "type does not match yield type, %s branch yields %s but op result type is %s", name,
				typeList(yield.Operands), typeList(o.Results))
		}
	}
	return nil
}

// inRegions checks what concerns an operation with its regions, after these have been checked.
func (v *verifier) inRegions(o *Op) error {
	switch o.Code {
	case For:
		b := o.Regions[0].Blocks[0]
		if len(b.Args) == 0 {
			return bad(o, "expected at least one block argument for induction variable")
		}
		if have, want := b.Args[0].Type, o.Operands[0].Type; have != want {
			return bad(o, "expected induction variable to be same type as bounds and step: '%s' vs '%s'", have, want)
		}
		return v.iterValues(o, b.Args[1:], o.Operands[3:])
	case Loop:
		return v.iterValues(o, o.Regions[0].Blocks[0].Args, o.Operands)
	case Reduce, Scan:
		if o.Code == Reduce {
			if err := v.reduced(o); err != nil {
				return err
			}
		}
		return v.aggregateBody(o)
	}
	return nil
}

func (v *verifier) iterValues(o *Op, args, inits []*Val) error {
	if len(args) != len(inits) {
		return bad(o, "mismatch in number of region iterator values and loop iterator inits: %d vs %d", len(args),
			len(inits))
	}
	for i, a := range args {
		if what := carried(a.Type); what != "" {
			return bad(o, "loop-carried value %d is a %s, which is not supported", i, what)
		}
		if a.Type != inits[i].Type {
			return bad(o, "init value %d and region iter_value %d have different type: '%s' != '%s'", i, i,
				inits[i].Type, a.Type)
		}
	}
	for i, r := range o.Results {
		if what := carried(r.Type); what != "" {
			return bad(o, "result type %d is a %s, which is not supported", i, what)
		}
	}
	return nil
}

// aggregate checks reduce and scan, without their bodies.
func (v *verifier) aggregate(o *Op) error {
	x := o.Extra
	n := len(o.Operands)
	switch {
	case n == 0:
		return bad(o, "expect at least 1 operand")
	case !agree(o.Operands, sameShape):
		return bad(o, "requires the same shape for all operands")
	case n != len(o.Results):
		return bad(o, "expect same number of operands and results")
	case n != len(x.Identities):
		return bad(o, "expect identities to match the number of operands but got: %d operands and %d identities", n,
			len(x.Identities))
	}
	for i, id := range x.Identities {
		e := o.Operands[i].Type.Elem
		k := identityKind(id)
		half := (k == F16 || k == BF16) && (e.Kind == F16 || e.Kind == BF16)
		if k != e.Kind && !half {
			return bad(o, "expect same type for operand at index: %d and identity at index: %d but got: '%s' and '%s'",
				i, i, e, scalarName(k))
		}
	}
	t := o.Operands[0].Type
	if x.Dim >= int64(t.Rank()) {
		return bad(o, "dimension (%d) is out of bound [0, %d)", x.Dim, t.Rank())
	}
	for i, r := range o.Results {
		in := o.Operands[i].Type
		if o.Code == Scan && r.Type != in {
			return bad(o, "expect same type for operand at index: %d and result at index: %d", i, i)
		}
	}
	return nil
}

// reduced checks the types of the results of reduce.
func (v *verifier) reduced(o *Op) error {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	var want []*Val
	same := true
	for i, x := range o.Operands {
		shape := slices.Delete(slices.Clone(x.Type.Shape), int(o.Extra.Dim), int(o.Extra.Dim)+1)
		want = append(want, &Val{Type: v.m.types.tile(shape, x.Type.Elem)})
		same = same && want[i].Type == o.Results[i].Type
	}
	if same {
		return nil
	}
	return bad(o, "inferred type(s) %s are incompatible with return type(s) of operation %s", typeList(want),
		typeList(o.Results))
}

// identityKind is the kind of number that an identity is, Function for none.
func identityKind(a *Attr) Kind {
	switch a.Kind {
	case IntegerValue, FloatValue:
		return a.Type.Kind
	case BoolValue:
		return I1
	}
	return Function
}

func scalarName(k Kind) string {
	if k.Number() {
		return scalars[k].name
	}
	return "none"
}

// effects reports whether an operation may not occur in the body of a reduction or scan.
func effects(c Opcode) bool {
	switch c {
	case Assert, Assume, AtomicCAS, AtomicRMW, AtomicRedView, LoadPtr, LoadView, StorePtr, StoreView, Print, Alloca,
		GDCLaunchDependents, GDCWait,
		MemoryFenceAlias, MultimemLoadReduceView, MultimemReduceView, MultimemStoreView, For, Loop:
		return true
	}
	return false
}

// aggregateBody checks the body of reduce and scan: an element and the value so far for each operand go in, a value for
// each comes out.
func (v *verifier) aggregateBody(o *Op) error {
	b := o.Regions[0].Blocks[0]
	n := len(o.Operands)
	if len(b.Args) != 2*n {
		return bad(o, "expect %d block arguments but got: %d", 2*n, len(b.Args))
	}
	for i, a := range b.Args {
		if a.Type.Kind != Tile || a.Type.Rank() != 0 {
			return bad(o, "expect 0-rank tile type at index: %d but got: '%s'", i, a.Type)
		}
	}
	for i := 0; i < 2*n; i += 2 {
		if x, y := b.Args[i].Type.Elem, b.Args[i+1].Type.Elem; x != y {
			return bad(o, "expect same element type for block argument at index: %d and %d but got: '%s' and '%s'", i,
				i+1, x, y)
		}
	}
	for i, x := range o.Operands {
		if e, a := x.Type.Elem, b.Args[2*i].Type.Elem; e != a {
			return bad(o, "expect same type for operand at index: %d and block argument at index: %d but got: '%s' and '%s'", i, 2*i, e, a)
		}
	}
	yield := b.Ops[len(b.Ops)-1]
	if yield.Code != Yield {
		return bad(o, "expects regions to end with 'cuda_tile.yield', found 'cuda_tile.%s'", yield.Code)
	}
	if len(yield.Operands) != n {
		return bad(o, "expect number of terminators operands (%d) to match number of operands (%d)",
			len(yield.Operands), n)
	}
	for i, y := range yield.Operands {
		e := o.Operands[i].Type.Elem
		if y.Type.Kind != Tile {
			return bad(o, "expected TileType for operand and terminator types but got: '%s' and '%s'",
				o.Operands[i].Type, y.Type)
		}
		if y.Type.Elem != e {
			return bad(o, "expect same type for operand at index: %d and terminator argument at index: %d but got: '%s' and '%s'", i, i, e, y.Type.Elem)
		}
	}
	return v.pure(o, b)
}

// pure checks that nothing in the body of an operation has an effect; an operation has those of what is in it.
func (v *verifier) pure(o *Op, b *Block) error {
	if x := affecting(b); x != nil {
		return bad(x, "only memory-effect-free operations are allowed inside 'cuda_tile.%s'", o.Code)
	}
	return nil
}

// affecting gives the first operation of a block that has an effect, nil if there is none.
func affecting(b *Block) *Op {
	for _, x := range b.Ops {
		if effects(x.Code) {
			return x
		}
		for _, r := range x.Regions {
			for _, inner := range r.Blocks {
				if affecting(inner) != nil {
					return x
				}
			}
		}
	}
	return nil
}
