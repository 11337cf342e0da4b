package interp

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// Told is an operation that a checker is told of.
type Told struct {
	ac   *access // of an operation whose addresses say it all; else nil
	ops  *spaced
	each bool // lane by lane: it releases

	lanes uint32 // whose addresses it uses
}

// PrepareWatched is Prepare for kernels whose operations tell exec.Launch.Check of what they do (race), or which follow
// memory that nobody has written for exec.Launch.Init (init). Only Code does the latter: single operations are for
// warps all of whose registers are defined.
func PrepareWatched(k *ir.Kernel, race, init bool) (*Single, error) {
	x, err := Watched(race, init).Compile(k)
	if err != nil {
		return nil, err
	}
	c := x.(*code)
	if !init {
		return &Single{c, c}, nil
	}
	return &Single{&code{k: k, funcs: c.simple, places: c.places}, c}, nil
}

// Defined makes all registers of a warp's function defined for exec.Launch.Init. The warp has not run yet.
func (s *Single) Defined(w *exec.Warp) {
	a := w.Entry()
	u := &undefined{c: s.whole, b: w.CTA.Init(), local: checker.NewBytes(true),
		frames: map[*exec.Activation]*undefinedFrame{}}
	w.Undefined = u
	u.enter(a, 0)
}

// Places are the kernel's operations as the checker knows them.
func (s *Single) Places() *exec.Places { return s.c.places }

// Told is what a checker is told of an operation; nil when it is told nothing. Serve and Step tell it.
func (s *Single) Told(f int, pc int32) *Told { return s.c.funcs[f][pc].told }

// Addressed says whether Tell can tell of the operation. base is the operand that its addresses come from, nil for one
// that has none.
func (t *Told) Addressed() (base *ir.Arg, ok bool) {
	if t.ac == nil {
		return nil, false
	}
	return t.ac.base, true
}

// Access is the operation that Tell tells of, as the checker knows it where it accesses global memory, and the space
// that its addresses are in; ok is false where Addressed is.
func (t *Told) Access() (space ir.Space, op *checker.Op, ok bool) {
	if t.ac == nil {
		return 0, nil, false
	}
	return t.ac.space, &t.ops.global, true
}

// TellRun tells of a plain operation on global memory, of which lane l accesses base+stride*l and its displacement.
func (t *Told) TellRun(w *exec.Warp, lanes uint32, base uint64, stride int64) {
	w.CTA.Check().AccessRun(&t.ops.global, w.Index, lanes, base+t.ac.disp, stride)
}

// Disp is the displacement that Tell adds to base addresses.
func (t *Told) Disp() uint64 { return t.ac.disp }

// Lanes are those whose addresses the operation uses.
func (t *Told) Lanes() uint32 { return t.lanes }

// Tell tells of an operation that lanes have executed. base has their base addresses, 64 or 32 bits each as the operand
// has them; nil when it has none.
func (t *Told) Tell(w *exec.Warp, lanes uint32, base unsafe.Pointer) {
	var addrs [32]uint64
	lanes &= t.lanes
	switch ac := t.ac; {
	case ac.base == nil:
		for l := range addrs {
			addrs[l] = ac.disp
		}
	case ac.base.Class == ir.W32:
		rows := (*[32]uint32)(base)
		for l := range addrs {
			addrs[l] = uint64(rows[l] + uint32(ac.disp))
		}
	default:
		rows := (*[32]uint64)(base)
		for l := range addrs {
			addrs[l] = rows[l] + ac.disp
		}
	}
	if !t.each {
		t.ops.tell(w, t.ac.space, lanes, lanes, &addrs)
		return
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		t.ops.tell(w, t.ac.space, lanes&-lanes, lanes&-lanes, &addrs)
	}
}
