package softdev

import (
	"fmt"
	"io"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/exec"
)

// chooseChecks sets what is looked for while kernels run, by the options and the environment.
func (d *Driver) chooseChecks() error {
	d.opts.Memcheck = d.opts.Memcheck || d.env.Memcheck
	names := d.opts.Check
	if d.env.Check != "" {
		names = append(names[:len(names):len(names)], strings.Split(d.env.Check, ",")...)
	}
	for _, name := range names {
		switch strings.TrimSpace(name) {
		case "":
		case "memory":
			d.opts.Memcheck = true
		case "race":
			if d.check == nil {
				d.check = checker.New(d.found)
			}
		default:
			return fmt.Errorf("there is no check %q: %s takes memory and race", name, env.Check)
		}
	}
	return nil
}

// found gives a report to the program, or writes it.
func (d *Driver) found(r *checker.Report) {
	if d.opts.Reports != nil {
		d.opts.Reports(r)
		return
	}
	_, _ = io.WriteString(d.opts.Stderr, r.String())
}

// checked has the launch followed.
func (d *Driver) checked(l *exec.Launch) {
	l.Order = d.opts.Order
	if d.check == nil {
		return
	}
	l.Check = d.check.Launch(l.Code.(interface{ Places() *exec.Places }).Places())
}
