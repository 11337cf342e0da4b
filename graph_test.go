package cuda_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/cudatest"
)

func TestCapture(t *testing.T) {
	c := cudatest.Open(t)
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
	// x = p
	a := node(cuda.AddCopyFrom(g, nil, x.View, p.PinnedView))
	// x += 5
	b := node(g.AddKernel(a, bias, cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(4))))
	// y = 9 9 . .
	two := node(cuda.AddFill(g, nil, y.Slice(0, 2), uint32(9)))
	// y = 9 9 x0 x1
	d := node(cuda.AddCopy(g, append(b, two...), y.Slice(2, 4), x.Slice(0, 2)))
	e := node(g.AddHost(d, func() { calls++ })) //
	child, err := c.NewGraph()                  //
	check(t, err)                               //
	// y += 5
	node(child.AddKernel(nil, bias, cuda.Linear(4), cuda.Ptr(y), cuda.Val(uint32(4))))
	f := node(g.AddChild(e, child))                    //
	h := node(g.AddRecord(node(g.AddEmpty(f)), event)) //
	// p = y
	last := node(cuda.AddCopyTo(g, h, p.PinnedView, y.View))
	// nothing: n = 0
	extra := node(g.AddKernel(nil, fill, cuda.Linear(4), cuda.Ptr(x), cuda.Val(uint32(1)), cuda.Val(uint32(0))))
	check(t, g.Depend(last[0], extra[0]))
	check(t, child.Close())

	if _, err := g.AddKernel(nil, bias, cuda.Linear(4), cuda.Ptr(x), cuda.Val(4)); !errors.Is(err,
		cuda.ErrInvalidValue) || !strings.Contains(err.Error(), "argument 1 `n`") {
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

// TestCaptureLeavesStreams: whatever happens in a capture, the streams that were in it work afterwards. Every case must
// fail.
func TestCaptureLeavesStreams(t *testing.T) {
	c := cudatest.Open(t)
	s, u := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true}),
		cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	x := cudatest.Alloc[uint32](t, c, 1)
	e, err := c.NewEvent(cuda.EventOptions{NoTiming: true})
	check(t, err)
	defer func() { check(t, e.Close()) }()
	launch := func(s *cuda.Stream) error { return k.Launch(s, cuda.Linear(1), cuda.Ptr(x), cuda.Val(uint32(1))) }
	fork := func(s *cuda.Stream) error {
		return errors.Join(launch(s), e.Record(s), u.WaitEvent(e), launch(u))
	}
	for _, test := range []struct {
		name string
		f    func(s *cuda.Stream) error
		want error // nil for any
	}{
		{"a stream not joined", fork, cuda.ErrStreamCaptureUnjoined},
		{"a wait", func(s *cuda.Stream) error { _ = s.Synchronize(); return nil }, cuda.ErrStreamCaptureInvalidated},
		{"a wait for a stream captured along", func(s *cuda.Stream) error {
			return errors.Join(fork(s), u.Synchronize())
		}, nil},
		{"close", func(s *cuda.Stream) error { return s.Close() }, cuda.ErrIllegalState},
		{"twice", func(s *cuda.Stream) error { _, err := s.Capture(launch); return err }, cuda.ErrIllegalState},
		{"an error after a fork", func(s *cuda.Stream) error {
			return errors.Join(fork(s), errors.ErrUnsupported)
		}, errors.ErrUnsupported},
		{"wrong arguments", func(s *cuda.Stream) error { return k.Launch(s, cuda.Linear(1)) }, cuda.ErrInvalidValue},
	} {
		g, err := s.Capture(test.f)
		if g != nil || err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v %v, want %v", test.name, g, err, test.want)
		}
		for _, s := range []*cuda.Stream{s, u} {
			check(t, launch(s))
			check(t, s.Synchronize())
		}
	}
	// The goroutine ends inside.
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.Capture(func(*cuda.Stream) error { runtime.Goexit(); return nil })
	}()
	<-done
	check(t, launch(s))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{5 * 15})

	// Joined, the same is a graph.
	g, err := s.Capture(func(s *cuda.Stream) error {
		return errors.Join(fork(s), e.Record(u), s.WaitEvent(e), launch(s))
	})
	check(t, err)
	nodes, err := g.Nodes()
	check(t, err)
	if len(nodes) != 3 {
		t.Errorf("%d nodes, want 3", len(nodes))
	}
	check(t, g.Close())
}

// TestCapturedMemory: memory that a capture allocates belongs to the graph.
func TestCapturedMemory(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	x := cudatest.Alloc[uint32](t, c, 2)
	g, err := s.Capture(func(s *cuda.Stream) error {
		tmp, err := cuda.AllocAsync[uint32](s, 2)
		if err != nil {
			return err
		}
		return errors.Join(tmp.FillAsync(s, 30), k.Launch(s, cuda.Linear(2), cuda.Ptr(tmp), cuda.Val(uint32(2))),
			cuda.CopyAsync(s, x.View, tmp.View), tmp.CloseAsync(s))
	})
	check(t, err)
	exec, err := g.Instantiate()
	check(t, err)
	for range 2 {
		check(t, x.Zero())
		check(t, exec.Launch(s))
		check(t, s.Synchronize())
		cudatest.Equal(t, x.View, []uint32{35, 35})
	}
	check(t, exec.Close())
	check(t, g.Close())
}

func TestGraphMemory(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	x := cudatest.Alloc[uint32](t, c, 3)
	build := func(free bool) *cuda.Graph {
		g, err := c.NewGraph()
		check(t, err)
		alloc, tmp, err := cuda.AddAlloc[uint32](g, nil, 3)
		check(t, err)
		fill, err := cuda.AddFill(g, []cuda.Node{alloc}, tmp, 7)
		check(t, err)
		bias, err := g.AddKernel([]cuda.Node{fill}, k, cuda.Linear(3), cuda.Ptr(tmp), cuda.Val(uint32(3)))
		check(t, err)
		out, err := cuda.AddCopy(g, []cuda.Node{bias}, x.View, tmp)
		check(t, err)
		if free {
			_, err = cuda.AddFree(g, []cuda.Node{out}, tmp)
			check(t, err)
		}
		return g
	}
	for _, free := range []bool{true, false} {
		g := build(free)
		exec, err := g.Instantiate(cuda.AutoFree)
		check(t, err)
		for range 3 {
			check(t, x.Zero())
			check(t, exec.Launch(s))
			check(t, s.Synchronize())
			cudatest.Equal(t, x.View, []uint32{12, 12, 12})
		}
		check(t, exec.Close())
		check(t, g.Close())
	}
	g, err := c.NewGraph()
	check(t, err)
	if _, _, err := cuda.AddAlloc[uint32](g, nil, 0); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("no elements: %v", err)
	}
	if _, _, err := cuda.AddAlloc[*int](g, nil, 1); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("Go pointers: %v", err)
	}
	check(t, g.Close())
}

// conditionalPTX sets a conditional number: always, or to 1 while *p is below a limit.
const conditionalPTX = `.version 8.4
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);
.visible .entry add(.param .u64 .ptr .global p, .param .u32 v)
{
	.reg .b64 %p;
	.reg .b32 %a, %b;
	ld.param.u64 %p, [p];
	ld.param.u32 %a, [v];
	ld.global.u32 %b, [%p];
	add.u32 %b, %b, %a;
	st.global.u32 [%p], %b;
	ret;
}
.visible .entry below(.param .u64 h, .param .u64 .ptr .global p, .param .u32 limit)
{
	.reg .b64 %h, %p;
	.reg .b32 %v, %l, %c;
	.reg .pred %q;
	.param .b64 a;
	.param .b32 b;
	ld.param.u64 %h, [h];
	ld.param.u64 %p, [p];
	ld.param.u32 %l, [limit];
	ld.global.u32 %v, [%p];
	setp.lt.u32 %q, %v, %l;
	selp.u32 %c, 1, 0, %q;
	st.param.b64 [a], %h;
	st.param.b32 [b], %c;
	call cudaGraphSetConditional, (a, b);
	ret;
}
.visible .entry set(.param .u64 h, .param .u32 v)
{
	.reg .b64 %h;
	.reg .b32 %v;
	.param .b64 a;
	.param .b32 b;
	ld.param.u64 %h, [h];
	ld.param.u32 %v, [v];
	st.param.b64 [a], %h;
	st.param.b32 [b], %v;
	call cudaGraphSetConditional, (a, b);
	ret;
}
`

// TestConditional: what the Programming Guide says of conditional nodes (chapter CUDA Graphs).
func TestConditional(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	m := cudatest.Load(t, c, []byte(conditionalPTX))
	kernel := func(name string) *cuda.Kernel {
		k, err := m.Kernel(name)
		check(t, err)
		return k
	}
	add, below, set := kernel("add"), kernel("below"), kernel("set")
	x := cudatest.Alloc[uint32](t, c, 1)
	one := cuda.LinearBlock(1, 1)
	addTo := func(g *cuda.Graph, v uint32) cuda.Node {
		t.Helper()
		n, err := g.AddKernel(nil, add, one, cuda.Ptr(x), cuda.Val(v))
		check(t, err)
		return n
	}
	run := func(g *cuda.Graph, want uint32) {
		t.Helper()
		exec, err := g.Instantiate()
		check(t, err)
		check(t, x.Zero())
		check(t, exec.Launch(s))
		check(t, s.Synchronize())
		cudatest.Equal(t, x.View, []uint32{want})
		check(t, exec.Close())
		check(t, g.Close())
	}
	begin := func(start uint32) (*cuda.Graph, cuda.Conditional) {
		t.Helper()
		g, err := c.NewGraph()
		check(t, err)
		h, err := g.NewConditional(start)
		check(t, err)
		return g, h
	}

	g, h := begin(1)
	n, body, err := g.AddWhile(nil, h)
	check(t, err)
	step := addTo(body, 3)
	_, err = body.AddKernel([]cuda.Node{step}, below, one, cuda.Val(h.Handle()), cuda.Ptr(x), cuda.Val(uint32(10)))
	check(t, err)
	if typ, err := n.Type(); typ != cu.CU_GRAPH_NODE_TYPE_CONDITIONAL || err != nil {
		t.Errorf("type %v %v", typ, err)
	}
	check(t, body.Close()) // does nothing: the body belongs to the node
	run(g, 12)             // 0 3 6 9 12

	for _, test := range []struct{ value, want uint32 }{{0, 2}, {5, 1}} {
		g, h := begin(0)
		first, err := g.AddKernel(nil, set, one, cuda.Val(h.Handle()), cuda.Val(test.value))
		check(t, err)
		n, yes, no, err := g.AddIfElse([]cuda.Node{first}, h)
		check(t, err)
		addTo(yes, 1)
		addTo(no, 2)
		deps, err := n.Dependencies()
		check(t, err)
		if len(deps) != 1 || deps[0] != first {
			t.Errorf("dependencies %v, want %v", deps, first)
		}
		run(g, test.want)
	}
	for _, test := range []struct{ start, want uint32 }{{0, 0}, {1, 1}} {
		g, h := begin(test.start)
		_, body, err := g.AddIf(nil, h)
		check(t, err)
		addTo(body, 1)
		run(g, test.want)
	}
	for _, test := range []struct{ start, want uint32 }{{0, 1}, {2, 100}, {3, 0}} {
		g, h := begin(test.start)
		_, bodies, err := g.AddSwitch(nil, h, 3)
		check(t, err)
		for i, v := range []uint32{1, 10, 100} {
			addTo(bodies[i], v)
		}
		run(g, test.want)
	}
	g, h = begin(0)
	other, _ := begin(0)
	if _, _, err := other.AddIf(nil, h); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("the conditional of another graph: %v", err)
	}
	if _, _, err := g.AddSwitch(nil, h, 0); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("a switch without bodies: %v", err)
	}
	check(t, g.Close())
	check(t, other.Close())
}

// TestGraphBoxes: copies of boxes as nodes; the kernel of a captured launch is found and changed.
func TestGraphBoxes(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	a, err := cuda.AllocMatrix[uint16](c, 5, 3)
	check(t, err)
	b, err := cuda.AllocMatrix[uint16](c, 4, 4)
	check(t, err)
	in, err := cuda.AllocPinned[uint16](c, 15, cuda.PinnedOptions{})
	check(t, err)
	out, err := cuda.AllocPinned[uint16](c, 4, cuda.PinnedOptions{})
	check(t, err)
	for i := range in.Data() {
		in.Data()[i] = uint16(i)
	}
	g, err := c.NewGraph()
	check(t, err)
	n1, err := cuda.AddCopyMatrixFrom(g, nil, a.MatrixView, in.PinnedView)
	check(t, err)
	n2, err := cuda.AddCopyMatrix(g, []cuda.Node{n1}, b.Sub(1, 1, 3, 3), a.Sub(2, 0, 4, 2))
	check(t, err)
	_, err = cuda.AddCopyMatrixTo(g, []cuda.Node{n2}, out.PinnedView, b.Sub(1, 1, 3, 3))
	check(t, err)
	if _, err := cuda.AddCopyMatrix(g, nil, b.MatrixView, a.MatrixView); !errors.Is(err, cuda.ErrInvalidValue) ||
		!strings.Contains(err.Error(), "5 x 3 x 1 copied to one of 4 x 4 x 1") {
		t.Errorf("boxes of different sizes: %v", err)
	}
	if _, err := cuda.AddCopyMatrixTo(g, nil, out.PinnedView, a.MatrixView); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("too little room: %v", err)
	}
	exec, err := g.Instantiate()
	check(t, err)
	check(t, exec.Upload(s))
	check(t, exec.Launch(s))
	check(t, s.Synchronize())
	for i, want := range []uint16{2, 3, 7, 8} { // columns 2 and 3 of rows 0 and 1, five to a row
		if out.Data()[i] != want {
			t.Errorf("%v, want 2 3 7 8", out.Data())
			break
		}
	}
	for _, r := range []interface{ Close() error }{exec, g, a, b, in, out} {
		check(t, r.Close())
	}

	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	x := cudatest.Alloc[uint32](t, c, 2)
	fill := func(v uint32) []cuda.Arg { return []cuda.Arg{cuda.Ptr(x), cuda.Val(v), cuda.Val(uint32(2))} }
	g, err = s.Capture(func(s *cuda.Stream) error { return k.Launch(s, cuda.Linear(2), fill(1)...) })
	check(t, err)
	nodes, err := g.Nodes()
	check(t, err)
	exec, err = g.Instantiate()
	check(t, err)
	p, err := k.Prepare(cuda.Linear(2), fill(2)...)
	check(t, err)
	check(t, exec.SetKernel(nodes[0], p))
	check(t, exec.Launch(s))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{2, 2})
	if _, err := (cuda.Node{}).Type(); !errors.Is(err, cuda.ErrInvalidHandle) {
		t.Errorf("the zero Node: %v", err)
	}
	check(t, exec.Close())
	check(t, g.Close())
	if _, err := nodes[0].Type(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("a node of a closed graph: %v", err)
	}
}
