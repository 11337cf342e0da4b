package ir

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// checkOrder verifies the property that order states, by the definition: in every region, beginning with the whole
// function, strongly connected components are contiguous and stand in topological order, and so inside each of them
// once the edges into its first block, which must be one where it is entered, are taken away.
func checkOrder(succ [][]int32, out []int32) error {
	n := len(succ)
	reach := reachable(succ, 0, nil, -1)
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for i, b := range out {
		if at[b] >= 0 {
			return fmt.Errorf("block %d comes twice", b)
		}
		at[b] = i
	}
	in := make([]bool, n)
	for b := range n {
		if reach[b] != (at[b] >= 0) {
			return fmt.Errorf("block %d: reachable %v, laid out %v", b, reach[b], at[b] >= 0)
		}
		in[b] = reach[b]
	}
	if len(out) == 0 || out[0] != 0 {
		return fmt.Errorf("the entry is not first: %v", out)
	}
	return checkRegion(succ, out, in, -1)
}

// reachable returns the blocks that can be reached from b inside the region in (nil: everything) without edges into
// cut.
func reachable(succ [][]int32, b int32, in []bool, cut int32) []bool {
	r := make([]bool, len(succ))
	r[b] = true
	work := []int32{b}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range succ[x] {
			if s != cut && !r[s] && (in == nil || in[s]) {
				r[s] = true
				work = append(work, s)
			}
		}
	}
	return r
}

func checkRegion(succ [][]int32, out []int32, in []bool, cut int32) error {
	n := len(succ)
	reach := make([][]bool, n)
	for b := range int32(n) {
		if in[b] {
			reach[b] = reachable(succ, b, in, cut)
		}
	}
	same := func(a, b int32) bool { return reach[a][b] && reach[b][a] }
	at := make([]int, n)
	for i, b := range out {
		at[b] = i
	}
	for b := range int32(n) {
		if !in[b] {
			continue
		}
		for _, s := range succ[b] {
			if s != cut && in[s] && !same(b, s) && at[s] < at[b] {
				return fmt.Errorf("edge %d -> %d goes back outside a loop in %v", b, s, out)
			}
		}
		for c := range int32(n) {
			if !in[c] || !same(b, c) {
				continue
			}
			for i := min(at[b], at[c]); i <= max(at[b], at[c]); i++ {
				if x := out[i]; !in[x] || !same(b, x) {
					return fmt.Errorf("loop of %d and %d has %d inside in %v", b, c, x, out)
				}
			}
		}
	}
	// Each component of several blocks, once: at its first block.
	for _, b := range out {
		if !in[b] {
			continue
		}
		var comp []bool
		size := 0
		first := true
		for c := range int32(n) {
			if in[c] && same(b, c) {
				if comp == nil {
					comp = make([]bool, n)
				}
				comp[c] = true
				size++
				first = first && at[c] >= at[b]
			}
		}
		if size < 2 || !first {
			continue
		}
		entered := b == 0 && cut < 0
		for c := range int32(n) {
			entered = entered || in[c] && !comp[c] && slices.Contains(succ[c], b)
		}
		if !entered {
			return fmt.Errorf("the loop at %d is not entered there in %v", b, out)
		}
		if err := checkRegion(succ, out, comp, b); err != nil {
			return err
		}
	}
	return nil
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		succ [][]int32
		want []int32
	}{
		{"one", [][]int32{{}}, []int32{0}},
		{"self loop", [][]int32{{0, 1}, {}}, []int32{0, 1}},
		{"if", [][]int32{{1, 2}, {2}, {}}, []int32{0, 1, 2}},
		{"if else", [][]int32{{1, 2}, {3}, {3}, {}}, []int32{0, 1, 2, 3}},
		{"then behind the join", [][]int32{{1, 2}, {}, {1}}, []int32{0, 2, 1}},
		{"loop", [][]int32{{1}, {1, 2}, {}}, []int32{0, 1, 2}},
		{"entry is a loop head with its exit in the middle of the text", [][]int32{{1, 2}, {}, {0}}, []int32{0, 2, 1}},
		{"entry loop with two exits", [][]int32{{1, 4}, {2, 3}, {}, {0, 2}, {}}, nil},
		{"break out of the middle", [][]int32{{1}, {2, 3}, {1, 4}, {4}, {}}, nil},
		{"endless", [][]int32{{1}, {0}}, []int32{0, 1}},
		{"unreachable", [][]int32{{2}, {0}, {}}, []int32{0, 2}},
		{"two entries", [][]int32{{1, 2}, {2}, {1, 3}, {}}, nil},
		{"nested", [][]int32{{1}, {2}, {2, 3}, {1, 4}, {}}, []int32{0, 1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := order(c.succ, 0)
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if err := checkOrder(c.succ, got); err != nil {
				t.Error(err)
			}
		})
	}
}

// randomGraph makes a graph whose edges mostly go forward, as those of programs do, or anywhere.
func randomGraph(r *rand.Rand) [][]int32 {
	n := 1 + r.IntN(11)
	succ := make([][]int32, n)
	near := r.IntN(2) == 0
	for b := range succ {
		if near && b+1 < n && r.IntN(5) > 0 {
			succ[b] = append(succ[b], int32(b+1))
		}
		for range r.IntN(3) {
			succ[b] = append(succ[b], int32(r.IntN(n)))
		}
	}
	return succ
}

func TestOrderRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		succ := randomGraph(r)
		if err := checkOrder(succ, order(succ, 0)); err != nil {
			t.Fatalf("%v: %v", succ, err)
		}
	}
}

// TestOrderLarge gives shapes on which a careless algorithm needs quadratic time. The limits are far above what they
// take.
func TestOrderLarge(t *testing.T) {
	chain := make([][]int32, 60000)
	for b := range chain {
		if b+1 < len(chain) {
			chain[b] = append(chain[b], int32(b+1))
		}
		if b%3 == 2 {
			chain[b] = append(chain[b], int32(b-1)) // 20000 loops, one after the other
		}
	}
	table := make([][]int32, 10002)
	for b := int32(1); b <= 10000; b++ {
		table[0] = append(table[0], b)
		table[b] = []int32{10001}
		if b%2 == 0 {
			table[b] = append(table[b], b)
		}
	}
	loopTable := make([][]int32, 10002)
	for b := int32(1); b <= 10000; b++ {
		loopTable[0] = append(loopTable[0], b)
		loopTable[b] = []int32{0, 10001}
	}
	const deep = 1500
	nest := make([][]int32, 2*deep+1)
	for b := range int32(2 * deep) {
		nest[b] = append(nest[b], b+1)
		if b >= deep {
			nest[b] = append(nest[b], 2*deep-1-b)
		}
	}
	for name, succ := range map[string][][]int32{"chain of loops": chain, "table": table, "table in a loop": loopTable,
		"nest": nest} {
		start := time.Now()
		out := order(succ, 0)
		if len(out) != len(succ) {
			t.Errorf("%s: %d of %d blocks", name, len(out), len(succ))
		}
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("%s takes %v", name, d)
		} else {
			t.Logf("%s: %d blocks in %v", name, len(succ), d)
		}
	}
}
