package cuda

import (
	"errors"
	"fmt"
	"io"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/device"
)

//go:generate go run ./internal/cudagen

// Kind says what runs the kernels.
type Kind int

// The kinds of device.
const (
	Driver   Kind = Kind(device.Driver)   // the NVIDIA driver and a GPU
	Software Kind = Kind(device.Software) // the software CUDA device
)

// String is "driver" or "software".
func (k Kind) String() string { return device.Kind(k).String() }

// Option is an option of [Open].
type Option func(*options)

type options struct {
	device.Options
	leaks  bool
	report func(Leak)
}

// WithDriver asks for the NVIDIA driver. When it cannot be used Open fails; there is no fall-back.
func WithDriver() Option { return func(o *options) { o.Kind = device.Driver } }

// WithSoftware asks for the software device. Each profile makes one device; the default is what GOCUDA_PROFILE says,
// else one "h200". CUDA_VISIBLE_DEVICES hides none of them: it divides the GPUs of a machine among programs, and these
// devices are the program's own. Where the environment or the lack of a GPU has chosen the software device, it is
// obeyed as by the NVIDIA driver.
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

// WithOutput sends what kernels print on the software device to a writer; default is os.Stdout. The NVIDIA driver
// writes to the standard output of the process.
func WithOutput(w io.Writer) Option { return func(o *options) { o.Software.Stdout = w } }

// WithWorkers sets how many goroutines of the software device run one launch; default is one for each CPU.
func WithWorkers(n int) Option { return func(o *options) { o.Software.Workers = n } }

// WithRecovery keeps a fault of a kernel on the software device inside its context: other contexts go on, and a new one
// works. Without it the software device is lost after a fault for this System, as a GPU is for its process.
func WithRecovery() Option { return func(o *options) { o.Software.Recover = true } }

// WithMemoryCheck lets the software device check every access of kernels to global, shared and local memory against
// what is allocated. A bad access ends the kernel, and a report of kernel, PTX line, thread, address and nearest
// allocation, with the place in the program where that was made and freed, goes to standard error; the error of the
// call that waits holds it in short. The environment variable GOCUDA_MEMCHECK=1 does the same for any program.
func WithMemoryCheck() Option { return func(o *options) { o.Software.Memcheck = true } }

// WithCheck lets the software device look for defects while the program runs (docs/checker.md): "memory" is
// [WithMemoryCheck], "race" finds accesses of threads that nothing orders, "init" the use of memory that nobody wrote,
// "sync" barriers and member masks that are used wrongly, and deadlocks, "leak" memory that is left at the end; "all"
// is all of them. Open fails for another name. Reports go to standard error, or where [WithCheckReports] says. The
// environment variable GOCUDA_CHECK=memory,race does the same for any program.
func WithCheck(names ...string) Option {
	return func(o *options) { o.Software.Check = append(o.Software.Check, names...) }
}

// WithoutChecks lets the software device look for no defects, whatever options before it and GOCUDA_CHECK say: for what
// does on purpose what checks report.
func WithoutChecks() Option {
	return func(o *options) {
		o.Software.Check, o.Software.Memcheck, o.Software.Unchecked = nil, false, true
	}
}

// WithLeakReports remembers where every resource was made. [System.Leaks] lists those that are open; what the collector
// finds unreachable and not closed goes to report, or with a nil report to standard error. Nothing is ever freed by the
// collector. It costs about a microsecond for each resource.
func WithLeakReports(report func(Leak)) Option {
	return func(o *options) { o.leaks, o.report = true, report }
}

// System is an opened device driver: the NVIDIA driver with its GPUs, or a software driver with its devices. Several
// can be open at once.
type System struct {
	owned
	dev     *device.Device
	api     cu.API
	devices []*Device
}

// Open opens a driver. Without options the environment variable GOCUDA_DEVICE (driver, software or auto) chooses; unset
// or auto is the NVIDIA driver if it loads and has a device, else the software device, and [System.Why] tells why.
// Everything is closed by [System.Close].
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

// Kind says whether this is the NVIDIA driver or the software device.
func (s *System) Kind() Kind { return Kind(s.dev.Kind) }

// String is the kind and the name of the first device, for example "software: NVIDIA H200 (software)".
func (s *System) String() string { return s.dev.String() }

// Why is the reason that the NVIDIA driver is not used although nobody asked for the software device: it did not load,
// or has no device. Else nil. Its text is one line; where no library was found, the error has a method Details()
// string, which lists the libraries that were tried.
func (s *System) Why() error { return s.dev.Why }

// API is the driver API of the system, for what this package does not offer. [Context.API] has a context bound.
func (s *System) API() cu.API { return s.api }

// Version is the CUDA version of the driver, for example 13, 0.
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

// Devices are the devices by their ordinals. There is at least one.
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

// Leaks lists what is open now. It is empty unless the system was opened [WithLeakReports].
func (s *System) Leaks() []Leak {
	if s.leaks == nil {
		return nil
	}
	return leaksOf(s.below())
}

// Close ends the use of the driver. It fails with an [*OpenError] while contexts or libraries are open. On the software
// device all memory is given back; the NVIDIA library stays loaded.
func (s *System) Close() error { return s.end() }

// CloseAll closes everything that was made of the system and is still open, as [Context.CloseAll] does for contexts,
// and then the system. Errors are joined; it goes on after them.
func (s *System) CloseAll() error { return s.closeAll() }
