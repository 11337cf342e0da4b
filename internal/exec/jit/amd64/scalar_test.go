package amd64

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

const scalarKernel = `.version 8.0
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

// TestScalarsRefused: a template that asks for a second piece of a result that is kept as a scalar, or for the row of
// such a source, is refused with the operation's name, so that the engine compiles again with its operands in rows;
// then there is code.
func TestScalarsRefused(t *testing.T) {
	m, err := exectest.Check(scalarKernel)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ir.Lower(m.Funcs[0], exectest.Symbols(m))
	if err != nil {
		t.Fatal(err)
	}
	f := k.Funcs[0]
	for name, body := range map[string]func(g *gen, op *ir.Op){
		"result": func(g *gen, op *ir.Op) { g.dst(&op.Args[0], 1) },
		"source": func(g *gen, op *ir.Op) { g.flushRow(op.Args[1].Ref.Off) },
	} {
		for _, set := range []ISA{AVX512, AVX2} {
			b := New(set)
			native := make([]bool, len(f.Ops))
			at := -1
			for i := range f.Ops {
				native[i] = b.Supports(&f.Ops[i])
				if f.Ops[i].Opcode() == optab.OpClz {
					at = i
				}
			}
			a := plan.Analyse(f, native, true)
			emit := emitters(a)
			was := emit[at]
			emit[at] = func(g *gen) {
				body(g, g.op)
				was(g)
			}
			compile := func() error {
				v, err := plan.Evaluate(a, [3]uint32{64, 1, 1}, make([]bool, len(f.Ops)))
				if err != nil {
					t.Fatal(err)
				}
				_, err = b.CompileCTA(k, v, abi.CTAOptions{})
				return err
			}
			var no *plan.NoCodeError
			if err := compile(); !errors.As(err, &no) || no.Why != plan.WhyScalar || len(no.Ops) != 1 ||
				int(no.Ops[0]) != at || no.Line != f.Ops[at].Line {
				t.Errorf("%s, %v: %v", name, set, err)
			}
			a.InRows = make([]bool, len(f.Ops))
			a.InRows[at] = true
			if err := compile(); err != nil {
				t.Errorf("%s, %v, operands in rows: %v", name, set, err)
			}
		}
	}
}
