package softdev

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Managed memory lies in one place whatever is asked for, so that advice and prefetches change nothing but what
// cuMemRangeGetAttribute reports.

// advice is what the program has said of a part of managed memory.
type advice struct {
	readMostly bool
	preferred  driver.CUmemLocation // type INVALID for none
	prefetched driver.CUmemLocation // likewise
	accessed   []driver.CUmemLocation
}

func (a *advice) equal(b *advice) bool {
	return a.readMostly == b.readMostly && a.preferred == b.preferred && a.prefetched == b.prefetched &&
		slices.Equal(a.accessed, b.accessed)
}

// advised is a run of addresses with one advice.
type advised struct {
	from, to uint64
	advice
}

// advices keeps the runs of an allocation in the order of their addresses; gaps have none.
type advices struct {
	mu   sync.Mutex
	runs []advised
}

// change applies f to every address of a range.
func (x *advices) change(from, to uint64, f func(*advice)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []advised
	put := func(r advised) {
		if r.from >= r.to {
			return
		}
		if n := len(out); n > 0 && out[n-1].to == r.from && out[n-1].equal(&r.advice) {
			out[n-1].to = r.to
			return
		}
		out = append(out, r)
	}
	at := from // everything of the range below is done
	inside := func(r advised) {
		r.accessed = slices.Clone(r.accessed)
		f(&r.advice)
		put(r)
	}
	for _, r := range x.runs {
		if r.from > at && at < to {
			inside(advised{from: at, to: min(r.from, to)})
			at = min(r.from, to)
		}
		before, mid, after := r, r, r
		before.to = min(r.to, from)
		mid.from, mid.to = max(r.from, from), min(r.to, to)
		after.from = max(r.from, to)
		put(before)
		if mid.from < mid.to {
			inside(mid)
			at = mid.to
		}
		put(after)
	}
	if at < to {
		inside(advised{from: at, to: to})
		slices.SortFunc(out, func(a, b advised) int { return int(int64(a.from - b.from)) })
	}
	x.runs = out
}

// each calls f for the advice of every part of a range, gaps included.
func (x *advices) each(from, to uint64, f func(advice)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := from
	for _, r := range x.runs {
		if r.to <= at || r.from >= to {
			continue
		}
		if r.from > at {
			f(advice{})
		}
		f(r.advice)
		at = r.to
	}
	if at < to {
		f(advice{})
	}
}

// managed resolves a range of managed memory.
func (m *memory) managedRange(p driver.CUdeviceptr, n uint64) (*allocation, bool) {
	r, a, ok := m.find(p)
	if !ok || r.Kind != mem.Managed || n == 0 || n > r.End()-uint64(p) {
		return nil, false
	}
	return a, true
}

// location checks a place for managed memory: a device, the host, one of its nodes.
func (d *Driver) location(l driver.CUmemLocation) (driver.CUmemLocation, bool) {
	switch l.Type {
	case driver.CU_MEM_LOCATION_TYPE_DEVICE:
		return l, l.Id >= 0 && int(l.Id) < len(d.devices)
	case driver.CU_MEM_LOCATION_TYPE_HOST, driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return driver.CUmemLocation{Type: l.Type}, true
	case driver.CU_MEM_LOCATION_TYPE_HOST_NUMA:
		return l, l.Id == hostNode
	}
	return l, false
}

// oldLocation is a device number as a place; CU_DEVICE_CPU is the host.
func oldLocation(dev driver.CUdevice) driver.CUmemLocation {
	if dev == driver.CU_DEVICE_CPU {
		return driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}
	}
	return driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(dev)}
}

func (d *Driver) memAdvise(_ driver.CUcontext, p driver.CUdeviceptr, n uint64, what driver.CUmem_advise,
	where driver.CUmemLocation) driver.CUresult {
	return d.advise(p, n, what, where, invalidValue)
}

// advise is both versions of cuMemAdvise; they differ in what they answer for a place that there is not.
func (d *Driver) advise(p driver.CUdeviceptr, n uint64, what driver.CUmem_advise, where driver.CUmemLocation,
	absent driver.CUresult) driver.CUresult {
	if p == 0 || n == 0 || what < driver.CU_MEM_ADVISE_SET_READ_MOSTLY ||
		what > driver.CU_MEM_ADVISE_UNSET_ACCESSED_BY {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	a, ok := d.memory.managedRange(p, n)
	if !ok {
		return invalidValue
	}
	if !knownPlace(where) || where.Type == driver.CU_MEM_LOCATION_TYPE_NONE {
		return invalidValue
	}
	numa := where.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA ||
		where.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
	if a.pool != nil { // recorded: memory of a pool takes no advice, and nodes are looked at as ever
		switch accessed := what == driver.CU_MEM_ADVISE_SET_ACCESSED_BY ||
			what == driver.CU_MEM_ADVISE_UNSET_ACCESSED_BY; {
		case !numa:
			return driver.CUDA_ERROR_NOT_SUPPORTED
		case accessed:
			return invalidValue
		}
		return success
	}
	switch what {
	case driver.CU_MEM_ADVISE_SET_READ_MOSTLY, driver.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		if numa {
			return success // of no effect (recorded)
		}
	case driver.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: // the place does not matter
	default:
		if where, ok = d.location(where); !ok {
			return absent
		}
		if numa && what != driver.CU_MEM_ADVISE_SET_PREFERRED_LOCATION {
			return invalidValue // cuMemAdvise: only for the preferred location
		}
	}
	a.advice.change(uint64(p), uint64(p)+n, func(x *advice) {
		switch what {
		case driver.CU_MEM_ADVISE_SET_READ_MOSTLY, driver.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
			x.readMostly = what == driver.CU_MEM_ADVISE_SET_READ_MOSTLY
		case driver.CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
			x.preferred = where
		case driver.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
			x.preferred = driver.CUmemLocation{}
		case driver.CU_MEM_ADVISE_SET_ACCESSED_BY:
			if !slices.Contains(x.accessed, where) {
				x.accessed = append(x.accessed, where)
			}
		case driver.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
			x.accessed = slices.DeleteFunc(x.accessed, func(l driver.CUmemLocation) bool { return l == where })
		}
	})
	return success
}

func (d *Driver) memAdvise1(cur driver.CUcontext, p driver.CUdeviceptr, n uint64, what driver.CUmem_advise,
	dev driver.CUdevice) driver.CUresult {
	if _, r := d.attach(cur); r != success {
		return r // the first version asks for a context before it looks at anything (recorded)
	}
	return d.advise(p, n, what, oldLocation(dev), driver.CUDA_ERROR_INVALID_DEVICE)
}

// prefetch notes a prefetch: it is in stream order on hardware, and of no effect here but for the note.
func (d *Driver) prefetch(s *stream, p driver.CUdeviceptr, n uint64, where driver.CUmemLocation) driver.CUresult {
	a, ok := d.memory.managedRange(p, n)
	if !ok {
		return invalidValue
	}
	if where, ok = d.location(where); !ok {
		if where.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE {
			return driver.CUDA_ERROR_INVALID_DEVICE
		}
		return invalidValue
	}
	a.advice.change(uint64(p), uint64(p)+n, func(x *advice) { x.prefetched = where })
	return success
}

// uncaptured is the beginning of calls that stream capture does not support.
func (d *Driver) uncaptured(cur driver.CUcontext, h driver.CUstream) (*stream, driver.CUresult) {
	s, r := d.streamOf(cur, h)
	if r != success {
		return nil, r
	}
	if s.capturing() {
		return nil, s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	}
	return s, s.admit()
}

func (d *Driver) memPrefetchAsync(cur driver.CUcontext, p driver.CUdeviceptr, n uint64, where driver.CUmemLocation,
	flags uint32, h driver.CUstream) driver.CUresult {
	if p == 0 || n == 0 || flags != 0 {
		return invalidValue
	}
	s, r := d.uncaptured(cur, h)
	if r != success {
		return r
	}
	return d.prefetch(s, p, n, where)
}

func (d *Driver) memPrefetchAsync1(cur driver.CUcontext, p driver.CUdeviceptr, n uint64, dev driver.CUdevice,
	h driver.CUstream) driver.CUresult {
	if _, r := d.attach(cur); r != success {
		return r // as cuMemAdvise
	}
	return d.memPrefetchAsync(cur, p, n, oldLocation(dev), 0, h)
}

// parts reads the arrays of the batch calls about managed memory.
func (d *Driver) parts(ptrs *driver.CUdeviceptr, sizes *uint64, n uint64) ([]driver.CUdeviceptr, []uint64,
	driver.CUresult) {
	if ptrs == nil || sizes == nil || n == 0 {
		return nil, nil, invalidValue
	}
	ps, ok := slice(ptrs, n)
	if !ok {
		return nil, nil, invalidValue
	}
	return ps, unsafe.Slice(sizes, n), success
}

func (d *Driver) memPrefetchBatchAsync(cur driver.CUcontext, ptrs *driver.CUdeviceptr, sizes *uint64, count uint64,
	locs *driver.CUmemLocation, idxs *uint64, n, flags uint64, h driver.CUstream) driver.CUresult {
	ps, ns, r := d.parts(ptrs, sizes, count)
	if r != success || flags != 0 {
		return invalidValue
	}
	which, ok := newSpread(idxs, n, count)
	if !ok || locs == nil {
		return invalidValue
	}
	s, r := d.uncaptured(cur, h)
	if r != success {
		return r
	}
	for i := range ps {
		if r := d.prefetch(s, ps[i], ns[i], unsafe.Slice(locs, n)[which.at(uint64(i))]); r != success {
			return r
		}
	}
	return success
}

// memDiscardBatchAsync: the contents become undefined, so that nothing has to be done to them.
func (d *Driver) memDiscardBatchAsync(cur driver.CUcontext, ptrs *driver.CUdeviceptr, sizes *uint64, count,
	flags uint64, h driver.CUstream) driver.CUresult {
	ps, ns, r := d.parts(ptrs, sizes, count)
	if r != success || flags != 0 {
		return invalidValue
	}
	if _, r := d.uncaptured(cur, h); r != success {
		return r
	}
	for i := range ps {
		if _, ok := d.memory.managedRange(ps[i], ns[i]); !ok {
			return invalidValue
		}
	}
	return success
}

func (d *Driver) memDiscardAndPrefetchBatchAsync(cur driver.CUcontext, ptrs *driver.CUdeviceptr, sizes *uint64,
	count uint64, locs *driver.CUmemLocation, idxs *uint64, n, flags uint64, h driver.CUstream) driver.CUresult {
	return d.memPrefetchBatchAsync(cur, ptrs, sizes, count, locs, idxs, n, flags, h)
}

// rangeAttribute writes one attribute of a range. Where the parts differ there is no common value: CU_DEVICE_INVALID,
// or the invalid type (cuMemRangeGetAttribute).
func (d *Driver) rangeAttribute(data unsafe.Pointer, size uint64, attr driver.CUmem_range_attribute, a *allocation,
	from, to uint64) driver.CUresult {
	var parts []advice
	a.advice.each(from, to, func(x advice) { parts = append(parts, x) })
	same := func(get func(advice) driver.CUmemLocation) driver.CUmemLocation {
		l := get(parts[0])
		for _, x := range parts[1:] {
			if get(x) != l {
				return driver.CUmemLocation{}
			}
		}
		return l
	}
	id := func(l driver.CUmemLocation) int32 { // a device's number
		switch {
		case l.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE:
			return l.Id
		case onHost(l):
			return int32(driver.CU_DEVICE_CPU)
		}
		return int32(driver.CU_DEVICE_INVALID)
	}
	number := func(l driver.CUmemLocation) int32 { // a device's, or a node's
		if l.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA || l.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
			return l.Id
		}
		return id(l)
	}
	preferred := func(x advice) driver.CUmemLocation { return x.preferred }
	prefetched := func(x advice) driver.CUmemLocation { return x.prefetched }
	if attr != driver.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && size != 4 || size == 0 || size%4 != 0 {
		return invalidValue
	}
	out := (*int32)(data)
	switch attr {
	case driver.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*out = 1
		for _, x := range parts {
			if !x.readMostly {
				*out = 0
			}
		}
	case driver.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		*out = id(same(preferred))
	case driver.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*out = id(same(prefetched))
	case driver.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		*out = int32(same(preferred).Type)
	case driver.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*out = int32(same(prefetched).Type)
	case driver.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		*out = number(same(preferred))
	case driver.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		*out = number(same(prefetched))
	case driver.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		list := unsafe.Slice(out, size/4)
		for i := range list {
			list[i] = int32(driver.CU_DEVICE_INVALID)
		}
		var all []driver.CUmemLocation
		for _, l := range parts[0].accessed { // those that are advised for all of it
			if !slices.ContainsFunc(parts, func(x advice) bool { return !slices.Contains(x.accessed, l) }) {
				all = append(all, l)
			}
		}
		// devices before the host (recorded)
		slices.SortFunc(all, func(a, b driver.CUmemLocation) int { return cmp.Compare(uint32(id(a)), uint32(id(b))) })
		for i, l := range all[:min(len(all), len(list))] {
			list[i] = id(l)
		}
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) memRangeGetAttribute(cur driver.CUcontext, data unsafe.Pointer, size uint64,
	attr driver.CUmem_range_attribute, p driver.CUdeviceptr, n uint64) driver.CUresult {
	return d.memRangeGetAttributes(cur, &data, &size, &attr, 1, p, n)
}

func (d *Driver) memRangeGetAttributes(cur driver.CUcontext, data *unsafe.Pointer, sizes *uint64,
	attrs *driver.CUmem_range_attribute, k uint64, p driver.CUdeviceptr, n uint64) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	const most = 64
	if data == nil || sizes == nil || attrs == nil || k == 0 || k > most {
		return invalidValue
	}
	a, ok := d.memory.managedRange(p, n)
	if !ok {
		return invalidValue
	}
	for i, at := range unsafe.Slice(data, k) {
		if at == nil {
			return invalidValue
		}
		if r := d.rangeAttribute(at, unsafe.Slice(sizes, k)[i], unsafe.Slice(attrs, k)[i], a, uint64(p),
			uint64(p)+n); r != success {
			return r
		}
	}
	return success
}
