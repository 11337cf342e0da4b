//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
)

// Driver is an open driver library. Its methods and the functions of its table may be called from several goroutines.
type Driver struct {
	path   string
	handle uintptr
	table  *driver.Table
	frames sync.Pool // *frame
	fn     [numSymbols]atomic.Uintptr

	mu         sync.Mutex
	closed     bool
	procDone   bool
	proc       uintptr // cuGetProcAddress_v2, 0 when the driver has none
	version    int     // of the driver, 0 unless asked for
	missing    []MissingSymbol
	last       string
	panics     []*CallbackPanic
	async      map[driver.CUasyncCallbackHandle]uintptr // key of the callback registry
	logs       map[driver.CUlogsCallbackHandle]uintptr
	coredumps  map[driver.CUcoredumpCallbackHandle]uintptr
	recaptures map[recapture]uintptr
}

// Open finds the driver library and makes a table for it. Nothing of the driver is called, in particular not cuInit.
// The error is a [*LoadError].
//
// The same library may be opened several times; the drivers share the state of the process, as the library does.
func Open(opts Options) (*Driver, error) {
	paths, forced := candidates(opts)
	fail := &LoadError{Forced: forced}
	for _, p := range paths {
		h, err := openLibrary(p)
		if err == nil && librarySymbol(h, "cuInit") == 0 {
			closeLibrary(h)
			err = errNotCUDA
		}
		if err != nil {
			_, absent := os.Stat(p)
			fail.Tried = append(fail.Tried, Attempt{Path: p, Err: err, Here: filepath.IsAbs(p) && absent == nil})
			continue
		}
		d := &Driver{path: p, handle: h}
		d.frames.New = func() any { return new(frame) }
		d.table = d.newTable()
		return d, nil
	}
	return nil, fail
}

// candidates are the libraries to try, and what forces a single one.
func candidates(opts Options) (paths []string, forced string) {
	if opts.Path != "" {
		return []string{opts.Path}, fmt.Sprintf("the path %q given to the program", opts.Path)
	}
	set := env.Read(opts.LookupEnv)
	if set.Driver != "" {
		return []string{set.Driver}, env.Driver + "=" + set.Driver
	}
	return defaultPaths(set), ""
}

// newTable fills a table with the generated functions; see zz_generated_table.go.
func (d *Driver) newTable() *driver.Table {
	t := &driver.Table{PerThread: new(driver.Table), HostFunc: d.hostFunc}
	d.fill(t, t.PerThread)
	return t
}

// Table returns the functions of the driver. The table is the caller's to read, not to change.
func (d *Driver) Table() *driver.Table { return d.table }

// Path is the name under which the library was opened.
func (d *Driver) Path() string { return d.path }

// Close ends the use of the table: later calls answer CUDA_ERROR_DEINITIALIZED, calls that run go on. The library stays
// loaded: the driver has threads of its own, which must not lose their code, and others in the process may use it.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for i := range d.fn {
		d.fn[i].Store(closedSymbol)
	}
	return nil
}

// Missing returns the functions that were called and that the driver does not have, by name.
func (d *Driver) Missing() []MissingSymbol {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := slices.Clone(d.missing)
	slices.SortFunc(m, func(a, b MissingSymbol) int { return strings.Compare(a.Name, b.Name) })
	return m
}

// LastDetail explains the last CUDA_ERROR_NOT_SUPPORTED that came from this package and not from the driver; empty when
// there was none.
func (d *Driver) LastDetail() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// CallbackPanic returns the oldest panic of a Go callback that was not returned yet, nil when there is none.
func (d *Driver) CallbackPanic() *CallbackPanic {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.panics) == 0 {
		return nil
	}
	p := d.panics[0]
	d.panics = d.panics[1:]
	return p
}

// maxPanics bounds what a callback that always panics can pile up.
const maxPanics = 64

func (d *Driver) keepPanic(p *CallbackPanic) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.panics) < maxPanics {
		d.panics = append(d.panics, p)
	}
}

// stackStructs: a struct of more than 16 bytes passed by value lies among the stack arguments (System V ABI for amd64,
// class MEMORY). On arm64 (AAPCS64, rule B.4) and on Windows for amd64 the caller passes the address of a copy.
const stackStructs = runtime.GOARCH == "amd64" && runtime.GOOS != "windows"
