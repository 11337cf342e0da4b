package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
	"github.com/gocuda/cuda/internal/tensormap"
)

// elemTypes are the data types by the value that tensormap.replace.elemtype takes (PTX ISA 9.7.9.28, table of new
// values).
var elemTypes = [...]tensormap.DataType{
	tensormap.Uint8, tensormap.Uint16, tensormap.Uint32, tensormap.Int32, tensormap.Uint64, tensormap.Int64,
	tensormap.Float16, tensormap.Float32,
	tensormap.Float32FTZ, tensormap.Float64, tensormap.BFloat16, tensormap.TFloat32, tensormap.TFloat32FTZ,
	tensormap.U4x16Align8, tensormap.U4x16Align16, tensormap.U6x16Align16,
}

// resolveTensormapReplace changes one field of a tensor map in memory.
func resolveTensormapReplace(in *inst, op *ir.Op) error {
	a, b := place(op.Arg("a")), op.Arg("b")
	dim := 0
	if o := op.Arg("o"); o != nil {
		dim = int(o.Bits)
	}
	field := op.Mods().MapField
	if field == optab.NoMapField || field == optab.MapFieldSwizzleAtomicity || dim >= tensormap.MaxRank {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			p := unsafe.Slice((*byte)(w.Ptr(a.space, l, a.at(w, l), tensormap.Size, tensormap.Align, true)),
				tensormap.Size)
			t, err := tensormap.Unpack(p)
			if err != nil {
				// the hardware sets bits of whatever is there (numba-cuda's tests do it to blank memory); only a map's
				// use can tell
				continue
			}
			v := get(w, b, l)
			if !replaceField(&t, field, dim, v) {
				w.Throw(exec.FaultInstruction, l, "tensormap.replace with a value that the field cannot hold")
			}
			packed := t.Pack()
			copy(p, packed[:])
		}
	}
	return nil
}

// replaceField sets a field of a map; false when the value is none of the field's.
func replaceField(t *tensormap.Map, field optab.MapField, dim int, v uint64) bool {
	switch field {
	case optab.MapFieldGlobalAddress:
		t.Address = v
	case optab.MapFieldRank: // counted from zero
		if v >= tensormap.MaxRank {
			return false
		}
		t.Rank = int(v) + 1
	case optab.MapFieldBoxDim:
		t.Box[dim] = uint32(v)
	case optab.MapFieldGlobalDim:
		t.Dim[dim] = v & 0xffffffff
	case optab.MapFieldElementStride:
		t.ElementStride[dim] = uint32(v)
	case optab.MapFieldGlobalStride:
		t.Stride[dim+1] = v
	case optab.MapFieldElemtype:
		if v >= uint64(len(elemTypes)) {
			return false
		}
		t.Type = elemTypes[v]
	case optab.MapFieldInterleaveLayout:
		t.Interleave = tensormap.Interleave(v)
		return v <= 2
	case optab.MapFieldSwizzleMode:
		t.Swizzle = tensormap.Swizzle(v)
		return v <= 3 // 4 is the 96-byte mode, which sm_90 lacks
	case optab.MapFieldFillMode:
		t.NaN = v != 0
		return v <= 1
	}
	return true
}

// resolveTensormapCopy is tensormap.cp_fenceproxy: the map is copied; fences have nothing to do here.
func resolveTensormapCopy(in *inst, op *ir.Op) error {
	dst, src := place(op.Arg("a")), place(op.Arg("b"))
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d := w.Ptr(dst.space, l, dst.at(w, l), tensormap.Size, tensormap.Align, true)
			*(*[tensormap.Size]byte)(d) = *(*[tensormap.Size]byte)(w.Ptr(src.space, l, src.at(w, l), tensormap.Size,
				tensormap.Align, false))
		}
	}
	return nil
}
