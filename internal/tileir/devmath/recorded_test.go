package devmath

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tileset"
)

// fullSet has modules with what an H200 made of them; those called math.OP... apply one operation to each element of
// their buffers.
const fullSet = "../../../../shared/tileir"

// TestRecorded compares the functions with the results of an H200, within the set's tolerance: different in their
// last places, equal in special values.
func TestRecorded(t *testing.T) {
	if _, err := os.Stat(fullSet); err != nil {
		skip.Without(t, skip.Recordings, fullSet)
	}
	set, err := tileset.Open(os.DirFS(fullSet))
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(typ string, at *tileset.Range) []float64 {
		b, err := set.Bytes(*at)
		if err != nil {
			t.Fatal(err)
		}
		var v []float64
		for len(b) > 0 {
			switch typ {
			case "f64":
				v, b = append(v, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
			case "f32":
				v, b = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
			default:
				v, b = append(v, float64(int32(binary.LittleEndian.Uint32(b)))), b[4:]
			}
		}
		return v
	}
	done := 0
	for _, c := range set.Cases {
		words := strings.Split(c.Name, ".")
		last := len(c.Buffers) - 1
		if words[0] != "math" || last < 1 || strings.Contains(c.Name, "ftz") {
			continue
		}
		typ := c.Buffers[last].Type
		f := find(fmt.Sprintf("tile$%s_%s", strings.Replace(words[1], "fpowi", "powi", 1), typ))
		if f == nil { // of 16 bits; or rsqrt, an instruction
			continue
		}
		xs, ys := numbers(c.Buffers[0].Type, c.Buffers[0].Init.Data), []float64(nil)
		if last > 1 {
			ys = numbers(c.Buffers[1].Type, c.Buffers[1].Init.Data)
		}
		want := numbers(typ, c.Buffers[last].Result)
		allow, _, err := tileset.ParseTolerance(c.Buffers[last].Compare)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, got := range apply(t, *f, xs, ys) {
			y := 0.0
			if ys != nil {
				y = ys[i]
			}
			w := want[i]
			if got == w || math.IsNaN(got) && math.IsNaN(w) {
				continue
			}
			digits, least := 53, -1074
			if typ == "f32" {
				digits, least = 24, -149
			}
			_, e := math.Frexp(w)
			ulp := math.Abs(got-w) / math.Ldexp(1, max(e-digits, least))
			worst = max(worst, ulp)
			if !(allow.ULP != nil && ulp <= float64(*allow.ULP)) && !(math.Abs(got-w) <= allow.Rel*math.Abs(w)) {
				t.Errorf("%s: %s(%v, %v) = %v, recorded %v", c.Name, f.name, xs[i], y, got, w)
			}
		}
		done++
		t.Logf("%s: at most %.0f ulp", c.Name, worst)
	}
	if done < 20 {
		t.Errorf("%d cases compared, there were 24", done)
	}
}
