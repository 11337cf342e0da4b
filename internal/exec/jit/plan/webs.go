package plan

import (
	"github.com/gocuda/cuda/internal/ir"
)

// Location is where a scalar stands: its first base at disp from the beginning of something, the second one 8 bytes on.
type Location struct {
	Base Base
	Disp int32
}

// Base is what a Location is in.
type Base uint8

// The places where scalars stand.
const (
	Nowhere Base = iota
	InFrame
	InContext
	InConstants
)

// web is a value of the program: definitions of a row that can reach common uses.
type web struct {
	Class     ir.Class
	Variation Variation
	narrow    bool  // fewer than 32 bits
	Defs      int32 // definitions
	def       int32 // one of them
	Uses      int32
	Block     int32    // of all definitions and uses, -1 when there are several
	first     int32    // lowest operation that defines it
	Fixed     bool     // always the same in a run of a warp
	undef     bool     // may be read without a definition
	At        Location // scalars: where the value stands
	Alias     bool     // it stands there without being computed
	Last      int32    // local ones: last operation that has to do with it
}

// RowWeb is a value in a row.
type RowWeb struct {
	Row uint32
	Web int32
}

type opWebs struct{ Uses, Defs []RowWeb }

// UseWeb is the value that operation i reads from a row, -1 for none; DefWeb the one that it writes.
func (v *Values) UseWeb(i int32, row uint32) int32 {
	for _, x := range v.Ops[i].Uses {
		if x.Row == row {
			return x.Web
		}
	}
	return -1
}

func (v *Values) DefWeb(i int32, row uint32) int32 {
	for _, x := range v.Ops[i].Defs {
		if x.Row == row {
			return x.Web
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
func (v *Values) findWebs() {
	a := v.Func
	rowsN := int(a.rows)
	class := make([]ir.Class, rowsN)
	narrow := make([]bool, rowsN)
	offs := make([]uint32, rowsN)
	for i, n := range a.number {
		if n >= 0 {
			offs[n] = uint32(4 * i)
		}
	}
	for i := range a.IR.Ops {
		op := &a.IR.Ops[i]
		if op.Guard >= 0 {
			class[a.Row(uint32(op.Guard))] = ir.WPred
		}
		for j := range op.Args {
			eachRow(&op.Args[j], func(x *ir.Arg) {
				n := a.Row(x.Ref.Off)
				class[n] = x.Class
				if x.Class == ir.W32 && x.Width != 0 && x.Width < 32 {
					narrow[n] = true
				}
			})
		}
	}
	parent := make([]int32, 0, 2*len(a.IR.Ops))
	of := make([]int32, 0, 2*len(a.IR.Ops)) // row of a node
	var spare []RowWeb
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
	v.Entry = make([][]RowWeb, len(a.Blocks))
	for b := range a.Blocks {
		in := a.Blocks[b].In
		for r := range int32(rowsN) {
			if in.Has(r) {
				v.Entry[b] = append(v.Entry[b], RowWeb{uint32(r), node(r)})
			}
		}
	}
	cur := make([]int32, rowsN)
	stamp := make([]int32, rowsN)
	v.Ops = make([]opWebs, len(a.IR.Ops))
	var undefined []int32
	for _, x := range v.Entry[0] {
		undefined = append(undefined, x.Web)
	}
	for b := range a.Blocks {
		k := &a.Blocks[b]
		gen := int32(b + 1)
		at := func(r int32) int32 {
			if stamp[r] != gen {
				cur[r] = node(r)
				stamp[r] = gen
				undefined = append(undefined, cur[r])
			}
			return cur[r]
		}
		for _, x := range v.Entry[b] {
			cur[x.Row], stamp[x.Row] = x.Web, gen
		}
		for i := k.Start; i < k.End; i++ {
			op := &a.IR.Ops[i]
			o := &v.Ops[i]
			if len(spare) < 6 {
				spare = make([]RowWeb, 6*256)
			}
			o.Uses, o.Defs, spare = spare[:0:4], spare[4:4:6], spare[6:] // most operations have no more
			op.Reads(func(r uint32) {
				for _, x := range o.Uses {
					if x.Row == r {
						return
					}
				}
				o.Uses = append(o.Uses, RowWeb{r, at(a.Row(r))})
			})
			op.Writes(func(r uint32, whole bool) {
				n := a.Row(r)
				w := node(n)
				if !whole {
					union(at(n), w)
				}
				cur[n], stamp[n] = w, gen
				o.Defs = append(o.Defs, RowWeb{r, w})
			})
		}
		for _, s := range k.succ {
			for _, x := range v.Entry[s] {
				union(at(int32(x.Row)), x.Web)
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
	v.Webs = make([]web, 0, roots) // growing copies them again and again
	number := make([]int32, len(parent))
	for i := range number {
		number[i] = -1
	}
	final := func(x int32) int32 {
		x = find(x)
		if number[x] < 0 {
			number[x] = int32(len(v.Webs))
			v.Webs = append(v.Webs, web{Class: class[of[x]], narrow: narrow[of[x]], Block: -2, first: 1 << 30})
		}
		return number[x]
	}
	for b := range v.Entry {
		for j := range v.Entry[b] {
			x := &v.Entry[b][j]
			x.Web = final(x.Web)
			x.Row = offs[x.Row]
			v.Webs[x.Web].Block = -1
		}
	}
	for i := range v.Ops {
		o := &v.Ops[i]
		in := v.InBlock[i]
		seen := func(w *web) {
			if w.Block == -2 {
				w.Block = in
			} else if w.Block != in {
				w.Block = -1
			}
		}
		for j := range o.Uses {
			o.Uses[j].Web = final(o.Uses[j].Web)
			w := &v.Webs[o.Uses[j].Web]
			w.Uses++
			seen(w)
		}
		for j := range o.Defs {
			o.Defs[j].Web = final(o.Defs[j].Web)
			w := &v.Webs[o.Defs[j].Web]
			w.Defs++
			w.def = int32(i)
			w.first = min(w.first, int32(i))
			seen(w)
		}
	}
	for _, x := range undefined {
		if number[find(x)] >= 0 {
			v.Webs[number[find(x)]].undef = true
		}
	}
	v.heldWeb = make([]bool, len(v.Webs))
}

// findDead finds operations whose results nothing uses.
func (v *Values) findDead() {
	v.Dead = make([]bool, len(v.Ops))
	for i := len(v.Ops) - 1; i >= 0; i-- {
		if !v.Info[i].pure || !v.Func.Native[i] {
			continue
		}
		used := false
		for _, d := range v.Ops[i].Defs {
			used = used || v.Webs[d.Web].Uses > 0
		}
		if used || len(v.Ops[i].Defs) == 0 {
			continue
		}
		v.Dead[i] = true
		for _, u := range v.Ops[i].Uses {
			v.Webs[u.Web].Uses--
		}
	}
}

// findFixed finds values that are the same whenever they are computed in a run of a warp.
func (v *Values) findFixed() {
	state := make([]uint8, len(v.Webs)) // 1: under way or not fixed, 2: fixed
	var visit func(w int32, depth int) bool
	visit = func(w int32, depth int) bool {
		if state[w] != 0 || depth > 200 {
			return state[w] == 2
		}
		state[w] = 1
		x := &v.Webs[w]
		if x.Defs != 1 || x.undef {
			return false
		}
		op := &v.Func.IR.Ops[x.def]
		in := &v.Info[x.def]
		if op.Guard >= 0 || !in.pure {
			return false
		}
		for _, u := range v.Ops[x.def].Uses {
			if !visit(u.Web, depth+1) {
				return false
			}
		}
		state[w] = 2
		x.Fixed = true
		return true
	}
	for w := range v.Webs {
		visit(int32(w), 0)
	}
}
