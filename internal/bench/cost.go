package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Cost is what checks cost a case with an engine: the time with them divided by the time without, both of one round.
type Cost struct {
	Impl  string  `json:"impl"` // as OpenEngine takes it
	Bench string  `json:"bench"`
	Ratio float64 `json:"ratio"` // the median over the rounds; 0 when one of the two is missing
}

// Costs are those of all engines with checks in a report, by implementation and case in the report's order.
func (r *Report) Costs() (list []Cost) {
	type key struct {
		bench, impl string
		round       int
	}
	times := map[key]float64{}
	for _, s := range r.Samples {
		if s.OK && s.Seconds > 0 {
			times[key{s.Bench, s.Impl, s.Round}] = s.Seconds
		}
	}
	for _, impl := range r.Impls {
		engine, _, checked := strings.Cut(impl, "+")
		if !checked {
			continue
		}
		for _, row := range r.Rows {
			var ratios []float64
			for round := 1; round <= r.Rounds; round++ {
				t, plain := times[key{row.Bench, impl, round}], times[key{row.Bench, engine, round}]
				if t > 0 && plain > 0 {
					ratios = append(ratios, t/plain)
				}
			}
			list = append(list, Cost{impl, row.Bench, median(ratios)})
		}
	}
	return list
}

// CostTable writes the costs of checks: a row for each case, a column for each engine with checks, and below them the
// geometric mean and the worst. It writes nothing when no engine had checks.
func (r *Report) CostTable(w io.Writer) {
	costs := r.Costs()
	if len(costs) == 0 {
		return
	}
	of := map[[2]string]float64{}
	var impls []string
	for _, c := range costs {
		if of[[2]string{c.Impl, c.Bench}] = c.Ratio; len(impls) == 0 || impls[len(impls)-1] != c.Impl {
			impls = append(impls, c.Impl)
		}
	}
	fmt.Fprintf(w, "\nTime with checks / without, same engine, same round (size %s, %d rounds)\n%-15s", r.Size, r.Rounds,
		"")
	for _, i := range impls {
		fmt.Fprintf(w, " %*s", max(len(i), 9), i)
	}
	fmt.Fprintln(w)
	line := func(name string, value func(impl string) float64) {
		fmt.Fprintf(w, "%-15s", name)
		for _, i := range impls {
			text := "-"
			if v := value(i); v > 0 {
				text = fmt.Sprintf("%.2fx", v)
			}
			fmt.Fprintf(w, " %*s", max(len(i), 9), text)
		}
		fmt.Fprintln(w)
	}
	for _, row := range r.Rows {
		line(row.Bench, func(impl string) float64 { return of[[2]string{impl, row.Bench}] })
	}
	line("geometric mean", func(impl string) float64 {
		sum, n := 0.0, 0
		for _, c := range costs {
			if c.Impl == impl && c.Ratio > 0 {
				sum += math.Log(c.Ratio)
				n++
			}
		}
		if n == 0 {
			return 0
		}
		return math.Exp(sum / float64(n))
	})
	line("worst", func(impl string) (worst float64) {
		for _, c := range costs {
			if c.Impl == impl {
				worst = max(worst, c.Ratio)
			}
		}
		return worst
	})
}
