package ir

// order lays blocks out so that every loop is contiguous and, loops' back edges aside, every block follows its
// predecessors. Engines run the split with the lowest operation first (exec.Warp), so that lanes meet again as early as this order allows;
// with loops contiguous that is the immediate post-dominator or before, for irreducible flow too.
//
// It condenses strongly connected components, emits them topologically, and inside each one removes the edges into its
// entry and repeats. Blocks that cannot be reached are left out.
func order(succ [][]int32, entry int32) []int32 {
	n := len(succ)
	region := make([]int32, n) // which call owns a block; edges that leave the region are ignored
	reach := make([]bool, n)
	stack := []int32{entry}
	reach[entry] = true
	var all []int32
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		all = append(all, b)
		for _, s := range succ[b] {
			if !reach[s] {
				reach[s] = true
				stack = append(stack, s)
			}
		}
	}
	o := &orderer{succ: succ, region: region, index: make([]int32, n), low: make([]int32, n), on: make([]bool, n)}
	for i := range region {
		region[i] = -1
	}
	o.emit(all, entry)
	return o.out
}

type orderer struct {
	succ    [][]int32
	region  []int32
	regions int32
	index   []int32
	low     []int32
	on      []bool
	out     []int32
}

// task is a set of blocks with its entry, waiting to be laid out, or a single block to emit.
type task struct {
	blocks []int32
	entry  int32
	single bool
}

func (o *orderer) emit(blocks []int32, entry int32) {
	work := []task{{blocks, entry, false}}
	for len(work) > 0 {
		t := work[len(work)-1]
		work = work[:len(work)-1]
		if t.single || len(t.blocks) == 1 {
			o.out = append(o.out, t.entry)
			continue
		}
		o.regions++
		id := o.regions
		for _, b := range t.blocks {
			o.region[b] = id
			o.index[b] = 0
		}
		// The entry goes first; what remains is laid out without the edges that lead back to it.
		sccs := o.components(t.blocks, t.entry, id)
		// components come in reverse topological order, which is the order in which to push work.
		pos := map[int32]int{}
		for i, c := range sccs {
			for _, b := range c {
				pos[b] = i
			}
		}
		for i, c := range sccs {
			if len(c) == 1 {
				work = append(work, task{c, c[0], true})
				continue
			}
			// A component's entry is the block that is entered from outside; the lowest such block when there are several.
			e := int32(-1)
			for _, b := range t.blocks {
				if pos[b] == i {
					continue
				}
				for _, s := range o.succ[b] {
					if o.region[s] == id && pos[s] == i && s != t.entry && (e < 0 || s < e) {
						e = s
					}
				}
			}
			if e < 0 {
				e = c[0]
				for _, b := range c {
					e = min(e, b)
				}
			}
			work = append(work, task{c, e, false})
		}
	}
}

// components is Tarjan's algorithm, without recursion, over the region's edges except those into its entry.
func (o *orderer) components(blocks []int32, entry, id int32) [][]int32 {
	var out [][]int32
	var stack []int32
	next := int32(1)
	type frame struct {
		b int32
		i int
	}
	visit := func(root int32) {
		frames := []frame{{root, 0}}
		o.index[root], o.low[root] = next, next
		next++
		stack = append(stack, root)
		o.on[root] = true
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			ss := o.succ[f.b]
			if f.i < len(ss) {
				// later successors (exits, in source order) are visited first so that they are emitted last
				s := ss[len(ss)-1-f.i]
				f.i++
				if s == entry || o.region[s] != id {
					continue
				}
				if o.index[s] == 0 {
					o.index[s], o.low[s] = next, next
					next++
					stack = append(stack, s)
					o.on[s] = true
					frames = append(frames, frame{s, 0})
				} else if o.on[s] {
					o.low[f.b] = min(o.low[f.b], o.index[s])
				}
				continue
			}
			b := f.b
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				p := frames[len(frames)-1].b
				o.low[p] = min(o.low[p], o.low[b])
			}
			if o.low[b] == o.index[b] {
				var c []int32
				for {
					x := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					o.on[x] = false
					c = append(c, x)
					if x == b {
						break
					}
				}
				out = append(out, c)
			}
		}
	}
	visit(entry)
	for _, b := range blocks { // blocks of an irreducible component that only the cut edges reached
		if o.index[b] == 0 {
			visit(b)
		}
	}
	return out
}
