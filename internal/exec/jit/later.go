package jit

import (
	"sync/atomic"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
)

// Code for some lanes that is written when lanes first come to it (amd64/cta_rest.go).

// laterOps is how many operations make it worth while to leave a part of the code for later.
const laterOps = 1024

// ctaRest is the part of a version's code that is written when it is needed first.
type ctaRest struct {
	region *region
	points map[uintptr]abi.ResumePoint
}

// complete writes the part of a version's code that was left for later. It says whether that is there now: else stop
// was set meanwhile, or other code has taken the version's place.
func (c *code) complete(s *ctaState, v *ctaVersion, stop *atomic.Bool) bool {
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	defer s.guard()
	if v.rest.Load() != nil {
		return true
	}
	if v.replaced.Load() != nil {
		return false
	}
	var made *region
	s.analysis.Stop = stop
	rest, err := c.e.back.CompileRest(c.k, v.code, c.options(s, v.key))
	s.analysis.Stop = nil
	if err == nil {
		made, err = c.e.mapCode(rest.Text)
	}
	if err == plan.ErrStopped {
		return false
	}
	if err != nil {
		c.replace(s, v, stop)
		return false
	}
	c.e.made.Add(1)
	*s.regions = append(*s.regions, made)
	base := made.base()
	v.rest.Store(&ctaRest{made, pointsAt(base, rest.Points)})
	for b, off := range rest.Entries {
		if off != 0 {
			atomic.StoreUintptr(&v.links[abi.LinkOf(int32(b), false)], base+uintptr(off))
		}
	}
	return true
}

// replace has a version written anew, and whole; where that cannot be there is none any more.
func (c *code) replace(s *ctaState, v *ctaVersion, stop *atomic.Bool) {
	s.whole = true
	n := &ctaVersion{}
	if s.made < maxVersions {
		if n = c.makeCTA(s, v.key, stop); n == nil {
			if x, known := s.versions[v.key]; known && x == v { // stop was set meanwhile
				return
			}
			n = &ctaVersion{}
		}
	} else {
		s.versions[v.key] = nil
	}
	v.replaced.Store(n)
}
