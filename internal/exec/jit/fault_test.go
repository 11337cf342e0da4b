package jit

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// faultKernel accesses memory at base + f(thread), where thread bad gets another address.
const faultKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 base, .param .u64 other, .param .u32 bad) {
	.reg .b32 %%r<8>; .reg .b64 %%q<8>; .reg .pred %%p<4>; .reg .f32 %%f<4>;
	.shared .align 16 .b8 sm[4096];
	ld.param.u64 %%q1, [base]; ld.param.u64 %%q2, [other]; ld.param.u32 %%r1, [bad];
	mov.u32 %%r2, %%tid.x; mov.u32 %%r4, 7;
	mul.wide.u32 %%q3, %%r2, %d;
	add.u64 %%q3, %%q1, %%q3;
	setp.eq.u32 %%p1, %%r2, %%r1;
	selp.b64 %%q3, %%q2, %%q3, %%p1;
	%s
	ret;
}`

// TestFaults compares the faults of machine code with the interpreter's: kind, operation, thread, address.
func TestFaults(t *testing.T) { eachISA(t, testFaults) }

func testFaults(t *testing.T, e *engine) {
	for _, stride := range []int{4, 8, 0} {
		for _, access := range []string{"ld.global.u32 %r3, [%q3];\n\tst.global.u32 [%q1], %r3;",
			"st.global.u32 [%q3], %r4;", "ld.global.v2.u32 {%r3, %r5}, [%q3];", "st.global.v2.u32 [%q3], {%r4, %r4};",
			"red.global.add.u32 [%q3], 1;",
			"atom.global.add.u32 %r3, [%q3], %r4;", "ld.u32 %r3, [%q3];", "@%p1 ld.global.u32 %r3, [%q3+16];",
			"ld.global.u8 %r3, [%q3];", "st.global.u8 [%q3], %r4;", "ld.global.f32 %f1, [%q3+-4];"} {
			for _, where := range []string{"hole", "null", "misaligned", "outside", "all"} {
				var texts [2]string
				for which, engine := range []exec.Engine{interp.New(), e} {
					d := exectest.Open(t)
					d.Engine = engine
					k, err := d.Load(fmt.Sprintf(faultKernel, stride, access)).Kernel("k")
					if err != nil {
						t.Fatal(err)
					}
					base, _ := d.Alloc(1 << 16)
					other, bad, from := d.Mem.Base+d.Mem.Size-1<<28, uint32(77), base+4096
					switch where {
					case "null":
						other = 64
					case "misaligned":
						other = base + 4099
					case "outside":
						other = d.Mem.Base + d.Mem.Size + 1<<20
					case "all":
						from = other
						bad = 1000
					}
					err = k.Run(exectest.Config{Block: exectest.Dim(96)}, from, other, bad)
					if err != nil {
						texts[which] = err.Error()
						if f, ok := err.(*exec.Fault); ok {
							if f.Addr >= d.Mem.Base { // windows lie at different places
								f.Addr -= d.Mem.Base
							}
							texts[which] = f.Error()
						}
					}
				}
				if texts[0] == "" && (where == "hole" || where == "null") {
					t.Errorf("stride %d, %s, %s: no fault", stride, access, where)
				}
				if texts[0] != texts[1] {
					t.Errorf("stride %d, %s, %s:\ninterpreter  %s\nmachine code %s", stride, access, where, texts[0],
						texts[1])
				}
			}
		}
	}
}

// TestSoak runs kernels, faults and compilations on several goroutines under a busy garbage collector, and then looks
// that no machine code is left.
func TestSoak(t *testing.T) { eachISA(t, testSoak) }

func testSoak(t *testing.T, e *engine) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	span := time.Second
	if testing.Short() {
		span = 200 * time.Millisecond
	}
	end := time.Now().Add(span)
	before := e.mapped.Load()
	var wg sync.WaitGroup
	var mu sync.Mutex
	faults, runs := 0, 0
	for g := range 3 {
		d := exectest.Open(t)
		d.Engine = e
		base, data := d.Alloc(1 << 16)
		hole := d.Mem.Base + d.Mem.Size - 1<<28
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; time.Now().Before(end); n++ {
				k, err := d.Load(fmt.Sprintf(faultKernel, 4,
					"ld.global.u32 %r3, [%q3];\n\tadd.u32 %r3, %r3, 1;\n\tst.global.u32 [%q3], %r3;")).Kernel("k")
				if err != nil {
					t.Error(err)
					return
				}
				clear(data[:4096])
				bad := uint32(1000)
				if n%3 == g {
					bad = 5
				}
				err = k.Run(exectest.Config{Block: exectest.Dim(64), Workers: 2}, base, hole, bad)
				mu.Lock()
				if bad == 5 {
					faults++
				}
				runs++
				mu.Unlock()
				if (err != nil) != (bad == 5) {
					t.Errorf("run %d: %v", n, err)
					return
				}
				if bad != 5 && (data[0] != 1 || data[63*4] != 1) {
					t.Errorf("run %d: wrong result", n)
					return
				}
			}
		}()
	}
	wg.Wait()
	for range 50 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if e.mapped.Load() <= before {
			break
		}
	}
	if left := e.mapped.Load() - before; left > 3*8192 {
		t.Errorf("%d bytes of machine code are left", left)
	}
	t.Logf("%d runs, %d faults", runs, faults)
}

// bulkFault copies 512 bytes to shared memory in thread 0, from an address of which only the beginning may be there.
const bulkFault = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 size) {
	.reg .b32 %r<8>; .reg .b64 %q<8>; .reg .pred %p<4>;
	.shared .align 16 .b8 sm[1024]; .shared .align 8 .b64 bar;
	ld.param.u64 %q1, [from]; ld.param.u64 %q2, [to]; ld.param.u32 %r5, [size];
	mov.u32 %r1, %tid.x; mov.u32 %r2, sm; mov.u32 %r3, bar;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra OUT;
	mbarrier.init.shared.b64 [%r3], 1;
	mbarrier.arrive.expect_tx.shared.b64 %q3, [%r3], %r5;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%q1], %r5, [%r3];
W:	mbarrier.try_wait.shared.b64 %p2, [%r3], %q3;
	@!%p2 bra W;
	cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r2], %r5;
OUT:	ret;
}`

// TestBulkFaults compares how bulk copies fail in machine code and on the interpreter: all but the address, which is
// where the host's copy came to.
func TestBulkFaults(t *testing.T) { eachISA(t, testBulkFaults) }

func testBulkFaults(t *testing.T, e *engine) {
	for _, where := range []string{"", "from", "to", "null", "misaligned", "size", "large", "none"} {
		var texts [2]string
		var outs [2]byte
		for which, engine := range []exec.Engine{interp.New(), e} {
			d := exectest.Open(t)
			d.Engine = engine
			k, err := d.Load(bulkFault).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			from, data := d.Alloc(4096)
			to, out := d.Alloc(4096)
			data[511] = 77
			size := uint32(512)
			switch where {
			case "from":
				from = d.Mem.Base + d.Mem.Size - 1<<28
			case "to":
				to = d.Mem.Base + d.Mem.Size - 1<<28
			case "null":
				from = 64
			case "misaligned":
				from += 8
			case "size":
				size = 504
			case "large":
				size = 1 << 20
			case "none":
				size, from = 0, 64
			}
			err = k.Run(exectest.Config{Block: exectest.Dim(64)}, from, to, size)
			if f, ok := err.(*exec.Fault); ok {
				switch {
				case where == "from" || where == "to":
					f.Addr = 0
				case f.Addr >= d.Mem.Base:
					f.Addr -= d.Mem.Base
				}
				texts[which] = f.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			outs[which] = out[511]
		}
		if texts[0] != texts[1] || outs[0] != outs[1] {
			t.Errorf("%q:\ninterpreter  %s, %d\nmachine code %s, %d", where, texts[0], outs[0], texts[1], outs[1])
		}
		if good := where == "" || where == "none"; good != (texts[0] == "") || where == "" && outs[0] != 77 {
			t.Errorf("%q: %s, %d", where, texts[0], outs[0])
		}
	}
}
