package answer

import (
	"encoding/binary"
	"flag"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/ptxgen"
	"github.com/gocuda/cuda/internal/softdev"
)

var (
	long  = flag.Bool("long", false, "compare engines on forty times as many programs")
	from  = flag.Uint64("from", 0, "first seed of the comparison of engines")
	count = flag.Uint64("count", 0, "how many seeds")
)

// engine is a software device with one way to run kernels.
type engine struct {
	*Runner
	name string
}

// engines are opened once: the interpreter, and machine code for each instruction set of the processor.
var engines = sync.OnceValues(func() (list []engine, err error) {
	open := func(name string, e exec.Engine) error {
		d, err := softdev.New(softdev.Options{Engine: e, Stdout: io.Discard, Stderr: io.Discard, Recover: true,
			Memory: 1 << 30, Workers: 1})
		if err != nil {
			return err
		}
		x := engine{&Runner{T: d.Table(), Detail: d.LastDetail}, name}
		if c := x.T.Init(0, 0); c != driver.CUDA_SUCCESS {
			return &callError{"cuInit", c}
		}
		list = append(list, x)
		return x.renew()
	}
	if err := open("interpreter", interp.New()); err != nil {
		return nil, err
	}
	for _, name := range []string{"avx512", "avx2"} {
		if e, err := jit.New(name); err == nil {
			if err := open(name, e); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
})

// renew makes a context in place of one that a fault broke.
func (e *engine) renew() error {
	if e.Ctx != 0 {
		e.T.CtxDestroy_v2(0, e.Ctx)
	}
	if c := e.T.CtxCreate_v2(0, &e.Ctx, 0, 0); c != driver.CUDA_SUCCESS {
		return &callError{"cuCtxCreate", c}
	}
	return nil
}

// compare runs a program on every engine.
func compare(t *testing.T, seed uint64) {
	list, err := engines()
	if err != nil {
		t.Fatal(err)
	}
	p := ptxgen.Generate(seed)
	var first Answer
	for i := range list {
		e := &list[i]
		a := e.Run(p)
		switch {
		case a.Load != driver.CUDA_SUCCESS || a.Run != driver.CUDA_SUCCESS:
			t.Errorf("seed %d, %s: %v %s, %s %v\n%s", seed, e.name, a.Load, a.Log, a.Call, a.Run, p.Text)
			if err := e.renew(); err != nil {
				t.Fatal(err)
			}
			return
		case i == 0:
			first = a
		default:
			if row, thread := difference(p, a.Out, first.Out); row >= 0 {
				at := 4 * (row*p.Threads() + thread)
				t.Errorf("seed %d, %s: row %d (offset %d) of thread %d is %#x, %s has %#x\n%s", seed, e.name, row,
					ptxgen.Scratch+4*row*p.Threads(), thread,
					binary.LittleEndian.Uint32(a.Out[at:]), list[0].name, binary.LittleEndian.Uint32(first.Out[at:]),
					p.Text)
				return
			}
		}
	}
}

// difference finds the first word that differs; the row is -1 when none does.
func difference(p *ptxgen.Program, a, b []byte) (row, thread int) {
	for i := 0; i < len(a); i += 4 {
		if !slices.Equal(a[i:i+4], b[i:i+4]) {
			return i / 4 / p.Threads(), i / 4 % p.Threads()
		}
	}
	return -1, 0
}

// TestEngines: generated programs give the same bytes on every engine.
func TestEngines(t *testing.T) {
	n := uint64(120)
	switch {
	case *count > 0:
		n = *count
	case *long:
		n *= 40
	case testing.Short():
		n /= 4
	}
	for seed := *from; seed < *from+n; seed++ {
		compare(t, seed)
	}
}

// FuzzGenerated: any generated program loads, and gives the same bytes on every engine; any mutant is loaded or
// refused.
func FuzzGenerated(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(1000+seed, seed%4 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, mutant bool) {
		if !mutant {
			compare(t, seed)
			return
		}
		list, err := engines()
		if err != nil {
			t.Fatal(err)
		}
		m, code, log := list[0].Load(ptxgen.Mutant(seed).Text)
		switch {
		case code == driver.CUDA_SUCCESS:
			list[0].T.ModuleUnload(list[0].Ctx, m)
		case log == "":
			t.Errorf("seed %d: %v without a word", seed, code)
		}
	})
}
