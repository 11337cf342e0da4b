package checker

import (
	"slices"
	"sync"
)

// Log has one report for each distinct defect. Its methods may be called from several goroutines at once.
type Log struct {
	mu   sync.Mutex
	tell func(*Report)
	skip Suppressions
	had  map[defect]*Report
	list []*Report

	suppressed int
}

// NewLog makes a log; tell is called with each report when its defect is found first, unless it is suppressed. Its
// Count may grow later.
func NewLog(tell func(*Report), skip Suppressions) *Log {
	return &Log{tell: tell, skip: skip, had: map[defect]*Report{}}
}

// defect tells defects apart: by kind and the places in the program.
type defect struct {
	kind   string
	a, b   spot
	memory Call // where the memory was allocated
}

// spot is a place in the program.
type spot struct {
	kernel string
	at     Place
	call   Call
}

func (s *Site) spot() (p spot) {
	p = spot{kernel: s.Kernel, at: s.Place}
	if s.Call != nil {
		p.call = *s.Call
	}
	return p
}

func (r *Report) defect() (d defect) {
	d.kind = r.Kind
	if len(r.Sites) > 0 {
		d.a = r.Sites[0].spot()
	}
	if len(r.Sites) > 1 && KindCheck(r.Kind) == Race { // of other defects further sites say more of the same
		d.b = r.Sites[1].spot()
	}
	if len(r.Sites) == 0 && r.Memory != nil {
		d.memory = r.Memory.Made
	}
	return d
}

// Add counts a defect, which becomes a report unless it is one already. It gives the report that counts it, for Again.
// Count is 1 when it is 0; Check and Severity are the kind's.
func (l *Log) Add(r *Report) *Report {
	k := kinds[r.Kind]
	r.Check, r.Severity = k.check.String(), k.severity
	r.Count = max(r.Count, 1)
	d := r.defect()
	l.mu.Lock()
	had := l.had[d]
	if had == nil && (d.b != spot{}) {
		turned := d
		turned.a, turned.b = d.b, d.a
		had = l.had[turned]
	}
	if had != nil {
		had.Count += r.Count
		l.mu.Unlock()
		return had
	}
	l.had[d] = r
	if slices.ContainsFunc(l.skip, func(x Suppression) bool { return x.fits(r) }) {
		l.suppressed++
		l.mu.Unlock()
		return r
	}
	l.list = append(l.list, r)
	l.mu.Unlock()
	if l.tell != nil {
		l.tell(r)
	}
	return r
}

// Again counts a defect that has a report once more.
func (l *Log) Again(r *Report) {
	l.mu.Lock()
	r.Count++
	l.mu.Unlock()
}

// Suppressed is how many reports were suppressed.
func (l *Log) Suppressed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.suppressed
}

// Reports are the reports so far, in the order in which they were found, as copies.
func (l *Log) Reports() []*Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.list)
	for i, r := range list {
		c := *r
		list[i] = &c
	}
	return list
}
