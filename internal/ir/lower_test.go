package ir_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/skip"
)

func checked(t *testing.T, src string) *check.Module {
	t.Helper()
	m, err := exectest.Check(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lower(t *testing.T, src string) *ir.Kernel {
	t.Helper()
	m := checked(t, src)
	for _, f := range m.Funcs {
		if f.Entry {
			k, err := ir.LowerVerified(f, exectest.Symbols(m))
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
	}
	t.Fatal("no entry")
	return nil
}

const head = ".version 9.0\n.target sm_90\n.address_size 64\n"

func TestPlacement(t *testing.T) {
	for seed := range uint64(150) {
		p := exectest.Generate(rand.New(rand.NewPCG(seed, 7)))
		m := checked(t, p.Source)
		for _, f := range m.Funcs {
			if !f.Entry {
				continue
			}
			if _, err := ir.CheckPlacement(f, *exectest.Symbols(m)); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
			}
		}
	}
	if !ir.Untouched() {
		t.Error("a part that operands share has been written to")
	}
}

// benchKernels are kernels of the benchmark set, when it lies beside the checkout.
const benchKernels = "../../../shared/bench/kernels/ptx"

func TestPlacementOfBenchmarks(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(benchKernels, "*.ptx"))
	if len(files) == 0 {
		skip.Without(t, skip.Recordings, benchKernels)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := checked(t, string(src))
		for _, f := range m.Funcs {
			if !f.Entry {
				continue
			}
			syms := exectest.Symbols(m)
			start := time.Now()
			k, err := ir.LowerVerified(f, syms)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			took := time.Since(start)
			fn := k.Funcs[0]
			if fn.FrameSize > 64<<10 {
				t.Errorf("%s: a frame of %d KiB", filepath.Base(name), fn.FrameSize>>10)
			}
			if len(fn.Ops) > 1000 {
				t.Logf("%s: %d operations lowered in %v, %d registers in a frame of %d KiB", filepath.Base(name),
					len(fn.Ops), took, len(f.Regs), fn.FrameSize>>10)
			}
			if took > 2*time.Second {
				t.Errorf("%s takes %v to lower", name, took)
			}
			if len(fn.Ops) < 6000 {
				if _, err := ir.CheckPlacement(f, *syms); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestCallSlots checks that the parameter variables of calls one after the other share their storage.
func TestCallSlots(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n" +
		".visible .entry k(.param .u64 p)\n{ .reg .b32 %x; .reg .b64 %q; ld.param.u64 %q, [p]; mov.u32 %x, %tid.x;\n")
	for range 100 {
		b.WriteString("{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; call (r), f, (a); ld.param.b32 %x, [r]; }\n")
	}
	b.WriteString("st.global.u32 [%q], %x; ret; }\n")
	k := lower(t, b.String())
	if n := k.Funcs[0].FrameSize; n > 4096 {
		t.Errorf("the frame has %d bytes", n)
	}
}

// TestLowerShapes looks at what becomes of control flow, special registers, constants and variables.
func TestLowerShapes(t *testing.T) {
	k := lower(t, head+`
.shared .align 16 .b8 first[20];
.extern .shared .align 64 .b8 dyn[];
.visible .entry k(.param .u8 small, .param .align 16 .b8 block[24], .param .u64 ptr)
{
	.shared .align 8 .b64 second;
	.local .align 8 .b8 l1[12]; .local .align 4 .b32 l2;
	.reg .b32 %a, %b; .reg .b64 %q; .reg .pred %p;
	mov.u32 %a, %tid.x;
	add.u32 %b, %a, 5;
	add.u32 %a, %b, 5;
	setp.lt.u32 %p, %a, 7;
	@%p bra BACK;
	ld.param.u64 %q, [ptr];
	mov.u32 %b, first; st.global.u32 [%q], %b;
	mov.u32 %b, second; st.global.u32 [%q], %b;
	mov.u32 %b, dyn; st.global.u32 [%q], %b;
	mov.u64 %q, l2; st.local.u32 [l1+4], %a;
	ret;
	bra NOWHERE;
NOWHERE:
	exit;
BACK:
	ld.param.u8 %b, [small];
	ld.param.u32 %b, [block+8];
	@!%p bra BACK;
}
`)
	f := k.Funcs[0]
	if k.Params[1].Offset != 16 || k.Params[2].Offset != 40 || k.ParamSize != 48 {
		t.Errorf("parameters: %+v, %d bytes", k.Params, k.ParamSize)
	}
	if f.Local.Size != 16 {
		t.Errorf("local variables have %d bytes", f.Local.Size)
	}
	offs := map[string]uint64{}
	for v, off := range k.Shared {
		offs[v.Name] = off
	}
	if offs["first"] != ir.ReservedShared || offs["second"] != ir.ReservedShared+24 ||
		offs["dyn"] != ir.ReservedShared+64 || k.SharedSize != 64 || !k.UsesDynamicShared {
		t.Errorf("shared: %v, %d bytes", offs, k.SharedSize)
	}
	fives := map[ir.Ref]bool{}
	ctl := map[ir.Ctl]int{}
	for i := range f.Ops {
		op := &f.Ops[i]
		ctl[op.Ctl]++
		switch op.Ctl {
		case ir.Branch, ir.Jump:
			if int(op.Target) >= len(f.Ops) {
				t.Errorf("operation %d goes to %d of %d", i, op.Target, len(f.Ops))
			}
		case ir.FrameAddr:
			if op.Disp != 12 {
				t.Errorf("the second local variable is at %d", op.Disp)
			}
		}
		for j := range op.Args {
			if a := &op.Args[j]; a.Kind == ir.Imm && a.Bits == 5 && !a.Sym {
				fives[a.Ref] = true
			}
		}
	}
	if len(fives) != 1 {
		t.Errorf("the constant 5 has %d rows", len(fives))
	}
	if ctl[ir.Special] != 1 || ctl[ir.Branch] != 2 || ctl[ir.FrameAddr] != 1 || ctl[ir.Exit] != 2 {
		t.Errorf("control: %v", ctl) // ret and the end; the exit behind it cannot be reached
	}
	if !f.Loops {
		t.Error("the loop is not marked")
	}
	if last := &f.Ops[len(f.Ops)-1]; last.Guard >= 0 ||
		last.Ctl != ir.Exit && last.Ctl != ir.Ret && last.Ctl != ir.Jump {
		t.Errorf("a warp can run past the last operation: %+v", last)
	}
}

func TestLowerErrors(t *testing.T) {
	for src, want := range map[string]string{
		".func f();\n.visible .entry k()\n{ call f; ret; }":                                                                  "called but not defined",
		".extern .global .b32 x;\n.visible .entry k()\n{ .reg .b32 %a; ld.global.b32 %a, [x]; st.global.b32 [x], %a; ret; }": "not defined",
	} {
		m, err := exectest.Check(head + src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for _, f := range m.Funcs {
			if !f.Entry {
				continue
			}
			_, err := ir.LowerVerified(f, nil)
			le, ok := err.(*ir.Error)
			if !ok || !strings.Contains(err.Error(), want) || le.Kernel != "k" {
				t.Errorf("%s: %v, want %q", src, err, want)
			}
		}
	}
}

// TestFiles checks that the source files of .file come along.
func TestFiles(t *testing.T) {
	k := lower(t, head+".visible .entry k()\n{\n.loc 1 12 3\nexit;\n}\n.file 1 \"dir/a.cu\"\n")
	f := k.Funcs[0]
	if l := f.Ops[0].Loc; l.Line != 12 || f.Files[int(l.File)] != "dir/a.cu" {
		t.Errorf("%+v in %v", f.Ops[0].Loc, f.Files)
	}
}

func BenchmarkLower(b *testing.B) {
	src, err := os.ReadFile(filepath.Join(benchKernels, "big50k.ptx"))
	if err != nil {
		skip.Without(b, skip.Recordings, err)
	}
	m, err := exectest.Check(string(src))
	if err != nil {
		b.Fatal(err)
	}
	syms := exectest.Symbols(m)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range m.Funcs {
			if f.Entry {
				if _, err := ir.Lower(f, syms); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// TestLowerLarge lowers shapes that careless algorithms need quadratic time for. The limit is far above what they take.
func TestLowerLarge(t *testing.T) {
	const n = 10000
	open := head + ".visible .entry k(.param .u64 p)\n{ .reg .f32 %f<20010>; .reg .b32 %r<8>; .reg .b64 %q; .reg .pred %p<4>; ld.param.u64 %q, [p]; ld.global.u32 %r0, [%q]; ld.global.f32 %f0, [%q];\n"
	end := "st.global.u32 [%q], %r0; st.global.f32 [%q], %f0; ret; }\n"
	var table, far, chain strings.Builder
	table.WriteString(open + "T: .branchtargets ")
	for i := range n {
		if i > 0 {
			table.WriteString(", ")
		}
		fmt.Fprintf(&table, "L%d", i)
	}
	table.WriteString(";\nbrx.idx %r0, T;\n")
	for i := range n {
		fmt.Fprintf(&table, "L%d: add.u32 %%r0, %%r0, %d; bra END;\n", i, i)
	}
	table.WriteString("END:\n" + end)
	// Products and the sums that use them, far apart.
	far.WriteString(open)
	for i := range n {
		fmt.Fprintf(&far, "mul.f32 %%f%d, %%f0, %%f0;\n", i+1)
	}
	for i := range n {
		fmt.Fprintf(&far, "add.f32 %%f0, %%f0, %%f%d;\n", i+1)
	}
	far.WriteString(end)
	// Registers that live from one end of many blocks to the other.
	chain.WriteString(open)
	for i := range n / 4 {
		fmt.Fprintf(&chain, "mov.f32 %%f%d, %%f%d;\n", i+1, i)
	}
	for i := range n / 4 {
		fmt.Fprintf(&chain, "setp.eq.u32 %%p0, %%r0, %d; @%%p0 bra B%d; add.u32 %%r0, %%r0, 3;\nB%d:\n", i, i, i)
	}
	for i := range n / 4 {
		fmt.Fprintf(&chain, "max.f32 %%f0, %%f0, %%f%d;\n", i+1)
	}
	chain.WriteString(end)
	for name, src := range map[string]string{"branch table": table.String(), "distant uses": far.String(),
		"long lives": chain.String()} {
		m := checked(t, src)
		start := time.Now()
		k, err := ir.LowerVerified(m.Funcs[0], exectest.Symbols(m))
		if err != nil {
			t.Fatal(err)
		}
		d := time.Since(start)
		t.Logf("%s: %d operations in %v, a frame of %d KiB", name, len(k.Funcs[0].Ops), d, k.Funcs[0].FrameSize>>10)
		if d > 3*time.Second {
			t.Errorf("%s: %v", name, d)
		}
	}
}
