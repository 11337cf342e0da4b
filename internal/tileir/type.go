package tileir

import (
	"math"
	"strconv"
)

// Kind is what a type is.
type Kind uint8

// The kinds of type.
const (
	I1 Kind = iota
	I4      // 13.3
	I8
	I16
	I32
	I64
	F16
	BF16
	F32
	TF32
	F64
	F8E4M3FN
	F8E5M2
	F8E8M0FNU // 13.2
	F4E2M1FN  // 13.3
	F8E5M3FNU // 13.4
	Pointer
	Tile
	TensorView
	PartitionView
	StridedView       // 13.3
	GatherScatterView // 13.3
	Token
	Function
)

// scalar is what is known of a kind of number.
type scalar struct {
	name string
	bits int // width of the value
}

var scalars = [...]scalar{
	I1: {"i1", 1}, I4: {"i4", 4}, I8: {"i8", 8}, I16: {"i16", 16}, I32: {"i32", 32}, I64: {"i64", 64},
	F16: {"f16", 16}, BF16: {"bf16", 16}, F32: {"f32", 32}, TF32: {"tf32", 19}, F64: {"f64", 64},
	F8E4M3FN: {"f8E4M3FN", 8}, F8E5M2: {"f8E5M2", 8}, F8E8M0FNU: {"f8E8M0FNU", 8}, F4E2M1FN: {"f4E2M1FN", 4},
	F8E5M3FNU: {"fnv8E5M3FNU", 8},
}

// Integer reports whether the kind is an integer.
func (k Kind) Integer() bool { return k <= I64 }

// Float reports whether the kind is a floating-point number.
func (k Kind) Float() bool { return k >= F16 && k <= F8E5M3FNU }

// Number reports whether the kind is an integer or a floating-point number.
func (k Kind) Number() bool { return k <= F8E5M3FNU }

// TileView reports whether the kind is a view that gives tiles.
func (k Kind) TileView() bool { return k >= PartitionView && k <= GatherScatterView }

// Bits is the width of a number in bits, 0 for other kinds. A tf32 has 19.
func (k Kind) Bits() int {
	if k.Number() {
		return scalars[k].bits
	}
	return 0
}

// Bytes is the size of a number or pointer in memory. An i1 has a byte of its own, and so has a single number of four
// bits.
func (t *Type) Bytes() uint64 {
	switch {
	case t.Kind == Pointer:
		return 8
	case t.Kind == TF32:
		return 4
	}
	return uint64(t.Kind.Bits()+7) / 8
}

// Dynamic stands in shape and strides of a tensor view for a number that is known when the view is made.
const Dynamic = math.MinInt64

// Type is a type of a module. Equal types of one module are one object: they can be compared by pointer.
type Type struct {
	Kind Kind
	// Elem is the element of a tile or tensor view, or what a pointer points to.
	Elem *Type
	// Shape of a tile or tensor view; of a tile view, that of its tiles.
	Shape []int64
	// Strides of a tensor view, in elements. Of a strided view: how far apart its tiles are along each dimension.
	Strides []int64
	// View is the tensor view that a tile view looks into.
	View *Type
	// DimMap says for each dimension of a partition or strided view which one of the tensor view it is.
	DimMap []int64
	// SparseDim of a gather-scatter view is the dimension that is indexed by a tile.
	SparseDim int64
	// Padding of a tile view.
	Padding Padding
	// Attr of a pointer or tensor view says what memory it leads to (13.4).
	Attr PointerAttr
	// Params and Results of a function.
	Params, Results []*Type
}

// Number reports whether t is an integer or floating-point number.
func (t *Type) Number() bool { return t.Kind.Number() }

// Rank of a tile, tensor view or tile view.
func (t *Type) Rank() int { return len(t.Shape) }

// Elements is the number of elements of a tile; a verified one has at most MaxTileElements.
func (t *Type) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// MaxTileElements is the largest number of elements of a tile.
const MaxTileElements = 1 << 24

// String writes the type as NVIDIA's messages do: with the name of the dialect in front.
func (t *Type) String() string {
	b := buffer{max: maxTypeText}
	b.fullType(t)
	if b.full {
		return string(b.b) + "..."
	}
	return string(b.b)
}

// maxTypeText bounds a type in a message: types nest, and the text of a function type can grow without bound.
const maxTypeText = 1 << 14

// fullType writes a type outside of listings.
func (b *buffer) fullType(t *Type) {
	switch {
	case t == nil:
		b.string("<<NULL TYPE>>")
	case t.Number() || t.Kind == Function:
		b.typ(t)
	default:
		b.string("!cuda_tile.")
		b.typ(t)
	}
}

func (b *buffer) int(v int64) { b.string(strconv.FormatInt(v, 10)) }

func (b *buffer) dims(dims []int64, sep string) {
	for i, d := range dims {
		if i > 0 {
			b.string(sep)
		}
		if d == Dynamic {
			b.string("?")
		} else {
			b.int(d)
		}
	}
}

// typ writes a type as listings do.
func (b *buffer) typ(t *Type) {
	if b.full {
		return
	}
	switch t.Kind {
	case Token:
		b.string("token")
	case Pointer:
		b.string("ptr<")
		b.typ(t.Elem)
		if t.Attr != NoPointerAttr {
			b.string(", <" + t.Attr.String() + ">")
		}
		b.string(">")
	case Tile:
		b.string("tile<")
		b.dims(t.Shape, "x")
		if len(t.Shape) > 0 {
			b.string("x")
		}
		b.typ(t.Elem)
		b.string(">")
	case TensorView:
		b.string("tensor_view<")
		b.dims(t.Shape, "x")
		if len(t.Shape) > 0 {
			b.string("x")
		}
		b.typ(t.Elem)
		if len(t.Shape) > 0 {
			b.string(", strides=[")
			b.dims(t.Strides, ",")
			b.string("]")
		}
		if t.Attr != NoPointerAttr {
			b.string(", #cuda_tile.ptr_attr<" + t.Attr.String() + ">")
		}
		b.string(">")
	case PartitionView, StridedView, GatherScatterView:
		b.view(t)
	case Function:
		b.string("(")
		b.fullTypes(t.Params)
		b.string(") -> ")
		if len(t.Results) == 1 && t.Results[0].Kind != Function {
			b.fullType(t.Results[0])
			return
		}
		b.string("(")
		b.fullTypes(t.Results)
		b.string(")")
	default:
		b.string(scalars[t.Kind].name)
	}
}

func (b *buffer) fullTypes(ts []*Type) {
	for i, t := range ts {
		if b.full {
			return
		}
		if i > 0 {
			b.string(", ")
		}
		b.fullType(t)
	}
}

func (b *buffer) view(t *Type) {
	switch t.Kind {
	case PartitionView:
		b.string("partition_view")
	case StridedView:
		b.string("strided_view")
	default:
		b.string("gather_scatter_view")
	}
	b.string("<tile=(")
	b.dims(t.Shape, "x")
	b.string("), ")
	if t.Kind == StridedView {
		b.string("traversal_strides=[")
		b.dims(t.Strides, ",")
		b.string("], ")
	}
	if t.Padding != NoPadding {
		b.string("padding_value = ")
		b.string(t.Padding.String())
		b.string(", ")
	}
	b.typ(t.View)
	if t.Kind == GatherScatterView {
		b.string(", sparse_dim=")
		b.int(t.SparseDim)
	}
	for i, d := range t.DimMap {
		if d != int64(i) {
			b.string(", dim_map=[")
			b.dims(t.DimMap, ", ")
			b.string("]")
			break
		}
	}
	b.string(">")
}
