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

// ErrClosed is the error of a call on a closed object, and of a second Close. It is wrapped in an [*Error] where there
// is one.
var ErrClosed = errors.New("cuda: already closed")

// OpenError is the error of closing a parent while resources made from it are open. Its text shows the whole tree:
// kinds, counts and sizes, and where the resources were made if the system was opened [WithLeakReports].
type OpenError struct {
	Kind string // what was to be closed, for example "context"
	Open int    // how many direct children are open
	Tree []OpenResources
	// Leaks are the direct children with the places where they were made, when the system was opened [WithLeakReports].
	Leaks []Leak
}

// OpenResources are the open resources of one kind below one parent, or below parents of one kind.
type OpenResources struct {
	Kind  string          // buffer, stream, module, ...
	Count int             // how many
	Bytes int64           // size of their memory together, 0 for other resources
	Made  []Leak          // each with its place, when the system was opened [WithLeakReports]
	Below []OpenResources // what is open below them
}

func (e *OpenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuda: %s not closed: %d of its resources still open", e.Kind, e.Open)
	writeTree(&b, e.Tree, "\n\t")
	return b.String()
}

// mostPlaces is how many places of resources of one kind an error names.
const mostPlaces = 10

func writeTree(b *strings.Builder, tree []OpenResources, indent string) {
	for i := range tree {
		r := &tree[i]
		fmt.Fprintf(b, "%s%d x %s", indent, r.Count, r.Kind)
		if r.Bytes > 0 {
			fmt.Fprintf(b, ", %d bytes", r.Bytes)
		}
		for j := range r.Made {
			if j == mostPlaces {
				fmt.Fprintf(b, "%s\tand %d more", indent, len(r.Made)-j)
				break
			}
			fmt.Fprintf(b, "%s\t%s", indent, r.Made[j])
		}
		writeTree(b, r.Below, indent+"\t")
	}
}

// owned is the state of everything that has to be closed. Types embed it unexported. What is open for as long as its
// parent, a default stream say, has no record.
type owned struct{ *record }

// record is what a parent knows of a child that is open. It does not refer to the child itself, and nor does free, so
// that the collector can find that one unreachable.
type record struct {
	parent *record // nil for a System
	kind   string
	bytes  int64
	origin *origin // nil without leak reports
	leaks  *leakLog
	free   func() error
	closed atomic.Bool

	// For contexts: what CloseAll does first, and which errors of children it leaves out.
	settle func() (leaveOut func(error) bool, err error)

	mu       sync.Mutex
	living   int     // children that are open
	youngest *record // of the children, which are a list by prev and next
	prev     *record // the child of the same parent that is next older
	next     *record
}

// born links a new resource to its parent. free gives it back; it must not refer to the resource.
func (o *owned) born(parent *owned, kind string, bytes int64, free func() error) {
	r := &record{kind: kind, bytes: bytes, free: free}
	o.record = r
	if parent == nil {
		return
	}
	p := parent.record
	r.parent, r.leaks = p, p.leaks
	if r.leaks != nil {
		r.origin = newOrigin()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.living++
	if r.prev = p.youngest; r.prev != nil {
		r.prev.next = r
	}
	p.youngest = r
}

func (r *record) isClosed() bool { return r != nil && r.closed.Load() }

// end closes a resource: not twice, and not while children are open. It is closed afterwards even if free fails, as a
// file is.
func (r *record) end() error { return r.endBy(r.free) }

// endBy is end by another function than free.
func (r *record) endBy(free func() error) error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	r.mu.Lock()
	n := r.living
	r.mu.Unlock()
	if n > 0 {
		r.closed.Store(false)
		e := &OpenError{Kind: r.kind, Open: n, Tree: r.tree()}
		if r.leaks != nil {
			e.Leaks = leaksOf(r.children())
		}
		return e
	}
	err := free()
	if p := r.parent; p != nil {
		p.unlink(r)
	}
	return err
}

// unlink takes a child that is closed out of the list.
func (r *record) unlink(child *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.living--
	if child.next != nil {
		child.next.prev = child.prev
	} else {
		r.youngest = child.prev
	}
	if child.prev != nil {
		child.prev.next = child.next
	}
	child.prev, child.next = nil, nil
}

// children are the open children, the youngest first.
func (r *record) children() []*record {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*record, 0, r.living)
	for c := r.youngest; c != nil; c = c.prev {
		all = append(all, c)
	}
	return all
}

// closeAll closes everything below a resource, the youngest first, since nothing depends on what was made after it, and
// then the resource. It goes on after errors and joins them.
func (r *record) closeAll() error {
	if r.isClosed() {
		return ErrClosed
	}
	var errs []error
	leaveOut := func(error) bool { return false }
	if r.settle != nil {
		var err error
		if leaveOut, err = r.settle(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, c := range r.children() {
		// what another goroutine has closed meanwhile is no error
		if err := c.closeAll(); err != nil && !errors.Is(err, ErrClosed) && !leaveOut(err) {
			errs = append(errs, err)
		}
	}
	if err := r.end(); err != nil && !leaveOut(err) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// tree is what is open below resources.
func (r *record) tree() []OpenResources { return treeOf(r.children()) }

func treeOf(records []*record) []OpenResources {
	var kinds []string
	byKind := map[string][]*record{}
	for _, r := range records {
		if byKind[r.kind] == nil {
			kinds = append(kinds, r.kind)
		}
		byKind[r.kind] = append(byKind[r.kind], r)
	}
	slices.Sort(kinds)
	var tree []OpenResources
	for _, kind := range kinds {
		o := OpenResources{Kind: kind, Count: len(byKind[kind])}
		var below []*record
		for _, r := range byKind[kind] {
			o.Bytes += r.bytes
			below = append(below, r.children()...)
		}
		if byKind[kind][0].leaks != nil {
			o.Made = leaksOf(byKind[kind])
		}
		o.Below = treeOf(below)
		tree = append(tree, o)
	}
	return tree
}

// leaksOf are resources with the places where they were made, in an order that does not vary.
func leaksOf(records []*record) []Leak {
	leaks := make([]Leak, len(records))
	for i, r := range records {
		leaks[i] = r.leak()
	}
	slices.SortFunc(leaks, func(a, b Leak) int { return strings.Compare(a.String(), b.String()) })
	return leaks
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

// origin is where a resource was made.
type origin struct {
	pcs [12]uintptr
	n   int
}

func newOrigin() *origin {
	o := new(origin)
	// of Callers, newOrigin and born nobody wants to know; leak drops the rest of this package
	o.n = runtime.Callers(3, o.pcs[:])
	return o
}

func (r *record) leak() Leak {
	l := Leak{Kind: r.kind, Bytes: r.bytes}
	if r.origin == nil {
		return l
	}
	frames := runtime.CallersFrames(r.origin.pcs[:r.origin.n])
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

// leakLog is where lost resources of a system are reported.
type leakLog struct{ report func(Leak) }

func newLeakLog(report func(Leak)) *leakLog {
	if report == nil {
		report = func(l Leak) { fmt.Fprintf(os.Stderr, "cuda: leaked %s\n", l) }
	}
	return &leakLog{report: report}
}

// lost is the cleanup of a resource that the collector found: it reports and frees nothing, since the device may still
// use it.
func lost(r *record) {
	if !r.isClosed() {
		r.leaks.report(r.leak())
	}
}

// below are all records below one.
func (r *record) below() []*record {
	all := r.children()
	for _, c := range all {
		all = append(all, c.below()...)
	}
	return all
}

// watch reports p when the collector finds it while its resource is open. It does nothing without leak reports.
func watch[T any](p *T, o *owned) {
	if o.origin == nil {
		return
	}
	runtime.AddCleanup(p, lost, o.record)
}

// Scope closes the resources added to it, in reverse order:
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

// Add adds resources; the last one is closed first. Nil interfaces are ignored. A closed scope closes them at once.
func (s *Scope) Add(resources ...io.Closer) {
	for _, c := range resources {
		if c != nil {
			s.Defer(c.Close)
		}
	}
}

// Defer adds a function to call.
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

// Close closes everything in reverse order and joins the errors. Resources that are already closed are not errors. A
// second Close does nothing.
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
