package cuda

import (
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Kernel is a kernel function. It belongs to a [Module] or [Library] and need not be closed. Its methods may be called
// from several goroutines.
type Kernel struct {
	c          *Context
	owner      *owned
	handle     cu.CUfunction
	name       string
	params     []param
	known      bool // params are the kernel's
	maxThreads uint32
	frames     sync.Pool // *launchFrame
}

func newKernel(c *Context, owner *owned, f cu.CUfunction, name string, sigs *signatures) (*Kernel, error) {
	k := &Kernel{c: c, owner: owner, handle: f, name: name}
	k.params, k.known = c.kernelParams(f, name, sigs)
	n, err := c.api.FuncGetAttribute(cu.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f)
	if err != nil {
		return nil, c.fail("cuFuncGetAttribute", name, err)
	}
	k.maxThreads = uint32(n)
	k.frames.New = func() any { return k.newFrame() }
	return k, nil
}

func (k *Kernel) newFrame() *launchFrame {
	f := new(launchFrame)
	f.layout(len(k.params), func(i int) uint32 { return k.params[i].size })
	return f
}

// Name returns the name of the kernel.
func (k *Kernel) Name() string { return k.name }

// Context returns the context that the kernel is loaded in.
func (k *Kernel) Context() *Context { return k.c }

// Handle returns the driver's handle of the kernel.
func (k *Kernel) Handle() cu.CUfunction { return k.handle }

// Param describes a parameter of a kernel.
type Param struct {
	Name   string // from the PTX of the image, "" when there is none
	Type   string // as PTX writes it, for example ".u64 .ptr"; "" when unknown
	Offset int    // bytes from the start of the parameters
	Size   int    // bytes
}

// Params returns the parameters; ok is false if neither the driver (before CUDA 12.4) nor the image describes them.
// Launches are then not checked.
func (k *Kernel) Params() (params []Param, ok bool) {
	for _, p := range k.params {
		params = append(params, Param{Name: p.name, Type: p.typ, Offset: int(p.offset), Size: int(p.size)})
	}
	return params, k.known
}

// check is the start of every call about the kernel.
func (k *Kernel) check(op string) error {
	if k.owner.isClosed() {
		return closedError(op, k.owner.kind)
	}
	return nil
}

// Attribute returns any attribute of the kernel, by its name in the driver API.
func (k *Kernel) Attribute(a cu.CUfunction_attribute) (int, error) {
	if err := k.check("cuFuncGetAttribute"); err != nil {
		return 0, err
	}
	v, err := k.c.api.FuncGetAttribute(a, k.handle)
	return int(v), k.c.fail("cuFuncGetAttribute", k.name, err)
}

// SetAttribute sets an attribute of the kernel.
func (k *Kernel) SetAttribute(a cu.CUfunction_attribute, v int) error {
	if err := k.check("cuFuncSetAttribute"); err != nil {
		return err
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		return invalid("cuFuncSetAttribute", k.name, "value %d", v)
	}
	return k.c.fail("cuFuncSetAttribute", k.name, k.c.api.FuncSetAttribute(k.handle, a, int32(v)))
}

// KernelInfo is the resource use of a kernel.
type KernelInfo struct {
	MaxThreads       int // of a block
	Registers        int // of a thread
	StaticShared     int // bytes of a block
	MaxDynamicShared int // bytes of a block that a launch may ask for
	Local            int // bytes of a thread
	Constant         int // bytes
	PTXVersion       int // architecture of the PTX, for example 90
	BinaryVersion    int // architecture of the machine code
}

// Info returns the resource use of the kernel.
func (k *Kernel) Info() (KernelInfo, error) {
	var in KernelInfo
	for _, a := range []struct {
		id cu.CUfunction_attribute
		to *int
	}{
		{cu.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &in.MaxThreads},
		{cu.CU_FUNC_ATTRIBUTE_NUM_REGS, &in.Registers},
		{cu.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &in.StaticShared},
		{cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &in.MaxDynamicShared},
		{cu.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &in.Local},
		{cu.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &in.Constant},
		{cu.CU_FUNC_ATTRIBUTE_PTX_VERSION, &in.PTXVersion},
		{cu.CU_FUNC_ATTRIBUTE_BINARY_VERSION, &in.BinaryVersion},
	} {
		var err error
		if *a.to, err = k.Attribute(a.id); err != nil {
			return in, err
		}
	}
	return in, nil
}

// SetMaxDynamicShared sets the largest dynamic shared memory that launches may ask for, in bytes, up to
// [DeviceInfo].SharedPerBlockOptIn.
func (k *Kernel) SetMaxDynamicShared(bytes int) error {
	if bytes < 0 {
		return invalid("cuFuncSetAttribute", k.name, "%d bytes of dynamic shared memory", bytes)
	}
	return k.SetAttribute(cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
}

// AllowLargeClusters allows clusters of more than 8 blocks, which not every device supports.
func (k *Kernel) AllowLargeClusters() error {
	return k.SetAttribute(cu.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
}

// Occupancy returns how many blocks of the given number of threads, with shared bytes of dynamic shared memory, are
// resident on one multiprocessor at once.
func (k *Kernel) Occupancy(block, shared int) (blocks int, err error) {
	const op = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	if err := k.check(op); err != nil {
		return 0, err
	}
	if block < 1 || block > math.MaxInt32 || shared < 0 {
		return 0, invalid(op, k.name, "blocks of %d threads with %d bytes", block, shared)
	}
	n, err := k.c.api.OccupancyMaxActiveBlocksPerMultiprocessor(k.handle, int32(block), uint64(shared))
	return int(n), k.c.fail(op, k.name, err)
}

// ResidentBlocks returns how many blocks are resident on the device at once: the largest grid of a cooperative launch.
func (k *Kernel) ResidentBlocks(block, shared int) (int, error) {
	n, err := k.Occupancy(block, shared)
	if err != nil {
		return 0, err
	}
	sms, err := k.c.Multiprocessors()
	return n * sms, err
}

// BestBlock returns the block size with the highest occupancy, and the smallest grid that fills the device with such
// blocks. shared returns the dynamic shared memory in bytes for a block size; nil is none. limit is the largest block
// size; 0 is no limit.
func (k *Kernel) BestBlock(shared func(block int) int, limit int) (block, grid int, err error) {
	const op = "cuOccupancyMaxPotentialBlockSize"
	if err := k.check(op); err != nil {
		return 0, 0, err
	}
	var f func(int32) uint64
	if shared != nil {
		f = func(b int32) uint64 { return uint64(max(shared(int(b)), 0)) }
	}
	if limit < 0 || limit > math.MaxInt32 {
		return 0, 0, invalid(op, k.name, "limit %d", limit)
	}
	g, b, err := k.c.api.OccupancyMaxPotentialBlockSize(k.handle, f, 0, int32(limit))
	return int(b), int(g), k.c.fail(op, k.name, err)
}

// AvailableShared returns the dynamic shared memory available per block, in bytes, when the given number of blocks of
// block threads are resident on one multiprocessor.
func (k *Kernel) AvailableShared(blocks, block int) (int, error) {
	const op = "cuOccupancyAvailableDynamicSMemPerBlock"
	if err := k.check(op); err != nil {
		return 0, err
	}
	if blocks < 1 || blocks > math.MaxInt32 || block < 1 || block > math.MaxInt32 {
		return 0, invalid(op, k.name, "%d blocks of %d threads", blocks, block)
	}
	n, err := k.c.api.OccupancyAvailableDynamicSMemPerBlock(k.handle, int32(blocks), int32(block))
	return int(n), k.c.fail(op, k.name, err)
}

// ResidentClusters returns how many clusters of a launch are resident on the device at once.
func (k *Kernel) ResidentClusters(cfg LaunchConfig) (int, error) {
	return k.withConfig("cuOccupancyMaxActiveClusters", cfg, k.c.api.OccupancyMaxActiveClusters)
}

// LargestCluster returns the largest cluster size of a launch, in blocks.
func (k *Kernel) LargestCluster(cfg LaunchConfig) (int, error) {
	return k.withConfig("cuOccupancyMaxPotentialClusterSize", cfg, k.c.api.OccupancyMaxPotentialClusterSize)
}

func (k *Kernel) withConfig(op string, cfg LaunchConfig,
	ask func(cu.CUfunction, *cu.CUlaunchConfig) (int32, error)) (int, error) {
	if err := k.check(op); err != nil {
		return 0, err
	}
	if err := k.shape(op, &cfg); err != nil {
		return 0, err
	}
	var f launchFrame
	f.attributes(&cfg)
	g, b := cfg.Grid, cfg.Block
	n, err := ask(k.handle, &cu.CUlaunchConfig{
		GridDimX: g.X, GridDimY: max(g.Y, 1), GridDimZ: max(g.Z, 1), BlockDimX: b.X, BlockDimY: max(b.Y, 1),
		BlockDimZ:      max(b.Z, 1),
		SharedMemBytes: uint32(cfg.Shared), Attrs: unsafe.SliceData(f.attrs), NumAttrs: uint32(len(f.attrs)),
	})
	return int(n), k.c.fail(op, k.name, err)
}

// bound is what the typed kernels share: the kernel with its parameters checked against Go types.
type bound struct{ k *Kernel }

// Kernel is the kernel without its types.
func (b bound) Kernel() *Kernel { return b.k }

// bindTypes checks Go types against the parameters.
func (k *Kernel) bindTypes(types ...reflect.Type) (bound, error) {
	if err := k.check("Bind"); err != nil {
		return bound{}, err
	}
	if k.known && len(types) != len(k.params) {
		return bound{}, k.wrongCount(len(types))
	}
	if !k.known {
		return bound{}, &Error{Op: "Bind", Code: ErrNotSupported, Symbol: k.name,
			Detail: "the kernel's parameters are not known; use Launch"}
	}
	for i, t := range types {
		a := Arg{kind: argValue, typ: t.Kind(), size: uint32(t.Size())}
		if t.Kind() > reflect.Complex128 {
			a.kind = argStruct
			if bad := pointerIn(t); bad != "" {
				return bound{}, invalid("Bind", k.name, "argument %d: type %s: %s; use cuda.Pointer for device memory",
					i, t, bad)
			}
		}
		if fault := a.check(&k.params[i], k.c.dev.sys, true); fault != argFine {
			return bound{}, k.refuse(fault, i, a.size, a.typ)
		}
	}
	return bound{k}, nil
}

// missing is a launch of the zero value of a typed kernel.
func (b bound) missing() error {
	return &Error{Op: opLaunch, Code: ErrInvalidHandle, Detail: "the zero value of a typed kernel; Bind makes them"}
}
