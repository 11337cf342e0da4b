package lower

import (
	"math/bits"
	"sort"

	"github.com/gocuda/cuda/internal/tileir"
)

// The plan of a function says for each tile how it exists: in a register, in the arena, or not at all.

// mode is how the elements of a value exist.
type mode uint8

const (
	unused mode = iota
	scalar      // all are the same: one register
	stored      // in the arena
	inline      // computed where they are used
)

// root is a walk over the elements of a tile: those of an operation, or of one operand of it.
type root struct {
	op   *tileir.Op
	part int
	bits int // of the number of an element
	n    *ivar
	cost int
	// views are the accesses to views that are made in the walk.
	views []*tileir.Op
	reads map[*tileir.Val]bool // stored values; false when other elements are read than the walk stands at
}

// identity is the number of the element at which a walk stands.
func (r *root) identity() index {
	ix := make(index, r.bits)
	for i := range ix {
		ix[i] = ibit{v: r.n, bit: uint8(i)}
	}
	return ix
}

// demand says that a value is used in a walk, and which element of it.
type demand struct {
	r   *root
	ix  index
	key string
}

// demandKey names a demand.
type demandKey struct {
	v   *tileir.Val
	r   *root
	key string
}

type rootKey struct {
	op   *tileir.Op
	part int
}

// fn is a function that is lowered.
type fn struct {
	w      *module
	f      *tileir.Func
	symbol string
	body   *tileir.Block
	e      *emitter

	// The plan.
	// the numbers of operations in the order of the program; end is that of the last one inside
	begin, end map[*tileir.Op]int
	splat      map[*tileir.Val]bool
	cost       map[*tileir.Val]int
	depth      map[*tileir.Val]int // operations in a row that are not worth a place of their own
	demands    map[*tileir.Val][]demand
	mode       map[*tileir.Val]mode
	last       map[*tileir.Val]int // after which operation a stored value is not needed
	roots      map[rootKey]*root
	noted      map[demandKey]bool
	effects    []*tileir.Op // in the order of the program
	forwards   map[*tileir.Val]*tileir.Val
	dynamic    map[*tileir.Val]*ivar
	generic    bool // pointers may lead to shared memory
	straight   bool // no loops are written

	// What is known when instructions are written.
	arena   arena
	scalars map[*tileir.Val]reg
	slots   map[*tileir.Val]int64
	views   map[*tileir.Val]*view
	loops   []*loop
	lane    *ivar
	now     int // the number of the operation
	line    tileir.Loc
	depot   int // bytes of local memory
	heap    []reg
	heapOf  map[*tileir.Op]reg
}

func newFn(w *module, f *tileir.Func, body *tileir.Block) *fn {
	return &fn{
		w: w, f: f, body: body, e: newEmitter(), begin: map[*tileir.Op]int{}, end: map[*tileir.Op]int{},
		splat: map[*tileir.Val]bool{},
		cost:  map[*tileir.Val]int{}, depth: map[*tileir.Val]int{}, demands: map[*tileir.Val][]demand{},
		mode: map[*tileir.Val]mode{}, last: map[*tileir.Val]int{},
		roots: map[rootKey]*root{}, forwards: map[*tileir.Val]*tileir.Val{}, dynamic: map[*tileir.Val]*ivar{},
		scalars: map[*tileir.Val]reg{},
		slots:   map[*tileir.Val]int64{}, views: map[*tileir.Val]*view{}, heapOf: map[*tileir.Op]reg{},
		noted: map[demandKey]bool{},
	}
}

// log2 of a number of elements.
func log2(n int64) int { return bits.TrailingZeros64(uint64(n)) }

func isTile(t *tileir.Type) bool { return t.Kind == tileir.Tile }

// maxOps bounds the operations of a function: planning takes time that grows with the square of their number at worst.
const maxOps = 1 << 16

// plan decides about all values.
func (g *fn) plan() {
	n := 0
	g.number(g.body, &n)
	g.decide(g.body)
	g.straight = g.noLoops()
}

// maxStraight bounds how many simple instructions for elements stand in the text of a function without loops.
const maxStraight = 1024

// noLoops reports whether a function is written without loops: it only stores, and not much. Machine code stores past
// the caches in such kernels.
func (g *fn) noLoops() bool {
	n := 0
	for _, r := range g.roots {
		switch {
		case r.bits <= 5:
		case r.op.Code != tileir.StoreView:
			return false
		default:
			n += (r.cost + 2) << min(r.bits-5, 10)
		}
	}
	for o := range g.begin {
		if o.Code == tileir.For || o.Code == tileir.Loop {
			return false
		}
	}
	return n <= maxStraight
}

// number numbers operations, and finds out what can be known going forward: which tiles have equal elements, and what
// computing an element costs.
func (g *fn) number(b *tileir.Block, n *int) {
	for _, a := range b.Args {
		g.splat[a] = isTile(a.Type) && a.Type.Elements() == 1
		g.cost[a] = 1
	}
	for _, o := range b.Ops {
		g.w.check()
		*n++
		if *n > maxOps {
			g.fail(o, "the function has more than %d operations", maxOps)
		}
		g.begin[o] = *n
		if o.Code == tileir.Alloca {
			g.generic = true
		}
		if affects(o) {
			g.effects = append(g.effects, o)
		}
		if o.Code != tileir.Reduce && o.Code != tileir.Scan {
			for _, r := range o.Regions {
				for _, inner := range r.Blocks {
					g.number(inner, n)
				}
			}
		}
		g.end[o] = *n
		same := pure(o.Code)
		cost, depth := costOf(o.Code), 0
		for _, x := range o.Operands {
			depth = max(depth, g.depth[x]+1)
			if same && isTile(x.Type) && !g.splat[x] {
				same = false
			}
			cost = min(cost+g.cost[x], maxCost)
		}
		switch o.Code {
		case tileir.Iota, tileir.Cat, tileir.Insert, tileir.Pack, tileir.Unpack:
			same = false
		case tileir.ConstantOp:
			same = o.Extra.Constant.Splat
		}
		for _, r := range o.Results {
			if !isTile(r.Type) {
				continue
			}
			one := r.Type.Elements() == 1
			g.splat[r] = one || same
			g.cost[r] = cost
			if depth > deepest {
				g.cost[r] = max(cost, dearest+1)
			}
			if g.cost[r] <= dearest {
				g.depth[r] = depth
			}
			if g.splat[r] {
				g.cost[r] = 0
			} else if !pure(o.Code) {
				g.cost[r] = 1
			}
		}
	}
}

// deepest is how many operations in a row, such as those that only move elements, are made again for every use.
const deepest = 32

// maxCost bounds what an element is said to cost: sums of sums double with every operation.
const maxCost = 1 << 20

// dearest is the cost up to which an element is computed again for every use.
const dearest = 4

// costOf says what an operation costs for an element, without its operands, in simple instructions.
func costOf(c tileir.Opcode) int {
	switch c {
	case tileir.Reshape, tileir.Broadcast, tileir.Permute, tileir.Extract, tileir.Assume, tileir.ConstantOp,
		tileir.Bitcast, tileir.PtrToInt, tileir.IntToPtr,
		tileir.PtrToPtr, tileir.Iota:
		return 0
	case tileir.Cat, tileir.Insert, tileir.Pack, tileir.Unpack:
		return 2
	case tileir.DivI, tileir.RemI, tileir.DivF, tileir.Sqrt, tileir.FToF, tileir.IToF, tileir.FToI, tileir.Rsqrt,
		tileir.Exp2, tileir.Log2:
		return dearest + 1
	case tileir.Exp, tileir.Log, tileir.FPowF, tileir.FPowI, tileir.Sin, tileir.Cos, tileir.Tan, tileir.SinH,
		tileir.CosH, tileir.TanH, tileir.Atan2, tileir.RemF:
		return 20
	}
	return 1
}

// pure reports whether a result of an operation is a function of the operands' elements, which can be computed
// anywhere.
func pure(c tileir.Opcode) bool {
	switch c {
	case tileir.LoadPtr, tileir.LoadView, tileir.AtomicCAS, tileir.AtomicRMW, tileir.Reduce, tileir.Scan, tileir.MmaF,
		tileir.MmaI, tileir.MmaFScaled, tileir.For, tileir.If,
		tileir.Loop, tileir.Alloca, tileir.GetGlobal:
		return false
	}
	return true
}

// affects reports whether an operation writes memory, or may not be passed by loads.
func affects(o *tileir.Op) bool {
	switch o.Code {
	case tileir.StorePtr, tileir.StoreView, tileir.AtomicCAS, tileir.AtomicRMW, tileir.AtomicRedView, tileir.Assert,
		tileir.Print, tileir.GDCWait, tileir.GDCLaunchDependents,
		tileir.MemoryFenceAlias, tileir.Break, tileir.Continue, tileir.Return:
		return true
	case tileir.LoadPtr, tileir.LoadView:
		return o.MemoryOrder != tileir.Weak
	}
	return false
}

func (g *fn) root(o *tileir.Op, part int, t *tileir.Type) *root {
	k := rootKey{o, part}
	if r := g.roots[k]; r != nil {
		return r
	}
	r := &root{op: o, part: part, bits: log2(t.Elements()), reads: map[*tileir.Val]bool{}}
	r.n = &ivar{r: reg{text: "n"}, width: r.bits}
	g.roots[k] = r
	return r
}

// decide goes backward: every use of a value is known when its operation is reached.
func (g *fn) decide(b *tileir.Block) {
	for i := len(b.Ops) - 1; i >= 0; i-- {
		o := b.Ops[i]
		g.w.check()
		for _, r := range o.Results {
			if isTile(r.Type) {
				g.result(o, r)
			}
		}
		if o.Code != tileir.Reduce && o.Code != tileir.Scan {
			for _, r := range o.Regions {
				for _, inner := range r.Blocks {
					g.decide(inner)
				}
			}
		}
		g.walks(o)
		if o.Code == tileir.For || o.Code == tileir.Loop {
			g.carry(o)
		}
	}
}

// result decides about a result of an operation.
func (g *fn) result(o *tileir.Op, v *tileir.Val) {
	ds := g.demands[v]
	switch {
	case g.splat[v]:
		g.mode[v] = scalar
		if v.Type.Elements() == 1 && pure(o.Code) {
			g.operands(o, g.root(o, 0, v.Type), nil)
		}
	case len(ds) == 0:
	case pure(o.Code) && g.cost[v] <= dearest:
		g.mode[v] = inline
		for _, d := range ds {
			g.operands(o, d.r, d.ix)
		}
	case g.movable(o) && g.once(o, v, ds):
		g.mode[v] = inline
		d := ds[0]
		d.r.cost += costOf(o.Code) + 1
		if o.Code == tileir.LoadView {
			d.r.views = append(d.r.views, o)
		}
		g.operands(o, d.r, d.ix)
	default:
		g.keep(v)
		if g.movable(o) {
			r := g.root(o, 0, v.Type)
			r.cost += costOf(o.Code) + 1
			if o.Code == tileir.LoadView {
				r.views = append(r.views, o)
			}
			g.operands(o, r, r.identity())
		}
	}
}

// keep has a value stored until its last use.
func (g *fn) keep(v *tileir.Val) {
	g.mode[v] = stored
	g.last[v] = max(g.last[v], g.lastUse(v))
}

// lastUse is the number of the last operation that a value is needed for, 0 when there is none.
func (g *fn) lastUse(v *tileir.Val) int {
	block := v.Block
	if v.Op != nil {
		block = v.Op.Parent
	}
	last := 0
	for _, d := range g.demands[v] {
		o := d.r.op
		for o.Parent != block {
			o = o.Parent.Parent
		}
		last = max(last, g.end[o])
	}
	return last
}

// movable reports whether the elements of an operation's results can be computed one by one.
func (g *fn) movable(o *tileir.Op) bool {
	return pure(o.Code) || o.Code == tileir.LoadPtr || o.Code == tileir.LoadView
}

// once reports whether every element of a value is used once, in one walk that may compute it.
func (g *fn) once(o *tileir.Op, v *tileir.Val, ds []demand) bool {
	d := ds[0]
	for _, x := range ds[1:] {
		if x.r != d.r || x.key != d.key {
			return false
		}
	}
	if d.r.op.Parent != o.Parent || d.r.bits > log2(v.Type.Elements()) {
		return false
	}
	if pure(o.Code) {
		return true
	}
	if o.MemoryOrder != tileir.Weak || d.r.bits != log2(v.Type.Elements()) {
		return false
	}
	// A load must not pass what it is ordered with.
	from, to := g.begin[o], g.begin[d.r.op]
	i := sort.Search(len(g.effects), func(i int) bool { return g.begin[g.effects[i]] > from })
	if i < len(g.effects) && g.begin[g.effects[i]] < to {
		return false
	}
	return !affects(d.r.op) || !follows(d.r.op, o.Results[len(o.Results)-1], map[*tileir.Op]bool{})
}

// farTokens is how many operations are asked whether they come behind a token.
const farTokens = 256

// follows reports whether an operation is ordered behind a token.
func follows(o *tileir.Op, token *tileir.Val, asked map[*tileir.Op]bool) bool {
	if asked[o] {
		return false
	}
	asked[o] = true
	for _, x := range o.Operands {
		if x.Type.Kind != tileir.Token {
			continue
		}
		// A token that comes from a region, or from too far away, may be ordered behind anything.
		if x == token || x.Op == nil || len(x.Op.Regions) > 0 || len(asked) > farTokens || follows(x.Op, token, asked) {
			return true
		}
	}
	return false
}

// operands notes that a walk uses the operands of an operation for an element of its result.
func (g *fn) operands(o *tileir.Op, r *root, ix index) {
	for i, x := range o.Operands {
		if !isTile(x.Type) || g.splat[x] {
			continue
		}
		for _, m := range g.operandIndex(o, i, ix) {
			g.use(x, r, m)
		}
	}
}

// use notes that a walk uses an element of a value.
func (g *fn) use(v *tileir.Val, r *root, ix index) {
	if g.splat[v] {
		return
	}
	id := len(ix) == r.bits
	for i := range ix {
		if !id || ix[i].v != r.n || int(ix[i].bit) != i {
			id = false
			break
		}
	}
	if was, ok := r.reads[v]; ok {
		id = id && was
	}
	r.reads[v] = id
	key := ix.key()
	named := demandKey{v, r, key}
	if g.noted[named] {
		return
	}
	g.noted[named] = true
	g.demands[v] = append(g.demands[v], demand{r: r, ix: ix, key: key})
}

// walks notes the walks that an operation makes whatever becomes of its results.
func (g *fn) walks(o *tileir.Op) {
	whole := func(part int, t *tileir.Type, vs ...*tileir.Val) *root {
		r := g.root(o, part, t)
		for _, v := range vs {
			if v != nil && isTile(v.Type) {
				g.use(v, r, r.identity())
			}
		}
		return r
	}
	switch o.Code {
	case tileir.StorePtr:
		whole(0, o.Operand("value").Type, o.Operands...)
	case tileir.StoreView, tileir.AtomicRedView:
		v := o.Operand("tile")
		if o.Code == tileir.AtomicRedView {
			v = o.Operand("value")
		}
		r := whole(0, v.Type, v)
		r.views = append(r.views, o)
		g.sparse(o, r, r.identity())
	case tileir.AtomicCAS, tileir.AtomicRMW:
		whole(0, o.Results[0].Type, o.Operands...)
	case tileir.LoadPtr, tileir.LoadView:
		// One that orders others is made even if nobody wants its result; one of a single element is made at once.
		if v := o.Results[0]; g.splat[v] {
			g.operands(o, g.root(o, 0, v.Type), constantIndex(0, 0))
		} else if o.MemoryOrder != tileir.Weak && g.mode[v] == unused {
			g.last[v] = g.begin[o]
			g.mode[v] = stored
			r := g.root(o, 0, v.Type)
			g.operands(o, r, r.identity())
		}
	case tileir.Assert:
		whole(0, o.Operands[0].Type, o.Operands[0])
	case tileir.Print, tileir.For, tileir.Loop, tileir.Continue, tileir.Break, tileir.Yield, tileir.MmaF, tileir.MmaI:
		for i, x := range o.Operands {
			if isTile(x.Type) {
				whole(i, x.Type, x)
			}
		}
	case tileir.Reduce, tileir.Scan:
		whole(0, o.Operands[0].Type, o.Operands...)
	case tileir.MmaFScaled, tileir.MultimemLoadReduceView, tileir.MultimemReduceView, tileir.MultimemStoreView:
		g.fail(o, "%s", o.Info().NotSM90)
	}
}

// carry decides about the values that a loop carries: their elements stand in places of their own.
func (g *fn) carry(o *tileir.Op) {
	args := o.Regions[0].Blocks[0].Args
	if o.Code == tileir.For {
		args = args[1:]
	}
	for i, a := range args {
		if !isTile(a.Type) {
			continue
		}
		if g.splat[a] {
			g.mode[a] = scalar
			continue
		}
		g.mode[a] = stored
		g.last[a] = g.end[o]
		if o.Code == tileir.For {
			g.last[a] = max(g.last[a], g.lastUse(o.Results[i]))
		}
		g.forward(o, i, a)
	}
}

// forward finds a value that can be made right in the place of the carried one that it becomes in the next turn:
// nothing needs the old one any more when it is made.
func (g *fn) forward(o *tileir.Op, i int, a *tileir.Val) {
	body := o.Regions[0].Blocks[0]
	end := body.Ops[len(body.Ops)-1]
	if end.Code != tileir.Continue {
		return
	}
	v := end.Operands[i]
	if v.Op == nil || v.Op.Parent != body || g.mode[v] != stored || len(g.demands[v]) != 1 {
		return
	}
	if v.Op.Code != tileir.MmaF && v.Op.Code != tileir.MmaI && !g.movable(v.Op) {
		return
	}
	made := g.begin[v.Op]
	for _, d := range g.demands[a] {
		x := d.r.op
		for x.Parent != body {
			x = x.Parent.Parent
		}
		switch {
		case g.end[x] < made:
		case x == v.Op && d.r.reads[a] && (g.movable(v.Op) || d.r.part == 2):
		default:
			return
		}
	}
	g.forwards[v] = a
}
