package softdev

import (
	"maps"
	"math"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/texture"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// texref is a texture reference (deprecated since CUDA 12.0): a module's .texref variable, or one of cuTexRefCreate.
type texref struct {
	ctx    *context
	mod    *module // nil for one that cuTexRefCreate made
	handle driver.CUtexref

	mu       sync.Mutex
	format   driver.CUarray_format
	channels uint32
	desc     driver.CUDA_TEXTURE_DESC
	bound    driver.CUDA_RESOURCE_DESC
	has      bool // something is bound
	image    texture.Image
	address  driver.CUdeviceptr // of linear memory, as given
}

// surfref is a module's .surfref variable.
type surfref struct {
	ctx    *context
	mod    *module
	handle driver.CUsurfref

	mu    sync.Mutex
	array driver.CUarray
	image texture.Image
}

// opaqueVars are the texture, sampler and surface variables of a program. What kernels see as their addresses are
// numbers that lead to no memory, like those of functions.
type opaqueVars struct {
	vars []*check.Var
	addr map[*check.Var]uint64
}

// refer gives a variable its number.
func (p *program) refer(v *check.Var) {
	const distance = 256
	if p.opaques.addr == nil {
		p.opaques.addr = map[*check.Var]uint64{}
	}
	p.opaques.vars = append(p.opaques.vars, v)
	p.opaques.addr[v] = p.d.codeEnd.Add(distance) - distance
}

// opaqueKind is texref, samplerref or surfref.
func opaqueKind(v *check.Var) string {
	if v.Space == "tex" {
		return "texref"
	}
	return v.Decl.Type
}

func (p *program) opaqueNamed(name, kind string) *check.Var {
	for _, v := range p.opaques.vars {
		if v.Name == name && opaqueKind(v) == kind {
			return v
		}
	}
	return nil
}

// changed makes the next launch see new bindings.
func (s *textureState) changed() {
	s.mu.Lock()
	s.unit = nil
	s.mu.Unlock()
}

// textures is the texture unit as the bindings of references stand now.
func (c *context) textures() *textureUnit {
	s := &c.tex
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unit != nil {
		return s.unit
	}
	u := &textureUnit{state: s, textures: map[uint64]*texture.Texture{}, samplers: map[uint64]*texture.Sampler{},
		surfaces: map[uint64]*texture.Surface{}}
	for addr, t := range s.refs {
		if t.mod.unloaded() {
			delete(s.refs, addr)
			continue
		}
		if x, ok := t.texture(); ok {
			u.textures[addr] = x
		}
	}
	for addr, t := range s.surfrefs {
		if t.mod.unloaded() {
			delete(s.surfrefs, addr)
			continue
		}
		if x := t.surface(); x != nil {
			u.surfaces[addr] = x
		}
	}
	for _, m := range c.loaded() {
		for _, v := range m.prog.opaques.vars {
			if opaqueKind(v) == "samplerref" {
				u.samplers[m.prog.opaques.addr[v]] = samplerVariable(v)
			}
		}
	}
	s.unit = u
	return u
}

// surface is what the reference is bound to, nil when it is to nothing.
func (t *surfref) surface() *texture.Surface {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.array == 0 {
		return nil
	}
	return &texture.Surface{Image: t.image}
}

func (m *module) unloaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

// samplerVariable reads the initialiser of a .samplerref (PTX ISA 5.3.2): wrap and nearest where it says nothing.
func samplerVariable(v *check.Var) *texture.Sampler {
	s := &texture.Sampler{Normalized: true}
	list, ok := v.Decl.Init.(*ptx.InitList)
	if !ok {
		return s
	}
	modes := map[string]texture.AddressMode{"wrap": texture.Wrap, "mirror": texture.Mirror, "clamp_ogl": texture.Clamp,
		"clamp_to_edge": texture.Clamp, "clamp_to_border": texture.Border}
	for _, e := range list.Elems {
		f, ok := e.(*ptx.InitField)
		if !ok {
			continue
		}
		word := ""
		if id, ok := f.X.(*ptx.Ident); ok {
			word = id.Name
		}
		switch f.Name {
		case "addr_mode_0", "addr_mode_1", "addr_mode_2":
			s.Address[f.Name[len(f.Name)-1]-'0'] = modes[word]
		case "filter_mode":
			s.Linear = word == "linear"
		case "force_unnormalized_coords":
			if n, ok := f.X.(*ptx.Int); ok && n.Value != 0 {
				s.Normalized = false
			}
		}
	}
	return s
}

// texture is what a fetch through the reference reads.
func (t *texref) texture() (*texture.Texture, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.has {
		return nil, false
	}
	desc := t.desc
	for i, m := range desc.AddressMode {
		if m > driver.CU_TR_ADDRESS_MODE_BORDER {
			// the calls take any number (recorded); what a fetch makes of it is not
			desc.AddressMode[i] = driver.CU_TR_ADDRESS_MODE_CLAMP
		}
	}
	if desc.FilterMode > driver.CU_TR_FILTER_MODE_LINEAR {
		desc.FilterMode = driver.CU_TR_FILTER_MODE_POINT
	}
	desc.Flags &= textureFlags
	s, r := samplerOf(&desc)
	return &texture.Texture{Image: t.image, Sampler: s}, r == success
}

func (d *Driver) newTexref(c *context, m *module) *texref {
	t := &texref{ctx: c, mod: m, format: driver.CU_AD_FORMAT_FLOAT, channels: 1} // this and the address modes: recorded
	for i := range t.desc.AddressMode {
		t.desc.AddressMode[i] = driver.CU_TR_ADDRESS_MODE_CLAMP
	}
	t.handle = driver.CUtexref(d.tex.texrefs.add(t))
	return t
}

func (d *Driver) moduleGetTexRef(_ driver.CUcontext, out *driver.CUtexref, h driver.CUmodule,
	name *byte) driver.CUresult {
	m, r := d.module(h)
	if r != success {
		return r
	}
	if out == nil || name == nil || *name == 0 {
		return invalidValue
	}
	v := m.prog.opaqueNamed(driver.String(name), "texref")
	if v == nil {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	addr := m.prog.opaques.addr[v]
	s := &m.ctx.tex
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.refs[addr]
	if t == nil {
		if t = d.newTexref(m.ctx, m); t.handle == 0 {
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		}
		if s.refs == nil {
			s.refs = map[uint64]*texref{}
		}
		s.refs[addr] = t
	}
	*out = t.handle
	return success
}

func (d *Driver) moduleGetSurfRef(_ driver.CUcontext, out *driver.CUsurfref, h driver.CUmodule,
	name *byte) driver.CUresult {
	m, r := d.module(h)
	if r != success {
		return r
	}
	if out == nil || name == nil || *name == 0 {
		return invalidValue
	}
	v := m.prog.opaqueNamed(driver.String(name), "surfref")
	if v == nil {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	addr := m.prog.opaques.addr[v]
	s := &m.ctx.tex
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.surfrefs[addr]
	if t == nil {
		t = &surfref{ctx: m.ctx, mod: m}
		if t.handle = driver.CUsurfref(d.tex.surfrefs.add(t)); t.handle == 0 {
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		}
		if s.surfrefs == nil {
			s.surfrefs = map[uint64]*surfref{}
		}
		s.surfrefs[addr] = t
	}
	*out = t.handle
	return success
}

// texref resolves a handle.
func (d *Driver) texref(h driver.CUtexref) (*texref, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	t := d.tex.texrefs.get(uintptr(h))
	if t == nil || t.mod != nil && t.mod.unloaded() {
		return nil, badHandle
	}
	return t, t.ctx.fault()
}

func (d *Driver) texRefCreate(cur driver.CUcontext, out *driver.CUtexref) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	t := d.newTexref(c, nil)
	if t.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = t.handle
	return success
}

func (d *Driver) texRefDestroy(_ driver.CUcontext, h driver.CUtexref) driver.CUresult {
	t, r := d.texref(h)
	if r != success {
		return r
	}
	d.tex.texrefs.remove(uintptr(h))
	if t.mod != nil { // one of a module can be asked for again
		t.ctx.tex.forget(t)
	}
	return success
}

// forget takes a reference away from what launches see.
func (s *textureState) forget(t *texref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.refs, func(_ uint64, x *texref) bool { return x == t })
	s.unit = nil
}

// changeTexref runs f on a reference and makes launches see it.
func (d *Driver) changeTexref(h driver.CUtexref, f func(t *texref) driver.CUresult) driver.CUresult {
	t, r := d.texref(h)
	if r != success {
		return r
	}
	if r = t.change(f); r == success {
		t.ctx.tex.changed()
	}
	return r
}

// look runs f on a reference.
func (d *Driver) lookTexref(h driver.CUtexref, f func(t *texref) driver.CUresult) driver.CUresult {
	t, r := d.texref(h)
	if r != success {
		return r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return f(t)
}

// put writes an output parameter.
func put[T any](out *T, v T) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	*out = v
	return success
}

// bind makes a resource the reference's.
func (t *texref) bind(res *driver.CUDA_RESOURCE_DESC, im texture.Image, address driver.CUdeviceptr) driver.CUresult {
	t.bound, t.image, t.address, t.has = *res, im, address, true
	return success
}

func (t *texref) setArray(d *Driver, h driver.CUarray, flags uint32) driver.CUresult {
	if flags&^uint32(driver.CU_TRSA_OVERRIDE_FORMAT) != 0 {
		return invalidValue
	}
	a, r := d.array(h)
	if r != success {
		return r
	}
	if flags&driver.CU_TRSA_OVERRIDE_FORMAT != 0 {
		t.format, t.channels = a.desc.Format, a.desc.NumChannels
	}
	var res driver.CUDA_RESOURCE_DESC
	res.ResType = driver.CU_RESOURCE_TYPE_ARRAY
	res.Res.Array().HArray = h
	return t.bind(&res, a.image(), 0)
}

func (t *texref) setMipmap(d *Driver, h driver.CUmipmappedArray, flags uint32) driver.CUresult {
	if flags&^uint32(driver.CU_TRSA_OVERRIDE_FORMAT) != 0 {
		return invalidValue
	}
	m, r := d.mipmap(h)
	if r != success {
		return r
	}
	if flags&driver.CU_TRSA_OVERRIDE_FORMAT != 0 {
		t.format, t.channels = m.desc.Format, m.desc.NumChannels
	}
	var res driver.CUDA_RESOURCE_DESC
	res.ResType = driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
	res.Res.Mipmap().HMipmappedArray = h
	return t.bind(&res, m.image(), 0)
}

// linear is linear memory as texels of the reference's format, which may be none: then there are none.
func (t *texref) linear(p driver.CUdeviceptr, size uint64) (texture.Image, driver.CUresult) {
	if _, r := t.ctx.formatOf(t.format, t.channels); r != success {
		return linearOf(texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, 1, nil, 0, 0, 0), success
	}
	return t.ctx.linearImage(p, t.format, t.channels, size)
}

// setAddress binds linear memory from the aligned address below p on; offset receives the distance in bytes. NULL binds
// nothing.
func (t *texref) setAddress(p driver.CUdeviceptr, n uint64, offset *uint64) driver.CUresult {
	align := driver.CUdeviceptr(t.ctx.dev.attribute(driver.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT))
	low := p % align
	if low != 0 && offset == nil {
		return invalidValue
	}
	if p == 0 && n == 0 {
		if offset != nil {
			*offset = 0
		}
		t.has, t.address = false, 0
		return success
	}
	im, r := t.linear(p-low, n+uint64(low))
	if r != success {
		return r
	}
	var res driver.CUDA_RESOURCE_DESC
	res.ResType = driver.CU_RESOURCE_TYPE_LINEAR
	*res.Res.Linear() = driver.CUDA_RESOURCE_DESC_res_linear{DevPtr: p - low, Format: t.format, NumChannels: t.channels,
		SizeInBytes: n + uint64(low)}
	if offset != nil {
		*offset = uint64(low)
	}
	return t.bind(&res, im, p)
}

// setFormat is also of the linear memory that is bound already: PyCUDA binds first, and what its tests read is of the
// later format.
func (t *texref) setFormat(f driver.CUarray_format, channels uint32) driver.CUresult {
	if channels > 4 || channels == 3 { // the format and no channels at all are taken as they are (recorded)
		return invalidValue
	}
	was, n := t.format, t.channels
	t.format, t.channels = f, channels
	if t.has && t.bound.ResType == driver.CU_RESOURCE_TYPE_LINEAR {
		l := t.bound.Res.Linear()
		im, r := t.linear(l.DevPtr, l.SizeInBytes)
		if r != success {
			t.format, t.channels = was, n
			return r
		}
		t.image, l.Format, l.NumChannels = im, f, channels
	}
	return success
}

func (t *texref) setAddress2D(desc *driver.CUDA_ARRAY_DESCRIPTOR, p driver.CUdeviceptr, pitch uint64) driver.CUresult {
	if desc == nil {
		return invalidValue
	}
	// recorded for the pitch, unlike objects
	if f, r := t.ctx.formatOf(desc.Format, desc.NumChannels); r != success || desc.Width == 0 || desc.Height == 0 ||
		pitch/f.Size() < desc.Width {
		return invalidValue
	}
	im, r := t.ctx.pitchedImage(p, desc.Format, desc.NumChannels, desc.Width, desc.Height, pitch)
	if r != success {
		return r
	}
	t.format, t.channels = desc.Format, desc.NumChannels
	var res driver.CUDA_RESOURCE_DESC
	res.ResType = driver.CU_RESOURCE_TYPE_PITCH2D
	*res.Res.Pitch2D() = driver.CUDA_RESOURCE_DESC_res_pitch2D{DevPtr: p, Format: desc.Format,
		NumChannels: desc.NumChannels, Width: desc.Width, Height: desc.Height, PitchInBytes: pitch}
	return t.bind(&res, im, p)
}

// surfref resolves a handle.
func (d *Driver) surfref(h driver.CUsurfref) (*surfref, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	s := d.tex.surfrefs.get(uintptr(h))
	if s == nil || s.mod.unloaded() {
		return nil, badHandle
	}
	return s, s.ctx.fault()
}

func (d *Driver) surfRefSetArray(_ driver.CUcontext, h driver.CUsurfref, array driver.CUarray,
	flags uint32) driver.CUresult {
	s, r := d.surfref(h)
	if r != success {
		return r
	}
	a, r := d.array(array)
	if r != success {
		return r
	}
	if flags != 0 || a.desc.Flags&driver.CUDA_ARRAY3D_SURFACE_LDST == 0 { // surface objects take any array
		return invalidValue
	}
	s.bind(array, a.image())
	s.ctx.tex.changed()
	return success
}

func (d *Driver) surfRefGetArray(_ driver.CUcontext, out *driver.CUarray, h driver.CUsurfref) driver.CUresult {
	s, r := d.surfref(h)
	if r != success {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.array == 0 {
		return invalidValue
	}
	return put(out, s.array)
}

// paramSetTexRef is cuParamSetTexRef: it asks that something is bound, whatever the unit (recorded for
// CU_PARAM_TR_DEFAULT and 0), and has nothing to do.
func (d *Driver) paramSetTexRef(cur driver.CUcontext, f driver.CUfunction, _ int32, h driver.CUtexref) driver.CUresult {
	if _, r := d.legacyFunction(cur, f); r != success {
		return r
	}
	return d.lookTexref(h, func(x *texref) driver.CUresult {
		if !x.has {
			return invalidValue
		}
		return success
	})
}

// textureReferenceTable fills the table with the functions of references.
func (d *Driver) textureReferenceTable(t *driver.Table) {
	type (
		ctx = driver.CUcontext
		ref = driver.CUtexref
		res = driver.CUresult
	)
	t.ModuleGetTexRef = d.moduleGetTexRef
	t.ModuleGetSurfRef = d.moduleGetSurfRef
	t.ParamSetTexRef = d.paramSetTexRef
	t.SurfRefSetArray = d.surfRefSetArray
	t.SurfRefGetArray = d.surfRefGetArray
	t.TexRefCreate = d.texRefCreate
	t.TexRefDestroy = d.texRefDestroy

	t.TexRefSetArray = func(_ ctx, h ref, a driver.CUarray, flags uint32) res {
		return d.changeTexref(h, func(x *texref) res { return x.setArray(d, a, flags) })
	}
	t.TexRefSetMipmappedArray = func(_ ctx, h ref, m driver.CUmipmappedArray, flags uint32) res {
		return d.changeTexref(h, func(x *texref) res { return x.setMipmap(d, m, flags) })
	}
	t.TexRefSetAddress_v2 = func(_ ctx, offset *uint64, h ref, p driver.CUdeviceptr, n uint64) res {
		return d.changeTexref(h, func(x *texref) res { return x.setAddress(p, n, offset) })
	}
	t.TexRefSetAddress2D_v3 = func(_ ctx, h ref, desc *driver.CUDA_ARRAY_DESCRIPTOR, p driver.CUdeviceptr,
		pitch uint64) res {
		return d.changeTexref(h, func(x *texref) res { return x.setAddress2D(desc, p, pitch) })
	}
	t.TexRefSetAddress2D_v2 = t.TexRefSetAddress2D_v3
	// First versions, with addresses and sizes of 32 bits (oldmemory.go).
	t.TexRefSetAddress = func(cur ctx, offset *uint32, h ref, p driver.CUdeviceptr_v1, n uint32) res {
		var at uint64
		r := t.TexRefSetAddress_v2(cur, &at, h, driver.CUdeviceptr(p), uint64(n))
		if offset != nil && r == success {
			*offset = uint32(at)
		}
		return r
	}
	t.TexRefSetAddress2D = func(cur ctx, h ref, desc *driver.CUDA_ARRAY_DESCRIPTOR_v1, p driver.CUdeviceptr_v1,
		pitch uint32) res {
		if desc == nil {
			return t.TexRefSetAddress2D_v3(cur, h, nil, driver.CUdeviceptr(p), uint64(pitch))
		}
		return t.TexRefSetAddress2D_v3(cur, h, &driver.CUDA_ARRAY_DESCRIPTOR{Width: uint64(desc.Width),
			Height: uint64(desc.Height), Format: desc.Format, NumChannels: desc.NumChannels},
			driver.CUdeviceptr(p), uint64(pitch))
	}
	t.TexRefGetAddress = func(cur ctx, out *driver.CUdeviceptr_v1, h ref) res {
		if out == nil {
			return t.TexRefGetAddress_v2(cur, nil, h)
		}
		var p driver.CUdeviceptr
		if r := t.TexRefGetAddress_v2(cur, &p, h); r != success {
			return r
		}
		return d.short(out, p, nil)
	}
	t.TexRefSetFormat = func(_ ctx, h ref, f driver.CUarray_format, channels int32) res {
		return d.changeTexref(h, func(x *texref) res {
			return x.setFormat(f, uint32(channels))
		})
	}
	t.TexRefSetAddressMode = func(_ ctx, h ref, dim int32, m driver.CUaddress_mode) res {
		return d.changeTexref(h, func(x *texref) res {
			if dim < 0 || dim > 2 {
				return invalidValue
			}
			x.desc.AddressMode[dim] = m
			return success
		})
	}
	filter := func(most driver.CUfilter_mode, field func(x *texref) *driver.CUfilter_mode) func(ctx, ref,
		driver.CUfilter_mode) res {
		return func(_ ctx, h ref, m driver.CUfilter_mode) res {
			return d.changeTexref(h, func(x *texref) res {
				if m > most {
					return invalidValue
				}
				*field(x) = m
				return success
			})
		}
	}
	// any is taken (recorded)
	t.TexRefSetFilterMode = filter(math.MaxUint32, func(x *texref) *driver.CUfilter_mode { return &x.desc.FilterMode })
	t.TexRefSetMipmapFilterMode = filter(driver.CU_TR_FILTER_MODE_LINEAR, func(x *texref) *driver.CUfilter_mode {
		return &x.desc.MipmapFilterMode
	})
	t.TexRefSetMipmapLevelBias = func(_ ctx, h ref, bias float32) res {
		return d.changeTexref(h, func(x *texref) res { x.desc.MipmapLevelBias = bias; return success })
	}
	t.TexRefSetMipmapLevelClamp = func(_ ctx, h ref, lo, hi float32) res {
		return d.changeTexref(h, func(x *texref) res {
			x.desc.MinMipmapLevelClamp, x.desc.MaxMipmapLevelClamp = lo, hi
			return success
		})
	}
	t.TexRefSetMaxAnisotropy = func(_ ctx, h ref, n uint32) res {
		return d.changeTexref(h, func(x *texref) res { x.desc.MaxAnisotropy = n; return success })
	}
	t.TexRefSetBorderColor = func(_ ctx, h ref, color *float32) res {
		return d.changeTexref(h, func(x *texref) res {
			if color == nil {
				return invalidValue
			}
			x.desc.BorderColor = *fourFloats(color)
			return success
		})
	}
	t.TexRefSetFlags = func(_ ctx, h ref, flags uint32) res {
		return d.changeTexref(h, func(x *texref) res {
			const taken = 1<<7 - 1 // those between the flags too (recorded for 4, 8 and -1)
			if flags&^taken != 0 {
				return invalidValue
			}
			x.desc.Flags = flags
			return success
		})
	}

	t.TexRefGetArray = func(_ ctx, out *driver.CUarray, h ref) res {
		return d.lookTexref(h, func(x *texref) res {
			if !x.has || x.bound.ResType != driver.CU_RESOURCE_TYPE_ARRAY {
				return invalidValue
			}
			return put(out, x.bound.Res.Array().HArray)
		})
	}
	t.TexRefGetMipmappedArray = func(_ ctx, out *driver.CUmipmappedArray, h ref) res {
		return d.lookTexref(h, func(x *texref) res {
			if !x.has || x.bound.ResType != driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY {
				return invalidValue
			}
			return put(out, x.bound.Res.Mipmap().HMipmappedArray)
		})
	}
	t.TexRefGetAddress_v2 = func(_ ctx, out *driver.CUdeviceptr, h ref) res {
		if out != nil {
			*out = 0 // whatever the result (recorded)
		}
		return d.lookTexref(h, func(x *texref) res {
			if x.address == 0 {
				return invalidValue
			}
			return put(out, x.address)
		})
	}
	t.TexRefGetFormat = func(_ ctx, f *driver.CUarray_format, channels *int32, h ref) res {
		return d.lookTexref(h, func(x *texref) res {
			if f == nil && channels == nil {
				return invalidValue
			}
			if f != nil {
				*f = x.format
			}
			if channels != nil {
				*channels = int32(x.channels)
			}
			return success
		})
	}
	t.TexRefGetAddressMode = func(_ ctx, out *driver.CUaddress_mode, h ref, dim int32) res {
		return d.lookTexref(h, func(x *texref) res {
			if dim < 0 || dim > 2 {
				return invalidValue
			}
			return put(out, x.desc.AddressMode[dim])
		})
	}
	t.TexRefGetFilterMode = func(_ ctx, out *driver.CUfilter_mode, h ref) res {
		return d.lookTexref(h, func(x *texref) res { return put(out, x.desc.FilterMode) })
	}
	t.TexRefGetMipmapFilterMode = func(_ ctx, out *driver.CUfilter_mode, h ref) res {
		return d.lookTexref(h, func(x *texref) res { return put(out, x.desc.MipmapFilterMode) })
	}
	t.TexRefGetMipmapLevelBias = func(_ ctx, out *float32, h ref) res {
		return d.lookTexref(h, func(x *texref) res { return put(out, x.desc.MipmapLevelBias) })
	}
	t.TexRefGetMipmapLevelClamp = func(_ ctx, lo, hi *float32, h ref) res {
		return d.lookTexref(h, func(x *texref) res {
			if lo == nil || hi == nil {
				return invalidValue
			}
			*lo, *hi = x.desc.MinMipmapLevelClamp, x.desc.MaxMipmapLevelClamp
			return success
		})
	}
	t.TexRefGetMaxAnisotropy = func(_ ctx, out *int32, h ref) res {
		return d.lookTexref(h, func(x *texref) res { return put(out, int32(x.desc.MaxAnisotropy)) })
	}
	t.TexRefGetBorderColor = func(_ ctx, out *float32, h ref) res {
		return d.lookTexref(h, func(x *texref) res {
			if out == nil {
				return invalidValue
			}
			*fourFloats(out) = x.desc.BorderColor
			return success
		})
	}
	t.TexRefGetFlags = func(_ ctx, out *uint32, h ref) res {
		return d.lookTexref(h, func(x *texref) res { return put(out, x.desc.Flags) })
	}
}

// fourFloats is the colour that a pointer of the border calls leads to.
func fourFloats(p *float32) *[4]float32 { return (*[4]float32)(unsafe.Pointer(p)) }

func (t *texref) change(f func(t *texref) driver.CUresult) driver.CUresult {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f(t)
}

func (t *surfref) bind(h driver.CUarray, im texture.Image) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.array, t.image = h, im
}
