package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// videoOps are the video instructions: PTX ISA 9.7.19.
var videoOps = map[optab.Opcode]resolver{
	optab.OpVideo: resolveVideo, optab.OpVmad: resolveVmad, optab.OpSimdvideo: resolveSimdVideo,
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

// saturate limits the primary result of a scalar instruction. It is what an H200 does (recorded in the group video), where the driver
// emulates these instructions, and differs from the manual: the sum of vadd is not limited from above when d is unsigned; a result
// for a part of d is compared as an unsigned number, so that negative ones become the largest; shifts keep 34 bits and ignore the part.
func (s *scalarVideo) saturate(v int64) int64 {
	switch {
	case s.shift:
		return int64(int32(clamp(v<<30>>30, 32, s.signed)))
	case s.part.width < 32:
		top := uint64(1)<<s.part.width - 1
		if s.signed {
			top >>= 1
		}
		return int64(min(uint64(v), top))
	case s.signed:
		return clamp(v, 32, true)
	}
	return max(v, 0)
}

// scalarVideo is a prepared scalar video instruction.
type scalarVideo struct {
	f           func(a, b int64) int64
	a, b, part  part // part of d
	signed      bool // d is
	signedThird bool // c is, for the secondary operation
	sat         bool
	shift       bool
	narrow      bool // the result is cut to 32 bits before it is compared with c
}

func (s *scalarVideo) primary(a, b uint32) int64 {
	v := s.f(s.a.get(uint64(a)), s.b.get(uint64(b)))
	if s.sat {
		v = s.saturate(v)
	}
	if s.narrow {
		v = int64(int32(v))
	}
	return v
}

// less orders a primary result and c: as 64 bits, c extended by the sign of its type and the comparison of that type too (recorded).
func (s *scalarVideo) less(v int64, c uint32) bool {
	if s.signedThird {
		return v < int64(int32(c))
	}
	return uint64(v) < uint64(c)
}

// resolveVideo is the scalar instructions: operate, saturate, then a secondary operation with c or a merge into c.
func resolveVideo(in *inst, op *ir.Op) error {
	name := op.Match.Form.Name
	s := &scalarVideo{f: videoFunc(op, name), sat: op.Match.Has("sat"), shift: name == "vshl" || name == "vshr", narrow: name == "vadd" || name == "vsub"}
	if s.f == nil {
		return unsupported(op)
	}
	var sa, sb bool
	s.signed, sa, sb = videoTypes(op)
	s.signedThird = s.signed
	if name == "vset" {
		s.signedThird = sa // recorded
	}
	s.a, s.b, s.part = partOf(op.Args[1].Comp, sa), partOf(op.Args[2].Comp, sb), partOf(op.Args[0].Comp, s.signed)
	switch second := op.Match.One("add", "min", "max"); {
	case op.Args[0].Comp == "h1": // the result's own upper half is taken (recorded)
		in.fn = tri32(func(a, b, c uint32) uint32 { return c&0xffff | uint32(s.primary(a, b))&0xffff0000 })
	case op.Args[0].Comp != "":
		in.fn = tri32(func(a, b, c uint32) uint32 { return s.part.put(c, uint32(s.primary(a, b))) })
	case second == "add":
		in.fn = tri32(func(a, b, c uint32) uint32 { return uint32(s.primary(a, b)) + c })
	case second != "":
		smaller := second == "min"
		in.fn = tri32(func(a, b, c uint32) uint32 {
			if v := s.primary(a, b); s.less(v, c) == smaller {
				return uint32(v)
			}
			return c
		})
	default:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(s.primary(a, b)) })
	}
	return nil
}

// resolveVmad: factors of 32 bits and c are taken as signed whatever their types; the type decides how the result saturates (recorded).
func resolveVmad(in *inst, op *ir.Op) error {
	_, sa, sb := videoTypes(op)
	a, b, c := &op.Args[1], &op.Args[2], &op.Args[3]
	pa, pb := partOf(a.Comp, sa), partOf(b.Comp, sb)
	negProduct, negC, po := a.Neg != b.Neg, c.Neg, int64(0)
	if op.Match.Has("po") {
		po = 1
	}
	signed := sa || sb || negProduct || negC
	sat, shift := op.Match.Has("sat"), 0
	switch op.Match.One("shr7", "shr15") {
	case "shr7":
		shift = 7
	case "shr15":
		shift = 15
	}
	in.fn = tri32(func(x, y, z uint32) uint32 {
		v, third := int64(int32(pa.get(uint64(x))))*int64(int32(pb.get(uint64(y)))), int64(int32(z))
		if negProduct {
			v = -v
		}
		if negC {
			third = -third
		}
		v = (v + third + po) >> shift
		switch {
		case !sat:
		case signed:
			v = clamp(v, 32, true)
		case shift != 0:
			v = int64(min(uint64(v), full))
		default:
			v = clamp(v, 32, false)
		}
		return uint32(v)
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
