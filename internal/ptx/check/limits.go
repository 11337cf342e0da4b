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

// frameLimit checks what each thread keeps for a function: its variables in local memory, and its parameters, which the ABI passes on the stack when registers do not hold
// them. Both have to fit into the local memory of a thread. The parameters of a body are those of its calls, of which a function may have any number.
func (c *checker) frameLimit(f *Func, d *ptx.Func) {
	kind := "Function"
	if f.Entry {
		kind = "Entry function"
	}
	fits := func(n uint64, what string) {
		if n > MaxLocal {
			c.errorf(d.Body.EndPos, Limit, "%s '%s' uses too much %s (0x%x bytes, 0x%x max)", kind, f.Name, what, n, MaxLocal)
		}
	}
	var local, formal Layout
	if !f.Entry {
		for _, list := range [][]*Var{f.Params, f.Returns} {
			for _, v := range list {
				formal.Add(v)
			}
		}
	}
	widest := uint64(0)
	for _, v := range f.Locals {
		switch v.Space {
		case "local":
			local.Add(v)
		case "param":
			widest = max(widest, v.Size)
		}
	}
	fits(local.Size, "local data")
	fits(max(formal.Size, widest), "parameter space")
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
	reach := Reach[*Func, *Var]{Next: func(f *Func) []*Func { return f.uses.calls }, Own: func(f *Func) []*Var { return f.uses.shared }}
	type listKey struct {
		first **Var
		n     int
	}
	sizes := map[listKey]uint64{} // kernels may share a list
	for _, f := range c.m.Funcs {
		if !f.Entry || !f.Defined {
			continue
		}
		vars := reach.Of(f)
		if len(vars) == 0 {
			continue
		}
		key := listKey{&vars[0], len(vars)}
		size, ok := sizes[key]
		if !ok {
			size = SharedSize(vars)
			sizes[key] = size
		}
		if size > limit {
			c.report(&Error{Kind: Limit, Text: fmt.Sprintf("Entry function '%s' uses too much shared data (0x%x bytes, 0x%x max)", f.Name, size, limit)})
		}
	}
}

// SharedSize is the static shared memory that variables take, up to where dynamic shared memory begins.
func SharedSize(vars []*Var) uint64 {
	vars = slices.Clone(vars)
	SortShared(vars)
	var l, unsized Layout
	for _, v := range vars {
		switch {
		case v.Size == 0:
			unsized.Pad(v.Align)
		case v.Linkage != ptx.LinkExtern:
			l.Add(v)
		}
	}
	l.Pad(unsized.Align)
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
