package checker

import (
	"fmt"
	"math/bits"
	"strings"
)

// Place is where an operation stands.
type Place struct {
	Func   string `json:"func,omitempty"` // when it is not the kernel
	Line   int32  `json:"ptx_line"`
	Source string `json:"source,omitempty"`
	// SourceLine is 0 when the PTX does not tell.
	SourceLine int32 `json:"source_line,omitempty"`
}

// Side is one of the accesses that a report is about.
type Side struct {
	Kernel string `json:"kernel,omitempty"`
	Place
	Access string    `json:"access"` // read, write, atomic read and write, ...
	Size   uint32    `json:"size"`
	Block  [3]uint32 `json:"block"`
	Thread [3]uint32 `json:"thread"`
}

// Report is a defect of the program.
type Report struct {
	Tool    string `json:"tool"` // race
	Kind    string `json:"kind"` // race
	Space   string `json:"space"`
	Address uint64 `json:"address"` // in shared memory the offset in the block's
	Sides   []Side `json:"accesses"`
	Missing string `json:"missing"` // what would have ordered the accesses
	Count   uint64 `json:"count"`   // bytes, in fours, and threads that it was found for
}

// pair tells defects apart: by the operations.
type pair struct {
	kind string
	p, q Program
	a, b uint32
}

// race reports two accesses, of which the second is under way.
func (x *access) race(o, r *record, addr uint64) {
	c := x.t.c
	k := pair{"race", o.e.l.p, r.e.l.p, o.e.op.Site, r.e.op.Site}
	if k.a > k.b && k.p == k.q {
		k.a, k.b = k.b, k.a
	}
	if had := c.seen[k]; had != nil {
		had.Count++
		return
	}
	first, second := bits.TrailingZeros32(o.lanes), bits.TrailingZeros32(r.lanes)
	if o.e.b == r.e.b && o.e.warp == r.e.warp {
		if m := o.lanes &^ (1 << second); m != 0 {
			first = bits.TrailingZeros32(m)
		}
	}
	rep := &Report{
		Tool: "race", Kind: "race", Space: r.e.op.Space, Address: addr, Sides: []Side{o.e.side(first), r.e.side(second)},
		Missing: missing(o, r), Count: 1,
	}
	c.seen[k] = rep
	c.order = append(c.order, rep)
	c.report(rep)
}

// side describes a lane's access.
func (e *event) side(lane int) Side {
	d := e.b.dims
	n := uint32(32*e.warp + lane)
	s := Side{
		Kernel: e.l.p.Name(), Place: e.l.p.Place(e.op.Site), Size: e.op.Size, Block: e.b.at,
		Thread: [3]uint32{n % d[0], n / d[0] % d[1], n / d[0] / d[1]},
	}
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
	case b.op.Stale && a.op.Does&Writes != 0 && a.l == b.l:
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
	case a.l != b.l:
		return "nothing orders the two launches: no event, and not the same stream"
	case a.b != b.b:
		return "blocks of a grid run at the same time: no release and acquire at a scope that includes both, and no barrier of the grid or cluster"
	case a.warp != b.warp:
		return "no barrier of the block between"
	}
	return "no bar.warp.sync between: lanes of a warp run independently"
}

// String is the report in several lines.
func (r *Report) String() string {
	var s strings.Builder
	where := fmt.Sprintf("address %#x", r.Address)
	if r.Space == "shared" {
		where = fmt.Sprintf("offset %#x of the block's shared memory", r.Address)
	}
	fmt.Fprintf(&s, "========= Race in %s memory at %s\n", r.Space, where)
	for i := range r.Sides {
		x := &r.Sides[i]
		fmt.Fprintf(&s, "=========     %s of %d bytes in kernel %s", x.Access, x.Size, x.Kernel)
		if x.Func != "" {
			fmt.Fprintf(&s, ", function %s", x.Func)
		}
		if x.Line > 0 {
			fmt.Fprintf(&s, ", PTX line %d", x.Line)
		}
		if x.SourceLine > 0 {
			fmt.Fprintf(&s, " (%s:%d)", x.Source, x.SourceLine)
		}
		fmt.Fprintf(&s, "\n=========         by thread (%d,%d,%d) of block (%d,%d,%d)\n", x.Thread[0], x.Thread[1], x.Thread[2], x.Block[0], x.Block[1],
			x.Block[2])
	}
	fmt.Fprintf(&s, "=========     %s\n", r.Missing)
	return s.String()
}
