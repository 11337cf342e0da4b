package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gocuda/cuda/internal/bench"
)

type benchCmd struct {
	Kernels  []string      `short:"k" help:"Benches to run (default: all but big50k, which gcc and PoCL take minutes to compile; all: with big50k, on the engines alone)." placeholder:"NAME,..."`
	Engines  []string      `help:"Engines of the software device: jit, jit-avx512, jit-avx2, interpreter." default:"jit,interpreter" placeholder:"NAME,..."`
	Against  []string      `help:"What to compare with: native, native-fast, avx2, avx2-fast (C for AVX2), pocl, pocl-fast, or none." default:"native,native-fast,pocl,pocl-fast" placeholder:"NAME,..."`
	Checks   []string      `help:"Measure each engine also with these checks, as in memory,race+init, and print what they cost." placeholder:"CHECKS,..."`
	Rounds   int           `short:"r" help:"Rounds; every implementation runs in each. The interpreter runs in the first alone." default:"3"`
	Size     string        `help:"full, small or tiny; only full is meant for comparison." default:"full" enum:"full,small,tiny"`
	Budget   time.Duration `help:"Time for the samples of one measurement." default:"250ms"`
	Quiet    time.Duration `help:"How long to wait for an otherwise idle machine before each measurement." default:"3s"`
	Limit    time.Duration `help:"How long a process of another implementation may take." default:"60s"`
	Dir      string        `help:"Folder for the programs that gcc builds (default: in the user's cache)." placeholder:"DIR"`
	Progress bool          `help:"Say what is going on." default:"true" negatable:""`
	JSON     bool          `name:"json" help:"Print JSON."`
	HTML     string        `help:"Write a page with table and plot." placeholder:"FILE"`
	SVG      string        `help:"Write the plot." placeholder:"FILE"`
	Markdown string        `help:"Write the project's document of the benches (docs/bench.md)." placeholder:"FILE"`
	From     string        `help:"Write pages of an earlier run's JSON instead of measuring." placeholder:"FILE"`
	List     bool          `help:"List the benches."`
}

func (c *benchCmd) Run(con *console) error {
	if c.List {
		for _, n := range bench.Names() {
			fmt.Fprintln(con.out, n)
		}
		return nil
	}
	if c.From != "" {
		b, err := os.ReadFile(c.From)
		if err != nil {
			return hint(err, "the output of gocuda bench --json")
		}
		var r bench.Report
		if err := json.Unmarshal(b, &r); err != nil {
			return hint(fmt.Errorf("%s: %w", c.From, err), "the output of gocuda bench --json")
		}
		return c.write(con, &r)
	}
	names := c.Kernels
	alone := map[string]bool{} // on the engines alone
	switch {
	case len(names) == 0:
		names = bench.Default()
	case slices.Equal(names, []string{"all"}):
		names = bench.Names()
		for _, n := range names {
			alone[n] = !slices.Contains(bench.Default(), n)
		}
	}
	for _, n := range names {
		if !slices.Contains(bench.Names(), n) {
			return hint(fmt.Errorf("no bench %q", n), "gocuda bench --list")
		}
	}
	size := map[string]bench.Size{"full": bench.Full, "small": bench.Small, "tiny": bench.Tiny}[c.Size]
	say := func(format string, args ...any) {
		if c.Progress {
			fmt.Fprintf(con.err, format+"\n", args...)
		}
	}
	missing := map[string]string{}
	impls := []string{}
	against := slices.DeleteFunc(slices.Clone(c.Against), func(n string) bool { return n == "none" })
	for _, n := range against {
		if !slices.Contains(bench.HostNames[:], n) {
			return hint(fmt.Errorf("nothing called %q to compare with", n), "--against %s",
				strings.Join(bench.HostNames[:], ","))
		}
	}
	hosts := &bench.Hosts{}
	if len(against) > 0 {
		dir := c.Dir
		if dir == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				cache = os.TempDir()
			}
			dir = filepath.Join(cache, "gocuda", "bench")
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		if hosts, err = bench.BuildHosts(dir, against, slices.Contains(names, "big50k") && !alone["big50k"],
			func(s string) {
				say("%s", s)
			}); err != nil {
			return hint(err, "--dir FOLDER, or --against none")
		}
		for n, why := range hosts.Missing {
			missing[n] = why
			say("%s: %s", n, why)
		}
		impls = append(impls, hosts.Names()...)
	}
	var engines []*bench.Engine
	for _, n := range c.withChecks() {
		e, err := bench.OpenEngine(n)
		if err != nil {
			missing[n] = err.Error()
			say("%s: %v", n, err)
			continue
		}
		defer e.Close()
		engines = append(engines, e)
		impls = append(impls, n)
	}
	var samples []bench.Sample
	failed := 0
	for round := 1; round <= c.Rounds; round++ {
		for _, name := range names {
			t := bench.Timing{Budget: c.Budget, MinReps: 2, MaxReps: 25}
			note := func(s bench.Sample) {
				s.Round = round
				samples = append(samples, s)
				if s.OK {
					say("round %d  %-14s %-12s %.4g s", round, name, s.Impl, s.Seconds)
				} else {
					failed++
					say("round %d  %-14s %-12s failed: %s", round, name, s.Impl, s.Note)
				}
			}
			for _, impl := range hosts.Names() {
				if alone[name] {
					continue
				}
				bench.Quiet(c.Quiet)
				note(hosts.Run(impl, name, size, t, c.Limit))
			}
			if len(engines) == 0 {
				continue
			}
			w, err := bench.New(name, size)
			if err != nil {
				return err
			}
			for _, e := range engines {
				t := t
				if strings.HasPrefix(e.Name, "interpreter") {
					if round > 1 {
						continue
					}
					t.MinReps, t.MaxReps = 1, 3
				}
				bench.Quiet(c.Quiet)
				s, _ := e.Run(w, size, t) // the error is in the note
				note(s)
			}
		}
	}
	r := bench.NewReport(names, impls, samples, missing)
	for _, e := range engines {
		if e.Name == "jit" {
			r.ISA = e.ISA()
		}
	}
	err := c.write(con, r)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d measurements failed", failed)
	}
	return err
}

// write writes the pages that are wanted, and the table or JSON.
func (c *benchCmd) write(con *console, r *bench.Report) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{c.HTML, r.HTML}, {c.SVG, r.SVG}, {c.Markdown, r.Markdown}} {
		if f.path == "" {
			continue
		}
		var b strings.Builder
		if err := f.write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(con.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(r); err != nil {
			return err
		}
	} else {
		r.Table(con.out)
		r.CostTable(con.out)
	}
	return nil
}

// withChecks are the engines, each followed by itself with checks.
func (c *benchCmd) withChecks() (list []string) {
	for _, n := range c.Engines {
		list = append(list, n)
		for _, checks := range c.Checks {
			list = append(list, n+"+"+checks)
		}
	}
	return list
}
