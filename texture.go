package cuda

import (
	"reflect"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Array is device memory in a hardware-specific layout for textures and surfaces: kernels cannot address it directly.
// The program must close it, after the textures and surfaces made of it.
type Array[T any] struct {
	owned
	c       *Context
	handle  cu.CUarray
	w, h, d int // h and d are 0 where the array has fewer dimensions
	format  cu.CUarray_format
	n       uint32 // numbers in an element
}

// ArrayOptions are the options of [AllocArray].
type ArrayOptions struct {
	Layered bool // depth is a number of layers
	Cubemap bool // width = height, and six layers, or with Layered a multiple of six
	Surface bool // surfaces can be made of it
	Gather  bool // textures of it can gather (tld4)
	Half    bool // 16-bit elements are floats
}

// AllocArray allocates an array with one (height and depth 0), two (depth 0) or three dimensions. Elements are 1, 2 or
// 4 numbers of the same type: integers of 8, 16 and 32 bits, float32, and arrays and structs of them.
func AllocArray[T any](c *Context, width, height, depth int, o ArrayOptions) (*Array[T], error) {
	const op = "cuArray3DCreate"
	format, n, ok := texelFormat(reflect.TypeFor[T](), o.Half)
	if !ok {
		return nil, invalid(op, "", "elements of type %s; they must be 1, 2 or 4 numbers of 8, 16 or 32 bits of one type", reflect.TypeFor[T]())
	}
	if width < 1 || height < 0 || depth < 0 || height == 0 && depth != 0 && !o.Layered {
		return nil, invalid(op, "", "an array of %d x %d x %d elements", width, height, depth)
	}
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	desc := cu.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(width), Height: uint64(height), Depth: uint64(depth),
		Format: format, NumChannels: n}
	for _, f := range []struct {
		on   bool
		flag uint32
	}{{o.Layered, cu.CUDA_ARRAY3D_LAYERED}, {o.Cubemap, cu.CUDA_ARRAY3D_CUBEMAP},
		{o.Surface, cu.CUDA_ARRAY3D_SURFACE_LDST}, {o.Gather, cu.CUDA_ARRAY3D_TEXTURE_GATHER}} {
		if f.on {
			desc.Flags |= f.flag
		}
	}
	h, err := c.api.Array3DCreate(&desc)
	if err != nil {
		return nil, c.fail(op, "", err)
	}
	a := &Array[T]{c: c, handle: h, w: width, h: height, d: depth, format: format, n: n}
	a.born(&c.owned, "array", int64(a.Len())*int64(sizeOf[T]()), c.giveBack("cuArrayDestroy", "",
		func(api cu.API) error {
			return api.ArrayDestroy(h)
		}))
	watch(a, &a.owned)
	return a, nil
}

// texelFormat is the format of an element and how many numbers it has.
func texelFormat(t reflect.Type, half bool) (format cu.CUarray_format, n uint32, ok bool) {
	n = 1
	switch t.Kind() {
	case reflect.Array:
		n, t = uint32(t.Len()), t.Elem()
	case reflect.Struct:
		n = uint32(t.NumField())
		for i := range t.NumField() {
			if t.Field(i).Type.Kind() != t.Field(0).Type.Kind() {
				return 0, 0, false
			}
		}
		if n > 0 {
			t = t.Field(0).Type
		}
	}
	format, ok = map[reflect.Kind]cu.CUarray_format{
		reflect.Uint8: cu.CU_AD_FORMAT_UNSIGNED_INT8, reflect.Uint16: cu.CU_AD_FORMAT_UNSIGNED_INT16,
		reflect.Uint32: cu.CU_AD_FORMAT_UNSIGNED_INT32,
		reflect.Int8:   cu.CU_AD_FORMAT_SIGNED_INT8, reflect.Int16: cu.CU_AD_FORMAT_SIGNED_INT16,
		reflect.Int32:   cu.CU_AD_FORMAT_SIGNED_INT32,
		reflect.Float32: cu.CU_AD_FORMAT_FLOAT,
	}[t.Kind()]
	if half {
		format, ok = cu.CU_AD_FORMAT_HALF, ok && t.Size() == 2
	}
	return format, n, ok && (n == 1 || n == 2 || n == 4)
}

// Close frees the memory.
func (a *Array[T]) Close() error { return a.end() }

// Handle returns the driver's handle of the array.
func (a *Array[T]) Handle() cu.CUarray { return a.handle }

// Len returns the number of elements.
func (a *Array[T]) Len() int { return a.w * max(a.h, 1) * max(a.d, 1) }

// box describes a copy between the array and tight host memory.
func (a *Array[T]) box(host []T, in bool) cu.CUDA_MEMCPY3D {
	row, h := uint64(a.w)*sizeOf[T](), uint64(max(a.h, 1))
	d := cu.CUDA_MEMCPY3D{WidthInBytes: row, Height: h, Depth: uint64(max(a.d, 1))}
	p := unsafe.Pointer(unsafe.SliceData(host))
	if in {
		d.SrcMemoryType, d.SrcHost, d.SrcPitch, d.SrcHeight = cu.CU_MEMORYTYPE_HOST, p, row, h
		d.DstMemoryType, d.DstArray = cu.CU_MEMORYTYPE_ARRAY, a.handle
		return d
	}
	d.SrcMemoryType, d.SrcArray = cu.CU_MEMORYTYPE_ARRAY, a.handle
	d.DstMemoryType, d.DstHost, d.DstPitch, d.DstHeight = cu.CU_MEMORYTYPE_HOST, p, row, h
	return d
}

// CopyFrom copies a slice of exactly Len elements, row after row, and returns when the device has the data.
func (a *Array[T]) CopyFrom(src []T) error { return a.host(src, true) }

// CopyTo copies into a slice of exactly Len elements, row after row, and waits. As with [View.CopyTo] it does not wait
// for non-blocking streams.
func (a *Array[T]) CopyTo(dst []T) error { return a.host(dst, false) }

func (a *Array[T]) host(data []T, in bool) error {
	const op = "cuMemcpy3D"
	if a.isClosed() {
		return closedError(op, "array")
	}
	if len(data) != a.Len() {
		return invalid(op, "", "a slice of %d elements for an array of %d", len(data), a.Len())
	}
	d := a.box(data, in)
	if err := a.c.api.Memcpy3D(&d); err != nil || !in {
		return a.c.waited(op, err)
	}
	return a.c.arrived(op)
}

// CopyFromAsync queues a copy from pinned memory; see [View.CopyFromAsync].
func (a *Array[T]) CopyFromAsync(s *Stream, src PinnedView[T]) error { return a.pinned(s, src, true) }

// CopyToAsync queues a copy into pinned memory.
func (a *Array[T]) CopyToAsync(s *Stream, dst PinnedView[T]) error { return a.pinned(s, dst, false) }

func (a *Array[T]) pinned(s *Stream, data PinnedView[T], in bool) error {
	const op = "cuMemcpy3DAsync"
	if a.isClosed() {
		return closedError(op, "array")
	}
	if data.Len() != a.Len() {
		return invalid(op, "", "%d elements of pinned memory for an array of %d", data.Len(), a.Len())
	}
	if err := data.use(op); err != nil {
		return err
	}
	s, err := a.c.stream(op, s)
	if err != nil {
		return err
	}
	d := a.box(data.data, in)
	return a.c.fail(op, "", a.c.api.Memcpy3DAsync(&d, s.handle))
}

// Texels is the memory that a [Texture] can read: an [*Array], a [*Matrix] or a [*Buffer], or a part of them.
type Texels interface {
	// texels describes the memory; integer says that its numbers are integers.
	texels() (c *Context, owner *owned, desc cu.CUDA_RESOURCE_DESC, integer bool, err error)
}

func (a *Array[T]) texels() (*Context, *owned, cu.CUDA_RESOURCE_DESC, bool, error) {
	d := cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_ARRAY}
	d.Res.Array().HArray = a.handle
	return a.c, &a.owned, d, a.format != cu.CU_AD_FORMAT_FLOAT && a.format != cu.CU_AD_FORMAT_HALF, nil
}

func (v View[T]) texels() (*Context, *owned, cu.CUDA_RESOURCE_DESC, bool, error) {
	d := cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_LINEAR}
	f, n, err := viewFormat[T]()
	if err == nil {
		err = v.use(opTexture)
	}
	*d.Res.Linear() = cu.CUDA_RESOURCE_DESC_res_linear{DevPtr: v.ptr, Format: f, NumChannels: n, SizeInBytes: v.Bytes()}
	return v.c, v.owner, d, f != cu.CU_AD_FORMAT_FLOAT, err
}

func (v MatrixView[T]) texels() (*Context, *owned, cu.CUDA_RESOURCE_DESC, bool, error) {
	d := cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_PITCH2D}
	f, n, err := viewFormat[T]()
	if err == nil {
		err = v.use(opTexture)
	}
	*d.Res.Pitch2D() = cu.CUDA_RESOURCE_DESC_res_pitch2D{DevPtr: v.ptr, Format: f, NumChannels: n, Width: uint64(v.w),
		Height: uint64(v.h), PitchInBytes: v.pitch}
	return v.c, v.owner, d, f != cu.CU_AD_FORMAT_FLOAT, err
}

func viewFormat[T any]() (cu.CUarray_format, uint32, error) {
	f, n, ok := texelFormat(reflect.TypeFor[T](), false)
	if !ok {
		return 0, 0, invalid(opTexture, "", "elements of type %s; they must be 1, 2 or 4 numbers of 8, 16 or 32 bits of one type", reflect.TypeFor[T]())
	}
	return f, n, nil
}

const opTexture = "cuTexObjectCreate"

// AddressMode selects what a texture returns outside of its memory.
type AddressMode = cu.CUaddress_mode

// The address modes. With coordinates that are not normalised Wrap and Mirror are Clamp.
const (
	Wrap   AddressMode = cu.CU_TR_ADDRESS_MODE_WRAP   // the memory again
	Clamp  AddressMode = cu.CU_TR_ADDRESS_MODE_CLAMP  // the element at the edge
	Mirror AddressMode = cu.CU_TR_ADDRESS_MODE_MIRROR // the memory again, mirrored
	Border AddressMode = cu.CU_TR_ADDRESS_MODE_BORDER // TextureOptions.BorderColor
)

// TextureOptions are the options of [NewTexture]; the zero value reads single elements at unnormalised coordinates.
type TextureOptions struct {
	Address     AddressMode // in all dimensions
	BorderColor [4]float32
	Linear      bool // interpolate between elements; they must be floats, or read as such
	Normalized  bool // coordinates go from 0 to 1
	AsFloat     bool // integers of 8 and 16 bits are read as floats from 0 to 1, or -1 to 1
	SRGB        bool // 8-bit elements are sRGB
}

// Texture reads memory through the texture hardware: with interpolation, and with rules for coordinates outside.
// Kernels take its Handle: cuda.Val(t.Handle()). The program must close it, before its memory.
type Texture struct {
	owned
	c      *Context
	handle cu.CUtexObject
}

// NewTexture creates a texture of memory, which must stay open until the texture is closed.
func NewTexture(m Texels, o TextureOptions) (*Texture, error) {
	c, owner, desc, integer, err := m.texels()
	if err != nil {
		return nil, err
	}
	if owner.isClosed() {
		return nil, closedError(opTexture, owner.kind)
	}
	how := cu.CUDA_TEXTURE_DESC{AddressMode: [3]cu.CUaddress_mode{o.Address, o.Address, o.Address},
		BorderColor: o.BorderColor}
	if o.Linear {
		how.FilterMode = cu.CU_TR_FILTER_MODE_LINEAR
	}
	if o.Normalized {
		how.Flags |= cu.CU_TRSF_NORMALIZED_COORDINATES
	}
	if integer && !o.AsFloat {
		how.Flags |= cu.CU_TRSF_READ_AS_INTEGER
	}
	if o.SRGB {
		how.Flags |= cu.CU_TRSF_SRGB
	}
	h, err := c.api.TexObjectCreate(&desc, &how, nil)
	if err != nil {
		return nil, c.fail(opTexture, "", err)
	}
	t := &Texture{c: c, handle: h}
	t.born(owner, "texture", 0, c.giveBack("cuTexObjectDestroy", "", func(api cu.API) error {
		return api.TexObjectDestroy(h)
	}))
	watch(t, &t.owned)
	return t, nil
}

// Close destroys the texture; the memory stays.
func (t *Texture) Close() error { return t.end() }

// Handle returns the texture object, for kernels and the driver API.
func (t *Texture) Handle() cu.CUtexObject { return t.handle }

// Surface lets kernels read and write an [Array]. They take its Handle: cuda.Val(s.Handle()). The program must close
// it, before the array.
type Surface struct {
	owned
	c      *Context
	handle cu.CUsurfObject
}

// NewSurface creates a surface of an array that was allocated with ArrayOptions.Surface.
func NewSurface[T any](a *Array[T]) (*Surface, error) {
	const op = "cuSurfObjectCreate"
	if a.isClosed() {
		return nil, closedError(op, "array")
	}
	_, owner, desc, _, _ := a.texels()
	h, err := a.c.api.SurfObjectCreate(&desc)
	if err != nil {
		return nil, a.c.fail(op, "", err)
	}
	s := &Surface{c: a.c, handle: h}
	s.born(owner, "surface", 0, a.c.giveBack("cuSurfObjectDestroy", "", func(api cu.API) error {
		return api.SurfObjectDestroy(h)
	}))
	watch(s, &s.owned)
	return s, nil
}

// Close destroys the surface; the array stays.
func (s *Surface) Close() error { return s.end() }

// Handle returns the surface object, for kernels and the driver API.
func (s *Surface) Handle() cu.CUsurfObject { return s.handle }
