package softdev

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// program is a module as far as it does not depend on a context: what the linker made of one text or of several, where
// its variables lie relative to their blocks, and its kernels, lowered and prepared once each when they are first
// needed.
type program struct {
	d         *Driver
	part      bool // of a link: lowered to be measured, and never run
	sm        int
	checked   *check.Module // the text, when there is but one
	linked    *link.Linked
	entries   []*entry // in the order of cuModuleEnumerateFunctions
	byName    map[string]*entry
	byAddress map[uint64]*entry // kernels whose address the program takes
	opaques   opaqueVars        // textures, samplers and surfaces
	syms      *ir.Symbols
	globals   block
	consts    block
	managed   block
	loose     []string // extern variables that nothing defines
}

// block is the memory of the variables of one space.
type block struct {
	layout check.Layout
	vars   []*check.Var
	off    map[*check.Var]uint64
}

func (b *block) add(v *check.Var) {
	if b.off == nil {
		b.off = map[*check.Var]uint64{}
	}
	b.off[v] = b.layout.Add(v)
	b.vars = append(b.vars, v)
}

// entry is a kernel of a program.
type entry struct {
	prog   *program
	fn     *check.Func
	target int // compute capability that the kernel's text names
	with   link.Compile
	align  uint64 // of the dynamic shared memory that the text declares, whatever kernel uses it
	shape  *shape // nil for kernels that are what their PTX says
	mu     sync.Mutex
	done   bool
	kernel *ir.Kernel
	code   exec.Code
	err    error
}

// lower makes the kernel's program when it is first needed. After stop, which may be nil, the error is ptx.ErrStopped,
// and the next call begins anew.
func (e *entry) lower(stop *atomic.Bool) (*ir.Kernel, exec.Code, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.done {
		e.done = true
		e.kernel, e.err = ir.LowerUntil(e.fn, e.prog.syms, stop)
		if errors.Is(e.err, ptx.ErrStopped) {
			e.done = false
		} else if e.err == nil {
			// the driver keeps it aligned also behind the variables of other kernels (recorded)
			if !e.kernel.UsesDynamicShared {
				l := check.Layout{Size: uint64(e.kernel.SharedSize)}
				l.Pad(min(e.align, mem.SharedRankSize))
				e.kernel.SharedSize = uint32(l.Size)
			}
			if !e.prog.part {
				e.code, e.err = e.prog.d.engine.Compile(e.kernel)
			}
		}
	}
	return e.kernel, e.code, e.err
}

// registers stands for what the hardware's compiler would report (CU_FUNC_ATTRIBUTE_NUM_REGS). PTX has no such number;
// this is an estimate from the size of the register frame, in which registers that are not live at the same time share
// rows. The line was fitted to 1,119 recorded kernels: 2.9 registers away from them in the mean. It stays where it does
// not limit the threads of a block by itself.
func (e *entry) registers() int {
	if e.shape != nil {
		return e.shape.registers
	}
	k, _, err := e.lower(nil)
	if err != nil {
		return minRegs
	}
	words := int(k.Funcs[0].FrameSize / uint64(ir.W32.RowSize()))
	n := min(max((6*words+30+19)/20*2, 8), 64)
	switch most, given := int(e.fn.Attrs.MaxNReg), int(e.with.MaxRegisters); {
	case given > 0 && (most == 0 || e.with.Override):
		n = min(n, given)
	case most > 0:
		n = min(n, most)
	}
	if most := e.boundRegisters(); most > 0 {
		n = min(n, most)
	}
	return n
}

// boundRegisters is how many registers a thread may have so that as many blocks fit on a multiprocessor as
// .minnctapersm or CU_JIT_MIN_CTA_PER_SM ask for; 0 without such a bound. Without a number of threads the directive is
// ignored (PTX ISA, .minnctapersm), as is a value out of range (recorded).
func (e *entry) boundRegisters() int {
	threads, blocks := e.ownThreads(), uint64(e.fn.Attrs.MinNCtaPerSM)
	if given := uint64(e.with.MaxThreads); given > 0 && (threads == 0 || e.with.Override) {
		threads = given
	}
	if given := uint64(e.with.MinBlocks); given > 0 && (blocks == 0 || e.with.Override) {
		blocks = given
	}
	if threads == 0 || blocks == 0 || blocks > blocksPerSM || threads > threadsPerSM || blocks*threads > threadsPerSM {
		return 0
	}
	const file, unit = 65536, 8 // registers of a multiprocessor, and of a thread at a time
	warps := blocks * ((threads + warpSize - 1) / warpSize)
	return max(int(file/(warps*warpSize)/unit*unit), minRegs)
}

// loadError is a load that failed: the driver's result and what goes to the error log.
type loadError struct {
	result driver.CUresult
	log    string
	err    error
}

func (e *loadError) Error() string {
	advice := check.Advice(e.err)
	switch {
	case advice != "":
		return advice
	case e.log != "":
		return e.log
	case e.err != nil:
		return e.err.Error()
	}
	return e.result.String()
}

func (e *loadError) Unwrap() error { return e.err }

func imageError(err error) *loadError {
	var f *fault.Error
	if !errors.As(err, &f) {
		return &loadError{result: driver.CUDA_ERROR_INVALID_IMAGE, err: err}
	}
	log := f.Class.Log()
	switch {
	case f.Here: // the driver has nothing to say
		log = "error   : " + err.Error()
	case f.Class == fault.Corrupt:
		log += "\n" + log // recorded: once for each of two attempts
	}
	return &loadError{result: driver.CUresult(f.Class.Result()), log: log, err: err}
}

// hostBytes copies memory of the program for package image, which asks for no byte that the format has not declared.
// false means that some of it is not there: a damaged header promises more than is mapped. Memory is taken as bytes
// come in, so that a promise alone allocates nothing.
func (m *memory) hostBytes(address, n uint64) ([]byte, bool) {
	const (
		least = 4096 // the first page is nobody's, and faults in it are nil pointers to Go
		most  = 2 * image.MaxFile
		piece = 64 << 10
	)
	if address < least || n > most || address+n < address {
		return nil, false
	}
	if m.w.Contains(address) {
		if _, ok := m.device(driver.CUdeviceptr(address), n); !ok {
			return nil, false
		}
	}
	b := make([]byte, 0, min(n, piece))
	for at := uint64(0); at < n; at = uint64(len(b)) {
		next := min(n-at, max(at, piece))
		b = slices.Grow(b, int(next))[:at+next]
		if _, ok := attempt(func() { copyForeign(b[at:], address+at) }); !ok {
			return nil, false
		}
	}
	return b, true
}

// copyForeign copies memory whose end is not known: a damaged image may declare more than its Go object has, and text
// is looked at page by page. A pointer behind an object must not be kept where the collector looks, which ends the
// process when it finds one; here it lives between two instructions. The race detector must not look either: the rest
// of a page is somebody else's, is read and not used.
//
//go:norace
func copyForeign(dst []byte, address uint64) {
	for len(dst) >= 8 {
		*(*[8]byte)(dst) = *(*[8]byte)(foreign(address))
		dst, address = dst[8:], address+8
	}
	for i := range dst {
		dst[i] = *(*byte)(foreign(address + uint64(i)))
	}
}

// fetch copies the image that a pointer of the program leads to.
func (d *Driver) fetch(p unsafe.Pointer) ([]byte, *loadError) {
	defer runtime.KeepAlive(p) // it is read by its address
	if b, ok := d.memory.hostBytes(uint64(uintptr(p)), 4); ok && binary.LittleEndian.Uint32(b) == fatbin.WrapperMagic {
		// The struct around a container that host programs hold is for libraries alone (recorded).
		return nil, imageError(fault.New(fault.Format, "image", 0,
			"a wrapper around a container cannot be loaded as a module"))
	}
	img, err := image.Fetch(d.memory.hostBytes, uint64(uintptr(p)))
	if err != nil {
		return nil, imageError(err)
	}
	return img.Data, nil
}

// imageDevice is what package image has to know of the device.
func (dev *device) imageDevice() image.Device {
	set := &dev.d.env
	d := fatbin.Device{SM: dev.sm(), TileIR: true, ForcePTX: set.ForcePTX, DisablePTX: set.DisablePTX}
	return image.Device{Device: d, Section: link.Section}
}

// compile makes a program of an image for a device.
func (d *Driver) compile(data []byte, dev *device, o *jitOptions) (*program, *loadError) {
	sm := dev.sm()
	target := o.targetSM(sm)
	part, err := image.Resolve(data, dev.imageDevice())
	if err != nil {
		return nil, imageError(err)
	}
	switch part.Kind {
	case image.PTX, image.TileIR:
	case image.Cubin:
		return d.reload(part.Data, dev, o.stop)
	default:
		return nil, &loadError{result: notSupported, err: fmt.Errorf("%s images are not supported", part.Kind)}
	}
	if o.refusal != nil {
		return nil, o.refusal
	}
	if o.oldTarget {
		return nil, &loadError{result: driver.CUDA_ERROR_INVALID_IMAGE,
			err: fmt.Errorf("CU_JIT_TARGET %d has no compiler", o.target)}
	}
	key := programKey{sha256.Sum256(part.Data), dev}
	if o.plain() {
		if p := d.programs.find(key); p != nil {
			o.warn(p.checked)
			o.report(p)
			return p, nil
		}
	}
	text, most, shapes := part.Data, dev.maxSharedOptin(), map[string]*shape(nil)
	if part.Kind == image.TileIR {
		var bad *loadError
		if text, shapes, bad = tileProgram(part.Data, o); bad != nil {
			return nil, bad
		}
		most = lower.DefaultMaxShared
	}
	want := check.Options{SM: min(sm, target), MaxShared: most, Newest: d.newestPTX, Stop: o.stop}
	tree, err := ptx.ParseUntil(text, o.stop)
	if err != nil {
		return nil, ptxError(check.Syntax(tree, err, want))
	}
	narrow := tree.AddressSize == 32
	if narrow {
		o.info.line("ptxas warning :  64 Bit host architecture (--machine) being used mismatches with .address_size of 32 bits")
	}
	checked, err := check.Check(tree, want)
	if err != nil {
		return nil, ptxError(err)
	}
	o.warn(checked)
	if target != sm {
		return nil, &loadError{result: driver.CUDA_ERROR_INVALID_SOURCE,
			err: fmt.Errorf("CU_JIT_TARGET %d is not the device's %d", target, sm)}
	}
	p := &program{d: d, sm: sm, checked: checked}
	for _, v := range openVariables(checked) {
		// The compiler of whole programs drops .extern where nothing defines the variable (recorded).
		v.Linkage = ptx.LinkVisible
		p.loose = append(p.loose, v.Name)
	}
	lo := dev.linkOptions(sm)
	lo.Compile, lo.Stop = o.compile(), o.stop
	l, err := link.Single(checked, nil, lo)
	if err != nil {
		return nil, linkError(err)
	}
	p.assemble(l)
	for _, e := range p.entries {
		e.shape = shapes[e.fn.Name]
	}
	o.report(p)
	if o.stop != nil && o.stop.Load() {
		return nil, ptxError(ptx.ErrStopped)
	}
	for name := range o.symbols {
		if p.global(name) != nil {
			// Only an image of machine code can leave a symbol open (recorded: the warnings, then this).
			return nil, &loadError{result: driver.CUDA_ERROR_INVALID_VALUE,
				err: fmt.Errorf("CU_JIT_GLOBAL_SYMBOL_NAMES: the module defines %s", name)}
		}
	}
	if o.plain() && !narrow && p.shareable() {
		d.programs.keep(key, p)
	}
	return p, nil
}

func ptxError(err error) *loadError {
	if errors.Is(err, ptx.ErrStopped) {
		return &loadError{result: driver.CUDA_ERROR_NOT_READY, err: err}
	}
	r := driver.CUDA_ERROR_INVALID_PTX
	var list check.Errors
	if errors.As(err, &list) {
		for _, e := range list {
			if e.Kind == check.UnsupportedVersion {
				r = driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
				break
			}
		}
	}
	return &loadError{result: r, log: check.Log(err), err: err}
}

// opaque says whether a variable is a texture, sampler or surface (PTX ISA, "Texture, Sampler and Surface Types").
func opaque(v *check.Var) bool {
	if v.Space == "tex" {
		return true
	}
	switch v.Decl.Type {
	case "texref", "samplerref", "surfref":
		return true
	}
	return false
}

// openVariables are the extern variables in global and constant memory that nothing defines, in file order. Those
// without a size stay what they are.
func openVariables(m *check.Module) []*check.Var {
	defined := map[string]bool{}
	for _, v := range m.Vars {
		if v.Linkage != ptx.LinkExtern {
			defined[v.Name] = true
		}
	}
	var open []*check.Var
	for _, v := range m.Vars {
		if v.Linkage == ptx.LinkExtern && (v.Space == "global" || v.Space == "const") && v.Size > 0 && !opaque(v) &&
			!defined[v.Name] {
			defined[v.Name] = true
			open = append(open, v)
		}
	}
	return open
}
