package softdev

import (
	"errors"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/lazy"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// function is a kernel of a module.
type function struct {
	mod    *module
	entry  *entry
	handle driver.CUfunction
	loaded atomic.Bool // cuModuleGetFunction, cuFuncLoad or a use; an enumerated function is not

	tune *tuning

	once   lazy.Once
	code   exec.Code
	kernel *ir.Kernel
	consts unsafe.Pointer
	pool   exec.Pool
	offs   []uint64 // of the parameters as the driver lays them out
	end    uint64   // behind the last of them
	err    error

	// Parameters of cuParamSet and cuFuncSetBlockShape (deprecated).
	old oldLaunch
}

// paramBank is where the parameters begin in the hardware's constant bank, against which the driver aligns them: a
// parameter aligned to 64 bytes that comes first has offset 48 on compute capability 9.0 (recorded).
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
		if f.kernel, f.code, f.err = f.entry.lower(&f.mod.ctx.stop); f.err != nil {
			return
		}
		f.consts = exec.NewConstRows(f.kernel, func(c *ir.ConstRow) uint64 { return f.mod.address(c.Var) })
		f.offs, f.end = f.entry.paramOffsets()
	})
	return f.err
}

// paramOffsets are the driver's offsets of the parameters, and the size of all.
func (e *entry) paramOffsets() (offs []uint64, end uint64) {
	bank := uint64(paramBank(e.prog.sm))
	l := check.Layout{Size: bank}
	for _, p := range e.fn.Params {
		offs = append(offs, l.Add(p)-bank)
	}
	return offs, l.Size - bank
}

// function resolves a handle; a function knows its context.
func (d *Driver) function(h driver.CUfunction) (*function, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	f := d.functions.get(uintptr(h))
	if f == nil {
		return nil, badHandle
	}
	return f, f.mod.ctx.fault()
}

// launched resolves what a launch in a context names: a function, or a kernel of a library cast to one. The other calls
// take no kernels (recorded).
func (d *Driver) launched(c *context, h driver.CUfunction) (*function, driver.CUresult) {
	if f := d.functions.get(uintptr(h)); f != nil {
		return f, f.mod.ctx.fault()
	}
	if k := d.kernels.get(uintptr(h)); k != nil {
		return k.function(c)
	}
	return nil, badHandle
}

// measured resolves what an occupancy question names: a function, or a kernel of a library in the current context
// (recorded).
func (d *Driver) measured(c *context, h driver.CUfunction) (*function, driver.CUresult) {
	f, r := d.launched(c, h)
	if r != success {
		return nil, r
	}
	if err := f.prepare(); err != nil {
		return nil, f.fail(err)
	}
	return f, success
}

// fail turns an error of prepare into a result.
func (f *function) fail(err error) driver.CUresult {
	f.mod.ctx.d.explain(f.mod.ctx, "%s", err.Error())
	if errors.Is(err, ptx.ErrStopped) {
		return driver.CUDA_ERROR_LAUNCH_TIMEOUT // as of kernels that are stopped, see Interrupt
	}
	return notSupported
}

func (d *Driver) funcGetAttribute(_ driver.CUcontext, out *int32, attr driver.CUfunction_attribute,
	h driver.CUfunction) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	if attr >= d.funcAttributeMax() {
		return invalidValue
	}
	// What depends on the loaded code (recorded: these three, others come from the image's tables).
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
		driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if !f.loaded.Load() {
			return driver.CUDA_ERROR_FUNCTION_NOT_LOADED
		}
	}
	v, r, err := f.entry.attribute(f.mod.ctx.dev, f.tune, attr)
	if err != nil {
		return f.fail(err)
	}
	if r == success {
		if attr == driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED && v != 0 {
			v = 1 // cuKernelGetAttribute gives what was set (recorded)
		}
		*out = v
	}
	return r
}

func (d *Driver) funcSetAttribute(_ driver.CUcontext, h driver.CUfunction, attr driver.CUfunction_attribute,
	v int32) driver.CUresult {
	f, r := d.function(h)
	if r != success {
		return r
	}
	r, err := f.entry.setAttribute(f.mod.ctx.dev, f.tune, attr, v)
	if err != nil {
		return f.fail(err)
	}
	return r
}

func (d *Driver) funcGetModule(_ driver.CUcontext, out *driver.CUmodule, h driver.CUfunction) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || h == 0 {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	*out = f.mod.handle
	return success
}

func (d *Driver) funcGetName(_ driver.CUcontext, out **byte, h driver.CUfunction) driver.CUresult {
	if out == nil || h == 0 {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	*out = d.cString(f.entry.fn.Name)
	return success
}

func (d *Driver) funcGetParamInfo(_ driver.CUcontext, h driver.CUfunction, i uint64, offset,
	size *uint64) driver.CUresult {
	if offset == nil || h == 0 {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	return f.entry.paramInfo(i, offset, size)
}

// funcGetParamCount and kernelGetParamCount are of CUDA 13.2 and not recorded.
func (d *Driver) funcGetParamCount(_ driver.CUcontext, h driver.CUfunction, out *uint64) driver.CUresult {
	if out == nil || h == 0 {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	*out = uint64(len(f.entry.fn.Params))
	return success
}

func (d *Driver) kernelGetParamCount(cur driver.CUcontext, h driver.CUkernel, out *uint64) driver.CUresult {
	if out == nil || h == 0 {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	k, r := d.kernel(h)
	if r != success {
		return r
	}
	f, r := k.function(c)
	if r != success {
		return r
	}
	*out = uint64(len(f.entry.fn.Params))
	return success
}

func (e *entry) paramInfo(i uint64, offset, size *uint64) driver.CUresult {
	if offset == nil || i >= uint64(len(e.fn.Params)) {
		return invalidValue
	}
	offs, _ := e.paramOffsets()
	*offset = offs[i]
	if size != nil {
		*size = e.fn.Params[i].Size
	}
	return success
}

// Param is what the text of a kernel says of a parameter.
type Param struct {
	Name    string
	Type    string // of the parameter or its elements, as PTX writes it without dot, for example u32; "" for vectors
	Pointer bool   // it has .ptr
	Array   bool
}

// Params are the parameters of a kernel as its text declares them; nil for what is no kernel.
func (d *Driver) Params(h driver.CUfunction) []Param {
	f := d.functions.get(uintptr(h))
	if f == nil {
		return nil
	}
	if s := f.entry.shape; s != nil {
		return slices.Clone(s.params)
	}
	params := make([]Param, len(f.entry.fn.Params))
	for i, v := range f.entry.fn.Params {
		params[i] = Param{v.Name, v.Decl.Type, v.Decl.Ptr != nil, len(v.Dims) > 0}
		if v.Vec != 0 {
			params[i].Type = ""
		}
	}
	return params
}

func (d *Driver) funcIsLoaded(_ driver.CUcontext, out *driver.CUfunctionLoadingState,
	h driver.CUfunction) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	*out = driver.CU_FUNCTION_LOADING_STATE_UNLOADED
	if f.loaded.Load() {
		*out = driver.CU_FUNCTION_LOADING_STATE_LOADED
	}
	return success
}

func (d *Driver) funcLoad(_ driver.CUcontext, h driver.CUfunction) driver.CUresult {
	if h == 0 {
		return badHandle
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	return success
}

func (d *Driver) funcSetCacheConfig(_ driver.CUcontext, h driver.CUfunction, v driver.CUfunc_cache) driver.CUresult {
	if _, r := d.function(h); r != success {
		return r
	}
	if !validCacheConfig(v) {
		return invalidValue
	}
	return success
}

func (d *Driver) funcSetSharedMemConfig(_ driver.CUcontext, h driver.CUfunction,
	v driver.CUsharedconfig) driver.CUresult {
	if _, r := d.function(h); r != success {
		return r
	}
	if !validSharedConfig(v) {
		return invalidValue
	}
	return success
}
