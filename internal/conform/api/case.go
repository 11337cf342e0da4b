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
	Run   func(e *Env)
}

type cases []Case

func (c *cases) add(name string, run func(e *Env)) { *c = append(*c, Case{Name: name, Run: run}) }
func (c *cases) alone(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Alone: true, Run: run})
}
func (c *cases) noContext(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Start: NoContext, Run: run})
}
func (c *cases) noInit(name string, run func(e *Env)) {
	*c = append(*c, Case{Name: name, Start: NoInit, Run: run})
}

// call is a case of one call with fixed arguments.
func (c *cases) call(name, fn string, args ...any) {
	c.add(name, func(e *Env) { e.Do(fn, args...) })
}

// Cases is the table.
func Cases() []Case {
	var c cases
	moduleCases(&c)
	jitCases(&c)
	linkCases(&c)
	libraryCases(&c)
	kernelCases(&c)
	functionCases(&c)
	occupancyCases(&c)
	launchCases(&c)
	faultCases(&c)
	contextCases(&c)
	deviceCases(&c)
	memoryCases(&c)
	streamCases(&c)
	eventCases(&c)
	nullCases(&c)
	ipcCases(&c)
	virtualCases(&c)
	poolCases(&c)
	graphCases(&c)
	graphNodeCases(&c)
	copyCases(&c)
	adviceCases(&c)
	arrayCases(&c)
	referenceCases(&c)
	memOpCases(&c)
	greenCases(&c)
	serviceCases(&c)
	orderCases(&c)
	reachCases(&c)
	seen := map[string]bool{}
	for _, k := range c {
		if seen[k.Name] {
			panic("two cases are called " + k.Name)
		}
		seen[k.Name] = true
	}
	return c
}

// Execute runs one case. The directory is for files of the case.
func (c Case) Execute(t *driver.Table, dir string, w io.Writer) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := &Env{T: t, name: c.Name, out: w, dir: dir, symbols: map[uint64]string{}, sizes: map[uint64]uint64{}, stale: map[uint64]bool{}, counts: map[string]int{}}
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
	c.Run(e)
}
