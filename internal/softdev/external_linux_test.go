package softdev

import (
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
)

// What is expected here is by the documentation of the functions; what NULL and zeros give was recorded.

// memfd is a descriptor of a memory file, which the test gives away or closes.
func memfd(t *testing.T, size int64) int32 {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err == nil {
		err = unix.Ftruncate(fd, size)
	}
	if err != nil {
		t.Fatal(err)
	}
	return int32(fd)
}

func dupOf(t *testing.T, fd int32) int32 {
	t.Helper()
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

func memoryDesc(fd int32, size uint64) *driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
	d := &driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC{Type: driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, Size: size}
	*d.Handle.Fd() = fd
	return d
}

func importMemory(t *testing.T, tab *driver.Table, ctx driver.CUcontext, fd int32,
	size uint64) (x driver.CUexternalMemory) {
	t.Helper()
	must(t, tab.ImportExternalMemory(ctx, &x, memoryDesc(fd, size)))
	return x
}

func buffer(t *testing.T, tab *driver.Table, ctx driver.CUcontext, x driver.CUexternalMemory, offset,
	size uint64) (p driver.CUdeviceptr) {
	t.Helper()
	must(t, tab.ExternalMemoryGetMappedBuffer(ctx, &p, x, &driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC{Offset: offset,
		Size: size}))
	return p
}

// Memory of cuMemCreate is imported by its descriptor: what one address writes another reads. The order in which things
// end does not matter, and nothing is left.
func TestExternalMemory(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	_, tab2, ctx2 := open(t, Options{})
	const g2 = 2 << 20
	used := func() uint64 {
		var free, total uint64
		must(t, tab2.MemGetInfo_v2(ctx2, &free, &total))
		return total - free
	}
	before := used()
	var h driver.CUmemGenericAllocationHandle
	var va driver.CUdeviceptr
	must(t, tab.MemCreate(ctx, &h, g2, &driver.CUmemAllocationProp{Type: 1,
		RequestedHandleTypes: driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		Location:             driver.CUmemLocation{Type: 1}}, 0))
	must(t, tab.MemAddressReserve(ctx, &va, g2, 0, 0, 0))
	must(t, tab.MemMap(ctx, va, g2, 0, h, 0))
	must(t, tab.MemSetAccess(ctx, va, g2, &driver.CUmemAccessDesc{Location: driver.CUmemLocation{Type: 1}, Flags: 3},
		1))
	fd := int32(-1)
	must(t, tab.MemExportToShareableHandle(ctx, unsafe.Pointer(&fd), h, driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		0))
	x := importMemory(t, tab2, ctx2, fd, g2)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
		t.Error("the descriptor is the device's, and still open")
	}
	// An offset that is no multiple of anything.
	p, q := buffer(t, tab2, ctx2, x, 0, g2), buffer(t, tab2, ctx2, x, 70004, 1000)
	must(t, tab.MemsetD32_v2(ctx, va+70004, 0xabcd, 4))
	if v := read32(t, tab2, ctx2, q); v != 0xabcd {
		t.Errorf("the buffer has %#x", v)
	}
	must(t, tab2.MemsetD32_v2(ctx2, q+996, 0x1234, 1))
	if v, w := read32(t, tab, ctx, va+71000), read32(t, tab2, ctx2, p+71000); v != 0x1234 || w != 0x1234 {
		t.Errorf("the memory has %#x, the other buffer %#x", v, w)
	}
	var base driver.CUdeviceptr
	size := uint64(0)
	must(t, tab2.MemGetAddressRange_v2(ctx2, &base, &size, q+8))
	if base != q || size != 1000 {
		t.Errorf("range %#x+%d, want %#x+1000", base, size, q)
	}
	want(t, "a fill past the end", tab2.MemsetD32_v2(ctx2, q+996, 1, 2), bad)
	// A mapped buffer is nothing of virtual memory, of pools or of other processes' handles.
	want(t, "unmapped", tab2.MemUnmap(ctx2, p, g2), bad)
	want(t, "protected", tab2.MemSetAccess(ctx2, p, g2, &driver.CUmemAccessDesc{
		Location: driver.CUmemLocation{Type: 1}}, 1), bad)
	want(t, "addresses freed", tab2.MemAddressFree(ctx2, p, g2), bad)
	want(t, "freed in stream order", tab2.MemFreeAsync(ctx2, p, 0), bad)
	want(t, "IPC handle", tab2.IpcGetMemHandle(ctx2, new(driver.CUipcMemHandle), p), bad)
	want(t, "freed from within", tab2.MemFree_v2(ctx2, q+4), bad)
	must(t, tab2.DestroyExternalMemory(ctx2, x))
	want(t, "destroyed twice", tab2.DestroyExternalMemory(ctx2, x), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "mapped of what is gone", tab2.ExternalMemoryGetMappedBuffer(ctx2, &p, x,
		&driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC{Size: 4}), driver.CUDA_ERROR_INVALID_HANDLE)
	if v := read32(t, tab2, ctx2, q); v != 0xabcd {
		t.Errorf("the buffer has %#x once the memory's handle is gone", v)
	}
	if used() == before {
		t.Error("memory that is mapped does not count")
	}
	must(t, tab2.MemFree_v2(ctx2, q))
	must(t, tab2.MemFree_v2(ctx2, p))
	want(t, "freed twice", tab2.MemFree_v2(ctx2, p), bad)
	if n := used(); n != before {
		t.Errorf("%d bytes in use, %d before", n, before)
	}
	// What a context leaves is given back with it.
	fd = memfd(t, 4096)
	y := importMemory(t, tab2, ctx2, fd, 4096)
	buffer(t, tab2, ctx2, y, 0, 4096)
	must(t, tab2.DevicePrimaryCtxReset_v2(ctx2, 0))
	want(t, "after the reset", tab2.DestroyExternalMemory(ctx2, y), driver.CUDA_ERROR_INVALID_HANDLE)
	_ = d
}

// What cannot be imported or mapped stays the program's.
func TestExternalMemoryRefused(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	file := memfd(t, 8192)
	defer unix.Close(int(file))
	reading, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	const bh, ns = driver.CUDA_ERROR_INVALID_HANDLE, driver.CUDA_ERROR_NOT_SUPPORTED
	var x driver.CUexternalMemory
	for _, c := range []struct {
		name   string
		typ    driver.CUexternalMemoryHandleType
		fd     int32
		size   uint64
		flags  uint32
		expect driver.CUresult
	}{
		{"no type", 0, file, 4096, 0, bad}, {"unknown type", 10, file, 4096, 0, bad},
		{"Windows", driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, file, 4096, 0, ns},
		{"dma-buf", driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, file, 4096, 0, ns},
		{"no size", 1, file, 0, 0, bad}, {"past the end", 1, file, 8193, 0, bad}, {"huge", 1, file, 1 << 63, 0, bad},
		{"all ones", 1, file, 1<<64 - 1, 0, bad}, {"flags", 1, file, 4096, 2, bad},
		{"no descriptor", 1, -1, 4096, 0, bh},
		{"not open", 1, 1 << 20, 4096, 0, bh}, {"a pipe", 1, int32(w.Fd()), 4096, 0, bh},
		{"for reading", 1, int32(reading.Fd()), 4096, 0, bh},
	} {
		desc := memoryDesc(c.fd, c.size)
		desc.Type, desc.Flags = c.typ, c.flags
		want(t, c.name, tab.ImportExternalMemory(ctx, &x, desc), c.expect)
	}
	if _, err := unix.FcntlInt(uintptr(file), unix.F_GETFD, 0); err != nil {
		t.Error("a descriptor that was refused is gone")
	}
	desc := memoryDesc(dupOf(t, file), 8000)
	desc.Flags = uint32(driver.CUDA_EXTERNAL_MEMORY_DEDICATED)
	must(t, tab.ImportExternalMemory(ctx, &x, desc))
	var p driver.CUdeviceptr
	for _, c := range []driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC{{}, {Size: 8001}, {Offset: 8000, Size: 1},
		{Offset: 1, Size: 8000}, {Offset: 1<<64 - 1, Size: 2}, {Offset: 8, Size: 1<<64 - 8}, {Size: 8, Flags: 1}} {
		want(t, "buffer", tab.ExternalMemoryGetMappedBuffer(ctx, &p, x, &c), bad)
	}
	want(t, "a handle of something else", tab.DestroyExternalMemory(ctx, driver.CUexternalMemory(ctx)), bh)
	want(t, "NULL", tab.DestroyExternalMemory(ctx, 0), bad)
}

// A file that becomes shorter while it is mapped ends the context that touches what is gone, and not the process.
func TestExternalMemoryCut(t *testing.T) {
	for _, engine := range []string{"interpreter", "auto"} {
		for _, kernel := range []bool{false, true} {
			d, tab, ctx := open(t, Options{EngineName: engine, Stderr: os.NewFile(^uintptr(0), "none")})
			file := memfd(t, 1<<20)
			x := importMemory(t, tab, ctx, dupOf(t, file), 1<<20)
			p := buffer(t, tab, ctx, x, 0, 1<<20)
			f := fn(t, d, ctx, load(t, d, ctx, faultPTX), "wild")
			addr := p + 1<<19
			must(t, launch1(tab, ctx, f, 0, unsafe.Pointer(&addr)))
			must(t, tab.CtxSynchronize(ctx))
			if v := read32(t, tab, ctx, addr); v != 1 {
				t.Fatalf("the kernel wrote %d", v)
			}
			if err := unix.Ftruncate(int(file), 4096); err != nil {
				t.Fatal(err)
			}
			if kernel {
				launch1(tab, ctx, f, 0, unsafe.Pointer(&addr))
			} else {
				tab.MemsetD32Async(ctx, addr, 1, 1, 0)
			}
			want(t, engine, tab.CtxSynchronize(ctx), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
			unix.Close(int(file))
		}
	}
}

// Two drivers have the levels of a mipmapped array in one file.
func TestExternalMipmappedArray(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	_, tab2, ctx2 := open(t, Options{})
	file := memfd(t, 64<<10)
	x := importMemory(t, tab, ctx, dupOf(t, file), 64<<10)
	x2 := importMemory(t, tab2, ctx2, file, 64<<10)
	desc := driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC{Offset: 1024, NumLevels: 3,
		ArrayDesc: driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 64, Height: 32, Format: driver.CU_AD_FORMAT_FLOAT,
			NumChannels: 1, Flags: driver.CUDA_ARRAY3D_COLOR_ATTACHMENT}}
	level := func(tab *driver.Table, ctx driver.CUcontext, m driver.CUmipmappedArray) (a driver.CUarray) {
		must(t, tab.MipmappedArrayGetLevel(ctx, &a, m, 1))
		return a
	}
	var m, m2 driver.CUmipmappedArray
	must(t, tab.ExternalMemoryGetMappedMipmappedArray(ctx, &m, x, &desc))
	must(t, tab2.ExternalMemoryGetMappedMipmappedArray(ctx2, &m2, x2, &desc))
	in, out := make([]float32, 32*16), make([]float32, 32*16)
	for i := range in {
		in[i] = float32(i)
	}
	move := driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_HOST, SrcHost: address(t, &in[0]),
		DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: level(tab, ctx, m), WidthInBytes: 128, Height: 16}
	must(t, tab.Memcpy2D_v2(ctx, &move))
	move = driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_ARRAY, SrcArray: level(tab2, ctx2, m2),
		DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: address(t, &out[0]), WidthInBytes: 128, Height: 16}
	must(t, tab2.Memcpy2D_v2(ctx2, &move))
	for i := range in {
		if in[i] != out[i] {
			t.Fatalf("texel %d is %v, want %v", i, out[i], in[i])
		}
	}
	var have driver.CUDA_ARRAY3D_DESCRIPTOR
	must(t, tab.Array3DGetDescriptor_v2(ctx, &have, level(tab, ctx, m)))
	if have.Width != 32 || have.Height != 16 {
		t.Errorf("level 1 is %d by %d", have.Width, have.Height)
	}
	for name, change := range map[string]func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC){
		"no levels": func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) { d.NumLevels = 0 },
		"offset":    func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) { d.Offset = 1028 },
		"beyond":    func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) { d.Offset = 60 << 10 },
		"wraps":     func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) { d.Offset = ^uint64(511) },
		"too large": func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) { d.ArrayDesc.Height = 300 },
		"deferred": func(d *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) {
			d.ArrayDesc.Flags = driver.CUDA_ARRAY3D_DEFERRED_MAPPING
		},
	} {
		d, none := desc, driver.CUmipmappedArray(0)
		change(&d)
		want(t, name, tab.ExternalMemoryGetMappedMipmappedArray(ctx, &none, x, &d), bad)
	}
	want(t, "requirements", tab.MipmappedArrayGetMemoryRequirements(ctx, new(driver.CUDA_ARRAY_MEMORY_REQUIREMENTS), m,
		0), bad)
	must(t, tab.DestroyExternalMemory(ctx, x))
	must(t, tab.MipmappedArrayDestroy(ctx, m))
	want(t, "destroyed twice", tab.MipmappedArrayDestroy(ctx, m), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
}

func importSemaphore(t *testing.T, tab *driver.Table, ctx driver.CUcontext, typ driver.CUexternalSemaphoreHandleType,
	fd int32) (x driver.CUexternalSemaphore) {
	t.Helper()
	desc := driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC{Type: typ}
	*desc.Handle.Fd() = fd
	must(t, tab.ImportExternalSemaphore(ctx, &x, &desc))
	return x
}

func signalOf(value uint64) *driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
	p := &driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS{}
	p.Params.Fence.Value = value
	return p
}

func waitOf(value uint64) *driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
	p := &driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS{}
	p.Params.Fence.Value = value
	return p
}

const timelineType = driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD

// Two drivers hand a buffer to and fro: each waits for the other's signal before it reads and writes.
func TestExternalSemaphores(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	_, tab2, ctx2 := open(t, Options{})
	file, sem := memfd(t, 4096), memfd(t, 8)
	p := buffer(t, tab, ctx, importMemory(t, tab, ctx, dupOf(t, file), 4096), 0, 4096)
	p2 := buffer(t, tab2, ctx2, importMemory(t, tab2, ctx2, file, 4096), 0, 4096)
	x := importSemaphore(t, tab, ctx, timelineType, dupOf(t, sem))
	x2 := importSemaphore(t, tab2, ctx2, timelineType, sem)
	s, s2 := newTestStream(t, tab, ctx, 1), newTestStream(t, tab2, ctx2, 1)
	const rounds = 20
	seen, got := alloc(t, tab2, ctx2, 4*rounds), make([]uint32, rounds)
	for i := range uint64(rounds) {
		must(t, tab2.WaitExternalSemaphoresAsync(ctx2, &x2, waitOf(2*i+1), 1, s2))
		must(t, tab2.MemcpyDtoDAsync_v2(ctx2, seen+driver.CUdeviceptr(4*i), p2, 4, s2))
		must(t, tab2.SignalExternalSemaphoresAsync(ctx2, &x2, signalOf(2*i+2), 1, s2))
	}
	want(t, "before the first signal", tab2.StreamQuery(ctx2, s2), driver.CUDA_ERROR_NOT_READY)
	for i := range uint64(rounds) {
		must(t, tab.WaitExternalSemaphoresAsync(ctx, &x, waitOf(2*i), 1, s))
		must(t, tab.MemsetD32Async(ctx, p, uint32(i)+100, 1, s))
		must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(2*i+1), 1, s))
	}
	must(t, tab2.StreamSynchronize(ctx2, s2))
	must(t, tab2.MemcpyDtoH_v2(ctx2, unsafe.Pointer(&got[0]), seen, 4*rounds))
	for i, v := range got {
		if v != uint32(i)+100 {
			t.Errorf("round %d read %d", i, v)
		}
	}
	must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(3), 1, s)) // a value that was passed
	must(t, tab2.WaitExternalSemaphoresAsync(ctx2, &x2, waitOf(2*rounds), 1, s2))
	must(t, tab.StreamSynchronize(ctx, s))
	must(t, tab2.StreamSynchronize(ctx2, s2))
	must(t, tab.DestroyExternalSemaphore(ctx, x))
	want(t, "destroyed twice", tab.DestroyExternalSemaphore(ctx, x), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "signal of what is gone", tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(99), 1, s),
		driver.CUDA_ERROR_INVALID_HANDLE)
	// A context that ends while a stream waits does not hang, with work that is stopped.
	must(t, tab2.WaitExternalSemaphoresAsync(ctx2, &x2, waitOf(1000), 1, s2))
}

// A signal and a wait order the kernels of two streams: the race check finds nothing, and a race without them.
func TestSemaphoreOrder(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		reports := 0
		d, tab, ctx := open(t, Options{Check: []string{"race"}, Reports: func(*checker.Report) { reports++ }})
		f, p := fn(t, d, ctx, load(t, d, ctx, faultPTX), "wild"), alloc(t, tab, ctx, 64)
		sem := memfd(t, 8)
		x := importSemaphore(t, tab, ctx, timelineType, dupOf(t, sem))
		x2 := importSemaphore(t, tab, ctx, timelineType, sem) // another handle for the same one
		s, s2 := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
		must(t, launch1(tab, ctx, f, s, unsafe.Pointer(&p)))
		if ordered {
			must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(1), 1, s))
			must(t, tab.WaitExternalSemaphoresAsync(ctx, &x2, waitOf(1), 1, s2))
		}
		must(t, launch1(tab, ctx, f, s2, unsafe.Pointer(&p)))
		must(t, tab.CtxSynchronize(ctx))
		if reports > 0 == ordered {
			t.Errorf("ordered %v: %d reports", ordered, reports)
		}
	}
}

// A binary semaphore is taken by each wait, in a file and in an eventfd alike; the program may signal and take it too.
func TestBinarySemaphores(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	for name, fd := range map[string]int32{"file": memfd(t, 8), "eventfd": int32(event)} {
		x := importSemaphore(t, tab, ctx, driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, dupOf(t, fd))
		s, s2 := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
		p := alloc(t, tab, ctx, 64)
		must(t, tab.MemsetD32_v2(ctx, p, 0, 2))
		for i := range uint32(2) {
			must(t, tab.WaitExternalSemaphoresAsync(ctx, &x, waitOf(0), 1, s2))
			must(t, tab.MemsetD32Async(ctx, p+driver.CUdeviceptr(4*i), 1, 1, s2))
		}
		must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(0), 1, s))
		for deadline := time.Now().Add(10 * time.Second); read32(t, tab, ctx, p) != 1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the first wait does not end", name)
			}
		}
		time.Sleep(5 * time.Millisecond)
		want(t, name+": the second wait", tab.StreamQuery(ctx, s2), driver.CUDA_ERROR_NOT_READY)
		if _, err := unix.Pwrite(int(fd), []byte{1, 0, 0, 0, 0, 0, 0, 0}, 0); err != nil {
			if _, err := unix.Write(int(fd), []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		must(t, tab.StreamSynchronize(ctx, s2))
		if read32(t, tab, ctx, p+4) != 1 {
			t.Errorf("%s: the work after the second wait was not done", name)
		}
		unix.Close(int(fd))
	}
}

func TestExternalSemaphoreRefused(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	short, file := memfd(t, 7), memfd(t, 8)
	defer unix.Close(int(short))
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(event)
	const bh, ns = driver.CUDA_ERROR_INVALID_HANDLE, driver.CUDA_ERROR_NOT_SUPPORTED
	var x driver.CUexternalSemaphore
	for _, c := range []struct {
		name   string
		typ    driver.CUexternalSemaphoreHandleType
		fd     int32
		flags  uint32
		expect driver.CUresult
	}{
		{"no type", 0, file, 0, bad}, {"unknown type", 11, file, 0, bad}, {"flags", 1, file, 1, bad},
		{"NvSciSync", driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC, file, 0, ns}, {"short", 1, short, 0, bh},
		{"not open", timelineType, 1 << 20, 0, bh}, {"an eventfd has no timeline", timelineType, int32(event), 0, bh},
	} {
		desc := driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC{Type: c.typ, Flags: c.flags}
		*desc.Handle.Fd() = c.fd
		want(t, c.name, tab.ImportExternalSemaphore(ctx, &x, &desc), c.expect)
	}
	x = importSemaphore(t, tab, ctx, timelineType, file)
	flagged := signalOf(1)
	flagged.Flags = uint32(driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC)
	want(t, "flags of NvSci", tab.SignalExternalSemaphoresAsync(ctx, &x, flagged, 1, 0), bad)
	want(t, "none", tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(1), 0, 0), bad)
	want(t, "no parameters", tab.WaitExternalSemaphoresAsync(ctx, &x, nil, 1, 0), bad)
	list := [2]driver.CUexternalSemaphore{x, driver.CUexternalSemaphore(ctx)}
	params := [2]driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS{*waitOf(9), *waitOf(9)}
	want(t, "one of two is none", tab.WaitExternalSemaphoresAsync(ctx, &list[0], &params[0], 2, 0), bh)
	must(t, tab.CtxSynchronize(ctx)) // nothing waits
}

// Nodes signal and wait, made by calls and by a capture; what an executable graph does can be changed, but not for how
// many semaphores.
func TestSemaphoreNodes(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	sem := memfd(t, 8)
	x := importSemaphore(t, tab, ctx, timelineType, sem)
	var g driver.CUgraph
	must(t, tab.GraphCreate(ctx, &g, 0))
	var wn, sn driver.CUgraphNode
	must(t, tab.GraphAddExternalSemaphoresWaitNode(ctx, &wn, g, nil, 0, &driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{
		ExtSemArray: &x, ParamsArray: waitOf(5), NumExtSems: 1}))
	var p driver.CUgraphNodeParams
	p.Type = driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
	*p.ExtSemSignal() = driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2{ExtSemArray: &x, ParamsArray: signalOf(6),
		NumExtSems: 1}
	must(t, tab.GraphAddNode_v2(ctx, &sn, g, &wn, nil, 1, &p))
	var have driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
	must(t, tab.GraphExternalSemaphoresSignalNodeGetParams(ctx, sn, &have))
	if have.NumExtSems != 1 || *have.ExtSemArray != x || have.ParamsArray.Params.Fence.Value != 6 {
		t.Errorf("parameters %+v", have)
	}
	want(t, "of the other kind", tab.GraphExternalSemaphoresSignalNodeGetParams(ctx, wn, &have), bad)
	var exec driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &exec, g, 0))
	s, s2 := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
	must(t, tab.GraphLaunch(ctx, exec, s))
	want(t, "waits", tab.StreamQuery(ctx, s), driver.CUDA_ERROR_NOT_READY)
	must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(5), 1, s2))
	must(t, tab.WaitExternalSemaphoresAsync(ctx, &x, waitOf(6), 1, s2))
	must(t, tab.StreamSynchronize(ctx, s2))
	must(t, tab.StreamSynchronize(ctx, s))

	two := [2]driver.CUexternalSemaphore{x, x}
	values := [2]driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS{*waitOf(7), *waitOf(8)}
	must(t, tab.GraphExecExternalSemaphoresWaitNodeSetParams(ctx, exec, wn, &driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{
		ExtSemArray: &x, ParamsArray: &values[1], NumExtSems: 1}))
	want(t, "more semaphores", tab.GraphExecExternalSemaphoresWaitNodeSetParams(ctx, exec, wn,
		&driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{ExtSemArray: &two[0], ParamsArray: &values[0], NumExtSems: 2}), bad)
	want(t, "a signal in place of a wait", tab.GraphExecExternalSemaphoresSignalNodeSetParams(ctx, exec, wn, &have),
		bad)
	must(t, tab.GraphLaunch(ctx, exec, s))
	must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(7), 1, s2))
	must(t, tab.StreamSynchronize(ctx, s2))
	time.Sleep(2 * time.Millisecond)
	want(t, "waits for 8", tab.StreamQuery(ctx, s), driver.CUDA_ERROR_NOT_READY)
	must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(8), 1, s2))
	must(t, tab.StreamSynchronize(ctx, s))

	must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_GLOBAL))
	must(t, tab.WaitExternalSemaphoresAsync(ctx, &two[0], &values[0], 2, s))
	must(t, tab.SignalExternalSemaphoresAsync(ctx, &x, signalOf(10), 1, s))
	var g2 driver.CUgraph
	must(t, tab.StreamEndCapture(ctx, s, &g2))
	n := uint64(2)
	var nodes [2]driver.CUgraphNode
	must(t, tab.GraphGetNodes(ctx, g2, &nodes[0], &n))
	var kinds [2]driver.CUgraphNodeType
	for i := range nodes {
		must(t, tab.GraphNodeGetType(ctx, nodes[i], &kinds[i]))
	}
	const both = driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL + driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
	if n != 2 || kinds[0]+kinds[1] != both {
		t.Errorf("%d nodes of kinds %v", n, kinds)
	}
	must(t, tab.GraphInstantiateWithFlags(ctx, &exec, g2, 0))
	must(t, tab.GraphLaunch(ctx, exec, s))
	must(t, tab.StreamSynchronize(ctx, s))
	must(t, tab.WaitExternalSemaphoresAsync(ctx, &x, waitOf(10), 1, s2))
	must(t, tab.StreamSynchronize(ctx, s2))
	must(t, tab.DestroyExternalSemaphore(ctx, x))
	must(t, tab.GraphLaunch(ctx, exec, s)) // nodes keep what they were made with
	must(t, tab.StreamSynchronize(ctx, s))
}
