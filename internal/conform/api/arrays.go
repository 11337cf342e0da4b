package api

import (
	"github.com/gocuda/cuda/internal/driver"
)

// textures has texture and surface references, and a kernel that reads one.
const textures = head + `
.visible .global .texref tex0;
.visible .global .surfref surf0;
.visible .entry fetch(.param .u64 p) { .reg .b64 %rd<3>; .reg .f32 %f<5>; .reg .s32 %r<2>; ld.param.u64 %rd1,[p]; mov.s32 %r1,1; tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4},[tex0,{%r1}]; st.global.f32 [%rd1],%f1; ret; }
`

func (e *Env) array(width, height, depth int, format driver.CUarray_format, channels, flags int) driver.CUarray {
	var a driver.CUarray
	d := &driver.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(width), Height: uint64(height), Depth: uint64(depth),
		Format: format, NumChannels: uint32(channels), Flags: uint32(flags)}
	e.Must("cuArray3DCreate_v2", &a, in{"array", d})
	return a
}

func arrayCases(c *cases) {
	var (
		a driver.CUarray
		m driver.CUmipmappedArray
		o driver.CUtexObject
		s driver.CUsurfObject
	)
	float := driver.CU_AD_FORMAT_FLOAT
	try := func(name string, d driver.CUDA_ARRAY3D_DESCRIPTOR) {
		c.add("array/create/"+name, func(e *Env) {
			if e.Do("cuArray3DCreate_v2", &a, in{name, &d}) == driver.CUDA_SUCCESS {
				e.Do("cuArray3DGetDescriptor_v2", fields{new(driver.CUDA_ARRAY3D_DESCRIPTOR)}, a)
				e.Do("cuArrayGetDescriptor_v2", fields{new(driver.CUDA_ARRAY_DESCRIPTOR)}, a)
				e.Do("cuArrayGetPlane", new(driver.CUarray), a, 0)
				e.Do("cuArrayGetPlane", new(driver.CUarray), a, 1)
				e.Do("cuArrayGetSparseProperties", fields{new(driver.CUDA_ARRAY_SPARSE_PROPERTIES)}, a)
				e.Do("cuArrayGetMemoryRequirements", fields{new(driver.CUDA_ARRAY_MEMORY_REQUIREMENTS)}, a, 0)
				e.Do("cuArrayDestroy", a)
			}
		})
	}
	type desc = driver.CUDA_ARRAY3D_DESCRIPTOR
	for _, f := range []int{0, 1, 2, 3, 8, 9, 10, 16, 32, 33, 0xb0, 0xc0, 0x91, 0x9d, 0x50, 0xff} {
		for _, n := range []int{1, 2, 3, 4} {
			try("format/"+itoa(f)+"/"+itoa(n), desc{Width: 64, Height: 64, Format: driver.CUarray_format(f),
				NumChannels: uint32(n)})
		}
	}
	for _, x := range [][3]int{{1, 0, 0}, {131072, 0, 0}, {131073, 0, 0}, {131072, 65536, 0}, {1, 65537, 0},
		{16384, 16384, 16384}, {64, 0, 64}, {0, 64, 0}, {0, 0, 0}, {64, 64, 1}} {
		// larger ones only show that memory has an end
		if uint64(x[0])*uint64(max(x[1], 1))*uint64(max(x[2], 1)) < 1<<30 {
			try("size/"+itoa(x[0])+"x"+itoa(x[1])+"x"+itoa(x[2]),
				desc{Width: uint64(x[0]), Height: uint64(x[1]), Depth: uint64(x[2]), Format: float, NumChannels: 1})
		}
	}
	for _, flags := range []int{1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x43, 0x42} {
		for _, depth := range []int{0, 1, 6, 12} {
			try("flags/"+itoa(flags)+"/"+itoa(depth),
				desc{Width: 64, Height: 64, Depth: uint64(depth), Format: float, NumChannels: 1, Flags: uint32(flags)})
		}
	}
	c.add("array/nulls", func(e *Env) {
		d := &desc{Width: 64, Format: float, NumChannels: 1}
		e.Do("cuArray3DCreate_v2", nil, in{"array", d})
		e.Do("cuArray3DCreate_v2", &a, nil)
		x := e.array(64, 0, 0, float, 1, 0)
		e.Do("cuArray3DGetDescriptor_v2", nil, x)
		e.Do("cuArrayGetDescriptor_v2", nil, x)
		e.Do("cuArrayGetPlane", nil, x, 0)
		e.Do("cuArrayGetSparseProperties", nil, x)
		e.Do("cuArrayGetMemoryRequirements", nil, x, 0)
		e.Do("cuArrayDestroy", x)
		e.Do("cuArrayDestroy", nil)
	})
	c.alone("array/destroyed", func(e *Env) {
		x := e.array(64, 0, 0, float, 1, 0)
		e.Do("cuArrayDestroy", x)
		e.Do("cuArrayDestroy", x)
	})
	for _, levels := range []int{0, 1, 5, 7, 8, 100} {
		c.add("array/mipmapped/"+itoa(levels), func(e *Env) {
			d := &desc{Width: 64, Height: 64, Format: float, NumChannels: 1}
			if e.Do("cuMipmappedArrayCreate", &m, in{"64x64", d}, levels) == driver.CUDA_SUCCESS {
				for _, l := range []int{0, 1, 6, 7} {
					if e.Do("cuMipmappedArrayGetLevel", &a, m, l) == driver.CUDA_SUCCESS {
						e.Do("cuArray3DGetDescriptor_v2", fields{new(driver.CUDA_ARRAY3D_DESCRIPTOR)}, a)
						e.Do("cuArrayDestroy", a)
					}
				}
				e.Do("cuMipmappedArrayGetSparseProperties", fields{new(driver.CUDA_ARRAY_SPARSE_PROPERTIES)}, m)
				e.Do("cuMipmappedArrayGetMemoryRequirements", fields{new(driver.CUDA_ARRAY_MEMORY_REQUIREMENTS)}, m, 0)
				e.Do("cuMipmappedArrayDestroy", m)
			}
		})
	}
	c.add("array/copy", func(e *Env) {
		x, y := e.array(64, 0, 0, float, 1, 0), e.array(64, 0, 0, float, 1, 0)
		d := e.alloc(4096)
		host := raw{"host", make([]byte, 512)}
		e.Must("cuMemsetD32_v2", d, 7, 64)
		e.Do("cuMemcpyDtoA_v2", x, 0, d, 256)
		e.Do("cuMemcpyDtoA_v2", x, 4, d, 256)
		e.Do("cuMemcpyDtoA_v2", x, 256, d, 0)
		e.Do("cuMemcpyAtoA_v2", y, 0, x, 0, 256)
		e.Do("cuMemcpyAtoA_v2", y, 128, x, 0, 256)
		e.Do("cuMemcpyAtoD_v2", d+1024, y, 0, 256)
		e.word(d + 1024 + 252)
		e.Do("cuMemcpyAtoH_v2", host, y, 0, 256)
		e.Do("cuMemcpyHtoA_v2", x, 0, host, 256)
		e.Do("cuMemcpyHtoAAsync_v2", x, 0, host, 256, nil)
		e.Do("cuMemcpyAtoHAsync_v2", host, x, 0, 512, nil)
		e.Do("cuMemcpyDtoA_v2", nil, 0, d, 256)
		e.Do("cuMemcpyDtoA_v2", x, 0, nil, 256)
		e.Do("cuCtxSynchronize")
		z := e.array(64, 64, 0, float, 1, 0)
		e.Do("cuMemcpyDtoA_v2", z, 0, d, 256)
	})
	texture := func(name string, edit func(e *Env, r *driver.CUDA_RESOURCE_DESC, t *driver.CUDA_TEXTURE_DESC,
		v *driver.CUDA_RESOURCE_VIEW_DESC) (view bool)) {
		c.add("texture/object/"+name, func(e *Env) {
			r, t, v := new(driver.CUDA_RESOURCE_DESC), new(driver.CUDA_TEXTURE_DESC),
				new(driver.CUDA_RESOURCE_VIEW_DESC)
			r.ResType = driver.CU_RESOURCE_TYPE_ARRAY
			r.Res.Array().HArray = e.array(64, 64, 0, float, 1, int(driver.CUDA_ARRAY3D_SURFACE_LDST))
			view := edit(e, r, t, v)
			var vp any
			if view {
				vp = in{"view", v}
			}
			if e.Do("cuTexObjectCreate", &o, in{"resource", r}, in{"texture", t}, vp) == driver.CUDA_SUCCESS {
				e.Do("cuTexObjectGetTextureDesc", fields{new(driver.CUDA_TEXTURE_DESC)}, o)
				e.Do("cuTexObjectGetResourceViewDesc", fields{new(driver.CUDA_RESOURCE_VIEW_DESC)}, o)
				e.Do("cuTexObjectGetResourceDesc", in{"&", new(driver.CUDA_RESOURCE_DESC)}, o)
				e.Do("cuTexObjectDestroy", o)
			}
			if e.Do("cuSurfObjectCreate", &s, in{"resource", r}) == driver.CUDA_SUCCESS {
				e.Do("cuSurfObjectGetResourceDesc", in{"&", new(driver.CUDA_RESOURCE_DESC)}, s)
				e.Do("cuSurfObjectDestroy", s)
			}
		})
	}
	type (
		res  = *driver.CUDA_RESOURCE_DESC
		tex  = *driver.CUDA_TEXTURE_DESC
		view = *driver.CUDA_RESOURCE_VIEW_DESC
	)
	texture("ok", func(*Env, res, tex, view) bool { return false })
	texture("array-null", func(_ *Env, r res, _ tex, _ view) bool { r.Res.Array().HArray = 0; return false })
	texture("resource-flags", func(_ *Env, r res, _ tex, _ view) bool { r.Flags = 1; return false })
	texture("resource-type", func(_ *Env, r res, _ tex, _ view) bool { r.ResType = 9; return false })
	for x := range 6 {
		texture("filter-"+itoa(x), func(_ *Env, _ res, t tex, _ view) bool {
			t.FilterMode = driver.CUfilter_mode(x)
			return false
		})
		texture("address-"+itoa(x), func(_ *Env, _ res, t tex, _ view) bool {
			t.AddressMode[0] = driver.CUaddress_mode(x)
			return false
		})
		texture("mip-filter-"+itoa(x), func(_ *Env, _ res, t tex, _ view) bool {
			t.MipmapFilterMode = driver.CUfilter_mode(x)
			return false
		})
	}
	for _, x := range []int{1, 2, 3, 16, 32, 64, 128} {
		texture("flags-"+itoa(x), func(_ *Env, _ res, t tex, _ view) bool { t.Flags = uint32(x); return false })
		texture("anisotropy-"+itoa(x), func(_ *Env, _ res, t tex, _ view) bool {
			t.MaxAnisotropy = uint32(x)
			return false
		})
	}
	texture("border", func(_ *Env, _ res, t tex, _ view) bool {
		t.AddressMode = [3]driver.CUaddress_mode{3, 3, 3}
		t.BorderColor = [4]float32{1, 2, 3, 4}
		return false
	})
	for _, f := range []int{0, 1, 20, 24, 32, 33, 34, 35, 46, 99} {
		texture("view/format-"+itoa(f), func(_ *Env, _ res, _ tex, v view) bool {
			*v = driver.CUDA_RESOURCE_VIEW_DESC{Format: driver.CUresourceViewFormat(f), Width: 64, Height: 64}
			return true
		})
	}
	for _, x := range [][3]int{{0, 0, 0}, {32, 64, 0}, {64, 64, 1}, {128, 64, 0}} {
		texture("view/size-"+itoa(x[0])+"x"+itoa(x[1])+"x"+itoa(x[2]), func(_ *Env, _ res, _ tex, v view) bool {
			*v = driver.CUDA_RESOURCE_VIEW_DESC{Format: driver.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: uint64(x[0]),
				Height: uint64(x[1]), Depth: uint64(x[2])}
			return true
		})
	}
	for _, x := range []struct {
		name string
		off  int
		size int
		n    int
	}{{"ok", 0, 1024, 1}, {"odd", 4, 1024, 1}, {"odd-32", 32, 1024, 1}, {"size-0", 0, 0, 1}, {"beyond", 0, 8192, 1},
		{"three-channels", 0, 1024, 3}} {
		texture("linear/"+x.name, func(e *Env, r res, _ tex, _ view) bool {
			r.ResType = driver.CU_RESOURCE_TYPE_LINEAR
			*r.Res.Linear() = driver.CUDA_RESOURCE_DESC_res_linear{DevPtr: e.alloc(4096) + driver.CUdeviceptr(x.off),
				Format: float, NumChannels: uint32(x.n), SizeInBytes: uint64(x.size)}
			return false
		})
	}
	for _, x := range []struct {
		name         string
		off, w, h    int
		pitch, count int
	}{{"ok", 0, 16, 4, 64, 1}, {"odd", 16, 16, 4, 64, 1}, {"pitch-odd", 0, 16, 4, 68, 1},
		{"pitch-short", 0, 32, 4, 64, 1}, {"width-0", 0, 0, 4, 64, 1}, {"beyond", 0, 16, 1000, 64, 1}} {
		texture("pitch2d/"+x.name, func(e *Env, r res, _ tex, _ view) bool {
			r.ResType = driver.CU_RESOURCE_TYPE_PITCH2D
			*r.Res.Pitch2D() = driver.CUDA_RESOURCE_DESC_res_pitch2D{DevPtr: e.alloc(4096) + driver.CUdeviceptr(x.off),
				Format: float, NumChannels: uint32(x.count), Width: uint64(x.w), Height: uint64(x.h),
				PitchInBytes: uint64(x.pitch)}
			return false
		})
	}
	c.add("texture/object/nulls", func(e *Env) {
		r := &driver.CUDA_RESOURCE_DESC{}
		r.Res.Array().HArray = e.array(64, 64, 0, float, 1, 0)
		t := &driver.CUDA_TEXTURE_DESC{}
		e.Do("cuTexObjectCreate", nil, in{"resource", r}, in{"texture", t}, nil)
		e.Do("cuTexObjectCreate", &o, nil, in{"texture", t}, nil)
		e.Do("cuTexObjectCreate", &o, in{"resource", r}, nil, nil)
		e.Do("cuSurfObjectCreate", &s, in{"resource", r})
		e.Do("cuSurfObjectCreate", nil, in{"resource", r})
		e.Do("cuSurfObjectCreate", &s, nil)
		e.Do("cuTexObjectDestroy", nil)
		e.Do("cuSurfObjectDestroy", nil)
		e.Must("cuTexObjectCreate", &o, in{"resource", r}, in{"texture", t}, nil)
		e.Do("cuTexObjectGetResourceDesc", nil, o)
		e.Do("cuTexObjectGetTextureDesc", nil, o)
		e.Do("cuTexObjectGetResourceViewDesc", nil, o)
	})
}

func referenceCases(c *cases) {
	var (
		t, none driver.CUtexref
		a       driver.CUarray
		p       driver.CUdeviceptr
		off     uint64
		i, j    int32
		u       uint32
		f, g    float32
		mode    driver.CUaddress_mode
		filter  driver.CUfilter_mode
		format  driver.CUarray_format
	)
	float := driver.CU_AD_FORMAT_FLOAT
	c.add("texture/reference/attributes", func(e *Env) {
		m := e.load(textures)
		e.Do("cuModuleGetTexRef", &none, m, "surf0")
		e.Do("cuModuleGetTexRef", &none, m, "none")
		e.Do("cuModuleGetTexRef", &none, m, nil)
		e.Do("cuModuleGetTexRef", nil, m, "tex0")
		e.Do("cuModuleGetTexRef", &t, m, "tex0")
		e.Do("cuTexRefGetFormat", &format, &i, t)
		e.Do("cuTexRefGetFlags", &u, t)
		e.Do("cuTexRefGetFilterMode", &filter, t)
		e.Do("cuTexRefGetAddressMode", &mode, t, 0)
		e.Do("cuTexRefGetAddressMode", &mode, t, 3)
		e.Do("cuTexRefGetMaxAnisotropy", &j, t)
		e.Do("cuTexRefGetMipmapFilterMode", &filter, t)
		e.Do("cuTexRefGetMipmapLevelBias", &f, t)
		e.Do("cuTexRefGetMipmapLevelClamp", &f, &g, t)
		e.Do("cuTexRefGetBorderColor", new([4]float32), t)
		e.Do("cuTexRefGetArray", &a, t)
		e.Do("cuTexRefGetAddress_v2", &p, t)
		for _, x := range []int{0, 1, 2, 3, 4, -1} {
			e.Do("cuTexRefSetFilterMode", t, x)
			e.Do("cuTexRefSetAddressMode", t, 0, x)
			e.Do("cuTexRefSetAddressMode", t, x, 0)
			e.Do("cuTexRefSetMipmapFilterMode", t, x)
			e.Do("cuTexRefSetMaxAnisotropy", t, x)
		}
		for _, x := range []int{0, 1, 2, 3, 4, 8, 16, 32, -1} {
			e.Do("cuTexRefSetFlags", t, x)
			e.Do("cuTexRefGetFlags", &u, t)
		}
		for _, x := range []int{1, 2, 3, 4, 0} {
			e.Do("cuTexRefSetFormat", t, 0x20, x)
			e.Do("cuTexRefGetFormat", &format, &i, t)
		}
		e.Do("cuTexRefSetFormat", t, 99, 1)
		e.Do("cuTexRefSetMipmapLevelBias", t, float32(1.5))
		e.Do("cuTexRefSetMipmapLevelClamp", t, float32(1), float32(2))
		e.Do("cuTexRefSetBorderColor", t, in{"1,2,3,4", &[]float32{1, 2, 3, 4}[0]})
		e.Do("cuTexRefGetMipmapLevelBias", &f, t)
		e.Do("cuTexRefGetMipmapLevelClamp", &f, &g, t)
		e.Do("cuTexRefGetBorderColor", new([4]float32), t)
	})
	c.add("texture/reference/bind", func(e *Env) {
		m := e.load(textures)
		e.Must("cuModuleGetTexRef", &t, m, "tex0")
		x := e.array(64, 0, 0, float, 1, 0)
		e.symbol(uint64(x), "CUarray")
		e.Do("cuTexRefSetArray", t, x, 0)
		e.Do("cuTexRefSetArray", t, x, 2)
		e.Do("cuTexRefSetArray", t, x, 1)
		e.Do("cuTexRefSetArray", t, nil, 1)
		e.Do("cuTexRefGetArray", &a, t)
		d := e.alloc(4096)
		e.Must("cuMemsetD32_v2", d, 0x3f800000, 1024)
		e.Do("cuTexRefSetFormat", t, int(float), 1)
		e.Do("cuTexRefSetAddress_v2", &off, t, d, 4096)
		e.Do("cuTexRefSetAddress_v2", &off, t, d+16, 1024)
		e.Do("cuTexRefSetAddress_v2", nil, t, d+16, 1024)
		e.Do("cuTexRefSetAddress_v2", nil, t, d, 4096)
		e.Do("cuTexRefSetAddress_v2", &off, t, d, 8192)
		e.Do("cuTexRefSetAddress_v2", &off, t, d, 0)
		e.Do("cuTexRefSetAddress_v2", &off, t, nil, 0)
		e.Do("cuTexRefSetAddress_v2", &off, t, d, 4096)
		e.Do("cuTexRefGetAddress_v2", &p, t)
		e.launch(e.function(m, "fetch"), 1, 1, params{d + 2048})
		e.Do("cuCtxSynchronize")
		e.word(d + 2048)
		two := &driver.CUDA_ARRAY_DESCRIPTOR{Width: 16, Height: 4, Format: float, NumChannels: 1}
		e.Do("cuTexRefSetAddress2D_v3", t, in{"16x4", two}, d, 64)
		e.Do("cuTexRefSetAddress2D_v3", t, in{"16x4", two}, d+4, 64)
		e.Do("cuTexRefSetAddress2D_v3", t, in{"16x4", two}, d, 68)
		e.Do("cuTexRefSetAddress2D_v3", t, in{"16x4", two}, d, 32)
		e.Do("cuTexRefSetAddress2D_v2", t, in{"16x4", two}, d, 64)
		e.Do("cuTexRefSetAddress2D_v3", t, nil, d, 64)
		e.Do("cuTexRefCreate", &none)
		e.Do("cuTexRefDestroy", none)
		e.Do("cuTexRefDestroy", t)
		e.Do("cuParamSetTexRef", e.function(m, "fetch"), -1, t)
		e.Do("cuParamSetTexRef", e.function(m, "fetch"), 0, t)
		var s driver.CUsurfref
		e.Do("cuModuleGetSurfRef", &s, m, "tex0")
		e.Do("cuModuleGetSurfRef", &s, m, "surf0")
		y := e.array(64, 0, 0, float, 1, int(driver.CUDA_ARRAY3D_SURFACE_LDST))
		e.symbol(uint64(y), "CUarray")
		e.Do("cuSurfRefSetArray", s, x, 0)
		e.Do("cuSurfRefSetArray", s, y, 0)
		e.Do("cuSurfRefSetArray", s, y, 1)
		e.Do("cuSurfRefGetArray", &a, s)
	})
	c.add("texture/reference/old-launch", func(e *Env) {
		m := e.load(basic)
		k, d := e.function(m, "st2"), e.alloc(64)
		for _, x := range [][3]int{{1, 1, 1}, {0, 1, 1}, {1024, 1, 1}, {1025, 1, 1}, {-1, 1, 1}, {1, 1, 65}} {
			e.Do("cuFuncSetBlockShape", k, x[0], x[1], x[2])
		}
		e.Do("cuFuncSetBlockShape", k, 1, 1, 1)
		e.Do("cuFuncSetSharedSize", k, 16384)
		e.Do("cuFuncSetSharedSize", k, 1<<20)
		e.Do("cuFuncSetSharedSize", k, 0)
		for _, x := range []int{0, 40, 4096, 4097, -1} {
			e.Do("cuParamSetSize", k, x)
		}
		e.Do("cuParamSetSize", k, 40)
		e.Do("cuParamSetv", k, 0, in{"address", &d}, 8)
		e.Do("cuParamSeti", k, 8, 77)
		e.Do("cuParamSeti", k, 4096, 77)
		e.Do("cuParamSeti", k, -4, 77)
		e.Do("cuParamSetf", k, 16, float32(1.5))
		e.Do("cuParamSetv", k, 16, nil, 8)
		e.Do("cuLaunch", k)
		e.Do("cuCtxSynchronize")
		e.word(d)
		for _, x := range [][2]int{{1, 1}, {0, 1}, {65536, 65536}, {-1, 1}} {
			e.Do("cuLaunchGrid", k, x[0], x[1])
			e.Do("cuLaunchGridAsync", k, x[0], x[1], nil)
		}
		e.Do("cuCtxSynchronize")
	})
}
