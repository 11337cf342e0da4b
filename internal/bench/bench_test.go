package bench

import (
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/checker"
	device "github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/softdev"
)

// Every case gives the result of its reference, on both engines.
func TestCases(t *testing.T) {
	for _, name := range []string{"interpreter", "jit"} {
		t.Run(name, func(t *testing.T) {
			e, err := OpenEngine(name)
			var none *jit.UnavailableError
			if errors.As(err, &none) {
				skip.Without(t, skip.MachineCode, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, b := range Default() {
				c, err := New(b, Tiny)
				if err != nil {
					t.Fatal(err)
				}
				s, err := e.Run(c, Tiny, Timing{Budget: time.Microsecond, MinReps: 1, MaxReps: 1})
				if err != nil || !s.OK || s.Seconds <= 0 {
					t.Errorf("%s: %+v, %v", b, s, err)
				}
			}
		})
	}
}

// TestNoAlarm: the checks find nothing in any case, in machine code and, all of them, on the interpreter.
func TestNoAlarm(t *testing.T) {
	for _, name := range []string{"interpreter+all", "jit-avx512+race+memory+leak", "jit-avx2+race+memory+leak",
		"jit-avx512+race+memory+leak+init", "jit-avx2+race+memory+leak+init", "jit-avx512+init", "jit-avx2+init"} {
		t.Run(name, func(t *testing.T) {
			on := ""
			e, err := openEngine(name, softdev.Options{Reports: func(r *checker.Report) { t.Errorf("%s: %s", on, r) }})
			var none *jit.UnavailableError
			if errors.As(err, &none) {
				skip.Without(t, skip.MachineCode, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, on = range Default() {
				c, err := New(on, Tiny)
				if err != nil {
					t.Fatal(err)
				}
				s, err := e.Run(c, Tiny, Timing{Budget: time.Microsecond, MinReps: 1, MaxReps: 1})
				if err != nil || !s.OK {
					t.Errorf("%s: %+v, %v", on, s, err)
				}
			}
			on = "at the end"
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInitInMachineCode: with the check init none of the cases that docs/checker.md measures leaves anything to the
// interpreter, with or without race.
func TestInitInMachineCode(t *testing.T) {
	for _, name := range []string{"jit-avx512+init", "jit-avx512+race+init", "jit-avx2+init", "jit-avx2+race+init"} {
		t.Run(name, func(t *testing.T) {
			var n device.Counters
			e, err := openEngine(name, softdev.Options{Counters: &n,
				Reports: func(r *checker.Report) { t.Error(r) }})
			var none *jit.UnavailableError
			if errors.As(err, &none) {
				skip.Without(t, skip.MachineCode, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range append(Default()[:15], "matmul_wmma", "softmax", "scan", "big5k") {
				c, err := New(b, Tiny)
				if err != nil {
					t.Fatal(err)
				}
				had := n.Fallbacks.Load()
				s, err := e.Run(c, Tiny, Timing{Budget: time.Microsecond, MinReps: 1, MaxReps: 1})
				if err != nil || !s.OK {
					t.Errorf("%s: %+v, %v", b, s, err)
				}
				if left := n.Fallbacks.Load() - had; left != 0 || n.WarpInstructions.Load() == 0 {
					t.Errorf("%s: %d times something was left to the interpreter", b, left)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A wrong result is found.
func TestCheckFinds(t *testing.T) {
	for _, b := range Default() {
		c, err := New(b, Tiny)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]byte, len(c.buffers))
		for i, x := range c.buffers {
			got[i] = make([]byte, len(x.init)) // what a kernel that does nothing leaves
		}
		if err := c.verify(c, got); err == nil {
			t.Errorf("%s: zeros are taken for the result", b)
		}
	}
}

// The C hosts have the same launches, arguments and sizes.
func TestHostsAgree(t *testing.T) {
	skip.Short(t, "compiles C")
	skip.Command(t, "gcc")
	h, err := BuildHosts(t.TempDir(), []string{Native}, false, nil)
	if err != nil || len(h.impls) != 1 {
		t.Fatal(err, h.Missing)
	}
	for _, size := range []Size{Full, Tiny} {
		text, err := exec.Command(h.impls[0].program, "--list", "--size", size.String()).Output()
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Bench, Entry, Unit string
			Grid, Block        [3]uint32
			Launches           int
			Work               float64
			Args               []struct {
				Buf, Image int
				Dir        string
				I32        *int32
				U32        *uint32
				F32        *float32
				U64        string
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		if len(list) != len(cases) {
			t.Fatalf("%d cases, want %d", len(list), len(cases))
		}
		for _, l := range list {
			c, err := New(l.Bench, size)
			if err != nil {
				t.Error(err)
				continue
			}
			if c.entry != l.Entry || c.Unit != l.Unit || c.grid != l.Grid || c.block != l.Block ||
				c.launches != l.Launches || !near(c.Work, l.Work, 1e-8, 0) || len(c.args) != len(l.Args) {
				t.Errorf("%s: %+v, the C hosts have %+v", l.Bench, c.args, l)
				continue
			}
			for i, a := range l.Args {
				x := c.args[i]
				same := false
				switch {
				case a.I32 != nil:
					same = x.size == 4 && x.bits == uint64(uint32(*a.I32))
				case a.U32 != nil:
					same = x.size == 4 && x.bits == uint64(*a.U32)
				case a.F32 != nil:
					same = x.size == 4 && x.bits == uint64(math.Float32bits(*a.F32))
				case a.U64 != "":
					same = x.size == 8
				default:
					b := c.buffers[x.buffer]
					same = x.size == 0 && x.image == a.Image && len(b.init) == a.Buf &&
						map[string]direction{"in": in, "out": out, "inout": in | out}[a.Dir] == b.dir
				}
				if !same {
					t.Errorf("%s: argument %d is %+v, the C hosts have %+v", l.Bench, i, x, a)
				}
			}
		}
		if size == Full {
			continue
		}
		if s := h.Run(Native, "sgemm_tiled", Tiny, Timing{Budget: time.Millisecond, MinReps: 1, MaxReps: 1},
			time.Minute); !s.OK || s.Seconds <= 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestReport(t *testing.T) {
	sample := func(bench, impl string, round int, s float64) Sample {
		return Sample{Bench: bench, Impl: impl, Round: round, Seconds: s, OK: true, Size: "full"}
	}
	r := NewReport([]string{"a", "b"}, []string{Native, PoCL, PoCLFast, "jit"}, []Sample{
		sample("a", Native, 1, 1), sample("a", PoCL, 1, 8), sample("a", PoCLFast, 1, 4), sample("a", "jit", 1, 2),
		sample("a", Native, 2, 1), sample("a", PoCL, 2, 8), sample("a", PoCLFast, 2, 4), sample("a", "jit", 2, 4),
		sample("a", Native, 3, 2), sample("a", PoCL, 3, 8), sample("a", PoCLFast, 3, 4), sample("a", "jit", 3, 4),
		sample("b", Native, 1, 1), sample("b", "jit", 1, 8), {Bench: "b", Impl: PoCL, Round: 1, Note: "exit 3"},
	}, nil)
	// Ratios of jit to native in a's rounds: 2, 4, 2; to the better PoCL: 1/2, 1, 1.
	if c := r.Rows[0].Cells["jit"]; c.Native != 2 || c.PoCL != 1 || c.Seconds != 4 {
		t.Errorf("%+v", c)
	}
	if m := r.Means["jit"]; m.Native != 4 || m.Benches != 2 || m.WithPoCL != 1 || m.FasterPoCL != 0 {
		t.Errorf("%+v", m)
	}
	if c := r.Rows[1].Cells[PoCL]; c.Failures != 1 || c.Note != "exit 3" {
		t.Errorf("%+v", c)
	}
	var text, page strings.Builder
	r.Table(&text)
	if !strings.Contains(text.String(), "FAILED") || !strings.Contains(text.String(), "b, pocl: exit 3") {
		t.Error(text.String())
	}
	if err := r.HTML(&page); err != nil || !strings.Contains(page.String(), "<svg") {
		t.Error(err, page.String())
	}
}

// TestMarkdown writes the document of a run whose numbers decide every kind of verdict: by them sgemm_tiled is at 5
// times native and behind PoCL, nbody is ahead of it.
func TestMarkdown(t *testing.T) {
	var samples []Sample
	add := func(bench string, times map[string]float64) {
		for impl, secs := range times {
			s := Sample{Bench: bench, Impl: impl, Round: 1, Seconds: secs, OK: true, Size: "full"}
			if strings.HasPrefix(bench, "store") {
				s.Unit = latencyUnit
			}
			samples = append(samples, s)
		}
	}
	for _, n := range sixteen {
		times := map[string]float64{Native: 1e-3, AVX2: 2e-3, PoCL: 4e-3, "jit": 1e-3, jitAVX2: 2e-3}
		switch n {
		case "sgemm_tiled":
			times["jit"] = 5e-3
		case "nbody":
			times[NativeFast], times[PoCL], times["interpreter"] = 5e-4, 2e-3, 1
		case "blackscholes":
			times[NativeFast], times[AVX2Fast] = 2e-4, 1e-3
		}
		add(n, times)
	}
	add("store_1", map[string]float64{Native: 1e-6, PoCL: 1e-4, "jit": 0.9e-6, jitAVX2: 1.1e-6})
	samples = append(samples, Sample{Bench: "big50k", Impl: "jit", Round: 1, Seconds: 1, Build: 0.2, First: 0.05,
		OK: true, Size: "full"})
	benches := append(slices.Clone(sixteen), "store_1", "big50k")
	r := NewReport(benches, []string{Native, NativeFast, AVX2, AVX2Fast, PoCL, PoCLFast, "jit", jitAVX2, "interpreter"},
		samples, nil)
	r.ISA = avx512.String()
	var b strings.Builder
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| sgemm_tiled | 1 ms | 1 ms | 4 ms | 5 ms | 5.00x | 5.00x | 1.25x | - |",
		"| nbody | 1 ms | 500 us | 2 ms | 1 ms | 1.00x | 2.00x | 0.50x | 1 s |",
		// code for AVX2, against C for AVX2
		"| sgemm_tiled | 2 ms | 2 ms | 4 ms | 2 ms | 1.00x | 1.00x | 0.50x |\n",
		// 5^(1/16)
		"| geometric mean over native, the first sixteen benches | 0.80x | 1.11x | **missed** | 1.00x | 1.00x | yes |",
		"| the worst of the sixteen over the better native form, without nbody and blackscholes | 2.50x | 5.00x | **missed** | 3.00x | 1.00x | yes |",
		"| the worst of all over PoCL | 1.05x | 1.25x | **missed** | 1.05x | 1.00x | yes |",
		"| blackscholes over native with -ffast-math | 3.00x | 5.00x | **missed** | 6.00x | 2.00x | yes |",
		"| launch of a kernel that stores a word, with its wait | 1 us | 0.9 us | yes | 1 us | 1.1 us | **missed** |",
		"| big50k (50 thousand PTX lines) loaded and first launched | 300 ms | 250 ms | yes | 300 ms | - | not measured |",
		"| matmul_f16 over a blocked product of f32 in C | 6.00x | - | not measured | 6.00x | - | not measured |",
		"- **sgemm_tiled** (AVX-512: 5.00x of native",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the document does not have %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "- **nbody**") {
		t.Error("nbody is said to be behind")
	}
	for name := range tried {
		if _, err := New(name, Tiny); err != nil {
			t.Errorf("a line about %q, which is no bench", name)
		}
	}
}
