package nccl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda"
)

func init() { programs["everything"] = everything }

// An element type with a way to make numbers of small integers, which are exact in all types.
type small[T Number] struct {
	of   func(x int) T
	most int // the largest result that is exact
}

func natural[T ~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint | ~float32 | ~float64](
	most int) small[T] {
	return small[T]{func(x int) T { return T(x) }, most}
}

// floatBits makes small natural numbers of a float format: exponent bias and bits of the fraction.
func floatBits[T Number](bias, fraction int, of func(b int) T) small[T] {
	return small[T]{func(x int) T {
		if x == 0 {
			return of(0)
		}
		e := int(math.Log2(float64(x)))
		f := x - 1<<e
		if e > fraction {
			panic("not exact")
		}
		return of((e+bias)<<fraction | f<<(fraction-e))
	}, 1 << fraction}
}

// everything checks every collective operation and every type against a computed result.
func everything(ctx context.Context, c *Comm) ([]byte, error) {
	var d digest
	for _, f := range []func() error{
		func() error { return oneType(ctx, c, &d, natural[int8](100)) },
		func() error { return oneType(ctx, c, &d, natural[uint8](200)) },
		func() error { return oneType(ctx, c, &d, natural[int32](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[uint32](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[int64](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[uint64](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[int](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[uint](1<<30)) },
		func() error { return oneType(ctx, c, &d, natural[float32](1<<24)) },
		func() error { return oneType(ctx, c, &d, natural[float64](1<<30)) },
		func() error { return oneType(ctx, c, &d, floatBits(15, 10, func(b int) Float16 { return Float16(b) })) },
		func() error {
			return oneType(ctx, c, &d, floatBits(127, 7, func(b int) Bfloat16 { return Bfloat16(b) }))
		},
		func() error {
			return oneType(ctx, c, &d, floatBits(7, 3, func(b int) Float8E4M3 { return Float8E4M3(b) }))
		},
		func() error {
			return oneType(ctx, c, &d, floatBits(15, 2, func(b int) Float8E5M2 { return Float8E5M2(b) }))
		},
		func() error { return floatOrder[float32](ctx, c, &d) },
		func() error { return floatOrder[float64](ctx, c, &d) },
		func() error { return anyType(ctx, c, &d) },
		func() error { return exchange(ctx, c, &d) },
	} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return d.b, nil
}

// value is what rank r has at place i of block b: 0 or 1 where sums are to stay small.
func value(r, b, i, most int) int {
	x := (r*7 + b*13 + i*5) % 11
	if most < 200 {
		return x % 2
	}
	return x
}

func fill[T any](c *cuda.Context, x []T) (*cuda.Buffer[T], error) { return cuda.Upload(c, x) }

func bytesOf[T any](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// with uploads what a rank sends, makes room for what it receives, runs, waits, and compares.
func with[T any](ctx context.Context, c *Comm, d *digest, what string, send []T, want []T,
	f func(s *cuda.Stream, send, recv cuda.View[T]) error) (err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	x, err := fill(c.Context(), send)
	if err != nil {
		return err
	}
	sc.Add(x)
	y, err := cuda.Alloc[T](c.Context(), len(want))
	if err != nil {
		return err
	}
	sc.Add(y)
	s, err := c.Context().NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	sc.Add(s)
	if err := f(s, x.View, y.View); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := c.Wait(ctx, s); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	got, err := y.Download()
	if err != nil {
		return err
	}
	d.add(bytesOf(got))
	if !slices.Equal(bytesOf(got), bytesOf(want)) {
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				return fmt.Errorf("%s: element %d of %d is %v, want %v", what, i, len(got), got[i], want[i])
			}
		}
	}
	after, err := x.Download()
	if err != nil {
		return err
	}
	if !slices.Equal(bytesOf(after), bytesOf(send)) {
		return fmt.Errorf("%s: what was sent has changed", what)
	}
	return nil
}

func oneType[T Number](ctx context.Context, c *Comm, d *digest, k small[T]) error {
	n, me := c.Size(), c.Rank()
	for _, count := range []int{1, 3, n, 1000} {
		var zero T
		name := fmt.Sprintf("%T %d", zero, count)
		made := func(f func(i int) int) []T {
			x := make([]T, count)
			for i := range x {
				x[i] = k.of(f(i))
			}
			return x
		}
		own := made(func(i int) int { return value(me, 0, i, k.most) })
		for _, r := range []struct {
			name string
			op   Op
			fold func(a, b int) int
			end  func(a int) int
		}{
			{"sum", Sum, func(a, b int) int { return a + b }, nil},
			{"max", Max, func(a, b int) int { return max(a, b) }, nil},
			{"min", Min, func(a, b int) int { return min(a, b) }, nil},
			{"prod", Prod, func(a, b int) int { return min(a*b, 1) }, nil},
			{"avg", Avg, func(a, b int) int { return a + b }, func(a int) int { return a / n }},
		} {
			input := func(rank, b, i int) int {
				switch r.name {
				case "prod":
					return value(rank, b, i, 0) // 0 and 1
				case "avg":
					return n * value(0, b, i, 0) // the same everywhere, so that every 1/n of a power of two is exact
				}
				return value(rank, b, i, k.most)
			}
			if f8 := k.most < 16; n == 1 && f8 && r.name == "avg" && onDriver() {
				continue // NCCL 2.28 refuses it: one rank computes averages by a kernel that has no 8-bit floats
			}
			if r.name == "sum" && n > k.most || r.name == "avg" && (n > k.most || n&(n-1) != 0) {
				continue
			}
			total := func(b, i int) int {
				a := input(0, b, i)
				for rank := 1; rank < n; rank++ {
					a = r.fold(a, input(rank, b, i))
				}
				if r.end != nil {
					a = r.end(a)
				}
				return a
			}
			send := made(func(i int) int { return input(me, 0, i) })
			want := made(func(i int) int { return total(0, i) })
			err := with(ctx, c, d, name+" AllReduce "+r.name, send, want,
				func(s *cuda.Stream, x, y cuda.View[T]) error {
					return AllReduce(c, s, x, y, r.op)
				})
			if err != nil {
				return err
			}
			root := count % n
			wantRoot := want
			if me != root {
				wantRoot = nil
			}
			err = errors.Join(err, with(ctx, c, d, name+" Reduce "+r.name, send, wantRoot,
				func(s *cuda.Stream, x, y cuda.View[T]) error { return Reduce(c, s, x, y, r.op, root) }))
			var all []T
			for b := range n {
				all = append(all, made(func(i int) int { return input(me, b, i) })...)
			}
			err = errors.Join(err, with(ctx, c, d, name+" ReduceScatter "+r.name, all,
				made(func(i int) int { return total(me, i) }), func(s *cuda.Stream, x, y cuda.View[T]) error {
					return ReduceScatter(c, s, x, y, r.op)
				}))
			if err != nil {
				return err
			}
		}
		root := (count + 1) % n
		gathered := func(f func(b, i int) int) (all []T) {
			for b := range n {
				all = append(all, made(func(i int) int { return f(b, i) })...)
			}
			return all
		}
		everyone := gathered(func(b, i int) int { return value(b, 0, i, k.most) })
		err := errors.Join(
			with(ctx, c, d, name+" Broadcast", own, made(func(i int) int { return value(root, 0, i, k.most) }),
				func(s *cuda.Stream, x, y cuda.View[T]) error { return Broadcast(c, s, x, y, root) }),
			with(ctx, c, d, name+" AllGather", own, everyone,
				func(s *cuda.Stream, x, y cuda.View[T]) error { return AllGather(c, s, x, y) }),
			with(ctx, c, d, name+" AlltoAll", gathered(func(b, i int) int { return value(me, b, i, k.most) }),
				gathered(func(b, i int) int { return value(b, me, i, k.most) }),
				func(s *cuda.Stream, x, y cuda.View[T]) error { return AlltoAll(c, s, x, y) }),
			with(ctx, c, d, name+" Gather", own, ifRoot(me == root, everyone),
				func(s *cuda.Stream, x, y cuda.View[T]) error { return Gather(c, s, x, y, root) }),
			with(ctx, c, d, name+" Scatter",
				ifRoot(me == root, gathered(func(b, i int) int { return value(root, b, i, k.most) })),
				made(func(i int) int { return value(root, me, i, k.most) }),
				func(s *cuda.Stream, x, y cuda.View[T]) error { return Scatter(c, s, x, y, root) }))
		if err != nil {
			return err
		}
		if n/2 <= k.most && (n > 1 || k.most >= 16 || !onDriver()) { // of one rank, 8 bits are refused
			one, err := PreMulSum(c, k.of(me%2))
			if err != nil {
				return err
			}
			err = with(ctx, c, d, name+" PreMulSum", made(func(int) int { return 1 }),
				made(func(int) int { return n / 2 }),
				func(s *cuda.Stream, x, y cuda.View[T]) error { return AllReduce(c, s, x, y, one) })
			if err = errors.Join(err, one.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

func ifRoot[T any](is bool, x []T) []T {
	if is {
		return x
	}
	return nil
}

// floatOrder checks the order of sums that the package promises, with numbers for which it matters.
func floatOrder[T float32 | float64](ctx context.Context, c *Comm, d *digest) error {
	n, me := c.Size(), c.Rank()
	const count = 5001
	in := make([][]T, n)
	for r := range in {
		rng := rand.New(rand.NewPCG(7, uint64(r)))
		in[r] = make([]T, count)
		for i := range in[r] {
			in[r][i] = T(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-6)))
		}
	}
	chunk := (count + n - 1) / n
	want := make([]T, count)
	for i := range want {
		at := i / chunk
		sum := in[(at+1)%n][i]
		for k := 2; k <= n; k++ {
			sum += in[(at+k)%n][i]
		}
		want[i] = sum
	}
	return with(ctx, c, d, "order of floats", in[me], want, func(s *cuda.Stream, x, y cuda.View[T]) error {
		return AllReduce(c, s, x, y, Sum)
	})
}

type pair struct {
	A int32
	B [3]uint16
}

// anyType moves elements that NCCL has no type for.
func anyType(ctx context.Context, c *Comm, d *digest) error {
	all := make([]pair, c.Size())
	for i := range all {
		all[i] = pair{int32(i), [3]uint16{uint16(i), 2, 3}}
	}
	return with(ctx, c, d, "structs", all[c.Rank():c.Rank()+1], all,
		func(s *cuda.Stream, x, y cuda.View[pair]) error { return AllGather(c, s, x, y) })
}

// exchange sends and receives around the ring, in a group, receives first.
func exchange(ctx context.Context, c *Comm, d *digest) error {
	n, me := c.Size(), c.Rank()
	next, before := (me+1)%n, (me+n-1)%n
	const count = 70000
	numbers := func(r int) []int32 {
		x := make([]int32, count)
		for i := range x {
			x[i] = int32(r*count + i)
		}
		return x
	}
	return with(ctx, c, d, "ring", numbers(me), numbers(before), func(s *cuda.Stream, x, y cuda.View[int32]) error {
		return Group(func() error {
			return errors.Join(Recv(c, s, y, before), Send(c, s, x, next))
		})
	})
}

// Every operation and type in one process and in several, with the same bits.
func TestEverything(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			need(t, n)
			one := inProcess(t, n, everything)
			if n == 1 || n == 2 && !onDriver() || testing.Short() {
				return
			}
			many := processes(t, n, "everything", "file:"+t.TempDir()+"/id")
			for i := range one {
				if !slices.Equal(one[i], many[i]) {
					t.Errorf("rank %d has other results in a process of its own", i)
				}
			}
		})
	}
}
