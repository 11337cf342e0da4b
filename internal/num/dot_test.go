package num

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// fragment is one warp's matrix in registers of mma.sync (PTX ISA 9.7.14.5): element (row, k) of A and (k, column) of
// B. Each lane holds w-bit elements in 32- or 64-bit registers: lane's group is the row, lane mod 4 and the element
// pick k.
type fragment struct {
	reg      []uint64 // of the warp's 32 lanes in turn
	per      int      // registers a lane
	width    int      // bits of an element
	twoRows  bool     // A of m16: odd registers are rows 8 and up
	elements int      // in a register
}

func (f *fragment) at(row, k int) uint64 {
	e := f.elements
	lane := row&7<<2 | k/e&3
	r := k / (4 * e)
	if f.twoRows {
		r = r<<1 | row>>3
	}
	v := f.reg[lane*f.per+r] >> (k % e * f.width)
	if f.width == 64 {
		return v
	}
	return v & (1<<f.width - 1)
}

// TestDotSilicon replays every recorded mma.sync but the f16 forms of m8n8k4.
func TestDotSilicon(t *testing.T) {
	rec := silicon(t)
	cases, values := map[string]int{}, 0
	for i := range rec.Cases {
		c := &rec.Cases[i]
		if c.Group != "mma" {
			continue
		}
		p := strings.Split(c.ID, ".")
		shape := p[3]
		types := []string{}
		for _, s := range p[4:] {
			if s != "row" && s != "col" && strings.ContainsAny(s, "0123456789") {
				types = append(types, s)
			}
		}
		if shape == "m8n8k4" && types[1] == "f16" {
			continue
		}
		m := 8
		if strings.HasPrefix(shape, "m16") {
			m = 16
		}
		k, _ := strconv.Atoi(shape[strings.Index(shape, "k")+1:])
		el := map[string]int{"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64,
			"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
		in, want := rec.inputs(c), rec.output(c)
		bad := 0
		for w := range c.N / 32 {
			frag := func(j int, typ string) *fragment {
				per := max(1, c.Operands[j].PerThread)
				return &fragment{reg: in[j][w*32*per : (w+1)*32*per], per: per, width: el[typ],
					elements: max(1, 32/el[typ])}
			}
			fa, fb := frag(0, types[1]), frag(1, types[2])
			fa.twoRows = m == 16
			// C and D: two columns a register pair, packed for f16.
			half := types[0] == "f16"
			per := max(1, c.Outputs[0].PerThread)
			cd := func(v []uint64, row, col int) uint64 {
				lane, r := row&7<<2|col>>1, row>>3<<1|col&1
				if half {
					return v[(w*32+lane)*per+r>>1] >> (16 * (col & 1)) & 0xffff
				}
				return v[(w*32+lane)*per+r]
			}
			for row := range m {
				for col := range 8 {
					x, y := make([]uint64, k), make([]uint64, k)
					for j := range k {
						x[j], y[j] = fa.at(row, j), fb.at(col, j)
					}
					acc := cd(in[2], row, col)
					got := mmaElement(c.ID, types, acc, x, y)
					if d := cd(want, row, col); got != d {
						if bad++; bad <= 3 {
							t.Errorf("%s warp %d (%d,%d) c %#x a %x b %x: got %#x, silicon %#x", c.ID, w, row, col, acc,
								x, y, got, d)
						}
					}
					values++
				}
			}
		}
		if bad > 3 {
			t.Errorf("%s: %d differ", c.ID, bad)
		}
		cases[types[1]]++
	}
	t.Logf("cases by operand type %v, %d elements", cases, values)
	if values == 0 {
		t.Error("nothing compared")
	}
}

func mmaElement(id string, types []string, c uint64, x, y []uint64) uint64 {
	switch types[1] {
	case "f64":
		r := RN
		if len(id) > 3 {
			if v, ok := roundMods[id[len(id)-2:]]; ok {
				r = v
			}
		}
		return Dot64(c, x, y, r)
	case "b1":
		n := int32(c)
		for i := range x {
			if strings.Contains(id, "xor") {
				n += int32(x[i] ^ y[i])
			} else {
				n += int32(x[i] & y[i])
			}
		}
		return uint64(uint32(n))
	case "s8", "u8", "s4", "u4":
		ext := func(v []uint64, typ string) []int32 {
			w := uint(32 - (typ[1] - '0'))
			z := make([]int32, len(v))
			for i := range v {
				if typ[0] == 's' {
					z[i] = int32(v[i]<<w) >> w
				} else {
					z[i] = int32(v[i])
				}
			}
			return z
		}
		return uint64(uint32(DotInt(int32(c), ext(x, types[1]), ext(y, types[2]), strings.Contains(id, "satfinite"))))
	}
	fa, _ := formatOf(types[1])
	fb, _ := formatOf(types[2])
	out, _ := formatOf(types[0])
	a, b := make([]Operand, len(x)), make([]Operand, len(x))
	for i := range x {
		a[i], b[i] = DecodeOperand(fa, uint32(x[i])), DecodeOperand(fb, uint32(y[i]))
	}
	switch {
	case fa == E4M3 || fa == E5M2:
		return uint64(FP8Sync(out, uint32(c), a, b))
	case out == F16:
		d := DotF16
		return uint64(d.Acc(uint32(c), a, b))
	}
	d := DotF32
	return uint64(d.Acc(uint32(c), a, b))
}

// TestTrim holds truncation toward zero for both signs.
func TestTrim(t *testing.T) {
	for range 100000 {
		v := int64(rand.Uint64()) >> (10 + rand.IntN(50))
		s := int32(rand.IntN(80)) - 70
		if s > 0 && 64-bits.LeadingZeros64(uint64(max(v, -v)))+int(s) > 62 {
			continue
		}
		want := v
		for range s {
			want *= 2
		}
		for range -s {
			want /= 2
		}
		if got := trim(v, s); got != want {
			t.Fatalf("trim(%d, %d) = %d, want %d", v, s, got, want)
		}
	}
}

func BenchmarkDot16(b *testing.B) {
	var x, y [16]Operand
	for i := range x {
		x[i] = DecodeOperand(F16, uint32(0x3c00+37*i))
		y[i] = DecodeOperand(F16, uint32(0x3800+91*i))
	}
	d := DotF32
	var c uint32
	for b.Loop() {
		c = d.Acc(c, x[:], y[:])
	}
	_ = c
}
