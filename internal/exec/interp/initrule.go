package interp

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rule says how undefined bits of sources reach results.
type rule uint8

const (
	ruleSpread     rule = iota // any undefined bit of an element makes its result undefined
	ruleMove                   // bits move as the handler moves them: it is run on the undefined bits
	ruleBitwise                // each bit by itself: the handler is run with undefined bits set and clear
	ruleCarry                  // from the lowest undefined bit upwards
	ruleCompare                // integers: undefined unless the bits that are defined decide it
	ruleVote                   // likewise, over lanes
	ruleMatrix                 // rows and columns
	ruleLoad                   // ld
	ruleStore                  // st
	ruleAtomic                 // atom, red
	ruleCopy                   // asynchronous copies
	ruleTraced                 // memory that is accessed in another way: what is written counts as defined
	ruleFromMatrix             // ldmatrix, wmma.load
	ruleToMatrix               // stmatrix, wmma.store
)

// steering are the operands of operations with ruleMove that say where bits go; an undefined one makes the result
// undefined.
var steering = map[optab.Opcode][]string{
	optab.OpMov: nil, optab.OpMovPack: nil, optab.OpMovUnpack: nil, optab.OpMovVec: nil, optab.OpCvt: nil,
	optab.OpBrev:      nil,
	optab.OpMovmatrix: nil, optab.OpShl: {"b"}, optab.OpShr: {"b"}, optab.OpShf: {"c"}, optab.OpBfe: {"b", "c"},
	optab.OpBfi: {"c", "e"}, optab.OpPrmt: {"c"}, optab.OpSelp: {"c"}, optab.OpSlct: {"c"},
	optab.OpShfl: {"b", "c", "membermask"},
}

func scalarInt(t optab.TypeID) bool { i := t.Info(); return i.Class <= optab.Signed && i.Lanes == 1 }

// choose finds the rule.
func (t *initOp) choose() error {
	op := t.op
	m := op.Mods()
	t.whole = op.WholeWarp()
	t.across = op.Sync()
	switch code := op.Opcode(); code {
	case optab.OpLd, optab.OpLdu:
		t.rule = ruleLoad
	case optab.OpSt:
		t.rule, t.effect = ruleStore, true
	case optab.OpAtom, optab.OpRed, optab.OpAtomVec:
		t.rule, t.effect = ruleAtomic, true
	case optab.OpCpAsync:
		t.rule, t.effect = ruleCopy, true
	case optab.OpLdmatrix, optab.OpWmmaLoad:
		t.rule = ruleFromMatrix
		return t.shadow(func(a *ir.Arg) bool { return false })
	case optab.OpStmatrix, optab.OpWmmaStore:
		t.rule, t.effect = ruleToMatrix, true
		return t.shadow(func(a *ir.Arg) bool { return a.Name() == "b" })
	case optab.OpAnd, optab.OpOr, optab.OpXor, optab.OpNot, optab.OpLop3:
		t.rule = ruleBitwise
		return t.shadow(func(a *ir.Arg) bool { return a.Kind == ir.Row })
	case optab.OpIadd, optab.OpIsub, optab.OpIneg, optab.OpImul, optab.OpImad:
		if scalarInt(op.Type(0)) && !m.Sat && m.Part != optab.PartHi {
			t.rule = ruleCarry
		}
	case optab.OpSetp, optab.OpSet:
		if typ := m.LastType(); scalarInt(typ) {
			t.rule = ruleCompare
		}
	case optab.OpVote:
		t.rule = ruleVote
	case optab.OpMma, optab.OpMmaSp, optab.OpWmmaMma:
		if t.matrix() {
			t.rule = ruleMatrix
			return t.shadow(func(a *ir.Arg) bool { return a.Name() == "a" || a.Name() == "b" || a.Name() == "c" })
		}
	default:
		if by, ok := steering[code]; ok {
			if code == optab.OpCvt && (m.Sat || !scalarInt(op.Type(0)) || !scalarInt(op.Type(1))) {
				break
			}
			t.rule = ruleMove
			return t.shadow(func(a *ir.Arg) bool { return !slices.Contains(by, a.Name()) || a.Name() == "" })
		}
		switch op.Effect() {
		case optab.MemNone:
			if op.Form().Mem == optab.MemNone && !op.Pure() && len(t.dst) == 0 {
				t.effect = true
			}
		default:
			t.rule, t.effect = ruleTraced, true
		}
	}
	return nil
}

// shadowOp is an operation over a frame of its own, in which its sources hold undefined bits instead of values.
type shadowOp struct {
	in   inst
	src  []shadowArg
	dst  []shadowArg
	size int
}

// shadowArg is an operand: its place in the other frame, and in the real one.
type shadowArg struct {
	to   ir.Arg
	from *ir.Arg
	data bool
	arg  initArg // of a register
}

// shadow prepares the operation for a frame of its own. Operands that are not data keep their values.
func (t *initOp) shadow(data func(a *ir.Arg) bool) error {
	s := &shadowOp{}
	op := *t.op
	op.Guard, op.Neg = -1, false
	op.Args = make([]ir.Arg, len(t.op.Args))
	next := uint32(0)
	var clone func(a *ir.Arg, data, dst bool) ir.Arg
	clone = func(a *ir.Arg, data, dst bool) ir.Arg {
		n := *a
		if a.ArgRest != nil && (len(a.Elems) > 0 || len(a.Extra) > 0 || a.Second != nil) {
			rest := *a.ArgRest
			rest.Elems = append([]ir.Arg(nil), rest.Elems...)
			rest.Extra = append([]ir.Arg(nil), rest.Extra...)
			for i := range rest.Elems {
				rest.Elems[i] = clone(&a.Elems[i], data, dst)
			}
			for i := range rest.Extra {
				rest.Extra[i] = clone(&a.Extra[i], false, dst)
			}
			if a.Second != nil {
				x := clone(a.Second, data, dst)
				rest.Second = &x
			}
			n.ArgRest = &rest
		}
		if a.Base != nil {
			x := clone(a.Base, false, false)
			n.Base = &x
		}
		if a.Kind == ir.Row || a.Kind == ir.Imm && data {
			n.Kind = ir.Row
			n.Ref = ir.Ref{Off: next}
			next += (a.Class.RowSize() + 127) &^ 127
			x := shadowArg{to: n, from: a, data: data}
			if a.Kind == ir.Row && a.Ref.Sel == 0 {
				x.arg = t.rows.arg(a)
			}
			if dst {
				s.dst = append(s.dst, x)
			} else {
				s.src = append(s.src, x)
			}
			if data && t.rule == ruleMove {
				n.Neg = false
			}
		}
		return n
	}
	for i := range op.Args {
		a := &t.op.Args[i]
		dst := t.op.Written(i)
		op.Args[i] = clone(a, !dst && a.Kind != ir.Addr && data(a), dst)
	}
	s.size = int(next)
	if err := prepare(t.c.k, &s.in, &op, map[*optab.Form]resolver{}); err != nil {
		return err
	}
	t.sh = s
	return nil
}

// frame is memory for a shadow operation.
func (u *undefined) shadowFrame(n int) unsafe.Pointer {
	if len(u.scratch)*8 < n+256 {
		u.scratch = make([]uint64, n/8+64)
	}
	p := unsafe.Pointer(unsafe.SliceData(u.scratch))
	return unsafe.Add(p, -uintptr(p)&127)
}

// dataValue makes the value of a lane of an operand that is data, v of which is undefined.
type dataValue func(x *shadowArg, lane int, v checker.Value) (lo, hi uint64)

// fill writes the sources: data as value says from the real value and the undefined bits, others as they are.
func (s *shadowOp) fill(u *undefined, w *exec.Warp, base unsafe.Pointer, value dataValue) {
	f := u.of(w)
	own := [2]unsafe.Pointer{base, w.Base[1]}
	for i := range s.src {
		x := &s.src[i]
		if !x.data {
			copyRow(base, w.Base[x.from.Ref.Sel&1], x)
			continue
		}
		for l := range 32 {
			v := checker.Value{}
			if x.from.Kind == ir.Row {
				v = f.rows[x.arg.row].at(l, x.arg.width)
			}
			lo, hi := value(x, l, v)
			real := w.Base
			w.Base = own
			if x.to.Class == ir.W128 {
				set128(w, &x.to, l, lo, hi)
			} else {
				set(w, &x.to, l, lo)
			}
			w.Base = real
		}
	}
	for i := range s.dst {
		clear(unsafe.Slice((*byte)(unsafe.Add(base, s.dst[i].to.Ref.Off)), s.dst[i].to.Class.RowSize()))
	}
}

func copyRow(base, from unsafe.Pointer, x *shadowArg) {
	n := x.from.Class.RowSize()
	to, src := unsafe.Add(base, x.to.Ref.Off), unsafe.Add(from, x.from.Ref.Off)
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(src), n))
}

// run runs it over its frame.
func (s *shadowOp) run(w *exec.Warp, base unsafe.Pointer, m uint32) {
	real, cc := w.Base[0], w.CC
	w.Base[0] = base
	s.in.fn(w, &s.in, m)
	w.Base[0], w.CC = real, cc
}

// result is a lane of a destination.
func (s *shadowOp) result(w *exec.Warp, base unsafe.Pointer, i, lane int) (lo, hi uint64) {
	real := w.Base[0]
	w.Base[0] = base
	x := &s.dst[i].to
	if x.Class == ir.W128 {
		lo, hi = get128(w, x, lane)
	} else {
		x := *x
		x.Neg = false
		lo = get(w, &x, lane)
	}
	w.Base[0] = real
	return lo, hi
}

// undefinedBits is the value of data that is the undefined bits.
func undefinedBits(x *shadowArg, lane int, v checker.Value) (lo, hi uint64) { return v.Lo, v.Hi }

// transfer finds the undefined bits of the results.
func (t *initOp) transfer(u *undefined, w *exec.Warp, m uint32) [][32]checker.Value {
	for len(u.results) < len(t.dst) {
		u.results = append(u.results, [32]checker.Value{})
	}
	res := u.results[:len(t.dst)]
	for i := range res {
		res[i] = [32]checker.Value{}
	}
	switch code := t.op.Opcode(); {
	case code == optab.OpWgmmaMma || code == optab.OpWgmmaSp:
		t.warpgroup(u, w, m, res)
		return res
	}
	switch t.rule {
	case ruleMove:
		t.moved(u, w, m, res)
	case ruleBitwise:
		t.bitwise(u, w, m, res)
	case ruleCarry:
		t.carried(u, w, m, res)
	case ruleCompare:
		t.compared(u, w, m, res)
	case ruleVote:
		t.voted(u, w, m, res)
	case ruleMatrix:
		t.multiplied(u, w, m, res)
	default:
		t.spread(u, w, m, res)
	}
	return res
}

func (t *initOp) spread(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	in, out := carries(t.op)
	info := t.op.Type(0).Info()
	if t.across {
		if some := m & (f.any(t.src) | f.any(t.addr)); some != 0 {
			l := first(some)
			o, _ := f.origin(t.src, l)
			o = t.computed(u, w, l, o)
			for i, d := range t.dst {
				for j := m; j != 0; j &= j - 1 {
					res[i][first(j)] = wholly(d.width, o)
				}
			}
			return
		}
	}
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		o, ok := f.origin(t.src, l)
		if in && u.carry.lanes>>l&1 != 0 {
			o, ok = u.carry.at(l, 1).Origin, true
		}
		if out {
			u.carry.set(l, checker.Value{})
		}
		if !ok {
			continue
		}
		o = t.computed(u, w, l, o)
		if out {
			u.carry.set(l, checker.Value{Lo: 1, Origin: o})
		}
		elements := uint64(0) // of packed types only those with undefined bits
		if size := info.Bits / max(info.Lanes, 1); info.Lanes > 1 && info.Bits <= 64 && t.uniform(info.Bits) {
			mask, _ := ones(size)
			for i := range t.src {
				v := f.rows[t.src[i].row].at(l, t.src[i].width)
				for e := range info.Lanes {
					if v.Lo>>(e*size)&mask != 0 {
						elements |= mask << (e * size)
					}
				}
			}
		}
		for i, d := range t.dst {
			res[i][l] = wholly(d.width, o)
			if elements != 0 {
				res[i][l].Lo = elements
			}
		}
	}
}

// uniform says whether all register operands are of so many bits.
func (t *initOp) uniform(n int) bool {
	for _, l := range [][]initArg{t.src, t.dst} {
		for i := range l {
			if l[i].width != n {
				return false
			}
		}
	}
	return true
}

// moved is ruleMove.
func (t *initOp) moved(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	base := u.shadowFrame(t.sh.size)
	t.sh.fill(u, w, base, undefinedBits)
	t.sh.run(w, base, m)
	shifts := false
	switch t.op.Opcode() {
	case optab.OpShl, optab.OpShr, optab.OpShf, optab.OpBfe, optab.OpBfi, optab.OpBrev:
		shifts = true
	}
	anyone, some := checker.Origin(0), false
	for k := m; k != 0 && !some; k &= k - 1 {
		anyone, some = f.origin(t.src, first(k))
	}
	choice := t.op.Opcode() == optab.OpSelp || t.op.Opcode() == optab.OpSlct
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		steered, by := checker.Origin(0), false
		for i := range t.sh.src {
			if x := &t.sh.src[i]; !x.data && x.from.Kind == ir.Row && f.rows[x.arg.row].lanes>>l&1 != 0 {
				steered, by = f.rows[x.arg.row].at(l, x.arg.width).Origin, true
			}
		}
		o, ok := f.origin(t.src, l)
		if !ok || t.across && !o.Computed() {
			o = anyone
		}
		for i, d := range t.dst {
			if t.op.Opcode() == optab.OpShfl && d.a.Class == ir.WPred {
				if by {
					res[i][l] = wholly(1, t.computed(u, w, l, steered))
				}
				continue
			}
			if by {
				v := wholly(d.width, t.computed(u, w, l, steered))
				if choice {
					v.Lo, v.Hi = t.either(u, w, l)
				}
				res[i][l] = v
				continue
			}
			v := checker.Value{Origin: o}
			v.Lo, v.Hi = t.sh.result(w, base, i, l)
			if v.Undefined() && shifts && !wholeBytes(v.Lo) {
				v.Origin = t.computed(u, w, l, o)
			}
			res[i][l] = v
		}
	}
}

// wholeBytes says whether a mask has bytes all of whose bits are set, or none.
func wholeBytes(m uint64) bool {
	for ; m != 0; m >>= 8 {
		if b := m & 0xff; b != 0 && b != 0xff {
			return false
		}
	}
	return true
}

// either are the undefined bits of a choice that nobody knows: those of both sides, and where they differ.
func (t *initOp) either(u *undefined, w *exec.Warp, lane int) (lo, hi uint64) {
	f := u.of(w)
	a, b := t.op.Arg("a"), t.op.Arg("b")
	for _, x := range []*ir.Arg{a, b} {
		if x.Kind == ir.Row {
			y := t.rows.arg(x)
			v := f.rows[y.row].at(lane, y.width)
			lo, hi = lo|v.Lo, hi|v.Hi
		}
	}
	if a.Class == ir.W128 {
		return ^uint64(0), ^uint64(0)
	}
	return lo | (get(w, a, lane) ^ get(w, b, lane)), hi
}

// bitwise is ruleBitwise.
func (t *initOp) bitwise(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	base := u.shadowFrame(t.sh.size)
	n := 0
	index := map[*shadowArg]int{}
	for i := range t.sh.src {
		if x := &t.sh.src[i]; x.data {
			index[x] = n
			n++
		}
	}
	var zero, differ [32]uint64
	for k := range 1 << n {
		t.sh.fill(u, w, base, func(x *shadowArg, lane int, v checker.Value) (lo, hi uint64) {
			a := *x.from
			a.Neg = false
			real := get(w, &a, lane) &^ v.Lo
			if x.from.Kind == ir.Imm && x.from.Class == ir.WPred {
				real = get(w, &a, lane)
			}
			if k>>index[x]&1 != 0 {
				real |= v.Lo
			}
			return real, 0
		})
		t.sh.run(w, base, m)
		for j := m; j != 0; j &= j - 1 {
			l := first(j)
			lo, _ := t.sh.result(w, base, 0, l)
			if k == 0 {
				zero[l] = lo
			}
			differ[l] |= lo ^ zero[l]
		}
	}
	copies := t.op.Opcode() == optab.OpAnd || t.op.Opcode() == optab.OpOr
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		if differ[l] == 0 {
			continue
		}
		o, _ := f.origin(t.src, l)
		if !copies || t.dst[0].width == 1 {
			o = t.computed(u, w, l, o)
		}
		res[0][l] = checker.Value{Lo: differ[l], Origin: o}
	}
}

// carried is ruleCarry: sums and products of integers are defined below the lowest undefined bit.
func (t *initOp) carried(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		all := uint64(0)
		for i := range t.src {
			all |= f.rows[t.src[i].row].at(l, t.src[i].width).Lo
		}
		if all == 0 {
			continue
		}
		o, _ := f.origin(t.src, l)
		for i, d := range t.dst {
			mask, _ := ones(d.width)
			if v := (all | -all) & mask; v != 0 {
				res[i][l] = checker.Value{Lo: v, Origin: t.computed(u, w, l, o)}
			}
		}
	}
}

// compared is ruleCompare.
func (t *initOp) compared(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	typ := t.op.Mods().LastType()
	width := typ.Info().Bits
	a, b, c := t.op.Arg("a"), t.op.Arg("b"), t.op.Arg("c")
	mask, _ := ones(width)
	operand := func(x *ir.Arg, l int) (low, high, v, un uint64) {
		if x.Kind == ir.Row {
			y := t.rows.arg(x)
			un = f.rows[y.row].at(l, y.width).Lo & mask
		}
		v = get(w, x, l) & mask
		flip := uint64(0)
		if typ.Signed() {
			flip = 1 << (width - 1)
		}
		return (v ^ flip) &^ un, (v ^ flip) | un, v, un
	}
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		o, ok := f.origin(t.src, l)
		if !ok {
			continue
		}
		alow, ahigh, av, au := operand(a, l)
		blow, bhigh, bv, bu := operand(b, l)
		unknown := au|bu != 0 && (av^bv)&^(au|bu) == 0
		switch t.op.Mods().Cmp {
		case optab.CmpEq, optab.CmpNe:
		default:
			unknown = au|bu != 0 && ahigh >= blow && bhigh >= alow
		}
		both := true // results p and q
		if c != nil && c.Reg() {
			cu := false
			if c.Kind == ir.Row {
				cu = f.rows[t.rows.arg(c).row].lanes>>l&1 != 0
			}
			cv := pred(w, c)>>l&1 != 0
			with := t.op.Mods().Func
			switch {
			case !cu && (with == optab.FuncAnd && !cv || with == optab.FuncOr && cv):
				both = false
			case cu && !unknown && with != optab.FuncXor:
				// The comparison may decide one of the results; taken as undecided.
				unknown = true
			default:
				unknown = unknown || cu
			}
		}
		if !unknown || !both {
			continue
		}
		o = t.computed(u, w, l, o)
		for i, d := range t.dst {
			res[i][l] = wholly(d.width, o)
		}
	}
}

// voted is ruleVote.
func (t *initOp) voted(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	a := t.op.Arg("a")
	var un uint32
	if a.Kind == ir.Row {
		un = f.rows[t.rows.arg(a).row].lanes & m
	}
	if un == 0 { // the member mask
		t.spread(u, w, m, res)
		return
	}
	l := first(un)
	v := pred(w, a)
	isTrue, isFalse := v&m&^un != 0, ^v&m&^un != 0
	decided := false
	switch t.op.Mods().Vote {
	case optab.VoteAll:
		decided = isFalse
	case optab.VoteAny:
		decided = isTrue
	case optab.VoteUni:
		decided = isTrue && isFalse
	}
	if decided {
		return
	}
	o, _ := f.origin(t.src, l)
	o = t.computed(u, w, l, o)
	for i, d := range t.dst {
		for k := m; k != 0; k &= k - 1 {
			res[i][first(k)] = checker.Value{Lo: uint64(un), Origin: o}
			if d.width == 1 {
				res[i][first(k)].Lo = 1
			}
		}
	}
}

// element is a type of matrix elements: one as bits, repeated over 64 bits, and its size in bits; size 0 for others.
func matrixOne(t optab.TypeID) (one uint64, size int) {
	switch t {
	case optab.F16:
		return 0x3c003c003c003c00, 16
	case optab.Bf16:
		return 0x3f803f803f803f80, 16
	case optab.Tf32, optab.F32:
		return 0x3f8000003f800000, 32
	case optab.F64:
		return 0x3ff0000000000000, 64
	case optab.U8, optab.S8:
		return 0x0101010101010101, 8
	case optab.U4, optab.S4:
		return 0x1111111111111111, 4
	case optab.S32:
		return 0x0000000100000001, 32
	case optab.E4m3:
		return 0x3838383838383838, 8
	case optab.E5m2:
		return 0x3c3c3c3c3c3c3c3c, 8
	}
	return 0, 0
}

// matrixTypes are those of d, a, b and c.
func (t *initOp) matrixTypes() (types [4]optab.TypeID) {
	m := t.op.Mods()
	copy(types[:], m.Types[:m.NumTypes])
	if m.NumTypes == 2 { // wmma of f16
		types = [4]optab.TypeID{m.Types[0], optab.F16, optab.F16, m.Types[1]}
	}
	return types
}

// matrix says whether ruleMatrix holds.
func (t *initOp) matrix() bool {
	m := t.op.Mods()
	if m.NumTypes != 2 && m.NumTypes != 4 {
		return false
	}
	for _, x := range t.matrixTypes() {
		if _, size := matrixOne(x); size == 0 {
			return false
		}
	}
	return true
}

// multiplied is ruleMatrix: the handler multiplies with ones where elements are undefined, once for each factor, and
// adds them.
func (t *initOp) multiplied(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	base := u.shadowFrame(t.sh.size)
	types := t.matrixTypes()
	_, size := matrixOne(types[0])
	mask, _ := ones(size)
	anyone, lane, some := checker.Origin(0), 0, false
	for k := m; k != 0 && !some; k &= k - 1 {
		lane = first(k)
		anyone, some = f.origin(t.src, lane)
	}
	anyone = t.computed(u, w, lane, anyone)
	for i := range t.sh.src { // metadata
		if x := &t.sh.src[i]; !x.data && x.from.Kind == ir.Row && f.rows[x.arg.row].lanes&m != 0 {
			t.across = true
			t.spread(u, w, m, res)
			return
		}
	}
	for pass, name := range []string{"a", "b", "c"} {
		t.sh.fill(u, w, base, func(x *shadowArg, l int, v checker.Value) (lo, hi uint64) {
			n := x.from.Name()
			which := map[string]int{"a": 1, "b": 2, "c": 3}[t.operandOf(x.from, n)]
			one, esize := matrixOne(types[which])
			if which == 0 {
				return 0, 0
			}
			if which-1 != pass {
				if pass == 2 || which == 3 {
					return 0, 0
				}
				return one, 0
			}
			emask, _ := ones(esize)
			for at := 0; at < 64; at += esize {
				if v.Lo>>at&emask != 0 {
					lo |= one & (emask << at)
				}
			}
			return lo, 0
		})
		_ = name
		t.sh.run(w, base, m)
		for i := range t.dst {
			for k := m; k != 0; k &= k - 1 {
				l := first(k)
				lo, _ := t.sh.result(w, base, i, l)
				for at := 0; at < t.dst[i].width; at += size {
					if lo>>at&mask != 0 {
						res[i][l].Lo |= mask << at
						res[i][l].Origin = anyone
					}
				}
			}
		}
	}
}

// operandOf is the name of the operand that a register belongs to.
func (t *initOp) operandOf(a *ir.Arg, name string) string {
	if name != "" {
		return name
	}
	for i := range t.op.Args {
		x := &t.op.Args[i]
		for j := range x.Elems {
			if &x.Elems[j] == a {
				return x.Name()
			}
		}
	}
	return ""
}

// warpgroup is for wgmma: accumulators that are added to, and rows of an A in registers. What A and B have in shared
// memory counts as defined.
func (t *initOp) warpgroup(u *undefined, w *exec.Warp, m uint32, res [][32]checker.Value) {
	f := u.of(w)
	keeps := uint32(full) // lanes whose accumulators are added to
	if p := t.op.Arg("p"); p != nil {
		keeps = pred(w, p)
		if p.Kind == ir.Row {
			keeps |= f.rows[t.rows.arg(p).row].lanes
		}
	}
	size := 32
	if t.op.Type(0) == optab.F16 {
		size = 16
	}
	mask, _ := ones(size)
	for i, d := range t.dst {
		for k := m & keeps & f.rows[d.row].lanes; k != 0; k &= k - 1 {
			l := first(k)
			v := f.rows[d.row].at(l, d.width)
			for at := 0; at < d.width; at += size {
				if v.Lo>>at&mask != 0 {
					res[i][l].Lo |= mask << at
				}
			}
			res[i][l].Origin = t.computed(u, w, l, v.Origin)
		}
	}
	a := t.op.Arg("a")
	if a == nil || a.Kind != ir.Vec {
		return
	}
	pairs := size / 16 // registers of a row one behind the other: two of 32 bits, or one with a pair of 16 bits
	for j := range a.Elems {
		x := &a.Elems[j]
		if x.Kind != ir.Row {
			continue
		}
		arg := t.rows.arg(x)
		for k := f.rows[arg.row].lanes & m; k != 0; k &= k - 1 {
			l := first(k)
			o := t.computed(u, w, l, f.rows[arg.row].at(l, arg.width).Origin)
			for i, d := range t.dst {
				if i/pairs%2 != j%2 {
					continue
				}
				for q := l &^ 3; q < l&^3+4; q++ {
					res[i][q] = wholly(d.width, o)
				}
			}
		}
	}
}
