package cuda

import (
	"cmp"

	"github.com/gocuda/cuda/internal/checker"
)

// Defect is a finding of a check of [WithCheck].
type Defect struct {
	Check    string // memory, race, init, sync or leak
	Kind     string // out-of-bounds, race, ...: docs/checker.md has all
	Severity string // error or warning
	Kernel   string // "" for a call of the program
	File     string // of the source or the call; "" where nothing tells it
	Line     int    // in File
	PTXLine  int    // 0 for a call of the program
	Text     string // the whole report, in lines
}

// String returns the whole report.
func (d Defect) String() string { return d.Text }

// WithCheckReports is [WithCheck] with a function that receives each distinct defect once, before the call that waits
// for the kernel returns, instead of standard error. It may be called from several goroutines at once.
func WithCheckReports(report func(Defect), names ...string) Option {
	return func(o *options) {
		o.Software.Check = append(o.Software.Check, names...)
		o.Software.Reports = func(r *checker.Report) {
			d := Defect{Check: r.Check, Kind: r.Kind, Severity: string(r.Severity), Text: r.String()}
			for i := range r.Sites {
				s := &r.Sites[i]
				d.Kernel = cmp.Or(d.Kernel, s.Kernel)
				d.PTXLine = cmp.Or(d.PTXLine, int(s.Line))
				switch {
				case d.File != "":
				case s.Call != nil:
					d.File, d.Line = s.Call.File, s.Call.Line
				case s.SourceLine > 0:
					d.File, d.Line = s.Source, int(s.SourceLine)
				}
			}
			if m := r.Memory; d.File == "" && m != nil {
				d.File, d.Line = m.Made.File, m.Made.Line
			}
			report(d)
		}
	}
}
