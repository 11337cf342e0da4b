package interp

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// The kernels below have one parameter, the address of an array of u32, unless they say otherwise. What they must
// compute follows from the PTX ISA's description of each instruction; the recorded cases of silicon_test.go cover
// values, these cover waiting.

const header = ".version 9.0\n.target sm_90a\n.address_size 64\n"

// kernel wraps a body that finds the thread number in %t, the address of its own output word in %o, and the array in
// %base.
func kernel(decl, body string) string {
	return header + decl + `.visible .entry k(.param .u64 p0, .param .u64 p1)
{
	.reg .b32 %t, %n, %c, %lane, %r<16>; .reg .b64 %base, %arg, %o, %q<8>; .reg .pred %p<8>; .reg .b16 %h<4>;
	ld.param.u64 %base, [p0]; ld.param.u64 %arg, [p1];
	mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid;
	mad.lo.u32 %r0, %c, %n, %t; mad.wide.u32 %o, %r0, 4, %base;
` + body + "\n\tret;\n}\n"
}

type job struct {
	src         string
	grid, block uint32
	cluster     uint32
	shared      uint32
	arg         uint64
	words       int // of output, grid*block when 0
	stop        *atomic.Bool
	prepare     func(b *bench, j *job)
	workers     int
}

// do runs a job on a fresh window and returns its output array.
func do(t *testing.T, j job) ([]uint32, error) {
	t.Helper()
	code, _, err := compile(j.src, "k", 90)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	if j.prepare != nil {
		j.prepare(b, &j)
	}
	if j.words == 0 {
		j.words = int(j.grid * j.block)
	}
	out, buf := b.alloc(t, 4*j.words)
	clear(buf)
	k := code.Kernel()
	pa, params := b.alloc(t, max(int(k.ParamSize), 16))
	binary.LittleEndian.PutUint64(params, out)
	binary.LittleEndian.PutUint64(params[8:], j.arg)
	l := &exec.Launch{Code: code, Grid: [3]uint32{j.grid, 1, 1}, Block: [3]uint32{j.block, 1, 1}, Shared: j.shared,
		Params: params, ParamAddr: pa, Mem: &b.mem, Stack: 4096,
		Workers: max(j.workers, 1), Stop: j.stop, Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32,
			ClockKHz: 1980000}}
	if j.cluster != 0 {
		l.Cluster = [3]uint32{j.cluster, 1, 1}
	}
	l.Consts = exec.NewConstRows(k, func(*ir.ConstRow) uint64 { return 0 })
	done := make(chan error, 1)
	go func() { done <- exec.Run(l) }()
	select {
	case err = <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the kernel does not end")
	}
	res := make([]uint32, j.words)
	for i := range res {
		res[i] = binary.LittleEndian.Uint32(buf[4*i:])
	}
	return res, err
}

// want runs a job that must succeed and checks every word.
func want(t *testing.T, j job, f func(i int) uint32) {
	t.Helper()
	got, err := do(t, j)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got {
		if w := f(i); g != w {
			t.Fatalf("word %d is %#x, want %#x", i, g, w)
		}
	}
}

// fault runs a job that must end with a fault of the kind.
func fault(t *testing.T, j job, kind exec.FaultKind, text string) {
	t.Helper()
	_, err := do(t, j)
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(f.Error(), text) {
		t.Fatalf("got %v, want a fault %v with %q", err, kind, text)
	}
}

func TestBarrierInBothBranches(t *testing.T) {
	src := kernel("", `
	.shared .align 4 .b32 sm[64];
	mov.u32 %r1, sm; mad.lo.u32 %r1, %t, 4, %r1;
	st.shared.u32 [%r1], %t;
	and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 0;
	@%p0 bra EVEN;
	barrier.sync 0;
	bra JOIN;
EVEN:
	barrier.sync 0;
JOIN:
	xor.b32 %r3, %t, 33; mov.u32 %r1, sm; mad.lo.u32 %r1, %r3, 4, %r1;
	ld.shared.u32 %r4, [%r1];
	st.global.u32 [%o], %r4;`)
	want(t, job{src: src, grid: 3, block: 64}, func(i int) uint32 { return uint32(i%64) ^ 33 })
}

func TestBarrierIdPerLane(t *testing.T) {
	// Even and odd lanes of two warps meet at barriers of their own; the reduction counts threads.
	src := kernel("", `
	and.b32 %r1, %t, 1; add.u32 %r1, %r1, 3;
	setp.lt.u32 %p0, %t, 40;
	barrier.red.popc.u32 %r2, %r1, 64, %p0;
	st.global.u32 [%o], %r2;`)
	want(t, job{src: src, grid: 1, block: 64}, func(i int) uint32 { return 20 })
}

func TestNamedBarriers(t *testing.T) {
	// Warps 0 and 1 produce and go on (arrive), warps 2 and 3 wait for them, through two barriers in turn.
	src := kernel("", `
	.shared .align 4 .b32 sm[128];
	mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, sm;
	setp.ge.u32 %p0, %t, 64;
	@%p0 bra CONSUME;
PRODUCE:
	setp.eq.u32 %p1, %r9, 0;
	@!%p1 barrier.sync 2, 128;
	mad.lo.u32 %r1, %r9, 1000, %t; mad.lo.u32 %r2, %t, 4, %r11;
	st.shared.u32 [%r2], %r1;
	barrier.arrive 1, 128;
	add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 5;
	@%p1 bra PRODUCE;
	st.global.u32 [%o], %r9;
	ret;
CONSUME:
	barrier.sync 1, 128;
	xor.b32 %r3, %t, 64; mad.lo.u32 %r2, %r3, 4, %r11;
	ld.shared.u32 %r4, [%r2]; add.u32 %r10, %r10, %r4;
	add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 5;
	@%p1 barrier.arrive 2, 128;
	@%p1 bra CONSUME;
	st.global.u32 [%o], %r10;`)
	want(t, job{src: src, grid: 2, block: 128}, func(i int) uint32 {
		if i %= 128; i < 64 {
			return 5
		}
		return uint32(10000 + 5*(i-64))
	})
}

func TestBarrierCountsExitedThreads(t *testing.T) {
	// Recorded on an H200: threads that have exited count as arrived.
	src := kernel("", `
	setp.ge.u32 %p0, %t, 48; @%p0 exit;
	bar.sync 0;
	setp.ge.u32 %p0, %t, 32; @%p0 exit;
	bar.red.popc.u32 %r1, 0, !%p0;
	st.global.u32 [%o], %r1;`)
	want(t, job{src: src, grid: 1, block: 96}, func(i int) uint32 {
		if i < 32 {
			return 32
		}
		return 0
	})
}

func TestBarrierDeadlock(t *testing.T) {
	src := kernel("", `
	setp.lt.u32 %p0, %t, 32;
	@%p0 bar.sync 1, 64;
	@!%p0 bar.sync 2, 64;`)
	fault(t, job{src: src, grid: 1, block: 64}, exec.FaultDeadlock, "barrier 1")
	fault(t, job{src: kernel("", "setp.eq.u32 %p0, %t, 3; @%p0 bar.warp.sync 0xffffffff; @!%p0 bar.sync 1, 64;"),
		grid: 1, block: 32}, exec.FaultDeadlock, "")
	fault(t, job{src: kernel("", "mov.u32 %r1, 16; bar.sync %r1;"), grid: 1, block: 32}, exec.FaultInstruction,
		"barrier number")
	fault(t, job{src: kernel("", "mov.u32 %r1, 33; bar.sync 0, %r1;"), grid: 1, block: 32}, exec.FaultInstruction,
		"warp size")
}

func TestSpinLockInsideWarp(t *testing.T) {
	// Every lane takes the same lock: without progress for the lane that holds it, no kernel of this kind ends
	// (independent thread scheduling).
	src := kernel(".global .align 4 .b32 gl[2];\n", `
	.shared .align 4 .b32 lock; .shared .align 4 .b32 sum;
	setp.eq.u32 %p0, %t, 0;
	@%p0 st.shared.u32 [lock], 0;
	@%p0 st.shared.u32 [sum], 0;
	bar.sync 0;
SPIN:
	atom.acquire.cta.shared.cas.b32 %r1, [lock], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra SPIN;
	ld.volatile.shared.u32 %r2, [sum]; add.u32 %r2, %r2, %t; st.volatile.shared.u32 [sum], %r2;
	atom.release.cta.shared.exch.b32 %r1, [lock], 0;
	bar.sync 0;
	ld.shared.u32 %r3, [sum];
	st.global.u32 [%o], %r3;`)
	want(t, job{src: src, grid: 2, block: 128}, func(int) uint32 { return 127 * 128 / 2 })
}

func TestProducerConsumerInWarp(t *testing.T) {
	// Lane 5 waits for a flag that lane 9 of the same warp sets in the other branch, whichever branch runs first.
	for _, cond := range []string{"ne", "eq"} {
		src := kernel("", `
	.shared .align 4 .b32 flag; .shared .align 4 .b32 data;
	st.shared.u32 [flag], 0;
	bar.warp.sync 0xffffffff;
	setp.`+cond+`.u32 %p0, %lane, 9;
	@%p0 bra `+map[string]string{"ne": "OTHER", "eq": "NINE"}[cond]+`;
	bra `+map[string]string{"ne": "NINE", "eq": "OTHER"}[cond]+`;
NINE:
	st.volatile.shared.u32 [data], 77;
	membar.cta;
	st.volatile.shared.u32 [flag], 1;
	bra DONE;
OTHER:
	ld.volatile.shared.u32 %r1, [flag];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra OTHER;
DONE:
	bar.warp.sync 0xffffffff;
	ld.volatile.shared.u32 %r2, [data];
	st.global.u32 [%o], %r2;`)
		want(t, job{src: src, grid: 1, block: 32}, func(int) uint32 { return 77 })
	}
}

func TestGatherAcrossIterations(t *testing.T) {
	// Lanes come to the vote along paths of different length, round after round; every vote must see all of them.
	src := kernel("", `
	mov.u32 %r1, 0; mov.u32 %r2, 0;
ROUND:
	add.u32 %r3, %lane, %r1; and.b32 %r3, %r3, 7; mul.lo.u32 %r3, %r3, 300;
WORK:
	setp.eq.u32 %p0, %r3, 0;
	@%p0 bra VOTE;
	sub.u32 %r3, %r3, 1;
	bra WORK;
VOTE:
	setp.ge.u32 %p1, %lane, %r1;
	vote.sync.ballot.b32 %r4, %p1, 0xffffffff;
	popc.b32 %r4, %r4; add.u32 %r2, %r2, %r4;
	add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 20;
	@%p2 bra ROUND;
	st.global.u32 [%o], %r2;`)
	want(t, job{src: src, grid: 1, block: 32}, func(int) uint32 { return 20*32 - 19*20/2 })
}

func TestMaskGroupsAndExitedLanes(t *testing.T) {
	// Two masks at one instruction, then lanes that are gone.
	src := kernel("", `
	setp.lt.u32 %p0, %lane, 12;
	selp.b32 %r1, 0x00000fff, 0xfffff000, %p0;
	redux.sync.add.u32 %r2, %lane, %r1;
	match.any.sync.b32 %r3, %r2, %r1;
	elect.sync %r4|%p1, %r1;
	setp.ge.u32 %p2, %lane, 30;
	@%p2 exit;
	vote.sync.ballot.b32 %r5, %p1, 0xffffffff;
	add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r5;
	st.global.u32 [%o], %r2;`)
	want(t, job{src: src, grid: 1, block: 32}, func(i int) uint32 {
		switch {
		case i >= 30:
			return 0
		case i < 12:
			return 66 + 0xfff + (1 | 1<<12)
		}
		hi := uint32(0xfffff000)
		return hi + 496 - 66 + (1 | 1<<12)
	})
}

func TestStop(t *testing.T) {
	for name, body := range map[string]string{
		"loop":     "L: bra L;",
		"try_wait": ".shared .align 8 .b64 mb; mbarrier.init.shared.b64 [mb], 40;\nL: mbarrier.try_wait.parity.shared.b64 %p0, [mb], 0;\n@!%p0 bra L;",
		"sleep":    "L: nanosleep.u32 1000; bra L;",
		"spin":     "L: ld.volatile.global.u32 %r1, [%o]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L;",
	} {
		t.Run(name, func(t *testing.T) {
			var stop atomic.Bool
			time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
			fault(t, job{src: kernel("", body), grid: 4, block: 64, workers: 2, stop: &stop}, exec.FaultStopped, "")
		})
	}
}

func TestIrreducible(t *testing.T) {
	// A loop with two entries: odd threads jump into its middle.
	src := kernel("", `
	mov.u32 %r1, 0; mov.u32 %r2, 0;
	and.b32 %r3, %t, 1; setp.eq.u32 %p0, %r3, 1;
	@%p0 bra MIDDLE;
HEAD:
	add.u32 %r2, %r2, 1;
MIDDLE:
	add.u32 %r2, %r2, 100;
	add.u32 %r1, %r1, 1;
	setp.le.u32 %p1, %r1, %t;
	@%p1 bra HEAD;
	st.global.u32 [%o], %r2;`)
	want(t, job{src: src, grid: 1, block: 64}, func(i int) uint32 {
		n := uint32(i + 1) // iterations
		return n*100 + n - uint32(i&1)
	})
}

func TestRecursion(t *testing.T) {
	decl := `.func (.param .b32 res) fact(.param .b32 arg)
{
	.reg .b32 %a, %b, %c; .reg .pred %p; .local .align 4 .b32 keep;
	ld.param.u32 %a, [arg];
	setp.gt.u32 %p, %a, 1;
	@%p bra MORE;
	st.param.u32 [res], 1;
	ret;
MORE:
	st.local.u32 [keep], %a;
	sub.u32 %b, %a, 1;
	{
		.param .b32 x; .param .b32 y;
		st.param.u32 [x], %b;
		call (y), fact, (x);
		ld.param.u32 %c, [y];
	}
	ld.local.u32 %a, [keep];
	mul.lo.u32 %c, %c, %a;
	st.param.u32 [res], %c;
	ret;
}
`
	src := kernel(decl, `
	and.b32 %r1, %t, 7;
	{
		.param .b32 x; .param .b32 y;
		st.param.u32 [x], %r1;
		call (y), fact, (x);
		ld.param.u32 %r2, [y];
	}
	st.global.u32 [%o], %r2;`)
	want(t, job{src: src, grid: 1, block: 64}, func(i int) uint32 {
		f := uint32(1)
		for n := uint32(2); n <= uint32(i&7); n++ {
			f *= n
		}
		return f
	})
}

func TestClusterBarrier(t *testing.T) {
	// Three phases; the last CTA's second warp and some lanes of others leave early, after arriving or without; words
	// travel through the neighbour's shared memory.
	src := kernel("", `
	.shared .align 4 .b32 sm[64];
	mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
	mov.u32 %r3, sm; mad.lo.u32 %r3, %t, 4, %r3;
	st.shared.u32 [%r3], 0;
	setp.eq.u32 %p0, %r1, 3; setp.ge.and.u32 %p0, %t, 32, %p0;
	@%p0 exit;
	setp.eq.u32 %p0, %t, 63;
	@%p0 barrier.cluster.arrive.release;
	@%p0 exit;
	mad.lo.u32 %r4, %r1, 100, %t;
	st.shared.u32 [%r3], %r4;
	barrier.cluster.arrive.release;
	barrier.cluster.wait.acquire;
	add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, %r2;
	mapa.shared::cluster.u32 %r6, %r3, %r5;
	ld.shared::cluster.u32 %r7, [%r6];
	barrier.cluster.arrive.relaxed;
	and.b32 %r8, %t, 1; setp.eq.u32 %p1, %r8, 0;
	@%p1 bra EVEN;
	barrier.cluster.wait;
	bra NEXT;
EVEN:
	barrier.cluster.wait.acquire;
NEXT:
	add.u32 %r7, %r7, 1;
	st.shared.u32 [%r3], %r7;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.shared::cluster.u32 %r7, [%r6];
	st.global.u32 [%o], %r7;
	barrier.cluster.arrive;
	barrier.cluster.wait;`)
	want(t, job{src: src, grid: 8, block: 64, cluster: 4, workers: 2}, func(i int) uint32 {
		rank, tid := i/64%4, i%64
		if tid == 63 || rank == 3 && tid >= 32 {
			return 0
		}
		from := (rank + 2) % 4
		if (rank+1)%4 == 3 && tid >= 32 {
			return 0 // the neighbour's thread had gone: its word was never written
		}
		if from == 3 && tid >= 32 {
			return 1
		}
		return uint32(from*100+tid) + 1
	})
}

func TestMbarrierCounts(t *testing.T) {
	b := newMbarrier(2)
	if b.pending() != 2 || b.tx() != 0 || b>>63 != 0 {
		t.Fatalf("fresh: %#x", uint64(b))
	}
	// A copy that ends before it is announced: the count goes below zero and the phase must not end.
	b = b.addTx(-512)
	if b.tx() != -512 || b>>63 != 0 {
		t.Fatalf("early copy: %#x", uint64(b))
	}
	b = b.arrive(1, 0)
	b = b.addTx(512)
	if b.tx() != 0 || b>>63 != 0 || b.pending() != 1 {
		t.Fatalf("announced: %#x", uint64(b))
	}
	if b = b.arrive(1, 0); b>>63 != 1 || b.pending() != 2 {
		t.Fatalf("phase 0 has not ended: %#x", uint64(b))
	}
	if b = b.arrive(1, 1).arrive(1, 0); b>>63 != 0 || b.pending() != 1 {
		t.Fatalf("after a drop: %#x", uint64(b))
	}
	if b = newMbarrier(mbCount); b.pending() != mbCount || b.addTx(-mbCount).tx() != -mbCount ||
		b.addTx(mbCount).tx() != mbCount {
		t.Fatal("the ISA's ranges do not fit")
	}
}

func TestMbarrierPipeline(t *testing.T) {
	// One warp fills two stages with bulk copies, the other empties them; expectation and completion come in either
	// order.
	for _, order := range []string{"expect first", "copy first"} {
		expect := "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;\n"
		fill := "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%q1], 128, [%r3];\n"
		if order == "copy first" {
			expect, fill = fill, expect
		}
		src := kernel("", `
	.shared .align 16 .b8 buf[256]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra READY;
	mbarrier.init.shared.b64 [full], 1; mbarrier.init.shared.b64 [full+8], 1;
	mbarrier.init.shared.b64 [empty], 32; mbarrier.init.shared.b64 [empty+8], 32;
	fence.mbarrier_init.release.cluster;
READY:
	bar.sync 0;
	mov.u32 %r1, 0; mov.u32 %r9, 0;
	setp.ge.u32 %p0, %t, 32;
	@%p0 bra CONSUME;
	setp.ne.u32 %p0, %t, 0;
	@%p0 exit;
PRODUCE:
	and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 3;
	mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mov.u32 %r4, empty; add.u32 %r4, %r4, %r2;
	shl.b32 %r2, %r2, 4; mov.u32 %r5, buf; add.u32 %r5, %r5, %r2;
	shr.u32 %r6, %r1, 1; and.b32 %r6, %r6, 1; xor.b32 %r6, %r6, 1;
WAITE:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r6;
	@!%p1 bra WAITE;
	mad.wide.u32 %q1, %r1, 128, %arg;
	`+expect+fill+`
	add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9;
	@%p1 bra PRODUCE;
	ret;
CONSUME:
	and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 3;
	mov.u32 %r3, full; add.u32 %r3, %r3, %r2; mov.u32 %r4, empty; add.u32 %r4, %r4, %r2;
	shl.b32 %r2, %r2, 4; mov.u32 %r5, buf; add.u32 %r5, %r5, %r2; mad.lo.u32 %r5, %lane, 4, %r5;
	shr.u32 %r6, %r1, 1; and.b32 %r6, %r6, 1;
WAITF:
	mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r3], %r6;
	@!%p1 bra WAITF;
	ld.shared.u32 %r7, [%r5]; mad.lo.u32 %r9, %r9, 3, %r7;
	mbarrier.arrive.shared::cta.b64 _, [%r4];
	add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9;
	@%p1 bra CONSUME;
	st.global.u32 [%o], %r9;`)
		t.Run(order, func(t *testing.T) {
			want(t, job{src: src, grid: 1, block: 64, prepare: func(b *bench, j *job) {
				a, buf := b.alloc(t, 9*128)
				for i := 0; i < 9*32; i++ {
					binary.LittleEndian.PutUint32(buf[4*i:], uint32(i*i))
				}
				j.arg = a
			}}, func(i int) uint32 {
				if i < 32 {
					return 0
				}
				acc := uint32(0)
				for k := 0; k < 9; k++ {
					v := k*32 + i - 32
					acc = acc*3 + uint32(v*v)
				}
				return acc
			})
		})
	}
}

func TestAsyncFaults(t *testing.T) {
	sm := ".shared .align 16 .b8 sm[256]; .shared .align 8 .b64 mb; mbarrier.init.shared.b64 [mb], 1; mov.u32 %r1, sm; mov.u32 %r2, mb;\n"
	// Recorded on an H200: an illegal instruction without a cluster.
	fault(t, job{src: kernel("", sm+"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r1, [%r2];"),
		grid: 1, block: 32}, exec.FaultInstruction, "clusters")
	fault(t, job{src: kernel("", sm+"mov.u32 %r3, 24; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%base], %r3, [%r2];"), grid: 1, block: 32}, exec.FaultInstruction, "multiple of 16")
	fault(t, job{src: kernel("", sm+"add.u32 %r1, %r1, 8; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];"), grid: 1, block: 32}, exec.FaultMisaligned, "")
	fault(t, job{src: kernel("", sm+"mov.b16 %h1, 5; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%base], 16, [%r2], %h1;"), grid: 2, cluster: 2, block: 32}, exec.FaultInstruction, "CTA")
}

func TestAlloca(t *testing.T) {
	// Lanes allocate blocks of different sizes, twice, give the second back and take it again: no two may overlap.
	src := kernel("", `
	.local .align 8 .b8 fixed[24];
	cvt.u64.u32 %q1, %lane; shl.b64 %q1, %q1, 3; add.u64 %q1, %q1, 8;
	st.local.u64 [fixed+16], 5;
	alloca.u64 %q2, %q1;
	st.local.u64 [%q2], 7;
	stacksave.u64 %q3;
	alloca.u64 %q4, %q1, 64;
	st.local.u64 [%q4], 9;
	stackrestore.u64 %q3;
	alloca.u64 %q5, %q1, 64;
	setp.eq.u64 %p0, %q4, %q5;
	selp.u32 %r1, 1000, 0, %p0;
	and.b64 %q6, %q5, 63; setp.eq.u64 %p0, %q6, 0;
	selp.u32 %r2, 100, 0, %p0; add.u32 %r1, %r1, %r2;
	sub.u64 %q6, %q5, %q2; setp.ge.u64 %p0, %q6, %q1;
	selp.u32 %r2, 10000, 0, %p0; add.u32 %r1, %r1, %r2;
	ld.local.u64 %q6, [fixed+16]; cvt.u32.u64 %r2, %q6; add.u32 %r1, %r1, %r2;
	ld.local.u64 %q6, [%q2]; cvt.u32.u64 %r2, %q6; add.u32 %r1, %r1, %r2;
	ld.local.u64 %q6, [%q5]; cvt.u32.u64 %r2, %q6; add.u32 %r1, %r1, %r2;
	st.global.u32 [%o], %r1;`)
	want(t, job{src: src, grid: 1, block: 32}, func(int) uint32 { return 11100 + 5 + 7 + 9 })
	fault(t, job{src: kernel("", "mov.u64 %q1, 1000000; alloca.u64 %q2, %q1;"), grid: 1, block: 32}, exec.FaultStack,
		"alloca")
}

func TestRefused(t *testing.T) {
	for body, text := range map[string]string{
		"st.bulk.weak.shared::cta [%r1], %q1, 0;": "Feature 'st.bulk' requires .target sm_100 or higher",
		"redux.sync.min.f32 %r1, %r2, -1;":        "Instruction 'redux.f32' not supported on .target 'sm_90a'",
		"shfl.idx.b32 %r1, %r2, 0, 31;":           "without '.sync'",
		"alloca.u64 %q1, %q2, 24;":                "power of two",
		"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r3}], [%r4], {%h1};": "3 dimensions",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1, {%r2, %r3, %r3}], [%r4];":          "Arguments mismatch",
	} {
		_, _, err := compile(kernel("", body), "k", 90)
		var es check.Errors
		if !errors.As(err, &es) || !strings.Contains(es.Error(), text) {
			t.Errorf("%s: %v, want %q", body, err, text)
		}
	}
}
