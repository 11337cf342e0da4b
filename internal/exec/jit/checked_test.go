package jit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// allowAll gives a device a checker that allows everything, and counts what it is asked. Engines need not ask within
// pieces of so many bytes, a power of two; 0: always.
func allowAll(d *exectest.Device, piece uint64) *atomic.Uint64 {
	asked := new(atomic.Uint64)
	d.Mem.Check = func(uint64, uint64, bool) bool { asked.Add(1); return true }
	d.Mem.CheckRange = nil
	if piece > 0 {
		d.Mem.CheckRange = func(addr uint64, _ bool) (base, size uint64) {
			asked.Add(1)
			return addr &^ (piece - 1), piece
		}
	}
	return asked
}

// checkedCases are kernels whose machine code once went wrong with a memory checker, though no access is bad. want is
// what thread i stores; it follows from the text.
var checkedCases = []struct {
	name, source string
	want         func(i uint32) uint32
}{
	// Every activation has its own variables: the address of a variable is made by machine code also where its accesses
	// are left to the checker.
	{"variables of activations", `
.func (.param .b32 r) f(.param .b32 a, .param .b32 b)
{
	.reg .b32 %r<6>; .reg .pred %p; .reg .b64 %q;
	.local .align 8 .b8 stack[32];
	ld.param.b32 %r0, [a];
	ld.param.b32 %r1, [b];
	mov.u64 %q, stack;
	st.local.u32 [%q], %r1;
	and.b32 %r2, %r0, 3;
	setp.eq.u32 %p, %r2, 0;
	@%p bra L;
	sub.u32 %r2, %r2, 1;
	add.u32 %r3, %r1, 34;
	{ .param .b32 pa; .param .b32 pb; .param .b32 pr;
	st.param.b32 [pa], %r2; st.param.b32 [pb], %r3;
	call (pr), f, (pa, pb);
	ld.param.b32 %r4, [pr]; }
L:
	ld.local.u32 %r5, [%q];
	st.param.b32 [r], %r5;
	ret;
}
.visible .entry k(.param .u64 out, .param .u64 total)
{
	.reg .b32 %r<3>; .reg .b64 %q<2>;
	mov.u32 %r0, %tid.x;
	add.u32 %r1, %r0, 1000;
	{ .param .b32 pa; .param .b32 pb; .param .b32 pr;
	st.param.b32 [pa], %r0; st.param.b32 [pb], %r1;
	call (pr), f, (pa, pb);
	ld.param.b32 %r2, [pr]; }
	ld.param.u64 %q0, [out];
	mad.wide.u32 %q0, %r0, 4, %q0;
	st.global.u32 [%q0], %r2;
	ret;
}`, func(i uint32) uint32 { return i + 1000 }},
	// The stack pointers of the lanes are at hand too.
	{"alloca", `
.visible .entry k(.param .u64 out, .param .u64 total)
{
	.reg .b32 %r<4>; .reg .b64 %q<6>;
	mov.u32 %r0, %tid.x;
	add.u32 %r1, %r0, 1;
	mul.wide.u32 %q1, %r1, 16;
	stacksave.u64 %q2;
	alloca.u64 %q3, %q1;
	st.local.u32 [%q3], %r1;
	alloca.u64 %q4, %q1;
	st.local.u32 [%q4], 7;
	ld.local.u32 %r2, [%q3];
	stackrestore.u64 %q2;
	alloca.u64 %q4, %q1;
	ld.local.u32 %r3, [%q4];
	mad.lo.u32 %r2, %r3, 1000, %r2;
	ld.param.u64 %q0, [out];
	mad.wide.u32 %q0, %r0, 4, %q0;
	st.global.u32 [%q0], %r2;
	ret;
}`, func(i uint32) uint32 { return 1001 * (i + 1) }},
}

func TestChecked(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, c := range checkedCases {
			t.Run(c.name, func(t *testing.T) {
				for _, engine := range []exec.Engine{interp.New(), e} {
					for _, checked := range []bool{false, true} {
						d := exectest.Open(t)
						d.Engine = engine
						asked := new(atomic.Uint64)
						if checked {
							asked = allowAll(d, 0)
						}
						k, err := d.Load(".version 8.6\n.target sm_90\n.address_size 64" + c.source).Kernel("k")
						if err != nil {
							t.Fatal(err)
						}
						const threads = 96
						oa, out := d.Alloc(4 * threads)
						if err := k.Run(exectest.Config{Block: exectest.Dim(threads), Stack: 1 << 14}, oa,
							uint64(0)); err != nil {
							t.Fatalf("%s, checked %v: %v", engine.Name(), checked, err)
						}
						for i, got := range exectest.Words(out) {
							if want := c.want(uint32(i)); got != want {
								t.Fatalf("%s, checked %v: thread %d stored %d, want %d", engine.Name(), checked, i, got,
									want)
							}
						}
						if checked != (asked.Load() > 0) {
							t.Errorf("%s: the checker was asked %d times", engine.Name(), asked.Load())
						}
					}
				}
			})
		}
	})
}

// walkKernel accesses memory at base + 64*i + f(thread) in its round i, so that bounds are known when the walk leaves
// the memory that is allowed.
const walkKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 base, .param .u32 rounds, .param .u32 odd) {
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<4>;
	.shared .align 16 .b8 sm[64];
	ld.param.u64 %%q1, [base]; ld.param.u32 %%r1, [rounds]; ld.param.u32 %%r5, [odd];
	mov.u32 %%r2, %%tid.x; mov.u32 %%r4, 7; mov.u64 %%q5, 9;
	and.b32 %%r3, %%r2, 31;
	xor.b32 %%r3, %%r3, %d;
	mul.wide.u32 %%q3, %%r3, %d;
	add.u64 %%q3, %%q1, %%q3;
	setp.ge.u32 %%p1, %%r2, %%r5;
L:
	%s
	add.u64 %%q3, %%q3, 64;
	sub.u32 %%r1, %%r1, 1;
	setp.ne.u32 %%p2, %%r1, 0;
	@%%p2 bra L;
	ret;
}`

// TestCheckedWalks compares machine code with the interpreter under a checker that allows a part of memory: the fault,
// and what was stored before it. Walks inside are made by machine code.
func TestCheckedWalks(t *testing.T) {
	accesses := []string{"ld.global.u32 %r3, [%q3];", "st.global.u32 [%q3], %r4;", "st.global.u8 [%q3+3], %r4;",
		"ld.global.s16 %r3, [%q3+-2];", "ld.global.u64 %q4, [%q3];", "st.global.u64 [%q3+-8], %q5;",
		"ld.global.v2.u32 {%r3, %r6}, [%q3];", "st.global.v4.u32 [%q3+16], {%r4, %r4, %r4, %r4};",
		"red.global.add.u32 [%q3], 1;", "atom.global.add.u32 %r3, [%q3+4], %r4;",
		"atom.global.cas.b64 %q4, [%q3], %q5, %q5;",
		"@%p1 st.u32 [%q3], %r4;", "@!%p1 ld.u32 %r3, [%q3+32];", "ld.const.u32 %r3, [%q3];"}
	const length, threads = 1 << 13, 96
	eachISA(t, func(t *testing.T, e *engine) {
		for _, access := range accesses {
			for _, order := range []struct{ xor, stride int }{{0, 16}, {0, 4}, {5, 16}, {31, 8}, {0, 0}} {
				for _, odd := range []uint32{0, 43} {
					for _, rounds := range []uint32{16, 200} { // the walk stays inside, or not
						var texts [2]string
						var memories [2][]byte
						var count exec.Counters
						for which, engine := range []exec.Engine{interp.New(), e} {
							d := exectest.Open(t)
							d.Engine = engine
							k, err := d.Load(fmt.Sprintf(walkKernel, order.xor, order.stride, access)).Kernel("k")
							if err != nil {
								t.Fatal(err)
							}
							all, memory := d.Alloc(4 * length)
							// the allowed part begins and ends at no boundary of the hardware
							base := all + length + 16*3
							d.Mem.Check = func(addr, size uint64, _ bool) bool {
								return addr-base < length && size <= length-(addr-base)
							}
							d.Mem.CheckRange = func(addr uint64, _ bool) (uint64, uint64) {
								if addr-base < length {
									return base, length
								}
								return 0, 0
							}
							c := exectest.Config{Block: exectest.Dim(threads)}
							if which == 1 {
								c.Counters = &count
							}
							if err := k.Run(c, base+64, rounds, odd); err != nil {
								texts[which] = err.Error()
								var f *exec.Fault
								if errors.As(err, &f) {
									f.Addr -= d.Mem.Base
									if f.More > 0 {
										f.LastAddr -= d.Mem.Base
									}
									texts[which] = fmt.Sprint(f, f.More, f.LastThread, f.LastAddr)
								}
							}
							memories[which] = bytes.Clone(memory)
						}
						name := fmt.Sprintf("%s, order %+v, odd %d, %d rounds", access, order, odd, rounds)
						if rounds == 200 && odd > 0 && texts[0] == "" { // with odd 0 a guard may stop all
							t.Errorf("%s: no fault", name)
						}
						if texts[0] != texts[1] {
							t.Errorf("%s:\ninterpreter  %s\nmachine code %s", name, texts[0], texts[1])
						}
						if !bytes.Equal(memories[0], memories[1]) {
							t.Errorf("%s: memory differs", name)
						}
						// each warp's first round from the access on, and the end
						if n := count.Fallbacks.Load(); texts[0] == "" && n > 6*threads/32 {
							t.Errorf("%s: %d operations fell back", name, n)
						}
					}
				}
			}
		}
	})
}

// TestCheckedBlocks has code of whole CTAs under a checker access several allocations with one operation, with all
// lanes, some and guarded ones, in full warps and others, so that bounds do and do not say enough. What threads store
// follows from the text. No CTA may be left to the scheduler.
func TestCheckedBlocks(t *testing.T) {
	const source = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 a, .param .u64 step, .param .u32 n) {
	.reg .b32 %r<12>; .reg .b64 %q<12>; .reg .pred %p<6>;
	.shared .align 4 .b8 sm[1024];
	ld.param.u64 %q1, [out]; ld.param.u64 %q2, [a]; ld.param.u64 %q3, [step]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
	mad.lo.u32 %r5, %r3, %r4, %r2;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra DONE;
	and.b32 %r6, %r5, 3;                // one of four allocations, which lie step bytes apart
	cvt.u64.u32 %q4, %r6;
	mad.lo.u64 %q5, %q4, %q3, %q2;
	mul.wide.u32 %q6, %r5, 4;
	add.u64 %q7, %q5, %q6;
	ld.global.u32 %r7, [%q7];           // lanes of one warp in all four
	and.b32 %r8, %r5, 1;
	setp.eq.u32 %p2, %r8, 0;
	@%p2 ld.global.u32 %r9, [%q7+4];    // under a guard
	@%p2 add.u32 %r7, %r7, %r9;
	shl.b32 %r10, %r2, 2;
	mov.u32 %r11, sm;
	add.u32 %r11, %r11, %r10;
	st.shared.u32 [%r11], %r7;
	ld.shared.u32 %r7, [%r11];
	add.u64 %q8, %q1, %q6;
	st.global.u32 [%q8], %r7;           // side by side
	ld.global.u32 %r9, [%q2];           // one place for all
	add.u32 %r7, %r7, %r9;
	st.global.u32 [%q8], %r7;
DONE:
	ret;
}`
	eachISA(t, func(t *testing.T, e *engine) {
		for _, threads := range []uint32{32, 96, 100} {
			for _, n := range []uint32{400, 391, 70} {
				d := exectest.Open(t)
				d.Engine = e
				const size, blocks, step = 4 * 500, 4, 1 << 14
				oa, out := d.Alloc(size)
				at, memory := d.Alloc(5 * step)
				for i := range 4 {
					for j := range size / 4 {
						binary.LittleEndian.PutUint32(memory[i*step+4*j:], uint32(1000*i+j))
					}
				}
				asked := allowAll(d, 0)
				d.Mem.CheckRange = func(addr uint64, _ bool) (base, length uint64) {
					switch {
					case addr-oa < size:
						return oa, size
					case addr-at < 5*step && (addr-at)%step < size:
						return addr - (addr-at)%step, size
					}
					return 0, 0
				}
				k, err := d.Load(source).Kernel("k")
				if err != nil {
					t.Fatal(err)
				}
				var count exec.Counters
				c := exectest.Config{Grid: exectest.Dim(blocks), Block: exectest.Dim(threads), Counters: &count}
				if err := k.Run(c, oa, at, uint64(step), n); err != nil {
					t.Fatal(err)
				}
				for i, got := range exectest.Words(out[:size]) {
					want := uint32(0)
					if u := uint32(i); u < min(n, blocks*threads) {
						want = 1000*(u&3) + u
						if u&1 == 0 {
							want *= 2
							want++
						}
					}
					if got != want {
						t.Fatalf("%d threads, n %d: word %d is %d, want %d", threads, n, i, got, want)
					}
				}
				if f := count.Fallbacks.Load(); f != 0 || asked.Load() != 0 {
					t.Errorf("%d threads, n %d: %d CTAs or operations were left to the interpreter", threads, n, f)
				}
			}
		}
	})
}
