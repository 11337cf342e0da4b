package softdev

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/profiles"
)

// Options say what New makes. The zero value is one device of the default profile.
type Options struct {
	// Profiles names the devices by package profiles, in order of their ordinals: "h200*2" is two of h200. Empty is one
	// default device; a name may come twice.
	Profiles []string
	// Masked lets CUDA_VISIBLE_DEVICES choose among these devices. When it leaves none, New gives a *NoDeviceError.
	Masked bool
	// LookupEnv finds environment variables; nil is os.LookupEnv.
	LookupEnv env.Lookup
	// Stdout receives what kernels print, when the program synchronises; nil is os.Stdout.
	Stdout io.Writer
	// Stderr receives the messages of failed device assertions; nil is os.Stderr.
	Stderr io.Writer
	// Engine runs the kernels; nil is what EngineName says.
	Engine exec.Engine
	// EngineName chooses the engine: auto, jit or interpreter; "" leaves it to the environment.
	EngineName string
	// Memcheck checks every access of kernels to global, shared and local memory against what is allocated. It costs
	// speed, and memory between and behind allocations. The environment variable GOCUDA_MEMCHECK=1 turns it on too.
	Memcheck bool
	// Check names what is looked for while the program runs, as checker.Parse reads it; the environment variable
	// GOCUDA_CHECK adds to it. "memory" is Memcheck. With "race" one block runs at a time.
	Check []string
	// Unchecked has the environment variables add nothing to Check and Memcheck.
	Unchecked bool
	// Reports receives each defect when it is found first, before the call that waits for the kernel returns; nil
	// writes a report to Stderr.
	Reports func(*checker.Report)
	// CheckOut names files for what Check finds, whose ends choose the format (package format); Suppressions names
	// files of reports to leave out (checker.Suppression). GOCUDA_CHECK_OUT and GOCUDA_CHECK_SUPPRESS add to them.
	CheckOut     []string
	Suppressions string
	// Order is the order in which blocks and warps get their turns.
	Order exec.Order
	// Counters, when set, count what kernels do.
	Counters *exec.Counters
	// Memory is the bytes of memory of each device; 0 leaves it to the environment, and that to the profile.
	Memory uint64
	// PTX is the newest version of PTX that is taken, "9.0" to "9.5"; "" leaves it to the environment variable
	// GOCUDA_PTX, and that to 9.5. Of a module that is newer than the device's 9.0 everything must be known. "9.0" is
	// what the recorded driver does.
	PTX string
	// DriverVersion is what cuDriverGetVersion says, 1000*major + 10*minor; 0 leaves it to the environment, and that to
	// the profile.
	DriverVersion int32
	// Workers is the number of goroutines of one launch; 0 is one for each CPU.
	Workers int
	// Recover lets a device work again after a fault once the context that faulted is destroyed or reset, and keeps the
	// fault from other contexts. Hardware does neither: the process has lost the device.
	Recover bool
	// ProcAddr gives cuGetProcAddress the C address of a symbol; 0 when it has none. Pure Go has no C addresses: nil
	// makes cuGetProcAddress answer CUDA_ERROR_NOT_SUPPORTED for symbols that exist.
	ProcAddr func(symbol string) uintptr
}

// Driver is one software CUDA driver: the state behind a driver.Table.
type Driver struct {
	opts      Options
	engine    exec.Engine
	launches  sync.Pool // of *launch, for reuse
	engineWhy error     // see EngineWhy
	table     *driver.Table
	apiNames  map[string]string // C functions by methods, for the memory checker
	refused   map[string]bool   // functions that only answer CUDA_ERROR_NOT_SUPPORTED
	devices   []*device
	memory    *memory
	threadMem exec.ThreadMemory
	pending   atomic.Int64 // bytes of launches by kernels that wait (pendingBytes)
	stoppable stoppable
	started   time.Time
	checks    checker.Checks
	defects   *checker.Log     // of defects; nil without checks
	check     *checker.Checker // nil without one
	uninit    *initcheck       // likewise
	watchOnce sync.Once

	hostAccess atomic.Pointer[hostAccess] // of the race check, once there is memory that the program can access

	checkFiles checkFiles
	reporting  sync.Mutex
	endLimit   time.Duration // endLimit, or what a test has no patience for
	stdout     sync.Mutex

	state       atomic.Uint32              // driverNew, driverReady, driverClosed
	callbacks   atomic.Int32               // host functions that run now
	capturing   atomic.Int32               // stream captures that have not ended
	gate        atomic.Pointer[standstill] // while memory moves
	leftovers   leftovers                  // of destroyed contexts
	sweeper     sweeper
	freezing    sync.Mutex
	checkpoint  checkpoint
	details     atomic.Uint64
	streamIDs   atomic.Uint64
	ctxIDs      atomic.Uint64
	gridIDs     atomic.Uint64
	codeEnd     atomic.Uint64 // first function address not given out
	env         env.Settings  // read by New
	perDevice   uint64        // memory of each device in bytes; 0 is the profile's
	newestPTX   int           // newest version of PTX that is taken, times ten
	cudaVersion int32         // what cuDriverGetVersion says
	programs    programs

	threads       threads
	contexts      handles[context]
	graves        graveyard
	streams       handles[stream]
	events        handles[event]
	modules       handles[module]
	functions     handles[function]
	libraries     handles[library]
	kernels       handles[kernel]
	links         handles[linkState]
	pools         handles[pool]
	placed        map[poolPlace]*poolPair
	gs            graphs
	log           errorLog
	coredump      coredumps
	dumpCallbacks handles[coredumpCallback]
	greens        handles[greenContext]
	poolSlack     atomic.Bool // a pool holds more than its threshold
	resources     handles[resourceDesc]
	notifications handles[notification]
	memHandles    handles[memHandle]
	tex           textureObjects
	external      externals

	names sync.Map // text -> *byte: C strings that the API hands out and that live as long as the driver
}

// The states of a Driver.
const (
	driverNew uint32 = iota
	driverReady
	driverLocked // cuCheckpointProcessLock: calls wait
	driverClosed
)

// New makes a driver. It reserves address space and nothing else; cuInit has to come before other calls as with the C
// library.
func New(o Options) (*Driver, error) {
	d := &Driver{opts: o, started: time.Now(), endLimit: endLimit, refused: map[string]bool{},
		env: env.Read(o.LookupEnv)}
	size := d.env.Memory
	if o.Memory != 0 {
		size = strconv.FormatUint(o.Memory, 10)
	}
	var err error
	if d.perDevice, err = parseMemory(size); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	if d.newestPTX, err = parsePTX(cmp.Or(o.PTX, d.env.PTX)); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	d.coredump.process = true
	d.coredump.fromEnvironment(d.env.CoredumpOnException, d.env.CoredumpLight, d.env.CoredumpFile, d.env.CoredumpFlags)
	// Local memory of threads is a part of device memory on hardware. Here it is the host's, of which the program needs
	// the rest.
	if d.threadMem.Limit = mem.PhysicalMemory() / 2; d.threadMem.Limit == 0 {
		d.threadMem.Limit = 4 << 30
	}
	if d.perDevice != 0 {
		d.threadMem.Limit = min(d.threadMem.Limit, d.perDevice)
	}
	if err := d.chooseChecks(); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	if err := d.chooseEngine(); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	if d.opts.Stdout == nil {
		d.opts.Stdout = os.Stdout
	}
	if d.opts.Stderr == nil {
		d.opts.Stderr = os.Stderr
	}
	if d.opts.Workers <= 0 {
		d.opts.Workers = runtime.GOMAXPROCS(0)
	}
	// Handles of another Driver in the process should not be valid here: generations start at different numbers.
	first := uint16(d.started.UnixNano() >> 8)
	d.contexts.init(kindContext, first)
	d.streams.init(kindStream, first)
	d.events.init(kindEvent, first)
	d.modules.init(kindModule, first)
	d.functions.init(kindFunction, first)
	d.libraries.init(kindLibrary, first)
	d.kernels.init(kindKernel, first)
	d.links.init(kindLink, first)
	d.pools.init(kindPool, first)
	d.gs.init(first)
	d.log.callbacks.init(kindLogs, first)
	d.dumpCallbacks.init(kindDump, first)
	d.sweeper.init(d)
	d.programs.d = d
	d.greens.init(kindGreen, first)
	d.resources.init(kindResource, first)
	d.notifications.init(kindNotification, first)
	d.memHandles.init(kindStore, first)
	d.tex.init(first)
	d.external.init(first)

	names := o.Profiles
	if names, err = profiles.Expand(names); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for i, name := range names {
		dev, err := newDevice(d, int32(i), name)
		if err != nil {
			return nil, fmt.Errorf("software device %d: %w", i, err)
		}
		d.devices = append(d.devices, dev)
	}
	if err := d.chooseVersion(); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	if o.Masked && d.env.IsVisible {
		if err := d.mask(d.env.Visible); err != nil {
			return nil, err
		}
	}
	if d.memory, err = newMemory(d); err != nil {
		return nil, fmt.Errorf("software device: %w", err)
	}
	d.table = d.newTable()
	return d, nil
}

// Table is the driver API over this device; it is valid until Close.
func (d *Driver) Table() *driver.Table { return d.table }

// Close stops kernels that run, destroys every context and gives all memory back. Calls after it answer
// CUDA_ERROR_DEINITIALIZED; no call may be running in another goroutine. Close may be called again.
func (d *Driver) Close() error {
	switch d.state.Swap(driverClosed) {
	case driverClosed:
		return nil
	case driverLocked:
		d.unlock()
	}
	for _, c := range d.contexts.all() {
		c.halt()
	}
	for _, c := range d.contexts.all() {
		if !c.dead.Load() {
			c.tearDown()
		}
		d.contexts.remove(uintptr(c.handle))
	}
	for _, l := range d.libraries.all() {
		d.unloadLibrary(l)
	}
	d.leftovers.wait.Wait()
	d.EndChecks()
	return d.memory.close()
}

// now is the time since New in nanoseconds, the clock of events.
func (d *Driver) now() int64 { return int64(time.Since(d.started)) }

// print gives the text of device printf to the handler.
func (d *Driver) print(text []byte) {
	if len(text) == 0 {
		return
	}
	d.stdout.Lock()
	defer d.stdout.Unlock()
	// The driver has no way to report a failed write of standard output.
	_, _ = d.opts.Stdout.Write(text)
}

// callC calls a C function pointer through the C library; without it the call cannot be made, which the entry points
// check first.
func (d *Driver) callC(fn uintptr, args ...uintptr) {
	if call := d.table.CallC; call != nil {
		call(fn, args...)
	}
}

// cString returns a NUL-terminated copy of the text that stays valid.
func (d *Driver) cString(text string) *byte {
	if p, ok := d.names.Load(text); ok {
		return p.(*byte)
	}
	b := append([]byte(text), 0)
	p, _ := d.names.LoadOrStore(text, &b[0])
	return p.(*byte)
}
