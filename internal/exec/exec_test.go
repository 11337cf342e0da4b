package exec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

// What the kernels below must compute follows from the PTX ISA's text on the instructions that they use; where a test
// relies on something that an H200 was seen to do it says so.

// entry wraps a body that has its thread number in the grid in %g, in the block in %t, its lane in %lane, the address
// of its own word of the output in %o, and the output's address in %base.
func entry(decl, body string) string {
	return ".version 8.6\n.target sm_90\n.address_size 64\n" + decl + `.visible .entry k(.param .u64 p0)
{
	.reg .b32 %g, %t, %n, %c, %lane, %r<16>; .reg .b64 %base, %o, %q<8>; .reg .pred %p<8>; .reg .b16 %h<4>;
	ld.param.u64 %base, [p0];
	mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid;
	mad.lo.u32 %g, %c, %n, %t; mad.wide.u32 %o, %g, 4, %base;
` + body + "\n\tret;\n}\n"
}

// launch is a test's launch; the zero grid and block stand for 1.
type launch struct {
	exectest.Config
	decl, body string
	extra      int // words of output beyond one for each thread
}

// run returns the output.
func (l launch) run(t *testing.T) ([]uint32, error) {
	t.Helper()
	d := exectest.Open(t)
	k, err := d.Load(entry(l.decl, l.body)).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	n := max(l.Grid[0], 1) * max(l.Block[0], 1)
	addr, out := d.Alloc(4 * (int(n) + l.extra))
	var stop atomic.Bool
	if l.Stop == nil {
		l.Stop = &stop
		timer := time.AfterFunc(20*time.Second, func() { stop.Store(true) })
		defer timer.Stop()
	}
	err = k.Run(l.Config, addr)
	return exectest.Words(out), err
}

// want runs a launch that must succeed and checks every thread's word.
func (l launch) want(t *testing.T, f func(i int) uint32) {
	t.Helper()
	got, err := l.run(t)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got[:len(got)-l.extra] {
		if w := f(i); g != w {
			t.Fatalf("thread %d: %#x, want %#x", i, g, w)
		}
	}
}

// fault runs a launch that must break.
func (l launch) fault(t *testing.T, kind exec.FaultKind, text string) *exec.Fault {
	t.Helper()
	_, err := l.run(t)
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %v with %q", err, kind, text)
	}
	return f
}

func config(grid, block uint32) exectest.Config {
	return exectest.Config{Grid: exectest.Dim(grid), Block: exectest.Dim(block), Workers: 2}
}

func TestGatherKeepsRoundsApart(t *testing.T) {
	// Lane 0 votes with itself for many rounds; the others go ahead to the next round of the outer loop and wait there
	// for it, at the same instruction with another mask. They must not take it for a partner.
	body := `
	mov.u32 %r1, 2; mov.u32 %r9, 0;
OUTER:
	mov.u32 %r2, 0xffffffff;
	setp.eq.u32 %p0, %lane, 0;
	selp.u32 %r3, 40, 0, %p0;
INNER:
	setp.ne.u32 %p2, %r3, 0;
	vote.sync.ballot.b32 %r4, %p2, %r2;
	popc.b32 %r5, %r2; mad.lo.u32 %r9, %r9, 3, %r5;
	mov.u32 %r2, %r4;
	sub.u32 %r3, %r3, 1;
	@%p2 bra INNER;
	sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
	@%p1 bra OUTER;
	vote.sync.ballot.b32 %r4, 1, 0xffffffff;
	add.u32 %r9, %r9, %r4;
	st.global.u32 [%o], %r9;`
	for _, quantum := range []int32{0, 1, 2, 5} {
		c := config(1, 32)
		c.Quantum = quantum
		launch{Config: c, body: body}.want(t, func(i int) uint32 {
			acc := uint32(0)
			for range 2 {
				acc = acc*3 + 32
				for k := 0; i == 0 && k < 40; k++ {
					acc = acc*3 + 1
				}
			}
			return acc - 1
		})
	}
}

func TestSyncWithLanesGuardedOff(t *testing.T) {
	// Lane 0 waits for lane 1, which is still in a loop further down; the others are guarded off and go on.
	launch{Config: config(1, 32), body: `
	setp.le.u32 %p0, %lane, 1;
	setp.eq.u32 %p1, %lane, 1;
	mov.u32 %r1, 3000; mov.u32 %r2, 7;
	@%p1 bra SLOW;
MEET:
	@%p0 redux.sync.add.u32 %r2, %lane, 3;
	st.global.u32 [%o], %r2;
	ret;
SLOW:
	sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0;
	@%p2 bra SLOW;
	bra MEET;`}.want(t, func(i int) uint32 {
		if i <= 1 {
			return 1
		}
		return 7
	})
}

func TestWarpBarrierInBothBranches(t *testing.T) {
	// bar.warp.sync in two branches is one barrier (PTX ISA 9.7.13.2: threads in membermask that execute bar.warp.sync
	// with the same mask), also while a lane outside the mask spins until it is passed.
	for _, quantum := range []int32{0, 1} {
		c := config(1, 32)
		c.Quantum = quantum
		launch{Config: c, body: `
	.shared .align 4 .b32 flag; .shared .align 4 .b32 sm[32];
	st.shared.u32 [flag], 0;
	mov.u32 %r1, sm; mad.lo.u32 %r2, %lane, 4, %r1;
	bar.warp.sync 0xffffffff;
	setp.eq.u32 %p0, %lane, 31;
	@%p0 bra SPIN;
	st.volatile.shared.u32 [%r2], %lane;
	and.b32 %r3, %lane, 1; setp.eq.u32 %p1, %r3, 0;
	@%p1 bra EVEN;
	bar.warp.sync 0x7fffffff;
	add.u32 %r4, %r2, 0;
	bra DONE;
EVEN:
	bar.warp.sync 0x7fffffff;
	st.volatile.shared.u32 [flag], 1;
DONE:
	xor.b32 %r4, %lane, 1; min.u32 %r4, %r4, 30; mad.lo.u32 %r4, %r4, 4, %r1;
	ld.volatile.shared.u32 %r5, [%r4];
	st.global.u32 [%o], %r5;
	ret;
SPIN:
	ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p2, %r5, 0;
	@%p2 bra SPIN;
	st.global.u32 [%o], 99;`}.want(t, func(i int) uint32 {
			if i == 31 {
				return 99
			}
			return uint32(min(i^1, 30))
		})
	}
}

func TestStuckLanesGoOn(t *testing.T) {
	// Lanes that name each other at different votes: undefined, but no deadlock.
	_, err := launch{Config: config(1, 32), body: `
	setp.lt.u32 %p0, %lane, 16;
	@%p0 bra LOW;
	vote.sync.ballot.b32 %r1, 1, 0xffffffff;
	bra DONE;
LOW:
	vote.sync.any.pred %p1, 1, 0xffffffff;
DONE:
	st.global.u32 [%o], 1;`}.run(t)
	if err != nil {
		t.Fatal(err)
	}
}

func TestExitInsideCallee(t *testing.T) {
	decl := `.func (.param .b32 r) f(.param .b32 a)
{
	.reg .b32 %x, %y; .reg .pred %p;
	ld.param.b32 %x, [a];
	and.b32 %y, %x, 3;
	setp.eq.u32 %p, %y, 1;
	@%p exit;
	setp.eq.u32 %p, %y, 2;
	@%p ret;
	add.u32 %x, %x, 100;
	st.param.b32 [r], %x;
	ret;
}
`
	launch{Config: config(3, 96), decl: decl, body: `
	mov.u32 %r2, 5; mov.u32 %r4, 0;
AGAIN:
	{ .param .b32 a; .param .b32 r;
	add.u32 %r1, %t, %r4;
	st.param.b32 [a], %r1; st.param.b32 [r], %r2;
	call (r), f, (a);
	ld.param.b32 %r3, [r]; }
	and.b32 %r1, %r1, 3; setp.ne.u32 %p0, %r1, 2;
	@%p0 mov.u32 %r2, %r3;
	add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 2;
	@%p1 bra AGAIN;
	bar.sync 0;
	setp.ge.u32 %p0, %t, 0;
	bar.red.popc.u32 %r5, 0, %p0;
	mad.lo.u32 %r2, %r2, 1000, %r5;
	st.global.u32 [%o], %r2;`}.want(t, func(i int) uint32 {
		tid := i % 96
		v := uint32(5)
		for k := range 2 {
			switch (tid + k) & 3 {
			case 1:
				return 0
			case 0, 3:
				v = uint32(tid+k) + 100
			}
		}
		return v*1000 + 48 // half of the threads have gone
	})
}

func TestHalfAWarpArrives(t *testing.T) {
	// Half of warp 0 arrives and goes on; the other half ends. PTX ISA 9.7.13.1: barriers count whole warps.
	launch{Config: config(1, 64), body: `
	setp.ge.u32 %p0, %t, 32;
	@%p0 bra WAIT;
	setp.lt.u32 %p1, %t, 16;
	@%p1 barrier.arrive 3, 64;
	@!%p1 exit;
	st.global.u32 [%o], 1;
	ret;
WAIT:
	barrier.sync 3, 64;
	st.global.u32 [%o], 2;`}.want(t, func(i int) uint32 {
		switch {
		case i < 16:
			return 1
		case i < 32:
			return 0
		}
		return 2
	})
}

func TestBranchesAtManyBarriers(t *testing.T) {
	// Four branches of both warps, each at a barrier of its own: none of the warps is complete at any of them.
	launch{Config: config(1, 64), body: `
	and.b32 %r1, %t, 3;
	setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;
	@%p0 bra A; @%p1 bra B; @%p2 bra C;
	barrier.sync 4, 64; bra DONE;
A:	barrier.sync 1, 64; bra DONE;
B:	barrier.sync 2, 64; bra DONE;
C:	barrier.sync 3, 64;
DONE:
	st.global.u32 [%o], %r1;`}.want(t, func(i int) uint32 { return uint32(i & 3) })
}

func TestClusterWaitBeforeBarrier(t *testing.T) {
	// Half of warp 0 waits for the other block of the cluster before it comes to the block's barrier, where everyone
	// else stands: the warp does not count there before.
	c := config(4, 64)
	c.Cluster = exectest.Dim(2)
	launch{Config: c, body: `
	.shared .align 4 .b32 x;
	mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1;
	st.shared.u32 [x], 0;
	barrier.sync 0;
	mov.u32 %r2, 200000;
	@!%p0 bra ARRIVE;
SLOW:
	sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;
	@%p1 bra SLOW;
ARRIVE:
	barrier.cluster.arrive;
	setp.ge.u32 %p2, %t, 16; setp.lt.and.u32 %p2, %t, 32, %p2;
	@!%p2 bra MEET;
	barrier.cluster.wait;
	st.shared.u32 [x], 42;
MEET:
	barrier.sync 0;
	ld.shared.u32 %r3, [x];
	st.global.u32 [%o], %r3;
	@!%p2 barrier.cluster.wait;`}.want(t, func(int) uint32 { return 42 })
}

const gridSync = ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s);\n.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"

func callGridSync(guard string) string {
	return "{ .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], 1; st.param.b32 [f], 0;\n" + guard +
		" call (r), cudaCGSynchronize, (h, f); ld.param.b32 %r9, [r]; }\n"
}

func TestGridBarrier(t *testing.T) {
	// Rounds of counting: after each barrier every thread must see what all have added before. In each round even and
	// odd lanes come through different calls, and threads leave the kernel as they go.
	c := config(40, 48)
	c.Cooperative = true
	for _, quantum := range []int32{0, 1} {
		c.Quantum = quantum
		launch{Config: c, decl: gridSync, extra: 16, body: `
	setp.eq.u32 %p0, %t, 47;
	@%p0 exit;
	mov.u32 %r1, %nctaid.x;
	mul.lo.u32 %r1, %r1, %n; mad.wide.u32 %q1, %r1, 4, %base;
	mov.u32 %r2, 0; mov.u32 %r3, 0;
ROUND:
	mad.wide.u32 %q2, %r2, 4, %q1;
	red.global.add.u32 [%q2], 1;
	and.b32 %r4, %t, 1; setp.eq.u32 %p1, %r4, 0;
	@%p1 bra EVEN;
	` + callGridSync("") + `
	bra ON;
EVEN:
	` + callGridSync("") + `
ON:
	ld.relaxed.gpu.global.u32 %r5, [%q2];
	mad.lo.u32 %r3, %r3, 7, %r5;
	add.u32 %r2, %r2, 1;
	setp.eq.u32 %p2, %t, %r2;
	@%p2 st.global.u32 [%o], %r3;
	@%p2 exit;
	setp.lt.u32 %p3, %r2, 6;
	@%p3 bra ROUND;
	st.global.u32 [%o], %r3;`}.want(t, func(i int) uint32 {
			tid := i % 48
			if tid == 47 {
				return 0
			}
			acc := uint32(0)
			for r := 0; r < 6; r++ {
				live := 47 - r // threads 1 to r have left
				acc = acc*7 + uint32(40*live)
				if tid == r+1 {
					break
				}
			}
			return acc
		})
	}
	launch{Config: config(2, 32), decl: gridSync, body: callGridSync("")}.fault(t, exec.FaultTrap, "cooperative")
}

func TestGuardedGridBarrier(t *testing.T) {
	// Lanes that are guarded off do not arrive: they wait for nobody, and end.
	c := config(4, 32)
	c.Cooperative = true
	launch{Config: c, decl: gridSync, body: `
	setp.lt.u32 %p0, %lane, 8;
	` + callGridSync("@%p0") + `
	st.global.u32 [%o], 3;`}.want(t, func(int) uint32 { return 3 })
}

func TestWaitForLaterBlocks(t *testing.T) {
	// A barrier over the grid made of an atomic counter, as programs do that know that all their blocks are resident.
	start := time.Now()
	launch{Config: config(96, 64), extra: 2, body: `
	mov.u32 %r1, %nctaid.x; mul.lo.u32 %r2, %r1, %n; mad.wide.u32 %q1, %r2, 4, %base;
	mov.u32 %r5, 0;
ROUND:
	add.u32 %r5, %r5, 1;
	bar.sync 0;
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra WAIT;
	atom.add.release.gpu.global.u32 %r3, [%q1], 1;
	mul.lo.u32 %r6, %r5, %r1;
SPIN:
	ld.acquire.gpu.global.u32 %r3, [%q1];
	setp.lt.u32 %p1, %r3, %r6;
	@%p1 bra SPIN;
WAIT:
	bar.sync 0;
	setp.lt.u32 %p0, %r5, 3;
	@%p0 bra ROUND;
	ld.acquire.gpu.global.u32 %r3, [%q1];
	st.global.u32 [%o], %r3;`}.want(t, func(int) uint32 { return 3 * 96 })
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("three barriers of 96 blocks took %v", d)
	} else {
		t.Logf("three barriers of 96 blocks took %v", d)
	}
}

func TestFaultEndsTheGrid(t *testing.T) {
	// One block faults while the others are in endless loops.
	f := launch{Config: config(8, 64), body: `
	setp.eq.u32 %p0, %c, 3;
	@%p0 bra BAD;
FOREVER:
	add.u32 %r1, %r1, 1; bra FOREVER;
BAD:
	setp.eq.u32 %p1, %t, 37;
	@%p1 st.global.u32 [%o+0x7000000000], %r1;`}.fault(t, exec.FaultAddress, "write of 4 bytes")
	if !f.HasThread || f.Thread != [3]uint32{37, 0, 0} || f.Block != [3]uint32{3, 0, 0} || f.Kernel != "k" ||
		!f.Write || f.Size != 4 {
		t.Errorf("%+v", f)
	}
}

func TestFaultPlace(t *testing.T) {
	src := strings.Replace(entry("", "\n.loc 1 77 5\n\tmov.u64 %q1, 6;\n\tst.global.u32 [%q1+1], %t;"), "\tret;\n}",
		"\tret;\n}\n.file 1 \"src/kernel.cu\"", 1)
	d := exectest.Open(t)
	k, err := d.Load(src).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.Alloc(128)
	err = k.Run(config(1, 3), a)
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != exec.FaultMisaligned || f.File != "src/kernel.cu" || f.Loc.Line != 77 ||
		f.Addr != 7 {
		t.Fatalf("%v: %+v", err, f)
	}
	line := strings.Split(src, "\n")[f.Line-1]
	if !strings.Contains(line, "st.global.u32") || !strings.Contains(err.Error(), "src/kernel.cu:77") {
		t.Errorf("%v, on line %q", err, line)
	}
	// The device works on after a fault.
	if k, err = d.Load(entry("", "st.global.u32 [%o], 5;")).Kernel("k"); err != nil {
		t.Fatal(err)
	}
	a, out := d.Alloc(128)
	if err := k.Run(config(1, 32), a); err != nil || out[124] != 5 {
		t.Errorf("after a fault: %v", err)
	}
}

func TestFaults(t *testing.T) {
	callee := ".func f(.param .b32 a)\n{ .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [a]; setp.eq.u32 %p, %x, 9; @%p trap; ret; }\n"
	call := "{ .param .b32 a; st.param.b32 [a], %lane; call f, (a); }\n"
	for _, c := range []struct {
		name, decl, body string
		kind             exec.FaultKind
		text             string
	}{
		{"wild global address", "", "mov.u64 %q1, 0xfffffffffffffff8; st.global.u64 [%q1], %q1;", exec.FaultAddress,
			"0xfffffffffffffff8"},
		{"null", "", "mov.u64 %q1, 0; ld.global.u32 %r1, [%q1]; st.global.u32 [%o], %r1;", exec.FaultAddress,
			"read of 4 bytes at 0x0"},
		{"misaligned vector", "", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base+8]; st.global.u32 [%o], %r1;",
			exec.FaultMisaligned, "16 bytes"},
		{"local memory that wraps", "", ".local .b32 l; mov.u64 %q1, 0xfffffffffffffffc; ld.local.u32 %r1, [%q1]; st.global.u32 [%o], %r1;", exec.FaultAddress, "local"},
		{"local memory's end", "", ".local .b32 l; mov.u64 %q1, l; st.local.u32 [%q1+0x100000], %r1;",
			exec.FaultAddress, "local"},
		{"parameters' end", "", "mov.u64 %q1, p0; ld.param.u64 %q2, [%q1+8]; st.global.u64 [%base], %q2;",
			exec.FaultAddress, "param"},
		{"parameters that wrap", "", "mov.u64 %q1, 0xfffffffffffffff8; ld.param.u64 %q2, [%q1]; st.global.u64 [%base], %q2;", exec.FaultAddress, "param"},
		{"trap", "", "setp.eq.u32 %p0, %t, 3; @%p0 trap;", exec.FaultTrap, "thread (3,0,0)"},
		{"trap in a function", callee, call, exec.FaultTrap, "function f"},
		{"call of no function", "", "mov.u64 %q1, 12345;\nP: .callprototype _ ();\ncall %q1, P;", exec.FaultPC,
			"no function"},
		{"branch table index", "", "mov.u32 %r1, 2;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nB:",
			exec.FaultInstruction, "brx.idx"},
		{"endless recursion", ".func f(.param .b32 a)\n{ .reg .b32 %x; ld.param.b32 %x, [a]; { .param .b32 b; st.param.b32 [b], %x; call f, (b); } ret; }\n", call, exec.FaultStack, "too deep"},
		{"recursion with local variables", ".func f(.param .b32 a)\n{ .reg .b32 %x; .local .b8 l[100]; ld.param.b32 %x, [a]; st.local.u32 [l], %x; { .param .b32 b; st.param.b32 [b], %x; call f, (b); } ret; }\n", call, exec.FaultStack, "CU_LIMIT_STACK_SIZE"},
		{"barrier that nobody else comes to", "", "setp.lt.u32 %p0, %t, 32; @%p0 bar.sync 2, 96;", exec.FaultDeadlock,
			"barrier 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			launch{Config: config(1, 64), decl: c.decl, body: c.body}.fault(t, c.kind, c.text)
		})
	}
	if err := exec.Run(&exec.Launch{Grid: [3]uint32{3, 1, 1}, Block: [3]uint32{1, 1, 1},
		Cluster: [3]uint32{2, 1, 1}}); err == nil {
		t.Error("a grid that the clusters do not divide")
	}
}

func TestLocalMemory(t *testing.T) {
	// Every thread fills an array of its own in the kernel and, deeper, in a function called from two places, by local
	// and generic addresses.
	decl := `.func (.param .b32 r) f(.param .b64 up, .param .b32 a)
{
	.reg .b32 %x, %y; .reg .b64 %q<4>; .local .align 16 .b8 mine[48];
	ld.param.b32 %x, [a]; ld.param.b64 %q1, [up];
	mov.u64 %q0, mine; cvta.local.u64 %q2, %q0;
	st.u32 [%q2+20], %x;
	ld.u32 %y, [%q1]; add.u32 %y, %y, 1; st.u32 [%q1], %y;
	ld.local.v2.u32 {%x, %y}, [mine+16];
	st.param.b32 [r], %y;
	ret;
}
`
	call := func(arg, to string) string {
		return "{ .param .b64 u; .param .b32 a; .param .b32 r; st.param.b64 [u], %q2; st.param.b32 [a], " + arg +
			"; call (r), f, (u, a); ld.param.b32 " + to + ", [r]; }\n"
	}
	launch{Config: config(2, 80), decl: decl, body: `
	.local .align 4 .b32 own[3];
	mov.u64 %q1, own; cvta.local.u64 %q2, %q1; add.u64 %q2, %q2, 4;
	st.local.u32 [own], %t; st.local.u32 [%q1+4], %g; st.local.u32 [own+8], 77;
	and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0;
	@%p0 bra EVEN;
	` + call("%t", "%r2") + `
	bra DONE;
EVEN:
	` + call("%g", "%r2") + call("%r2", "%r2") + `
DONE:
	ld.local.u32 %r3, [own]; ld.u32 %r4, [%q2]; ld.local.u32 %r5, [own+8];
	mad.lo.u32 %r2, %r2, 3, %r3; mad.lo.u32 %r2, %r2, 3, %r4; mad.lo.u32 %r2, %r2, 3, %r5;
	st.global.u32 [%o], %r2;`}.want(t, func(i int) uint32 {
		tid, g := uint32(i%80), uint32(i)
		v, count := tid, g+1
		if i%2 == 0 {
			v, count = g, g+2
		}
		return ((v*3+tid)*3+count)*3 + 77
	})
}

func TestStackParameter(t *testing.T) {
	// What mov gives for a function's parameter is an address in local memory (PTX ISA, mov), and LLVM reads through it
	// with ld.param.
	decl := `.func (.param .b32 r) f(.param .align 8 .b8 s[24], .param .b32 a)
{
	.reg .b32 %x, %y, %z; .reg .b64 %q<4>; .reg .pred %p;
	ld.param.b32 %x, [a]; mov.b64 %q0, s; add.u64 %q1, %q0, 4; and.b32 %y, %x, 1; setp.eq.u32 %p, %y, 0;
	@%p add.u64 %q1, %q0, 8;
	ld.param.b32 %y, [%q1+8]; ld.local.b32 %z, [%q0+20];
	mad.lo.u32 %y, %y, 3, %z;
	st.param.b32 [r], %y;
	ret;
}
`
	launch{Config: config(2, 80), decl: decl, body: `
	{ .param .align 8 .b8 s[24]; .param .b32 a; .param .b32 r;
	st.param.b32 [s+12], %g; st.param.b32 [s+16], %t; st.param.b32 [s+20], 5; st.param.b32 [a], %g;
	call (r), f, (s, a); ld.param.b32 %r1, [r]; }
	st.global.u32 [%o], %r1;`}.want(t, func(i int) uint32 {
		if i%2 == 0 {
			return uint32(i%80)*3 + 5
		}
		return uint32(i)*3 + 5
	})
}

func TestCallOperands(t *testing.T) {
	// Registers of every width as parameters and results, constants and special registers as arguments, results that
	// nobody wants.
	decl := `.func (.reg .b16 %lo, .reg .pred %odd, .reg .b64 %wide) f(.reg .b16 %a, .reg .pred %q, .reg .b64 %b, .reg .b32 %c)
{
	.reg .b32 %x; .reg .b16 %one;
	mov.b16 %one, 1;
	@%q add.u16 %lo, %a, %one;
	@!%q mov.u16 %lo, 65535;
	and.b32 %x, %c, 1; setp.ne.u32 %odd, %x, 0;
	cvt.u64.u32 %wide, %c; add.u64 %wide, %wide, %b;
	ret;
}
`
	launch{Config: config(1, 64), decl: decl, body: `
	mov.u16 %h0, 65534; setp.lt.u32 %p0, %t, 20;
	mov.u64 %q1, 0x100000000;
	call (%h1, %p1, %q2), f, (%h0, %p0, %q1, %t);
	call (%h2, _, %q3), f, (%h1, %p1, 5, 6);
	cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2; selp.u32 %r3, 1, 0, %p1;
	shr.u64 %q2, %q2, 32; cvt.u32.u64 %r4, %q2; cvt.u32.u64 %r5, %q3;
	add.u32 %r1, %r1, %r2; mad.lo.u32 %r1, %r1, 7, %r3; mad.lo.u32 %r1, %r1, 7, %r4; mad.lo.u32 %r1, %r1, 7, %r5;
	st.global.u32 [%o], %r1;`}.want(t, func(i int) uint32 {
		h1, odd := uint32(65535), uint32(i&1)
		h2 := uint32(65535)
		if odd == 1 {
			h2 = (h1 + 1) & 0xffff
		}
		return (((h1+h2)*7+odd)*7+1)*7 + 11
	})
}

func TestNarrowRegistersStayNarrow(t *testing.T) {
	// A register that was never written has some value of its own width, whatever frame its row lay in before.
	decl := ".func f(.param .b32 a)\n{ .reg .b32 %x<20>; ld.param.b32 %x0, [a];\n"
	for i := 1; i < 20; i++ {
		decl += fmt.Sprintf("add.u32 %%x%d, %%x%d, 0x7fff0000;\n", i, i-1)
	}
	decl += "{ .reg .pred %p; setp.eq.u32 %p, %x19, %x7; @%p trap; }\nret; }\n" +
		".func (.param .b32 r) g()\n{ .reg .b16 %h<24>; .reg .b32 %s, %w; mov.u32 %s, 0;\n"
	for i := range 24 {
		decl += fmt.Sprintf("cvt.u32.u16 %%w, %%h%d; shr.u32 %%w, %%w, 16; or.b32 %%s, %%s, %%w;\n", i)
	}
	decl += "st.param.b32 [r], %s; ret; }\n"
	launch{Config: config(4, 64), decl: decl, body: `
	{ .param .b32 a; st.param.b32 [a], %g; call f, (a); }
	{ .param .b32 r; call (r), g, (); ld.param.b32 %r1, [r]; }
	st.global.u32 [%o], %r1;`}.want(t, func(int) uint32 { return 0 })
}

func TestIndirectCalls(t *testing.T) {
	// Lanes call five functions through a table of addresses in one instruction, two of them the same; some are guarded
	// off.
	decl := ""
	for i := range 4 {
		decl += fmt.Sprintf(".func (.param .b32 r) f%d(.param .b32 a)\n{ .reg .b32 %%x; ld.param.b32 %%x, [a]; mad.lo.u32 %%x, %%x, %d, %d; st.param.b32 [r], %%x; ret; }\n", i, i+2, 10*i)
	}
	launch{Config: config(2, 64), decl: decl, body: `
	and.b32 %r1, %t, 7;
	mov.u64 %q1, f0;
	setp.eq.u32 %p0, %r1, 1; mov.u64 %q2, f1; selp.b64 %q1, %q2, %q1, %p0;
	setp.eq.u32 %p0, %r1, 2; mov.u64 %q2, f2; selp.b64 %q1, %q2, %q1, %p0;
	setp.eq.u32 %p0, %r1, 3; mov.u64 %q2, f3; selp.b64 %q1, %q2, %q1, %p0;
	setp.eq.u32 %p0, %r1, 4; selp.b64 %q1, 12345, %q1, %p0;
	{ .param .b32 a; .param .b32 r; st.param.b32 [a], %g; st.param.b32 [r], 1000;
	P: .callprototype (.param .b32 _) _ (.param .b32 _);
	@!%p0 call (r), %q1, (a), P;
	ld.param.b32 %r2, [r]; }
	st.global.u32 [%o], %r2;`}.want(t, func(i int) uint32 {
		k := uint32(i & 7)
		switch {
		case k == 4:
			return 1000
		case k > 3:
			k = 0
		}
		return uint32(i)*(k+2) + 10*k
	})
}

func TestParameters(t *testing.T) {
	src := `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u8 a, .param .align 16 .b8 s[32], .param .u64 out, .param .f32 f)
{
	.reg .b32 %r<8>; .reg .b64 %q<4>;
	ld.param.u64 %q0, [out];
	ld.param.u8 %r0, [a];
	ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [s+16];
	mov.u64 %q1, s; ld.param.u32 %r5, [%q1+4];
	cvta.param.u64 %q2, %q1; ld.u32 %r6, [%q2+8];
	ld.param.b32 %r7, [f];
	st.global.v4.u32 [%q0], {%r0, %r1, %r2, %r3};
	st.global.v4.u32 [%q0+16], {%r4, %r5, %r6, %r7};
	ret;
}
`
	d := exectest.Open(t)
	k, err := d.Load(src).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	a, out := d.Alloc(32)
	var s [32]byte
	for i := range 8 {
		binary.LittleEndian.PutUint32(s[4*i:], uint32(100+i))
	}
	if err := k.Run(exectest.Config{}, []byte{200}, s[:], a, float32(1)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]uint32{200, 104, 105, 106, 107, 101, 102, 0x3f800000})
	if got := fmt.Sprint(exectest.Words(out)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHalfWordAtomics(t *testing.T) {
	// Both halves of a word, from two blocks at once; the last halfword of an allocation.
	got, err := launch{Config: config(8, 32), extra: 1, body: `
	mov.u32 %r1, %nctaid.x; mul.lo.u32 %r1, %r1, %n; mad.wide.u32 %q1, %r1, 4, %base;
	and.b32 %r2, %t, 1; mad.wide.u32 %q1, %r2, 2, %q1;
	ld.volatile.global.u16 %h0, [%q1];
TRY:
	add.u16 %h1, %h0, 1;
	atom.global.cas.b16 %h2, [%q1], %h0, %h1;
	setp.ne.u16 %p0, %h2, %h0; mov.u16 %h0, %h2;
	@%p0 bra TRY;`}.run(t)
	if err != nil || got[len(got)-1] != 128<<16|128 {
		t.Errorf("%#x, %v", got[len(got)-1], err)
	}
}

func TestCounters(t *testing.T) {
	var n exec.Counters
	c := config(2, 64)
	c.Counters = &n
	launch{Config: c, body: "st.global.u32 [%o], 1;"}.want(t, func(int) uint32 { return 1 })
	if got := n.WarpInstructions.Load(); got < 4*8 || got > 4*20 {
		t.Errorf("%d warp instructions", got)
	}
}

func TestLanesMeetAfterLongLoops(t *testing.T) {
	// Four rounds of a loop with 200 to 6400 trips. Lanes that are done early wait for the rest, so the warp runs
	// little more than its longest lane.
	var n exec.Counters
	c := config(1, 32)
	c.Counters = &n
	launch{Config: c, body: `
	mov.u32 %r1, 4; mov.u32 %r3, 0;
ROUND:
	add.u32 %r2, %lane, 1; mul.lo.u32 %r2, %r2, 200;
LOOP:
	add.u32 %r3, %r3, 1;
	sub.u32 %r2, %r2, 1; setp.ne.u32 %p0, %r2, 0;
	@%p0 bra LOOP;
	sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
	@%p1 bra ROUND;
	st.global.u32 [%o], %r3;`}.want(t, func(i int) uint32 { return uint32(i+1) * 800 })
	if got, lane := n.WarpInstructions.Load(), uint64(4*6400*4); got > lane*11/10 {
		t.Errorf("%d operations for a longest lane of %d", got, lane)
	}
}

// TestManyBlocks runs more blocks than workers, whose memory is used again.
func TestManyBlocks(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		c := config(700, 40)
		c.Workers = workers
		launch{Config: c, body: `
	.shared .align 4 .b32 sm[40];
	mov.u32 %r1, sm; mad.lo.u32 %r2, %t, 4, %r1; sub.u32 %r3, 39, %t; mad.lo.u32 %r3, %r3, 4, %r1;
	st.shared.u32 [%r2], %g;
	bar.sync 0;
	ld.shared.u32 %r4, [%r3];
	st.global.u32 [%o], %r4;`}.want(t, func(i int) uint32 { return uint32(i/40*40 + 39 - i%40) })
	}
}
