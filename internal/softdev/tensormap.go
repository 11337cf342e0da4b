package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/tensormap"
)

// tensorMapEncodeTiled is cuTensorMapEncodeTiled. Like the other encoders it asks for a context (recorded), although
// the map is built on the host.
func (d *Driver) tensorMapEncodeTiled(cur driver.CUcontext, out *driver.CUtensorMap, typ driver.CUtensorMapDataType,
	rank uint32, addr uintptr, dim, stride *uint64, box, elem *uint32,
	il driver.CUtensorMapInterleave, sw driver.CUtensorMapSwizzle, l2 driver.CUtensorMapL2promotion,
	oob driver.CUtensorMapFloatOOBfill) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	m, ok := tensorMap(tensormap.Tiled, typ, rank, addr, dim, stride, elem, il, sw, l2, oob)
	if !ok || box == nil {
		return invalidValue
	}
	copy(m.Box[:], unsafe.Slice(box, rank))
	return d.encodeMap(out, m)
}

// tensorMapEncodeIm2col is cuTensorMapEncodeIm2col.
func (d *Driver) tensorMapEncodeIm2col(cur driver.CUcontext, out *driver.CUtensorMap, typ driver.CUtensorMapDataType,
	rank uint32, addr uintptr, dim, stride *uint64, lower, upper *int32, channels, pixels uint32,
	elem *uint32, il driver.CUtensorMapInterleave, sw driver.CUtensorMapSwizzle, l2 driver.CUtensorMapL2promotion,
	oob driver.CUtensorMapFloatOOBfill) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	m, ok := tensorMap(tensormap.Im2col, typ, rank, addr, dim, stride, elem, il, sw, l2, oob)
	if !ok || lower == nil || upper == nil || rank < 3 {
		return invalidValue
	}
	copy(m.Lower[:], unsafe.Slice(lower, rank-2))
	copy(m.Upper[:], unsafe.Slice(upper, rank-2))
	m.Channels, m.Pixels = channels, pixels
	return d.encodeMap(out, m)
}

// tensorMapEncodeIm2colWide is cuTensorMapEncodeIm2colWide.
func (d *Driver) tensorMapEncodeIm2colWide(cur driver.CUcontext, out *driver.CUtensorMap,
	typ driver.CUtensorMapDataType, rank uint32, addr uintptr, dim, stride *uint64, lower, upper int32, channels,
	pixels uint32,
	elem *uint32, il driver.CUtensorMapInterleave, mode driver.CUtensorMapIm2ColWideMode, sw driver.CUtensorMapSwizzle,
	l2 driver.CUtensorMapL2promotion, oob driver.CUtensorMapFloatOOBfill) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	m, ok := tensorMap(tensormap.Im2colWide, typ, rank, addr, dim, stride, elem, il, sw, l2, oob)
	if !ok || uint32(mode) > uint32(driver.CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) {
		return invalidValue
	}
	m.Lower[0], m.Upper[0], m.Channels, m.Pixels = lower, upper, channels, pixels
	m.Wide128 = mode == driver.CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128
	return d.encodeMap(out, m)
}

// tensorMapReplaceAddress is cuTensorMapReplaceAddress.
func (d *Driver) tensorMapReplaceAddress(cur driver.CUcontext, out *driver.CUtensorMap, addr uintptr) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	if err := tensormap.SetAddress(unsafe.Slice((*byte)(unsafe.Pointer(out)), tensormap.Size),
		uint64(addr)); err != nil {
		d.explain(nil, "%v", err)
		return invalidValue
	}
	return success
}

// tensorMap gathers what the encoders have in common. NULL arrays and ranks out of range are refused before anything is
// read.
func tensorMap(mode tensormap.Mode, typ driver.CUtensorMapDataType, rank uint32, addr uintptr, dim, stride *uint64,
	elem *uint32, il driver.CUtensorMapInterleave, sw driver.CUtensorMapSwizzle,
	l2 driver.CUtensorMapL2promotion, oob driver.CUtensorMapFloatOOBfill) (*tensormap.Map, bool) {
	if rank == 0 || rank > tensormap.MaxRank || dim == nil || elem == nil || rank > 1 && stride == nil {
		return nil, false
	}
	for _, v := range []int64{int64(typ), int64(il), int64(sw), int64(l2)} {
		if v < 0 || v > 255 {
			return nil, false
		}
	}
	if oob != driver.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
		oob != driver.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA {
		return nil, false
	}
	m := &tensormap.Map{Mode: mode, Type: tensormap.DataType(typ), Rank: int(rank), Address: uint64(addr),
		Interleave: tensormap.Interleave(il), Swizzle: tensormap.Swizzle(sw),
		L2Promotion: uint8(l2), NaN: oob != driver.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE}
	copy(m.Dim[:], unsafe.Slice(dim, rank))
	if rank > 1 {
		copy(m.Stride[1:], unsafe.Slice(stride, rank-1))
	}
	copy(m.ElementStride[:], unsafe.Slice(elem, rank))
	return m, true
}

func (d *Driver) encodeMap(out *driver.CUtensorMap, m *tensormap.Map) driver.CUresult {
	// The type is declared with an alignment of 64, which programs in Python do not keep (cuda-core places it in its
	// objects) and the driver does not ask for.
	if out == nil {
		return invalidValue
	}
	b, err := tensormap.Encode(m)
	if err != nil {
		d.explain(nil, "%v", err)
		return invalidValue
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(out)), tensormap.Size), b[:])
	return success
}
