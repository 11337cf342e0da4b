package ir

import (
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

func lowerBody(t *testing.T, body string, syms *Symbols) *Func {
	t.Helper()
	src := ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{\n" +
		".reg .pred %p, %q;\n.reg .b32 %n;\n.reg .b64 %x;\n.reg .f32 %a, %b, %c, %t, %u, %r, %s;\n.reg .f64 %da, %db, %dc, %dt, %dr;\n.reg .b16 %ha, %hb, %hc, %ht, %hr;\n" +
		"ld.param.u64 %x, [p0];\nld.global.f32 %a, [%x];\nld.global.f32 %b, [%x+4];\nld.global.f32 %c, [%x+8];\n" +
		"ld.global.f64 %da, [%x];\nld.global.f64 %db, [%x];\nld.global.f64 %dc, [%x];\nld.global.b16 %ha, [%x];\nld.global.b16 %hb, [%x];\nld.global.b16 %hc, [%x];\nsetp.gt.f32 %p, %a, %b;\nsetp.lt.f32 %q, %a, %b;\n" +
		body + "\nret;\n}\n"
	m, err := ptx.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	cm, err := check.Check(m, check.Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	k, err := LowerVerified(cm.Funcs[0], syms)
	if err != nil {
		t.Fatal(err)
	}
	return k.Funcs[0]
}

// text lists the arithmetic of a function: the instruction with its modifiers, and - for each negated operand.
func text(f *Func) string {
	var out []string
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Match == nil {
			continue
		}
		switch op.Match.Form.Name {
		case "mul", "add", "sub", "fma", "neg", "mov", "min", "max":
		default:
			continue
		}
		s := op.Match.Form.Name
		for _, w := range op.Match.Words {
			if w != "" {
				s += "." + w
			}
		}
		for j := range op.Args {
			if op.Args[j].Neg {
				s += " -" + op.Args[j].Name()
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

const keepR = "\nst.global.f32 [%x], %r;"

// The first cases are what the group fuse of the recorded silicon shows, for min and max testdata/generated; those
// after the line follow from what a product's last use is.
func TestContract(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"add", "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;" + keepR, "fma.rn.f32"},
		{"sub", "mul.f32 %t, %a, %b;\nsub.f32 %r, %t, %c;" + keepR, "fma.rn.f32 -c"},
		{"c-t", "mul.f32 %t, %a, %b;\nsub.f32 %r, %c, %t;" + keepR, "fma.rn.f32 -a"},
		{"used twice", "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\nst.global.f32 [%x+4], %t;" + keepR,
			"mul.f32; add.f32"},
		{"mul.rn", "mul.rn.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;" + keepR, "mul.rn.f32; add.f32"},
		{"add.rn", "mul.f32 %t, %a, %b;\nadd.rn.f32 %r, %t, %c;" + keepR, "mul.f32; add.rn.f32"},
		{"ftz", "mul.ftz.f32 %t, %a, %b;\nadd.ftz.f32 %r, %t, %c;" + keepR, "fma.rn.ftz.f32"},
		{"ftz differs", "mul.ftz.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;" + keepR, "mul.ftz.f32; add.f32"},
		{"mul.sat", "mul.sat.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;" + keepR, "mul.sat.f32; add.f32"},
		{"add.sat", "mul.f32 %t, %a, %b;\nadd.sat.f32 %r, %t, %c;" + keepR, "fma.rn.sat.f32"},
		{"f64", "mul.f64 %dt, %da, %db;\nsub.f64 %dr, %dt, %dc;\nst.global.f64 [%x], %dr;", "fma.rn.f64 -c"},
		{"f16", "mul.f16 %ht, %ha, %hb;\nadd.f16 %hr, %ht, %hc;\nst.global.b16 [%x], %hr;", "fma.rn.f16"},
		{"bf16", "mul.bf16 %ht, %ha, %hb;\nsub.bf16 %hr, %hc, %ht;\nst.global.b16 [%x], %hr;", "fma.rn.bf16 -a"},
		{"times one", "mul.f32 %r, %a, 0f3F800000;" + keepR, "mov.f32"},
		{"times one flushed", "mul.ftz.f32 %r, %a, 0f3F800000;" + keepR, "mul.ftz.f32"},
		{"max of one", "max.f32 %r, %a, %a;" + keepR, "mov.f32"},
		{"min of one", "min.f64 %dr, %da, %da;\nst.global.f64 [%x], %dr;", "mov.f64"},
		{"min of one half", "min.f16 %hr, %ha, %ha;\nst.global.b16 [%x], %hr;", "mov.b16"},
		{"max of two", "max.f32 %r, %a, %b;" + keepR, "max.f32"},
		{"max of one flushed", "max.ftz.f32 %r, %a, %a;" + keepR, "max.ftz.f32"},
		{"max of one with NaN", "max.NaN.f32 %r, %a, %a;" + keepR, "max.NaN.f32"},
		{"min of one bf16", "min.bf16 %hr, %ha, %ha;\nst.global.b16 [%x], %hr;", "min.bf16"},
		{"neg neg", "neg.f64 %dt, %da;\nneg.f64 %dr, %dt;\nst.global.f64 [%x], %dr;\nst.global.f64 [%x], %dt;",
			"neg.f64; mov.f64"},

		{"square of the product", "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %t;" + keepR, "mul.f32; add.f32"},
		{"accumulate in place", "mul.f32 %t, %a, %b;\nadd.f32 %c, %c, %t;\nst.global.f32 [%x], %c;", "fma.rn.f32"},
		{"product overwritten", "mul.f32 %t, %a, %b;\nadd.f32 %t, %c, %t;\nst.global.f32 [%x], %t;", "fma.rn.f32"},
		{"operand changes between", "mul.f32 %t, %a, %b;\nmov.f32 %a, %c;\nadd.f32 %r, %t, %c;" + keepR,
			"mul.f32; mov.f32; add.f32"},
		{"temporary used again", "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\nmul.f32 %t, %a, %c;\nadd.f32 %r, %t, %r;" +
			keepR, "fma.rn.f32; fma.rn.f32"},
		{"two products", "mul.f32 %t, %a, %b;\nmul.f32 %u, %a, %c;\nadd.f32 %r, %t, %u;" + keepR,
			"mul.f32; fma.rn.f32"},
		{"other guard", "@%p mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;" + keepR, "mul.f32; add.f32"},
		{"same guard", "@%p mul.f32 %t, %a, %b;\n@%p add.f32 %r, %t, %c;" + keepR, "fma.rn.f32"},
		{"opposite guard", "@%p mul.f32 %t, %a, %b;\n@!%p add.f32 %r, %t, %c;" + keepR, "mul.f32; add.f32"},
		{"read in the next block", "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\n@%p bra L;\nst.global.f32 [%x+4], %t;\nL:" + keepR, "mul.f32; add.f32"},
		{"add in the next block", "mul.f32 %t, %a, %b;\n@%p bra L;\nadd.f32 %r, %t, %c;\nL:" + keepR,
			"mul.f32; add.f32"},
		{"loop reads it at the top", "mov.f32 %t, %a;\nL:\nadd.f32 %s, %t, %c;\nmul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\n@%p bra L;\nst.global.f32 [%x+4], %s;" + keepR, "mov.f32; add.f32; mul.f32; add.f32"},
		{"loop", "L:\nmul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\nsetp.gt.f32 %p, %r, %a;\n@%p bra L;" + keepR,
			"fma.rn.f32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text(lowerBody(t, c.body, nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNoContract(t *testing.T) {
	f := lowerBody(t, "mul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;"+keepR, &Symbols{NoContract: func(*check.Func) bool {
		return true
	}})
	if got := text(f); got != "mul.f32; add.f32" {
		t.Errorf("with NoContract: %s", got)
	}
}

// Removing operations moves the targets of branches.
func TestContractTargets(t *testing.T) {
	f := lowerBody(t, "L:\nmul.f32 %t, %a, %b;\nadd.f32 %r, %t, %c;\nmul.f32 %t, %r, %b;\nadd.f32 %r, %t, %c;\nsetp.gt.f32 %p, %r, %a;\n@%p bra L;\n@%q bra M;\nst.global.f32 [%x+4], %a;\nM:"+keepR, nil)
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != Branch {
			continue
		}
		want := "fma"
		if int(op.Target) > i {
			want = "st"
		}
		to := &f.Ops[op.Target]
		if to.Match.Form.Name != want {
			t.Errorf("the branch at %d goes to %s, want %s", i, to.Match.Form.Name, want)
		}
		if want == "st" && len(to.Args) == 2 && to.Args[0].Disp != 0 {
			t.Errorf("the forward branch goes to the store it should skip")
		}
	}
	if !f.Loops {
		t.Error("the loop is not marked")
	}
}
