// Package skip skips tests. Nothing else in the module does, and a test holds that. A test is skipped for a [Thing]
// that the machine, the build or the run does not have; never for what the software device answers. Where it can be
// seen that the machine has the thing after all, the test fails instead.
package skip

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/env"
)

// Thing is what a test may have to do without.
type Thing uint8

// The things. Each is described in the table below, with how to see that it is there.
const (
	Driver Thing = iota
	NoDriver
	Software
	DeviceFeature
	NewerDriver
	NVRTC
	NCCL
	Tool
	Sanitizer
	MachineCode
	AVX512
	Linux
	Stores
	SparseFiles
	Recordings
	Testdata
	Time
	Argument
	Pools
	count
)

// things describes the things: why a test cannot do without, and whether the machine is seen to have it. Without a
// function the caller has looked.
var things = [count]struct {
	name, why string
	here      func() bool
}{
	Driver:   {"Driver", "the test calls NVIDIA's driver, which is not usable here", nil},
	NoDriver: {"NoDriver", "the test is about machines without NVIDIA's driver", nil},
	Software: {"Software", "the test is about the software device, and tests run on the driver",
		func() bool { return env.Read(nil).TestDevice != "driver" }},
	DeviceFeature: {"DeviceFeature", "the GPU or the chosen profile has no such hardware; the software device's own profile has",
		func() bool { s := env.Read(nil); return s.TestDevice != "driver" && s.Profile == "" }},
	NewerDriver: {"NewerDriver", "NVIDIA's driver here is older than what the test uses",
		func() bool { return env.Read(nil).Device == "software" }},
	NVRTC: {"NVRTC", "the compiler library is NVIDIA's and not part of the module", func() bool {
		return env.Read(nil).NVRTC != ""
	}},
	NCCL:      {"NCCL", "the library is NVIDIA's and not part of the module", func() bool { return env.Read(nil).NCCL != "" }},
	Tool:      {"Tool", "the test starts a program of the machine, such as gcc, clang or go", nil},
	Sanitizer: {"Sanitizer", "gcc comes without its address sanitizer", nil},
	MachineCode: {"MachineCode", "the processor or the platform has no engine of machine code",
		func() bool { return amd64("avx2", "fma", "f16c", "bmi1", "popcnt") }},
	AVX512: {"AVX512", "the processor has AVX2 alone", func() bool {
		return amd64("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "bmi1")
	}},
	Linux: {"Linux", "the test looks at what Linux alone has: /proc, ELF programs", func() bool {
		return runtime.GOOS == "linux"
	}},
	Stores: {"Stores", "the host maps no memory twice and shares none between processes", func() bool {
		return runtime.GOOS == "linux" || runtime.GOOS == "darwin"
	}},
	SparseFiles: {"SparseFiles", "the file system has no sparse files", func() bool { return runtime.GOOS == "linux" }},
	Recordings:  {"Recordings", "the full recordings lie beside the repository, not in it; a part of them in testdata is tested everywhere", nil},
	Testdata:    {"Testdata", "the test binary was carried to another machine without the repository", nil},
	Time:        {"Time", "the run is a short one", func() bool { return !testing.Short() }},
	Argument:    {"Argument", "the test works for a flag or a variable alone", nil},
	Pools: {"Pools", "sync.Pool drops values on purpose under the race detector, so allocations cannot be counted",
		func() bool {
			return !Race
		}},
}

func (t Thing) String() string {
	if t >= count {
		return fmt.Sprintf("Thing(%d)", uint8(t))
	}
	return things[t].name
}

// Why says why a test cannot do without the thing.
func (t Thing) Why() string { return things[t].why }

// Without skips the test for want of a thing; detail says more. It is an error of the test if the machine has the
// thing.
func Without(tb testing.TB, t Thing, detail ...any) {
	tb.Helper()
	if here := things[t].here; here != nil && here() {
		tb.Fatalf("%s is there, and the test would be skipped for want of it: %s", t, fmt.Sprint(detail...))
	}
	tb.Skipf("%s: %s: %s", t, t.Why(), fmt.Sprint(detail...))
}

// Command is the path of a program, without which the test is skipped.
func Command(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Without(tb, Tool, err)
	}
	return path
}

// Short skips a test that takes long when the run is a short one.
func Short(tb testing.TB, what string) {
	tb.Helper()
	if testing.Short() {
		Without(tb, Time, what)
	}
}

// amd64 says whether the system reports the features of an amd64 processor. It asks Linux, so that it does not share a
// mistake with the engine's own question.
func amd64(features ...string) bool {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if name, list, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "flags" {
			has := map[string]bool{}
			for _, f := range strings.Fields(list) {
				has[f] = true
			}
			for _, f := range features {
				if !has[f] {
					return false
				}
			}
			return true
		}
	}
	return false
}
