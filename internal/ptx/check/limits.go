package check

import (
	"fmt"
	"slices"

	"github.com/gocuda/cuda/internal/ptx"
)

// paramLimit checks the size of a kernel's parameters, laid out as a C struct; the driver's compiler adds in 32 bits
// (recorded).
func (c *checker) paramLimit(f *Func, d *ptx.Func) {
	var l Layout
	for _, p := range f.Params {
		l.Add(p)
	}
	size, most := uint32(l.Size), uint32(maxParamNew)
	if c.m.Target.PTX < 81 {
		most = maxParam
	}
	end := d.Body.EndPos
	if size > most {
		c.errorf(end, Limit, "Entry function '%s' uses too much parameter space (0x%x bytes, 0x%x max).", f.Name, size,
			most)
	}
	if size > maxParam {
		c.need(end, "Kernel parameter size larger than 4352 bytes", 81, 70)
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
	for _, f := range c.m.Funcs {
		for _, v := range f.Locals {
			if v.Space == "const" {
				konst.Add(v)
			}
		}
	}
	if konst.Size > maxConst {
		c.report(&Error{Kind: Limit, Text: fmt.Sprintf("File uses too much global constant data (0x%x bytes, 0x%x max)",
			konst.Size, maxConst)})
	}
	limit := c.opt.MaxShared
	if limit == 0 {
		limit = maxShared
	}
	if !c.shared {
		return
	}
	reach := Reach[*Func, *Var]{Next: func(f *Func) []*Func {
		return f.uses.calls
	}, Own: func(f *Func) []*Var { return f.uses.shared }}
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
		if int64(int32(size)) > int64(limit) { // in 32 bits (recorded)
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

// SortShared puts shared variables into the order in which they are placed: those of the module in order of
// declaration, then those of functions.
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
