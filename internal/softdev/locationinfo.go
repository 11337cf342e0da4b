package softdev

import (
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// memGetLocationInfo says where memory is, part by part: in each part the place that most of the looked-at addresses
// have (of CUDA 13.4, not recorded). Managed memory is where it was prefetched to last, and on the host where it was
// not; other memory is where it was allocated. What would be looked at is counted, run by run: a range may be large.
func (d *Driver) memGetLocationInfo(_ driver.CUcontext, p driver.CUdeviceptr, n, part, every uint64,
	out *driver.CUmemLocation) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || n == 0 || part == 0 || part > n || every > part {
		return invalidValue
	}
	rng, a, ok := d.memory.find(p)
	if !ok || n > rng.End()-uint64(p) {
		return invalidValue
	}
	list, ok := slice(out, (n-1)/part+1)
	if !ok {
		return invalidValue
	}
	if every == 0 { // "a system dependent value"
		every = min(part, mem.Granule)
	}
	host := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}
	first, end := uint64(p), uint64(p)+n
	runs := []located{{first, end, host}}
	switch rng.Kind {
	case mem.Managed:
		runs = a.advice.located(first, end, host)
	case mem.Pinned:
	default:
		runs[0].place = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: a.device().ordinal}
	}
	at := 0
	for i := range list {
		from := first + uint64(i)*part
		to := from + min(part, end-from)
		for runs[at].to <= from {
			at++
		}
		seen, most := map[driver.CUmemLocation]uint64{}, uint64(0)
		for k := at; k < len(runs) && runs[k].from < to; k++ {
			x, y := max(runs[k].from, from), min(runs[k].to, to)
			seen[runs[k].place] += (y-from+every-1)/every - (x-from+every-1)/every
			if c := seen[runs[k].place]; c > most {
				most, list[i] = c, runs[k].place
			}
		}
	}
	return success
}

// located is a run of addresses in one place.
type located struct {
	from, to uint64
	place    driver.CUmemLocation
}

// located is where each run of a range was prefetched to last; none is where it was never.
func (x *advices) located(from, to uint64, none driver.CUmemLocation) (runs []located) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := from
	for _, r := range x.runs {
		a, b := max(r.from, from), min(r.to, to)
		if a >= b {
			continue
		}
		if at < a {
			runs = append(runs, located{at, a, none})
		}
		place := r.prefetched
		if place.Type == driver.CU_MEM_LOCATION_TYPE_INVALID {
			place = none
		}
		runs = append(runs, located{a, b, place})
		at = b
	}
	if at < to {
		runs = append(runs, located{at, to, none})
	}
	return runs
}
