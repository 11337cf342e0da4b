package softdev

import (
	"slices"
	"sync"

	"github.com/gocuda/cuda/internal/mem"
)

// leftover is memory of the program that is free, but for what was queued by then: that of a destroyed context stays
// for other contexts, as it does with the driver (recorded: reach/freed/destroy); what was freed in stream order stays
// for other streams where the race check is to see what they do to it.
type leftover struct {
	give   func()
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
	l.once.Do(l.give)
}

// bequeath frees the memory that a context leaves, at once when nothing is queued.
func (c *context) bequeath(owned []mem.Range) {
	l := &leftover{give: func() {
		for i := range owned {
			_ = owned[i].Heap.Free(owned[i].Base) // it is there: nobody else frees memory that is left
		}
	}}
	if len(owned) > 0 {
		for _, o := range c.d.contexts.all() {
			if o != c {
				l.points = o.tails(l.points)
			}
		}
	}
	c.freeLater(l)
}

// freeLater frees a leftover when it is due, at once when nothing is queued.
func (c *context) freeLater(l *leftover) {
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
