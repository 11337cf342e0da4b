package softdev

import (
	"bytes"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/hostobj"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// linkState is a CUlinkState. It owns the image that cuLinkComplete gives out, and writes its logs until it is
// destroyed.
type linkState struct {
	d    *Driver
	dev  *device
	opts *jitOptions

	mu     sync.Mutex // the inputs of one link come one after the other
	linker *link.Linker
	inputs int
	failed driver.CUresult // of an input that spoiled the link; cuLinkComplete answers it (recorded)
	over   bool            // cuLinkComplete was called
	image  []byte
}

// linkCreate: the link is for the device of the current context; the later calls need none (recorded).
func (d *Driver) linkCreate(cur driver.CUcontext, n uint32, options *driver.CUjit_option, values *uintptr,
	out *driver.CUlinkState) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	o, r := d.parseJIT(n, options, values)
	if r != success {
		return r
	}
	if n > 0 {
		for _, id := range unsafe.Slice(options, n) {
			if id == driver.CU_JIT_FALLBACK_STRATEGY { // it chooses among the entries of a module's container
				return invalidValue
			}
		}
	}
	s := &linkState{d: d, dev: c.dev, opts: o}
	lo := c.dev.linkOptions(o.targetSM(c.dev.sm()))
	lo.Compile = o.compile()
	lo.ForcePTX, lo.DisablePTX = d.env.ForcePTX, d.env.DisablePTX
	lo.Log = func(level link.Level, line string) {
		if level == link.Fatal {
			o.err.line("%s", line)
		} else {
			o.info.line("%s", line)
		}
	}
	s.linker = link.New(lo)
	h := driver.CUlinkState(d.links.add(s))
	if h == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = h
	return success
}

// linking resolves a handle.
func (d *Driver) linking(h driver.CUlinkState) (*linkState, driver.CUresult) {
	s := d.links.get(uintptr(h))
	if s == nil {
		return nil, badHandle
	}
	return s, d.ready()
}

// inputOptions reads the options of one input. Those that say where results go, and what the whole link is for, are
// refused.
func (d *Driver) inputOptions(n uint32, options *driver.CUjit_option, values *uintptr) (*jitOptions, driver.CUresult) {
	if n > 0 && options != nil {
		for _, id := range unsafe.Slice(options, n) {
			switch id {
			case driver.CU_JIT_WALL_TIME, driver.CU_JIT_INFO_LOG_BUFFER, driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
				driver.CU_JIT_ERROR_LOG_BUFFER,
				driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, driver.CU_JIT_TARGET, driver.CU_JIT_TARGET_FROM_CUCONTEXT,
				driver.CU_JIT_FALLBACK_STRATEGY, driver.CU_JIT_LTO:
				return nil, invalidValue
			}
		}
	}
	return d.parseJIT(n, options, values)
}

func (d *Driver) linkAddData(_ driver.CUcontext, h driver.CUlinkState, kind driver.CUjitInputType, data unsafe.Pointer,
	size uint64, name *byte, n uint32, options *driver.CUjit_option, values *uintptr) driver.CUresult {
	s, r := d.linking(h)
	if r != success {
		return r
	}
	if data == nil || size == 0 {
		return invalidValue
	}
	o, r := d.inputOptions(n, options, values)
	if r != success {
		return r
	}
	defer runtime.KeepAlive(data) // it is read by its address
	text := driver.String(name)
	b, ok := d.memory.hostBytes(uint64(uintptr(data)), size)
	if kind == driver.CU_JIT_INPUT_PTX && (!ok || cutText(b)) {
		// The driver reads texts to their NUL, whatever their size is said to be (recorded). Here the size counts
		// unless it cuts the text, or is more than there is.
		all, err := image.Fetch(d.memory.hostBytes, uint64(uintptr(data)))
		if err == nil && all.Kind == image.PTX && (!ok || len(all.Data) > len(b)) {
			b, ok = all.Data, true
		}
	}
	if !ok {
		d.explain(nil, "cuLinkAddData: %d bytes at %p are no memory", size, data)
		return invalidValue
	}
	return s.add(kind, b, text, o)
}

// cutText says whether b may be PTX that ends too early.
func cutText(b []byte) bool {
	switch {
	case bytes.IndexByte(b, 0) >= 0:
		return false
	case image.Detect(b) != image.PTX:
		return true
	}
	_, err := ptx.Parse(b)
	return err != nil
}

func (d *Driver) linkAddFile(_ driver.CUcontext, h driver.CUlinkState, kind driver.CUjitInputType, name *byte, n uint32,
	options *driver.CUjit_option, values *uintptr) driver.CUresult {
	s, r := d.linking(h)
	if r != success {
		return r
	}
	if name == nil || *name == 0 {
		return invalidValue
	}
	o, r := d.inputOptions(n, options, values)
	if r != success {
		return r
	}
	file := driver.String(name)
	data, r := d.readImage(nil, file)
	switch {
	case r != success:
		return r
	case len(data) == 0:
		return driver.CUDA_ERROR_INVALID_IMAGE // without a word in the log (recorded)
	}
	return s.add(kind, data, file, o)
}

// add gives an input to the linker.
func (s *linkState) add(kind driver.CUjitInputType, data []byte, name string, o *jitOptions) driver.CUresult {
	if kind >= driver.CU_JIT_NUM_INPUT_TYPES {
		s.d.explain(nil, "there is no input type %d", kind)
		return invalidValue
	}
	if kind == driver.CU_JIT_INPUT_LIBRARY && string(data) == hostobj.ArchiveMagic && !isDeviceRuntime(name) {
		s.d.explain(nil, "the library %s is empty", name)
		return driver.CUDA_ERROR_INVALID_IMAGE // recorded
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		s.d.explain(nil, "the link is complete")
		return invalidValue
	}
	defer s.opts.writeLogs()
	s.inputs++
	if name == "" {
		name = fmt.Sprintf("input %d", s.inputs)
	}
	if kind == driver.CU_JIT_INPUT_PTX {
		for _, e := range []*loadError{s.opts.refusal, o.refusal} {
			if e != nil {
				s.opts.err.line("%s", e.log)
				return s.fail(e)
			}
		}
	}
	o = o.over(s.opts)
	if err := s.linker.AddWith(link.Input(kind), data, name, o.compile()); err != nil {
		e := linkError(err)
		if spoils(kind, err.(*link.Error)) {
			s.failed = e.result
		}
		return s.fail(e)
	}
	if kind == driver.CU_JIT_INPUT_PTX {
		s.report(data, o)
	}
	return s.failed // also of a later input that is right (recorded)
}

func (s *linkState) fail(e *loadError) driver.CUresult {
	s.d.explain(nil, "%s", e.Error())
	return e.result
}

// spoils says whether an input that failed makes the whole link fail: what the linker itself found does, what the
// compiler before it or the reader of a host file found does not (recorded).
func spoils(kind driver.CUjitInputType, e *link.Error) bool {
	switch e.Class {
	case link.PTX, link.Version, link.NotObject, link.BadInput:
		return false
	case link.Image:
		return kind == driver.CU_JIT_INPUT_CUBIN || e.Result() == fault.NoBinaryForGPU
	}
	return true
}

// isDeviceRuntime says whether the file is NVIDIA's device runtime library.
func isDeviceRuntime(name string) bool {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return base == "libcudadevrt.a" || strings.EqualFold(base, "cudadevrt.lib")
}

// report writes what the compiler says of an input that it took with all these options.
func (s *linkState) report(data []byte, all *jitOptions) {
	if image.Detect(data) != image.PTX || !all.verbose && !all.debug && !all.limitRegs && all.minBlocks == 0 &&
		all.maxThreads == 0 {
		return
	}
	tree, err := ptx.Parse(image.Text(data))
	if err != nil {
		return // the linker has read the same text
	}
	checked, err := check.Check(tree, check.Options{SM: s.dev.sm(), MaxShared: s.dev.maxSharedOptin(),
		Newest: s.d.newestPTX})
	if err != nil {
		return
	}
	// Functions of other inputs are not there yet, and nothing is run.
	p := &program{d: s.d, part: true, sm: s.dev.sm(), checked: checked, syms: &ir.Symbols{Builtin: func(string) bool {
		return true
	}}}
	for _, v := range checked.Vars {
		if v.Linkage != ptx.LinkExtern && v.Space == "global" && !opaque(v) {
			p.globals.add(v)
		}
	}
	for _, f := range checked.Funcs {
		if f.Entry && f.Defined {
			p.entries = append(p.entries, &entry{prog: p, fn: f, target: checked.Target.SM, with: all.compile(),
				align: 1})
		}
	}
	all.report(p)
	if text := all.info.text.String(); text != "" {
		s.opts.info.line("%s", text)
	}
}

func (d *Driver) linkComplete(_ driver.CUcontext, h driver.CUlinkState, out *unsafe.Pointer,
	size *uint64) driver.CUresult {
	s, r := d.linking(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.opts.finish()
	if s.over {
		return badHandle // recorded
	}
	s.over = true
	if s.failed != success {
		return s.failed
	}
	l, err := s.linker.Complete()
	if err != nil {
		return s.fail(linkError(err))
	}
	s.image = l.Image()
	*out = unsafe.Pointer(unsafe.SliceData(s.image))
	if size != nil {
		*size = uint64(len(s.image))
	}
	return success
}

func (d *Driver) linkDestroy(_ driver.CUcontext, h driver.CUlinkState) driver.CUresult {
	if _, r := d.linking(h); r != success {
		return r
	}
	if d.links.remove(uintptr(h)) == nil {
		return badHandle
	}
	return success
}

func (d *Driver) linkTable(t *driver.Table) {
	t.LinkCreate = d.linkCreate
	t.LinkCreate_v2 = d.linkCreate
	t.LinkAddData = d.linkAddData
	t.LinkAddData_v2 = d.linkAddData
	t.LinkAddFile = d.linkAddFile
	t.LinkAddFile_v2 = d.linkAddFile
	t.LinkComplete = d.linkComplete
	t.LinkDestroy = d.linkDestroy
}

// writeLogs fills the caller's logs as they stand now.
func (o *jitOptions) writeLogs() {
	if o.values != nil {
		o.info.write(o.values)
		o.err.write(o.values)
	}
}

// targetSM is the compute capability that code is made for: CU_JIT_TARGET's, else the device's.
func (o *jitOptions) targetSM(sm int) int {
	if o.target == 0 {
		return sm
	}
	return int(o.target &^ (uint32(driver.CU_COMPUTE_ACCELERATED_TARGET_BASE) |
		uint32(driver.CU_COMPUTE_FAMILY_TARGET_BASE)))
}
