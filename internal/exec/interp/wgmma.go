package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// wgmma.mma_async multiplies a 64 x K by a K x N matrix with the four warps of a warpgroup: warp i has rows 16i to
// 16i+15 of A and D. Each warp computes its rows when it comes to the instruction; the operands in shared memory are
// complete by then, and the fences and waits around it have nothing left to do.

// descriptor is a matrix descriptor of shared memory (PTX ISA 9.7.15.5.1, "Matrix Descriptor Format").
type descriptor struct {
	base, leading, stride uint32 // bytes
	swizzle               uint32 // bytes of the swizzle span: 0, 32, 64, 128
}

func decodeDescriptor(d uint64) descriptor {
	return descriptor{uint32(d&0x3fff) << 4, uint32(d>>16&0x3fff) << 4, uint32(d>>32&0x3fff) << 4,
		[4]uint32{0, 128, 64, 32}[d>>62]}
}

// offset is the byte address in shared memory of a 16-byte unit's element: row is the index along M or N, col along K,
// both in elements; size is the bytes of an element. trans says that the matrix lies with M or N contiguous.
//
// The layouts are made of core matrices of 8 rows of 16 bytes. Without swizzle they lie as the two strides say; with
// it, rows of 32, 64 or 128 bytes lie one after the other in groups of eight, whose distance is the stride, and the
// 16-byte units of a row are exchanged by the row's number (address bits 4 and up xor bits 7 and up). What is longer
// than such a row goes on at the leading distance (testdata/sparse: rows of 64 bytes with a swizzle of 32).
func (d descriptor) offset(row, col, size int, trans bool) uint32 {
	unit := 16 / size // elements of 16 bytes
	var a uint32
	if !trans {
		b := uint32(col * size)
		if d.swizzle == 0 {
			a = uint32(row%8)*16 + uint32(row/8)*d.stride + b%16 + b/16*d.leading
		} else {
			a = uint32(row%8)*d.swizzle + uint32(row/8)*d.stride + b%d.swizzle + b/d.swizzle*d.leading
		}
	} else {
		if d.swizzle == 0 {
			a = uint32(row%unit*size) + uint32(row/unit)*d.stride + uint32(col%8)*16 + uint32(col/8)*d.leading
		} else {
			span := int(d.swizzle) / size
			a = uint32(row%span*size) + uint32(row/span)*d.leading + uint32(col%8)*d.swizzle + uint32(col/8)*d.stride
		}
	}
	a += d.base
	switch d.swizzle {
	case 128:
		a ^= a >> 3 & 0x70
	case 64:
		a ^= a >> 3 & 0x30
	case 32:
		a ^= a >> 3 & 0x10
	}
	return a
}

// wgmmaRead reads one element; addresses of descriptors are those of the CTA itself.
func (d descriptor) read(w *exec.Warp, row, col, size int, trans bool) uint32 {
	p := w.Ptr(ir.Shared, 0, uint64(w.CTA.Rank<<24|d.offset(row, col, size, trans)), uint32(size), 1, false)
	switch size {
	case 1:
		return uint32(*(*uint8)(p))
	case 2:
		return uint32(*(*uint16)(p))
	}
	return *(*uint32)(unsafe.Pointer(p))
}

func resolveWgmma(in *inst, op *ir.Op) error {
	s := shapeOf(op)
	sparse := op.Opcode() == optab.OpWgmmaSp
	ts := &op.Mods().Types
	half := ts[0] == optab.F16
	ea, eb := elementOf(ts[1]), elementOf(ts[2])
	size := max(1, int(ea.bits/8))
	k := s.k
	if ts[1] == optab.B1 {
		size, k = 4, s.k/32
		ea.bits, eb.bits = 32, 32
	}
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	imm := func(name string) int32 {
		if x := op.Arg(name); x != nil {
			return int32(x.Bits)
		}
		return 0
	}
	nega, negb := imm("sa") == -1, imm("sb") == -1
	ta, tb := imm("ta") == 1, imm("tb") == 1
	scale := op.Arg("p")
	var acc func(c uint32, x, y []num.Operand) uint32
	var ip product
	switch {
	case ts[1] == optab.B1:
		ip = bitProduct(false)
	case !ea.float:
		ip = intProduct(ea, eb, op.Mods().Satfinite)
	default:
		dot := &num.DotF32
		switch {
		case ea.bits == 8 && half:
			dot = &num.DotFP8F16
		case ea.bits == 8:
			dot = &num.DotFP8F32
		case half:
			dot = &num.DotF16
		}
		acc = dot.Acc
	}
	meta := op.Arg("e")
	sp := sparseProduct(op, ts, half, true)
	ka := k
	if sparse {
		ka = k / 2
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		am, bm := make([]uint32, 16*ka+8), make([]uint32, s.n*k)
		rows := (w.Index & 3) * 16
		if a.Kind == ir.Vec {
			readA(w, a, shape{16, 8, ka}, ea.bits, am)
		} else {
			da := decodeDescriptor(get(w, a, first(m)))
			for i := 0; i < 16; i++ {
				for j := 0; j < ka; j++ {
					am[i*ka+j] = da.read(w, rows+i, j, size, ta)
				}
			}
		}
		db := decodeDescriptor(get(w, b, first(m)))
		for i := 0; i < s.n; i++ {
			for j := 0; j < k; j++ {
				bm[i*k+j] = db.read(w, i, j, size, tb)
			}
		}
		cm, dm := make([]uint32, 16*s.n), make([]uint32, 16*s.n)
		if pred(w, scale)>>first(m)&1 != 0 {
			readAccumulator(w, d, s.n, half, cm)
		}
		if sparse {
			sign(am, ea, nega)
			sign(bm, eb, negb)
			sp(s, am, bm, cm, dm, w.R32(meta.Ref), int(op.Arg("f").Bits))
		} else if ip != nil {
			ip(shape{16, s.n, k}, am, bm, cm, dm)
		} else {
			x, y := make([]num.Operand, 16*k), make([]num.Operand, s.n*k)
			for i := range x {
				x[i] = num.DecodeOperand(ea.format, am[i])
				if nega {
					x[i] = x[i].Negated()
				}
			}
			for i := range y {
				y[i] = num.DecodeOperand(eb.format, bm[i])
				if negb {
					y[i] = y[i].Negated()
				}
			}
			for i := 0; i < 16; i++ {
				for j := 0; j < s.n; j++ {
					dm[i*s.n+j] = acc(cm[i*s.n+j], x[i*k:(i+1)*k], y[j*k:(j+1)*k])
				}
			}
		}
		writeAccumulator(w, d, s.n, half, m, dm)
	}
	return nil
}

// sign changes the signs of float elements (imm-scale of -1).
func sign(m []uint32, e element, change bool) {
	if !change {
		return
	}
	for i := range m {
		m[i] ^= 1 << (e.bits - 1)
	}
}

// Accumulators of a warp: 16 rows of n columns, in blocks of 8 columns laid out as C of mma.m16n8.

func accumulatorPlace(l, r int, half bool) (row, col int) {
	if half { // two elements a register, this is the first
		return l>>2 + 8*(r&1), r>>1*8 + (l&3)*2
	}
	return l>>2 + 8*(r>>1&1), r>>2*8 + (l&3)*2 + (r & 1)
}

func readAccumulator(w *exec.Warp, d *ir.Arg, n int, half bool, out []uint32) {
	for r := range d.Elems {
		reg := w.R32(d.Elems[r].Ref)
		for l := 0; l < 32; l++ {
			row, col := accumulatorPlace(l, r, half)
			if half {
				out[row*n+col], out[row*n+col+1] = reg[l]&0xffff, reg[l]>>16
			} else {
				out[row*n+col] = reg[l]
			}
		}
	}
}

func writeAccumulator(w *exec.Warp, d *ir.Arg, n int, half bool, m uint32, in []uint32) {
	for r := range d.Elems {
		reg := w.R32(d.Elems[r].Ref)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			row, col := accumulatorPlace(l, r, half)
			if half {
				reg[l] = in[row*n+col] | in[row*n+col+1]<<16
			} else {
				reg[l] = in[row*n+col]
			}
		}
	}
}
