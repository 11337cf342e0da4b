package jit

import (
	"github.com/gocuda/cuda/internal/ir"
)

// web is a value of the program: definitions of a row that can reach common uses.
type web struct {
	class  ir.Class
	shape  shape
	narrow bool  // fewer than 32 bits
	defs   int32 // definitions
	def    int32 // one of them
	uses   int32
	block  int32 // of all definitions and uses, -1 when there are several
	first  int32 // lowest operation that defines it
	fixed  bool  // always the same in a run of a warp
	undef  bool  // may be read without a definition
	at     place // scalars: where the value stands
	alias  bool  // it stands there without being computed
	last   int32 // local ones: last operation that has to do with it
}

type rowWeb struct {
	row uint32
	web int32
}

type opWebs struct{ uses, defs []rowWeb }

func (v *values) useWeb(i int32, row uint32) int32 {
	for _, x := range v.ops[i].uses {
		if x.row == row {
			return x.web
		}
	}
	return -1
}

func (v *values) defWeb(i int32, row uint32) int32 {
	for _, x := range v.ops[i].defs {
		if x.row == row {
			return x.web
		}
	}
	return -1
}

// eachRow calls f for every row of an operand.
func eachRow(a *ir.Arg, f func(a *ir.Arg)) {
	switch a.Kind {
	case ir.Row:
		f(a)
	case ir.Vec, ir.List:
		for i := range a.Elems {
			eachRow(&a.Elems[i], f)
		}
	case ir.Addr:
		if a.Base != nil {
			eachRow(a.Base, f)
		}
		for i := range a.Extra {
			eachRow(&a.Extra[i], f)
		}
	}
	if a.Second != nil {
		eachRow(a.Second, f)
	}
}

// findWebs joins definitions and uses.
func (v *values) findWebs() {
	a := v.a
	rowsN := int(a.rows)
	class := make([]ir.Class, rowsN)
	narrow := make([]bool, rowsN)
	offs := make([]uint32, rowsN)
	for i, n := range a.number {
		if n >= 0 {
			offs[n] = uint32(4 * i)
		}
	}
	for i := range a.f.Ops {
		op := &a.f.Ops[i]
		if op.Guard >= 0 {
			class[a.row(uint32(op.Guard))] = ir.WPred
		}
		for j := range op.Args {
			eachRow(&op.Args[j], func(x *ir.Arg) {
				n := a.row(x.Ref.Off)
				class[n] = x.Class
				if x.Class == ir.W32 && x.Width != 0 && x.Width < 32 {
					narrow[n] = true
				}
			})
		}
	}
	parent := make([]int32, 0, 2*len(a.f.Ops))
	of := make([]int32, 0, 2*len(a.f.Ops)) // row of a node
	var spare []rowWeb
	node := func(r int32) int32 {
		parent = append(parent, int32(len(parent)))
		of = append(of, r)
		return int32(len(parent) - 1)
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	union := func(x, y int32) {
		x, y = find(x), find(y)
		if x != y {
			parent[max(x, y)] = min(x, y)
		}
	}
	v.entry = make([][]rowWeb, len(a.blocks))
	for b := range a.blocks {
		in := a.blocks[b].in
		for r := range int32(rowsN) {
			if in.has(r) {
				v.entry[b] = append(v.entry[b], rowWeb{uint32(r), node(r)})
			}
		}
	}
	cur := make([]int32, rowsN)
	stamp := make([]int32, rowsN)
	v.ops = make([]opWebs, len(a.f.Ops))
	var undefined []int32
	for _, x := range v.entry[0] {
		undefined = append(undefined, x.web)
	}
	for b := range a.blocks {
		k := &a.blocks[b]
		gen := int32(b + 1)
		at := func(r int32) int32 {
			if stamp[r] != gen {
				cur[r] = node(r)
				stamp[r] = gen
				undefined = append(undefined, cur[r])
			}
			return cur[r]
		}
		for _, x := range v.entry[b] {
			cur[x.row], stamp[x.row] = x.web, gen
		}
		for i := k.start; i < k.end; i++ {
			op := &a.f.Ops[i]
			o := &v.ops[i]
			if len(spare) < 6 {
				spare = make([]rowWeb, 6*256)
			}
			o.uses, o.defs, spare = spare[:0:4], spare[4:4:6], spare[6:] // most operations have no more
			op.Reads(func(r uint32) {
				for _, x := range o.uses {
					if x.row == r {
						return
					}
				}
				o.uses = append(o.uses, rowWeb{r, at(a.row(r))})
			})
			op.Writes(func(r uint32, whole bool) {
				n := a.row(r)
				w := node(n)
				if !whole {
					union(at(n), w)
				}
				cur[n], stamp[n] = w, gen
				o.defs = append(o.defs, rowWeb{r, w})
			})
		}
		for _, s := range k.succ {
			for _, x := range v.entry[s] {
				union(at(int32(x.row)), x.web)
			}
		}
	}
	// Nodes become webs.
	roots := 0
	for x := range parent {
		if parent[x] == int32(x) {
			roots++
		}
	}
	v.webs = make([]web, 0, roots) // growing copies them again and again
	number := make([]int32, len(parent))
	for i := range number {
		number[i] = -1
	}
	final := func(x int32) int32 {
		x = find(x)
		if number[x] < 0 {
			number[x] = int32(len(v.webs))
			v.webs = append(v.webs, web{class: class[of[x]], narrow: narrow[of[x]], block: -2, first: 1 << 30})
		}
		return number[x]
	}
	for b := range v.entry {
		for j := range v.entry[b] {
			x := &v.entry[b][j]
			x.web = final(x.web)
			x.row = offs[x.row]
			v.webs[x.web].block = -1
		}
	}
	for i := range v.ops {
		o := &v.ops[i]
		in := v.inBlock[i]
		seen := func(w *web) {
			if w.block == -2 {
				w.block = in
			} else if w.block != in {
				w.block = -1
			}
		}
		for j := range o.uses {
			o.uses[j].web = final(o.uses[j].web)
			w := &v.webs[o.uses[j].web]
			w.uses++
			seen(w)
		}
		for j := range o.defs {
			o.defs[j].web = final(o.defs[j].web)
			w := &v.webs[o.defs[j].web]
			w.defs++
			w.def = int32(i)
			w.first = min(w.first, int32(i))
			seen(w)
		}
	}
	for _, x := range undefined {
		if number[find(x)] >= 0 {
			v.webs[number[find(x)]].undef = true
		}
	}
	v.pendWeb = make([]bool, len(v.webs))
}

// findDead finds operations whose results nothing uses.
func (v *values) findDead() {
	v.dead = make([]bool, len(v.ops))
	for i := len(v.ops) - 1; i >= 0; i-- {
		if !v.info[i].pure || v.a.native[i] == nil {
			continue
		}
		used := false
		for _, d := range v.ops[i].defs {
			used = used || v.webs[d.web].uses > 0
		}
		if used || len(v.ops[i].defs) == 0 {
			continue
		}
		v.dead[i] = true
		for _, u := range v.ops[i].uses {
			v.webs[u.web].uses--
		}
	}
}

// findFixed finds values that are the same whenever they are computed in a run of a warp.
func (v *values) findFixed() {
	state := make([]uint8, len(v.webs)) // 1: under way or not fixed, 2: fixed
	var visit func(w int32, depth int) bool
	visit = func(w int32, depth int) bool {
		if state[w] != 0 || depth > 200 {
			return state[w] == 2
		}
		state[w] = 1
		x := &v.webs[w]
		if x.defs != 1 || x.undef {
			return false
		}
		op := &v.a.f.Ops[x.def]
		in := &v.info[x.def]
		if op.Guard >= 0 || !in.pure {
			return false
		}
		for _, u := range v.ops[x.def].uses {
			if !visit(u.web, depth+1) {
				return false
			}
		}
		state[w] = 2
		x.fixed = true
		return true
	}
	for w := range v.webs {
		visit(int32(w), 0)
	}
}
