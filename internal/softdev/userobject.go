package softdev

import "github.com/gocuda/cuda/internal/driver"

// userObject is a CUuserObject: a resource of the program whose destructor is called when the program and all graphs
// have given it up.
type userObject struct {
	handle  driver.CUuserObject
	destroy driver.CUhostFn
	data    uintptr
	refs    uint64 // the program's and the graphs'; d.gs.mu
	ended   bool   // the destructor has been called; graphs may still list references that the program gave up for them
}

// releaseObject takes references away and returns the destructor's call when none is left.
func (gs *graphs) releaseObject(o *userObject, n uint64) []func() {
	switch {
	case o.ended:
		return nil
	case n < o.refs:
		o.refs -= n
		return nil
	}
	o.refs, o.ended = 0, true
	gs.objects.remove(uintptr(o.handle))
	return []func(){func() { o.destroy.Go(o.data) }}
}

func (d *Driver) userObject(h driver.CUuserObject, n uint32) (*userObject, driver.CUresult) {
	o := d.gs.objects.get(uintptr(h))
	if o == nil || n == 0 || n > 1<<31-1 {
		return nil, invalidValue
	}
	return o, d.ready()
}

// userObjectCreate: the destructor may not call the API and nothing waits for it (CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
// which is required).
func (d *Driver) userObjectCreate(_ driver.CUcontext, out *driver.CUuserObject, ptr uintptr, destroy driver.CUhostFn,
	refs, flags uint32) driver.CUresult {
	if out == nil || destroy.IsNil() || refs == 0 || flags != uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	call := destroy.Go
	if call == nil {
		if d.table.CallC == nil {
			d.explain(nil, "a C function can be called through libcuda.so.1 only")
			return notSupported
		}
		fn := destroy.C
		call = func(data uintptr) { d.callC(fn, data) }
	}
	o := &userObject{data: ptr, refs: uint64(refs)}
	o.destroy.Go = func(data uintptr) { d.runHostAlone("CUhostFn", func() { call(data) }) }
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	o.handle = driver.CUuserObject(d.gs.objects.add(o))
	if o.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = o.handle
	return success
}

func (d *Driver) userObjectRetain(_ driver.CUcontext, h driver.CUuserObject, n uint32) driver.CUresult {
	o, r := d.userObject(h, n)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if o.ended {
		return invalidValue // given up meanwhile
	}
	o.refs += uint64(n)
	return success
}

func (d *Driver) userObjectRelease(_ driver.CUcontext, h driver.CUuserObject, n uint32) driver.CUresult {
	o, r := d.userObject(h, n)
	if r != success {
		return r
	}
	return d.gs.change(func() ([]func(), driver.CUresult) {
		if o.ended {
			return nil, invalidValue
		}
		return d.gs.releaseObject(o, uint64(n)), success
	})
}

func (d *Driver) graphRetainUserObject(_ driver.CUcontext, h driver.CUgraph, oh driver.CUuserObject, n,
	flags uint32) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	o, r := d.userObject(oh, n)
	if r != success {
		return r
	}
	if flags&^uint32(driver.CU_GRAPH_USER_OBJECT_MOVE) != 0 {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if o.ended || d.gs.graphs.get(uintptr(h)) != g {
		return invalidValue // one of the two has gone meanwhile
	}
	if flags == 0 {
		o.refs += uint64(n)
	}
	g.objects[o] += uint64(n)
	return success
}

func (d *Driver) graphReleaseUserObject(_ driver.CUcontext, h driver.CUgraph, oh driver.CUuserObject,
	n uint32) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	o, r := d.userObject(oh, n)
	if r != success {
		return r
	}
	return d.gs.change(func() ([]func(), driver.CUresult) {
		switch have, n := g.objects[o], uint64(n); {
		case have == 0: // nothing happens (recorded)
			return nil, success
		case have < n:
			return nil, invalidValue
		case have == n:
			delete(g.objects, o)
		default:
			g.objects[o] -= n
		}
		return d.gs.releaseObject(o, uint64(n)), success
	})
}
