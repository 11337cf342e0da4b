package jit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// farKernel has lanes part at three places when their flags differ: for a few operations, for many, and in a loop of
// many; those whose flag has bit 3 set leave early. barrier stands between.
func farKernel(barrier string) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 flags) {
	.reg .b32 %r<16>; .reg .b64 %q<8>; .reg .pred %p<8>;
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [flags];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
	mul.wide.u32 %q3, %r1, 4; add.u64 %q1, %q1, %q3; add.u64 %q2, %q2, %q3;
	ld.global.u32 %r4, [%q2]; mov.u32 %r5, %r1;
	and.b32 %r6, %r4, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra NEAR;
	mad.lo.u32 %r5, %r5, 5, %r4; xor.b32 %r5, %r5, 77;
NEAR:
`)
	b.WriteString(barrier)
	long := func(by int) {
		for i := range 80 {
			fmt.Fprintf(&b, "\tmad.lo.u32 %%r5, %%r5, %d, %%r1; shf.l.wrap.b32 %%r5, %%r5, %%r5, %d;\n", by+2*i, 1+i%31)
		}
	}
	b.WriteString("\tand.b32 %r6, %r4, 2; setp.eq.u32 %p1, %r6, 0; @%p1 bra ELSE;\n")
	long(3)
	b.WriteString("\tbra.uni MEET;\nELSE:\n")
	long(1001)
	b.WriteString("MEET:\n\tand.b32 %r6, %r4, 8; setp.ne.u32 %p1, %r6, 0; @%p1 bra OUT;\n")
	b.WriteString("\tshr.u32 %r7, %r4, 4; and.b32 %r7, %r7, 3;\nLOOP:\n")
	long(5)
	b.WriteString(`	sub.u32 %r7, %r7, 1; setp.ge.s32 %p1, %r7, 0; @%p1 bra LOOP;
	add.u32 %r5, %r5, 1;
	st.global.u32 [%q1], %r5;
	ret;
OUT:
	st.global.u32 [%q1], %r5;
	ret;
}`)
	return b.String()
}

// farRun is the kernel on an engine, with n threads.
type farRun struct {
	k          *exectest.Kernel
	out, flags uint64
	got, given []byte
	cfg        exectest.Config
}

func newFarRun(t *testing.T, e exec.Engine, barrier string, grid, block uint32) *farRun {
	t.Helper()
	d := exectest.Open(t)
	d.Engine = e
	k, err := d.Load(farKernel(barrier)).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	r := &farRun{k: k, cfg: exectest.Config{Grid: exectest.Dim(grid), Block: exectest.Dim(block), Workers: 4}}
	r.out, r.got = d.Alloc(int(4 * grid * block))
	r.flags, r.given = d.Alloc(int(4 * grid * block))
	return r
}

// run runs it with the flag that each thread has.
func (r *farRun) run(flag func(i int) uint32) ([]uint32, error) {
	clear(r.got)
	for i := range len(r.given) / 4 {
		binary.LittleEndian.PutUint32(r.given[4*i:], flag(i))
	}
	err := r.k.Run(r.cfg, r.out, r.flags)
	return exectest.Words(r.got), err
}

// version is the code that the last launch had.
func (r *farRun) version() *ctaVersion {
	c := r.k.Code.(*code)
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	return c.cta.versions[ctaKey{dims: r.cfg.Block}]
}

func flagsAlike(int) uint32     { return 3 }
func flagsFew(i int) uint32     { return 2 | uint32(i)&1 }
func flagsMany(i int) uint32    { return uint32(i) * 0x9e3779b1 >> 7 &^ 8 }
func flagsLeaving(i int) uint32 { return uint32(i) * 0x9e3779b1 >> 7 }

// TestLater: code for some lanes that is far from where lanes part and meet is written when lanes first come to it, and
// computes what the interpreter does.
func TestLater(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, barrier := range []string{"", "\tbar.sync 0;\n"} {
			for _, block := range []uint32{128, 32, 80} {
				slow := newFarRun(t, interp.New(), barrier, 5, block)
				fast := newFarRun(t, e, barrier, 5, block)
				for _, x := range []struct {
					name string
					flag func(i int) uint32
					rest bool // is there from then on
				}{{"alike", flagsAlike, false}, {"a few", flagsFew, false}, {"many", flagsMany, true},
					{"alike again", flagsAlike, true}, {"leaving", flagsLeaving, true}} {
					want, err := slow.run(x.flag)
					if err != nil {
						t.Fatal(err)
					}
					got, err := fast.run(x.flag)
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%q, blocks of %d, %s: %v, %x, want %x", barrier, block, x.name, err, got, want)
					}
					v := fast.version()
					if v == nil || v.replaced.Load() != nil {
						t.Fatalf("%q, blocks of %d, %s: the code was given up", barrier, block, x.name)
					}
					if whole := block%32 != 0; (v.links == nil) != whole || !whole && (v.rest.Load() != nil) != x.rest {
						t.Errorf("%q, blocks of %d, %s: links %v, rest %v", barrier, block, x.name, v.links != nil,
							v.rest.Load() != nil)
					}
				}
			}
		}
	})
}

// TestLaterTogether: many workers want the part that is left out at the same time.
func TestLaterTogether(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		slow := newFarRun(t, interp.New(), "", 64, 64)
		want, err := slow.run(flagsLeaving)
		if err != nil {
			t.Fatal(err)
		}
		fast := newFarRun(t, e, "", 64, 64)
		fast.cfg.Workers = 16
		if _, err := fast.run(flagsAlike); err != nil {
			t.Fatal(err)
		}
		got, err := fast.run(flagsLeaving)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %x, want %x", err, got, want)
		}
	})
}

// restless is a generator that cannot write what was left out.
type restless struct {
	backend
	err error
}

func (b restless) CompileRest(*ir.Kernel, *abi.CTACode, abi.CTAOptions) (*abi.CTARest, error) {
	return nil, b.err
}

// TestLaterFails: where the part that was left out cannot be made the code is written anew, or there is none; the
// launch goes on.
func TestLaterFails(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		slow := newFarRun(t, interp.New(), "", 5, 128)
		want, err := slow.run(flagsLeaving)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name    string
			prepare func()
			whole   bool // there is code all the same
		}{
			{"registers", func() { e.back = restless{e.back, &plan.NoCodeError{Why: plan.WhyRegisters}} }, true},
			{"memory", func() { e.refuseMemory = errors.New("refused by the test") }, false},
		} {
			fast := newFarRun(t, e, "", 5, 128)
			if _, err := fast.run(flagsAlike); err != nil {
				t.Fatal(err)
			}
			v := fast.version()
			back := e.back
			x.prepare()
			got, err := fast.run(flagsLeaving)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %x, want %x", x.name, err, got, want)
			}
			e.back, e.refuseMemory = back, nil
			n := v.replaced.Load()
			if n == nil || (n.code != nil) != x.whole || x.whole && n.links != nil {
				t.Errorf("%s: replaced by %+v", x.name, n)
			}
			if got, err := fast.run(flagsLeaving); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, again: %v, %x, want %x", x.name, err, got, want)
			}
		}
	})
}

// TestLaterStopped: a launch that is given up while the part that was left out is made leaves the code as it was.
func TestLaterStopped(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		fast := newFarRun(t, e, "", 5, 128)
		if _, err := fast.run(flagsAlike); err != nil {
			t.Fatal(err)
		}
		c, v := fast.k.Code.(*code), fast.version()
		var stop atomic.Bool
		stop.Store(true)
		if c.complete(&c.cta, v, &stop) || v.rest.Load() != nil || v.replaced.Load() != nil {
			t.Fatal("the part is there although the launch was given up")
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if !c.complete(&c.cta, v, nil) {
					t.Error("the part cannot be made")
				}
			})
		}
		all.Wait()
		if v.rest.Load() == nil || len(*c.cta.regions) != 2 {
			t.Errorf("%d pieces of code, not 2", len(*c.cta.regions))
		}
	})
}
