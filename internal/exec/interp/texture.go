package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/texture"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// textureOps are the texture and surface instructions (PTX ISA 9.7.10, 9.7.11); package texture does the work of one
// fetch.
var textureOps = map[optab.Opcode]resolver{
	optab.OpTex: resolveTex, optab.OpTld4: resolveTex, optab.OpTxq: resolveTxq, optab.OpIstypep: resolveIstypep,
	optab.OpSuld: resolveSurfaceLoad, optab.OpSust: resolveSurfaceStore, optab.OpSured: resolveSurfaceReduce,
	optab.OpSuq: resolveSuq,
}

// reference is what stands first in the brackets, or the sampler behind it: a handle or the address of a module
// variable.
type reference struct {
	value *ir.Arg // nil: a kernel parameter at off
	off   uint64
}

func referenceOf(a *ir.Arg) reference {
	if a.Kind == ir.Addr {
		if a.Base == nil {
			return reference{off: uint64(a.Disp)}
		}
		return reference{value: a.Base, off: uint64(a.Disp)}
	}
	if a.Sym && a.Space == ir.KernelParam {
		return reference{off: a.Bits}
	}
	return reference{value: a}
}

func (r *reference) handle(w *exec.Warp, lane int) uint64 {
	if r.value != nil {
		return get(w, r.value, lane) + r.off
	}
	return *(*uint64)(w.Ptr(ir.KernelParam, lane, r.off, 8, 8, false))
}

// missing ends the kernel for a handle that nothing stands behind.
func missing(w *exec.Warp, lane int, what string, handle uint64) {
	w.ThrowAddr(exec.FaultAddress, lane, what, handle, 0, false)
}

func textureOf(w *exec.Warp, lane int, h uint64) *texture.Texture {
	w.Lane = lane
	if u := w.CTA.Launch.Texture; u != nil {
		if t := u.Texture(h); t != nil {
			return t
		}
	}
	missing(w, lane, "texture", h)
	return nil
}

func surfaceOf(w *exec.Warp, lane int, h uint64) *texture.Surface {
	w.Lane = lane
	if u := w.CTA.Launch.Texture; u != nil {
		if s := u.Surface(h); s != nil {
			return s
		}
	}
	missing(w, lane, "surface", h)
	return nil
}

// coords are the coordinate registers of an instruction by their meaning; nil where the geometry has none.
type coords struct {
	layer   *ir.Arg
	x, y, z *ir.Arg
}

// coordsOf sorts the coordinate vector. The API makes no images with several samples: every sample is the texel.
func coordsOf(op *ir.Op, v *ir.Arg) (c coords) {
	layer, first, n := op.Mods().Dim.Coordinates()
	for i, x := range []**ir.Arg{&c.x, &c.y, &c.z}[:n] {
		*x = &v.Elems[first+i]
	}
	if layer >= 0 {
		c.layer = &v.Elems[layer]
	}
	return c
}

// resultForm says how 32-bit results go into the destination.
type resultForm uint8

const (
	words      resultForm = iota
	halfWords             // .f16
	halfPaired            // .f16x2
)

func resolveTex(in *inst, op *ir.Op) error {
	d, a := op.Arg("d"), op.Arg("a")
	if a == nil || a.Kind != ir.Addr || len(a.Extra) == 0 || d == nil || d.Kind != ir.Vec {
		return unsupported(op)
	}
	ref := referenceOf(a)
	vec := &a.Extra[len(a.Extra)-1]
	if vec.Kind != ir.Vec || a.Space == ir.FrameParam { // a reference passed to a function by its own type
		return unsupported(op)
	}
	var sampler *reference
	if len(a.Extra) == 2 {
		s := referenceOf(&a.Extra[0])
		sampler = &s
	}
	c := coordsOf(op, vec)
	proto := texture.Fetch{Gather: op.Opcode() == optab.OpTld4}
	switch {
	case proto.Gather:
		proto.Comp = uint8(op.Mods().Component - optab.ComponentRed)
	default:
		proto.Integer = op.Type(1) == optab.S32
	}
	lod, dx, dy, off, ref32 := op.Arg("lod"), op.Arg("x"), op.Arg("y"), op.Arg("e"), op.Arg("f")
	switch {
	case op.Mods().Level:
		proto.Lod = texture.Explicit
	case op.Mods().Gradient:
		proto.Lod = texture.Grad
	}
	proto.Compare = ref32 != nil
	if off != nil && off.Kind != ir.Vec {
		return unsupported(op)
	}
	to := words
	switch op.Type(0) {
	case optab.F16:
		to = halfWords
	case optab.F16x2:
		to = halfPaired
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var results [32][4]uint32
		var last uint64
		var t *texture.Texture
		var own texture.Texture // with a sampler of its own
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			if h := ref.handle(w, l); t == nil || h != last || sampler != nil {
				t, last = textureOf(w, l, h), h
			}
			if sampler != nil {
				h := sampler.handle(w, l)
				s := w.CTA.Launch.Texture.Sampler(h)
				if s == nil {
					missing(w, l, "sampler", h)
				}
				// What belongs to the texture stays; the sampler can only force coordinates that are not normalised
				// (PTX ISA 5.3.2).
				own = *t
				own.Sampler = *s
				own.Normalized, own.Integer, own.SRGB, own.Border = s.Normalized && t.Normalized, t.Integer, t.SRGB,
					t.Border
				t = &own
			}
			f := proto
			var at texture.Coord
			if c.layer != nil {
				at.Layer = uint32(get(w, c.layer, l))
			}
			for i, r := range [3]*ir.Arg{c.x, c.y, c.z} {
				if r == nil {
					continue
				}
				v := uint32(get(w, r, l))
				if f.Integer {
					at.I[i] = int32(v)
					continue
				}
				switch x := math.Float32frombits(v); i {
				case 0:
					at.X = x
				case 1:
					at.Y = x
				default:
					at.Z = x
				}
			}
			if off != nil {
				for i := range min(len(off.Elems), 3) {
					at.Offset[i] = int32(get(w, &off.Elems[i], l))
				}
			}
			if lod != nil {
				if v := uint32(get(w, lod, l)); f.Integer {
					f.Level = float32(int32(v))
				} else {
					f.Level = math.Float32frombits(v)
				}
			}
			if dx != nil {
				for i := range min(len(dx.Elems), 3) {
					f.DX[i] = math.Float32frombits(uint32(get(w, &dx.Elems[i], l)))
					f.DY[i] = math.Float32frombits(uint32(get(w, &dy.Elems[i], l)))
				}
			}
			if ref32 != nil {
				f.Ref = math.Float32frombits(uint32(get(w, ref32, l)))
			}
			w.Lane = l
			results[l] = t.Fetch(&at, &f)
			if to != words {
				results[l] = narrow(results[l], to, t.IntegerResult())
			}
		}
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			for i := range d.Elems {
				set(w, &d.Elems[i], l, uint64(results[l][i]))
			}
		}
		if d.Second != nil { // every texture is wholly resident: the software device has no sparse arrays
			setPred(w, d.Second, m, full)
		}
	}
	return nil
}

// narrow turns 32-bit results into halves, of integers the low 16 bits.
func narrow(v [4]uint32, to resultForm, integer bool) [4]uint32 {
	for i, x := range v {
		if integer {
			v[i] = x & 0xffff
		} else {
			v[i] = uint32(num.F32ToF16(x))
		}
	}
	if to == halfPaired {
		return [4]uint32{v[0] | v[1]<<16, v[2] | v[3]<<16}
	}
	return v
}

var queries = [...]texture.Query{
	optab.QueryWidth: texture.Width, optab.QueryHeight: texture.Height, optab.QueryDepth: texture.Depth,
	optab.QueryArraySize:       texture.ArraySize,
	optab.QueryNumMipmapLevels: texture.NumLevels, optab.QueryNumSamples: texture.NumSamples,
	optab.QueryChannelDataType: texture.DataType, optab.QueryChannelOrder: texture.Order,
	optab.QueryNormalizedCoords:        texture.NormalizedCoords,
	optab.QueryForceUnnormalizedCoords: texture.ForceUnnormalized, optab.QueryFilterMode: texture.FilterMode,
	optab.QueryAddrMode0: texture.AddressMode0, optab.QueryAddrMode1: texture.AddressMode1,
	optab.QueryAddrMode2: texture.AddressMode2, optab.QueryMemoryLayout: texture.MemoryLayout,
}

func queryOf(op *ir.Op) (texture.Query, bool) {
	q := op.Mods().Query
	return queries[q], q != optab.NoQuery
}

func resolveTxq(in *inst, op *ir.Op) error {
	d, a, lod := op.Arg("d"), op.Arg("a"), op.Arg("lod")
	q, ok := queryOf(op)
	if !ok || a == nil || a.Kind != ir.Addr || a.Space == ir.FrameParam {
		return unsupported(op)
	}
	ref := referenceOf(a)
	ofSampler := q >= texture.NormalizedCoords && q <= texture.AddressMode2
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			h := ref.handle(w, l)
			level := uint32(0)
			if lod != nil {
				level = uint32(get(w, lod, l))
			}
			u := w.CTA.Launch.Texture
			if ofSampler && u != nil {
				if s := u.Sampler(h); s != nil {
					set(w, d, l, uint64(s.Query(q)))
					continue
				}
			}
			t := textureOf(w, l, h)
			if ofSampler {
				set(w, d, l, uint64(t.Sampler.Query(q)))
			} else {
				set(w, d, l, uint64(t.Image.Query(q, level)))
			}
		}
	}
	return nil
}

func resolveSuq(in *inst, op *ir.Op) error {
	d, a := op.Arg("d"), op.Arg("a")
	q, ok := queryOf(op)
	if !ok || a == nil || a.Kind != ir.Addr || a.Space == ir.FrameParam {
		return unsupported(op)
	}
	ref := referenceOf(a)
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			m := surfaceOf(w, l, ref.handle(w, l))
			v := m.Query(q, 0)
			if q == texture.Depth && m.Cube { // every face is a layer
				v = 6 * max(v, 1)
			}
			set(w, d, l, uint64(v))
		}
	}
	return nil
}

// resolveIstypep is istypep: whether an address is that of a texture, sampler or surface.
func resolveIstypep(in *inst, op *ir.Op) error {
	d, a := op.Arg("d"), op.Arg("a")
	kind := op.Type(0)
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		v := uint32(0)
		u := w.CTA.Launch.Texture
		for k := m; k != 0 && u != nil; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			h := get(w, a, l)
			yes := false
			switch kind {
			case optab.Texref:
				yes = u.Texture(h) != nil
			case optab.Samplerref:
				yes = u.Sampler(h) != nil
			case optab.Surfref:
				yes = u.Surface(h) != nil
			}
			if yes {
				v |= 1 << l
			}
		}
		setPred(w, d, m, v)
	}
	return nil
}
