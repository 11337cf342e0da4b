// Package device chooses between the two devices behind a [driver.Table]: the NVIDIA driver and the software CUDA
// device.
package device

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

// Kind says which of the devices.
type Kind int

// The kinds. Auto is a wish only: an open device is one of the others.
const (
	Auto     Kind = iota // the NVIDIA driver if it loads and has a device, else the software device
	Driver               // the NVIDIA driver
	Software             // the software CUDA device
)

var kindNames = [...]string{Auto: "auto", Driver: "driver", Software: "software"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind reads auto, driver or software; the empty string is Auto. The error is a [*ChoiceError] without a variable.
func ParseKind(s string) (Kind, error) {
	if s == "" {
		return Auto, nil
	}
	for k, name := range kindNames {
		if s == name {
			return Kind(k), nil
		}
	}
	return Auto, &ChoiceError{Value: s}
}

// Options choose a device. The zero value leaves everything to the environment.
type Options struct {
	// Kind is the device wanted. With Auto the environment variable GOCUDA_DEVICE decides, if it is set.
	Kind Kind
	// Profile names the software device by package profiles; several names with commas between them make several
	// devices. When it is empty Software.Profiles counts, then the environment variable GOCUDA_PROFILE, then the
	// default of package softdev. The NVIDIA driver has no use for it.
	//
	// CUDA_VISIBLE_DEVICES chooses among the devices of a process that has not asked for the software device by itself:
	// where Kind is Auto. What a program makes for itself is there.
	Profile string
	// Library is the path of the NVIDIA driver library; see nvidia.Options.
	Library string
	// Software is what else the software device takes.
	Software softdev.Options
	// NoInit leaves out cuInit and the count of devices, for programs that look at what a driver answers before cuInit.
	// It needs a Kind.
	NoInit bool
}

// Device is an open device.
type Device struct {
	Table *driver.Table
	Kind  Kind   // Driver or Software
	Name  string // of the first device; with NoInit the path of the library or the names of the profiles
	// Engine is what runs kernels on the software device: interpreter or jit; EngineWhy is why it is not the jit that
	// was wished for.
	Engine    string
	EngineISA string // AVX-512 or AVX2, for the jit
	EngineWhy error
	Why       error // why the device is the software one although the driver was looked for; else nil

	close      func() error
	lastDetail func(driver.CUcontext) string
	takeDetail func(driver.CUcontext) string
	interrupt  func(driver.CUcontext) bool
	stoppable  func(values *uintptr) (stop, forget func())
	params     func(driver.CUfunction) []softdev.Param
	occupancy  func(driver.CUfunction, int32, uint64) (softdev.Occupancy, bool)
	broken     func(driver.CUcontext) driver.CUresult
	panicked   func() error
}

// String is the kind and the name, for example "software: NVIDIA H200 (software)".
func (d *Device) String() string { return d.Kind.String() + ": " + d.Name }

// Close ends the device; see nvidia.Driver.Close and softdev.Driver.Close.
func (d *Device) Close() error { return d.close() }

// LastDetail explains the last failure of a call in words, as far as the device knows more than the result code says.
// The context is that of the call.
func (d *Device) LastDetail(cur driver.CUcontext) string { return d.lastDetail(cur) }

// TakeDetail is LastDetail that forgets the text where the device can, so that a later failure without one does not get
// it.
func (d *Device) TakeDetail(cur driver.CUcontext) string {
	if d.takeDetail == nil {
		return d.lastDetail(cur)
	}
	return d.takeDetail(cur)
}

// Interrupt stops the kernels of a context, which breaks it as a launch timeout does. Only the software device can; ok
// says whether it was done.
func (d *Device) Interrupt(ctx driver.CUcontext) (ok bool) {
	return d.interrupt != nil && d.interrupt(ctx)
}

// Stoppable announces a module load that may be stopped, see [softdev.Driver.Stoppable]. ok is false when the device
// cannot: the NVIDIA driver does not.
func (d *Device) Stoppable(values *uintptr) (stop, forget func(), ok bool) {
	if d.stoppable == nil {
		return func() {}, func() {}, false
	}
	stop, forget = d.stoppable(values)
	return stop, forget, true
}

// Broken is the result that every call in a context gives since something in it has failed for good, success while the
// context is well. ok is false when the device does not tell: the NVIDIA driver does only by its results.
func (d *Device) Broken(ctx driver.CUcontext) (r driver.CUresult, ok bool) {
	if d.broken == nil {
		return driver.CUDA_SUCCESS, false
	}
	return d.broken(ctx), true
}

// Params is what the text of a kernel says of its parameters, in their order, where the device tells: the software one
// does.
func (d *Device) Params(f driver.CUfunction) []softdev.Param {
	if d.params == nil {
		return nil
	}
	return d.params(f)
}

// Occupancy is how many blocks of a kernel fit on a multiprocessor by each resource, where the device tells: see
// [softdev.Driver.Occupancy].
func (d *Device) Occupancy(f driver.CUfunction, threads int32, dynamic uint64) (o softdev.Occupancy, ok bool) {
	if d.occupancy == nil {
		return o, false
	}
	return d.occupancy(f, threads, dynamic)
}

// CallbackPanic returns and forgets the oldest panic of a Go callback that ran on a thread of the NVIDIA driver; nil
// when there is none.
func (d *Device) CallbackPanic() error { return d.panicked() }

// ChoiceError is a value that names no device.
type ChoiceError struct {
	Variable string // environment variable, or empty
	Value    string
}

func (e *ChoiceError) Error() string {
	name := "device"
	if e.Variable != "" {
		name = e.Variable
	}
	return fmt.Sprintf("%s=%q: must be auto, driver or software", name, e.Value)
}

// ProbeError is a driver library that loads but cannot be used.
type ProbeError struct {
	Library string
	Call    string          // C function that failed
	Result  driver.CUresult // CUDA_ERROR_NO_DEVICE when the driver is well and there is no GPU
}

func (e *ProbeError) Error() string {
	text, _ := e.Result.Text()
	return fmt.Sprintf("NVIDIA driver %s: %s: %v (%s)", e.Library, e.Call, e.Result, text)
}

// errNoInitNeedsKind: without cuInit nobody can say whether the driver has a device.
var errNoInitNeedsKind = errors.New("device: NoInit needs the kind Driver or Software")

// Open opens a device. When the driver is asked for by name and cannot be used that is an error, and never the software
// device instead: a *nvidia.LoadError or a [*ProbeError]. With Auto the same error is in Why.
func Open(opts Options) (*Device, error) {
	return open(opts, openers{driver: openDriver, software: openSoftware})
}

// openers make the devices; tests put others here.
type openers struct {
	driver, software func(Options) (*Device, error)
}

func open(opts Options, by openers) (*Device, error) {
	kind := opts.Kind
	if kind == Auto {
		opts.Software.Masked = true
		v := env.Read(opts.Software.LookupEnv).Device
		k, err := ParseKind(v)
		if err != nil {
			return nil, &ChoiceError{Variable: env.Device, Value: v}
		}
		kind = k
	}
	switch kind {
	case Driver:
		return by.driver(opts)
	case Software:
		return by.software(opts)
	case Auto:
	default:
		return nil, &ChoiceError{Value: kind.String()}
	}
	if opts.NoInit {
		return nil, errNoInitNeedsKind
	}
	d, why := by.driver(opts)
	if why == nil {
		return d, nil
	}
	d, err := by.software(opts)
	if err != nil {
		return nil, errors.Join(err, why)
	}
	d.Why = why
	return d, nil
}

func openDriver(opts Options) (*Device, error) {
	n, err := nvidia.Open(nvidia.Options{Path: opts.Library, LookupEnv: opts.Software.LookupEnv})
	if err != nil {
		return nil, err
	}
	d := &Device{
		Table: n.Table(), Kind: Driver, Name: n.Path(), close: n.Close,
		lastDetail: func(driver.CUcontext) string { return n.LastDetail() },
		panicked: func() error {
			if p := n.CallbackPanic(); p != nil {
				return p
			}
			return nil
		},
	}
	if opts.NoInit {
		return d, nil
	}
	if err := d.start(n.Path()); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return d, nil
}

func openSoftware(opts Options) (*Device, error) {
	o := opts.Software
	set := env.Read(o.LookupEnv)
	if set.Profile = cmp.Or(opts.Profile, set.Profile); opts.Profile != "" || len(o.Profiles) == 0 {
		o.Profiles = set.Profiles()
	}
	s, err := softdev.Open(o)
	if err != nil {
		return nil, err
	}
	d := &Device{
		Table: s.Table(), Kind: Software, Name: strings.Join(o.Profiles, ","), close: s.Close,
		lastDetail: s.LastDetail, panicked: func() error { return nil },
		takeDetail: s.TakeDetail, interrupt: s.Interrupt, stoppable: s.Stoppable, params: s.Params,
		occupancy: s.Occupancy, broken: s.Broken,
		Engine: s.EngineName(), EngineISA: s.EngineISA(), EngineWhy: s.EngineWhy(),
	}
	if opts.NoInit {
		return d, nil
	}
	if err := d.start("software"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return d, nil
}

// start calls cuInit, on both kinds, so that a program that forgets it behaves the same on both; checks that there is a
// device; and takes its name.
func (d *Device) start(library string) error {
	fail := func(call string, r driver.CUresult) error {
		return &ProbeError{Library: library, Call: call, Result: r}
	}
	if r := d.Table.Init(0, 0); r != driver.CUDA_SUCCESS {
		return fail("cuInit", r)
	}
	var n int32
	if r := d.Table.DeviceGetCount(0, &n); r != driver.CUDA_SUCCESS {
		return fail("cuDeviceGetCount", r)
	}
	if n < 1 {
		return fail("cuDeviceGetCount", driver.CUDA_ERROR_NO_DEVICE)
	}
	var dev driver.CUdevice
	if r := d.Table.DeviceGet(0, &dev, 0); r != driver.CUDA_SUCCESS {
		return fail("cuDeviceGet", r)
	}
	name := new([256]byte)
	if r := d.Table.DeviceGetName(0, &name[0], int32(len(name)-1), dev); r != driver.CUDA_SUCCESS {
		return fail("cuDeviceGetName", r)
	}
	d.Name = driver.String(&name[0])
	return nil
}
