package softdev

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// function is a kernel of a module.
type function struct {
	mod    *module
	entry  *entry
	handle driver.CUfunction
	loaded atomic.Bool // cuModuleGetFunction, cuFuncLoad or a use; an enumerated function is not

	maxDynamic atomic.Int32 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1 while not set
	carveout   atomic.Int32
	nonPortable,
	mustCluster,
	clusterPolicy atomic.Int32
	clusterDim [3]atomic.Int32

	once   sync.Once
	code   exec.Code
	kernel *ir.Kernel
	consts unsafe.Pointer
	offs   []uint32 // of the parameters as the driver lays them out
	end    uint32   // behind the last of them
	err    error

	// Parameters of cuParamSet and cuFuncSetBlockShape (deprecated).
	old oldLaunch
}

// paramBank is where the parameters begin in the hardware's constant bank, against which the driver aligns them: a parameter aligned to
// 64 bytes that comes first has offset 48 on compute capability 9.0 (recorded).
func paramBank(sm int) uint32 {
	switch {
	case sm >= 100:
		return 0x380
	case sm >= 90:
		return 0x210
	case sm >= 70:
		return 0x160
	}
	return 0x140
}

// prepare lowers the kernel and binds it to the module's variables.
func (f *function) prepare() error {
	f.once.Do(func() {
		f.loaded.Store(true)
		if f.kernel, f.code, f.err = f.entry.lower(); f.err != nil {
			return
		}
		f.consts = exec.NewConstRows(f.kernel, func(c *ir.ConstRow) uint64 { return f.mod.address(c.Var) })
		f.offs, f.end = f.entry.paramOffsets()
	})
	return f.err
}

// paramOffsets are the driver's offsets of the parameters, and the size of all.
func (e *entry) paramOffsets() (offs []uint32, end uint32) {
	bank := paramBank(e.prog.sm)
	at := bank
	for _, p := range e.fn.Params {
		align := uint32(max(p.Align, 1))
		at = (at + align - 1) / align * align
		offs = append(offs, at-bank)
		at += uint32(p.Size)
	}
	return offs, at - bank
}

// function resolves a handle in a context that has not faulted. Kernels of libraries are accepted too: cuLaunchKernel and the cuFunc calls
// take a CUkernel cast to CUfunction and use it in the current context.
func (d *Driver) function(cur driver.CUcontext, h driver.CUfunction) (*function, driver.CUresult) {
	c, r := d.enter(cur)
	if r != success {
		return nil, r
	}
	return d.functionIn(c, h)
}

func (d *Driver) functionIn(c *context, h driver.CUfunction) (*function, driver.CUresult) {
	if f := d.functions.get(uintptr(h)); f != nil {
		if f.mod.ctx != c {
			return f, f.mod.ctx.fault()
		}
		return f, success
	}
	if k := d.kernels.get(uintptr(h)); k != nil {
		return k.function(c)
	}
	return nil, badHandle
}

// fail turns an error of prepare into a result.
func (f *function) fail(err error) driver.CUresult {
	f.mod.ctx.d.explain(f.mod.ctx, "%s", err.Error())
	return notSupported
}

// staticShared is the size of the kernel's own shared variables.
func (f *function) staticShared() uint32 { return f.kernel.SharedSize }

// maxDynamicShared is how much dynamic shared memory a launch may ask for.
func (f *function) maxDynamicShared() int32 {
	if v := f.maxDynamic.Load(); v >= 0 {
		return v
	}
	return max(f.mod.ctx.dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)-int32(f.staticShared()), 0)
}

// maxThreads is the largest block that the kernel can be launched with.
func (f *function) maxThreads() int32 {
	return f.entry.maxThreads(f.mod.ctx.dev)
}

func (e *entry) maxThreads(dev *device) int32 {
	most := dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
	for _, dims := range [][3]uint32{e.fn.Attrs.MaxNTid, e.fn.Attrs.ReqNTid} {
		if dims[0] != 0 {
			n := uint64(dims[0]) * uint64(max(dims[1], 1)) * uint64(max(dims[2], 1))
			most = int32(min(uint64(most), n))
		}
	}
	if regs := e.registers(); regs > 0 {
		// Registers are handed out to warps in units of 256.
		warps := dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) / int32((regs*32+255)/256*256)
		most = min(most, warps*32)
	}
	return most
}

// requiredCluster is .reqnctapercluster.
func (f *function) requiredCluster() (dims [3]uint32, ok bool) {
	a := &f.entry.fn.Attrs
	if a.ReqNCtaPerCluster[0] == 0 {
		return dims, false
	}
	for i := range dims {
		dims[i] = max(a.ReqNCtaPerCluster[i], 1)
	}
	return dims, true
}

func (d *Driver) funcGetAttribute(cur driver.CUcontext, out *int32, attr driver.CUfunction_attribute, h driver.CUfunction) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	if out == nil || attr >= driver.CU_FUNC_ATTRIBUTE_MAX {
		return invalidValue
	}
	// What depends on the loaded code (recorded: these three, others come from the image's tables).
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if !f.loaded.Load() {
			return driver.CUDA_ERROR_FUNCTION_NOT_LOADED
		}
	}
	v, r := f.attribute(attr)
	if r == success {
		*out = v
	}
	return r
}

func (f *function) attribute(attr driver.CUfunction_attribute) (int32, driver.CUresult) {
	loaded := f.loaded.Load()
	if _, _, err := f.entry.lower(); err != nil {
		return 0, f.fail(err)
	}
	if loaded {
		if err := f.prepare(); err != nil {
			return 0, f.fail(err)
		}
	}
	k, _, _ := f.entry.lower()
	a := &f.entry.fn.Attrs
	flag := func(on bool) int32 {
		if on {
			return 1
		}
		return 0
	}
	required, fixed := f.requiredCluster()
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return f.maxThreads(), success
	case driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		return int32(k.SharedSize), success
	case driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		return int32(f.entry.prog.consts.size), success
	case driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		return int32(k.Local), success
	case driver.CU_FUNC_ATTRIBUTE_NUM_REGS:
		return int32(f.entry.registers()), success
	case driver.CU_FUNC_ATTRIBUTE_PTX_VERSION:
		return int32(f.entry.prog.checked.Target.SM), success
	case driver.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		return int32(f.entry.prog.sm), success
	case driver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		return 0, success
	case driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return f.maxDynamicShared(), success
	case driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return f.carveout.Load(), success
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
		return flag(a.ExplicitCluster || f.mustCluster.Load() != 0), success
	case driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		i := attr - driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
		if fixed {
			return int32(required[i]), success
		}
		return f.clusterDim[i].Load(), success
	case driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		return f.nonPortable.Load(), success
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return f.clusterPolicy.Load(), success
	}
	return 0, invalidValue
}

func (d *Driver) funcSetAttribute(cur driver.CUcontext, h driver.CUfunction, attr driver.CUfunction_attribute, v int32) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	return f.setAttribute(attr, v)
}

func (f *function) setAttribute(attr driver.CUfunction_attribute, v int32) driver.CUresult {
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if err := f.prepare(); err != nil {
			return f.fail(err)
		}
		if v < 0 || uint64(v)+uint64(f.staticShared()) > f.mod.ctx.dev.maxSharedOptin() {
			return invalidValue
		}
		f.maxDynamic.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if v < -1 || v > 100 {
			return invalidValue
		}
		f.carveout.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		if _, fixed := f.requiredCluster(); fixed || v < 0 {
			return invalidValue
		}
		f.clusterDim[attr-driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].Store(v)
	case driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		if v != 0 && v != 1 {
			return invalidValue
		}
		f.nonPortable.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
		if v != 0 && v != 1 {
			return invalidValue
		}
		f.mustCluster.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		if p := driver.CUclusterSchedulingPolicy(v); v < 0 || p > driver.CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING {
			return invalidValue
		}
		f.clusterPolicy.Store(v)
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) funcGetModule(cur driver.CUcontext, out *driver.CUmodule, h driver.CUfunction) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = f.mod.handle
	return success
}

func (d *Driver) funcGetName(cur driver.CUcontext, out **byte, h driver.CUfunction) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = d.cString(f.entry.fn.Name)
	return success
}

func (d *Driver) funcGetParamInfo(cur driver.CUcontext, h driver.CUfunction, i uint64, offset, size *uint64) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	return f.entry.paramInfo(i, offset, size)
}

func (e *entry) paramInfo(i uint64, offset, size *uint64) driver.CUresult {
	if offset == nil || i >= uint64(len(e.fn.Params)) {
		return invalidValue
	}
	offs, _ := e.paramOffsets()
	*offset = uint64(offs[i])
	if size != nil {
		*size = e.fn.Params[i].Size
	}
	return success
}

func (d *Driver) funcIsLoaded(cur driver.CUcontext, out *driver.CUfunctionLoadingState, h driver.CUfunction) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = driver.CU_FUNCTION_LOADING_STATE_UNLOADED
	if f.loaded.Load() {
		*out = driver.CU_FUNCTION_LOADING_STATE_LOADED
	}
	return success
}

func (d *Driver) funcLoad(cur driver.CUcontext, h driver.CUfunction) driver.CUresult {
	f, r := d.function(cur, h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	return success
}

func (d *Driver) funcSetCacheConfig(cur driver.CUcontext, h driver.CUfunction, v driver.CUfunc_cache) driver.CUresult {
	if _, r := d.function(cur, h); r != success {
		return r
	}
	if !validCacheConfig(v) {
		return invalidValue
	}
	return success
}

func (d *Driver) funcSetSharedMemConfig(cur driver.CUcontext, h driver.CUfunction, v driver.CUsharedconfig) driver.CUresult {
	if _, r := d.function(cur, h); r != success {
		return r
	}
	if !validSharedConfig(v) {
		return invalidValue
	}
	return success
}
