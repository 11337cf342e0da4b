package softdev

import (
	"fmt"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/exec"
)

// chooseChecks sets what is looked for while kernels run, by the options and the environment.
func (d *Driver) chooseChecks() error {
	checks, err := checker.Parse(d.opts.Check...)
	if err != nil {
		return err
	}
	d.checks = checks
	if !d.opts.Unchecked {
		more, err := checker.Parse(d.env.Check)
		if err != nil {
			return fmt.Errorf("%s: %w", env.Check, err)
		}
		d.checks |= more
	}
	if d.opts.Memcheck || d.env.Memcheck && !d.opts.Unchecked {
		d.checks |= checker.Memory
	}
	if d.checks == 0 {
		return nil
	}
	if err := d.openChecks(); err != nil {
		return err
	}
	if d.checks.Has(checker.Race) {
		d.check = checker.New(d.defects)
	}
	if d.checks.Has(checker.Init) {
		d.uninit = newInitcheck(d)
	}
	return nil
}

// checked has the launch followed, as an operation of a stream; end is called when it has ended.
func (d *Driver) checked(l *exec.Launch, a *checker.Action) (end func()) {
	l.Order = d.opts.Order
	if d.memory.check != nil {
		if h, ok := l.Sys.(interface {
			heapCall(free bool, addr uint64, at checker.Site)
		}); ok {
			l.HeapCall = h.heapCall
		}
	}
	l.Synchronization = d.checks.Has(checker.Sync)
	if d.checks.Has(checker.Sync | checker.Memory) {
		l.Defects = func(r *checker.Report) { d.defects.Add(r) }
	}
	end = func() {}
	if d.check == nil && d.uninit == nil {
		return end
	}
	places := l.Code.(interface{ Places() *exec.Places }).Places()
	if d.uninit != nil {
		l.Init = d.uninit.Launch(places)
	}
	if d.check != nil {
		l.Check = d.check.Launch(places)
		l.Check.In(a, l.Grid, l.Block)
		end = l.Check.End
	}
	return end
}
