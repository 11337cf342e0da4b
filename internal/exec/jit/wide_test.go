package jit

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// wideCount adds 1 to the lower half of 16 bytes and 3 to the upper half, in each thread, by compare and swap.
const wideCount = `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 at) {
	.reg .b128 %w<4>; .reg .b64 %q<8>; .reg .pred %p<3>;
	ld.param.u64 %q1, [at];
	ld.global.v2.u64 {%q2, %q3}, [%q1];
	mov.b128 %w1, {%q2, %q3};
L:
	add.u64 %q4, %q2, 1; add.u64 %q5, %q3, 3;
	mov.b128 %w2, {%q4, %q5};
	atom.global.cas.b128 %w3, [%q1], %w1, %w2;
	mov.b128 {%q4, %q5}, %w3;
	setp.eq.u64 %p1, %q4, %q2;
	setp.eq.and.u64 %p1, %q5, %q3, %p1;
	mov.b128 %w1, %w3; mov.u64 %q2, %q4; mov.u64 %q3, %q5;
	@!%p1 bra L;
	ret;
}`

// TestAtomic128 counts with 128-bit atomics on machine code and the interpreter at once: none may lose what the other
// added.
func TestAtomic128(t *testing.T) { eachISA(t, testAtomic128) }

func testAtomic128(t *testing.T, e *engine) {
	d := exectest.Open(t)
	at, out := d.Alloc(16)
	const ctas, threads, rounds = 16, 64, 4
	var wg sync.WaitGroup
	for _, engine := range []exec.Engine{e, interp.New()} {
		d.Engine = engine
		k, err := d.Load(wideCount).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range rounds {
				if err := k.Run(exectest.Config{Grid: exectest.Dim(ctas), Block: exectest.Dim(threads), Workers: 2},
					at); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	low, high := binary.LittleEndian.Uint64(out), binary.LittleEndian.Uint64(out[8:])
	if want := uint64(2 * rounds * ctas * threads); low != want || high != 3*want {
		t.Errorf("%d and %d, want %d and %d", low, high, want, 3*want)
	}
}
