package softdev

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// textureObject is a texture object with the descriptors that it was made of.
type textureObject struct {
	texture  texture.Texture
	resource driver.CUDA_RESOURCE_DESC
	desc     driver.CUDA_TEXTURE_DESC
	view     *driver.CUDA_RESOURCE_VIEW_DESC
	gone     atomic.Bool // destroyed, and there for kernels on their way
}

// resourceImage is the image behind a resource descriptor.
func (c *context) resourceImage(r *driver.CUDA_RESOURCE_DESC) (texture.Image, driver.CUresult) {
	var none texture.Image
	if r.Flags != 0 {
		return none, invalidValue
	}
	switch r.ResType {
	case driver.CU_RESOURCE_TYPE_ARRAY:
		a, res := c.d.array(r.Res.Array().HArray)
		if res != success {
			return none, invalidValue // recorded for a NULL handle
		}
		return a.image(), success
	case driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		m, res := c.d.mipmap(r.Res.Mipmap().HMipmappedArray)
		if res != success {
			return none, invalidValue
		}
		return m.image(), success
	case driver.CU_RESOURCE_TYPE_LINEAR:
		l := r.Res.Linear()
		return c.linearImage(l.DevPtr, l.Format, l.NumChannels, l.SizeInBytes)
	case driver.CU_RESOURCE_TYPE_PITCH2D:
		l := r.Res.Pitch2D()
		return c.pitchedImage(l.DevPtr, l.Format, l.NumChannels, l.Width, l.Height, l.PitchInBytes)
	}
	return none, invalidValue
}

// texelMemory is what there is of n bytes for texels at an address. An image may go beyond its allocation, which the
// driver does not look at (recorded); what is there ends with the allocation.
func (m *memory) texelMemory(p driver.CUdeviceptr, n uint64) (at unsafe.Pointer, have uint64, ok bool) {
	if at, ok := m.device(p, n); ok {
		return at, n, true
	}
	r, _, ok := m.find(p)
	if !ok {
		return nil, 0, false
	}
	have = r.End() - uint64(p)
	at, ok = m.device(p, have)
	return at, have, ok
}

// linearOf is an image of plain memory of so many rows. One without texels has a texel of zeros, so that there is
// something to read.
func linearOf(f texture.Format, dims uint8, at unsafe.Pointer, w, h, row uint64) texture.Image {
	l := texture.Level{Data: at, Width: uint32(w), Height: uint32(h), Depth: 1, Row: row, Slice: row * h}
	if w == 0 || h == 0 {
		l = texture.Level{Data: unsafe.Pointer(new([4]uint32)), Width: 1, Height: 1, Depth: 1, Row: 16, Slice: 16}
	}
	return texture.Image{Format: f, Dims: dims, Linear: true, Levels: []texture.Level{l}}
}

// linearImage is device memory as a row of texels.
func (c *context) linearImage(p driver.CUdeviceptr, format driver.CUarray_format, channels uint32,
	size uint64) (texture.Image, driver.CUresult) {
	f, r := c.formatOf(format, channels)
	if r != success {
		return texture.Image{}, r
	}
	n := size / f.Size()
	if p == 0 || uint64(p)%uint64(c.dev.attribute(driver.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)) != 0 ||
		n > min(1<<30, (1<<32)/f.Size()) {
		return texture.Image{}, invalidValue
	}
	at, have, ok := c.d.memory.texelMemory(p, size)
	if !ok {
		return texture.Image{}, invalidValue
	}
	return linearOf(f, 1, at, have/f.Size(), 1, have), success
}

// pitchedImage is device memory as rows of texels.
func (c *context) pitchedImage(p driver.CUdeviceptr, format driver.CUarray_format, channels uint32, w, h,
	pitch uint64) (texture.Image, driver.CUresult) {
	f, r := c.formatOf(format, channels)
	if r != success {
		return texture.Image{}, r
	}
	attr := func(id driver.CUdevice_attribute) uint64 { return uint64(c.dev.attribute(id)) }
	switch {
	case p == 0, uint64(p)%attr(driver.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) != 0,
		pitch%attr(driver.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) != 0,
		pitch == 0, w > attr(driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
		h > attr(driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
		pitch > attr(driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH):
		return texture.Image{}, invalidValue
	}
	row := w * f.Size() // may be longer than the pitch (recorded)
	at, have, ok := c.d.memory.texelMemory(p, pitch*(max(h, 1)-1)+row)
	switch {
	case !ok:
		return texture.Image{}, invalidValue
	case have < row:
		h = 0
	default:
		h = min(h, (have-row)/pitch+1)
	}
	return linearOf(f, 2, at, w, h, pitch), success
}

// viewFormats are the formats of resource views in the order of CUresourceViewFormat, from CU_RES_VIEW_FORMAT_UINT_1X8.
var viewFormats = func() (out []texture.Format) {
	for _, group := range []texture.Format{{Kind: texture.Uint, Bits: 8}, {Kind: texture.Sint, Bits: 8},
		{Kind: texture.Uint, Bits: 16}, {Kind: texture.Sint, Bits: 16},
		{Kind: texture.Uint, Bits: 32}, {Kind: texture.Sint, Bits: 32}, {Kind: texture.Float, Bits: 16},
		{Kind: texture.Float, Bits: 32}} {
		for _, n := range []uint8{1, 2, 4} {
			group.Channels = n
			out = append(out, group)
		}
	}
	return out
}()

// viewBlocks are the block-compressed formats of views, from CU_RES_VIEW_FORMAT_UNSIGNED_BC1 on.
var viewBlocks = []texture.Block{texture.BC1, texture.BC2, texture.BC3, texture.BC4, texture.SignedBC4, texture.BC5,
	texture.SignedBC5, texture.BC6H, texture.SignedBC6H, texture.BC7}

// asBlocks takes the texels of an image for blocks: they have to be as large, of words of 32 bits without a sign
// (CUDA_RESOURCE_VIEW_DESC).
func asBlocks(im *texture.Image, b texture.Block) bool {
	f := texture.BlockFormat(b)
	if im.Format.Kind != texture.Uint || im.Format.Bits != 32 || im.Format.Size() != f.Size() || im.Dims == 1 {
		return false
	}
	im.Format, im.Levels = f, slices.Clone(im.Levels)
	for i := range im.Levels {
		im.Levels[i].Width *= 4
		im.Levels[i].Height *= 4
	}
	return true
}

// applyView narrows an image to a view.
func (c *context) applyView(im *texture.Image, v *driver.CUDA_RESOURCE_VIEW_DESC) driver.CUresult {
	if im.Linear {
		return invalidValue
	}
	var f texture.Format
	switch {
	case v.Format == driver.CU_RES_VIEW_FORMAT_NONE:
		return invalidValue // recorded: a view has a format
	case im.Format.Block != texture.NoBlock && v.Format < driver.CU_RES_VIEW_FORMAT_UNSIGNED_BC1:
		return invalidValue // not recorded
	case int(v.Format) <= len(viewFormats):
		f = viewFormats[v.Format-1]
	case v.Format > driver.CU_RES_VIEW_FORMAT_UNSIGNED_BC7:
		return invalidValue
	default:
		b := viewBlocks[v.Format-driver.CU_RES_VIEW_FORMAT_UNSIGNED_BC1]
		if im.Format.Block != b && !asBlocks(im, b) {
			return invalidValue
		}
		f = im.Format
	}
	l := &im.Levels[0]
	deep := uint64(l.Depth)
	if im.Dims < 3 && !im.Layered && !im.Cube {
		deep = 0
	}
	last, layers := uint64(v.LastMipmapLevel), uint64(l.Depth)
	if f.Size() != im.Format.Size() || v.Width != uint64(l.Width) ||
		v.Height != uint64(l.Height) && (im.Dims > 1 || v.Height > 1) ||
		v.Depth != deep && !im.Layered && !im.Cube || v.FirstMipmapLevel > v.LastMipmapLevel ||
		last >= uint64(len(im.Levels)) {
		return invalidValue
	}
	im.Format = f
	im.Levels = append([]texture.Level(nil), im.Levels[v.FirstMipmapLevel:last+1]...)
	if im.Layered || im.Cube {
		if v.FirstLayer > v.LastLayer || uint64(v.LastLayer) >= layers ||
			im.Cube && (v.LastLayer-v.FirstLayer+1)%6 != 0 {
			return invalidValue
		}
		for i := range im.Levels {
			l := &im.Levels[i]
			l.Data = unsafe.Add(l.Data, uint64(v.FirstLayer)*l.Slice)
			l.Depth = v.LastLayer - v.FirstLayer + 1
		}
	}
	return success
}

// textureFlags are the flags of textures.
const textureFlags = driver.CU_TRSF_READ_AS_INTEGER | driver.CU_TRSF_NORMALIZED_COORDINATES | driver.CU_TRSF_SRGB |
	driver.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | driver.CU_TRSF_SEAMLESS_CUBEMAP

// samplerOf turns a texture descriptor into a sampler.
func samplerOf(d *driver.CUDA_TEXTURE_DESC) (texture.Sampler, driver.CUresult) {
	s := texture.Sampler{
		Linear:     d.FilterMode == driver.CU_TR_FILTER_MODE_LINEAR,
		MipLinear:  d.MipmapFilterMode == driver.CU_TR_FILTER_MODE_LINEAR,
		Normalized: d.Flags&driver.CU_TRSF_NORMALIZED_COORDINATES != 0,
		Integer:    d.Flags&driver.CU_TRSF_READ_AS_INTEGER != 0,
		SRGB:       d.Flags&driver.CU_TRSF_SRGB != 0, Seamless: d.Flags&driver.CU_TRSF_SEAMLESS_CUBEMAP != 0,
		Bias: d.MipmapLevelBias, MinLevel: d.MinMipmapLevelClamp, MaxLevel: d.MaxMipmapLevelClamp,
		Anisotropy: min(max(d.MaxAnisotropy, 1), 16), Border: d.BorderColor,
	}
	for i, m := range d.AddressMode {
		if m > driver.CU_TR_ADDRESS_MODE_BORDER {
			return s, invalidValue
		}
		s.Address[i] = texture.AddressMode(m)
	}
	if d.FilterMode > driver.CU_TR_FILTER_MODE_LINEAR || d.MipmapFilterMode > driver.CU_TR_FILTER_MODE_LINEAR ||
		d.Flags&^uint32(textureFlags) != 0 {
		return s, invalidValue
	}
	return s, success
}

func (d *Driver) texObjectCreate(cur driver.CUcontext, out *driver.CUtexObject, res *driver.CUDA_RESOURCE_DESC,
	desc *driver.CUDA_TEXTURE_DESC, view *driver.CUDA_RESOURCE_VIEW_DESC) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || res == nil || desc == nil {
		return invalidValue
	}
	o := &textureObject{resource: *res, desc: *desc}
	im, r := c.resourceImage(res)
	if r != success {
		return r
	}
	if desc.Flags&driver.CU_TRSF_SEAMLESS_CUBEMAP != 0 && !im.Cube {
		return invalidValue // recorded
	}
	if view != nil {
		if r := c.applyView(&im, view); r != success {
			if view.Format == driver.CU_RES_VIEW_FORMAT_NONE {
				*out = 0 // recorded, and for no other failure
			}
			return r
		}
		v := *view
		o.view = &v
	}
	s, r := samplerOf(desc)
	if r != success {
		return r
	}
	o.texture = texture.Texture{Image: im, Sampler: s}
	o.desc.BorderColor = [4]float32{} // cuTexObjectGetTextureDesc does not give it back (recorded)
	c.tex.mu.Lock()
	c.tex.lastTex++
	h := c.tex.lastTex
	c.tex.mu.Unlock()
	c.tex.objects.Store(h, o)
	*out = driver.CUtexObject(h)
	return success
}

func (d *Driver) texObjectDestroy(cur driver.CUcontext, h driver.CUtexObject) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if h == 0 {
		return success // recorded
	}
	if o, ok := c.tex.objects.Load(uint64(h)); !ok || !o.(*textureObject).gone.CompareAndSwap(false, true) {
		return invalidValue
	}
	c.retire(&c.tex.objects, uint64(h))
	return success
}

// retiredObject is a texture or surface object that was destroyed while kernels that may use it were on their way.
type retiredObject struct {
	from   *sync.Map
	handle uint64
	until  []point
}

// retire takes an object out of its table when the work that was given to the context before has ended: programs
// destroy objects right after the asynchronous launch that uses them (FFmpeg's filters do), and kernels find the object
// as a GPU finds its descriptor.
func (c *context) retire(from *sync.Map, handle uint64) {
	until := c.tails(nil)
	t := &c.tex
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired = append(t.retired, retiredObject{from, handle, until})
	t.retired = slices.DeleteFunc(t.retired, func(r retiredObject) bool {
		for _, p := range r.until {
			if !p.reached() {
				return false
			}
		}
		r.from.Delete(r.handle)
		return true
	})
}

func (d *Driver) texObject(cur driver.CUcontext, h driver.CUtexObject) (*textureObject, driver.CUresult) {
	c, r := d.enter(cur)
	if r != success {
		return nil, r
	}
	v, ok := c.tex.objects.Load(uint64(h))
	if !ok {
		return nil, invalidValue
	}
	o := v.(*textureObject)
	if o.gone.Load() {
		return nil, invalidValue
	}
	return o, success
}

func (d *Driver) texObjectGetResourceDesc(cur driver.CUcontext, out *driver.CUDA_RESOURCE_DESC,
	h driver.CUtexObject) driver.CUresult {
	o, r := d.texObject(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = o.resource
	return success
}

func (d *Driver) texObjectGetTextureDesc(cur driver.CUcontext, out *driver.CUDA_TEXTURE_DESC,
	h driver.CUtexObject) driver.CUresult {
	o, r := d.texObject(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = o.desc
	return success
}

func (d *Driver) texObjectGetResourceViewDesc(cur driver.CUcontext, out *driver.CUDA_RESOURCE_VIEW_DESC,
	h driver.CUtexObject) driver.CUresult {
	o, r := d.texObject(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	if o.view != nil { // of an object without one nothing is written (recorded)
		*out = *o.view
	}
	return success
}

func (d *Driver) textureObjectTable(t *driver.Table) {
	t.TexObjectCreate = d.texObjectCreate
	t.TexObjectDestroy = d.texObjectDestroy
	t.TexObjectGetResourceDesc = d.texObjectGetResourceDesc
	t.TexObjectGetTextureDesc = d.texObjectGetTextureDesc
	t.TexObjectGetResourceViewDesc = d.texObjectGetResourceViewDesc
	t.SurfObjectCreate = d.surfObjectCreate
	t.SurfObjectDestroy = d.surfObjectDestroy
	t.SurfObjectGetResourceDesc = d.surfObjectGetResourceDesc
}

// textureUnit serves the launches of a context: texture and surface objects as they are at the time of the access,
// references as they were bound at the launch.
type textureUnit struct {
	state    *textureState
	textures map[uint64]*texture.Texture
	samplers map[uint64]*texture.Sampler
	surfaces map[uint64]*texture.Surface
}

// Texture implements exec.TextureUnit.
func (u *textureUnit) Texture(h uint64) *texture.Texture {
	if o, ok := u.state.objects.Load(h); ok {
		return &o.(*textureObject).texture
	}
	return u.textures[h]
}

// Sampler implements exec.TextureUnit.
func (u *textureUnit) Sampler(h uint64) *texture.Sampler { return u.samplers[h] }

// Surface implements exec.TextureUnit.
func (u *textureUnit) Surface(h uint64) *texture.Surface {
	if o, ok := u.state.surfaces.Load(h); ok {
		return &o.(*surfaceObject).surface
	}
	return u.surfaces[h]
}
