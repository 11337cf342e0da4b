package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// text is a kernel with every variation, a loop, and lanes that part and meet again.
const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
	.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %q<8>;
	ld.param.u64 %q1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mul.wide.u32 %q2, %r2, 4;
	add.u64 %q3, %q1, %q2;
	ld.global.u32 %r4, [%q3];
	shl.b32 %r5, %r2, 3;
	sub.u32 %r5, %r1, %r5;
	and.b32 %r6, %r2, 31;
	mov.u32 %r7, 0;
loop:
	add.u32 %r7, %r7, %r1;
	mul.lo.u32 %r8, %r7, %r4;
	add.u32 %r4, %r8, %r7;
	setp.lt.u32 %p1, %r7, 1000;
	@%p1 bra loop;
	setp.eq.u32 %p2, %r4, %r6;
	@%p2 bra skip;
	add.u32 %r4, %r4, %r5;
skip:
	add.u32 %r4, %r4, %r3;
	st.global.u32 [%q3], %r4;
	ret;
}`

func kernel(t *testing.T) *ir.Kernel {
	t.Helper()
	m, err := exectest.Check(text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ir.LowerVerified(m.Funcs[0], exectest.Symbols(m))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func all(f *ir.Func) []bool {
	native := make([]bool, len(f.Ops))
	for i := range native {
		native[i] = true
	}
	return native
}

// variations writes the variation of every operation's result, by the operation's name: U uniform, A with the stride
// and what lane 16 has besides, AA with two bases, D for anything.
func variations(v *plan.Values) string {
	var b strings.Builder
	for i := range v.Ops {
		op := &v.Func.IR.Ops[i]
		for _, d := range v.Ops[i].Defs {
			x := v.Webs[d.Web].Variation
			s := "D"
			switch {
			case x.Kind == plan.Uniform:
				s = "U"
			case x.Kind == plan.Affine && x.Halves:
				s = fmt.Sprintf("AA%d", x.Stride)
			case x.Kind == plan.Affine && x.Skew != 0:
				s = fmt.Sprintf("A%d%+d", x.Stride, x.Skew)
			case x.Kind == plan.Affine:
				s = fmt.Sprintf("A%d", x.Stride)
			}
			name := op.Name
			if op.Ctl == ir.Plain {
				name = op.Opcode().String()
			}
			fmt.Fprintf(&b, "%s:%s ", name, s)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestVariations: by hand. Parameters, the CTA's index and constants are uniform; %tid.x of warps in rows is affine
// with stride 1, in rows of 16 lane 16 begins again, in rows of 48 it may, in rows of 7 anything. What depends on them
// follows by the rules of arithmetic; a loaded value is anything, and so is what lanes that are apart make of it.
func TestVariations(t *testing.T) {
	k := kernel(t)
	f := k.Funcs[0]
	for _, x := range []struct {
		dims [3]uint32
		want string
	}{
		{[3]uint32{256, 1, 1}, "ld:U ld:U %tid.x:A1 mov:A1 %ctaid.x:U mov:U imul:A4 iadd:A4 ld:D shl:A8 isub:A-8 and:A1 mov:U iadd:U imul:D iadd:D setp:U setp:D iadd:D iadd:D"},
		{[3]uint32{16, 16, 1}, "ld:U ld:U %tid.x:A1-16 mov:A1-16 %ctaid.x:U mov:U imul:A4-64 iadd:A4-64 ld:D shl:A8-128 isub:A-8+128 and:D mov:U iadd:U imul:D iadd:D setp:U setp:D iadd:D iadd:D"},
		{[3]uint32{48, 2, 1}, "ld:U ld:U %tid.x:AA1 mov:AA1 %ctaid.x:U mov:U imul:AA4 iadd:AA4 ld:D shl:AA8 isub:AA-8 and:D mov:U iadd:U imul:D iadd:D setp:U setp:D iadd:D iadd:D"},
		{[3]uint32{7, 3, 2}, "ld:U ld:U %tid.x:D mov:D %ctaid.x:U mov:U imul:D iadd:D ld:D shl:D isub:D and:D mov:U iadd:U imul:D iadd:D setp:U setp:D iadd:D iadd:D"},
	} {
		v, err := plan.Evaluate(plan.Analyse(f, all(f), true), x.dims, make([]bool, len(f.Ops)))
		if err != nil {
			t.Fatal(err)
		}
		if got := variations(v); got != x.want {
			t.Errorf("%v:\n%s, want\n%s", x.dims, got, x.want)
		}
		// Lanes part at the branch to skip only, and meet there: the loop's condition is uniform.
		if v.Reconvergences != 1 {
			t.Errorf("%v: lanes wait at %d blocks, want 1", x.dims, v.Reconvergences)
		}
	}
}

// TestWrap: an address that is known to wrap around is anything.
func TestWrap(t *testing.T) {
	f := kernel(t).Funcs[0]
	wrap := make([]bool, len(f.Ops))
	for i := range f.Ops {
		wrap[i] = f.Ops[i].Ctl == ir.Plain && f.Ops[i].Opcode().String() == "imul"
	}
	v, err := plan.Evaluate(plan.Analyse(f, all(f), true), [3]uint32{256, 1, 1}, wrap)
	if err != nil {
		t.Fatal(err)
	}
	if got := variations(v); !strings.Contains(got, "imul:D iadd:D ld:D shl:A8") {
		t.Error(got)
	}
}

// TestLoops: the one loop is found, and its values have homes: the counter and what is multiplied, two pieces each; the
// step is read there too.
func TestLoops(t *testing.T) {
	f := kernel(t).Funcs[0]
	a := plan.Analyse(f, all(f), false)
	if len(a.Loops) != 1 {
		t.Fatalf("%d loops", len(a.Loops))
	}
	rows := map[uint32]int{}
	for i, h := range a.Loops[0].Homes {
		if int(h.Reg) != i {
			t.Errorf("home %d has number %d", i, h.Reg)
		}
		rows[h.Row]++
	}
	if len(rows) != 3 {
		t.Errorf("%d rows have homes, want 3", len(rows))
	}
	for r, n := range rows {
		if n != 2 {
			t.Errorf("row %d has %d homes, want 2", r, n)
		}
	}
	// Nothing is live at the beginning, and the loop's operations are one block.
	for _, w := range a.Blocks[0].In {
		if w != 0 {
			t.Error("rows are live at the beginning")
		}
	}
	// Without machine code for an operation of the loop, registers are lost there: it has no homes.
	native := all(f)
	for i := range native {
		native[i] = f.Ops[i].Ctl != ir.Plain || f.Ops[i].Opcode().String() != "imul"
	}
	if a := plan.Analyse(f, native, false); len(a.Loops) != 1 || len(a.Loops[0].Homes) != 0 {
		t.Errorf("%d loops; homes beside an operation of the interpreter", len(a.Loops))
	}
}

// TestWholeCTA: why a kernel cannot run as whole CTAs.
func TestWholeCTA(t *testing.T) {
	k := kernel(t)
	f := k.Funcs[0]
	if no := plan.WholeCTA(k, plan.Analyse(f, all(f), true)); no != nil {
		t.Errorf("%v", no)
	}
	native := all(f)
	native[3] = false
	if no := plan.WholeCTA(k, plan.Analyse(f, native, true)); no == nil || no.Why != plan.WhyScheduler ||
		no.Line != f.Ops[3].Line {
		t.Errorf("%v", no)
	}
}

// TestStretch: where operations that compute each lane from itself may be executed for half the lanes first. What ends
// a stretch is a row of another width, or across, in memory that another row of the stretch has: the first half's
// result would overwrite what the second half has to read.
func TestStretch(t *testing.T) {
	row := func(c ir.Class, off uint32) ir.Arg { return ir.Arg{Kind: ir.Row, Class: c, Ref: ir.Ref{Off: off}} }
	w32 := func(off uint32) ir.Arg { return row(ir.W32, off) }
	w64 := func(off uint32) ir.Arg { return row(ir.W64, off) }
	pred := func(off uint32) ir.Arg { return row(ir.WPred, off) }
	constant := ir.Arg{Kind: ir.Imm, Class: ir.W32, Ref: ir.Ref{Sel: 1}}
	for _, c := range []struct {
		name string
		ops  [][]ir.Arg
		end  int32
		rows int
	}{
		{"one row again and again", [][]ir.Arg{
			{w32(0), w32(0), constant},
			{w32(0), w32(0), w32(128)},
			{w32(128), w32(0), w32(0)},
		}, 3, 2},
		{"a narrow row in a wide one", [][]ir.Arg{
			{w32(256), w32(384), constant},
			{w64(512), w64(0), w64(0)},
			{w32(128), w32(256), w32(256)},
		}, 2, 4},
		{"a wide row over two narrow ones", [][]ir.Arg{
			{w32(512), w32(0), w32(128)},
			{w64(0), w32(512), w32(512)},
		}, 1, 3},
		{"another width at the same place", [][]ir.Arg{
			{w32(512), w32(0), constant},
			{w64(0), w32(512), w32(512)},
		}, 1, 2},
		{"across", [][]ir.Arg{{w32(512), w32(0), constant}, {w32(64), w32(512), w32(512)}}, 1, 2},
		{"across by less than a piece", [][]ir.Arg{
			{w32(512), w32(0), constant},
			{w32(100), w32(512), w32(512)},
		}, 1, 2},
		{"a result where a predicate stands", [][]ir.Arg{
			{w32(512), w32(256), w32(256), pred(4)},
			{w32(0), w32(512), w32(512)},
		}, 1, 2},
		{"predicates side by side", [][]ir.Arg{
			{w32(512), w32(256), w32(256), pred(4)},
			{w32(512), w32(256), w32(256), pred(8)},
		}, 2, 2},
		{"none", nil, 0, 0},
	} {
		f := &ir.Func{}
		for _, a := range c.ops {
			f.Ops = append(f.Ops, ir.Op{Args: a})
		}
		s := new(plan.Stretches).At(f.Ops, 0, int32(len(f.Ops)), func(int32) bool { return true })
		// The operation that ends the stretch may have added rows.
		if s.Start != 0 || s.End != c.end || s.Rows < c.rows {
			t.Errorf("%s: to %d with %d rows, want to %d with %d", c.name, s.End, s.Rows, c.end, c.rows)
		}
	}
	f := &ir.Func{Ops: make([]ir.Op, 8)}
	if s := new(plan.Stretches).At(f.Ops, 2, 7, func(i int32) bool { return i != 5 }); s.Start != 2 || s.End != 5 {
		t.Errorf("%d to %d, want 2 to 5", s.Start, s.End)
	}
}
