package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// A warpStep is what a warp of a kernel by chance does.
type warpStep struct {
	op, warp int // op -1: all threads of the block meet
	lanes    uint32
	addrs    [32]uint64
	base     uint64 // where regular: lane l is at base + stride*(l mod 2^group) + pitch*(l/2^group)
	stride   int64
	pitch    int64
	group    uint8
	regular  bool
}

// kernelByChance gives what blocks of two warps do.
func kernelByChance(rnd *rand.Rand, base uint64) (ops []*Op, blocks [][]warpStep) {
	size := uint32(1) << rnd.IntN(4)
	strong := ScopeDevice
	if rnd.IntN(4) == 0 {
		strong = ScopeBlock
	}
	for i := range uint32(5) {
		o := &Op{Site: i + 1, ID: i, Does: Reads, Size: size, Count: 1 + uint32(rnd.IntN(8)/7), Space: "global"}
		switch i {
		case 1, 2:
			o.Does = Writes
		case 3:
			o.Does, o.Scope, o.Count = Reads|Writes, strong, 1
		case 4:
			o.Stale = rnd.IntN(2) == 0
		}
		ops = append(ops, o)
	}
	type pattern struct {
		at                                     uint64
		lane, group, warp, block, round, phase int64
		shift                                  uint8
		rounds                                 int
		lanes                                  uint32
		wild                                   bool
	}
	unit := int64(size)
	pick := func(list ...int64) int64 { return unit * list[rnd.IntN(len(list))] }
	var order []pattern
	var which []int
	for range 1 + rnd.IntN(4) {
		op := rnd.IntN(len(ops))
		wide := int64(ops[op].Count)
		p := pattern{
			at:   base + 4096*uint64(rnd.IntN(3)) + uint64(unit*int64(rnd.IntN(3)*rnd.IntN(40))),
			lane: wide * pick(1, 1, 1, 0, 2),
			warp: pick(32, 32, 32, 0, 16, 64), block: pick(64, 64, 64, 0, 32, 512), round: pick(0, 1, 256, 32),
			phase: pick(0, 0, 64), shift: uint8(2 + rnd.IntN(4)), rounds: 1 + rnd.IntN(4)*rnd.IntN(2), lanes: allLanes,
			wild: rnd.IntN(10) == 0,
		}
		p.group = p.lane << p.shift
		if rnd.IntN(3) == 0 {
			p.group = pick(128, 64, 16)
		}
		if rnd.IntN(4) == 0 {
			p.lanes = []uint32{1, 0xffff, 0xffff0000, 0x55555555, 1 << 31, 0x00ff0ff0}[rnd.IntN(6)]
		}
		order, which = append(order, p), append(which, op)
	}
	if rnd.IntN(3) == 0 && len(order) > 1 { // in place
		order[1] = order[0]
	}
	phases := 1 + rnd.IntN(3)*rnd.IntN(2)
	for b := range 1 + rnd.IntN(4) {
		var list []warpStep
		for phase := range phases {
			for i, p := range order {
				for warp := range 2 {
					for k := range p.rounds {
						at := p.at + uint64(p.block*int64(b)+p.warp*int64(warp)+p.round*int64(k)+p.phase*int64(phase))
						s := warpStep{op: which[i], warp: warp, lanes: p.lanes, base: at, stride: p.lane,
							pitch: p.group,
							group: p.shift, regular: !p.wild && rnd.IntN(8) > 0}
						for l := range s.addrs {
							s.addrs[l] = at + uint64(p.lane*(int64(l)&(1<<p.shift-1))+p.group*(int64(l)>>p.shift))
							if p.wild {
								s.addrs[l] = p.at + uint64(unit*int64(rnd.IntN(200)))
							}
						}
						list = append(list, s)
					}
				}
			}
			list = append(list, warpStep{op: -1})
		}
		blocks = append(blocks, list)
	}
	return ops, blocks
}

type named struct{ a, b uint32 }

// launchByChance follows a kernel by chance in a queue, with a journal or without. spilt is how many steps the journal
// takes.
func launchByChance(c *Checker, q *Queue, rnd *rand.Rand, base uint64, journal bool, spilt int) {
	ops, blocks := kernelByChance(rnd, base)
	dims := [3]uint32{64, 1, 1}
	a := q.Enqueue(About{})
	l := c.Launch(program{})
	grid := [3]uint32{uint32(len(blocks)), 1, 1}
	l.In(a, grid, dims)
	var j *Journal
	if journal {
		j = l.Journal(ops, grid)
	}
	for i, steps := range blocks {
		at := [3]uint32{uint32(i)}
		var b *Block
		if j != nil {
			j.Begin(uint32(i), dims)
		} else {
			b = l.Block(NewCluster(), uint32(i), at, dims)
		}
		for k := range steps {
			s := &steps[k]
			if spilt--; j != nil && spilt == 0 {
				b, j = j.Spill(), nil
			}
			switch {
			case s.op < 0 && j != nil:
				j.Barrier()
			case s.op < 0:
				b.BarrierDone(0, []uint32{allLanes, allLanes})
			case j != nil && s.regular:
				if !j.Again(s.op*2+s.warp, s.lanes, s.base, s.stride, s.pitch) {
					j.Add(s.op, s.warp, s.lanes, s.base, s.stride, s.pitch, s.group)
				}
			case j != nil:
				j.AddEach(s.op, s.warp, s.lanes, &s.addrs)
			default:
				b.Access(ops[s.op], s.warp, s.lanes, s.lanes, nil, &s.addrs)
			}
		}
		if j != nil {
			j.EndBlock()
			if spilt%3 == 0 {
				j.compact()
			}
		} else {
			b.End()
		}
	}
	l.End()
	a.End()
}

func reported(seed uint64, journal bool, spilt int) map[named]bool {
	found := map[named]bool{}
	c := New(NewLog(func(r *Report) {
		x := named{uint32(r.Sites[0].Place.Line), uint32(r.Sites[1].Place.Line)}
		if x.a > x.b {
			x.a, x.b = x.b, x.a
		}
		found[x] = true
	}, nil))
	rnd := rand.New(rand.NewPCG(seed, 1))
	t := c.Time()
	queues := []*Queue{t.Queue("a"), t.Queue("b")}
	for range 1 + rnd.IntN(3)*rnd.IntN(2) {
		q := queues[rnd.IntN(2)]
		again := rnd.Uint64()
		base := uint64(1<<20) + 1<<14*uint64(rnd.IntN(2))
		for range 1 + rnd.IntN(2) {
			launchByChance(c, q, rand.New(rand.NewPCG(again, 2)), base, journal, spilt)
		}
		switch rnd.IntN(4) {
		case 0:
			t.HostKnows(q.Now())
		case 1:
			queues[1].Follow(queues[0].Now())
		}
	}
	return found
}

// TestJournal holds launches with journals against launches that the checker is told of as they go, within launches and
// between them: the same programs race, and no pair of operations is lost. Of programs that race in several ways a
// journal may give more pairs, since its operations come one after the other for all warps: an access that takes the
// place of its thread's earlier one hides what that one races with.
func TestJournal(t *testing.T) {
	runs, raced := uint64(6000), 0
	if testing.Short() {
		runs = 600
	}
	for seed := range runs {
		want, got := reported(seed, false, 0), reported(seed, true, int(seed%100))
		lost := slices.DeleteFunc(list(want), func(x string) bool { return slices.Contains(list(got), x) })
		if len(lost) > 0 || len(want) == 0 && len(got) > 0 {
			t.Errorf("seed %d: %v, with a journal %v", seed, list(want), list(got))
		}
		if len(want) > 0 {
			raced++
		}
	}
	if uint64(raced) < runs/5 || uint64(raced) > runs*4/5 {
		t.Errorf("%d of %d raced", raced, runs)
	}
}

// TestJournalBlocks: writes of several blocks that one series stands for race with each other.
func TestJournalBlocks(t *testing.T) {
	for far, want := range map[uint64]int{0: 1, 64: 1, 128: 0} {
		races := 0
		c := New(NewLog(func(*Report) { races++ }, nil))
		l := c.Launch(program{})
		j := l.Journal([]*Op{{Does: Writes, Size: 4, Count: 1, Space: "global"}}, [3]uint32{5, 1, 1})
		for b := range uint64(5) {
			j.Begin(uint32(b), [3]uint32{64, 1, 1})
			at := 1<<20 + far*b
			if b == 4 {
				at = 1 << 22
			}
			j.Add(0, 0, allLanes, at, 4, 64, 4)
			j.EndBlock()
		}
		if len(j.runs) != 2 {
			t.Errorf("%d bytes apart: %d series", far, len(j.runs))
		}
		if l.End(); races != want {
			t.Errorf("%d bytes apart: %d races", far, races)
		}
	}
}

func list(m map[named]bool) []string {
	var l []string
	for x := range m {
		l = append(l, fmt.Sprint(x))
	}
	slices.Sort(l)
	return l
}

func TestSeriesSize(t *testing.T) {
	if n := unsafe.Sizeof(series{}); n > seriesSize {
		t.Errorf("a series has %d bytes", n)
	}
}
