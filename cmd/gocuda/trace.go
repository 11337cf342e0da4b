package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/env"
	cudaexec "github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/exec/trace"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/softdev"
)

type traceCmd struct {
	runCmd
	Top  int    `help:"Lines to show, those that most warps executed." default:"20"`
	HTML string `help:"Write a page with every stage of the kernel: PTX with counts, the passes, machine code." placeholder:"FILE"`
	Asm  bool   `help:"Print the machine code beside the operations."`
}

// traceReport is the JSON of gocuda trace.
type traceReport struct {
	Run     *runReport     `json:"run"`
	Counts  *trace.Summary `json:"counts"`
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
	out := traceReport{Run: rep, Counts: k.Summary()}
	list, err := jit.List(k.Kernel, rep.Block, env.Read(nil).ISA)
	if err != nil {
		out.Why = err.Error()
	} else {
		var n cudaexec.Counters
		again := c.runCmd
		again.Expect = nil
		r, err := again.run("software", softdev.Options{EngineName: "jit", Counters: &n})
		if err != nil {
			return err
		}
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
		if err := os.WriteFile(c.HTML, []byte(page(k, out.Counts, list)), 0o644); err != nil {
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
	c.show(con, &out)
	if c.Asm {
		for i := range list {
			fmt.Fprintf(con.out, "\n%s", assembly(k.Funcs[i], &list[i]))
		}
	}
	return nil
}

// show prints the counts.
func (c *traceCmd) show(con *console, r *traceReport) {
	s := r.Counts
	fmt.Fprintf(con.out, "\nwarp instructions    %d\nthread instructions  %d (%.1f of 32 lanes)\ndivergences          %d\n", s.Warps, s.Threads, s.Lanes, s.Divergences)
	fmt.Fprintf(con.out, "global memory        %d bytes in %d sectors of 32 bytes\nshared memory        %d bytes in %d passes\n", s.GlobalBytes, s.Sectors, s.SharedBytes, s.BankPasses)
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
		fmt.Fprintf(con.out, "%10d %6.1f %10d %8d  %d: %s%s\n", l.Warps, float64(l.Threads)/float64(l.Warps), l.Bytes,
			l.Sectors+l.Cycles, l.Line, l.Text, place)
	}
}

// assembly lists machine code with the operations at whose code it begins: in words where objdump is installed, else in
// bytes.
func assembly(f *ir.Func, l *jit.Listing) string {
	var b strings.Builder
	c := l.Whole
	if c != nil {
		fmt.Fprintf(&b, "%s, whole blocks: %d bytes; first for warps of which all lanes run, then for the others\n",
			l.Func, c.Size())
	} else {
		c = l.Warps
		fmt.Fprintf(&b, "%s, warp by warp: %d bytes, all lanes running\n", l.Func, c.Size())
	}
	for _, p := range pieces(c) {
		switch {
		case p.op == jit.OutOfLine:
			b.WriteString("; out of line\n")
		case p.op != wayIn:
			op := &f.Ops[p.op]
			fmt.Fprintf(&b, "; %d (PTX line %d) %s\n", p.op, op.Line, op.String())
		}
		for _, w := range p.words {
			fmt.Fprintf(&b, "%6x  %s\n", w.at, w.text)
		}
	}
	return b.String()
}

// piece is machine code of one operation.
type piece struct {
	op    int32 // or jit.OutOfLine, or wayIn
	words []word
}

const wayIn = jit.OutOfLine - 1

// pieces divides code by its marks. Padding is left out.
func pieces(c *jit.Code) []piece {
	if c.Size() == 0 {
		return nil
	}
	marks := map[int][]int32{}
	for _, m := range c.Marks {
		marks[int(m.Offset)] = append(marks[int(m.Offset)], m.Op)
	}
	words := disassemble(c.Bytes)
	if words == nil {
		for at := 0; at < len(c.Bytes); {
			end := min(at+16, len(c.Bytes))
			for i := at + 1; i < end; i++ {
				if marks[i] != nil {
					end = i
				}
			}
			words = append(words, word{at, hex.EncodeToString(c.Bytes[at:end])})
			at = end
		}
	}
	list := []piece{{op: wayIn}}
	for _, w := range words {
		for _, op := range marks[w.at] {
			list = append(list, piece{op: op})
		}
		if w.text != "nop" && w.text != "int3" && strings.Trim(w.text, "0") != "add BYTE PTR [rax],al" {
			last := &list[len(list)-1]
			last.words = append(last.words, w)
		}
	}
	return list
}

type word struct {
	at   int
	text string
}

// disassemble asks objdump; nil when it is not installed.
func disassemble(code []byte) []word {
	if len(code) == 0 {
		return nil
	}
	f, err := os.CreateTemp("", "gocuda-*.bin")
	if err != nil {
		return nil
	}
	defer os.Remove(f.Name())
	_, err = f.Write(code)
	if errors.Join(err, f.Close()) != nil {
		return nil
	}
	text, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn",
		f.Name()).Output()
	if err != nil {
		return nil
	}
	var list []word
	for line := range strings.Lines(string(text)) {
		var at int
		place, op, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if n, err := fmt.Sscanf(place, "%x", &at); n == 1 && err == nil && strings.TrimSpace(op) != "" {
			list = append(list, word{at, strings.Join(strings.Fields(op), " ")})
		}
	}
	return list
}

// folded is a list of instructions that a click opens.
func folded(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("<details><summary>%d</summary>%s</details>", len(list),
		html.EscapeString(strings.Join(list, "\n")))
}

// page is the HTML of every stage.
func page(k *trace.Kernel, s *trace.Summary, list []jit.Listing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>%[1]s</title>\n<style>body{font-family:sans-serif}section{display:inline-block;vertical-align:top;margin:0 1em 1em 0}pre,td{font:12px monospace}td{padding:0 .6em;white-space:pre;vertical-align:top}td.n{text-align:right}</style>\n<h1>%[1]s</h1>\n",
		html.EscapeString(k.Name))
	fmt.Fprintf(&b, "<p>%d warp instructions, %.1f of 32 lanes, %d divergences, %d bytes of global and %d of shared memory</p>\n", s.Warps, s.Lanes, s.Divergences, s.GlobalBytes, s.SharedBytes)
	stage := func(title, text string) {
		fmt.Fprintf(&b, "<section><h2>%s</h2><pre>%s</pre></section>\n", html.EscapeString(title),
			html.EscapeString(text))
	}
	b.WriteString("<section><h2>PTX</h2><table><tr><th>line<th>warps<th>lanes<th>bytes<th>sectors or passes<th>instruction<th>source<th>machine code for warps of which all lanes run</tr>\n")
	for n, f := range k.Funcs {
		text := trace.Text(f)
		machine := map[int32][]string{} // by PTX line
		if n < len(list) {
			c := list[n].Whole
			if c == nil {
				c = list[n].Warps
			}
			for _, p := range pieces(c) {
				if p.op == jit.OutOfLine {
					break
				}
				for _, w := range p.words {
					if p.op >= 0 {
						machine[f.Ops[p.op].Line] = append(machine[f.Ops[p.op].Line], w.text)
					}
				}
			}
		}
		lines := make([]int32, 0, len(text))
		for l := range text {
			lines = append(lines, l)
		}
		slices.Sort(lines)
		fmt.Fprintf(&b, "<tr><td colspan=8><b>%s</b></tr>\n", html.EscapeString(f.Name))
		for _, l := range lines {
			var c trace.Line
			if i := slices.IndexFunc(s.Lines, func(x trace.Line) bool {
				return x.Func == f.Name && x.Line == l
			}); i >= 0 {
				c = s.Lines[i]
			}
			lanes, place := 0.0, ""
			if c.Warps > 0 {
				lanes = float64(c.Threads) / float64(c.Warps)
			}
			if c.Source != "" {
				place = fmt.Sprintf("%s:%d", c.Source, c.At)
			}
			fmt.Fprintf(&b, "<tr><td class=n>%d<td class=n>%d<td class=n>%.1f<td class=n>%d<td class=n>%d<td>%s<td>%s<td>%s</tr>\n", l, c.Warps, lanes, c.Bytes, c.Sectors+c.Cycles, html.EscapeString(text[l]), html.EscapeString(place), folded(machine[l]))
		}
	}
	b.WriteString("</table></section>\n")
	var checked strings.Builder
	for _, f := range k.Funcs {
		if f.Check == nil {
			continue
		}
		fmt.Fprintf(&checked, "%s\n", f.Name)
		for i := range f.Check.Insts {
			in := &f.Check.Insts[i]
			fmt.Fprintf(&checked, "%5d  %-50s form %s, types %s\n", in.AST.Position().Line, in.AST.String(),
				in.Match.Form.Op, strings.Join(in.Match.Types, " "))
		}
	}
	stage("checked", checked.String())
	var passes []string
	dumps := map[string]*strings.Builder{}
	_, err := ir.LowerWatched(k.Funcs[0].Check, nil, func(pass string, f *ir.Func) {
		if dumps[pass] == nil {
			dumps[pass] = new(strings.Builder)
			passes = append(passes, pass)
		}
		f.Dump(dumps[pass])
	})
	for _, p := range passes {
		stage("pass "+p, dumps[p].String())
	}
	if err != nil {
		stage("lowering the kernel alone", err.Error())
	}
	var final strings.Builder
	k.Dump(&final)
	stage("operations as they run", final.String())
	for i := range list {
		stage("machine code: "+list[i].Func, assembly(k.Funcs[i], &list[i]))
	}
	return b.String()
}
