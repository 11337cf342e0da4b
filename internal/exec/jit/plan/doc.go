// Package plan finds out what generators of machine code need to know of a function, whatever the processor: blocks,
// live rows and innermost loops with the values that are worth a register ([Analyse]); and, for a block of given
// dimensions, which values are the same in all lanes of a warp or grow by a stride from lane to lane, and where lanes
// can be apart ([Evaluate]).
//
// It knows the lowered program (package ir) only.
package plan
