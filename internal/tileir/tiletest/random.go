package tiletest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/gocuda/cuda/internal/tileir"
)

// Program is a random module with the memory that it works on. Its entry has two parameters: the addresses of In and of
// a buffer of OutBytes zeros, and is launched with Grid blocks.
type Program struct {
	Code     []byte
	In       []byte
	OutBytes int
	Grid     [3]uint32
	// Outs say what is in the buffer.
	Outs []Out
}

// Out is a part of the output: elements of a kind from an offset on. NaNs of floats are equal to each other.
type Out struct {
	Kind  tileir.Kind
	At, N int
}

// The kinds of element that random programs have; each has an area of the input.
var randomKinds = []tileir.Kind{
	tileir.I1, tileir.I8, tileir.I16, tileir.I32, tileir.I64, tileir.F16, tileir.BF16, tileir.F32, tileir.F64,
}

const (
	areaElements = 4096
	areaBytes    = 8 * areaElements
	outBytes     = 1 << 20
	largest      = 12 // log2 of the elements of a tile
)

// held is a value with its type.
type held struct {
	v    Value
	kind tileir.Kind
	dims []int64
}

func count(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

type random struct {
	*Builder
	r     *rand.Rand
	p     *Program
	vals  []held
	at    int
	out   Value // int address of this block's part of the output
	in    Value
	depth int
}

// Random writes a program of about n operations.
func Random(seed uint64, n int) *Program {
	grid := [3]uint32{1, 1, 1}
	if seed%4 == 0 {
		grid = [3]uint32{2, 1, 2}
	}
	r := start(seed, grid)
	for range n {
		r.step()
	}
	for range 4 {
		r.store(r.any(func(held) bool { return true }))
	}
	return r.finish()
}

// start begins a program.
func start(seed uint64, grid [3]uint32) *random {
	r := &random{r: rand.New(rand.NewPCG(seed, 15)), p: &Program{OutBytes: outBytes, Grid: grid}}
	r.Builder = NewBuilder(func(b *Builder) []Type {
		i8 := b.Tile(b.Pointer(tileir.I8))
		return []Type{i8, i8}
	})
	r.p.In = r.input()
	r.in, r.out = 0, r.part(r.blocks())
	return r
}

func (r *random) blocks() int { return int(r.p.Grid[0] * r.p.Grid[1] * r.p.Grid[2]) }

// finish ends a program.
func (r *random) finish() *Program {
	r.Op(tileir.Op{Code: tileir.Return}, nil, [][]Value{nil})
	r.p.Code = r.Bytes()
	blocks := r.blocks()
	// All blocks write the same kinds.
	outs := r.p.Outs
	r.p.Outs = nil
	for b := range blocks {
		for _, o := range outs {
			o.At += b * outBytes / blocks
			r.p.Outs = append(r.p.Outs, o)
		}
	}
	return r.p
}

// input fills the areas of the kinds: numbers of all sizes, many small ones, and those at the ends.
func (r *random) input() []byte {
	in := make([]byte, areaBytes*len(randomKinds))
	for i, k := range randomKinds {
		size := max(1, k.Bits()/8)
		for e := range areaElements {
			binary.LittleEndian.PutUint64(in[areaBytes*i+size*e:][:8:8], r.bits(k))
		}
	}
	return in
}

func (r *random) bits(k tileir.Kind) uint64 {
	v := r.r.Uint64()
	f, isFloat := formats[k]
	switch n := r.r.IntN(8); {
	case n < 3 && isFloat:
		v = f.encode(fromSigned(magnitude().SetInt64(int64(r.r.IntN(33)-16))), 0, false)
	case n < 3:
		v = uint64(int64(r.r.IntN(33) - 16))
	case n == 3 && isFloat:
		special := []uint64{0, f.sign(), f.inf(), f.inf() | f.sign(), f.nan(), 1, f.sign() | 1, f.least() - 1,
			f.least(), f.most(), f.most() | f.sign()}
		v = special[r.r.IntN(len(special))]
	case n == 3:
		special := []uint64{0, 1, math.MaxUint64, 1 << (k.Bits() - 1), 1<<(k.Bits()-1) - 1}
		v = special[r.r.IntN(len(special))]
	case n < 6 && isFloat: // of like size
		v = f.encode(fromSigned(magnitude().SetFloat64((r.r.Float64()-0.5)*math.Exp2(float64(r.r.IntN(20)-8)))), 0,
			false)
	}
	return mask(k, v)
}

func (r *random) tile(k tileir.Kind, dims []int64) Type { return r.Tile(r.Scalar(k), dims...) }

// one writes an operation with one result.
func (r *random) one(o tileir.Op, k tileir.Kind, dims []int64, operands ...Value) held {
	slots := make([][]Value, len(operands))
	for i, v := range operands {
		slots[i] = []Value{v}
	}
	return held{r.Op(o, []Type{r.tile(k, dims)}, slots)[0], k, dims}
}

func (r *random) keep(h held) held {
	r.vals = append(r.vals, h)
	return h
}

// constant is a tile of a number.
func (r *random) constant(k tileir.Kind, dims []int64, v uint64) held {
	b := binary.LittleEndian.AppendUint64(nil, v)[:max(1, k.Bits()/8)]
	return r.one(tileir.Op{Code: tileir.ConstantOp, Extra: &tileir.Extra{Count: r.Constant(b)}}, k, dims)
}

// table is a constant whose elements differ.
func (r *random) table(k tileir.Kind, dims []int64) held {
	var b []byte
	n := count(dims)
	if k == tileir.I1 {
		for range (n + 7) / 8 {
			b = append(b, byte(r.r.Uint32()))
		}
	} else {
		for range n {
			b = append(b, binary.LittleEndian.AppendUint64(nil, r.bits(k))[:k.Bits()/8]...)
		}
	}
	return r.one(tileir.Op{Code: tileir.ConstantOp, Extra: &tileir.Extra{Count: r.Constant(b)}}, k, dims)
}

func (r *random) shape() []int64 {
	n := r.r.IntN(largest + 1)
	if r.r.IntN(2) == 0 {
		n = r.r.IntN(7)
	}
	return r.split(n)
}

// split gives a shape of 2^n elements.
func (r *random) split(n int) []int64 {
	rank := r.r.IntN(5)
	if rank == 0 && n > 0 {
		rank = 1
	}
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = 1
	}
	for range n {
		dims[r.r.IntN(rank)] *= 2
	}
	return dims
}

// any takes a value that is there.
func (r *random) any(fits func(held) bool) held {
	for range 8 {
		if len(r.vals) > 0 {
			// Late ones rather than early ones.
			i := len(r.vals) - 1 - r.r.IntN(min(len(r.vals), 12))
			if h := r.vals[i]; fits(h) {
				return h
			}
		}
	}
	for {
		k := randomKinds[r.r.IntN(len(randomKinds))]
		dims := r.shape()
		if h := (held{0, k, dims}); fits(h) {
			return r.load(k, dims)
		}
	}
}

// like takes a value of a type.
func (r *random) like(k tileir.Kind, dims []int64) held {
	var same []held
	for _, h := range r.vals {
		if h.kind == k && equal(h.dims, dims) {
			same = append(same, h)
		}
	}
	if len(same) > 0 && r.r.IntN(3) > 0 {
		return same[r.r.IntN(len(same))]
	}
	if r.r.IntN(5) == 0 && count(dims) <= 256 {
		return r.keep(r.table(k, dims))
	}
	return r.load(k, dims)
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func integer(h held) bool { return h.kind.Integer() }
func float(h held) bool   { return h.kind.Float() }

func (r *random) oneOf(codes ...tileir.Opcode) tileir.Opcode { return codes[r.r.IntN(len(codes))] }

func (r *random) sign() tileir.Signedness { return tileir.Signedness(r.r.IntN(2)) }

// step writes something.
func (r *random) step() {
	type maker struct {
		weight int
		make   func()
	}
	makers := []maker{
		{8, r.integers}, {8, r.floats}, {4, r.compare}, {4, r.convert}, {10, r.move}, {4, r.selection}, {3, r.divide},
		{3, r.shift},
		{3, func() { r.keep(r.load(randomKinds[r.r.IntN(len(randomKinds))], r.shape())) }},
		{3, func() { r.store(r.any(func(held) bool { return true })) }},
		{4, r.fold}, {2, r.mma}, {2, r.iota}, {2, r.atomic}, {2, r.viewLoad}, {2, r.viewStore}, {2, r.pack},
	}
	if r.depth < 2 {
		makers = append(makers, maker{2, r.branch}, maker{3, r.forLoop}, maker{1, r.loop})
	}
	all := 0
	for _, m := range makers {
		all += m.weight
	}
	n := r.r.IntN(all)
	for _, m := range makers {
		if n -= m.weight; n < 0 {
			m.make()
			return
		}
	}
}

func (r *random) integers() {
	h := r.any(integer)
	switch c := r.oneOf(tileir.AddI, tileir.SubI, tileir.MulI, tileir.AndI, tileir.OrI, tileir.XOrI, tileir.MaxI,
		tileir.MinI, tileir.MulHiI,
		tileir.NegI, tileir.AbsI); c {
	case tileir.NegI, tileir.AbsI:
		r.keep(r.one(tileir.Op{Code: c}, h.kind, h.dims, h.v))
	default:
		r.keep(r.one(tileir.Op{Code: c, Sign: r.sign()}, h.kind, h.dims, h.v, r.like(h.kind, h.dims).v))
	}
}

func (r *random) shift() {
	h := r.any(func(h held) bool { return integer(h) && h.kind != tileir.I1 })
	n := r.one(tileir.Op{Code: tileir.AndI}, h.kind, h.dims, r.like(h.kind, h.dims).v,
		r.constant(h.kind, h.dims, uint64(h.kind.Bits()-1)).v)
	c := r.oneOf(tileir.ShLI, tileir.ShRI)
	r.keep(r.one(tileir.Op{Code: c, Sign: r.sign()}, h.kind, h.dims, h.v, n.v))
}

// divide divides by numbers from 1 to the largest one of half the width.
func (r *random) divide() {
	h := r.any(func(h held) bool { return integer(h) && h.kind != tileir.I1 })
	d := r.one(tileir.Op{Code: tileir.AndI}, h.kind, h.dims, r.like(h.kind, h.dims).v,
		r.constant(h.kind, h.dims, 1<<(h.kind.Bits()-2)-1).v)
	d = r.one(tileir.Op{Code: tileir.OrI}, h.kind, h.dims, d.v, r.constant(h.kind, h.dims, 1).v)
	o := tileir.Op{Code: r.oneOf(tileir.DivI, tileir.RemI), Sign: r.sign(), Rounding: tileir.Zero}
	if o.Sign == tileir.Signed && r.r.IntN(2) == 0 {
		// -1 - d
		d = r.one(tileir.Op{Code: tileir.SubI}, h.kind, h.dims,
			r.constant(h.kind, h.dims, mask(h.kind, math.MaxUint64)).v, d.v)
	}
	if o.Code == tileir.DivI {
		o.Rounding = []tileir.Rounding{tileir.Zero, tileir.PositiveInf, tileir.NegativeInf}[r.r.IntN(2+int(o.Sign))]
	}
	r.keep(r.one(o, h.kind, h.dims, h.v, d.v))
}

func (r *random) floats() {
	h := r.any(float)
	o := tileir.Op{Code: r.oneOf(tileir.AddF, tileir.SubF, tileir.MulF, tileir.Fma, tileir.DivF, tileir.Sqrt,
		tileir.AbsF, tileir.NegF, tileir.MaxF,
		tileir.MinF, tileir.Ceil, tileir.Floor)}
	args := []Value{h.v}
	switch o.Code {
	case tileir.AddF, tileir.SubF, tileir.MulF, tileir.Fma, tileir.DivF, tileir.Sqrt:
		if r.r.IntN(2) == 0 {
			o.Rounding = tileir.Rounding(r.r.IntN(4))
		}
	case tileir.MaxF, tileir.MinF:
		if r.r.IntN(2) == 0 {
			o.Flags = tileir.PropagateNaN
		}
	}
	switch o.Code {
	case tileir.Fma:
		args = append(args, r.like(h.kind, h.dims).v, r.like(h.kind, h.dims).v)
	case tileir.AddF, tileir.SubF, tileir.MulF, tileir.DivF, tileir.MaxF, tileir.MinF:
		args = append(args, r.like(h.kind, h.dims).v)
	}
	r.keep(r.one(o, h.kind, h.dims, args...))
}

func (r *random) compare() {
	h := r.any(func(held) bool { return true })
	o := tileir.Op{Code: tileir.CmpI, Compare: tileir.Predicate(r.r.IntN(6)), Sign: r.sign()}
	if float(h) {
		o.Code, o.Ordering = tileir.CmpF, tileir.Ordering(r.r.IntN(2))
	}
	r.keep(r.one(o, tileir.I1, h.dims, h.v, r.like(h.kind, h.dims).v))
}

func (r *random) selection() {
	h := r.any(func(held) bool { return true })
	r.keep(r.one(tileir.Op{Code: tileir.Select}, h.kind, h.dims, r.like(tileir.I1, h.dims).v, h.v,
		r.like(h.kind, h.dims).v))
}

func (r *random) convert() {
	h := r.any(func(held) bool { return true })
	to := randomKinds[r.r.IntN(len(randomKinds))]
	o := tileir.Op{Sign: r.sign()}
	switch from := h.kind; {
	case from == to:
		return
	case from.Integer() && to.Integer():
		if o.Code = tileir.ExtI; to.Bits() < from.Bits() {
			o.Code = tileir.TruncI
		}
	case from.Integer() && from.Bits() == to.Bits() && r.r.IntN(2) == 0:
		o.Code = tileir.Bitcast
	case from.Integer():
		o.Code = tileir.IToF
	case to.Integer():
		o.Code, o.Rounding, o.Flags = tileir.FToI, tileir.NearestIntToZero, tileir.Saturating
	default:
		o.Code = tileir.FToF
		if r.r.IntN(3) == 0 { // by way of a format of the matrix units
			via := []tileir.Kind{tileir.F8E4M3FN, tileir.F8E5M2, tileir.TF32}[r.r.IntN(3)]
			way := tileir.Op{Code: tileir.FToF}
			if via == tileir.TF32 && from == tileir.F32 {
				way.Rounding = []tileir.Rounding{tileir.NearestEven, tileir.Zero, tileir.NearestAway}[r.r.IntN(3)]
			}
			h = r.one(way, via, h.dims, h.v)
		} else if from == tileir.F64 && to == tileir.F32 {
			o.Rounding = tileir.Rounding(r.r.IntN(4))
		} else if to.Bits() < from.Bits() {
			o.Rounding = tileir.Rounding(r.r.IntN(2))
		}
	}
	r.keep(r.one(o, to, h.dims, h.v))
}

func log2(n int64) int {
	k := 0
	for n > 1 {
		n, k = n/2, k+1
	}
	return k
}

// move writes an operation that moves elements.
func (r *random) move() {
	h := r.any(func(held) bool { return true })
	switch r.oneOf(tileir.Reshape, tileir.Permute, tileir.Broadcast, tileir.Extract, tileir.Insert, tileir.Cat) {
	case tileir.Reshape:
		dims := r.split(log2(count(h.dims)))
		r.keep(r.one(tileir.Op{Code: tileir.Reshape}, h.kind, dims, h.v))
	case tileir.Permute:
		if len(h.dims) < 2 {
			return
		}
		dims := make([]int64, len(h.dims))
		x := &tileir.Extra{}
		for i, p := range r.r.Perm(len(dims)) {
			dims[i] = h.dims[p]
			x.Ints = append(x.Ints, int64(p))
		}
		r.keep(r.one(tileir.Op{Code: tileir.Permute, Extra: x}, h.kind, dims, h.v))
	case tileir.Broadcast:
		dims := append([]int64{}, h.dims...)
		for i, d := range dims {
			if d == 1 && count(dims) < 1<<largest {
				dims[i] = 1 << r.r.IntN(largest+1-log2(count(dims)))
			}
		}
		r.keep(r.one(tileir.Op{Code: tileir.Broadcast}, h.kind, dims, h.v))
	case tileir.Extract, tileir.Insert:
		part := append([]int64{}, h.dims...)
		var at []Value
		for i, d := range part {
			part[i] = 1 << r.r.IntN(log2(d)+1)
			at = append(at, r.index(d/part[i]))
		}
		if r.r.IntN(2) == 0 {
			r.keep(held{r.Op(tileir.Op{Code: tileir.Extract}, []Type{r.tile(h.kind, part)}, [][]Value{{h.v}, at})[0],
				h.kind, part})
		} else {
			from := r.like(h.kind, part)
			r.keep(held{r.Op(tileir.Op{Code: tileir.Insert}, []Type{r.tile(h.kind, h.dims)},
				[][]Value{{from.v}, {h.v}, at})[0], h.kind, h.dims})
		}
	case tileir.Cat:
		if len(h.dims) == 0 || count(h.dims) >= 1<<largest {
			return
		}
		other := r.like(h.kind, h.dims)
		d := r.r.IntN(len(h.dims))
		dims := append([]int64{}, h.dims...)
		dims[d] *= 2
		r.keep(r.one(tileir.Op{Code: tileir.Cat, Extra: &tileir.Extra{Dim: int64(d)}}, h.kind, dims, h.v, other.v))
	}
}

// index is a number below a power of two, known or computed.
func (r *random) index(n int64) Value {
	if r.r.IntN(2) == 0 {
		return r.constant(tileir.I32, nil, uint64(r.r.Int64N(n))).v
	}
	x := r.like(tileir.I32, nil)
	return r.one(tileir.Op{Code: tileir.AndI}, tileir.I32, nil, x.v, r.constant(tileir.I32, nil, uint64(n-1)).v).v
}

func (r *random) iota() {
	k := []tileir.Kind{tileir.I8, tileir.I16, tileir.I32, tileir.I64}[r.r.IntN(4)]
	r.keep(r.one(tileir.Op{Code: tileir.Iota}, k, []int64{1 << r.r.IntN(min(largest, k.Bits())+1)}))
}

func (r *random) pack() {
	h := r.any(func(h held) bool { return h.kind == tileir.I32 || h.kind == tileir.I16 || h.kind == tileir.I64 })
	n := count(h.dims)
	flat := r.one(tileir.Op{Code: tileir.Reshape}, h.kind, []int64{n}, h.v)
	bytes := n * int64(h.kind.Bits()/8)
	b := r.keep(r.one(tileir.Op{Code: tileir.Pack}, tileir.I8, []int64{bytes}, flat.v))
	to := []tileir.Kind{tileir.I16, tileir.I32, tileir.I64}[r.r.IntN(3)]
	if m := bytes / int64(to.Bits()/8); m > 0 {
		r.keep(r.one(tileir.Op{Code: tileir.Unpack}, to, []int64{m}, b.v))
	}
}

// Type names the kind of the elements and gives their size in bytes.
func (o *Out) Type() (name string, size int) {
	return (&tileir.Type{Kind: o.Kind}).String(), max(1, o.Kind.Bits()/8)
}
