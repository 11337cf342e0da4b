package softnccl

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/num"
)

// reducer computes with elements of one type. What floats do is what the device functions of NCCL do
// (src/device/reduce_kernel.h): a float type of 16 bits is rounded after each operation, one of 8 bits is computed in
// half precision and rounded with saturation, a minimum or maximum with one NaN is the other operand, and a product
// with a rank's scalar is fused with the sum, but for 8 bits (recorded on two H100: TestTwoRanks of nccl).
type reducer struct {
	fold  func(acc, x []byte)            // acc = acc op x
	scale func(acc []byte, by []byte)    // acc = acc * by
	fuse  func(acc, x, by []byte)        // acc = x * by + acc, rounded once; nil where it is rounded twice
	over  func(acc []byte, n uint64)     // acc = acc / n, toward zero; nil where an average multiplies first
	part  func(n uint64) (scalar []byte) // 1/n
}

// reducers has one for each type and reduction.
func reducerOf(t DataType, r Reduction) reducer {
	switch t {
	case Int8:
		return integers[int8](r)
	case Uint8:
		return integers[uint8](r)
	case Int32:
		return integers[int32](r)
	case Uint32:
		return integers[uint32](r)
	case Int64:
		return integers[int64](r)
	case Uint64:
		return integers[uint64](r)
	case Float32:
		nan := func(float32, float32) float32 { return math.Float32frombits(0x7fffffff) } // as GPUs give each
		return floats(r, nan, nan, func(x, by, acc float32) float32 {
			return math.Float32frombits(num.FmaRN32(math.Float32bits(x), math.Float32bits(by), math.Float32bits(acc)))
		}, func(a, b float32) float32 {
			return math.Float32frombits(num.Min32(math.Float32bits(a), math.Float32bits(b), 0))
		}, func(a, b float32) float32 {
			return math.Float32frombits(num.Max32(math.Float32bits(a), math.Float32bits(b), 0))
		})
	case Float64:
		return floats(r, func(a, b float64) float64 { // of two NaN the sum so far, the second operand (recorded)
			return math.Float64frombits(num.Add64(math.Float64bits(b), math.Float64bits(a), 0))
		}, func(a, b float64) float64 {
			return math.Float64frombits(num.Mul64(math.Float64bits(b), math.Float64bits(a), 0))
		}, func(x, by, acc float64) float64 {
			return math.Float64frombits(num.Fma64(math.Float64bits(x), math.Float64bits(by), math.Float64bits(acc), 0))
		}, func(a, b float64) float64 {
			return math.Float64frombits(num.Min64(math.Float64bits(a), math.Float64bits(b)))
		}, func(a, b float64) float64 {
			return math.Float64frombits(num.Max64(math.Float64bits(a), math.Float64bits(b)))
		})
	case Float16:
		return small(r, arithmetic[uint16]{
			add: func(a, b uint16) uint16 { return num.AddF16(a, b, 0) },
			mul: func(a, b uint16) uint16 { return num.MulF16(a, b, 0) },
			min: func(a, b uint16) uint16 { return num.MinF16(a, b, 0) },
			max: func(a, b uint16) uint16 { return num.MaxF16(a, b, 0) },
			fma: func(x, by, acc uint16) uint16 { return num.FmaF16(x, by, acc, 0) },
			one: func(x float32) uint16 { return num.F32ToF16(math.Float32bits(x)) },
		})
	case Bfloat16:
		return small(r, arithmetic[uint16]{
			add: num.AddBF16, mul: num.MulBF16,
			min: func(a, b uint16) uint16 { return num.MinBF16(a, b, 0) },
			max: func(a, b uint16) uint16 { return num.MaxBF16(a, b, 0) },
			fma: func(x, by, acc uint16) uint16 { return num.FmaBF16(x, by, acc, 0, 0) },
			one: func(x float32) uint16 { return num.F32ToBF16(math.Float32bits(x)) },
		})
	case Float8e4m3:
		return small(r, eight(num.E4M3))
	case Float8e5m2:
		return small(r, eight(num.E5M2))
	}
	return reducer{}
}

// elements sees memory as elements. Memory of devices is aligned for every type where the program's views are.
func elements[T any](b []byte) []T {
	var e T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(e))
}

func bytesOf[T any](v T) []byte {
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
}

type integer interface {
	int8 | uint8 | int32 | uint32 | int64 | uint64
}

func integers[T integer](r Reduction) reducer {
	return reducer{
		fold: folder(r, func(a, b T) T { return a + b }, func(a, b T) T { return a * b },
			func(a, b T) T { return min(a, b) }, func(a, b T) T { return max(a, b) }),
		scale: func(acc, by []byte) {
			s := elements[T](by)[0]
			for i, x := range elements[T](acc) {
				elements[T](acc)[i] = x * s
			}
		},
		over: func(acc []byte, n uint64) {
			a := elements[T](acc)
			for i, x := range a {
				a[i] = divide(x, n)
			}
		},
	}
}

// divide is x / n, toward zero, for an n that may be greater than every T.
func divide[T integer](x T, n uint64) T {
	if x < 0 {
		return T(-int64(uint64(-int64(x)) / n))
	}
	return T(uint64(x) / n)
}

func folder[T any](r Reduction, add, mul, least, most func(a, b T) T) func(acc, x []byte) {
	f := add
	switch r {
	case Prod:
		f = mul
	case Min:
		f = least
	case Max:
		f = most
	}
	return func(acc, x []byte) {
		a, b := elements[T](acc), elements[T](x)
		for i := range a {
			a[i] = f(a[i], b[i])
		}
	}
}

// floats reduces with the processor's arithmetic; notSum and notProduct are sums and products that are NaN, since which
// NaN the processor gives depends on the order in which the compiler puts the operands.
func floats[T float32 | float64](r Reduction, notSum, notProduct func(a, b T) T, fma func(x, by, acc T) T, least,
	most func(a, b T) T) reducer {
	product := func(a, b T) T {
		if v := a * b; v == v {
			return v
		}
		return notProduct(a, b)
	}
	d := reducer{
		fold: folder(r, nil, product, least, most),
		scale: func(acc, by []byte) {
			s, a := elements[T](by)[0], elements[T](acc)
			for i := range a {
				a[i] = product(a[i], s)
			}
		},
		fuse: func(acc, x, by []byte) {
			s, a, b := elements[T](by)[0], elements[T](acc), elements[T](x)
			for i := range a {
				a[i] = fma(b[i], s, a[i])
			}
		},
		part: func(n uint64) []byte { return bytesOf(T(1 / float64(n))) },
	}
	if r != Prod && r != Min && r != Max {
		d.fold = func(acc, x []byte) { // most of all calls
			a, b := elements[T](acc), elements[T](x)
			b = b[:len(a)]
			for i := range a {
				v := a[i] + b[i]
				if v != v {
					v = notSum(a[i], b[i])
				}
				a[i] = v
			}
		}
	}
	return d
}

// arithmetic is that of a float type that Go does not have.
type arithmetic[T uint8 | uint16] struct {
	add, mul, min, max func(a, b T) T
	fma                func(x, by, acc T) T // nil where it is rounded twice
	one                func(x float32) T
}

func small[T uint8 | uint16](r Reduction, f arithmetic[T]) reducer {
	d := reducer{
		fold: folder(r, f.add, f.mul, f.min, f.max),
		scale: func(acc, by []byte) {
			s, a := elements[T](by)[0], elements[T](acc)
			for i := range a {
				a[i] = f.mul(a[i], s)
			}
		},
		part: func(n uint64) []byte { return bytesOf(f.one(float32(1 / float64(n)))) },
	}
	if f.fma != nil {
		d.fuse = func(acc, x, by []byte) {
			s, a, b := elements[T](by)[0], elements[T](acc), elements[T](x)
			for i := range a {
				a[i] = f.fma(b[i], s, a[i])
			}
		}
	}
	return d
}

func eight(f num.Format) arithmetic[uint8] {
	wide := func(x uint8) uint16 { return num.MiniToF16(f, x, 0) }
	narrow := func(x uint16) uint8 { return num.ToMini(f, num.F16, uint64(x), 0) }
	return arithmetic[uint8]{
		add: func(a, b uint8) uint8 { return narrow(num.AddF16(wide(a), wide(b), 0)) },
		mul: func(a, b uint8) uint8 { return narrow(num.MulF16(wide(a), wide(b), 0)) },
		min: func(a, b uint8) uint8 { return narrow(num.MinF16(wide(a), wide(b), 0)) },
		max: func(a, b uint8) uint8 { return narrow(num.MaxF16(wide(a), wide(b), 0)) },
		one: func(x float32) uint8 { return num.ToMini(f, num.F32, uint64(math.Float32bits(x)), 0) },
	}
}

// reduction folds the same range of elements of all ranks.
type reduction struct {
	reducer
	op      Reduction
	size    uint64   // of an element
	n       int      // ranks
	count   uint64   // of elements that the chunks divide
	whole   int      // the chunk of all elements, or -1 for count/n
	scalars [][]byte // of PreMulSum, one for each rank
}

func newReduction(o *Op, n int, whole int, scalars [][]byte) *reduction {
	r := &reduction{reducer: reducerOf(o.Type, o.Reduction), op: o.Reduction, size: o.Type.Size(), n: n,
		count: o.Count, whole: whole, scalars: scalars}
	if o.Reduction == Avg && r.over == nil { // a float
		part := r.part(uint64(n))
		r.scalars = make([][]byte, n)
		for i := range r.scalars {
			r.scalars[i] = part
		}
	}
	return r
}

// chunk is the number of a chunk and the end of it.
func (r *reduction) chunk(i uint64) (c int, end uint64) {
	if r.whole >= 0 {
		return r.whole, r.count
	}
	n := uint64(r.n)
	size := r.count / n
	if r.count%n != 0 {
		size++
	}
	c = int(i / size)
	return c, min(r.count, uint64(c+1)*size)
}

// run reduces the elements from lo to hi into dst, which is that long; source gives the elements of a rank in a range.
func (r *reduction) run(dst []byte, lo, hi uint64, source func(rank int, lo, hi uint64) []byte) {
	var scratch []byte
	for at := lo; at < hi; {
		c, end := r.chunk(at)
		// in steps that stay in the processor's cache
		end = min(end, hi, at+foldStep/r.size)
		acc := dst[(at-lo)*r.size : (end-lo)*r.size]
		for k := 1; k <= r.n; k++ {
			rank := (c + k) % r.n
			x := source(rank, at, end)
			switch {
			case k == 1:
				copy(acc, x)
				if r.scalars != nil {
					r.scale(acc, r.scalars[rank])
				}
			case r.scalars != nil && r.fuse != nil:
				r.fuse(acc, x, r.scalars[rank])
			case r.scalars != nil:
				scratch = append(scratch[:0], x...)
				r.scale(scratch, r.scalars[rank])
				r.fold(acc, scratch)
			default:
				r.fold(acc, x)
			}
		}
		if r.op == Avg && r.over != nil {
			r.over(acc, uint64(r.n))
		}
		at = end
	}
}

const foldStep = 64 << 10
