package jit

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

// addKernel adds to words of one page that differ from lane to lane, for ever, and polls one for them.
const addKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 n) {
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<4>;
	ld.param.u64 %%q1, [out]; ld.param.u32 %%r4, [n]; mov.u32 %%r1, %%tid.x; mul.lo.u32 %%r2, %%r1, 7; and.b32 %%r2, %%r2, 31; mul.wide.u32 %%q2, %%r2, 4; add.u64 %%q2, %%q1, %%q2;
	mov.u32 %%r3, 0;
L:	%s
	add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p1, %%r3, %%r4; @%%p1 bra L;
	ret;
}
.visible .entry poll(.param .u64 out, .param .u32 n) {
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<4>;
	ld.param.u64 %%q1, [out]; ld.param.u32 %%r4, [n];
L:	ld.relaxed.gpu.global.u32 %%r1, [%%q1+64]; setp.lt.u32 %%p1, %%r1, %%r4; @%%p1 bra L;
	ret;
}`

// TestAdditionsAreSeen: additions without results are seen while the kernel that makes them runs, by the host and by
// other kernels, and those are made at once of which that can be told: the ones of system scope and those that are
// ordered with other accesses (PTX ISA, memory consistency model).
func TestAdditionsAreSeen(t *testing.T) { eachISA(t, testAdditionsAreSeen) }

func testAdditionsAreSeen(t *testing.T, e *engine) {
	for _, x := range []struct {
		text string
		off  bool // it may be put off
	}{
		{"red.global.add.u32 [%q2], 1;", true}, {"red.relaxed.gpu.global.add.u32 [%q2], 1;", true},
		{"red.relaxed.cta.global.add.u32 [%q2], 1;", true},
		{"atom.relaxed.gpu.global.add.u32 %r5, [%q2], 1;", true},
		{"fence.acq_rel.cta; red.relaxed.gpu.global.add.u32 [%q2], 1;", true},
		{"red.relaxed.sys.global.add.u32 [%q2], 1;", false}, {"red.release.gpu.global.add.u32 [%q2], 1;", false},
		{"red.release.sys.global.add.u32 [%q2], 1;", false},
		{"atom.acq_rel.gpu.global.add.u32 %r5, [%q2], 1;", false},
		{"atom.acquire.cta.global.add.s32 %r5, [%q2], 1;", false},
		{"atom.relaxed.sys.global.add.u32 %r5, [%q2], 1;", false},
		{"fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%q2], 1;", false},
		{"red.relaxed.gpu.global.add.u32 [%q2], 1; membar.sys;", false},
	} {
		d := exectest.Open(t)
		d.Engine = e
		m := d.Load(fmt.Sprintf(addKernel, x.text))
		add, err := m.Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		poll, err := m.Kernel("poll")
		if err != nil {
			t.Fatal(err)
		}
		out, data := d.Alloc(4096)
		for _, blocks := range []uint32{1, 64} { // the grid is small, or workers claim chunks
			clear(data)
			if err := add.Run(exectest.Config{Grid: exectest.Dim(blocks), Block: exectest.Dim(64)}, out,
				uint32(3)); err != nil {
				t.Fatal(err)
			}
			for i, n := range exectest.Words(data[:128]) {
				if n != 6*blocks {
					t.Fatalf("%s: word %d is %d, not %d", x.text, i, n, 6*blocks)
				}
			}
			var stop atomic.Bool
			ended := make(chan error)
			word := (*atomic.Uint32)(unsafe.Pointer(&data[64]))
			start := word.Load()
			go func() {
				ended <- add.Run(exectest.Config{Grid: exectest.Dim(blocks), Block: exectest.Dim(64), Stop: &stop,
					Workers: 2}, out, ^uint32(0))
			}()
			for end := time.Now().Add(10 * time.Second); word.Load() == start; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%s: nothing is seen of the additions while the kernel runs", x.text)
				}
			}
			if err := poll.Run(exectest.Config{}, out, word.Load()+1000); err != nil {
				t.Errorf("%s: the kernel that polls: %v", x.text, err)
			}
			stop.Store(true)
			var f *exec.Fault
			if err := <-ended; !errors.As(err, &f) || f.Kind != exec.FaultStopped {
				t.Errorf("%s: %v, want it stopped", x.text, err)
			}
		}
		for _, v := range add.Code.(*code).cta.versions {
			if v == nil || v.code.Values.Shadow != x.off {
				t.Errorf("%s: put off, or not to be: want %v", x.text, x.off)
			}
		}
	}
}

// TestAdditionsToFreedMemory: a launch whose put-off additions find their page gone has failed, as one whose additions
// do, and the next one is right.
func TestAdditionsToFreedMemory(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(fmt.Sprintf(addKernel, "red.global.add.u32 [%q2], 1;")).Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			out, data := d.Alloc(2 << 20)
			word := (*atomic.Uint32)(unsafe.Pointer(&data[64]))
			ended := make(chan error)
			var stop atomic.Bool
			go func() {
				ended <- k.Run(exectest.Config{Grid: exectest.Dim(64), Block: exectest.Dim(64), Stop: &stop}, out,
					^uint32(0))
			}()
			for word.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			d.Free(out)
			var f *exec.Fault
			if err := <-ended; !errors.As(err, &f) || f.Kind != exec.FaultAddress {
				t.Errorf("%v, want an address fault", err)
			}
			out, data = d.Alloc(4096)
			if err := k.Run(exectest.Config{Block: exectest.Dim(32)}, out, uint32(1)); err != nil {
				t.Fatal(err)
			}
			for i, n := range exectest.Words(data[:128]) {
				if n != 1 {
					t.Fatalf("word %d is %d", i, n)
				}
			}
			d.Free(out)
		}
	})
}
