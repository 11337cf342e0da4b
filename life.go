package cuda

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrClosed is the error of a call on something that was closed, and of a second Close. It comes inside an [*Error]
// where there is one.
var ErrClosed = errors.New("cuda: already closed")

// OpenError says that a parent was not closed because something made from it is still open.
type OpenError struct {
	Kind string // what was to be closed, for example "context"
	Open int    // how many direct children are open
	// Leaks are the children with the places where they were made, when the system was opened [WithLeakReports].
	Leaks []Leak
}

func (e *OpenError) Error() string {
	s := fmt.Sprintf("cuda: %s not closed: %d of its resources still open", e.Kind, e.Open)
	for i := range e.Leaks {
		s += "\n\t" + e.Leaks[i].String()
	}
	return s
}

// owned is the state of everything that has to be closed. Types embed it unexported.
type owned struct {
	parent *owned // nil for a System
	kind   string
	living atomic.Int64 // children that are open
	closed atomic.Bool
	origin *origin // nil without leak reports
	leaks  *leakLog
}

// born links a new resource to its parent.
func (o *owned) born(parent *owned, kind string, bytes int64) {
	o.parent, o.kind = parent, kind
	if parent == nil {
		return
	}
	o.leaks = parent.leaks
	parent.living.Add(1)
	if o.leaks != nil {
		o.origin = o.leaks.add(parent, kind, bytes)
	}
}

func (o *owned) isClosed() bool { return o.closed.Load() }

// end closes a resource: not twice, and not while children are open. It is closed afterwards even if free fails, as a
// file is.
func (o *owned) end(free func() error) error {
	if o.closed.Swap(true) {
		return ErrClosed
	}
	if n := o.living.Load(); n > 0 {
		o.closed.Store(false)
		e := &OpenError{Kind: o.kind, Open: int(n)}
		if o.leaks != nil {
			e.Leaks = o.leaks.below(o)
		}
		return e
	}
	err := free()
	if o.parent != nil {
		o.parent.living.Add(-1)
	}
	if o.origin != nil {
		o.leaks.remove(o.origin)
	}
	return err
}

// Leak is a resource that was made and not closed.
type Leak struct {
	Kind  string   // buffer, stream, module, ...
	Bytes int64    // size of memory, 0 for other resources
	Stack []string // where it was made: "function file:line", innermost first, without this package
}

func (l Leak) String() string {
	s := l.Kind
	if l.Bytes > 0 {
		s += fmt.Sprintf(" of %d bytes", l.Bytes)
	}
	if len(l.Stack) > 0 {
		s += " made at " + l.Stack[0]
	}
	return s
}

// origin is where a living resource was made. It does not refer to the resource, so that the collector can find that
// one unreachable.
type origin struct {
	parent *owned
	kind   string
	bytes  int64
	pcs    [12]uintptr
	n      int
}

func (o *origin) leak() Leak {
	l := Leak{Kind: o.kind, Bytes: o.bytes}
	frames := runtime.CallersFrames(o.pcs[:o.n])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "github.com/gocuda/cuda.") ||
			strings.HasSuffix(f.File, "_test.go") {
			l.Stack = append(l.Stack, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		}
		if !more {
			return l
		}
	}
}

// leakLog knows every living resource of a system.
type leakLog struct {
	report func(Leak)

	mu   sync.Mutex
	live map[*origin]struct{}
}

func newLeakLog(report func(Leak)) *leakLog {
	if report == nil {
		report = func(l Leak) { fmt.Fprintf(os.Stderr, "cuda: leaked %s\n", l) }
	}
	return &leakLog{report: report, live: map[*origin]struct{}{}}
}

func (l *leakLog) add(parent *owned, kind string, bytes int64) *origin {
	o := &origin{parent: parent, kind: kind, bytes: bytes}
	// of Callers, add and born nobody wants to know; leak drops the rest of this package
	o.n = runtime.Callers(3, o.pcs[:])
	l.mu.Lock()
	l.live[o] = struct{}{}
	l.mu.Unlock()
	return o
}

func (l *leakLog) remove(o *origin) {
	l.mu.Lock()
	delete(l.live, o)
	l.mu.Unlock()
}

// lost is the cleanup of a resource that the collector found: it reports and frees nothing, since the device may still
// use it.
func (l *leakLog) lost(o *origin) {
	l.mu.Lock()
	_, open := l.live[o]
	l.mu.Unlock()
	if open {
		l.report(o.leak())
	}
}

func (l *leakLog) below(parent *owned) []Leak {
	l.mu.Lock()
	var found []*origin
	for o := range l.live {
		if parent == nil || o.parent == parent {
			found = append(found, o)
		}
	}
	l.mu.Unlock()
	leaks := make([]Leak, len(found))
	for i, o := range found {
		leaks[i] = o.leak()
	}
	slices.SortFunc(leaks, func(a, b Leak) int { return strings.Compare(a.String(), b.String()) })
	return leaks
}

// watch reports p when the collector finds it while its resource is open. It does nothing without leak reports.
func watch[T any](p *T, o *owned) {
	if o.origin == nil {
		return
	}
	log := o.leaks
	runtime.AddCleanup(p, func(at *origin) { log.lost(at) }, o.origin)
}

// Scope closes what was added to it in reverse order:
//
//	sc := cuda.NewScope()
//	defer sc.Close()
//	x, err := cuda.Alloc[float32](c, n)
//	if err != nil {
//		return err
//	}
//	sc.Add(x)
//
// It may be used from several goroutines.
type Scope struct {
	mu      sync.Mutex
	closers []func() error
	closed  bool
}

// NewScope returns an empty scope.
func NewScope() *Scope { return new(Scope) }

// Add makes the scope close the resources, the last one first. Nil interfaces are ignored. A scope that is closed
// closes them at once.
func (s *Scope) Add(resources ...io.Closer) {
	for _, c := range resources {
		if c != nil {
			s.Defer(c.Close)
		}
	}
}

// Defer makes the scope call a function.
func (s *Scope) Defer(f func() error) {
	s.mu.Lock()
	if !s.closed {
		s.closers = append(s.closers, f)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	_ = f() // late: there is nobody left who would look at the error
}

// Close closes everything in reverse order and joins the errors. What was closed before is not an error. A second Close
// does nothing.
func (s *Scope) Close() error {
	s.mu.Lock()
	closers := s.closers
	s.closers, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(closers) {
		if err := f(); err != nil && !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
