package softdev

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/driver"
)

// recapture is a capture that gives the nodes of a graph that exists the parameters of what is recorded
// (cuStreamBeginRecaptureToGraph). What is recorded must make the same nodes with the same dependences, in the order in
// which the graph's were made.
type recapture struct {
	nodes []*graphNode // of the graph when it began
	at    int          // the next one
	fn    driver.CUgraphRecaptureCallback
	data  uintptr
	why   string // what does not fit

	finish []func() // what graphs held that are gone, to be called without the lock
}

const recaptureFailure = driver.CUDA_ERROR_GRAPH_RECAPTURE_FAILURE

func (d *Driver) streamBeginRecaptureToGraph(cur driver.CUcontext, h driver.CUstream, mode driver.CUstreamCaptureMode,
	gh driver.CUgraph, fn driver.CUgraphRecaptureCallback, data uintptr) driver.CUresult {
	g, r := d.graph(gh)
	if r != success {
		return r
	}
	if fn.Go == nil && fn.C != 0 && d.table.CallC == nil {
		d.explain(nil, "a C function can be called through libcuda.so.1 only")
		return notSupported
	}
	d.gs.mu.Lock()
	re := &recapture{nodes: slices.Clone(g.nodes), fn: fn, data: data}
	memory := slices.ContainsFunc(g.nodes, func(n *graphNode) bool {
		k := n.work.kind()
		return k == driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC || k == driver.CU_GRAPH_NODE_TYPE_MEM_FREE
	})
	d.gs.mu.Unlock()
	if memory {
		d.explain(nil, "graphs with memory nodes cannot be recaptured here")
		return notSupported
	}
	return d.beginCaptureWith(cur, h, mode, g, nil, re)
}

// replay takes the next recorded work; gs.mu is held and is given up while the program is called.
func (re *recapture) replay(gs *graphs, sc *streamCapture, w nodeWork) driver.CUresult {
	c := sc.c
	drop := func(w nodeWork) { re.finish = append(re.finish, gs.discardNode(&graphNode{work: w})...) }
	fail := func(r driver.CUresult, why string) driver.CUresult {
		drop(w)
		c.invalidate()
		re.why = why
		return r
	}
	if re.at == len(re.nodes) {
		return fail(recaptureFailure, "more is recorded than the graph has nodes")
	}
	n := re.nodes[re.at]
	re.at++
	switch {
	case gs.nodes.get(uintptr(n.handle)) != n:
		return fail(recaptureFailure, "a node of the graph was destroyed")
	case n.work.kind() != w.kind():
		return fail(recaptureFailure, "a node is of another kind than what is recorded")
	case !sameEdges(n, w, sc.deps):
		return fail(recaptureFailure, "a node has other dependences than what is recorded")
	}
	sc.deps = []graphEdge{{from: n}}
	if sameWork(n.work, w) {
		drop(w)
		return success
	}
	if !re.fn.IsNil() {
		status := driver.CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE
		if changeable(n.work, w) != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
			status = driver.CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE
		}
		old, recorded := paramsOf(n.work), paramsOf(w)
		gs.mu.Unlock()
		answer := re.ask(c.d, gs, n.handle, &old, &recorded, status)
		switch {
		case answer != success:
			return fail(recaptureFailure, "the program's function refused a change")
		case c.invalid || c.ended || gs.nodes.get(uintptr(n.handle)) != n:
			return fail(driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "")
		}
	}
	drop(n.work)
	if x, ok := w.(*childWork); ok {
		x.g.parent = n
	}
	n.work = w
	return success
}

// ask calls the program's function, which may call the API: it is told of changes so that it makes them in executable
// graphs. gs.mu is held again when it has returned. A panic ends the recapture and is told.
func (re *recapture) ask(d *Driver, gs *graphs, n driver.CUgraphNode, old, recorded *driver.CUgraphNodeParams,
	status driver.CUgraphRecaptureStatus) (answer driver.CUresult) {
	answer = driver.CUDA_ERROR_UNKNOWN
	defer gs.mu.Lock()
	defer func() {
		if v := recover(); v != nil {
			d.defective(nil, defect.OfCallback("CUgraphRecaptureCallback", v), "")
		}
	}()
	switch call := d.table.CallC; {
	case re.fn.Go != nil:
		answer = re.fn.Go(re.data, n, old, recorded, status)
	case call != nil:
		answer = driver.CUresult(call(re.fn.C, re.data, uintptr(n), uintptr(unsafe.Pointer(old)),
			uintptr(unsafe.Pointer(recorded)), uintptr(status)))
	}
	return answer
}

// sameEdges compares what a node comes after with what the stream's next work comes after.
func sameEdges(n *graphNode, w nodeWork, deps []graphEdge) bool {
	if len(n.in) != len(deps) {
		return false
	}
	for _, e := range deps {
		data := e.data
		if !validEdge(e.from.work, w, data) {
			data = driver.CUgraphEdgeData{}
		}
		if !slices.ContainsFunc(n.in, func(o *graphEdge) bool { return o.from == e.from && o.data == data }) {
			return false
		}
	}
	return true
}

// sameWork says whether two works do the same. Host functions in Go cannot be compared and count as changed.
func sameWork(a, b nodeWork) bool {
	switch x := a.(type) {
	case emptyWork:
		return true
	case *kernelWork:
		y := b.(*kernelWork)
		return x.f == y.f && x.q == y.q && slices.Equal(x.params, y.params) && slices.Equal(x.attrs, y.attrs)
	case *copyWork:
		y := b.(*copyWork)
		return x.c == y.c && x.p == y.p
	case *fillWork:
		y := b.(*fillWork)
		return x.c == y.c && x.p == y.p
	case *hostWork:
		y := b.(*hostWork)
		return x.fn.Go == nil && y.fn.Go == nil && x.p == y.p
	case *eventRecordWork:
		return x.e == b.(*eventRecordWork).e
	case *eventWaitWork:
		return x.e == b.(*eventWaitWork).e
	case *batchWork:
		y := b.(*batchWork)
		return x.c == y.c && reflect.DeepEqual(x.p, y.p)
	}
	return false
}

// complete says whether every node of the graph was recorded again.
func (re *recapture) complete() bool { return re.at == len(re.nodes) }
