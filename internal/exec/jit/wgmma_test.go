package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// groupCase is a form of wgmma.mma_async.
type groupCase struct {
	n, k  int
	types string
	per   int // registers of D for eight columns
	regs  bool
	tail  string // the immediates
	size  int
}

func (c *groupCase) source() string {
	var s strings.Builder
	reg, typ := "%f", "f32"
	if c.per == 2 {
		reg, typ = "%r", "b32"
	}
	regs := c.n / 8 * c.per
	fmt.Fprintf(&s, ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 mem, .param .u64 out, .param .u64 da, .param .u64 db, .param .u32 scale) {\n"+
		".reg .b32 %%r<400>; .reg .f32 %%f<400>; .reg .b64 %%q<16>; .reg .pred %%p<4>; .shared .align 1024 .b8 sm[16384];\n"+
		"ld.param.u64 %%q1, [in]; ld.param.u64 %%q2, [mem]; ld.param.u64 %%q3, [out]; ld.param.u64 %%q4, [da]; ld.param.u64 %%q5, [db]; ld.param.u32 %%r1, [scale]; setp.ne.u32 %%p1, %%r1, 0;\n"+
		"mov.u32 %%r0, %%tid.x; mul.wide.u32 %%q6, %%r0, 128; add.u64 %%q2, %%q2, %%q6; mov.u32 %%r2, sm; shl.b32 %%r3, %%r0, 7; add.u32 %%r2, %%r2, %%r3;\n")
	for i := range 8 {
		fmt.Fprintf(&s, "ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%q2+%d]; st.shared.v4.u32 [%%r2+%[1]d], {%%r4, %%r5, %%r6, %%r7};\n", 16*i)
	}
	fmt.Fprintf(&s, "bar.sync 0; mul.wide.u32 %%q6, %%r0, %d; add.u64 %%q1, %%q1, %%q6; add.u64 %%q3, %%q3, %%q6;\n",
		4*(regs+4))
	var d []string
	for i := range regs {
		fmt.Fprintf(&s, "ld.global.%s %s%d, [%%q1+%d];\n", typ, reg, 100+i, 4*i)
		d = append(d, fmt.Sprintf("%s%d", reg, 100+i))
	}
	for i := range 4 {
		fmt.Fprintf(&s, "ld.global.b32 %%r%d, [%%q1+%d];\n", 10+i, 4*(regs+i))
	}
	a := "%q4"
	if c.regs {
		a = "{%r10, %r11, %r12, %r13}"
	}
	fmt.Fprintf(&s, "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n%dk%d.%s {%s}, %s, %%q5, %%p1, %s;\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n", c.n, c.k, c.types, strings.Join(d, ", "), a, c.tail)
	for i := range regs {
		fmt.Fprintf(&s, "st.global.%s [%%q3+%d], %s;\n", typ, 4*i, d[i])
	}
	s.WriteString("ret; }\n")
	return s.String()
}

// TestGroupProducts compares wgmma.mma_async on machine code with the interpreter, whose results are those of the
// recorded cases (silicon, wgmma): descriptors of every swizzle, inside and outside of shared memory.
func TestGroupProducts(t *testing.T) {
	cases := []groupCase{
		{8, 16, "f32.f16.f16", 4, false, "1, 1, 0, 0", 2}, {64, 16, "f32.f16.f16", 4, true, "1, 1, 0", 2},
		{32, 16, "f32.bf16.bf16", 4, false, "-1, 1, 0, 0", 2}, {16, 16, "f32.bf16.bf16", 4, true, "-1, -1, 0", 2},
		{24, 16, "f16.f16.f16", 2, false, "1, -1, 0, 0", 2}, {40, 16, "f16.f16.f16", 2, true, "1, 1, 0", 2},
		{48, 8, "f32.tf32.tf32", 4, false, "1, 1", 4}, {16, 8, "f32.tf32.tf32", 4, true, "-1, 1", 4},
		// matrices with rows contiguous: the interpreter's
		{8, 16, "f32.f16.f16", 4, false, "1, 1, 1, 0", 2}, {16, 16, "f32.f16.f16", 4, true, "1, 1, 1", 2},
	}
	eachISA(t, func(t *testing.T, e *engine) {
		r := rand.New(rand.NewPCG(5, 6))
		for i := range cases {
			c := &cases[i]
			src := c.source()
			row := 4 * (c.n/8*c.per + 4)
			m := matrixCase{form: c.types, a: 1, f32: c.per == 4}
			for mode := range uint64(4) {
				for try := range 6 {
					desc := func() uint64 {
						base, lead, stride := uint64(r.IntN(512))/8*8, uint64(r.IntN(64)+1), uint64(r.IntN(64)+1)
						if try == 5 {
							base, stride = 0x3f00, 0x3fff // far outside
						}
						return base | lead<<16 | stride<<32 | mode<<62
					}
					da, db := desc(), desc()
					in, mem := make([]byte, 128*row), make([]byte, 16384)
					m.d, m.a, m.b, m.c = 0, 32, 0, 0
					for at := 0; at < len(mem); at += 32 * 4 * 32 {
						m.fill(r, mem[at:])
					}
					for lane := range 128 {
						for j := 0; j < row; j += 4 {
							x := r.Uint32()
							if r.IntN(4) != 0 && j < row-16 {
								x = x&0x83ffffff | uint32(100+r.IntN(50))<<23
							}
							if j >= row-16 {
								x = binary.LittleEndian.Uint32(mem[r.IntN(4096)*4:])
							}
							binary.LittleEndian.PutUint32(in[lane*row+j:], x)
						}
					}
					for _, cluster := range []uint32{0, 1} {
						d := exectest.Open(t)
						var want []byte
						var wantErr string
						for _, x := range []bool{false, true} {
							d.Engine = interp.New()
							if x {
								d.Engine = e
							}
							k, err := d.Load(src).Kernel("k")
							if err != nil {
								t.Fatalf("%v\n%s", err, src)
							}
							a1, b1 := d.Alloc(len(in))
							copy(b1, in)
							a2, b2 := d.Alloc(len(mem))
							copy(b2, mem)
							a3, out := d.Alloc(len(in))
							cfg := exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(128), Workers: 1}
							if cluster != 0 {
								cfg.Cluster = exectest.Dim(1)
							}
							said := ""
							if err := k.Run(cfg, a1, a2, a3, da, db, uint32(try%3)); err != nil {
								said = err.Error()
							}
							if !x {
								want, wantErr = bytes.Clone(out), said
								continue
							}
							if said != wantErr || said == "" && !bytes.Equal(out, want) {
								n := 0
								for n < len(out) && out[n] == want[n] {
									n++
								}
								t.Errorf("%s n%d, registers %v, mode %d, descriptors %#x %#x, cluster %d: %q, want %q; differs from byte %d on (lane %d, register %d)",
									c.types, c.n, c.regs, mode, da, db, cluster, said, wantErr, n, n/row, n%row/4)
							}
						}
					}
				}
			}
		}
	})
}
