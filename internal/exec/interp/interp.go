// Package interp is the reference engine: every operation of the opcode table over the register frame, in portable Go.
//
// A kernel is prepared once: each lowered operation is given a handler by the operation name of its form (resolver
// tables, one a family of instructions and file), with modifiers and types decided then. The loop in run.go only calls
// handlers and follows control flow.
package interp

import (
	"fmt"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// handler executes an operation for the lanes of m, which is never 0.
type handler func(w *exec.Warp, in *inst, m uint32)

// control executes an operation that takes part in scheduling. It leaves the split's program counter where the split
// goes on and returns true when the engine must go back to the scheduler with the event.
type control func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool)

// resolver picks the implementation of an operation. It sets in.fn or in.ctl (and in.data); the first four operands are
// already in in.d, in.a, in.b and in.c where they are rows.
type resolver func(in *inst, op *ir.Op) error

// inst is a prepared operation.
type inst struct {
	kind       kind
	neg        bool
	anywhere   bool // syncing: partners may stand at another operation
	uniform    bool // syncing: all lanes have the member mask mask
	mask       uint32
	guard      int32
	d, a, b, c ir.Ref
	fn         handler
	ctl        control
	target     int32
	members    *ir.Arg // of one that waits for lanes: the member mask, nil for all lanes of the warp
	op         *ir.Op
	told       *Told // nil without a checker, and where it needs not know
}

type kind uint8

const (
	plain kind = iota
	scheduling
	syncing // plain, after Gather
	branch
	jump
	branchx
	call
	ret
	exit
)

// families are the resolver tables by opcode. Every family of instructions has a file of its own.
var families = []map[optab.Opcode]resolver{
	moveOps, memoryOps, intOps, floatOps, cvtOps, compareOps, videoOps, atomOps, syncOps, mbarrierOps, clusterOps,
	stackOps, asyncOps, bulkOps, tmaOps, warpOps, matrixOps, textureOps, systemOps, multimemOps,
}

func lookup(op optab.Opcode) resolver {
	for _, f := range families {
		if r := f[op]; r != nil {
			return r
		}
	}
	return nil
}

// Supports says whether the engine has an implementation for an operation of the opcode table.
func Supports(op optab.Opcode) bool {
	switch op {
	case optab.OpBra, optab.OpBrx, optab.OpCall, optab.OpRet, optab.OpExit, optab.OpTrap:
		return true
	}
	return lookup(op) != nil
}

type engine struct{ check, init bool }

// New returns the interpreter.
func New() exec.Engine { return engine{} }

// Watched returns an interpreter whose kernels tell exec.Launch.Check (race) or exec.Launch.Init (init) of what they
// do. They have to be launched with what was asked for.
func Watched(race, init bool) exec.Engine { return engine{check: race, init: init} }

// Name implements exec.Engine.
func (engine) Name() string { return "interpreter" }

// Compile implements exec.Engine.
func (e engine) Compile(k *ir.Kernel) (exec.Code, error) {
	var places *exec.Places
	if e.check || e.init {
		places = exec.NewPlaces(k)
	}
	c := &code{k: k, funcs: make([][]inst, len(k.Funcs)), places: places}
	if e.init {
		for _, f := range k.Funcs {
			c.rows = append(c.rows, newUndefinedRows(f))
		}
	}
	found := map[*optab.Form]resolver{}
	ids := uint32(0)
	for i, f := range k.Funcs {
		insts := make([]inst, len(f.Ops))
		stored := &same{f: f, entry: i == 0}
		var simple []inst
		if e.init {
			simple = make([]inst, len(f.Ops))
		}
		for j := range f.Ops {
			if err := prepare(k, &insts[j], &f.Ops[j], found); err != nil {
				return nil, err
			}
			if e.check {
				instrument(&insts[j], stored, j, places.Site(i, j), &ids)
			}
			if e.init {
				simple[j] = insts[j]
				if err := c.watch(i, &insts[j], &f.Ops[j], places.Site(i, j)); err != nil {
					return nil, err
				}
			}
		}
		c.funcs[i] = insts
		if e.init {
			c.simple = append(c.simple, simple)
		}
	}
	return c, nil
}

// errNoForm is returned by resolvers for a modifier or type that they do not implement.
func unsupported(op *ir.Op) error {
	name := op.Name
	if op.Match != nil {
		name = op.Match.Form.Name
		for _, w := range op.Match.Words {
			if w != "" {
				name += "." + w
			}
		}
	}
	return fmt.Errorf("the instruction %s", name)
}

// prepare gives the operation its handler; found holds the resolvers of forms that have been looked up.
func prepare(k *ir.Kernel, in *inst, op *ir.Op, found map[*optab.Form]resolver) error {
	in.op, in.guard, in.neg, in.target = op, op.Guard, op.Neg, op.Target
	for i := range op.Args {
		a := &op.Args[i]
		if !a.Reg() {
			continue
		}
		switch i {
		case 0:
			in.d = a.Ref
		case 1:
			in.a = a.Ref
		case 2:
			in.b = a.Ref
		case 3:
			in.c = a.Ref
		}
	}
	var err error
	switch op.Ctl {
	case ir.Branch:
		in.kind = branch
	case ir.Jump:
		in.kind = jump
	case ir.BranchX:
		in.kind = branchx
	case ir.Call:
		in.kind = call
		if op.Call.Builtin != "" {
			in.kind = plain
			if err = resolveBuiltin(in, op); in.ctl != nil {
				in.kind = scheduling
			}
		}
	case ir.Ret:
		in.kind = ret
	case ir.Exit:
		in.kind = exit
	case ir.Trap:
		in.fn = func(w *exec.Warp, in *inst, m uint32) { w.Throw(exec.FaultTrap, first(m), "") }
	case ir.Special:
		err = resolveSpecial(in, op)
	case ir.FrameAddr:
		in.fn = frameAddr
	default:
		r := found[op.Match.Form]
		if r == nil {
			if r = lookup(op.Opcode()); r == nil {
				err = unsupported(op)
				break
			}
			found[op.Match.Form] = r
		}
		if err = r(in, op); err != nil {
			break
		}
		if in.ctl != nil {
			in.kind = scheduling
		} else if in.fn == nil {
			err = unsupported(op)
		} else if op.Sync() {
			if op.WholeWarp() {
				in.fn = ifWhole(in.fn)
			}
			in.kind = syncing
			in.members = op.Arg("membermask")
			in.uniform, in.mask = in.members == nil, full
			if in.members != nil && in.members.Kind == ir.Imm {
				in.uniform, in.mask = true, uint32(in.members.Bits)
			}
			in.anywhere = op.Opcode() == optab.OpBarWarp
		}
	}
	if err != nil {
		return &exec.UnsupportedError{Kernel: k.Name, Line: op.Line, Feature: err.Error()}
	}
	return nil
}
