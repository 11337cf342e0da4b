package main

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// TestScalars: little-endian bytes; floats are rounded once.
func TestScalars(t *testing.T) {
	for text, want := range map[string]string{
		"i8:-1": "ff", "u8:255": "ff", "i16:-2": "feff", "u16:0xbeef": "efbe", "i32:1000": "e8030000",
		"u32:0b101": "05000000", "i32:-0x80000000": "00000080",
		"i64:-1": "ffffffffffffffff", "u64:18446744073709551615": "ffffffffffffffff", "f32:2.5": "00002040",
		"f64:-0": "0000000000000080", "f16:1": "003c", "f16:65504": "ff7b",
		"f32:inf": "0000807f", "f32:16777217.000000001": "0100804b", /* 16777216 when it is rounded twice */
		"f64:1e308": "a0c8eb85f3cce17f", "hex:00ff10": "00ff10",
	} {
		a, err := parseArgument(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := hex.EncodeToString(a.scalar); got != want || a.array != nil {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestArrays(t *testing.T) {
	a, err := parseArgument("i16[3]=-2>out.npy")
	if err != nil || a.out != "out.npy" || hex.EncodeToString(a.array.data) != "fefffefffeff" ||
		a.array.dtype != "i16" || a.array.shape[0] != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = parseArgument("f64[0x10]"); err != nil || len(a.array.data) != 128 ||
		strings.Trim(string(a.array.data), "\x00") != "" {
		t.Errorf("%+v, %v", a, err)
	}
	one, err := parseArgument("f32[1000]~42")
	if err != nil {
		t.Fatal(err)
	}
	two, err := parseArgument("f32[1000]~43")
	if err != nil {
		t.Fatal(err)
	}
	if string(one.array.data) == string(two.array.data) {
		t.Error("two seeds give one array")
	}
	sum := 0.0
	for i := 0; i < 4000; i += 4 {
		b := one.array.data[i:]
		v := math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
		if v < 0 || v >= 1 {
			t.Fatalf("[%d] = %v", i/4, v)
		}
		sum += float64(v)
	}
	if sum < 450 || sum > 550 {
		t.Errorf("the mean of 1000 values is %v", sum/1000)
	}
}

func FuzzArgument(f *testing.F) {
	for _, s := range []string{"i32:5", "f32[4]~1", "f32[4]=2>x.npy", "u8[3]", "hex:0011", "i64:-0x7", "f16[2]=nan",
		"[", ":", "f32[", "f32[1]>", ">", "hex:", "f32[1]~", "f64[99999999999999999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.HasPrefix(s, "@") || len(s) > 64 {
			return // names a file
		}
		if _, rest, ok := strings.Cut(s, "["); ok && len(rest) > 5 {
			return // would take much memory, rightly
		}
		a, err := parseArgument(s)
		if err != nil {
			if err.Error() == "" {
				t.Error("an empty message")
			}
			return
		}
		switch {
		case a.array != nil:
			if len(a.array.data) != a.array.shape[0]*dtypes[a.array.dtype].size {
				t.Errorf("%q: %d bytes, shape %v", s, len(a.array.data), a.array.shape)
			}
		case len(a.scalar) == 0 || a.out != "":
			t.Errorf("%q: %+v", s, a)
		}
	})
}
