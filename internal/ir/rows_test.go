package ir

import (
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// randomFunc makes a function of additions and moves with random branches, guards, and registers of several classes.
func randomFunc(r *rand.Rand) *Func {
	f := &Func{Name: "random"}
	classes := []rowInfo{{}, {}, {}, {width: 16}, {class: W64}, {class: WPred}}
	var by [6][]uint32
	for i := range 4 + r.IntN(20) {
		c := r.IntN(len(classes))
		f.rows = append(f.rows, classes[c])
		by[c] = append(by[c], uint32(i))
	}
	row := func(name string, off uint32) Arg {
		i := f.rows[off]
		return Arg{Kind: Row, Class: i.class, Ref: Ref{Off: off}, Position: position(name), Width: i.width,
			ArgRest: &noRest}
	}
	guard := func(op *Op) {
		if len(by[5]) > 0 && r.IntN(3) == 0 {
			op.Guard = int32(by[5][r.IntN(len(by[5]))])
		}
	}
	add, mov := form("add", "u32"), form("mov", "u32")
	n := 3 + r.IntN(40)
	for i := range n {
		op := Op{Guard: -1, Line: int32(i + 1), OpRest: &noOpRest}
		switch k := r.IntN(10); {
		case k < 2:
			op.Ctl, op.Target = Branch, int32(r.IntN(n))
			guard(&op)
		case k == 2 && r.IntN(4) == 0:
			op.Ctl = Exit
			guard(&op)
		default:
			d := uint32(r.IntN(len(f.rows)))
			op.Match, op.Args = mov, []Arg{row("d", d), row("a", uint32(r.IntN(len(f.rows))))}
			if r.IntN(2) == 0 {
				op.Match = add
				op.Args = append(op.Args, row("b", uint32(r.IntN(len(f.rows)))))
			}
			guard(&op)
		}
		f.Ops = append(f.Ops, op)
	}
	f.Ops = append(f.Ops, Op{Ctl: Exit, Guard: -1, OpRest: &noOpRest})
	return f
}

// clone copies a function deeply enough for place.
func (f *Func) clone() *Func {
	c := *f
	c.Ops = append([]Op(nil), f.Ops...)
	for i := range c.Ops {
		c.Ops[i].Args = append([]Arg(nil), f.Ops[i].Args...)
	}
	return &c
}

func TestPlaceRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	saved := 0
	for i := range 3000 {
		f := randomFunc(r)
		a, b := f.clone(), f.clone()
		place(a, false)
		place(b, true)
		if err := checkPlaced(a, b); err != nil {
			for i := range f.Ops {
				t.Logf("%d: %+v", i, f.Ops[i])
			}
			t.Fatalf("program %d: %v", i, err)
		}
		if b.FrameSize < a.FrameSize {
			saved++
		}
	}
	if saved < 1000 {
		t.Errorf("rows shared places in %d of 3000 programs only", saved)
	}
}

// position is an operand position called d, which is written, or something else, which is read.
func position(name string) *optab.Position {
	return &optab.Position{Op: &optab.Operand{Name: name, Dst: name == "d"}}
}

// A value that is only read in later rounds of a loop keeps its row from the loop's beginning, where nothing mentions
// it.
func TestPlaceCarried(t *testing.T) {
	add, mov := form("add", "u32"), form("mov", "u32")
	f := &Func{rows: []rowInfo{{}, {}, {class: WPred}, {}}}
	reg := func(name string, i uint32) Arg {
		return Arg{Kind: Row, Class: f.rows[i].class, Ref: Ref{Off: i}, Position: position(name), ArgRest: &noRest}
	}
	const carried, temp, p, sum = 0, 1, 2, 3
	f.Ops = []Op{
		{Guard: -1, Match: mov, Args: []Arg{reg("d", temp), reg("a", sum)}}, // loop head: temp lives here only
		{Guard: -1, Match: add, Args: []Arg{reg("d", sum), reg("a", temp), reg("b", temp)}},
		{Guard: p, Match: add, Args: []Arg{reg("d", sum), reg("a", sum), reg("b", carried)}},
		{Guard: -1, Match: mov, Args: []Arg{reg("d", carried), reg("a", sum)}},
		{Ctl: Branch, Guard: p, Target: 0},
		{Ctl: Exit, Guard: -1},
	}
	for i := range f.Ops {
		f.Ops[i].OpRest = &noOpRest
	}
	place(f, true)
	if f.Ops[0].Args[0].Ref == f.Ops[3].Args[0].Ref {
		t.Errorf("the value carried around the loop shares its row with a temporary: %d", f.Ops[0].Args[0].Ref.Off)
	}
}
