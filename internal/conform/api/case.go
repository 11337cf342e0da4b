package api

import (
	"bufio"
	"fmt"
	"io"
	"runtime"

	"github.com/gocuda/cuda/internal/driver"
)

// Start is what came before a case.
type Start int

// The starts.
const (
	WithContext Start = iota // the primary context of device 0 is current
	NoContext                // cuInit, nothing current
	NoInit                   // not even cuInit
)

// Case is one case of the table.
type Case struct {
	Name  string // topic/what
	Start Start
	Alone bool // can end the process or break the device, or changes what other cases see: gets a process of its own
	run   func(e *Env)

	group func(*cases) // makes the case
	index int          // in what it makes
}

type cases []Case

func (c *cases) add(name string, run func(e *Env)) { *c = append(*c, Case{Name: name, run: run}) }
func (c *cases) alone(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Alone: true, run: run})
}
func (c *cases) noContext(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Start: NoContext, run: run})
}
func (c *cases) noInit(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Start: NoInit, run: run})
}

// call is a case of one call with fixed arguments.
func (c *cases) call(name, fn string, args ...any) {
	c.add(name, func(e *Env) { e.Do(fn, args...) })
}

// Set is a table of cases for one kind of machine, with what is known of the answers. The cases of a group share
// variables.
type Set struct {
	Name        string
	Devices     int // that the cases need
	groups      []func(*cases)
	Differences []Difference // all that is known, each with the reason why it stays
	// Unrecorded are cases that no recording has yet, by name or, with a slash at the end, by the beginning of names.
	// They run, and nothing is compared.
	Unrecorded []string
}

// One is the table for one device.
var One = &Set{Name: "one", Devices: 1, Differences: differences, groups: []func(*cases){
	moduleCases, jitCases, linkCases, libraryCases, kernelCases, functionCases, occupancyCases, launchCases, faultCases,
	contextCases,
	deviceCases, memoryCases, streamCases, eventCases, nullCases, ipcCases, virtualCases, poolCases, graphCases,
	graphNodeCases,
	copyCases, adviceCases, arrayCases, referenceCases, memOpCases, greenCases, serviceCases, orderCases, reachCases,
}}

// Two is the table for two devices that reach each other's memory.
var Two = &Set{Name: "two", Devices: 2, Differences: differencesOfTwo,
	groups: []func(*cases){
		peerCases, peerKernelCases, peerCopyCases, peerPointerCases, peerManagedCases, peerStreamCases, peerModuleCases,
		peerPoolCases, peerVirtualCases, peerShareCases, peerContextCases, peerGraphCases,
	}}

// sets are all tables, for a child process.
var sets = []*Set{One, Two}

// Cases is the table.
func (x *Set) Cases() []Case {
	var all []Case
	seen := map[string]bool{}
	for _, group := range x.groups {
		var c cases
		group(&c)
		for i := range c {
			if seen[c[i].Name] {
				panic("two cases are called " + c[i].Name)
			}
			seen[c[i].Name] = true
			c[i].group, c[i].index = group, i
		}
		all = append(all, c...)
	}
	return all
}

// fresh makes the case anew, so that it sees nothing of what another has left in variables that they share.
func (c Case) fresh() Case {
	var of cases
	c.group(&of)
	return of[c.index]
}

// Execute runs one case. The directory is for files of the case.
func (c Case) Execute(t *driver.Table, dir string, w io.Writer) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := &Env{T: t, name: c.Name, out: w, dir: dir, symbols: map[uint64]string{}, sizes: map[uint64]uint64{},
		stale: map[uint64]bool{}, counts: map[string]int{}}
	defer e.pins.Unpin()
	defer func() {
		switch p := recover().(type) {
		case nil, stopCase:
		default:
			fmt.Fprintf(w, "\n%s: # panic: %v\n", c.Name, p)
		}
		if f, ok := w.(*bufio.Writer); ok {
			_ = f.Flush()
		}
	}()
	if c.Start != NoInit {
		e.Must("cuInit", 0)
		for range 16 { // the stack of contexts that an earlier case of the process left
			var ctx driver.CUcontext
			if t.CtxPopCurrent_v2(0, &ctx) != driver.CUDA_SUCCESS {
				break
			}
		}
	}
	if c.Start == WithContext {
		var ctx driver.CUcontext
		e.Must("cuDevicePrimaryCtxRetain", &ctx, 0)
		e.Must("cuCtxSetCurrent", ctx)
	}
	c.fresh().run(e)
}
