package bench

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
)

// Report is what a run of the benchmarks found.
type Report struct {
	Machine string            `json:"machine"`
	CPUs    int               `json:"cpus"`
	ISA     string            `json:"isa,omitempty"` // instruction set of the engine jit: AVX-512 or AVX2
	Size    string            `json:"size"`
	Rounds  int               `json:"rounds"`
	Impls   []string          `json:"impls"`
	Missing map[string]string `json:"missing,omitempty"`
	Rows    []Row             `json:"rows"`
	Means   map[string]Means  `json:"means"` // by implementation
	Samples []Sample          `json:"samples"`
}

// Row is one case.
type Row struct {
	Bench string          `json:"bench"`
	Unit  string          `json:"unit"`
	Work  float64         `json:"work"`
	Cells map[string]Cell `json:"cells"` // by implementation
}

// Cell is one implementation in a row. Ratios are the medians over the rounds of the ratios inside a round; 0 when one
// of the two is missing.
type Cell struct {
	Seconds float64 `json:"seconds"`             // median over the rounds
	Native  float64 `json:"to_native,omitempty"` // the native form for the implementation's instruction set
	// the better of that and its form with -ffast-math in each round
	Best     float64 `json:"to_better_native,omitempty"`
	PoCL     float64 `json:"to_pocl,omitempty"` // the better of PoCL and PoCLFast in each round
	Build    float64 `json:"build_s"`
	First    float64 `json:"first_s"`
	Failures int     `json:"failures,omitempty"`
	Note     string  `json:"note,omitempty"`
}

// Means sum an implementation up.
type Means struct {
	Native     float64 `json:"to_native,omitempty"` // geometric means of the ratios, without the launch latencies
	Best       float64 `json:"to_better_native,omitempty"`
	PoCL       float64 `json:"to_pocl,omitempty"`
	Benches    int     `json:"benches"`
	WithPoCL   int     `json:"benches_with_pocl"`
	FasterPoCL int     `json:"faster_than_pocl"`
}

// NewReport sums samples up. Benches and impls give the order.
func NewReport(benches, impls []string, samples []Sample, missing map[string]string) *Report {
	r := &Report{Machine: Machine(), CPUs: runtime.NumCPU(), Impls: impls, Missing: missing, Samples: samples,
		Means: map[string]Means{}}
	type key struct {
		bench, impl string
		round       int
	}
	times := map[key]float64{}
	for _, s := range samples {
		r.Rounds = max(r.Rounds, s.Round)
		r.Size = s.Size
		if s.OK && s.Seconds > 0 {
			times[key{s.Bench, s.Impl, s.Round}] = s.Seconds
		}
	}
	least := func(bench string, round int, impls ...string) float64 {
		best := 0.0
		for _, i := range impls {
			if t := times[key{bench, i, round}]; t > 0 && (best == 0 || t < best) {
				best = t
			}
		}
		return best
	}
	for _, b := range benches {
		row := Row{Bench: b, Cells: map[string]Cell{}}
		for _, i := range impls {
			plain, fast := natives(i, impls)
			var c Cell
			var secs, native, best, pocl []float64
			for round := 1; round <= r.Rounds; round++ {
				t := times[key{b, i, round}]
				if t == 0 {
					continue
				}
				secs = append(secs, t)
				if x := least(b, round, plain); x > 0 {
					native = append(native, t/x)
				}
				if x := least(b, round, plain, fast); x > 0 {
					best = append(best, t/x)
				}
				if x := least(b, round, PoCL, PoCLFast); x > 0 {
					pocl = append(pocl, t/x)
				}
			}
			c.Seconds, c.Native, c.Best, c.PoCL = median(secs), median(native), median(best), median(pocl)
			for _, s := range samples {
				if s.Bench != b || s.Impl != i {
					continue
				}
				if s.OK {
					row.Unit, row.Work = s.Unit, s.Work
					if c.Build == 0 {
						c.Build, c.First = s.Build, s.First
					}
				} else {
					c.Failures++
					c.Note = s.Note
				}
			}
			row.Cells[i] = c
		}
		r.Rows = append(r.Rows, row)
	}
	for _, i := range impls {
		var m Means
		var native, best, pocl []float64
		for _, row := range r.Rows {
			c := row.Cells[i]
			if c.Seconds == 0 {
				continue
			}
			m.Benches++
			if c.PoCL > 0 {
				m.WithPoCL++
				if c.PoCL < 1 {
					m.FasterPoCL++
				}
			}
			if row.Unit == latencyUnit {
				continue
			}
			native, best, pocl = above(native, c.Native), above(best, c.Best), above(pocl, c.PoCL)
		}
		m.Native, m.Best, m.PoCL = geomean(native), geomean(best), geomean(pocl)
		r.Means[i] = m
	}
	return r
}

// natives are the native forms that an implementation is compared with: machine code for AVX2 with C compiled for AVX2,
// when that was measured.
func natives(impl string, impls []string) (plain, fast string) {
	switch impl {
	case jitAVX2, AVX2, AVX2Fast:
		if slices.Contains(impls, AVX2) {
			return AVX2, AVX2Fast
		}
	}
	return Native, NativeFast
}

func above(list []float64, v float64) []float64 {
	if v > 0 {
		return append(list, v)
	}
	return list
}

func geomean(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

func isHost(impl string) bool { return slices.Contains(HostNames[:], impl) }

// Duration writes seconds with three digits.
func duration(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 1e-3:
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

func ratio(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.2fx", v)
	}
	return fmt.Sprintf("%.0fx", v)
}

// Table writes the report for people: one line a case, and the means.
func (r *Report) Table(w io.Writer) {
	head := []string{"bench"}
	for _, i := range r.Impls {
		head = append(head, i)
		if i != Native {
			head = append(head, "/native")
		}
		if !isHost(i) {
			head = append(head, "/pocl")
		}
	}
	rows := [][]string{head}
	var notes []string
	for _, row := range r.Rows {
		line := []string{row.Bench}
		for _, i := range r.Impls {
			c := row.Cells[i]
			text := duration(c.Seconds)
			if c.Failures > 0 {
				text = "FAILED"
				notes = append(notes, fmt.Sprintf("%s, %s: %s", row.Bench, i, c.Note))
			}
			line = append(line, text)
			if i != Native {
				line = append(line, ratio(c.Native))
			}
			if !isHost(i) {
				line = append(line, ratio(c.PoCL))
			}
		}
		rows = append(rows, line)
	}
	line := []string{"geomean"}
	for _, i := range r.Impls {
		m := r.Means[i]
		line = append(line, "")
		if i != Native {
			line = append(line, ratio(m.Native))
		}
		if !isHost(i) {
			line = append(line, ratio(m.PoCL))
		}
	}
	rows = append(rows, line)
	width := make([]int, len(head))
	for _, l := range rows {
		for i, c := range l {
			width[i] = max(width[i], len(c))
		}
	}
	for _, l := range rows {
		for i, c := range l {
			if i == 0 {
				fmt.Fprintf(w, "%-*s", width[i], c)
			} else {
				fmt.Fprintf(w, "  %*s", width[i], c)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%s, %d CPUs, size %s, %d rounds; ratios are times, so below 1 is faster: medians over the rounds of the ratio inside a round; geometric means leave launch latency out\n", r.Machine, r.CPUs, r.Size, r.Rounds)
	for _, i := range r.Impls {
		if m := r.Means[i]; !isHost(i) && m.Native > 0 {
			fmt.Fprintf(w, "%s: geometric mean %s of native, %s of the better native form, %s of PoCL; faster than PoCL on %d of %d\n", i, ratio(m.Native), ratio(m.Best), ratio(m.PoCL), m.FasterPoCL, m.WithPoCL)
		}
	}
	for _, i := range slices.Sorted(func(yield func(string) bool) {
		for k := range r.Missing {
			if !yield(k) {
				return
			}
		}
	}) {
		fmt.Fprintf(w, "%s: %s\n", i, r.Missing[i])
	}
	for _, n := range notes {
		fmt.Fprintln(w, strings.TrimSpace(n))
	}
}
