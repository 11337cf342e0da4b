package nccl

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/softdev"
	"github.com/gocuda/cuda/nccl/raw"
)

// groups are the open groups by OS thread, as in NCCL itself.
var groups struct {
	open atomic.Int64
	mu   sync.Mutex
	m    map[uint64]*group
}

// group is what was issued between its start and its end.
type group struct {
	depth     int
	libraries []*library
	comms     []*Comm  // in the order of their first operation
	queued    []queued // on software devices
}

// queued is an operation that waits for the end of its group.
type queued struct {
	c    *Comm
	s    *cuda.Stream
	op   *operation // or
	list []transfer
}

// current is the group of the calling thread, nil without one.
func current() *group {
	if groups.open.Load() == 0 {
		return nil
	}
	groups.mu.Lock()
	defer groups.mu.Unlock()
	return groups.m[softdev.ThreadID()]
}

// Group issues the operations that f calls as one (ncclGroupStart, ncclGroupEnd). One goroutine can so issue operations
// of several communicators, and sends and receives make progress together, in whatever order they were called. f must
// call them itself, not from other goroutines. If f fails nothing of the group is issued on software devices; on GPUs
// the operations that were already called continue. Groups may be nested; the outermost one counts.
func Group(f func() error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id := softdev.ThreadID()
	groups.mu.Lock()
	g := groups.m[id]
	if g == nil {
		g = new(group)
		if groups.m == nil {
			groups.m = map[uint64]*group{}
		}
		groups.m[id] = g
		groups.open.Add(1)
	}
	g.depth++
	groups.mu.Unlock()
	ended := false
	end := func() {
		ended = true
		groups.mu.Lock()
		defer groups.mu.Unlock()
		if g.depth--; g.depth == 0 {
			delete(groups.m, id)
			groups.open.Add(-1)
		}
	}
	defer func() {
		if !ended { // a panic in f: the library's group must not stay open
			end()
			if g.depth == 0 {
				_ = g.endLibraries()
			}
		}
	}()
	err = f()
	end()
	if g.depth > 0 {
		return err
	}
	err = errors.Join(err, g.endLibraries())
	if err != nil {
		return err
	}
	return g.issue()
}

// enter opens the group in a library, once.
func (g *group) enter(e *library, c *Comm) error {
	if !slices.ContainsFunc(g.libraries, func(x *library) bool { return x.l == e.l }) {
		if err := e.l.GroupStart(); err != nil {
			return libraryError(e.l, 0, "ncclGroupStart", err)
		}
		g.libraries = append(g.libraries, e)
	}
	if !slices.Contains(g.comms, c) {
		g.comms = append(g.comms, c)
	}
	return nil
}

// endLibraries ends the group in the libraries and waits until the calls of all communicators have ended.
func (g *group) endLibraries() error {
	var errs []error
	for _, e := range g.libraries {
		if err := e.l.GroupEnd(); err != nil && !inProgress(err) {
			errs = append(errs, libraryError(e.l, 0, "ncclGroupEnd", err))
		}
	}
	g.libraries = nil
	for _, c := range g.comms {
		errs = append(errs, c.e.groupEnded())
	}
	return errors.Join(errs...)
}

// issue queues what software devices have to do: the sends and receives of a communicator in a stream as one.
func (g *group) issue() error {
	for i := range g.queued {
		q := &g.queued[i]
		if q.op != nil {
			if err := q.c.e.collective(q.s, q.op); err != nil {
				return err
			}
			continue
		}
		if q.list == nil {
			continue
		}
		list := q.list
		for j := i + 1; j < len(g.queued); j++ {
			if o := &g.queued[j]; o.op == nil && o.c == q.c && o.s == q.s {
				list = append(list, o.list...)
				o.list = nil
			}
		}
		if err := q.c.e.transfers(q.s, list); err != nil {
			return err
		}
	}
	return nil
}

// lockedGroup is a group of a library alone, for calls that make communicators.
func lockedGroup(l *raw.Library, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.GroupStart(); err != nil {
		return libraryError(l, 0, "ncclGroupStart", err)
	}
	err := f()
	if e := l.GroupEnd(); e != nil && !inProgress(e) {
		err = errors.Join(err, libraryError(l, 0, "ncclGroupEnd", e))
	}
	return err
}
