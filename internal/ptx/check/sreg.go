package check

import (
	"strconv"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// sreg is a special register (PTX ISA 10): its type and the version and target that introduced it.
type sreg struct {
	name string
	typ  string
	ptx  int
	sm   int
	vec  bool // has components x, y, z, w
}

var sregs = []sreg{
	{"%tid", "u32", 10, 10, true}, {"%ntid", "u32", 10, 10, true}, {"%laneid", "u32", 13, 10, false},
	{"%warpid", "u32", 13, 10, false}, {"%nwarpid", "u32", 20, 20, false}, {"%ctaid", "u32", 10, 10, true},
	{"%nctaid", "u32", 10, 10, true}, {"%smid", "u32", 13, 10, false}, {"%nsmid", "u32", 20, 20, false},
	{"%gridid", "u64", 10, 10, false}, {"%is_explicit_cluster", "pred", 78, 90, false}, {"%clusterid", "u32", 78, 90, true},
	{"%nclusterid", "u32", 78, 90, true}, {"%cluster_ctaid", "u32", 78, 90, true}, {"%cluster_nctaid", "u32", 78, 90, true},
	{"%cluster_ctarank", "u32", 78, 90, false}, {"%cluster_nctarank", "u32", 78, 90, false},
	{"%lanemask_eq", "u32", 20, 20, false}, {"%lanemask_le", "u32", 20, 20, false}, {"%lanemask_lt", "u32", 20, 20, false},
	{"%lanemask_ge", "u32", 20, 20, false}, {"%lanemask_gt", "u32", 20, 20, false},
	{"%clock", "u32", 10, 10, false}, {"%clock_hi", "u32", 50, 20, false}, {"%clock64", "u64", 20, 20, false},
	{"%globaltimer", "u64", 31, 30, false}, {"%globaltimer_lo", "u32", 31, 30, false}, {"%globaltimer_hi", "u32", 31, 30, false},
	{"%reserved_smem_offset_begin", "b32", 76, 80, false}, {"%reserved_smem_offset_end", "b32", 76, 80, false},
	{"%reserved_smem_offset_cap", "b32", 76, 80, false}, {"%reserved_smem_offset_0", "b32", 76, 80, false},
	{"%reserved_smem_offset_1", "b32", 76, 80, false}, {"%total_smem_size", "u32", 41, 20, false},
	{"%aggr_smem_size", "u32", 81, 90, false}, {"%dynamic_smem_size", "u32", 41, 20, false},
	{"%current_graph_exec", "u64", 80, 50, false},
}

// findSReg returns the special register called name (with its percent sign, without component).
func findSReg(name string) (sreg, bool) {
	for i := range sregs {
		if sregs[i].name == name {
			return sregs[i], true
		}
	}
	num := func(prefix, suffix string, count int) bool {
		if len(name) <= len(prefix)+len(suffix) || name[:len(prefix)] != prefix || name[len(name)-len(suffix):] != suffix {
			return false
		}
		d := name[len(prefix) : len(name)-len(suffix)]
		n, err := strconv.Atoi(d)
		return err == nil && n >= 0 && n < count && strconv.Itoa(n) == d
	}
	switch {
	case num("%envreg", "", 32):
		return sreg{name, "b32", 21, 10, false}, true
	case num("%pm", "_64", 8):
		return sreg{name, "u64", 40, 50, false}, true
	case num("%pm", "", 4):
		return sreg{name, "u32", 13, 10, false}, true
	case num("%pm", "", 8):
		return sreg{name, "u32", 30, 20, false}, true
	}
	return sreg{}, false
}

// reads says whether an instruction type reads a special register of type t: the same width. Two older programs' habits are
// kept: 16-bit reads of the thread and block numbers, which were 16 bits wide before PTX 2.0, and a 32-bit %gridid.
func (r sreg) reads(t, typ *optab.Type) bool {
	if t.Class == optab.Pred || typ.Class == optab.Pred {
		return t.Class == typ.Class
	}
	if typ.Class > optab.Signed {
		return false
	}
	switch {
	case t.Bits == typ.Bits:
		return true
	case r.vec && r.sm < 90:
		return typ.Bits == 16
	case r.name == "%gridid":
		return typ.Bits == 32
	}
	return false
}
