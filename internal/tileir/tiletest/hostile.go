package tiletest

import "github.com/gocuda/cuda/internal/tileir"

// Hostile are modules, by name, whose lowering could take time or memory out of proportion to n, the number of their
// operations or so.
var Hostile = map[string]func(n int) []byte{
	"moves that are used often":     func(n int) []byte { return chain(n/2, n/2) },
	"stores of one tile":            func(n int) []byte { return chain(1, n) },
	"sums that double":              func(n int) []byte { return doubling(n/2, 14) },
	"tiles in use at once":          live,
	"loops in loops":                nested,
	"a long body of a reduction":    body,
	"a reduction of many tiles":     wide,
	"tiles put together and parted": cats,
	"tiles that a loop carries":     func(n int) []byte { return carried(4 * n) },
}

// square is a module with tiles of one shape.
type square struct {
	*Builder
	tile, ptrs Type
	many       Value
}

// newSquare starts a module with a tile of pointers; all are the parameter.
func newSquare(dims ...int64) *square {
	b := NewBuilder(func(b *Builder) []Type { return []Type{b.Tile(b.Pointer(tileir.I32))} })
	ones := make([]int64, len(dims))
	for i := range ones {
		ones[i] = 1
	}
	s := &square{Builder: b, tile: b.Tile(b.Scalar(tileir.I32), dims...), ptrs: b.Tile(b.Pointer(tileir.I32), dims...)}
	one := b.Op(tileir.Op{Code: tileir.Reshape}, []Type{b.Tile(b.Pointer(tileir.I32), ones...)}, [][]Value{{0}})[0]
	s.many = b.Op(tileir.Op{Code: tileir.Broadcast}, []Type{s.ptrs}, [][]Value{{one}})[0]
	return s
}

func (s *square) load() Value {
	return s.Op(tileir.Op{Code: tileir.LoadPtr, Scope: tileir.NoScope}, []Type{s.tile, s.Token()},
		[][]Value{{s.many}})[0]
}

func (s *square) store(v Value) {
	s.Op(tileir.Op{Code: tileir.StorePtr, Scope: tileir.NoScope}, []Type{s.Token()}, [][]Value{{s.many}, {v}})
}

func (s *square) permute(v Value, p ...int64) Value {
	return s.Op(tileir.Op{Code: tileir.Permute, Extra: &tileir.Extra{Ints: p}}, []Type{s.tile}, [][]Value{{v}})[0]
}

func (s *square) add(a, b Value) Value {
	return s.Op(tileir.Op{Code: tileir.AddI}, []Type{s.tile}, [][]Value{{a}, {b}})[0]
}

func (s *square) end() []byte {
	s.Op(tileir.Op{Code: tileir.Return}, nil, [][]Value{nil})
	return s.Bytes()
}

// chain has a value go through operations that cost nothing, and stores the end again and again.
func chain(ops, stores int) []byte {
	s := newSquare(32, 32)
	v := s.load()
	for range ops {
		v = s.permute(v, 1, 0)
	}
	for range stores {
		s.store(v)
	}
	return s.end()
}

// doubling adds a value to itself in another order of its dimensions, again and again.
func doubling(ops, rank int) []byte {
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = 2
	}
	s := newSquare(dims...)
	v := s.load()
	for k := range ops {
		p := make([]int64, rank)
		for i := range p {
			p[i] = int64(i)
		}
		p[k%rank], p[(k*5+1+k/rank)%rank] = p[(k*5+1+k/rank)%rank], p[k%rank]
		v = s.add(v, s.permute(v, p...))
	}
	s.store(v)
	return s.end()
}

// live has many tiles in use at once.
func live(n int) []byte {
	s := newSquare(32)
	var vs []Value
	for range n / 4 {
		vs = append(vs, s.load())
		s.store(s.load())
	}
	for _, v := range vs {
		s.store(v)
	}
	return s.end()
}

// nested is loops in loops that carry a tile each.
func nested(n int) []byte {
	s := newSquare(32, 32)
	v := s.load()
	var in func(k int, v Value) Value
	in = func(k int, v Value) Value {
		return s.Op(tileir.Op{Code: tileir.Loop}, []Type{s.tile}, [][]Value{{v}},
			Region{Args: []Type{s.tile}, Body: func(a []Value) {
				x := s.add(a[0], a[0])
				for range 20 {
					x = s.add(x, a[0])
				}
				if k > 0 {
					x = in(k-1, x)
				}
				s.Op(tileir.Op{Code: tileir.Break}, nil, [][]Value{{x}})
			}})[0]
	}
	s.store(in(min(n/24, 900), v))
	return s.end()
}

// body is a reduction with a long body.
func body(n int) []byte {
	s := newSquare(32, 32)
	v := s.load()
	i32 := s.Scalar(tileir.I32)
	scalar, row := s.Tile(i32), s.Tile(i32, 32)
	id := &tileir.Attr{Kind: tileir.IntegerValue, Type: &tileir.Type{Kind: tileir.I32}}
	s.Op(tileir.Op{Code: tileir.Reduce, Extra: &tileir.Extra{Identities: []*tileir.Attr{id}}}, []Type{row},
		[][]Value{{v}},
		Region{Args: []Type{scalar, scalar}, Body: func(a []Value) {
			x := a[0]
			for range n {
				x = s.Op(tileir.Op{Code: tileir.AddI}, []Type{scalar}, [][]Value{{x}, {a[1]}})[0]
			}
			s.Op(tileir.Op{Code: tileir.Yield}, nil, [][]Value{{x}})
		}})
	return s.end()
}

// cats puts tiles together and takes them apart.
func cats(n int) []byte {
	s := newSquare(32, 32)
	v := s.load()
	big := s.Tile(s.Scalar(tileir.I32), 64, 32)
	for k := range n / 3 {
		w := s.Op(tileir.Op{Code: tileir.Cat}, []Type{big}, [][]Value{{v}, {s.permute(v, 1, 0)}})[0]
		z := s.Op(tileir.Op{Code: tileir.ConstantOp,
			Extra: &tileir.Extra{Count: s.Constant([]byte{byte(k & 1), 0, 0, 0})}},
			[]Type{s.Tile(s.Scalar(tileir.I32))}, nil)[0]
		v = s.Op(tileir.Op{Code: tileir.Extract}, []Type{s.tile}, [][]Value{{w}, {z, z}})[0]
	}
	s.store(v)
	return s.end()
}

// carried is a loop that carries many tiles.
func carried(n int) []byte {
	s := newSquare(32)
	v := s.load()
	first := make([]Value, n)
	types := make([]Type, n)
	for i := range first {
		first[i], types[i] = v, s.tile
	}
	s.Op(tileir.Op{Code: tileir.Loop}, types, [][]Value{first}, Region{Args: types, Body: func(a []Value) {
		next := make([]Value, n)
		for i := range next {
			next[i] = a[(i+1)%n]
		}
		s.Op(tileir.Op{Code: tileir.Continue}, nil, [][]Value{next})
	}})
	return s.end()
}

// wide is a reduction of many operands at once.
func wide(n int) []byte {
	s := newSquare(32, 32)
	v := s.load()
	n /= 4
	i32 := s.Scalar(tileir.I32)
	scalar, row := s.Tile(i32), s.Tile(i32, 32)
	var ids []*tileir.Attr
	var vs []Value
	var args, rows []Type
	for range n {
		ids = append(ids, &tileir.Attr{Kind: tileir.IntegerValue, Type: &tileir.Type{Kind: tileir.I32}})
		vs, args, rows = append(vs, v), append(args, scalar, scalar), append(rows, row)
	}
	s.Op(tileir.Op{Code: tileir.Reduce, Extra: &tileir.Extra{Identities: ids}}, rows, [][]Value{vs},
		Region{Args: args, Body: func(a []Value) {
			var out []Value
			for i := range n {
				out = append(out, s.Op(tileir.Op{Code: tileir.AddI}, []Type{scalar},
					[][]Value{{a[2*i]}, {a[2*i+1]}})[0])
			}
			s.Op(tileir.Op{Code: tileir.Yield}, nil, [][]Value{out})
		}})
	return s.end()
}

// Named is a module whose entry has a name, with a loop, a tile in shared memory and a mathematical function.
func Named(name string) []byte {
	s := newSquare(64)
	s.strings[0] = []byte(name)
	f32 := s.Tile(s.Scalar(tileir.F32), 64)
	x := s.Op(tileir.Op{Code: tileir.Bitcast}, []Type{f32}, [][]Value{{s.load()}})[0]
	y := s.Op(tileir.Op{Code: tileir.Exp, Rounding: tileir.Full}, []Type{f32}, [][]Value{{x}})[0]
	v := s.Op(tileir.Op{Code: tileir.Bitcast}, []Type{s.tile}, [][]Value{{y}})[0]
	v = s.Op(tileir.Op{Code: tileir.Loop}, []Type{s.tile}, [][]Value{{v}},
		Region{Args: []Type{s.tile}, Body: func(a []Value) {
			s.Op(tileir.Op{Code: tileir.Break}, nil, [][]Value{{s.add(a[0], a[0])}})
		}})[0]
	s.store(v)
	return s.end()
}
