package device

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

var errNoDriver = errors.New("no driver here")

func made(k Kind) func(Options) (*Device, error) {
	return func(Options) (*Device, error) { return &Device{Kind: k}, nil }
}

func failing(err error) func(Options) (*Device, error) {
	return func(Options) (*Device, error) { return nil, err }
}

func TestChoice(t *testing.T) {
	both := openers{made(Driver), made(Software)}
	without := openers{failing(errNoDriver), made(Software)}
	broken := errors.New("no such profile")
	for _, c := range []struct {
		kind Kind
		env  string
		by   openers
		want Kind // Auto: an error
		why  bool
	}{
		{Auto, "", both, Driver, false},
		{Auto, "auto", both, Driver, false},
		{Auto, "software", both, Software, false},
		{Auto, "driver", both, Driver, false},
		{Software, "driver", both, Software, false}, // the option wins
		{Driver, "software", both, Driver, false},
		{Auto, "", without, Software, true},
		{Auto, "software", without, Software, false},
		{Auto, "driver", without, Auto, false}, // no silent fall-back
		{Driver, "", without, Auto, false},
		{Auto, "gpu", both, Auto, false},
		{Kind(7), "", both, Auto, false},
		{Auto, "", openers{failing(errNoDriver), failing(broken)}, Auto, false},
	} {
		t.Setenv(env.Device, c.env)
		d, err := open(Options{Kind: c.kind}, c.by)
		switch {
		case c.want == Auto && err == nil:
			t.Errorf("%v, %s=%q: opened %v, want an error", c.kind, env.Device, c.env, d.Kind)
		case c.want == Auto:
		case err != nil:
			t.Errorf("%v, %s=%q: %v", c.kind, env.Device, c.env, err)
		case d.Kind != c.want || (d.Why != nil) != c.why || c.why && !errors.Is(d.Why, errNoDriver):
			t.Errorf("%v, %s=%q: %v because of %v, want %v", c.kind, env.Device, c.env, d.Kind, d.Why, c.want)
		}
	}
	t.Setenv(env.Device, "")
	_, err := open(Options{}, openers{failing(errNoDriver), failing(broken)})
	if !errors.Is(err, errNoDriver) || !errors.Is(err, broken) {
		t.Errorf("both fail: %v, want both reasons", err)
	}
	t.Setenv(env.Device, "gpu")
	var ce *ChoiceError
	if _, err := open(Options{}, both); !errors.As(err, &ce) || ce.Variable != env.Device || ce.Value != "gpu" {
		t.Errorf("%s=gpu: %v", env.Device, err)
	}
	t.Setenv(env.Device, "")
	if _, err := open(Options{NoInit: true}, both); !errors.Is(err, errNoInitNeedsKind) {
		t.Errorf("NoInit with Auto: %v", err)
	}
}

func TestParseKind(t *testing.T) {
	for k := Auto; k <= Software; k++ {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if k, err := ParseKind(""); k != Auto || err != nil {
		t.Errorf("empty: %v, %v", k, err)
	}
	if _, err := ParseKind("Driver"); err == nil {
		t.Error("the names are lower case")
	}
}

func TestNoDriver(t *testing.T) {
	t.Setenv(env.Driver, t.TempDir()+"/libcuda.so.1")
	_, err := Open(Options{Kind: Driver})
	var le *nvidia.LoadError
	if !errors.As(err, &le) {
		t.Errorf("%v, want a *nvidia.LoadError", err)
	}
}

// The steps of start in the order in which a driver can fail, with the results that it documents.
func TestStart(t *testing.T) {
	count, name := int32(1), "GPU"
	var initResult driver.CUresult
	table := &driver.Table{
		Init:           func(driver.CUcontext, uint32) driver.CUresult { return initResult },
		DeviceGetCount: func(_ driver.CUcontext, n *int32) driver.CUresult { *n = count; return driver.CUDA_SUCCESS },
		DeviceGet: func(_ driver.CUcontext, d *driver.CUdevice, _ int32) driver.CUresult {
			*d = 0
			return driver.CUDA_SUCCESS
		},
		DeviceGetName: func(_ driver.CUcontext, p *byte, n int32, _ driver.CUdevice) driver.CUresult {
			copy(unsafe.Slice(p, n), name+"\x00")
			return driver.CUDA_SUCCESS
		},
	}
	d := &Device{Table: table, Kind: Driver}
	if err := d.start("lib"); err != nil || d.String() != "driver: GPU" {
		t.Errorf("%v, %v", d, err)
	}
	var pe *ProbeError
	count = 0
	if err := d.start("lib"); !errors.As(err, &pe) || pe.Result != driver.CUDA_ERROR_NO_DEVICE ||
		pe.Call != "cuDeviceGetCount" {
		t.Errorf("no device: %v", err)
	}
	initResult = driver.CUDA_ERROR_STUB_LIBRARY
	err := d.start("lib")
	if !errors.As(err, &pe) || pe.Call != "cuInit" || !strings.Contains(err.Error(), "stub library") {
		t.Errorf("stub library: %v", err)
	}
}

func TestSoftware(t *testing.T) {
	t.Setenv(env.Profile, "")
	t.Setenv(env.Device, "")
	d, err := Open(Options{Kind: Software})
	if err != nil {
		t.Fatal(err)
	}
	if d.Kind != Software || d.Name == "" || d.Why != nil || d.CallbackPanic() != nil {
		t.Errorf("%v, why %v", d, d.Why)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	// two devices from the environment; an option wins over it
	t.Setenv(env.Profile, "h200, h200")
	d, err = Open(Options{Kind: Software})
	if err != nil {
		t.Fatal(err)
	}
	var n int32
	if r := d.Table.DeviceGetCount(0, &n); r != driver.CUDA_SUCCESS || n != 2 {
		t.Errorf("%v, %d devices, want 2", r, n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv(env.Profile, "no-such-profile")
	if _, err := Open(Options{Kind: Software}); err == nil || !strings.Contains(err.Error(), "no-such-profile") {
		t.Errorf("unknown profile: %v", err)
	}
	if d, err = Open(Options{Kind: Software, Profile: "h200", NoInit: true}); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if r := d.Table.DeviceGetCount(0, &n); r != driver.CUDA_ERROR_NOT_INITIALIZED {
		t.Errorf("cuDeviceGetCount before cuInit: %v", r)
	}
}

// CUDA_VISIBLE_DEVICES chooses among the devices that a program finds, not among those that it asks for.
func TestVisibleDevices(t *testing.T) {
	lib := t.TempDir() + "/libcuda.so.1" // there is none
	for _, c := range []struct {
		kind             Kind
		profile          string
		device, profiles string
		visible          string
		want             int32 // devices; 0 when it does not open
	}{
		{Auto, "", "", "h200,a100", "1", 1}, {Auto, "", "software", "h200,a100", "1,0", 2}, {Auto, "", "", "", "", 0},
		{Auto, "", "software", "h200,a100", "7", 0}, {Auto, "h200,h200,h200", "software", "", "2,0", 2},
		{Software, "", "", "h200,a100", "1", 2}, {Software, "", "", "", "7", 1}, {Software, "h200,h200", "", "", "", 2},
	} {
		vars := map[string]string{
			env.Device: c.device, env.Profile: c.profiles, env.Visible: c.visible, env.Driver: lib,
		}
		var o Options
		o.Kind, o.Profile = c.kind, c.profile
		o.Software.LookupEnv = func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
		d, err := Open(o)
		var none *softdev.NoDeviceError
		if c.want == 0 {
			if !errors.As(err, &none) || none.Visible != c.visible {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var n int32
		if r := d.Table.DeviceGetCount(0, &n); r != driver.CUDA_SUCCESS || n != c.want {
			t.Errorf("%+v: %d devices, %v", c, n, r)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAuto(t *testing.T) {
	t.Setenv(env.Device, "")
	t.Setenv(env.Profile, "")
	t.Setenv(env.Driver, t.TempDir()+"/libcuda.so.1")
	d, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var le *nvidia.LoadError
	if d.Kind != Software || !errors.As(d.Why, &le) {
		t.Errorf("%v because of %v, want the software device because of a *nvidia.LoadError", d, d.Why)
	}
}
