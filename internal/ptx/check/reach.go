package check

// Reach gives for nodes of a graph what they and all that they lead to have, each thing once. Nodes that lead to each
// other, and those that add nothing to what one successor has, share a list: calls of many functions by many kernels
// cost no more than their number. Lists must not be changed.
type Reach[N, T comparable] struct {
	Next func(N) []N // where a node leads
	Own  func(N) []T // what it has itself

	lists map[N][]T // of the nodes that are done
}

// Of returns what a node and all that it leads to have.
func (r *Reach[N, T]) Of(root N) []T {
	if list, ok := r.lists[root]; ok {
		return list
	}
	if r.lists == nil {
		r.lists = map[N][]T{}
	}
	// Tarjan's algorithm without recursion: a chain of calls may be long.
	type state struct{ index, low int }
	type frame struct {
		n    N
		next []N
	}
	seen := map[N]*state{}
	var stack []N
	var frames []frame
	enter := func(n N) {
		seen[n] = &state{len(seen), len(seen)}
		stack = append(stack, n)
		frames = append(frames, frame{n, r.Next(n)})
	}
	enter(root)
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		s := seen[f.n]
		if len(f.next) > 0 {
			m := f.next[0]
			f.next = f.next[1:]
			if _, done := r.lists[m]; done {
				continue
			}
			if t := seen[m]; t != nil {
				s.low = min(s.low, t.index)
			} else {
				enter(m)
			}
			continue
		}
		n := f.n
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			t := seen[frames[len(frames)-1].n]
			t.low = min(t.low, s.low)
		}
		if s.low != s.index {
			continue
		}
		at := len(stack) - 1
		for stack[at] != n {
			at--
		}
		list := r.join(stack[at:])
		for _, m := range stack[at:] {
			r.lists[m] = list
		}
		stack = stack[:at]
	}
	return r.lists[root]
}

// join is what nodes that lead to each other have, and what the others have that they lead to.
func (r *Reach[N, T]) join(nodes []N) (list []T) {
	var in map[T]bool // of list, when it is not one that exists
	add := func(more []T) {
		switch {
		case len(more) == 0 || len(list) > 0 && &list[0] == &more[0] && len(list) == len(more):
			return
		case list == nil:
			list = more
			return
		case in == nil:
			in = make(map[T]bool, len(list)+len(more))
			for _, x := range list {
				in[x] = true
			}
			list = list[:len(list):len(list)]
		}
		for _, x := range more {
			if !in[x] {
				in[x] = true
				list = append(list, x)
			}
		}
	}
	done := map[*T]bool{} // lists that are in
	for _, n := range nodes {
		for _, m := range r.Next(n) {
			if l := r.lists[m]; len(l) > 0 && !done[&l[0]] {
				done[&l[0]] = true
				add(l)
			}
		}
		add(r.Own(n))
	}
	return list
}
