package silicon

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Status is the outcome of a case.
type Status uint8

// The outcomes. A case that is not exact by specification passes when it ran; Diffs tell how far it is from the
// silicon.
const (
	Passed Status = iota
	Failed
	NotImplemented
)

// Result is the outcome of one case.
type Result struct {
	Case   *Case
	Status Status
	Equal  bool // every output has the recorded bits
	Diffs  []Diff
	Text   string
}

// Runner replays cases through the driver API.
type Runner struct {
	T      *driver.Table
	Ctx    driver.CUcontext
	Detail func(driver.CUcontext) string

	modules map[string]driver.CUmodule
}

func (r *Runner) err(call string, code driver.CUresult) error {
	if code == driver.CUDA_SUCCESS {
		return nil
	}
	s := call + ": " + code.String()
	if r.Detail != nil {
		if d := r.Detail(r.Ctx); d != "" {
			s += ": " + d
		}
	}
	return &callError{code, s}
}

type callError struct {
	code driver.CUresult
	text string
}

func (e *callError) Error() string { return e.text }

// module loads a group's module, once.
func (r *Runner) module(s *Set, group string) (driver.CUmodule, error) {
	if m, ok := r.modules[group]; ok {
		return m, nil
	}
	src, err := s.Module(group)
	if err != nil {
		return 0, err
	}
	text := []byte(src.Text + "\x00")
	log := make([]byte, 1<<14)
	var pin runtime.Pinner // the buffer goes to the driver as a number
	pin.Pin(&log[0])
	defer pin.Unpin()
	opts := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	vals := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var m driver.CUmodule
	if err := r.err("cuModuleLoadDataEx", r.T.ModuleLoadDataEx(r.Ctx, &m, unsafe.Pointer(&text[0]), 2, &opts[0],
		&vals[0])); err != nil {
		l, _, _ := strings.Cut(string(log), "\x00")
		return 0, fmt.Errorf("%w\n%s", err, strings.TrimSpace(l))
	}
	if r.modules == nil {
		r.modules = map[string]driver.CUmodule{}
	}
	r.modules[group] = m
	return m, nil
}

// Run replays one case.
func (r *Runner) Run(s *Set, c *Case) Result {
	res := Result{Case: c}
	diffs, err := r.run(s, c)
	if err != nil {
		res.Status, res.Text = Failed, err.Error()
		if ce, ok := err.(*callError); ok && ce.code == driver.CUDA_ERROR_NOT_SUPPORTED {
			res.Status = NotImplemented
		}
		return res
	}
	res.Diffs, res.Equal = diffs, true
	for i := range diffs {
		if d := &diffs[i]; d.Different > 0 {
			res.Equal = false
			res.Text += fmt.Sprintf("output %d: %d of %d differ, first [%d] %s, recorded %s; ", i, d.Different,
				d.Elements, d.First, d.Got, d.Want)
		}
	}
	if !res.Equal && c.Exact() {
		res.Status = Failed
	}
	return res
}

func (r *Runner) run(s *Set, c *Case) ([]Diff, error) {
	m, err := r.module(s, c.Group)
	if err != nil {
		return nil, err
	}
	t := r.T
	var f driver.CUfunction
	name := append([]byte(c.Kernel), 0)
	if err := r.err("cuModuleGetFunction", t.ModuleGetFunction(r.Ctx, &f, m, &name[0])); err != nil {
		return nil, err
	}
	n := len(c.Operands) + len(c.Outputs)
	ptrs := make([]driver.CUdeviceptr, n)
	params := make([]unsafe.Pointer, n)
	defer func() {
		for _, p := range ptrs {
			if p != 0 {
				t.MemFree_v2(r.Ctx, p)
			}
		}
	}()
	for i := range ptrs {
		params[i] = unsafe.Pointer(&ptrs[i])
		var b []byte
		if i < len(c.Operands) {
			b = s.Input(c.Operands[i].Array)
		} else {
			b = make([]byte, c.Outputs[i-len(c.Operands)].Size)
			for j := range b {
				b[j] = 0xa5 // kernels write every byte
			}
		}
		if err := r.err("cuMemAlloc", t.MemAlloc_v2(r.Ctx, &ptrs[i], uint64(max(len(b), 1)))); err != nil {
			return nil, err
		}
		if len(b) > 0 {
			if err := r.err("cuMemcpyHtoD", t.MemcpyHtoD_v2(r.Ctx, ptrs[i], unsafe.Pointer(&b[0]),
				uint64(len(b)))); err != nil {
				return nil, err
			}
		}
	}
	if err := r.err("cuLaunchKernel", t.LaunchKernel(r.Ctx, f, c.Grid[0], c.Grid[1], c.Grid[2], c.Block[0], c.Block[1],
		c.Block[2], c.Shared, 0, &params[0], nil)); err != nil {
		return nil, err
	}
	if err := r.err("cuCtxSynchronize", t.CtxSynchronize(r.Ctx)); err != nil {
		return nil, err
	}
	var diffs []Diff
	for i := range c.Outputs {
		o := &c.Outputs[i]
		got := make([]byte, o.Size)
		if o.Size > 0 {
			if err := r.err("cuMemcpyDtoH", t.MemcpyDtoH_v2(r.Ctx, unsafe.Pointer(&got[0]), ptrs[len(c.Operands)+i],
				uint64(o.Size))); err != nil {
				return nil, err
			}
		}
		diffs = append(diffs, Compare(o, got, s.Expected(o)))
	}
	return diffs, nil
}
