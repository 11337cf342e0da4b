package cudart

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// format is the driver's format of a channel description, and the number of channels.
func (d *ChannelFormatDesc) format() (driver.CUarray_format, uint32, Error) {
	widths := [4]int32{d.X, d.Y, d.Z, d.W}
	n := uint32(0)
	for n < 4 && widths[n] != 0 {
		n++
	}
	for i, w := range widths {
		if uint32(i) < n && w != widths[0] || uint32(i) >= n && w != 0 {
			return 0, 0, ErrorInvalidChannelDescriptor
		}
	}
	if f, ok := special[d.F]; ok {
		return f, max(n, 1), Success
	}
	if n == 0 || n == 3 {
		return 0, 0, ErrorInvalidChannelDescriptor
	}
	for f, c := range plain {
		if c.F == d.F && c.X == widths[0] {
			return f, n, Success
		}
	}
	return 0, 0, ErrorInvalidChannelDescriptor
}

// plain are the formats whose channels are numbers, with the width and kind of a channel.
var plain = map[driver.CUarray_format]ChannelFormatDesc{
	driver.CU_AD_FORMAT_UNSIGNED_INT8:  {X: 8, F: ChannelFormatKindUnsigned},
	driver.CU_AD_FORMAT_UNSIGNED_INT16: {X: 16, F: ChannelFormatKindUnsigned},
	driver.CU_AD_FORMAT_UNSIGNED_INT32: {X: 32, F: ChannelFormatKindUnsigned},
	driver.CU_AD_FORMAT_SIGNED_INT8:    {X: 8, F: ChannelFormatKindSigned},
	driver.CU_AD_FORMAT_SIGNED_INT16:   {X: 16, F: ChannelFormatKindSigned},
	driver.CU_AD_FORMAT_SIGNED_INT32:   {X: 32, F: ChannelFormatKindSigned},
	driver.CU_AD_FORMAT_HALF:           {X: 16, F: ChannelFormatKindFloat},
	driver.CU_AD_FORMAT_FLOAT:          {X: 32, F: ChannelFormatKindFloat},
}

// special are the kinds that stand for a format by themselves.
var special = map[ChannelFormatKind]driver.CUarray_format{
	ChannelFormatKindNV12:                         driver.CU_AD_FORMAT_NV12,
	ChannelFormatKindUnsignedNormalized8X1:        driver.CU_AD_FORMAT_UNORM_INT8X1,
	ChannelFormatKindUnsignedNormalized8X2:        driver.CU_AD_FORMAT_UNORM_INT8X2,
	ChannelFormatKindUnsignedNormalized8X4:        driver.CU_AD_FORMAT_UNORM_INT8X4,
	ChannelFormatKindUnsignedNormalized16X1:       driver.CU_AD_FORMAT_UNORM_INT16X1,
	ChannelFormatKindUnsignedNormalized16X2:       driver.CU_AD_FORMAT_UNORM_INT16X2,
	ChannelFormatKindUnsignedNormalized16X4:       driver.CU_AD_FORMAT_UNORM_INT16X4,
	ChannelFormatKindSignedNormalized8X1:          driver.CU_AD_FORMAT_SNORM_INT8X1,
	ChannelFormatKindSignedNormalized8X2:          driver.CU_AD_FORMAT_SNORM_INT8X2,
	ChannelFormatKindSignedNormalized8X4:          driver.CU_AD_FORMAT_SNORM_INT8X4,
	ChannelFormatKindSignedNormalized16X1:         driver.CU_AD_FORMAT_SNORM_INT16X1,
	ChannelFormatKindSignedNormalized16X2:         driver.CU_AD_FORMAT_SNORM_INT16X2,
	ChannelFormatKindSignedNormalized16X4:         driver.CU_AD_FORMAT_SNORM_INT16X4,
	ChannelFormatKindUnsignedBlockCompressed1:     driver.CU_AD_FORMAT_BC1_UNORM,
	ChannelFormatKindUnsignedBlockCompressed1SRGB: driver.CU_AD_FORMAT_BC1_UNORM_SRGB,
	ChannelFormatKindUnsignedBlockCompressed2:     driver.CU_AD_FORMAT_BC2_UNORM,
	ChannelFormatKindUnsignedBlockCompressed2SRGB: driver.CU_AD_FORMAT_BC2_UNORM_SRGB,
	ChannelFormatKindUnsignedBlockCompressed3:     driver.CU_AD_FORMAT_BC3_UNORM,
	ChannelFormatKindUnsignedBlockCompressed3SRGB: driver.CU_AD_FORMAT_BC3_UNORM_SRGB,
	ChannelFormatKindUnsignedBlockCompressed4:     driver.CU_AD_FORMAT_BC4_UNORM,
	ChannelFormatKindSignedBlockCompressed4:       driver.CU_AD_FORMAT_BC4_SNORM,
	ChannelFormatKindUnsignedBlockCompressed5:     driver.CU_AD_FORMAT_BC5_UNORM,
	ChannelFormatKindSignedBlockCompressed5:       driver.CU_AD_FORMAT_BC5_SNORM,
	ChannelFormatKindUnsignedBlockCompressed6H:    driver.CU_AD_FORMAT_BC6H_UF16,
	ChannelFormatKindSignedBlockCompressed6H:      driver.CU_AD_FORMAT_BC6H_SF16,
	ChannelFormatKindUnsignedBlockCompressed7:     driver.CU_AD_FORMAT_BC7_UNORM,
	ChannelFormatKindUnsignedBlockCompressed7SRGB: driver.CU_AD_FORMAT_BC7_UNORM_SRGB,
	ChannelFormatKindUnsignedNormalized1010102:    driver.CU_AD_FORMAT_UNORM_INT_101010_2,
}

// formatBits is the width of a channel of a format.
func formatBits(f driver.CUarray_format) int32 {
	if c, ok := plain[f]; ok {
		return c.X
	}
	return 8
}

// channels describes a format with so many channels.
func channels(f driver.CUarray_format, n uint32) ChannelFormatDesc {
	c, ok := plain[f]
	if !ok {
		for kind, g := range special {
			if g == f {
				c = ChannelFormatDesc{X: 8, F: kind}
			}
		}
	}
	d := ChannelFormatDesc{F: c.F}
	for i, w := range []*int32{&d.X, &d.Y, &d.Z, &d.W} {
		if uint32(i) < n {
			*w = c.X
		}
	}
	return d
}

// arrayFlags are the flags of cudaMalloc3DArray, which the driver has with the same numbers.
const arrayFlags = 0xff

func (r *Runtime) describe(desc *ChannelFormatDesc, extent Extent, flags uint32) (driver.CUDA_ARRAY3D_DESCRIPTOR,
	Error) {
	if desc == nil {
		return driver.CUDA_ARRAY3D_DESCRIPTOR{}, ErrorInvalidValue
	}
	f, n, e := desc.format()
	if e != Success {
		return driver.CUDA_ARRAY3D_DESCRIPTOR{}, e
	}
	if flags&^arrayFlags != 0 {
		return driver.CUDA_ARRAY3D_DESCRIPTOR{}, ErrorInvalidValue
	}
	return driver.CUDA_ARRAY3D_DESCRIPTOR{Width: extent.Width, Height: extent.Height, Depth: extent.Depth, Format: f,
		NumChannels: n, Flags: flags}, Success
}

// MallocArray is cudaMallocArray.
func (r *Runtime) MallocArray(t *Thread, out *driver.CUarray, desc *ChannelFormatDesc, width, height uint64,
	flags uint32) Error {
	return r.Malloc3DArray(t, out, desc, Extent{Width: width, Height: height}, flags)
}

// Malloc3DArray is cudaMalloc3DArray.
func (r *Runtime) Malloc3DArray(t *Thread, out *driver.CUarray, desc *ChannelFormatDesc, extent Extent,
	flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	d, e := r.describe(desc, extent, flags)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.Array3DCreate_v2(cur, out, &d))
}

// MallocMipmappedArray is cudaMallocMipmappedArray.
func (r *Runtime) MallocMipmappedArray(t *Thread, out *driver.CUmipmappedArray, desc *ChannelFormatDesc, extent Extent,
	levels, flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	d, e := r.describe(desc, extent, flags)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.MipmappedArrayCreate(cur, out, &d, levels))
}

// FreeArray is cudaFreeArray. A null handle is nothing to free.
func (r *Runtime) FreeArray(t *Thread, a driver.CUarray) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if a == 0 {
		return Success
	}
	return r.done(t, r.table.ArrayDestroy(cur, a))
}

// FreeMipmappedArray is cudaFreeMipmappedArray. A null handle is nothing to free.
func (r *Runtime) FreeMipmappedArray(t *Thread, a driver.CUmipmappedArray) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if a == 0 {
		return Success
	}
	return r.done(t, r.table.MipmappedArrayDestroy(cur, a))
}

// ArrayGetInfo is cudaArrayGetInfo.
func (r *Runtime) ArrayGetInfo(t *Thread, desc *ChannelFormatDesc, extent *Extent, flags *uint32,
	a driver.CUarray) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	var d driver.CUDA_ARRAY3D_DESCRIPTOR
	if result := r.table.Array3DGetDescriptor_v2(cur, &d, a); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	if desc != nil {
		*desc = channels(d.Format, d.NumChannels)
	}
	if extent != nil {
		*extent = Extent{Width: d.Width, Height: d.Height, Depth: d.Depth}
	}
	if flags != nil {
		*flags = d.Flags
	}
	return Success
}

// GetChannelDesc is cudaGetChannelDesc.
func (r *Runtime) GetChannelDesc(t *Thread, desc *ChannelFormatDesc, a driver.CUarray) Error {
	if desc == nil {
		return t.fail(ErrorInvalidValue)
	}
	return r.ArrayGetInfo(t, desc, nil, nil, a)
}

// resource turns the description of a resource into the driver's. Both versions have what is read of it.
func (d *ResourceDesc) resource() (c driver.CUDA_RESOURCE_DESC, element ChannelFormatDesc, e Error) {
	c.ResType = driver.CUresourcetype(d.ResType)
	switch d.ResType {
	case ResourceTypeArray:
		c.Res.Array().HArray = d.Res.Array().Array
	case ResourceTypeMipmappedArray:
		c.Res.Mipmap().HMipmappedArray = d.Res.Mipmap().Mipmap
	case ResourceTypeLinear:
		from, to := d.Res.Linear(), c.Res.Linear()
		to.DevPtr, to.SizeInBytes = driver.CUdeviceptr(from.DevPtr), from.SizeInBytes
		to.Format, to.NumChannels, e = from.Desc.format()
		element = from.Desc
	case ResourceTypePitch2D:
		from, to := d.Res.Pitch2D(), c.Res.Pitch2D()
		to.DevPtr, to.Width, to.Height, to.PitchInBytes = driver.CUdeviceptr(from.DevPtr), from.Width, from.Height,
			from.PitchInBytes
		to.Format, to.NumChannels, e = from.Desc.format()
		element = from.Desc
	default:
		e = ErrorInvalidValue
	}
	return c, element, e
}

// store writes the description of a resource as the version has it.
func (r *Runtime) store(out *ResourceDesc, c *driver.CUDA_RESOURCE_DESC) {
	var d ResourceDesc
	d.ResType = ResourceType(c.ResType)
	switch d.ResType {
	case ResourceTypeArray:
		d.Res.Array().Array = c.Res.Array().HArray
	case ResourceTypeMipmappedArray:
		d.Res.Mipmap().Mipmap = c.Res.Mipmap().HMipmappedArray
	case ResourceTypeLinear:
		from := c.Res.Linear()
		*d.Res.Linear() = ResourceDesc_res_linear{DevPtr: uintptr(from.DevPtr), SizeInBytes: from.SizeInBytes,
			Desc: channels(from.Format, from.NumChannels)}
	case ResourceTypePitch2D:
		from := c.Res.Pitch2D()
		*d.Res.Pitch2D() = ResourceDesc_res_pitch2D{DevPtr: uintptr(from.DevPtr), Width: from.Width,
			Height: from.Height, PitchInBytes: from.PitchInBytes, Desc: channels(from.Format, from.NumChannels)}
	}
	if r.v12 {
		*(*ResourceDesc_v12)(unsafe.Pointer(out)) = *(*ResourceDesc_v12)(unsafe.Pointer(&d))
	} else {
		*out = d
	}
}

// The flags of CUDA_TEXTURE_DESC.
const (
	readAsInteger    = 0x01
	normalizedCoords = 0x02
	sRGB             = 0x10
	noTrilinear      = 0x20
	seamlessCubemap  = 0x40
)

// CreateTextureObject is cudaCreateTextureObject.
func (r *Runtime) CreateTextureObject(t *Thread, out *uint64, resource *ResourceDesc, texture *TextureDesc,
	view *ResourceViewDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || resource == nil {
		return t.fail(ErrorInvalidValue)
	}
	if texture == nil {
		return t.fail(ErrorInvalidResourceHandle) // recorded
	}
	c, element, e := resource.resource()
	if e != Success {
		return t.fail(e)
	}
	switch resource.ResType {
	case ResourceTypeArray, ResourceTypeMipmappedArray:
		a := resource.Res.Array().Array
		if resource.ResType == ResourceTypeMipmappedArray {
			if result := r.table.MipmappedArrayGetLevel(cur, &a, resource.Res.Mipmap().Mipmap,
				0); result != driver.CUDA_SUCCESS {
				return r.done(t, result)
			}
		}
		var d driver.CUDA_ARRAY3D_DESCRIPTOR
		if result := r.table.Array3DGetDescriptor_v2(cur, &d, a); result != driver.CUDA_SUCCESS {
			return r.done(t, result)
		}
		element = channels(d.Format, d.NumChannels)
	}
	kind := element.F
	integers := kind == ChannelFormatKindSigned || kind == ChannelFormatKindUnsigned
	normalized := texture.ReadMode == ReadModeNormalizedFloat
	switch { // in this order (recorded)
	case texture.FilterMode == FilterModeLinear && integers && (!normalized || element.X > 16):
		return t.fail(ErrorInvalidFilterSetting)
	case normalized && (kind == ChannelFormatKindFloat || integers && element.X > 16):
		return t.fail(ErrorInvalidNormSetting)
	}
	x := driver.CUDA_TEXTURE_DESC{
		FilterMode: driver.CUfilter_mode(texture.FilterMode), MaxAnisotropy: texture.MaxAnisotropy,
		MipmapFilterMode: driver.CUfilter_mode(texture.MipmapFilterMode), MipmapLevelBias: texture.MipmapLevelBias,
		MinMipmapLevelClamp: texture.MinMipmapLevelClamp, MaxMipmapLevelClamp: texture.MaxMipmapLevelClamp,
		BorderColor: texture.BorderColor,
	}
	for i, m := range texture.AddressMode {
		x.AddressMode[i] = driver.CUaddress_mode(m)
	}
	for _, f := range []struct {
		on   bool
		flag uint32
	}{
		{!normalized && integers, readAsInteger},
		{texture.NormalizedCoords != 0, normalizedCoords}, {texture.SRGB != 0, sRGB},
		{texture.DisableTrilinearOptimization != 0, noTrilinear}, {texture.SeamlessCubemap != 0, seamlessCubemap},
	} {
		if f.on {
			x.Flags |= f.flag
		}
	}
	var v *driver.CUDA_RESOURCE_VIEW_DESC
	if view != nil {
		v = &driver.CUDA_RESOURCE_VIEW_DESC{Format: driver.CUresourceViewFormat(view.Format), Width: view.Width,
			Height: view.Height, Depth: view.Depth, FirstMipmapLevel: view.FirstMipmapLevel,
			LastMipmapLevel: view.LastMipmapLevel, FirstLayer: view.FirstLayer, LastLayer: view.LastLayer}
	}
	return r.done(t, r.table.TexObjectCreate(cur, (*driver.CUtexObject)(unsafe.Pointer(out)), &c, &x, v))
}

// GetTextureObjectResourceDesc is cudaGetTextureObjectResourceDesc.
func (r *Runtime) GetTextureObjectResourceDesc(t *Thread, out *ResourceDesc, texture uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var c driver.CUDA_RESOURCE_DESC
	result := r.table.TexObjectGetResourceDesc(cur, &c, driver.CUtexObject(texture))
	if result == driver.CUDA_SUCCESS {
		r.store(out, &c)
	}
	return r.done(t, result)
}

// GetTextureObjectTextureDesc is cudaGetTextureObjectTextureDesc.
func (r *Runtime) GetTextureObjectTextureDesc(t *Thread, out *TextureDesc, texture uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidResourceHandle) // recorded
	}
	var x driver.CUDA_TEXTURE_DESC
	if result := r.table.TexObjectGetTextureDesc(cur, &x, driver.CUtexObject(texture)); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	on := func(flag uint32) int32 {
		if x.Flags&flag != 0 {
			return 1
		}
		return 0
	}
	d := TextureDesc{
		FilterMode: TextureFilterMode(x.FilterMode), MaxAnisotropy: x.MaxAnisotropy,
		MipmapFilterMode: TextureFilterMode(x.MipmapFilterMode), MipmapLevelBias: x.MipmapLevelBias,
		MinMipmapLevelClamp: x.MinMipmapLevelClamp, MaxMipmapLevelClamp: x.MaxMipmapLevelClamp,
		BorderColor: x.BorderColor, NormalizedCoords: on(normalizedCoords), SRGB: on(sRGB),
		DisableTrilinearOptimization: on(noTrilinear), SeamlessCubemap: on(seamlessCubemap),
		ReadMode: ReadModeElementType,
	}
	for i, m := range x.AddressMode {
		d.AddressMode[i] = TextureAddressMode(m)
	}
	if x.Flags&readAsInteger == 0 {
		if e := r.readMode(cur, texture, &d); e != Success {
			return t.fail(e)
		}
	}
	*out = d
	return Success
}

// readMode finds the read mode of a texture that is not read as integers: the type of its elements, if they are floats.
func (r *Runtime) readMode(cur driver.CUcontext, texture uint64, d *TextureDesc) Error {
	var c driver.CUDA_RESOURCE_DESC
	if result := r.table.TexObjectGetResourceDesc(cur, &c, driver.CUtexObject(texture)); result != driver.CUDA_SUCCESS {
		return Error(result)
	}
	var a driver.CUDA_ARRAY3D_DESCRIPTOR
	format := driver.CU_AD_FORMAT_FLOAT
	switch ResourceType(c.ResType) {
	case ResourceTypeLinear:
		format = c.Res.Linear().Format
	case ResourceTypePitch2D:
		format = c.Res.Pitch2D().Format
	case ResourceTypeArray:
		if r.table.Array3DGetDescriptor_v2(cur, &a, c.Res.Array().HArray) == driver.CUDA_SUCCESS {
			format = a.Format
		}
	}
	if plain[format].F != ChannelFormatKindFloat {
		d.ReadMode = ReadModeNormalizedFloat
	}
	return Success
}

// GetTextureObjectResourceViewDesc is cudaGetTextureObjectResourceViewDesc.
func (r *Runtime) GetTextureObjectResourceViewDesc(t *Thread, out *ResourceViewDesc, texture uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var v driver.CUDA_RESOURCE_VIEW_DESC
	result := r.table.TexObjectGetResourceViewDesc(cur, &v, driver.CUtexObject(texture))
	if result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	*(*ResourceViewDesc_v12)(unsafe.Pointer(out)) = ResourceViewDesc_v12{Format: ResourceViewFormat(v.Format),
		Width: v.Width, Height: v.Height, Depth: v.Depth, FirstMipmapLevel: v.FirstMipmapLevel,
		LastMipmapLevel: v.LastMipmapLevel, FirstLayer: v.FirstLayer, LastLayer: v.LastLayer}
	return Success
}

// CreateSurfaceObject is cudaCreateSurfaceObject.
func (r *Runtime) CreateSurfaceObject(t *Thread, out *uint64, resource *ResourceDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || resource == nil {
		return t.fail(ErrorInvalidValue)
	}
	c, _, e := resource.resource()
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.SurfObjectCreate(cur, (*driver.CUsurfObject)(unsafe.Pointer(out)), &c))
}

// GetSurfaceObjectResourceDesc is cudaGetSurfaceObjectResourceDesc.
func (r *Runtime) GetSurfaceObjectResourceDesc(t *Thread, out *ResourceDesc, surface uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var c driver.CUDA_RESOURCE_DESC
	result := r.table.SurfObjectGetResourceDesc(cur, &c, driver.CUsurfObject(surface))
	if result == driver.CUDA_SUCCESS {
		r.store(out, &c)
	}
	return r.done(t, result)
}
