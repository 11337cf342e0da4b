package interp

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// resolveSpecial reads a special register (PTX ISA chapter 10) into a row.
func resolveSpecial(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	name, comp, _ := strings.Cut(op.Name, ".")
	axis := map[string]int{"": 0, "x": 0, "y": 1, "z": 2, "w": 3}[comp]
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
	switch name {
	case "%tid":
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
	case "%ntid":
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Launch.Block) })
	case "%ctaid":
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Index) })
	case "%nctaid":
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Launch.Grid) })
	case "%laneid":
		lanes(func(_ *exec.Warp, lane int) uint64 { return uint64(lane) })
	case "%warpid":
		uniform(func(w *exec.Warp) uint64 { return uint64(w.Index) })
	case "%nwarpid":
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Device.WarpsPerSM) })
	case "%smid":
		uniform(func(w *exec.Warp) uint64 {
			return uint64((w.CTA.Index[0] + w.CTA.Index[1]*w.CTA.Launch.Grid[0]) % max(1, w.CTA.Launch.Device.SMs))
		})
	case "%nsmid":
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Device.SMs) })
	case "%gridid":
		uniform(func(w *exec.Warp) uint64 { return w.CTA.Launch.GridID })
	case "%lanemask_eq":
		lanes(func(_ *exec.Warp, l int) uint64 { return 1 << l })
	case "%lanemask_le":
		lanes(func(_ *exec.Warp, l int) uint64 { return 1<<(l+1) - 1 })
	case "%lanemask_lt":
		lanes(func(_ *exec.Warp, l int) uint64 { return 1<<l - 1 })
	case "%lanemask_ge":
		lanes(func(_ *exec.Warp, l int) uint64 { return uint64(uint32(0xffffffff) << l) })
	case "%lanemask_gt":
		lanes(func(_ *exec.Warp, l int) uint64 { return uint64(uint32(0xfffffffe) << l) })
	case "%clock", "%clock64", "%clock_hi":
		hi := name == "%clock_hi"
		uniform(func(w *exec.Warp) uint64 {
			// Cycles at the profile's clock, from the host's monotonic time.
			v := uint64(time.Since(epoch).Nanoseconds()) * max(1, w.CTA.Launch.Device.ClockKHz) / 1e6
			if hi {
				v >>= 32
			}
			return v
		})
	case "%globaltimer", "%globaltimer_lo", "%globaltimer_hi":
		uniform(func(*exec.Warp) uint64 {
			v := uint64(time.Now().UnixNano())
			if name == "%globaltimer_hi" {
				v >>= 32
			}
			return v
		})
	case "%clusterid":
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Group.Index) })
	case "%nclusterid":
		uniform(func(w *exec.Warp) uint64 {
			g, c := w.CTA.Launch.Grid, w.CTA.Group.Dims
			return dim([3]uint32{g[0] / c[0], g[1] / c[1], g[2] / c[2]})
		})
	case "%cluster_ctaid":
		uniform(func(w *exec.Warp) uint64 {
			i, c := w.CTA.Index, w.CTA.Group.Dims
			return dim([3]uint32{i[0] % c[0], i[1] % c[1], i[2] % c[2]})
		})
	case "%cluster_nctaid":
		uniform(func(w *exec.Warp) uint64 { return dim(w.CTA.Group.Dims) })
	case "%cluster_ctarank":
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Rank) })
	case "%cluster_nctarank":
		uniform(func(w *exec.Warp) uint64 { return uint64(len(w.CTA.Group.CTAs)) })
	case "%is_explicit_cluster":
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
	case "%dynamic_smem_size":
		uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Shared) })
	case "%total_smem_size":
		uniform(func(w *exec.Warp) uint64 {
			// Static and dynamic, in the granules of 128 bytes in which the hardware hands it out.
			return uint64((w.CTA.SharedSize - ir.ReservedShared + 127) &^ 127)
		})
	case "%aggr_smem_size":
		uniform(func(w *exec.Warp) uint64 { return uint64((w.CTA.SharedSize + 127) &^ 127) })
	case "%reserved_smem_offset_begin":
		uniform(func(*exec.Warp) uint64 { return 0 })
	case "%reserved_smem_offset_end", "%reserved_smem_offset_cap":
		uniform(func(*exec.Warp) uint64 { return ir.ReservedShared })
	case "%reserved_smem_offset_0", "%reserved_smem_offset_1":
		uniform(func(*exec.Warp) uint64 { return 0 })
	case "%current_graph_exec":
		uniform(func(*exec.Warp) uint64 { return 0 })
	default:
		if n, ok := strings.CutPrefix(name, "%envreg"); ok {
			i, err := strconv.Atoi(n)
			if err != nil || i < 0 || i > 31 {
				return fmt.Errorf("the special register %s", op.Name)
			}
			uniform(func(w *exec.Warp) uint64 { return uint64(w.CTA.Launch.Env[i]) })
			return nil
		}
		if strings.HasPrefix(name, "%pm") {
			// Performance counters that nobody has set up read as zero.
			uniform(func(*exec.Warp) uint64 { return 0 })
			return nil
		}
		return fmt.Errorf("the special register %s", op.Name)
	}
	return nil
}

// epoch is the start of %clock.
var epoch = time.Now()
