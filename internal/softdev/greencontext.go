package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// greenContext is a CUgreenCtx: a part of a device's multiprocessors and a context for work on them; the primary
// context is retained. Multiprocessors are a number here, so that work in it runs as anywhere else; the parts are
// accounted for as the driver does.
type greenContext struct {
	handle driver.CUgreenCtx
	dev    *device
	ctx    *context // its own
	sm     driver.CUdevResource
}

// resourceDesc is a CUdevResourceDesc.
type resourceDesc struct{ sm driver.CUdevResource }

// smUnit is what multiprocessors are split in on compute capability 9.0 (recorded: minimum and alignment 8); 2 where
// clusters do not matter (CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING).
const smUnit = 8

// smResource is the multiprocessors of a device or context.
func smResource(n uint32) driver.CUdevResource {
	r := smPart(n)
	smOf(&r).MinSmPartitionSize, smOf(&r).SmCoscheduledAlignment = smUnit, smUnit
	return r
}

// smPart is what a split gives, which cannot be split again: minimum and alignment are 0 (recorded).
func smPart(n uint32) driver.CUdevResource {
	r := driver.CUdevResource{Type: driver.CU_DEV_RESOURCE_TYPE_SM}
	smOf(&r).SmCount = n
	return r
}

// smOf is the resource's union as multiprocessors.
func smOf(r *driver.CUdevResource) *driver.CUdevSmResource {
	return (*driver.CUdevSmResource)(unsafe.Pointer(&r.CUdevResource_anonymous))
}

func (d *Driver) deviceGetDevResource(_ driver.CUcontext, ordinal driver.CUdevice, out *driver.CUdevResource,
	typ driver.CUdevResourceType) driver.CUresult {
	dev, r := d.asked(out != nil, ordinal)
	if r != success {
		return r
	}
	if typ != driver.CU_DEV_RESOURCE_TYPE_SM {
		return driver.CUDA_ERROR_INVALID_RESOURCE_TYPE
	}
	*out = smResource(dev.limits.sms)
	return success
}

func (d *Driver) ctxGetDevResource(_ driver.CUcontext, h driver.CUcontext, out *driver.CUdevResource,
	typ driver.CUdevResourceType) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	c, r := d.contextOf(h)
	if r != success {
		return r
	}
	if c.green != nil {
		return d.greenCtxGetDevResource(0, c.green.handle, out, typ)
	}
	return d.deviceGetDevResource(0, driver.CUdevice(c.dev.ordinal), out, typ)
}

// devSmResourceSplit cuts multiprocessors into groups of at least so many. Without room for results it only says how
// many groups there could be. Each group has 8 multiprocessors of one GPC, unless that does not matter. Flags that do
// not exist are ignored (all recorded, as is that the largest cluster size changes nothing on an H200).
func (d *Driver) devSmResourceSplit(_ driver.CUcontext, out *driver.CUdevResource, groups *uint32, in,
	rest *driver.CUdevResource, flags, least uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	const (
		loose = uint32(driver.CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING)
		both  = loose | uint32(driver.CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE)
	)
	if groups == nil || in == nil || flags&both == both {
		return invalidValue
	}
	room := *groups
	if out != nil && room == 0 {
		return invalidValue
	}
	if in.Type != driver.CU_DEV_RESOURCE_TYPE_SM {
		return driver.CUDA_ERROR_INVALID_RESOURCE_TYPE
	}
	have := smOf(in).SmCount
	unit := uint32(smUnit)
	if flags&loose != 0 {
		unit = 2
	}
	if have == 0 || least > have || smOf(in).MinSmPartitionSize == 0 {
		return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	}
	size := min((max(least, 1)+unit-1)/unit*unit, have)
	n := have / size
	if flags&loose == 0 {
		n = max(min(n, d.devices[0].coscheduled(smUnit)), 1)
	}
	if out == nil {
		*groups = n
		return success
	}
	n = min(n, room)
	*groups = n
	for i := range unsafe.Slice(out, n) {
		unsafe.Slice(out, n)[i] = smPart(size)
	}
	if rest != nil {
		*rest = driver.CUdevResource{}
		if left := have - n*size; left > 0 {
			*rest = smPart(left)
		}
	}
	return success
}

// streamGetDevResource gives the resources of the stream's context (of CUDA 13.1, not recorded).
func (d *Driver) streamGetDevResource(cur driver.CUcontext, h driver.CUstream, out *driver.CUdevResource,
	typ driver.CUdevResourceType) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	return d.ctxGetDevResource(0, s.ctx.handle, out, typ)
}

// devSmResourceGroups cuts multiprocessors into groups as each asks (cuDevSmResourceSplit, of CUDA 13.1, not recorded):
// so many multiprocessors, in sets that are scheduled together; one that asks for 0 gets as many as there are, and is
// told. What is left goes to rest. Every device has one locality domain, of number 0.
func (d *Driver) devSmResourceGroups(_ driver.CUcontext, out *driver.CUdevResource, n uint32, in,
	rest *driver.CUdevResource, flags uint32, list *driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	const (
		backfill = uint32(driver.CU_DEV_SM_RESOURCE_GROUP_BACKFILL)
		inDomain = uint32(driver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID)
		more     = uint32(driver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS)
	)
	if in == nil || n == 0 || list == nil || flags != 0 {
		return invalidValue
	}
	if in.Type != driver.CU_DEV_RESOURCE_TYPE_SM {
		return driver.CUDA_ERROR_INVALID_RESOURCE_TYPE
	}
	left := smOf(in).SmCount
	if left == 0 || smOf(in).MinSmPartitionSize == 0 || n > left {
		return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	}
	groups := unsafe.Slice(list, n)
	counts := make([]uint32, n)
	for i := range groups {
		g := &groups[i]
		switch {
		case g.Reserved != [11]uint32{} || g.Flags&^(backfill|inDomain|more) != 0:
			return invalidValue
		case g.Flags&inDomain != 0 && g.LocalityDomainId != 0 &&
			g.LocalityDomainId != driver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY:
			return invalidValue
		}
		unit := g.CoscheduledSmCount
		if unit == 0 {
			unit = smUnit
		}
		if unit%2 != 0 || unit > left {
			return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
		}
		// Outside sets that are scheduled together multiprocessors go in pairs.
		together := left
		if g.Flags&backfill == 0 {
			together = min(left/unit, d.devices[0].coscheduled(unit)) * unit
		} else {
			unit = 2
			together = left / unit * unit
		}
		counts[i] = g.SmCount
		if g.SmCount == 0 {
			counts[i] = together
		}
		if counts[i]%unit != 0 || counts[i] > together || counts[i] == 0 {
			return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
		}
		left -= counts[i]
	}
	for i := range groups {
		groups[i].SmCount = counts[i]
		if out != nil {
			to := &unsafe.Slice(out, n)[i]
			*to = smPart(counts[i])
			smOf(to).Flags = groups[i].Flags
		}
	}
	if rest != nil {
		*rest = driver.CUdevResource{}
		if left > 0 {
			*rest = smPart(left)
		}
	}
	return success
}

func (d *Driver) devResourceGenerateDesc(_ driver.CUcontext, out *driver.CUdevResourceDesc, list *driver.CUdevResource,
	n uint32) driver.CUresult {
	if out == nil || list == nil || n == 0 {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	if n > 1024 {
		return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	}
	total := uint32(0)
	for i := range unsafe.Slice(list, n) {
		r := &unsafe.Slice(list, n)[i]
		if r.Type != driver.CU_DEV_RESOURCE_TYPE_SM {
			return driver.CUDA_ERROR_INVALID_RESOURCE_TYPE
		}
		total += smOf(r).SmCount
	}
	x := &resourceDesc{smResource(total)}
	h := d.resources.add(x)
	if h == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = driver.CUdevResourceDesc(h)
	return success
}

func (d *Driver) greenCtxCreate(cur driver.CUcontext, out *driver.CUgreenCtx, desc driver.CUdevResourceDesc,
	ordinal driver.CUdevice, flags uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || flags != uint32(driver.CU_GREEN_CTX_DEFAULT_STREAM) { // the flag is required (cuGreenCtxCreate)
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	sm := smResource(dev.limits.sms) // of NULL (recorded)
	if desc != 0 {
		x := d.resources.get(uintptr(desc))
		if x == nil {
			return invalidValue
		}
		sm = x.sm
	}
	if smOf(&sm).SmCount > dev.limits.sms {
		return driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	}
	var h driver.CUcontext
	if r := d.primaryRetain(cur, &h, ordinal); r != success {
		return r
	}
	primary, r := d.contextOf(h)
	if r != success {
		return r
	}
	c := d.newContext(dev, primary.flags.Load())
	c.version = apiVersion2
	g := &greenContext{dev: dev, ctx: c, sm: sm}
	c.green = g
	c.handle = driver.CUcontext(d.contexts.add(c))
	if g.handle = driver.CUgreenCtx(d.greens.add(g)); c.handle == 0 || g.handle == 0 {
		d.contexts.remove(uintptr(c.handle))
		d.greens.remove(uintptr(g.handle))
		d.primaryRelease(cur, ordinal)
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	d.joinLibraries(c)
	*out = g.handle
	return success
}

// green resolves a handle.
func (d *Driver) green(h driver.CUgreenCtx) (*greenContext, driver.CUresult) {
	g := d.greens.get(uintptr(h))
	if g == nil {
		return nil, invalidCtx // recorded
	}
	return g, d.ready()
}

func (d *Driver) greenCtxDestroy(cur driver.CUcontext, h driver.CUgreenCtx) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	g, r := d.green(h)
	if r != success {
		return r
	}
	if d.greens.remove(uintptr(h)) == nil {
		return invalidCtx
	}
	if !g.ctx.dead.Swap(true) {
		if t := d.threads.self(); t.current() == g.ctx.handle {
			t.pop()
		}
		r = g.ctx.bury()
	}
	if r2 := d.primaryRelease(cur, driver.CUdevice(g.dev.ordinal)); r2 != success {
		return r2
	}
	return r
}

// ctxFromGreenCtx gives the context that stands for the green one in the rest of the API.
func (d *Driver) ctxFromGreenCtx(_ driver.CUcontext, out *driver.CUcontext, h driver.CUgreenCtx) driver.CUresult {
	if out == nil {
		return invalidValue // before the handle (recorded)
	}
	g, r := d.green(h)
	if r != success {
		return r
	}
	*out = g.ctx.handle
	return success
}

func (d *Driver) greenCtxGetDevResource(_ driver.CUcontext, h driver.CUgreenCtx, out *driver.CUdevResource,
	typ driver.CUdevResourceType) driver.CUresult {
	if out == nil {
		return invalidValue // before the handle (recorded)
	}
	g, r := d.green(h)
	if r != success {
		return r
	}
	if typ != driver.CU_DEV_RESOURCE_TYPE_SM {
		return driver.CUDA_ERROR_INVALID_RESOURCE_TYPE
	}
	*out = g.sm
	return success
}

func (d *Driver) greenCtxGetID(_ driver.CUcontext, h driver.CUgreenCtx, out *uint64) driver.CUresult {
	if out == nil {
		return invalidValue // before the handle (recorded)
	}
	g, r := d.green(h)
	if r != success {
		return r
	}
	*out = g.ctx.id
	return success
}

// greenCtxStreamCreate makes streams that do not synchronise with the default stream; others there are none of
// (cuGreenCtxStreamCreate).
func (d *Driver) greenCtxStreamCreate(_ driver.CUcontext, out *driver.CUstream, h driver.CUgreenCtx, flags uint32,
	priority int32) driver.CUresult {
	if out == nil || flags != uint32(driver.CU_STREAM_NON_BLOCKING) {
		return invalidValue // before the handle (recorded)
	}
	g, r := d.green(h)
	if r != success {
		return r
	}
	return d.streamCreateWithPriority(g.ctx.handle, out, flags, priority)
}

// kin says whether events and functions of one context may be used in streams of the other: it is the same one, or both
// are of one primary context.
func (c *context) kin(o *context) bool {
	return c == o || c.dev == o.dev && (c.green != nil || c.primary) && (o.green != nil || o.primary)
}

func (d *Driver) greenCtxRecordEvent(_ driver.CUcontext, h driver.CUgreenCtx, ev driver.CUevent) driver.CUresult {
	g, r := d.green(h)
	if r != success {
		return r
	}
	e, r := d.event(ev)
	if r != success {
		return r
	}
	if !e.ctx.kin(g.ctx) { // of another primary context (cuGreenCtxRecordEvent)
		return badHandle
	}
	return g.ctx.recordAll(e)
}

func (d *Driver) greenCtxWaitEvent(_ driver.CUcontext, h driver.CUgreenCtx, ev driver.CUevent) driver.CUresult {
	g, r := d.green(h)
	if r != success {
		return r
	}
	e, r := d.event(ev)
	if r != success {
		return r
	}
	return g.ctx.waitAll(e)
}
