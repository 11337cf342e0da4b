package exec

import (
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec/texture"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
)

// Engine turns lowered kernels into something that runs.
type Engine interface {
	// Name is "interpreter" or "jit".
	Name() string
	// Compile prepares a kernel. It is called once for each kernel of a loaded module, possibly from several goroutines
	// at once. A form that the engine does not implement gives an *UnsupportedError.
	Compile(k *ir.Kernel) (Code, error)
}

// Code is a prepared kernel. Run is called from many goroutines at once, each with its own warp.
type Code interface {
	Kernel() *ir.Kernel
	// Run executes the warp's current split (Warp.Cur) until it stops at a scheduling point, and says which. State
	// changes that the event stands for are already made through the warp's methods.
	Run(w *Warp) Event
}

// Event is why Code.Run returned.
type Event uint8

// The scheduling points.
const (
	EventReschedule Event = iota // another split may have to run: divergence, merge point, exit, wait
	// the split could go on, but others should get their turn (budget used, nanosleep, a failed try_wait)
	EventYield
	EventStop // Launch.Stop was set
)

// UnsupportedError says that a valid instruction is not implemented by the software device.
type UnsupportedError struct {
	Kernel  string
	Line    int32
	Feature string
}

func (e *UnsupportedError) Error() string {
	return "the software device does not support " + e.Feature + " (kernel " + e.Kernel + ", PTX line " +
		strconv.Itoa(int(e.Line)) + ")"
}

// Memory is the address space that kernels see. Device pointers are host addresses inside one reserved window; its
// first bytes hold no memory but the generic windows of shared and local memory.
type Memory struct {
	Ptr  unsafe.Pointer // the window's first byte
	Base uint64         // its address
	Size uint64         // bytes
	// Special is the number of bytes at the window's start that never hold memory.
	Special uint64
	// Low and Span are the part of the window that the device reaches, as an offset and a size; behind and before it
	// lie addresses without memory, 64 KiB and more. The rest of the window is Foreign's.
	Low, Span uint64
	// SharedOff and LocalOff are the offsets in the window of the generic windows for shared::cluster and local
	// addresses.
	SharedOff, LocalOff uint64
	// Foreign resolves an address outside that part, in the window or not, that the API allows on the device
	// (registered host memory, another device's memory); nil when it is not allowed.
	Foreign func(addr, size uint64) unsafe.Pointer
	// Multicast appends what an address of a multicast object stands for, in the order of its team, in host memory;
	// nothing when it is no such address or some of it has no memory. nil where there are no such objects.
	Multicast func(addr, size uint64, write bool, to []unsafe.Pointer) []unsafe.Pointer
	// Const says whether a window address belongs to a __constant__ variable (isspacep.const); nil means none does.
	Const func(addr uint64) bool
	// Check, when set, is asked before every global access (memory checker); false ends the kernel. Shared memory then
	// ends behind what the launch asked for, not with the granule that holds it, and local memory with the variables of
	// the functions under way.
	Check func(addr, size uint64, write bool) bool
	// CheckRange spares engines questions: the memory around an address in which Check allows every access of the kind,
	// size 0 for none. It holds until CheckEpoch changes. Both may be nil.
	CheckRange func(addr uint64, write bool) (base, size uint64)
	CheckEpoch *atomic.Uint64
}

// MemoryOf is an address space of all that a window has.
func MemoryOf(w *mem.Window) Memory {
	return Memory{Ptr: w.Pointer(), Base: w.Base(), Size: w.Size(), Special: mem.Special, Low: mem.Special,
		Span: w.Size() - mem.Special, SharedOff: mem.SharedOffset, LocalOff: mem.LocalOffset}
}

// System is what kernels ask of the world outside: each method may be called from several goroutines.
type System interface {
	// Printf receives the bytes of one vprintf call of one thread, already formatted.
	Printf(text []byte)
	// Malloc and Free serve the device heap (malloc and free in kernels). Malloc returns 0 when the heap is full.
	Malloc(size uint64) uint64
	Free(addr uint64)
	// Assert receives the message of a failed device assertion.
	Assert(text string)
}

// Module gives the addresses of module variables where a kernel runs.
type Module interface {
	// ConstRows returns the kernel's constant pool with the addresses of module variables filled in, made by
	// NewConstRows.
	ConstRows() []byte
}

// Launch is one kernel launch.
type Launch struct {
	Code    Code
	Grid    [3]uint32 // in CTAs
	Block   [3]uint32 // in threads
	Cluster [3]uint32 // in CTAs; zero for none
	Shared  uint32    // dynamic shared bytes
	// the kernel's parameters by their offsets; it stands at ParamAddr in the window so that kernels can take addresses
	Params []byte
	// ParamAddr is the device address of Params.
	ParamAddr   uint64
	Consts      unsafe.Pointer // rows made by NewConstRows; kept alive by the caller
	Mem         *Memory
	Sys         System
	Stack       uint32 // bytes of local memory for each thread's calls (CU_LIMIT_STACK_SIZE)
	MaxShared   uint32 // shared bytes a CTA may have (for %total_smem_size checks); 0 for no limit
	Cooperative bool
	Multi       *MultiGrid // of a launch on several devices; nil for another
	MultiRank   int        // the grid's place in it
	Workers     int        // goroutines; 0 for one per CPU
	// Quantum is how many backward branches lanes take before other lanes of their warp, and other warps, get a turn; 0
	// for the default. Results of kernels without races do not depend on it.
	Quantum  int32
	Device   DeviceInfo
	Stop     *atomic.Bool // set to stop the kernel; may be nil
	GridID   uint64
	Env      [32]uint32 // %envreg0 to %envreg31
	Counters *Counters  // nil when not wanted
	Texture  TextureUnit
	Pool     *Pool         // keeps memory between launches of Code; nil to keep none
	Threads  *ThreadMemory // nil for no bound
	// Check follows the launch's accesses; nil for none. Code has to be of an engine that tells it of them. One worker
	// runs all blocks then.
	Check *checker.Launch
	// Dump, when set, is told of a fault and the warp under way before that gives up what it has. It may be called from
	// several goroutines at once.
	Dump func(f *Fault, w *Warp)
	// Defects, when set, is told of accesses to shared memory of blocks that may have ended, and with Synchronization
	// of barriers and member masks that are used wrongly. It may be called from several goroutines at once. For
	// Synchronization code has to schedule warps with this package, as the interpreter does.
	Defects         func(*checker.Report)
	Synchronization bool
	// HeapCall, when set, is told of malloc after it and of free before it.
	HeapCall func(free bool, addr uint64, at checker.Site)
	// Init follows what the launch does with memory that nobody has written; as Check.
	Init  *checker.InitLaunch
	Order Order
}

// DeviceInfo is what special registers tell of the device.
type DeviceInfo struct {
	SMs         uint32
	WarpsPerSM  uint32
	CTAsPerSM   uint32 // resident at most; the number of CTAs that run together when they wait for each other
	ClockKHz    uint64
	MaxSharedSM uint32
}

// Counters count what ran. Adds are made once for each warp, not for each operation.
type Counters struct {
	WarpInstructions, ThreadInstructions, Divergences, Fallbacks atomic.Uint64
}

// TextureUnit serves texture and surface instructions: the software device resolves handles of texture and surface
// objects and addresses of module references. Methods are called from many goroutines at once and give nil for a handle
// that is not valid.
type TextureUnit interface {
	Texture(handle uint64) *texture.Texture
	Sampler(handle uint64) *texture.Sampler // of a .samplerref (.target texmode_independent)
	Surface(handle uint64) *texture.Surface
}

// NewConstRows builds the constant pool of a kernel; addr gives the device address of a module variable. The pool is
// read-only and may be shared by all launches of the kernel in one context.
func NewConstRows(k *ir.Kernel, addr func(c *ir.ConstRow) uint64) unsafe.Pointer {
	words := make([]uint64, k.ConstSize/8+16)
	p := unsafe.Pointer(unsafe.SliceData(words))
	for i := range k.Consts {
		c := &k.Consts[i]
		lo, hi := c.Lo, c.Hi
		if c.Var != nil && c.Var.Space != "shared" {
			lo += addr(c)
		}
		row := unsafe.Add(p, c.Off)
		switch c.Class {
		case ir.W32:
			r := (*[32]uint32)(row)
			for j := range r {
				r[j] = uint32(lo)
			}
		case ir.W64:
			r := (*[32]uint64)(row)
			for j := range r {
				r[j] = lo
			}
		case ir.W128:
			r := (*[64]uint64)(row)
			for j := 0; j < 64; j += 2 {
				r[j], r[j+1] = lo, hi
			}
		case ir.WPred:
			m := uint32(0)
			if lo != 0 {
				m = ^m
			}
			*(*uint32)(row) = m
		}
	}
	return p
}
