package jit

import (
	"math/bits"
	"strings"

	"github.com/gocuda/cuda/internal/ir"
)

// shape is how a value differs between the lanes of a warp.
type shape struct {
	kind   kind
	halves bool  // affine: lanes 0 to 15 and 16 to 31 have bases of their own; else lane 16's is that of lane 0 and 16 strides
	stride int64 // affine: what lane i+1 has more than lane i, in one half
	align  uint8 // the bases are multiples of this power of two
}

type kind uint8

const (
	kindNone    kind = iota // not known yet
	kindUniform             // every lane that runs has the same
	kindAffine              // base + lane * stride
	kindVector              // anything
)

var (
	uniform = shape{kind: kindUniform}
	general = shape{kind: kindVector}
)

// maxAlign bounds shape.align.
const maxAlign = 12

func (s shape) aligned(n uint8) shape {
	if s.scalar() {
		s.align = min(n, maxAlign)
	}
	return s
}

// alignOf is the power of two that a constant is a multiple of.
func alignOf(c int64) uint8 {
	if c == 0 {
		return maxAlign
	}
	return uint8(min(bits.TrailingZeros64(uint64(c)), maxAlign))
}

// maxStride bounds strides.
const maxStride = 1 << 20

func affine(stride int64, halves bool) shape {
	switch {
	case stride == 0 && !halves:
		return uniform
	case stride > maxStride || stride < -maxStride:
		return general
	}
	return shape{kind: kindAffine, halves: halves, stride: stride}
}

func (s shape) scalar() bool { return s.kind == kindUniform || s.kind == kindAffine }

// meet is the shape of a value that has one or the other.
func meet(a, b shape) shape {
	switch {
	case a.kind == kindNone:
		return b
	case b.kind == kindNone || a == b:
		return a
	case a.kind == kindVector || b.kind == kindVector || a.stride != b.stride:
		return general
	}
	align := min(a.align, b.align)
	if a.kind == b.kind && a.halves == b.halves {
		return shape{a.kind, a.halves, a.stride, align}
	}
	return shape{kindAffine, true, a.stride, align}
}

func addShapes(a, b shape, sign int64) shape {
	switch {
	case a.kind == kindVector || b.kind == kindVector:
		return general
	case a.kind == kindNone || b.kind == kindNone:
		return shape{}
	}
	return affine(a.stride+sign*b.stride, a.halves || b.halves).aligned(min(a.align, b.align))
}

// scaleShape is the shape of a times b; c is the value of b where it is a constant.
func scaleShape(a, b shape, c int64, constant bool) shape {
	switch {
	case a.kind == kindVector || b.kind == kindVector:
		return general
	case a.kind == kindNone || b.kind == kindNone:
		return shape{}
	case constant:
		align := a.align + alignOf(c)
		if c > maxStride || c < -maxStride {
			if a.stride != 0 {
				return general
			}
			c = 0
		}
		return affine(a.stride*c, a.halves).aligned(align)
	case a.stride == 0 && b.stride == 0:
		return affine(0, a.halves || b.halves).aligned(a.align + b.align)
	}
	return general
}

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

// opcode is how an operation computes shapes.
type opcode uint8

const (
	opOther opcode = iota
	opMov
	opCvta
	opAdd
	opSub
	opMul
	opMulWide
	opMad
	opMadWide
	opShl
	opShr
	opAnd
	opOr
	opXor
	opNot
	opNeg
	opMin
	opMax
	opSelp
	opSetp
	opSetpFloat
	opLogic // of predicates
	opCvt   // between integers
	opParam
	opLoad
	opSpecial
	opPiece // its template can compute one piece for all
)

type opInfo struct {
	code   opcode
	wide   bool // 64-bit
	signed bool
	pure   bool // nothing but its results
	sbits  uint8
	dbits  uint8
}

// values is what is known of a function's values when it runs with blocks of given dimensions.
type values struct {
	a        *analysis
	dims     [3]uint32
	warps    int
	deny     []bool // operations that must not rely on addresses and indices that do not wrap around
	webs     []web
	ops      []opWebs
	info     []opInfo
	entry    [][]rowWeb // by block: the webs of the rows live at its begin
	inBlock  []int32    // by operation
	apart    []bool     // by block: runs while other lanes may wait elsewhere
	pending  []int32    // by block: number among those where lanes can wait, -1
	waits    int
	pendRows rowSet // rows live where lanes wait
	pendWeb  []bool
	dead     []bool // by operation
	stream   []bool // by operation: a store of each thread's own, once, to what the function does not load
	streams  bool   // there are such
	shadow   bool   // additions to global memory may be made later (tmpl_reduce)
}

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

func evaluate(a *analysis, dims [3]uint32, deny []bool) *values {
	v := &values{a: a, dims: dims, deny: deny}
	v.warps = int(dims[0]*dims[1]*dims[2]+31) / 32
	n := len(a.f.Ops)
	v.inBlock = make([]int32, n)
	for b := range a.blocks {
		for i := a.blocks[b].start; i < a.blocks[b].end; i++ {
			v.inBlock[i] = int32(b)
		}
	}
	v.info = make([]opInfo, n)
	for i := range a.f.Ops {
		v.info[i] = classify(&a.f.Ops[i])
	}
	v.findWebs()
	v.findDead()
	v.findFixed()
	v.shadow = shadows(a.f, v.unread)
	v.solve()
	v.findStreams()
	return v
}

// streamBytes is how much a launch must store for it to go past the caches.
const streamBytes = 32 << 20

// findStreams finds stores that may go past the caches when there are many of them: side by side, outside loops, and not of what was loaded before. Functions that order
// their accesses in any way have none, since only the end of the launch orders such stores.
func (v *values) findStreams() {
	f := v.a.f
	v.stream = make([]bool, len(f.Ops))
	if f.Loops {
		return
	}
	loaded := map[int32]bool{}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Global && a.Space != ir.Generic {
				continue
			}
			switch form := op.Match.Form.Op; {
			case form != "ld" && form != "st" || op.Match.One("volatile", "relaxed", "acquire", "release", "mmio") != "":
				return
			case form == "ld" && a.Base != nil && a.Base.Kind == ir.Row:
				loaded[v.useWeb(int32(i), a.Base.Ref.Off)] = true
			}
		}
		if op.Match.Form.Op == "fence" || barrierOf(op) != 0 {
			return // behind barriers blocks store tiles, whose lines lie far apart
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain || op.Match.Form.Op != "st" || op.Guard >= 0 {
			continue
		}
		ac, ok := accessOf(op, &op.Args[0], &op.Args[1])
		if !ok || !ac.global() || ac.base == nil || ac.base.Kind != ir.Row || len(ac.regs) != 1 || ac.es < 4 {
			continue
		}
		w := v.useWeb(int32(i), ac.base.Ref.Off)
		if s := v.webs[w].shape; s.kind == kindAffine && !s.halves && s.stride == int64(ac.es) && !loaded[w] {
			v.stream[i], v.streams = true, true
		}
	}
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
	rowsN := len(a.number)
	class := make([]ir.Class, rowsN)
	narrow := make([]bool, rowsN)
	offs := make([]uint32, rowsN)
	for off, n := range a.number {
		offs[n] = off
	}
	for i := range a.f.Ops {
		op := &a.f.Ops[i]
		if op.Guard >= 0 {
			class[a.number[uint32(op.Guard)]] = ir.WPred
		}
		for j := range op.Args {
			eachRow(&op.Args[j], func(x *ir.Arg) {
				n := a.number[x.Ref.Off]
				class[n] = x.Class
				if x.Class == ir.W32 && x.Width != 0 && x.Width < 32 {
					narrow[n] = true
				}
			})
		}
	}
	var parent []int32
	var of []int32 // row of a node
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
			op.Reads(func(r uint32) {
				for _, x := range o.uses {
					if x.row == r {
						return
					}
				}
				o.uses = append(o.uses, rowWeb{r, at(a.number[r])})
			})
			op.Writes(func(r uint32, whole bool) {
				n := a.number[r]
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

// pureForms are operations that only compute.
func isPure(op *ir.Op) bool {
	if op.Ctl == ir.Special {
		for _, p := range []string{"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"} {
			if strings.HasPrefix(op.Name, p) {
				return true
			}
		}
	}
	if op.Ctl != ir.Plain {
		return false
	}
	n := op.Match.Form.Op
	for _, t := range []map[string]template{intTemplates, floatTemplates, compareTemplates, moveTemplates, convertTemplates, approxTemplates, narrowTemplates, laneTemplates, rareTemplates} {
		if _, ok := t[n]; ok {
			return true
		}
	}
	return false
}

// pieceForms are operations whose templates compute pieces one like the other (gen.each).
var pieceForms = map[string]bool{"fadd": true, "fsub": true, "fmul": true, "ffma": true, "fdiv": true, "sqrt": true, "rcp": true, "fmin": true, "fmax": true, "fabs": true, "fneg": true,
	"lop3": true, "shf": true, "iabs": true, "clz": true, "bfe": true, "prmt": true, "rsqrt": true, "ex2": true, "lg2": true, "sin": true, "cos": true, "tanh": true, "imul": true}

func classify(op *ir.Op) opInfo {
	in := opInfo{pure: isPure(op)}
	if op.Ctl == ir.Special {
		in.code = opSpecial
		return in
	}
	if op.Ctl != ir.Plain {
		return in
	}
	m := op.Match
	typ := ""
	if len(m.Types) > 0 {
		typ = m.Type(0)
	}
	cl, whole := classOf(typ)
	in.wide = cl == ir.W64
	in.signed = strings.HasPrefix(typ, "s")
	integer := whole && typ[0] != 'f'
	set := func(c opcode, ok bool) {
		if ok {
			in.code = c
		}
	}
	reg := func(c ir.Class, as ...int) bool {
		for _, a := range as {
			if a >= len(op.Args) || !op.Args[a].Reg() || op.Args[a].Class != c {
				return false
			}
		}
		return true
	}
	switch m.Form.Op {
	case "mov":
		d := &op.Args[0]
		if d.Kind == ir.Row && len(op.Args) == 2 && op.Args[1].Reg() && op.Args[1].Class == d.Class {
			in.wide = d.Class == ir.W64
			set(opMov, d.Class == ir.W64 || d.Class == ir.W32 && wide32(d.Type) || d.Class == ir.WPred)
		}
	case "cvta", "cvta.to":
		in.wide = true
		switch m.One("global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry") {
		case "global", "const", "shared", "shared::cta", "shared::cluster":
			set(opCvta, reg(ir.W64, 0, 1))
		}
	case "iadd":
		set(opAdd, integer && !m.Has("sat") && reg(cl, 0, 1, 2))
	case "isub":
		set(opSub, integer && !m.Has("sat") && reg(cl, 0, 1, 2))
	case "imul", "imad":
		mad := m.Form.Op == "imad"
		switch m.One("lo", "hi", "wide") {
		case "lo":
			if mad {
				set(opMad, integer && !m.Has("sat") && reg(cl, 0, 1, 2, 3))
			} else {
				set(opMul, integer && reg(cl, 0, 1, 2))
			}
		case "wide":
			if typ != "u32" && typ != "s32" {
				break
			}
			in.wide = true
			if mad {
				set(opMadWide, reg(ir.W64, 0, 3) && reg(ir.W32, 1, 2))
			} else {
				set(opMulWide, reg(ir.W64, 0) && reg(ir.W32, 1, 2))
			}
		default:
			set(opPiece, !mad && whole)
		}
	case "shl", "shr":
		in.signed = typ == "s32" || typ == "s64"
		c := opShl
		if m.Form.Op == "shr" {
			c = opShr
		}
		set(c, integer && reg(cl, 0, 1) && reg(ir.W32, 2))
	case "and", "or", "xor":
		c := map[string]opcode{"and": opAnd, "or": opOr, "xor": opXor}[m.Form.Op]
		if typ == "pred" {
			c = opLogic
			whole = true
			cl = ir.WPred
		}
		set(c, whole && reg(cl, 0, 1, 2))
	case "not":
		if typ == "pred" {
			set(opLogic, reg(ir.WPred, 0, 1))
		} else {
			set(opNot, whole && reg(cl, 0, 1))
		}
	case "ineg":
		set(opNeg, integer && reg(cl, 0, 1))
	case "imin", "imax":
		c := opMin
		if m.Form.Op == "imax" {
			c = opMax
		}
		set(c, integer && !m.Has("relu") && reg(cl, 0, 1, 2))
	case "selp":
		in.wide = op.Args[0].Class == ir.W64
		d := op.Args[0].Class
		set(opSelp, (d == ir.W32 || d == ir.W64) && reg(d, 0, 1, 2) && op.Args[3].Kind == ir.Row)
	case "setp":
		a, b := op.Arg("a"), op.Arg("b")
		if !whole || op.Args[0].Second != nil || op.Args[0].Kind != ir.Row || a == nil || b == nil || !a.Reg() || !b.Reg() {
			break
		}
		if typ[0] == 'f' {
			in.code = opSetpFloat
		} else if _, ok := relation(op, intPredicates); ok {
			in.code = opSetp
		}
	case "cvt":
		if len(m.Types) < 2 || m.One("sat", "ftz", "relu", "satfinite") != "" {
			break
		}
		d, a := &op.Args[0], &op.Args[1]
		st := m.Type(1)
		if d.Kind != ir.Row || a.Kind != ir.Row {
			break
		}
		_, ok := classOf(st)
		switch {
		case integer && ok && st[0] != 'f' && d.Width >= 32 && a.Width >= 32 && int(d.Width) == int(cl.RowSize()/4):
			sc, _ := classOf(st)
			in.code = opCvt
			in.sbits, in.dbits = uint8(sc.RowSize()/4), uint8(cl.RowSize()/4)
			in.signed = st[0] == 's'
			if in.sbits > a.Width {
				in.code = opOther
			}
		case whole && ok:
			in.code = opPiece
		}
	case "ld", "ldu":
		ac, ok := accessOf(op, &op.Args[1], &op.Args[0])
		if !ok {
			break
		}
		if ac.space == ir.KernelParam {
			in.code, in.pure = opParam, true
		} else {
			in.code = opLoad
		}
	default:
		set(opPiece, pieceForms[m.Form.Op] && whole)
	}
	return in
}

// shapeOf is the shape of a source.
func (v *values) shapeOf(i int32, a *ir.Arg) shape {
	switch a.Kind {
	case ir.Imm:
		if c, ok := immediate(a); ok {
			return uniform.aligned(alignOf(c))
		}
		return uniform
	case ir.Row:
		return v.webs[v.useWeb(i, a.Ref.Off)].shape
	}
	return general
}

// immediate is the value of a constant that is known.
func immediate(a *ir.Arg) (int64, bool) {
	if a.Kind != ir.Imm || a.Sym {
		return 0, false
	}
	if a.Class == ir.W64 {
		return int64(a.Bits), true
	}
	return int64(int32(a.Bits)), true
}

func product(v *values, i int32, a, b *ir.Arg) shape {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	c, ok := immediate(b)
	return scaleShape(v.shapeOf(i, a), v.shapeOf(i, b), c, ok)
}

// widened is the shape of a 32-bit value after extension to 64 bits: the machine code checks that it does not wrap around.
func (v *values) widened(i int32, s shape) shape {
	if s.kind == kindAffine && s.stride != 0 && v.deny[i] {
		return general
	}
	return s
}

// allUniform says whether all sources are uniform; an unknown one counts as such.
func (v *values) allUniform(i int32) shape {
	s := uniform
	for _, u := range v.ops[i].uses {
		switch v.webs[u.web].shape.kind {
		case kindNone:
			if s.kind == kindUniform {
				s = shape{}
			}
		case kindUniform:
		default:
			return general
		}
	}
	return s
}

// result is the shape of an operation's results.
func (v *values) result(i int32) shape {
	op := &v.a.f.Ops[i]
	in := &v.info[i]
	if op.Guard >= 0 {
		return general
	}
	arg := func(n int) shape { return v.shapeOf(i, &op.Args[n]) }
	switch in.code {
	case opMov, opCvta:
		if op.Args[0].Class == ir.WPred && arg(1).kind == kindAffine {
			return general
		}
		return arg(1)
	case opAdd:
		return addShapes(arg(1), arg(2), 1)
	case opSub:
		return addShapes(arg(1), arg(2), -1)
	case opNeg:
		return addShapes(uniform, arg(1), -1)
	case opMul:
		return product(v, i, &op.Args[1], &op.Args[2])
	case opMad:
		return addShapes(product(v, i, &op.Args[1], &op.Args[2]), arg(3), 1)
	case opMulWide:
		return v.widened(i, product(v, i, &op.Args[1], &op.Args[2]))
	case opMadWide:
		return addShapes(v.widened(i, product(v, i, &op.Args[1], &op.Args[2])), arg(3), 1)
	case opShl:
		if n, ok := immediate(&op.Args[2]); ok && n >= 0 && n < 20 {
			return scaleShape(arg(1), uniform, 1<<n, true)
		}
		return v.allUniform(i)
	case opCvt:
		s := arg(1)
		if in.dbits > in.sbits {
			return v.widened(i, s)
		}
		return s
	case opShr:
		if n, ok := immediate(&op.Args[2]); ok && n >= 5 && n < 32 && arg(1).lanes() {
			return uniform
		}
		return v.allUniform(i)
	case opAnd:
		if n, ok := immediate(&op.Args[2]); ok && n >= 31 && n&(n+1) == 0 && arg(1).lanes() {
			align := arg(1).align
			if n == 31 {
				align = maxAlign
			}
			return arg(1).aligned(align)
		}
		return v.allUniform(i)
	case opOr, opXor, opNot, opMin, opMax, opSelp, opSetp, opSetpFloat, opLogic, opPiece:
		return v.allUniform(i)
	case opParam:
		return uniform
	case opLoad:
		return v.allUniform(i)
	case opSpecial:
		return v.special(op)
	}
	return general
}

// lanes says whether a value is a multiple of 32 plus the lane's number.
func (s shape) lanes() bool {
	return s.kind == kindAffine && !s.halves && s.stride == 1 && s.align >= 5
}

func (v *values) special(op *ir.Op) shape {
	if d := &op.Args[0]; d.Kind != ir.Row || d.Class != ir.W32 {
		return general
	}
	name, _, _ := strings.Cut(op.Name, ".")
	switch name {
	case "%ntid":
		if axis := strings.Index("xyz", strings.TrimPrefix(op.Name, "%ntid.")); axis >= 0 {
			return uniform.aligned(alignOf(int64(v.dims[axis])))
		}
		return uniform
	case "%ctaid", "%nctaid":
		return uniform
	case "%laneid":
		return affine(1, false).aligned(maxAlign)
	case "%tid":
		x := v.dims[0]
		switch {
		case strings.HasSuffix(op.Name, ".x") && (x%32 == 0 || v.warps == 1 && v.dims[1]*v.dims[2] == 1):
			return affine(1, false).aligned(5)
		case strings.HasSuffix(op.Name, ".x") && x%16 == 0:
			return affine(1, true)
		case x%32 == 0 || v.warps == 1 && v.dims[1]*v.dims[2] == 1:
			return uniform
		case x%16 == 0:
			return affine(0, true)
		}
	}
	return general
}

// solve finds shapes, and where lanes can part, together: each depends on the other.
func (v *values) solve() {
	for w := range v.webs {
		x := &v.webs[w]
		if x.undef || x.narrow || x.class == ir.W128 || x.defs == 0 {
			x.shape = general
		}
	}
	v.apart = make([]bool, len(v.a.blocks))
	v.pending = make([]int32, len(v.a.blocks))
	for b := range v.pending {
		v.pending[b] = -1
	}
	v.pendRows = make(rowSet, len(v.a.blocks[0].in))
	parted := make([]bool, len(v.a.blocks))
	post := v.postDominators()
	for {
		for again := true; again; {
			again = false
			for i := range v.ops {
				if len(v.ops[i].defs) == 0 || v.dead[i] {
					continue
				}
				done := true
				for _, d := range v.ops[i].defs {
					done = done && v.webs[d.web].shape.kind == kindVector
				}
				if done {
					continue
				}
				s := v.result(int32(i))
				for _, d := range v.ops[i].defs {
					x := &v.webs[d.web]
					t := meet(x.shape, s)
					if t.scalar() && (v.apart[v.inBlock[i]] && v.pendWeb[d.web] && !x.fixed || x.class == ir.WPred && t.kind == kindAffine) {
						t = general
					}
					if t != x.shape {
						x.shape = t
						again = true
					}
				}
			}
		}
		grew := false
		for b := range v.a.blocks {
			k := &v.a.blocks[b]
			i := k.end - 1
			op := &v.a.f.Ops[i]
			if parted[b] || op.Ctl != ir.Branch || op.Guard < 0 {
				continue
			}
			if v.webs[v.useWeb(i, uint32(op.Guard))].shape.kind == kindUniform {
				continue
			}
			parted[b] = true
			grew = true
			v.part(int32(b), post)
		}
		if !grew {
			break
		}
		v.findPending(parted)
	}
	for w := range v.webs {
		if x := &v.webs[w]; x.shape.kind == kindNone {
			x.shape = general
		}
	}
}

// part marks the blocks that run while lanes of branch b may be elsewhere: those before the place where all meet again.
func (v *values) part(b int32, post []int32) {
	end := post[b]
	for end >= 0 && end <= b {
		end = post[end]
	}
	work := append([]int32(nil), v.a.blocks[b].succ...)
	seen := map[int32]bool{}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == end || seen[x] {
			continue
		}
		if end >= 0 && x > end { // the layout is not that of a reducible graph
			end = -1
			work = append(work[:0], v.a.blocks[b].succ...)
			clear(seen)
			continue
		}
		seen[x] = true
		v.apart[x] = true
		work = append(work, v.a.blocks[x].succ...)
	}
}

// findPending finds the blocks at which lanes can wait for others.
func (v *values) findPending(parted []bool) {
	blocks := v.a.blocks
	at := make([]bool, len(blocks))
	for b := range blocks {
		if parted[b] {
			t := v.a.blockOf[v.a.f.Ops[blocks[b].end-1].Target]
			if t > int32(b) {
				at[t] = true
			} else {
				at[b+1] = true
			}
		}
	}
	// A branch over one of them may have to leave its lanes at its target.
	count := make([]int32, len(blocks)+1)
	for again := true; again; {
		again = false
		for b := range blocks {
			count[b+1] = count[b]
			if at[b] {
				count[b+1]++
			}
		}
		for b := range blocks {
			for _, t := range blocks[b].succ {
				if t > int32(b) && !at[t] && count[t] > count[b+1] {
					at[t] = true
					again = true
				}
			}
		}
	}
	v.waits = 0
	for b := range blocks {
		if !at[b] {
			continue
		}
		v.pending[b] = int32(v.waits)
		v.waits++
		for w, x := range blocks[b].in {
			v.pendRows[w] |= x
		}
		for _, x := range v.entry[b] {
			v.pendWeb[x.web] = true
		}
	}
}

// between says how many blocks after b and before t lanes can wait at; list has the first of them.
func (v *values) between(b, t int32) (list []int32) {
	for x := b + 1; x < t; x++ {
		if v.pending[x] >= 0 {
			list = append(list, x)
		}
	}
	return list
}

// postDominators gives for each block the next one that all its paths to the end pass, -1 when that is the end itself or none.
func (v *values) postDominators() []int32 {
	blocks := v.a.blocks
	n := int32(len(blocks))
	exit := n
	succ := func(b int32) []int32 { return blocks[b].succ }
	pred := make([][]int32, n+1)
	for b := range n {
		for _, s := range succ(b) {
			pred[s] = append(pred[s], b)
		}
		op := &v.a.f.Ops[blocks[b].end-1]
		if len(succ(b)) == 0 || op.Ctl == ir.Ret || op.Ctl == ir.Exit {
			pred[exit] = append(pred[exit], b)
		}
	}
	// order: postorder of the reversed graph from the exit
	num := make([]int32, n+1)
	for i := range num {
		num[i] = -1
	}
	var order []int32
	type frame struct {
		b int32
		i int
	}
	state := make([]bool, n+1)
	stack := []frame{{exit, 0}}
	state[exit] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.i < len(pred[f.b]) {
			p := pred[f.b][f.i]
			f.i++
			if !state[p] {
				state[p] = true
				stack = append(stack, frame{p, 0})
			}
			continue
		}
		num[f.b] = int32(len(order))
		order = append(order, f.b)
		stack = stack[:len(stack)-1]
	}
	dom := make([]int32, n+1)
	for i := range dom {
		dom[i] = -1
	}
	dom[exit] = exit
	for again := true; again; {
		again = false
		for j := len(order) - 2; j >= 0; j-- {
			b := order[j]
			next := int32(-1)
			join := func(s int32) {
				if num[s] < 0 || dom[s] < 0 {
					return
				}
				if next < 0 {
					next = s
					return
				}
				x, y := next, s
				for x != y {
					for num[x] < num[y] {
						x = dom[x]
					}
					for num[y] < num[x] {
						y = dom[y]
					}
				}
				next = x
			}
			for _, s := range succ(b) {
				join(s)
			}
			op := &v.a.f.Ops[blocks[b].end-1]
			if len(succ(b)) == 0 || op.Ctl == ir.Ret || op.Ctl == ir.Exit {
				join(exit)
			}
			if next != dom[b] {
				dom[b] = next
				again = true
			}
		}
	}
	out := dom[:n]
	for b := range out {
		if out[b] == exit {
			out[b] = -1
		}
	}
	return out
}
