package softdev

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

var soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak runs with each engine")

// soakPTX has kernels for TestSoak; the constant makes every module another one.
const soakPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry mix(.param .u64 out, .param .u64 total, .param .u32 rounds)
{
	.reg .pred %%p<4>;
	.reg .b32 %%r<16>;
	.reg .b64 %%q<6>;
	.shared .align 4 .b32 s[256];
	ld.param.u64 %%q0, [out];
	ld.param.u64 %%q1, [total];
	ld.param.u32 %%r0, [rounds];
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, %%ctaid.x;
	mov.u32 %%r3, %%ntid.x;
	mad.lo.u32 %%r4, %%r2, %%r3, %%r1;
	add.u32 %%r5, %%r4, %d;
	and.b32 %%r6, %%r4, 7;
	add.u32 %%r6, %%r6, %%r0;
LOOP:
	mul.lo.u32 %%r5, %%r5, 1664525;
	add.u32 %%r5, %%r5, 1013904223;
	and.b32 %%r7, %%r5, 1024;
	setp.eq.u32 %%p0, %%r7, 0;
	@%%p0 bra EVEN;
	shr.u32 %%r8, %%r5, 3;
	xor.b32 %%r5, %%r5, %%r8;
	bra NEXT;
EVEN:
	add.u32 %%r5, %%r5, 77;
NEXT:
	sub.u32 %%r6, %%r6, 1;
	setp.ne.u32 %%p1, %%r6, 0;
	@%%p1 bra LOOP;
	mov.u32 %%r9, s;
	shl.b32 %%r10, %%r1, 2;
	add.u32 %%r10, %%r9, %%r10;
	st.shared.u32 [%%r10], %%r5;
	bar.sync 0;
	setp.ne.u32 %%p2, %%r1, 0;
	@%%p2 bra DONE;
	mov.u32 %%r11, 0;
	mov.u32 %%r12, 0;
SUM:
	ld.shared.u32 %%r13, [%%r9];
	add.u32 %%r11, %%r11, %%r13;
	add.u32 %%r9, %%r9, 4;
	add.u32 %%r12, %%r12, 1;
	setp.lt.u32 %%p3, %%r12, %%r3;
	@%%p3 bra SUM;
	mul.wide.u32 %%q2, %%r2, 4;
	add.u64 %%q2, %%q0, %%q2;
	st.global.u32 [%%q2], %%r11;
DONE:
	red.global.add.u32 [%%q1], %%r5;
	ret;
}
.visible .entry wild(.param .u64 p) { .reg .b64 %%rd<3>; .reg .b32 %%r<2>; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd1, %%r1, 4; ld.param.u64 %%rd2, [p]; add.u64 %%rd1, %%rd1, %%rd2; st.global.u32 [%%rd1], %%r1; ret; }
.func dig(.param .b32 n) { .reg .b32 %%r; .local .align 4 .b32 x[64]; .param .b32 a; ld.param.b32 %%r, [n]; st.local.b32 [x], %%r; add.u32 %%r, %%r, 1; st.param.b32 [a], %%r; call.uni dig, (a); ld.local.b32 %%r, [x]; ret; }
.visible .entry deep() { .param .b32 a; .reg .b32 %%r; mov.b32 %%r, 0; st.param.b32 [a], %%r; call.uni dig, (a); ret; }
.visible .entry trapper() { trap; }
.visible .entry spin(.param .u64 p) { .reg .b64 %%rd; .reg .b32 %%r; .reg .pred %%p; ld.param.u64 %%rd, [p]; L: ld.volatile.global.u32 %%r, [%%rd]; setp.eq.u32 %%p, %%r, 0; @%%p bra L; ret; }
.visible .entry forever() { .reg .b32 %%r; mov.u32 %%r, 0; L: add.u32 %%r, %%r, 1; bra L; }
`

// soakMix is what kernel mix calculates.
func soakMix(seed uint32, grid, block, rounds int) (sums []uint32, total uint32) {
	sums = make([]uint32, grid)
	for i := range uint32(grid * block) {
		x := i + seed
		for range int(i&7) + rounds {
			x = x*1664525 + 1013904223
			if x&1024 != 0 {
				x ^= x >> 3
			} else {
				x += 77
			}
		}
		sums[int(i)/block] += x
		total += x
	}
	return sums, total
}

type soak struct {
	d       *Driver
	tab     *driver.Table
	primary driver.CUcontext
	counts  struct{ mixes, faults, cancels, modules atomic.Int64 }
}

// TestSoak mixes kernels whose results are checked, faults, cancelled kernels and reloaded modules, with a garbage
// collector that runs nearly always and the profiler on. At the end no machine code and no device memory may be left.
//
//	go test -race -run TestSoak -soak 10m ./internal/softdev
func TestSoak(t *testing.T) {
	for _, engine := range []string{"interpreter", "jit"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "jit" {
				var none *jit.UnavailableError
				if _, err := jit.New(""); errors.As(err, &none) {
					skip.Without(t, skip.MachineCode, err)
				}
			}
			defer debug.SetGCPercent(debug.SetGCPercent(5))
			if err := pprof.StartCPUProfile(io.Discard); err == nil { // else go test has the profiler
				defer pprof.StopCPUProfile()
			}
			d, tab, ctx := open(t, Options{EngineName: engine, Recover: true})
			s := &soak{d: d, tab: tab, primary: ctx}
			var free, after, all uint64
			must(t, tab.MemGetInfo_v2(ctx, &free, &all))
			deadline := time.Now().Add(*soakTime)
			const workers = 6
			errs := make(chan error, workers)
			var wg sync.WaitGroup
			for n := range workers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(7, uint64(n)))
					for time.Now().Before(deadline) {
						if err := s.round(r); err != nil {
							errs <- err
							return
						}
					}
				}()
			}
			wg.Wait()
			close(errs)
			for err := range errs {
				t.Error(err)
			}
			c := &s.counts
			t.Logf("%d modules, %d mixes, %d faults, %d cancels", c.modules.Load(), c.mixes.Load(), c.faults.Load(),
				c.cancels.Load())
			if c.mixes.Load() == 0 || c.faults.Load() == 0 || c.cancels.Load() == 0 {
				t.Error("not everything has run")
			}
			must(t, tab.MemGetInfo_v2(ctx, &after, &all))
			if after != free {
				t.Errorf("%d bytes of device memory are missing", free-after)
			}
			x, ok := d.engine.(interface{ CodeBytes() int64 })
			if !ok {
				return
			}
			left := int64(0)
			for range 50 { // clean-ups run after the collection that finds them
				runtime.GC()
				if left = x.CodeBytes(); left == 0 {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			// The last kernels may still be named by stacks and registers.
			if most := int64(workers * 5 * 16384); left > most {
				t.Errorf("%d bytes of machine code are left of %d modules", left, c.modules.Load())
			}
		})
	}
}

func (s *soak) round(r *rand.Rand) error {
	var ctx driver.CUcontext
	if res := s.d.create(s.primary, &ctx, 0, 0, apiVersion2); res != success {
		return fmt.Errorf("context: %v", res)
	}
	defer s.tab.CtxDestroy_v2(s.primary, ctx)
	seed := r.Uint32N(1 << 20)
	if r.IntN(4) == 0 {
		seed &= 3 // others have it loaded too
	}
	text := cstr(fmt.Sprintf(soakPTX, seed))
	var m driver.CUmodule
	if res := s.tab.ModuleLoadData(ctx, &m, unsafe.Pointer(text)); res != success {
		return fmt.Errorf("load: %v: %s", res, s.d.LastDetail(ctx))
	}
	s.counts.modules.Add(1)
	for range 1 + r.IntN(4) {
		if err := s.mix(r, ctx, m, seed); err != nil {
			return err
		}
	}
	switch r.IntN(4) {
	case 0:
		return s.fault(r, ctx, m)
	case 1:
		return s.cancel(r, ctx, m)
	case 2:
		if res := s.tab.ModuleUnload(ctx, m); res != success {
			return fmt.Errorf("unload: %v", res)
		}
	}
	return nil
}

func (s *soak) launch(ctx driver.CUcontext, m driver.CUmodule, name string, grid, block int,
	params ...unsafe.Pointer) driver.CUresult {
	var f driver.CUfunction
	if r := s.tab.ModuleGetFunction(ctx, &f, m, cstr(name)); r != success {
		return r
	}
	return s.tab.LaunchKernel(ctx, f, uint32(grid), 1, 1, uint32(block), 1, 1, 0, 0, unsafe.SliceData(params), nil)
}

func (s *soak) mix(r *rand.Rand, ctx driver.CUcontext, m driver.CUmodule, seed uint32) error {
	grid, block, rounds := 1+r.IntN(40), 1+r.IntN(256), uint32(1+r.IntN(60))
	var out, total driver.CUdeviceptr
	for p, n := range map[*driver.CUdeviceptr]int{&out: 4 * grid, &total: 4} {
		if res := s.tab.MemAlloc_v2(ctx, p, uint64(n)); res != success {
			return fmt.Errorf("memory: %v", res)
		}
		defer func() { s.tab.MemFree_v2(ctx, *p) }()
	}
	if res := s.tab.MemsetD32_v2(ctx, total, 0, 1); res != success {
		return fmt.Errorf("memset: %v", res)
	}
	if res := s.launch(ctx, m, "mix", grid, block, unsafe.Pointer(&out), unsafe.Pointer(&total),
		unsafe.Pointer(&rounds)); res != success {
		return fmt.Errorf("mix: %v: %s", res, s.d.LastDetail(ctx))
	}
	got, sum := make([]uint32, grid), uint32(0)
	if res := s.tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), out, uint64(4*grid)); res != success {
		return fmt.Errorf("copy: %v: %s", res, s.d.LastDetail(ctx))
	}
	if res := s.tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&sum), total, 4); res != success {
		return fmt.Errorf("copy: %v", res)
	}
	sums, want := soakMix(seed, grid, block, int(rounds))
	if sum != want {
		return fmt.Errorf("mix of %d blocks of %d, %d rounds from %d: total %d, want %d", grid, block, rounds, seed,
			sum, want)
	}
	for i := range sums {
		if got[i] != sums[i] {
			return fmt.Errorf("mix of %d blocks of %d, %d rounds from %d: block %d has %d, want %d", grid, block,
				rounds, seed, i, got[i], sums[i])
		}
	}
	s.counts.mixes.Add(1)
	return nil
}

func (s *soak) fault(r *rand.Rand, ctx driver.CUcontext, m driver.CUmodule) error {
	grid, block := 1+r.IntN(20), 1+r.IntN(256)
	var res, want driver.CUresult
	switch r.IntN(5) {
	case 0:
		addr := uint64(0x7fff_0000_0000) &^ 0xffff // outside the window
		res, want = s.launch(ctx, m, "wild", grid, block, unsafe.Pointer(&addr)), driver.CUDA_ERROR_ILLEGAL_ADDRESS
	case 1:
		addr := uint64(8) // never mapped
		res, want = s.launch(ctx, m, "wild", grid, block, unsafe.Pointer(&addr)), driver.CUDA_ERROR_ILLEGAL_ADDRESS
	case 2:
		res, want = s.launch(ctx, m, "trapper", grid, block), driver.CUDA_ERROR_LAUNCH_FAILED
	case 3:
		var p driver.CUdeviceptr
		if res := s.tab.MemAlloc_v2(ctx, &p, 8); res != success {
			return fmt.Errorf("memory: %v", res)
		}
		p++
		res, want = s.launch(ctx, m, "wild", grid, block, unsafe.Pointer(&p)), driver.CUDA_ERROR_MISALIGNED_ADDRESS
	case 4:
		res, want = s.launch(ctx, m, "deep", 1, block), driver.CUDA_ERROR_ILLEGAL_ADDRESS
	}
	if res == success {
		res = s.tab.CtxSynchronize(ctx)
	}
	if res != want {
		return fmt.Errorf("fault: %v, want %v: %s", res, want, s.d.LastDetail(ctx))
	}
	s.counts.faults.Add(1)
	return nil
}

func (s *soak) cancel(r *rand.Rand, ctx driver.CUcontext, m driver.CUmodule) error {
	var p driver.CUdeviceptr
	if res := s.tab.MemAlloc_v2(ctx, &p, 4); res != success {
		return fmt.Errorf("memory: %v", res)
	}
	if res := s.tab.MemsetD32_v2(ctx, p, 0, 1); res != success {
		return fmt.Errorf("memset: %v", res)
	}
	var res driver.CUresult
	if grid := 1 + r.IntN(8); r.IntN(2) == 0 {
		res = s.launch(ctx, m, "spin", grid, 64, unsafe.Pointer(&p))
	} else {
		res = s.launch(ctx, m, "forever", grid, 64)
	}
	if res != success {
		return fmt.Errorf("spin: %v", res)
	}
	time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
	s.d.Interrupt(ctx)
	if res := s.tab.CtxSynchronize(ctx); res != driver.CUDA_ERROR_LAUNCH_TIMEOUT {
		return fmt.Errorf("cancel: %v: %s", res, s.d.LastDetail(ctx))
	}
	s.counts.cancels.Add(1)
	return nil
}
