package link

import (
	"fmt"
	"maps"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// The limits of a linked program: the linker does not know of the larger shared memory that kernels may opt in to
// (recorded: a kernel with more than 48 KiB loads as a module and does not link).
const (
	maxLinkedShared = 0xc000
	maxConst        = 0x10000
)

// limits checks the shared memory of each kernel with what it can reach, and the constant memory of the program.
func (p *Linked) limits() *Error {
	var log []string
	shared := p.shared()
	for i := len(p.Kernels) - 1; i >= 0; i-- {
		if n := shared(p.Kernels[i]); n > maxLinkedShared {
			log = append(log, fmt.Sprintf("error   : Entry function '%s' uses too much shared data (0x%x bytes, 0x%x max)", p.Kernels[i].Name, n, maxLinkedShared))
		}
	}
	var konst check.Layout
	for _, v := range p.Variables {
		if v.Space == "const" {
			konst.Add(v)
		}
	}
	if konst.Size > maxConst {
		log = append(log, fmt.Sprintf("error   : File uses too much global constant data (0x%x bytes, 0x%x max)",
			konst.Size, maxConst))
	}
	if log != nil {
		return lines(Limit, log)
	}
	return nil
}

// shared is the static shared memory of kernels in bytes.
func (p *Linked) shared() func(kernel *check.Func) uint64 {
	all := map[*check.Func]*uses{}
	for _, u := range p.Units {
		maps.Copy(all, u.uses)
	}
	usesOf := func(f *check.Func) *uses {
		if s := all[f]; s != nil {
			return s
		}
		return &uses{}
	}
	reach := check.Reach[*check.Func, *check.Var]{
		Next: func(f *check.Func) (to []*check.Func) {
			push := func(g *check.Func) {
				if g.Defined && !g.Entry {
					to = append(to, g)
				}
			}
			s := usesOf(f)
			for _, g := range s.funcs {
				push(p.Func(g))
			}
			if s.indirect {
				for _, g := range p.Taken {
					push(g)
				}
			}
			return to
		},
		Own: func(f *check.Func) (vars []*check.Var) {
			add := func(v *check.Var) {
				if v.Space == "shared" {
					vars = append(vars, v)
				}
			}
			for _, v := range f.Locals {
				add(v)
			}
			for _, v := range usesOf(f).vars {
				add(p.Var(v))
			}
			return vars
		},
	}
	return func(kernel *check.Func) uint64 { return check.SharedSize(reach.Of(kernel)) }
}
