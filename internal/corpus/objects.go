package corpus

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

var arrayFormats = map[string]driver.CUarray_format{
	"u8": driver.CU_AD_FORMAT_UNSIGNED_INT8, "u16": driver.CU_AD_FORMAT_UNSIGNED_INT16,
	"u32": driver.CU_AD_FORMAT_UNSIGNED_INT32,
	"i8":  driver.CU_AD_FORMAT_SIGNED_INT8, "i16": driver.CU_AD_FORMAT_SIGNED_INT16,
	"i32": driver.CU_AD_FORMAT_SIGNED_INT32,
	"f16": driver.CU_AD_FORMAT_HALF, "f32": driver.CU_AD_FORMAT_FLOAT,
}

var addressModes = map[string]driver.CUaddress_mode{
	"wrap": driver.CU_TR_ADDRESS_MODE_WRAP, "clamp": driver.CU_TR_ADDRESS_MODE_CLAMP,
	"mirror": driver.CU_TR_ADDRESS_MODE_MIRROR, "border": driver.CU_TR_ADDRESS_MODE_BORDER,
}

// image2 makes a texture or surface object.
func (s *state) image2(a *Arg, outs *[]output) (unsafe.Pointer, error) {
	t := s.r.T
	format, ok := arrayFormats[a.Fmt]
	if !ok {
		return nil, fmt.Errorf("unknown element format %s", a.Fmt)
	}
	elem := ElementSize(a.Fmt) * a.Channels
	dims := [3]int{1, 1, 1}
	copy(dims[:], a.Dims)
	size := elem * dims[0] * dims[1] * dims[2]
	if size == 0 {
		return nil, fmt.Errorf("an image of %v with %d channels", a.Dims, a.Channels)
	}
	data, err := s.m.Bytes(a.Data, size)
	if err != nil {
		return nil, err
	}
	if len(data) < size {
		data = append(data, make([]byte, size-len(data))...)
	}
	var res driver.CUDA_RESOURCE_DESC
	switch a.Res {
	case "linear":
		var p driver.CUdeviceptr
		if err := s.check("cuMemAlloc", t.MemAlloc_v2(s.ctx, &p, uint64(size))); err != nil {
			return nil, err
		}
		s.cleanup = append(s.cleanup, func() { t.MemFree_v2(s.ctx, p) })
		if err := s.check("cuMemcpyHtoD", t.MemcpyHtoD_v2(s.ctx, p, unsafe.Pointer(&data[0]),
			uint64(size))); err != nil {
			return nil, err
		}
		res.ResType = driver.CU_RESOURCE_TYPE_LINEAR
		l := res.Res.Linear()
		l.DevPtr, l.Format, l.NumChannels, l.SizeInBytes = p, format, uint32(a.Channels), uint64(size)
	case "pitch2d":
		var p driver.CUdeviceptr
		row := elem * dims[0]
		pitch := (row + 511) &^ 511
		padded := make([]byte, pitch*dims[1])
		for y := 0; y < dims[1]; y++ {
			copy(padded[y*pitch:], data[y*row:(y+1)*row])
		}
		if err := s.check("cuMemAlloc", t.MemAlloc_v2(s.ctx, &p, uint64(len(padded)))); err != nil {
			return nil, err
		}
		s.cleanup = append(s.cleanup, func() { t.MemFree_v2(s.ctx, p) })
		if err := s.check("cuMemcpyHtoD", t.MemcpyHtoD_v2(s.ctx, p, unsafe.Pointer(&padded[0]),
			uint64(len(padded)))); err != nil {
			return nil, err
		}
		res.ResType = driver.CU_RESOURCE_TYPE_PITCH2D
		l := res.Res.Pitch2D()
		l.DevPtr, l.Format, l.NumChannels, l.Width, l.Height, l.PitchInBytes = p, format, uint32(a.Channels),
			uint64(dims[0]), uint64(dims[1]), uint64(pitch)
	case "array", "":
		arr, err := s.array(a, format, dims, elem, data)
		if err != nil {
			return nil, err
		}
		res.ResType = driver.CU_RESOURCE_TYPE_ARRAY
		res.Res.Array().HArray = arr
		if a.Expected != nil {
			want, err := s.m.Bytes(a.Expected, size)
			if err != nil {
				return nil, err
			}
			*outs = append(*outs, output{what: "surface", dtype: a.Fmt, rule: a.Compare, want: want,
				read: func(got []byte) error {
					var pin runtime.Pinner // the buffer goes to the driver as a number
					pin.Pin(&got[0])
					defer pin.Unpin()
					c := s.copy3D(dims, elem)
					c.SrcMemoryType, c.SrcArray = driver.CU_MEMORYTYPE_ARRAY, arr
					c.DstMemoryType, c.DstHost = driver.CU_MEMORYTYPE_HOST, uintptr(unsafe.Pointer(&got[0]))
					c.DstPitch, c.DstHeight = uint64(elem*dims[0]), uint64(dims[1])
					return s.check("cuMemcpy3D", t.Memcpy3D_v2(s.ctx, &c))
				}})
		}
	default:
		return nil, fmt.Errorf("unknown texture resource %s", a.Res)
	}
	if a.Kind == "surface" {
		var obj driver.CUsurfObject
		if err := s.check("cuSurfObjectCreate", t.SurfObjectCreate(s.ctx, &obj, &res)); err != nil {
			return nil, err
		}
		return unsafe.Pointer(&obj), nil
	}
	var desc driver.CUDA_TEXTURE_DESC
	for i := range desc.AddressMode {
		if i < len(a.Address) {
			desc.AddressMode[i] = addressModes[a.Address[i]]
		}
	}
	if a.Filter == "linear" {
		desc.FilterMode = driver.CU_TR_FILTER_MODE_LINEAR
	}
	if a.Read == "element" && !strings.HasPrefix(a.Fmt, "f") {
		desc.Flags |= driver.CU_TRSF_READ_AS_INTEGER
	}
	if a.Normalized {
		desc.Flags |= driver.CU_TRSF_NORMALIZED_COORDINATES
	}
	if a.SRGB {
		desc.Flags |= driver.CU_TRSF_SRGB
	}
	desc.BorderColor = a.Border
	var obj driver.CUtexObject
	if err := s.check("cuTexObjectCreate", t.TexObjectCreate(s.ctx, &obj, &res, &desc, nil)); err != nil {
		return nil, err
	}
	return unsafe.Pointer(&obj), nil
}

func (s *state) copy3D(dims [3]int, elem int) driver.CUDA_MEMCPY3D {
	return driver.CUDA_MEMCPY3D{WidthInBytes: uint64(elem * dims[0]), Height: uint64(dims[1]), Depth: uint64(dims[2])}
}

func (s *state) array(a *Arg, format driver.CUarray_format, dims [3]int, elem int, data []byte) (driver.CUarray,
	error) {
	t := s.r.T
	d := driver.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(dims[0]), Format: format, NumChannels: uint32(a.Channels)}
	if len(a.Dims) > 1 {
		d.Height = uint64(dims[1])
	}
	if len(a.Dims) > 2 {
		d.Depth = uint64(dims[2])
	}
	if a.Layered {
		d.Flags |= driver.CUDA_ARRAY3D_LAYERED
	}
	if a.Cubemap {
		d.Flags |= driver.CUDA_ARRAY3D_CUBEMAP
	}
	if a.Kind == "surface" {
		d.Flags |= driver.CUDA_ARRAY3D_SURFACE_LDST
	}
	if a.Gather || s.m.Name == "texgather" {
		d.Flags |= driver.CUDA_ARRAY3D_TEXTURE_GATHER
	}
	var arr driver.CUarray
	if err := s.check("cuArray3DCreate", t.Array3DCreate_v2(s.ctx, &arr, &d)); err != nil {
		return 0, err
	}
	var pin runtime.Pinner
	pin.Pin(&data[0])
	defer pin.Unpin()
	c := s.copy3D(dims, elem)
	c.SrcMemoryType, c.SrcHost = driver.CU_MEMORYTYPE_HOST, uintptr(unsafe.Pointer(&data[0]))
	c.SrcPitch, c.SrcHeight = uint64(elem*dims[0]), uint64(dims[1])
	c.DstMemoryType, c.DstArray = driver.CU_MEMORYTYPE_ARRAY, arr
	return arr, s.check("cuMemcpy3D", t.Memcpy3D_v2(s.ctx, &c))
}

var tensorTypes = map[string]driver.CUtensorMapDataType{
	"u8": driver.CU_TENSOR_MAP_DATA_TYPE_UINT8, "u16": driver.CU_TENSOR_MAP_DATA_TYPE_UINT16,
	"u32": driver.CU_TENSOR_MAP_DATA_TYPE_UINT32,
	"i32": driver.CU_TENSOR_MAP_DATA_TYPE_INT32, "u64": driver.CU_TENSOR_MAP_DATA_TYPE_UINT64,
	"i64": driver.CU_TENSOR_MAP_DATA_TYPE_INT64,
	"f16": driver.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, "f32": driver.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
	"f64":  driver.CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
	"bf16": driver.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
}

func (s *state) tensorMap(a *Arg) (unsafe.Pointer, error) {
	typ, ok := tensorTypes[a.DType]
	if !ok {
		return nil, fmt.Errorf("no tensor map type for %s", a.DType)
	}
	base, ok := s.buffers[a.ID]
	if !ok {
		return nil, fmt.Errorf("no buffer %s", a.ID)
	}
	words := make([]uint64, 16+16)
	p := unsafe.Pointer(unsafe.SliceData(words))
	p = unsafe.Add(p, -uintptr(p)&127)
	var strides *uint64
	if len(a.GStride) > 0 {
		strides = &a.GStride[0]
	}
	err := s.check("cuTensorMapEncodeTiled", s.r.T.TensorMapEncodeTiled(s.ctx, (*driver.CUtensorMap)(p), typ,
		uint32(len(a.GDim)), uintptr(base)+uintptr(a.Addend), &a.GDim[0], strides,
		&a.Box[0], &a.EStride[0], driver.CUtensorMapInterleave(a.Interleave), driver.CUtensorMapSwizzle(a.Swizzle),
		driver.CUtensorMapL2promotion(a.L2), driver.CUtensorMapFloatOOBfill(a.OOB)))
	return p, err
}
