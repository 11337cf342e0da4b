package check

import (
	"fmt"
	"slices"

	"github.com/gocuda/cuda/internal/ptx"
)

// paramLimit checks the size of a kernel's parameters, laid out as a C struct.
func (c *checker) paramLimit(f *Func, d *ptx.Func) {
	var l Layout
	for _, p := range f.Params {
		l.Add(p)
	}
	most := uint64(maxParamNew)
	if c.m.Target.PTX < 81 {
		most = maxParam
	}
	if l.Size <= most {
		return
	}
	end := d.Body.EndPos
	c.errorf(end, Limit, "Entry function '%s' uses too much parameter space (0x%x bytes, 0x%x max).", f.Name, l.Size, most)
	if c.m.Target.PTX < 81 {
		c.errorf(end, Feature, "%s", needPTX("Kernel parameter size larger than 4352 bytes", 81))
	}
}

// frameLimit checks what each thread keeps for a function: its variables in local memory, and its parameters and those of its calls, which the ABI passes on the
// stack when registers do not hold them. All have to fit into the local memory of a thread.
func (c *checker) frameLimit(f *Func, d *ptx.Func) {
	var local, param Layout
	if !f.Entry {
		for _, v := range f.Params {
			param.Add(v)
		}
		for _, v := range f.Returns {
			param.Add(v)
		}
	}
	for _, v := range f.Locals {
		switch v.Space {
		case "local":
			local.Add(v)
		case "param":
			param.Add(v)
		}
	}
	kind := "Function"
	if f.Entry {
		kind = "Entry function"
	}
	if local.Size > MaxLocal {
		c.errorf(d.Body.EndPos, Limit, "%s '%s' uses too much local data (0x%x bytes, 0x%x max)", kind, f.Name, local.Size, MaxLocal)
	}
	if param.Size > MaxLocal {
		c.errorf(d.Body.EndPos, Limit, "%s '%s' uses too much parameter space (0x%x bytes, 0x%x max).", kind, f.Name, param.Size, MaxLocal)
	}
}

// limits checks the amounts of constant memory and of static shared memory.
func (c *checker) limits() {
	var konst Layout
	for _, v := range c.m.Vars {
		if v.Space == "const" && v.Linkage != ptx.LinkExtern {
			konst.Add(v)
		}
	}
	if konst.Size > maxConst {
		c.report(&Error{Kind: Limit, Text: fmt.Sprintf("File uses too much global constant data (0x%x bytes, 0x%x max)", konst.Size, maxConst)})
	}
	limit := c.opt.MaxShared
	if limit == 0 {
		limit = maxShared
	}
	if !c.shared {
		return
	}
	for _, f := range c.m.Funcs {
		if !f.Entry || !f.Defined {
			continue
		}
		if size := c.sharedSize(f); size > limit {
			c.report(&Error{Kind: Limit, Text: fmt.Sprintf("Entry function '%s' uses too much shared data (0x%x bytes, 0x%x max)", f.Name, size, limit)})
		}
	}
}

// sharedSize is the static shared memory of an entry and what it can reach.
func (c *checker) sharedSize(entry *Func) uint64 {
	seen := map[*Func]bool{entry: true}
	var vars []*Var
	var unsized uint64 // the alignment of dynamic shared memory
	use := map[*Var]bool{}
	for work := []*Func{entry}; len(work) > 0; {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range f.Locals {
			if v.Space == "shared" {
				vars = append(vars, v)
			}
		}
		for v := range f.uses.shared {
			switch {
			case use[v]:
			case v.Size == 0:
				unsized = max(unsized, v.Align)
			case v.Linkage != ptx.LinkExtern:
				vars = append(vars, v)
			}
			use[v] = true
		}
		for g := range f.uses.calls {
			if !seen[g] {
				seen[g] = true
				work = append(work, g)
			}
		}
	}
	SortShared(vars)
	var l Layout
	for _, v := range vars {
		l.Add(v)
	}
	l.Pad(unsized)
	return l.Size
}

// SortShared puts shared variables into the order in which they are placed: those of the module in order of declaration, then those of functions.
func SortShared(vars []*Var) {
	slices.SortStableFunc(vars, func(a, b *Var) int {
		if (a.Func == nil) != (b.Func == nil) {
			if a.Func == nil {
				return -1
			}
			return 1
		}
		return a.Index - b.Index
	})
}
