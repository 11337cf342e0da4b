package limits

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

var (
	record  = flag.String("record", "", "write what becomes of the calls to a file")
	seconds = flag.Int("seconds", 80, "after which no more calls are begun on the driver")
)

// TestMain: with GOCUDA_DEVICE=driver the calls go to the NVIDIA driver, which takes seconds to start and minutes for
// all.
func TestMain(m *testing.M) {
	onDriver := os.Getenv("GOCUDA_DEVICE") == "driver"
	if Child(func() (*driver.Table, error) {
		if onDriver {
			d, err := nvidia.Open(nvidia.Options{})
			if err != nil {
				return nil, err
			}
			return d.Table(), nil
		}
		d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard, Workers: 2,
			DriverVersion: driver.CUDA_VERSION})
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	}) {
		return
	}
	flag.Parse()
	if *record != "" {
		if err := recordAll(onDriver); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func recordAll(onDriver bool) error {
	r := Runner{Workers: 2, Functions: 40}
	if onDriver {
		r = Runner{Workers: 12, Functions: 10, Until: time.Now().Add(time.Duration(*seconds) * time.Second),
			Skip: onDriverNot}
	}
	all, err := r.Run()
	var b strings.Builder
	for _, o := range all {
		word, _, _ := strings.Cut(o.Text, "\t")
		fmt.Fprintf(&b, "%s %s -> %s\n", o.Function, o.Call, word)
	}
	return errors.Join(err, os.WriteFile(*record, []byte(b.String()), 0o644))
}

// onDriverNot are functions that are not called on hardware: they reach for other processes, or for what is shared with
// them.
func onDriverNot(fn string) bool {
	return strings.HasPrefix(fn, "cuCheckpoint") || strings.HasPrefix(fn, "cuMulticast") ||
		strings.HasPrefix(fn, "cuCoredumpSet")
}

// long are numbers that say how much of the caller's memory a call reads or writes: more than there is, and it finds
// none, as every function of C would. Through the C library the process then ends by SIGSEGV.
var long = map[string]string{
	"cuDeviceGetHostAtomicCapabilities count":           "operations, all of which are answered",
	"cuGraphGetEdges numEdges":                          toNull,
	"cuGraphGetEdges_v2 numEdges":                       toNull,
	"cuGraphGetNodes numNodes":                          toNull,
	"cuGraphGetRootNodes numRootNodes":                  toNull,
	"cuGraphNodeGetDependencies numDependencies":        toNull,
	"cuGraphNodeGetDependencies_v2 numDependencies":     toNull,
	"cuGraphNodeGetDependentNodes numDependentNodes":    toNull,
	"cuGraphNodeGetDependentNodes_v2 numDependentNodes": toNull,
	"cuLaunchKernelEx config.NumAttrs":                  "zeros are attributes to be ignored",
	"cuOccupancyMaxActiveClusters config.NumAttrs":      "zeros are attributes to be ignored",
	"cuLibraryLoadData numLibraryOptions":               "zeros are options",
	"cuLibraryLoadFromFile numLibraryOptions":           "zeros are options",
	"cuLinkAddData numOptions":                          "zeros are options",
	"cuLinkAddData_v2 numOptions":                       "zeros are options",
	"cuLinkAddFile numOptions":                          "zeros are options",
	"cuLinkAddFile_v2 numOptions":                       "zeros are options",
	"cuLinkAddData size":                                "bytes of an input",
	"cuLinkAddData_v2 size":                             "bytes of an input",
}

// busy are numbers that say how much work a call gives the device: more than ends while the test waits for it.
var busy = map[string]string{
	"cuLaunchKernelEx config.GridDimX": "2^31-1 blocks are run, and may be",
}

const toNull = "what is left of the list becomes NULL (cuGraphGetNodes)"

// refused are functions of the device whose plain call, too, answers an error, with the reason; a star stands for the
// rest of the name.
var refused = map[string]string{
	"cuArrayGetPlane":                       "arrays have no planes",
	"cuCheckpointProcess*":                  "no process has the number 0, and the own one would be stopped",
	"cuCoredumpSetAttribute*":               "a file name has no end",
	"cuCtxCreate":                           "the first version wants the device for itself",
	"cuCtxCreate_v3":                        "there is no execution affinity",
	"cuCtxEnablePeerAccess":                 "one device",
	"cuDeviceGetP2P*":                       "one device",
	"cuDeviceGetLuid":                       "LUIDs are of Windows",
	"cuDevicePrimaryCtxSetFlags":            "the context is there",
	"cuDeviceUnregisterAsyncNotification":   "its handle goes with another call",
	"cuGetProcAddress*":                     "Go has no addresses to give",
	"cuIpcOpenMemHandle*":                   "the handle is another process's",
	"cuMemBatchDecompressAsync":             "there is no decompression",
	"cuMulticast*":                          "one device",
	"cuMemGetHandleForAddressRange":         "there is no bus",
	"cuMipmappedArrayGetMemoryRequirements": "the array has its memory",
	"cuProfilerInitialize":                  "the driver does not either",
	"cuStreamBatchMemOp":                    "the first version is turned off",
	"cuStreamWaitValue*":                    "the first version is turned off",
	"cuStreamWriteValue*":                   "the first version is turned off",
}

// narrow are the functions of the API's first version that take addresses of 32 bits, which the window's are not.
var narrow = []string{"cuMemAlloc", "cuMemAllocPitch", "cuMemHostGetDevicePointer", "cuMemcpyAtoD", "cuMemcpyDtoA",
	"cuMemcpyDtoD", "cuMemcpyDtoDAsync", "cuMemcpyDtoH", "cuMemcpyDtoHAsync", "cuMemcpyHtoD",
	"cuMemcpyHtoDAsync", "cuMemsetD8", "cuMemsetD16", "cuMemsetD32", "cuMemsetD2D8", "cuMemsetD2D16", "cuMemsetD2D32",
	"cuTexRefSetAddress", "cuTexRefSetAddress2D"}

func isRefused(fn string) bool {
	for name := range refused {
		if prefix, star := strings.CutSuffix(name, "*"); name == fn || star && strings.HasPrefix(fn, prefix) {
			return true
		}
	}
	return slices.Contains(narrow, fn)
}

// TestLimits: whatever numbers a call is given, it answers, soon, and without taking memory by them.
func TestLimits(t *testing.T) {
	all, err := (&Runner{Workers: 2, Functions: 40}).Run()
	if err != nil {
		t.Fatal(err)
	}
	device, err := softdev.New(softdev.Options{DriverVersion: driver.CUDA_VERSION})
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	functions, numbers, plain := map[string]bool{}, map[string]bool{}, 0
	for _, o := range all {
		functions[o.Function] = true
		number, _, limit := strings.Cut(o.Call, "=")
		site := o.Function + " " + number
		if limit {
			numbers[site] = true
		}
		switch word, _, _ := strings.Cut(o.Text, " "); {
		case word == faulted && long[site] != "", word == hung && busy[site] != "":
		case word == panicked, word == faulted, word == grew, word == crashed, word == hung, word == unmade,
			strings.Contains(o.Text, ", then "):
			t.Errorf("%s %s -> %s", o.Function, o.Call, strings.ReplaceAll(o.Text[:min(len(o.Text), 3000)], "\t", "\n"))
		case limit:
		case word == driver.CUDA_SUCCESS.String():
			plain++
		case device.Implements(o.Function) && hasNumbers(all, o.Function) && !isRefused(o.Function):
			t.Errorf("%s, with nothing at its limits -> %s", o.Function, o.Text) // so that the others say nothing
		}
	}
	t.Logf("%d calls of %d functions with %d numbers; %d succeed with nothing at its limits", len(all), len(functions),
		len(numbers), plain)
	if len(functions) != 616 || len(numbers) < 1712 || plain < 470 {
		t.Error("there were more")
	}
	if len(long) > 19 || len(busy) > 1 || len(refused)+len(narrow) > 39 || len(Exclusions) > 4 {
		t.Error("the lists of what is not asked for have grown")
	}
}

func hasNumbers(all []Outcome, fn string) bool {
	return slices.ContainsFunc(all, func(o Outcome) bool { return o.Function == fn && strings.Contains(o.Call, "=") })
}
