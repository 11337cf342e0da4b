package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// WholeCTA returns why a kernel cannot run as whole CTAs; nil when it can.
func WholeCTA(k *ir.Kernel, a *Func) *NoCodeError {
	f := k.Funcs[0]
	if a.TooLarge != nil {
		return a.TooLarge
	}
	if a.Serves > maxServed {
		return &NoCodeError{Why: WhyScheduler, Detail: "too many operations have no template"}
	}
	barrier := uint8(0)
	for i := range f.Ops {
		op := &f.Ops[i]
		switch op.Ctl {
		case ir.Branch, ir.Jump, ir.Ret, ir.Exit, ir.Trap:
			continue
		case ir.Plain, ir.Special, ir.FrameAddr:
		case ir.BranchX:
			if a := &op.Args[0]; a.Kind == ir.Row && a.Class == ir.W32 && len(op.Targets) <= maxTargets {
				continue
			}
			return &NoCodeError{Why: WhyScheduler, Line: op.Line}
		case ir.Call:
			if a.Served[i] != NotServed {
				continue
			}
			return &NoCodeError{Why: WhyScheduler, Detail: "it calls functions", Line: op.Line}
		default:
			return &NoCodeError{Why: WhyScheduler, Line: op.Line}
		}
		if b := BarrierOf(op); b != 0 {
			if barrier != 0 && barrier != b {
				return &NoCodeError{Why: WhyScheduler, Detail: "it has several barriers"}
			}
			barrier = b
			continue
		}
		for j := range op.Args {
			// Code of whole CTAs reads a copy of the parameters, and would not see what is written.
			if x := &op.Args[j]; x.Kind == ir.Addr && x.Space == ir.KernelParam && op.Effect() != optab.MemLoad {
				return &NoCodeError{Why: WhyScheduler, Detail: "it writes to its parameters", Line: op.Line}
			}
		}
		// A checker asks the scheduler's state where the stack ends.
		checked := a.Bounds != nil || a.Told != nil || a.Followed != nil
		if !a.Native[i] && a.Served[i] == NotServed || UsesStack(op) && checked {
			return &NoCodeError{Why: WhyScheduler, Detail: "an operation has no template", Line: op.Line}
		}
	}
	return nil
}

// maxTargets is how many targets a branch has at most that code of whole CTAs finds by comparisons.
const maxTargets = 256

// Service is what a routine in Go does for an operation without a template, called from code of whole CTAs.
type Service uint8

// Services.
const (
	NotServed  Service = iota
	ServedSome         // whatever lanes there are
	ServedAll          // whole warps alone
)

// Serve finds the operations that routines in Go do: serves says whether there is one, and whether it needs all lanes.
// Their operands stand in rows.
func (a *Func) Serve(serves func(i int32) (serves, alone bool)) {
	for i := range a.IR.Ops {
		op := &a.IR.Ops[i]
		if a.Native[i] || BarrierOf(op) != 0 {
			continue
		}
		switch op.Ctl {
		case ir.Plain, ir.Special:
		case ir.Call:
			if op.Call.Builtin == "" {
				continue
			}
		default:
			continue
		}
		ok, alone := serves(int32(i))
		switch {
		case !ok:
			continue
		case alone:
			a.Served[i] = ServedAll
		default:
			a.Served[i] = ServedSome
		}
		if a.InRows == nil {
			a.InRows = make([]bool, len(a.IR.Ops))
		}
		a.InRows[i] = true
		a.Serves++
	}
}

// maxServed is how many operations of a whole CTA may be done by routines in Go. The way there and back is long, and is
// written twice.
const maxServed = 1 << 12
