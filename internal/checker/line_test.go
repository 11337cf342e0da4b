package checker

import "testing"

type program struct{}

func (program) Name() string            { return "k" }
func (program) Place(site uint32) Place { return Place{Line: int32(site)} }

// shadowRun makes accesses by chance and gives the number of reports. With split every line is one of cells from the
// beginning.
func shadowRun(seed uint64, split bool) (races int) {
	c := New(NewLog(func(*Report) { races++ }, nil))
	l := c.Launch(program{})
	const base = 1 << 20
	if split {
		for at := uint64(base); at < base+8192; at += lineSize {
			l.global.cell(at)
		}
	}
	rnd := seed
	next := func(n uint64) uint64 {
		rnd = rnd*6364136223846793005 + 1442695040888963407
		return rnd >> 33 % n
	}
	var ops []*Op
	for i := range uint32(6) {
		size := []uint32{4, 8, 2}[i/2]
		ops = append(ops, &Op{Site: i + 1, ID: i, Does: []Does{Reads, Writes}[i%2], Size: size, Count: 1,
			Space: "global"})
	}
	b := l.Block(NewCluster(), 0, [3]uint32{}, [3]uint32{64, 1, 1})
	for range 12 {
		warp := int(next(2))
		switch next(6) {
		case 0:
			b.BarrierDone(0, []uint32{allLanes, allLanes})
		case 1:
			m := uint32(allLanes) >> next(20)
			b.WarpSync(warp, m, m)
		default:
			op := ops[next(uint64(len(ops)))]
			size := uint64(op.Size)
			stride := []uint64{size, size, 0, 2 * size, 12 * size}[next(5)]
			first := base + size*next(40)
			lanes := uint32(allLanes)
			if op.Does == Writes && stride == 0 || next(4) == 0 {
				lanes = 1 << next(32)
			}
			var addrs [32]uint64
			for i := range addrs {
				addrs[i] = first + stride*uint64(i)
			}
			b.Access(op, warp, lanes, lanes, nil, &addrs)
		}
	}
	return races
}

// TestLines holds spans against cells, which remember every four bytes by themselves: both find races or neither does.
// Which pairs are named may differ: a lane's read takes the place of its earlier ones for a cell
// when it covers them, and for a line when the lanes are at the same places.
func TestLines(t *testing.T) {
	found := 0
	for seed := range uint64(4000) {
		want, got := shadowRun(seed, true), shadowRun(seed, false)
		if (got == 0) != (want == 0) {
			t.Fatalf("seed %d: %d races, with cells alone %d", seed, got, want)
		}
		found += min(want, 1)
	}
	if found < 400 || found > 3600 {
		t.Errorf("%d of 4000 runs raced", found)
	}
}
