//go:build !gocuda_nodriver && linux && (amd64 || arm64)

package nvidia

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// argument makes a value that can be recognised for parameter i, and the word that C must see and how many bytes of it
// count. ok is false for what is not one word.
func argument(t reflect.Type, i int) (v reflect.Value, word uint64, size int, ok bool) {
	v = reflect.New(t).Elem()
	n := uint64(i+1) * 0x1111_1111_1111_1111 // different in every byte of different parameters
	switch t.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		size = int(t.Size())
		word = n ^ 0x8000_0000_8000_8080
		v.SetUint(word & (1<<(8*size) - 1))
		return v, word, size, true
	case reflect.Int32:
		x := -int32(i) - 1
		v.SetInt(int64(x))
		return v, uint64(uint32(x)), 4, true
	case reflect.Int64:
		v.SetInt(-int64(i) - 1)
		return v, uint64(-int64(i) - 1), 8, true
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		v.Set(p)
		return v, uint64(p.Pointer()), 8, true
	case reflect.UnsafePointer:
		p := new([16]byte)
		v.SetPointer(unsafe.Pointer(p))
		return v, uint64(uintptr(unsafe.Pointer(p))), 8, true
	case reflect.Struct:
		if c := v.FieldByName("C"); c.IsValid() {
			c.SetUint(0x1000 + uint64(i)) // a callback
			return v, 0x1000 + uint64(i), 8, true
		}
		if t == reflect.TypeFor[driver.CUmemLocation]() {
			v.Set(reflect.ValueOf(driver.CUmemLocation{Type: 0x11, Id: -3}))
			return v, 0xffff_fffd_0000_0011, 8, true
		}
	}
	return v, 0, 0, false
}

// TestEveryFunction calls every function of both tables with arguments that can be told apart, and compares what
// arrives in C word by word: the order, the width and the count. The C function is the same for all; so it also says
// whether cuGetProcAddress_v2 was asked for the right name, version and flags. The expectation is ResolveProc, which
// implements the documented choice of cuGetProcAddress over the recorded versions.
func TestEveryFunction(t *testing.T) {
	f := openFake(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f.c(t, "fake_generous", 1)
	defer f.c(t, "fake_generous", 0)
	all := f.sym(t, "fake_all")
	index := map[string]int{}
	for i := range symbols {
		index[symbols[i].name] = i
	}
	called, skipped, pinned := 0, 0, 0
	check := func(table *driver.Table, s driver.Symbol, name string) {
		fn := reflect.ValueOf(table.Func(s.Field))
		if !fn.IsValid() {
			t.Errorf("%s: not provided", name)
			return
		}
		i, ok := index[name]
		if !ok {
			t.Errorf("%s: no symbol", name)
			return
		}
		if symbols[i].version == 0 {
			f.fn[i].Store(all) // only dlsym would find it
		}
		ft := fn.Type()
		words, sizes, plain := make([]uint64, ft.NumIn()), make([]int, ft.NumIn()), true
		args := make([]reflect.Value, ft.NumIn())
		for j := 1; j < ft.NumIn(); j++ {
			var ok bool
			if args[j], words[j], sizes[j], ok = argument(ft.In(j), j); !ok {
				plain = false
			}
		}
		if !plain || i == symCtxPushCurrent_v2 || i == symCtxPopCurrent_v2 {
			// a float or a large struct: TestByValue; the two that the bracket of every call needs: TestContextOfCall
			skipped++
			return
		}
		for _, cur := range []driver.CUcontext{0, 0x7700} {
			args[0] = reflect.ValueOf(cur)
			var before, after [5]uint64
			asked := new([64]byte)
			ask := func(a *[5]uint64) {
				f.c(t, "fake_asked", uintptr(unsafe.Pointer(asked)), uintptr(unsafe.Pointer(&a[0])),
					uintptr(unsafe.Pointer(&a[1])), uintptr(unsafe.Pointer(&a[2])))
			}
			ask(&before)
			calls := f.last(t).calls
			if r := driver.CUresult(fn.Call(args)[0].Uint()); r != driver.CUDA_SUCCESS {
				t.Errorf("%s: %v", name, r)
				return
			}
			ask(&after)
			rec := f.last(t)
			if rec.calls != calls+1 {
				t.Errorf("%s: %d calls arrived", name, rec.calls-calls)
			}
			for j := 1; j < len(words); j++ {
				mask := ^uint64(0) >> (64 - 8*sizes[j])
				if got := rec.w[j-1] & mask; got != words[j]&mask {
					t.Errorf("%s, cur %#x: argument %d is %#x, want %#x", name, cur, j, got, words[j]&mask)
				}
			}
			if onStack := threadStackFunction(s.Name); !onStack && rec.cur != uint64(cur) || onStack && rec.cur != 0 {
				t.Errorf("%s: context %#x was current, want %#x", name, rec.cur, cur)
			}
			if cur == 0 && symbols[i].version != 0 {
				pinned++
				if after[2] != before[2]+1 {
					t.Errorf("%s: cuGetProcAddress_v2 was called %d times at the first call", name, after[2]-before[2])
				}
				base := string(asked[:bytes.IndexByte(asked[:], 0)])
				if got, status := driver.ResolveProc(base, int(after[0]), driver.CUDA_VERSION, after[1]); got != name ||
					status != driver.CU_GET_PROC_ADDRESS_SUCCESS {
					t.Errorf("%s: cuGetProcAddress_v2(%s, %d, flags %d) means %s", name, base, after[0], after[1], got)
				}
			} else if cur != 0 && after[2] != before[2] && after[2] != before[2]+2 { // push and pop, once
				t.Errorf("%s: looked up again", name)
			}
		}
		called++
	}
	for s := range driver.Symbols() {
		check(f.t, s, s.Name)
		for _, v := range []string{"_ptds", "_ptsz"} {
			if v == "_ptds" && s.HasPTDS || v == "_ptsz" && s.HasPTSZ {
				check(f.t.PerThread, s, s.Name+v)
			}
		}
	}
	if called+skipped != numSymbols {
		t.Errorf("%d functions called and %d skipped of %d", called, skipped, numSymbols)
	}
	if skipped != 9 { // cuParamSetf, 2 cuTexRefSetMipmapLevel, 3 cuIpcOpen, cuEGLStreamProducerPresentFrame, push, pop
		t.Errorf("%d functions skipped, want 9", skipped)
	}
	t.Logf("%d functions called, %d through a pinned version", called, pinned)
}

// threadStackFunction repeats the list of the package comment.
func threadStackFunction(name string) bool {
	for _, p := range []string{"cuCtxCreate", "cuCtxDestroy", "cuCtxAttach", "cuCtxDetach", "cuCtxPushCurrent",
		"cuCtxPopCurrent", "cuCtxSetCurrent", "cuGLCtxCreate", "cuVDPAUCtxCreate"} {
		if name == p || strings.HasPrefix(name, p+"_v") {
			return true
		}
	}
	return false
}

func TestByValue(t *testing.T) {
	f := openFake(t)
	handle := [64]byte{}
	for i := range handle {
		handle[i] = byte(i*7 + 3)
	}
	handleWords := func(rec *record) [64]byte { return [64]byte(unsafe.Slice((*byte)(unsafe.Pointer(&rec.w)), 64)) }
	for _, cur := range []driver.CUcontext{0, 0x7700} {
		t.Run(fmt.Sprintf("cur=%#x", uintptr(cur)), func(t *testing.T) {
			check := func(r driver.CUresult, name string) *record {
				t.Helper()
				want(t, r, driver.CUDA_SUCCESS)
				rec := f.last(t)
				if rec.String() != name || rec.cur != uint64(cur) {
					t.Fatalf("%s arrived with context %#x, want %s", rec, rec.cur, name)
				}
				return rec
			}
			rec := check(f.t.ParamSetf(cur, 0x1234, -5, 1.5), "cuParamSetf")
			if rec.w[0] != 0x1234 || int64(rec.w[1]) != -5 || rec.f[0] != 1.5 {
				t.Errorf("cuParamSetf: %#x %d %v", rec.w[0], int64(rec.w[1]), rec.f[0])
			}
			rec = check(f.t.TexRefSetMipmapLevelBias(cur, 0x1234, -2.25), "cuTexRefSetMipmapLevelBias")
			if rec.w[0] != 0x1234 || rec.f[0] != -2.25 {
				t.Errorf("cuTexRefSetMipmapLevelBias: %#x %v", rec.w[0], rec.f[0])
			}
			rec = check(f.t.TexRefSetMipmapLevelClamp(cur, 0x1234, 0.125, 1e10), "cuTexRefSetMipmapLevelClamp")
			if rec.w[0] != 0x1234 || rec.f[0] != 0.125 || float32(rec.f[1]) != 1e10 {
				t.Errorf("cuTexRefSetMipmapLevelClamp: %#x %v %v", rec.w[0], rec.f[0], rec.f[1])
			}

			var event driver.CUevent
			var eh driver.CUipcEventHandle
			*(*[64]byte)(unsafe.Pointer(&eh)) = handle
			rec = check(f.t.IpcOpenEventHandle(cur, &event, eh), "cuIpcOpenEventHandle")
			if handleWords(rec) != handle || rec.w[8] != uint64(uintptr(unsafe.Pointer(&event))) || event != 0xe1 {
				t.Errorf("cuIpcOpenEventHandle: %x %#x %#x", handleWords(rec), rec.w[8], event)
			}
			var mh driver.CUipcMemHandle
			*(*[64]byte)(unsafe.Pointer(&mh)) = handle
			for name, fn := range map[string]func(driver.CUcontext, *driver.CUdeviceptr, driver.CUipcMemHandle,
				uint32) driver.CUresult{
				"cuIpcOpenMemHandle": f.t.IpcOpenMemHandle, "cuIpcOpenMemHandle_v2": f.t.IpcOpenMemHandle_v2,
			} {
				var p driver.CUdeviceptr
				rec = check(fn(cur, &p, mh, 0xfedcba98), name)
				if handleWords(rec) != handle || rec.w[8] != uint64(uintptr(unsafe.Pointer(&p))) ||
					rec.w[9] != 0xfedcba98 || p != 0xe2 {
					t.Errorf("%s: %x %#x %#x %#x", name, handleWords(rec), rec.w[8], rec.w[9], p)
				}
			}
			if *(*[64]byte)(unsafe.Pointer(&mh)) != handle {
				t.Error("the callee could change the caller's struct")
			}
			var frame driver.CUeglFrame
			*(*[64]byte)(unsafe.Pointer(&frame)) = handle
			conn, stream := new(driver.CUeglStreamConnection), new(driver.CUstream)
			rec = check(f.t.EGLStreamProducerPresentFrame(cur, conn, frame, stream), "cuEGLStreamProducerPresentFrame")
			if handleWords(rec) != handle || rec.w[8] != uint64(uintptr(unsafe.Pointer(conn))) ||
				rec.w[9] != uint64(uintptr(unsafe.Pointer(stream))) {
				t.Errorf("cuEGLStreamProducerPresentFrame: %x %#x %#x", handleWords(rec), rec.w[8], rec.w[9])
			}

			loc := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA, Id: -7}
			rec = check(f.t.MemAdvise_v2(cur, 1<<40, 1<<33, driver.CU_MEM_ADVISE_SET_ACCESSED_BY, loc),
				"cuMemAdvise_v2")
			if got := [5]int64{int64(rec.w[0]), int64(rec.w[1]), int64(rec.w[2]), int64(rec.w[3]),
				int64(rec.w[4])}; got != [5]int64{1 << 40, 1 << 33, 5, 3, -7} {
				t.Errorf("cuMemAdvise_v2: %d", got)
			}
			for name, table := range map[string]*driver.Table{"cuMemPrefetchAsync_v2": f.t,
				"cuMemPrefetchAsync_v2_ptsz": f.t.PerThread} {
				rec = check(table.MemPrefetchAsync_v2(cur, 1<<40, 1<<33, loc, 9, 0x55), name)
				if got := [6]int64{int64(rec.w[0]), int64(rec.w[1]), int64(rec.w[2]), int64(rec.w[3]), int64(rec.w[4]),
					int64(rec.w[5])}; got != [6]int64{1 << 40, 1 << 33, 3, -7, 9, 0x55} {
					t.Errorf("%s: %d", name, got)
				}
			}

			// 16 arguments, narrow ones on the stack
			m, elem := new(driver.CUtensorMap), new(uint32)
			dim, strides := new(uint64), new(uint64)
			rec = check(f.t.TensorMapEncodeIm2colWide(cur, m, 1, 4, 0xabc, dim, strides, -2, -3, 5, 6, elem, 1, 1, 4, 3,
				1), "cuTensorMapEncodeIm2colWide")
			if got := [16]int64(unsafe.Slice((*int64)(unsafe.Pointer(&rec.w)),
				16)); got != [16]int64{int64(uintptr(unsafe.Pointer(m))), 1, 4, 0xabc,
				int64(uintptr(unsafe.Pointer(dim))), int64(uintptr(unsafe.Pointer(strides))), -2, -3, 5, 6,
				int64(uintptr(unsafe.Pointer(elem))), 1, 1, 4, 3, 1} {
				t.Errorf("cuTensorMapEncodeIm2colWide: %x", got)
			}
		})
	}
}

func TestContextOfCall(t *testing.T) {
	f := openFake(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, own := range []driver.CUcontext{0, 0x100} {
		want(t, f.t.CtxSetCurrent(0, own), driver.CUDA_SUCCESS)
		var id uint64
		want(t, f.t.CtxGetId(0x200, 0x200, &id), driver.CUDA_SUCCESS)
		if id != 0x200 {
			t.Errorf("context of the call %#x, want 0x200", id)
		}
		if c := f.current(t); c != own {
			t.Errorf("after the call the thread has %#x, want %#x", c, own)
		}
		// a result of the function itself, and of the push
		want(t, f.t.CtxGetId(0x200, 0x300, &id), driver.CUDA_ERROR_INVALID_CONTEXT)
		calls := f.last(t).calls
		want(t, f.t.ParamSetf(0xdead, 1, 2, 3), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		if f.last(t).calls != calls {
			t.Error("the function was called without its context")
		}
		if c := f.current(t); c != own {
			t.Errorf("after a failed push the thread has %#x, want %#x", c, own)
		}
		// a function of the thread's stack takes no notice of cur
		want(t, f.t.CtxPushCurrent_v2(0x200, 0x300), driver.CUDA_SUCCESS)
		var c driver.CUcontext
		want(t, f.t.CtxPopCurrent_v2(0x200, &c), driver.CUDA_SUCCESS)
		if c != 0x300 || f.current(t) != own {
			t.Errorf("push and pop with cur: popped %#x, left %#x", c, f.current(t))
		}
	}
	want(t, f.t.CtxSetCurrent(0, 0), driver.CUDA_SUCCESS)
}

// TestConcurrentCalls: first use of symbols from many goroutines, each call with its own context. Run it with -race.
func TestConcurrentCalls(t *testing.T) {
	f := openFake(t)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 300 {
				cur := driver.CUcontext(0x1000*(g+1) + i)
				var id uint64
				if r := f.t.CtxGetId(cur, cur, &id); r != driver.CUDA_SUCCESS || id != uint64(cur) {
					t.Errorf("context %#x: %v, %#x", cur, r, id)
					return
				}
				var p driver.CUdeviceptr
				if r := f.t.MemAlloc_v2(0, &p, uint64(cur)); r != driver.CUDA_SUCCESS || p != driver.CUdeviceptr(cur) {
					t.Errorf("result %#x: %v", p, r)
					return
				}
				if r := f.t.ArrayDestroy(cur, 1); r != driver.CUDA_ERROR_NOT_SUPPORTED {
					t.Errorf("a function that is missing: %v", r)
				}
				_ = f.LastDetail()
			}
		}()
	}
	wg.Wait()
}

// deep forces the stack to grow, and so to move, while the addresses of locals are in calls.
func deep(f *fake, n int, p *driver.CUdeviceptr) driver.CUresult {
	var pad [256]byte
	pad[n%256] = 1
	if n == 0 {
		return f.t.MemAlloc_v2(0, p, 4711)
	}
	r := deep(f, n-1, p)
	runtime.KeepAlive(&pad)
	return r
}

func TestPointerToLocal(t *testing.T) {
	f := openFake(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var p driver.CUdeviceptr
			if r := deep(f, 100, &p); r != driver.CUDA_SUCCESS || p != 4711 {
				t.Errorf("%v, %d", r, p)
			}
		}()
	}
	wg.Wait()
}

func TestCallDoesNotAllocate(t *testing.T) {
	if skip.Race {
		skip.Without(t, skip.Pools)
	}
	f := openFake(t)
	p := new(driver.CUdeviceptr)
	args := new(unsafe.Pointer)
	for name, call := range map[string]func() driver.CUresult{
		"cuMemAlloc":     func() driver.CUresult { return f.t.MemAlloc_v2(0, p, 1) },
		"cuMemAlloc cur": func() driver.CUresult { return f.t.MemAlloc_v2(7, p, 1) },
		"cuLaunchKernel": func() driver.CUresult {
			return f.t.LaunchKernel(0, 1, 1, 1, 1, 1, 1, 1, 0, 0, args, nil)
		},
		"cuLaunchKernel cur": func() driver.CUresult {
			return f.t.LaunchKernel(7, 1, 1, 1, 1, 1, 1, 1, 0, 0, args, nil)
		},
		"cuParamSetf":         func() driver.CUresult { return f.t.ParamSetf(0, 1, 2, 3) },
		"cuMemAdvise_v2":      func() driver.CUresult { return f.t.MemAdvise_v2(0, 1, 2, 3, driver.CUmemLocation{}) },
		"cuMemAdvise_v2 cur7": func() driver.CUresult { return f.t.MemAdvise_v2(7, 1, 2, 3, driver.CUmemLocation{}) },
	} {
		want(t, call(), driver.CUDA_SUCCESS)
		if n := testing.AllocsPerRun(1000, func() { call() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	f := openFake(b)
	p := new(driver.CUdeviceptr)
	args := new(unsafe.Pointer)
	bench := func(name string, call func() driver.CUresult) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			want(b, call(), driver.CUDA_SUCCESS)
			for b.Loop() {
				call()
			}
		})
	}
	bench("2", func() driver.CUresult { return f.t.MemAlloc_v2(0, p, 1) })
	bench("2/cur", func() driver.CUresult { return f.t.MemAlloc_v2(7, p, 1) })
	bench("11", func() driver.CUresult { return f.t.LaunchKernel(0, 1, 1, 1, 1, 1, 1, 1, 0, 0, args, nil) })
	bench("11/cur", func() driver.CUresult { return f.t.LaunchKernel(7, 1, 1, 1, 1, 1, 1, 1, 0, 0, args, nil) })
	bench("float", func() driver.CUresult { return f.t.ParamSetf(0, 1, 2, 3) })
}
