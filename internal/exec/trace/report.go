package trace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Line is a PTX line of a kernel with what its instructions did. Those of a line that was put into several places
// (inlined functions) are added up.
type Line struct {
	Func   string `json:"func"`
	Line   int32  `json:"line"`
	Text   string `json:"text"`
	Source string `json:"source,omitempty"` // file that the PTX was compiled from
	At     int32  `json:"source_line,omitempty"`
	Class  Class  `json:"class"`
	Work
}

// Work is what instructions did, of a line or of the whole kernel.
type Work struct {
	Count
	Branches uint64 `json:"branches,omitempty"` // executions of conditional branches by a warp
	Flops    Flops  `json:"flops,omitzero"`
}

func (w *Work) add(o *Work) {
	w.Warps += o.Warps
	w.Threads += o.Threads
	w.Diverged += o.Diverged
	w.Branches += o.Branches
	w.Flops.add(o.Flops)
	w.Memory.add(&o.Memory)
}

// Lanes is how many of the 32 lanes were active on average.
func (w *Work) Lanes() float64 { return ratio(w.Threads, w.Warps) }

// Idle is how many lanes of warps executed nothing, added up over executions.
func (w *Work) Idle() uint64 { return 32*w.Warps - min(w.Threads, 32*w.Warps) }

// Efficiency is the share of conditional branches that did not divide the lanes of their warp; 1 without branches.
func (w *Work) Efficiency() float64 {
	if w.Branches == 0 {
		return 1
	}
	return 1 - float64(min(w.Diverged, w.Branches))/float64(w.Branches)
}

// SourceLine is a line of the source with what the PTX lines that were compiled from it did.
type SourceLine struct {
	File string `json:"file"`
	Line int32  `json:"line"`
	PTX  int    `json:"ptx_lines"` // that were executed
	Work
}

// Share is a part of the instruction mix.
type Share struct {
	Class Class  `json:"class"`
	Warps uint64 `json:"warps"`
}

// Summary is what a kernel did.
type Summary struct {
	Kernel     string       `json:"kernel"`
	Operations uint64       `json:"operations"` // of the lowered program, by warps; what engines count
	Total      Work         `json:"total"`      // of all lines
	Mix        []Share      `json:"mix"`        // the largest first
	Lines      []Line       `json:"lines"`      // in the order of the text; those that never ran are left out
	Sources    []SourceLine `json:"source_lines,omitempty"`
	// lines that access memory in a way whose traffic is not counted: textures, bulk and tensor copies, wgmma
	Uncounted []Place `json:"uncounted,omitempty"`
}

// Place is a PTX line.
type Place struct {
	Func string `json:"func"`
	Line int32  `json:"line"`
	Text string `json:"text"`
}

// Summary adds up what the kernel did.
func (k *Kernel) Summary() *Summary {
	s := &Summary{Kernel: k.Name}
	type key struct {
		f    string
		line int32
	}
	at := map[key]int{}
	texts := map[*ir.Func]*text{}
	for i, f := range k.Funcs {
		var last instruction
		for j := range f.Ops {
			op := &f.Ops[j]
			c := k.Count(i, j)
			s.Operations += c.Warps
			if op.Ctl == ir.Jump && op.Match == nil {
				continue // made by the lowering, and no instruction
			}
			c.Warps -= min(c.waits, c.Warps)
			c.waits = 0
			in := op.Text(f)
			t := texts[in]
			if t == nil {
				t = textOf(in)
				texts[in] = t
			}
			if last.in != in || last.line != op.Line || t.count[op.Line] > 1 {
				last = instruction{in: in, line: op.Line}
			}
			w := Work{Count: c, Flops: flopsOf(op, c.Threads)}
			if op.Ctl == ir.Branch && op.Guard >= 0 || op.Ctl == ir.BranchX {
				w.Branches = c.Warps
			}
			last.once(&w)
			if t.call[op.Line] && op.Ctl != ir.Call {
				// The function was put into the place of its call: what is left copies parameters, or is the guard.
				w.Warps, w.Threads = 0, 0
			}
			if w == (Work{}) {
				continue
			}
			n, ok := at[key{in.Name, op.Line}]
			if !ok {
				n = len(s.Lines)
				at[key{in.Name, op.Line}] = n
				s.Lines = append(s.Lines, Line{Func: in.Name, Line: op.Line, Text: t.line[op.Line],
					Source: in.Files[int(op.Loc.File)], At: op.Loc.Line, Class: ClassOf(op)})
			}
			s.Lines[n].add(&w)
			if k.access[i][j].kind == otherAccess {
				p := Place{in.Name, op.Line, t.line[op.Line]}
				if !slices.Contains(s.Uncounted, p) {
					s.Uncounted = append(s.Uncounted, p)
				}
			}
		}
	}
	slices.SortStableFunc(s.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.Line, b.Line))
	})
	s.addUp()
	return s
}

// instruction is what one became: operations that follow one another, of a line with one instruction.
type instruction struct {
	in             *ir.Func
	line           int32
	warps, threads uint64 // executions that are counted already
}

// once leaves of an operation's executions those that the operations before it of the same instruction do not have.
func (x *instruction) once(w *Work) {
	warps, threads := w.Warps, w.Threads
	w.Warps -= min(x.warps, warps)
	w.Threads -= min(x.threads, threads)
	x.warps, x.threads = max(x.warps, warps), max(x.threads, threads)
}

// addUp makes the totals out of the lines.
func (s *Summary) addUp() {
	var mix [classes]uint64
	type key struct {
		file string
		line int32
	}
	at := map[key]int{}
	for i := range s.Lines {
		l := &s.Lines[i]
		s.Total.add(&l.Work)
		mix[l.Class] += l.Warps
		if l.Source == "" {
			continue
		}
		n, ok := at[key{l.Source, l.At}]
		if !ok {
			n = len(s.Sources)
			at[key{l.Source, l.At}] = n
			s.Sources = append(s.Sources, SourceLine{File: l.Source, Line: l.At})
		}
		s.Sources[n].PTX++
		s.Sources[n].add(&l.Work)
	}
	for c, n := range mix {
		if n > 0 {
			s.Mix = append(s.Mix, Share{Class(c), n})
		}
	}
	slices.SortStableFunc(s.Mix, func(a, b Share) int { return cmp.Compare(b.Warps, a.Warps) })
	slices.SortFunc(s.Sources, func(a, b SourceLine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// text is the instructions of a function by PTX line, as the checker took them.
type text struct {
	line  map[int32]string
	count map[int32]int
	call  map[int32]bool // the only instruction is a call
}

func textOf(f *ir.Func) *text {
	t := &text{map[int32]string{}, map[int32]int{}, map[int32]bool{}}
	if f.Check == nil {
		return t
	}
	for i := range f.Check.Insts {
		in := f.Check.Insts[i].AST
		line := int32(in.Position().Line)
		t.call[line] = f.Check.Insts[i].Match.Form.Op == optab.OpCall && t.count[line] == 0
		if t.count[line]++; t.count[line] > 1 {
			t.line[line] += " " + in.String()
		} else {
			t.line[line] = in.String()
		}
	}
	return t
}

// Text is the instructions of a function by PTX line, as the checker took them, and those of others that may have been
// put into it.
func Text(f *ir.Func, others ...*ir.Func) map[int32]string {
	all := map[int32]string{}
	for _, o := range slices.Concat(others, []*ir.Func{f}) {
		maps.Copy(all, textOf(o).line)
	}
	return all
}

// Listed is a line of a function's PTX.
type Listed struct {
	Line   int32
	Text   string // an instruction, or a label with its colon
	Label  bool
	Source string // file that the PTX was compiled from
	At     int32
}

// Listing is the PTX of a function.
type Listing struct {
	Func  string
	Lines []Listed
}

// Listings are the PTX of the kernel and of all functions that it reaches, those that were put into others too.
func (k *Kernel) Listings() []Listing {
	var list []Listing
	seen := map[*ir.Func]bool{}
	for _, f := range k.Funcs {
		for j := -1; j < len(f.Ops); j++ {
			in := f
			if j >= 0 {
				in = f.Ops[j].Text(f)
			}
			if !seen[in] {
				seen[in] = true
				list = append(list, listing(in))
			}
		}
	}
	return list
}

func listing(f *ir.Func) Listing {
	l := Listing{Func: f.Name}
	if f.Check == nil {
		return l
	}
	t := textOf(f)
	// Compilers put labels everywhere for debuggers; those that code goes to are shown.
	used := map[*check.Label]bool{}
	for i := range f.Check.Insts {
		for _, a := range f.Check.Insts[i].Args {
			if a.Label != nil {
				used[a.Label] = true
			}
			if a.Table != nil {
				for _, l := range a.Table.Labels {
					used[l] = true
				}
			}
		}
	}
	labels := slices.DeleteFunc(slices.Clone(f.Check.Labels), func(l *check.Label) bool { return !used[l] })
	for i := range f.Check.Insts {
		in := &f.Check.Insts[i]
		for ; len(labels) > 0 && labels[0].Inst <= i; labels = labels[1:] {
			l.Lines = append(l.Lines, Listed{Line: labels[0].Pos.Line, Text: labels[0].Name + ":", Label: true})
		}
		line := int32(in.AST.Position().Line)
		if n := len(l.Lines); n > 0 && l.Lines[n-1].Line == line && !l.Lines[n-1].Label {
			continue // another instruction of the line
		}
		l.Lines = append(l.Lines,
			Listed{Line: line, Text: t.line[line], Source: f.Files[int(in.Loc.File)], At: in.Loc.Line})
	}
	return l
}
