package num

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// The recorded results of an H200: the full set beside the repository when it is there (../shared/silicon), else
// testdata/silicon.

type recording struct {
	Inputs []struct {
		Name                string
		Offset, Count, Size int
	}
	Cases []recordedCase
	in    []byte
	out   []byte
}

type recordedCase struct {
	ID, Group, Kind string
	N               int
	Operands        []struct {
		Array     string
		PerThread int `json:"per_thread"`
	}
	Outputs []struct {
		Type         string
		Offset, Size int
		PerThread    int `json:"per_thread"`
	}
}

func gunzip(path string) ([]byte, error) {
	z, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(g)
}

var loadRecording = sync.OnceValues(func() (*recording, error) {
	dir := os.Getenv("GOCUDA_SILICON")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "silicon")
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("..", "..", "testdata", "silicon") // the subset in the repository
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		if text, err = gunzip(filepath.Join(dir, "index.json.gz")); err != nil {
			return nil, err
		}
	}
	r := new(recording)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if r.in, err = gunzip(filepath.Join(dir, "inputs.bin.gz")); err != nil {
		return nil, err
	}
	r.out, err = gunzip(filepath.Join(dir, "outputs.bin.gz"))
	return r, err
})

func silicon(t testing.TB) *recording {
	r, err := loadRecording()
	if err != nil {
		skip.Without(t, skip.Recordings, err)
	}
	return r
}

func elements(b []byte, n int) []uint64 {
	v := make([]uint64, n)
	w := len(b) / n
	var buf [8]byte
	for i := range v {
		copy(buf[:], b[i*w:(i+1)*w])
		v[i] = binary.LittleEndian.Uint64(buf[:])
	}
	return v
}

func (r *recording) input(name string) []uint64 {
	for _, in := range r.Inputs {
		if in.Name == name {
			return elements(r.in[in.Offset:in.Offset+in.Size], in.Count)
		}
	}
	return nil
}

func (r *recording) inputs(c *recordedCase) [][]uint64 {
	var v [][]uint64
	for _, o := range c.Operands {
		v = append(v, r.input(o.Array))
	}
	return v
}

func (r *recording) output(c *recordedCase) []uint64 {
	o := c.Outputs[0]
	return elements(r.out[o.Offset:o.Offset+o.Size], c.N*max(1, o.PerThread))
}

// An instruction spelled out: modifiers as a set, types in order.
type spelled struct {
	op, suffix string
	mods       map[string]bool
	types      []string
	r          Round
	integer    bool // .rni and kin
	o          Opt
}

var roundMods = map[string]Round{"rn": RN, "rz": RZ, "rm": RM, "rp": RP, "rna": RNA, "rni": RN, "rzi": RZ, "rmi": RM,
	"rpi": RP}
var optMods = map[string]Opt{"ftz": FTZ, "sat": Sat, "relu": Relu, "satfinite": SatFinite, "NaN": PropNaN,
	"xorsign": XorSign}

func spell(id string) spelled {
	id, suffix, _ := strings.Cut(id, "/")
	p := strings.Split(id, ".")
	s := spelled{op: p[0], suffix: suffix, mods: map[string]bool{}}
	for _, m := range p[1:] {
		s.mods[m] = true
		if r, ok := roundMods[m]; ok {
			s.r = r
			s.integer = len(m) == 3 && m != "rna"
		} else if o, ok := optMods[m]; ok {
			s.o |= o
		} else if strings.ContainsAny(m, "0123456789") {
			s.types = append(s.types, m)
		}
	}
	return s
}

func formatOf(name string) (Format, bool) {
	for f := range numFormats {
		if layouts[f].name == name {
			return f, true
		}
	}
	return 0, false
}

// both applies a 16-bit operation to packed halves.
func both(f func(x []uint16) uint16) func([]uint64) uint64 {
	return func(x []uint64) uint64 {
		lo, hi := make([]uint16, len(x)), make([]uint16, len(x))
		for i, v := range x {
			lo[i], hi[i] = uint16(v), uint16(v>>16)
		}
		return uint64(f(hi))<<16 | uint64(f(lo))
	}
}

func only(f func(x []uint16) uint16) func([]uint64) uint64 {
	return func(x []uint64) uint64 {
		h := make([]uint16, len(x))
		for i, v := range x {
			h[i] = uint16(v)
		}
		return uint64(f(h))
	}
}

func on32(f func(x []uint32) uint32) func([]uint64) uint64 {
	return func(x []uint64) uint64 {
		w := make([]uint32, len(x))
		for i, v := range x {
			w[i] = uint32(v)
		}
		return uint64(f(w))
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var tests = map[string]Test{"finite": TestFinite, "infinite": TestInfinite, "number": TestNumber,
	"notanumber": TestNotANumber, "normal": TestNormal, "subnormal": TestSubnormal}

// exactCall maps an instruction to the function of this package that computes it, or nil.
func exactCall(id string) func([]uint64) uint64 {
	s := spell(id)
	o, r := s.o, s.r
	if s.op == "cvt" {
		return cvtCall(s)
	}
	if len(s.types) != 1 {
		return nil
	}
	if s.op == "testp" {
		f, _ := formatOf(s.types[0])
		for name, test := range tests {
			if s.mods[name] {
				return func(x []uint64) uint64 { return bit(Testp(f, x[0], test)) }
			}
		}
	}
	switch s.types[0] {
	case "f32":
		switch s.op {
		case "add":
			return on32(func(x []uint32) uint32 { return Add32(x[0], x[1], r, o) })
		case "sub":
			return on32(func(x []uint32) uint32 { return Sub32(x[0], x[1], r, o) })
		case "mul":
			return on32(func(x []uint32) uint32 { return Mul32(x[0], x[1], r, o) })
		case "fma", "mad":
			return on32(func(x []uint32) uint32 { return Fma32(x[0], x[1], x[2], r, o) })
		case "div":
			return on32(func(x []uint32) uint32 { return Div32(x[0], x[1], r, o) })
		case "rcp":
			return on32(func(x []uint32) uint32 { return Rcp32(x[0], r, o) })
		case "sqrt":
			return on32(func(x []uint32) uint32 { return Sqrt32(x[0], r, o) })
		case "abs":
			return on32(func(x []uint32) uint32 { return Abs32(x[0], o) })
		case "neg":
			return on32(func(x []uint32) uint32 { return Neg32(x[0], o) })
		case "min":
			return on32(func(x []uint32) uint32 { return Min32(x[0], x[1], o) })
		case "max":
			return on32(func(x []uint32) uint32 { return Max32(x[0], x[1], o) })
		case "copysign":
			return on32(func(x []uint32) uint32 { return Copysign32(x[0], x[1]) })
		}
	case "f64":
		switch s.op {
		case "add":
			return func(x []uint64) uint64 { return Add64(x[0], x[1], r) }
		case "sub":
			return func(x []uint64) uint64 { return Sub64(x[0], x[1], r) }
		case "mul":
			return func(x []uint64) uint64 { return Mul64(x[0], x[1], r) }
		case "fma", "mad":
			return func(x []uint64) uint64 { return Fma64(x[0], x[1], x[2], r) }
		case "div":
			return func(x []uint64) uint64 { return Div64(x[0], x[1], r) }
		case "rcp":
			return func(x []uint64) uint64 { return Rcp64(x[0], r) }
		case "sqrt":
			return func(x []uint64) uint64 { return Sqrt64(x[0], r) }
		case "abs":
			return func(x []uint64) uint64 { return Abs64(x[0]) }
		case "neg":
			return func(x []uint64) uint64 { return Neg64(x[0]) }
		case "min":
			return func(x []uint64) uint64 { return Min64(x[0], x[1]) }
		case "max":
			return func(x []uint64) uint64 { return Max64(x[0], x[1]) }
		case "copysign":
			return func(x []uint64) uint64 { return Copysign64(x[0], x[1]) }
		}
	case "f16", "f16x2", "bf16", "bf16x2":
		if strings.HasPrefix(id, "fma.rz.") {
			// Not in the manual. The driver takes the spelling and emits fma.rn.f16 for the scalar, fma.rn.bf16x2 for
			// the pair.
			if s.types[0] == "bf16" {
				return only(halfCall("fma", false, RN, 0))
			}
			r = RN
		}
		wrap := only
		if strings.HasSuffix(s.types[0], "x2") {
			wrap = both
		}
		if f := halfCall(s.op, strings.HasPrefix(s.types[0], "bf"), r, o); f != nil {
			return wrap(f)
		}
	}
	return nil
}

func halfCall(op string, brain bool, r Round, o Opt) func(x []uint16) uint16 {
	if brain {
		switch op {
		case "add":
			return func(x []uint16) uint16 { return AddBF16(x[0], x[1]) }
		case "sub":
			return func(x []uint16) uint16 { return SubBF16(x[0], x[1]) }
		case "mul":
			return func(x []uint16) uint16 { return MulBF16(x[0], x[1]) }
		case "fma":
			return func(x []uint16) uint16 { return FmaBF16(x[0], x[1], x[2], r, o) }
		case "abs":
			return func(x []uint16) uint16 { return AbsBF16(x[0]) }
		case "neg":
			return func(x []uint16) uint16 { return NegBF16(x[0]) }
		case "min":
			return func(x []uint16) uint16 { return MinBF16(x[0], x[1], o) }
		case "max":
			return func(x []uint16) uint16 { return MaxBF16(x[0], x[1], o) }
		}
		return nil
	}
	switch op {
	case "add":
		return func(x []uint16) uint16 { return AddF16(x[0], x[1], o) }
	case "sub":
		return func(x []uint16) uint16 { return SubF16(x[0], x[1], o) }
	case "mul":
		return func(x []uint16) uint16 { return MulF16(x[0], x[1], o) }
	case "fma":
		return func(x []uint16) uint16 { return FmaF16(x[0], x[1], x[2], o) }
	case "abs":
		return func(x []uint16) uint16 { return AbsF16(x[0], o) }
	case "neg":
		return func(x []uint16) uint16 { return NegF16(x[0], o) }
	case "min":
		return func(x []uint16) uint16 { return MinF16(x[0], x[1], o) }
	case "max":
		return func(x []uint16) uint16 { return MaxF16(x[0], x[1], o) }
	}
	return nil
}

func intType(name string) (width uint, signed, ok bool) {
	widths := map[string]uint{"8": 8, "16": 16, "32": 32, "64": 64}
	w, ok := widths[strings.TrimLeft(name, "us")]
	return w, name[0] == 's', ok && (name[0] == 's' || name[0] == 'u')
}

func cvtCall(s spelled) func([]uint64) uint64 {
	o, r := s.o, s.r
	if s.mods["pack"] {
		w := map[string]uint{"16": 16, "8": 8, "4": 4, "2": 2}[s.types[0][1:]]
		return on32(func(x []uint32) uint32 {
			c := uint32(0)
			if len(x) == 3 {
				c = x[2]
			}
			return CvtPack(int32(x[0]), int32(x[1]), c, w, s.types[0][0] == 's')
		})
	}
	if len(s.types) != 2 {
		return nil
	}
	dw, dSigned, dInt := intType(s.types[0])
	sw, sSigned, sInt := intType(s.types[1])
	d, dOK := formatOf(strings.TrimSuffix(s.types[0], "x2"))
	f, fOK := formatOf(strings.TrimSuffix(s.types[1], "x2"))
	dPair, sPair := strings.HasSuffix(s.types[0], "x2"), strings.HasSuffix(s.types[1], "x2")
	switch {
	case dInt && fOK:
		return func(x []uint64) uint64 { return ToInt(f, x[0], r, o, dw, dSigned) }
	case sInt && dOK:
		return func(x []uint64) uint64 {
			v := x[0] << (64 - sw)
			if sSigned {
				return FromInt(d, int64(v)>>(64-sw), r, o)
			}
			return FromUint(d, v>>(64-sw), r, o)
		}
	case !dOK || !fOK:
		return nil
	case s.integer:
		return func(x []uint64) uint64 { return RoundInt(f, x[0], r, o) }
	case dPair && sPair && (d == E4M3 || d == E5M2):
		return func(x []uint64) uint64 { return uint64(HalvesToMini(d, f, uint32(x[0]), o)) }
	case dPair && sPair:
		return func(x []uint64) uint64 { return uint64(MiniToHalves(f, uint16(x[0]), o)) }
	case dPair && (d == E4M3 || d == E5M2):
		return func(x []uint64) uint64 { return uint64(PairToMini(d, uint32(x[0]), uint32(x[1]), o)) }
	case dPair:
		return func(x []uint64) uint64 { return CvtFloat(d, f, x[0], r, o)<<16 | CvtFloat(d, f, x[1], r, o) }
	}
	return func(x []uint64) uint64 { return CvtFloat(d, f, x[0], r, o) }
}

// TestSilicon compares every recorded case of the arithmetic and conversion groups that one call computes, bit for bit.
func TestSilicon(t *testing.T) {
	rec := silicon(t)
	for _, group := range []string{"f32", "f64", "f16", "bf16", "cvt_i2f", "cvt_f2i", "cvt_f2f", "cvt_pack"} {
		t.Run(group, func(t *testing.T) {
			cases, skipped, values := 0, 0, 0
			for i := range rec.Cases {
				c := &rec.Cases[i]
				if c.Group != group {
					continue
				}
				f := exactCall(c.ID)
				if f == nil {
					t.Logf("no function for %s", c.ID)
					skipped++
					continue
				}
				in, want := rec.inputs(c), rec.output(c)
				mask := ^uint64(0) >> (64 - 8*c.Outputs[0].Size/c.N)
				x := make([]uint64, len(in))
				bad := 0
				for j := range c.N {
					for k := range in {
						x[k] = in[k][j]
					}
					if got := f(x) & mask; got != want[j] {
						if bad++; bad <= 3 {
							t.Errorf("%s %x: got %#x, silicon %#x", c.ID, x, got, want[j])
						}
					}
				}
				if bad > 3 {
					t.Errorf("%s: %d of %d differ", c.ID, bad, c.N)
				}
				cases++
				values += c.N
			}
			t.Logf("%d cases, %d values, %d cases without a function", cases, values, skipped)
			if cases == 0 || skipped != 0 {
				t.Errorf("%d cases compared, %d have no function", cases, skipped)
			}
		})
	}
}
