package tileir

import (
	"slices"
	"strings"
)

// vals gives the values of the slots of a rule, in the rule's order.
func (r *Rule) vals(o *Op) []*Val {
	var out []*Val
	for _, s := range r.Slots {
		out = append(out, o.slot(s)...)
	}
	return out
}

// agree reports whether all values have the same of something.
func agree(vs []*Val, same func(a, b *Type) bool) bool {
	for _, v := range vs[min(1, len(vs)):] {
		if !same(vs[0].Type, v.Type) {
			return false
		}
	}
	return true
}

func sameType(a, b *Type) bool    { return a == b }
func sameShape(a, b *Type) bool   { return slices.Equal(a.Shape, b.Shape) }
func sameRank(a, b *Type) bool    { return a.Rank() == b.Rank() }
func sameElement(a, b *Type) bool { return a.Elem == b.Elem }

// rule checks a rule of the table.
func (v *verifier) rule(o *Op, r *Rule) error {
	list := "{" + strings.Join(r.Slots, ", ") + "}"
	all := func() []*Val { return append(slices.Clip(o.Operands), o.Results...) }
	verify := func(ok bool, format string) error {
		if ok {
			return nil
		}
		return bad(o, "failed to verify that %s", format)
	}
	switch r.Kind {
	case SameType:
		if r.Slots[0] == "initValues" {
			return verify(v.sameLists(o.named("initValues"), o.Results), "all of "+list+" have same type")
		}
		return verify(agree(r.vals(o), sameType), "all of "+list+" have same type")
	case SameShape:
		return verify(agree(r.vals(o), sameShape), "all of "+list+" have same shape")
	case SameRank:
		return verify(agree(r.vals(o), sameRank), "all of "+list+" have same rank")
	case SameElement:
		return verify(agree(r.vals(o), sameElement), "all of "+list+" have the same element type")
	case AllSameShape:
		if !agree(all(), sameShape) {
			return bad(o, "requires the same shape for all operands and results")
		}
	case AllSameElement:
		if !agree(all(), sameElement) {
			return bad(o, "requires the same element type for all operands and results")
		}
	case BoolOfOperand:
		return verify(sameShape(o.Operands[0].Type, o.Results[0].Type) && o.Results[0].Type.Elem.Kind == I1,
			"Result type has i1 element type and same shape as operands")
	case LoadPointer:
		return v.loadPointer(o, verify)
	case StorePointer:
		p, value := o.Operand("destination").Type, o.Operand("value").Type
		if err := verify(pointsTo(p, value), "`destination` type is expected a pointer type of `value` type"); err != nil {
			return err
		}
		if mask := o.Operand("mask"); mask != nil {
			return verify(sameShape(mask.Type, p), "shape of 'destination' must match the shape of 'mask'")
		}
	case ViewAccess:
		return v.viewAccess(o)
	}
	return nil
}

func (v *verifier) sameLists(a, b []*Val) bool {
	return slices.EqualFunc(a, b, func(x, y *Val) bool { return x.Type == y.Type })
}

// pointsTo reports whether a tile of pointers has the shape of a tile and points to its elements.
func pointsTo(p, t *Type) bool { return sameShape(p, t) && p.Elem.Elem == t.Elem }

func (v *verifier) loadPointer(o *Op, verify func(bool, string) error) error {
	p, result := o.Operand("source").Type, o.Results[0].Type
	if err := verify(pointsTo(p, result), "`source` type is expected a pointer type of `result` type"); err != nil {
		return err
	}
	if mask := o.Operand("mask"); mask != nil {
		if err := verify(sameShape(mask.Type, p), "shape of 'mask' must match the shape of 'source'"); err != nil {
			return err
		}
	}
	if pad := o.Operand("paddingValue"); pad != nil {
		return verify(pad.Type == result, "type of 'paddingValue' must match the type of 'result'")
	}
	return nil
}

// accessedTile is the value that an access to a view moves, nil when it has none.
func accessedTile(o *Op) *Val {
	switch o.Code {
	case LoadView, MultimemLoadReduceView:
		return o.Results[0]
	case AtomicRedView:
		return o.Operand("value")
	}
	return o.Operand("tile")
}

// viewAccess checks that tile and indices of an access fit the view.
func (v *verifier) viewAccess(o *Op) error {
	view := o.Operand("view").Type
	index := o.named("index")
	rank := view.Rank()
	if o.Code == AtomicRedView {
		if err := v.atomicRedView(o); err != nil {
			return err
		}
	}
	if len(index) != rank {
		return bad(o, "expected %d index operands (based on view type), got %d", rank, len(index))
	}
	want := v.m.tileOf(view)
	if tile := accessedTile(o); tile.Type != want {
		return bad(o, "expected tile type to be '%s' (based on view type), got '%s'", want, tile.Type)
	}
	if err := packed(o, view); err != nil {
		return err
	}
	return v.viewIndices(o, view, index)
}

// inBounds checks that an access says for each index, or for none, whether it is inside.
func inBounds(o *Op) error {
	if o.Extra == nil || o.Extra.InBounds == nil {
		return nil
	}
	if n, rank := len(o.Extra.InBounds), len(o.named("index")); n != rank {
		return bad(o, "inbounds size (%d) must match the number of index dimensions (%d)", n, rank)
	}
	return nil
}

// tileOf is the type of the tiles of a view.
func (m *Module) tileOf(view *Type) *Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.types.tile(view.Shape, view.View.Elem)
}

func (v *verifier) viewIndices(o *Op, view *Type, index []*Val) error {
	var scalar *Type
	for i, x := range index {
		if view.Kind == GatherScatterView {
			sparse := int64(i) == view.SparseDim
			switch {
			case sparse && x.Type.Rank() != 1:
				return bad(o, "expected index %d to be a 1D tile for GatherScatterView", i)
			case sparse && x.Type.Shape[0] != view.Shape[i]:
				return bad(o, "expected gather/scatter index size (%d) to match tile shape at gather/scatter dimension %d (%d)", x.Type.Shape[0], i, view.Shape[i])
			case !sparse && x.Type.Rank() != 0:
				return bad(o, "expected index %d to be a scalar tile for GatherScatterView", i)
			case !sparse && scalar != nil && x.Type != scalar:
				return bad(o, "expected scalar index %d to have the same type as other scalar indices ('%s'), got '%s'",
					i, scalar, x.Type)
			case !sparse:
				scalar = x.Type
			}
			continue
		}
		if x.Type.Rank() != 0 && o.Code == AtomicRedView {
			return bad(o, "index operand %d must be a scalar tile (rank 0), got shape %s", i, listed(x.Type.Shape))
		}
		if x.Type.Rank() != 0 {
			return bad(o, "expected index type to be a scalar tile, got '%s'", x.Type)
		}
		if x.Type != index[0].Type {
			return bad(o, "expected index type %d to be the same as other index types ('%s'), got '%s'", i,
				index[0].Type, x.Type)
		}
	}
	return nil
}
