package softdev

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// driverOf makes a ready driver of a CUDA version; 0 is the profile's.
func driverOf(t *testing.T, version int32) (*Driver, *driver.Table) {
	t.Helper()
	d, err := New(Options{DriverVersion: version, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, closeResult(d)) })
	must(t, d.Table().Init(0, 0))
	return d, d.Table()
}

func closeResult(d *Driver) driver.CUresult {
	if d.Close() != nil {
		return driver.CUDA_ERROR_UNKNOWN
	}
	return driver.CUDA_SUCCESS
}

// As a driver of 13.0, which is what was recorded, the device knows nothing of what came later. What a driver of 13.0
// answers to numbers past its enumerations is recorded (internal/conform/api); the ends are those of its headers.
func TestDriverVersion(t *testing.T) {
	for _, c := range []struct {
		version, says int32
		limit, jit    uint32
	}{{0, 13000, 10, 35}, {13000, 13000, 10, 35}, {13020, 13020, 11, 36}, {13050, 13050, 11, 36}} {
		d, tab := driverOf(t, c.version)
		var v int32
		must(t, tab.DriverGetVersion(0, &v))
		if v != c.says {
			t.Errorf("version %d says %d", c.version, v)
		}
		if uint32(d.limitMax()) != c.limit || uint32(d.jitOptionMax()) != c.jit {
			t.Errorf("%d: limits end at %d, options at %d", c.version, d.limitMax(), d.jitOptionMax())
		}
		var text *byte
		later := tab.GetErrorName(0, driver.CUDA_ERROR_GRAPH_RECAPTURE_FAILURE, &text)
		if (later == driver.CUDA_SUCCESS) != (c.says > 13000) || (text == nil) != (later != driver.CUDA_SUCCESS) {
			t.Errorf("%d: the name of a later result: %v", c.version, later)
		}
		must(t, tab.GetErrorName(0, driver.CUDA_ERROR_KEY_ROTATION, &text))
		const first, last = driver.CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED, driver.CU_DEVICE_ATTRIBUTE_MAX
		for attr := first; attr <= last; attr++ {
			r := tab.DeviceGetAttribute(0, &v, attr, 0)
			if there := c.says > 13000 && attr < last; (r == driver.CUDA_SUCCESS) != there {
				t.Errorf("%d: attribute %d: %v", c.version, attr, r)
			}
		}
		for s := range driver.Symbols() {
			x, _ := d.Support(s.Name)
			if there := s.Since <= int(c.says); !there && x.Implemented {
				t.Errorf("%d: %s is implemented, of %d", c.version, s.Name, s.Since)
			}
		}
	}
}

func TestLaterFunctionSaysItsVersion(t *testing.T) {
	d, tab := driverOf(t, 0)
	var n uint64
	if r := tab.FuncGetParamCount(0, 0, &n); r != driver.CUDA_ERROR_NOT_SUPPORTED {
		t.Fatal(r)
	}
	if got := d.LastDetail(0); !strings.Contains(got, "cuFuncGetParamCount needs CUDA 13.2") ||
		!strings.Contains(got, "13.0") {
		t.Errorf("%q", got)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]int32{"": 13000, "13.0": 13000, " 13.1 ": 13010, "13.5": 13050} {
		if v, err := parseVersion(text, 13000); err != nil || v != want {
			t.Errorf("%q: %d, %v", text, v, err)
		}
	}
	for _, text := range []string{"13", "13.", "12.9", "13.6", "14.0", "13.10", "13.05", "013.5", "x", "13.5.1",
		"-13.5", "+13.5", "999999999999.1", "13050"} {
		var e *DriverVersionError
		if v, err := parseVersion(text, 13000); !errors.As(err, &e) {
			t.Errorf("%q: %d, %v", text, v, err)
		}
	}
	if _, err := New(Options{LookupEnv: func(name string) (string, bool) {
		return map[string]string{"GOCUDA_DRIVER_VERSION": "9.9"}[name], name == "GOCUDA_DRIVER_VERSION"
	}}); err == nil || !strings.Contains(err.Error(), `GOCUDA_DRIVER_VERSION="9.9"`) {
		t.Error(err)
	}
}

// The later forms of binding name the device (cuMulticastBindMem_v2, cuMulticastBindAddr_v2: by the documentation).
func TestMulticastBindOfADevice(t *testing.T) {
	x := openTeamOf(t, 2, Options{DriverVersion: driver.CUDA_VERSION})
	mem := func(dev driver.CUdevice, s int) driver.CUresult {
		return x.tab.MulticastBindMem_v2(0, x.mc, dev, 0, x.stores[s], 0, multicastSize, 0)
	}
	addr := func(dev driver.CUdevice, s int) driver.CUresult {
		return x.tab.MulticastBindAddr_v2(0, x.mc, dev, 0, x.own[s], multicastSize, 0)
	}
	const none = driver.CUDA_ERROR_INVALID_DEVICE
	for _, bind := range []func(driver.CUdevice, int) driver.CUresult{mem, addr} {
		must(t, x.tab.MulticastUnbind(0, x.mc, 1, 0, multicastSize))
		want(t, "memory of the other device", bind(0, 1), none)
		want(t, "no such device", bind(2, 1), none)
		want(t, "no such device", bind(-1, 1), none)
		must(t, bind(1, 1))
		want(t, "bound", bind(1, 1), driver.CUDA_ERROR_INVALID_VALUE)
	}
}
