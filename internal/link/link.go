package link

import (
	"strings"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/image/fatbin"
)

// Input is the kind of an input: the values of CUjitInputType (cuda.h).
type Input uint8

// The kinds of input.
const (
	InputCubin   Input = iota // CUDA ELF
	InputPTX                  // text; also a cubin, which the driver recognises (recorded)
	InputFatbin               // container
	InputObject               // host object with device code in it
	InputLibrary              // static library of such objects
	InputNVVM                 // intermediate code; refused
)

// Level is how grave a line of the log is: which of the driver's two buffers it goes to.
type Level uint8

// The levels.
const (
	Info  Level = iota // CU_JIT_INFO_LOG_BUFFER
	Fatal              // CU_JIT_ERROR_LOG_BUFFER
)

// Options are what a link depends on besides its inputs.
type Options struct {
	// SM is the device's compute capability as 10*major+minor; 0 takes any target.
	SM int
	// ForcePTX and DisablePTX are CUDA_FORCE_PTX_JIT and CUDA_DISABLE_PTX_JIT.
	ForcePTX, DisablePTX bool
	// MaxShared is the largest static shared memory of a kernel in a module that is loaded alone; 0 stands for that of
	// sm_90. Linked programs have the linker's own limit of 48 KiB (recorded).
	MaxShared uint64
	// Newest is the newest version of PTX that is taken, as in check.Options.
	Newest int
	// Builtin says whether the device provides an undefined function to every program (vprintf, malloc); nil means that
	// it provides none.
	Builtin func(name string) bool
	// Runtime says whether the device provides a function of the device runtime library (libcudadevrt.a), which
	// programs see when they were linked with that library; nil means that it provides none.
	Runtime func(name string) bool
	// Compile is for every input for which nothing else is given.
	Compile Compile
	// Relink accepts images made by [Linked.Image] as inputs. The driver links no executable cubins (recorded:
	// CUDA_ERROR_NO_BINARY_FOR_GPU), and without Relink neither does this linker.
	Relink bool
	// Stop ends the work with an error that wraps [ptx.ErrStopped] soon after it is set; nil never is.
	Stop *atomic.Bool
	// Log receives every line for the caller's log buffers as it comes up, those of errors included; nil drops them.
	Log func(level Level, line string)
}

func (o *Options) builtin(name string, runtime bool) bool {
	if o.Runtime != nil && o.Runtime(name) {
		return runtime
	}
	return o.Builtin != nil && o.Builtin(name)
}

func (o *Options) device() fatbin.Device {
	return fatbin.Device{SM: o.SM, RunsSASS: true, ForcePTX: o.ForcePTX, DisablePTX: o.DisablePTX}
}

// Linker is a link in the making. It is not safe for use by several goroutines at once.
type Linker struct {
	opts    Options
	compile Compile        // of the input that is being read
	budget  *fatbin.Budget // of the input that is being read
	texts   uint64         // bytes of PTX in the units and in what is pending
	table   table
	units   []*Unit
	pending []*member // of libraries, not needed so far
	runtime bool      // the device runtime library is among the inputs
	done    bool
}

// New begins a link.
func New(o Options) *Linker { return &Linker{opts: o, table: table{byName: map[string]*symbol{}}} }

// Add takes an input. name stands for it in messages. The data is not referenced afterwards. An input that fails leaves
// the link as it was; errors are *Error.
func (l *Linker) Add(kind Input, data []byte, name string) error {
	return l.AddWith(kind, data, name, l.opts.Compile)
}

// AddWith is Add of an input that is compiled in its own way.
func (l *Linker) AddWith(kind Input, data []byte, name string, c Compile) error {
	if l.done {
		return l.fail(&Error{Class: BadInput, Detail: "the link is complete"})
	}
	l.compile, l.budget = c, fatbin.NewBudget(len(data))
	units, units0, pending0, runtime0, texts0 := []*Unit(nil), len(l.units), len(l.pending), l.runtime, l.texts
	err := l.read(kind, data, name, &units)
	if err == nil {
		err = l.table.add(units)
	}
	if err != nil {
		l.units, l.pending, l.runtime, l.texts = l.units[:units0], l.pending[:pending0], runtime0, texts0
		return l.fail(err)
	}
	l.units = append(l.units, units...)
	return nil
}

// Complete ends the link. Errors are *Error; a link that failed here is over too.
func (l *Linker) Complete() (*Linked, error) {
	if l.done {
		return nil, l.fail(&Error{Class: Complete, Detail: "the link was completed before"})
	}
	l.done = true
	if err := l.pull(); err != nil {
		return nil, l.fail(err)
	}
	if err := l.table.undefined(&l.opts, l.runtime); err != nil {
		return nil, l.fail(err)
	}
	p := l.resolve()
	if err := p.limits(); err != nil {
		return nil, l.fail(err)
	}
	return p, nil
}

// fail logs an error's lines and returns it.
func (l *Linker) fail(e *Error) error {
	if l.opts.Log != nil && e.Log != "" {
		for _, s := range strings.Split(e.Log, "\n") {
			l.opts.Log(Fatal, s)
		}
	}
	return e
}

func (l *Linker) info(line string) {
	if l.opts.Log != nil {
		l.opts.Log(Info, line)
	}
}

// pull takes members of libraries that define what is used and undefined, until none does. Their order does not matter,
// nor that of the libraries.
func (l *Linker) pull() *Error {
	for again := true; again; {
		again = false
		rest := l.pending[:0]
		for _, m := range l.pending {
			if !m.needed(&l.table, &l.opts, l.runtime) {
				rest = append(rest, m)
				continue
			}
			if err := l.table.add(m.units); err != nil {
				return err
			}
			l.units = append(l.units, m.units...)
			again = true
		}
		l.pending = rest
	}
	return nil
}
