package interp

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// resolveSpecial reads a special register (PTX ISA chapter 10) into a row.
func resolveSpecial(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	sreg, axis := op.SReg, op.Axis
	uniform := func(f func(w *exec.Warp) uint64) {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			v := f(w)
			for ; m != 0; m &= m - 1 {
				set(w, d, bits.TrailingZeros32(m)&31, v)
			}
		}
	}
	lanes := func(f func(w *exec.Warp, lane int) uint64) {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				set(w, d, i, f(w, i))
			}
		}
	}
	dim := func(v [3]uint32) uint64 {
		if axis > 2 {
			return 0
		}
		return uint64(v[axis])
	}
	switch sreg {
	case optab.SRegTid:
		lanes(func(w *exec.Warp, lane int) uint64 {
			n, b := uint32(w.Thread(lane)), &w.CTA.Launch.Block
			switch axis {
			case 0:
				return uint64(n % b[0])
			case 1:
				return uint64(n / b[0] % b[1])
			case 2:
				return uint64(n / b[0] / b[1])
			}
			return 0
		})
	case optab.SRegNtid:
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Launch.Block) })
	case optab.SRegCtaid:
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Index) })
	case optab.SRegNctaid:
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Launch.Grid) })
	case optab.SRegLaneid:
		lanes(func(_ *exec.Warp, lane int) uint64 { return uint64(lane) })
	case optab.SRegWarpid:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.Index) })
	case optab.SRegNwarpid:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Device.WarpsPerSM) })
	case optab.SRegSmid:
		uniform(func(w *exec.Warp) uint64 {
			return uint64((w.CTA.Index[0] + w.CTA.Index[1]*w.CTA.Launch.Grid[0]) % max(1, w.CTA.Launch.Device.SMs))
		})
	case optab.SRegNsmid:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Device.SMs) })
	case optab.SRegGridid:
		uniform(func(w *exec.Warp) uint64 { return w.CTA.Launch.GridID })
	case optab.SRegLanemaskEq:
		lanes(func(_ *exec.Warp, l int) uint64 { return 1 << l })
	case optab.SRegLanemaskLe:
		lanes(func(_ *exec.Warp, l int) uint64 { return 1<<(l+1) - 1 })
	case optab.SRegLanemaskLt:
		lanes(func(_ *exec.Warp, l int) uint64 { return 1<<l - 1 })
	case optab.SRegLanemaskGe:
		lanes(func(_ *exec.Warp, l int) uint64 { return uint64(uint32(0xffffffff) << l) })
	case optab.SRegLanemaskGt:
		lanes(func(_ *exec.Warp, l int) uint64 { return uint64(uint32(0xfffffffe) << l) })
	case optab.SRegClock, optab.SRegClock64, optab.SRegClockHi:
		hi := sreg == optab.SRegClockHi
		uniform(func(w *exec.Warp) uint64 {
			// Cycles at the profile's clock, from the host's monotonic time.
			v := uint64(time.Since(epoch).Nanoseconds()) * max(1, w.CTA.Launch.Device.ClockKHz) / 1e6
			if hi {
				v >>= 32
			}
			return v
		})
	case optab.SRegGlobaltimer, optab.SRegGlobaltimerLo, optab.SRegGlobaltimerHi:
		uniform(func(*exec.Warp) uint64 {
			v := uint64(time.Now().UnixNano())
			if sreg == optab.SRegGlobaltimerHi {
				v >>= 32
			}
			return v
		})
	case optab.SRegClusterid:
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Group.Index) })
	case optab.SRegNclusterid:
		uniform(func(w *exec.Warp) uint64 {
			g, c := w.CTA.Launch.Grid, w.CTA.Group.Dims
			return dim([3]uint32{g[0] / c[0], g[1] / c[1], g[2] / c[2]})
		})
	case optab.SRegClusterCtaid:
		uniform(func(w *exec.Warp) uint64 {
			i, c := w.CTA.Index, w.CTA.Group.Dims
			return dim([3]uint32{i[0] % c[0], i[1] % c[1], i[2] % c[2]})
		})
	case optab.SRegClusterNctaid:
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Group.Dims) })
	case optab.SRegClusterCtarank:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Rank) })
	case optab.SRegClusterNctarank:
		uniform(func(w *exec.Warp) uint64 { return uint64(len(w.CTA.Group.CTAs)) })
	case optab.SRegIsExplicitCluster:
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			v := uint32(0)
			if w.CTA.Launch.Cluster[0] != 0 {
				v = full
			}
			if d.Class == ir.WPred {
				setPred(w, d, m, v)
				return
			}
			for ; m != 0; m &= m - 1 {
				set(w, d, bits.TrailingZeros32(m)&31, uint64(v&1))
			}
		}
	case optab.SRegDynamicSmemSize:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Shared) })
	case optab.SRegTotalSmemSize:
		uniform(func(w *exec.Warp) uint64 {
			// Static and dynamic, in the granules of 128 bytes in which the hardware hands it out.
			return uint64((w.CTA.SharedSize - ir.ReservedShared + 127) &^ 127)
		})
	case optab.SRegAggrSmemSize:
		uniform(func(w *exec.Warp) uint64 { return uint64((w.CTA.SharedSize + 127) &^ 127) })
	case optab.SRegReservedSmemOffsetBegin:
		uniform(func(*exec.Warp) uint64 { return 0 })
	case optab.SRegReservedSmemOffsetEnd, optab.SRegReservedSmemOffsetCap:
		uniform(func(*exec.Warp) uint64 { return ir.ReservedShared })
	case optab.SRegReservedSmemOffset0, optab.SRegReservedSmemOffset1:
		uniform(func(*exec.Warp) uint64 { return 0 })
	case optab.SRegCurrentGraphExec:
		uniform(func(*exec.Warp) uint64 { return 0 })
	case optab.SRegEnvreg:
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Env[op.Number]) })
	case optab.SRegPm, optab.SRegPm64: // performance counters that nobody has set up read as zero
		uniform(func(*exec.Warp) uint64 { return 0 })
	default:
		return fmt.Errorf("the special register %s", op.Name)
	}
	return nil
}

// epoch is the start of %clock.
var epoch = time.Now()
