package abi

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Frame says what stands behind the rows in a warp's frame, as offsets from its start.
type Frame struct {
	Resume  int32 // where the warp goes on
	Next    int32 // frame of the next warp
	Entry   int32 // where it begins
	Mask    int32 // lanes that run when it goes on, for code of some lanes
	Live    int32 // lanes that have not exited
	Init    int32 // lanes that it begins with
	Warp    int32 // its number
	CC      int32 // carry flags
	Turn    int32 // steps of a loop until other warps have their turn
	Tag     int32 // its number in the highest eight bits: how notes begin (LogEntry)
	Tid     int32 // bases of %tid: three times two
	TidRows int32 // rows of %tid
	Local   int32 // local memory of its lane 0
	Pend    int32 // lanes that wait, by block number
	Slots   int32 // scalars
	Tops    int32 // stack pointers of its lanes, where the function has operations for them; else 0
	Size    int32
}

func NewFrame(f *ir.Func, waits, slots int) *Frame {
	l := &Frame{}
	at := (int32(f.FrameSize) + 63) &^ 63
	l.Resume, l.Next, l.Entry, l.Mask, l.Live, l.Init, l.Warp, l.CC, l.Turn =
		at, at+8, at+16, at+24, at+28, at+32, at+36, at+40, at+44
	l.Tag = at + 56
	l.Local = at + 48
	l.Tid = at + 64
	l.TidRows = at + 128
	l.Pend = l.TidRows + 3*128
	l.Slots = l.Pend + (int32(4*waits)+127)&^63
	l.Size = (l.Slots+int32(16*slots)+127)&^127 + 64
	for i := range f.Ops {
		if plan.UsesStack(&f.Ops[i]) {
			l.Tops = l.Size
			l.Size += 128
			break
		}
	}
	return l
}

// ResumePoint is a place at which a warp goes on.
type ResumePoint struct {
	Off    int32 // in the code
	Op     int32
	Masked bool
	Bar    bool // behind a barrier, whose operation is the one before
}

// CTACode is the code of a kernel for blocks of given dimensions.
type CTACode struct {
	Values  *plan.Values
	Frame   *Frame
	Text    []byte
	Start   int32 // offset of the way in
	Entries [2]int32
	Skip    int32 // offset of where ended warps stand, when there are barriers
	Waits   bool  // there are barriers or turns; else a warp begins when those before it have ended
	InStep  bool  // a warp that has not had its turn since the last barrier stands at Context.Part
	Points  []ResumePoint
	// of code without a part of that for some lanes (CTAOptions.Later): where the targets of links stand in Text, by
	// number; 0 for none. What stands in place of the part not written leaves for Go.
	Links []int32
	Kept  any // what the generator keeps for that part
}

// CTARest is the code for some lanes that a CTACode lacks.
type CTARest struct {
	Text    []byte
	Entries []int32 // by block: where those come in that the other code leaves out; 0 for the others
	Points  []ResumePoint
}

// Links are addresses of code, in a table that the context names: by them the code of a CTACode and of its CTARest
// branch to each other.
const (
	LinkWarpDone = iota // the warp has ended
	LinkWarpNext        // it has, without lanes that ever waited
	LinkDispatch        // other lanes have their turn
	LinkBlocks          // two of each block: its code for some lanes, and for all
)

// LinkOf is the link to a block's code, for all lanes or for some.
func LinkOf(b int32, all bool) int32 {
	if all {
		return LinkBlocks + 2*b + 1
	}
	return LinkBlocks + 2*b
}

// CTAOptions are what code of whole CTAs depends on besides the kernel.
type CTAOptions struct {
	Count bool    // operations
	Probe bool    // for tests: operations stop
	Marks *[]Mark // for a listing, where its marks go; nil for none
	Later bool    // of the code for some lanes only blocks that lanes part for shortly are written (plan.Values.Near)
}

// Layout is what a generator's code expects in the context.
type Layout struct {
	Tables     unsafe.Pointer        // constants
	Multiplies func(op *ir.Op) bool  // operations that need Context.Matrix
	NewMatrix  func() unsafe.Pointer // makes it
	Samples    func(op *ir.Op) bool  // operations that need an abi.Sampler each
}
