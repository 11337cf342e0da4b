package mem

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/skip"
)

func open(t testing.TB, size uint64) *Window {
	t.Helper()
	w, err := OpenSize(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return w
}

// touch reads or writes a byte as an engine does and says whether it faulted, and where.
func touch(w *Window, addr uint64, write bool) (at uint64, faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if at, ok = Faulted(r); !ok {
				panic(r)
			}
			faulted = true
		}
	}()
	p := (*byte)(w.Ptr(addr))
	if write {
		*p = 1
	} else {
		sink = *p
	}
	return 0, false
}

var sink byte

func TestWindowLayout(t *testing.T) {
	w, err := Open(1)
	if err != nil {
		t.Fatal(err)
	}
	if w.Base()%w.Size() != 0 || w.Size()&(w.Size()-1) != 0 || w.Size() < MinWindow {
		t.Fatalf("window %#x of %#x bytes is not aligned to its size", w.Base(), w.Size())
	}
	if uint64(uintptr(w.Pointer())) != w.Base() || !w.Contains(w.Base()) || w.Contains(w.Base()-1) ||
		w.Contains(w.Base()+w.Size()) {
		t.Error("Base, Pointer and Contains disagree")
	}
	// The special part must hold both generic windows and leave the first page free for NULL.
	if SharedOffset == 0 || SharedOffset+SharedSize > LocalOffset || LocalOffset+LocalSize > Special {
		t.Error("generic windows overlap or leave the special part")
	}
	for _, off := range []uint64{0, 8, SharedOffset, LocalOffset, Special - 1, Special, w.Size() - 1} {
		for _, write := range []bool{false, true} {
			at, faulted := touch(w, w.Base()+off, write)
			if !faulted || at != w.Base()+off {
				t.Errorf("offset %#x, write %v: faulted %v at %#x", off, write, faulted, at)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if _, err := w.NewHeap(Device, 0).Alloc(1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc after Close: %v", err)
	}
	for _, n := range []uint64{0, 1 << 20, MaxWindow + 1, MinWindow / 2} {
		if _, err := OpenSize(n); err == nil {
			t.Errorf("OpenSize(%d) succeeds", n)
		}
	}
}

func TestAllocFree(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 64<<20)
	for _, size := range []uint64{1, 511, 512, 513, 5000, 512 << 10, 512<<10 + 1, 1 << 20, 2 << 20, 5<<20 + 3} {
		for _, align := range []uint64{0, 1, 256, 1024, 64 << 10, 2 << 20, 16 << 20} {
			r, err := h.AllocFor(size, align, "owner")
			if err != nil {
				t.Fatal(size, align, err)
			}
			if r.Base%MinAlign != 0 || align > 0 && r.Base%align != 0 {
				t.Errorf("size %d align %d: at %#x", size, align, r.Base)
			}
			if r.Base < w.Base()+Special || r.End() > w.Base()+w.Size() {
				t.Errorf("%#x is not in the window's memory", r.Base)
			}
			b, err := w.Slice(r.Base, size)
			if err != nil {
				t.Fatal(err)
			}
			b[0], b[size-1] = 1, 2
			for _, in := range []uint64{0, size / 2, size - 1} {
				got, ok := w.Lookup(r.Base + in)
				if !ok || got.Base != r.Base || got.Size != size || got.ID != r.ID || got.Kind != Device ||
					got.Heap != h || got.Owner != "owner" {
					t.Errorf("Lookup(+%d) = %+v, %v", in, got, ok)
				}
			}
			if _, ok := w.Lookup(r.End()); ok {
				t.Error("Lookup finds the end")
			}
			if _, err := w.Slice(r.Base+1, size); err == nil {
				t.Error("Slice goes beyond the end")
			}
			if size > 1 {
				var ae *AddressError
				if err := h.Free(r.Base + 1); !errors.As(err, &ae) || !strings.Contains(ae.Why, "first address") {
					t.Errorf("Free(interior) = %v", err)
				}
			}
			if err := w.Free(r.Base); err != nil {
				t.Fatal(err)
			}
			if err := h.Free(r.Base); err == nil {
				t.Error("double free succeeds")
			}
			if at, faulted := touch(w, r.Base, false); !faulted || at != r.Base {
				t.Errorf("size %d: use after free: faulted %v at %#x", size, faulted, at)
			}
		}
	}
	if u := h.Usage(); u.Used != 0 || u.Ranges != 0 || u.Peak == 0 || w.Committed() != 0 {
		t.Errorf("left over: %+v, %d committed", u, w.Committed())
	}
	if _, err := h.Alloc(0, 1); err == nil {
		t.Error("Alloc(0) succeeds")
	}
	if _, err := h.Alloc(1, 3); err == nil {
		t.Error("alignment 3 is accepted")
	}
}

func TestFreshMemoryIsZero(t *testing.T) {
	w := open(t, MinWindow)
	h := w.NewHeap(Device, 0)
	for range 200 { // more than the quarantine holds
		a, err := h.Alloc(8<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.Slice(a, 8<<20)
		if err != nil {
			t.Fatal(err)
		}
		if b[0] != 0 || b[4<<20] != 0 {
			t.Fatal("memory of a former allocation shows")
		}
		b[0], b[4<<20] = 1, 1
		if err := h.Free(a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLimit(t *testing.T) {
	w := open(t, MaxWindow)
	h, other := w.NewHeap(Device, 8<<20), w.NewHeap(Pinned, 0)
	a, err := h.Alloc(6<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	var oom *OutOfMemoryError
	if _, err := h.Alloc(4<<20, 0); !errors.As(err, &oom) || oom.Used != 6<<20 || oom.Limit != 8<<20 ||
		oom.Size != 4<<20 {
		t.Errorf("beyond the limit: %v", err)
	}
	for _, n := range []uint64{1 << 60, ^uint64(0), ^uint64(0) - 4096, 1<<40 + 1} {
		if _, err := other.Alloc(n, 0); !errors.As(err, &oom) {
			t.Errorf("Alloc(%#x) = %v", n, err)
		}
	}
	if _, err := other.Alloc(1, 1<<50); !errors.As(err, &oom) {
		t.Error("alignment beyond the window is accepted")
	}
	// Larger than any free range, though the limit allows it: the window itself is what is short.
	if _, err := other.Alloc(w.Size()-Special, 0); !errors.As(err, &oom) || oom.Err == nil {
		t.Errorf("window exhausted: %v", err)
	}
	if err := other.Free(a); err == nil {
		t.Error("another heap frees it")
	}
	if _, err := h.Alloc(2<<20, 0); err != nil {
		t.Error("what is left cannot be had:", err)
	}
	if err := h.FreeAll(); err != nil || h.Usage().Used != 0 {
		t.Error(err, h.Usage())
	}
	if _, ok := w.Lookup(a); ok {
		t.Error("FreeAll leaves an allocation")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.Alloc(1, 1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// Freed addresses come back late, so that stale pointers fault instead of hitting a new allocation.
func TestQuarantine(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	seen := map[uint64]bool{}
	for i := range quarantineSpans {
		a, err := h.Alloc(2<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		if seen[a] {
			t.Fatalf("allocation %d reuses %#x", i, a)
		}
		seen[a] = true
		if err := h.Free(a); err != nil {
			t.Fatal(err)
		}
	}
	// In a small window the quarantine gives way.
	w = open(t, MinWindow)
	h = w.NewHeap(Device, 0)
	n := w.Size() - w.parts[0].smallEnd
	for range 3 {
		a, err := h.Alloc(n, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Free(a); err != nil {
			t.Fatal(err)
		}
	}
}

// What an H200 gives (driver 580, recorded with cuMemAlloc and cuMemGetInfo): small allocations follow each other at
// multiples of 512 bytes in one block of 2 MiB, allocations of 1 MiB or more have blocks of their own, and the free
// memory falls by blocks.
func TestPlacementAsSilicon(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	var first uint64
	for i, c := range []struct{ size, offset, held uint64 }{
		{1, 0, 2 << 20}, {1, 0x200, 2 << 20}, {512, 0x400, 2 << 20}, {513, 0x600, 2 << 20}, {1024, 0xa00, 2 << 20},
		{4096, 0xe00, 2 << 20},
		{100000, 0x1e00, 2 << 20}, {1 << 19, 0x1a600, 2 << 20}, {1<<20 - 1, 0x9a600, 2 << 20},
		{1 << 20, 0, 4 << 20}, {1<<20 + 1, 0, 6 << 20}, {2 << 20, 0, 8 << 20}, {2<<20 + 1, 0, 12 << 20},
		{5 << 20, 0, 18 << 20},
	} {
		a, err := h.Alloc(c.size, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a
		}
		if c.size < smallLimit && a-first != c.offset || c.size >= smallLimit && a%Granule != 0 {
			t.Errorf("%d bytes at %#x, first at %#x", c.size, a, first)
		}
		if u := h.Usage(); u.Used != c.held {
			t.Errorf("%d bytes: %d held, want %d", c.size, u.Used, c.held)
		}
	}
}

// Random operations against a plain model, with contents.
func TestModel(t *testing.T) {
	w := open(t, MaxWindow)
	heaps := []*Heap{w.NewHeap(Device, 256<<20), w.NewHeap(Device, 256<<20), w.NewHeap(Managed, 64<<20)}
	type live struct {
		Range
		mark byte
	}
	var model []live
	rnd := rand.New(rand.NewPCG(1, 2))
	used := map[*Heap]uint64{}
	for step := range 6000 {
		if len(model) == 0 || rnd.IntN(100) < 55 {
			h := heaps[rnd.IntN(len(heaps))]
			size := uint64(1) << rnd.IntN(23)
			size = max(1, size-uint64(rnd.IntN(int(size))))
			r, err := h.AllocFor(size, 1<<rnd.IntN(16), nil)
			if err != nil {
				var oom *OutOfMemoryError
				if !errors.As(err, &oom) {
					t.Fatal(err)
				}
				continue
			}
			b, err := w.Slice(r.Base, size)
			if err != nil {
				t.Fatal(err)
			}
			b[0], b[size-1] = byte(step), byte(step)
			model = append(model, live{r, byte(step)})
			used[h] += r.Size
		} else {
			i := rnd.IntN(len(model))
			m := model[i]
			b, err := w.Slice(m.Base, m.Size)
			if err != nil || b[0] != m.mark || b[m.Size-1] != m.mark {
				t.Fatalf("step %d: content lost: %v", step, err)
			}
			if got, ok := w.Lookup(m.Base + rnd.Uint64N(m.Size)); !ok || got.ID != m.ID {
				t.Fatalf("step %d: Lookup = %+v, %v", step, got, ok)
			}
			if err := m.Heap.Free(m.Base); err != nil {
				t.Fatal(err)
			}
			used[m.Heap] -= m.Size
			model[i] = model[len(model)-1]
			model = model[:len(model)-1]
		}
	}
	for _, h := range heaps {
		n := 0
		h.Ranges(func(Range) bool { n++; return true })
		if u := h.Usage(); u.Asked != used[h] || u.Used < u.Asked || u.Used%Granule != 0 || u.Ranges != n {
			t.Errorf("usage %+v, model %d, walked %d", u, used[h], n)
		}
	}
	for _, m := range model {
		if err := w.Free(m.Base); err != nil {
			t.Fatal(err)
		}
	}
	if w.Committed() != 0 {
		t.Errorf("%d bytes stay committed", w.Committed())
	}
	// Everything must have merged again.
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.quarantine) > 0 {
		w.endQuarantine()
	}
	p := &w.parts[0]
	want := [2]extent{{Special, p.smallEnd - Special}, {p.smallEnd, w.m.size - p.smallEnd}}
	for i, list := range p.free {
		if len(list) != 1 || list[0] != want[i] {
			t.Errorf("region %d is %v", i, list)
		}
	}
}

func TestConcurrent(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 0))
			var mine []Range
			for range 400 {
				if len(mine) < 20 || rnd.IntN(2) == 0 {
					r, err := h.AllocFor(uint64(rnd.IntN(1<<20)+1), 0, g)
					if err != nil {
						t.Error(err)
						return
					}
					b, err := w.Slice(r.Base, r.Size)
					if err != nil {
						t.Error(err)
						return
					}
					b[0] = byte(g)
					mine = append(mine, r)
				} else {
					i := rnd.IntN(len(mine))
					r := mine[i]
					got, ok := w.Lookup(r.End() - 1)
					b, err := w.Slice(r.Base, 1)
					if !ok || got.Owner != g || got.ID != r.ID || err != nil || b[0] != byte(g) {
						t.Errorf("lost %+v: %+v %v %v", r, got, ok, err)
						return
					}
					if err := h.Free(r.Base); err != nil {
						t.Error(err)
						return
					}
					mine = append(mine[:i], mine[i+1:]...)
				}
			}
		})
	}
	wg.Wait()
}

func TestRegister(t *testing.T) {
	w := open(t, MaxWindow)
	buf := make([]byte, 8192)
	p := unsafe.Pointer(&buf[0])
	r, err := w.Register(p, 4096, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Register(unsafe.Pointer(&buf[4096]), 4096, "b"); err != nil {
		t.Fatal("a neighbour is no overlap:", err)
	}
	for _, bad := range []struct {
		off int
		n   uint64
	}{{0, 4096}, {100, 1}, {4095, 2}, {0, 0}} {
		if _, err := w.Register(unsafe.Pointer(&buf[bad.off]), bad.n, nil); err == nil {
			t.Errorf("Register(+%d, %d) succeeds", bad.off, bad.n)
		}
	}
	if _, err := w.Register(w.Pointer(), 4096, nil); err == nil {
		t.Error("window memory can be registered")
	}
	got, ok := w.Lookup(r.Base + 4095)
	if !ok || got.Owner != "a" || got.Kind != Registered || got.Heap != nil {
		t.Errorf("Lookup = %+v, %v", got, ok)
	}
	if got, ok := w.Lookup(r.Base + 4096); !ok || got.Owner != "b" {
		t.Errorf("Lookup = %+v, %v", got, ok)
	}
	if q := w.Foreign(r.Base+8, 4088); q != unsafe.Pointer(&buf[8]) {
		t.Error("Foreign misses")
	}
	if w.Foreign(r.Base+8, 4089) != nil || w.Foreign(r.Base-1, 1) != nil || w.Foreign(w.Base()+Special, 1) != nil {
		t.Error("Foreign finds too much")
	}
	b, err := w.Slice(r.Base+1, 3)
	if err != nil {
		t.Fatal(err)
	}
	b[0] = 7
	if buf[1] != 7 {
		t.Error("Slice is not the registered memory")
	}
	if err := w.Free(r.Base); err == nil {
		t.Error("registered memory can be freed")
	}
	if err := w.Unregister(r.Base + 1); err == nil {
		t.Error("Unregister(interior) succeeds")
	}
	if err := w.Unregister(r.Base); err != nil {
		t.Error(err)
	}
	if err := w.Unregister(r.Base); err == nil {
		t.Error("second Unregister succeeds")
	}
	if _, ok := w.Lookup(r.Base); ok {
		t.Error("found after Unregister")
	}
}

// A copy that runs into freed memory faults inside the runtime's memmove; that must be recoverable too.
func TestFaultInCopy(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	a, err := h.Alloc(4<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.Slice(a, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Free(a); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		defer func() {
			addr, ok := Faulted(recover())
			if !ok || addr < a || addr >= a+4<<20 {
				done <- fmt.Errorf("copy: fault %v at %#x, want in %#x", ok, addr, a)
				return
			}
			done <- nil
		}()
		debug.SetPanicOnFault(true)
		copy(b, make([]byte, 4<<20))
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, ok := Faulted(errors.New("other")); ok {
		t.Error("any error is a fault")
	}
	if _, ok := Faulted(nil); ok {
		t.Error("nil is a fault")
	}
}

// The number of kernel mappings must not grow with the number of allocations (vm.max_map_count is 65530 by default).
func TestMappingsMerge(t *testing.T) {
	maps := func() int {
		b, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			skip.Without(t, skip.Linux, err)
		}
		return strings.Count(string(b), "\n")
	}
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	before := maps()
	for i := range 300 {
		size := uint64(100 << 10)
		if i%2 == 0 {
			size = 3 << 20
		}
		a, err := h.Alloc(size, 0)
		if err != nil {
			t.Fatal(err)
		}
		*(*byte)(w.Ptr(a)) = 1
		if i == 150 { // two threads may fault neighbouring mappings in any order
			maps()
		}
	}
	if n := maps() - before; n > 12 {
		t.Errorf("300 allocations make %d mappings", n)
	}
}

func TestManySmall(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 0)
	const n = 200000
	addrs := make([]uint64, n)
	seen := make(map[uint64]bool, n)
	for i := range addrs {
		a, err := h.Alloc(uint64(i%512+1), 0)
		if err != nil {
			t.Fatal(err)
		}
		if seen[a] || a%MinAlign != 0 {
			t.Fatalf("%#x again or not aligned", a)
		}
		seen[a] = true
		addrs[i] = a
	}
	if c := w.Committed(); c > n*512+4<<20 {
		t.Errorf("%d bytes committed for %d slots of 512", c, n)
	}
	for i, a := range addrs {
		if r, ok := w.Lookup(a); !ok || r.Size != uint64(i%512+1) {
			t.Fatalf("Lookup(%#x) = %+v, %v", a, r, ok)
		}
		if err := h.Free(a); err != nil {
			t.Fatal(err)
		}
	}
	if w.Committed() != 0 {
		t.Errorf("%d bytes stay committed", w.Committed())
	}
}

func BenchmarkLookup(b *testing.B) {
	w := open(b, MaxWindow)
	h := w.NewHeap(Device, 0)
	var addrs [1024]uint64
	for i := range addrs {
		a, err := h.Alloc(uint64(1+i*1000), 0)
		if err != nil {
			b.Fatal(err)
		}
		addrs[i] = a
	}
	b.ResetTimer()
	for i := range b.N {
		if _, ok := w.Lookup(addrs[i%len(addrs)]); !ok {
			b.Fatal("lost")
		}
	}
}

func BenchmarkAllocFree(b *testing.B) {
	w := open(b, MaxWindow)
	h := w.NewHeap(Device, 0)
	for _, size := range []uint64{512, 2 << 20, 1 << 30} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for range b.N {
				a, err := h.Alloc(size, 0)
				if err != nil {
					b.Fatal(err)
				}
				if err := h.Free(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
