package bench

import (
	"fmt"
	"io"
	"strings"
)

const markdownHead = `# How fast is the software device?

Small GPU workloads, each as PTX for the software device, as OpenCL C for PoCL and as C with OpenMP for the native
limit, with the same work, data and checks (` + "`internal/bench`" + `). This page is written by the command that measures, from
one run:

	# needs gcc and, for PoCL, pocl-opencl-icd ocl-icd-opencl-dev opencl-headers; about ten minutes
	go run ./cmd/gocuda bench -k all --engines jit,jit-avx2,interpreter \\
		--against native,native-fast,avx2,avx2-fast,pocl,pocl-fast --markdown docs/bench.md
	go run ./cmd/gocuda bench -k sgemm_tiled,nbody --rounds 1     # a few benches, a table on the terminal
	go run ./cmd/gocuda bench --against none                      # the engines alone; needs nothing

Every implementation runs in each round, one after the other, when the rest of the machine is quiet; a ratio is the
median over the rounds of the ratio inside a round, and below 1 is faster. "Native" is gcc -O3 -march=native with
OpenMP, written for a CPU (blocked products of matrices, private histograms, small types widened once); the better
native form is that or the same with -ffast-math; PoCL is the better of its default and -cl-fast-relaxed-math. Times
are for one launch with its wait. Geometric means leave the launch latencies (store_*) out: they say what a launch
costs and nothing about how fast code runs.

`

// Markdown writes the report as the project's document of it (docs/bench.md).
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(markdownHead)
	fmt.Fprintf(&b, "Measured on %s, %d CPUs, size %s, %d rounds. Machine code is for %s.\n\n", r.Machine, r.CPUs,
		r.Size, r.Rounds, r.ISA)
	r.markdownTable(&b, engine, true)
	if r.impl(avx2) == jitAVX2 {
		b.WriteString("\n## Code for AVX2 on the same processor\n\nThe processor has AVX-512; this is the code that one with AVX2 alone gets. " +
			"Native C is compiled for AVX2 (-march=x86-64-v3);\nPoCL compiles for the processor that it finds. " +
			"A processor without AVX-512 has other caches, clocks and units: these are no measurements of one.\n\n")
		r.markdownTable(&b, jitAVX2, false)
	}
	b.WriteString("\n## Targets\n\n| | AVX-512: bound | measured | | AVX2: bound | measured | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	list := bounds()
	for i := range list {
		x := &list[i]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x.what, x.verdict(r, avx512), x.verdict(r, avx2))
	}
	r.markdownBehind(&b)
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

// markdownTable writes a row for each bench of an implementation, and its means.
func (r *Report) markdownTable(b *strings.Builder, impl string, interpreter bool) {
	last, rule, empty := "", "", ""
	if interpreter {
		last, rule, empty = " interpreter |", " --- |", " |"
	}
	b.WriteString("| bench | native C | better native | PoCL | machine code | / native | / better native | / PoCL |" +
		last + "\n| --- | --- | --- | --- | --- | --- | --- | --- |" + rule + "\n")
	least := func(cells map[string]Cell, names ...string) float64 {
		best := 0.0
		for _, n := range names {
			if t := cells[n].Seconds; t > 0 && (best == 0 || t < best) {
				best = t
			}
		}
		return best
	}
	plain, fast := natives(impl, r.Impls)
	for _, row := range r.Rows {
		c := row.Cells[impl]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |", row.Bench, duration(row.Cells[plain].Seconds),
			duration(least(row.Cells, plain, fast)),
			duration(least(row.Cells, PoCL, PoCLFast)), duration(c.Seconds), ratio(c.Native), ratio(c.Best),
			ratio(c.PoCL))
		if interpreter {
			fmt.Fprintf(b, " %s |", duration(row.Cells["interpreter"].Seconds))
		}
		b.WriteString("\n")
	}
	m := r.Means[impl]
	fmt.Fprintf(b, "| geometric mean | | | | | %s | %s | %s |%s\n", ratio(m.Native), ratio(m.Best), ratio(m.PoCL),
		empty)
}

// markdownBehind says of each bench that is behind with an instruction set what stands in the way.
func (r *Report) markdownBehind(b *strings.Builder) {
	first := true
	for _, row := range r.Rows {
		var sets []string
		for _, i := range [...]isa{avx512, avx2} {
			if c, ok := r.cell(row.Bench, r.impl(i)); ok && c.behind(i) {
				sets = append(sets, fmt.Sprintf("%s: %s of native, %s of the better native form, %s of PoCL", i,
					ratio(c.Native), ratio(c.Best), ratio(c.PoCL)))
			}
		}
		if len(sets) == 0 {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n## Benches behind their targets: causes and attempts\n\nSlower than PoCL by more than 5 %%, or above %s (AVX-512) or %s (AVX2) of the better native form in this run; "+
				"the cause of each, and what was tried:\n\n", ratio(worst[avx512]), ratio(worst[avx2]))
			first = false
		}
		text := tried[row.Bench]
		if text == "" {
			text = "the cause has not been examined."
		}
		fmt.Fprintf(b, "- **%s** (%s): %s\n", row.Bench, strings.Join(sets, "; "), text)
	}
}
