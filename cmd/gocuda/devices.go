package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/profiles"
)

type devicesCmd struct {
	JSON    bool `name:"json" help:"Print JSON."`
	Verbose bool `short:"v" help:"List the driver libraries that were tried."`
}

type deviceInfo struct {
	Ordinal     int    `json:"ordinal"`
	Name        string `json:"name"`
	Capability  string `json:"compute_capability"`
	MemoryBytes uint64 `json:"memory_bytes"`
	SMs         int    `json:"multiprocessors"`
}

type devicesReport struct {
	Host   string `json:"host"`
	Driver struct {
		Usable  bool         `json:"usable"`
		Why     string       `json:"why,omitempty"`
		Tried   []string     `json:"tried,omitempty"` // libraries, each with its error
		Version int          `json:"version,omitempty"`
		Devices []deviceInfo `json:"devices,omitempty"`
	} `json:"driver"`
	Software struct {
		Version  int          `json:"version"`
		Engine   string       `json:"engine"`
		ISA      string       `json:"engine_isa,omitempty"`
		Why      string       `json:"engine_why,omitempty"`
		Devices  []deviceInfo `json:"devices"`
		Profiles []string     `json:"profiles"`
	} `json:"software"`
}

func (c *devicesCmd) Run(con *console) error {
	var r devicesReport
	r.Host = runtime.GOOS + "/" + runtime.GOARCH
	if d, err := device.Open(device.Options{Kind: device.Driver}); err != nil {
		r.Driver.Why, r.Driver.Tried = err.Error(), tried(err)
	} else {
		r.Driver.Usable = true
		r.Driver.Version, r.Driver.Devices, err = list(d)
		err = errors.Join(err, d.Close())
		if err != nil {
			r.Driver.Why = err.Error()
		}
	}
	d, err := device.Open(device.Options{Kind: device.Software})
	if err != nil {
		return err
	}
	defer d.Close()
	if r.Software.Version, r.Software.Devices, err = list(d); err != nil {
		return err
	}
	r.Software.Engine, r.Software.ISA = d.Engine, d.EngineISA
	if d.EngineWhy != nil {
		r.Software.Why = d.EngineWhy.Error()
	}
	r.Software.Profiles = profiles.Names()
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(con.out, "NVIDIA driver: ")
	if r.Driver.Usable {
		fmt.Fprintf(con.out, "CUDA %d.%d\n", r.Driver.Version/1000, r.Driver.Version%1000/10)
	} else {
		fmt.Fprintf(con.out, "not used\n  %s\n", strings.TrimPrefix(r.Driver.Why, "NVIDIA driver: "))
		if c.Verbose {
			for _, l := range r.Driver.Tried {
				fmt.Fprintf(con.out, "    %s\n", l)
			}
		}
	}
	printDevices(con, r.Driver.Devices)
	engine := r.Software.Engine
	if r.Software.ISA != "" {
		engine += " (" + r.Software.ISA + ")"
	}
	fmt.Fprintf(con.out, "Software device: CUDA %d.%d, %s on %s\n", r.Software.Version/1000, r.Software.Version%1000/10,
		engine, r.Host)
	if r.Software.Why != "" {
		fmt.Fprintf(con.out, "  %s\n", r.Software.Why)
	}
	printDevices(con, r.Software.Devices)
	fmt.Fprintf(con.out, "  profiles (GOCUDA_PROFILE):")
	for _, p := range r.Software.Profiles {
		fmt.Fprintf(con.out, " %s", p)
	}
	fmt.Fprintln(con.out)
	return nil
}

// tried are the driver libraries that an error is about, each with its error.
func tried(err error) []string {
	var d interface{ Details() string }
	if !errors.As(err, &d) || d.Details() == "" {
		return nil
	}
	return strings.Split(d.Details(), "\n")
}

func printDevices(con *console, ds []deviceInfo) {
	for _, d := range ds {
		fmt.Fprintf(con.out, "  %d: %s, compute capability %s, %d multiprocessors, %.1f GiB\n", d.Ordinal, d.Name,
			d.Capability, d.SMs, float64(d.MemoryBytes)/(1<<30))
	}
}

// callError is a failed driver call.
type callError struct {
	call   string
	code   driver.CUresult
	detail string
}

func (e *callError) Error() string {
	s := e.call + ": " + e.code.String()
	if e.detail != "" {
		s += ": " + e.detail
	} else if t, ok := e.code.Text(); ok {
		s += " (" + t + ")"
	}
	return s
}

func list(d *device.Device) (version int, out []deviceInfo, err error) {
	t := d.Table
	ok := func(call string, r driver.CUresult) {
		if r != driver.CUDA_SUCCESS && err == nil {
			err = &callError{call, r, d.LastDetail(0)}
		}
	}
	var v, n int32
	ok("cuInit", t.Init(0, 0))
	ok("cuDriverGetVersion", t.DriverGetVersion(0, &v))
	ok("cuDeviceGetCount", t.DeviceGetCount(0, &n))
	for i := int32(0); i < n && err == nil; i++ {
		var dev driver.CUdevice
		ok("cuDeviceGet", t.DeviceGet(0, &dev, i))
		name := make([]byte, 256)
		ok("cuDeviceGetName", t.DeviceGetName(0, &name[0], int32(len(name)), dev))
		info := deviceInfo{Ordinal: int(i), Name: driver.String((*byte)(unsafe.Pointer(&name[0])))}
		ok("cuDeviceTotalMem", t.DeviceTotalMem_v2(0, &info.MemoryBytes, dev))
		attr := func(a driver.CUdevice_attribute) int {
			var x int32
			ok("cuDeviceGetAttribute", t.DeviceGetAttribute(0, &x, a, dev))
			return int(x)
		}
		info.Capability = fmt.Sprintf("%d.%d", attr(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
			attr(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
		info.SMs = attr(driver.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
		out = append(out, info)
	}
	return int(v), out, err
}
