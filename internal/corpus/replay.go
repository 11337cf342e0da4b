package corpus

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Runner replays modules on a device.
type Runner struct {
	T   *driver.Table
	Dev driver.CUdevice
	// Printed returns what kernels have printed since the last call; nil when the output cannot be seen, and then it is
	// not compared.
	Printed func() string
	// Complained is the same for what failed device assertions say.
	Complained func() string
	// DeviceRuntime says that the device itself has the functions of NVIDIA's device runtime library.
	DeviceRuntime bool
	// Renew gives a device that no fault has touched, after a launch that broke this one: a fault ends every context of
	// the process on the device. Nil when that needs a new process; then launches that are recorded to end so run only
	// when Run is asked for them by number.
	Renew func() (*driver.Table, error)
	// Detail returns a longer text for the last error of a context, nil when there is none.
	Detail func(ctx driver.CUcontext) string
}

// Fatal says that the launch must end in an error which costs the context.
func (l *Launch) Fatal() bool {
	return l.Failure != nil && l.Failure.Code != 0 && l.Failure.Where == "synchronize"
}

// Status is the outcome of one launch.
type Status uint8

// The outcomes.
const (
	Passed Status = iota
	Failed
	NotImplemented // the device says NOT_SUPPORTED
	NotApplicable  // this build does not hold the kernel, or the launch was not asked for
	LeftOut        // it must fail and would end the process's use of the device
)

var statusText = [...]string{"passed", "failed", "not implemented", "not applicable", "left out"}

func (s Status) String() string { return statusText[s] }

// Result is the outcome of one launch, or of loading the module (Launch -1).
type Result struct {
	Module, Build string
	Launch        int
	Kernel        string
	Status        Status
	Equal         bool // every byte that was compared is the recorded one, whatever the rule would allow
	Text          string
}

// callError is a result code with the call that gave it.
type callError struct {
	call   string
	code   driver.CUresult
	detail string
}

func (e *callError) Error() string {
	s := e.call + ": " + e.code.String()
	if e.detail != "" {
		s += ": " + e.detail
	}
	return s
}

// state is a module while its launches run.
type state struct {
	r       *Runner
	m       *Manifest
	build   string
	image   []byte
	link    *Link // instead of image
	equal   bool
	ctx     driver.CUcontext
	mod     driver.CUmodule
	buffers map[string]driver.CUdeviceptr
	cleanup []func()
}

func (s *state) check(call string, code driver.CUresult) error {
	if code == driver.CUDA_SUCCESS {
		return nil
	}
	e := &callError{call: call, code: code}
	if s.r.Detail != nil {
		e.detail = s.r.Detail(s.ctx)
	}
	return e
}

// Run replays every launch of a module from one build, or only the launches listed.
func (r *Runner) Run(m *Manifest, build string, only ...int) []Result {
	s := &state{r: r, m: m, build: build, link: m.link(build)}
	if s.link == nil {
		img, err := m.Image(build)
		if err != nil {
			return []Result{{Module: m.Name, Build: build, Launch: -1, Status: Failed, Text: err.Error()}}
		}
		s.image = append(img, 0)
	}
	var out []Result
	defer s.close()
	for i := range m.Launches {
		l := &m.Launches[i]
		res := Result{Module: m.Name, Build: build, Launch: i, Kernel: l.Kernel}
		asked := slices.Contains(only, i)
		s.equal = true
		switch {
		case !l.Has(build) || len(only) > 0 && !asked || m.DeviceRuntime() && !r.DeviceRuntime:
			res.Status = NotApplicable
		case l.Fatal() && r.Renew == nil && !asked:
			res.Status = LeftOut
		default:
			s.outcome(&res, s.launch(l))
		}
		if r.Renew != nil && (res.Status == Failed || l.Fatal() && res.Status == Passed) {
			s.close()
			t, err := r.Renew()
			if err != nil {
				res.Status, res.Text = Failed, res.Text+"; "+err.Error()
				return append(out, res)
			}
			r.T = t
		}
		out = append(out, res)
	}
	return out
}

func (s *state) outcome(res *Result, err error) {
	if err == nil {
		res.Equal = s.equal
		return
	}
	res.Status, res.Text = Failed, err.Error()
	var ce *callError
	if errors.As(err, &ce) && ce.code == driver.CUDA_ERROR_NOT_SUPPORTED {
		res.Status = NotImplemented
	}
	s.close() // start over with a clean context
}

func (s *state) close() {
	for i := len(s.cleanup) - 1; i >= 0; i-- {
		s.cleanup[i]()
	}
	s.cleanup, s.buffers = nil, nil
	if s.mod != 0 {
		s.r.T.ModuleUnload(s.ctx, s.mod)
		s.mod = 0
	}
	if s.ctx != 0 {
		s.r.T.CtxDestroy_v2(0, s.ctx)
		s.ctx = 0
	}
}

func cstr(s string) *byte { return unsafe.StringData(s + "\x00") }

// fresh loads the module anew. The context stays, as it did in the recording: state of the context lives on (the grid
// workspace of a cooperative launch, say).
func (s *state) fresh() error {
	t := s.r.T
	for i := len(s.cleanup) - 1; i >= 0; i-- {
		s.cleanup[i]()
	}
	s.cleanup, s.buffers = nil, nil
	if s.mod != 0 {
		t.ModuleUnload(s.ctx, s.mod)
		s.mod = 0
	}
	if s.ctx == 0 {
		if err := s.check("cuCtxCreate", t.CtxCreate_v2(0, &s.ctx, 0, s.r.Dev)); err != nil {
			return err
		}
	}
	image := unsafe.Pointer(unsafe.SliceData(s.image))
	if s.link != nil {
		p, done, err := s.linked()
		if err != nil {
			return err
		}
		defer done()
		image = p
	}
	log := make([]byte, 1<<14)
	var pin runtime.Pinner // the buffer goes to the driver as a number
	pin.Pin(&log[0])
	defer pin.Unpin()
	opts := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	vals := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	code := t.ModuleLoadDataEx(s.ctx, &s.mod, image, 2, &opts[0], &vals[0])
	if err := s.check(loadCall, code); err != nil {
		text, _, _ := strings.Cut(string(log), "\x00")
		e := err.(*callError)
		if text != "" {
			e.detail = strings.TrimSpace(text)
		}
		return e
	}
	s.buffers = map[string]driver.CUdeviceptr{}
	return nil
}

const loadCall = "cuModuleLoadDataEx"

// emptyArchive is a static library without members.
const emptyArchive = "!<arch>\n"

// inputTypes are the manifests' words for CUjitInputType.
var inputTypes = map[string]driver.CUjitInputType{
	"ptx": driver.CU_JIT_INPUT_PTX, "cubin": driver.CU_JIT_INPUT_CUBIN, "fatbin": driver.CU_JIT_INPUT_FATBINARY,
	"object": driver.CU_JIT_INPUT_OBJECT, "library": driver.CU_JIT_INPUT_LIBRARY, "nvvm": driver.CU_JIT_INPUT_NVVM,
}

// linked links the inputs of a recorded link; the image lives until done is called.
func (s *state) linked() (image unsafe.Pointer, done func(), err error) {
	t := s.r.T
	var state driver.CUlinkState
	if err := s.check("cuLinkCreate", t.LinkCreate_v2(s.ctx, 0, nil, nil, &state)); err != nil {
		return nil, nil, err
	}
	done = func() { t.LinkDestroy(s.ctx, state) }
	for _, in := range s.link.Inputs {
		kind, ok := inputTypes[in.Type]
		if !ok {
			done()
			return nil, nil, fmt.Errorf("the manifest links an input of unknown type %q", in.Type)
		}
		b := []byte(emptyArchive)
		switch {
		case in.Text != "":
			b = []byte(in.Text)
		case in.File != DeviceRuntimeFile:
			if b, err = s.m.file(in.File); err != nil {
				done()
				return nil, nil, err
			}
		}
		if kind == driver.CU_JIT_INPUT_PTX {
			b = append(b, 0)
		}
		if err := s.check("cuLinkAddData", t.LinkAddData_v2(s.ctx, state, kind, unsafe.Pointer(unsafe.SliceData(b)),
			uint64(len(b)), cstr(in.File), 0, nil, nil)); err != nil {
			done()
			return nil, nil, err
		}
	}
	var size uint64
	if err := s.check("cuLinkComplete", t.LinkComplete(s.ctx, state, &image, &size)); err != nil {
		done()
		return nil, nil, err
	}
	return image, done, nil
}

// output is a buffer to compare.
type output struct {
	what  string
	dtype string
	rule  string
	want  []byte
	read  func([]byte) error
}

func (s *state) launch(l *Launch) error {
	if l.Fresh || s.mod == 0 {
		err := s.fresh()
		if f := l.Failure; f != nil && f.Where == loadCall {
			return s.loadFailure(f, err)
		}
		if err != nil {
			return err
		}
	}
	t := s.r.T
	if n, ok := l.Limits["stack"]; ok {
		if err := s.check("cuCtxSetLimit", t.CtxSetLimit(s.ctx, driver.CU_LIMIT_STACK_SIZE, uint64(n))); err != nil {
			return err
		}
	}
	var f driver.CUfunction
	if err := s.check("cuModuleGetFunction", t.ModuleGetFunction(s.ctx, &f, s.mod, cstr(l.Kernel))); err != nil {
		return err
	}
	for name, v := range l.FuncAttributes {
		id, ok := functionAttributes[name]
		if !ok {
			return fmt.Errorf("the manifest sets an unknown function attribute %s", name)
		}
		if err := s.check("cuFuncSetAttribute", t.FuncSetAttribute(s.ctx, f, id, int32(v))); err != nil {
			return err
		}
	}
	var outs []output
	for i := range l.Buffers {
		if _, err := s.arg(&l.Buffers[i], &outs); err != nil {
			return err
		}
	}
	params := make([]unsafe.Pointer, 0, len(l.Args))
	for i := range l.Args {
		p, err := s.arg(&l.Args[i], &outs)
		if err != nil {
			return err
		}
		params = append(params, p)
	}
	for i := range l.GlobalsIn {
		g := &l.GlobalsIn[i]
		b, err := s.m.Bytes(g.Data, 0)
		if err != nil {
			return err
		}
		var p driver.CUdeviceptr
		var n uint64
		if err := s.check("cuModuleGetGlobal", t.ModuleGetGlobal_v2(s.ctx, &p, &n, s.mod, cstr(g.Name))); err != nil {
			return err
		}
		if len(b) == 0 || uint64(len(b)) > n {
			return fmt.Errorf("the manifest has %d bytes for variable %s of %d", len(b), g.Name, n)
		}
		if err := s.check("cuMemcpyHtoD", t.MemcpyHtoD_v2(s.ctx, p, unsafe.Pointer(&b[0]),
			uint64(len(b)))); err != nil {
			return err
		}
	}
	if s.r.Printed != nil {
		s.r.Printed()
	}
	if s.r.Complained != nil {
		s.r.Complained()
	}
	var attrs []driver.CUlaunchAttribute
	if len(l.Cluster) == 3 {
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
		c := a.Value.ClusterDim()
		c.X, c.Y, c.Z = l.Cluster[0], l.Cluster[1], l.Cluster[2]
		attrs = append(attrs, a)
	}
	if l.Cooperative {
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE}
		*a.Value.Cooperative() = 1
		attrs = append(attrs, a)
	}
	if l.PDL {
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION}
		*a.Value.ProgrammaticStreamSerializationAllowed() = 1
		attrs = append(attrs, a)
	}
	cfg := driver.CUlaunchConfig{GridDimX: l.Grid[0], GridDimY: l.Grid[1], GridDimZ: l.Grid[2], BlockDimX: l.Block[0],
		BlockDimY: l.Block[1], BlockDimZ: l.Block[2],
		SharedMemBytes: l.DynamicShared, NumAttrs: uint32(len(attrs))}
	if len(attrs) > 0 {
		cfg.Attrs = &attrs[0]
	}
	var pp *unsafe.Pointer
	if len(params) > 0 {
		pp = &params[0]
	}
	code, where := t.LaunchKernelEx(s.ctx, &cfg, f, pp, nil), "launch"
	if code == driver.CUDA_SUCCESS {
		code, where = t.CtxSynchronize(s.ctx), "synchronize"
	}
	if l.Failure != nil && l.Failure.Code != 0 {
		return s.failure(l, code, where)
	}
	if err := s.check("kernel "+l.Kernel+", at "+where, code); err != nil {
		return err
	}
	return s.compare(l, outs)
}

// loadFailure compares how loading ended with a recorded refusal.
func (s *state) loadFailure(want *Failure, err error) error {
	ce, ok := err.(*callError)
	switch {
	case err == nil:
		return fmt.Errorf("%s succeeds, recorded is %s", loadCall, want.Result)
	case !ok || ce.call != loadCall || int(ce.code) != want.Code:
		return fmt.Errorf("%w; recorded is %s from %s", err, want.Result, loadCall)
	}
	s.close()
	return nil
}

// failure compares how a launch ended with the recorded error; code 0 is recorded where a launch that looks wrong is
// right.
func (s *state) failure(l *Launch, code driver.CUresult, where string) error {
	want := l.Failure
	if int(code) != want.Code || want.Code != 0 && where != want.Where {
		if code == driver.CUDA_ERROR_NOT_SUPPORTED {
			return s.check("kernel "+l.Kernel, code)
		}
		return fmt.Errorf("the launch gave %s at %s, recorded is %s at %s", code.String(), where, want.Result,
			want.Where)
	}
	var free, total uint64
	next := s.r.T.MemGetInfo_v2(s.ctx, &free, &total)
	if usable := next == driver.CUDA_SUCCESS; usable != want.UsableAfter {
		return fmt.Errorf("after %s the context answers %s, recorded: usable %v", code.String(), next.String(),
			want.UsableAfter)
	}
	if want.NextCall != "" && next.String() != want.NextCall {
		return fmt.Errorf("after %s the next call answers %s, recorded is %s", code.String(), next.String(),
			want.NextCall)
	}
	if l.Stderr != nil && s.r.Complained != nil {
		if got := s.r.Complained(); got != *l.Stderr {
			return fmt.Errorf("standard error: got %q, want %q", got, *l.Stderr)
		}
	}
	s.close()
	return nil
}

func (s *state) compare(l *Launch, outs []output) error {
	t := s.r.T
	var bad []string
	for i := range outs {
		o := &outs[i]
		got := make([]byte, len(o.want))
		if err := o.read(got); err != nil {
			return err
		}
		if d := Compare(o.rule, o.dtype, got, o.want); d != "" {
			bad = append(bad, o.what+": "+d)
		}
		s.equal = s.equal && (o.rule == "none" || bytes.Equal(got, o.want))
	}
	for i := range l.GlobalsOut {
		g := &l.GlobalsOut[i]
		want, err := s.m.Bytes(g.Expected, g.Count*ElementSize(g.DType))
		if err != nil {
			return err
		}
		var p driver.CUdeviceptr
		var n uint64
		if err := s.check("cuModuleGetGlobal", t.ModuleGetGlobal_v2(s.ctx, &p, &n, s.mod, cstr(g.Name))); err != nil {
			return err
		}
		got := make([]byte, len(want))
		if err := s.check("cuMemcpyDtoH", t.MemcpyDtoH_v2(s.ctx, unsafe.Pointer(&got[0]), p,
			uint64(len(got)))); err != nil {
			return err
		}
		if d := Compare(g.Compare, g.DType, got, want); d != "" {
			bad = append(bad, g.Name+": "+d)
		}
		s.equal = s.equal && (g.Compare == "none" || bytes.Equal(got, want))
	}
	if l.Printf != nil && s.r.Printed != nil {
		got, want := s.r.Printed(), *l.Printf
		if l.PrintfCompare == "sorted_lines" {
			got, want = sortLines(got), sortLines(want)
		}
		if got != want {
			bad = append(bad, fmt.Sprintf("printf: got %q, want %q", got, want))
		}
	}
	if bad != nil {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

func sortLines(s string) string {
	ls := strings.Split(s, "\n")
	sort.Strings(ls)
	return strings.Join(ls, "\n")
}

var functionAttributes = map[string]driver.CUfunction_attribute{
	"MAX_DYNAMIC_SHARED_SIZE_BYTES":        driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	"max_dynamic_shared":                   driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	"PREFERRED_SHARED_MEMORY_CARVEOUT":     driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	"NON_PORTABLE_CLUSTER_SIZE_ALLOWED":    driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
	"CLUSTER_SCHEDULING_POLICY_PREFERENCE": driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
}

// arg makes a parameter's value ready and returns the address of its bytes.
func (s *state) arg(a *Arg, outs *[]output) (unsafe.Pointer, error) {
	t := s.r.T
	switch a.Kind {
	case "buffer":
		n := a.Count * ElementSize(a.DType)
		var p driver.CUdeviceptr
		if err := s.check("cuMemAlloc", t.MemAlloc_v2(s.ctx, &p, uint64(max(n, 1)))); err != nil {
			return nil, err
		}
		b, err := s.m.Bytes(a.Data, n)
		if err != nil {
			return nil, err
		}
		if len(b) > n {
			return nil, fmt.Errorf("the manifest has %d bytes for an array of %d", len(b), n)
		}
		if len(b) > 0 {
			if err := s.check("cuMemcpyHtoD", t.MemcpyHtoD_v2(s.ctx, p, unsafe.Pointer(&b[0]),
				uint64(len(b)))); err != nil {
				return nil, err
			}
		}
		if a.ID != "" {
			s.buffers[a.ID] = p
		}
		s.cleanup = append(s.cleanup, func() { t.MemFree_v2(s.ctx, p) })
		return unsafe.Pointer(&p), s.expect(a, p, outs)
	case "ref":
		p, ok := s.buffers[a.ID]
		if !ok {
			return nil, fmt.Errorf("no buffer %s", a.ID)
		}
		if err := s.expect(a, p, outs); err != nil {
			return nil, err
		}
		q := p + driver.CUdeviceptr(a.Addend)
		return unsafe.Pointer(&q), nil
	case "scalar":
		b, err := hex.DecodeString(a.Hex)
		if err != nil {
			return nil, err
		}
		return alignedBytes(b), nil
	case "struct":
		b, err := s.m.Bytes(a.Bytes, a.Size)
		if err != nil {
			return nil, err
		}
		if len(b) != a.Size {
			return nil, fmt.Errorf("the manifest has %d bytes for a struct of %d", len(b), a.Size)
		}
		b = append([]byte(nil), b...)
		for _, q := range a.Pointers {
			p, ok := s.buffers[q.ID]
			if !ok {
				return nil, fmt.Errorf("no buffer %s", q.ID)
			}
			binary.LittleEndian.PutUint64(b[q.Offset:], uint64(p)+uint64(q.Addend))
		}
		return alignedBytes(b), nil
	case "global_value":
		var p driver.CUdeviceptr
		var n uint64
		if err := s.check("cuModuleGetGlobal", t.ModuleGetGlobal_v2(s.ctx, &p, &n, s.mod, cstr(a.Name))); err != nil {
			return nil, err
		}
		if a.Size == 0 || uint64(a.Size) > n {
			return nil, fmt.Errorf("the manifest takes %d bytes from variable %s of %d", a.Size, a.Name, n)
		}
		b := make([]byte, a.Size)
		if err := s.check("cuMemcpyDtoH", t.MemcpyDtoH_v2(s.ctx, unsafe.Pointer(&b[0]), p,
			uint64(a.Size))); err != nil {
			return nil, err
		}
		return alignedBytes(b), nil
	case "texture", "surface":
		return s.image2(a, outs)
	case "tensormap":
		return s.tensorMap(a)
	}
	return nil, fmt.Errorf("the manifest has an argument of unknown kind %q", a.Kind)
}

// alignedBytes copies bytes to memory aligned as any parameter may need it.
func alignedBytes(b []byte) unsafe.Pointer {
	w := make([]uint64, len(b)/8+2+16)
	p := unsafe.Pointer(unsafe.SliceData(w))
	p = unsafe.Add(p, -uintptr(p)&127)
	copy(unsafe.Slice((*byte)(p), len(b)), b)
	return p
}

func (s *state) expect(a *Arg, p driver.CUdeviceptr, outs *[]output) error {
	if !a.Output || a.Expected == nil {
		return nil
	}
	want, err := s.m.Bytes(a.Expected, a.Count*ElementSize(a.DType))
	if err != nil || len(want) == 0 {
		return err
	}
	name := a.ID
	if name == "" {
		name = "output"
	}
	*outs = append(*outs, output{what: name, dtype: a.DType, rule: a.Compare, want: want, read: func(got []byte) error {
		return s.check("cuMemcpyDtoH", s.r.T.MemcpyDtoH_v2(s.ctx, unsafe.Pointer(&got[0]), p, uint64(len(got))))
	}})
	return nil
}
