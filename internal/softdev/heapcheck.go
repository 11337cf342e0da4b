package softdev

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gocuda/cuda/internal/checker"
)

// What the memory checker finds in calls: of the program, and of malloc and free in kernels.

// badFree reports a free of an address at which no allocation begins.
func (m *memcheck) badFree(addr uint64) {
	if !m.d.checks.Has(checker.Memory) {
		return
	}
	call := callSite(callers(), m.d.apiNames)
	r := &checker.Report{Kind: checker.InvalidFree, Address: addr, Sites: []checker.Site{{Call: &call}}}
	m.freed1(r)
	m.d.defects.Add(r)
}

// freed1 says what lies at the address of a wrong free.
func (m *memcheck) freed1(r *checker.Report) {
	e := &checker.Report{Kind: checker.OutOfBounds, Address: r.Address, Sites: []checker.Site{{Size: 1}}}
	m.global(e)
	r.Where, r.Memory = e.Where, e.Memory
	if e.Kind == checker.UseAfterFree {
		r.Kind = checker.DoubleFree
	}
	if e.Memory != nil && e.Memory.Address == r.Address && r.Kind == checker.InvalidFree {
		r.Where = fmt.Sprintf("this call does not free memory of its kind: %s", e.Memory)
	}
}

// badCall reports a copy or fill of n bytes that are not all memory of one allocation.
func (m *memory) badCall(addr, n uint64) {
	if m.check == nil || !m.d.checks.Has(checker.Memory) {
		return
	}
	call := callSite(callers(), m.d.apiNames)
	e := &checker.Report{Kind: checker.OutOfBounds, Address: addr,
		Sites: []checker.Site{{Size: uint32(min(n, 1<<32-1))}}}
	m.check.global(e)
	e.Sites = []checker.Site{{Call: &call, Access: fmt.Sprintf("accesses %d bytes", n)}}
	if e.Kind == checker.OutOfBounds {
		e.Kind = checker.CallBounds
	}
	m.d.defects.Add(e)
}

// heapCall implements exec.Launch.HeapCall: the memory of malloc in a kernel, and what is given to free.
func (h *deviceHeap) heapCall(free bool, addr uint64, at checker.Site) {
	d := h.c.d
	m := d.memory.check
	if !free {
		r, ok := d.memory.w.Lookup(addr)
		m.mu.Lock()
		defer m.mu.Unlock()
		if x := m.live[r.ID]; ok && x != nil {
			x.site = &at
		}
		return
	}
	h.mu.Lock()
	_, ok := h.live[addr]
	h.mu.Unlock()
	if ok || !d.checks.Has(checker.Memory) {
		return
	}
	at.Access = "free"
	r := &checker.Report{Kind: checker.InvalidFree, Space: "heap", Address: addr, Sites: []checker.Site{at}}
	m.freed1(r)
	d.defects.Add(r)
}

// leaks reports what a context that ends has allocated and not freed.
func (c *context) leaks() {
	m := c.d.memory.check
	if m == nil || !c.d.checks.Has(checker.Leak) {
		return
	}
	m.mu.Lock()
	var left []*memoryRecord
	for _, x := range m.live {
		if a, ok := x.r.Owner.(*allocation); ok && a.ctx == c && !a.freed.Load() &&
			(a.use == useProgram || a.use == useHeap) {
			left = append(left, x)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(left, func(a, b *memoryRecord) int { return cmp.Compare(a.r.ID, b.r.ID) })
	for _, x := range left {
		r := &checker.Report{Kind: checker.Leaked, Address: x.r.Base, Memory: x.open(c.d.apiNames),
			Where: "its context has ended and it is not freed"}
		if x.site != nil {
			r.Space = "heap"
			at := *x.site
			at.Access = "malloc"
			r.Sites = []checker.Site{at}
		}
		c.d.defects.Add(r)
	}
}
