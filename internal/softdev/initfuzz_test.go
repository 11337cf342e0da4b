package softdev

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
)

// initTemplates are operations of random programs: $w, $d and $p are registers of 32 bits, 64 bits and predicates,
// written first; $W, $D and $P are those that are read, $i and $j small numbers.
var initTemplates = []string{
	"add.u32 $w, $W, $W;", "sub.u32 $w, $W, $W;", "mul.lo.u32 $w, $W, $W;", "mad.lo.s32 $w, $W, $W, $W;",
	"mul.hi.u32 $w, $W, $W;", "mul.wide.u32 $d, $W, $W;", "mad.wide.s32 $d, $W, $W, $D;",
	"add.s64 $d, $D, $D;", "sub.s64 $d, $D, $D;", "neg.s32 $w, $W;", "and.b32 $w, $W, $W;",
	"or.b32 $w, $W, $W;", "xor.b32 $w, $W, $W;", "not.b32 $w, $W;", "and.b64 $d, $D, $D;",
	"or.b64 $d, $D, $D;", "lop3.b32 $w, $W, $W, $W, 0xca;", "lop3.b32 $w, $W, $W, $W, 0x96;",
	"and.b32 $w, $W, 0xff00f0;", "or.b32 $w, $W, 0xf00000f;", "and.pred $p, $P, $P;", "or.pred $p, $P, $P;",
	"xor.pred $p, $P, $P;", "not.pred $p, $P;", "mov.pred $p, $P;", "shl.b32 $w, $W, $i;",
	"shr.u32 $w, $W, $i;", "shr.s32 $w, $W, $i;", "shl.b64 $d, $D, $i;", "shr.s64 $d, $D, $i;",
	"shl.b32 $w, $W, $W;", "shf.l.wrap.b32 $w, $W, $W, $i;", "shf.r.clamp.b32 $w, $W, $W, $W;",
	"bfe.u32 $w, $W, $i, $j;", "bfe.s32 $w, $W, $i, $j;", "bfi.b32 $w, $W, $W, $i, $j;",
	"prmt.b32 $w, $W, $W, 0x5140;", "prmt.b32 $w, $W, $W, 0x8a26;", "prmt.b32 $w, $W, $W, $W;",
	"brev.b32 $w, $W;", "cvt.u64.u32 $d, $W;", "cvt.s64.s32 $d, $W;", "cvt.u32.u64 $w, $D;",
	"cvt.s32.s8 $w, $W;", "cvt.u32.u16 $w, $W;", "cvt.rn.f32.s32 $w, $W;", "mov.b32 $w, $W;",
	"mov.b64 $d, {$W, $W};", "mov.b64 {$w, $w}, $D;", "mov.b64 $d, $D;", "setp.eq.u32 $p, $W, $W;",
	"setp.lt.u32 $p, $W, $W;", "setp.ge.s32 $p, $W, $W;", "setp.ne.s64 $p, $D, $D;",
	"setp.lt.u32 $p, $W, 0x10000000;", "setp.lt.and.s32 $p, $W, $W, $P;", "setp.eq.or.u32 $p, $W, $W, $P;",
	"set.lt.u32.u32 $w, $W, $W;", "setp.gt.f32 $p, $W, $W;", "selp.b32 $w, $W, $W, $P;",
	"selp.b64 $d, $D, $D, $P;", "slct.b32.s32 $w, $W, $W, $W;", "min.u32 $w, $W, $W;", "max.s32 $w, $W, $W;",
	"popc.b32 $w, $W;", "clz.b32 $w, $W;", "abs.s32 $w, $W;", "sad.u32 $w, $W, $W, $W;", "add.f32 $w, $W, $W;",
	"fma.rn.f32 $w, $W, $W, $W;", "add.f16x2 $w, $W, $W;", "mul.f16x2 $w, $W, $W;", "min.f16x2 $w, $W, $W;",
	"add.cc.u32 $w, $W, $W;\n\taddc.u32 $w, $W, $W;", "sub.cc.u32 $w, $W, $W;\n\tsubc.u32 $w, $W, $W;",
	"shfl.sync.bfly.b32 $w, $W, $i, 31, -1;", "shfl.sync.idx.b32 $w, $W, $i, 31, -1;",
	"shfl.sync.up.b32 $w, $W, $W, 0, -1;", "vote.sync.ballot.b32 $w, $P, -1;",
	"vote.sync.any.pred $p, $P, -1;", "vote.sync.all.pred $p, $P, -1;", "redux.sync.or.b32 $w, $W, -1;",
	"match.any.sync.b32 $w, $W, -1;", "dp4a.u32.u32 $w, $W, $W, $W;", "vadd2.u32.u32.u32 $w, $W, $W, $W;",
	"st.local.b32 [buf+$o], $W;", "ld.local.b32 $w, [buf+$o];", "st.local.b64 [buf+$q], $D;",
	"ld.local.b64 $d, [buf+$q];", "st.local.b8 [buf+$o], $W;", "ld.local.s8 $w, [buf+$o];",
	"ld.local.v2.b32 {$w, $w}, [buf+$q];", "st.shared.b32 [mine], $W;", "ld.shared.b32 $w, [mine];",
	"atom.shared.add.u32 $w, [mine], $W;", "atom.shared.exch.b32 $w, [mine], $W;",
	"atom.shared.cas.b32 $w, [mine], $W, $W;", "atom.shared.min.u32 $w, [mine], $W;",
}

// initProgram is a random kernel of straight-line code. Of one with local memory there is no machine code.
func initProgram(r *rand.Rand, local bool) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b32 %w<8>;
	.reg .b64 %d<4>;
	.reg .b64 %a<4>;
	.reg .b32 mine, t;
	.reg .pred %p<4>;
	.local .align 8 .b8 buf[64];
	.shared .align 8 .b8 cells[128];
	ld.param.u64 %a0, [in];
	ld.param.u64 %a1, [out];
	mov.u32 t, %tid.x;
	mad.wide.u32 %a0, t, 64, %a0;
	mad.wide.u32 %a1, t, 128, %a1;
	mov.u32 mine, cells;
	mad.lo.u32 mine, t, 4, mine;
	ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%a0];
	ld.global.u8 %w4, [%a0+16];
	ld.global.s16 %w5, [%a0+18];
	ld.global.v2.b32 {%w6, %w7}, [%a0+24];
	ld.global.v2.b64 {%d0, %d1}, [%a0+32];
	ld.global.b64 %d2, [%a0+48];
	ld.global.u32 %d3, [%a0+56];
	st.shared.b32 [mine], %w4;
`)
	for i := range 4 {
		fmt.Fprintf(&b, "\tsetp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, r.IntN(8), r.IntN(8))
	}
	for i := range 8 { // buf
		if !local {
			break
		}
		fmt.Fprintf(&b, "\tst.local.b64 [buf+%d], %%d%d;\n", 8*i, r.IntN(4))
	}
	for range 24 {
		text := initTemplates[r.IntN(len(initTemplates))]
		if !local && strings.Contains(text, ".local") {
			continue
		}
		whole := strings.Contains(text, ".sync") || strings.Contains(text, "cc.")
		effect := text[:3] == "st." || text[:4] == "atom" // a guard of those is a use
		if !whole && !effect && r.IntN(5) == 0 {
			text = fmt.Sprintf("@%%p%d %s", r.IntN(4), text)
		}
		pick := func(from string, to func() string) {
			for strings.Contains(text, from) {
				text = strings.Replace(text, from, to(), 1)
			}
		}
		used := map[int]bool{}
		pick("$w", func() string {
			n := r.IntN(8)
			for used[n] {
				n = r.IntN(8)
			}
			used[n] = true
			return fmt.Sprintf("%%w%d", n)
		})
		pick("$W", func() string { return fmt.Sprintf("%%w%d", r.IntN(8)) })
		pick("$d", func() string { return fmt.Sprintf("%%d%d", r.IntN(4)) })
		pick("$D", func() string { return fmt.Sprintf("%%d%d", r.IntN(4)) })
		pick("$p", func() string { return fmt.Sprintf("%%p%d", r.IntN(4)) })
		pick("$P", func() string { return fmt.Sprintf("%%p%d", r.IntN(4)) })
		pick("$i", func() string { return fmt.Sprint(r.IntN(32)) })
		pick("$j", func() string { return fmt.Sprint(r.IntN(20)) })
		pick("$o", func() string { return fmt.Sprint(4 * r.IntN(16)) })
		pick("$q", func() string { return fmt.Sprint(8 * r.IntN(8)) })
		fmt.Fprintf(&b, "\t%s\n", text)
	}
	for i := range 8 {
		fmt.Fprintf(&b, "\tst.global.b32 [%%a1+%d], %%w%d;\n", 4*i, i)
	}
	for i := range 4 {
		fmt.Fprintf(&b, "\tst.global.b64 [%%a1+%d], %%d%d;\n", 32+8*i, i)
		fmt.Fprintf(&b, "\tselp.b32 t, 1, 0, %%p%d;\n\tst.global.b32 [%%a1+%d], t;\n", i, 64+4*i)
	}
	b.WriteString("\tret;\n}\n\x00")
	return b.String()
}

// initFuzz runs programs.
type initFuzz struct {
	t                    *testing.T
	d                    *Driver
	tab                  *driver.Table
	ctx                  driver.CUcontext
	bits, marked, differ int
	sparse               bool // few bytes are undefined
}

// run runs a program with several fillings of the bytes that nobody has written, and says what is wrong.
func (z *initFuzz) run(seed uint64, text string) (wrong string) {
	const threads, inSize, outSize, fillings = 32, 32 * 64, 32 * 128, 8
	t, tab, ctx := z.t, z.tab, z.ctx
	check := z.d.uninit.InitChecker
	r := rand.New(rand.NewPCG(seed, 2))
	var mod driver.CUmodule
	image := []byte(text)
	must(t, tab.ModuleLoadData(ctx, &mod, unsafe.Pointer(&image[0])))
	var f driver.CUfunction
	must(t, tab.ModuleGetFunction(ctx, &f, mod, cstr("k")))
	var in, out driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &in, inSize))
	must(t, tab.MemAlloc_v2(ctx, &out, outSize))
	data := make([]byte, inSize)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	must(t, tab.MemcpyHtoD_v2(ctx, in, unsafe.Pointer(&data[0]), inSize))
	density := 1 + r.IntN(12)
	if z.sparse {
		density += 1 << r.IntN(13)
	}
	var holes []int
	for i := range data {
		if r.IntN(density) == 0 {
			holes = append(holes, i)
			check.Allocated(uint64(in)+uint64(i), 1)
		}
	}
	memory, results := hostBytes(in, inSize), hostBytes(out, outSize)
	var first []byte
	var diff [outSize]byte
	for k := range fillings {
		for _, at := range holes {
			memory[at] = [...]byte{1: 0, 2: 0xff}[min(k, 2)]
			if k == 0 || k > 2 {
				memory[at] = byte(r.Uint32())
			}
		}
		args := [2]unsafe.Pointer{unsafe.Pointer(&in), unsafe.Pointer(&out)}
		must(t, tab.LaunchKernel(ctx, f, 1, 1, 1, threads, 1, 1, 0, 0, &args[0], nil))
		must(t, tab.CtxSynchronize(ctx))
		if k == 0 {
			first = append(first, results...)
		}
		for i := range diff {
			diff[i] |= first[i] ^ results[i]
		}
	}
	for i := 0; i < outSize; i += 8 {
		if i%128 >= 80 { // nothing is written there
			continue
		}
		un, x := check.Undefined(uint64(out)+uint64(i), 8).Lo, binary.LittleEndian.Uint64(diff[i:])
		z.bits, z.marked, z.differ = z.bits+64, z.marked+popcount(un), z.differ+popcount(x)
		if x&^un != 0 && wrong == "" {
			wrong = fmt.Sprintf("bits %#x of thread %d's results at %d differ, but only %#x are undefined", x, i/128,
				i%128, un)
		}
	}
	must(t, tab.MemFree_v2(ctx, in))
	must(t, tab.MemFree_v2(ctx, out))
	must(t, tab.ModuleUnload(ctx, mod))
	return wrong
}

// TestInitFuzz runs random programs over memory of which some bytes are undefined, with several fillings of those
// bytes: bits of results that differ have to be undefined.
func TestInitFuzz(t *testing.T) {
	programs := 400
	if testing.Short() {
		programs = 60
	}
	for _, engine := range checkedEngines() {
		t.Run(engine, func(t *testing.T) { initFuzzRun(t, engine, programs) })
	}
}

func initFuzzRun(t *testing.T, engine string, programs int) {
	machine := engine != "interpreter"
	d, tab, ctx := open(t, Options{
		Check: []string{"init"}, EngineName: engine, Stdout: io.Discard, Stderr: io.Discard,
		Reports: func(*checker.Report) {},
	})
	z := &initFuzz{t: t, d: d, tab: tab, ctx: ctx, sparse: machine}
	for seed := range uint64(programs) {
		text := initProgram(rand.New(rand.NewPCG(seed, 1)), !machine)
		wrong := z.run(seed, text)
		if wrong == "" {
			continue
		}
		lines := strings.SplitAfter(text, "\n")
		for i := len(lines) - 1; i > 20; i-- { // without what it does not need
			less := slices.Delete(slices.Clone(lines), i, i+1)
			if i < len(lines)-2 && z.run(seed, strings.Join(less, "")) != "" {
				lines = less
			}
		}
		t.Fatalf("seed %d: %s\n%s", seed, z.run(seed, strings.Join(lines, "")), strings.Join(lines, ""))
	}
	t.Logf("%d programs: of %d bits of results %d are undefined, %d were seen to differ", programs, z.bits, z.marked,
		z.differ)
	if z.differ < z.bits/50 || z.marked > z.bits*19/20 {
		t.Error("the programs do not tell much")
	}
}

func popcount(x uint64) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}
