package jit

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

const nocodeKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
	.reg .b32 %r<8>; .reg .b64 %q<8>;
	ld.param.u64 %q1, [out]; ld.param.u32 %r4, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q1, %q2;
	clz.b32 %r2, %r4;
	add.u32 %r3, %r2, %r1;
	st.global.u32 [%q2], %r3;
	ret;
}`

// unfit is a generator that cannot write clz: for any warps and CTAs, or as long as its operands are kept as scalars.
type unfit struct {
	backend
	why plan.Why
}

// refuse returns why there is no code of a function that has a clz in it.
func (b unfit) refuse(f *plan.Func, fine func(i int32) bool) error {
	for i := range f.IR.Ops {
		if op := &f.IR.Ops[i]; op.Opcode() == optab.OpClz && !fine(int32(i)) {
			return &plan.NoCodeError{Why: b.why, Ops: []int32{int32(i)}, Line: op.Line}
		}
	}
	return nil
}

func (b unfit) CompileWarp(f *plan.Func, full bool, marks *[]abi.Mark) ([]byte, []int32, error) {
	if err := b.refuse(f, func(i int32) bool { return b.why == plan.WhyScalar || !f.Native[i] }); err != nil {
		return nil, nil, err
	}
	return b.backend.CompileWarp(f, full, marks)
}

func (b unfit) CompileCTA(k *ir.Kernel, v *plan.Values, o abi.CTAOptions) (*abi.CTACode, error) {
	if err := b.refuse(v.Func, func(i int32) bool {
		return b.why == plan.WhyScalar && v.Func.InRows != nil && v.Func.InRows[i]
	}); err != nil {
		return nil, err
	}
	return b.backend.CompileCTA(k, v, o)
}

// TestNoCode: what has no machine code says why, in the listing and in the engine's statistics, and the rest has it.
func TestNoCode(t *testing.T) { eachISA(t, testNoCode) }

func testNoCode(t *testing.T, e *engine) {
	for _, x := range []struct {
		name    string
		cluster uint32
		why     plan.Why
		text    string
		whole   bool // there is code of whole blocks all the same
	}{
		{"registers, warps", 1, plan.WhyRegisters, "more registers than there are (PTX line 7)", false},
		{"registers, blocks", 0, plan.WhyRegisters, "more registers than there are (PTX line 7)", false},
		{"scalars", 0, plan.WhyScalar, "kept as scalars (PTX line 7)", true},
	} {
		t.Run(x.name, func(t *testing.T) {
			good := e.back
			e.back = unfit{good, x.why}
			defer func() { e.back = good }()
			d := exectest.Open(t)
			d.Engine = e
			k, err := d.Load(nocodeKernel).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			c := k.Code.(*code)
			f := &c.funcs[0]
			before := e.Statistics()
			out, data := d.Alloc(4096)
			var n exec.Counters
			cfg := exectest.Config{Grid: exectest.Dim(2), Block: exectest.Dim(64), Counters: &n}
			if x.cluster > 0 {
				cfg.Cluster = exectest.Dim(x.cluster)
			}
			if err := k.Run(cfg, out, uint32(0xf0f)); err != nil {
				t.Fatal(err)
			}
			for i, v := range exectest.Words(data[:256]) {
				if v != uint32(20+i) {
					t.Fatalf("thread %d: %d, not %d", i, v, 20+i)
				}
			}
			after := e.Statistics()
			falls := f.falls
			if x.cluster == 0 {
				falls = c.cta.falls
			}
			if after.NoCode[x.why] == before.NoCode[x.why] || len(falls) == 0 || falls[0].Why != x.why ||
				!strings.Contains(falls[0].Error(), x.text) {
				t.Errorf("%d were counted, not %d; %v, want %q", after.NoCode[x.why], before.NoCode[x.why], falls,
					x.text)
			}
			v := c.cta.versions[ctaKey{[3]uint32{64, 1, 1}, true}]
			if x.cluster == 0 && (v != nil) != x.whole {
				t.Errorf("code of whole blocks: %v, want %v", v != nil, x.whole)
			}
			if x.cluster > 0 { // it and the last one in each warp, and nothing else
				if w := f.versions[1].Load(); w == nil || w.region == nil || n.Fallbacks.Load() != 8 {
					t.Errorf("%d operations fell back, not 8", n.Fallbacks.Load())
				}
			}
		})
	}
}

// TestNoCodeMemory: without memory for machine code kernels run all the same, and why is kept and counted.
func TestNoCodeMemory(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		d := exectest.Open(t)
		d.Engine = e
		e.refuseMemory = syscall.ENOMEM
		k, err := d.Load(nocodeKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, data := d.Alloc(4096)
		if err := k.Run(exectest.Config{Block: exectest.Dim(64)}, out, uint32(0xf0f)); err != nil {
			t.Fatal(err)
		}
		for i, v := range exectest.Words(data[:256]) {
			if v != uint32(20+i) {
				t.Fatalf("thread %d: %d, not %d", i, v, 20+i)
			}
		}
		c := k.Code.(*code)
		for _, falls := range [][]*plan.NoCodeError{c.cta.falls, c.funcs[0].falls} {
			if len(falls) == 0 || falls[len(falls)-1].Why != plan.WhyMemory ||
				falls[len(falls)-1].Err != syscall.ENOMEM {
				t.Errorf("%v, want the host's error", falls)
			}
		}
		if s := e.Statistics(); s.NoCode[plan.WhyMemory] != 2 || s.Code != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestNoCodeShapes: a kernel has code for so many shapes of blocks; that it is run without for the others is counted
// once.
func TestNoCodeShapes(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(nocodeKernel).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, _ := d.Alloc(4096)
		for n := range uint32(maxVersions + 10) {
			if err := k.Run(exectest.Config{Block: exectest.Dim(n + 1)}, out, uint32(0xf0f)); err != nil {
				t.Fatal(err)
			}
		}
		if s := e.Statistics(); s.NoCode[plan.WhyShapes] != 1 {
			t.Errorf("%+v", s)
		}
		if n := len(k.Code.(*code).cta.versions); n != maxVersions {
			t.Errorf("%d versions", n)
		}
	})
}

// TestContextAlignment: where the allocator puts contexts, registers in memory lie in one line each.
func TestContextAlignment(t *testing.T) {
	var warps [100]exec.Warp
	for i := range warps {
		x := new(context)
		warps[i].Ext = unsafe.Pointer(x) // as engines have them: on the heap
		if at := uintptr(unsafe.Pointer(&x.Registers)); at%64 != 0 {
			t.Fatalf("registers are %d bytes behind a line's beginning: registersPad is another for this version of Go",
				at%64)
		}
	}
	runtime.KeepAlive(&warps)
}
