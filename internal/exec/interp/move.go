package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// moveOps are mov and the address conversions.
var moveOps = map[optab.Opcode]resolver{
	optab.OpMov: resolveMov, optab.OpMovPack: resolveMov, optab.OpMovUnpack: resolveMov, optab.OpCvta: resolveCvta,
	optab.OpCvtaTo: resolveCvtaTo, optab.OpIsspacep: resolveIsspacep, optab.OpMapa: resolveMapa,
	optab.OpGetctarank: resolveGetctarank,
	optab.OpMovVec:     resolveMovVec,
}

func resolveMov(in *inst, op *ir.Op) error {
	d, a := &op.Args[0], &op.Args[1]
	switch {
	case d.Kind == ir.Vec: // unpack
		in.fn = unpack(d, a)
	case a.Kind == ir.Vec: // pack
		in.fn = pack(d, a)
	case d.Class == ir.WPred:
		in.fn = func(w *exec.Warp, in *inst, m uint32) { setPred(w, d, m, pred(w, a)) }
	case a.Sym && a.Space == ir.KernelParam:
		// The address of a kernel parameter is a generic one since PTX 1.5 only through cvta.param; mov gives the
		// space's own.
		in.fn = copyLanes(d, a)
	default:
		in.fn = copyLanes(d, a)
	}
	return nil
}

// resolveMovVec is mov.v2 and mov.v4: element by element, all read before any is written.
func resolveMovVec(in *inst, op *ir.Op) error {
	d, a := vec(&op.Args[0]), vec(&op.Args[1])
	if len(d.Elems) != len(a.Elems) {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v [4]uint64
			for j := range a.Elems {
				v[j] = get(w, &a.Elems[j], i)
			}
			for j := range d.Elems {
				set(w, &d.Elems[j], i, v[j])
			}
		}
	}
	return nil
}

// copyLanes copies a register or constant, cutting or zero-extending where the classes differ.
func copyLanes(d, a *ir.Arg) handler {
	if d.Kind != ir.Row {
		return func(*exec.Warp, *inst, uint32) {}
	}
	narrow := uint32(0xffffffff)
	if t, ok := optab.TypeOf(d.Type); ok && t.Bits < 32 && t.Bits > 1 {
		narrow = 1<<t.Bits - 1
	}
	switch {
	case d.Class == ir.W32 && a.Class == ir.W32:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R32(d.Ref), w.R32(a.Ref)
			if m == full && narrow == full {
				*dr = *ar
				return
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = ar[i] & narrow
			}
		}
	case d.Class == ir.W64 && a.Class == ir.W64:
		return func(w *exec.Warp, in *inst, m uint32) {
			dr, ar := w.R64(d.Ref), w.R64(a.Ref)
			if m == full {
				*dr = *ar
				return
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dr[i] = ar[i]
			}
		}
	case d.Class == ir.W128 && a.Class == ir.W128:
		return func(w *exec.Warp, in *inst, m uint32) {
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				lo, hi := get128(w, a, i)
				set128(w, d, i, lo, hi)
			}
		}
	}
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			set(w, d, i, get(w, a, i))
		}
	}
}

// elemBits is the width of one element when a vector of n stands for a value of the operand's type.
func elemBits(typ string, n int) uint {
	t, ok := optab.TypeOf(typ)
	if !ok || n == 0 {
		return 32
	}
	return uint(t.Bits / n)
}

func pack(d, a *ir.Arg) handler {
	eb := elemBits(d.Type, len(a.Elems))
	mask := uint64(1)<<eb - 1
	if eb >= 64 {
		mask = ^uint64(0)
	}
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v [2]uint64
			for j := range a.Elems {
				pos := uint(j) * eb
				v[pos>>6] |= (get(w, &a.Elems[j], i) & mask) << (pos & 63)
			}
			if d.Class == ir.W128 {
				set128(w, d, i, v[0], v[1])
			} else {
				set(w, d, i, v[0])
			}
		}
	}
}

func unpack(d, a *ir.Arg) handler {
	eb := elemBits(a.Type, len(d.Elems))
	mask := uint64(1)<<eb - 1
	if eb >= 64 {
		mask = ^uint64(0)
	}
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v [2]uint64
			if a.Class == ir.W128 {
				v[0], v[1] = get128(w, a, i)
			} else {
				v[0] = get(w, a, i)
			}
			for j := range d.Elems {
				pos := uint(j) * eb
				set(w, &d.Elems[j], i, v[pos>>6]>>(pos&63)&mask)
			}
		}
	}
}

// frameAddr is the address of a .local variable in its own state space.
func frameAddr(w *exec.Warp, in *inst, m uint32) {
	d := &in.op.Args[0]
	v := uint64(w.Act.Local) + uint64(in.op.Disp)
	for ; m != 0; m &= m - 1 {
		set(w, d, bits.TrailingZeros32(m)&31, v)
	}
}

// window returns the generic address at which a state space begins.
func window(w *exec.Warp, space optab.Space) uint64 {
	l := w.CTA.Launch
	switch space {
	case optab.SpaceShared, optab.SpaceCluster:
		return l.Mem.Base + l.Mem.SharedOff
	case optab.SpaceLocal:
		return l.Mem.Base + l.Mem.LocalOff
	case optab.SpaceParam:
		return l.ParamAddr
	}
	return 0
}

// resolveCvta is cvta.space: from a state space to generic. cvta.to.space is the other direction.
func resolveCvta(in *inst, op *ir.Op) error { return convertAddress(in, op, 1) }

func resolveCvtaTo(in *inst, op *ir.Op) error { return convertAddress(in, op, -1) }

func convertAddress(in *inst, op *ir.Op, sign int) error {
	d, a, space := &op.Args[0], &op.Args[1], op.Mods().Space
	if a.Kind == ir.Addr { // written with a variable's name
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		off := window(w, space)
		if sign < 0 {
			off = -off
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			set(w, d, i, get(w, a, i)+off)
		}
	}
	return nil
}

func resolveIsspacep(in *inst, op *ir.Op) error {
	d, a, space := &op.Args[0], &op.Args[1], op.Mods().Space
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		v := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			addr := get(w, a, i)
			s := w.SpaceOf(addr)
			yes := false
			switch space {
			case optab.SpaceShared:
				yes = s == ir.Shared && uint32(addr-window(w, optab.SpaceShared))>>24 == w.CTA.Rank
			case optab.SpaceCluster:
				yes = s == ir.Shared && int((addr-window(w, optab.SpaceShared))>>24) < len(w.CTA.Group.CTAs)
			case optab.SpaceLocal:
				yes = s == ir.Local
			case optab.SpaceParam:
				yes = s == ir.KernelParam
			case optab.SpaceConst:
				yes = s == ir.Const
			case optab.SpaceGlobal:
				yes = s == ir.Global
			}
			if yes {
				v |= 1 << i
			}
		}
		setPred(w, d, m, v)
	}
	return nil
}

// resolveMapa is mapa: the address in another CTA of the cluster of what a stands at in this one.
func resolveMapa(in *inst, op *ir.Op) error {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	generic := op.Mods().Space == optab.NoSpace
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			base := uint64(0)
			if generic {
				base = window(w, optab.SpaceShared)
			}
			set(w, d, i, base+((get(w, a, i)-base)&0xffffff|get(w, b, i)<<24))
		}
	}
	return nil
}

func resolveGetctarank(in *inst, op *ir.Op) error {
	d, a := &op.Args[0], &op.Args[1]
	generic := op.Mods().Space == optab.NoSpace
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			base := uint64(0)
			if generic {
				base = window(w, optab.SpaceShared)
			}
			set(w, d, i, (get(w, a, i)-base)>>24)
		}
	}
	return nil
}
