package optab

import (
	"strconv"
	"strings"
)

// SReg is a special register (PTX ISA 10).
type SReg uint8

// The special registers. Those of a kind that is numbered have one value.
const (
	NoSReg SReg = iota
	SRegTid
	SRegNtid
	SRegLaneid
	SRegWarpid
	SRegNwarpid
	SRegCtaid
	SRegNctaid
	SRegSmid
	SRegNsmid
	SRegGridid
	SRegIsExplicitCluster
	SRegClusterid
	SRegNclusterid
	SRegClusterCtaid
	SRegClusterNctaid
	SRegClusterCtarank
	SRegClusterNctarank
	SRegLanemaskEq
	SRegLanemaskLe
	SRegLanemaskLt
	SRegLanemaskGe
	SRegLanemaskGt
	SRegClock
	SRegClockHi
	SRegClock64
	SRegGlobaltimer
	SRegGlobaltimerLo
	SRegGlobaltimerHi
	SRegReservedSmemOffsetBegin
	SRegReservedSmemOffsetEnd
	SRegReservedSmemOffsetCap
	SRegReservedSmemOffset0
	SRegReservedSmemOffset1
	SRegTotalSmemSize
	SRegAggrSmemSize
	SRegDynamicSmemSize
	SRegCurrentGraphExec
	SRegEnvreg // %envreg0 to %envreg31
	SRegPm     // %pm0 to %pm7
	SRegPm64   // %pm0_64 to %pm7_64
)

// SRegInfo is a special register's type, and the version and target that introduced it.
type SRegInfo struct {
	Name    string // with its percent sign, without number and component
	Type    TypeID
	PTX, SM int
	Vector  bool // has components x, y, z, w
}

var sregs = [...]SRegInfo{
	SRegTid:                     {"%tid", U32, 10, 10, true},
	SRegNtid:                    {"%ntid", U32, 10, 10, true},
	SRegLaneid:                  {"%laneid", U32, 13, 10, false},
	SRegWarpid:                  {"%warpid", U32, 13, 10, false},
	SRegNwarpid:                 {"%nwarpid", U32, 20, 20, false},
	SRegCtaid:                   {"%ctaid", U32, 10, 10, true},
	SRegNctaid:                  {"%nctaid", U32, 10, 10, true},
	SRegSmid:                    {"%smid", U32, 13, 10, false},
	SRegNsmid:                   {"%nsmid", U32, 20, 20, false},
	SRegGridid:                  {"%gridid", U64, 10, 10, false},
	SRegIsExplicitCluster:       {"%is_explicit_cluster", Pred, 78, 90, false},
	SRegClusterid:               {"%clusterid", U32, 78, 90, true},
	SRegNclusterid:              {"%nclusterid", U32, 78, 90, true},
	SRegClusterCtaid:            {"%cluster_ctaid", U32, 78, 90, true},
	SRegClusterNctaid:           {"%cluster_nctaid", U32, 78, 90, true},
	SRegClusterCtarank:          {"%cluster_ctarank", U32, 78, 90, false},
	SRegClusterNctarank:         {"%cluster_nctarank", U32, 78, 90, false},
	SRegLanemaskEq:              {"%lanemask_eq", U32, 20, 20, false},
	SRegLanemaskLe:              {"%lanemask_le", U32, 20, 20, false},
	SRegLanemaskLt:              {"%lanemask_lt", U32, 20, 20, false},
	SRegLanemaskGe:              {"%lanemask_ge", U32, 20, 20, false},
	SRegLanemaskGt:              {"%lanemask_gt", U32, 20, 20, false},
	SRegClock:                   {"%clock", U32, 10, 10, false},
	SRegClockHi:                 {"%clock_hi", U32, 50, 20, false},
	SRegClock64:                 {"%clock64", U64, 20, 20, false},
	SRegGlobaltimer:             {"%globaltimer", U64, 31, 30, false},
	SRegGlobaltimerLo:           {"%globaltimer_lo", U32, 31, 30, false},
	SRegGlobaltimerHi:           {"%globaltimer_hi", U32, 31, 30, false},
	SRegReservedSmemOffsetBegin: {"%reserved_smem_offset_begin", B32, 76, 80, false},
	SRegReservedSmemOffsetEnd:   {"%reserved_smem_offset_end", B32, 76, 80, false},
	SRegReservedSmemOffsetCap:   {"%reserved_smem_offset_cap", B32, 76, 80, false},
	SRegReservedSmemOffset0:     {"%reserved_smem_offset_0", B32, 76, 80, false},
	SRegReservedSmemOffset1:     {"%reserved_smem_offset_1", B32, 76, 80, false},
	SRegTotalSmemSize:           {"%total_smem_size", U32, 41, 20, false},
	SRegAggrSmemSize:            {"%aggr_smem_size", U32, 81, 90, false},
	SRegDynamicSmemSize:         {"%dynamic_smem_size", U32, 41, 20, false},
	SRegCurrentGraphExec:        {"%current_graph_exec", U64, 80, 50, false},
	SRegEnvreg:                  {"%envreg", B32, 21, 10, false},
	SRegPm:                      {"%pm", U32, 13, 10, false},
	SRegPm64:                    {"%pm", U64, 40, 50, false},
}

// Info is the register's description. Nobody may write to it.
func (s SReg) Info() *SRegInfo { return &sregs[s] }

// FindSReg returns the special register of that name, with its percent sign and without component, and its number among
// those of a kind; NoSReg when there is none.
func FindSReg(name string) (s SReg, number int) {
	for s := SRegTid; s < SRegEnvreg; s++ {
		if sregs[s].Name == name {
			return s, 0
		}
	}
	is := func(prefix, suffix string, count int) bool {
		digits, ok := strings.CutPrefix(name, prefix)
		digits, ends := strings.CutSuffix(digits, suffix)
		n, err := strconv.Atoi(digits)
		number = n
		return ok && ends && err == nil && n >= 0 && n < count && strconv.Itoa(n) == digits
	}
	switch {
	case is("%envreg", "", 32):
		return SRegEnvreg, number
	case is("%pm", "_64", 8):
		return SRegPm64, number
	case is("%pm", "", 8):
		return SRegPm, number
	}
	return NoSReg, 0
}
