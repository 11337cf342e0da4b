package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// matrixOps are the matrix instructions of PTX ISA 9.7.14 and 9.7.15.
var matrixOps = map[optab.Opcode]resolver{
	optab.OpMma: resolveMma, optab.OpMmaSp: resolveMmaSp, optab.OpLdmatrix: resolveLdmatrix,
	optab.OpStmatrix: resolveStmatrix, optab.OpMovmatrix: resolveMovmatrix,
	optab.OpWgmmaMma: resolveWgmma, optab.OpWgmmaSp: resolveWgmma, optab.OpWgmmaFence: resolveNothing,
}

// ifWhole calls f for whole warps alone (ir.Op.WholeWarp).
func ifWhole(f func(w *exec.Warp, in *inst, m uint32)) func(w *exec.Warp, in *inst, m uint32) {
	return func(w *exec.Warp, in *inst, m uint32) {
		if m == full {
			f(w, in, m)
		}
	}
}

// vec gives an operand as a vector: a single register written without braces, or with braces around it alone, is one of
// one element.
func vec(a *ir.Arg) *ir.Arg {
	if a.Kind == ir.Vec {
		return a
	}
	return &ir.Arg{Kind: ir.Vec, Position: a.Position, ArgRest: &ir.ArgRest{Elems: []ir.Arg{*a}}}
}

// shape is m, n and k of a matrix instruction.
type shape struct{ m, n, k int }

func shapeOf(op *ir.Op) shape {
	s := op.Mods().Shape
	return shape{int(s.M), int(s.N), int(s.K)}
}

// element describes the operands of a product.
type element struct {
	bits   uint
	format num.Format
	float  bool
	signed bool
}

func elementOf(typ optab.TypeID) element {
	switch typ {
	case optab.F16:
		return element{16, num.F16, true, false}
	case optab.Bf16:
		return element{16, num.BF16, true, false}
	case optab.Tf32:
		return element{32, num.TF32, true, false}
	case optab.E4m3:
		return element{8, num.E4M3, true, false}
	case optab.E5m2:
		return element{8, num.E5M2, true, false}
	case optab.S8, optab.S4:
		return element{uint(typ.Info().Bits), 0, false, true}
	case optab.U8, optab.U4:
		return element{uint(typ.Info().Bits), 0, false, false}
	}
	return element{}
}

// integer extends the low bits of x.
func (e element) integer(x uint32) int32 {
	x <<= 32 - e.bits
	if e.signed {
		return int32(x) >> (32 - e.bits)
	}
	return int32(x >> (32 - e.bits))
}

// Fragments of the m16n8 and m8n8 shapes (PTX ISA 9.7.14.5): with group = lane/4 and t = lane%4, and E elements in a
// register, register r of A holds row group + 8*(r%2), columns t*E .. t*E+E-1 of the (r/2)th block of 4*E columns. B is
// the same with the column in place of the row and one register a block; C and D hold columns 2t and 2t+1, rows group
// and group+8.

// readA returns A row by row, k elements each, as raw bits.
func readA(w *exec.Warp, a *ir.Arg, s shape, ebits uint, out []uint32) {
	per := int(32 / ebits)
	rows := 2
	if s.m == 8 {
		rows = 1
	}
	for r := range a.Elems {
		reg := w.R32(a.Elems[r].Ref)
		for l := 0; l < 32; l++ {
			row := l>>2 + 8*(r%rows)
			k := (l&3)*per + r/rows*4*per
			unpackBits(reg[l], ebits, out[row*s.k+k:])
		}
	}
}

// readB returns B column by column.
func readB(w *exec.Warp, b *ir.Arg, k int, ebits uint, out []uint32) {
	per := int(32 / ebits)
	for r := range b.Elems {
		reg := w.R32(b.Elems[r].Ref)
		for l := 0; l < 32; l++ {
			unpackBits(reg[l], ebits, out[(l>>2)*k+(l&3)*per+r*4*per:])
		}
	}
}

func unpackBits(x uint32, ebits uint, out []uint32) {
	if ebits == 32 {
		out[0] = x
		return
	}
	for i := 0; i < int(32/ebits); i++ {
		out[i] = x & (1<<ebits - 1)
		x >>= ebits
	}
}

// readC returns C as raw bits; half says that two f16 stand in a register.
func readC(w *exec.Warp, c *ir.Arg, n int, half bool, out []uint32) {
	for r := range c.Elems {
		reg := w.R32(c.Elems[r].Ref)
		for l := 0; l < 32; l++ {
			row, col := l>>2, (l&3)*2
			if half {
				out[(row+8*r)*n+col], out[(row+8*r)*n+col+1] = reg[l]&0xffff, reg[l]>>16
			} else {
				out[(row+8*(r>>1))*n+col+(r&1)] = reg[l]
			}
		}
	}
}

func writeD(w *exec.Warp, d *ir.Arg, n int, half bool, m uint32, in []uint32) {
	for r := range d.Elems {
		if d.Elems[r].Kind != ir.Row {
			continue
		}
		reg := w.R32(d.Elems[r].Ref)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			row, col := l>>2, (l&3)*2
			if half {
				reg[l] = in[(row+8*r)*n+col] | in[(row+8*r)*n+col+1]<<16
			} else {
				reg[l] = in[(row+8*(r>>1))*n+col+(r&1)]
			}
		}
	}
}

// product accumulates: a is m x k, b is n x k (columns), c and d are m x n.
type product func(s shape, a, b, c, d []uint32)

// floatProduct multiplies with the tensor cores' sum (num.Dot).
func floatProduct(ea, eb element, acc func(c uint32, a, b []num.Operand) uint32) product {
	return func(s shape, a, b, c, d []uint32) {
		x, y := make([]num.Operand, s.m*s.k), make([]num.Operand, s.n*s.k)
		for i := range x {
			x[i] = num.DecodeOperand(ea.format, a[i])
		}
		for i := range y {
			y[i] = num.DecodeOperand(eb.format, b[i])
		}
		for i := 0; i < s.m; i++ {
			for j := 0; j < s.n; j++ {
				d[i*s.n+j] = acc(c[i*s.n+j], x[i*s.k:(i+1)*s.k], y[j*s.k:(j+1)*s.k])
			}
		}
	}
}

func intProduct(ea, eb element, sat bool) product {
	return func(s shape, a, b, c, d []uint32) {
		for i := 0; i < s.m; i++ {
			for j := 0; j < s.n; j++ {
				sum := int64(int32(c[i*s.n+j]))
				for k := 0; k < s.k; k++ {
					sum += int64(ea.integer(a[i*s.k+k])) * int64(eb.integer(b[j*s.k+k]))
				}
				if sat {
					sum = max(-1<<31, min(1<<31-1, sum))
				}
				d[i*s.n+j] = uint32(sum)
			}
		}
	}
}

// bitProduct is for b1: words of 32 bits, k counted in words.
func bitProduct(xor bool) product {
	return func(s shape, a, b, c, d []uint32) {
		for i := 0; i < s.m; i++ {
			for j := 0; j < s.n; j++ {
				sum := c[i*s.n+j]
				for k := 0; k < s.k; k++ {
					x := a[i*s.k+k] & b[j*s.k+k]
					if xor {
						x = a[i*s.k+k] ^ b[j*s.k+k]
					}
					sum += uint32(bits.OnesCount32(x))
				}
				d[i*s.n+j] = sum
			}
		}
	}
}

func resolveMma(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	ts := &op.Mods().Types
	if op.Mods().NumTypes < 4 || s.m == 0 {
		return unsupported(op)
	}
	switch {
	case ts[1] == optab.F64:
		return resolveMmaF64(in, op, s)
	case s == shape{8, 8, 4}:
		return resolveMma884(in, op)
	}
	half := ts[0] == optab.F16
	var ea element
	var p product
	switch ea = elementOf(ts[1]); {
	case ts[1] == optab.B1:
		ea.bits = 32
		s.k /= 32
		p = bitProduct(op.Mods().Func == optab.FuncXor)
	case !ea.float && ea.bits != 0:
		p = intProduct(ea, elementOf(ts[2]), op.Mods().Satfinite)
	case ea.float && ea.bits != 8: // those of 8 bits become others in the lowering
		dot := &num.DotF32
		if half {
			dot = &num.DotF16
		}
		p = floatProduct(ea, elementOf(ts[2]), dot.Acc)
	default:
		return unsupported(op)
	}
	d, a, b, c := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3])
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		am, bm := make([]uint32, 16*s.k+8), make([]uint32, 8*s.k+8)
		var cm, dm [16 * 8]uint32
		readA(w, a, s, ea.bits, am)
		readB(w, b, s.k, ea.bits, bm)
		readC(w, c, 8, half, cm[:])
		p(s, am, bm, cm[:], dm[:])
		writeD(w, d, 8, half, m, dm[:])
	}
	return nil
}

func resolveMmaF64(in *inst, op *ir.Op, s shape) error {
	rnd := direction(op)
	rows := s.m / 8
	d, a, b, c := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3])
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var am [16 * 16]uint64
		var bm [8 * 16]uint64
		var dm [16 * 8]uint64
		for r := range a.Elems {
			reg := w.R64(a.Elems[r].Ref)
			for l := 0; l < 32; l++ {
				am[(l>>2+8*(r%rows))*s.k+(l&3)+r/rows*4] = reg[l]
			}
		}
		for r := range b.Elems {
			reg := w.R64(b.Elems[r].Ref)
			for l := 0; l < 32; l++ {
				bm[(l>>2)*s.k+(l&3)+r*4] = reg[l]
			}
		}
		for r := range c.Elems {
			reg := w.R64(c.Elems[r].Ref)
			for l := 0; l < 32; l++ {
				i, j := l>>2+8*(r>>1), (l&3)*2+(r&1)
				dm[i*8+j] = num.Dot64(reg[l], am[i*s.k:(i+1)*s.k], bm[j*s.k:(j+1)*s.k], rnd)
			}
		}
		for r := range d.Elems {
			for k := m; k != 0; k &= k - 1 {
				l := bits.TrailingZeros32(k) & 31
				set(w, &d.Elems[r], l, dm[(l>>2+8*(r>>1))*8+(l&3)*2+(r&1)])
			}
		}
	}
	return nil
}

// resolveMma884 is mma.m8n8k4 with f16: four products side by side, each by the eight lanes of a pair of quads (PTX ISA
// 9.7.14.5.1): quads q and q+4 for q = 0..3. The H200 emulates it: fused multiply-adds in f32 from zero in ascending k,
// then an ordinary addition of C (found by fitting the recorded results; every element agrees).
func resolveMma884(in *inst, op *ir.Op) error {
	ts := &op.Mods().Types
	half, chalf := ts[0] == optab.F16, ts[3] == optab.F16
	lay := op.Mods().Layout
	arow, brow := lay[0] == optab.LayoutRow, lay[1] == optab.LayoutRow
	d, a, b, c := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3])
	s := shape{8, 8, 4}
	p := func(s shape, a, b, c, d []uint32) {
		for i := 0; i < 8; i++ {
			for j := 0; j < 8; j++ {
				sum := uint32(0)
				if half { // a negative zero stays one
					sum = 1 << 31
				}
				for k := 0; k < 4; k++ {
					sum = num.FmaRN32(num.F16ToF32(uint16(a[i*4+k])), num.F16ToF32(uint16(b[j*4+k])), sum)
				}
				d[i*8+j] = num.AddRN32(sum, c[i*8+j])
			}
		}
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for q := 0; q < 4; q++ {
			var am, bm [32]uint32
			var cm, dm [64]uint32
			for h := 0; h < 2; h++ {
				for t := 0; t < 4; t++ {
					l := q*4 + t + 16*h
					for i := 0; i < 4; i++ {
						x := w.R32(a.Elems[i>>1].Ref)[l] >> (16 * (i & 1)) & 0xffff
						if arow {
							am[(t+4*h)*4+i] = x
						} else {
							am[(i+4*h)*4+t] = x
						}
						y := w.R32(b.Elems[i>>1].Ref)[l] >> (16 * (i & 1)) & 0xffff
						if brow {
							bm[(i+4*h)*4+t] = y
						} else {
							bm[(t+4*h)*4+i] = y
						}
					}
					for i := 0; i < 8; i++ {
						row, col := position884(l, i, chalf)
						if chalf {
							cm[row*8+col] = num.F16ToF32(uint16(w.R32(c.Elems[i>>1].Ref)[l] >> (16 * (i & 1))))
						} else {
							cm[row*8+col] = w.R32(c.Elems[i].Ref)[l]
						}
					}
				}
			}
			p(s, am[:], bm[:], cm[:], dm[:])
			for h := 0; h < 2; h++ {
				for t := 0; t < 4; t++ {
					l := q*4 + t + 16*h
					if m>>l&1 == 0 {
						continue
					}
					for i := 0; i < 8; i++ {
						row, col := position884(l, i, half)
						v := dm[row*8+col]
						if !half {
							set(w, &d.Elems[i], l, uint64(v))
							continue
						}
						x := uint64(num.F32ToF16(v))
						if i&1 == 1 {
							x = x<<16 | get(w, &d.Elems[i>>1], l)&0xffff
						}
						set(w, &d.Elems[i>>1], l, x)
					}
				}
			}
		}
	}
	return nil
}

// position884 is the place of element i of lane l in C and D of mma.m8n8k4.
func position884(l, i int, half bool) (row, col int) {
	h := l >> 4
	if half {
		return (l & 3) + 4*h, i
	}
	return (l & 1) + (i & 2) + 4*h, (i & 4) + (l & 2) + (i & 1)
}

// resolveMmaSp is mma.sp: A has one or two of every two or four elements; metadata, from the lanes of a quad that the
// selector names, says which (PTX ISA 9.7.14.6.1).
func resolveMmaSp(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	ts := &op.Mods().Types
	ea := elementOf(ts[1])
	half := ts[0] == optab.F16
	p := sparseProduct(op, ts, half, false)
	d, a, b, c, e := vec(&op.Args[0]), vec(&op.Args[1]), vec(&op.Args[2]), vec(&op.Args[3]), &op.Args[4]
	sel := int(op.Args[5].Bits)
	ka := s.k / 2
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		am, bm := make([]uint32, 16*ka+8), make([]uint32, 8*s.k+8)
		var cm, dm [16 * 8]uint32
		readA(w, a, shape{16, 8, ka}, ea.bits, am)
		readB(w, b, s.k, ea.bits, bm)
		readC(w, c, 8, half, cm[:])
		p(s, am, bm, cm[:], dm[:], w.R32(e.Ref), sel)
		writeD(w, d, 8, half, m, dm[:])
	}
	return nil
}

// sparseProduct multiplies a compressed A, 16 x k/2, with the elements of B that the metadata names; what A leaves out
// is not multiplied at all, so an infinity there does no harm.
func sparseProduct(op *ir.Op, ts *[optab.MaxTypes]optab.TypeID, half, wgmma bool) func(s shape, a, b, c, d []uint32,
	meta *[32]uint32, sel int) {
	ea, eb := elementOf(ts[1]), elementOf(ts[2])
	var p product
	if ea.float {
		out, dot := num.F32, &num.DotF32
		if half {
			out, dot = num.F16, &num.DotF16
		}
		acc := dot.Acc
		if ea.bits == 8 {
			switch {
			case !wgmma:
				acc = func(c uint32, a, b []num.Operand) uint32 { return num.FP8Sync(out, c, a, b) }
			case half:
				acc = num.DotFP8F16.Acc
			default:
				acc = num.DotFP8F32.Acc
			}
		}
		p = floatProduct(ea, eb, acc)
	} else {
		p = intProduct(ea, eb, op.Mods().Satfinite)
	}
	return func(s shape, a, b, c, d []uint32, meta *[32]uint32, sel int) {
		ka := s.k / 2
		at, col := make([]int, ka), make([]uint32, s.n*ka)
		for row := 0; row < 16; row++ {
			for i := range at {
				at[i] = sparsePlace(i, ts[1], func(bit int) uint32 { return metadata(meta, row, bit, s.k, ts[1], sel) })
			}
			for j := 0; j < s.n; j++ {
				for i, k := range at {
					col[j*ka+i] = b[j*s.k+k]
				}
			}
			p(shape{1, s.n, ka}, a[row*ka:(row+1)*ka], col, c[row*s.n:(row+1)*s.n], d[row*s.n:(row+1)*s.n])
		}
	}
}

// sparsePlace is the column of element i of a compressed row. meta returns the two bits of metadata at a bit offset.
func sparsePlace(i int, typ optab.TypeID, meta func(bit int) uint32) int {
	switch typ {
	case optab.Tf32: // one of two: a group has four bits, of which 1110 names the second element and 0100 the first
		return 2*i + int(meta(4*i)>>1&1)
	case optab.U4, optab.S4: // two pairs of every four pairs
		return i/4*8 + int(meta(i&^1))*2 + (i & 1)
	}
	return i/2*4 + int(meta(2*i)) // two of four
}

// metadata returns two bits of a row's metadata, at a bit offset in the row. The selector names the lanes of the quad
// that hold it. Elements of 16 bits and more: a lane holds 16 bits of the quad's row and 16 of the row 8 below, one
// lane or (32 bits a row) two. Smaller elements: a lane holds 32 bits of one row, the even lane the quad's, the odd
// lane the row 8 below; two lanes, or (64 bits a row) all four. (PTX ISA 9.7.14.6.1, figures; confirmed by recorded
// results.)
func metadata(meta *[32]uint32, row, bit, k int, typ optab.TypeID, sel int) uint32 {
	quad := (row & 7) * 4
	hi := row >> 3
	if elementOf(typ).bits >= 16 {
		lanes := k / 16 // 1 or 2
		if typ == optab.Tf32 {
			lanes = k / 8
		}
		return meta[quad+lanes*sel+(bit>>4)] >> (bit&15 + 16*hi) & 3
	}
	return meta[quad+2*sel+hi+2*(bit>>5)] >> (bit & 31) & 3
}

// resolveLdmatrix loads 8x8 matrices of 16-bit elements: lane i gives the address of row i%8 of matrix i/8, and
// receives elements 2t and 2t+1 of row group of each matrix (of its transpose with .trans).
func resolveLdmatrix(in *inst, op *ir.Op) error {
	d, a := vec(&op.Args[0]), &op.Args[1]
	if shapeOf(op) != (shape{m: 8, n: 8}) {
		return unsupported(op)
	}
	trans := op.Mods().Transposed
	ac := memoryAccess(op, a, d, optab.B16)
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var rows [4][8][8]uint16
		for x := range d.Elems {
			for r := 0; r < 8; r++ {
				rows[x][r] = *(*[8]uint16)(matrixRow(w, &ac, x*8+r, false))
			}
		}
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			g, t := l>>2, l&3
			for x := range d.Elems {
				lo, hi := rows[x][g][2*t], rows[x][g][2*t+1]
				if trans {
					lo, hi = rows[x][2*t][g], rows[x][2*t+1][g]
				}
				set(w, &d.Elems[x], l, uint64(lo)|uint64(hi)<<16)
			}
		}
	}
	return nil
}

// matrixRow returns the 16 bytes at a lane's address.
func matrixRow(w *exec.Warp, ac *access, lane int, write bool) unsafe.Pointer {
	space := ac.space
	if space == ir.Generic {
		return w.Ptr(space, lane, ac.at(w, lane), 16, 16, write)
	}
	return w.Ptr(ir.Shared, lane, ac.at(w, lane), 16, 16, write)
}

func resolveStmatrix(in *inst, op *ir.Op) error {
	a, b := &op.Args[0], vec(&op.Args[1])
	if shapeOf(op) != (shape{m: 8, n: 8}) {
		return unsupported(op)
	}
	trans := op.Mods().Transposed
	ac := memoryAccess(op, a, b, optab.B16)
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for x := range b.Elems {
			reg := w.R32(b.Elems[x].Ref)
			var rows [8][8]uint16
			for l := 0; l < 32; l++ {
				g, t := l>>2, l&3
				if trans {
					rows[2*t][g], rows[2*t+1][g] = uint16(reg[l]), uint16(reg[l]>>16)
				} else {
					rows[g][2*t], rows[g][2*t+1] = uint16(reg[l]), uint16(reg[l]>>16)
				}
			}
			for r := range rows {
				*(*[8]uint16)(matrixRow(w, &ac, x*8+r, true)) = rows[r]
			}
		}
	}
	return nil
}

func resolveMovmatrix(in *inst, op *ir.Op) error {
	d, a := &op.Args[0], &op.Args[1]
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var rows [8][8]uint32
		reg := w.R32(a.Ref)
		for l := 0; l < 32; l++ {
			rows[l>>2][2*(l&3)], rows[l>>2][2*(l&3)+1] = reg[l]&0xffff, reg[l]>>16
		}
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			set(w, d, l, uint64(rows[2*(l&3)][l>>2]|rows[2*(l&3)+1][l>>2]<<16))
		}
	}
	return nil
}
