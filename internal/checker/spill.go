package checker

import (
	"cmp"
	"slices"
)

// Spill tells the checker of all that the journal has. Its launch has none any more. What comes back is the block under
// way.
func (j *Journal) Spill() *Block {
	l := j.l
	l.journal = nil
	j.EndBlock()
	var b *Block
	j.tell(l, func(block uint64) (*Block, bool) {
		if block != uint64(j.block) {
			return j.newBlock(l, uint32(block)), false
		}
		b = j.newBlock(l, j.block)
		return b, true
	})
	if b == nil {
		b = j.newBlock(l, j.block)
	}
	b.pass(j.past)
	return b
}

func (j *Journal) newBlock(l *Launch, block uint32) *Block {
	w, h := j.grid[0], j.grid[1]
	return l.Block(NewCluster(), block, [3]uint32{block % w, block / w % h, block / w / h}, j.dims)
}

// pass has the block's threads meet as often as they have, if it is known to be fewer times.
func (b *Block) pass(times uint32) {
	if times == b.met {
		return
	}
	b.met = times // meeting once orders as much as meeting twice
	waited := make([]uint32, len(b.warps))
	for i := range waited {
		waited[i] = allLanes
		if rest := b.threads - uint32(32*i); rest < 32 {
			waited[i] = 1<<rest - 1
		}
	}
	b.BarrierDone(0, waited)
}

// tellAll tells a launch of all that the journal has.
func (j *Journal) tellAll(l *Launch) {
	j.tell(l, func(block uint64) (*Block, bool) { return j.newBlock(l, uint32(block)), false })
}

// part is some rounds of a series by a warp.
type part struct {
	r     *series
	block uint64 // of the series'
	warp  uint64 // of the series'
	of    int    // the warp's number in its block
	round uint32
	n     uint32
	past  uint32 // barriers of the block before
}

// tell tells a launch of what blocks have done, one after the other. begin gives a block, and says whether it goes on.
func (j *Journal) tell(l *Launch, begin func(block uint64) (b *Block, on bool)) {
	slices.SortStableFunc(j.runs, func(a, b series) int {
		return cmp.Compare(a.first/j.warps, b.first/j.warps)
	})
	j.restart()
	var open []*series
	var parts []part
	next := 0
	for block := uint64(0); next < len(j.runs) || len(open) > 0; block++ {
		if len(open) == 0 {
			block = j.runs[next].first / j.warps
		}
		from, to := block*j.warps, (block+1)*j.warps
		for next < len(j.runs) && j.runs[next].first < to {
			open = append(open, &j.runs[next])
			next++
		}
		parts = parts[:0]
		for _, r := range open {
			i := uint64(0) // which of the series' blocks it is
			if r.blocks > 1 {
				i = block - r.first/j.warps
			}
			begin := r.first + i*j.warps
			for w := max(from, begin); w < min(to, begin+uint64(r.warps)); w++ {
				p := part{r, i, w - begin, int(w % j.warps), 0, r.rounds, r.since}
				if r.more == 0 {
					parts = append(parts, p)
					continue
				}
				for p.n = 1; p.round < r.rounds; p.round++ {
					parts = append(parts, p)
					p.past += r.more
				}
			}
		}
		open = slices.DeleteFunc(open, func(r *series) bool {
			return r.first+uint64(r.blocks-1)*j.warps+uint64(r.warps) <= to
		})
		if len(parts) == 0 {
			continue
		}
		slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.past, b.past) })
		b, on := begin(block)
		for i := range parts {
			p := &parts[i]
			b.pass(p.past)
			p.tell(b, j.ops[p.r.op], p.of)
		}
		if !on {
			b.End()
		}
	}
}

// tell tells of a part.
func (p *part) tell(b *Block, op *Op, warp int) {
	r := p.r
	n := int64(1) << r.group // lanes of a group
	for k := range p.n {
		base := r.base + uint64(r.far*int64(p.block)+r.next*int64(p.warp)+r.step*int64(p.round+k))
		switch {
		case op.Scope != 0:
			var addrs [32]uint64
			for l := range addrs {
				addrs[l] = base + uint64(r.stride*(int64(l)&(n-1))+r.pitch*(int64(l)>>r.group))
			}
			b.Access(op, warp, r.lanes, r.lanes, nil, &addrs)
		case r.pitch == r.stride*n:
			b.AccessRun(op, warp, r.lanes, base, r.stride)
		default:
			for g := int64(0); g*n < 32; g++ {
				if lanes := r.lanes & uint32((1<<n-1)<<(g*n)); lanes != 0 {
					b.AccessRun(op, warp, lanes, base+uint64((r.pitch-r.stride*n)*g), r.stride)
				}
			}
		}
	}
}
