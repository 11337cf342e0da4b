package jit

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/skip"
)

const stopKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<4>; .shared .b32 sm[32];
	ld.param.u64 %%q1, [out]; mov.u32 %%r1, %%tid.x;
%s	ret;
}`

// TestStop stops grids of all shapes: a kernel has to end within milliseconds (Context.Wait promises it), however short
// or long its blocks are.
func TestStop(t *testing.T) {
	engines := map[string]exec.Engine{"interpreter": interp.New()}
	for name, set := range isas() {
		if _, err := chooseISA(name); err == nil {
			e, err := newEngine(generators()[set])
			if err != nil {
				t.Fatal(err)
			}
			engines[name] = e
		}
	}
	all := [3]uint32{1<<31 - 1, 1, 1}
	for _, k := range []struct {
		name, body string
		c          exectest.Config
	}{
		{"one instruction a block", "@%p1 trap;\n", exectest.Config{Grid: all, Block: exectest.Dim(1)}},
		{"a store a block", "st.global.u32 [%q1], %r1;\n", exectest.Config{Grid: all, Block: exectest.Dim(32)}},
		{"two dimensions", "st.global.u32 [%q1], %r1;\n",
			exectest.Config{Grid: [3]uint32{1 << 20, 65535, 1}, Block: exectest.Dim(1024)}},
		{"a barrier a block", "bar.sync 0;\n", exectest.Config{Grid: all, Block: exectest.Dim(128)}},
		{"an exit a thread", "setp.eq.u32 %p1, %r1, 3; @%p1 exit; st.global.u32 [%q1], %r1;\n",
			exectest.Config{Grid: all, Block: exectest.Dim(64)}},
		{"long blocks without a loop", strings.Repeat("ld.global.u32 %r2, [%q1]; add.u32 %r3, %r3, %r2; st.global.u32 [%q1], %r3;\n", 5000), exectest.Config{Grid: all, Block: exectest.Dim(32)}},
		{"a long loop", "L: " + strings.Repeat("ld.global.u32 %r2, [%q1]; add.u32 %r3, %r3, %r2; st.global.u32 [%q1], %r3;\n", 5000) + "bra L;\n", exectest.Config{Grid: all, Block: exectest.Dim(32)}},
		{"an endless loop", "L: bra L;\n", exectest.Config{Grid: exectest.Dim(64), Block: exectest.Dim(1024)}},
		{"clusters", "st.global.u32 [%q1], %r1;\n",
			exectest.Config{Grid: exectest.Dim(1<<31 - 8), Block: exectest.Dim(32), Cluster: exectest.Dim(8)}},
		{"a cooperative grid", "L: bar.sync 0; ld.volatile.global.u32 %r2, [%q1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n", exectest.Config{Grid: exectest.Dim(4000), Block: exectest.Dim(32), Cooperative: true}},
		{"waiting for a value", "L: ld.volatile.global.u32 %r2, [%q1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n",
			exectest.Config{Grid: all, Block: exectest.Dim(32)}},
		{"sleeping", "L: nanosleep.u32 1000000; bra L;\n",
			exectest.Config{Grid: exectest.Dim(64), Block: exectest.Dim(32)}},
	} {
		for name, e := range engines {
			t.Run(fmt.Sprintf("%s/%s", k.name, name), func(t *testing.T) {
				d := exectest.Open(t)
				d.Engine = e
				kernel, err := d.Load(fmt.Sprintf(stopKernel, k.body)).Kernel("k")
				if err != nil {
					t.Fatal(err)
				}
				out, _ := d.Alloc(4)
				for _, workers := range []int{0, 1, 3} { // 0: for the code to be there
					if late := stopped(t, kernel, k.c, max(workers, 1), out); late > stopLate && workers > 0 {
						t.Errorf("%d workers: it went on for %v after it was stopped", workers, late)
					}
				}
			})
		}
	}
}

// stopLate is how long a stopped kernel may go on; under the race detector the interpreter takes ten times as long for
// all it does.
var stopLate = map[bool]time.Duration{false: 50 * time.Millisecond, true: 500 * time.Millisecond}[skip.Race]

// used is the processor time that the process has had: on a busy machine others have the rest.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// stopped runs a kernel, stops it and says how long it went on after that, for each worker.
func stopped(t *testing.T, k *exectest.Kernel, c exectest.Config, workers int, args ...any) time.Duration {
	var stop atomic.Bool
	var at time.Duration
	c.Stop, c.Workers = &stop, workers
	time.AfterFunc(20*time.Millisecond, func() {
		at = used()
		stop.Store(true)
	})
	err := k.Run(c, args...)
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != exec.FaultStopped {
		t.Fatalf("%v, want it stopped", err)
	}
	return (used() - at) / time.Duration(workers)
}

// TestStopCompiling stops a launch while its machine code is made, which takes seconds for such a kernel; the next
// launch has its code all the same.
func TestStopCompiling(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, cluster := range []uint32{0, 1} {
			d := exectest.Open(t)
			d.Engine = e
			n := 40000
			k, err := d.Load(fmt.Sprintf(stopKernel,
				strings.Repeat("ld.global.u32 %r2, [%q1]; add.u32 %r3, %r3, %r2; st.global.u32 [%q1], %r3;\n",
					n/3))).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			out, _ := d.Alloc(4)
			c := exectest.Config{Block: exectest.Dim(32)}
			if cluster > 0 {
				c.Cluster = exectest.Dim(cluster)
			}
			// The analyses are made without looking; what takes long is to write the code.
			y := k.Code.(*code)
			var stop atomic.Bool
			stop.Store(true)
			y.ctaVersion(&y.cta, ctaKey{dims: [3]uint32{32, 1, 1}}, &stop)
			y.compile(&y.funcs[0], 1, &stop)
			if late := stopped(t, k, c, 1, out); late > 5*stopLate {
				t.Errorf("clusters of %d: it went on for %v after it was stopped", cluster, late)
			}
			begin := time.Now()
			if err := k.Run(c, out); err != nil {
				t.Fatal(err)
			}
			t.Logf("%v", time.Since(begin))
			if s := e.Statistics(); s.Code == 0 || s.NoCode != [plan.Reasons]uint64{} {
				t.Errorf("%+v", s)
			}
		}
	})
}
