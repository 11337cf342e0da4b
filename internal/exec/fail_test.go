package exec

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/ir"
)

// closer is a BlockRunner that panics at its end.
type closer struct{ BlockRunner }

func (closer) Publish() {}
func (closer) Close()   { panic("at the end") }

// named is the code of a kernel that has a name alone.
type named struct{ Code }

func (named) Kernel() *ir.Kernel { return &ir.Kernel{Name: "k"} }

// A defect of the device is told even where the kernel has faulted before: by the worker that meets both, and by one of
// several workers.
func TestDefectIsTold(t *testing.T) {
	isDefect := func(err error) bool {
		var d *defect.Error
		return errors.As(err, &d)
	}
	address := &Fault{Kind: FaultAddress}
	wk := &worker{g: &grid{l: &Launch{Code: named{}}}, whole: true, blocks: closer{}}
	if err := wk.ended(fault{address}); !isDefect(err) {
		t.Errorf("a fault, and a panic after it: %v", err)
	}
	broken := &Fault{Kind: FaultInternal, Defect: defect.Of("broken")}
	for _, order := range [][2]*Fault{{address, broken}, {broken, address}} {
		g := &grid{}
		g.fail(order[0])
		g.fail(order[1])
		if !isDefect(g.err) || !g.failed.Load() {
			t.Errorf("%v, then %v: %v", order[0], order[1], g.err)
		}
	}
}
