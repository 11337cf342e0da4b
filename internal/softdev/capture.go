package softdev

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// capture is a stream capture: instead of being queued, the work of its streams becomes nodes of a graph. The rules are
// those of the CUDA Programming Guide ("Creating a Graph Using Stream Capture") and what was recorded of them; all
// fields are guarded by d.gs.mu.
type capture struct {
	d       *Driver
	id      uint64
	mode    driver.CUstreamCaptureMode
	thread  *thread // that began it
	foreign bool    // begun with an explicit context: by a Go program, whose goroutines change threads
	origin  *stream
	g       *graph
	theirs  bool // the graph is the program's (cuStreamBeginCaptureToGraph)
	invalid bool
	ended   bool
	re      *recapture // the graph's nodes get what is recorded
	streams []*stream
	left    []graphEdge // what the next nodes of streams that were destroyed would have come after
}

// streamCapture is a stream's part of a capture. The pointer to it in the stream is read without a lock.
type streamCapture struct {
	c    *capture
	deps []graphEdge // what the next node comes after; only from and data are set

	// What cuStreamGetCaptureInfo has shown, which stays valid until the next call.
	shown     []driver.CUgraphNode
	shownData []driver.CUgraphEdgeData
}

// eventCapture is what an event recorded in a capturing stream stands for.
type eventCapture struct {
	c    *capture
	deps []graphEdge
}

// capturing says whether the stream is in a capture, valid or not.
func (s *stream) capturing() bool { return s.captured.Load() != nil }

// invalidate ends the use of a capture; its streams stay in it until cuStreamEndCapture.
func (c *capture) invalidate() { c.invalid = true }

// spoil invalidates the stream's capture on behalf of an operation that failed in it (recorded: also for a mere bad
// argument), and returns r.
func (s *stream) spoil(r driver.CUresult) driver.CUresult {
	if r == success || !s.capturing() {
		return r
	}
	gs := &s.ctx.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if sc := s.captured.Load(); sc != nil {
		sc.c.invalidate()
	}
	return r
}

// admit is the check of calls that queue work: the stream's capture is valid, and work in the legacy stream does not
// have to wait for streams that capture.
func (s *stream) admit() driver.CUresult {
	d := s.ctx.d
	if d.capturing.Load() == 0 {
		return success
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if sc := s.captured.Load(); sc != nil {
		if sc.c.invalid {
			return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		}
		return success
	}
	return s.implicit(true)
}

// spoiled says whether the stream is in a capture that is not valid.
func (s *stream) spoiled() bool {
	if !s.capturing() {
		return false
	}
	s.ctx.d.gs.mu.Lock()
	defer s.ctx.d.gs.mu.Unlock()
	sc := s.captured.Load()
	return sc != nil && sc.c.invalid
}

// implicit is the check of what would make the legacy stream wait for streams that capture. A mere question does not
// invalidate their captures (cuStreamIsCapturing). It needs d.gs.mu.
func (s *stream) implicit(invalidate bool) driver.CUresult {
	r := success
	if s.kind != streamLegacy {
		return r
	}
	for c := range s.ctx.d.gs.captures {
		if c.blocks(s.ctx) {
			if invalidate {
				c.invalidate()
			}
			r = driver.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
		}
	}
	return r
}

// blocks says whether the capture has streams that are in step with the legacy stream of a context.
func (c *capture) blocks(ctx *context) bool {
	return slices.ContainsFunc(c.streams, func(s *stream) bool { return s.ctx == ctx && s.order })
}

// capture adds a node to the stream's capture instead of queueing work. build is called with the lock.
func (s *stream) capture(build func(gs *graphs) (nodeWork, driver.CUresult)) driver.CUresult {
	gs := &s.ctx.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	sc := s.captured.Load()
	if sc == nil {
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED // it ended meanwhile in another thread
	}
	if sc.c.invalid {
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
	}
	w, r := build(gs)
	if r != success {
		sc.c.invalidate()
		return r
	}
	if re := sc.c.re; re != nil {
		r := re.replay(gs, sc, w)
		why, finish := re.why, re.finish
		re.why, re.finish = "", nil
		gs.mu.Unlock() // the log and what is given up may call the program
		defer gs.mu.Lock()
		for _, f := range finish {
			f()
		}
		if why != "" {
			s.ctx.d.explain(s.ctx, "recapture: %s", why)
		}
		return r
	}
	n := gs.add(sc.c.g, w)
	if n.handle == 0 {
		sc.c.invalidate()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	for _, e := range sc.deps {
		data := e.data
		if !validEdge(e.from.work, w, data) {
			data = driver.CUgraphEdgeData{}
		}
		gs.link(e.from, n, data)
	}
	sc.deps = []graphEdge{{from: n}}
	return success
}

// captureWork is capture of a node that is made already.
func (s *stream) captureWork(w nodeWork) driver.CUresult {
	return s.capture(func(*graphs) (nodeWork, driver.CUresult) { return w, success })
}

// unsafe is the check of calls that cannot be captured and may conflict with captures elsewhere, such as cuMemAlloc. It
// depends on the calling thread's mode and those of the captures (cuThreadExchangeStreamCaptureMode); a capture in the
// way is invalidated (recorded).
func (d *Driver) unsafe() driver.CUresult {
	if d.capturing.Load() == 0 {
		return success
	}
	// A goroutine that changed its thread here would be taken for the one that captures on the thread now.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := d.threads.self()
	t.mu.Lock()
	mode := t.captureMode
	t.mu.Unlock()
	if mode != driver.CU_STREAM_CAPTURE_MODE_GLOBAL && mode != driver.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL {
		return success
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	r := success
	for c := range d.gs.captures {
		if c.mode == driver.CU_STREAM_CAPTURE_MODE_RELAXED {
			continue
		}
		if c.thread == t || mode == driver.CU_STREAM_CAPTURE_MODE_GLOBAL &&
			c.mode == driver.CU_STREAM_CAPTURE_MODE_GLOBAL {
			c.invalidate()
			r = driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
		}
	}
	return r
}

// unsafeFor is unsafe for a call that waits for a stream or asks about it, which conflicts with the stream's own
// capture in every mode.
func (s *stream) unsafeFor() driver.CUresult {
	if s.ctx.d.capturing.Load() == 0 {
		return success
	}
	if s.capturing() {
		return s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	}
	return s.ctx.d.unsafe()
}

// unsafeSync is the same for a whole context.
func (c *context) unsafeSync() driver.CUresult {
	if c.d.capturing.Load() == 0 {
		return success
	}
	if r := c.conflicts(); r != success {
		return r
	}
	return c.d.unsafe()
}

// conflicts is the check of calls that no stream of the context may capture at: captures that do are invalidated.
func (c *context) conflicts() driver.CUresult {
	d := c.d
	if d.capturing.Load() == 0 {
		return success
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	r := success
	for k := range d.gs.captures {
		if slices.ContainsFunc(k.streams, func(s *stream) bool { return s.ctx == c }) {
			k.invalidate()
			r = driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
		}
	}
	return r
}

// conflicts is the check of calls that need an event to be recorded outside captures.
func (e *event) conflicts() driver.CUresult {
	ec := e.capture.Load()
	if ec == nil {
		return success
	}
	gs := &e.ctx.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if ec.c.invalid || ec.c.ended {
		return invalidValue // recorded
	}
	ec.c.invalidate()
	return driver.CUDA_ERROR_CAPTURED_EVENT
}

// unsafeEvent is the check of calls that ask about an event: one recorded in a capture has no time.
func (e *event) unsafeEvent() driver.CUresult {
	if r := e.conflicts(); r != success {
		return r
	}
	return e.ctx.d.unsafe()
}

// join takes a stream into a capture.
func (c *capture) join(s *stream, deps []graphEdge) *streamCapture {
	sc := &streamCapture{c: c, deps: deps}
	c.streams = append(c.streams, s)
	s.captured.Store(sc)
	return sc
}

// leaveCapture takes a stream that is destroyed out of its capture. Without its origin the capture cannot go on;
// without another stream it can (cuda-core closes streams once they are joined).
func (s *stream) leaveCapture() {
	if !s.capturing() {
		return
	}
	gs := &s.ctx.d.gs
	gs.change(func() (finish []func(), r driver.CUresult) {
		sc := s.captured.Load()
		switch {
		case sc == nil:
		case sc.c.origin == s:
			sc.c.invalidate()
			finish = sc.c.end(false)
		default:
			sc.c.left = append(sc.c.left, sc.deps...)
			sc.c.streams = slices.DeleteFunc(sc.c.streams, func(x *stream) bool { return x == s })
			s.captured.Store(nil)
		}
		return finish, success
	})
}

// end takes the capture out of all streams. The graph is thrown away unless it is kept.
func (c *capture) end(keep bool) (finish []func()) {
	c.ended = true
	for _, s := range c.streams {
		s.captured.Store(nil)
	}
	delete(c.d.gs.captures, c)
	c.d.capturing.Add(-1)
	if !keep && !c.theirs {
		finish = c.d.gs.discard(c.g)
	}
	return finish
}

// unjoined says whether a stream of the capture has nodes that the origin's next node would not come after.
func (c *capture) unjoined() bool {
	seen := map[*graphNode]bool{}
	var visit func(n *graphNode)
	visit = func(n *graphNode) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, e := range n.in {
			visit(e.from)
		}
	}
	for _, s := range c.streams {
		if s == c.origin {
			for _, e := range s.captured.Load().deps {
				visit(e.from)
			}
		}
	}
	for _, s := range c.streams {
		for _, e := range s.captured.Load().deps {
			if !seen[e.from] {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.left, func(e graphEdge) bool { return !seen[e.from] })
}

func (d *Driver) streamBeginCapture(cur driver.CUcontext, h driver.CUstream,
	mode driver.CUstreamCaptureMode) driver.CUresult {
	return d.beginCapture(cur, h, mode, nil, nil)
}

// streamBeginCapture1 is the form before CUDA 10.1, whose mode is global.
func (d *Driver) streamBeginCapture1(cur driver.CUcontext, h driver.CUstream) driver.CUresult {
	return d.beginCapture(cur, h, driver.CU_STREAM_CAPTURE_MODE_GLOBAL, nil, nil)
}

func (d *Driver) streamBeginCaptureToGraph(cur driver.CUcontext, h driver.CUstream, gh driver.CUgraph,
	deps *driver.CUgraphNode, data *driver.CUgraphEdgeData, n uint64, mode driver.CUstreamCaptureMode) driver.CUresult {
	g, r := d.graph(gh)
	if r != success {
		return r
	}
	edges, r := d.edges(g, deps, data, n)
	if r != success {
		return r
	}
	return d.beginCapture(cur, h, mode, g, edges)
}

func (d *Driver) beginCapture(cur driver.CUcontext, h driver.CUstream, mode driver.CUstreamCaptureMode, g *graph,
	deps []graphEdge) driver.CUresult {
	return d.beginCaptureWith(cur, h, mode, g, deps, nil)
}

func (d *Driver) beginCaptureWith(cur driver.CUcontext, h driver.CUstream, mode driver.CUstreamCaptureMode, g *graph,
	deps []graphEdge, re *recapture) driver.CUresult {
	if mode > driver.CU_STREAM_CAPTURE_MODE_RELAXED {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	t := d.threads.self()
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if s.kind == streamLegacy {
		if r := s.implicit(true); r != success { // it invalidates the captures in the way (recorded)
			return r
		}
		return driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	}
	if s.capturing() {
		return driver.CUDA_ERROR_ILLEGAL_STATE
	}
	d.gs.ids++
	c := &capture{d: d, id: d.gs.ids, mode: mode, thread: t, foreign: cur != 0, origin: s, g: g, theirs: g != nil,
		re: re}
	if g == nil {
		c.g = d.gs.newGraph()
		if c.g.handle == 0 {
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		}
	}
	d.gs.captures[c] = struct{}{}
	d.capturing.Add(1)
	c.join(s, deps)
	return success
}

func (d *Driver) streamEndCapture(cur driver.CUcontext, h driver.CUstream, out *driver.CUgraph) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if out != nil {
		*out = 0
	}
	t := d.threads.self()
	return d.gs.change(func() ([]func(), driver.CUresult) {
		sc := s.captured.Load()
		if sc == nil {
			return nil, driver.CUDA_ERROR_ILLEGAL_STATE
		}
		c := sc.c
		if c.origin != s {
			c.invalidate()
			return nil, driver.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
		}
		r := success
		switch {
		case c.thread != t && !c.foreign && c.mode != driver.CU_STREAM_CAPTURE_MODE_RELAXED:
			// it ends all the same (recorded)
			r = driver.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
		case c.invalid:
			r = driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		case c.re != nil && !c.re.complete():
			r = recaptureFailure
		case c.unjoined():
			r = driver.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
		}
		finish := c.end(r == success && out != nil)
		if r == success && out != nil {
			*out = c.g.handle
		}
		return finish, r
	})
}

func (d *Driver) streamIsCapturing(cur driver.CUcontext, h driver.CUstream,
	out *driver.CUstreamCaptureStatus) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	_, r := d.captureStatus(cur, h, out)
	return r
}

// captureStatus is the common part of the queries. The legacy stream has no answer while a stream in step with it
// captures (cuStreamIsCapturing).
func (d *Driver) captureStatus(cur driver.CUcontext, h driver.CUstream,
	out *driver.CUstreamCaptureStatus) (*streamCapture, driver.CUresult) {
	s, r := d.streamOf(cur, h)
	if r != success {
		return nil, r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if r := s.implicit(false); r != success {
		return nil, r
	}
	sc := s.captured.Load()
	switch {
	case sc == nil:
		*out = driver.CU_STREAM_CAPTURE_STATUS_NONE
	case sc.c.invalid:
		*out = driver.CU_STREAM_CAPTURE_STATUS_INVALIDATED
	default:
		*out = driver.CU_STREAM_CAPTURE_STATUS_ACTIVE
	}
	return sc, success
}

func (d *Driver) streamGetCaptureInfo(cur driver.CUcontext, h driver.CUstream, out *driver.CUstreamCaptureStatus,
	id *uint64) driver.CUresult {
	return d.streamGetCaptureInfoV3(cur, h, out, id, nil, nil, nil, nil)
}

func (d *Driver) streamGetCaptureInfoV2(cur driver.CUcontext, h driver.CUstream, out *driver.CUstreamCaptureStatus,
	id *uint64, g *driver.CUgraph, deps **driver.CUgraphNode, n *uint64) driver.CUresult {
	return d.streamGetCaptureInfoV3(cur, h, out, id, g, deps, nil, n)
}

// streamGetCaptureInfoV3 leaves the other outputs alone unless the stream captures (recorded).
func (d *Driver) streamGetCaptureInfoV3(cur driver.CUcontext, h driver.CUstream, out *driver.CUstreamCaptureStatus,
	id *uint64, g *driver.CUgraph, deps **driver.CUgraphNode, data **driver.CUgraphEdgeData,
	n *uint64) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	sc, r := d.captureStatus(cur, h, out)
	if r != success || sc == nil || *out != driver.CU_STREAM_CAPTURE_STATUS_ACTIVE {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	lossy := slices.ContainsFunc(sc.deps, func(e graphEdge) bool { return e.data != driver.CUgraphEdgeData{} })
	if deps != nil && data == nil && lossy {
		return driver.CUDA_ERROR_LOSSY_QUERY
	}
	sc.shown, sc.shownData = nil, nil
	for _, e := range sc.deps {
		sc.shown, sc.shownData = append(sc.shown, e.from.handle), append(sc.shownData, e.data)
	}
	if id != nil {
		*id = sc.c.id
	}
	if g != nil {
		*g = sc.c.g.handle
	}
	if deps != nil {
		*deps = unsafe.SliceData(sc.shown)
	}
	if data != nil { // also for edges that are all zero: cuda-bindings 13.5 reads them
		*data = unsafe.SliceData(sc.shownData)
	}
	if n != nil {
		*n = uint64(len(sc.deps))
	}
	return success
}

func (d *Driver) streamUpdateCaptureDependencies(cur driver.CUcontext, h driver.CUstream, deps *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n uint64, flags uint32) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	sc := s.captured.Load()
	if sc == nil {
		return driver.CUDA_ERROR_ILLEGAL_STATE
	}
	if sc.c.invalid {
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
	}
	if flags > uint32(driver.CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
		return invalidValue
	}
	edges, r := d.dependences(sc.c.g, deps, data, n, nil)
	if r != success {
		return r
	}
	if flags == uint32(driver.CU_STREAM_ADD_CAPTURE_DEPENDENCIES) {
		edges = mergeEdges(sc.deps, edges)
	}
	sc.deps = edges
	return success
}

func (d *Driver) streamUpdateCaptureDependencies1(cur driver.CUcontext, h driver.CUstream, deps *driver.CUgraphNode,
	n uint64, flags uint32) driver.CUresult {
	return d.streamUpdateCaptureDependencies(cur, h, deps, nil, n, flags)
}

// capturing says whether streams capture into the graph.
func (gs *graphs) capturing(g *graph) bool {
	for c := range gs.captures {
		if c.g == g {
			return true
		}
	}
	return false
}

// capturingIn says whether streams capture into a graph of the node, however deep.
func (gs *graphs) capturingIn(n *graphNode) bool {
	return len(gs.captures) > 0 && slices.ContainsFunc(subgraphs(n.work), func(g *graph) bool {
		return gs.capturing(g) || slices.ContainsFunc(g.nodes, gs.capturingIn)
	})
}

// mergeEdges is the union of two sets of dependences.
func mergeEdges(a, b []graphEdge) []graphEdge {
	out := slices.Clone(a)
	for _, e := range b {
		if !slices.ContainsFunc(out, func(x graphEdge) bool { return x.from == e.from }) {
			out = append(out, e)
		}
	}
	return out
}

// threadExchangeStreamCaptureMode swaps the calling thread's mode. Numbers that are no mode are taken (recorded).
func (d *Driver) threadExchangeStreamCaptureMode(_ driver.CUcontext, mode *driver.CUstreamCaptureMode) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if mode == nil {
		return invalidValue
	}
	t := d.threads.self()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.captureMode, *mode = *mode, t.captureMode
	return success
}

// recordCaptured is cuEventRecord in a capturing stream: the event stands for the stream's nodes so far.
func (s *stream) recordCaptured(e *event) driver.CUresult {
	gs := &s.ctx.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	sc := s.captured.Load()
	if sc == nil || sc.c.invalid {
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
	}
	e.capture.Store(&eventCapture{sc.c, slices.Clone(sc.deps)})
	return success
}

// waitCaptured is cuStreamWaitEvent where the stream or the event is in a capture; done is false when neither is.
func (s *stream) waitCaptured(e *event) (r driver.CUresult, done bool) {
	ec := e.capture.Load()
	if ec == nil && !s.capturing() {
		return success, false
	}
	gs := &s.ctx.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	sc := s.captured.Load()
	switch {
	case sc != nil && sc.c.invalid:
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, true
	case sc != nil && (ec == nil || ec.c.ended):
		sc.c.invalidate()
		return driver.CUDA_ERROR_STREAM_CAPTURE_ISOLATION, true
	case sc != nil && ec.c != sc.c:
		sc.c.invalidate()
		ec.c.invalidate()
		return driver.CUDA_ERROR_STREAM_CAPTURE_MERGE, true
	case sc != nil:
		sc.deps = mergeEdges(sc.deps, ec.deps)
		return success, true
	case ec == nil:
		return success, false
	case ec.c.ended:
		return invalidValue, true
	case ec.c.invalid:
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, true
	case s.kind == streamLegacy:
		ec.c.invalidate()
		return driver.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, true
	}
	ec.c.join(s, slices.Clone(ec.deps))
	return success, true
}
