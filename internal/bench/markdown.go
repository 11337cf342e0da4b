package bench

import (
	"fmt"
	"io"
	"strings"
)

const markdownHead = `# How fast is the software device?

Small GPU workloads, each as PTX for the software device, as OpenCL C for PoCL and as C with OpenMP for the native limit, with the same work, data and checks (` + "`internal/bench`" + `).
This page is written by the command that measures:

	go run ./cmd/gocuda bench --markdown docs/bench.md -k all     # five minutes, and some more when gcc and PoCL compile for the first time; needs gcc, make and, for PoCL, pocl-opencl-icd ocl-icd-opencl-dev opencl-headers
	go run ./cmd/gocuda bench -k sgemm_tiled,nbody --rounds 1     # a few benches, a table on the terminal
	go run ./cmd/gocuda bench --against none                      # the engines alone; needs nothing

Every implementation runs in each round, one after the other, when the rest of the machine is quiet; a ratio is the median over the rounds of the ratio inside a round, and below 1 is faster. "Native" is gcc -O3 -march=native with OpenMP, written for a CPU (blocked products of matrices, private histograms, small types widened once);
the better native form is that or the same with -ffast-math; PoCL is the better of its default and -cl-fast-relaxed-math. Times are for one launch with its wait. Geometric means leave the launch latencies (store_*) out: they say what a launch costs and nothing about how fast code runs.

`

// Markdown writes the report as the project's document of it (docs/bench.md).
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(markdownHead)
	fmt.Fprintf(&b, "Measured on %s, %d CPUs, size %s, %d rounds.\n\n", r.Machine, r.CPUs, r.Size, r.Rounds)
	b.WriteString("| bench | native C | better native | PoCL | machine code | / native | / better native | / PoCL | interpreter |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	least := func(cells map[string]Cell, names ...string) float64 {
		best := 0.0
		for _, n := range names {
			if t := cells[n].Seconds; t > 0 && (best == 0 || t < best) {
				best = t
			}
		}
		return best
	}
	var behind []string
	for _, row := range r.Rows {
		c := row.Cells[engine]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", row.Bench, duration(row.Cells[Native].Seconds), duration(least(row.Cells, Native, NativeFast)), duration(least(row.Cells, PoCL, PoCLFast)),
			duration(c.Seconds), ratio(c.Native), ratio(c.Best), ratio(c.PoCL), duration(row.Cells["interpreter"].Seconds))
		late := row.Bench == "big50k" && c.Build+c.First > boundBig
		if late || c.PoCL >= 1 || c.Best > boundNative || c.Native > boundEach {
			behind = append(behind, row.Bench)
		}
	}
	m := r.Means[engine]
	fmt.Fprintf(&b, "| geometric mean | | | | | %s | %s | %s | |\n\n", ratio(m.Native), ratio(m.Best), ratio(m.PoCL))
	b.WriteString("## What it is to reach\n\n| | bound | measured | |\n| --- | --- | --- | --- |\n")
	for _, x := range bounds() {
		value, ok, measured := x.reached(r)
		verdict := "yes"
		switch {
		case !measured:
			value, verdict = "-", "not measured"
		case !ok:
			verdict = "**missed**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.what, x.limit, value, verdict)
	}
	if len(behind) > 0 {
		b.WriteString("\n## Those that are behind\n\nBehind PoCL, above three times the better native form, above four times native, or late in this run; what stands in the way, and what was tried:\n\n")
		for _, n := range behind {
			text := tried[n]
			if text == "" {
				text = "nothing is known yet."
			}
			c, _ := r.cell(n)
			fmt.Fprintf(&b, "- **%s** (%s of native, %s of the better native form, %s of PoCL): %s\n", n, ratio(c.Native), ratio(c.Best), ratio(c.PoCL), text)
		}
	}
	for _, row := range r.Rows {
		for _, i := range r.Impls {
			if c := row.Cells[i]; c.Failures > 0 {
				fmt.Fprintf(&b, "\n%s, %s failed: %s\n", row.Bench, i, strings.TrimSpace(c.Note))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
