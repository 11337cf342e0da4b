package checker

import "testing"

// TestClock holds what clocks say against maps from actors to epochs, which say it plainly.
func TestClock(t *testing.T) {
	type who struct{ block, actor uint32 }
	type plain map[who]uint64
	rnd := uint64(1)
	next := func(n uint64) uint64 {
		rnd = rnd*6364136223846793005 + 1442695040888963407
		return rnd >> 33 % n
	}
	const blocks, actors = 3, 1024 + 64
	clocks, plains := []*clock{nil}, []plain{{}}
	clone := func(p plain) plain {
		q := plain{}
		for k, v := range p {
			q[k] = v
		}
		return q
	}
	for step := range 400 {
		i, j := next(uint64(len(clocks))), next(uint64(len(clocks)))
		c, p := clocks[i], clone(plains[i])
		block, epoch := uint32(next(blocks)), uint64(step)
		switch next(4) {
		case 0:
			c = join(c, clocks[j])
			for k, v := range plains[j] {
				p[k] = max(p[k], v)
			}
			if join(c, clocks[j]) != c || join(clocks[j], c) != c {
				t.Fatal("a clock that knows more is made anew")
			}
		case 1:
			c = c.wholeBlock(block, epoch)
			for a := range uint32(1024) {
				p[who{block, a}] = epoch
			}
		default:
			group, lanes := []uint32{0, 1, 32, 33}[next(4)], uint32(next(1<<31))
			if next(3) == 0 {
				lanes = allLanes
			}
			c = c.plus(block, int(group), lanes, epoch)
			for l := range uint32(32) {
				if k := (who{block, 32*group + l}); lanes>>l&1 != 0 {
					p[k] = max(p[k], epoch)
				}
			}
		}
		clocks, plains = append(clocks, c), append(plains, p)
		for range 200 {
			k := who{uint32(next(blocks)), uint32(next(actors))}
			if e := p[k]; e > 0 && !c.knows(k.block, k.actor, e) || c.knows(k.block, k.actor, e+1) {
				t.Fatalf("step %d: block %d, actor %d: known up to %d", step, k.block, k.actor, e)
			}
		}
	}
}

// TestScopes: a scope includes a thread by where its block runs.
func TestScopes(t *testing.T) {
	l, m := &Launch{}, &Launch{}
	one, two := NewCluster(), NewCluster()
	a, b := &origin{l: l, cluster: one}, &origin{l: l, cluster: one}
	c, d := &origin{l: l, cluster: two}, &origin{l: m, cluster: two}
	for _, x := range []struct {
		s    Scope
		to   *origin
		want bool
	}{
		{0, a, false}, {ScopeBlock, a, true}, {ScopeBlock, b, false}, {ScopeCluster, b, true}, {ScopeCluster, c, false},
		{ScopeDevice, c, true}, {ScopeDevice, d, true}, {ScopeSystem, d, true},
	} {
		if got := x.s.includes(a, x.to); got != x.want {
			t.Errorf("scope %q: %v, want %v", x.s, got, x.want)
		}
	}
}
