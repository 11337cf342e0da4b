package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// wmma fragments are opaque (PTX ISA 9.7.14.4): which element of the matrix a lane's element is is up to the machine. Here
// element i of lane l is number (l*count + i) modulo the size of the matrix, in rows; the elements that f16 fragments hold twice
// are equal. Accumulators of f16 and f32 have the same places, so that programs may convert one into the other.

// wmmaPlace is the matrix element that element i of lane l stands for.
func wmmaPlace(l, i, count, rows, cols int) (row, col int) {
	p := (l*count + i) % (rows * cols)
	return p / cols, p % cols
}

// wmmaDims are the rows and columns of a fragment's matrix.
func wmmaDims(which string, s shape) (rows, cols int) {
	switch which {
	case "a":
		return s.m, s.k
	case "b":
		return s.k, s.n
	}
	return s.m, s.n
}

// wmmaBits is the width of an element in memory.
func wmmaBits(typ string) uint {
	switch typ {
	case "f16", "bf16":
		return 16
	case "f64":
		return 64
	case "u8", "s8":
		return 8
	case "u4", "s4":
		return 4
	case "b1":
		return 1
	}
	return 32
}

// wmmaCount is the number of elements in a fragment of n registers.
func wmmaCount(n int, ebits uint) int {
	if ebits == 64 {
		return n
	}
	return n * int(32/ebits)
}

func resolveWmmaLoad(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	d, a := vec(&op.Args[0]), &op.Args[1]
	which := op.Match.One("a", "b", "c")
	rows, cols := wmmaDims(which, s)
	ebits := wmmaBits(op.Match.Type(0))
	n := wmmaCount(len(d.Elems), ebits)
	rowMajor := op.Match.Has("row")
	stride := op.Arg("b")
	ac := memoryAccess(op, a, d, "b32")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			ld := wmmaStride(w, stride, l, rows, cols, rowMajor)
			base := ac.at(w, l)
			var regs [8]uint64
			for i := 0; i < n; i++ {
				r, c := wmmaPlace(l, i, n, rows, cols)
				if !rowMajor {
					r, c = c, r
				}
				e := uint64(r)*ld + uint64(c)
				v := wmmaRead(w, &ac, l, base, e, ebits)
				if ebits == 64 {
					regs[i] = v
				} else {
					pos := uint(i) * ebits
					regs[pos/32] |= v << (pos % 32)
				}
			}
			for i := range d.Elems {
				set(w, &d.Elems[i], l, regs[i])
			}
		}
	}
	return nil
}

// wmmaStride is the leading dimension in elements.
func wmmaStride(w *exec.Warp, stride *ir.Arg, l, rows, cols int, rowMajor bool) uint64 {
	if stride != nil && stride.Reg() {
		return get(w, stride, l)
	}
	if rowMajor {
		return uint64(cols)
	}
	return uint64(rows)
}

// wmmaRead reads element e of a matrix; elements below a byte lie in their byte from the low end.
func wmmaRead(w *exec.Warp, ac *access, l int, base, e uint64, ebits uint) uint64 {
	if ebits < 8 {
		bit := e * uint64(ebits)
		b := *(*uint8)(w.Ptr(ac.space, l, base+bit/8, 1, 1, false))
		return uint64(b>>(bit%8)) & (1<<ebits - 1)
	}
	size := uint32(ebits / 8)
	return loadElement(w.Ptr(ac.space, l, base+e*uint64(size), size, size, false), size, false)[0]
}

func resolveWmmaStore(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	a, d := &op.Args[0], vec(&op.Args[1])
	ebits := wmmaBits(op.Match.Type(0))
	n := wmmaCount(len(d.Elems), ebits)
	rowMajor := op.Match.Has("row")
	stride := op.Arg("c")
	ac := memoryAccess(op, a, d, "b32")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			ld := wmmaStride(w, stride, l, s.m, s.n, rowMajor)
			base := ac.at(w, l)
			for i := 0; i < n; i++ {
				r, c := wmmaPlace(l, i, n, s.m, s.n)
				if !rowMajor {
					r, c = c, r
				}
				size := uint32(ebits / 8)
				p := w.Ptr(ac.space, l, base+(uint64(r)*ld+uint64(c))*uint64(size), size, size, true)
				storeElement(p, size, [2]uint64{fragmentElement(w, d, l, i, ebits)})
			}
		}
	}
	return nil
}

// fragmentElement is element i of a lane's fragment.
func fragmentElement(w *exec.Warp, f *ir.Arg, l, i int, ebits uint) uint64 {
	if ebits == 64 {
		return get(w, &f.Elems[i], l)
	}
	pos := uint(i) * ebits
	return get(w, &f.Elems[pos/32], l) >> (pos % 32) & (1<<ebits - 1)
}

// readFragment gathers a matrix from all lanes.
func readFragment(w *exec.Warp, f *ir.Arg, rows, cols int, ebits uint, out []uint64) {
	n := wmmaCount(len(f.Elems), ebits)
	for l := 31; l >= 0; l-- { // where elements stand twice the lower lane's counts
		for i := 0; i < n; i++ {
			r, c := wmmaPlace(l, i, n, rows, cols)
			out[r*cols+c] = fragmentElement(w, f, l, i, ebits)
		}
	}
}

func writeFragment(w *exec.Warp, f *ir.Arg, rows, cols int, ebits uint, m uint32, in []uint64) {
	n := wmmaCount(len(f.Elems), ebits)
	for k := m; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		var regs [8]uint64
		for i := 0; i < n; i++ {
			r, c := wmmaPlace(l, i, n, rows, cols)
			if ebits == 64 {
				regs[i] = in[r*cols+c]
			} else {
				pos := uint(i) * ebits
				regs[pos/32] |= in[r*cols+c] << (pos % 32)
			}
		}
		for i := range f.Elems {
			set(w, &f.Elems[i], l, regs[i])
		}
	}
}

func resolveWmma(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	ts := op.Match.Types
	dt, ct, at, bt := ts[0], ts[len(ts)-1], "f16", "f16"
	if len(ts) == 4 {
		at, bt = ts[1], ts[2]
	}
	d, a, b, c := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3])
	if at == "f64" {
		return resolveWmmaF64(in, op, s)
	}
	ea, eb := elementOf(at), elementOf(bt)
	abits := wmmaBits(at)
	var p product
	switch {
	case at == "b1":
		p = bitProduct(op.Match.Has("xor"))
	case ea.float:
		dot := &num.DotF32
		if at == "tf32" {
			dot = &num.DotWmmaTF32
		}
		if dt == "f16" && ct == "f16" {
			dot = &num.DotF16
		}
		p = floatProduct(ea, eb, dot.Acc)
	default:
		p = intProduct(ea, eb, op.Match.Has("satfinite"))
	}
	half := dt == "f16" && ct == "f16"
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		am, bm, cm := make([]uint64, s.m*s.k), make([]uint64, s.k*s.n), make([]uint64, s.m*s.n)
		readFragment(w, a, s.m, s.k, abits, am)
		readFragment(w, b, s.k, s.n, abits, bm)
		readFragment(w, c, s.m, s.n, wmmaBits(ct), cm)
		k := s.k
		x, y := make([]uint32, s.m*s.k), make([]uint32, s.n*s.k)
		if at == "b1" { // gather bits to words
			k = s.k / 32
			for i := range am {
				x[i/32] |= uint32(am[i]) << (i % 32)
			}
			for r := 0; r < s.k; r++ {
				for j := 0; j < s.n; j++ {
					y[j*k+r/32] |= uint32(bm[r*s.n+j]) << (r % 32)
				}
			}
		} else {
			for i := range am {
				x[i] = uint32(am[i])
			}
			for r := 0; r < s.k; r++ {
				for j := 0; j < s.n; j++ {
					y[j*s.k+r] = uint32(bm[r*s.n+j])
				}
			}
		}
		z, o := make([]uint32, s.m*s.n), make([]uint32, s.m*s.n)
		for i := range cm {
			z[i] = uint32(cm[i])
			if ct == "f16" && !half {
				z[i] = num.F16ToF32(uint16(cm[i]))
			}
		}
		p(shape{s.m, s.n, k}, x, y, z, o)
		for i := range o {
			cm[i] = uint64(o[i])
			if dt == "f16" && !half {
				cm[i] = uint64(num.F32ToF16(o[i]))
			}
		}
		writeFragment(w, d, s.m, s.n, wmmaBits(dt), m, cm)
	}
	return nil
}

func resolveWmmaF64(in *inst, op *ir.Op, s shape) error {
	rnd := rounding(op)
	d, a, b, c := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3])
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var am, bm [32]uint64
		var cm [64]uint64
		readFragment(w, a, 8, 4, 64, am[:])
		readFragment(w, b, 4, 8, 64, bm[:])
		readFragment(w, c, 8, 8, 64, cm[:])
		for i := 0; i < 8; i++ {
			for j := 0; j < 8; j++ {
				y := [4]uint64{bm[j], bm[8+j], bm[16+j], bm[24+j]}
				cm[i*8+j] = num.Dot64(cm[i*8+j], am[i*4:i*4+4], y[:], rnd)
			}
		}
		writeFragment(w, d, 8, 8, 64, m, cm[:])
	}
	return nil
}
