package jit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/exectest/texts"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/skip"
)

// fuzzEngines are made once: one for each instruction set that the processor has, and as many whose CTAs stop again and
// again.
var fuzzEngines = sync.OnceValues(func() (list [2][]*engine, err error) {
	for name, set := range map[string]amd64.ISA{"avx512": amd64.AVX512, "avx2": amd64.AVX2} {
		if _, no := chooseISA(name); no != nil {
			err = no
			continue
		}
		for i := range list {
			e, err := newEngine(generators()[set])
			if err != nil {
				return list, err
			}
			e.probe = int32(3 * i)
			list[i] = append(list[i], e)
		}
	}
	if len(list[0]) > 0 {
		err = nil
	}
	return list, err
})

// FuzzPrograms: a generated kernel stores the same on machine code, on the interpreter, and evaluated thread by thread.
// The input is the generator's choices; of how, bit 0 chooses the kind of program, bit 1 stops CTAs again and again,
// bit 2 leaves accesses to a checker, and the rest are the turn's length.
func FuzzPrograms(f *testing.F) {
	for seed := range byte(16) {
		b := make([]byte, 64)
		for i, r := 0, rand.New(rand.NewPCG(uint64(seed), 3)); i < len(b); i++ {
			b[i] = byte(r.Uint32())
		}
		f.Add(b, seed)
	}
	list, err := fuzzEngines()
	if err != nil {
		skip.Without(f, skip.MachineCode, err)
	}
	f.Fuzz(func(t *testing.T, input []byte, how byte) {
		generate, quantum := exectest.GeneratePlain, int32(how>>3)
		if how&1 != 0 {
			generate = exectest.Generate
		}
		p := generate(texts.Choices(input))
		d := exectest.Open(t)
		asked := new(atomic.Uint64)
		if how&4 != 0 {
			asked = allowAll(d, []uint64{0, 128}[quantum&1])
		}
		m := d.Load(p.Source)
		ref := exectest.NewReference(m.Module)
		if err := ref.Run(p.Grid, p.Block); exectest.TooLong(err) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, p.Source)
		}
		engines := []exec.Engine{interp.New()}
		for _, e := range list[how>>1&1] {
			engines = append(engines, e)
		}
		for _, engine := range engines {
			d.Engine = engine
			k, err := m.Kernel("k")
			if err != nil {
				t.Fatalf("%s: %v\n%s", engine.Name(), err, p.Source)
			}
			oa, out := d.Alloc(int(8 * p.Grid * p.Block))
			ta, total := d.Alloc(4)
			if err := k.Run(exectest.Config{Grid: exectest.Dim(p.Grid), Block: exectest.Dim(p.Block), Workers: 1,
				Stack: 8192, Quantum: quantum}, oa, ta); err != nil {
				t.Fatalf("%s: %v\n%s", engine.Name(), err, p.Source)
			}
			if diff := ref.Compare(out, total); diff != "" {
				t.Fatalf("%s: %s\n%s", engine.Name(), diff, p.Source)
			}
			if how&4 != 0 && asked.Load() == 0 {
				t.Fatalf("%s: the checker was not asked\n%s", engine.Name(), p.Source)
			}
			asked.Store(0)
			d.Free(oa)
			d.Free(ta)
		}
	})
}

// fuzzMemory is made once: addresses are the same in every run.
var fuzzMemory = sync.OnceValue(func() (m struct {
	exec.Memory
	at   uint64
	data []byte
}) {
	w, err := mem.OpenSize(64 << 30)
	if err != nil {
		panic(err)
	}
	if m.at, err = w.NewHeap(mem.Device, 1<<30).Alloc(4*fuzzSize, 512); err != nil {
		panic(err)
	}
	if m.data, err = w.Slice(m.at, 4*fuzzSize); err != nil {
		panic(err)
	}
	m.Memory = exec.MemoryOf(w)
	return m
})

// fuzzSize is a quarter of the memory: the first is data, the second holds the parameters, the rest variables.
const fuzzSize = 1 << 16

// notRepeatable are words of texts whose kernels may answer differently when they run again, or do things outside.
var notRepeatable = regexp.MustCompile(`clock|globaltimer|smid|nanosleep|gridid|pm[0-9]|call|malloc|printf|tensor|mbarrier|try_wait|alloca|stack`)

// lanesDiffer are words of texts in which threads do different things, so that what they store in one place depends on
// their order.
var lanesDiffer = regexp.MustCompile(`tid|lane|atom|red\.|shfl|vote|match|elect|activemask|ctarank|local|shared|setmaxnreg|barrier|bar\.`)

// FuzzText: an edited text that can be lowered does the same on both engines: the same bytes in memory, the same fault
// at the same line. One thread runs it, or 32 that all do the same. Texts that read registers before they write them
// are left out: what those hold is an engine's own business. A quarter of the texts, by length, runs under a memory
// checker.
func FuzzText(f *testing.F) {
	texts.Seeds(f, "../../ptx/testdata")
	list, err := fuzzEngines()
	if err != nil {
		skip.Without(f, skip.MachineCode, err)
	}
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		text = texts.Edit(text, edits)
		if notRepeatable.Match(text) {
			return
		}
		tree, err := ptx.Parse(text)
		if err != nil {
			return
		}
		cm, err := check.Check(tree, check.Options{SM: 90})
		if err != nil {
			return
		}
		checked := len(text)%4 == 0
		threads := []uint32{1}
		if !lanesDiffer.Match(text) {
			threads = append(threads, 32)
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := ir.LowerVerified(fn, exectest.Symbols(cm))
			if err != nil || len(k.Funcs) > 1 || k.Local > 1<<16 || k.SharedSize > 1<<16 || k.ParamSize > 1<<12 ||
				k.Funcs[0].FrameSize > 1<<20 || readsUnset(k.Funcs[0]) {
				continue
			}
			for _, n := range threads {
				a, aerr := fuzzRun(t, interp.New(), k, n, checked)
				if endless(aerr) {
					break
				}
				for _, e := range list[0] {
					b, berr := fuzzRun(t, e, k, n, checked)
					if endless(berr) {
						break
					}
					if where(aerr) != where(berr) {
						t.Fatalf("%d threads of %s: the interpreter says %v, %v %v\n%s", n, fn.Name, aerr,
							e.InstructionSet(), berr, text)
					}
					if aerr == nil && !bytes.Equal(a, b) {
						for i := range a {
							if a[i] != b[i] {
								t.Fatalf("%d threads of %s: byte %#x is %#x in the interpreter, %#x with %v\n%s", n,
									fn.Name, i, a[i], b[i], e.InstructionSet(), text)
							}
						}
					}
				}
			}
		}
	})
}

// readsUnset says whether registers may be read before they are written.
func readsUnset(f *ir.Func) bool {
	a := plan.Analyse(f, make([]bool, len(f.Ops)), false)
	if len(a.Blocks) == 0 {
		return false
	}
	for _, w := range a.Blocks[0].In {
		if w != 0 {
			return true
		}
	}
	return false
}

func endless(err error) bool {
	var f *exec.Fault
	return errors.As(err, &f) && (f.Kind == exec.FaultStopped || f.Kind == exec.FaultDeadlock)
}

// where is what must be the same of two faults.
func where(err error) any {
	var f *exec.Fault
	if !errors.As(err, &f) {
		return err == nil
	}
	return [4]uint64{uint64(f.Kind), uint64(f.Line), f.Addr, uint64(f.Thread[0])}
}

// fuzzRun runs one block of a kernel whose parameters all point into a buffer, and returns the buffer. The checker
// allows what lies in it.
func fuzzRun(t *testing.T, e exec.Engine, k *ir.Kernel, threads uint32, checked bool) ([]byte, error) {
	c, err := e.Compile(k)
	if err != nil {
		return nil, nil // no engine has it
	}
	m := fuzzMemory()
	at, all := m.at, m.data
	if checked {
		m.Check = func(addr, size uint64, _ bool) bool {
			return addr-at < uint64(len(all)) && size <= uint64(len(all))-(addr-at)
		}
		m.CheckRange = func(addr uint64, _ bool) (base, size uint64) {
			if !m.Check(addr, 1, false) {
				return 0, 0
			}
			return at, uint64(len(all))
		}
	}
	clear(all)
	data, params := all[:fuzzSize], all[fuzzSize:fuzzSize+uint64(k.ParamSize)+64]
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	for i := 0; i+8 <= int(k.ParamSize); i += 8 {
		for j := range 8 {
			params[i+j] = byte((at + fuzzSize/2) >> (8 * j))
		}
	}
	next := at + 2*fuzzSize
	vars := map[*check.Var]uint64{}
	var stop atomic.Bool
	timer := time.AfterFunc(50*time.Millisecond, func() { stop.Store(true) })
	defer timer.Stop()
	l := &exec.Launch{Code: c, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{threads, 1, 1}, Params: params[:k.ParamSize],
		ParamAddr: at + fuzzSize, Mem: &m.Memory, Stack: 1024, Workers: 1, Stop: &stop,
		Device: exec.DeviceInfo{SMs: 1, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1}}
	l.Consts = exec.NewConstRows(k, func(r *ir.ConstRow) uint64 {
		if r.Var == nil {
			return 0
		}
		a, ok := vars[r.Var]
		if !ok {
			a = next
			vars[r.Var] = a
			next += (min(r.Var.Size, fuzzSize) + 1023) &^ 511
			if next > at+4*fuzzSize {
				next = at + 2*fuzzSize
			}
		}
		return a
	})
	err = exec.Run(l)
	return append([]byte(nil), all...), err
}
