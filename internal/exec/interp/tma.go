package interp

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
	"github.com/gocuda/cuda/internal/tensormap"
)

// tmaOps are bulk tensor copies (PTX ISA 9.7.9.27) and what changes tensor maps.
var tmaOps = map[optab.Opcode]resolver{
	optab.OpTmaLoad: resolveTMALoad, optab.OpTmaStore: resolveTMAStore, optab.OpTmaReduce: resolveTMAStore,
	optab.OpTmaPrefetch:      resolveNothing,
	optab.OpTensormapReplace: resolveTensormapReplace, optab.OpTensormapCpFenceproxy: resolveTensormapCopy,
	optab.OpFenceTensormap: resolveNothing,
}

// tile is one bulk tensor copy of one lane: the map and where in the tensor it starts.
type tile struct {
	tensormap.Map
	w       *exec.Warp
	l       int
	start   [tensormap.MaxRank]int64 // coordinates
	offsets [tensormap.MaxRank]int64 // of the im2col filter, in dimensions 1 and up
	elem    uint64                   // bytes of an element
	pitch   uint32                   // bytes from one innermost row of shared memory to the next
	row     uint32                   // bytes of such a row that are copied
}

// Bulk tensor copies need shared memory addresses that are multiples of this (PTX ISA 9.7.9.27.1.1).
const tmaAlign = 128

// tensorTile reads the map that a lane's operand points at, and its coordinates.
func tensorTile(w *exec.Warp, l int, t *ir.Arg, coords []ir.Arg, im2col bool) *tile {
	p := place(t)
	b := unsafe.Slice((*byte)(w.Ptr(p.space, l, p.at(w, l), tensormap.Size, tensormap.Align, false)), tensormap.Size)
	m, err := tensormap.Unpack(b)
	if err != nil {
		w.Throw(exec.FaultInstruction, l, err.Error())
	}
	tl := &tile{Map: m, w: w, l: l, elem: uint64(m.Type.Bytes())}
	switch {
	case m.Rank != len(coords):
		w.Throw(exec.FaultInstruction, l, "the tensor map has another number of dimensions than the instruction")
	case im2col != (m.Mode == tensormap.Im2col):
		w.Throw(exec.FaultInstruction, l, "the tensor map was made for another mode than the instruction's")
	case m.Type.Packed(), m.Mode == tensormap.Im2colWide, m.Swizzle > tensormap.Swizzle128B:
		w.Throw(exec.FaultInstruction, l, "the tensor map needs a device of compute capability 10.0")
	case m.Interleave != tensormap.InterleaveNone:
		w.Throw(exec.FaultUnsupported, l, "the software device does not support interleaved tensor maps")
	}
	for i := range coords {
		tl.start[i] = int64(int32(get(w, &coords[i], l)))
	}
	if tl.start[0]*int64(tl.elem)%16 != 0 {
		// Recorded on an H200: the innermost coordinate must name a multiple of sixteen bytes.
		w.Throw(exec.FaultInstruction, l, "the innermost coordinate of a bulk tensor copy is no multiple of 16 bytes")
	}
	n := m.Channels
	if m.Mode == tensormap.Tiled {
		n = m.Box[0]
	}
	tl.row = n * uint32(tl.elem)
	// Rows narrower than the swizzling pattern still take its width (CUDA C++ Programming Guide, "TMA Swizzle").
	tl.pitch = max(tl.row, m.Swizzle.Span())
	return tl
}

// rows visits the innermost rows of a copy in the order of shared memory: the coordinates of dimensions 1 and up of
// each. inside is false when one of them is out of bounds.
func (t *tile) rows(f func(n uint32, at *[tensormap.MaxRank]int64, inside bool)) {
	if t.Mode == tensormap.Im2col {
		t.pixels(f)
		return
	}
	var i [tensormap.MaxRank]uint32
	for n := uint32(0); ; n++ {
		at, inside := t.start, true
		for d := 1; d < t.Rank; d++ {
			at[d] += int64(i[d]) * int64(max(t.ElementStride[d], 1))
			inside = inside && at[d] >= 0 && at[d] < int64(t.Dim[d])
		}
		f(n, &at, inside)
		d := 1
		for ; d < t.Rank; d++ {
			if i[d]++; i[d] < t.Count(d) {
				break
			}
			i[d] = 0
		}
		if d >= t.Rank {
			return
		}
	}
}

// pixels visits the pixels of an im2col column: from the start on, W first, then H and D inside the box that the
// corners leave of the tensor, then the next image. The filter's offsets are added to every pixel (PTX ISA 5.5.4,
// "Im2col mode").
func (t *tile) pixels(f func(n uint32, at *[tensormap.MaxRank]int64, inside bool)) {
	pos, last := t.start, t.Rank-1
	for n := uint32(0); n < t.Pixels; n++ {
		at := pos
		inside := at[last] >= 0 && at[last] < int64(t.Dim[last])
		for d := 1; d < last; d++ {
			at[d] += t.offsets[d]
			inside = inside && at[d] >= 0 && at[d] < int64(t.Dim[d])
		}
		f(n, &at, inside)
		d := 1
		for ; d < last; d++ {
			pos[d] += int64(max(t.ElementStride[d], 1))
			if pos[d] < int64(t.Dim[d])+int64(t.Upper[d-1]) {
				break
			}
			pos[d] = int64(t.Lower[d-1])
		}
		if d == last {
			pos[last] += int64(max(t.ElementStride[last], 1))
		}
	}
}

// span is the part of an innermost row that lies in the tensor: elements first to end of the row.
func (t *tile) span() (first, end int64) {
	n := int64(t.row) / int64(t.elem)
	first = min(max(0, -t.start[0]), n)
	end = max(first, min(n, int64(t.Dim[0])-t.start[0]))
	return first, end
}

// global returns the host memory of elements first to end of a row.
func (t *tile) global(at *[tensormap.MaxRank]int64, first, end int64, write bool) []byte {
	addr := t.Address + uint64(at[0]+first)*t.elem
	for d := 1; d < t.Rank; d++ {
		addr += uint64(at[d]) * t.Stride[d]
	}
	n := uint32(uint64(end-first) * t.elem)
	return unsafe.Slice((*byte)(t.w.Ptr(ir.Global, t.l, addr, n, 1, write)), n)
}

// bytes is the size of the copy in shared memory, gaps of narrow swizzled rows included.
func (t *tile) bytes() uint32 { return t.BoxBytes() / t.row * t.pitch }

// moved moves bytes between a row, which begins at an offset of the shared window, and buf: sixteen bytes at a time
// under swizzling.
func (t *tile) moved(shared unsafe.Pointer, base, off uint32, buf []byte, load bool) {
	if t.Swizzle == tensormap.SwizzleNone {
		s := unsafe.Slice((*byte)(unsafe.Add(shared, off)), len(buf))
		if load {
			copy(s, buf)
		} else {
			copy(buf, s)
		}
		return
	}
	for len(buf) > 0 {
		n := min(16, len(buf))
		to := t.Swizzle.SwizzleOffset(base+off) - base
		s := unsafe.Slice((*byte)(unsafe.Add(shared, to)), n)
		if load {
			copy(s, buf[:n])
		} else {
			copy(buf[:n], s)
		}
		buf, off = buf[n:], off+16
	}
}

// sharedTile returns the shared memory of a copy at a shared-window address. Swizzling may reach the whole of the
// 1024-byte patterns.
func (t *tile) sharedTile(addr uint64, write bool) (unsafe.Pointer, uint32) {
	return t.w.Ptr(ir.SharedCluster, t.l, addr, t.bytes(), tmaAlign, write), uint32(addr & ctaOffset)
}

func resolveTMALoad(in *inst, op *ir.Op) error {
	dst, mbar, mask, offs := place(op.Arg("a")), place(op.Arg("m")), op.Arg("k"), op.Arg("i")
	t := op.Arg("t")
	coords := t.Extra[0].Elements()
	im2col := op.Mods().Im2col
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			tl := tensorTile(w, l, t, coords, im2col)
			if offs != nil {
				for i, o := range offs.Elements() {
					tl.offsets[i+1] = int64(get(w, &o, l) & 0xffff)
				}
			}
			da, ma := dst.at(w, l), mbar.at(w, l)
			if mask != nil {
				da, ma = da&ctaOffset, ma&ctaOffset
			}
			eachCTA(w, mask, l, func(rank uint64) {
				tl.load(da | rank)
				completeTx(w, l, ma|rank, tl.BoxBytes())
			})
		}
	}
	return nil
}

// load copies the tile from the tensor to shared memory.
func (t *tile) load(addr uint64) {
	shared, base := t.sharedTile(addr, true)
	buf := make([]byte, t.row)
	first, end := t.span()
	t.rows(func(n uint32, at *[tensormap.MaxRank]int64, inside bool) {
		if !inside || first == end {
			t.fill(buf)
		} else {
			t.fill(buf[:uint64(first)*t.elem])
			t.fill(buf[uint64(end)*t.elem:])
			mid := buf[uint64(first)*t.elem : uint64(end)*t.elem]
			copy(mid, t.global(at, first, end, false))
			t.flush(mid)
		}
		t.moved(shared, base, n*t.pitch, buf, true)
	})
}

// fill writes what stands for elements out of bounds: zero, or the NaN that fma.oob looks for.
func (t *tile) fill(b []byte) {
	clear(b)
	if !t.NaN {
		return
	}
	for i := 0; i < len(b); i += int(t.elem) {
		var v uint64
		switch t.elem {
		case 2:
			v = num.OOBNaN16
		case 4:
			v = 0x7fffffff
		default:
			v = math.MaxInt64 // the pattern of an integer maximum: none is recorded
		}
		storeElement(unsafe.Pointer(&b[i]), uint32(t.elem), [2]uint64{v})
	}
}

// flush replaces subnormal numbers by zeros of their sign for the types that say so
// (CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ and TFLOAT32_FTZ).
func (t *tile) flush(b []byte) {
	if t.Type != tensormap.Float32FTZ && t.Type != tensormap.TFloat32FTZ {
		return
	}
	for i := 0; i+4 <= len(b); i += 4 {
		p := (*uint32)(unsafe.Pointer(&b[i]))
		if *p&0x7f800000 == 0 {
			*p &= 1 << 31
		}
	}
}

// elementTypes are the PTX types of tensor elements, for reductions.
var elementTypes = map[tensormap.DataType]optab.TypeID{
	tensormap.Uint8: optab.U8, tensormap.Uint16: optab.U16, tensormap.Uint32: optab.U32, tensormap.Int32: optab.S32,
	tensormap.Uint64: optab.U64, tensormap.Int64: optab.S64, tensormap.Float16: optab.F16, tensormap.Float32: optab.F32,
	tensormap.Float64: optab.F64, tensormap.BFloat16: optab.Bf16, tensormap.Float32FTZ: optab.F32,
	tensormap.TFloat32: optab.F32, tensormap.TFloat32FTZ: optab.F32,
}

// reducible says whether a reduction takes a type; those of cp.reduce.async.bulk, by the map's element type.
func reducible(what optab.Func, typ optab.TypeID) bool {
	switch what {
	case optab.FuncAnd, optab.FuncOr, optab.FuncXor:
		return typ == optab.U32 || typ == optab.S32 || typ == optab.U64 || typ == optab.S64
	case optab.FuncInc, optab.FuncDec:
		return typ == optab.U32
	case optab.FuncAdd:
		return typ == optab.U32 || typ == optab.S32 || typ == optab.U64 || typ.Info().Class == optab.Float
	case optab.FuncMin, optab.FuncMax:
		return typ == optab.U32 || typ == optab.S32 || typ == optab.U64 || typ == optab.S64 || typ == optab.F16 ||
			typ == optab.Bf16
	}
	return false
}

// resolveTMAStore copies or reduces a tile from shared memory into the tensor. Elements out of bounds are dropped.
func resolveTMAStore(in *inst, op *ir.Op) error {
	src, t := place(op.Arg("b")), op.Arg("t")
	coords := t.Extra[0].Elements()
	im2col := op.Mods().Im2colNoOffsets
	red := op.Mods().Func // none but for a reduction
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			tl := tensorTile(w, l, t, coords, im2col)
			for _, c := range tl.start[:tl.Rank] {
				if c < 0 && !im2col {
					// A tile that is written must not begin before the tensor (CUDA C++ Programming Guide; 715 recorded
					// on an H200).
					w.Throw(exec.FaultInstruction, l, "a bulk tensor store with a negative coordinate")
				}
			}
			var f rmw
			if red != optab.NoFunc {
				f = tl.reduction(red)
			}
			tl.store(src.at(w, l), f)
		}
	}
	return nil
}

// reduction picks the operation for the map's element type.
func (t *tile) reduction(what optab.Func) rmw {
	if typ := elementTypes[t.Type]; reducible(what, typ) {
		f, outside, ok := atomFunc(what, typ)
		if outside != nil && typ == optab.F64 {
			f = outside // as in cp.reduce.async.bulk
		}
		if ok {
			return f
		}
	}
	t.w.Throw(exec.FaultInstruction, t.l, "the reduction ."+what.String()+
		" is not for the element type of the tensor map")
	return nil
}

// store copies the tile from shared memory to the tensor, or combines it with f.
func (t *tile) store(addr uint64, f rmw) {
	shared, base := t.sharedTile(addr, false)
	buf := make([]byte, t.row)
	first, end := t.span()
	if first == end {
		return
	}
	t.rows(func(n uint32, at *[tensormap.MaxRank]int64, inside bool) {
		if !inside {
			return
		}
		t.moved(shared, base, n*t.pitch, buf, false)
		g, b := t.global(at, first, end, true), buf[uint64(first)*t.elem:uint64(end)*t.elem]
		if f == nil {
			copy(g, b)
		} else {
			reduceBytes(g, b, uint32(t.elem), false, f)
		}
	})
}
