package interp

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// fuzzSeeds are the parser's small modules, and one kernel with most kinds of control flow.
func fuzzSeeds(f *testing.F) {
	files, _ := filepath.Glob("../../ptx/testdata/*.ptx.gz")
	for _, name := range files {
		z, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(z))
		if err != nil {
			f.Fatal(err)
		}
		b, err := io.ReadAll(io.LimitReader(r, 1<<14))
		if err == nil && len(b) < 1<<14 {
			f.Add(b, []byte{})
			f.Add(b, []byte("edits"))
		}
	}
	f.Add([]byte(`.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 sm[64];
.func (.reg .b32 r) add1(.reg .b32 a) { add.u32 r, a, 1; ret; }
.visible .entry k(.param .u64 p) {
	.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<3>; .local .align 4 .b8 lm[16];
	ld.param.u64 %d0, [p];
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p0, %r0, 7;
	@%p0 bra L1;
	call (%r1), add1, (%r0);
	st.local.u32 [lm], %r1;
	bar.sync 0;
L1:	shfl.sync.idx.b32 %r2|%p1, %r0, 0, 31, 0xffffffff;
	@!%p1 bra L2;
	st.shared.u32 [sm], %r2;
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p2, %r0, 0;
	@%p2 bra L1;
L2:	st.global.u32 [%d0], %r2;
	ret;
}`), []byte{1, 2, 3})
}

// edit changes a text word by word, so that much of what comes out still parses: three bytes an edit choose what to do, a line, and another line.
func edit(text, edits []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) < 2 {
		return text
	}
	at := func(b byte, salt int) int { return (int(b)*7919 + salt) % len(lines) }
	for i := 0; i+3 <= len(edits) && i < 60; i += 3 {
		x, y := at(edits[i+1], i), at(edits[i+2], i/3)
		switch edits[i] % 6 {
		case 0:
			lines[x], lines[y] = lines[y], lines[x]
		case 1:
			lines[x] = lines[y]
		case 2:
			lines[x] = nil
		case 3:
			lines[x] = append(append(append([]byte{}, lines[x]...), ' '), lines[y]...)
		default: // a word of one line for a word of the other
			a, b := bytes.Fields(lines[x]), bytes.Fields(lines[y])
			if len(a) > 0 && len(b) > 0 {
				a[int(edits[i+2])%len(a)] = b[int(edits[i+1])%len(b)]
				lines[x] = bytes.Join(a, []byte(" "))
			}
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

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
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		cm := fuzzModule(edit(text, edits))
		if cm == nil {
			return
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := ir.Lower(fn, fuzzSymbols(cm))
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
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		cm := fuzzModule(edit(text, edits))
		if cm == nil {
			return
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := ir.Lower(fn, fuzzSymbols(cm))
			if err != nil {
				continue
			}
			err = runFuzz(t, k)
			if fault, ok := err.(*exec.Fault); ok && fault.Kind == exec.FaultInternal && !strings.Contains(fault.Text, "not supported") {
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
	b.mem = exec.Memory{Ptr: w.Pointer(), Base: w.Base(), Size: w.Size(), Special: mem.Special, SharedOff: mem.SharedOffset, LocalOff: mem.LocalOffset}
	return b
})

// runFuzz runs a kernel for a short while with every parameter pointing at a buffer. Kernels that ask for much are left out.
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
	l := &exec.Launch{Code: c, Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{48, 1, 1}, Params: params[:k.ParamSize], ParamAddr: pa, Mem: &b.mem, Stack: 1024, Workers: 1, Stop: &stop,
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
