package ir

import "fmt"

// use is a register or parameter variable that an operation reads or writes.
type use struct {
	off   uint32
	class Class
	size  uint32 // bytes in the frame
	width uint8
	write bool
	whole bool
}

// slotClass is the class of parameter variables in a use.
const slotClass Class = 100

// uses lists what operation i uses, in a fixed order.
func uses(f *Func, i int) (out []use) {
	op := &f.Ops[i]
	info := map[uint32]*Arg{}
	var note func(a *Arg)
	note = func(a *Arg) {
		if a.Kind == Row {
			if o := info[a.Ref.Off]; o != nil && o.Class != a.Class { // both are told
				out = append(out, use{off: a.Ref.Off, class: o.Class, size: o.Class.RowSize()})
			}
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
		out = append(out, use{off: uint32(s.Off), class: slotClass, size: uint32(s.Stride * 32), write: write,
			whole: write})
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

// frame is what is known of the places in a function's frame.
type frame map[uint32]use

// add notes a use of a place: places lie in the frame, aligned, and each has values of one class, size and width.
func (p frame) add(f *Func, u use) error {
	switch {
	case uint64(u.off)+uint64(u.size) > f.FrameSize:
		return fmt.Errorf("place %d+%d in a frame of %d bytes", u.off, u.size, f.FrameSize)
	case u.off%4 != 0 || u.class != WPred && u.off%128 != 0:
		return fmt.Errorf("place %d is not aligned", u.off)
	}
	if o, ok := p[u.off]; ok && (o.size != u.size || o.class != u.class ||
		o.width != u.width && o.width+u.width > 0 && u.class == W32) {
		return fmt.Errorf("place %d has %+v and %+v", u.off, o, u)
	}
	p[u.off] = u
	return nil
}

// overlap is an error when places overlap.
func (p frame) overlap() error {
	owner := make(map[uint32]uint32)
	for off, u := range p {
		for k := off; k < off+u.size; k += 4 {
			if o, ok := owner[k]; ok {
				return fmt.Errorf("places %d and %d overlap", off, o)
			}
			owner[k] = off
		}
	}
	return nil
}

// Verify looks for what no pass may leave behind, after any of them: operations after which control does not know where
// to go, branches out of the function, operations that nothing describes, registers that do not exist or are used as
// what they are not.
func Verify(f *Func) error {
	n := len(f.Ops)
	if n == 0 {
		return fmt.Errorf("%s: no operations", f.Name)
	}
	fail := func(i int, err error) error {
		return fmt.Errorf("%s: operation %d (PTX line %d): %w", f.Name, i, f.Ops[i].Line, err)
	}
	places := frame{}
	for i := range f.Ops {
		op := &f.Ops[i]
		inside := func(to int32) error {
			if to < 0 || int(to) >= n {
				return fmt.Errorf("it branches to %d of %d operations", to, n)
			}
			return nil
		}
		var err error
		switch op.Ctl {
		case Branch, Jump:
			err = inside(op.Target)
		case BranchX:
			for _, t := range op.Targets {
				if err == nil {
					err = inside(t)
				}
			}
		case Call:
			if op.Call == nil {
				err = fmt.Errorf("a call of nothing")
			}
		case Plain:
			if op.Match == nil {
				err = fmt.Errorf("nothing says what it does")
			}
		}
		if err != nil {
			return fail(i, err)
		}
		for _, u := range uses(f, i) {
			if err := f.verifyUse(places, u); err != nil {
				return fail(i, err)
			}
		}
	}
	switch last := &f.Ops[n-1]; {
	case last.Guard >= 0:
		return fail(n-1, fmt.Errorf("control can run off the end"))
	case last.Ctl != Jump && last.Ctl != Branch && last.Ctl != BranchX && last.Ctl != Ret && last.Ctl != Exit:
		return fail(n-1, fmt.Errorf("control runs off the end"))
	}
	if f.rows != nil || f.slots != nil {
		return nil
	}
	if err := places.overlap(); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// verifyUse looks at what an operation uses: before the pass rows a register or variable by its number, after it a
// place in the frame.
func (f *Func) verifyUse(places frame, u use) error {
	if f.rows == nil && f.slots == nil {
		return places.add(f, u)
	}
	if u.class == slotClass {
		if int(u.off) >= len(f.slots) {
			return fmt.Errorf("parameter variable %d of %d", u.off, len(f.slots))
		}
		return nil
	}
	if int(u.off) >= len(f.rows) {
		return fmt.Errorf("register %d of %d", u.off, len(f.rows))
	}
	if r := f.rows[u.off]; r.class != u.class {
		return fmt.Errorf("register %d has class %d and is used as %d", u.off, r.class, u.class)
	}
	return nil
}
