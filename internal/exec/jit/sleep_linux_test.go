package jit

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// Each thread sleeps n times for t + s*tid nanoseconds and stores what %globaltimer says that it took; odd ones not at
// all when skip is set.
const sleepKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 t, .param .u32 s, .param .u32 n, .param .u32 skip) {
	.reg .b32 %r<12>; .reg .b64 %q<8>; .reg .pred %p<4>;
	ld.param.u64 %q1, [out]; ld.param.u32 %r1, [t]; ld.param.u32 %r2, [s]; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [skip];
	mov.u32 %r5, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r7, %r6, %r7, %r5; mul.wide.u32 %q2, %r7, 8; add.u64 %q2, %q1, %q2;
	mad.lo.u32 %r8, %r2, %r5, %r1; and.b32 %r9, %r5, %r4; setp.eq.u32 %p1, %r9, 0;
	mov.u64 %q3, %globaltimer;
L:	@%p1 nanosleep.u32 %r8;
	sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra L;
	mov.u64 %q4, %globaltimer; sub.u64 %q4, %q4, %q3; st.global.u64 [%q2], %q4;
	ret;
}`

// TestNanosleep: threads sleep at least as long as they ask, a millisecond at most (PTX ISA "nanosleep": up to twice
// the time; a busy machine may wake them later), and others run meanwhile.
func TestNanosleep(t *testing.T) {
	for name, e := range map[string]exec.Engine{"interpreter": interp.New(), "jit": testEngine(t)} {
		t.Run(name, func(t *testing.T) {
			d := exectest.Open(t)
			d.Engine = e
			k, err := d.Load(sleepKernel).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			const most = 64 * 1024
			out, data := d.Alloc(8 * most)
			for _, x := range []struct {
				grid, block   uint32
				t, s, n, skip uint32
				longest       time.Duration // of the launch, on a busy machine
			}{
				{1, 1, 1000, 0, 1, 0, time.Second}, {1, 32, 200000, 0, 5, 0, time.Second},
				{1, 32, 10000, 20000, 2, 0, time.Second}, {1, 64, 100000, 0, 3, 1, time.Second},
				// no more than a millisecond
				{4, 96, 1000000, 0, 3, 0, time.Second}, {1, 1, 4000000000, 0, 2, 0, time.Second},
				{1000, 32, 1000000, 0, 10, 0, 4 * time.Second}, // ten seconds one after another
				{1, 32, 0, 0, 100, 0, time.Second},
			} {
				begin, cpu := time.Now(), used()
				if err := k.Run(exectest.Config{Grid: exectest.Dim(x.grid), Block: exectest.Dim(x.block), Workers: 2},
					out, x.t, x.s, x.n, x.skip); err != nil {
					t.Fatal(err)
				}
				took, cpu := time.Since(begin), used()-cpu
				if took > x.longest {
					t.Errorf("%+v: it took %v", x, took)
				}
				for i := range x.grid * x.block {
					tid := i % x.block
					want := time.Duration(min(uint64(x.t)+uint64(x.s)*uint64(tid), 1e6)) * time.Duration(x.n)
					if tid&x.skip != 0 {
						want = 0
					}
					if got := time.Duration(binary.LittleEndian.Uint64(data[8*i:])); got < want || got > took {
						t.Fatalf("%+v: thread %d slept for %v, not %v, of %v", x, i, got, want, took)
					}
				}
				t.Logf("%+v: %v, %v of a processor", x, took, cpu)
			}
			// A sleeping launch leaves the processors to others.
			begin := used()
			if err := k.Run(exectest.Config{Grid: exectest.Dim(4), Block: exectest.Dim(256), Workers: 2}, out,
				uint32(1000000), uint32(0), uint32(100), uint32(0)); err != nil {
				t.Fatal(err)
			}
			if cpu := used() - begin; cpu > 60*time.Millisecond {
				t.Errorf("a launch that slept for 100 ms took %v of a processor", cpu)
			}
		})
	}
}
