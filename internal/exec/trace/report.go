package trace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gocuda/cuda/internal/ir"
)

// Line is a PTX line of a kernel with what its operations did.
type Line struct {
	Func   string `json:"func"`
	Line   int32  `json:"line"`
	Text   string `json:"text"`
	Source string `json:"source,omitempty"` // file that the PTX was compiled from
	At     int32  `json:"source_line,omitempty"`
	Count
}

// Summary is what a kernel did.
type Summary struct {
	Kernel      string  `json:"kernel"`
	Warps       uint64  `json:"warp_instructions"`
	Threads     uint64  `json:"thread_instructions"`
	Lanes       float64 `json:"lanes"` // active of 32, on average
	Divergences uint64  `json:"divergences"`
	GlobalBytes uint64  `json:"global_bytes"` // global, generic and constant memory
	SharedBytes uint64  `json:"shared_bytes"`
	Sectors     uint64  `json:"sectors"`     // of 32 bytes
	BankPasses  uint64  `json:"bank_passes"` // of shared memory
	Lines       []Line  `json:"lines"`       // in the order of the text; those that never ran are left out
}

// Summary adds up what the kernel did.
func (k *Kernel) Summary() *Summary {
	s := &Summary{Kernel: k.Name}
	for i, f := range k.Funcs {
		text := Text(f, k.Funcs...)
		at := map[int32]int{}
		for j := range f.Ops {
			c := k.Count(i, j)
			if c.Warps == 0 {
				continue
			}
			s.Warps += c.Warps
			s.Threads += c.Threads
			s.Divergences += c.Diverged
			s.Sectors += c.Sectors
			s.BankPasses += c.Cycles
			switch k.access[i][j].space {
			case ir.Global, ir.Generic, ir.Const:
				s.GlobalBytes += c.Bytes
			case ir.Shared, ir.SharedCluster:
				s.SharedBytes += c.Bytes
			}
			op := &f.Ops[j]
			n, ok := at[op.Line]
			if !ok {
				n = len(s.Lines)
				at[op.Line] = n
				s.Lines = append(s.Lines, Line{Func: f.Name, Line: op.Line, Text: text[op.Line],
					Source: f.Files[int(op.Loc.File)], At: op.Loc.Line})
			}
			l := &s.Lines[n].Count
			l.Warps = max(l.Warps, c.Warps)
			l.Threads = max(l.Threads, c.Threads)
			l.Diverged += c.Diverged
			l.Bytes += c.Bytes
			l.Sectors += c.Sectors
			l.Cycles += c.Cycles
		}
	}
	if s.Warps > 0 {
		s.Lanes = float64(s.Threads) / float64(s.Warps)
	}
	slices.SortStableFunc(s.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.Line, b.Line))
	})
	return s
}

// Text is the instructions of a function by PTX line, as the checker took them, and those of others that may have been
// put into it.
func Text(f *ir.Func, others ...*ir.Func) map[int32]string {
	text := map[int32]string{}
	for _, o := range others {
		if o != f {
			maps.Copy(text, Text(o))
		}
	}
	if f.Check == nil {
		return text
	}
	own := map[int32]string{}
	for i := range f.Check.Insts {
		in := f.Check.Insts[i].AST
		line := int32(in.Position().Line)
		if old := own[line]; old != "" {
			own[line] = old + " " + in.String()
		} else {
			own[line] = in.String()
		}
	}
	maps.Copy(text, own)
	return text
}
