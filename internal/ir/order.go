package ir

import "slices"

// order lays blocks out so that every loop is contiguous and, loops' back edges aside, every block follows its
// predecessors. Engines run the split with the lowest operation first (exec.Warp), so that lanes meet again as early as
// this order allows; with loops contiguous that is the immediate post-dominator or before, for irreducible flow too.
//
// It condenses strongly connected components, emits them topologically, and inside each one removes the edges into its
// entry and repeats. Blocks that cannot be reached are left out.
func order(succ [][]int32, entry int32) []int32 {
	n := len(succ)
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
	o := &orderer{succ: succ, first: entry, region: make([]int32, n), index: make([]int32, n), low: make([]int32, n),
		at: make([]int32, n), on: make([]bool, n), out: make([]int32, 0, len(all))}
	o.emit(all)
	return o.out
}

type orderer struct {
	succ    [][]int32
	first   int32   // the function's first block
	region  []int32 // which region a block is in; edges that leave the region are ignored
	regions int32
	index   []int32
	low     []int32
	at      []int32 // number of a block's component in its region
	on      []bool
	out     []int32
}

// task is a set of blocks with its entry, waiting to be laid out. A single block is emitted. Edges into the entry are
// cut, except in the outermost region, whose entry -1 is no block: the first block may be the head of a loop too.
type task struct {
	blocks []int32
	entry  int32
	depth  int // loops around it
}

// maxLoops is how many loops inside one another are laid out one by one, each with a pass over all that is in it. What
// is deeper in is laid out in one pass: blocks there follow their predecessors, back edges aside, but loops have gaps,
// and lanes meet again later than they could.
const maxLoops = 64

func (o *orderer) emit(all []int32) {
	work := []task{{blocks: all, entry: -1}}
	for len(work) > 0 {
		t := work[len(work)-1]
		work = work[:len(work)-1]
		if len(t.blocks) == 1 {
			o.out = append(o.out, t.blocks[0])
			continue
		}
		o.regions++
		id := o.regions
		for _, b := range t.blocks {
			o.region[b] = id
			o.index[b] = 0
		}
		if t.depth > maxLoops {
			o.flat(t.entry, id)
			continue
		}
		root := t.entry
		if root < 0 {
			root = o.first
		}
		comps := o.components(root, t.entry, id)
		for i, c := range comps {
			for _, b := range c {
				o.at[b] = int32(i)
			}
		}
		// A component's entry is the block that is entered from outside; the lowest such block when there are several.
		entry := make([]int32, len(comps))
		for i := range entry {
			entry[i] = -1
		}
		entry[o.at[root]] = root
		for _, b := range t.blocks {
			for _, s := range o.succ[b] {
				if i := o.at[s]; o.region[s] == id && s != t.entry && i != o.at[b] && (entry[i] < 0 || s < entry[i]) {
					entry[i] = s
				}
			}
		}
		// Components come in reverse topological order, which is the order in which to push work.
		for i, c := range comps {
			work = append(work, task{c, entry[i], t.depth + 1})
		}
	}
}

// flat emits a region in the reverse of the order in which a search from its entry leaves the blocks.
func (o *orderer) flat(entry, id int32) {
	type frame struct {
		b int32
		i int
	}
	begin := len(o.out)
	frames := []frame{{entry, 0}}
	o.index[entry] = 1
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		ss := o.succ[f.b]
		if f.i == len(ss) {
			o.out = append(o.out, f.b)
			frames = frames[:len(frames)-1]
			continue
		}
		s := ss[len(ss)-1-f.i] // as in components
		f.i++
		if o.region[s] == id && o.index[s] == 0 {
			o.index[s] = 1
			frames = append(frames, frame{s, 0})
		}
	}
	slices.Reverse(o.out[begin:])
}

// components is Tarjan's algorithm, without recursion, over what can be reached from root by the region's edges, except
// those into its entry. That is the whole region: in a strongly connected one every path from the entry can do without
// edges back to it.
func (o *orderer) components(root, entry, id int32) [][]int32 {
	var out [][]int32
	var stack []int32
	next := int32(1)
	type frame struct {
		b int32
		i int
	}
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
	return out
}
