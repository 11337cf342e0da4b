package checker

import (
	"fmt"
	"math/bits"
	"path/filepath"
)

// Place is where an operation stands.
type Place struct {
	Func   string `json:"func,omitempty"` // when it is not the kernel
	Line   int32  `json:"ptx_line,omitempty"`
	Source string `json:"source,omitempty"`
	// SourceLine is 0 when the PTX does not tell.
	SourceLine int32 `json:"source_line,omitempty"`
}

// Call is a call of the driver API.
type Call struct {
	API  string `json:"api,omitempty"` // cuMemAlloc
	Func string `json:"func,omitempty"`
	File string `json:"file,omitempty"` // of a caller in Go
	Line int    `json:"line,omitempty"`
}

func (c *Call) String() string {
	text := c.API
	if c.Func != "" {
		if text != "" {
			text += " in "
		}
		text += fmt.Sprintf("%s (%s:%d)", c.Func, filepath.Base(c.File), c.Line)
	}
	if text == "" {
		return "the driver"
	}
	return text
}

// Site is an operation that a report is about: of a kernel, or a call of the program.
type Site struct {
	Kernel string `json:"kernel,omitempty"`
	Place
	Call  *Call  `json:"call,omitempty"`
	Queue string `json:"stream,omitempty"` // of races between operations of streams, and of the host
	// read, write, atomic read and write, ...; of a barrier what is done there
	Access string    `json:"access,omitempty"`
	Size   uint32    `json:"size,omitempty"` // bytes; of a vector all its elements
	Block  [3]uint32 `json:"block"`
	Thread [3]uint32 `json:"thread"`

	// More threads of the warp do it with the same instruction, the last one LastThread, to LastAddress.
	More        int       `json:"more_threads,omitempty"`
	LastThread  [3]uint32 `json:"last_thread,omitzero"`
	LastAddress uint64    `json:"last_address,omitempty"`
}

// Allocation is memory of the program.
type Allocation struct {
	Address uint64 `json:"address"`
	Size    uint64 `json:"size"`
	// device, managed, pinned, registered, module variables, heap of malloc in kernels
	Kind   string `json:"kind"`
	Number int    `json:"number,omitempty"` // of the program's allocations, from 1
	Made   Call   `json:"allocated"`
	Freed  Call   `json:"freed,omitzero"`
}

// String says what and where the memory is.
func (a *Allocation) String() string {
	name := a.Kind
	if a.Number > 0 {
		name = fmt.Sprintf("allocation %d: %d bytes of %s memory", a.Number, a.Size, a.Kind)
	} else {
		name = fmt.Sprintf("%d bytes of %s", a.Size, name)
	}
	return fmt.Sprintf("%s at %#x", name, a.Address)
}

// Report is a defect of the program.
type Report struct {
	Check    string   `json:"check"`
	Kind     string   `json:"kind"` // OutOfBounds, Races, ...
	Severity Severity `json:"severity"`
	Space    string   `json:"space,omitempty"`
	Address  uint64   `json:"address,omitempty"` // in shared memory the offset in the block's
	// of a race the two accesses; otherwise the first is where the defect is
	Sites  []Site      `json:"sites"`
	Where  string      `json:"where,omitempty"`  // what the address or the state of the barrier is
	Memory *Allocation `json:"memory,omitempty"` // that it is about, or the nearest
	Cure   string      `json:"cure,omitempty"`   // what is missing
	Count  uint64      `json:"count"`            // how often it was found; of races bytes, in fours, and threads
}

// pair tells defects apart: by the operations.
type pair struct {
	kind string
	p, q Program
	a, b uint32
	x, y spot // operations that are no kernels
}

// race reports two accesses, of which the second is under way.
func (x *access) race(o, r *record, addr uint64) {
	c := x.t.c
	k := pair{kind: "race", p: o.e.b.l.p, q: r.e.b.l.p, a: o.e.op.Site, b: r.e.op.Site}
	if k.a > k.b && k.p == k.q {
		k.a, k.b = k.b, k.a
	}
	if had := c.seen[k]; had != nil {
		c.log.Again(had)
		return
	}
	first, second := bits.TrailingZeros32(o.lanes), bits.TrailingZeros32(r.lanes)
	if o.e.b == r.e.b && o.e.warp == r.e.warp {
		if m := o.lanes &^ (1 << second); m != 0 {
			first = bits.TrailingZeros32(m)
		}
	}
	kind, cure := raceKind(o.e.op, r.e.op, o.e.b.l == r.e.b.l), missing(o, r)
	if kind == EqualRace {
		cure += "; both write the same value"
	}
	c.seen[k] = c.log.Add(&Report{
		Kind: kind, Space: r.e.op.Space, Address: addr, Sites: []Site{o.e.side(first), r.e.side(second)}, Cure: cure,
	})
}

// side describes a lane's access.
func (e *event) side(lane int) Site {
	d := e.b.dims
	n := uint32(32*int(e.warp) + lane)
	s := e.what(e.b.l)
	s.Block, s.Thread = e.b.at, [3]uint32{n % d[0], n / d[0] % d[1], n / d[0] / d[1]}
	return s
}

// what describes an access of a launch without its thread.
func (e *event) what(l *Launch) Site {
	s := Site{Kernel: l.p.Name(), Place: l.p.Place(e.op.Site), Size: e.op.Size}
	if s.Func == s.Kernel {
		s.Func = ""
	}
	switch {
	case e.op.Does == Reads|Writes:
		s.Access = "read and write"
	case e.op.Does == Writes:
		s.Access = "write"
	default:
		s.Access = "read"
	}
	switch {
	case e.op.Barrier:
		s.Access = "mbarrier operation"
	case e.async:
		s.Access += " of the async proxy"
	case !e.self():
		s.Access = "asynchronous " + s.Access
	case e.op.Does == Reads|Writes:
		s.Access = "atomic " + s.Access + " at scope " + e.op.Scope.String()
	case e.op.Scope != 0:
		s.Access = "strong " + s.Access + " at scope " + e.op.Scope.String()
	}
	return s
}

// missing says what would have ordered the accesses.
func missing(o, r *record) string {
	a, b := o.e, r.e
	bothStrong := a.op.Scope != 0 && b.op.Scope != 0
	switch {
	case b.op.Stale && a.op.Does&Writes != 0 && a.b.l == b.b.l:
		return "ld.global.nc is not coherent with writes of the same kernel: use ld.global"
	case bothStrong && !a.op.Scope.includes(a.b, b.b):
		return fmt.Sprintf("the first access has scope %s, which the other block is not in", a.op.Scope)
	case bothStrong && !b.op.Scope.includes(b.b, a.b):
		return fmt.Sprintf("the second access has scope %s, which the other block is not in", b.op.Scope)
	case bothStrong:
		return "both are strong, but of different sizes or places that overlap in part"
	case b.async && !a.async && a.op.Does&Writes != 0:
		return "no fence.proxy.async, or nothing that orders it, between the write and the asynchronous operation"
	case !a.self():
		return "the asynchronous operation is not awaited, or no barrier follows the wait"
	case a.b != b.b:
		return "blocks of a grid run at the same time: no release and acquire at a scope that includes both, and no barrier of the grid or cluster"
	case a.warp != b.warp:
		return "no barrier of the block between"
	}
	return "no bar.warp.sync between: lanes of a warp run independently"
}
