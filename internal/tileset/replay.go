package tileset

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Status is the outcome of a case.
type Status uint8

// The outcomes. NotLoaded is a module that the device does not take: a driver before CUDA 13.1 loads no Tile IR.
const (
	Passed Status = iota
	Failed
	NotLoaded
)

// Result is the outcome of one case.
type Result struct {
	Case   *Case
	Status Status
	Equal  bool // every buffer that is compared has the recorded bits
	Broken bool // the context is lost, as it was when the case was recorded
	Text   string
}

// Runner replays cases through the driver API.
type Runner struct {
	T       *driver.Table
	Ctx     driver.CUcontext
	Detail  func(driver.CUcontext) string // more about the last error; may be nil
	Printed func() string                 // what kernels printed since the last call; nil if that cannot be known
	// Load loads a module; nil for cuModuleLoadData.
	Load func(code []byte) (driver.CUmodule, driver.CUresult)
}

func (r *Runner) err(call string, code driver.CUresult) error {
	if code == driver.CUDA_SUCCESS {
		return nil
	}
	text := ""
	if r.Detail != nil {
		if text = r.Detail(r.Ctx); text != "" {
			text = ": " + text
		}
	}
	return fmt.Errorf("%s: %v%s", call, code, text)
}

// cstr returns a string as C has it.
func cstr(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

// Run replays a case.
func (r *Runner) Run(s *Set, c *Case) Result {
	res := Result{Case: c, Equal: true}
	code, err := s.Code(c.Module)
	if err == nil {
		err = r.run(s, c, code, &res)
	}
	if err != nil {
		res.Equal, res.Text = false, err.Error()
		if res.Status == Passed {
			res.Status = Failed
		}
	}
	return res
}

func (r *Runner) load(code []byte) (m driver.CUmodule, result driver.CUresult) {
	if r.Load != nil {
		return r.Load(code)
	}
	result = r.T.ModuleLoadData(r.Ctx, &m, unsafe.Pointer(unsafe.SliceData(code)))
	return m, result
}

func (r *Runner) run(s *Set, c *Case, code []byte, res *Result) error {
	t := r.T
	m, result := r.load(code)
	if err := r.err("loading the module", result); err != nil {
		if result == driver.CUDA_ERROR_INVALID_IMAGE {
			res.Status = NotLoaded
		}
		return err
	}
	defer func() {
		if !res.Broken {
			t.ModuleUnload(r.Ctx, m)
		}
	}()
	var f driver.CUfunction
	if err := r.err("cuModuleGetFunction", t.ModuleGetFunction(r.Ctx, &f, m, cstr(c.Entry))); err != nil {
		return err
	}
	if err := r.parameters(c, f); err != nil {
		return err
	}
	if err := r.globals(m, "before", c.Expect.GlobalsBefore); err != nil {
		return err
	}
	at := make([]uint64, len(c.Buffers))
	for i := range c.Buffers {
		var p driver.CUdeviceptr
		if err := r.err("cuMemAlloc", t.MemAlloc_v2(r.Ctx, &p, uint64(c.Buffers[i].Size))); err != nil {
			return err
		}
		defer func() {
			if !res.Broken {
				t.MemFree_v2(r.Ctx, p)
			}
		}()
		at[i] = uint64(p)
	}
	contents, err := s.Contents(c, at)
	if err != nil {
		return err
	}
	for i, b := range contents {
		code := t.MemcpyHtoD_v2(r.Ctx, driver.CUdeviceptr(at[i]), unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)))
		if err := r.err("cuMemcpyHtoD", code); err != nil {
			return err
		}
	}
	if res.Broken, err = r.launch(c, f, at); res.Broken || err != nil {
		return err
	}
	if r.Printed != nil {
		if got := r.Printed(); !SameText(got, c.Expect.Stdout) {
			return fmt.Errorf("printed %q, recorded %q", got, c.Expect.Stdout)
		}
	}
	if err := r.globals(m, "after", c.Expect.Globals); err != nil {
		return err
	}
	for i := range c.Buffers {
		b := contents[i]
		code := t.MemcpyDtoH_v2(r.Ctx, unsafe.Pointer(unsafe.SliceData(b)), driver.CUdeviceptr(at[i]), uint64(len(b)))
		if err := r.err("cuMemcpyDtoH", code); err != nil {
			return err
		}
		equal, err := s.Compare(c, i, b)
		if err != nil {
			return err
		}
		res.Equal = res.Equal && equal
	}
	return nil
}

// launch runs the kernel to its end; broken says that it ended with the recorded error, which breaks the context.
func (r *Runner) launch(c *Case, f driver.CUfunction, at []uint64) (broken bool, err error) {
	values := make([][8]byte, len(c.Args))
	list := make([]unsafe.Pointer, len(c.Args)+1)
	var pin runtime.Pinner // a list of addresses goes to the driver
	defer pin.Unpin()
	for i := range c.Args {
		if values[i], err = c.Args[i].Bytes(at); err != nil {
			return false, err
		}
		pin.Pin(&values[i])
		list[i] = unsafe.Pointer(&values[i])
	}
	if r.Printed != nil {
		r.Printed()
	}
	code := r.T.LaunchKernel(r.Ctx, f, c.Grid[0], c.Grid[1], c.Grid[2], 1, 1, 1, 0, 0, &list[0], nil)
	if got, want := code.String(), c.Expect.Launch; want != "" && got != want {
		return false, fmt.Errorf("cuLaunchKernel: recorded %s: %w", want, r.err("here", code))
	}
	if code == driver.CUDA_SUCCESS {
		code = r.T.CtxSynchronize(r.Ctx)
	}
	switch got, want := code.String(), c.Expect.Sync; {
	case got != want && code == driver.CUDA_SUCCESS:
		return false, fmt.Errorf("the kernel ends without an error, recorded %s", want)
	case got != want:
		return false, fmt.Errorf("recorded %s: %w", want, r.err("here", code))
	}
	return code != driver.CUDA_SUCCESS, nil
}

// parameters compares where the kernel's parameters lie. The driver reads as many arguments as there are parameters, so
// a case has to have these.
func (r *Runner) parameters(c *Case, f driver.CUfunction) error {
	for i := range c.Args {
		var got [2]uint64
		if err := r.err("cuFuncGetParamInfo", r.T.FuncGetParamInfo(r.Ctx, f, uint64(i), &got[0], &got[1])); err != nil {
			return err
		}
		if n := c.Args[i].Size(); got[1] != uint64(n) {
			return fmt.Errorf("parameter %d has %d bytes, its argument %d", i, got[1], n)
		}
		if c.Expect.Parameters != nil && got != c.Expect.Parameters[i] {
			return fmt.Errorf("parameter %d has offset and size %v, recorded %v", i, got, c.Expect.Parameters[i])
		}
	}
	var end [2]uint64
	code := r.T.FuncGetParamInfo(r.Ctx, f, uint64(len(c.Args)), &end[0], &end[1])
	if code != driver.CUDA_ERROR_INVALID_VALUE {
		return fmt.Errorf("cuFuncGetParamInfo of one parameter more than there are arguments: %v", code)
	}
	return nil
}

// globals compares module variables.
func (r *Runner) globals(m driver.CUmodule, when string, all map[string]string) error {
	for name, want := range all {
		var p driver.CUdeviceptr
		var n uint64
		if err := r.err("cuModuleGetGlobal", r.T.ModuleGetGlobal_v2(r.Ctx, &p, &n, m, cstr(name))); err != nil {
			return err
		}
		if n != uint64(len(want)/2) {
			return fmt.Errorf("global %s has %d bytes, recorded %d", name, n, len(want)/2)
		}
		b := make([]byte, n)
		if err := r.err("cuMemcpyDtoH", r.T.MemcpyDtoH_v2(r.Ctx, unsafe.Pointer(unsafe.SliceData(b)), p,
			n)); err != nil {
			return err
		}
		if got := hex.EncodeToString(b); got != want {
			return fmt.Errorf("global %s is %s %s the launch, recorded %s", name, got, when, want)
		}
	}
	return nil
}
