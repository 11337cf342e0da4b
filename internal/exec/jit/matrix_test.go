package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/num"
)

// matrixCase is a form of mma with the registers of its operands.
type matrixCase struct {
	form       string
	d, a, b, c int
	f32        bool // C and D
}

var matrixCases = []matrixCase{
	{"m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4, true}, {"m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, true},
	{"m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, false}, {"m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, false},
	{"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4, true}, {"m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4, true},
	{"m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 4, false},
	{"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 4, 2, 4, false},
	{"m16n8k16.row.col.s32.s8.u8.s32", 4, 2, 1, 4, false},
	{"m16n8k16.row.col.satfinite.s32.s8.s8.s32", 4, 2, 1, 4, false},
	{"m8n8k16.row.col.s32.u8.u8.s32", 2, 1, 1, 2, false},
	{"m8n8k16.row.col.satfinite.s32.s8.u8.s32", 2, 1, 1, 2, false},
	{"m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 4, true}, {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 4, 2, 4, true},
	{"m16n8k16.row.col.f32.e4m3.e5m2.f32", 4, 2, 1, 4, true}, {"m16n8k32.row.col.f16.e5m2.e5m2.f16", 2, 4, 2, 2, false},
	{"m16n8k16.row.col.f16.e4m3.e4m3.f16", 2, 2, 1, 2, false},
	{"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, true}, {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4, true},
}

// source is a kernel that reads a warp's fragments, multiplies and writes D.
func (m *matrixCase) source(guard string) string {
	reg, typ := "%r", "b32"
	if m.f32 {
		reg, typ = "%f", "f32"
	}
	var s strings.Builder
	fmt.Fprintf(&s, ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %%r<64>; .reg .f32 %%f<64>; .reg .b64 %%q<8>; .reg .pred %%p<2>;\n"+
		"ld.param.u64 %%q1, [in]; ld.param.u64 %%q2, [out]; mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; shl.b32 %%r1, %%r1, 5; add.u32 %%r1, %%r1, %%r0; setp.lt.u32 %%p1, %%r0, 20;\n"+
		"mul.wide.u32 %%q3, %%r1, %d; add.u64 %%q1, %%q1, %%q3; mul.wide.u32 %%q3, %%r1, %d; add.u64 %%q2, %%q2, %%q3;\n", 4*(m.a+m.b+m.c), 4*m.d)
	list := func(reg string, from, n int) string {
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("%s%d", reg, from+i))
		}
		return "{" + strings.Join(l, ",") + "}"
	}
	at := 0
	for i := range m.a + m.b {
		fmt.Fprintf(&s, "ld.global.b32 %%r%d, [%%q1+%d];\n", 10+i, at)
		at += 4
	}
	for i := range m.c {
		fmt.Fprintf(&s, "ld.global.%s %s%d, [%%q1+%d];\n", typ, reg, 30+i, at)
		at += 4
	}
	for i := range m.d {
		fmt.Fprintf(&s, "mov.%s %s%d, %s%d;\n", typ, reg, 40+i, reg, 30+i)
	}
	fmt.Fprintf(&s, "%s mma.sync.aligned.%s %s, %s, %s, %s;\n", guard, m.form, list(reg, 40, m.d), list("%r", 10, m.a),
		list("%r", 10+m.a, m.b), list(reg, 30, m.c))
	for i := range m.d {
		fmt.Fprintf(&s, "st.global.%s [%%q2+%d], %s%d;\n", typ, 4*i, reg, 40+i)
	}
	s.WriteString("ret; }\n")
	return s.String()
}

// fill writes fragments of a warp. How numbers are chosen depends on the warp: any bits, numbers of like size, the
// largest mantissas, few special ones, zeros and subnormal ones, large ones, numbers whose products and C lie about the
// exponents that the quick way serves (amd64/matrix_quick.go), and few that are not zero.
func (m *matrixCase) fill(r *rand.Rand, in []byte) {
	style := r.IntN(8)
	high := r.IntN(2) == 0
	bits := 16
	exp, man := 5, 10
	switch {
	case strings.Contains(m.form, "bf16"):
		exp, man = 8, 7
	case strings.Contains(m.form, "tf32"):
		bits, exp, man = 32, 8, 23
	}
	one := func(exp, man int) uint32 {
		x := r.Uint32()
		top := uint32(1)<<exp - 1
		e, f, s := x>>1&top, r.Uint32()&(1<<man-1), x&1
		mid := top / 2
		switch style {
		case 1:
			e = mid + uint32(r.IntN(6)) - 3
		case 2:
			e, f, s = mid, 1<<man-1-uint32(r.IntN(3)), 0
			if r.IntN(40) == 0 {
				s = 1
			}
		case 3:
			e = mid + uint32(r.IntN(12)) - 6
			if r.IntN(60) == 0 {
				e = top
			}
			if r.IntN(2) == 0 {
				f = 0
			}
		case 4:
			e = uint32(r.IntN(3))
			if r.IntN(2) == 0 {
				e, f = 0, 0
			}
		case 5:
			e = min(mid+uint32(r.IntN(4*exp)), top-1)
		case 6:
			half := r.IntN(7) - 3 - 50 // of the exponent of a product
			switch {
			case man == 23 && bits == 16 && m.narrow(): // C beside f16
				half = r.IntN(7) - 3 - 62
			case high && man == 23 && bits == 16:
				half = r.IntN(7) - 3 + 120
			case high:
				half = r.IntN(7) - 3 + 60
			case man == 23 && bits == 16:
				half = r.IntN(7) - 3 - 100
			}
			e = uint32(max(int(mid)+half, 1))
			if e >= top {
				e = top - 1
			}
			if r.IntN(8) == 0 {
				e, f = 0, 0
			}
		case 7:
			if r.IntN(20) != 0 && (man != 23 || r.IntN(8) != 0) {
				e, f = 0, 0
			}
		}
		return s<<(exp+man) | e<<man | f
	}
	for lane := range 32 {
		p := in[lane*4*(m.a+m.b+m.c):]
		for i := range m.a + m.b + m.c {
			var w uint32
			switch {
			case strings.Contains(m.form, ".s32"):
				w = r.Uint32()
				switch {
				case style == 2 && i >= m.a+m.b: // near the ends of the range
					w = w&1<<31 ^ (1<<31 - 1 - w>>1&0xffff)
				case style == 2:
					w |= 0x70707070
				}
			case i >= m.a+m.b && m.f32:
				w = one(8, 23)
				if style != 0 && r.IntN(3) == 0 {
					w = 0
				}
			case i >= m.a+m.b:
				w = one(5, 10) | one(5, 10)<<16
			case m.mini():
				if w = r.Uint32(); style != 3 || r.IntN(8) != 0 { // no infinities and NaNs
					w &= 0xbfbfbfbf
				}
				if style == 4 {
					w &= 0x8f8f8f8f
				}
			case bits == 32:
				w = one(exp, man)
			default:
				w = one(exp, man) | one(exp, man)<<16
			}
			binary.LittleEndian.PutUint32(p[4*i:], w)
		}
	}
}

// narrow says whether elements are f16.
func (m *matrixCase) narrow() bool { return strings.Contains(m.form, ".f16.f16") }

// mini says whether elements are floats of 8 bits.
func (m *matrixCase) mini() bool {
	return strings.Contains(m.form, "e4m3") || strings.Contains(m.form, "e5m2")
}

// TestMiniProducts compares products of 8-bit floats, which the lowering makes of others, with num.FP8Sync, the rule of
// recorded results of an H200.
func TestMiniProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range matrixCases {
		m := &matrixCases[i]
		if !m.mini() {
			continue
		}
		types := strings.Split(m.form, ".")[3:]
		format := func(i int) num.Format {
			return map[string]num.Format{"f32": num.F32, "f16": num.F16, "e4m3": num.E4M3, "e5m2": num.E5M2}[types[i]]
		}
		const warps = 200
		regs := m.a + m.b + m.c
		in := make([]byte, 128*regs*warps)
		for w := range warps {
			m.fill(r, in[w*len(in)/warps:])
		}
		d := exectest.Open(t)
		k, err := d.Load(m.source("")).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		src, buf := d.Alloc(len(in))
		copy(buf, in)
		dst, out := d.Alloc(128 * m.d * warps)
		if err := k.Run(exectest.Config{Grid: exectest.Dim(warps), Block: exectest.Dim(32)}, src, dst); err != nil {
			t.Fatal(err)
		}
		// operands are those of the row or column that eight lanes' quads hold: PTX ISA 9.7.14.5, m16n8k32.
		operands := func(w, quad, first, n, step int, f num.Format) (list []num.Operand) {
			for r := first; r < n; r += step {
				for lane := 4 * quad; lane < 4*quad+4; lane++ {
					for j := range 4 {
						list = append(list, num.DecodeOperand(f, uint32(in[(w*32+lane)*4*regs+4*r+j])))
					}
				}
			}
			return list
		}
		for at := range len(out) / 4 {
			w, lane, reg := at/(32*m.d), at/m.d%32, at%m.d
			row, halves := reg, 2
			if m.f32 {
				row, halves = reg/2, 1
			}
			got, c := binary.LittleEndian.Uint32(out[4*at:]),
				binary.LittleEndian.Uint32(in[(w*32+lane)*4*regs+4*(m.a+m.b+reg):])
			for h := range halves {
				col := lane%4*2 + h
				if m.f32 {
					col = lane%4*2 + reg%2
				}
				part := func(x uint32) uint32 {
					if m.f32 {
						return x
					}
					return x >> (16 * h) & 0xffff
				}
				a := operands(w, lane/4, row, m.a, 2, format(1))
				b := operands(w, col, m.a, m.a+m.b, 1, format(2))
				if want := num.FP8Sync(format(0), part(c), a, b); part(got) != want {
					t.Fatalf("%s, warp %d, lane %d, register %d: %#x, want %#x", m.form, w, lane, reg, part(got), want)
				}
			}
		}
	}
}

// TestMatrixProducts compares products of matrices on machine code with the interpreter, whose rule is that of recorded
// results of an H200 (num.Dot).
func TestMatrixProducts(t *testing.T) {
	warps := 400
	switch {
	case *long:
		warps = 100000
	case testing.Short():
		warps = 120
	}
	eachISA(t, func(t *testing.T, e *engine) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range matrixCases {
			m := &matrixCases[i]
			for _, guard := range []string{"", "@%p1"} {
				for _, cluster := range []uint32{0, 1} { // whole CTAs, single warps
					in := make([]byte, 32*4*(m.a+m.b+m.c)*warps)
					for w := range warps {
						m.fill(r, in[w*len(in)/warps:])
					}
					var want []byte
					for _, x := range []bool{false, true} {
						d := exectest.Open(t)
						d.Engine = interp.New()
						if x {
							d.Engine = e
						}
						k, err := d.Load(m.source(guard)).Kernel("k")
						if err != nil {
							t.Fatal(err)
						}
						src, buf := d.Alloc(len(in))
						copy(buf, in)
						dst, out := d.Alloc(32 * 4 * m.d * warps)
						c := exectest.Config{Grid: [3]uint32{uint32(warps), 1, 1}, Block: [3]uint32{32, 1, 1}}
						if cluster != 0 {
							c.Cluster = [3]uint32{1, 1, 1}
						}
						if err := k.Run(c, src, dst); err != nil {
							t.Fatal(err)
						}
						if !x {
							want = bytes.Clone(out)
							continue
						}
						bad := 0
						for j := 0; j < len(out) && bad < 5; j += 4 {
							if !bytes.Equal(out[j:j+4], want[j:j+4]) {
								w, lane, n := j/(128*m.d), j/(4*m.d)%32, j/4%m.d
								t.Errorf("%s %s, cluster %d, warp %d, lane %d, register %d: %x, want %x", m.form, guard,
									cluster, w, lane, n, binary.LittleEndian.Uint32(out[j:]),
									binary.LittleEndian.Uint32(want[j:]))
								bad++
							}
						}
					}
				}
			}
		}
	})
}

// BenchmarkMatrixProducts is a loop of products whose sums wait for one another; one operation is one product of a
// warp.
func BenchmarkMatrixProducts(b *testing.B) {
	for name, set := range isas() {
		if _, err := chooseISA(name); err != nil {
			continue
		}
		e, err := newEngine(generators()[set])
		if err != nil {
			b.Fatal(err)
		}
		for i := range matrixCases {
			m := &matrixCases[i]
			b.Run(name+"/"+m.form, func(b *testing.B) {
				src := strings.Replace(m.source(""), " mma.sync", "mov.u32 %r1, 0; L: mma.sync", 1)
				reg, typ := "%r", "b32"
				if m.f32 {
					reg, typ = "%f", "f32"
				}
				var next strings.Builder
				for i := range m.c {
					fmt.Fprintf(&next, "mov.%s %s%d, %s%d; ", typ, reg, 30+i, reg, 40+i)
				}
				src = strings.Replace(src, "st.global",
					next.String()+"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 1000; @%p1 bra L;\nst.global", 1)
				d := exectest.Open(b)
				d.Engine = e
				k, err := d.Load(src).Kernel("k")
				if err != nil {
					b.Fatal(err)
				}
				in, buf := d.Alloc(32 * 4 * (m.a + m.b + m.c))
				for i := 0; i < len(buf); i += 4 {
					binary.LittleEndian.PutUint32(buf[i:], 0x2c002c00)
				}
				out, _ := d.Alloc(32 * 4 * m.d)
				for i := 0; i < b.N; i += 1000 {
					if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(32)}, in,
						out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
