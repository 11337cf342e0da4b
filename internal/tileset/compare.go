package tileset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/num"
)

func putWord(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// sizes are those of the element types, in bytes.
var sizes = map[string]int{"i1": 1, "i8": 1, "e4m3": 1, "e5m2": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4,
	"tf32": 4, "i64": 8, "f64": 8}

// tolerant are the types whose results may have a tolerance: those of which Value gives the value.
var tolerant = map[string]bool{"f16": true, "bf16": true, "f32": true, "tf32": true, "f64": true}

// Tolerance is how far results may be from those recorded where the dialect leaves them open: units in the last place,
// or relative and absolute.
type Tolerance struct {
	ULP      *int64
	Rel, Abs float64
}

// ParseTolerance reads Buffer.Compare; bits says that nothing but a NaN's payload may differ.
func ParseTolerance(how json.RawMessage) (t Tolerance, bits bool, err error) {
	if string(how) == `"bits"` {
		return t, true, nil
	}
	return t, false, json.Unmarshal(how, &t)
}

// compare compares elements. A NaN equals any NaN.
func compare(typ string, got, want []byte, how json.RawMessage) (equal bool, err error) {
	tol, bits, err := ParseTolerance(how)
	if err != nil {
		return false, err
	}
	n := sizes[typ]
	if bytes.Equal(got, want) {
		return true, nil
	}
	wrong, first := 0, ""
	equal = true
	for i := 0; i+n <= len(want); i += n {
		var g, w [8]byte
		copy(g[:], got[i:i+n])
		copy(w[:], want[i:i+n])
		a, b := binary.LittleEndian.Uint64(g[:]), binary.LittleEndian.Uint64(w[:])
		if a == b {
			continue
		}
		x, isFloat := Value(typ, a)
		y, _ := Value(typ, b)
		ok := isFloat && math.IsNaN(x) && math.IsNaN(y)
		equal = equal && ok
		switch {
		case ok || bits:
		case math.IsNaN(x) || math.IsNaN(y):
		case tol.ULP != nil:
			ok = x == y || !math.IsInf(x, 0) && !math.IsInf(y, 0) && distance(a, b, n) <= uint64(max(*tol.ULP, 0))
		default:
			ok = x == y || math.Abs(x-y) <= tol.Abs+tol.Rel*math.Abs(y)
		}
		if !ok {
			if wrong++; wrong == 1 {
				first = fmt.Sprintf("element %d is %#x (%g), not %#x (%g)", i/n, a, x, b, y)
			}
		}
	}
	if wrong > 0 {
		return false, fmt.Errorf("%d of %d differ: %s", wrong, len(want)/n, first)
	}
	return equal, nil
}

// distance is how many floats of n bytes lie between two.
func distance(a, b uint64, n int) uint64 {
	x, y := order(a, n), order(b, n)
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

// order maps the bits of floats to integers in the order of their values.
func order(v uint64, n int) int64 {
	s := int64(v << (64 - 8*n))
	if s < 0 {
		s = math.MinInt64 - s
	}
	return s >> (64 - 8*n)
}

// Value returns an element, given its bits, as a float64, and whether it is a float.
func Value(typ string, v uint64) (float64, bool) {
	switch typ {
	case "f64":
		return math.Float64frombits(v), true
	case "f32", "tf32":
		return float64(math.Float32frombits(uint32(v))), true
	case "bf16":
		return float64(math.Float32frombits(uint32(v) << 16)), true
	case "f16":
		return float64(math.Float32frombits(num.F16ToF32(uint16(v)))), true
	case "e4m3":
		if v&0x7f == 0x7f {
			return math.NaN(), true
		}
		return float64(v), true
	case "e5m2":
		if v&0x7f > 0x7c {
			return math.NaN(), true
		}
		return float64(v), true
	}
	return float64(int64(v)), false
}

// SameText compares printed text line by line in any order: blocks print when they come to it.
func SameText(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	sort.Strings(x)
	sort.Strings(y)
	return slices.Equal(x, y)
}
