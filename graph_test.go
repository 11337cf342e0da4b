package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// graphs skips a test where the device has no graphs.
func graphs(t *testing.T, c *cuda.Context) {
	t.Helper()
	g, err := c.NewGraph()
	if errors.Is(err, cuda.ErrNotSupported) {
		t.Skipf("the device has no graphs: %v", err)
	}
	check(t, err)
	check(t, g.Close())
}

func TestCapture(t *testing.T) {
	c := cudatest.Open(t)
	graphs(t, c)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	x := cudatest.Alloc[uint32](t, c, 4)
	launch := func(s *cuda.Stream) error {
		return k.Launch(s, cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(4)))
	}

	// An error or a panic ends the capture, and the stream works as before.
	failure := errors.New("no")
	g, err := s.Capture(func(s *cuda.Stream) error { return errors.Join(launch(s), failure) })
	if g != nil || !errors.Is(err, failure) {
		t.Errorf("failed capture: %v %v", g, err)
	}
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v", v)
			}
		}()
		_, _ = s.Capture(func(*cuda.Stream) error { panic("boom") })
	}()
	// So does a call that may not be captured.
	if _, err := s.Capture(func(s *cuda.Stream) error { return s.Synchronize() }); err == nil {
		t.Error("a wait was captured")
	}
	if _, err := c.Default().Capture(launch); !errors.Is(err, cuda.ErrStreamCaptureUnsupported) {
		t.Errorf("capture of the default stream: %v", err)
	}
	check(t, launch(s))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{5, 5, 5, 5})

	g, err = s.Capture(func(s *cuda.Stream) error { return errors.Join(launch(s), launch(s)) })
	check(t, err)
	n, err := g.Len()
	check(t, err)
	if n != 2 {
		t.Errorf("%d nodes, want 2", n)
	}
	cudatest.Equal(t, x.View, []uint32{5, 5, 5, 5}) // nothing has run
	exec, err := g.Instantiate()
	check(t, err)
	check(t, g.Close())
	for range 3 {
		check(t, exec.Launch(s))
	}
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{35, 35, 35, 35})
	check(t, exec.Close())
	if err := exec.Launch(s); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("launch after Close: %v", err)
	}
}

func TestGraphNodes(t *testing.T) {
	c := cudatest.Open(t)
	graphs(t, c)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	m := cudatest.Load(t, c, kernelsPTX)
	fill, err := m.Kernel("fill")
	check(t, err)
	bias, err := m.Kernel("addbias")
	check(t, err)
	x, y := cudatest.Alloc[uint32](t, c, 4), cudatest.Alloc[uint32](t, c, 4)
	p, err := cuda.AllocPinned[uint32](c, 4, cuda.PinnedOptions{})
	check(t, err)
	defer func() { check(t, p.Close()) }()
	event, err := c.NewEvent(cuda.EventOptions{})
	check(t, err)
	defer func() { check(t, event.Close()) }()

	g, err := c.NewGraph()
	check(t, err)
	node := func(n cuda.Node, err error) []cuda.Node {
		t.Helper()
		check(t, err)
		return []cuda.Node{n}
	}
	calls := 0
	a := node(cuda.AddCopyFrom(g, nil, x.View, p.PinnedView))                                                    // x = p
	b := node(g.AddKernel(a, bias, cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(4))))                            // x += 5
	two := node(cuda.AddFill(g, nil, y.Slice(0, 2), uint32(9)))                                                  // y = 9 9 . .
	d := node(cuda.AddCopy(g, append(b, two...), y.Slice(2, 4), x.Slice(0, 2)))                                  // y = 9 9 x0 x1
	e := node(g.AddHost(d, func() { calls++ }))                                                                  //
	child, err := c.NewGraph()                                                                                   //
	check(t, err)                                                                                                //
	node(child.AddKernel(nil, bias, cuda.Linear(4), cuda.Ptr(y), cuda.Val(uint32(4))))                           // y += 5
	f := node(g.AddChild(e, child))                                                                              //
	h := node(g.AddRecord(node(g.AddEmpty(f)), event))                                                           //
	last := node(cuda.AddCopyTo(g, h, p.PinnedView, y.View))                                                     // p = y
	extra := node(g.AddKernel(nil, fill, cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(1)), cuda.Val(uint32(0)))) // nothing: n = 0
	check(t, g.Depend(last[0], extra[0]))
	check(t, child.Close())

	if _, err := g.AddKernel(nil, bias, cuda.Linear(4), cuda.Ptr(x), cuda.Val(4)); !errors.Is(err, cuda.ErrInvalidValue) || !strings.Contains(err.Error(), "argument 1 `n`") {
		t.Errorf("wrong argument: %v", err)
	}
	foreign, err := c.NewGraph()
	check(t, err)
	if _, err := foreign.AddEmpty(a); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("dependence on a node of another graph: %v", err)
	}
	check(t, foreign.Close())

	exec, err := g.Instantiate()
	check(t, err)
	run := func(start uint32) []uint32 {
		t.Helper()
		for i := range p.Data() {
			p.Data()[i] = start + uint32(i)
		}
		check(t, exec.Launch(s))
		check(t, s.Synchronize())
		return append([]uint32(nil), p.Data()...)
	}
	same := func(got []uint32, want ...uint32) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v, want %v", got, want)
				return
			}
		}
	}
	same(run(100), 14, 14, 110, 111)
	same(run(200), 14, 14, 210, 211)
	if calls != 2 {
		t.Errorf("the host function ran %d times", calls)
	}
	if done, err := event.Done(); !done || err != nil {
		t.Errorf("event: %v %v", done, err)
	}

	// A kernel node gets other arguments: only two elements of x.
	other, err := bias.Prepare(cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(1)))
	check(t, err)
	check(t, exec.SetKernel(b[0], other))
	same(run(100), 14, 14, 110, 106)
	// The fill is switched off: y keeps what the run before left in it, and gets 5 more.
	check(t, exec.SetEnabled(two[0], false))
	same(run(100), 19, 19, 110, 106)
	check(t, g.Close())
	check(t, exec.Close())
}

func TestGraphUpdate(t *testing.T) {
	c := cudatest.Open(t)
	graphs(t, c)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	x := cudatest.Alloc[uint32](t, c, 3)
	capture := func(values ...uint32) *cuda.Graph {
		g, err := s.Capture(func(s *cuda.Stream) error {
			for _, v := range values {
				if err := k.Launch(s, cuda.Linear(3), cuda.Ptr(x), cuda.Val(v), cuda.Val(uint32(3))); err != nil {
					return err
				}
			}
			return nil
		})
		check(t, err)
		return g
	}
	first := capture(1)
	exec, err := first.Instantiate()
	check(t, err)
	second := capture(2)
	check(t, exec.Update(second))
	check(t, exec.Launch(s))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{2, 2, 2})
	longer := capture(3, 4)
	if err := exec.Update(longer); !errors.Is(err, cuda.ErrGraphExecUpdateFailure) {
		t.Errorf("update with another shape: %v", err)
	}
	check(t, exec.Launch(s))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{2, 2, 2})
	for _, g := range []*cuda.Graph{first, second, longer} {
		check(t, g.Close())
	}
	check(t, exec.Close())
}
