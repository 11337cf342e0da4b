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
	Rows       int // that it reads and writes
	pieces     []stretchRow
	stamp      uint32
}

// Stretches finds stretches in a function. The last one found alone is good.
type Stretches struct {
	pieces []stretchRow // of the frame
	stamp  uint32
}

// stretchRow says which row a piece of the frame is of, in the stretch with that stamp.
type stretchRow struct {
	stamp, row uint32
	class      ir.Class
}

// Class is the class of a row, by its place in the frame; false for one that the stretch does not have, and for
// predicates.
func (s *Stretch) Class(row uint32) (c ir.Class, has bool) {
	if n := row / stretchPiece; int(n) < len(s.pieces) {
		p := &s.pieces[n]
		return p.class, p.stamp == s.stamp && p.row == row && p.class != ir.WPred
	}
	return 0, false
}

// Rows are looked for in pieces of this size, which those of 32 and 64 bits are multiples of and begin at.
const stretchPiece = 64

// predicates stands for all rows of predicates, which no operation of a stretch writes.
const predicates = ^uint32(0)

// At is the longest stretch from one operation on, and before another. Of the operations for which lanewise is true all
// operands are registers and constants, the first one is a row and the only result, and there is no guard.
func (f *Stretches) At(ops []ir.Op, from, to int32, lanewise func(i int32) bool) Stretch {
	f.stamp++
	s := Stretch{Start: from, End: from, stamp: f.stamp}
	for s.End < to && lanewise(s.End) {
		op := &ops[s.End]
		for i := range op.Args {
			if r := &op.Args[i]; r.Kind == ir.Row && !f.takes(&s, r) {
				s.pieces = f.pieces
				return s
			}
		}
		s.End++
	}
	s.pieces = f.pieces
	return s
}

// takes adds a row, unless it shares memory with another one in a way in which it may not. What it then added does no
// harm: the stretch ends.
func (f *Stretches) takes(s *Stretch, r *ir.Arg) bool {
	first := r.Ref.Off / stretchPiece
	last, name := first, r.Ref.Off
	if r.Class == ir.WPred {
		name = predicates
	} else {
		last += uint32(Pieces(r.Class)) - 1
		if r.Ref.Off%stretchPiece != 0 {
			last++
		}
	}
	if n := int(last) + 1; n > len(f.pieces) {
		f.pieces = append(f.pieces, make([]stretchRow, n-len(f.pieces))...)
	}
	if p := &f.pieces[first]; p.stamp == s.stamp && p.row == name {
		return p.class == r.Class
	}
	for n := first; n <= last; n++ {
		p := &f.pieces[n]
		if p.stamp == s.stamp && p.row != name {
			return false
		}
		*p = stretchRow{s.stamp, name, r.Class}
	}
	if r.Class != ir.WPred {
		s.Rows++
	}
	return true
}
