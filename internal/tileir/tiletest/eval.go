package tiletest

import (
	"encoding/binary"
	"fmt"

	"github.com/gocuda/cuda/internal/tileir"
)

// Memory gives the bytes at an address of the device, nil where there are none.
type Memory func(addr uint64, n int) []byte

// tile is the elements of a tile, row-major, the bits of each in the lowest ones.
type tile []uint64

// view is a view of memory.
type view struct {
	base           uint64
	shape, strides []int64
}

// evaluator computes a tile block, operation by operation: no fusion, no warps, numbers of any precision.
type evaluator struct {
	mem   Memory
	grid  [3]uint32
	block [3]uint32
	vals  map[*tileir.Val]tile
	views map[*tileir.Val]view
}

// Evaluate computes all tile blocks of a verified module's first entry, one after the other. It knows the operations
// whose results the dialect fixes, and that Random writes; others are an error.
func Evaluate(m *tileir.Module, grid [3]uint32, args []uint64, mem Memory) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(evalError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	body, err := m.Funcs[0].Body()
	if err != nil {
		return err
	}
	for z := range grid[2] {
		for y := range grid[1] {
			for x := range grid[0] {
				e := &evaluator{mem: mem, grid: grid, block: [3]uint32{x, y, z}, vals: map[*tileir.Val]tile{},
					views: map[*tileir.Val]view{}}
				for i, a := range body.Args {
					e.vals[a] = tile{args[i]}
				}
				e.run(body)
			}
		}
	}
	return nil
}

type evalError struct{ error }

func (e *evaluator) fail(o *tileir.Op, what string) {
	panic(evalError{fmt.Errorf("tiletest: %s: %s", o.Code, what)})
}

// run computes a block; end is the operation that ends it.
func (e *evaluator) run(b *tileir.Block) (end *tileir.Op) {
	for _, o := range b.Ops {
		switch o.Code {
		case tileir.Return, tileir.Yield, tileir.Continue, tileir.Break:
			return o
		case tileir.If:
			r := o.Regions[1]
			if e.vals[o.Operands[0]][0] != 0 {
				r = o.Regions[0]
			}
			if len(r.Blocks) > 0 {
				end := e.run(r.Blocks[0])
				if end.Code != tileir.Yield {
					return end
				}
				e.assign(o.Results, end.Operands)
			}
		case tileir.For:
			if end := e.forLoop(o); end != nil {
				return end
			}
		case tileir.Loop:
			body := o.Regions[0].Blocks[0]
			e.assign(body.Args, o.Operands)
			for {
				end := e.run(body)
				if end.Code == tileir.Return {
					return end
				}
				if end.Code == tileir.Break {
					e.assign(o.Results, end.Operands)
					break
				}
				e.assign(body.Args, end.Operands)
			}
		default:
			e.op(o)
		}
	}
	return nil
}

// assign gives values their new elements, all at once.
func (e *evaluator) assign(to, from []*tileir.Val) {
	vs := make([]tile, len(from))
	for i, v := range from {
		vs[i] = e.vals[v]
	}
	for i, v := range to {
		e.vals[v] = vs[i]
	}
}

func (e *evaluator) forLoop(o *tileir.Op) (end *tileir.Op) {
	body := o.Regions[0].Blocks[0]
	k := body.Args[0].Type.Elem.Kind
	i, upper, step := e.vals[o.Operands[0]][0], e.vals[o.Operands[1]][0], e.vals[o.Operands[2]][0]
	e.assign(body.Args[1:], o.Operands[3:])
	less := func(a, b uint64) bool {
		if o.Flags&tileir.UnsignedCmp != 0 {
			return a < b
		}
		return signExtend(k, a) < signExtend(k, b)
	}
	for less(i, upper) {
		e.vals[body.Args[0]] = tile{i}
		if end := e.run(body); end.Code == tileir.Return {
			return end
		} else {
			e.assign(body.Args[1:], end.Operands)
		}
		next := mask(k, i+step)
		if less(next, i) {
			break
		}
		i = next
	}
	e.assign(o.Results, body.Args[1:])
	return nil
}

func mask(k tileir.Kind, v uint64) uint64 {
	if k == tileir.Pointer || k.Bits() == 64 {
		return v
	}
	return v & (1<<k.Bits() - 1)
}

func signExtend(k tileir.Kind, v uint64) int64 {
	n := 64 - k.Bits()
	return int64(v<<n) >> n
}

// coordinates of element i in a shape.
func coordinates(shape []int64, i int64) []int64 {
	c := make([]int64, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		c[d], i = i%shape[d], i/shape[d]
	}
	return c
}

func position(shape, c []int64) int64 {
	i := int64(0)
	for d, n := range shape {
		i = i*n + c[d]
	}
	return i
}

// each makes a tile element by element.
func each(t *tileir.Type, f func(i int64, c []int64) uint64) tile {
	out := make(tile, t.Elements())
	for i := range out {
		out[i] = f(int64(i), coordinates(t.Shape, int64(i)))
	}
	return out
}

// bytesOf is the size of an element in memory.
func bytesOf(t *tileir.Type) int { return int(t.Bytes()) }

// get and put access memory; a tf32 has its bits in the upper ones.
func (e *evaluator) get(o *tileir.Op, t *tileir.Type, addr uint64) uint64 {
	var b [8]byte
	m := e.mem(addr, bytesOf(t))
	if m == nil {
		e.fail(o, fmt.Sprintf("no memory at %#x", addr))
	}
	copy(b[:], m)
	v := binary.LittleEndian.Uint64(b[:])
	switch t.Kind {
	case tileir.I1:
		if v != 0 {
			v = 1
		}
	case tileir.TF32:
		v >>= 13
	}
	return v
}

func (e *evaluator) put(o *tileir.Op, t *tileir.Type, addr, v uint64) {
	var b [8]byte
	if t.Kind == tileir.TF32 {
		v <<= 13
	}
	binary.LittleEndian.PutUint64(b[:], v)
	m := e.mem(addr, bytesOf(t))
	if m == nil {
		e.fail(o, fmt.Sprintf("no memory at %#x", addr))
	}
	copy(m, b[:])
}

func (e *evaluator) op(o *tileir.Op) {
	var a []tile
	for _, x := range o.Operands {
		a = append(a, e.vals[x])
	}
	set := func(i int, t tile) { e.vals[o.Results[i]] = t }
	var t *tileir.Type
	if len(o.Results) > 0 {
		t = o.Results[0].Type
	}
	switch o.Code {
	case tileir.MakeToken, tileir.JoinTokens:
	case tileir.Assume:
		set(0, a[0])
	case tileir.GetTileBlockID, tileir.GetNumTileBlocks:
		from := e.block
		if o.Code == tileir.GetNumTileBlocks {
			from = e.grid
		}
		for i := range 3 {
			set(i, tile{uint64(from[i])})
		}
	case tileir.ConstantOp:
		set(0, each(t, func(i int64, _ []int64) uint64 { return o.Extra.Constant.Bits(i) }))
	case tileir.Iota:
		set(0, each(t, func(i int64, _ []int64) uint64 { return mask(t.Elem.Kind, uint64(i)) }))
	case tileir.Reshape, tileir.PtrToPtr, tileir.PtrToInt, tileir.IntToPtr, tileir.Bitcast:
		set(0, a[0])
	case tileir.Broadcast:
		from := o.Operands[0].Type.Shape
		set(0, each(t, func(_ int64, c []int64) uint64 {
			for d := range c {
				if from[d] == 1 {
					c[d] = 0
				}
			}
			return a[0][position(from, c)]
		}))
	case tileir.Permute:
		from := o.Operands[0].Type.Shape
		set(0, each(t, func(_ int64, c []int64) uint64 {
			s := make([]int64, len(c))
			for d, p := range o.Extra.Ints {
				s[p] = c[d]
			}
			return a[0][position(from, s)]
		}))
	case tileir.Extract:
		from := o.Operands[0].Type.Shape
		set(0, each(t, func(_ int64, c []int64) uint64 {
			for d := range c {
				c[d] += int64(a[1+d][0]) * t.Shape[d]
			}
			return a[0][position(from, c)]
		}))
	case tileir.Insert:
		part := o.Operands[0].Type.Shape
		out := append(tile{}, a[1]...)
		for i, v := range a[0] {
			c := coordinates(part, int64(i))
			for d := range c {
				c[d] += int64(a[2+d][0]) * part[d]
			}
			out[position(t.Shape, c)] = v
		}
		set(0, out)
	case tileir.Cat:
		l, r := o.Operands[0].Type.Shape, o.Operands[1].Type.Shape
		d := o.Extra.Dim
		set(0, each(t, func(_ int64, c []int64) uint64 {
			if c[d] < l[d] {
				return a[0][position(l, c)]
			}
			c[d] -= l[d]
			return a[1][position(r, c)]
		}))
	case tileir.Pack, tileir.Unpack:
		set(0, repack(a[0], o.Operands[0].Type.Elem, t.Elem))
	case tileir.Select:
		set(0, each(t, func(i int64, _ []int64) uint64 {
			if a[0][i] != 0 {
				return a[1][i]
			}
			return a[2][i]
		}))
	case tileir.Offset:
		n := o.Operands[0].Type.Elem.Elem.Bytes()
		k := o.Operands[1].Type.Elem.Kind
		set(0, each(t, func(i int64, _ []int64) uint64 { return a[0][i] + uint64(signExtend(k, a[1][i]))*n }))
	case tileir.LoadPtr:
		e.loadPtr(o, set)
	case tileir.StorePtr:
		e.storePtr(o)
	case tileir.AtomicRMW, tileir.AtomicCAS:
		e.atomic(o, set)
	case tileir.MakeTensorView:
		e.tensorView(o, a)
	case tileir.MakePartitionView:
		e.views[o.Results[0]] = e.views[o.Operands[0]]
	case tileir.LoadView, tileir.StoreView:
		e.access(o, set)
	case tileir.Reduce, tileir.Scan:
		e.fold(o, a, set)
	case tileir.MmaF, tileir.MmaI:
		set(0, e.mma(o, a))
	default:
		elems := make([]uint64, len(a))
		set(0, each(t, func(i int64, _ []int64) uint64 {
			for j := range a {
				elems[j] = a[j][i]
			}
			return e.element(o, elems)
		}))
	}
}

// repack gives the bytes of elements as elements of another width.
func repack(from tile, a, b *tileir.Type) tile {
	n, m := a.Kind.Bits(), b.Kind.Bits()
	out := make(tile, len(from)*n/m)
	bit := func(i int) uint64 { return from[i/n] >> (i % n) & 1 }
	for i := range len(from) * n {
		out[i/m] |= bit(i) << (i % m)
	}
	return out
}

func (e *evaluator) loadPtr(o *tileir.Op, set func(int, tile)) {
	t := o.Results[0].Type
	p := e.vals[o.Operand("source")]
	set(0, each(t, func(i int64, _ []int64) uint64 {
		if m := o.Operand("mask"); m != nil && e.vals[m][i] == 0 {
			if v := o.Operand("paddingValue"); v != nil {
				return e.vals[v][i]
			}
			return 0
		}
		return e.get(o, t.Elem, p[i])
	}))
}

func (e *evaluator) storePtr(o *tileir.Op) {
	v := o.Operand("value")
	p := e.vals[o.Operand("destination")]
	for i, x := range e.vals[v] {
		if m := o.Operand("mask"); m == nil || e.vals[m][i] != 0 {
			e.put(o, v.Type.Elem, p[i], x)
		}
	}
}

func (e *evaluator) atomic(o *tileir.Op, set func(int, tile)) {
	t := o.Results[0].Type
	k := t.Elem.Kind
	p := e.vals[o.Operand("pointers")]
	set(0, each(t, func(i int64, _ []int64) uint64 {
		if m := o.Operand("mask"); m != nil && e.vals[m][i] == 0 {
			e.fail(o, "what a masked atomic gives is not fixed")
		}
		old := e.get(o, t.Elem, p[i])
		var now uint64
		if o.Code == tileir.AtomicCAS {
			if now = old; old == e.vals[o.Operand("cmp")][i] {
				now = e.vals[o.Operand("val")][i]
			}
		} else {
			x := e.vals[o.Operand("arg")][i]
			a, b := signExtend(k, old), signExtend(k, x)
			switch o.RMW {
			case tileir.RMWAnd:
				now = old & x
			case tileir.RMWOr:
				now = old | x
			case tileir.RMWXor:
				now = old ^ x
			case tileir.RMWAdd:
				now = mask(k, old+x)
			case tileir.RMWMax:
				now = mask(k, uint64(max(a, b)))
			case tileir.RMWMin:
				now = mask(k, uint64(min(a, b)))
			case tileir.RMWUMax:
				now = max(old, x)
			case tileir.RMWUMin:
				now = min(old, x)
			case tileir.RMWExchange:
				now = x
			default:
				e.fail(o, "not evaluated")
			}
		}
		e.put(o, t.Elem, p[i], now)
		return old
	}))
}

func (e *evaluator) tensorView(o *tileir.Op, a []tile) {
	t := o.Results[0].Type
	take := func(dims []int64, vs []*tileir.Val) (out []int64) {
		for _, d := range dims {
			if d == tileir.Dynamic {
				d = signExtend(vs[0].Type.Elem.Kind, e.vals[vs[0]][0])
				vs = vs[1:]
			}
			out = append(out, d)
		}
		return out
	}
	e.views[o.Results[0]] = view{base: a[0][0], shape: take(t.Shape, o.Group(1)), strides: take(t.Strides, o.Group(2))}
}

// padding is what a load from outside a view gives.
func padding(k tileir.Kind, p tileir.Padding) uint64 {
	f, ok := formats[k]
	if !ok {
		return 0
	}
	switch p {
	case tileir.PadNegZero:
		return f.sign()
	case tileir.PadNaN:
		return f.encode(real{nan: true}, 0, false)
	case tileir.PadPosInf:
		return f.inf()
	case tileir.PadNegInf:
		return f.inf() | f.sign()
	}
	return 0
}

func (e *evaluator) access(o *tileir.Op, set func(int, tile)) {
	w := o.Operand("view")
	t, v := w.Type, e.views[w]
	group := 1
	if o.Code == tileir.StoreView {
		group = 2
	}
	index := o.Group(group)
	elem := t.View.Elem
	tileType := &tileir.Type{Kind: tileir.Tile, Elem: elem, Shape: t.Shape}
	out := each(tileType, func(i int64, c []int64) uint64 {
		addr, inside := v.base, true
		for d, x := range index {
			at := signExtend(x.Type.Elem.Kind, e.vals[x][0])*t.Shape[d] + c[d]
			dim := t.DimMap[d]
			inside = inside && at >= 0 && at < v.shape[dim]
			addr += uint64(at*v.strides[dim]) * elem.Bytes()
		}
		switch {
		case o.Code == tileir.LoadView && inside:
			return e.get(o, elem, addr)
		case o.Code == tileir.LoadView:
			return padding(elem.Kind, t.Padding)
		case inside:
			e.put(o, elem, addr, e.vals[o.Operand("tile")][i])
		}
		return 0
	})
	if o.Code == tileir.LoadView {
		set(0, out)
	}
}

// fold reduces or scans in ascending order, or the other way around.
func (e *evaluator) fold(o *tileir.Op, a []tile, set func(int, tile)) {
	shape, d := o.Operands[0].Type.Shape, o.Extra.Dim
	b := o.Regions[0].Blocks[0]
	n := len(a)
	outs := make([]tile, n)
	for i := range outs {
		outs[i] = make(tile, o.Results[i].Type.Elements())
	}
	total := o.Operands[0].Type.Elements()
	for i := range total {
		c := coordinates(shape, i)
		if c[d] != 0 {
			continue
		}
		acc := make([]uint64, n)
		for k := range shape[d] {
			at := k
			if o.Flags&tileir.Reverse != 0 && o.Code == tileir.Scan {
				at = shape[d] - 1 - k
			}
			c[d] = at
			p := position(shape, c)
			if k == 0 {
				for j := range n {
					acc[j] = a[j][p]
				}
			} else {
				for j := range n {
					e.vals[b.Args[2*j]], e.vals[b.Args[2*j+1]] = tile{a[j][p]}, tile{acc[j]}
				}
				end := e.run(b)
				for j := range n {
					acc[j] = e.vals[end.Operands[j]][0]
				}
			}
			if o.Code == tileir.Scan {
				for j := range n {
					outs[j][p] = acc[j]
				}
			}
		}
		if o.Code == tileir.Reduce {
			c = append(c[:d:d], c[d+1:]...)
			s := append(append([]int64{}, shape[:d]...), shape[d+1:]...)
			for j := range n {
				outs[j][position(s, c)] = acc[j]
			}
		}
	}
	for j := range n {
		set(j, outs[j])
	}
}

// mma multiplies matrices whose products and sums are exact in any order.
func (e *evaluator) mma(o *tileir.Op, a []tile) tile {
	t := o.Results[0].Type
	l, r := o.Operands[0].Type, o.Operands[1].Type
	rank := len(t.Shape)
	depth := l.Shape[rank-1]
	return each(t, func(i int64, c []int64) uint64 {
		at := func(ty *tileir.Type, row, col int64) int64 {
			s := append([]int64{}, c...)
			s[rank-2], s[rank-1] = row, col
			return position(ty.Shape, s)
		}
		row, col := c[rank-2], c[rank-1]
		if o.Code == tileir.MmaI {
			sum := int64(int32(a[2][i]))
			ext := func(v uint64, s tileir.Signedness) int64 {
				if s == tileir.Signed {
					return int64(int8(v))
				}
				return int64(uint8(v))
			}
			for k := range depth {
				sum += ext(a[0][at(l, row, k)], o.Sign) * ext(a[1][at(r, k, col)], o.SignRHS)
			}
			if sum != int64(int32(sum)) {
				e.fail(o, "a sum that does not fit")
			}
			return uint64(uint32(sum))
		}
		f, g := formats[l.Elem.Kind], formats[t.Elem.Kind]
		sum := g.decode(a[2][i])
		for k := range depth {
			sum = add(sum, mul(f.decode(a[0][at(l, row, k)]), f.decode(a[1][at(r, k, col)])), 0)
		}
		return g.encode(sum, tileir.NearestEven, false)
	})
}
