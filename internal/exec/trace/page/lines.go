package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/exec/trace"
)

// lineKey is a line of a function's PTX, or of a file.
type lineKey struct {
	name string
	line int32
}

// builder makes the parts of the page.
type builder struct {
	in     *Input
	ids    map[lineKey]string      // of the rows of PTX lines
	groups map[lineKey]int         // by line of the source, what marks it and its PTX lines, from 1
	work   map[lineKey]*trace.Work // of PTX lines
	most   [heats]uint64           // of any line
	shown  map[string]*file
}

// file is a file that the PTX was compiled from.
type file struct {
	lines []string // none when it cannot be read
	work  map[int32]*trace.Work
	most  [heats]uint64
}

type (
	block struct {
		Name string
		Rows []row
	}
	row struct {
		Gap                  bool
		ID, Class, Heat      string
		Group                int
		Line                 int32
		Exec, Lanes, Traffic string
		Text                 string
		High                 bool
	}
)

// heats are what lines can be coloured by.
const heats = 6

func heatNames() []string {
	return []string{"executions", "idle lanes", "divided warps", "excess global sectors", "global sectors",
		"excess shared passes"}
}

func heatOf(w *trace.Work) [heats]uint64 {
	return [heats]uint64{w.Warps, w.Idle(), w.Diverged, w.Global.Excess(), w.Global.Units, w.Shared.Excess()}
}

// number gives PTX lines their names in the page, and lines of the source that can be shown theirs.
func (b *builder) number() {
	b.work, b.shown = map[lineKey]*trace.Work{}, map[string]*file{}
	for i, f := range b.in.PTX {
		for _, l := range f.Lines {
			if !l.Label {
				b.ids[lineKey{f.Func, l.Line}] = fmt.Sprintf("p%d-%d", i, l.Line)
			}
		}
	}
	c := b.in.Report.Counts
	for i := range c.Lines {
		l := &c.Lines[i]
		b.work[lineKey{l.Func, l.Line}] = &l.Work
		for h, n := range heatOf(&l.Work) {
			b.most[h] = max(b.most[h], n)
		}
	}
	for i := range c.Sources {
		l := &c.Sources[i]
		f, known := b.shown[l.File]
		if !known {
			f = b.read(l.File)
			b.shown[l.File] = f
		}
		if l.Line < 1 || f.lines != nil && int(l.Line) > len(f.lines) {
			continue
		}
		f.work[l.Line] = &l.Work
		for h, n := range heatOf(&l.Work) {
			f.most[h] = max(f.most[h], n)
		}
		b.groups[lineKey{l.File, l.Line}] = len(b.groups) + 1
	}
}

func (b *builder) read(name string) *file {
	f := &file{work: map[int32]*trace.Work{}}
	if b.in.Source == nil {
		return f
	}
	if text, err := b.in.Source(name); err == nil && !slices.Contains(text, 0) {
		f.lines = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	}
	return f
}

// digits is a digit for each kind of heat, 1 to 9 as a share of the most that a line has.
func digits(w *trace.Work, most [heats]uint64) string {
	var d [heats]byte
	for h, n := range heatOf(w) {
		d[h] = '0'
		if n > 0 {
			d[h] = byte('0' + max(1, int(math.Ceil(9*float64(n)/float64(most[h])))))
		}
	}
	return string(d[:])
}

// fill writes the numbers of a row.
func (r *row) fill(w *trace.Work, most [heats]uint64) {
	if w == nil || w.Warps == 0 {
		r.Class = strings.TrimSpace(r.Class + " none")
		return
	}
	r.Exec, r.Heat = strings.TrimSpace(rounded(float64(w.Warps))), digits(w, most)
	r.Lanes = fmt.Sprintf("%.1f", w.Lanes())
	var parts []string
	part := func(t trace.Traffic, unit string) {
		if t.Requests > 0 {
			parts = append(parts, fmt.Sprintf("%.1f/%.1f%s", t.PerRequest(), t.IdealPerRequest(), unit))
			r.High = r.High || t.Factor() >= high
		}
	}
	part(w.Global, "s")
	part(w.Shared, "p")
	part(w.Local, "s local")
	part(w.Const, "a")
	if w.Diverged > 0 && w.Branches > 0 {
		parts = append(parts, fmt.Sprintf("%.0f%% div", 100*float64(w.Diverged)/float64(w.Branches)))
		r.High = r.High || w.Efficiency() < 0.95
	}
	r.Traffic = strings.Join(parts, " ")
}

// funcs are the rows of PTX.
func (b *builder) funcs() (list []block) {
	total := 0
	for _, f := range b.in.PTX {
		total += len(f.Lines)
	}
	keep := map[lineKey]bool{}
	if total > maxRows {
		hot := b.hottest(maxRows / 2)
		for i, l := range b.in.Report.Counts.Lines {
			if hot[i] {
				keep[lineKey{l.Func, l.Line}] = true
			}
		}
	}
	for _, f := range b.in.PTX {
		x := block{Name: clean(f.Func)}
		left := 0
		gap := func() {
			if left > 0 {
				x.Rows = append(x.Rows, row{Gap: true, Text: fmt.Sprintf("%d lines left out", left)})
				left = 0
			}
		}
		for _, l := range f.Lines {
			k := lineKey{f.Func, l.Line}
			if total > maxRows && !keep[k] {
				left++
				continue
			}
			gap()
			r := row{Line: l.Line, Text: clean(l.Text)}
			if l.Label {
				r.Class = "label"
			} else {
				r.ID, r.Group = b.ids[k], b.groups[lineKey{l.Source, l.At}]
				r.fill(b.work[k], b.most)
			}
			x.Rows = append(x.Rows, r)
		}
		gap()
		list = append(list, x)
	}
	return list
}

// hottest chooses n lines (or a few more): those of findings, and of each kind of heat the highest.
func (b *builder) hottest(n int) []bool {
	lines := b.in.Report.Counts.Lines
	keep := make([]bool, len(lines))
	found := map[lineKey]bool{}
	for _, f := range b.in.Report.Findings {
		found[lineKey{f.Func, f.Line}] = true
	}
	order := make([]int, len(lines))
	for i := range lines {
		order[i] = i
		keep[i] = found[lineKey{lines[i].Func, lines[i].Line}]
	}
	left := n
	for h := range heats {
		slices.SortStableFunc(order, func(x, y int) int {
			return cmp.Compare(heatOf(&lines[y].Work)[h], heatOf(&lines[x].Work)[h])
		})
		part := left / (heats - h)
		for _, i := range order {
			if part == 0 || heatOf(&lines[i].Work)[h] == 0 {
				break
			}
			if !keep[i] {
				keep[i] = true
				part--
				left--
			}
		}
	}
	for i := 0; i < len(lines) && left > 0; i++ {
		if !keep[i] {
			keep[i] = true
			left--
		}
	}
	return keep
}

// files are the rows of the source: all of a short file, of a longer one what lies around lines that were executed, of
// one that cannot be read the numbers of those.
func (b *builder) files() (list []block) {
	var names []string
	for name, f := range b.shown {
		if len(f.work) > 0 {
			names = append(names, name)
		}
	}
	done := map[string]uint64{}
	for _, l := range b.in.Report.Counts.Sources {
		done[l.File] += l.Warps
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(done[y], done[x]), cmp.Compare(x, y)) })
	rows := 0
	for _, name := range names {
		f := b.shown[name]
		x := block{Name: clean(name)}
		if f.lines == nil {
			x.Name += " (the file is not there, or is no text of a source)"
			for _, line := range slices.Sorted(maps.Keys(f.work)) {
				r := row{Line: line, Group: b.groups[lineKey{name, line}]}
				r.fill(f.work[line], f.most)
				if rows++; rows <= maxRows {
					x.Rows = append(x.Rows, r)
				}
			}
			list = append(list, x)
			continue
		}
		near := make([]bool, len(f.lines))
		for l := range f.work {
			for i := max(int(l)-1-context, 0); i < min(int(l)+context, len(near)); i++ {
				near[i] = true
			}
		}
		left := 0
		gap := func() {
			if left > 0 {
				x.Rows = append(x.Rows, row{Gap: true, Text: fmt.Sprintf("%d lines left out", left)})
				left = 0
			}
		}
		for i, text := range f.lines {
			if len(f.lines) > longFile && !near[i] || rows >= maxRows {
				left++
				continue
			}
			gap()
			line := int32(i + 1)
			r := row{Line: line, Text: clean(strings.TrimRight(text, "\r")), Group: b.groups[lineKey{name, line}]}
			r.fill(f.work[line], f.most)
			x.Rows = append(x.Rows, r)
			rows++
		}
		gap()
		list = append(list, x)
	}
	return list
}
