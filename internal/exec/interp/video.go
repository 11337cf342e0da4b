package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// videoOps are the video instructions: PTX ISA 9.7.19.
var videoOps = map[string]resolver{
	"video": resolveVideo, "vmad": resolveVmad, "simdvideo": resolveSimdVideo,
}

// part takes the selected byte or half-word of a register, extended by the signedness of its type.
type part struct {
	shift, width uint
	signed       bool
}

func partOf(comp string, signed bool) part {
	p := part{width: 32, signed: signed}
	if comp != "" {
		p.width = 8
		if comp[0] == 'h' {
			p.width = 16
		}
		p.shift = uint(comp[1]-'0') * p.width
	}
	return p
}

func (p part) get(x uint64) int64 {
	v := int64(x >> p.shift)
	if p.signed {
		return v << (64 - p.width) >> (64 - p.width)
	}
	return v & (1<<p.width - 1)
}

// put puts the low bits of v in the part of x.
func (p part) put(x, v uint32) uint32 {
	mask := uint32(uint64(1)<<p.width-1) << p.shift
	return x&^mask | v<<p.shift&mask
}

// clamp limits v to the range of n bits.
func clamp(v int64, n uint, signed bool) int64 {
	lo, hi := int64(0), int64(1)<<n-1
	if signed {
		lo, hi = -(1 << (n - 1)), 1<<(n-1)-1
	}
	return min(max(v, lo), hi)
}

// holds says whether two values stand in the relation that a comparison word names.
func holds(cmp string, a, b int64) bool {
	switch cmp {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "lt":
		return a < b
	case "le":
		return a <= b
	case "gt":
		return a > b
	}
	return a >= b
}

// videoFunc is the primary operation of a video instruction, by its name without the lane count. Values have at most 34 bits.
func videoFunc(op *ir.Op, name string) func(a, b int64) int64 {
	switch name {
	case "vadd":
		return func(a, b int64) int64 { return a + b }
	case "vsub":
		return func(a, b int64) int64 { return a - b }
	case "vavrg":
		return func(a, b int64) int64 {
			s := a + b
			if s >= 0 {
				s++
			}
			return s >> 1
		}
	case "vabsdiff":
		return func(a, b int64) int64 { return max(a, b) - min(a, b) }
	case "vmin":
		return func(a, b int64) int64 { return min(a, b) }
	case "vmax":
		return func(a, b int64) int64 { return max(a, b) }
	case "vshl", "vshr":
		wrap, left := op.Match.Has("wrap"), name == "vshl"
		return func(a, b int64) int64 {
			if wrap {
				b &= 31
			} else {
				b = min(b, 32)
			}
			if left {
				return a << b
			}
			return a >> b
		}
	case "vset":
		cmp := op.Match.One("eq", "ne", "lt", "le", "gt", "ge")
		return func(a, b int64) int64 {
			if holds(cmp, a, b) {
				return 1
			}
			return 0
		}
	}
	return nil
}

// videoTypes returns whether destination and sources are signed.
func videoTypes(op *ir.Op) (d, a, b bool) {
	ts := op.Match.Types
	if len(ts) == 3 {
		return ts[0] == "s32", ts[1] == "s32", ts[2] == "s32"
	}
	return false, ts[0] == "s32", ts[1] == "s32" // vset: the result is unsigned
}

// resolveVideo is the scalar instructions: operate, saturate to the size of the destination's part, then a secondary operation with
// c or a merge into c.
func resolveVideo(in *inst, op *ir.Op) error {
	f := videoFunc(op, op.Match.Form.Name)
	if f == nil {
		return unsupported(op)
	}
	sd, sa, sb := videoTypes(op)
	pa, pb, pd := partOf(op.Args[1].Comp, sa), partOf(op.Args[2].Comp, sb), partOf(op.Args[0].Comp, sd)
	sat := op.Match.Has("sat")
	primary := func(a, b uint32) uint32 {
		v := f(pa.get(uint64(a)), pb.get(uint64(b)))
		if sat {
			v = clamp(v, pd.width, sd)
		}
		return uint32(v)
	}
	switch second := op.Match.One("add", "min", "max"); {
	case op.Args[0].Comp != "":
		in.fn = tri32(func(a, b, c uint32) uint32 { return pd.put(c, primary(a, b)) })
	case second == "add":
		in.fn = tri32(func(a, b, c uint32) uint32 { return primary(a, b) + c })
	case second != "":
		larger := second == "max"
		in.fn = tri32(func(a, b, c uint32) uint32 {
			v := primary(a, b)
			if sd {
				if (int32(v) > int32(c)) == larger {
					return v
				}
				return c
			}
			if (v > c) == larger {
				return v
			}
			return c
		})
	default:
		in.fn = bin32(primary)
	}
	return nil
}

// resolveVmad: the product and the sum are exact; an inverted sum adds the missing one (9.7.19.1.4).
func resolveVmad(in *inst, op *ir.Op) error {
	_, sa, sb := videoTypes(op)
	a, b, c := &op.Args[1], &op.Args[2], &op.Args[3]
	pa, pb := partOf(a.Comp, sa), partOf(b.Comp, sb)
	negProduct, negC, po := a.Neg != b.Neg, c.Neg, op.Match.Has("po")
	signed := sa || sb || negProduct || negC
	sat, shift := op.Match.Has("sat"), uint(0)
	switch op.Match.One("shr7", "shr15") {
	case "shr7":
		shift = 7
	case "shr15":
		shift = 15
	}
	in.fn = tri32(func(x, y, z uint32) uint32 {
		// 128 bits in two's complement: the factors have 33.
		u, v := pa.get(uint64(x)), pb.get(uint64(y))
		hi, lo := bits.Mul64(uint64(u), uint64(v))
		if u < 0 {
			hi -= uint64(v)
		}
		if v < 0 {
			hi -= uint64(u)
		}
		carry := uint64(0)
		switch {
		case po:
			carry = 1
		case negProduct:
			hi, lo, carry = ^hi, ^lo, 1
		case negC:
			z, carry = ^z, 1
		}
		addLo, addHi := uint64(z), uint64(0)
		if signed && int32(z) < 0 {
			addLo, addHi = uint64(int64(int32(z))), ^uint64(0)
		}
		lo, carry = bits.Add64(lo, addLo, carry)
		hi, _ = bits.Add64(hi, addHi, carry)
		if shift != 0 {
			lo = lo>>shift | hi<<(64-shift)
			hi = uint64(int64(hi) >> shift)
		}
		if !sat {
			return uint32(lo)
		}
		switch {
		case !signed && (hi != 0 || lo > full):
			return full
		case !signed:
			return uint32(lo)
		case int64(hi) < 0 && (hi != ^uint64(0) || int64(lo) >= 0):
			return 1 << 31
		case int64(hi) >= 0 && (hi != 0 || int64(lo) < 0):
			return 1<<31 - 1
		}
		return saturate32(int64(lo))
	})
	return nil
}

// resolveSimdVideo is the instructions on two half-words or four bytes. Sources are picked from the eight bytes of {b,a}.
func resolveSimdVideo(in *inst, op *ir.Op) error {
	name := op.Match.Form.Name
	n := int(name[len(name)-1] - '0')
	f := videoFunc(op, name[:len(name)-1])
	if f == nil {
		return unsupported(op)
	}
	width := uint(32 / n)
	sd, sa, sb := videoTypes(op)
	choose := func(comp string, base int, signed bool) (ps [4]part) {
		for i := range n {
			pos := base + i
			if comp != "" {
				pos = int(comp[len(comp)-1-i] - '0')
			}
			ps[i] = part{shift: uint(pos) * width, width: width, signed: signed}
		}
		return ps
	}
	pa, pb := choose(op.Args[1].Comp, 0, sa), choose(op.Args[2].Comp, n, sb)
	mask := uint32(0)
	for i := range n {
		if comp := op.Args[0].Comp; comp == "" {
			mask |= 1 << i
		} else {
			for _, c := range comp[1:] {
				if int(c-'0') == i {
					mask |= 1 << i
				}
			}
		}
	}
	sat, add := op.Match.Has("sat"), op.Match.Has("add")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			both, r := uint64(b[i])<<32|uint64(a[i]), c[i]
			for l := range n {
				if mask>>l&1 == 0 {
					continue
				}
				v := f(pa[l].get(both), pb[l].get(both))
				if sat {
					v = clamp(v, width, sd)
				}
				if add {
					r += uint32(v)
				} else {
					r = part{shift: uint(l) * width, width: width}.put(r, uint32(v))
				}
			}
			d[i] = r
		}
	}
	return nil
}
