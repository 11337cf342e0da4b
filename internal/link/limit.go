package link

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// The limits of a linked program: the linker does not know of the larger shared memory that kernels may opt in to (recorded: a kernel with more than
// 48 KiB loads as a module and does not link).
const (
	maxLinkedShared = 0xc000
	maxConst        = 0x10000
)

// limits checks the shared memory of each kernel with what it can reach, and the constant memory of the program.
func (p *Linked) limits() *Error {
	var log []string
	for i := len(p.Kernels) - 1; i >= 0; i-- {
		if n := p.shared(p.Kernels[i]); n > maxLinkedShared {
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
		log = append(log, fmt.Sprintf("error   : File uses too much global constant data (0x%x bytes, 0x%x max)", konst.Size, maxConst))
	}
	if log != nil {
		return lines(Limit, log)
	}
	return nil
}

// shared is the static shared memory of a kernel in bytes.
func (p *Linked) shared(kernel *check.Func) uint64 {
	var total check.Layout
	uses := map[*check.Func]*uses{}
	for _, u := range p.Units {
		if u.uses[kernel] != nil {
			uses = u.uses
		}
	}
	seenF, seenV := map[*check.Func]bool{kernel: true}, map[*check.Var]bool{}
	add := func(v *check.Var) {
		if v.Space == "shared" && !seenV[v] {
			seenV[v] = true
			total.Add(v)
		}
	}
	work := []*check.Func{kernel}
	push := func(g *check.Func) {
		if g.Defined && !g.Entry && !seenF[g] {
			seenF[g] = true
			work = append(work, g)
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range f.Locals {
			add(v)
		}
		s := uses[f]
		if s == nil {
			for _, u := range p.Units {
				if s = u.uses[f]; s != nil {
					break
				}
			}
		}
		if s == nil {
			continue
		}
		for _, v := range s.vars {
			add(p.Var(v))
		}
		for _, g := range s.funcs {
			push(p.Func(g))
		}
		if s.indirect {
			for _, g := range p.Taken {
				push(g)
			}
		}
	}
	return total.Size
}
