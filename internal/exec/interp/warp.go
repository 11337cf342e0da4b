package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// warpOps exchange values between the lanes of a warp (PTX ISA 9.7.9.6 and 9.7.13.9 to 9.7.13.15). Handlers of forms
// with a member mask are called with the lanes that have met; lanes with other masks in the same call are groups of
// their own.
var warpOps = map[optab.Opcode]resolver{
	optab.OpShfl: resolveShfl, optab.OpVote: resolveVote, optab.OpMatch: resolveMatch, optab.OpRedux: resolveRedux,
	optab.OpElect:      resolveElect,
	optab.OpActivemask: resolveActiveMask, optab.OpBarWarp: resolveNothing,
}

// byMask calls f for each set of lanes of m that name the same member mask; without a mask for m itself.
func byMask(w *exec.Warp, members *ir.Arg, m uint32, f func(group uint32)) {
	if members == nil || members.Kind == ir.Imm {
		f(m)
		return
	}
	masks := w.R32(members.Ref)
	for m != 0 {
		mask := masks[first(m)]
		group := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			if l := bits.TrailingZeros32(k) & 31; masks[l] == mask {
				group |= 1 << l
			}
		}
		f(group)
		m &^= group
	}
}

// shflSource computes where a lane reads, as in the manual's pseudocode, and whether that is in range; one that is not
// reads itself.
func shflSource(mode optab.Shuffle, l, b, c int) (j int, ok bool) {
	bval, cval, seg := b&31, c&31, c>>8&31
	maxLane, minLane := l&seg|cval&^seg, l&seg
	switch mode {
	case optab.ShuffleUp:
		j = l - bval
		ok = j >= maxLane
	case optab.ShuffleDown:
		j = l + bval
		ok = j <= maxLane
	case optab.ShuffleBfly:
		j = l ^ bval
		ok = j <= maxLane
	default: // idx
		j = minLane | bval&^seg
		ok = j <= maxLane
	}
	if !ok {
		j = l
	}
	return j & 31, ok
}

// resolveShfl is shfl{.sync}. A source that does not execute the operation at the same time gives 0, as on an H200,
// whatever the member mask says.
func resolveShfl(in *inst, op *ir.Op) error {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	p := d.Second
	mode := op.Mods().Shuffle
	if b.Kind == ir.Imm && c.Kind == ir.Imm { // as compilers write it: the lanes are known beforehand
		var from [32]uint8
		inRange := uint32(0)
		for l := range from {
			j, ok := shflSource(mode, l, int(uint32(b.Bits)), int(uint32(c.Bits)))
			from[l] = uint8(j)
			if ok {
				inRange |= 1 << l
			}
		}
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			if d.Kind == ir.Row {
				src, dr := *w.R32(a.Ref), w.R32(d.Ref)
				if m == full {
					for l := range dr {
						dr[l] = src[from[l]&31]
					}
				} else {
					for k := m; k != 0; k &= k - 1 {
						l := bits.TrailingZeros32(k) & 31
						dr[l] = src[from[l]&31] & -(m >> (from[l] & 31) & 1)
					}
				}
			}
			setPred(w, p, m, inRange)
		}
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		src, br, cr := *w.R32(a.Ref), *w.R32(b.Ref), *w.R32(c.Ref)
		inRange := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			j, ok := shflSource(mode, l, int(br[l]), int(cr[l]))
			if ok {
				inRange |= 1 << l
			}
			if d.Kind == ir.Row {
				w.R32(d.Ref)[l] = src[j] & -(m >> j & 1)
			}
		}
		setPred(w, p, m, inRange)
	}
	return nil
}

func resolveVote(in *inst, op *ir.Op) error {
	d, a, mm := &op.Args[0], &op.Args[1], op.Arg("membermask")
	mode := op.Mods().Vote
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		byMask(w, mm, m, func(g uint32) {
			v := pred(w, a) & g
			res := uint32(0)
			switch mode {
			case optab.VoteAll:
				res = boolMask(v == g)
			case optab.VoteAny:
				res = boolMask(v != 0)
			case optab.VoteUni:
				res = boolMask(v == 0 || v == g)
			default:
				broadcast(w, d, g, v)
				return
			}
			setPred(w, d, g, res)
		})
	}
	return nil
}

func boolMask(b bool) uint32 {
	if b {
		return full
	}
	return 0
}

// broadcast writes one value to lanes of a 32-bit row.
func broadcast(w *exec.Warp, d *ir.Arg, m, v uint32) {
	if d.Kind != ir.Row {
		return
	}
	r := w.R32(d.Ref)
	for ; m != 0; m &= m - 1 {
		r[bits.TrailingZeros32(m)&31] = v
	}
}

func resolveMatch(in *inst, op *ir.Op) error {
	d, a, mm := &op.Args[0], &op.Args[1], op.Arg("membermask")
	all := op.Mods().Vote == optab.VoteAll
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		byMask(w, mm, m, func(g uint32) {
			if all {
				v, same := get(w, a, first(g)), true
				for k := g; k != 0; k &= k - 1 {
					same = same && get(w, a, bits.TrailingZeros32(k)&31) == v
				}
				p := d.Second
				broadcast(w, d, g, g&boolMask(same))
				setPred(w, p, g, boolMask(same))
				return
			}
			var vals [32]uint64 // a register may be source and destination
			for k := g; k != 0; k &= k - 1 {
				l := bits.TrailingZeros32(k) & 31
				vals[l] = get(w, a, l)
			}
			for rest := g; rest != 0; {
				v, same := vals[first(rest)], uint32(0)
				for k := rest; k != 0; k &= k - 1 {
					if l := bits.TrailingZeros32(k) & 31; vals[l] == v {
						same |= 1 << l
					}
				}
				broadcast(w, d, same, same)
				rest &^= same
			}
		})
	}
	return nil
}

func resolveRedux(in *inst, op *ir.Op) error {
	d, a, mm := &op.Args[0], &op.Args[1], op.Arg("membermask")
	var f func(x, y uint32) uint32
	signed := op.Type(0).Signed()
	switch what := op.Mods().Func; {
	case op.Type(0) == optab.F32: // sm_100 has it
		return unsupported(op)
	case what == optab.FuncAdd:
		f = func(x, y uint32) uint32 { return x + y }
	case what == optab.FuncMin && signed:
		f = func(x, y uint32) uint32 { return uint32(min(int32(x), int32(y))) }
	case what == optab.FuncMin:
		f = func(x, y uint32) uint32 { return min(x, y) }
	case what == optab.FuncMax && signed:
		f = func(x, y uint32) uint32 { return uint32(max(int32(x), int32(y))) }
	case what == optab.FuncMax:
		f = func(x, y uint32) uint32 { return max(x, y) }
	case what == optab.FuncAnd:
		f = func(x, y uint32) uint32 { return x & y }
	case what == optab.FuncOr:
		f = func(x, y uint32) uint32 { return x | y }
	case what == optab.FuncXor:
		f = func(x, y uint32) uint32 { return x ^ y }
	default:
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		byMask(w, mm, m, func(g uint32) {
			r := w.R32(a.Ref)
			v := r[first(g)]
			for k := g & (g - 1); k != 0; k &= k - 1 {
				v = f(v, r[bits.TrailingZeros32(k)&31])
			}
			broadcast(w, d, g, v)
		})
	}
	return nil
}

// resolveElect is elect.sync. The leader is the lowest lane, as on an H200.
func resolveElect(in *inst, op *ir.Op) error {
	d, mm := &op.Args[0], op.Arg("membermask")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		byMask(w, mm, m, func(g uint32) {
			leader := first(g)
			broadcast(w, d, g, uint32(leader))
			setPred(w, d.Second, g, 1<<leader)
		})
	}
	return nil
}

func resolveActiveMask(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	in.fn = func(w *exec.Warp, in *inst, m uint32) { broadcast(w, d, m, m) }
	return nil
}
