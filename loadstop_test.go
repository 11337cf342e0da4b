package cuda_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// TestLoadContext ends loads at times spread over how long the whole load takes: the error says so, nothing is loaded,
// and the context works on.
func TestLoadContext(t *testing.T) {
	cudatest.SoftwareOnly(t)
	c := cudatest.Open(t)
	n := 100_000
	if testing.Short() {
		n = 40_000
	}
	var b strings.Builder
	b.WriteString(".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .u32 t; .reg .u64 a; .reg .pred q;\nld.param.u64 a,[p]; mov.u32 t,7;\n")
	for range n {
		b.WriteString("setp.eq.u32 q,t,9; @q bra E; add.u32 t,t,1; add.u32 t,t,-1;\n")
	}
	b.WriteString("E: st.global.u32 [a],t; ret; }\n")
	loads := 0
	load := func(ctx context.Context) (m *cuda.Module, took time.Duration, err error) {
		loads++
		image := fmt.Appendf(nil, "%s// %d\x00", b.String(), loads) // what was loaded before is not compiled again
		began := time.Now()
		m, err = c.LoadContext(ctx, image, cuda.VerboseLog()) // for the log kernels are lowered
		return m, time.Since(began), err
	}
	background, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, whole, err := load(background)
	check(t, err)
	check(t, m.Close())

	wrong := errors.New("no longer wanted")
	over, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(wrong)
	if _, _, err := load(over); !errors.Is(err, wrong) || !errors.Is(err, cuda.ErrNotReady) {
		t.Errorf("%v, want %v and %v", err, wrong, cuda.ErrNotReady)
	}
	const parts = 12
	ended := 0
	for i := range parts - 4 { // loads of one length differ
		at := whole * time.Duration(i+1) / parts
		var late time.Duration
		for try := range 4 { // the best of some: the machine does other things too
			ctx, cancel := context.WithTimeout(t.Context(), at)
			m, took, err := load(ctx)
			cancel()
			if err == nil {
				check(t, m.Close())
				late = 0 // there was nothing to end
				break
			}
			ended++
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cuda.ErrNotReady) {
				t.Fatalf("ended after %v: %v", at, err)
			}
			if took -= at; try == 0 || took < late {
				late = took
			}
			if late < whole/8 {
				break
			}
		}
		if late > whole/2 {
			t.Errorf("the load takes %v; ended after %v it takes %v more", whole, at, late)
		}
	}
	if ended < 3 {
		t.Errorf("%d loads were ended", ended)
	}
	m, _, err = load(t.Context())
	check(t, err)
	defer func() { check(t, m.Close()) }()
	k, err := m.Kernel("k")
	check(t, err)
	out := cudatest.Alloc[uint32](t, c, 1)
	check(t, k.Launch(nil, cuda.LinearBlock(1, 1), cuda.Ptr(out)))
	check(t, c.Synchronize())
	cudatest.Equal(t, out.View, []uint32{7})
}
