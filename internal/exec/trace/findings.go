package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// Rule is what a finding is about.
type Rule string

// The rules.
const (
	Uncoalesced   Rule = "uncoalesced-access"
	BankConflicts Rule = "bank-conflicts"
	Divergence    Rule = "divergence"
	IdleLanes     Rule = "idle-lanes"
	LowOccupancy  Rule = "low-occupancy"
	SmallGrid     Rule = "small-grid"
	LocalTraffic  Rule = "local-memory"
	ConstantSplit Rule = "constant-split"
)

// ruleInfo says of a rule what its findings are called, when there is one, and what helps.
type ruleInfo struct {
	Rule              Rule
	Title, When, Hint string
}

// Where findings begin.
const (
	factorLimit    = 1.5  // units of what is the ideal
	shareLimit     = 0.02 // of all excess units of the space, below which a line is left out
	branchLimit    = 0.05 // divergent executions of a branch's
	lanesLimit     = 24   // active lanes on average
	occupancyLimit = 0.5
	perRule        = 5 // findings
)

var rules = []ruleInfo{
	{Uncoalesced, "uncoalesced global access",
		fmt.Sprintf("a line with %.1f times the ideal number of sectors or more, and %.0f %% of the kernel's excess sectors",
			factorLimit, 100*shareLimit),
		"Let consecutive lanes access consecutive addresses: change the order of the array or of the threads, or go through shared memory."},
	{BankConflicts, "bank conflicts in shared memory",
		fmt.Sprintf("a line with %.1f times the ideal number of passes or more, and %.0f %% of the kernel's excess passes",
			factorLimit, 100*shareLimit),
		"Pad the rows of the array by one element, or permute (swizzle) its columns, so that lanes access different banks."},
	{Divergence, "divergent branch",
		fmt.Sprintf("a branch that divides its warp in %.0f %% of its executions or more", 100*branchLimit),
		"Let whole warps take the same side: sort or group the work, or replace the branch by a select."},
	{IdleLanes, "idle lanes",
		fmt.Sprintf("fewer than %d of 32 lanes active on average over the kernel", lanesLimit),
		"Look for divergent branches and predicated instructions, for blocks whose size is not a multiple of 32, and for loops whose trip counts differ within a warp."},
	{LowOccupancy, "low occupancy",
		fmt.Sprintf("resident blocks with less than %.0f %% of the warps of a multiprocessor", 100*occupancyLimit),
		"Use less of the limiting resource. Kernels with enough independent instructions in each warp do not need more warps."},
	{SmallGrid, "small grid",
		"a grid with fewer blocks than the device has multiprocessors",
		"Give the launch more blocks, or run other kernels beside it: multiprocessors without a block do nothing."},
	{LocalTraffic, "local memory",
		"any load or store of local memory",
		"Arrays of a thread stay in registers when every index is known to the compiler: unroll the loop. Spilled registers: --maxrregcount and __launch_bounds__."},
	{ConstantSplit, "constant memory read at several addresses",
		fmt.Sprintf("a line whose warps read %.1f different addresses of constant memory or more on average", factorLimit),
		"Constant memory serves one address at a time: let all lanes read the same, or read global memory."},
}

// Finding is something to look at.
type Finding struct {
	Rule     Rule    `json:"rule"`
	Title    string  `json:"title"`
	When     string  `json:"when"`     // the rule, in words
	Evidence string  `json:"evidence"` // the numbers
	Hint     string  `json:"hint"`
	Func     string  `json:"func,omitempty"` // with the line, where the finding is about one
	Line     int32   `json:"line,omitempty"`
	Text     string  `json:"text,omitempty"`
	Source   string  `json:"source,omitempty"`
	At       int32   `json:"source_line,omitempty"`
	Weight   float64 `json:"weight"` // how much of the kernel is concerned, 0 to 1
}

// Findings applies the rules. The list begins with what concerns most of the kernel.
func Findings(s *Summary, o *Occupancy) []Finding {
	list := []Finding{}
	about := func(r Rule, l *Line, weight float64, evidence string) {
		i := slices.IndexFunc(rules, func(x ruleInfo) bool { return x.Rule == r })
		f := Finding{Rule: r, Title: rules[i].Title, When: rules[i].When, Hint: rules[i].Hint, Evidence: evidence,
			Weight: weight}
		if l != nil {
			f.Func, f.Line, f.Text, f.Source, f.At = l.Func, l.Line, l.Text, l.Source, l.At
		}
		list = append(list, f)
	}
	total := &s.Total
	for _, g := range concerned(s, func(l *Line) bool { return excessive(l.Global, total.Global) }) {
		t := g.Global
		about(Uncoalesced, g.line, ratio(t.Excess(), total.Global.Units),
			fmt.Sprintf("%.1f sectors per request%s, ideal %.1f: %d of the kernel's %d sectors are excess here",
				t.PerRequest(), g.several(), t.IdealPerRequest(), t.Excess(), total.Global.Units))
	}
	for _, g := range concerned(s, func(l *Line) bool { return excessive(l.Shared, total.Shared) }) {
		t := g.Shared
		about(BankConflicts, g.line, ratio(t.Excess(), total.Shared.Units),
			fmt.Sprintf("%.1f passes per request%s, ideal %.1f: %d of the kernel's %d passes are excess here",
				t.PerRequest(), g.several(), t.IdealPerRequest(), t.Excess(), total.Shared.Units))
	}
	for _, g := range concerned(s, func(l *Line) bool {
		return l.Branches > 0 && ratio(l.Diverged, l.Branches) >= branchLimit
	}) {
		about(Divergence, g.line, ratio(g.Diverged, total.Branches),
			fmt.Sprintf("%d of %d executions divided the warp%s (%.0f %%)", g.Diverged, g.Branches, g.several(),
				100*ratio(g.Diverged, g.Branches)))
	}
	for _, g := range concerned(s, func(l *Line) bool { return l.Const.PerRequest() >= factorLimit }) {
		about(ConstantSplit, g.line, ratio(g.Const.Excess(), total.Warps),
			fmt.Sprintf("%.1f addresses per request on average%s", g.Const.PerRequest(), g.several()))
	}
	if t := total.Local; t.Requests > 0 {
		l := slices.MaxFunc(s.Lines, func(a, b Line) int { return cmp.Compare(a.Local.Bytes, b.Local.Bytes) })
		about(LocalTraffic, &l, ratio(t.Requests, total.Warps),
			fmt.Sprintf("%d bytes in %d requests; this line has the most", t.Bytes, t.Requests))
	}
	if total.Warps > 0 && total.Lanes() < lanesLimit {
		about(IdleLanes, nil, float64(total.Idle())/float64(32*total.Warps),
			fmt.Sprintf("%.1f of 32 lanes active on average", total.Lanes()))
	}
	if o != nil && o.Blocks > 0 {
		if o.Theoretical() < occupancyLimit {
			about(LowOccupancy, nil, 1-o.Theoretical(),
				fmt.Sprintf("%d of %d warps of a multiprocessor (%.0f %%); the limit is %s", o.Blocks*o.Warps, o.MaxWarps,
					100*o.Theoretical(), o.LimitedBy()))
		}
		if o.Grid < o.SMs {
			about(SmallGrid, nil, 1-ratio(o.Grid, o.SMs),
				fmt.Sprintf("%d blocks for %d multiprocessors", o.Grid, o.SMs))
		}
	}
	return fewest(list)
}

// excessive says whether a line's accesses to a space need far more than the ideal, and are worth a look.
func excessive(t, all Traffic) bool {
	return t.Factor() >= factorLimit && ratio(t.Excess(), all.Excess()) >= shareLimit
}

// group is lines of one line of the source, or one line.
type group struct {
	line *Line // the one with the most executions
	n    int
	Work
}

func (g *group) several() string {
	if g.n == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d lines of PTX", g.n)
}

// concerned gathers the lines that a rule is about by the lines of the source.
func concerned(s *Summary, is func(*Line) bool) (list []*group) {
	type key struct {
		source string
		at     int32
	}
	known := map[key]*group{}
	for i := range s.Lines {
		l := &s.Lines[i]
		if !is(l) {
			continue
		}
		k := key{l.Source, l.At}
		g := known[k]
		if g == nil || l.Source == "" {
			g = &group{line: l}
			known[k] = g
			list = append(list, g)
		}
		if g.n++; l.Warps > g.line.Warps {
			g.line = l
		}
		g.add(&l.Work)
	}
	return list
}

// fewest sorts findings and leaves out those that come after the most important ones of their rule. The size of the
// grid comes last: launches that are traced are often small ones.
func fewest(list []Finding) []Finding {
	small := func(f Finding) int {
		if f.Rule == SmallGrid {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(small(a), small(b)), cmp.Compare(b.Weight, a.Weight))
	})
	n := map[Rule]int{}
	return slices.DeleteFunc(list, func(f Finding) bool {
		n[f.Rule]++
		return n[f.Rule] > perRule
	})
}
