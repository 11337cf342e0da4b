package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocuda/cuda/cmd/gocuda/internal/cc"
	"github.com/gocuda/cuda/internal/env"
	cudaexec "github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/exec/trace"
	"github.com/gocuda/cuda/internal/exec/trace/page"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/softdev"
	"github.com/gocuda/cuda/internal/source"
)

type traceCmd struct {
	runCmd
	Top      int    `help:"Lines to show, those that most warps executed." default:"20"`
	HTML     string `help:"Write a page: findings, source beside PTX with counts, memory, occupancy; compiler internals on a second one." placeholder:"FILE"`
	Baseline string `help:"Compare with an earlier run: the output of trace --json." placeholder:"FILE"`
	Asm      bool   `help:"Print the machine code beside the operations."`
}

// traceReport is the JSON of gocuda trace. docs/kernels.md says what its fields mean.
type traceReport struct {
	Run *runReport `json:"run"`
	trace.Report
	Machine *machineReport `json:"machine,omitempty"`
	Why     string         `json:"why_no_machine_code,omitempty"`
}

type machineReport struct {
	Warps     uint64          `json:"warp_instructions"`
	Fallbacks uint64          `json:"fallbacks"` // operations executed by the interpreter
	RunMS     float64         `json:"run_ms"`
	Funcs     []machineFunc   `json:"functions"`
	Returning []returningLine `json:"lines_that_return"` // to Go: they have no machine code
}

type machineFunc struct {
	Name       string `json:"name"`
	Operations int    `json:"operations"`
	Native     int    `json:"native"`
	Bytes      int    `json:"bytes"` // of the code for single warps
	WholeBytes int    `json:"whole_bytes,omitempty"`
	WhyNot     string `json:"why_not_whole,omitempty"` // no code for whole blocks: the scheduler runs warp by warp

	// what is left to the interpreter that has a template, or a part of the code, and why
	Falls []string `json:"no_machine_code,omitempty"`
}

type returningLine struct {
	Func string `json:"func"`
	Line int32  `json:"line"`
	Text string `json:"text"`
}

func (c *traceCmd) Run(con *console) error {
	if c.Memcheck || c.Engine != "" {
		return hint(errors.New("a trace counts on an engine of its own, and then runs machine code"),
			"gocuda run for --memcheck and --engine")
	}
	if c.Device == "driver" {
		return hint(errors.New("only the software device can be looked into"), "--device software")
	}
	var before *trace.Report
	if c.Baseline != "" {
		var err error
		if before, err = readBaseline(c.Baseline); err != nil {
			return err
		}
	}
	counting := trace.New()
	rep, err := c.run("software", softdev.Options{Engine: counting})
	if err != nil {
		return err
	}
	kernels := counting.Kernels()
	at := slices.IndexFunc(kernels, func(k *trace.Kernel) bool { return k.Name == c.Kernel })
	if at < 0 {
		return fmt.Errorf("kernel %s was not compiled", c.Kernel)
	}
	k := kernels[at]
	out := traceReport{Run: rep, Report: trace.Report{Launches: max(c.Repeat, 1), Counts: k.Summary(),
		Occupancy: rep.occupancy}}
	list, err := jit.List(k.Kernel, rep.Block, env.Read(nil).ISA)
	engine := "jit"
	if err != nil {
		out.Why, engine = err.Error(), "interpreter"
	}
	var n cudaexec.Counters
	again := c.runCmd
	again.Expect = nil
	r, err := again.run("software", softdev.Options{EngineName: engine, Counters: &n})
	if err != nil {
		return err
	}
	out.Speed = &trace.Speed{Engine: engine, MS: r.RunMS}
	out.Finish()
	if out.Why == "" {
		m := &machineReport{Warps: n.WarpInstructions.Load(), Fallbacks: n.Fallbacks.Load(), RunMS: r.RunMS,
			Returning: []returningLine{}}
		for i, l := range list {
			f := machineFunc{Name: l.Func, Operations: len(l.Native), Native: l.Count(), Bytes: l.Warps.Size(),
				WholeBytes: l.Whole.Size()}
			if n := len(l.WhyNot); n > 0 && l.Whole == nil {
				f.WhyNot = strings.TrimPrefix(l.WhyNot[n-1].Error(), "jit: ")
			}
			for _, no := range append(l.Falls, l.WhyNot...) {
				if no.Why != plan.WhyScheduler {
					f.Falls = append(f.Falls, strings.TrimPrefix(no.Error(), "jit: "))
				}
			}
			m.Funcs = append(m.Funcs, f)
			text := trace.Text(k.Funcs[i], k.Funcs...)
			for j, native := range l.Native {
				op := &k.Funcs[i].Ops[j]
				if !native && op.Ctl != ir.Exit && op.Ctl != ir.Ret {
					if x := (returningLine{l.Func, op.Line, text[op.Line]}); !slices.Contains(m.Returning, x) {
						m.Returning = append(m.Returning, x)
					}
				}
			}
		}
		out.Machine = m
	}
	if c.Pprof != "" {
		if err := writeProfile(c.Pprof, c.File, counting); err != nil {
			return err
		}
		rep.Written = append(rep.Written, c.Pprof)
	}
	if c.HTML != "" {
		if err := c.page(&out, before, k, list); err != nil {
			return err
		}
		rep.Written = append(rep.Written, c.HTML)
	}
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		return e.Encode(&out)
	}
	if err := c.print(con, rep); err != nil {
		return err
	}
	c.show(con, &out, before)
	if c.Asm {
		for i := range list {
			fmt.Fprintf(con.out, "\n%s", assembly(k.Funcs[i], &list[i]))
		}
	}
	return nil
}

// readBaseline reads what an earlier run has written.
func readBaseline(name string) (*trace.Report, error) {
	const want = "the output of gocuda trace --json"
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, hint(err, want)
	}
	var r traceReport
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, hint(fmt.Errorf("%s: %w", name, err), want)
	}
	if len(r.Metrics) == 0 {
		return nil, hint(fmt.Errorf("%s has no metrics", name), want)
	}
	return &r.Report, nil
}

// page writes the page.
func (c *traceCmd) page(r *traceReport, before *trace.Report, k *trace.Kernel, list []jit.Listing) error {
	in := &page.Input{
		Title: cc.Written(k.Name), Report: &r.Report, Baseline: before, BaselineName: c.Baseline,
		PTX: k.Listings(), Source: c.source, Stages: stages(k, list),
		Facts: []page.Fact{
			{Name: "image", Value: c.File}, {Name: "device", Value: r.Run.Device},
			{Name: "grid", Value: dims(r.Run.Grid)}, {Name: "block", Value: dims(r.Run.Block)},
			{Name: "launches", Value: fmt.Sprint(r.Launches)}, {Name: "time by", Value: r.Speed.Engine},
		},
	}
	if in.Title != k.Name {
		in.Facts = append(in.Facts, page.Fact{Name: "symbol", Value: k.Name})
	}
	f, err := os.Create(c.HTML)
	if err != nil {
		return err
	}
	return errors.Join(page.Write(f, in), f.Close())
}

// source reads a file that the PTX names; the folder of the image may have it, too.
func (c *traceCmd) source(name string) ([]byte, error) {
	b, err := source.Read(name)
	if err != nil {
		base := path.Base(strings.ReplaceAll(name, `\`, "/"))
		if beside, err := source.Read(filepath.Join(filepath.Dir(c.File), base)); err == nil {
			return beside, nil
		}
	}
	return b, err
}

// show prints the counts.
func (c *traceCmd) show(con *console, r *traceReport, before *trace.Report) {
	s := r.Counts
	t := &s.Total
	fmt.Fprintf(con.out, "\nwarp instructions    %d\nthread instructions  %d (%.1f of 32 lanes)\ndivergences          %d\n",
		t.Warps, t.Threads, t.Lanes(), t.Diverged)
	fmt.Fprintf(con.out, "global memory        %d bytes in %d sectors of 32 bytes\nshared memory        %d bytes in %d passes\n",
		t.Global.Bytes, t.Global.Units, t.Shared.Bytes, t.Shared.Units)
	if o := r.Occupancy; o != nil {
		fmt.Fprintf(con.out, "occupancy            %.0f %%, limited by %s\n", 100*o.Theoretical(), o.LimitedBy())
	}
	for _, f := range r.Findings {
		fmt.Fprintf(con.out, "look at              %s", f.Title)
		if f.Line != 0 {
			fmt.Fprintf(con.out, ", line %d: %s", f.Line, f.Text)
		}
		fmt.Fprintf(con.out, ": %s\n", f.Evidence)
	}
	if before != nil {
		fmt.Fprintf(con.out, "%-36s %14s %14s\n", "metric", "before", "now")
		for _, m := range trace.Metrics {
			was, had := before.Metric(m.Key)
			if is, has := r.Metric(m.Key); has && had {
				fmt.Fprintf(con.out, "%-36s %14.6g %14.6g\n", m.Key, was, is)
			}
		}
	}
	if m := r.Machine; m != nil {
		fmt.Fprintf(con.out, "machine code         %d of %d warp instructions returned to Go; %.3f ms\n", m.Fallbacks,
			m.Warps, m.RunMS)
		for _, f := range m.Funcs {
			fmt.Fprintf(con.out, "  %s: %d of %d operations native; ", f.Name, f.Native, f.Operations)
			switch {
			case f.WholeBytes > 0:
				fmt.Fprintf(con.out, "whole blocks, %d bytes\n", f.WholeBytes)
			case f.WhyNot != "":
				fmt.Fprintf(con.out, "warp by warp, %d bytes (%s)\n", f.Bytes, f.WhyNot)
			default:
				fmt.Fprintf(con.out, "warp by warp, %d bytes\n", f.Bytes)
			}
			for _, why := range f.Falls {
				fmt.Fprintf(con.out, "  left to the interpreter: %s\n", why)
			}
		}
		for _, l := range m.Returning {
			fmt.Fprintf(con.out, "  returns to Go: %s line %d: %s\n", l.Func, l.Line, l.Text)
		}
	} else {
		fmt.Fprintf(con.out, "machine code         none: %s\n", r.Why)
	}
	lines := slices.Clone(s.Lines)
	slices.SortStableFunc(lines, func(a, b trace.Line) int {
		switch {
		case a.Warps > b.Warps:
			return -1
		case a.Warps < b.Warps:
			return 1
		}
		return 0
	})
	fmt.Fprintf(con.out, "\n%10s %6s %10s %8s  %s\n", "warps", "lanes", "bytes", "sectors", "line")
	for i, l := range lines {
		if i == c.Top {
			fmt.Fprintf(con.out, "... %d lines more (--top)\n", len(lines)-i)
			break
		}
		place := ""
		if l.Source != "" {
			place = fmt.Sprintf("  (%s:%d)", l.Source, l.At)
		}
		bytes := l.Global.Bytes + l.Shared.Bytes + l.Local.Bytes + l.Const.Bytes
		fmt.Fprintf(con.out, "%10d %6.1f %10d %8d  %d: %s%s\n", l.Warps, l.Lanes(), bytes,
			l.Global.Units+l.Shared.Units, l.Line, l.Text, place)
	}
}
