package softdev

import (
	"slices"
	"sync"

	"github.com/gocuda/cuda/internal/mem"
)

// leftover is the memory of a destroyed context. It stays for what other contexts had queued by then, as it does with the driver (recorded: reach/freed/destroy).
type leftover struct {
	owned  []mem.Range
	points []point // the ends of that work
	once   sync.Once
}

// leftovers are those of a driver that are not free yet.
type leftovers struct {
	mu   sync.Mutex
	list []*leftover
	wait sync.WaitGroup // for those who free them
}

func (l *leftover) due() bool {
	return !slices.ContainsFunc(l.points, func(p point) bool { return !p.reached() })
}

func (l *leftover) free() {
	l.once.Do(func() {
		for i := range l.owned {
			_ = l.owned[i].Heap.Free(l.owned[i].Base) // it is there: nobody else frees memory that is left
		}
	})
}

// bequeath frees the memory that a context leaves, at once when nothing is queued.
func (c *context) bequeath(owned []mem.Range) {
	l := &leftover{owned: owned}
	if len(owned) > 0 {
		for _, o := range c.d.contexts.all() {
			if o != c {
				l.points = o.tails(l.points)
			}
		}
	}
	if len(l.points) == 0 {
		l.free()
		return
	}
	d := &c.d.leftovers
	d.mu.Lock()
	d.list = append(d.list, l)
	d.mu.Unlock()
	c.goFor(&d.wait, func() {
		for _, p := range l.points {
			p.wait()
		}
		l.free()
		d.mu.Lock()
		defer d.mu.Unlock()
		if i := slices.Index(d.list, l); i >= 0 {
			d.list = slices.Delete(d.list, i, i+1)
		}
	})
}

// reap frees what is due, for who looks at how much memory there is: another goroutine would do it a little later.
func (d *leftovers) reap() {
	d.mu.Lock()
	list := slices.Clone(d.list)
	d.mu.Unlock()
	for _, l := range list {
		if l.due() {
			l.free()
		}
	}
}
