package plan

import "github.com/gocuda/cuda/internal/ir"

// NotesBases says whether the note of an access whose addresses are web w has its bases in their place.
func (v *Values) NotesBases(op, w int32) bool {
	x := &v.Webs[w]
	return x.Variation.Scalar() && x.Class != ir.WPred && !v.MayWrap[op]
}
