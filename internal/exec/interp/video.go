package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// videoOps are the video instructions: PTX ISA 9.7.19.
var videoOps = map[optab.Opcode]resolver{
	optab.OpVadd: resolveVideo, optab.OpVsub: resolveVideo, optab.OpVabsdiff: resolveVideo,
	optab.OpVmin: resolveVideo, optab.OpVmax: resolveVideo, optab.OpVshl: resolveVideo, optab.OpVshr: resolveVideo,
	optab.OpVset: resolveVideo, optab.OpVmad: resolveVmad,
	optab.OpVadd2: simdVideo(2, optab.OpVadd), optab.OpVsub2: simdVideo(2, optab.OpVsub),
	optab.OpVavrg2: simdVideo(2, optab.OpVavrg2), optab.OpVabsdiff2: simdVideo(2, optab.OpVabsdiff),
	optab.OpVmin2: simdVideo(2, optab.OpVmin), optab.OpVmax2: simdVideo(2, optab.OpVmax),
	optab.OpVset2: simdVideo(2, optab.OpVset),
	optab.OpVadd4: simdVideo(4, optab.OpVadd), optab.OpVsub4: simdVideo(4, optab.OpVsub),
	optab.OpVavrg4: simdVideo(4, optab.OpVavrg2), optab.OpVabsdiff4: simdVideo(4, optab.OpVabsdiff),
	optab.OpVmin4: simdVideo(4, optab.OpVmin), optab.OpVmax4: simdVideo(4, optab.OpVmax),
	optab.OpVset4: simdVideo(4, optab.OpVset),
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

// holds says whether two values stand in a relation.
func holds(cmp optab.Cmp, a, b int64) bool {
	switch cmp {
	case optab.CmpEq:
		return a == b
	case optab.CmpNe:
		return a != b
	case optab.CmpLt:
		return a < b
	case optab.CmpLe:
		return a <= b
	case optab.CmpGt:
		return a > b
	}
	return a >= b
}

// videoFunc is the primary operation of a video instruction, by its scalar form. Values have at most 34 bits.
func videoFunc(op *ir.Op, code optab.Opcode) func(a, b int64) int64 {
	switch code {
	case optab.OpVadd:
		return func(a, b int64) int64 { return a + b }
	case optab.OpVsub:
		return func(a, b int64) int64 { return a - b }
	case optab.OpVavrg2: // which has none
		return func(a, b int64) int64 {
			s := a + b
			if s >= 0 {
				s++
			}
			return s >> 1
		}
	case optab.OpVabsdiff:
		return func(a, b int64) int64 { return max(a, b) - min(a, b) }
	case optab.OpVmin:
		return func(a, b int64) int64 { return min(a, b) }
	case optab.OpVmax:
		return func(a, b int64) int64 { return max(a, b) }
	case optab.OpVshl, optab.OpVshr:
		wrap, left := op.Mods().Bound == optab.BoundWrap, code == optab.OpVshl
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
	case optab.OpVset:
		cmp := op.Mods().Cmp
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
	m := op.Mods()
	if m.NumTypes == 3 {
		return m.Type(0).Signed(), m.Type(1).Signed(), m.Type(2).Signed()
	}
	return false, m.Type(0).Signed(), m.Type(1).Signed() // vset: the result is unsigned
}

// saturate limits the primary result of a scalar instruction. It is what an H200 does (recorded in the group video),
// where the driver emulates these instructions, and differs from the manual: the sum of vadd is not limited from above
// when d is unsigned; a result for a part of d is compared as an unsigned number, so that negative ones become the
// largest; shifts keep 34 bits and ignore the part.
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

// less orders a primary result and c: as 64 bits, c extended by the sign of its type and the comparison of that type
// too (recorded).
func (s *scalarVideo) less(v int64, c uint32) bool {
	if s.signedThird {
		return v < int64(int32(c))
	}
	return uint64(v) < uint64(c)
}

// resolveVideo is the scalar instructions: operate, saturate, then a secondary operation with c or a merge into c.
func resolveVideo(in *inst, op *ir.Op) error {
	code := op.Opcode()
	s := &scalarVideo{f: videoFunc(op, code), sat: op.Mods().Sat}
	s.shift, s.narrow = code == optab.OpVshl || code == optab.OpVshr, code == optab.OpVadd || code == optab.OpVsub
	if s.f == nil {
		return unsupported(op)
	}
	var sa, sb bool
	s.signed, sa, sb = videoTypes(op)
	s.signedThird = s.signed
	if code == optab.OpVset {
		s.signedThird = sa // recorded
	}
	s.a, s.b, s.part = partOf(op.Args[1].Comp, sa), partOf(op.Args[2].Comp, sb), partOf(op.Args[0].Comp, s.signed)
	switch second := op.Mods().Func; {
	case op.Args[0].Comp == "h1": // the result's own upper half is taken (recorded)
		in.fn = tri32(func(a, b, c uint32) uint32 { return c&0xffff | uint32(s.primary(a, b))&0xffff0000 })
	case op.Args[0].Comp != "":
		in.fn = tri32(func(a, b, c uint32) uint32 { return s.part.put(c, uint32(s.primary(a, b))) })
	case second == optab.FuncAdd:
		in.fn = tri32(func(a, b, c uint32) uint32 { return uint32(s.primary(a, b)) + c })
	case second != optab.NoFunc:
		smaller := second == optab.FuncMin
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

// resolveVmad: factors of 32 bits and c are taken as signed whatever their types; the type decides how the result
// saturates (recorded).
func resolveVmad(in *inst, op *ir.Op) error {
	_, sa, sb := videoTypes(op)
	a, b, c := &op.Args[1], &op.Args[2], &op.Args[3]
	pa, pb := partOf(a.Comp, sa), partOf(b.Comp, sb)
	negProduct, negC, po := a.Neg != b.Neg, c.Neg, int64(0)
	if op.Mods().PlusOne {
		po = 1
	}
	signed := sa || sb || negProduct || negC
	sat, shift := op.Mods().Sat, 0
	switch op.Mods().Shift {
	case optab.ShiftShr7:
		shift = 7
	case optab.ShiftShr15:
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

// simdVideo is the instructions on n half-words or bytes, by the scalar instruction of the same operation. Sources are
// picked from the eight bytes of {b,a}.
func simdVideo(n int, scalar optab.Opcode) resolver {
	return func(in *inst, op *ir.Op) error { return resolveSimdVideo(in, op, n, videoFunc(op, scalar)) }
}

func resolveSimdVideo(in *inst, op *ir.Op, n int, f func(a, b int64) int64) error {
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
	sat, add := op.Mods().Sat, op.Mods().Func == optab.FuncAdd
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
