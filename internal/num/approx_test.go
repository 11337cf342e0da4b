package num

import (
	"fmt"
	"strings"
	"testing"
)

// approxCall maps a recorded case of group approx to its function, or nil.
func approxCall(id string) func([]uint64) uint64 {
	s := spell(id)
	o := s.o
	if len(s.types) != 1 {
		return nil
	}
	u32 := func(f func(uint32) uint32) func([]uint64) uint64 {
		return func(x []uint64) uint64 { return uint64(f(uint32(x[0]))) }
	}
	switch s.op + "." + s.types[0] {
	case "rcp.f32":
		return u32(func(x uint32) uint32 { return RcpApprox32(x, o) })
	case "sqrt.f32":
		return u32(func(x uint32) uint32 { return SqrtApprox32(x, o) })
	case "rsqrt.f32":
		return u32(func(x uint32) uint32 { return RsqrtApprox32(x, o) })
	case "ex2.f32":
		return u32(func(x uint32) uint32 { return Ex2Approx32(x, o) })
	case "lg2.f32":
		return u32(func(x uint32) uint32 { return Lg2Approx32(x, o) })
	case "sin.f32":
		return u32(SinApprox32)
	case "cos.f32":
		return u32(CosApprox32)
	case "tanh.f32":
		return u32(TanhApprox32)
	case "ex2.f16":
		return only(func(x []uint16) uint16 { return Ex2F16(x[0]) })
	case "ex2.f16x2":
		return both(func(x []uint16) uint16 { return Ex2F16(x[0]) })
	case "ex2.bf16":
		return only(func(x []uint16) uint16 { return Ex2BF16(x[0]) })
	case "ex2.bf16x2":
		return both(func(x []uint16) uint16 { return Ex2BF16(x[0]) })
	case "tanh.f16":
		return only(func(x []uint16) uint16 { return TanhF16(x[0]) })
	case "tanh.f16x2":
		return both(func(x []uint16) uint16 { return TanhF16(x[0]) })
	case "tanh.bf16":
		return only(func(x []uint16) uint16 { return TanhBF16(x[0]) })
	case "tanh.bf16x2":
		return both(func(x []uint16) uint16 { return TanhBF16(x[0]) })
	case "rcp.f64":
		return func(x []uint64) uint64 { return RcpApproxFtz64(x[0]) }
	case "rsqrt.f64":
		if o&FTZ != 0 {
			return func(x []uint64) uint64 { return RsqrtApproxFtz64(x[0]) }
		}
		return func(x []uint64) uint64 { return RsqrtApprox64(x[0]) }
	case "div.f32":
		if s.mods["full"] {
			return on32(func(x []uint32) uint32 { return DivFull32(x[0], x[1], o) })
		}
		return on32(func(x []uint32) uint32 { return DivApprox32(x[0], x[1], o) })
	}
	return nil
}

// ulps is the distance of two encodings of width w, NaNs being equal only to NaNs.
func ulps(a, b uint64, w int) uint64 {
	ord := func(x uint64) int64 {
		m := int64(x & (1<<(w-1) - 1))
		if x>>(w-1)&1 != 0 {
			return -m
		}
		return m
	}
	d := ord(a) - ord(b)
	if d < 0 {
		d = -d
	}
	return uint64(d)
}

// TestApproxSilicon measures the distance to silicon for every recorded case.
func TestApproxSilicon(t *testing.T) {
	rec := silicon(t)
	var table strings.Builder
	for i := range rec.Cases {
		c := &rec.Cases[i]
		if c.Group != "approx" {
			continue
		}
		f := approxCall(c.ID)
		if f == nil {
			t.Errorf("no function for %s", c.ID)
			continue
		}
		in, want := rec.inputs(c), rec.output(c)
		x := make([]uint64, len(in))
		equal, worst, shown := 0, uint64(0), 0
		w := 8 * c.Outputs[0].Size / c.N
		for j := range c.N {
			for k := range in {
				x[k] = in[k][j]
			}
			got := f(x)
			if got == want[j] {
				equal++
				continue
			}
			d := ulps(got, want[j], w)
			worst = max(worst, d)
			if shown++; shown <= 6 {
				t.Logf("%s %x: got %#x, silicon %#x", c.ID, x, got, want[j])
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %.2f%% | %d |\n", c.ID, c.N, equal, 100*float64(equal)/float64(c.N), worst)
	}
	t.Log("\n" + table.String())
}
