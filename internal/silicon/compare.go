package silicon

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ElementSize is the size in bytes of an element type of the index.
func ElementSize(typ string) int {
	switch typ {
	case "b8", "u8", "s8", "e4m3", "e5m2":
		return 1
	case "b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2":
		return 2
	case "b64", "u64", "s64", "f64":
		return 8
	case "b128":
		return 16
	}
	return 4
}

// Diff is the outcome of one output.
type Diff struct {
	Elements  int
	Different int
	First     int    // element
	Got, Want string // of the first difference
	MaxULP    uint64 // for floats; math.MaxUint64 when a NaN or infinity stands against a number
}

// Compare compares an output's bytes with the recorded ones.
func Compare(o *Output, got, want []byte) Diff {
	n := ElementSize(o.Type)
	d := Diff{Elements: len(want) / n, First: -1}
	for i := 0; i+n <= len(want); i += n {
		g, x := got[i:i+n], want[i:i+n]
		if string(g) == string(x) {
			continue
		}
		d.Different++
		if d.First < 0 {
			d.First, d.Got, d.Want = i/n, hex(g), hex(x)
		}
		d.MaxULP = max(d.MaxULP, ulps(o.Type, g, x))
	}
	return d
}

func hex(b []byte) string {
	s := ""
	for i := len(b) - 1; i >= 0; i-- {
		s += fmt.Sprintf("%02x", b[i])
	}
	return s
}

// ulps is the distance of two floats in units of the last place, both read as points of one ordered line.
func ulps(typ string, a, b []byte) uint64 {
	line := func(v, sign, inf uint64) (int64, bool) {
		m := v &^ sign
		if m > inf {
			return 0, false
		}
		if v&sign != 0 {
			return -int64(m), true
		}
		return int64(m), true
	}
	one := func(x, y, sign, inf uint64) uint64 {
		p, ok1 := line(x, sign, inf)
		q, ok2 := line(y, sign, inf)
		if !ok1 && !ok2 {
			return 0
		}
		if !ok1 || !ok2 || (x&^sign == inf) != (y&^sign == inf) {
			return math.MaxUint64
		}
		if p < q {
			p, q = q, p
		}
		return uint64(p - q)
	}
	switch typ {
	case "f32":
		return one(uint64(binary.LittleEndian.Uint32(a)), uint64(binary.LittleEndian.Uint32(b)), 1<<31, 0x7f800000)
	case "f64":
		return one(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b), 1<<63, 0x7ff<<52)
	case "f16":
		return one(uint64(binary.LittleEndian.Uint16(a)), uint64(binary.LittleEndian.Uint16(b)), 1<<15, 0x7c00)
	case "bf16":
		return one(uint64(binary.LittleEndian.Uint16(a)), uint64(binary.LittleEndian.Uint16(b)), 1<<15, 0x7f80)
	case "f16x2", "bf16x2":
		inf := uint64(0x7c00)
		if typ == "bf16x2" {
			inf = 0x7f80
		}
		return max(one(uint64(binary.LittleEndian.Uint16(a)), uint64(binary.LittleEndian.Uint16(b)), 1<<15, inf),
			one(uint64(binary.LittleEndian.Uint16(a[2:])), uint64(binary.LittleEndian.Uint16(b[2:])), 1<<15, inf))
	}
	return math.MaxUint64
}
