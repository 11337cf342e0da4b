package cuda

import (
	"errors"
	"fmt"
	"io"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/device"
)

//go:generate go run ./internal/cudagen

// Kind is the kind of a device: a GPU or a software device.
type Kind int

// The kinds of device.
const (
	Driver   Kind = Kind(device.Driver)   // the NVIDIA driver and a GPU
	Software Kind = Kind(device.Software) // the software CUDA device
)

// String returns "driver" or "software".
func (k Kind) String() string { return device.Kind(k).String() }

// Option is an option of [Open].
type Option func(*options)

type options struct {
	device.Options
	leaks  bool
	report func(Leak)
}

// WithDriver selects the NVIDIA driver. Open fails if it cannot be used; there is no fallback.
func WithDriver() Option { return func(o *options) { o.Kind = device.Driver } }

// WithSoftware selects the software device. Each profile makes one device; the default is GOCUDA_PROFILE, or one
// "h200". CUDA_VISIBLE_DEVICES does not apply to devices that a program asks for here: it divides the GPUs of a machine
// among programs, and these devices are the program's own. It does apply where the environment or the lack of a GPU has
// selected the software device, as with the NVIDIA driver.
func WithSoftware(profiles ...string) Option {
	return func(o *options) {
		o.Kind = device.Software
		o.Software.Profiles = profiles
		if len(profiles) > 0 {
			o.Profile = joinNames(profiles)
		}
	}
}

// WithDriverLibrary gives the path of libcuda.so.1 (nvcuda.dll) instead of searching for it.
func WithDriverLibrary(path string) Option { return func(o *options) { o.Library = path } }

// WithOutput sends the output of kernels (printf) on the software device to a writer; the default is os.Stdout. The
// NVIDIA driver writes to the standard output of the process.
func WithOutput(w io.Writer) Option { return func(o *options) { o.Software.Stdout = w } }

// WithWorkers sets how many goroutines of the software device execute one launch; the default is one for each
// processor.
func WithWorkers(n int) Option { return func(o *options) { o.Software.Workers = n } }

// WithRecovery confines a fault of a kernel on the software device to its context: other contexts continue, and a new
// one works. Without it the software device is lost for this System after a fault, as a GPU is for its process.
func WithRecovery() Option { return func(o *options) { o.Software.Recover = true } }

// WithMemoryCheck makes the software device check every access of kernels to global, shared and local memory against
// the allocations. An invalid access ends the kernel. A report goes to standard error: kernel, PTX line, thread,
// address and nearest allocation, with the places in the program where that was allocated and freed. The error of the
// next call that waits contains a one-line summary. The environment variable GOCUDA_MEMCHECK=1 does the same for any
// program.
func WithMemoryCheck() Option { return func(o *options) { o.Software.Memcheck = true } }

// WithCheck makes the software device look for defects while the program runs (docs/checker.md): "memory" is
// [WithMemoryCheck]; "race" finds conflicting accesses that nothing orders; "init" finds uses of memory that nobody has
// written; "sync" finds wrong uses of barriers and member masks, and deadlocks; "leak" finds memory that is not freed
// at the end; "all" is all of them. Open fails for any other name. Reports go to standard error, or to the function of
// [WithCheckReports]. The environment variable GOCUDA_CHECK=memory,race does the same for any program.
func WithCheck(names ...string) Option {
	return func(o *options) { o.Software.Check = append(o.Software.Check, names...) }
}

// WithoutChecks turns all checks off, whatever earlier options and GOCUDA_CHECK say: for programs that do on purpose
// what checks report.
func WithoutChecks() Option {
	return func(o *options) {
		o.Software.Check, o.Software.Memcheck, o.Software.Unchecked = nil, false, true
	}
}

// WithLeakReports records where every resource is made. [System.Leaks] lists those that are open. A resource that
// becomes unreachable without Close is reported to report, or to standard error if report is nil. The garbage collector
// never frees anything. The option costs about a microsecond for each resource.
func WithLeakReports(report func(Leak)) Option {
	return func(o *options) { o.leaks, o.report = true, report }
}

// System is an open driver: the NVIDIA driver with its GPUs, or a software driver with its devices. Several can be open
// at once.
type System struct {
	owned
	dev     *device.Device
	api     cu.API
	devices []*Device
}

// Open opens a driver. Without options the environment variable GOCUDA_DEVICE (driver, software or auto) selects it;
// auto, the default, is the NVIDIA driver if it loads and has a device, and otherwise the software device: [System.Why]
// gives the reason. Close the system with [System.Close] or [System.CloseAll].
func Open(opts ...Option) (*System, error) {
	var o options
	for _, set := range opts {
		set(&o)
	}
	d, err := device.Open(o.Options)
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	s := &System{dev: d, api: *cu.New(d.Table)}
	s.born(nil, "system", 0, d.Close)
	if o.leaks {
		s.leaks = newLeakLog(o.report)
	}
	n, err := s.api.DeviceGetCount()
	if err != nil {
		return nil, errors.Join(s.wrap("cuDeviceGetCount", "", 0, err), d.Close())
	}
	for i := range n {
		h, err := s.api.DeviceGet(i)
		if err != nil {
			return nil, errors.Join(s.wrap("cuDeviceGet", "", 0, err), d.Close())
		}
		s.devices = append(s.devices, &Device{sys: s, handle: h, ordinal: int(i), primary: new(health)})
	}
	return s, nil
}

// Kind returns whether this is the NVIDIA driver or the software device.
func (s *System) Kind() Kind { return Kind(s.dev.Kind) }

// String returns the kind and the name of the first device, for example "software: NVIDIA H200 (software)".
func (s *System) String() string { return s.dev.String() }

// Why returns the reason why [Open] chose the software device by itself: the NVIDIA driver did not load or has no
// device. Otherwise it returns nil. The text is one line; if no library was found, the error has a method Details()
// string with the libraries that were tried.
func (s *System) Why() error { return s.dev.Why }

// API returns the driver API of the system, for what this package does not offer. [Context.API] has a context bound.
func (s *System) API() cu.API { return s.api }

// Version returns the CUDA version of the driver, for example 13, 0.
func (s *System) Version() (major, minor int, err error) {
	if s.isClosed() {
		return 0, 0, closedError("cuDriverGetVersion", "system")
	}
	v, err := s.api.DriverGetVersion()
	if err != nil {
		return 0, 0, s.wrap("cuDriverGetVersion", "", 0, err)
	}
	return int(v) / 1000, int(v) % 1000 / 10, nil
}

// Devices returns the devices by ordinal. There is at least one.
func (s *System) Devices() []*Device { return append([]*Device(nil), s.devices...) }

// Device returns a device by its ordinal.
func (s *System) Device(i int) (*Device, error) {
	if i < 0 || i >= len(s.devices) {
		return nil, &Error{Op: "cuDeviceGet", Code: ErrInvalidDevice,
			Detail: fmt.Sprintf("device %d; there are %d", i, len(s.devices))}
	}
	return s.devices[i], nil
}

// Context returns the primary context of a device; see [Device.Primary].
func (s *System) Context(ordinal int) (*Context, error) {
	d, err := s.Device(ordinal)
	if err != nil {
		return nil, err
	}
	return d.Primary()
}

// giveBack makes the function that gives a resource of the system back.
func (s *System) giveBack(op, symbol string, f func(cu.API) error) func() error {
	return func() error {
		if err := f(s.api); err != nil {
			return s.wrap(op, symbol, 0, err)
		}
		return nil
	}
}

// Leaks lists the resources that are open. It is empty unless the system was opened [WithLeakReports].
func (s *System) Leaks() []Leak {
	if s.leaks == nil {
		return nil
	}
	return leaksOf(s.below())
}

// Close releases the driver. It fails with an [*OpenError] while contexts or libraries are open. The software device
// gives all its memory back; the NVIDIA library stays loaded.
func (s *System) Close() error { return s.end() }

// CloseAll closes every open resource of the system, as [Context.CloseAll] does for contexts, and then the system. It
// continues after errors and joins them.
func (s *System) CloseAll() error { return s.closeAll() }
