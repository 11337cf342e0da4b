package jit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// wmmaCase multiplies matrices of s8 from one place in memory to another.
type wmmaCase struct {
	m, n         int
	rowA, rowB   bool
	rowC, rowD   bool
	space        string
	stride       string // how the leading dimension is written: reg, imm, none
	alias        string // d is c, or begins in a
	narrow       bool   // 32-bit addresses of shared memory
	ldA, ldB     int
	ldC, ldD     int
	regsA, regsB int
}

func order(row bool) string {
	if row {
		return "row"
	}
	return "col"
}

func (c *wmmaCase) source() string {
	var s strings.Builder
	fmt.Fprintf(&s, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 la, .param .u32 lb, .param .u32 lc, .param .u32 ld) {\n"+
		".reg .b32 %%r<96>; .reg .b64 %%q<16>; .shared .align 128 .b8 sm[16384];\nld.param.u64 %%q1, [in]; ld.param.u64 %%q2, [out];\n"+
		"ld.param.u32 %%r1, [la]; ld.param.u32 %%r2, [lb]; ld.param.u32 %%r3, [lc]; ld.param.u32 %%r4, [ld];\nmov.u32 %%r5, %%tid.x; mov.u64 %%q3, sm; mov.u32 %%r6, sm;\n")
	if strings.HasPrefix(c.space, ".shared") || c.narrow { // copies all there is
		s.WriteString("mul.wide.u32 %q4, %r5, 512; add.u64 %q5, %q1, %q4; add.u64 %q6, %q3, %q4;\n")
		for i := range 32 {
			fmt.Fprintf(&s, "ld.global.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%q5+%d]; st.shared.v4.u32 [%%q6+%[1]d], {%%r10, %%r11, %%r12, %%r13};\n", 16*i)
		}
		s.WriteString("bar.sync 0; mov.u64 %q1, %q3;\n")
	}
	base := "%q1"
	if c.narrow {
		base = "%r6"
	}
	regs := func(first, n int) string {
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("%%r%d", first+i))
		}
		return "{" + strings.Join(l, ", ") + "}"
	}
	ld := func(n int, reg string) string {
		switch c.stride {
		case "reg":
			return ", " + reg
		case "imm":
			return fmt.Sprintf(", %d", n)
		}
		return ""
	}
	shape := fmt.Sprintf("m%dn%dk16", c.m, c.n)
	a, b, cc, d := regs(20, c.regsA), regs(30, c.regsB), regs(40, 8), regs(50, 8)
	switch c.alias {
	case "c":
		d = cc
	case "a":
		d = regs(20, 8)
		b = regs(34, c.regsB)
	}
	fmt.Fprintf(&s, "wmma.load.a.sync.aligned.%s.%s%s.s8 %s, [%s]%s;\n", order(c.rowA), shape, c.space, a, base,
		ld(c.ldA, "%r1"))
	fmt.Fprintf(&s, "wmma.load.b.sync.aligned.%s.%s%s.s8 %s, [%s+4096]%s;\n", order(c.rowB), shape, c.space, b, base,
		ld(c.ldB, "%r2"))
	fmt.Fprintf(&s, "wmma.load.c.sync.aligned.%s.%s%s.s32 %s, [%s+8192]%s;\n", order(c.rowC), shape, c.space, cc, base,
		ld(c.ldC, "%r3"))
	fmt.Fprintf(&s, "wmma.mma.sync.aligned.%s.%s.%s.s32.s8.s8.s32 %s, %s, %s, %s;\n", order(c.rowA), order(c.rowB),
		shape, d, a, b, cc)
	fmt.Fprintf(&s, "wmma.store.d.sync.aligned.%s.%s.global.s32 [%%q2], %s%s;\nret; }\n", order(c.rowD), shape, d,
		ld(c.ldD, "%r4"))
	return s.String()
}

// TestWmma compares products of s8 matrices with their definition (PTX ISA 9.7.14.4), on both engines: shapes, layouts,
// leading dimensions of every kind, state spaces, and results that overwrite operands.
func TestWmma(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, engine := range []exec.Engine{e, interp.New()} {
			t.Run(engine.Name(), func(t *testing.T) { testWmma(t, engine) })
		}
	})
}

func testWmma(t *testing.T, engine exec.Engine) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for i := range 96 {
		shape := [][4]int{{16, 16, 2, 2}, {32, 8, 4, 1}, {8, 32, 1, 4}}[i%3]
		c := &wmmaCase{m: shape[0], n: shape[1], regsA: shape[2], regsB: shape[3], rowA: i&1 != 0, rowB: i&2 != 0,
			rowC: i&4 != 0, rowD: i&8 != 0,
			space: []string{".global", ".shared", ""}[rnd.IntN(3)], stride: []string{"reg", "imm", "none"}[rnd.IntN(3)],
			alias: []string{"", "c", "a"}[rnd.IntN(3)]}
		c.narrow = c.space == ".shared" && rnd.IntN(2) == 0
		lead := func(row bool, rows, cols, unit int) int {
			n := rows
			if row {
				n = cols
			}
			if c.stride == "none" {
				return n
			}
			return n + unit*rnd.IntN(3)
		}
		c.ldA, c.ldB = lead(c.rowA, c.m, 16, 16), lead(c.rowB, 16, c.n, 16)
		c.ldC, c.ldD = lead(c.rowC, c.m, c.n, 4), lead(c.rowD, c.m, c.n, 4)
		d := exectest.Open(t)
		d.Engine = engine
		k, err := d.Load(c.source()).Kernel("k")
		if err != nil {
			t.Fatalf("%+v: %v\n%s", *c, err, c.source())
		}
		in, inBytes := d.Alloc(16384)
		out, outBytes := d.Alloc(8192)
		for i := range inBytes {
			inBytes[i] = byte(rnd.Uint32())
		}
		if err := k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(32)}, in, out, uint32(c.ldA),
			uint32(c.ldB), uint32(c.ldC), uint32(c.ldD)); err != nil {
			t.Fatalf("%+v: %v", *c, err)
		}
		at := func(row bool, r, col, ld int) int {
			if row {
				return r*ld + col
			}
			return col*ld + r
		}
		for r := range c.m {
			for col := range c.n {
				want := int32(binary.LittleEndian.Uint32(inBytes[8192+4*at(c.rowC, r, col, c.ldC):]))
				for j := range 16 {
					want += int32(int8(inBytes[at(c.rowA, r, j, c.ldA)])) * int32(int8(inBytes[4096+
						at(c.rowB, j, col, c.ldB)]))
				}
				if got := int32(binary.LittleEndian.Uint32(outBytes[4*at(c.rowD, r, col, c.ldD):])); got != want {
					t.Fatalf("%+v: row %d, column %d is %d, want %d\n%s", *c, r, col, got, want, c.source())
				}
			}
		}
	}
}
