package interp

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/texture"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// unit is a texture unit of three handles and of module variables.
type unit struct {
	textures map[uint64]*texture.Texture
	samplers map[uint64]*texture.Sampler
	surfaces map[uint64]*texture.Surface
}

func (u *unit) Texture(h uint64) *texture.Texture { return u.textures[h] }
func (u *unit) Sampler(h uint64) *texture.Sampler { return u.samplers[h] }
func (u *unit) Surface(h uint64) *texture.Surface { return u.surfaces[h] }

// Addresses of the module variables t, s and b in the tests below.
const texAddr, surfAddr, sampAddr = 0x1000, 0x2000, 0x3000

// onUnit runs the body of a kernel with n threads; %rd1 holds the address of its output of size bytes, %tid.x is in
// %r0.
func onUnit(t *testing.T, u *unit, target, decl, body string, n uint32, size int) ([]byte, error) {
	t.Helper()
	src := ".version 9.0\n.target sm_90" + target + "\n.address_size 64\n" + decl + `
.visible .entry k(.param .u64 p) {
.reg .b64 %rd<12>; .reg .b32 %r<32>; .reg .b16 %h<12>; .reg .f32 %f<12>; .reg .pred %p<5>;
ld.param.u64 %rd1, [p];
mov.u32 %r0, %tid.x;
` + body + "\nret;\n}\n"
	code, cm, err := compile(src, "k", 90)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	out, buf := b.alloc(t, size)
	for i := range buf {
		buf[i] = 0xa5
	}
	addr := map[string]uint64{"t": texAddr, "s": surfAddr, "b": sampAddr}
	vars := map[*check.Var]uint64{}
	for _, v := range cm.Vars {
		vars[v] = addr[v.Name]
	}
	l := &exec.Launch{
		Code: code, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{n, 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, out), Mem: &b.mem, Texture: u,
		Sys: silent{}, Stack: 1024, Workers: 1, Consts: exec.NewConstRows(code.Kernel(), func(c *ir.ConstRow) uint64 {
			return vars[c.Var]
		}),
	}
	return buf, exec.Run(l)
}

func words32(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func floats(v ...float32) []uint32 {
	out := make([]uint32, len(v))
	for i := range v {
		out[i] = math.Float32bits(v[i])
	}
	return out
}

// ramp is an image of w x h x d texels of one float32 channel that count from 0.
func ramp(w, h, d uint32) texture.Image {
	data := make([]float32, w*h*d)
	for i := range data {
		data[i] = float32(i)
	}
	im := texture.Image{Format: texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, Dims: 2,
		Levels: []texture.Level{{Data: unsafe.Pointer(&data[0]), Width: w, Height: h, Depth: d, Row: uint64(4 * w),
			Slice: uint64(4 * w * h)}}}
	if d > 1 {
		im.Dims = 3
	}
	return im
}

// TestTextureForms runs the operand forms of tex, tld4, txq and istypep; expectations follow from PTX ISA 9.7.10 for an
// image whose texels count up.
func TestTextureForms(t *testing.T) {
	flat := ramp(8, 4, 1)
	deep := ramp(4, 4, 4)
	layered := ramp(4, 4, 3)
	layered.Dims, layered.Layered = 2, true
	clamp := [3]texture.AddressMode{texture.Clamp, texture.Clamp, texture.Clamp}
	point := texture.Sampler{Address: clamp}
	linear := texture.Sampler{Address: clamp, Linear: true}
	ints := flat
	ints.Format = texture.Format{Kind: texture.Sint, Bits: 32, Channels: 1}
	u := &unit{
		textures: map[uint64]*texture.Texture{1: {Image: flat, Sampler: point}, 2: {Image: deep, Sampler: point},
			3: {Image: layered, Sampler: linear},
			4: {Image: flat, Sampler: linear}, 5: {Image: ints, Sampler: point}, texAddr: {Image: flat, Sampler: point},
			6: {Image: flat, Sampler: texture.Sampler{Address: clamp, Normalized: true}}},
		samplers: map[uint64]*texture.Sampler{sampAddr: {Address: clamp, Linear: true, Normalized: true}},
	}
	const xy = "cvt.rn.f32.u32 %f0,%r0; add.f32 %f0,%f0,0f3F000000; mov.f32 %f1,0f3FC00000;\n" // (tid + 0.5, 1.5)
	const out1 = "\nmul.wide.u32 %rd8,%r0,4; add.u64 %rd8,%rd8,%rd1; st.global.b32 [%rd8],%f4;"
	const out4 = "\nst.global.v4.b32 [%rd1],{%f4,%f5,%f6,%f7};"
	for _, c := range []struct {
		name, target, body string
		n                  uint32
		want               []uint32
	}{
		{"2d", "", xy + "mov.u64 %rd2,1; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}];" + out1, 4,
			floats(8, 9, 10, 11)},
		{"missing channels", "", xy + "mov.u64 %rd2,1; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}];" + out4, 1,
			floats(8, 0, 0, 0)},
		{"integer coordinates", "", "mov.u64 %rd2,1; mov.u32 %r1,2; tex.2d.v4.f32.s32 {%f4,%f5,%f6,%f7},[%rd2,{%r0,%r1}];" + out1, 4, floats(16, 17, 18, 19)},
		{"offset", "", xy + "mov.u64 %rd2,1; mov.u32 %r1,1; mov.u32 %r2,-1; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}],{%r1,%r2};" + out1, 4, floats(1, 2, 3, 4)},
		{"reference", "", xy + "tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[t,{%f0,%f1}];" + out1, 4, floats(8, 9, 10, 11)},
		{"address of a reference", "", xy + "mov.u64 %rd2,t; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}];" +
			out1, 4, floats(8, 9, 10, 11)},
		{"sampler", ", texmode_independent", "mov.f32 %f0,0f3E800000; mov.f32 %f1,0f3E000000; mov.u64 %rd2,6; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,b,{%f0,%f1}];" + out1, 1, floats(1.5)},
		{"reference and sampler", ", texmode_independent",
			xy + "tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[t,b,{%f0,%f1}];" + out1, 4, floats(8, 9, 10, 11)},
		{"3d", "", xy + "mov.u64 %rd2,2; tex.3d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1,%f1,%f1}];" + out1, 4,
			floats(20, 21, 22, 23)},
		{"layer", "", xy + "mov.u64 %rd2,3; mov.u32 %r1,7; tex.a2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%r1,%f0,%f1,%f1}];" + out1, 4, floats(36, 37, 38, 39)},
		{"level", "", xy + "mov.u64 %rd2,1; tex.level.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}],%f1;" + out1, 4,
			floats(8, 9, 10, 11)},
		{"grad", "", xy + "mov.u64 %rd2,1; tex.grad.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}],{%f0,%f0},{%f1,%f1};" + out1, 4, floats(8, 9, 10, 11)},
		{"linear", "", xy + "mov.u64 %rd2,4; add.f32 %f0,%f0,0f3E800000; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}];" + out1, 4, floats(8.25, 9.25, 10.25, 11.25)},
		{"gather", "", xy + "mov.u64 %rd2,1; add.f32 %f0,%f0,0f3E800000; tld4.r.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}];" + out4, 1, floats(16, 17, 9, 8)},
		{"compare", "", xy + "mov.u64 %rd2,1; mov.f32 %f9,0f41100000; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7},[%rd2,{%f0,%f1}],%f9;" + out1, 4, floats(0, 1, 1, 1)},
		{"resident", "", xy + "mov.u64 %rd2,1; tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7}|%p1,[%rd2,{%f0,%f1}]; selp.b32 %f4,%f4,0,%p1;" + out1, 4, floats(8, 9, 10, 11)},
		{"halves", "", xy + "mov.u64 %rd2,1; tex.2d.v4.f16.f32 {%h1,%h2,%h3,%h4},[%rd2,{%f0,%f1}]; cvt.f32.f16 %f4,%h1; cvt.f32.f16 %f7,%h4; add.f32 %f4,%f4,%f7;" + out1, 4, floats(8, 9, 10, 11)},
		{"packed halves", "", xy + "mov.u64 %rd2,1; tex.2d.v2.f16x2.f32 {%r4,%r5},[%rd2,{%f0,%f1}]; st.global.v2.b32 [%rd1],{%r4,%r5};", 1, []uint32{0x4800, 0}},
		{"query", "", "mov.u64 %rd2,1; txq.width.b32 %r1,[%rd2]; txq.height.b32 %r2,[%rd2]; txq.channel_order.b32 %r3,[%rd2]; txq.filter_mode.b32 %r4,[%rd2]; st.global.v4.b32 [%rd1],{%r1,%r2,%r3,%r4};", 1,
			[]uint32{8, 4, 0x10b0, 0}},
		{"query of a sampler", "", "mov.u64 %rd2,4; txq.addr_mode_0.b32 %r1,[%rd2]; txq.filter_mode.b32 %r2,[%rd2]; txq.normalized_coords.b32 %r3,[%rd2]; mov.u64 %rd2,3; txq.array_size.b32 %r4,[%rd2]; st.global.v4.b32 [%rd1],{%r1,%r2,%r3,%r4};", 1,
			[]uint32{3, 1, 0, 3}},
		{"istypep", "", "mov.u64 %rd2,t; istypep.texref %p1,%rd2; istypep.surfref %p2,%rd2; selp.u32 %r1,1,0,%p1; selp.u32 %r2,1,0,%p2; st.global.v2.b32 [%rd1],{%r1,%r2};", 1, []uint32{1, 0}},
		// A channel that the format lacks reads as 0, the fourth too (recorded:
		// internal/exec/texture/testdata/rules.json.gz).
		{"integers", "", xy + "mov.u64 %rd2,5; tex.2d.v4.s32.f32 {%r4,%r5,%r6,%r7},[%rd2,{%f0,%f1}]; st.global.v4.b32 [%rd1],{%r4,%r5,%r6,%r7};", 1, []uint32{math.Float32bits(8), 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			decl := ".global .texref t;"
			if c.target != "" {
				decl += ".global .samplerref b;"
			}
			got, err := onUnit(t, u, c.target, decl, c.body, c.n, 4*len(c.want))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range words32(got) {
				if v != c.want[i] {
					t.Errorf("word %d is %#x (%v), want %#x", i, v, math.Float32frombits(v), c.want[i])
				}
			}
		})
	}
}

// TestSurfaceForms runs suld, sust, sured and suq; expectations follow from PTX ISA 9.7.11.
func TestSurfaceForms(t *testing.T) {
	for _, c := range []struct {
		name, body string
		n          uint32
		format     texture.Format
		out        []uint32        // what the kernel stores
		image      map[int]uint32  // words of the surface that change, by index
		fault      *exec.FaultKind // or how it ends
	}{
		{name: "load", body: "shl.b32 %r1,%r0,2; mov.u32 %r2,1; suld.b.2d.b32.trap {%r4},[%rd2,{%r1,%r2}]; mul.wide.u32 %rd8,%r0,4; add.u64 %rd8,%rd8,%rd1; st.global.b32 [%rd8],%r4;", n: 4,
			out: []uint32{108, 109, 110, 111}},
		{name: "vector", body: "mov.u32 %r1,16; mov.u32 %r2,0; suld.b.2d.v4.b32.trap {%r4,%r5,%r6,%r7},[%rd2,{%r1,%r2}]; st.global.v4.b32 [%rd1],{%r4,%r5,%r6,%r7};", n: 1, out: []uint32{104, 105, 106, 107}},
		{name: "bytes", body: "mov.u32 %r1,4; mov.u32 %r2,0; suld.b.2d.b8.trap {%h1},[%rd2,{%r1,%r2}]; cvt.u32.u16 %r4,%h1; st.global.b32 [%rd1],%r4;", n: 1, out: []uint32{101}},
		{name: "zero", body: "mov.u32 %r1,32; mov.u32 %r2,0; suld.b.2d.b32.zero {%r4},[%rd2,{%r1,%r2}]; st.global.b32 [%rd1],%r4;", n: 1, out: []uint32{0}},
		{name: "clamp", body: "mov.u32 %r1,400; mov.u32 %r2,-3; suld.b.2d.b32.clamp {%r4},[%rd2,{%r1,%r2}]; st.global.b32 [%rd1],%r4;", n: 1, out: []uint32{107}},
		{name: "trap", body: "mov.u32 %r1,32; mov.u32 %r2,0; suld.b.2d.b32.trap {%r4},[%rd2,{%r1,%r2}]; st.global.b32 [%rd1],%r4;", n: 1, fault: faultKind(exec.FaultTrap)},
		{name: "store", body: "shl.b32 %r1,%r0,2; mov.u32 %r2,2; sust.b.2d.b32.trap [s,{%r1,%r2}],{%r0};", n: 3,
			image: map[int]uint32{16: 0, 17: 1, 18: 2}},
		{name: "store outside", body: "mov.u32 %r1,64; mov.u32 %r2,2; sust.b.2d.b32.zero [s,{%r1,%r2}],{%r0};", n: 1},
		{name: "formatted", body: "mov.u32 %r2,3; cvt.rn.f32.u32 %f1,%r0; mul.f32 %f1,%f1,0f3F000000; sust.p.2d.v4.b32.trap [s,{%r0,%r2}],{%f1,%f1,%f1,%f1};", n: 3,
			format: texture.Format{Kind: texture.Unorm, Bits: 8, Channels: 4},
			image:  map[int]uint32{24: 0, 25: 0x80808080, 26: 0xffffffff}},
		{name: "reduce", body: "mov.u32 %r1,4; mov.u32 %r2,0; sured.b.add.2d.u32.trap [%rd2,{%r1,%r2}],%r0;", n: 32,
			image: map[int]uint32{1: 101 + 496}},
		{name: "reduce signed", body: "mov.u32 %r1,1; mov.u32 %r2,0; sub.u32 %r0,%r0,8; sured.p.min.2d.b32.trap [%rd2,{%r1,%r2}],%r0;", n: 16, format: texture.Format{Kind: texture.Sint, Bits: 32, Channels: 1},
			image: map[int]uint32{1: 0xfffffff8}},
		{name: "query", body: "suq.width.b32 %r1,[s]; suq.height.b32 %r2,[s]; suq.depth.b32 %r3,[s]; suq.channel_data_type.b32 %r4,[s]; st.global.v4.b32 [%rd1],{%r1,%r2,%r3,%r4};", n: 1, out: []uint32{8, 4, 0, 0x10dc}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := make([]uint32, 32)
			for i := range data {
				data[i] = uint32(100 + i)
			}
			f := c.format
			if f.Bits == 0 {
				f = texture.Format{Kind: texture.Uint, Bits: 32, Channels: 1}
			}
			surf := &texture.Surface{Image: texture.Image{Format: f, Dims: 2,
				Levels: []texture.Level{{Data: unsafe.Pointer(&data[0]), Width: 8, Height: 4, Depth: 1, Row: 32,
					Slice: 128}}}}
			u := &unit{surfaces: map[uint64]*texture.Surface{6: surf, surfAddr: surf}}
			got, err := onUnit(t, u, "", ".global .surfref s;", "mov.u64 %rd2,6;\n"+c.body, c.n, max(4*len(c.out), 16))
			if c.fault != nil {
				var fault *exec.Fault
				if !errors.As(err, &fault) || fault.Kind != *c.fault {
					t.Fatalf("%v, want %v", err, *c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range c.out {
				if g := words32(got)[i]; g != v {
					t.Errorf("word %d is %#x, want %#x", i, g, v)
				}
			}
			for i, v := range data {
				want, ok := c.image[i]
				if !ok {
					want = uint32(100 + i)
				}
				if v != want {
					t.Errorf("texel %d is %#x, want %#x", i, v, want)
				}
			}
		})
	}
}

func faultKind(k exec.FaultKind) *exec.FaultKind { return &k }
