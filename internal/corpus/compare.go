package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Compare checks an array against the recorded one under a rule of the manifest; it returns "" or what differs.
func Compare(rule, dtype string, got, want []byte) string {
	if rule == "none" {
		return ""
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return ""
	}
	n := ElementSize(dtype)
	if rule == "sorted" {
		g, w := elements(got, n), elements(want, n)
		sort.Strings(g)
		sort.Strings(w)
		for i := range g {
			if g[i] != w[i] {
				return fmt.Sprintf("sorted element %d: %x, want %x", i, g[i], w[i])
			}
		}
		return ""
	}
	different, first := 0, ""
	for i := 0; i+n <= len(want); i += n {
		if same(rule, dtype, got[i:i+n], want[i:i+n]) {
			continue
		}
		different++
		if first == "" {
			first = fmt.Sprintf("[%d] %s, want %s", i/n, show(dtype, got[i:i+n]), show(dtype, want[i:i+n]))
		}
	}
	if different == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d elements differ (%s), first %s", different, len(want)/n, rule, first)
}

// ValidRule says whether a text is a rule: exact, none, sorted, or ulp:N, rel:E, abs:E joined by commas.
func ValidRule(rule string) bool {
	switch rule {
	case "exact", "none", "sorted":
		return true
	}
	for _, part := range strings.Split(rule, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), ":")
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x >= 0) || k != "abs" && k != "rel" && k != "ulp" {
			return false
		}
	}
	return true
}

func elements(b []byte, n int) []string {
	var out []string
	for i := 0; i+n <= len(b); i += n {
		out = append(out, string(b[i:i+n]))
	}
	return out
}

func show(dtype string, b []byte) string {
	if f, ok := float(dtype, b); ok {
		return fmt.Sprintf("%v (%x)", f, rev(b))
	}
	return fmt.Sprintf("%x", rev(b))
}

func rev(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return r
}

func float(dtype string, b []byte) (float64, bool) {
	switch dtype {
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	case "f32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case "bf16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)), true
	case "f16":
		return half(binary.LittleEndian.Uint16(b)), true
	}
	return 0, false
}

func half(h uint16) float64 {
	s, e, m := 1.0, int(h>>10&31), float64(h&0x3ff)
	if h>>15 != 0 {
		s = -1
	}
	switch e {
	case 0:
		return s * math.Ldexp(m, -24)
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return math.Inf(int(s))
	}
	return s * math.Ldexp(1024+m, e-25)
}

// same says whether one element passes: any part of the rule suffices, a NaN equals only a NaN.
func same(rule, dtype string, got, want []byte) bool {
	if bytes.Equal(got, want) {
		return true
	}
	if dtype == "c64" || dtype == "c128" {
		h := len(got) / 2
		part := map[string]string{"c64": "f32", "c128": "f64"}[dtype]
		return same(rule, part, got[:h], want[:h]) && same(rule, part, got[h:], want[h:])
	}
	g, isFloat := float(dtype, got)
	w, _ := float(dtype, want)
	if isFloat && (math.IsNaN(g) || math.IsNaN(w)) {
		return math.IsNaN(g) && math.IsNaN(w)
	}
	for _, part := range strings.Split(rule, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), ":")
		x, _ := strconv.ParseFloat(v, 64)
		if !isFloat {
			if k == "abs" && math.Abs(integer(dtype, got)-integer(dtype, want)) <= x {
				return true
			}
			continue
		}
		switch k {
		case "abs":
			if math.Abs(g-w) <= x {
				return true
			}
		case "rel":
			if math.Abs(g-w) <= x*math.Abs(w) {
				return true
			}
		case "ulp":
			if ulps(dtype, got, want) <= uint64(x) {
				return true
			}
		}
	}
	return false
}

func integer(dtype string, b []byte) float64 {
	v := uint64(0)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	if strings.HasPrefix(dtype, "i") {
		s := 64 - 8*len(b)
		return float64(int64(v<<s) >> s)
	}
	return float64(v)
}

func ulps(dtype string, a, b []byte) uint64 {
	key := func(x []byte) int64 {
		v := uint64(0)
		for i := len(x) - 1; i >= 0; i-- {
			v = v<<8 | uint64(x[i])
		}
		sign := uint64(1) << (8*len(x) - 1)
		if v&sign != 0 {
			return -int64(v &^ sign)
		}
		return int64(v)
	}
	p, q := key(a), key(b)
	if p < q {
		p, q = q, p
	}
	return uint64(p) - uint64(q)
}

// Show prints one element of an array as a number.
func Show(dtype string, b []byte) string {
	if f, ok := float(dtype, b); ok {
		return strconv.FormatFloat(f, 'g', 7, 64)
	}
	if len(b) == 8 && dtype == "u64" {
		return strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)
	}
	if len(b) == 8 {
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	}
	return strconv.FormatFloat(integer(dtype, b), 'f', 0, 64)
}
