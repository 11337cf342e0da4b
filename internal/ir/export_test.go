package ir

import (
	"fmt"
	"reflect"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// CheckPlacement lowers an entry with and without sharing of rows and verifies the frames of all its functions.
func CheckPlacement(entry *check.Func, syms Symbols) (shared *Kernel, err error) {
	s := syms
	s.Registers = true
	a, err := LowerVerified(entry, &s)
	if err != nil {
		return nil, err
	}
	b, err := LowerVerified(entry, &syms)
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

// checkPlaced verifies a function whose rows share places against the same function where none do: whatever path is
// taken, what an operation reads was written last by the register that it names.
func checkPlaced(apart, shared *Func) error {
	if len(apart.Ops) != len(shared.Ops) {
		return fmt.Errorf("%d and %d operations", len(apart.Ops), len(shared.Ops))
	}
	type both struct{ a, b []use }
	all := make([]both, len(apart.Ops))
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
