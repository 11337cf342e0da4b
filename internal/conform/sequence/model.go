package sequence

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

// The model is a small state machine of what NVIDIA's documentation and the recorded answers say about results:
// contexts of threads, the life of handles, captures and what they forbid. It knows nothing of a device. What it does
// not know it does not predict.

const (
	ok          = driver.CUDA_SUCCESS
	unsupported = driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	invalidated = driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
)

// threadState is a thread's stack of contexts and its capture mode.
type threadState struct {
	stack []*object
	mode  int
}

func (t *threadState) top() *object {
	if len(t.stack) == 0 {
		return nil
	}
	return t.stack[len(t.stack)-1]
}

// capture is a stream capture.
type capture struct {
	mode, thread int
	origin       *object
	streams      []*object
	invalid      bool
	hazy         bool // not predicted any more
	ended        bool
	forked       bool
}

func (c *capture) end() {
	c.ended = true
	for _, s := range c.streams {
		s.capture = nil
	}
}

type model struct {
	current  int // thread
	captures []*capture
	dirty    *object          // the stream whose work on memory nobody waited for yet
	pending  map[*object]bool // contexts with work that nobody waited for yet
	any      *object
}

func (g *generator) thread() *threadState { return g.threads[g.current] }

func (g *generator) active() []*capture {
	g.captures = slices.DeleteFunc(g.captures, func(c *capture) bool { return c.ended })
	return g.captures
}

// switchThread goes to another thread; one that is new gets a context.
func (g *generator) switchThread() {
	n := 1 + g.r.IntN(g.o.Threads)
	if n > len(g.threads) {
		n = len(g.threads)
	}
	g.current = n
	if n == len(g.threads) {
		g.threads = append(g.threads, &threadState{})
		if g.r.IntN(4) > 0 {
			ctx := g.objs["ctx"][0]
			g.emit(g.prefix()+"cuCtxSetCurrent("+ctx.name+")", ok)
			g.thread().stack = []*object{ctx}
		}
	}
}

// onMemory are calls of streams that read or write memory.
var onMemory = regexp.MustCompile(`^cu(Memset|Memcpy|Launch|GraphLaunch|StreamWrite|StreamWait[VB]|StreamBatch|MemFreeAsync|MemPrefetch|MemDiscard|StreamAttach)`)

// async are calls whose work may go on when they return.
var async = regexp.MustCompile(`^cu(.*Async|Launch|GraphLaunch|GraphUpload|StreamWrite|StreamWait|StreamBatch|EventRecord|StreamAddCallback|CtxRecord|CtxWait)`)

// allowed says whether a call is one that the driver answers with a code, and that cannot hang; it adds what has to
// come before it.
func (g *generator) allowed(fn string, p *picked) bool {
	if o := p.ends; o != nil {
		switch o.kind {
		case "ctx":
			if o.what == "primary" {
				return false
			}
			for i, t := range g.threads {
				for j := range t.stackOf() {
					if t.stack[j] == o && (i != g.current || j != len(t.stack)-1) {
						return false
					}
				}
			}
			for _, c := range g.active() {
				if c.origin.ctx == o {
					return false
				}
			}
		case "mem", "mod", "event", "arr", "mip", "func", "managed", "pitched":
			if o.mapped { // in a graph, or bound
				return false
			}
		case "va":
			if o.mapped {
				return false
			}
		case "stream":
			if o.capture != nil && !g.o.Undefined && o.capture.origin != o {
				return false
			}
		}
	}
	top := g.thread().top()
	for _, o := range p.all {
		// Handles of a context that is not current: only contexts, streams and events are asked for across contexts.
		if o.ctx != nil && o.ctx != top && o.kind != "stream" && o.kind != "event" && !g.o.Undefined {
			return false
		}
	}
	if fn == "cuLinkComplete" || strings.HasPrefix(fn, "cuLinkAdd") {
		if l := p.bound["link"]; l != nil && l.what == "complete" {
			return false
		}
	}
	s := p.bound["stream"]
	if onMemory.MatchString(fn) && top != nil {
		if s == nil && p.bound["legacy"] == nil {
			s = nil
		}
		captured := s != nil && s.capture != nil
		if g.dirty != nil && g.dirty != s && !captured || p.bound["amem"] != nil ||
			strings.Contains(p.text.String(), "&w4") {
			if !g.sync() {
				return false
			}
		}
	}
	if waiting.MatchString(fn) && (s == nil || s.capture == nil) && len(g.pending) > 0 {
		if len(g.pending) > 1 || !g.pending[top] || !g.sync() {
			return false
		}
	}
	if strings.HasPrefix(fn, "cuStreamWaitValue") {
		if s == nil || g.dirty != nil && !g.sync() {
			return false
		}
		m := p.bound["mem"]
		width := "32"
		if strings.Contains(fn, "64") {
			width = "64"
		}
		if m == nil || len(g.active()) > 0 || s.ctx != top || m.ctx != top {
			return false
		}
		g.emit(g.prefix()+"cuStreamWriteValue"+width+"_v2("+s.name+", "+m.name+"+0, 0, 0)", ok)
	}
	return true
}

func (t *threadState) stackOf() []*object {
	if t == nil {
		return nil
	}
	return t.stack
}

// sync waits for all work, unless a capture is in the way.
func (g *generator) sync() bool {
	if len(g.active()) > 0 || g.thread().top() == nil {
		return false
	}
	g.emit(g.prefix()+"cuCtxSynchronize()", ok)
	g.dirty = nil
	delete(g.pending, g.thread().top())
	return true
}

// perform predicts a call's result, adds it, and changes the state by it.
func (g *generator) perform(c Call, p *picked) {
	want := p.codes
	if len(want) == 0 {
		want = []driver.CUresult{ok}
	}
	if p.unknown {
		want = nil
	}
	want = g.judge(c.Fn, p, want)
	slices.Sort(want)
	want = slices.Compact(want)
	g.steps = append(g.steps, Step{c, want})
	g.effects(c, p, want)
}

// withoutContext are functions that need no current context, besides those that know theirs by a handle.
var withoutContext = regexp.MustCompile(`^cu(Init|Driver|Device|Get|Ctx(Get(Current|ApiVersion|Id)|Create|Destroy|SetCurrent|Push|Attach)|LogsCurrent|ModuleGetLoadingMode|ThreadExchange)`)

// judge changes what is predicted by the state.
func (g *generator) judge(fn string, p *picked, want []driver.CUresult) []driver.CUresult {
	top := g.thread().top()
	if s := p.bound["stream"]; top == nil && s != nil && !s.dead {
		if !strings.HasPrefix(fn, "cuStream") && !strings.HasPrefix(fn, "cuEvent") {
			want = nil
		}
	} else if top == nil && !withoutContext.MatchString(fn) {
		f, known := g.o.Facts[fn]
		if known && f.NoContext == driver.CUDA_ERROR_INVALID_CONTEXT && f.Context != f.NoContext {
			// which is checked first is not the same everywhere
			return append(slices.Clone(p.codes), driver.CUDA_ERROR_INVALID_CONTEXT)
		}
		want = nil
	}
	if fn == "cuCtxPushCurrent" && slices.ContainsFunc(g.threads, func(t *threadState) bool {
		return slices.Contains(t.stackOf(), p.bound["ctx"])
	}) {
		want = []driver.CUresult{driver.CUDA_ERROR_INVALID_CONTEXT} // only one that is current nowhere
	}
	for _, o := range p.all {
		if o.dead && !o.stale || o.kind != "ctx" && o.ctx != nil && o.ctx != top && top != nil {
			want = nil
		}
	}
	if e := p.bound["event"]; e != nil && e.capture != nil && e.capture.ended && fn != "cuEventRecord" {
		want = nil // it was recorded in a capture that has ended
	}
	if o := p.bound["graph"]; o != nil && o.foreign {
		want = nil // it has nodes that the model does not know, or that cannot be in two graphs
	}
	if fn == "cuGraphDestroyNode" && p.ends.parent.holdsMemory() {
		want = []driver.CUresult{driver.CUDA_ERROR_NOT_SUPPORTED}
	}
	if len(g.active()) > 0 {
		want = g.captured(fn, p, want)
	} else if s := p.bound["stream"]; fn == "cuStreamEndCapture" && s != nil && s.capture == nil {
		want = []driver.CUresult{driver.CUDA_ERROR_ILLEGAL_STATE}
	}
	return want
}

// holdsMemory says whether a graph has an allocation's node.
func (o *object) holdsMemory() bool {
	return slices.ContainsFunc(o.children, func(c *object) bool { return c.kind == "anode" })
}

// harmless are calls that no capture is in the way of.
var harmless = regexp.MustCompile(`^cu(Init|Driver|DeviceGet$|DeviceGet(Count|Name|Attribute|Properties|PCI|By|Uuid)|DeviceCompute|GetError|GetProc|CtxGet(Current|Device|Flags|Limit|ApiVersion|Id|CacheConfig|Stream)|CtxSetCurrent|CtxPush|CtxPop|StreamGet(Flags|Priority|Id|Ctx|Device)|EventCreate|GraphAdd|GraphGet|GraphNode|GraphCreate|FuncGet(Name|Module|Attribute)|ModuleGetFunctionCount|ThreadExchange)`)

// waiting are calls that ask about a stream or an event.
var waiting = regexp.MustCompile(`^cu(StreamSynchronize|StreamQuery|EventQuery|EventSynchronize|EventElapsedTime)`)

// node are calls that become nodes of a capturing stream's graph.
var node = regexp.MustCompile(`^cu(Memset.*Async|Memcpy(Async|HtoDAsync|DtoHAsync|DtoDAsync|2DAsync|3DAsync)|LaunchKernel|LaunchHostFunc|LaunchCooperativeKernel$|EventRecord$|StreamWaitEvent|GraphLaunch)`)

// captured is judge while streams capture.
func (g *generator) captured(fn string, p *picked, want []driver.CUresult) []driver.CUresult {
	s, e := p.bound["stream"], p.bound["event"]
	for _, o := range p.all {
		if o.kind == "stream" && o.capture != nil {
			s = o
		}
	}
	hazy := func() []driver.CUresult {
		for _, c := range g.active() {
			c.hazy = true
		}
		return nil
	}
	switch {
	case fn == "cuStreamEndCapture" && s != nil && s.capture != nil:
		c := s.capture
		switch {
		case c.hazy:
			return nil
		case c.origin != s || c.forked:
			return nil
		case c.mode != 2 && c.thread != g.current:
			return []driver.CUresult{driver.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD}
		case c.invalid:
			return []driver.CUresult{invalidated}
		}
		return want
	case fn == "cuStreamEndCapture":
		return []driver.CUresult{driver.CUDA_ERROR_ILLEGAL_STATE}
	case strings.HasPrefix(fn, "cuStreamBeginCapture"):
		if s == nil { // the legacy stream, which may end captures
			return hazy()
		}
		return want
	case harmless.MatchString(fn):
		return want
	case waiting.MatchString(fn) && s != nil && s.capture != nil:
		if s.capture.hazy {
			return nil
		}
		s.capture.invalid = true
		return []driver.CUresult{unsupported}
	case waiting.MatchString(fn) && e != nil && e.capture != nil && !strings.Contains(fn, "Elapsed"):
		c := e.capture
		if c.hazy || c.ended || c.invalid || len(p.codes) > 0 {
			return hazy()
		}
		c.invalid = true
		return []driver.CUresult{driver.CUDA_ERROR_CAPTURED_EVENT}
	case fn == "cuCtxSynchronize":
		var r []driver.CUresult
		for _, c := range g.active() {
			if c.hazy {
				return hazy()
			}
			if slices.ContainsFunc(c.streams, func(s *object) bool { return s.ctx == g.thread().top() }) {
				c.invalid = true
				r = []driver.CUresult{unsupported}
			}
		}
		if r == nil {
			return hazy()
		}
		return r
	case fn == "cuMemAlloc_v2" || fn == "cuMemFree_v2" || fn == "cuMemHostAlloc":
		if len(p.codes) > 0 || want == nil {
			return hazy()
		}
		mode := g.thread().mode
		r := want
		for _, c := range g.active() {
			if c.hazy {
				return hazy()
			}
			if mode != 2 && c.mode != 2 && (c.thread == g.current || mode == 0 && c.mode == 0) {
				c.invalid = true
				r = []driver.CUresult{unsupported}
			}
		}
		return r
	case node.MatchString(fn) && s != nil && s.capture != nil:
		c := s.capture
		if c.hazy || want == nil || e != nil && e.capture != c && fn == "cuStreamWaitEvent" {
			return hazy()
		}
		if len(p.codes) > 0 {
			c.hazy = true // some wrong arguments invalidate a capture, and some do not
			return nil
		}
		if c.invalid {
			return []driver.CUresult{invalidated}
		}
		return want
	case node.MatchString(fn) && s != nil && s.capture == nil && p.bound["legacy"] == nil && s.ctx == g.thread().top():
		if fn == "cuStreamWaitEvent" && e != nil && e.capture != nil {
			if e.capture.hazy || e.capture.ended || e.capture.invalid || want == nil || len(p.codes) > 0 {
				return hazy()
			}
		}
		return want
	}
	return hazy()
}

// effects changes the state by a call with a predicted result.
func (g *generator) effects(c Call, p *picked, want []driver.CUresult) {
	success := slices.Equal(want, []driver.CUresult{ok})
	s, e := p.bound["stream"], p.bound["event"]
	for _, o := range p.all {
		if o.kind == "stream" && o.capture != nil {
			s = o
		}
	}
	// What a graph or a capture remembers must not end before it.
	if strings.HasPrefix(c.Fn, "cuGraph") || strings.HasPrefix(c.Fn, "cuTex") || strings.HasPrefix(c.Fn, "cuSurf") ||
		s != nil && s.capture != nil {
		for _, o := range p.all {
			switch o.kind {
			case "func":
				o.parent.mapped = true
			case "mem", "junk", "event", "arr", "mip", "managed":
				o.mapped = true
			}
		}
	}
	if async.MatchString(c.Fn) {
		ctx := g.thread().top()
		if s != nil {
			ctx = s.ctx
		}
		g.pending[ctx] = true
	}
	if onMemory.MatchString(c.Fn) && (s == nil || s.capture == nil) {
		g.dirty = s
		if s == nil {
			g.any = &object{}
			g.dirty = g.any
		}
	}
	if len(want) == 0 || !success && slices.Contains(want, ok) {
		// It may have happened or not: what it would have ended is not used again, and what it would have made neither.
		if p.ends != nil {
			p.ends.end()
		}
		g.hazyEffects(c, p)
		return
	}
	if c.Fn == "cuStreamEndCapture" && slices.Equal(want, []driver.CUresult{invalidated}) {
		s.capture.end()
	}
	if !success {
		return
	}
	for _, o := range p.made {
		g.made(c, p, o)
	}
	if o := p.ends; o != nil {
		o.end()
		if o.kind == "mem" && len(g.active()) == 0 {
			// The address may come back for another allocation; until then it is no memory.
			for _, m := range g.objs["mem"] {
				m.stale = false
			}
			o.stale = true
		}
		if o.kind == "mod" || o.kind == "graph" {
			o.stale = true
			for _, f := range o.children {
				f.stale = f.kind == "func"
			}
		}
		if o.kind == "ctx" {
			g.pop(o)
			for _, list := range g.objs {
				for _, x := range list {
					if x.ctx == o {
						x.end()
					}
				}
			}
		}
		if o.kind == "stream" && o.capture != nil {
			o.capture.hazy = true
		}
	}
	t := g.thread()
	switch c.Fn {
	case "cuCtxSynchronize":
		g.dirty = nil
		delete(g.pending, t.top())
	case "cuCtxSetCurrent":
		if len(t.stack) > 0 {
			t.stack = t.stack[:len(t.stack)-1]
		}
		if o := p.bound["ctx"]; o != nil {
			t.stack = append(t.stack, o)
		}
	case "cuCtxPushCurrent_v2", "cuCtxPushCurrent":
		t.stack = append(t.stack, p.bound["ctx"])
	case "cuCtxPopCurrent_v2":
		t.stack = t.stack[:len(t.stack)-1]
	case "cuStreamBeginCapture_v2", "cuStreamBeginCaptureToGraph", "cuStreamBeginCapture":
		mode := 0
		if c.Fn != "cuStreamBeginCapture" {
			mode = int(c.Args[len(c.Args)-1][0] - '0')
		}
		k := &capture{mode: mode, thread: g.current, origin: s, streams: []*object{s}}
		s.capture = k
		g.captures = append(g.captures, k)
		if o := p.bound["graph"]; o != nil {
			o.foreign = true
			k.hazy = true
		}
	case "cuStreamEndCapture":
		s.capture.end()
	case "cuEventRecord":
		if e != nil {
			e.capture = nil
			if s != nil {
				e.capture = s.capture
			}
		}
	case "cuStreamWaitEvent":
		if s != nil && e != nil && e.capture != nil && s.capture == nil && !e.capture.ended {
			s.capture = e.capture
			s.capture.streams = append(s.capture.streams, s)
			s.capture.forked = true
		}
	case "cuThreadExchangeStreamCaptureMode":
		t.mode = int(c.Args[0][2] - '0')
	case "cuMemMap":
		if o := p.bound["va"]; o != nil {
			o.mapped, o.foreign = true, true
		}
	case "cuMemUnmap":
		p.bound["va"].mapped = false
	case "cuLinkComplete":
		p.bound["link"].what = "complete"
	}
}

// hazyEffects keeps the state on the safe side of a call whose result is not predicted.
func (g *generator) hazyEffects(c Call, p *picked) {
	switch c.Fn {
	case "cuCtxDestroy", "cuCtxPopCurrent":
		// These are the functions of their newer forms.
		q := *p
		q.unknown = false
		if len(p.codes) == 0 && (c.Fn != "cuCtxPopCurrent" || g.thread().top() != nil) &&
			(p.ends != nil || c.Fn != "cuCtxDestroy") {
			g.effects(Call{Thread: c.Thread, Fn: c.Fn + "_v2", Args: c.Args}, &q, []driver.CUresult{ok})
		}
	case "cuStreamBeginCapture", "cuStreamBeginCapture_v2", "cuStreamBeginCaptureToGraph":
		if s := p.bound["stream"]; s != nil && s.capture == nil {
			s.capture = &capture{thread: g.current, origin: s, streams: []*object{s}, hazy: true}
			g.captures = append(g.captures, s.capture)
		}
	case "cuStreamWaitEvent":
		if s, e := p.bound["stream"], p.bound["event"]; s != nil && e != nil && s.capture == nil && e.capture != nil &&
			!e.capture.ended {
			s.capture = e.capture
			s.capture.streams = append(s.capture.streams, s)
			s.capture.hazy = true
		}
	case "cuEventRecord", "cuEventRecordWithFlags":
		if s, e := p.bound["stream"], p.bound["event"]; s != nil && e != nil && s.capture != nil {
			e.capture = s.capture
			e.capture.hazy = true
		}
	case "cuStreamEndCapture":
		for _, o := range p.all {
			if o.kind == "stream" && o.capture != nil && o.capture.origin == o &&
				(o.capture.mode == 2 || o.capture.thread == g.current) {
				o.capture.end()
			}
		}
	case "cuLinkComplete":
		if l := p.bound["link"]; l != nil {
			l.what = "complete"
		}
	case "cuMemMap":
		if o := p.bound["va"]; o != nil {
			o.end()
		}
	}
}

// pop takes a context that ended off the stack.
func (g *generator) pop(ctx *object) {
	t := g.thread()
	if t.top() == ctx {
		t.stack = t.stack[:len(t.stack)-1]
	}
}

// named is what a function is asked for by.
var named = regexp.MustCompile(`"(\w+)"`)

// made is a handle that came to life.
func (g *generator) made(c Call, p *picked, o *object) {
	if m := named.FindStringSubmatch(c.String()); m != nil {
		o.what = m[1]
	}
	switch {
	case o.kind == "ctx":
		o.ctx = nil
		g.add(o)
		t := g.thread()
		t.stack = append(t.stack, o)
		return
	case c.Fn == "cuStreamCreate" || c.Fn == "cuStreamCreateWithPriority":
		o.what = c.Args[1]
	case o.kind == "lfunc" || o.kind == "gvar" && o.parent != nil && o.parent.kind == "lib":
		if o.kind == "gvar" {
			o.what += "-lib"
		}
	case o.kind == "mod" && c.Args[1] != "@ptx":
		o.foreign = true
	}
	if o.kind == "anode" {
		o.parent.foreign = true
	}
	g.add(o)
	if o.kind == "mem" && len(g.active()) == 0 {
		g.emit(g.prefix()+"cuMemsetD8_v2("+o.name+", 0, "+c.Args[1]+")", ok)
	}
}

// use makes a kernel run until the host says so, calls that find it running, and the end of it.
func (g *generator) use() {
	if len(g.active()) > 0 {
		return
	}
	spin, flag, stream := g.find("spin"), g.find("flag"), g.find("ownstream")
	top := g.thread().top()
	if len(spin) == 0 || len(flag) == 0 || len(stream) == 0 || top == nil || spin[0].ctx != top ||
		stream[0].ctx != top || flag[0].ctx != top || !g.sync() {
		return
	}
	s, f := stream[g.r.IntN(len(stream))], spin[len(spin)-1]
	if s.ctx != top || f.ctx != top {
		return
	}
	g.emit("set "+flag[0].name+" 0", ok)
	g.emit(g.prefix()+"cuLaunchKernel("+f.name+", 1, 1, 1, 1, 1, 1, 0, "+s.name+", k("+flag[0].name+"), NULL)", ok)
	g.emit("later 100 "+flag[0].name+" 1", ok)
	busy := driver.CUDA_ERROR_NOT_READY
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(9) {
		case 0, 1:
			g.emit(g.prefix()+"cuStreamQuery("+s.name+")", busy)
			continue
		case 2:
			if e := g.find("event"); len(e) > 0 && e[0].ctx == top {
				g.emit(g.prefix()+"cuEventRecord("+e[0].name+", "+s.name+")", ok)
				g.emit(g.prefix()+"cuEventQuery("+e[0].name+")", busy)
			}
			continue
		case 3: // unloaded while it runs
			g.emit(g.prefix()+"cuModuleUnload("+f.parent.name+")", ok)
			f.parent.end()
			f.parent.stale = true
			g.emit(g.prefix()+"cuModuleGetFunctionCount(&, "+f.parent.name+")", driver.CUDA_ERROR_INVALID_HANDLE)
		case 4: // the stream goes, its work stays
			g.emit(g.prefix()+"cuStreamDestroy_v2("+s.name+")", ok)
			s.end()
		case 5:
			if m := g.find("mem"); len(m) > 1 && !m[len(m)-1].mapped && m[len(m)-1].ctx == top {
				g.emit(g.prefix()+"cuMemFree_v2("+m[len(m)-1].name+")", ok)
				m[len(m)-1].end()
			}
		case 6:
			g.emit(g.prefix()+"cuStreamSynchronize("+s.name+")", ok)
			g.emit(g.prefix()+"cuStreamQuery("+s.name+")", ok)
		case 7:
			if m := g.find("mem"); len(m) > 0 && m[0].ctx == top {
				g.emit(g.prefix()+"cuMemsetD32Async("+m[0].name+", 6, 4, "+s.name+")", ok)
				g.emit(g.prefix()+"cuStreamQuery("+s.name+")", busy)
			}
			continue
		case 8:
			o := &object{kind: "stream", name: g.fresh("stream"), ctx: top, what: "1"}
			g.emit(g.prefix()+"cuStreamCreate(&+"+o.name+", 1)", ok)
			g.add(o)
			g.emit(g.prefix()+"cuStreamQuery("+o.name+")", ok)
			continue
		}
		break
	}
	g.emit(g.prefix()+"cuCtxSynchronize()", ok)
	g.dirty = nil
}
