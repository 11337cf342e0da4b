package trace

import (
	"slices"
	"testing"
)

// TestFindings has for each rule a kernel just past its limit, and one just before it.
func TestFindings(t *testing.T) {
	kernel := func(change func(l *Line)) *Summary {
		l := Line{Func: "k", Line: 1, Text: "x"}
		l.Warps, l.Threads = 100, 3200
		change(&l)
		s := &Summary{Lines: []Line{l}}
		s.addUp()
		return s
	}
	even := kernel(func(*Line) {})
	fits := func(blocks, grid uint64) *Occupancy {
		return &Occupancy{Warps: 1, Blocks: blocks, Limits: Limits{64, 64, blocks, 64}, MaxWarps: 64, SMs: 132,
			Grid: grid}
	}
	for _, x := range []struct {
		rule      Rule
		with, not *Summary
		o, oNot   *Occupancy
	}{
		{Uncoalesced, kernel(func(l *Line) { l.Global = Traffic{10, 1280, 60, 40} }),
			kernel(func(l *Line) { l.Global = Traffic{10, 1280, 59, 40} }), nil, nil},
		{BankConflicts, kernel(func(l *Line) { l.Shared = Traffic{10, 1280, 15, 10} }),
			kernel(func(l *Line) { l.Shared = Traffic{10, 1280, 14, 10} }), nil, nil},
		{Divergence, kernel(func(l *Line) { l.Branches, l.Diverged = 100, 5 }),
			kernel(func(l *Line) { l.Branches, l.Diverged = 100, 4 }), nil, nil},
		{IdleLanes, kernel(func(l *Line) { l.Threads = 2399 }), kernel(func(l *Line) { l.Threads = 2400 }), nil, nil},
		{LocalTraffic, kernel(func(l *Line) { l.Local = Traffic{1, 4, 1, 1} }), even, nil, nil},
		{ConstantSplit, kernel(func(l *Line) { l.Const = Traffic{2, 8, 3, 2} }),
			kernel(func(l *Line) { l.Const = Traffic{3, 12, 4, 3} }), nil, nil},
		{LowOccupancy, even, even, fits(31, 132), fits(32, 132)},
		{SmallGrid, even, even, fits(64, 131), fits(64, 132)},
	} {
		list := Findings(x.with, x.o)
		if len(list) != 1 || list[0].Rule != x.rule || list[0].Evidence == "" || list[0].Hint == "" {
			t.Errorf("%s: %+v", x.rule, list)
		}
		if list := Findings(x.not, x.oNot); len(list) != 0 {
			t.Errorf("before the limit of %s: %+v", x.rule, list)
		}
		if !slices.ContainsFunc(rules, func(r ruleInfo) bool { return r.Rule == x.rule }) {
			t.Errorf("%s has no words", x.rule)
		}
	}
	if len(rules) != 8 {
		t.Errorf("%d rules, 8 of them are tested", len(rules))
	}
	// Lines of one line of the source are one finding.
	s := &Summary{}
	for i := range 3 {
		l := Line{Func: "k", Line: int32(i + 1), Source: "a.cu", At: 7}
		l.Warps, l.Threads, l.Global = 1, 32, Traffic{1, 128, 32, 4}
		s.Lines = append(s.Lines, l)
	}
	s.addUp()
	if list := Findings(s, nil); len(list) != 1 ||
		list[0].Evidence != "32.0 sectors per request in 3 lines of PTX, ideal 4.0: 84 of the kernel's 96 sectors are excess here" {
		t.Errorf("%+v", list)
	}
}

// TestOccupancy computes shares of what 9 blocks of 4 warps leave of 64 warps.
func TestOccupancy(t *testing.T) {
	o := &Occupancy{Warps: 4, Blocks: 9, Limits: Limits{32, 16, 9, 9}, MaxWarps: 64, SMs: 132, Grid: 2 * 132 * 9}
	if o.LimitedBy() != "registers and shared memory" || o.Theoretical() != 36.0/64 || o.Launch() != 36.0/64 ||
		o.Waves() != 2 {
		t.Errorf("%s, %v, %v, %v", o.LimitedBy(), o.Theoretical(), o.Launch(), o.Waves())
	}
}
