package softdev

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// launchRequest is a launch as the entry points give it.
type launchRequest struct {
	grid, block [3]uint32
	cluster     [3]uint32 // zero for none
	shared      uint32
	preferred   [3]uint32 // CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, zero for none
	cooperative bool
	multi       *exec.MultiGrid // of a launch on several devices, and the grid's place in it
	multiRank   int
	early       bool      // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
	events      [2]*event // recorded when the launch has ended: the programmatic one and that of its completion
}

// launch is a launch on its way through a stream.
type launch struct {
	l      exec.Launch
	f      *function
	params *paramBuffer
	early  bool
}

func (q *launch) execute(s *stream, skip bool) {
	c := q.f.mod.ctx
	defer c.params.put(q.params)
	if !skip {
		if err := q.f.mod.run(&q.l, s.acting); err != nil {
			c.broken(err)
		}
	}
	if m := q.l.Multi; m != nil {
		m.End(q.l.MultiRank)
	}
	*q = launch{}
	c.d.launches.Put(q)
}

// faultResults are the codes of faults; package exec names them in the same words.
var faultResults = map[exec.FaultKind]driver.CUresult{
	exec.FaultAddress:     driver.CUDA_ERROR_ILLEGAL_ADDRESS,
	exec.FaultMisaligned:  driver.CUDA_ERROR_MISALIGNED_ADDRESS,
	exec.FaultSpace:       driver.CUDA_ERROR_INVALID_ADDRESS_SPACE,
	exec.FaultInstruction: driver.CUDA_ERROR_ILLEGAL_INSTRUCTION,
	exec.FaultPC:          driver.CUDA_ERROR_ILLEGAL_ADDRESS, // recorded (a call through a bad pointer)
	exec.FaultTrap:        driver.CUDA_ERROR_LAUNCH_FAILED,
	exec.FaultAssert:      driver.CUDA_ERROR_ASSERT,
	exec.FaultStack:       driver.CUDA_ERROR_ILLEGAL_ADDRESS, // recorded (recursion)
	exec.FaultDeadlock:    driver.CUDA_ERROR_LAUNCH_TIMEOUT,
	exec.FaultStopped:     driver.CUDA_ERROR_LAUNCH_TIMEOUT,
	exec.FaultMemory:      driver.CUDA_ERROR_OUT_OF_MEMORY,
	exec.FaultUnsupported: notSupported,
}

// broken ends a context after a kernel that failed.
func (c *context) broken(err error) {
	r := driver.CUDA_ERROR_UNKNOWN
	var f *exec.Fault
	if errors.As(err, &f) {
		r = faultResults[f.Kind]
		if r == success {
			r = driver.CUDA_ERROR_UNKNOWN
		}
	}
	text := err.Error()
	if f != nil && c.d.memory.check != nil {
		if s := c.d.memory.check.broken(f); s != "" {
			text += "; " + s
		}
	}
	if f != nil && f.Defect != nil {
		c.d.defective(c, f.Defect, text)
		return
	}
	if f != nil {
		c.dumpFault(f)
	}
	c.fail(r, text)
}

// validate checks a launch as the driver does (codes recorded on an H200).
func (f *function) validate(q *launchRequest) driver.CUresult {
	dev := f.mod.ctx.dev
	bad := func(format string, args ...any) driver.CUresult {
		f.mod.ctx.d.explain(f.mod.ctx, format, args...)
		return invalidValue
	}
	switch f.kernel.TooBig {
	case ir.Shared:
		return bad("kernel %s has more shared memory than there is", f.entry.fn.Name)
	case ir.Local:
		return bad("kernel %s has more local memory than a thread can have", f.entry.fn.Name)
	}
	limits := &dev.limits
	threads := uint64(1)
	for i := range 3 {
		if q.grid[i] == 0 || q.grid[i] > limits.grid[i] {
			return bad("grid dimension %d is %d; 1 to %d are possible", i, q.grid[i], limits.grid[i])
		}
		if q.block[i] == 0 || q.block[i] > limits.block[i] {
			return bad("block dimension %d is %d; 1 to %d are possible", i, q.block[i], limits.block[i])
		}
		threads *= uint64(q.block[i])
	}
	if most := f.entry.maxThreads(dev); threads > uint64(most) {
		return bad("a block of %d threads; kernel %s can have %d", threads, f.entry.fn.Name, most)
	}
	if err := f.entry.takes(q.block); err != nil {
		return bad("%v", err)
	}
	if most := f.tune.maxDynamicShared(dev, f.entry.shared(f.kernel)); uint64(q.shared) > uint64(most) {
		return bad("%d bytes of dynamic shared memory; kernel %s may have %d (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)", q.shared, f.entry.fn.Name, most)
	}
	if r := f.clusters(q); r != success {
		return r
	}
	// A grid that is too large for a cooperative launch is told before what it would need of memory (recorded).
	if q.cooperative {
		resident := f.residentBlocks(int32(threads), uint64(q.shared)) * uint64(limits.sms)
		if blocks := uint64(q.grid[0]) * uint64(q.grid[1]) * uint64(q.grid[2]); blocks > resident {
			f.mod.ctx.d.explain(f.mod.ctx, "a cooperative grid of %d blocks; %d fit on the device at once", blocks,
				resident)
			return driver.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
		}
	}
	l := exec.Launch{Code: f.code, Grid: q.grid, Cluster: q.cluster, Cooperative: q.cooperative, Stack: f.stack(),
		Threads: &f.mod.ctx.d.threadMem}
	l.Block, _ = f.entry.runs(q.block, 0)
	if l.Refused() {
		f.mod.ctx.d.explain(f.mod.ctx, "kernel %s needs %d bytes of memory for the local variables of its threads, and there are %d", f.entry.fn.Name, l.Need(), l.Threads.Limit)
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return success
}

// portableCluster is the largest cluster without CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED (CUDA Programming
// Guide).
const portableCluster = 8

// clusters settles and checks the cluster dimensions.
func (f *function) clusters(q *launchRequest) driver.CUresult {
	bad := func(format string, args ...any) driver.CUresult {
		f.mod.ctx.d.explain(f.mod.ctx, format, args...)
		return driver.CUDA_ERROR_INVALID_CLUSTER_SIZE
	}
	required, fixed := f.entry.requiredCluster()
	switch {
	case fixed && q.cluster[0] != 0 && q.cluster != required:
		return bad("cluster %v; kernel %s has .reqnctapercluster %v", q.cluster, f.entry.fn.Name, required)
	case fixed:
		q.cluster = required
	case q.cluster[0] == 0 && f.tune.clusterDim[0].Load() != 0:
		for i := range q.cluster {
			q.cluster[i] = uint32(f.tune.clusterDim[i].Load()) // all three have to be set (recorded)
		}
	}
	if q.preferred != [3]uint32{} {
		// Blocks are never placed by the preference; what it has to fulfil is checked (recorded: a multiple of the
		// cluster).
		for i := range q.preferred {
			if q.cluster[i] == 0 || q.preferred[i]%q.cluster[i] != 0 || q.preferred[i] == 0 {
				return bad("the preferred cluster %v is no multiple of the cluster %v", q.preferred, q.cluster)
			}
		}
	}
	if q.cluster == [3]uint32{} {
		if f.entry.fn.Attrs.ExplicitCluster {
			return bad("kernel %s has to be launched with cluster dimensions", f.entry.fn.Name)
		}
		return success
	}
	n := uint64(1)
	for i := range q.cluster {
		if q.cluster[i] == 0 || q.grid[i]%q.cluster[i] != 0 {
			return bad("the grid %v is no multiple of the cluster %v", q.grid, q.cluster)
		}
		n *= uint64(q.cluster[i])
	}
	most := uint64(portableCluster)
	if f.tune.nonPortable.Load() != 0 {
		most = mem.SharedRanks
	}
	if m := f.entry.fn.Attrs.MaxClusterRank; m != 0 {
		most = min(most, uint64(m))
	}
	if fixed {
		most = max(most, n)
	}
	if n > most || n > mem.SharedRanks {
		return bad("a cluster of %d blocks; %d are possible", n, most)
	}
	return success
}

// enqueue checks a launch and queues it.
func (d *Driver) enqueue(f *function, s *stream, q *launchRequest, params *unsafe.Pointer,
	extra *uintptr) driver.CUresult {
	if r := s.admit(); r != success {
		return r
	}
	if !f.mod.ctx.kin(s.ctx) {
		return s.spoil(badHandle)
	}
	if err := f.prepare(); err != nil {
		return s.spoil(f.fail(err))
	}
	if s.capturing() {
		return d.captureLaunch(f, s, q, params, extra)
	}
	if r := f.validate(q); r != success {
		return r
	}
	buf, r := f.gather(params, extra)
	if r != success {
		return r
	}
	n, _ := d.launches.Get().(*launch)
	if n == nil {
		n = new(launch)
	}
	n.f, n.params, n.early = f, buf, q.early
	if q.cooperative {
		f.mod.ctx.cooperated.Store(true)
	}
	n.l = f.launch(q, buf)
	s.submit(&op{kind: opTask, task: n})
	for _, e := range q.events {
		if e != nil {
			e.record(s)
		}
	}
	return success
}

// captureLaunch makes a node of a launch.
func (d *Driver) captureLaunch(f *function, s *stream, q *launchRequest, params *unsafe.Pointer,
	extra *uintptr) driver.CUresult {
	w := &kernelWork{f: f, q: *q}
	w.q.events = [2]*event{}
	if r := d.completeKernel(w, params, extra); r != success {
		return s.spoil(r)
	}
	r := s.captureWork(w)
	for _, e := range q.events {
		if e != nil && r == success {
			r = s.recordCaptured(e)
		}
	}
	return r
}

// launch puts together what the engine needs; the parameters are in buf.
func (f *function) launch(q *launchRequest, buf *paramBuffer) exec.Launch {
	c := f.mod.ctx
	d, dev := c.d, c.dev
	block, shared := f.entry.runs(q.block, q.shared)
	l := exec.Launch{
		Code: f.code, Grid: q.grid, Block: block, Cluster: q.cluster, Shared: shared,
		Params: buf.bytes[:f.kernel.ParamSize], ParamAddr: buf.addr, Consts: f.consts,
		Mem: c.space.Load(), Sys: &c.heap, Stack: f.stack(),
		MaxShared: uint32(dev.maxSharedOptin()), Cooperative: q.cooperative, Multi: q.multi, MultiRank: q.multiRank,
		Workers: d.opts.Workers, Device: dev.info,
		Stop: &c.stop, GridID: d.gridIDs.Add(1), Texture: c.textures(), Pool: &f.pool, Counters: d.opts.Counters,
		Threads: &d.threadMem,
	}
	if c.cooperated.Load() {
		l.Env = buf.workspace(uint64(f.kernel.ParamSize))
	}
	return l
}

// stack is the bytes of local memory for the calls of each thread: the context's limit, and what calls need whose depth
// is known, which no limit applies to (recorded).
func (f *function) stack() uint32 {
	return uint32(min(max(f.mod.ctx.limit(driver.CU_LIMIT_STACK_SIZE), f.kernel.Stack), check.MaxLocal))
}

// workspaceSize is the room for the grid's workspace after the parameters, alignment included.
const workspaceSize = 32

// workspace prepares the grid's workspace, two words: its size and the barrier that cooperative_groups'
// grid_group::sync counts in. Kernels find it through %envreg1 (high half of the address) and %envreg2 (low half),
// which are 0 until the context's first cooperative launch and stay set after it (seen on an H200 with corpus module
// gridsync).
func (b *paramBuffer) workspace(size uint64) (env [32]uint32) {
	off := (size + 15) &^ 15
	clear(b.bytes[off : off+16])
	b.bytes[off] = 8
	addr := b.addr + off
	env[1], env[2] = uint32(addr>>32), uint32(addr)
	return env
}

// gather copies the parameters of a launch into device memory.
func (f *function) gather(params *unsafe.Pointer, extra *uintptr) (*paramBuffer, driver.CUresult) {
	k := f.kernel
	buf, r := f.mod.ctx.params.get(f.mod.ctx, uint64(k.ParamSize)+workspaceSize)
	if r != success {
		return nil, r
	}
	fail := func() (*paramBuffer, driver.CUresult) {
		f.mod.ctx.params.put(buf)
		return nil, invalidValue
	}
	// A list of no bytes is as good as none (recorded).
	from, size, ok := parseExtra(extra)
	switch {
	case !ok || size > 0 && (from == nil || params != nil):
		return fail()
	case size > 0:
		if size > f.end {
			f.mod.ctx.params.put(buf)
			return nil, driver.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES // recorded
		}
		// Fewer bytes than the parameters take are allowed (recorded); what they do not reach is zero.
		for i := range k.Params {
			p := &k.Params[i]
			to := buf.bytes[p.Offset : p.Offset+p.Size]
			clear(to)
			if off := f.offs[i]; off < size {
				copyBytes(unsafe.Pointer(&to[0]), unsafe.Add(from, off), min(p.Size, size-off))
			}
		}
	case len(k.Params) == 0:
	case params == nil:
		return fail()
	default:
		for i, from := range unsafe.Slice(params, len(k.Params)) {
			p := &k.Params[i]
			if from == nil {
				return fail()
			}
			to := buf.bytes[p.Offset : p.Offset+p.Size]
			switch p.Size { // the sizes that nearly all parameters have
			case 8:
				binary.NativeEndian.PutUint64(to, load64(from))
			case 4:
				binary.NativeEndian.PutUint32(to, load32(from))
			default:
				copy(to, unsafe.Slice((*byte)(from), p.Size))
			}
		}
	}
	return buf, success
}

// load64 and load32 read values that need not be aligned.
func load64(p unsafe.Pointer) uint64 { return binary.NativeEndian.Uint64((*[8]byte)(p)[:]) }
func load32(p unsafe.Pointer) uint32 { return binary.NativeEndian.Uint32((*[4]byte)(p)[:]) }

// parseExtra reads the list of CU_LAUNCH_PARAM_ pairs, which may be nil: the bytes of the parameters and their number,
// nil or 0 where the list does not tell.
func parseExtra(extra *uintptr) (p unsafe.Pointer, size uint64, ok bool) {
	if extra == nil {
		return nil, 0, true
	}
	const most = 16 // entries; a list that goes on is not one
	for range most {
		switch *extra {
		case driver.CU_LAUNCH_PARAM_END:
			return p, size, true
		case driver.CU_LAUNCH_PARAM_BUFFER_POINTER:
			v := (*uintptr)(unsafe.Add(unsafe.Pointer(extra), 8))
			p = foreign(uint64(*v))
		case driver.CU_LAUNCH_PARAM_BUFFER_SIZE:
			v := (*uintptr)(unsafe.Add(unsafe.Pointer(extra), 8))
			at := (*uint64)(foreign(uint64(*v)))
			if at == nil {
				return nil, 0, false
			}
			size = *at
		default:
			return nil, 0, false
		}
		extra = (*uintptr)(unsafe.Add(unsafe.Pointer(extra), 16))
	}
	return nil, 0, false
}

func (d *Driver) launchKernel(cur driver.CUcontext, h driver.CUfunction, gx, gy, gz, bx, by, bz, shared uint32,
	stream driver.CUstream, params *unsafe.Pointer, extra *uintptr) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	f, r := d.launched(s.ctx, h)
	if r != success {
		return r
	}
	q := launchRequest{grid: [3]uint32{gx, gy, gz}, block: [3]uint32{bx, by, bz}, shared: shared}
	return d.enqueue(f, s, &q, params, extra)
}

func (d *Driver) launchCooperativeKernel(cur driver.CUcontext, h driver.CUfunction, gx, gy, gz, bx, by, bz,
	shared uint32, stream driver.CUstream, params *unsafe.Pointer) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	f, r := d.launched(s.ctx, h)
	if r != success {
		return r
	}
	q := launchRequest{grid: [3]uint32{gx, gy, gz}, block: [3]uint32{bx, by, bz}, shared: shared, cooperative: true}
	return d.enqueue(f, s, &q, params, nil)
}

func (d *Driver) launchKernelEx(cur driver.CUcontext, config *driver.CUlaunchConfig, h driver.CUfunction,
	params *unsafe.Pointer, extra *uintptr) driver.CUresult {
	if config == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, config.HStream)
	if r != success {
		return r
	}
	f, r := d.launched(s.ctx, h)
	if r != success {
		return r
	}
	if config.NumAttrs > 0 && config.Attrs == nil {
		return invalidValue
	}
	q := launchRequest{
		grid:  [3]uint32{config.GridDimX, config.GridDimY, config.GridDimZ},
		block: [3]uint32{config.BlockDimX, config.BlockDimY, config.BlockDimZ}, shared: config.SharedMemBytes,
	}
	if config.NumAttrs > 0 {
		attrs := unsafe.Slice(config.Attrs, config.NumAttrs)
		for i := range attrs {
			if r := d.launchAttribute(s, &q, &attrs[i]); r != success {
				return r
			}
		}
	}
	return d.enqueue(f, s, &q, params, extra)
}

// memSyncDomains is the number of memory synchronisation domains (compute capability 9.0).
const memSyncDomains = 4

// launchAttribute takes one attribute of cuLaunchKernelEx. Those that only tune the hardware are checked and have no
// effect.
func (d *Driver) launchAttribute(s *stream, q *launchRequest, a *driver.CUlaunchAttribute) driver.CUresult {
	v := &a.Value
	if r := s.ctx.dev.validHint(a.Id, v); r != success {
		return r
	}
	switch a.Id {
	case driver.CU_LAUNCH_ATTRIBUTE_IGNORE, driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
		driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
		driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, driver.CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		q.early = *v.ProgrammaticStreamSerializationAllowed() != 0
	case driver.CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		if *v.NvlinkUtilCentricScheduling() > 1 {
			return invalidValue
		}
	case driver.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
		dim := v.PreferredClusterDim()
		q.preferred = [3]uint32{dim.X, dim.Y, dim.Z}
	case driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		q.cooperative = *v.Cooperative() != 0
	case driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		dim := v.ClusterDim()
		q.cluster = [3]uint32{dim.X, dim.Y, dim.Z}
		if dim.X == 0 || dim.Y == 0 || dim.Z == 0 {
			return driver.CUDA_ERROR_INVALID_CLUSTER_SIZE
		}
	case driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		if *v.ClusterSchedulingPolicyPreference() > driver.CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING {
			return invalidValue
		}
	case driver.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if *v.SharedMemCarveout() > 100 { // -1 is for cuFuncSetAttribute alone (recorded)
			return invalidValue
		}
	case driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		p := v.ProgrammaticEvent()
		return d.launchEvent(s, &q.events[0], p.Event, p.Flags)
	case driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		p := v.LaunchCompletionEvent()
		return d.launchEvent(s, &q.events[1], p.Event, p.Flags)
	case driver.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		d.explain(s.ctx, "device-updatable kernel nodes are not supported")
		return notSupported
	default:
		return invalidValue
	}
	return success
}

// validHint checks the attributes that launches and streams have in common and that only tune the hardware (recorded
// for both). Of a window's properties only that of misses is looked at; neither its address nor other numbers for
// properties are.
func (dev *device) validHint(id driver.CUlaunchAttributeID, v *driver.CUlaunchAttributeValue) driver.CUresult {
	ok := true
	switch id {
	case driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		w := v.AccessPolicyWindow()
		ok = w.Num_bytes <= uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)) &&
			w.HitRatio >= 0 && w.HitRatio <= 1 && w.MissProp != driver.CU_ACCESS_PROPERTY_PERSISTING
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		m := v.MemSyncDomainMap()
		ok = m.Default_ < memSyncDomains && m.Remote < memSyncDomains
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		ok = *v.MemSyncDomain() <= driver.CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE
	}
	if !ok {
		return invalidValue
	}
	return success
}

// launchEvent records an event behind the launch, which is later than the hardware may do it and therefore allowed. The
// event has to be without timing and of this process (cuda.h, CUlaunchAttributeValue). The flags are those of
// cuEventRecordWithFlags, and the only one, external, is not for launches (recorded).
func (d *Driver) launchEvent(s *stream, out **event, h driver.CUevent, flags int32) driver.CUresult {
	switch flags {
	case 0:
	case int32(driver.CU_EVENT_RECORD_EXTERNAL):
		return driver.CUDA_ERROR_ILLEGAL_STATE
	default:
		return invalidValue
	}
	e := d.events.get(uintptr(h))
	if e == nil || !e.ctx.kin(s.ctx) {
		return badHandle
	}
	if e.flags&(driver.CU_EVENT_DISABLE_TIMING|driver.CU_EVENT_INTERPROCESS) != driver.CU_EVENT_DISABLE_TIMING {
		d.explain(s.ctx, "an event of a launch has to have CU_EVENT_DISABLE_TIMING and not CU_EVENT_INTERPROCESS")
		return notSupported
	}
	*out = e
	return success
}
