package softdev

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
)

// context is a CUDA context: the owner of streams, events, modules and memory of one device.
type context struct {
	d       *Driver
	dev     *device
	handle  driver.CUcontext
	id      uint64
	version uint32 // of the API that made it, as cuCtxGetApiVersion reports it
	primary bool
	green   *greenContext // whose context this is

	flags      atomic.Uint32
	dead       atomic.Bool   // destroyed; a primary context keeps its handle
	sticky     atomic.Uint32 // result of the fault that broke it
	stop       atomic.Bool   // kernels that run have to end; see halt
	abandoned  atomic.Bool   // its end has stopped its work, which is no fault of the device's
	foreign    streamSet     // what its work waits for in other contexts and processes
	cooperated atomic.Bool   // a cooperative launch has been made: kernels see a grid workspace from then on

	attached atomic.Int32 // users of cuCtxAttach
	detail   detail

	order     sync.Mutex // what is queued in streams that are in step with the legacy stream, and the list of streams
	streams   []*stream
	legacy    *stream
	perThread map[uint64]*stream
	times     contextTimes
	awaited   []point // what cuCtxWaitEvent makes streams wait for that are made later

	limits [driver.CU_LIMIT_MAX]atomic.Uint64

	mu           sync.Mutex
	cacheConfig  driver.CUfunc_cache
	sharedConfig driver.CUsharedconfig
	modules      map[*module]struct{}
	peers        map[*context]struct{} // contexts whose memory this one may use; setSpace is called when they change
	imports      map[ipcKey]*ipcImport // memory of other processes
	buffers      map[*externalBuffer]struct{}

	space    atomic.Pointer[exec.Memory] // what its kernels reach
	tex      textureState
	coredump coredumps
	params   paramPool

	hostBlocks hostBlocks
	heap       deviceHeap
	output     printBuffer
}

func (d *Driver) newContext(dev *device, flags uint32) *context {
	c := &context{d: d, dev: dev, id: d.ctxIDs.Add(1), modules: map[*module]struct{}{}}
	c.setFlags(flags)
	c.attached.Store(1)
	c.heap.c, c.output.d = c, d
	for id := range dev.rules {
		c.limits[id].Store(dev.rules[id].Value)
	}
	c.cacheConfig, c.sharedConfig = driver.CU_FUNC_CACHE_PREFER_NONE, driver.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
	c.coredump.inherit(&d.coredump)
	c.legacy = newStream(c, streamLegacy, 0, 0)
	c.streams = []*stream{c.legacy}
	c.setSpace()
	return c
}

// synchronize waits for everything queued in the context so far and gives out what kernels printed.
func (c *context) synchronize() driver.CUresult {
	c.wait()
	c.d.settlePools()
	c.output.flush()
	return c.fault()
}

// tails appends the ends of all streams that have work.
func (c *context) tails(points []point) []point {
	c.order.Lock()
	defer c.order.Unlock()
	for _, s := range c.streams {
		if p := s.tail(); !p.reached() {
			points = append(points, p)
		}
	}
	return points
}

// forget takes a stream out of the list of those that have or may get work.
func (c *context) forget(s *stream) {
	c.order.Lock()
	defer c.order.Unlock()
	c.departed(s)
	if i := slices.Index(c.streams, s); i >= 0 {
		c.streams = slices.Delete(c.streams, i, i+1)
	}
}

// tearDown ends a context: it waits for its work and gives up everything that it owns. Its handle is the caller's
// business. The result is CUDA_ERROR_LAUNCH_TIMEOUT when work had to be stopped.
func (c *context) tearDown() driver.CUresult {
	c.dead.Store(true)
	r := c.finish()
	for _, s := range c.d.streams.all() {
		if s.ctx == c {
			c.d.streams.remove(uintptr(s.handle))
		}
	}
	for _, e := range c.d.events.all() {
		if e.ctx == c {
			c.d.events.remove(uintptr(e.handle))
		}
	}
	for _, m := range c.loaded() {
		m.unload()
	}
	for _, l := range c.d.libraries.all() {
		l.forget(c)
	}
	for _, o := range c.d.contexts.all() {
		o.dropPeer(c)
	}
	c.d.forgetArrays(c)
	c.params.close(c)
	c.leaks()
	c.heap.close(c)
	c.closeImports()
	c.closeExternals()
	c.d.memory.freeContext(c)
	// A primary context's handle leads here for as long as the driver lives; what it holds need not.
	c.order.Lock()
	c.streams, c.perThread, c.awaited = nil, nil, nil
	c.order.Unlock()
	return r
}

// loaded are the modules that the context has now.
func (c *context) loaded() []*module {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.modules))
}

// dropPeer forgets a context that goes.
func (c *context) dropPeer(o *context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.peers[o]; ok {
		delete(c.peers, o)
		c.setSpace()
	}
}

// setFlags keeps flags as cuCtxGetFlags reports them: the user's core dumps imply core dumps and are not told apart
// (recorded).
func (c *context) setFlags(flags uint32) {
	const dumps = uint32(driver.CU_CTX_COREDUMP_ENABLE | driver.CU_CTX_USER_COREDUMP_ENABLE)
	if flags&dumps != 0 {
		flags = flags&^dumps | uint32(driver.CU_CTX_COREDUMP_ENABLE)
	}
	c.flags.Store(flags)
}

// The sched flags are alternatives, the others bits (CUctx_flags).
func validContextFlags(flags uint32) bool {
	if flags&^uint32(driver.CU_CTX_FLAGS_MASK) != 0 {
		return false
	}
	switch driver.CUctx_flags(flags) & driver.CU_CTX_SCHED_MASK {
	case driver.CU_CTX_SCHED_AUTO, driver.CU_CTX_SCHED_SPIN, driver.CU_CTX_SCHED_YIELD,
		driver.CU_CTX_SCHED_BLOCKING_SYNC:
		return true
	}
	return false
}

// Versions that cuCtxGetApiVersion reports.
const (
	apiVersion1 = 3010 // cuCtxCreate
	apiVersion2 = 3020 // cuCtxCreate_v2 and later, primary contexts
)

// create makes an ordinary context and pushes it on the calling thread's stack.
func (d *Driver) create(cur driver.CUcontext, out *driver.CUcontext, flags uint32, ordinal driver.CUdevice,
	version uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r // before the flags (recorded)
	}
	if !validContextFlags(flags) {
		return invalidValue
	}
	if r := driver.CUresult(dev.sticky.Load()); r != success {
		return r
	}
	c := d.newContext(dev, flags)
	c.version = version
	c.handle = driver.CUcontext(d.contexts.add(c))
	if c.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	if cur == 0 {
		d.threads.self().push(c.handle)
	}
	d.joinLibraries(c)
	*out = c.handle
	return success
}

func (d *Driver) ctxCreate(cur driver.CUcontext, out *driver.CUcontext, flags uint32,
	dev driver.CUdevice) driver.CUresult {
	if out != nil {
		// A context of the first version, with 32-bit sizes, wants the device for itself (recorded).
		for _, c := range d.contexts.all() {
			if !c.dead.Load() && driver.CUdevice(c.dev.ordinal) == dev && c.version != apiVersion1 {
				return driver.CUDA_ERROR_OUT_OF_MEMORY
			}
		}
	}
	return d.create(cur, out, flags, dev, apiVersion1)
}

func (d *Driver) ctxCreateV2(cur driver.CUcontext, out *driver.CUcontext, flags uint32,
	dev driver.CUdevice) driver.CUresult {
	return d.create(cur, out, flags, dev, apiVersion2)
}

func (d *Driver) ctxCreateV3(cur driver.CUcontext, out *driver.CUcontext, params *driver.CUexecAffinityParam, n int32,
	flags uint32, dev driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if n < 0 || (params == nil) != (n == 0) {
		return invalidValue
	}
	if n > 0 {
		// The device supports no execution affinity (cuDeviceGetExecAffinitySupport).
		d.explain(nil, "execution affinity (CUexecAffinityParam) is not supported")
		return driver.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
	}
	return d.create(cur, out, flags, dev, apiVersion2)
}

func (d *Driver) ctxCreateV4(cur driver.CUcontext, out *driver.CUcontext, params *driver.CUctxCreateParams,
	flags uint32, dev driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if params != nil {
		if params.CigParams != nil {
			d.explain(nil, "contexts shared with graphics (CUctxCigParam) are not supported")
			return notSupported
		}
		return d.ctxCreateV3(cur, out, params.ExecAffinityParams, params.NumExecAffinityParams, flags, dev)
	}
	return d.create(cur, out, flags, dev, apiVersion2)
}

func (d *Driver) ctxDestroy(cur driver.CUcontext, h driver.CUcontext) driver.CUresult {
	if h == 0 {
		return invalidValue
	}
	c, r := d.given(cur, h)
	if r != success {
		return r
	}
	if c.primary || c.green != nil { // cuGreenCtxDestroy ends it
		return invalidCtx
	}
	if c.dead.Swap(true) {
		return destroyed
	}
	if t := d.threads.self(); t.current() == h {
		t.pop()
	}
	return c.bury()
}

// epitaph is what a context is still asked for when it is destroyed.
type epitaph struct {
	handle driver.CUcontext
	dev    *device
	flags  uint32
}

// graveyard keeps the newest of them.
type graveyard struct {
	mu   sync.Mutex
	list [1024]epitaph
	next int
}

// bury ends a context whose handle is not used again.
func (c *context) bury() driver.CUresult {
	r := c.tearDown()
	c.d.graves.add(epitaph{c.handle, c.dev, c.flags.Load()})
	c.d.contexts.remove(uintptr(c.handle))
	return r
}

func (g *graveyard) add(e epitaph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list[g.next%len(g.list)] = e
	g.next++
}

// epitaph is for a context that may be destroyed.
func (d *Driver) epitaph(h driver.CUcontext) (epitaph, driver.CUresult) {
	if c := d.contexts.get(uintptr(h)); c != nil {
		return epitaph{h, c.dev, c.flags.Load()}, success
	}
	g := &d.graves
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.list {
		if h != 0 && g.list[i].handle == h {
			return g.list[i], success
		}
	}
	_, r := d.contextOf(h)
	return epitaph{}, r
}

func (d *Driver) ctxPush(cur driver.CUcontext, h driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if h == 0 {
		return invalidValue
	}
	if _, r := d.contextOf(h); r == invalidCtx { // a destroyed one can be current (recorded)
		return invalidCtx
	}
	if cur == 0 {
		d.threads.self().push(h)
	}
	return success
}

// ctxPush1 is the form of CUDA 3.1, which wants a context that is current nowhere, "floating" (its documentation, and
// recorded).
func (d *Driver) ctxPush1(cur, h driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if d.threads.have(h) {
		return invalidCtx
	}
	return d.ctxPush(cur, h)
}

func (d *Driver) ctxPop(cur driver.CUcontext, out *driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	h := cur
	if h == 0 {
		if h = d.threads.self().pop(); h == 0 {
			return invalidCtx
		}
	}
	if out != nil {
		*out = h
	}
	return success
}

func (d *Driver) ctxSetCurrent(cur driver.CUcontext, h driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if _, r := d.contextOf(h); h != 0 && r == invalidCtx {
		return invalidCtx
	}
	if cur == 0 {
		d.threads.self().set(h)
	}
	return success
}

func (d *Driver) ctxGetCurrent(cur driver.CUcontext, out *driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = d.current(cur)
	return success
}

func (d *Driver) ctxGetDevice(cur driver.CUcontext, out *driver.CUdevice) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	e, r := d.epitaph(d.current(cur)) // a destroyed context still knows its device (recorded)
	if r == success {
		*out = driver.CUdevice(e.dev.ordinal)
	}
	return r
}

// given resolves an explicit context parameter, where 0 stands for the current context.
func (d *Driver) given(cur, h driver.CUcontext) (*context, driver.CUresult) {
	if h == 0 {
		return d.attach(cur)
	}
	if r := d.ready(); r != success {
		return nil, r
	}
	return d.contextOf(h)
}

func (d *Driver) ctxGetDeviceV2(cur driver.CUcontext, out *driver.CUdevice, h driver.CUcontext) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	c, r := d.given(cur, h)
	if r != success {
		return r
	}
	*out = driver.CUdevice(c.dev.ordinal)
	return success
}

func (d *Driver) ctxGetFlags(cur driver.CUcontext, out *uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	e, r := d.epitaph(d.current(cur)) // as cuCtxGetDevice, this works (recorded)
	if r == success {
		*out = e.flags
	}
	return r
}

func (d *Driver) ctxSetFlags(cur driver.CUcontext, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if !validContextFlags(flags) {
		return invalidValue
	}
	// The others are accepted and have no effect after creation (recorded).
	const settable = driver.CU_CTX_SCHED_MASK | driver.CU_CTX_LMEM_RESIZE_TO_MAX | driver.CU_CTX_SYNC_MEMOPS
	const kept = driver.CU_CTX_MAP_HOST // the primary context keeps it (recorded)
	c.flags.Store(flags&uint32(settable) | c.flags.Load()&uint32(kept))
	return success
}

func (d *Driver) ctxGetID(cur driver.CUcontext, h driver.CUcontext, out *uint64) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	c, r := d.given(cur, h)
	if r != success {
		return r
	}
	*out = c.id
	return success
}

func (d *Driver) ctxGetAPIVersion(cur driver.CUcontext, h driver.CUcontext, out *uint32) driver.CUresult {
	c, r := d.given(cur, h)
	if r == destroyed && h != 0 {
		return invalidCtx // recorded, unlike the other calls
	}
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = c.version
	return success
}

func (d *Driver) ctxSynchronize(cur driver.CUcontext) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if r := c.unsafeSync(); r != success {
		return r
	}
	return c.synchronize()
}

func (d *Driver) ctxSynchronizeV2(cur driver.CUcontext, h driver.CUcontext) driver.CUresult {
	c, r := d.given(cur, h)
	if r != success {
		return r
	}
	if r := c.unsafeSync(); r != success {
		return r
	}
	return c.synchronize()
}

func (d *Driver) ctxGetCacheConfig(cur driver.CUcontext, out *driver.CUfunc_cache) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*out = c.cacheConfig
	return success
}

func validCacheConfig(v driver.CUfunc_cache) bool { return v <= driver.CU_FUNC_CACHE_PREFER_EQUAL }

func validSharedConfig(v driver.CUsharedconfig) bool {
	return v <= driver.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
}

func (d *Driver) ctxSetCacheConfig(cur driver.CUcontext, v driver.CUfunc_cache) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if !validCacheConfig(v) {
		return invalidValue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cacheConfig = v
	return success
}

func (d *Driver) ctxGetSharedMemConfig(cur driver.CUcontext, out *driver.CUsharedconfig) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	// Banks have been four bytes wide since compute capability 5.0, whatever was asked for.
	*out = c.sharedConfig
	return success
}

func (d *Driver) ctxSetSharedMemConfig(cur driver.CUcontext, v driver.CUsharedconfig) driver.CUresult {
	_, r := d.enter(cur)
	if r != success {
		return r
	}
	if !validSharedConfig(v) {
		return invalidValue
	}
	return success
}

func (d *Driver) ctxGetStreamPriorityRange(cur driver.CUcontext, least, greatest *int32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if least != nil {
		*least = c.dev.profile.LeastStreamPriority
	}
	if greatest != nil {
		*greatest = c.dev.profile.GreatestStreamPriority
	}
	return success
}

func (d *Driver) ctxResetPersistingL2(cur driver.CUcontext) driver.CUresult {
	_, r := d.enter(cur)
	return r
}

func (d *Driver) ctxGetExecAffinity(cur driver.CUcontext, out *driver.CUexecAffinityParam,
	kind driver.CUexecAffinityType) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	out.Type = kind // also of a kind that there is not (recorded)
	if kind != driver.CU_EXEC_AFFINITY_TYPE_SM_COUNT {
		return driver.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
	}
	out.Param.SmCount().Val = c.dev.limits.sms
	return success
}

// cuCtxAttach and cuCtxDetach count users of an ordinary context (deprecated since CUDA 4.0).
func (d *Driver) ctxAttach(cur driver.CUcontext, out *driver.CUcontext, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || flags != 0 {
		return invalidValue
	}
	c.attached.Add(1)
	*out = c.handle
	return success
}

func (d *Driver) ctxDetach(cur driver.CUcontext, h driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if d.current(cur) != h {
		return invalidCtx
	}
	c := d.contexts.get(uintptr(h))
	if c == nil {
		_, r := d.contextOf(h)
		return r
	}
	if c.primary {
		return success // and nothing happens (recorded)
	}
	if c.attached.Add(-1) > 0 {
		return success
	}
	return d.ctxDestroy(cur, h)
}
