package softdev

import (
	"math/bits"
	"sync"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// array is a CUDA array: memory that is reached through textures, surfaces and copies only. Rows, slices and layers
// follow each other without gaps.
type array struct {
	ctx    *context
	handle driver.CUarray
	desc   driver.CUDA_ARRAY3D_DESCRIPTOR
	format texture.Format
	level  texture.Level
	size   uint64 // bytes
	mip    *mipmap
	later  *deferred // with CUDA_ARRAY3D_DEFERRED_MAPPING
}

// mipmap is a mipmapped array.
type mipmap struct {
	ctx    *context
	handle driver.CUmipmappedArray
	desc   driver.CUDA_ARRAY3D_DESCRIPTOR
	levels []*array
	format texture.Format

	size     uint64   // bytes of all levels
	offsets  []uint64 // of the levels
	hardware uint64   // bytes that hardware takes

	mu sync.Mutex // for the handles of the levels
}

// textureObjects are the tables of the objects of textures and surfaces.
type textureObjects struct {
	arrays   handles[array]
	mipmaps  handles[mipmap]
	texrefs  handles[texref]
	surfrefs handles[surfref]
}

// The kinds of their handles stand apart from those of handle.go.
const (
	kindArray handleKind = iota + 48
	kindMipmap
	kindTexref
	kindSurfref
)

func (t *textureObjects) init(first uint16) {
	t.arrays.init(kindArray, first)
	t.mipmaps.init(kindMipmap, first)
	t.texrefs.init(kindTexref, first)
	t.surfrefs.init(kindSurfref, first)
}

// elementFormats are the formats of arrays with their channels; 0 is any number of them.
var elementFormats = map[driver.CUarray_format]texture.Format{
	driver.CU_AD_FORMAT_UNSIGNED_INT8:  {Kind: texture.Uint, Bits: 8},
	driver.CU_AD_FORMAT_UNSIGNED_INT16: {Kind: texture.Uint, Bits: 16},
	driver.CU_AD_FORMAT_UNSIGNED_INT32: {Kind: texture.Uint, Bits: 32},
	driver.CU_AD_FORMAT_SIGNED_INT8:    {Kind: texture.Sint, Bits: 8},
	driver.CU_AD_FORMAT_SIGNED_INT16:   {Kind: texture.Sint, Bits: 16},
	driver.CU_AD_FORMAT_SIGNED_INT32:   {Kind: texture.Sint, Bits: 32},
	driver.CU_AD_FORMAT_HALF:           {Kind: texture.Float, Bits: 16},
	driver.CU_AD_FORMAT_FLOAT:          {Kind: texture.Float, Bits: 32},
	driver.CU_AD_FORMAT_UNORM_INT8X1:   {Kind: texture.Unorm, Bits: 8, Channels: 1},
	driver.CU_AD_FORMAT_UNORM_INT8X2:   {Kind: texture.Unorm, Bits: 8, Channels: 2},
	driver.CU_AD_FORMAT_UNORM_INT8X4:   {Kind: texture.Unorm, Bits: 8, Channels: 4},
	driver.CU_AD_FORMAT_UNORM_INT16X1:  {Kind: texture.Unorm, Bits: 16, Channels: 1},
	driver.CU_AD_FORMAT_UNORM_INT16X2:  {Kind: texture.Unorm, Bits: 16, Channels: 2},
	driver.CU_AD_FORMAT_UNORM_INT16X4:  {Kind: texture.Unorm, Bits: 16, Channels: 4},
	driver.CU_AD_FORMAT_SNORM_INT8X1:   {Kind: texture.Snorm, Bits: 8, Channels: 1},
	driver.CU_AD_FORMAT_SNORM_INT8X2:   {Kind: texture.Snorm, Bits: 8, Channels: 2},
	driver.CU_AD_FORMAT_SNORM_INT8X4:   {Kind: texture.Snorm, Bits: 8, Channels: 4},
	driver.CU_AD_FORMAT_SNORM_INT16X1:  {Kind: texture.Snorm, Bits: 16, Channels: 1},
	driver.CU_AD_FORMAT_SNORM_INT16X2:  {Kind: texture.Snorm, Bits: 16, Channels: 2},
	driver.CU_AD_FORMAT_SNORM_INT16X4:  {Kind: texture.Snorm, Bits: 16, Channels: 4},

	driver.CU_AD_FORMAT_UNORM_INT_101010_2: {Kind: texture.Unorm, Bits: texture.Packed, Channels: 4},
}

// blockFormats are the block-compressed formats. Each has as many channels as the array has to be made with (recorded
// for BC1 and BC7; descriptions of CUarray_format).
var blockFormats = map[driver.CUarray_format]texture.Block{
	driver.CU_AD_FORMAT_BC1_UNORM:      texture.BC1,
	driver.CU_AD_FORMAT_BC1_UNORM_SRGB: texture.BC1,
	driver.CU_AD_FORMAT_BC2_UNORM:      texture.BC2,
	driver.CU_AD_FORMAT_BC2_UNORM_SRGB: texture.BC2,
	driver.CU_AD_FORMAT_BC3_UNORM:      texture.BC3,
	driver.CU_AD_FORMAT_BC3_UNORM_SRGB: texture.BC3,
	driver.CU_AD_FORMAT_BC4_UNORM:      texture.BC4,
	driver.CU_AD_FORMAT_BC4_SNORM:      texture.SignedBC4,
	driver.CU_AD_FORMAT_BC5_UNORM:      texture.BC5,
	driver.CU_AD_FORMAT_BC5_SNORM:      texture.SignedBC5,
	driver.CU_AD_FORMAT_BC6H_UF16:      texture.BC6H,
	driver.CU_AD_FORMAT_BC6H_SF16:      texture.SignedBC6H,
	driver.CU_AD_FORMAT_BC7_UNORM:      texture.BC7,
	driver.CU_AD_FORMAT_BC7_UNORM_SRGB: texture.BC7,
}

// blockFormatOf is the format of an array of blocks.
func blockFormatOf(f driver.CUarray_format) (texture.Format, bool) {
	b, ok := blockFormats[f]
	t := texture.BlockFormat(b)
	switch f {
	case driver.CU_AD_FORMAT_BC1_UNORM_SRGB, driver.CU_AD_FORMAT_BC2_UNORM_SRGB, driver.CU_AD_FORMAT_BC3_UNORM_SRGB,
		driver.CU_AD_FORMAT_BC7_UNORM_SRGB:
		t.SRGB = true
	}
	return t, ok
}

// videoFormat says whether a format is one of pictures, with planes or groups of texels.
func videoFormat(f driver.CUarray_format) bool {
	return f >= driver.CU_AD_FORMAT_P010 && f <= driver.CU_AD_FORMAT_Y410 || f == driver.CU_AD_FORMAT_NV12 ||
		f >= driver.CU_AD_FORMAT_Y416 && f <= driver.CU_AD_FORMAT_YUV444_16bit_SemiPlanar
}

// formatOf turns a format of texels into the texture unit's. Blocks are for arrays alone.
func (c *context) formatOf(f driver.CUarray_format, channels uint32) (texture.Format, driver.CUresult) {
	t, ok := elementFormats[f]
	switch {
	case ok && t.Channels != 0 && uint32(t.Channels) != channels, ok && channels != 1 && channels != 2 && channels != 4:
		return t, invalidValue
	case ok:
		t.Channels = uint8(channels)
		return t, success
	}
	return t, invalidValue
}

// arrayFlags are the flags of cuArray3DCreate that mean something here. CUDA_ARRAY3D_DEPTH_TEXTURE and
// CUDA_ARRAY3D_COLOR_ATTACHMENT are refused as on hardware (recorded); arrays that hardware encodes or decodes video in
// are ordinary ones otherwise.
const arrayFlags = driver.CUDA_ARRAY3D_LAYERED | driver.CUDA_ARRAY3D_SURFACE_LDST | driver.CUDA_ARRAY3D_CUBEMAP |
	driver.CUDA_ARRAY3D_TEXTURE_GATHER |
	driver.CUDA_ARRAY3D_SPARSE | driver.CUDA_ARRAY3D_DEFERRED_MAPPING | driver.CUDA_ARRAY3D_VIDEO_ENCODE_DECODE

// checkArray checks a descriptor (CUDA Driver API, cuArray3DCreate, table of extents).
func (c *context) checkArray(d *driver.CUDA_ARRAY3D_DESCRIPTOR) (texture.Format, driver.CUresult) {
	const sparseSurface = driver.CUDA_ARRAY3D_SPARSE | driver.CUDA_ARRAY3D_SURFACE_LDST // not together (recorded)
	if d.Width == 0 || d.Flags&^uint32(arrayFlags) != 0 || d.Flags&sparseSurface == sparseSurface {
		return texture.Format{}, invalidValue
	}
	// without the flag no array has such a format (recorded for NV12)
	if videoFormat(d.Format) && d.Flags&driver.CUDA_ARRAY3D_VIDEO_ENCODE_DECODE != 0 {
		c.d.explain(c, "arrays of format %d (video) are not supported", d.Format)
		return texture.Format{}, notSupported
	}
	f, blocks := blockFormatOf(d.Format)
	if !blocks {
		var r driver.CUresult
		if f, r = c.formatOf(d.Format, d.NumChannels); r != success {
			return f, r
		}
	} else if d.NumChannels != uint32(f.Channels) || d.Height == 0 || d.Flags&driver.CUDA_ARRAY3D_SURFACE_LDST != 0 {
		return f, invalidValue // a block has rows, and no texel of it can be written by itself (not recorded)
	}
	if d.Flags&driver.CUDA_ARRAY3D_SPARSE != 0 {
		c.d.explain(c, "sparse arrays are not supported")
		return f, notSupported
	}
	layered, cube := d.Flags&driver.CUDA_ARRAY3D_LAYERED != 0, d.Flags&driver.CUDA_ARRAY3D_CUBEMAP != 0
	limit := func(v uint64, attr driver.CUdevice_attribute) bool { return v <= uint64(c.dev.attribute(attr)) }
	surface := d.Flags&driver.CUDA_ARRAY3D_SURFACE_LDST != 0
	within := func(tex, surf [3]driver.CUdevice_attribute) bool {
		for i, v := range [3]uint64{d.Width, d.Height, d.Depth} {
			if tex[i] != 0 && !limit(v, tex[i]) || surface && surf[i] != 0 && !limit(v, surf[i]) {
				return false
			}
		}
		return true
	}
	type attrs = [3]driver.CUdevice_attribute
	ok := true
	switch {
	case cube:
		ok = d.Width == d.Height && d.Depth != 0 && d.Depth%6 == 0 && (layered || d.Depth == 6)
		if layered {
			ok = ok && within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 0,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS},
				attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 0,
					driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS})
		} else {
			ok = ok && within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH},
				attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH})
		}
	case layered && d.Height == 0:
		ok = d.Depth != 0 && within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 0,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
			attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 0,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS})
	case layered:
		ok = d.Depth != 0 && within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
			attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS})
	case d.Depth != 0:
		ok = d.Height != 0 && (within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
			attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH}) ||
			!surface && within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE}, attrs{}))
	case d.Height != 0:
		ok = within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
			driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT},
			attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT})
	default:
		ok = within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
			attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH})
	}
	if d.Flags&driver.CUDA_ARRAY3D_TEXTURE_GATHER != 0 {
		ok = ok && d.Height != 0 && d.Depth == 0 &&
			within(attrs{driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
				driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT}, attrs{})
	}
	if !ok {
		return f, invalidValue
	}
	return f, success
}

// place lays an array of the descriptor's size at an address, which is 0 to learn the size.
func (a *array) place(c *context, f texture.Format, base uint64) {
	d := &a.desc
	a.ctx, a.format = c, f
	row := f.Units(d.Width) * f.Size()
	a.level = texture.Level{Width: uint32(d.Width), Height: uint32(max(d.Height, 1)), Depth: uint32(max(d.Depth, 1)),
		Row: row, Slice: row * f.Units(max(d.Height, 1))}
	a.size = a.level.Slice * uint64(a.level.Depth)
	if base != 0 {
		a.level.Data = c.d.memory.w.Ptr(base)
	}
}

// rows is how many rows of texels, or of blocks, a slice of the array has.
func (a *array) rows() uint64 { return a.format.Units(uint64(a.level.Height)) }

// base is the address of an array's memory.
func (a *array) base() uint64 { return uint64(uintptr(a.level.Data)) }

// image is what the texture unit sees of an array.
func (a *array) image() texture.Image {
	im := texture.Image{Format: a.format, Dims: 3, Levels: []texture.Level{a.level},
		Layered: a.desc.Flags&driver.CUDA_ARRAY3D_LAYERED != 0, Cube: a.desc.Flags&driver.CUDA_ARRAY3D_CUBEMAP != 0}
	switch {
	case im.Cube:
		im.Dims = 2
	case a.desc.Height == 0:
		im.Dims = 1
	case im.Layered || a.desc.Depth == 0:
		im.Dims = 2
	}
	return im
}

func (m *mipmap) image() texture.Image {
	im := m.levels[0].image()
	im.Levels = nil
	for _, a := range m.levels {
		im.Levels = append(im.Levels, a.level)
	}
	return im
}

// array resolves a handle. One that was destroyed is told apart, as the driver does (recorded for cuArrayDestroy).
func (d *Driver) array(h driver.CUarray) (*array, driver.CUresult) {
	if a := d.tex.arrays.get(uintptr(h)); a != nil {
		return a, success
	}
	if d.tex.arrays.was(uintptr(h)) {
		return nil, destroyed
	}
	return nil, badHandle
}

func (d *Driver) mipmap(h driver.CUmipmappedArray) (*mipmap, driver.CUresult) {
	if m := d.tex.mipmaps.get(uintptr(h)); m != nil {
		return m, success
	}
	if d.tex.mipmaps.was(uintptr(h)) {
		return nil, destroyed
	}
	return nil, badHandle
}

// arrayAlign is the alignment of array memory (CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT on an H200).
const arrayAlign = 512

func (d *Driver) array3DCreate(cur driver.CUcontext, out *driver.CUarray,
	desc *driver.CUDA_ARRAY3D_DESCRIPTOR) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || desc == nil {
		return invalidValue
	}
	f, r := c.checkArray(desc)
	if r != success {
		return r
	}
	a := &array{desc: *desc}
	a.place(c, f, 0)
	base, later, r := c.arrayMemory(desc.Flags, a.size, a.laidOut())
	if r != success {
		return r
	}
	a.place(c, f, base)
	a.later = later
	if a.handle = driver.CUarray(d.tex.arrays.add(a)); a.handle == 0 {
		_ = c.release(a)
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = a.handle
	return success
}

func (d *Driver) arrayCreate(cur driver.CUcontext, out *driver.CUarray,
	desc *driver.CUDA_ARRAY_DESCRIPTOR) driver.CUresult {
	if desc == nil {
		return d.array3DCreate(cur, out, nil)
	}
	return d.array3DCreate(cur, out, &driver.CUDA_ARRAY3D_DESCRIPTOR{Width: desc.Width, Height: desc.Height,
		Format: desc.Format, NumChannels: desc.NumChannels})
}

func (d *Driver) array3DGetDescriptor(_ driver.CUcontext, out *driver.CUDA_ARRAY3D_DESCRIPTOR,
	h driver.CUarray) driver.CUresult {
	a, r := d.array(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = a.desc
	return success
}

func (d *Driver) arrayGetDescriptor(_ driver.CUcontext, out *driver.CUDA_ARRAY_DESCRIPTOR,
	h driver.CUarray) driver.CUresult {
	a, r := d.array(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = driver.CUDA_ARRAY_DESCRIPTOR{Width: a.desc.Width, Height: a.desc.Height, Format: a.desc.Format,
		NumChannels: a.desc.NumChannels}
	return success
}

// release gives array memory back after the work that may use it.
func (c *context) release(a *array) driver.CUresult {
	c.wait()
	if r := c.fault(); r != success {
		return r
	}
	if a.later != nil {
		a.later.close()
		return success
	}
	_ = c.dev.heap.Free(a.base()) // allocated for the array
	return success
}

func (d *Driver) arrayDestroy(_ driver.CUcontext, h driver.CUarray) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	a, r := d.array(h)
	if r != success {
		return r
	}
	if d.tex.arrays.remove(uintptr(h)) == nil {
		return destroyed
	}
	if a.mip != nil {
		return success // the memory is the mipmap's; the level can be asked for again (recorded: success)
	}
	return a.ctx.release(a)
}

func (d *Driver) mipmappedArrayCreate(cur driver.CUcontext, out *driver.CUmipmappedArray,
	desc *driver.CUDA_ARRAY3D_DESCRIPTOR, levels uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || desc == nil {
		return invalidValue
	}
	f, r := c.checkArray(desc)
	if r != success {
		return r
	}
	m := newMipmap(c, f, desc, levels)
	base, later, r := c.arrayMemory(desc.Flags, m.size, m.hardware)
	if r != success {
		return r
	}
	return d.addMipmap(out, m, base, later)
}

// newMipmap lays the levels of a mipmapped array out, whose descriptor was checked.
func newMipmap(c *context, f texture.Format, desc *driver.CUDA_ARRAY3D_DESCRIPTOR, levels uint32) *mipmap {
	volume := desc.Depth != 0 && desc.Flags&(driver.CUDA_ARRAY3D_LAYERED|driver.CUDA_ARRAY3D_CUBEMAP) == 0
	longest := max(desc.Width, desc.Height)
	if volume {
		longest = max(longest, desc.Depth)
	}
	// The number of levels is cut to the possible ones (CUDA Driver API, cuMipmappedArrayCreate).
	n := int(min(max(uint64(levels), 1), uint64(bits.Len64(longest))))
	m := &mipmap{ctx: c, desc: *desc, levels: make([]*array, n), format: f, offsets: make([]uint64, n)}
	for i := range m.levels {
		a := &array{desc: *desc, mip: m}
		half := func(v uint64) uint64 {
			if v == 0 {
				return 0
			}
			return max(v>>i, 1)
		}
		a.desc.Width, a.desc.Height = half(desc.Width), half(desc.Height)
		if volume {
			a.desc.Depth = half(desc.Depth)
		}
		a.place(c, f, 0)
		m.offsets[i] = m.size
		m.size += (a.size + arrayAlign - 1) &^ (arrayAlign - 1)
		m.hardware += a.laidOut()
		m.levels[i] = a
	}
	return m
}

// addMipmap gives a mipmapped array its memory and its handles.
func (d *Driver) addMipmap(out *driver.CUmipmappedArray, m *mipmap, base uint64, later *deferred) driver.CUresult {
	for i, a := range m.levels {
		a.place(m.ctx, m.format, base+m.offsets[i])
		a.later = later
		a.handle = driver.CUarray(d.tex.arrays.add(a))
	}
	m.handle = driver.CUmipmappedArray(d.tex.mipmaps.add(m))
	if m.handle == 0 || m.levels[len(m.levels)-1].handle == 0 {
		d.forgetMipmap(m)
		_ = m.ctx.release(m.levels[0])
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = m.handle
	return success
}

func (d *Driver) forgetMipmap(m *mipmap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.levels {
		d.tex.arrays.remove(uintptr(a.handle))
	}
	d.tex.mipmaps.remove(uintptr(m.handle))
}

func (d *Driver) mipmappedArrayGetLevel(_ driver.CUcontext, out *driver.CUarray, h driver.CUmipmappedArray,
	level uint32) driver.CUresult {
	m, r := d.mipmap(h)
	if r != success {
		return r
	}
	if out == nil || uint64(level) >= uint64(len(m.levels)) {
		return invalidValue
	}
	a := m.levels[level]
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.tex.arrays.get(uintptr(a.handle)) == nil { // somebody destroyed it
		if a.handle = driver.CUarray(d.tex.arrays.add(a)); a.handle == 0 {
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		}
	}
	*out = a.handle
	return success
}

func (d *Driver) mipmappedArrayDestroy(_ driver.CUcontext, h driver.CUmipmappedArray) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	m, r := d.mipmap(h)
	if r != success {
		return r
	}
	d.forgetMipmap(m)
	return m.ctx.release(m.levels[0])
}

// forgetArrays drops the handles of a context's arrays; their memory goes with that of the context.
func (d *Driver) forgetArrays(c *context) {
	for _, a := range d.tex.arrays.all() {
		if a.ctx == c {
			d.tex.arrays.remove(uintptr(a.handle))
			if a.later != nil && a.mip == nil {
				a.later.close()
			}
		}
	}
	for _, m := range d.tex.mipmaps.all() {
		if m.ctx == c {
			d.tex.mipmaps.remove(uintptr(m.handle))
			if later := m.levels[0].later; later != nil {
				later.close()
			}
		}
	}
}

// Sparse properties belong to arrays with CUDA_ARRAY3D_SPARSE, which cannot be made here.

func (d *Driver) arrayGetSparseProperties(driver.CUcontext, *driver.CUDA_ARRAY_SPARSE_PROPERTIES,
	driver.CUarray) driver.CUresult {
	return invalidValue
}

func (d *Driver) mipmappedArrayGetSparseProperties(driver.CUcontext, *driver.CUDA_ARRAY_SPARSE_PROPERTIES,
	driver.CUmipmappedArray) driver.CUresult {
	return invalidValue
}

func (d *Driver) arrayGetPlane(_ driver.CUcontext, _ *driver.CUarray, h driver.CUarray, _ uint32) driver.CUresult {
	if _, r := d.array(h); r != success {
		return r
	}
	return invalidValue // only arrays of video formats have planes, and there are none
}

// textureState is what a context keeps for textures and surfaces.
type textureState struct {
	mu       sync.Mutex
	objects  sync.Map // CUtexObject -> *textureObject
	surfaces sync.Map // CUsurfObject -> *surfaceObject
	lastTex  uint64
	lastSurf uint64
	refs     map[uint64]*texref // by the address that kernels see
	surfrefs map[uint64]*surfref
	unit     *textureUnit // of the references as they stand; nil after a change
	retired  []retiredObject
}
