package softdev

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// External semaphores are words in files that processes share; what such a file holds is the software device's own
// choice, since those of hardware belong to graphics drivers. A timeline semaphore (TIMELINE_SEMAPHORE_FD) is a word of
// 64 bits at the beginning of a file: a signal raises it to a value, a wait ends when it has reached one. A binary one
// (OPAQUE_FD) is such a word that a signal makes 1 and a wait makes 0 again, or an eventfd of Linux, of which a signal
// writes 1 and a wait reads.

// externalSemaphore is a CUexternalSemaphore. Work that is queued, and nodes of graphs, keep it.
type externalSemaphore struct {
	handle   driver.CUexternalSemaphore
	ctx      *context
	timeline bool
	sem      *mem.Semaphore
	word     *atomic.Uint64 // nil for an eventfd
}

func (d *Driver) importExternalSemaphore(cur driver.CUcontext, out *driver.CUexternalSemaphore,
	desc *driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || desc == nil {
		return invalidValue
	}
	x := &externalSemaphore{ctx: c}
	switch {
	case desc.Type < driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
		desc.Type > driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 || desc.Flags != 0:
		return invalidValue
	case desc.Type == driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD:
		x.timeline = true
	case desc.Type != driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD:
		d.explain(c, "external semaphores are imported from file descriptors only (OPAQUE_FD, TIMELINE_SEMAPHORE_FD): "+
			"the others belong to Windows and to NvSci")
		return notSupported
	}
	sem, err := mem.TakeSemaphore(uintptr(*desc.Handle.Fd()), x.timeline)
	if err != nil {
		return d.importFailure(c, err)
	}
	x.sem, x.word = sem, sem.Word()
	// It lives as long as operations that are queued, which no call tells the end of.
	runtime.AddCleanup(x, func(s *mem.Semaphore) {
		defer d.guard()
		_ = s.Close()
	}, sem)
	if x.handle = driver.CUexternalSemaphore(d.external.semaphores.add(x)); x.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = x.handle
	return success
}

func (d *Driver) destroyExternalSemaphore(_ driver.CUcontext, h driver.CUexternalSemaphore) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if h == 0 {
		return invalidValue // recorded
	}
	if d.external.semaphores.remove(uintptr(h)) == nil {
		return badHandle
	}
	return success
}

// signal never takes the word of a timeline back: a value that was reached stays reached.
func (x *externalSemaphore) signal(value uint64) error {
	defer runtime.KeepAlive(x) // the word is unmapped when the collector finds x
	switch {
	case x.timeline:
		for old := x.word.Load(); old < value && !x.word.CompareAndSwap(old, value); old = x.word.Load() {
		}
	case x.word != nil:
		x.word.Store(1)
	default:
		return x.sem.Post()
	}
	return nil
}

// take says whether a wait has ended, and then undoes the signal of a binary semaphore.
func (x *externalSemaphore) take(value uint64) (bool, error) {
	defer runtime.KeepAlive(x)
	switch {
	case x.timeline:
		return x.word.Load() >= value, nil
	case x.word != nil:
		return x.word.CompareAndSwap(1, 0), nil
	}
	return x.sem.Take()
}

// semaphoreOp is a signal of a semaphore or a wait for one.
type semaphoreOp struct {
	x     *externalSemaphore
	value uint64
	wait  bool
}

func (o *semaphoreOp) perform(c *context) error {
	if !o.wait {
		return o.x.signal(o.value)
	}
	// Whoever signals it tells nobody, so that there is nothing but looking again.
	const longest = 200 * time.Microsecond
	for pause := time.Microsecond; !c.ended(); pause = min(2*pause, longest) {
		if ok, err := o.x.take(o.value); ok || err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

type semaphoreOps []semaphoreOp

// perform does all of them in order. The file of a semaphore may have become shorter, which its word is lost by.
func (l semaphoreOps) perform(c *context, a *checker.Action) {
	c.reach("an external semaphore", func() {
		for i := range l {
			o := &l[i]
			if a != nil && !o.wait { // before somebody can see it
				a.Wrote(o.x.id())
			}
			if err := o.perform(c); err != nil {
				c.fail(driver.CUDA_ERROR_OPERATING_SYSTEM, "an external semaphore: "+err.Error())
				return
			}
			if a != nil && o.wait {
				a.Saw(o.x.id())
			}
		}
	})
}

// id stands for the semaphore in the order of operations: that of its file, whichever import names it.
func (x *externalSemaphore) id() uint64 { return x.sem.ID() }

func (l semaphoreOps) execute(s *stream, skip bool) {
	if !skip {
		l.perform(s.ctx, s.acting)
	}
}

// semaphoreParams are the two structs with the parameters of a signal and of a wait.
type semaphoreParams interface {
	driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS | driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS
}

// semaphoreWork is a node that signals external semaphores or waits for them, and what becomes one in a capture.
type semaphoreWork[P semaphoreParams] struct {
	ops     semaphoreOps
	handles []driver.CUexternalSemaphore
	params  []P
}

type (
	signalWork = semaphoreWork[driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS]
	waitWork   = semaphoreWork[driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS]
)

// newSemaphoreWork checks lists of semaphores and parameters. Flags are for semaphores of NvSci.
func newSemaphoreWork[P semaphoreParams](d *Driver, list *driver.CUexternalSemaphore, params *P,
	n uint32) (*semaphoreWork[P], driver.CUresult) {
	w := &semaphoreWork[P]{}
	if n == 0 {
		return w, success
	}
	if list == nil || params == nil {
		return nil, invalidValue
	}
	for i := range n {
		h := unsafe.Slice(list, n)[i]
		x := d.external.semaphores.get(uintptr(h))
		if x == nil {
			return nil, badHandle
		}
		p := unsafe.Slice(params, n)[i]
		o := semaphoreOp{x: x}
		var flags uint32
		switch p := any(&p).(type) {
		case *driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS:
			o.value, flags = p.Params.Fence.Value, p.Flags
		case *driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS:
			o.value, flags, o.wait = p.Params.Fence.Value, p.Flags, true
		}
		if flags != 0 {
			return nil, invalidValue
		}
		w.ops, w.handles, w.params = append(w.ops, o), append(w.handles, h), append(w.params, p)
	}
	return w, success
}

func (*semaphoreWork[P]) kind() driver.CUgraphNodeType {
	if _, signal := any((*P)(nil)).(*driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS); signal {
		return driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
	}
	return driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
}

func (w *semaphoreWork[P]) clone(*graphs) nodeWork {
	return &semaphoreWork[P]{slices.Clone(w.ops), slices.Clone(w.handles), slices.Clone(w.params)}
}

func (w *semaphoreWork[P]) run(r *graphRun) {
	if !r.skip(r.s.ctx) {
		w.ops.perform(r.s.ctx, r.act)
	}
}

// fixed says whether an executable graph's node can have other work in place of its own: for as many semaphores
// (cuGraphExecExternalSemaphoresSignalNodeSetParams).
func (w *semaphoreWork[P]) fixed(other nodeWork) bool {
	o, ok := other.(*semaphoreWork[P])
	return ok && len(o.ops) == len(w.ops)
}

// semaphoresAsync is cuSignalExternalSemaphoresAsync and cuWaitExternalSemaphoresAsync.
func semaphoresAsync[P semaphoreParams](d *Driver, cur driver.CUcontext, list *driver.CUexternalSemaphore, params *P,
	n uint32, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if r := s.admit(); r != success {
		return r
	}
	if n == 0 {
		return s.spoil(invalidValue) // recorded for NULL
	}
	w, r := newSemaphoreWork(d, list, params, n)
	if r != success {
		return s.spoil(r)
	}
	if s.capturing() {
		return s.captureWork(w)
	}
	s.offer(&op{kind: opTask, task: w.ops}, !w.ops[0].wait)
	return success
}

func (d *Driver) signalExternalSemaphores(cur driver.CUcontext, list *driver.CUexternalSemaphore,
	params *driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, n uint32, h driver.CUstream) driver.CUresult {
	return semaphoresAsync(d, cur, list, params, n, h)
}

func (d *Driver) waitExternalSemaphores(cur driver.CUcontext, list *driver.CUexternalSemaphore,
	params *driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, n uint32, h driver.CUstream) driver.CUresult {
	return semaphoresAsync(d, cur, list, params, n, h)
}
