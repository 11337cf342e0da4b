package tiletest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gocuda/cuda/internal/tileir"
)

// Type is the number of a type in a module that is built, Value that of a value in its function.
type (
	Type  uint64
	Value uint64
)

// Builder writes a module of bytecode 13.4 with one entry, whose name is k. Nothing is checked: the verifier is there
// for that.
type Builder struct {
	types     [][]byte
	known     map[string]Type
	constants [][]byte
	strings   [][]byte
	params    []Type
	body      []byte
	values    uint64
	ops       uint64 // in the block that is written
}

// The tags of type records.
const (
	tagPointer       = 12
	tagTile          = 13
	tagTensorView    = 14
	tagPartitionView = 15
	tagFunction      = 16
	tagToken         = 17
)

var scalarTags = map[tileir.Kind]byte{
	tileir.I1: 0, tileir.I8: 1, tileir.I16: 2, tileir.I32: 3, tileir.I64: 4, tileir.F16: 5, tileir.BF16: 6,
	tileir.F32:  7,
	tileir.TF32: 8, tileir.F64: 9, tileir.F8E4M3FN: 10, tileir.F8E5M2: 11, tileir.F8E8M0FNU: 18, tileir.F4E2M1FN: 19,
	tileir.I4: 22,
}

// NewBuilder starts a module whose entry has parameters of types that the function gives; their values are 0, 1, ...
func NewBuilder(params func(b *Builder) []Type) *Builder {
	b := &Builder{known: map[string]Type{}, strings: [][]byte{[]byte("k")}}
	b.params = params(b)
	b.values = uint64(len(b.params))
	return b
}

func numbers(vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func (b *Builder) record(r []byte) Type {
	if t, ok := b.known[string(r)]; ok {
		return t
	}
	t := Type(len(b.types))
	b.types = append(b.types, r)
	b.known[string(r)] = t
	return t
}

// Scalar is the type of a number.
func (b *Builder) Scalar(k tileir.Kind) Type {
	tag, ok := scalarTags[k]
	if !ok {
		panic(fmt.Sprintf("tiletest: no tag of kind %d", k))
	}
	return b.record([]byte{tag})
}

// Pointer is the type of a pointer to numbers.
func (b *Builder) Pointer(k tileir.Kind) Type {
	return b.record(append([]byte{tagPointer}, numbers(0, uint64(b.Scalar(k)))...))
}

// Tile is the type of a tile of elements of a type.
func (b *Builder) Tile(elem Type, dims ...int64) Type {
	return b.record(appendDims(append([]byte{tagTile}, numbers(uint64(elem))...), dims))
}

func appendDims(r []byte, dims []int64) []byte {
	r = binary.AppendUvarint(r, uint64(len(dims)))
	for _, d := range dims {
		r = binary.LittleEndian.AppendUint64(r, uint64(d))
	}
	return r
}

// Token is the type of tokens.
func (b *Builder) Token() Type { return b.record([]byte{tagToken}) }

// Constant keeps the elements of a constant, little-endian, and gives its number; one element stands for all.
func (b *Builder) Constant(data []byte) uint64 {
	b.constants = append(b.constants, append(numbers(uint64(len(data))), data...))
	return uint64(len(b.constants) - 1)
}

// Region is the body of an operation: the types of its arguments, and a function that writes operations with them.
type Region struct {
	Args []Type
	Body func(args []Value)
}

// Op writes an operation with the attributes of o and its operands slot by slot, and gives its results. The constant of
// an operation that has one is the number that Constant gave, in Extra.Count.
func (b *Builder) Op(o tileir.Op, results []Type, slots [][]Value, regions ...Region) []Value {
	info := o.Code.Info()
	if o.Extra == nil {
		o.Extra = &tileir.Extra{}
	}
	w := append(b.body, byte(o.Code))
	if open := func(s tileir.Slot) bool {
		return s.Arity == tileir.Variadic
	}; slices.ContainsFunc(info.Operands, open) ||
		slices.ContainsFunc(info.Results, open) {
		w = binary.AppendUvarint(w, uint64(len(results)))
	}
	for _, t := range results {
		w = binary.AppendUvarint(w, uint64(t))
	}
	flags, bit, have := uint64(0), 0, false
	flag := func(set bool) {
		have = true
		if set {
			flags |= 1 << bit
		}
		bit++
	}
	for _, a := range info.Attributes {
		switch {
		case a.Kind == tileir.UnitAttr:
			flag(o.Flags != 0 && unitSet(&o, a.Name))
		case a.Optional:
			flag(a.Kind == tileir.ScopeAttr && o.Scope != tileir.NoScope)
		}
	}
	if info.Segmented {
		for i, s := range info.Operands {
			if s.Arity == tileir.Optional {
				flag(i < len(slots) && len(slots[i]) > 0)
			}
		}
	}
	if have {
		w = binary.AppendUvarint(w, flags)
	}
	for _, a := range info.Attributes {
		if a.Kind != tileir.UnitAttr && (!a.Optional || a.Kind == tileir.ScopeAttr && o.Scope != tileir.NoScope) {
			w = b.attribute(w, &o, a.Kind)
		}
	}
	all := 0
	for _, s := range slots {
		all += len(s)
	}
	if open := func(s tileir.Slot) bool {
		return s.Arity != tileir.Single
	}; !info.Segmented && slices.ContainsFunc(info.Operands, open) {
		w = binary.AppendUvarint(w, uint64(all))
	}
	for i, s := range slots {
		if info.Segmented && info.Operands[i].Arity == tileir.Variadic {
			w = binary.AppendUvarint(w, uint64(len(s)))
		}
		for _, v := range s {
			w = binary.AppendUvarint(w, uint64(v))
		}
	}
	if info.Regions > 0 {
		w = binary.AppendUvarint(w, uint64(info.Regions))
	}
	b.body = w
	b.ops++
	for _, r := range regions {
		b.region(r)
	}
	out := make([]Value, len(results))
	for i := range out {
		out[i] = Value(b.values)
		b.values++
	}
	return out
}

// region writes a region of one block.
func (b *Builder) region(r Region) {
	outer, before, ops := b.values, b.body, b.ops
	args := make([]Value, len(r.Args))
	head := numbers(1, uint64(len(r.Args)))
	for i, t := range r.Args {
		head = binary.AppendUvarint(head, uint64(t))
		args[i] = Value(b.values)
		b.values++
	}
	b.body, b.ops = nil, 0
	r.Body(args)
	inside := b.body
	b.body = slices.Concat(before, head, numbers(b.ops), inside)
	b.values, b.ops = outer, ops
}

func unitSet(o *tileir.Op, name string) bool {
	return o.Flags&map[string]tileir.Flags{
		"ftz": tileir.FlushToZero, "propagate_nan": tileir.PropagateNaN, "unsignedCmp": tileir.UnsignedCmp,
		"saturating": tileir.Saturating, "fast_acc": tileir.FastAcc, "global": tileir.GlobalScope,
	}[name] != 0
}

// attribute writes an attribute of an operation.
func (b *Builder) attribute(w []byte, o *tileir.Op, k tileir.AttrKind) []byte {
	x := o.Extra
	switch k {
	case tileir.BoolAttr:
		if o.Flags&tileir.Reverse != 0 {
			return append(w, 1)
		}
		return append(w, 0)
	case tileir.RoundingAttr:
		return append(w, byte(o.Rounding))
	case tileir.OverflowAttr:
		return append(w, byte(o.Overflow))
	case tileir.SignAttr:
		return append(w, byte(o.Sign))
	case tileir.SignRHSAttr:
		return append(w, byte(o.SignRHS))
	case tileir.CompareAttr:
		return append(w, byte(o.Compare))
	case tileir.OrderingAttr:
		return append(w, byte(o.Ordering))
	case tileir.MemoryOrderAttr:
		return append(w, byte(o.MemoryOrder))
	case tileir.ScopeAttr:
		return append(w, byte(o.Scope))
	case tileir.RMWAttr:
		return append(w, byte(o.RMW))
	case tileir.DimAttr, tileir.Dim32Attr:
		return binary.AppendUvarint(w, uint64(x.Dim))
	case tileir.CountAttr, tileir.ConstAttr:
		return binary.AppendUvarint(w, x.Count)
	case tileir.AlignAttr:
		return binary.AppendUvarint(w, x.Align)
	case tileir.StringAttr, tileir.SymbolAttr:
		b.strings = append(b.strings, []byte(x.Name))
		return binary.AppendUvarint(w, uint64(len(b.strings)-1))
	case tileir.I32ArrayAttr:
		w = binary.AppendUvarint(w, uint64(len(x.Ints)))
		for _, v := range x.Ints {
			w = binary.LittleEndian.AppendUint32(w, uint32(v))
		}
		return w
	case tileir.InBoundsAttr:
		w = binary.AppendUvarint(w, uint64(len(x.InBounds)))
		for _, v := range x.InBounds {
			if v {
				w = append(w, 1)
			} else {
				w = append(w, 0)
			}
		}
		return w
	case tileir.IdentitiesAttr:
		w = binary.AppendUvarint(w, uint64(len(x.Identities)))
		for _, a := range x.Identities {
			w = append(w, byte(a.Kind))
			w = binary.AppendUvarint(w, uint64(b.Scalar(a.Type.Kind)))
			switch {
			case a.Type.Kind == tileir.I1:
				w = append(w, byte(a.Bits))
			case a.Kind == tileir.FloatValue:
				w = binary.AppendVarint(w, int64(a.Bits))
			default:
				w = binary.AppendUvarint(w, a.Bits)
			}
		}
		return w
	}
	panic(fmt.Sprintf("tiletest: no writer of attributes of kind %d", k))
}

// The sections of a file, in the numbers of the bytecode.
const (
	sectionEnd = iota
	sectionString
	sectionFunc
	_
	sectionConstant
	sectionType
)

// Bytes is the module.
func (b *Builder) Bytes() []byte {
	sig := binary.AppendUvarint([]byte{tagFunction}, uint64(len(b.params)))
	for _, p := range b.params {
		sig = binary.AppendUvarint(sig, uint64(p))
	}
	t := b.record(append(sig, 0))
	const entry = 2
	fn := append(numbers(1, 0, uint64(t)), entry, 0)
	fn = append(binary.AppendUvarint(fn, uint64(len(b.body))), b.body...)
	out := append([]byte(tileir.Magic), tileir.Major, 4, 0, 0)
	for _, s := range []struct {
		id   byte
		data []byte
	}{{sectionString, table(4, b.strings)}, {sectionFunc, fn}, {sectionConstant, table(8, b.constants)},
		{sectionType, table(4, b.types)}} {
		if s.id == sectionConstant && len(b.constants) == 0 {
			continue
		}
		out = append(out, s.id|0x80)
		out = append(out, numbers(uint64(len(s.data)), 8)...)
		for len(out)%8 != 0 {
			out = append(out, 0xcb)
		}
		out = append(out, s.data...)
	}
	return append(out, sectionEnd)
}

// table writes a table of records with offsets of so many bytes.
func table(size int, list [][]byte) []byte {
	t := numbers(uint64(len(list)))
	for len(t)%size != 0 {
		t = append(t, 0xcb)
	}
	at := uint64(0)
	for _, r := range list {
		if size == 4 {
			t = binary.LittleEndian.AppendUint32(t, uint32(at))
		} else {
			t = binary.LittleEndian.AppendUint64(t, at)
		}
		at += uint64(len(r))
	}
	return append(t, slices.Concat(list...)...)
}
