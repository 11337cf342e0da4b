package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/trace"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/nearest"
	"github.com/gocuda/cuda/internal/softdev"
	"github.com/gocuda/cuda/profiles"
)

type runCmd struct {
	File   string   `arg:"" help:"Image: PTX, Tile IR, fatbin, or cubin (on a GPU); or CUDA C++, a .cu file, which is compiled first."`
	Kernel string   `arg:"" help:"Kernel name as the image has it (gocuda inspect lists them), or as the .cu file has it."`
	Args   []string `arg:"" optional:"" help:"${argumentHelp}"`

	Grid        string   `help:"Blocks: X, X,Y or X,Y,Z; 1 when left out, which the output says." placeholder:"X,Y,Z"`
	Block       string   `help:"Threads of a block: X, X,Y or X,Y,Z; 1 when left out, which the output says." placeholder:"X,Y,Z"`
	Cluster     string   `help:"Blocks of a cluster." placeholder:"X,Y,Z"`
	Shared      uint32   `help:"Dynamic shared memory of a block in bytes." default:"0"`
	Cooperative bool     `help:"Launch cooperatively (grid-wide synchronisation)."`
	Expect      []string `help:"Compare argument N (from 0) with a .npy file after the launch." placeholder:"N=FILE"`
	Tolerance   string   `help:"How to compare: exact, ulp:N, rel:E, abs:E, joined by commas." default:"exact"`
	Repeat      int      `help:"Launch N times and report the fastest; arrays are not reset between." default:"1"`
	Device      string   `help:"driver, software or auto (the driver if it is usable)." default:"auto" enum:"auto,driver,software"`
	Profile     string   `help:"Profile of the software device." placeholder:"NAME"`
	Engine      string   `help:"What runs kernels on the software device: auto, jit or interpreter." default:"" enum:",auto,jit,interpreter" placeholder:"NAME"`
	Memcheck    bool     `help:"Check every access of the kernel to memory against what is allocated (on the software device)."`
	Check       []string `help:"Look for defects (on the software device): memory, race, init, sync, leak, or all." placeholder:"NAME,..."`
	CheckOut    []string `help:"Write what --check finds to files: .txt, .json, .xml (JUnit), .sarif, .html." placeholder:"FILE,..."`
	Suppress    string   `help:"Leave out the reports that a file names (docs/checker.md)." placeholder:"FILE"`
	JSON        bool     `name:"json" help:"Print JSON."`
	Pprof       string   `name:"pprof" help:"Count what every PTX line does and write that for go tool pprof (on the software device)." placeholder:"FILE"`
}

type runReport struct {
	Device  string       `json:"device"`
	Why     string       `json:"why_software,omitempty"`
	Tried   []string     `json:"why_software_tried,omitempty"` // driver libraries, each with its error
	Image   string       `json:"image"`
	Kernel  string       `json:"kernel"`
	Grid    [3]uint32    `json:"grid"`
	Block   [3]uint32    `json:"block"`
	Note    string       `json:"note,omitempty"` // what the command line left out
	LoadMS  float64      `json:"load_ms"`
	RunMS   float64      `json:"run_ms"`
	Checks  []runCheck   `json:"checks,omitempty"`
	Written []string     `json:"written,omitempty"`
	Arrays  []arrayShort `json:"arrays,omitempty"`

	Looked  []string  `json:"check,omitempty"`
	Reports []*report `json:"reports,omitempty"`

	ptrs      []driver.CUdeviceptr
	args      []*argument
	occupancy *trace.Occupancy // on the software device, and not of Tile IR
}

// report is a defect; Argument is the number of the array that it is about, from 0, nil when it is about none.
type report struct {
	*checker.Report
	Argument *int `json:"argument,omitempty"`
}

type runCheck struct {
	Argument int    `json:"argument"`
	File     string `json:"file"`
	Rule     string `json:"rule"`
	OK       bool   `json:"ok"`
	Text     string `json:"text,omitempty"`
}

type arrayShort struct {
	Argument int    `json:"argument"`
	Type     string `json:"type"`
	Shape    []int  `json:"shape"`
	First    string `json:"first"`
}

func parseDims(name, s string) (d [3]uint32, err error) {
	d = [3]uint32{1, 1, 1}
	if s == "" {
		return d, nil
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) == 0 || len(parts) > 3 {
		return d, hint(fmt.Errorf("--%s %q: one to three numbers", name, s), "--%s 16,16", name)
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil || v == 0 {
			return d, hint(fmt.Errorf("--%s %q: %q is no number above 0", name, s, p), "--%s 16,16", name)
		}
		d[i] = uint32(v)
	}
	return d, nil
}

// session is an open device with a context.
type session struct {
	d   *device.Device
	t   *driver.Table
	ctx driver.CUcontext
	dev driver.CUdevice
}

func (s *session) check(call string, r driver.CUresult) error {
	if r == driver.CUDA_SUCCESS {
		return nil
	}
	return &callError{call, r, s.d.LastDetail(s.ctx)}
}

// deviceHint says what to do about a device that does not open.
func deviceHint(err error) error {
	var choice *device.ChoiceError
	var profile *profiles.UnknownError
	switch {
	case errors.As(err, &choice):
		return hint(err, "GOCUDA_DEVICE=auto, or leave it unset")
	case errors.As(err, &profile):
		return hint(err, "a profile that gocuda devices lists")
	}
	return hint(err, "--device software, which needs no GPU")
}

// openSession opens a device with a context; o is what the software device is to have if it is that one.
func openSession(kind, profile string, o softdev.Options) (*session, error) {
	k, err := device.ParseKind(kind)
	if err != nil {
		return nil, err
	}
	d, err := device.Open(device.Options{Kind: k, Profile: profile, Software: o})
	if err != nil {
		return nil, deviceHint(err)
	}
	s := &session{d: d, t: d.Table}
	for _, step := range []struct {
		call string
		do   func() driver.CUresult
	}{
		{"cuInit", func() driver.CUresult { return s.t.Init(0, 0) }},
		{"cuDeviceGet", func() driver.CUresult { return s.t.DeviceGet(0, &s.dev, 0) }},
		{"cuDevicePrimaryCtxRetain", func() driver.CUresult { return s.t.DevicePrimaryCtxRetain(0, &s.ctx, s.dev) }},
	} {
		if err := s.check(step.call, step.do()); err != nil {
			d.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *session) close() error {
	s.t.DevicePrimaryCtxRelease_v2(0, s.dev)
	return s.d.Close()
}

// load loads an image with the driver's log in the error.
func (s *session) load(img []byte) (driver.CUmodule, error) {
	log := make([]byte, 1<<15)
	var pin runtime.Pinner // the buffer goes to the driver as a number
	pin.Pin(&log[0])
	defer pin.Unpin()
	opts := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	vals := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var m driver.CUmodule
	r := s.t.ModuleLoadDataEx(s.ctx, &m, unsafe.Pointer(&img[0]), 2, &opts[0], &vals[0])
	if r == driver.CUDA_SUCCESS {
		return m, nil
	}
	e := &callError{"cuModuleLoadDataEx", r, s.d.LastDetail(s.ctx)}
	if text, _, _ := strings.Cut(string(log), "\x00"); strings.TrimSpace(text) != "" {
		e.detail = strings.TrimSpace(text)
	}
	return 0, e
}

// readFile reads an image of the command line, which may also be a pipe.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().IsRegular() {
		return image.Read(f, path, st.Size())
	}
	return image.Read(f, path, -1)
}

// readImage reads a file that a driver is to load. A driver takes an address without a length, so the file must hold
// all that its header declares.
func readImage(path string) ([]byte, error) {
	const want = "an image: a .ptx, .tileirbc, .fatbin or .cubin file"
	b, err := readFile(path)
	if err != nil {
		return nil, hint(err, want)
	}
	if len(b) == 0 {
		return nil, hint(fmt.Errorf("%s is empty", path), want)
	}
	kind, n, err := image.SizeIn(b)
	switch {
	case err != nil:
		return nil, hint(fmt.Errorf("%s: %w", path, err), "gocuda inspect %s", path)
	case n > uint64(len(b)):
		err := fmt.Errorf("%s is cut short: the %v's header declares %d bytes, the file has %d", path, kind, n, len(b))
		return nil, hint(err, "gocuda inspect %s", path)
	}
	return append(b, 0), nil // text must end with a NUL
}

func (c *runCmd) Run(con *console) error {
	checks := c.Memcheck || len(c.Check) > 0
	switch {
	case checks && c.Pprof != "":
		return hint(errors.New("checks and --pprof do not go together"), "one after the other")
	case checks && c.Device == "driver":
		return hint(errors.New("checks are the software device's"), "--device software, or compute-sanitizer")
	case checks:
		what, err := checker.Parse(c.Check...)
		if err != nil {
			return hint(err, "--check=memory,race")
		}
		if c.Memcheck {
			what |= checker.Memory
		}
		var found []*checker.Report
		rep, err := c.run("software", softdev.Options{
			EngineName: c.Engine, Check: []string{what.String()}, CheckOut: c.CheckOut, Suppressions: c.Suppress,
			Reports: func(r *checker.Report) {
				found = append(found, r)
			},
		})
		if rep == nil {
			return err
		}
		rep.Looked = strings.Split(what.String(), ",")
		for _, r := range found {
			rep.Reports = append(rep.Reports, rep.about(r))
		}
		if perr := c.print(con, rep); err == nil {
			err = perr
		}
		n := 0
		for _, r := range rep.Reports {
			if r.Severity == checker.Error {
				n++
			}
		}
		if err == nil && n > 0 {
			err = hint(fmt.Errorf("%d defects were found", n), "the reports say where")
		}
		return err
	case c.Pprof == "":
		rep, err := c.run(c.Device, softdev.Options{EngineName: c.Engine})
		if err != nil {
			return err
		}
		return c.print(con, rep)
	case c.Engine != "":
		return hint(errors.New("a profile is counted by an engine of its own"), "no --engine with --pprof")
	}
	if c.Device == "driver" {
		return hint(errors.New("the counts of a profile come from the software device"), "--device software")
	}
	counting := trace.New()
	rep, err := c.run("software", softdev.Options{Engine: counting})
	if err != nil {
		return err
	}
	if err := writeProfile(c.Pprof, c.File, counting); err != nil {
		return err
	}
	rep.Written = append(rep.Written, c.Pprof)
	return c.print(con, rep)
}

// about finds the argument that a bad access is about.
func (r *runReport) about(e *checker.Report) *report {
	m := &report{Report: e}
	if e.Memory != nil {
		for i, p := range r.ptrs {
			if p != 0 && uint64(p) == e.Memory.Address {
				m.Argument = &i
			}
		}
	}
	return m
}

// text is the report with the argument in the place of the call that allocated it, which is this command's.
func (m *report) text(r *runReport) string {
	s := m.String()
	if m.Argument == nil {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "=========     allocated by ") {
			lines[i] = fmt.Sprintf("=========     that is argument %d, %s\n", *m.Argument, r.args[*m.Argument].text)
		}
	}
	return strings.Join(lines, "")
}

func writeProfile(path, image string, counting *trace.Engine) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(counting.WriteProfile(f, image), f.Close())
}

// run loads the image on a device, launches the kernel and looks at the results.
func (c *runCmd) run(kind string, o softdev.Options) (*runReport, error) {
	grid, err := parseDims("grid", c.Grid)
	if err != nil {
		return nil, err
	}
	block, err := parseDims("block", c.Block)
	if err != nil {
		return nil, err
	}
	if !corpus.ValidRule(c.Tolerance) {
		return nil, hint(fmt.Errorf("--tolerance %q is no rule", c.Tolerance),
			"--tolerance ulp:1, or exact, rel:1e-6, abs:0.5, joined by commas")
	}
	img, err := c.image()
	if err != nil {
		return nil, err
	}
	var args []*argument
	for _, s := range c.Args {
		a, err := parseArgument(s)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	expect, err := c.expected(args)
	if err != nil {
		return nil, err
	}
	s, err := openSession(kind, c.Profile, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	rep := &runReport{Device: s.d.String(), Image: c.File, Kernel: c.Kernel, Grid: grid, Block: block,
		Note: c.leftOut(image.Detect(img) == image.TileIR)}
	if s.d.Why != nil {
		rep.Why, rep.Tried = s.d.Why.Error(), tried(s.d.Why)
	}
	start := time.Now()
	mod, err := s.load(img)
	if err != nil {
		return nil, hint(fmt.Errorf("%s: %w", c.File, err), "gocuda inspect %s", c.File)
	}
	var f driver.CUfunction
	name := append([]byte(c.Kernel), 0)
	if err := s.check("cuModuleGetFunction", s.t.ModuleGetFunction(s.ctx, &f, mod, &name[0])); err != nil {
		return nil, s.noKernel(c, mod, err)
	}
	rep.LoadMS = ms(time.Since(start))
	if err := s.checkArguments(f, c, args); err != nil {
		return nil, err
	}
	params, ptrs, err := s.upload(args)
	if err != nil {
		return nil, err
	}
	defer func() { // else they are leaks to the checker; what is broken cannot free them
		for _, p := range ptrs {
			if p != 0 {
				s.t.MemFree_v2(s.ctx, p)
			}
		}
	}()
	rep.ptrs, rep.args = ptrs, args
	if rep.occupancy, err = c.occupancy(s, f, grid, block); err != nil {
		return nil, err
	}
	if err := c.launch(s, f, grid, block, params, rep); err != nil {
		return rep, err
	}
	if err := c.results(s, args, ptrs, expect, rep); err != nil {
		return nil, err
	}
	return rep, nil
}

// occupancy asks the device what of a launch fits on its multiprocessors.
func (c *runCmd) occupancy(s *session, f driver.CUfunction, grid, block [3]uint32) (*trace.Occupancy, error) {
	product := func(d [3]uint32) uint64 { // the launch refuses what is larger
		n := uint64(d[0]) * uint64(d[1])
		if hi, lo := bits.Mul64(n, uint64(d[2])); hi == 0 {
			return lo
		}
		return math.MaxUint64
	}
	threads, blocks := min(product(block), math.MaxInt32), product(grid)
	o, ok := s.d.Occupancy(f, int32(threads), uint64(c.Shared))
	if !ok || o.Slots == 0 {
		return nil, nil
	}
	var sms, perSM int32
	for _, a := range []struct {
		out  *int32
		attr driver.CUdevice_attribute
	}{{&sms, driver.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
		{&perSM, driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR}} {
		if err := s.check("cuDeviceGetAttribute", s.t.DeviceGetAttribute(s.ctx, a.out, a.attr, s.dev)); err != nil {
			return nil, err
		}
	}
	t := &trace.Occupancy{Threads: threads, Warps: (threads + 31) / 32, Registers: o.Registers, Shared: o.Shared,
		Limits: trace.Limits{Blocks: o.Slots, Warps: o.ByThreads, Registers: o.ByRegisters,
			Shared: min(o.ByShared, o.Slots)},
		MaxWarps: uint64(perSM) / 32, SMs: uint64(sms), Grid: blocks}
	t.Blocks = t.Limits.Least()
	return t, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// expected reads the files of --expect.
func (c *runCmd) expected(args []*argument) (map[int]*array, error) {
	out := map[int]*array{}
	for _, e := range c.Expect {
		n, file, ok := strings.Cut(e, "=")
		i, err := strconv.Atoi(n)
		if !ok || err != nil || i < 0 || i >= len(args) || args[i].array == nil {
			return nil, hint(fmt.Errorf("--expect %s: N must be the number of an array argument; they count from 0", e),
				"%s", expectHint(args))
		}
		a, err := readNpy(file)
		if err != nil {
			return nil, err
		}
		if a.dtype != args[i].array.dtype || len(a.data) != len(args[i].array.data) {
			return nil, hint(fmt.Errorf("--expect %s: the file holds %s%v, the argument is %s%v", e, a.dtype, a.shape,
				args[i].array.dtype, args[i].array.shape), "the same type and number of elements")
		}
		out[i] = a
	}
	return out, nil
}

// expectHint names the arguments that --expect can be about.
func expectHint(args []*argument) string {
	var can []string
	for i, a := range args {
		if a.array != nil {
			can = append(can, fmt.Sprintf("--expect %d=want.npy for %s", i, a.text))
		}
	}
	if can == nil {
		return "an array among the arguments, for example f32[1024]"
	}
	return strings.Join(can, ", or ")
}

// leftOut says that grid or block were not given: a kernel with too few threads does less, and no error tells. Blocks
// of tile kernels are always one thread.
func (c *runCmd) leftOut(tile bool) string {
	switch {
	case tile && c.Grid == "":
		return "no --grid was given: one block"
	case tile:
		return ""
	case c.Grid == "" && c.Block == "":
		return "neither --grid nor --block was given: one block of one thread"
	case c.Grid == "":
		return "no --grid was given: one block"
	case c.Block == "":
		return "no --block was given: one thread in each block"
	}
	return ""
}

// mostKernels is how many kernels an error names.
const mostKernels = 8

// noKernel is the error for a kernel that the image does not have: it names those that there are.
func (s *session) noKernel(c *runCmd, mod driver.CUmodule, err error) error {
	err = fmt.Errorf("%s has no kernel %s: %w", c.File, c.Kernel, err)
	names, listErr := s.kernels(mod)
	if listErr != nil || len(names) == 0 {
		return hint(err, "one of the kernels that gocuda inspect %s lists", c.File)
	}
	nearest.Sort(c.Kernel, names)
	meant, more := nearest.Meant(c.Kernel, names), ""
	if len(names) > mostKernels {
		more = fmt.Sprintf(" and %d more, which gocuda inspect %s lists", len(names)-mostKernels, c.File)
		names = names[:mostKernels]
	}
	all := "the kernels " + strings.Join(names, ", ") + more
	if len(names) == 1 {
		all = "its only kernel, " + names[0]
	}
	if meant != "" && len(names) > 1 {
		return hint(err, "%s, if you meant that; there are %s", meant, all)
	}
	return hint(err, "%s", all)
}

// kernels are the names of the kernels in a module (CUDA 12.4).
func (s *session) kernels(mod driver.CUmodule) ([]string, error) {
	var n uint32
	if err := s.check("cuModuleGetFunctionCount", s.t.ModuleGetFunctionCount(s.ctx, &n, mod)); err != nil || n == 0 {
		return nil, err
	}
	list := make([]driver.CUfunction, n)
	if err := s.check("cuModuleEnumerateFunctions", s.t.ModuleEnumerateFunctions(s.ctx, &list[0], n, mod)); err != nil {
		return nil, err
	}
	names := make([]string, n)
	for i, f := range list {
		var name *byte
		if err := s.check("cuFuncGetName", s.t.FuncGetName(s.ctx, &name, f)); err != nil {
			return nil, err
		}
		names[i] = strings.Clone(driver.String(name))
	}
	return names, nil
}

// checkArguments compares count and sizes with what the kernel declares, before anything runs.
func (s *session) checkArguments(f driver.CUfunction, c *runCmd, args []*argument) error {
	var off, size uint64
	n := 0
	for ; s.t.FuncGetParamInfo(s.ctx, f, uint64(n), &off, &size) == driver.CUDA_SUCCESS; n++ {
		if n >= len(args) {
			continue
		}
		given := uint64(8)
		if args[n].array == nil {
			given = uint64(len(args[n].scalar))
		}
		if given != size {
			return hint(fmt.Errorf("argument %d (%s): %d bytes given, kernel %s wants %d", n, args[n].text, given,
				c.Kernel, size), "the parameters that gocuda inspect %s shows", c.File)
		}
	}
	if n != len(args) {
		return hint(fmt.Errorf("kernel %s takes %d arguments, %d were given", c.Kernel, n, len(args)),
			"the parameters that gocuda inspect %s shows", c.File)
	}
	return nil
}

func (s *session) upload(args []*argument) (params []unsafe.Pointer, ptrs []driver.CUdeviceptr, err error) {
	ptrs = make([]driver.CUdeviceptr, len(args))
	for i, a := range args {
		if a.array == nil {
			b := make([]uint64, (len(a.scalar)+7)/8)
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), 8*len(b)), a.scalar)
			params = append(params, unsafe.Pointer(&b[0]))
			continue
		}
		n := uint64(len(a.array.data))
		if err := s.check("cuMemAlloc", s.t.MemAlloc_v2(s.ctx, &ptrs[i], max(n, 1))); err != nil {
			return nil, nil, fmt.Errorf("argument %d (%s): %w", i, a.text, err)
		}
		if n > 0 {
			if err := s.check("cuMemcpyHtoD", s.t.MemcpyHtoD_v2(s.ctx, ptrs[i], unsafe.Pointer(&a.array.data[0]),
				n)); err != nil {
				return nil, nil, err
			}
		}
		params = append(params, unsafe.Pointer(&ptrs[i]))
	}
	return params, ptrs, nil
}

func (c *runCmd) launch(s *session, f driver.CUfunction, grid, block [3]uint32, params []unsafe.Pointer,
	rep *runReport) error {
	var attrs []driver.CUlaunchAttribute
	if c.Cluster != "" {
		d, err := parseDims("cluster", c.Cluster)
		if err != nil {
			return err
		}
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
		v := a.Value.ClusterDim()
		v.X, v.Y, v.Z = d[0], d[1], d[2]
		attrs = append(attrs, a)
	}
	if c.Cooperative {
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE}
		*a.Value.Cooperative() = 1
		attrs = append(attrs, a)
	}
	cfg := driver.CUlaunchConfig{GridDimX: grid[0], GridDimY: grid[1], GridDimZ: grid[2], BlockDimX: block[0],
		BlockDimY: block[1], BlockDimZ: block[2], SharedMemBytes: c.Shared, NumAttrs: uint32(len(attrs))}
	if len(attrs) > 0 {
		cfg.Attrs = &attrs[0]
	}
	var pp *unsafe.Pointer
	if len(params) > 0 {
		pp = &params[0]
	}
	if c.Shared > 48<<10 {
		if err := s.check("cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)",
			s.t.FuncSetAttribute(s.ctx, f, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				int32(c.Shared))); err != nil {
			return hint(err, "less --shared")
		}
	}
	for i := 0; i < max(c.Repeat, 1); i++ {
		start := time.Now()
		if err := s.check("cuLaunchKernelEx", s.t.LaunchKernelEx(s.ctx, &cfg, f, pp, nil)); err != nil {
			return hint(err, "a smaller --block (at most 1024 threads) or --shared; gocuda inspect %s shows the kernel's limits", c.File)
		}
		if err := s.check("kernel "+c.Kernel, s.t.CtxSynchronize(s.ctx)); err != nil {
			return hint(err, "--grid, --block and array lengths that suit what the kernel reads and writes")
		}
		if t := ms(time.Since(start)); i == 0 || t < rep.RunMS {
			rep.RunMS = t
		}
	}
	return nil
}

func (c *runCmd) results(s *session, args []*argument, ptrs []driver.CUdeviceptr, expect map[int]*array,
	rep *runReport) error {
	for i, a := range args {
		if a.array == nil || len(a.array.data) == 0 {
			continue
		}
		got := &array{a.array.dtype, a.array.shape, make([]byte, len(a.array.data))}
		if err := s.check("cuMemcpyDtoH", s.t.MemcpyDtoH_v2(s.ctx, unsafe.Pointer(&got.data[0]), ptrs[i],
			uint64(len(got.data)))); err != nil {
			return err
		}
		if a.out != "" {
			if err := writeNpy(a.out, got); err != nil {
				return err
			}
			rep.Written = append(rep.Written, a.out)
		}
		if string(got.data) != string(a.array.data) || a.out != "" {
			rep.Arrays = append(rep.Arrays, arrayShort{i, got.dtype, got.shape, firstElements(got, 6)})
		}
		if want := expect[i]; want != nil {
			d := corpus.Compare(c.Tolerance, got.dtype, got.data, want.data)
			file := ""
			for _, e := range c.Expect {
				if n, f, _ := strings.Cut(e, "="); n == strconv.Itoa(i) {
					file = f
				}
			}
			rep.Checks = append(rep.Checks, runCheck{i, file, c.Tolerance, d == "", d})
		}
	}
	return nil
}

// firstElements shows the beginning of an array.
func firstElements(a *array, n int) string {
	size := dtypes[a.dtype].size
	var out []string
	for i := 0; i+size <= len(a.data) && len(out) < n; i += size {
		out = append(out, corpus.Show(a.dtype, a.data[i:i+size]))
	}
	s := strings.Join(out, " ")
	if len(a.data) > n*size {
		s += " ..."
	}
	return s
}

func (c *runCmd) print(con *console, r *runReport) error {
	bad := 0
	for _, k := range r.Checks {
		if !k.OK {
			bad++
		}
	}
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(con.out, "device  %s\n", r.Device)
		fmt.Fprintf(con.out, "kernel  %s, grid %s, block %s\n", r.Kernel, dims(r.Grid), dims(r.Block))
		if r.Note != "" {
			fmt.Fprintf(con.out, "note    %s\n", r.Note)
		}
		for _, x := range r.Reports {
			fmt.Fprint(con.out, x.text(r))
		}
		if r.RunMS > 0 {
			fmt.Fprintf(con.out, "time    load %.2f ms, run %.3f ms\n", r.LoadMS, r.RunMS)
		}
		for _, name := range r.Looked {
			n := 0
			for _, x := range r.Reports {
				if x.Check == name {
					n++
				}
			}
			plural := "s"
			if n == 1 {
				plural = ""
			}
			fmt.Fprintf(con.out, "%-7s %d error%s\n", name, n, plural)
		}
		for _, a := range r.Arrays {
			fmt.Fprintf(con.out, "changed argument %d, %s%v: %s\n", a.Argument, a.Type, a.Shape, a.First)
		}
		for _, w := range r.Written {
			fmt.Fprintf(con.out, "wrote   %s\n", w)
		}
		for _, k := range r.Checks {
			if k.OK {
				fmt.Fprintf(con.out, "check   argument %d equals %s (%s): ok\n", k.Argument, k.File, k.Rule)
			} else {
				fmt.Fprintf(con.out, "check   argument %d differs from %s: %s\n", k.Argument, k.File, k.Text)
			}
		}
	}
	if bad > 0 {
		return hint(fmt.Errorf("%d of %d checks failed", bad, len(r.Checks)),
			"--tolerance ulp:1 if a rounding may differ")
	}
	return nil
}

func dims(d [3]uint32) string {
	switch {
	case d[2] > 1:
		return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2])
	case d[1] > 1:
		return fmt.Sprintf("%dx%d", d[0], d[1])
	}
	return strconv.Itoa(int(d[0]))
}
