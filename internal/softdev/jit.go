package softdev

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// jitOptions are the options of a load, with the places where logs and times go.
type jitOptions struct {
	start      time.Time
	values     []uintptr
	info, err  logBuffer
	wallTime   int // index of CU_JIT_WALL_TIME in values, -1 when absent
	verbose    bool
	debug      bool
	minBlocks  uint32     // CU_JIT_MIN_CTA_PER_SM, 0 when absent
	maxThreads uint32     // CU_JIT_MAX_THREADS_PER_BLOCK, 0 when absent
	refusal    *loadError // what the compiler says to an option that it does not take
	maxRegs    uint32
	limitRegs  bool
	override   bool   // CU_JIT_OVERRIDE_DIRECTIVE_VALUES
	given      uint64 // the options that are there, a bit each
	level0     bool   // CU_JIT_OPTIMIZATION_LEVEL is 0
	apart      bool   // CU_JIT_FMA is 0
	target     uint32 // CUjit_target, 0 when absent
	symbols    map[string]uint64
	oldTarget  bool    // CU_JIT_TARGET of a time for which the driver has no compiler
	symbolIDs  [3]bool // which of the three options for symbols are there
	nameList   uintptr
	addrList   uintptr
	symbolsLen uint32
	stop       *atomic.Bool // set when the caller no longer wants what is compiled; may be nil
}

// logBuffer is a log that the caller wants: a buffer and its size, which becomes what was written.
type logBuffer struct {
	p        uintptr
	size     uint32
	given    bool
	sizeSlot int // index of the size option in values, -1 when absent
	text     strings.Builder
}

func (l *logBuffer) line(format string, args ...any) {
	if l.text.Len() > 0 {
		l.text.WriteByte('\n')
	}
	fmt.Fprintf(&l.text, format, args...)
}

// write copies the log into the caller's buffer, cut to its size with a NUL at the end, and says how long it is.
func (l *logBuffer) write(values []uintptr) {
	n := uint32(0)
	switch text := l.text.String(); {
	case l.p == 0:
	case l.size == 0:
		*(*byte)(foreign(uint64(l.p))) = 0 // the driver ends also a text for which there is no room (recorded)
	default:
		out := unsafe.Slice((*byte)(foreign(uint64(l.p))), l.size)
		n = uint32(copy(out[:l.size-1], text))
		out[n] = 0
		if n > 0 && n == l.size-1 {
			n++ // the NUL counts when the buffer is full (recorded)
		}
	}
	if l.sizeSlot >= 0 {
		values[l.sizeSlot] = uintptr(n)
	}
}

// The lower and upper bound of CU_JIT_MAX_REGISTERS on sm_90 (the driver's own words, recorded).
const (
	minRegs = 24
	maxRegs = 255
)

// parseJIT reads the options of cuModuleLoadDataEx and its like. Options that choose how machine code is made have no
// meaning here; their values are checked as the driver checks them.
func (d *Driver) parseJIT(n uint32, options *driver.CUjit_option,
	optionValues *uintptr) (*jitOptions, driver.CUresult) {
	o := &jitOptions{start: time.Now(), wallTime: -1}
	o.info.sizeSlot, o.err.sizeSlot = -1, -1
	if n == 0 {
		return o, success
	}
	if options == nil || optionValues == nil {
		return nil, invalidValue
	}
	ids := unsafe.Slice(options, n)
	o.values = unsafe.Slice(optionValues, n)
	for i, id := range ids {
		v := o.values[i]
		o.given |= 1 << (id & 63) // an id beyond is refused below
		switch id {
		case driver.CU_JIT_MAX_REGISTERS:
			if v == 0 {
				return nil, invalidValue
			}
			o.maxRegs, o.limitRegs = uint32(v), true
		case driver.CU_JIT_THREADS_PER_BLOCK:
			if uint32(v) == 0 {
				return nil, invalidValue // the driver divides by it and dies
			}
			// recorded: whole warps, as many as a block can have
			o.values[i] = uintptr(min((uint64(uint32(v))+warpSize-1)/warpSize*warpSize, 1024))
		case driver.CU_JIT_OPTIMIZATION_LEVEL:
			o.number(uint32(v))
			o.level0 = uint32(v) == 0
		case driver.CU_JIT_FMA:
			o.apart = uint32(v) == 0
		case driver.CU_JIT_MIN_CTA_PER_SM:
			o.number(uint32(v))
			o.minBlocks = uint32(v)
		case driver.CU_JIT_MAX_THREADS_PER_BLOCK:
			if int32(v) < 0 {
				return nil, invalidValue // the driver dies
			}
			o.maxThreads = uint32(v)
		case driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
			o.override = uint32(v) != 0
		case driver.CU_JIT_NEW_SM3X_OPT:
			o.refuse("ptxas fatal   : Unknown option '-new-sm3x-opt'")
		case driver.CU_JIT_REFERENCED_KERNEL_NAMES, driver.CU_JIT_REFERENCED_VARIABLE_NAMES:
			if v == 0 {
				return nil, invalidValue
			}
		case driver.CU_JIT_WALL_TIME:
			o.wallTime = i
		case driver.CU_JIT_INFO_LOG_BUFFER:
			o.info.p, o.info.given = v, true
		case driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			o.info.size, o.info.sizeSlot = uint32(v), i
		case driver.CU_JIT_ERROR_LOG_BUFFER:
			o.err.p, o.err.given = v, true
		case driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			o.err.size, o.err.sizeSlot = uint32(v), i
		case driver.CU_JIT_TARGET:
			o.target = uint32(v)
			switch driver.CUjit_target(o.target) {
			case 0, driver.CU_TARGET_COMPUTE_30, driver.CU_TARGET_COMPUTE_32, driver.CU_TARGET_COMPUTE_35,
				driver.CU_TARGET_COMPUTE_37:
				o.oldTarget = true
			default:
				o.oldTarget = false
			}
			if !o.oldTarget && !knownTarget(driver.CUjit_target(o.target)) {
				return nil, invalidValue
			}
		case driver.CU_JIT_CACHE_MODE:
			if driver.CUjit_cacheMode(v) > driver.CU_JIT_CACHE_OPTION_CA {
				return nil, invalidValue
			}
		case driver.CU_JIT_LOG_VERBOSE:
			o.verbose = uint32(v) != 0
		case driver.CU_JIT_GENERATE_DEBUG_INFO:
			o.debug = uint32(v) != 0
		case driver.CU_JIT_GLOBAL_SYMBOL_NAMES:
			o.nameList, o.symbolIDs[0] = v, true
		case driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
			o.addrList, o.symbolIDs[1] = v, true
		case driver.CU_JIT_GLOBAL_SYMBOL_COUNT:
			o.symbolsLen, o.symbolIDs[2] = uint32(v), true
		default:
			if id >= d.jitOptionMax() {
				return nil, invalidValue
			}
		}
	}
	for _, l := range []*logBuffer{&o.info, &o.err} {
		if l.given && (l.p == 0 || l.sizeSlot < 0) || !l.given && l.sizeSlot >= 0 {
			return nil, invalidValue // a buffer that is NULL or of no size, or a size alone (recorded)
		}
	}
	if ids := o.symbolIDs; ids != [3]bool{} && (ids != [3]bool{true, true, true} || o.nameList == 0 ||
		o.addrList == 0) {
		return nil, invalidValue // all three or none (recorded)
	}
	if o.symbolsLen > 0 {
		if o.nameList == 0 || o.addrList == 0 {
			return nil, invalidValue
		}
		// Not slices: the count is the caller's, and what lies behind the lists may be no memory.
		o.symbols = map[string]uint64{}
		for i := range uintptr(o.symbolsLen) {
			name := *(**byte)(unsafe.Add(foreign(uint64(o.nameList)), i*unsafe.Sizeof(uintptr(0))))
			if name == nil {
				return nil, invalidValue
			}
			o.symbols[driver.String(name)] = uint64(*(*uintptr)(unsafe.Add(foreign(uint64(o.addrList)),
				i*unsafe.Sizeof(uintptr(0)))))
		}
	}
	return o, success
}

// number takes the value of an option that the compiler reads as a signed number.
func (o *jitOptions) number(v uint32) {
	if int32(v) < 0 {
		o.refuse(fmt.Sprintf("ptxas fatal   : 32-bit integer value (%d) out of range", v))
	}
}

func (o *jitOptions) refuse(text string) {
	if o.refusal == nil {
		o.refusal = &loadError{result: driver.CUDA_ERROR_INVALID_PTX, log: text}
	}
}

func (o *jitOptions) has(id driver.CUjit_option) bool { return o.given&(1<<id) != 0 }

// compile is what of the options shows in the kernels.
func (o *jitOptions) compile() link.Compile {
	c := link.Compile{MinBlocks: o.minBlocks, Override: o.override, NoContract: o.level0 || o.apart}
	if o.maxThreads <= threadsPerSM {
		c.MaxThreads = o.maxThreads
	}
	if o.limitRegs && o.maxRegs <= maxRegs {
		c.MaxRegisters = max(o.maxRegs, minRegs)
	}
	return c
}

// over gives the options of an input of a link, which go before the link's (CUDA driver API, cuLinkAddData), as far as
// they are the compiler's.
func (o *jitOptions) over(all *jitOptions) *jitOptions {
	m := &jitOptions{verbose: all.verbose || o.verbose, debug: all.debug || o.debug, minBlocks: all.minBlocks,
		maxThreads: all.maxThreads, maxRegs: all.maxRegs, limitRegs: all.limitRegs,
		override: all.override, level0: all.level0, apart: all.apart}
	if o.limitRegs {
		m.maxRegs, m.limitRegs = o.maxRegs, true
	}
	if o.has(driver.CU_JIT_MIN_CTA_PER_SM) {
		m.minBlocks = o.minBlocks
	}
	if o.has(driver.CU_JIT_MAX_THREADS_PER_BLOCK) {
		m.maxThreads = o.maxThreads
	}
	if o.has(driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES) {
		m.override = o.override
	}
	if o.has(driver.CU_JIT_OPTIMIZATION_LEVEL) {
		m.level0 = o.level0
	}
	if o.has(driver.CU_JIT_FMA) {
		m.apart = o.apart
	}
	return m
}

// finish fills the caller's logs and the wall time (milliseconds, a float in the option's value).
func (o *jitOptions) finish() {
	if o.values == nil {
		return
	}
	o.writeLogs()
	if o.wallTime >= 0 {
		ms := float32(float64(time.Since(o.start)) / float64(time.Millisecond))
		o.values[o.wallTime] = uintptr(math.Float32bits(ms))
	}
}

// warn writes what the compiler says when it has read a text.
func (o *jitOptions) warn(m *check.Module) {
	for _, line := range m.Warnings() {
		o.info.line("%s", line)
	}
}

// report writes the info log of a module that compiled.
func (o *jitOptions) report(p *program) {
	arch := fmt.Sprintf("sm_%da", p.sm)
	for _, name := range p.loose {
		o.info.line("ptxas warning : Unresolved extern variable '%s' in whole program compilation, ignoring extern qualifier", name)
	}
	for i := range p.entries {
		e := p.entries[len(p.entries)-1-i]
		own := e.ownThreads()
		switch {
		case own != 0 && o.minBlocks != 0 && (o.minBlocks > blocksPerSM || uint64(o.minBlocks)*own > threadsPerSM):
			o.info.line("ptxas warning : Value of minnctapersm for entry %s is out of range. minnctapersm will be ignored", e.fn.Name)
		case own == 0 && o.maxThreads > threadsPerSM:
			o.info.line("ptxas warning : Value of threads per SM for entry %s is out of range. .minnctapersm and .maxntid will be ignored", e.fn.Name)
		}
	}
	if o.limitRegs && o.maxRegs < minRegs {
		o.info.line("ptxas warning : For profile %s adjusting per thread register count of %d to lower bound of %d",
			arch, o.maxRegs, minRegs)
	}
	if o.limitRegs && o.maxRegs > maxRegs {
		o.info.line("ptxas warning : Too big maxrregcount value specified %d, will be ignored", int32(o.maxRegs))
	}
	if o.debug && !p.checked.Debug {
		o.info.line("ptxas warning :  .debug_abbrev section not found")
		o.info.line("ptxas warning :  .debug_info section not found")
	}
	if !o.verbose {
		return
	}
	o.info.line("ptxas info    : %d bytes gmem", p.globals.layout.Size+p.managed.layout.Size)
	for i := range p.entries { // last first, as the driver does
		e := p.entries[len(p.entries)-1-i]
		start := time.Now()
		k, _, err := e.lower(o.stop)
		if err != nil {
			o.info.line("ptxas info    : %s", err)
			continue
		}
		o.info.line("ptxas info    : Compiling entry function '%s' for '%s'", e.fn.Name, arch)
		o.info.line("ptxas info    : Function properties for %s", e.fn.Name)
		o.info.line("ptxas         .     %d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", k.Local)
		smem := ""
		if n := e.shared(k); n > 0 {
			smem = fmt.Sprintf(", %d bytes smem", n)
		}
		stack := ""
		if k.Local > 0 {
			stack = fmt.Sprintf(", %d bytes cumulative stack size", k.Local)
		}
		o.info.line("ptxas info    : Used %d registers, used %d barriers%s%s", e.registers(), k.Barriers, stack, smem)
		o.info.line("ptxas info    : Compile time = %.3f ms", float64(time.Since(start))/float64(time.Millisecond))
		for _, f := range k.Funcs[1:] { // those that the compiler did not put inline, and here that is none
			o.info.line("ptxas info    : Function properties for %s", f.Name)
			o.info.line("ptxas         .     %d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
				f.Local.Size)
		}
	}
}

// What the compiler knows of a multiprocessor of sm_90.
const (
	threadsPerSM = 2048
	blocksPerSM  = 32
)

// ownThreads is the number of threads of a block that the kernel's own directives give, 0 without them.
func (e *entry) ownThreads() uint64 {
	for _, d := range [][3]uint32{e.fn.Attrs.MaxNTid, e.fn.Attrs.ReqNTid} {
		if d[0] != 0 {
			return uint64(d[0]) * uint64(max(d[1], 1)) * uint64(max(d[2], 1))
		}
	}
	return 0
}

// knownTarget says whether the number is a value of CUjit_target.
func knownTarget(t driver.CUjit_target) bool {
	switch t {
	case driver.CU_TARGET_COMPUTE_30, driver.CU_TARGET_COMPUTE_32, driver.CU_TARGET_COMPUTE_35,
		driver.CU_TARGET_COMPUTE_37,
		driver.CU_TARGET_COMPUTE_50, driver.CU_TARGET_COMPUTE_52, driver.CU_TARGET_COMPUTE_53,
		driver.CU_TARGET_COMPUTE_60,
		driver.CU_TARGET_COMPUTE_61, driver.CU_TARGET_COMPUTE_62, driver.CU_TARGET_COMPUTE_70,
		driver.CU_TARGET_COMPUTE_72,
		driver.CU_TARGET_COMPUTE_75, driver.CU_TARGET_COMPUTE_80, driver.CU_TARGET_COMPUTE_86,
		driver.CU_TARGET_COMPUTE_87,
		driver.CU_TARGET_COMPUTE_89, driver.CU_TARGET_COMPUTE_90, driver.CU_TARGET_COMPUTE_90A:
		return true
	}
	return t >= driver.CU_TARGET_COMPUTE_100 && t&^(driver.CU_COMPUTE_ACCELERATED_TARGET_BASE|
		driver.CU_COMPUTE_FAMILY_TARGET_BASE) <= 130
}
