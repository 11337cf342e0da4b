package tiletest

import (
	"encoding/binary"
	"slices"

	"github.com/gocuda/cuda/internal/tileir"
)

// part gives the address of this block's part of the output.
func (r *random) part(blocks int) Value {
	i32 := r.tile(tileir.I32, nil)
	three := []Type{i32, i32, i32}
	id := r.Op(tileir.Op{Code: tileir.GetTileBlockID}, three, nil)
	n := r.Op(tileir.Op{Code: tileir.GetNumTileBlocks}, three, nil)
	op := func(c tileir.Opcode, a, b Value) Value { return r.one(tileir.Op{Code: c}, tileir.I32, nil, a, b).v }
	i := op(tileir.AddI, id[0], op(tileir.MulI, n[0], op(tileir.AddI, id[1], op(tileir.MulI, n[1], id[2]))))
	i = op(tileir.MulI, i, r.constant(tileir.I32, nil, uint64(outBytes/blocks)).v)
	r.keep(held{id[0], tileir.I32, nil})
	return r.moved(1, i)
}

// moved moves a pointer to bytes.
func (r *random) moved(p, by Value) Value {
	return r.Op(tileir.Op{Code: tileir.Offset}, []Type{r.Tile(r.Pointer(tileir.I8))}, [][]Value{{p}, {by}})[0]
}

// pointers are those to elements of a kind from an address on: those of numbers.
func (r *random) pointers(base Value, at int, k tileir.Kind, dims []int64, numbers held) Value {
	p := r.moved(base, r.constant(tileir.I32, nil, uint64(at)).v)
	elem := r.Pointer(k)
	if r.r.IntN(4) == 0 {
		n := r.one(tileir.Op{Code: tileir.PtrToInt}, tileir.I64, nil, p)
		p = r.Op(tileir.Op{Code: tileir.IntToPtr}, []Type{r.Tile(elem)}, [][]Value{{n.v}})[0]
	} else {
		p = r.Op(tileir.Op{Code: tileir.PtrToPtr}, []Type{r.Tile(elem)}, [][]Value{{p}})[0]
	}
	ones := make([]int64, len(dims))
	for i := range ones {
		ones[i] = 1
	}
	p = r.Op(tileir.Op{Code: tileir.Reshape}, []Type{r.Tile(elem, ones...)}, [][]Value{{p}})[0]
	p = r.Op(tileir.Op{Code: tileir.Broadcast}, []Type{r.Tile(elem, dims...)}, [][]Value{{p}})[0]
	return r.Op(tileir.Op{Code: tileir.Offset}, []Type{r.Tile(elem, dims...)}, [][]Value{{p}, {numbers.v}})[0]
}

// counted is the numbers of the elements of a tile.
func (r *random) counted(dims []int64) held {
	n := r.one(tileir.Op{Code: tileir.Iota}, tileir.I32, []int64{count(dims)})
	return r.one(tileir.Op{Code: tileir.Reshape}, tileir.I32, dims, n.v)
}

// load loads elements of the input, in some order.
func (r *random) load(k tileir.Kind, dims []int64) held {
	op := func(c tileir.Opcode, a Value, v uint64) Value {
		return r.one(tileir.Op{Code: c}, tileir.I32, dims, a, r.constant(tileir.I32, dims, v).v).v
	}
	n := r.counted(dims)
	if r.r.IntN(2) == 0 {
		n.v = op(tileir.MulI, n.v, uint64(r.r.IntN(32)*2+1))
	}
	n.v = op(tileir.AndI, op(tileir.AddI, n.v, uint64(r.r.IntN(areaElements))), areaElements-1)
	p := r.pointers(r.in, areaBytes*slices.Index(randomKinds, k), k, dims, n)
	slots := [][]Value{{p}}
	if r.r.IntN(5) == 0 && r.depth < 9 {
		r.depth += 9 // what it needs is loaded without masks
		slots = append(slots, []Value{r.like(tileir.I1, dims).v}, []Value{r.like(k, dims).v})
		r.depth -= 9
	}
	v := r.Op(tileir.Op{Code: tileir.LoadPtr, Scope: tileir.NoScope}, []Type{r.tile(k, dims), r.Token()}, slots)[0]
	return r.keep(held{v, k, dims})
}

// room reserves a part of the output for elements.
func (r *random) room(k tileir.Kind, n int64) (at int, ok bool) {
	size := max(1, k.Bits()/8)
	at = (r.at + 15) &^ 15
	if at+int(n)*size > outBytes/r.blocks() {
		return 0, false
	}
	r.at = at + int(n)*size
	r.p.Outs = append(r.p.Outs, Out{k, at, int(n)})
	return at, true
}

func (r *random) store(h held) {
	at, ok := r.room(h.kind, count(h.dims))
	if !ok {
		return
	}
	slots := [][]Value{{r.pointers(r.out, at, h.kind, h.dims, r.counted(h.dims))}, {h.v}}
	if r.r.IntN(4) == 0 {
		slots = append(slots, []Value{r.like(tileir.I1, h.dims).v})
	}
	r.Op(tileir.Op{Code: tileir.StorePtr, Scope: tileir.NoScope}, []Type{r.Token()}, slots)
}

// atomic stores a tile, changes it by atomic operations, and keeps what stood there.
func (r *random) atomic() {
	h := r.any(func(h held) bool { return h.kind == tileir.I32 || h.kind == tileir.I64 })
	at, ok := r.room(h.kind, count(h.dims))
	if !ok {
		return
	}
	p := r.pointers(r.out, at, h.kind, h.dims, r.counted(h.dims))
	token := r.Op(tileir.Op{Code: tileir.StorePtr, Scope: tileir.NoScope}, []Type{r.Token()}, [][]Value{{p}, {h.v}})[0]
	o := tileir.Op{MemoryOrder: tileir.Relaxed + tileir.MemoryOrder(r.r.IntN(4)), Scope: tileir.Scope(r.r.IntN(3))}
	slots := [][]Value{{p}}
	if r.r.IntN(4) == 0 {
		o.Code = tileir.AtomicCAS
		slots = append(slots, []Value{r.like(h.kind, h.dims).v})
	} else {
		o.Code = tileir.AtomicRMW
		o.RMW = []tileir.RMW{tileir.RMWAnd, tileir.RMWOr, tileir.RMWXor, tileir.RMWAdd, tileir.RMWMax, tileir.RMWMin,
			tileir.RMWUMax, tileir.RMWUMin,
			tileir.RMWExchange}[r.r.IntN(9)]
	}
	slots = append(slots, []Value{r.like(h.kind, h.dims).v}, nil, []Value{token})
	v := r.Op(o, []Type{r.tile(h.kind, h.dims), r.Token()}, slots)[0]
	r.keep(held{v, h.kind, h.dims})
}

// partition makes a view of tiles of memory, and indices of one that may lie partly or all outside.
func (r *random) partition(base Value, at int, k tileir.Kind, tile, shape, strides []int64) (v Value, index []Value) {
	record := append([]byte{tagTensorView}, numbers(0, uint64(r.Scalar(k)))...)
	said := [2][]int64{slices.Clone(shape), slices.Clone(strides)}
	var dynamic [2][]Value
	for i, dims := range said {
		for d := range dims {
			if r.r.IntN(2) == 0 {
				dynamic[i] = append(dynamic[i], r.constant(tileir.I32, nil, uint64(dims[d])).v)
				dims[d] = tileir.Dynamic
			}
		}
	}
	record = appendDims(appendDims(record, said[0]), said[1])
	tensor := r.record(record)
	p := r.moved(base, r.constant(tileir.I32, nil, uint64(at)).v)
	p = r.Op(tileir.Op{Code: tileir.PtrToPtr}, []Type{r.Tile(r.Pointer(k))}, [][]Value{{p}})[0]
	v = r.Op(tileir.Op{Code: tileir.MakeTensorView}, []Type{tensor}, [][]Value{{p}, dynamic[0], dynamic[1]})[0]
	flag := uint64(r.r.IntN(2))
	small := func(b []byte, vs []int64) []byte {
		b = binary.AppendUvarint(b, uint64(len(vs)))
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		return b
	}
	dims := make([]int64, len(tile))
	for i := range dims {
		dims[i] = int64(i)
	}
	record = small(append([]byte{tagPartitionView}, numbers(flag)...), tile)
	record = small(binary.AppendUvarint(record, uint64(tensor)), dims)
	if flag != 0 {
		pad := tileir.PadZero
		if k.Float() {
			pad = tileir.Padding(r.r.IntN(5))
		}
		record = append(record, byte(pad))
	}
	v = r.Op(tileir.Op{Code: tileir.MakePartitionView}, []Type{r.record(record)}, [][]Value{{v}})[0]
	for d := range tile {
		n := (shape[d] + tile[d] - 1) / tile[d]
		index = append(index, r.constant(tileir.I32, nil, uint64(r.r.Int64N(n+2)-1)&0xffffffff).v)
	}
	return v, index
}

// tensor chooses the tile and the shape of a view of at most so many elements.
func (r *random) tensor(most int64) (tile, shape, strides []int64, n int64) {
	tile = r.split(1 + r.r.IntN(10))
	shape, strides = make([]int64, len(tile)), make([]int64, len(tile))
	n = 1
	for d := len(tile) - 1; d >= 0; d-- {
		shape[d] = 1 + r.r.Int64N(max(1, min(2*tile[d]+3, most/n/(1<<d)-1)))
		strides[d] = n
		n *= shape[d]
	}
	return tile, shape, strides, n
}

func (r *random) viewLoad() {
	k := randomKinds[1+r.r.IntN(len(randomKinds)-1)]
	tile, shape, strides, _ := r.tensor(areaElements)
	v, index := r.partition(r.in, areaBytes*slices.Index(randomKinds, k), k, tile, shape, strides)
	o := tileir.Op{Code: tileir.LoadView, Scope: tileir.NoScope,
		Extra: &tileir.Extra{InBounds: make([]bool, len(tile))}}
	r.keep(held{r.Op(o, []Type{r.tile(k, tile), r.Token()}, [][]Value{{v}, index})[0], k, tile})
}

func (r *random) viewStore() {
	h := r.any(func(h held) bool { return h.kind != tileir.I1 && len(h.dims) > 0 })
	shape, strides, n := make([]int64, len(h.dims)), make([]int64, len(h.dims)), int64(1)
	for d := len(h.dims) - 1; d >= 0; d-- {
		shape[d], strides[d] = 1+r.r.Int64N(h.dims[d]*3/2+1), n
		n *= shape[d]
	}
	at, ok := r.room(h.kind, n)
	if !ok {
		return
	}
	v, index := r.partition(r.out, at, h.kind, h.dims, shape, strides)
	o := tileir.Op{Code: tileir.StoreView, Scope: tileir.NoScope,
		Extra: &tileir.Extra{InBounds: make([]bool, len(h.dims))}}
	r.Op(o, []Type{r.Token()}, [][]Value{{h.v}, {v}, index})
}

// fold writes a reduction or scan of one tile or two, by operations whose order does not matter.
func (r *random) fold() {
	h := r.any(func(h held) bool { return len(h.dims) > 0 })
	hs := []held{h}
	if r.r.IntN(3) == 0 {
		k := randomKinds[r.r.IntN(len(randomKinds))]
		hs = append(hs, r.like(k, h.dims))
	}
	d := r.r.IntN(len(h.dims))
	o := tileir.Op{Code: r.oneOf(tileir.Reduce, tileir.Scan), Extra: &tileir.Extra{Dim: int64(d)}}
	to := h.dims
	if o.Code == tileir.Reduce {
		to = slices.Delete(slices.Clone(h.dims), d, d+1)
	} else if r.r.IntN(2) == 0 {
		o.Flags = tileir.Reverse
	}
	var results, args []Type
	var operands []Value
	for _, h := range hs {
		kind := tileir.IntegerValue
		if float(h) {
			kind = tileir.FloatValue
		}
		o.Extra.Identities = append(o.Extra.Identities, &tileir.Attr{Kind: kind, Type: &tileir.Type{Kind: h.kind}})
		results, args = append(results, r.tile(h.kind, to)), append(args, r.tile(h.kind, nil), r.tile(h.kind, nil))
		operands = append(operands, h.v)
	}
	out := r.Op(o, results, [][]Value{operands}, Region{Args: args, Body: func(a []Value) {
		var yield []Value
		for i, h := range hs {
			in := tileir.Op{Code: r.oneOf(tileir.AddI, tileir.MulI, tileir.AndI, tileir.OrI, tileir.XOrI, tileir.MaxI,
				tileir.MinI), Sign: r.sign()}
			if float(h) {
				in = tileir.Op{Code: r.oneOf(tileir.MaxF, tileir.MinF), Flags: tileir.PropagateNaN}
			}
			yield = append(yield, r.one(in, h.kind, nil, a[2*i], a[2*i+1]).v)
		}
		r.Op(tileir.Op{Code: tileir.Yield}, nil, [][]Value{yield})
	}})
	for i, h := range hs {
		r.keep(held{out[i], h.kind, to})
	}
}

// mma multiplies matrices of small whole numbers.
func (r *random) mma() {
	m, n, k := int64(1)<<r.r.IntN(6), int64(1)<<r.r.IntN(6), int64(1)<<r.r.IntN(6)
	var batch []int64
	if r.r.IntN(3) == 0 {
		batch = []int64{1 << r.r.IntN(2)}
	}
	dims := func(a, b int64) []int64 { return append(slices.Clone(batch), a, b) }
	small := func(from, kind tileir.Kind, dims []int64, most uint64) Value {
		v := r.one(tileir.Op{Code: tileir.AndI}, from, dims, r.like(from, dims).v, r.constant(from, dims, most).v)
		if kind != from {
			v = r.one(tileir.Op{Code: tileir.IToF}, kind, dims, v.v)
		}
		return v.v
	}
	if r.r.IntN(3) == 0 {
		o := tileir.Op{Code: tileir.MmaI, Sign: r.sign(), SignRHS: r.sign()}
		a, b := r.like(tileir.I8, dims(m, k)), r.like(tileir.I8, dims(k, n))
		r.keep(r.one(o, tileir.I32, dims(m, n), a.v, b.v, small(tileir.I32, tileir.I32, dims(m, n), 0xfffff)))
		return
	}
	pair := [][2]tileir.Kind{{tileir.F16, tileir.F16}, {tileir.F16, tileir.F32}, {tileir.BF16, tileir.F32},
		{tileir.F32, tileir.F32},
		{tileir.F64, tileir.F64}}[r.r.IntN(5)]
	a, b := small(tileir.I8, pair[0], dims(m, k), 7), small(tileir.I8, pair[0], dims(k, n), 7)
	r.keep(r.one(tileir.Op{Code: tileir.MmaF}, pair[1], dims(m, n), a, b, small(tileir.I8, pair[1], dims(m, n), 127)))
}

// inner writes some operations in a region, whose values end with it.
func (r *random) inner(f func()) {
	n := len(r.vals)
	r.depth++
	f()
	r.depth--
	r.vals = r.vals[:n]
}

func (r *random) steps() {
	for range 1 + r.r.IntN(5) {
		r.step()
	}
}

// some takes values and gives their types.
func (r *random) some(n int) (hs []held, vs []Value, types []Type) {
	for range n {
		h := r.any(func(held) bool { return true })
		hs, vs, types = append(hs, h), append(vs, h.v), append(types, r.tile(h.kind, h.dims))
	}
	return hs, vs, types
}

// likes takes values of the types of others.
func (r *random) likes(hs []held) (vs []Value) {
	for _, h := range hs {
		vs = append(vs, r.like(h.kind, h.dims).v)
	}
	return vs
}

func (r *random) branch() {
	hs, _, types := r.some(r.r.IntN(4))
	cond := r.like(tileir.I1, nil)
	side := Region{Body: func([]Value) {
		r.inner(func() {
			r.steps()
			vs := r.likes(hs)
			r.Op(tileir.Op{Code: tileir.Yield}, nil, [][]Value{vs})
		})
	}}
	out := r.Op(tileir.Op{Code: tileir.If}, types, [][]Value{{cond.v}}, side, side)
	for i, h := range hs {
		r.keep(held{out[i], h.kind, h.dims})
	}
}

func (r *random) forLoop() {
	hs, vs, types := r.some(r.r.IntN(5))
	k := []tileir.Kind{tileir.I8, tileir.I16, tileir.I32, tileir.I64}[r.r.IntN(4)]
	first, step, turns := r.r.IntN(40)-20, 1+r.r.IntN(5), r.r.IntN(4)
	end := first + step*turns - r.r.IntN(2)
	o := tileir.Op{Code: tileir.For}
	if first >= 0 && end >= 0 && r.r.IntN(2) == 0 {
		o.Flags = tileir.UnsignedCmp
	}
	number := func(n int) Value { return r.constant(k, nil, mask(k, uint64(int64(n)))).v }
	slots := [][]Value{{number(first)}, {number(end)}, {number(step)}, vs}
	args := append([]Type{r.tile(k, nil)}, types...)
	out := r.Op(o, types, slots, Region{Args: args, Body: func(a []Value) {
		r.inner(func() {
			r.keep(held{a[0], k, nil})
			r.carry(a[1:], hs)
			r.Op(tileir.Op{Code: tileir.Continue}, nil, [][]Value{r.likes(hs)})
		})
	}})
	for i, h := range hs {
		r.keep(held{out[i], h.kind, h.dims})
	}
}

// carry writes the body of a loop with what it carries.
func (r *random) carry(a []Value, hs []held) {
	for i, h := range hs {
		r.keep(held{a[i], h.kind, h.dims})
	}
	r.steps()
}

// loop writes a loop that is left after some turns.
func (r *random) loop() {
	hs, vs, types := r.some(r.r.IntN(4))
	i32 := r.tile(tileir.I32, nil)
	first := r.constant(tileir.I32, nil, 0)
	out := r.Op(tileir.Op{Code: tileir.Loop}, types, [][]Value{append([]Value{first.v}, vs...)},
		Region{Args: append([]Type{i32}, types...), Body: func(a []Value) {
			r.inner(func() {
				r.carry(a[1:], hs)
				done := r.one(tileir.Op{Code: tileir.CmpI, Compare: tileir.GreaterOrEqual}, tileir.I1, nil, a[0],
					r.constant(tileir.I32, nil, uint64(r.r.IntN(4))).v)
				r.Op(tileir.Op{Code: tileir.If}, nil, [][]Value{{done.v}}, Region{Body: func([]Value) {
					r.inner(func() { r.Op(tileir.Op{Code: tileir.Break}, nil, [][]Value{r.likes(hs)}) })
				}}, Region{Body: func([]Value) { r.Op(tileir.Op{Code: tileir.Yield}, nil, [][]Value{nil}) }})
				next := r.one(tileir.Op{Code: tileir.AddI}, tileir.I32, nil, a[0], r.constant(tileir.I32, nil, 1).v)
				r.Op(tileir.Op{Code: tileir.Continue}, nil, [][]Value{append([]Value{next.v}, r.likes(hs)...)})
			})
		}})
	for i, h := range hs {
		r.keep(held{out[i], h.kind, h.dims})
	}
}

// Converted is a program that rounds floats of one kind to another, and stores them as f32.
func Converted(from, to tileir.Kind, round tileir.Rounding) *Program {
	r := start(1, [3]uint32{1, 1, 1})
	h := r.load(from, []int64{areaElements})
	v := r.one(tileir.Op{Code: tileir.FToF, Rounding: round}, to, h.dims, h.v)
	r.store(r.one(tileir.Op{Code: tileir.FToF}, tileir.F32, h.dims, v.v))
	return r.finish()
}

// Truth is a program that converts floats to i1.
func Truth(from tileir.Kind) *Program {
	r := start(1, [3]uint32{1, 1, 1})
	h := r.load(from, []int64{areaElements})
	r.store(r.one(tileir.Op{Code: tileir.FToI, Rounding: tileir.NearestIntToZero}, tileir.I1, h.dims, h.v))
	return r.finish()
}
