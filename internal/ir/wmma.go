package ir

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// The wmma instructions (PTX ISA 9.7.14.4) become loads, stores and mma.sync. Which element of a matrix stands where in
// a fragment is up to the machine; an H200 uses the fragments of mma.sync, as its answers to wmma.load show (kind
// "layout" of the recorded cases, TestSilicon), so that every wmma.mma is one, two or four mma.sync.
//
// Fragments in those terms: a lane stands for row lane/4 and for the elements from (lane%4)*pack on, pack being the
// elements of a register. The outer dimension of a fragment is the one that lane/4 counts: the rows of A and of the
// accumulators, the columns of B. m8n32k16 is computed as the transpose of m32n8k16: there the outer dimension of the
// accumulators are columns, and A and B change places.

// fragment describes the matrix that a fragment is of.
type fragment struct {
	outer, inner int  // dimensions
	ofA          bool // the product's first operand, or an accumulator: outer elements 8 further come before inner ones
	rows         bool // the outer dimension counts rows
	bits         uint // of an element
	pack         int  // consecutive inner elements of a lane: of a 32-bit register, or two accumulators
}

// swapped says whether the product is computed as its transpose.
func swapped(s optab.Shape) bool { return s.N == 32 }

// fragmentOf is that of operand a, b, c or d with elements of the given type.
func fragmentOf(which optab.Fragment, s optab.Shape, typ optab.TypeID) fragment {
	f := fragment{bits: uint(typ.Info().Bits)}
	f.pack = max(32/int(f.bits), 1)
	m, n, k := int(s.M), int(s.N), int(s.K)
	switch which {
	case optab.FragmentA:
		f.outer, f.inner, f.rows, f.ofA = m, k, true, !swapped(s)
	case optab.FragmentB:
		f.outer, f.inner, f.ofA = n, k, swapped(s)
	default:
		f.outer, f.inner, f.rows, f.ofA, f.pack = m, n, true, true, 2
		if swapped(s) {
			f.outer, f.inner, f.rows = n, m, false
		}
	}
	return f
}

// perRegister is how many elements a register holds.
func (f fragment) perRegister() int { return max(32/int(f.bits), 1) }

// at is where element i of lane 0 stands. Fragments of more elements than their part of the matrix has hold them again.
func (f fragment) at(i int) (outer, inner int) {
	p := bits.Len(uint(f.pack)) - 1
	inner = i & (f.pack - 1)
	i >>= p
	bit := func() (b int) { b = i & 1; i >>= 1; return b }
	if !f.ofA && f.inner > 4*f.pack {
		inner += 4 * f.pack * bit()
	}
	if f.outer >= 16 {
		outer = 8 * bit()
	}
	if f.ofA && f.inner > 4*f.pack {
		inner += 4 * f.pack * bit()
	}
	if f.outer >= 32 {
		outer += 16 * bit()
	}
	return outer, inner
}

// wmmaLanes has the rows that every wmma.load and wmma.store of a function needs; made at its beginning.
type wmmaLanes struct{ outer, inner Arg }

// expansions are the instructions that become other ones. Their operands are lowered.
var expansions = map[optab.Opcode]func(b *body, op *Op) error{
	optab.OpWmmaLoad: (*body).wmmaMove, optab.OpWmmaStore: (*body).wmmaMove, optab.OpWmmaMma: (*body).wmmaProduct,
	optab.OpMma: (*body).mmaProduct,
}

// Expands says whether the lowering makes other operations of an instruction.
func Expands(o optab.Opcode) bool { return expansions[o] != nil }

// wmmaLanes makes lane/4 and lane%4.
func (b *body) wmmaLanes() error {
	uses := func(in check.Inst) bool {
		return in.Match != nil && (in.Match.Form.Op == optab.OpWmmaLoad || in.Match.Form.Op == optab.OpWmmaStore)
	}
	if !slices.ContainsFunc(b.f.Insts, uses) {
		return nil
	}
	x := &expander{body: b}
	lane := b.made(newSpecial("%laneid"), "u32")
	b.lanes.outer = x.value("shr", []string{"u32"}, "u32", lane, x.imm("u32", 2))
	b.lanes.inner = x.value("and", []string{"b32"}, "u32", lane, x.imm("u32", 3))
	return x.err
}

// mover moves a fragment between registers and memory.
type mover struct {
	*expander
	f        fragment
	addr     *Arg
	straight bool           // the inner dimension is the one that is contiguous in memory
	stride   Arg            // bytes from one element of the other dimension to the next, 64 bits
	known    uint64         // the same, when it is a constant
	fixed    bool           // it is
	at       map[int]Arg    // addresses of the lane's elements so many elements further in the other dimension
	words    []string       // the state space
	pieces   map[[2]int]Arg // registers by the place of their first element
}

// memory is the operand for an element outer and inner further than the lane's first.
func (m *mover) memory(outer, inner int) Arg {
	far, near := outer, inner
	if !m.straight {
		far, near = inner, outer
	}
	a := Arg{Kind: Addr, Space: m.addr.Space, Disp: m.addr.Disp + int64(near)*int64(m.f.bits)/8,
		Position: m.typed("b32"), ArgRest: m.addr.ArgRest, Sym: false}
	base := m.at[0]
	if m.fixed {
		a.Disp += int64(uint64(far) * m.known)
	} else if far != 0 {
		var ok bool
		if base, ok = m.at[far]; !ok {
			base = m.value("mad", []string{"lo", "u64"}, "u64", m.stride, m.imm("u64", uint64(far)), m.at[0])
			m.at[far] = base
		}
	}
	a.Base = &base
	return a
}

// begin computes the lane's address and the stride. ld is the leading dimension in elements, nil for that of the
// matrix.
func (m *mover) begin(rowMajor bool, ld *Arg) {
	m.straight = rowMajor == m.f.rows
	scale := uint64(bits.Len(m.f.bits) - 1)
	// bytes of n elements
	bytes := func(n Arg) Arg {
		if scale >= 3 {
			return m.value("shl", []string{"b64"}, "u64", n, m.imm("u32", scale-3))
		}
		return m.value("shr", []string{"u64"}, "u64", n, m.imm("u32", 3-scale))
	}
	first := m.value("shl", []string{"b32"}, "u32", m.lanes.inner, m.imm("u32", uint64(bits.Len(uint(m.f.pack))-1)))
	far, near := m.lanes.outer, first
	if !m.straight {
		far, near = near, far
	}
	n := m.f.inner
	if !m.straight {
		n = m.f.outer
	}
	m.fixed, m.known = true, uint64(n)*uint64(m.f.bits)/8
	lead := m.imm("u32", uint64(n))
	if ld != nil && ld.Reg() {
		lead = m.as(*ld, "u32")
		m.fixed = ld.Kind == Imm && !ld.Sym
		m.known = ld.Bits & 0xffffffff * uint64(m.f.bits) / 8
	}
	if !m.fixed {
		m.stride = bytes(m.value("cvt", []string{"u64", "u32"}, "u64", lead))
	}
	off := bytes(m.value("mul", []string{"wide", "u32"}, "u64", far, lead))
	off = m.value("add", []string{"u64"}, "u64", off, bytes(m.value("cvt", []string{"u64", "u32"}, "u64", near)))
	if base := m.addr.Base; base != nil {
		a := *base
		if a.Class == W64 {
			a = m.as(a, "u64")
		} else {
			a = m.value("cvt", []string{"u64", "u32"}, "u64", m.as(a, "u32"))
		}
		off = m.value("add", []string{"u64"}, "u64", off, a)
	}
	m.at = map[int]Arg{0: off}
	if name := m.addr.Space.String(); m.addr.Space != Generic {
		m.words = []string{name}
	}
}

// form is the words of a load or store of n bits.
func (m *mover) form(n uint) []string { return append(slices.Clone(m.words), "b"+strconv.Itoa(int(n))) }

// load fills a register with the elements from place i of the fragment on.
func (m *mover) load(d Arg, i int) {
	outer, inner := m.f.at(i)
	key := [2]int{outer, inner}
	if had, ok := m.pieces[key]; ok { // once more
		m.guarded("mov", []string{"b32"}, d, had)
		return
	}
	m.pieces[key] = d
	per := m.f.perRegister()
	if m.straight || per == 1 {
		m.guarded("ld", m.form(max(m.f.bits, 32)), d, m.memory(outer, inner))
		return
	}
	word := Arg{}
	for e := range per {
		outer, inner := m.f.at(i + e)
		piece := m.row("b32")
		m.guarded("ld", append(slices.Clone(m.words), "u"+strconv.Itoa(int(m.f.bits))), piece, m.memory(outer, inner))
		if e > 0 {
			piece = m.value("shl", []string{"b32"}, "b32", piece, m.imm("u32", uint64(e)*uint64(m.f.bits)))
			word = m.value("or", []string{"b32"}, "b32", word, piece)
			continue
		}
		word = piece
	}
	m.guarded("mov", []string{"b32"}, d, word)
}

// store writes the elements of a register that stand from place i of the fragment on.
func (m *mover) store(s Arg, i int) {
	outer, inner := m.f.at(i)
	per := m.f.perRegister()
	if m.straight || per == 1 {
		m.guarded("st", m.form(max(m.f.bits, 32)), m.memory(outer, inner), s)
		return
	}
	for e := range per {
		outer, inner := m.f.at(i + e)
		piece := s
		if e > 0 {
			piece = m.value("shr", []string{"u32"}, "b32", s, m.imm("u32", uint64(e)*uint64(m.f.bits)))
		}
		m.guarded("st", append(slices.Clone(m.words), "u"+strconv.Itoa(int(m.f.bits))), m.memory(outer, inner), piece)
	}
}

// wmmaMove lowers wmma.load and wmma.store.
func (b *body) wmmaMove(op *Op) error {
	mods, load := op.Mods(), op.Opcode() == optab.OpWmmaLoad
	which, regs, addr, ld := optab.FragmentD, &op.Args[1], &op.Args[0], op.Arg("c")
	if load {
		which, regs, addr, ld = mods.Fragment, &op.Args[0], &op.Args[1], op.Arg("b")
	}
	x := &expander{body: b, op: op}
	m := &mover{expander: x, f: fragmentOf(which, mods.Shape, mods.Type(0)), addr: addr, pieces: map[[2]int]Arg{}}
	m.begin(mods.Layout[0] == optab.LayoutRow, ld)
	for i, r := range regs.Elements() {
		if i *= m.f.perRegister(); load {
			if r.Kind == Row {
				m.load(r, i)
			}
		} else {
			m.store(r, i)
		}
	}
	return x.err
}

// wmmaPart says how a product of m16n16, m32n8 or less is put together of products of 8 columns.
type wmmaPart struct {
	shape string // of mma.sync
	a, b  int    // registers of a fragment of A and B
	parts int    // of the rows or columns
	steps int    // of k
}

func wmmaPartOf(typ optab.TypeID) wmmaPart {
	switch typ {
	case optab.F16, optab.Bf16:
		return wmmaPart{"m16n8k16", 4, 2, 2, 1}
	case optab.U8, optab.S8:
		return wmmaPart{"m16n8k16", 2, 1, 2, 1}
	case optab.Tf32:
		return wmmaPart{"m16n8k4", 2, 1, 2, 2}
	case optab.F64:
		return wmmaPart{"m8n8k4", 1, 1, 1, 1}
	case optab.B1:
		return wmmaPart{"m8n8k128", 1, 1, 1, 1}
	}
	return wmmaPart{"m8n8k32", 1, 1, 1, 1} // of 4 bits
}

// wmmaProduct lowers wmma.mma.
func (b *body) wmmaProduct(op *Op) error {
	mods := op.Mods()
	s := mods.Shape
	x := &expander{body: b, op: op}
	dt, ct, at, bt := mods.Type(0), mods.LastType(), optab.F16, optab.F16
	if mods.NumTypes == 4 {
		at, bt = mods.Type(1), mods.Type(2)
	}
	d, am, bm, c := op.Args[0].Elements(), op.Args[1].Elements(), op.Args[2].Elements(), op.Args[3].Elements()
	if swapped(s) {
		am, bm, at, bt = bm, am, bt, at
	}
	byRows := s.M == 32 || s.N == 32
	p := wmmaPartOf(at)
	words := []string{"sync", "aligned", p.shape, "row", "col"}
	if mods.Satfinite && dt == optab.S32 { // products of f16 take it too, and ignore it
		words = append(words, "satfinite")
	}
	var behind []string
	if mods.Round != optab.NoRound {
		behind = append(behind, mods.Round.String())
	}
	if mods.Func != optab.NoFunc {
		behind = append(behind, mods.Func.String(), "popc")
	}
	// Accumulators of unequal types are f32 in between.
	sum, out, typ, mixed := c, d, dt, dt != ct
	switch {
	case mixed && ct == optab.F16:
		sum, typ = x.widened(c), optab.F32
	case mixed:
		out, typ = x.fresh("f32", 2*len(d)), optab.F32
	case overlap(d, am) || overlap(d, bm) || overlap(d, c) && !sameRows(d, c): // a part would be an operand of the next
		t := "b32"
		if dt == optab.F64 {
			t = "f64"
		}
		out = x.fresh(t, len(d))
	}
	words = append(append(words, typ.String(), at.String(), bt.String(), typ.String()), behind...)
	for i := range p.parts {
		acc, to := part(sum, i, p.parts), part(out, i, p.parts)
		for k := range p.steps {
			ai, bi := k, i*p.steps+k
			if byRows {
				ai, bi = bi, k
			}
			x.guarded("mma", words, x.vector(to), x.vector(am[p.a*ai:][:p.a]), x.vector(bm[p.b*bi:][:p.b]),
				x.vector(acc))
			acc = to
		}
	}
	switch {
	case mixed && dt == optab.F16:
		for i := range d {
			x.guarded("cvt", []string{"rn", "f16x2", "f32"}, d[i], out[2*i+1], out[2*i])
		}
	case !sameRows(out, d):
		for i := range d {
			x.guarded("mov", []string{"b" + strconv.Itoa(8*int(d[i].Class.RowSize())/32)}, d[i], out[i])
		}
	}
	return x.err
}

// part is the i-th of n equal parts.
func part(list []Arg, i, n int) []Arg { return list[i*len(list)/n:][:len(list)/n] }

// widened are the f32 values of registers with two f16 each.
func (x *expander) widened(c []Arg) (list []Arg) {
	for _, r := range c {
		for half := range uint64(2) {
			w := x.value("shr", []string{"u32"}, "u32", r, x.imm("u32", 16*half))
			h := x.value("cvt", []string{"u16", "u32"}, "u16", w)
			list = append(list, x.value("cvt", []string{"f32", "f16"}, "f32", x.as(h, "f16")))
		}
	}
	return list
}

// overlap says whether a register is in both lists.
func overlap(a, b []Arg) bool {
	return slices.ContainsFunc(a, func(x Arg) bool {
		return slices.ContainsFunc(b, func(y Arg) bool { return x.Kind == Row && y.Kind == Row && x.Ref == y.Ref })
	})
}

// sameRows says whether the lists are the same registers in the same order.
func sameRows(a, b []Arg) bool {
	return slices.EqualFunc(a, b, func(x, y Arg) bool { return x.Kind == Row && y.Kind == Row && x.Ref == y.Ref })
}
