package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// The bounds of memory: every state space, every kind of access, every place where an address can be wrong. The
// interpreter, which checks each lane's address in one place (exec.Warp.Ptr), is the expectation; what it makes of the
// bounds of shared memory, ranks and windows is recorded (internal/conform). Machine code must come to the same verdict
// and the same results, and must touch nothing outside what a kernel has.

// boundSpace is a state space with the addresses at which something begins or ends there.
type boundSpace struct {
	name   string
	word   string // in the instruction
	narrow bool   // addresses may be 32 bits wide
	edges  func(b *boundBench, k *ir.Kernel) []uint64
}

// boundBench is a device with memory to hit and to miss.
type boundBench struct {
	*exectest.Device
	arena, out, table, small uint64
	arenaData, outData, tabs []byte
	pattern                  []byte // what the arena holds before a launch
}

const (
	boundArena  = 2 << 20  // a granule: what is behind it is not mapped
	boundNear   = 16 << 10 // bytes of it on both sides of an address that are compared
	boundGood   = 2048     // offset in it of addresses that are not at any edge
	boundStack  = 512
	boundShared = 256
	boundBlock  = 40 // a whole warp, and a part of one
)

func newBoundBench(t *testing.T) *boundBench {
	b := &boundBench{Device: exectest.Open(t)}
	b.small, _ = b.Alloc(1) // keeps the granule of small allocations, of which launches take their parameters
	b.out, b.outData = b.Alloc(boundArena)
	b.table, b.tabs = b.Alloc(boundArena)
	before, _ := b.Alloc(boundArena)
	b.arena, b.arenaData = b.Alloc(boundArena)
	b.Free(before)
	b.pattern = make([]byte, 2*boundNear)
	for i := range b.pattern {
		b.pattern[i] = byte(i*7 + 1)
	}
	return b
}

func sharedEdges(b *boundBench, k *ir.Kernel) []uint64 {
	size := uint64(ir.ReservedShared + (k.SharedSize+boundShared+127)&^127)
	return []uint64{0, size, 1 << 24, 1<<24 + size, 2 << 24, 16 << 24}
}

func localEdges(b *boundBench, k *ir.Kernel) []uint64 {
	return []uint64{0, uint64(k.Local + boundStack), 1 << 24}
}

func globalEdges(b *boundBench, k *ir.Kernel) []uint64 {
	m := &b.Mem
	return []uint64{b.arena, b.arena + boundArena, m.Base, m.Base + m.Special, m.Base + m.Size,
		m.Base + m.Size - 2*plan.Slack, m.Base + m.SharedOff, m.Base + m.LocalOff}
}

func at(base uint64, edges []uint64) []uint64 {
	for i := range edges {
		edges[i] += base
	}
	return edges
}

var boundSpaces = []boundSpace{
	{"global", ".global", false, globalEdges},
	{"const", ".const", false, globalEdges},
	{"generic", "", false, globalEdges},
	{"shared", ".shared", true, sharedEdges},
	{"shared::cta", ".shared::cta", true, sharedEdges},
	{"shared::cluster", ".shared::cluster", true, sharedEdges},
	{"generic to shared", "", false, func(b *boundBench, k *ir.Kernel) []uint64 {
		return at(b.Mem.Base+b.Mem.SharedOff, sharedEdges(b, k))
	}},
	{"local", ".local", true, localEdges},
	{"generic to local", "", false, func(b *boundBench, k *ir.Kernel) []uint64 {
		return at(b.Mem.Base+b.Mem.LocalOff, localEdges(b, k))
	}},
	{"param", ".param", true, func(b *boundBench, k *ir.Kernel) []uint64 {
		return []uint64{0, uint64(k.ParamSize), 4096}
	}},
}

// boundForm is an instruction: $S is the state space, $A the address. size is what a lane accesses.
type boundForm struct {
	text string
	size uint64
}

// boundForms are all accesses by width, vector and operation. What a state space does not have the checker refuses.
func boundForms() (forms []boundForm) {
	regs := func(bits, n int) string {
		names := map[int]string{8: "%h", 16: "%h", 32: "%r", 64: "%q"}
		if n == 1 {
			return names[bits] + "10"
		}
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("%s%d", names[bits], 10+i))
		}
		return "{" + strings.Join(l, ", ") + "}"
	}
	for _, t := range []struct {
		name string
		bits int
	}{{"u8", 8}, {"s8", 8}, {"b16", 16}, {"s16", 16}, {"u32", 32}, {"f32", 32}, {"b64", 64}} {
		for n, v := range map[int]string{1: "", 2: ".v2", 4: ".v4"} {
			if n*t.bits > 128 {
				continue
			}
			r := regs(t.bits, n)
			if t.name == "f32" {
				r = strings.ReplaceAll(r, "%r", "%f")
			}
			forms = append(forms, boundForm{"ld$S" + v + "." + t.name + " " + r + ", [$A];", uint64(n * t.bits / 8)},
				boundForm{"st$S" + v + "." + t.name + " [$A], " + r + ";", uint64(n * t.bits / 8)},
				boundForm{"@%p1 st$S" + v + "." + t.name + " [$A], " + r + ";", uint64(n * t.bits / 8)})
			if n == 1 {
				forms = append(forms, boundForm{"ld.volatile$S." + t.name + " " + r + ", [$A];", uint64(t.bits / 8)},
					boundForm{"@%p1 ld$S." + t.name + " " + r + ", [$A];", uint64(t.bits / 8)})
			}
		}
	}
	add := func(size uint64, texts ...string) {
		for _, x := range texts {
			forms = append(forms, boundForm{x, size})
		}
	}
	add(16, "ld$S.b128 %x10, [$A];", "st$S.b128 [$A], %x10;", "atom$S.exch.b128 %x10, [$A], %x11;",
		"atom$S.cas.b128 %x10, [$A], %x11, %x10;",
		"red$S.add.noftz.v4.f32 [$A], {%f10, %f11, %f12, %f13};")
	add(4, "ldu$S.u32 %r10, [$A];", "ld.relaxed.gpu$S.u32 %r10, [$A];", "ld.acquire.sys$S.u32 %r10, [$A];",
		"st.release.gpu$S.u32 [$A], %r10;", "st$S.u32 [$A], 77;",
		"red$S.add.u32 [$A], 3;", "red$S.add.u32 [$A], %r10;", "atom$S.add.u32 %r10, [$A], 3;",
		"atom$S.add.s32 %r10, [$A], %r11;", "@%p1 red$S.add.u32 [$A], %r10;", "@%p1 atom$S.add.u32 %r10, [$A], %r11;",
		"atom$S.add.f32 %f10, [$A], %f11;", "red$S.max.s32 [$A], %r10;", "atom$S.inc.u32 %r10, [$A], %r11;",
		"atom$S.dec.u32 %r10, [$A], %r11;", "atom$S.and.b32 %r10, [$A], %r11;",
		"atom$S.exch.b32 %r10, [$A], %r11;", "atom$S.cas.b32 %r10, [$A], %r11, %r12;",
		"red$S.add.noftz.f16x2 [$A], %r10;", "atom$S.add.noftz.bf16x2 %r10, [$A], %r11;")
	add(8, "red$S.add.u64 [$A], %q10;", "atom$S.add.u64 %q10, [$A], %q11;", "atom$S.add.f64 %d10, [$A], %d11;",
		"atom$S.min.u64 %q10, [$A], %q11;", "atom$S.xor.b64 %q10, [$A], %q11;",
		"atom$S.cas.b64 %q10, [$A], %q11, %q12;",
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [$A], %q10, [%r7];",
		"mbarrier.arrive$S.b64 %q10, [$A];", "mbarrier.init$S.b64 [$A], 1;")
	add(2, "atom$S.cas.b16 %h10, [$A], %h11, %h12;", "atom$S.add.noftz.f16 %h10, [$A], %h11;",
		"red$S.add.noftz.bf16 [$A], %h11;")
	add(1, "prefetch$S.L1 [$A];", "prefetch$S.L2 [$A];", "prefetchu.L1 [$A];")
	add(128, "applypriority$S.L2::evict_normal [$A], 128;", "discard$S.L2 [$A], 128;")
	add(16, "ldmatrix.sync.aligned.m8n8.x1$S.b16 {%r10}, [$A];",
		"ldmatrix.sync.aligned.m8n8.x4.trans$S.b16 {%r10, %r11, %r12, %r13}, [$A];",
		"stmatrix.sync.aligned.m8n8.x1$S.b16 [$A], {%r10};",
		"stmatrix.sync.aligned.m8n8.x4$S.b16 [$A], {%r10, %r11, %r12, %r13};",
		"wmma.load.a.sync.aligned.row.m16n16k16$S.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [$A];",
		"wmma.store.d.sync.aligned.row.m16n16k16$S.f16 [$A], {%r10, %r11, %r12, %r13};")
	for _, n := range []uint64{4, 8, 16} { // either end
		add(n, fmt.Sprintf("cp.async.ca.shared$S [%%r7], [$A], %d;", n),
			fmt.Sprintf("cp.async.ca$S.global [$A], [%%q7], %d;", n),
			fmt.Sprintf("cp.async.ca.shared$S [%%r7], [$A], %d, %%r6;", n))
	}
	add(16, "cp.async.cg.shared$S [%r7], [$A], 16;",
		"cp.async.bulk.shared::cluster$S.mbarrier::complete_tx::bytes [%r7], [$A], 32, [%r5];",
		"cp.async.bulk$S.shared::cta.bulk_group [$A], [%r7], 32;",
		"cp.async.bulk$S.global.mbarrier::complete_tx::bytes [$A], [%q7], 32, [%r5];")
	return forms
}

// boundAddress is how the lanes' addresses come about: what the compiler knows of them, and which lanes' are at the
// edge.
type boundAddress struct {
	name   string
	code   string // makes %a from %q4, the launch's address, and %r1, the thread
	offset func(lane int, size uint64) int64
	table  bool // by lane, from memory
}

var boundAddresses = []boundAddress{
	{"uniform", "mov.b64 %a, %q4;", nil, false},
	{"side by side, first lane", "mad.wide.u32 %a, %r1, $N, %q4;", nil, false},
	{"side by side, last lane", "mad.wide.u32 %a, %r1, $N, %q4; sub.u64 %a, %a, 31*$N;", nil, false},
	{"spread", "mad.wide.u32 %a, %r1, 3*$N, %q4;", nil, false},
	{"all from a table", "", func(lane int, size uint64) int64 { return 0 }, true},
	{"side by side from a table", "", func(lane int, size uint64) int64 {
		return (int64(lane) - 31) * int64(size)
	}, true},
	{"one from a table", "", nil, true},
}

const boundKernel = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 at, .param .u64 table, .param .u64 from, .param .b8 last) {
	.reg .b16 %%h<16>; .reg .b32 %%r<24>; .reg .b64 %%q<16>, %%a; .reg .b32 %%w; .reg .b128 %%x<16>; .reg .f32 %%f<16>; .reg .f64 %%d<16>; .reg .pred %%p<4>;
	.shared .align 128 .b8 sm[384]; .local .align 16 .b8 lm[64];
	ld.param.u64 %%q1, [out]; ld.param.u64 %%q4, [at]; ld.param.u64 %%q3, [table]; ld.param.u64 %%q7, [from];
	mov.u32 %%r1, %%tid.x; setp.ne.u32 %%p1, %%r1, 5; mov.u32 %%r7, sm; add.u32 %%r7, %%r7, 64; mov.u32 %%r5, sm; mov.u32 %%r6, 3;
	mul.wide.u32 %%q2, %%r1, 128; add.u64 %%q2, %%q1, %%q2;
	mul.lo.u32 %%r2, %%r1, 4; mov.u32 %%r3, sm; add.u32 %%r2, %%r2, %%r3; st.shared.u32 [%%r2], %%r1;
	st.local.u32 [lm], %%r1; st.shared.u64 [sm], 0; bar.warp.sync -1;
%s	%s
%s
	st.global.v4.u32 [%%q2], {%%r10, %%r11, %%r12, %%r13}; st.global.v2.u64 [%%q2+16], {%%q10, %%q11}; st.global.v2.u64 [%%q2+32], {%%q12, %%q13};
	st.global.v4.f32 [%%q2+48], {%%f10, %%f11, %%f12, %%f13}; st.global.v4.u16 [%%q2+64], {%%h10, %%h11, %%h12, %%h13}; st.global.f64 [%%q2+72], %%d10;
	mov.b128 {%%q10, %%q11}, %%x10; st.global.v2.u64 [%%q2+80], {%%q10, %%q11};
	ld.shared.u32 %%r2, [%%r2]; st.global.u32 [%%q2+96], %%r2; ld.local.u32 %%r2, [lm]; st.global.u32 [%%q2+100], %%r2;
	ret;
}`

// boundSource is a kernel that makes an access. disp is the displacement in the instruction.
func boundSource(s *boundSpace, f *boundForm, a *boundAddress, disp int64, narrow bool) string {
	var set strings.Builder
	for i := 10; i < 18; i++ {
		fmt.Fprintf(&set, "\tadd.u32 %%r%d, %%r1, %d; ", i, 0x5a000001+i<<8)
	}
	for i := 10; i < 14; i++ {
		fmt.Fprintf(&set, "\tadd.u64 %%q%d, %%q2, %d; mov.b128 %%x%d, {%%q%d, %%q1}; cvt.rn.f32.u32 %%f%d, %%r%d; cvt.rn.f64.u32 %%d%d, %%r%d; cvt.u16.u32 %%h%d, %%r%d;\n", i, i, i, i, i, i, i, i, i, i)
	}
	code, operand := a.code, "%a"
	if a.table {
		code = "mad.wide.u32 %a, %r1, 8, %q3; ld.global.u64 %a, [%a];"
	}
	if narrow {
		code += " cvt.u32.u64 %w, %a;"
		operand = "%w"
	}
	if disp != 0 {
		operand = fmt.Sprintf("%s+%d", operand, disp)
	}
	code = strings.ReplaceAll(code, "$N", fmt.Sprint(f.size))
	text := strings.NewReplacer("$S", s.word, "$A", operand).Replace(f.text)
	return fmt.Sprintf(boundKernel, set.String(), code, "\t"+text)
}

// taken says whether an address is near memory of the launch's own.
func (b *boundBench) taken(p uint64) bool {
	for _, a := range []uint64{b.small, b.out, b.table} {
		if p-a+boundNear < boundArena+2*boundNear {
			return true
		}
	}
	return false
}

// places are the addresses to try around the edges for accesses of a size.
func places(edges []uint64, size uint64) []uint64 {
	seen := map[uint64]bool{}
	var l []uint64
	put := func(xs ...uint64) {
		for _, x := range xs {
			if !seen[x] {
				seen[x] = true
				l = append(l, x)
			}
		}
	}
	for _, e := range edges {
		put(e, e-size, e+size, e-2*size, e+32*size, e-32*size, e+160*size, e-160*size, e-size/2, e-1, e+1, e+plan.Slack,
			e-plan.Slack, e+1<<20, e-1<<20, e+1<<31, e-1<<31, e+1<<32, e-1<<32, e+1<<32-size, e+1<<63)
	}
	far := uint64(plan.Slack)
	put(0, size, 1<<31, 1<<31-size, 1<<32-1, 1<<32-size, 1<<32-size/2, 1<<32, 1<<63, 1<<63-size, -size, -(size / 2),
		^uint64(0), -far, -far-size)
	return l
}

// watched is machine code that is looked at from outside: what lies around the memory that it works on must stay zero.
type watched struct {
	*code
	t    *testing.T
	what *string
}

func (c *watched) clean(what string, p unsafe.Pointer, n int) {
	for i, x := range unsafe.Slice((*byte)(p), n) {
		if x != 0 {
			c.t.Errorf("%s: byte %d %s was written", *c.what, i, what)
			return
		}
	}
}

// Run implements exec.Code. The allocations behind a CTA's shared and a warp's local memory are larger than these
// (exec.CTA.fit, exec.Warp.localMemory).
func (c *watched) Run(w *exec.Warp) exec.Event {
	defer func() {
		c.clean("behind shared memory", unsafe.Add(w.CTA.Shared, w.CTA.SharedSize), 1024)
		if w.LocalBase != nil {
			c.clean("behind local memory", unsafe.Add(w.LocalBase, 32*w.LocalSize), 48)
		}
	}()
	return c.code.Run(w)
}

// Blocks implements exec.BlockCode.
func (c *watched) Blocks(l *exec.Launch, had exec.BlockRunner) exec.BlockRunner {
	r := c.code.Blocks(l, had)
	if r == nil {
		return nil
	}
	return &watchedRunner{r.(*blockRunner), c}
}

type watchedRunner struct {
	*blockRunner
	c *watched
}

// Close implements exec.BlockRunner.
func (r *watchedRunner) Close() {
	size := int(ir.ReservedShared + (r.blockRunner.c.k.SharedSize+boundShared+127)&^127)
	first := unsafe.Pointer(unsafe.SliceData(r.shared))
	front := int(uintptr(r.memory) - uintptr(first))
	r.c.clean("before shared memory", first, front)
	r.c.clean("behind shared memory", unsafe.Add(r.memory, size), 8*len(r.shared)-front-size)
	lead := int(uintptr(r.first) - uintptr(unsafe.Pointer(unsafe.SliceData(r.frames))))
	r.c.clean("before the frames", unsafe.Pointer(unsafe.SliceData(r.frames)), lead)
	used := lead + r.blockRunner.v.code.Values.Warps*int(r.size)
	r.c.clean("behind the frames", unsafe.Pointer(&r.frames[used]), len(r.frames)-used)
	r.blockRunner.Close()
}

// boundVerdict is what came of a launch.
type boundVerdict struct {
	fault string
	data  []byte
}

// launch runs a kernel once that accesses memory near an address, and takes what it stored.
func (b *boundBench) launch(t *testing.T, k *exectest.Kernel, cluster uint32, at, to uint64) boundVerdict {
	good := b.arenaData[:boundGood+4096] // where the other lanes' addresses lie
	copy(good, b.pattern)
	var near []byte
	if off := to - b.arena + boundNear; off < boundArena+2*boundNear {
		near = b.arenaData[max(off, 2*boundNear)-2*boundNear : min(off, boundArena)]
		copy(near, b.pattern)
	}
	clear(b.outData[:128*boundBlock*2])
	c := exectest.Config{Block: exectest.Dim(boundBlock), Shared: boundShared, Stack: boundStack,
		Grid: exectest.Dim(max(cluster, 1))}
	if cluster > 0 {
		c.Cluster = exectest.Dim(cluster)
	}
	var v boundVerdict
	if err := k.Run(c, b.out, at, b.table, b.arena+1024, []byte{1}); err != nil {
		if _, ok := err.(*exec.Fault); !ok {
			t.Fatal(err)
		}
		v.fault = err.Error()
		return v
	}
	v.data = append(append(append(v.data, good...), near...), b.outData[:128*boundBlock]...)
	return v
}

// TestBounds compares machine code, of whole CTAs and of single warps, with the interpreter at every bound of every
// state space.
func TestBounds(t *testing.T) { eachISA(t, testBounds) }

func testBounds(t *testing.T, e *engine) {
	texts, addresses := uint32(600), uint32(8)
	if *long {
		texts, addresses = 40, 4
	}
	// a sample that is the same each time, and another for each instruction set
	chosen := func(what string, of uint32) bool {
		h := fnv.New32a()
		h.Write([]byte(what + e.InstructionSet()))
		return h.Sum32()%of == 0
	}
	b := newBoundBench(t)
	good, bad := map[string]int{}, map[string]int{}
	for si := range boundSpaces {
		s := &boundSpaces[si]
		for _, f := range boundForms() {
			for ai := range boundAddresses {
				for _, disp := range []int64{0, 48, -48, 1 << 15, -1 << 15, 1 << 16, -1 << 16, 1<<31 - 128, -1 << 31} {
					for _, narrow := range []bool{false, true} {
						if narrow && !s.narrow {
							continue
						}
						a := &boundAddresses[ai]
						name := fmt.Sprint(s.name, ", ", f.text, ", ", a.name, ", ", disp, ", ", narrow)
						if !chosen(name, texts) {
							continue
						}
						src := boundSource(s, &f, a, disp, narrow)
						if _, err := exectest.Check(src); err != nil {
							continue // the space has no such access
						}
						m := b.Load(src)
						b.Engine = interp.New()
						want, err := m.Kernel("k")
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						for i, p := range places(s.edges(b, want.Code.Kernel()), f.size) {
							what := fmt.Sprintf("%s at %#x", name, p)
							if !chosen(fmt.Sprint(name, i), addresses) || b.taken(p) {
								continue
							}
							to := p
							p -= uint64(disp)
							for i := range boundBlock {
								at := b.arena + boundGood - uint64(disp)
								if a.offset != nil {
									at = p + uint64(a.offset(i, f.size))
								} else if i == 13 {
									at = p
								}
								binary.LittleEndian.PutUint64(b.tabs[8*i:], at)
							}
							for _, cluster := range []uint32{0, 1, 2} { // 0: whole CTAs, else single warps
								expect := b.launch(t, want, cluster, p, to)
								b.Engine = e
								k, err := m.Kernel("k")
								if err != nil {
									t.Fatalf("%s: %v", what, err)
								}
								k.Code = &watched{k.Code.(*code), t, &what}
								got := b.launch(t, k, cluster, p, to)
								if got.fault != expect.fault || !bytes.Equal(got.data, expect.data) {
									t.Errorf("%s, clusters of %d:\ninterpreter  %s\nmachine code %s", what, cluster,
										expect.fault, got.fault)
								}
								if expect.fault == "" {
									good[s.name]++
								} else {
									bad[s.name]++
								}
							}
						}
					}
				}
			}
		}
	}
	for _, s := range boundSpaces {
		t.Logf("%-18s %6d accesses work, %6d do not", s.name, good[s.name], bad[s.name])
		if good[s.name] == 0 || bad[s.name] == 0 {
			t.Errorf("%s: %d accesses work and %d do not: nothing is compared", s.name, good[s.name], bad[s.name])
		}
	}
}

// paramBound is a kernel that reads its parameters by their names, $D bytes on.
const paramBound = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .align 16 .b8 wide[32], .param .u64 last) {
	.reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .b128 %x10; .reg .f32 %f<16>; .reg .pred %p1;
	ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 64; add.u64 %q2, %q1, %q2; setp.ne.u32 %p1, %r1, 5;
	mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; mov.b64 %q10, 0; mov.b64 %q11, 0; mov.u16 %h10, 0; mov.u16 %h11, 0; mov.u16 %h12, 0; mov.u16 %h13, 0;
	mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; mov.f32 %f12, 0f00000000; mov.f32 %f13, 0f00000000; mov.b128 %x10, {%q10, %q11};
	$X
	st.global.v4.u32 [%q2], {%r10, %r11, %r12, %r13}; st.global.v4.u16 [%q2+16], {%h10, %h11, %h12, %h13}; st.global.v4.f32 [%q2+32], {%f10, %f11, %f12, %f13};
	st.global.v2.u64 [%q2+48], {%q10, %q11}; mov.b128 {%q10, %q11}, %x10; add.u64 %q10, %q10, %q11; st.global.u64 [%q2+24], %q10;
	ret;
}`

// slotBound is the same for a parameter of a function, which can be written, too.
const slotBound = `.version 8.6
.target sm_90
.address_size 64
.func (.param .align 16 .b8 r[32]) f(.param .u64 before, .param .align 16 .b8 wide[32], .param .u64 behind) {
	.reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .b128 %x10; .reg .f32 %f<16>; .reg .pred %p1;
	mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 5;
	mov.u32 %r10, 10; mov.u32 %r11, 11; mov.u32 %r12, 12; mov.u32 %r13, 13; mov.b64 %q10, 14; mov.b64 %q11, 15; mov.u16 %h10, 16; mov.u16 %h11, 17; mov.u16 %h12, 18; mov.u16 %h13, 19;
	mov.f32 %f10, 0f00000020; mov.f32 %f11, 0f00000021; mov.f32 %f12, 0f00000022; mov.f32 %f13, 0f00000023; mov.b128 %x10, {%q10, %q11};
	st.param.v2.u64 [r], {%q10, %q11}; st.param.v2.u64 [r+16], {%q10, %q11};
	$X
	mov.b128 {%q12, %q13}, %x10; add.u64 %q10, %q10, %q11; add.u64 %q12, %q12, %q13; cvt.u64.u16 %q11, %h10; add.u64 %q10, %q10, %q11; cvt.u64.u32 %q11, %r10; add.u64 %q10, %q10, %q11;
	mov.b32 %r10, %f10; cvt.u64.u32 %q11, %r10; add.u64 %q10, %q10, %q11; add.u64 %q10, %q10, %q12; st.param.u64 [r], %q10;
	ret;
}
.visible .entry k(.param .u64 out, .param .align 16 .b8 wide[32], .param .u64 last) {
	.reg .b32 %r<16>; .reg .b64 %q<16>;
	.param .u64 before; .param .align 16 .b8 arg[32]; .param .u64 behind; .param .align 16 .b8 res[32];
	ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 64; add.u64 %q2, %q1, %q2;
	st.param.u64 [before], %q2; st.param.v2.u64 [arg], {%q2, %q1}; st.param.v2.u64 [arg+16], {%q1, %q2}; st.param.u64 [behind], %q1;
	call (res), f, (before, arg, behind);
	ld.param.v2.u64 {%q3, %q4}, [res]; ld.param.v2.u64 {%q5, %q6}, [res+16];
	st.global.v2.u64 [%q2], {%q3, %q4}; st.global.v2.u64 [%q2+16], {%q5, %q6};
	ret;
}`

// TestParameterBounds compares reads and writes of parameters by their names with the interpreter's: of kernels, and of
// functions.
func TestParameterBounds(t *testing.T) { eachISA(t, testParameterBounds) }

func testParameterBounds(t *testing.T, e *engine) {
	b := newBoundBench(t)
	good, bad := 0, 0
	for _, kernel := range []string{paramBound, slotBound} {
		for i, f := range boundForms() {
			_, rest, _ := strings.Cut(f.text, "$S")
			name := "wide"
			if strings.Contains(f.text, "st$S") && kernel == slotBound {
				name = "r"
			}
			size := int64(f.size)
			for j, off := range []int64{0, size, 8 - size, -size, -8 - size, -4 - size/2, -16 - size, 32 - size,
				32 - size/2, 32, 40 - size, 40, 48 - size, 48 - size/2, 48, 32 + size, 56, 56 - size, -1, 1, 31, 33, 64,
				400, 4096, 4080, 4096 - 16 - size,
				4096 - 16, -4096, 1 << 16, -1 << 16, 1<<31 - 16, -1 << 31, 1<<31 - 16 - size} {
				if !*long && (i+j)%3 != 0 ||
					!strings.Contains(f.text, "ld") && !strings.Contains(f.text, "st$S") || rest == "" {
					continue
				}
				text := strings.NewReplacer("$S", ".param", "$A", fmt.Sprintf("%s+%d", name, off)).Replace(f.text)
				src := strings.Replace(kernel, "$X", text, 1)
				if _, err := exectest.Check(src); err != nil {
					continue
				}
				m := b.Load(src)
				for _, cluster := range []uint32{0, 1} {
					var out [2]boundVerdict
					for which, engine := range []exec.Engine{interp.New(), e} {
						b.Engine = engine
						k, err := m.Kernel("k")
						if err != nil {
							out[which].fault = err.Error()
							continue
						}
						clear(b.outData[:64*boundBlock])
						c := exectest.Config{Block: exectest.Dim(boundBlock)}
						if cluster > 0 {
							c.Cluster = exectest.Dim(cluster)
						}
						wide := bytes.Repeat([]byte{0x11, 0x22, 0x33, 0x84}, 8)
						if err := k.Run(c, b.out, wide, ^uint64(0)); err != nil {
							out[which].fault = err.Error()
						} else {
							out[which].data = bytes.Clone(b.outData[:64*boundBlock])
						}
					}
					if out[0].fault != out[1].fault || !bytes.Equal(out[0].data, out[1].data) {
						t.Errorf("%s, clusters of %d:\ninterpreter  %s %x\nmachine code %s %x", text, cluster,
							out[0].fault, out[0].data, out[1].fault, out[1].data)
					}
					if inside := off >= 0 && off+size <= 32; inside && out[0].fault != "" && off%size == 0 {
						t.Errorf("%s: %s", text, out[0].fault)
					} else if kernel == slotBound && !inside && out[0].fault == "" {
						t.Errorf("%s leaves the parameter of the function, and there is no fault", text)
					}
					if out[0].fault == "" {
						good++
					} else {
						bad++
					}
				}
			}
		}
	}
	t.Logf("%d accesses work, %d do not", good, bad)
	if good == 0 || bad == 0 {
		t.Error("nothing is compared")
	}
}
