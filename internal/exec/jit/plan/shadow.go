package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// shadows says whether nothing can tell when a function's additions to global memory are made, but that it takes time.
func shadows(f *ir.Func, dead func(i int32) bool) bool {
	any := false
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		if op.Opcode() == optab.OpFence && !op.Mods().InCluster() {
			return false
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Global && a.Space != ir.Generic {
				continue
			}
			switch op.Effect() {
			case optab.MemLoad:
				if !op.Mods().Nc {
					return false
				}
			case optab.MemNone:
			case optab.MemAtomic:
				m, t := op.Mods(), op.Type(0)
				if m.Func != optab.FuncAdd || t != optab.U32 && t != optab.S32 || !dead(int32(i)) {
					return false
				}
				if m.Scope == optab.ScopeSys || m.Orders() {
					return false
				}
				any = true
			default:
				return false
			}
		}
	}
	return any
}

// Unread says whether nothing reads an operation's results.
func (v *Values) Unread(i int32) bool {
	for _, d := range v.Ops[i].Defs {
		if v.Webs[d.Web].Uses > 0 {
			return false
		}
	}
	return true
}
