package plan

import "github.com/gocuda/cuda/internal/ir"

// Stretch is a run of operations that compute each lane from itself alone. They may be executed for some lanes from
// first to last, and then for the others: where registers hold few lanes, that leaves more values in them.
//
// Values may share memory of the frame, one after the other. Of the same width they do so lane by lane, so that what
// one half of the lanes writes is not what the other half has still to read. A value of another width, or one that lies
// across, ends the stretch.
type Stretch struct {
	Start, End int32
	Rows       map[uint32]ir.Class // that it reads and writes, by their place in the frame
}

// Rows are looked for in pieces of this size, which those of 32 and 64 bits are multiples of and begin at.
const stretchPiece = 64

// predicates stands for all rows of predicates, which no operation of a stretch writes.
const predicates = ^uint32(0)

// StretchAt is the longest stretch from one operation on, and before another. Of the operations for which lanewise is
// true all operands are registers and constants, the first one is a row and the only result, and there is no guard.
func (a *Func) StretchAt(from, to int32, lanewise func(i int32) bool) Stretch {
	s := Stretch{Start: from, End: from, Rows: map[uint32]ir.Class{}}
	owner := map[uint32]uint32{} // of pieces of the frame: the row
	for s.End < to && lanewise(s.End) {
		op := &a.IR.Ops[s.End]
		for i := range op.Args {
			if r := &op.Args[i]; r.Kind == ir.Row && !s.takes(owner, r) {
				return s
			}
		}
		s.End++
	}
	return s
}

// takes adds a row, unless it shares memory with another one in a way in which it may not. What it then added does no
// harm: the stretch ends.
func (s *Stretch) takes(owner map[uint32]uint32, r *ir.Arg) bool {
	if c, ok := s.Rows[r.Ref.Off]; ok && r.Class != ir.WPred {
		return c == r.Class
	}
	first, last, name := r.Ref.Off/stretchPiece, r.Ref.Off/stretchPiece, r.Ref.Off
	if r.Class == ir.WPred {
		name = predicates
	} else {
		last += uint32(Pieces(r.Class)) - 1
		if r.Ref.Off%stretchPiece != 0 {
			last++
		}
	}
	for n := first; n <= last; n++ {
		if o, ok := owner[n]; ok && o != name {
			return false
		}
		owner[n] = name
	}
	if r.Class != ir.WPred {
		s.Rows[r.Ref.Off] = r.Class
	}
	return true
}
