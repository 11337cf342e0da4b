package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/exec/trace"
)

type (
	finding struct {
		trace.Finding
		ID, Place string
		Mild      bool
	}
	tile struct {
		Key, Name, Value, Sub   string
		HasBar                  bool
		Bar                     string // percent
		Tone                    string
		Before, Change, Verdict string
	}
	memory struct {
		Space, Requests, Bytes, Units, Ideal, PerRequest, Factor string
		High                                                     bool
	}
	limit struct {
		Name, Uses, Blocks string
		Limits             bool
	}
	share struct {
		Number                        int
		Name, Percent, Warps, Meaning string
		From, Width                   string // percent
	}
)

// high is from where on a factor is shown as a warning.
const high = 1.5

// whole writes a number with groups of three digits.
func whole(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rounded writes a number with three digits that count, and a prefix where it is large.
func rounded(v float64) string {
	if v < 1e5 {
		switch {
		case v == math.Trunc(v):
			return whole(uint64(v))
		case v < 10:
			return strconv.FormatFloat(v, 'f', 2, 64)
		case v < 1000:
			return strconv.FormatFloat(v, 'f', 1, 64)
		}
		return whole(uint64(math.Round(v)))
	}
	unit := ""
	for _, u := range []string{"k", "M", "G", "T", "P"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, u
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Log10(max(v, 1)))), 64) + " " + unit
}

// show writes a value in its unit.
func show(u trace.Unit, v float64) string {
	switch u {
	case trace.UnitPercent:
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	case trace.UnitLanes:
		return strconv.FormatFloat(v, 'f', 1, 64) + " of 32"
	case trace.UnitFactor:
		return strconv.FormatFloat(v, 'f', 2, 64) + " x"
	case trace.UnitBytes:
		return inBytes(v)
	case trace.UnitBytesPS:
		return inBytes(v) + "/s"
	case trace.UnitRate:
		return rounded(v) + "/s"
	case trace.UnitMS:
		return strconv.FormatFloat(v, 'f', 3, 64) + " ms"
	}
	return rounded(v)
}

func (b *builder) findings() (list []finding) {
	for _, f := range b.in.Report.Findings {
		x := finding{Finding: f, Mild: f.Weight < 0.1 || f.Rule == trace.SmallGrid}
		if f.Line != 0 {
			x.ID = b.ids[lineKey{f.Func, f.Line}]
			x.Place = fmt.Sprintf("PTX line %d", f.Line)
			if f.Source != "" {
				x.Place = fmt.Sprintf("%s:%d (PTX line %d)", clean(short(f.Source)), f.At, f.Line)
			}
		}
		x.Finding.Text = clean(f.Text)
		list = append(list, x)
	}
	return list
}

// meanings are the metrics that the launch has.
func meanings(r *trace.Report) (list []trace.Metric) {
	for _, m := range trace.Metrics {
		if _, ok := r.Metric(m.Key); ok {
			list = append(list, m)
		}
	}
	return list
}

func (b *builder) tiles() (list []tile) {
	r := b.in.Report
	for _, m := range meanings(r) {
		v, _ := r.Metric(m.Key)
		t := tile{Key: m.Key, Name: m.Name, Value: show(m.Unit, v), Tone: "v"}
		bar := func(part float64) {
			t.HasBar, t.Bar = true, percent(min(max(part, 0), 1))
		}
		switch m.Unit {
		case trace.UnitPercent:
			bar(v / 100)
		case trace.UnitLanes:
			bar(v / 32)
		case trace.UnitFactor:
			bar(1 / max(v, 1))
			if t.Tone = "g"; v >= high {
				t.Tone = "b"
			}
		}
		if o := r.Occupancy; o != nil && m.Key == "theoretical_occupancy" {
			t.Sub = "limited by " + o.LimitedBy()
		}
		if m.Key == "global_sectors_per_request" {
			if g := r.Counts.Total.Global; g.Requests > 0 {
				t.Sub = "ideal " + rounded(g.IdealPerRequest())
			}
		}
		if b.in.Baseline != nil {
			if before, ok := b.in.Baseline.Metric(m.Key); ok {
				t.Before = show(m.Unit, before)
				t.Change, t.Verdict = change(&m, before, v)
			}
		}
		list = append(list, t)
	}
	return list
}

// change says how a value differs from that before.
func change(m *trace.Metric, before, now float64) (text, verdict string) {
	if math.Abs(now-before) <= 1e-9*max(math.Abs(now), math.Abs(before)) {
		return "unchanged", ""
	}
	if !m.Neutral {
		if verdict = "worse"; (now < before) == m.Less {
			verdict = "better"
		}
	}
	if before == 0 {
		return "new", verdict
	}
	return fmt.Sprintf("%+.1f %%", 100*(now-before)/before), verdict
}

func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 2, 64) }

func (b *builder) memory() (list []memory, uncounted []string) {
	c := b.in.Report.Counts
	t := &c.Total
	for _, s := range []struct {
		name, units string
		traffic     trace.Traffic
	}{
		{"global", "sectors", t.Global}, {"shared", "bank passes", t.Shared},
		{"local", "sectors", t.Local}, {"constant", "addresses", t.Const},
	} {
		if x := s.traffic; x.Requests > 0 {
			list = append(list, memory{s.name, whole(x.Requests), whole(x.Bytes), whole(x.Units) + " " + s.units,
				whole(x.Ideal), rounded(x.PerRequest()), fmt.Sprintf("%.2f x", x.Factor()), x.Factor() >= high})
		}
	}
	for i, p := range c.Uncounted {
		if i == 20 {
			uncounted = append(uncounted, fmt.Sprintf("and %d lines more", len(c.Uncounted)-i))
			break
		}
		text := clean(p.Text)
		if head := []rune(text); len(head) > 80 {
			text = string(head[:80]) + "..."
		}
		uncounted = append(uncounted, fmt.Sprintf("%d: %s", p.Line, text))
	}
	return list, uncounted
}

func (b *builder) occupancy() (list []limit, text string) {
	o := b.in.Report.Occupancy
	if o == nil {
		return nil, "Not known: what a block of this kernel uses is decided by the compiler of the hardware."
	}
	for r := trace.BlockSlots; r <= trace.SharedBytes; r++ {
		x := limit{Name: r.String(), Blocks: whole(o.Limits.By(r)), Limits: slices.Contains(o.Limiters(), r)}
		switch r {
		case trace.BlockSlots:
			x.Uses = "1"
		case trace.BlockSize:
			x.Uses = fmt.Sprintf("%d threads, %d warps", o.Threads, o.Warps)
		case trace.Registers:
			x.Uses = fmt.Sprintf("about %d a thread", o.Registers)
		case trace.SharedBytes:
			x.Uses = whole(o.Shared) + " bytes"
		}
		list = append(list, x)
	}
	text = fmt.Sprintf("%d blocks of %d warps are resident on a multiprocessor, %d of %d warps (%.0f %%), limited by %s. The grid has %s blocks for %d multiprocessors: %s waves.",
		o.Blocks, o.Warps, o.Blocks*o.Warps, o.MaxWarps, 100*o.Theoretical(), o.LimitedBy(), whole(o.Grid), o.SMs,
		strings.TrimSpace(rounded(o.Waves())))
	return list, text
}

func (b *builder) mix() (list []share) {
	c := b.in.Report.Counts
	var sum uint64
	for _, s := range c.Mix {
		sum += s.Warps
	}
	var from uint64
	for _, s := range c.Mix {
		part := float64(s.Warps) / float64(sum)
		list = append(list, share{int(s.Class), s.Class.String(), fmt.Sprintf("%.1f %%", 100*part), whole(s.Warps),
			s.Class.Meaning(), percent(float64(from) / float64(sum)), percent(part)})
		from += s.Warps
	}
	return list
}

type (
	hotLine struct {
		ID, Source, Text string
		Line             int32
		Cells            []cell
	}
	cell struct {
		Text, Raw string
		High      bool
	}
)

// hot are the lines with the highest numbers of any kind, in the order of executions.
func (b *builder) hot() (list []hotLine, left int) {
	lines := b.in.Report.Counts.Lines
	keep := b.hottest(maxHot)
	var order []int
	for i := range lines {
		if keep[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(lines[y].Warps, lines[x].Warps) })
	for _, i := range order {
		l := &lines[i]
		h := hotLine{ID: b.ids[lineKey{l.Func, l.Line}], Line: l.Line, Text: clean(l.Text)}
		if l.Source != "" {
			h.Source = clean(fmt.Sprintf("%s:%d", short(l.Source), l.At))
		}
		count := func(n uint64) {
			x := cell{Raw: strconv.FormatUint(n, 10)}
			if n > 0 {
				x.Text = whole(n)
			}
			h.Cells = append(h.Cells, x)
		}
		number := func(v float64, format string, limit float64) {
			x := cell{Raw: strconv.FormatFloat(v, 'g', 6, 64)}
			if v > 0 {
				x.Text, x.High = fmt.Sprintf(format, v), v >= limit
			}
			h.Cells = append(h.Cells, x)
		}
		count(l.Warps)
		number(l.Lanes(), "%.1f", math.Inf(1))
		count(l.Idle())
		count(l.Diverged)
		for _, t := range []trace.Traffic{l.Global, l.Shared} {
			number(t.PerRequest(), "%.1f", math.Inf(1))
			number(t.Factor(), "%.2f x", high)
			count(t.Excess())
		}
		count(l.Flops.Total())
		list = append(list, h)
	}
	return list, len(lines) - len(list)
}

// inBytes writes a number of bytes.
func inBytes(v float64) string {
	s := rounded(v)
	if !strings.Contains(s, " ") {
		s += " "
	}
	return s + "B"
}
