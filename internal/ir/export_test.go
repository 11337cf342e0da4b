package ir

import (
	"fmt"
	"reflect"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// CheckPlacement lowers an entry with and without sharing of rows and verifies the frames of all its functions.
func CheckPlacement(entry *check.Func, syms Symbols) (shared *Kernel, err error) {
	s := syms
	s.apart = true
	a, err := Lower(entry, &s)
	if err != nil {
		return nil, err
	}
	b, err := Lower(entry, &syms)
	if err != nil {
		return nil, err
	}
	for i := range a.Funcs {
		if err := checkPlaced(a.Funcs[i], b.Funcs[i]); err != nil {
			return nil, fmt.Errorf("function %s: %w", a.Funcs[i].Name, err)
		}
	}
	return b, nil
}

// Untouched says whether the empty parts that operands and operations share are empty still.
func Untouched() bool { return reflect.ValueOf(noRest).IsZero() && reflect.ValueOf(noOpRest).IsZero() }

// use is a register or parameter variable that an operation reads or writes.
type use struct {
	off   uint32
	class Class
	size  uint32 // bytes in the frame
	width uint8
	write bool
	whole bool
}

// uses lists what operation i uses, in a fixed order.
func uses(f *Func, i int) (out []use) {
	op := &f.Ops[i]
	info := map[uint32]*Arg{}
	var note func(a *Arg)
	note = func(a *Arg) {
		if a.Kind == Row {
			info[a.Ref.Off] = a
		}
		for j := range a.Elems {
			note(&a.Elems[j])
		}
		if a.Base != nil {
			note(a.Base)
		}
		for j := range a.Extra {
			note(&a.Extra[j])
		}
		if a.Second != nil {
			note(a.Second)
		}
	}
	for j := range op.Args {
		note(&op.Args[j])
	}
	if op.Call != nil {
		for _, cs := range [][]Copy{op.Call.Args, op.Call.Rets} {
			for j := range cs {
				if cs[j].Row != nil {
					note(cs[j].Row)
				}
			}
		}
		if op.Call.Pointer != nil {
			note(op.Call.Pointer)
		}
	}
	row := func(off uint32, write, whole bool) {
		u := use{off: off, class: WPred, size: 4, write: write, whole: whole}
		if a := info[off]; a != nil {
			u.class, u.size = a.Class, a.Class.RowSize()
			if a.Width < 32 {
				u.width = a.Width
			}
		}
		out = append(out, u)
	}
	slot := func(s Slot, write bool) {
		out = append(out, use{off: uint32(s.Off), class: 100, size: uint32(s.Stride * 32), write: write, whole: write})
	}
	op.reads(func(r uint32) { row(r, false, false) })
	if op.Ctl == Ret {
		for _, a := range f.RetRegs {
			if a != nil {
				info[a.Ref.Off] = a
				row(a.Ref.Off, false, false)
			}
		}
	}
	if op.Call != nil {
		for j := range op.Call.Args {
			if c := &op.Call.Args[j]; c.slot() {
				slot(c.Slot, false)
			}
		}
	}
	for j := range op.Args {
		if a := &op.Args[j]; a.slot() {
			slot(Slot{Off: uint64(a.Ref.Off), Stride: a.Bits}, j == 0)
		}
	}
	op.writes(func(r uint32, whole bool) { row(r, true, whole) })
	if op.Call != nil {
		for j := range op.Call.Rets {
			if c := &op.Call.Rets[j]; c.slot() {
				slot(c.Slot, true)
			}
		}
	}
	return out
}

// checkPlaced verifies a function whose rows share places against the same function where none do: places lie in the frame and
// overlap only where they are the same, and whatever path is taken, what an operation reads was written last by the register that it names.
func checkPlaced(apart, shared *Func) error {
	if len(apart.Ops) != len(shared.Ops) {
		return fmt.Errorf("%d and %d operations", len(apart.Ops), len(shared.Ops))
	}
	type both struct{ a, b []use }
	all := make([]both, len(apart.Ops))
	places := map[uint32]use{}
	names := map[uint32]uint32{} // place of each register
	for i := range apart.Ops {
		all[i] = both{uses(apart, i), uses(shared, i)}
		if len(all[i].a) != len(all[i].b) {
			return fmt.Errorf("operation %d: %d and %d uses", i, len(all[i].a), len(all[i].b))
		}
		for j, u := range all[i].b {
			v := all[i].a[j]
			if p, ok := names[v.off]; ok && p != u.off {
				return fmt.Errorf("operation %d: register %d moved from %d to %d", i, v.off, p, u.off)
			}
			names[v.off] = u.off
			if uint64(u.off)+uint64(u.size) > shared.FrameSize {
				return fmt.Errorf("operation %d: place %d+%d in a frame of %d bytes", i, u.off, u.size, shared.FrameSize)
			}
			if u.class != WPred && u.off%128 != 0 {
				return fmt.Errorf("operation %d: place %d is not aligned", i, u.off)
			}
			if o, ok := places[u.off]; ok && (o.size != u.size || o.class != u.class || o.width != u.width && o.width+u.width > 0 && u.class == W32) {
				return fmt.Errorf("operation %d: place %d has %+v and %+v", i, u.off, o, u)
			}
			places[u.off] = u
		}
	}
	owner := make(map[uint32]uint32)
	for off, u := range places {
		for k := off; k < off+u.size; k += 4 {
			if o, ok := owner[k]; ok {
				return fmt.Errorf("places %d and %d overlap", off, o)
			}
			owner[k] = off
		}
	}
	// Which registers may have written a place last, forwards over all paths. 0 stands for nobody.
	type state map[uint32]map[uint32]bool
	leader := leaders(shared.Ops)
	at := map[int]state{}
	var work []int
	flow := func(to int, s state) {
		old, ok := at[to]
		if !ok {
			old = state{}
			at[to] = old
		}
		changed := !ok
		for place, who := range s {
			if old[place] == nil {
				old[place] = map[uint32]bool{}
			}
			for w := range who {
				if !old[place][w] {
					old[place][w] = true
					changed = true
				}
			}
		}
		if changed {
			work = append(work, to)
		}
	}
	entry := state{}
	for j, a := range shared.ParamRegs {
		if a != nil {
			entry[a.Ref.Off] = map[uint32]bool{apart.ParamRegs[j].Ref.Off: true}
		}
	}
	flow(0, entry)
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		s := state{}
		for place, who := range at[i] {
			c := map[uint32]bool{}
			for w := range who {
				c[w] = true
			}
			s[place] = c
		}
		for ; ; i++ {
			for j, u := range all[i].b {
				v := all[i].a[j].off
				if !u.write {
					for w := range s[u.off] {
						if w != v {
							return fmt.Errorf("operation %d (PTX line %d) reads register %d in place %d, where register %d may have been written", i, shared.Ops[i].Line, v, u.off, w)
						}
					}
					continue
				}
				if u.whole || s[u.off] == nil {
					s[u.off] = map[uint32]bool{}
				}
				s[u.off][v] = true
			}
			op := &shared.Ops[i]
			next := op.Guard >= 0
			switch op.Ctl {
			case Branch, Jump:
				flow(int(op.Target), s)
			case BranchX:
				for _, t := range op.Targets {
					flow(int(t), s)
				}
			case Ret, Exit:
			default:
				next = true
			}
			if !next {
				break
			}
			if leader[i+1] {
				flow(i+1, s)
				break
			}
		}
	}
	return nil
}
