package softdev

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/checker/format"
	"github.com/gocuda/cuda/internal/source"
)

// checkFiles are the files that the checks read and write.
type checkFiles struct {
	out   []string
	skip  checker.Suppressions
	ended bool
}

// openChecks makes the log of defects, with what the files of suppressions say.
func (d *Driver) openChecks() error {
	for _, list := range append(d.opts.CheckOut[:len(d.opts.CheckOut):len(d.opts.CheckOut)], d.env.CheckOut) {
		for name := range strings.SplitSeq(list, ",") {
			if name == "" {
				continue
			}
			if err := format.Known(name); err != nil {
				return err
			}
			name, err := ownName(name)
			if err != nil {
				return fmt.Errorf("reports: %w", err)
			}
			d.checkFiles.out = append(d.checkFiles.out, name)
		}
	}
	for _, list := range []string{d.opts.Suppressions, d.env.CheckSuppress} {
		for name := range strings.SplitSeq(list, ",") {
			if name == "" {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return fmt.Errorf("suppressions: %w", err)
			}
			more, err := checker.ReadSuppressions(bytes.NewReader(text))
			if err != nil {
				return fmt.Errorf("suppressions in %s: %w", name, err)
			}
			d.checkFiles.skip = append(d.checkFiles.skip, more...)
		}
	}
	d.defects = checker.NewLog(d.found, d.checkFiles.skip)
	return d.writeReports()
}

// ownName puts the process's number for %p, and for %n the first number from 1 of which there is no file yet: programs
// that start others, and open several devices, have a file for each.
func ownName(name string) (string, error) {
	name = strings.ReplaceAll(name, "%p", strconv.Itoa(os.Getpid()))
	if !strings.Contains(name, "%n") {
		return name, nil
	}
	for n := 1; ; n++ {
		own := strings.ReplaceAll(name, "%n", strconv.Itoa(n))
		f, err := os.OpenFile(own, os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return own, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
}

// result is what was found so far.
func (d *Driver) result() *format.Result {
	return &format.Result{Checks: d.checks, Reports: d.defects.Reports(), Suppressed: d.defects.Suppressed(),
		Source: source.Read}
}

// writeReports writes the files anew. It is done at each new report, too: a program may end without a word.
func (d *Driver) writeReports() error {
	for _, name := range d.checkFiles.out {
		var b bytes.Buffer
		if err := d.result().Write(name, &b); err != nil {
			return err
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			return fmt.Errorf("reports: %w", err)
		}
	}
	return nil
}

// found gives a report to the program, or writes it.
func (d *Driver) found(r *checker.Report) {
	if len(d.checkFiles.out) > 0 {
		d.reporting.Lock()
		err := d.writeReports()
		d.reporting.Unlock()
		if err != nil {
			_, _ = fmt.Fprintln(d.opts.Stderr, err)
		}
	}
	if d.opts.Reports != nil {
		d.opts.Reports(r)
		return
	}
	_, _ = io.WriteString(d.opts.Stderr, r.String())
}

// Checked says whether anything is looked for.
func (d *Driver) Checked() bool { return d.defects != nil }

// EndChecks ends what is looked for: memory that contexts hold is leaked, the files are written with their last counts,
// and a summary is where the reports are. failed says that there are errors, which GOCUDA_CHECK_EXIT makes an exit code
// of. Close does it, too; a second call does nothing.
func (d *Driver) EndChecks() (failed bool) {
	if d.defects == nil {
		return false
	}
	d.reporting.Lock()
	had := d.checkFiles.ended
	d.checkFiles.ended = true
	d.reporting.Unlock()
	if !had {
		for _, c := range d.contexts.all() {
			if !c.dead.Load() {
				c.leaks()
			}
		}
		if err := d.writeReports(); err != nil {
			_, _ = fmt.Fprintln(d.opts.Stderr, err)
		}
		if d.opts.Reports == nil {
			_, _ = io.WriteString(d.opts.Stderr, d.result().Summary())
		}
	}
	return d.result().Errors() > 0
}
