package cuda

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Dim3 is a size in up to three dimensions. Zero counts as 1, except that X must not be zero.
type Dim3 struct {
	X, Y, Z uint32

	wrong int // what [Dim] was given and does not fit; the Dim3 is then empty
}

// Dim makes a Dim3 from one to three numbers. If a number is negative or needs more than 32 bits, or a fourth is not 1,
// the Dim3 is empty, and launches reject it and name the number.
func Dim(n ...int) Dim3 {
	var d [3]uint32
	for i, v := range n {
		if v < 0 || v > math.MaxUint32 || i >= len(d) && v != 1 {
			return Dim3{wrong: v}
		}
		if i < len(d) {
			d[i] = uint32(v)
		}
	}
	return Dim3{X: d[0], Y: d[1], Z: d[2]}
}

func (d Dim3) String() string {
	if d.wrong != 0 {
		return fmt.Sprintf("of %d", d.wrong)
	}
	return fmt.Sprintf("%d x %d x %d", d.X, max(d.Y, 1), max(d.Z, 1))
}

// misfit says what is wrong with a Dim3 that is empty because of a number.
func (d Dim3) misfit(what string) string {
	switch {
	case d.wrong < 0:
		return fmt.Sprintf("the %s has the negative size %d", what, d.wrong)
	case d.wrong > math.MaxUint32:
		return fmt.Sprintf("the %s has the size %d, which does not fit 32 bits", what, d.wrong)
	}
	return fmt.Sprintf("the %s has a fourth size, %d", what, d.wrong)
}

// Volume returns the product of the dimensions.
func (d Dim3) Volume() uint64 { return uint64(d.X) * uint64(max(d.Y, 1)) * uint64(max(d.Z, 1)) }

// LaunchConfig is the shape of a launch and everything else about it except the arguments. [Linear], [Grid2D] and
// [Grid3D] make the usual ones.
type LaunchConfig struct {
	Grid, Block Dim3
	// Shared is the dynamic shared memory of a block in bytes. More than 48 KiB needs [Kernel.SetMaxDynamicShared]
	// first.
	Shared int
	// Cluster is the number of blocks in a cluster (compute capability 9.0); zero for none.
	Cluster Dim3
	// Cooperative launches have all blocks on the device at once, so that they may wait for each other.
	Cooperative bool
	// Attrs are further attributes of the launch, such as [ProgrammaticSerialization].
	Attrs []LaunchAttr

	wrong string // why [Linear] and the like found no grid
}

// DefaultBlock is the number of threads per block of [Linear].
const DefaultBlock = 256

// Linear returns a launch configuration with at least n threads in blocks of [DefaultBlock]. The kernel must skip the
// threads from n on.
func Linear(n int) LaunchConfig { return LinearBlock(n, DefaultBlock) }

// LinearBlock is Linear with another block size.
func LinearBlock(n, block int) LaunchConfig {
	return cover(1, [3]int{n}, [3]int{block})
}

// Grid2D returns a launch configuration with at least width x height threads in blocks of bx x by.
func Grid2D(width, height, bx, by int) LaunchConfig {
	return cover(2, [3]int{width, height}, [3]int{bx, by})
}

// Grid3D returns a launch configuration with at least width x height x depth threads in blocks of bx x by x bz.
func Grid3D(width, height, depth, bx, by, bz int) LaunchConfig {
	return cover(3, [3]int{width, height, depth}, [3]int{bx, by, bz})
}

// cover is a launch with at least so many threads. Where there is none the configuration is empty and says why, and
// launches refuse it.
func cover(dims int, threads, block [3]int) LaunchConfig {
	var g, b [3]uint32
	for i := range dims {
		n, size := threads[i], block[i]
		if n <= 0 || size <= 0 || size > math.MaxUint32 || (n-1)/size >= math.MaxUint32 {
			return LaunchConfig{wrong: noGrid(dims, threads, block)}
		}
		g[i], b[i] = uint32((n-1)/size+1), uint32(size)
	}
	return LaunchConfig{Grid: Dim3{X: g[0], Y: g[1], Z: g[2]}, Block: Dim3{X: b[0], Y: b[1], Z: b[2]}}
}

// noGrid says why there is no grid for so many threads.
func noGrid(dims int, threads, block [3]int) string {
	why := "does not fit 32 bits"
	for i := range dims {
		if threads[i] <= 0 || block[i] <= 0 {
			why = "is empty"
		}
	}
	sizes := func(n []int) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", " x ") }
	return fmt.Sprintf("the grid %s: %s threads in blocks of %s", why, sizes(threads[:dims]), sizes(block[:dims]))
}

// LaunchAttr is an attribute of a launch.
type LaunchAttr struct {
	a     cu.CUlaunchAttribute
	owner *owned // of the event or memory that the attribute names
}

func attr(id cu.CUlaunchAttributeID, set func(v *cu.CUlaunchAttributeValue)) LaunchAttr {
	var l LaunchAttr
	l.a.Id = id
	set(&l.a.Value)
	return l
}

// nearest32 is the number of 32 bits that is nearest to another.
func nearest32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// of notes what the attribute names.
func (l LaunchAttr) of(o *owned) LaunchAttr {
	l.owner = o
	return l
}

// RawAttr is any attribute of the driver API.
func RawAttr(a cu.CUlaunchAttribute) LaunchAttr { return LaunchAttr{a: a} }

// LaunchPriority overrides the priority of the stream.
func LaunchPriority(p int) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_PRIORITY, func(v *cu.CUlaunchAttributeValue) { *v.Priority() = nearest32(p) })
}

// ProgrammaticSerialization lets the kernel start before the previous one in the stream has ended (programmatic
// dependent launch); the kernel waits with griddepcontrol.wait.
func ProgrammaticSerialization() LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, func(v *cu.CUlaunchAttributeValue) {
		*v.ProgrammaticStreamSerializationAllowed() = 1
	})
}

// ProgrammaticEvent records an event when all blocks have called griddepcontrol.launch_dependents; with atStart, when
// all blocks have started. The event must be one without timing.
func ProgrammaticEvent(e *Event, atStart bool) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, func(v *cu.CUlaunchAttributeValue) {
		p := v.ProgrammaticEvent()
		p.Event = e.handle
		if atStart {
			p.TriggerAtBlockStart = 1
		}
	}).of(&e.owned)
}

// CompletionEvent records an event when, most likely, all blocks of the launch have started (cuda.h:
// launchCompletionEvent). The event must be one without timing.
func CompletionEvent(e *Event) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, func(v *cu.CUlaunchAttributeValue) {
		v.LaunchCompletionEvent().Event = e.handle
	}).of(&e.owned)
}

// PreferredCluster is the cluster size that the driver uses where it can; LaunchConfig.Cluster is then the minimum.
func PreferredCluster(d Dim3) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, func(v *cu.CUlaunchAttributeValue) {
		p := v.PreferredClusterDim()
		p.X, p.Y, p.Z = d.X, max(d.Y, 1), max(d.Z, 1)
	})
}

// ClusterScheduling selects how clusters are distributed over the device.
func ClusterScheduling(p cu.CUclusterSchedulingPolicy) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, func(v *cu.CUlaunchAttributeValue) {
		*v.ClusterSchedulingPolicyPreference() = p
	})
}

// SharedCarveout is the preferred share of shared memory in the L1 cache, in percent; -1 is the driver's choice.
func SharedCarveout(percent int) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, func(v *cu.CUlaunchAttributeValue) {
		*v.SharedMemCarveout() = uint32(nearest32(percent))
	})
}

// AccessPolicy sets the L2 access policy of an address range: the fraction hit of its accesses (0 to 1) gets the
// property onHit, the rest onMiss.
func AccessPolicy(m Memory, bytes uint64, hit float32, onHit, onMiss cu.CUaccessProperty) LaunchAttr {
	_, o, p := m.memory()
	return attr(cu.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, func(v *cu.CUlaunchAttributeValue) {
		*v.AccessPolicyWindow() = cu.CUaccessPolicyWindow{Base_ptr: uintptr(p), Num_bytes: bytes, HitRatio: hit,
			HitProp: onHit, MissProp: onMiss}
	}).of(o)
}

// SyncPolicy sets how the host waits for a stream; it is for [Stream.SetAttribute] only.
func SyncPolicy(p cu.CUsynchronizationPolicy) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, func(v *cu.CUlaunchAttributeValue) {
		*v.SyncPolicy() = p
	})
}

// MemSyncDomain assigns the launch to a memory synchronisation domain.
func MemSyncDomain(d cu.CUlaunchMemSyncDomain) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, func(v *cu.CUlaunchAttributeValue) { *v.MemSyncDomain() = d })
}

// MemSyncDomainMap maps the logical domains to physical ones.
func MemSyncDomainMap(main, remote uint8) LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, func(v *cu.CUlaunchAttributeValue) {
		*v.MemSyncDomainMap() = cu.CUlaunchMemSyncDomainMap{Default_: main, Remote: remote}
	})
}

// NVLinkCentric requests NVLink-centric scheduling.
func NVLinkCentric() LaunchAttr {
	return attr(cu.CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, func(v *cu.CUlaunchAttributeValue) {
		*v.NvlinkUtilCentricScheduling() = 1
	})
}

const opLaunch = "cuLaunchKernel"

// frame takes memory for a launch.
func (k *Kernel) frame() *launchFrame { return k.frames.Get().(*launchFrame) }

// refuse is the error for a launch with an argument that does not fit.
func (k *Kernel) refuse(f argFault, i int, size uint32, typ reflect.Kind) error {
	var p *param
	if i < len(k.params) {
		p = &k.params[i]
	}
	return invalid(opLaunch, k.name, "%s", f.text(i, p, size, typ))
}

func (k *Kernel) wrongCount(n int) error {
	s := fmt.Sprintf("%d arguments given, kernel wants %d", n, len(k.params))
	for i := n; i < len(k.params); i++ {
		if k.params[i].name != "" {
			return invalid(opLaunch, k.name, "%s: no argument %d `%s`", s, i, k.params[i].name)
		}
	}
	return invalid(opLaunch, k.name, "%s", s)
}

// bind checks arguments against the parameters and writes them into a frame.
func (k *Kernel) bind(f *launchFrame, args []Arg) error {
	if k.known && len(args) != len(k.params) {
		return k.wrongCount(len(args))
	}
	sys := k.c.dev.sys
	if !k.known {
		return k.bindUnknown(f, args)
	}
	for i := range args {
		a := &args[i]
		if fault := a.check(&k.params[i], sys, true); fault != argFine {
			return k.refuse(fault, i, a.size, a.typ)
		}
		a.put(f.ptrs[i])
	}
	return nil
}

// bindUnknown is bind for a kernel whose parameters nobody knows.
func (k *Kernel) bindUnknown(f *launchFrame, args []Arg) error {
	sizes := make([]uint32, len(args))
	for i := range args {
		a := &args[i]
		if fault := a.check(nil, k.c.dev.sys, false); fault != argFine {
			return k.refuse(fault, i, a.size, a.typ)
		}
		sizes[i] = a.size
	}
	f.layout(len(args), func(i int) uint32 { return sizes[i] })
	for i := range args {
		args[i].put(f.ptrs[i])
	}
	return nil
}

// Launch queues the kernel in a stream; nil is the default stream. The arguments are checked against the kernel's
// parameters and copied before Launch returns. Errors of the kernel itself are returned by a later call that waits.
//
//	err := saxpy.Launch(nil, cuda.Linear(n), cuda.Val(a), cuda.Ptr(x), cuda.Ptr(y), cuda.Val(int32(n)))
func (k *Kernel) Launch(s *Stream, cfg LaunchConfig, args ...Arg) error {
	s, err := k.ready(s)
	if err != nil {
		return err
	}
	f := k.frame()
	if err = k.bind(f, args); err == nil {
		err = k.run(s, &cfg, f)
	}
	k.frames.Put(f)
	return err
}

// ready checks kernel and stream.
func (k *Kernel) ready(s *Stream) (*Stream, error) {
	if err := k.check(opLaunch); err != nil {
		return nil, err
	}
	if s == nil {
		s = &k.c.legacy
	}
	if s.c != k.c && s.c.handle != k.c.handle || s.isClosed() || s.c.isClosed() {
		return k.c.stream(opLaunch, s)
	}
	return s, nil
}

// run launches with the arguments in the frame.
func (k *Kernel) run(s *Stream, cfg *LaunchConfig, f *launchFrame) error {
	if err := k.shape(opLaunch, cfg); err != nil {
		return err
	}
	g, b := cfg.Grid, cfg.Block
	g.Y, g.Z, b.Y, b.Z = max(g.Y, 1), max(g.Z, 1), max(b.Y, 1), max(b.Z, 1)
	if k.c.kernel.Load() != &k.name { // a store that changes nothing would still cost other threads their copy
		k.c.kernel.Store(&k.name)
	}
	var err error
	if cfg.Cluster.X == 0 && !cfg.Cooperative && len(cfg.Attrs) == 0 {
		err = k.c.api.LaunchKernel(k.handle, g.X, g.Y, g.Z, b.X, b.Y, b.Z, uint32(cfg.Shared), s.handle, f.ptrs, nil)
	} else {
		f.attributes(cfg)
		f.config = cu.CUlaunchConfig{
			GridDimX: g.X, GridDimY: g.Y, GridDimZ: g.Z, BlockDimX: b.X, BlockDimY: b.Y, BlockDimZ: b.Z,
			SharedMemBytes: uint32(cfg.Shared),
			HStream:        s.handle, Attrs: unsafe.SliceData(f.attrs), NumAttrs: uint32(len(f.attrs)),
		}
		err = k.c.api.LaunchKernelEx(&f.config, k.handle, f.ptrs, nil)
	}
	if err != nil {
		return k.c.fail(opLaunch, k.name, err)
	}
	return nil
}

// shape checks what the driver would refuse with nothing but CUDA_ERROR_INVALID_VALUE, and that what the attributes
// name is open.
func (k *Kernel) shape(op string, cfg *LaunchConfig) error {
	switch {
	case (cfg.Grid.X == 0 || cfg.Block.X == 0) && cfg.wrong != "":
		return invalid(op, k.name, "%s", strings.Clone(cfg.wrong)) // the string itself would make cfg escape
	case cfg.Grid.wrong != 0:
		return invalid(op, k.name, "%s", cfg.Grid.misfit("grid"))
	case cfg.Block.wrong != 0:
		return invalid(op, k.name, "%s", cfg.Block.misfit("block"))
	case cfg.Cluster.wrong != 0:
		return invalid(op, k.name, "%s", cfg.Cluster.misfit("cluster"))
	case cfg.Grid.X == 0:
		return invalid(opLaunch, k.name, "the grid is empty (grid %s, block %s)", cfg.Grid, cfg.Block)
	case cfg.Block.X == 0:
		return invalid(opLaunch, k.name, "the block is empty (grid %s, block %s)", cfg.Grid, cfg.Block)
	case cfg.Block.Volume() > uint64(k.maxThreads):
		return invalid(opLaunch, k.name, "a block of %s is %d threads; the kernel can have %d", cfg.Block,
			cfg.Block.Volume(), k.maxThreads)
	case cfg.Shared < 0:
		return invalid(opLaunch, k.name, "%d bytes of dynamic shared memory: a negative size", cfg.Shared)
	case cfg.Shared > math.MaxInt32:
		return invalid(opLaunch, k.name, "%d bytes of dynamic shared memory: more than any device has", cfg.Shared)
	case cfg.Cluster.X == 0 && (cfg.Cluster.Y != 0 || cfg.Cluster.Z != 0):
		return invalid(opLaunch, k.name, "the cluster is empty (%s)", cfg.Cluster)
	}
	for i := range cfg.Attrs {
		if o := cfg.Attrs[i].owner; o != nil && o.isClosed() {
			return closedError(op, "event or memory of an attribute")
		}
	}
	return nil
}

// attributes collects the attributes of a configuration in the frame.
func (f *launchFrame) attributes(cfg *LaunchConfig) {
	f.attrs = f.attrs[:0]
	if cfg.Cluster.X != 0 {
		var a cu.CUlaunchAttribute
		a.Id = cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
		*a.Value.ClusterDim() = cu.CUlaunchAttributeValue_clusterDim{X: cfg.Cluster.X, Y: max(cfg.Cluster.Y, 1),
			Z: max(cfg.Cluster.Z, 1)}
		f.attrs = append(f.attrs, a)
	}
	if cfg.Cooperative {
		var a cu.CUlaunchAttribute
		a.Id = cu.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
		*a.Value.Cooperative() = 1
		f.attrs = append(f.attrs, a)
	}
	for i := range cfg.Attrs {
		f.attrs = append(f.attrs, cfg.Attrs[i].a)
	}
}

// Prepared is a launch with fixed configuration and arguments. It can be launched many times, and be a node of a
// [Graph].
type Prepared struct {
	k     *Kernel
	cfg   LaunchConfig
	f     *launchFrame
	sizes []uint32 // of the arguments of a kernel whose parameters nobody knows
}

// Prepare checks the arguments once and copies their values. The memory that they point to must stay open as long as
// the launch is used.
func (k *Kernel) Prepare(cfg LaunchConfig, args ...Arg) (*Prepared, error) {
	if err := k.check(opLaunch); err != nil {
		return nil, err
	}
	if err := k.shape(opLaunch, &cfg); err != nil {
		return nil, err
	}
	cfg.Attrs = append([]LaunchAttr(nil), cfg.Attrs...)
	p := &Prepared{k: k, cfg: cfg, f: k.newFrame()}
	if err := k.bind(p.f, args); err != nil {
		return nil, err
	}
	if !k.known {
		for i := range args {
			p.sizes = append(p.sizes, args[i].size)
		}
	}
	return p, nil
}

// Kernel returns the kernel.
func (p *Prepared) Kernel() *Kernel { return p.k }

// Launch queues the kernel in a stream; nil is the default stream. It must not run at the same time as [Prepared.Set],
// or in two goroutines.
func (p *Prepared) Launch(s *Stream) error {
	s, err := p.k.ready(s)
	if err != nil {
		return err
	}
	return p.k.run(s, &p.cfg, p.f)
}

// Set changes argument i for later launches.
func (p *Prepared) Set(i int, a Arg) error {
	if err := p.k.check(opLaunch); err != nil {
		return err
	}
	if i < 0 || i >= len(p.f.ptrs) {
		return invalid(opLaunch, p.k.name, "argument %d set, kernel wants %d arguments", i, len(p.f.ptrs))
	}
	var want param
	if p.k.known {
		want = p.k.params[i]
	} else if want.size = p.sizes[i]; a.size != want.size { // there is no room for more
		return p.k.refuse(faultSize, i, a.size, a.typ)
	}
	if fault := a.check(&want, p.k.c.dev.sys, p.k.known); fault != argFine {
		return p.k.refuse(fault, i, a.size, a.typ)
	}
	a.put(p.f.ptrs[i])
	return nil
}

// SetConfig changes the configuration for later launches.
func (p *Prepared) SetConfig(cfg LaunchConfig) error {
	if err := p.k.check(opLaunch); err != nil {
		return err
	}
	if err := p.k.shape(opLaunch, &cfg); err != nil {
		return err
	}
	cfg.Attrs = append([]LaunchAttr(nil), cfg.Attrs...)
	p.cfg = cfg
	return nil
}
