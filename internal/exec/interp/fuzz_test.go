package interp

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest/texts"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// fuzzModule takes a text through parser and checker.
func fuzzModule(text []byte) *check.Module {
	m, err := ptx.Parse(text)
	if err != nil {
		return nil
	}
	cm, err := check.Check(m, check.Options{SM: 90})
	if err != nil {
		return nil
	}
	return cm
}

func fuzzSymbols(cm *check.Module) *ir.Symbols {
	syms := &ir.Symbols{Handles: map[*check.Func]uint64{}, Builtin: Builtin}
	for i, g := range cm.Funcs {
		syms.Handles[g] = uint64(i+1) << 8
	}
	return syms
}

// FuzzLower: whatever the checker accepts can be lowered and prepared, or is refused with an error.
func FuzzLower(f *testing.F) {
	texts.Seeds(f, "../../ptx/testdata")
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		cm := fuzzModule(texts.Edit(text, edits))
		if cm == nil {
			return
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := ir.LowerVerified(fn, fuzzSymbols(cm))
			if err != nil {
				continue
			}
			for _, lf := range k.Funcs {
				for i := range lf.Ops {
					op := &lf.Ops[i]
					if op.Target < 0 || int(op.Target) > len(lf.Ops) {
						t.Fatalf("operation %d of %s jumps to %d of %d", i, lf.Name, op.Target, len(lf.Ops))
					}
				}
			}
			New().Compile(k)
		}
	})
}

// FuzzRun: a kernel that can be prepared ends, faults or is stopped; it never breaks the engine.
func FuzzRun(f *testing.F) {
	texts.Seeds(f, "../../ptx/testdata")
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		cm := fuzzModule(texts.Edit(text, edits))
		if cm == nil {
			return
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := ir.LowerVerified(fn, fuzzSymbols(cm))
			if err != nil {
				continue
			}
			err = runFuzz(t, k)
			if fault, ok := err.(*exec.Fault); ok && fault.Kind == exec.FaultInternal {
				t.Fatalf("%v", fault)
			}
		}
	})
}

// fuzzBench is made once: a window for each input would be most of the work.
var fuzzBench = sync.OnceValue(func() *bench {
	w, err := mem.OpenSize(64 << 30)
	if err != nil {
		panic(err)
	}
	b := &bench{w: w, heap: w.NewHeap(mem.Device, 8<<30)}
	b.mem = exec.MemoryOf(w)
	return b
})

// runFuzz runs a kernel for a short while with every parameter pointing at a buffer. Kernels that ask for much are left
// out.
func runFuzz(t testing.TB, k *ir.Kernel) error {
	if k.Local > 1<<16 || k.SharedSize > 1<<16 || k.ParamSize > 1<<12 {
		return nil
	}
	for _, lf := range k.Funcs {
		if lf.FrameSize > 1<<22 {
			return nil
		}
	}
	c, err := New().Compile(k)
	if err != nil {
		return nil
	}
	b := fuzzBench()
	defer b.heap.FreeAll()
	data, _ := b.alloc(t, 1<<16)
	pa, params := b.alloc(t, int(k.ParamSize)+64)
	for i := 0; i+8 <= int(k.ParamSize); i += 8 {
		for j := 0; j < 8; j++ {
			params[i+j] = byte(data >> (8 * j))
		}
	}
	vars := map[*check.Var]uint64{}
	var stop atomic.Bool
	timer := time.AfterFunc(50*time.Millisecond, func() { stop.Store(true) })
	defer timer.Stop()
	l := &exec.Launch{Code: c, Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{48, 1, 1}, Params: params[:k.ParamSize],
		ParamAddr: pa, Mem: &b.mem, Stack: 1024, Workers: 1, Stop: &stop,
		Device: exec.DeviceInfo{SMs: 1, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1}, Cluster: k.Attrs.ReqNCtaPerCluster}
	if c := l.Cluster; c[0] != 0 {
		if uint64(c[0])*uint64(c[1])*uint64(c[2]) > 16 {
			return nil
		}
		l.Grid = c
	}
	l.Consts = exec.NewConstRows(k, func(r *ir.ConstRow) uint64 {
		if vars[r.Var] == 0 {
			vars[r.Var], _ = b.alloc(t, int(min(r.Var.Size, 1<<16)))
		}
		return vars[r.Var]
	})
	return exec.Run(l)
}
