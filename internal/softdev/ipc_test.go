package softdev

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// The other process of these tests is the test program itself with this variable set. It obeys lines on its standard
// input and answers each with one.
const ipcChild = "GOCUDA_IPC_CHILD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(ipcChild); kind != "" {
		runtime.LockOSThread()
		serve := serveIPC
		switch kind {
		case teamChild:
			serve = serveTeam
		case spinChild:
			serve = serveSpin
		}
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveIPC is a driver that does what it is told: "word arguments" in, "result [value]" out.
func serveIPC(in io.Reader, out io.Writer) error {
	d, err := New(Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	t := d.Table()
	var ctx driver.CUcontext
	if t.Init(0, 0) != success || t.DevicePrimaryCtxRetain(0, &ctx, 0) != success ||
		t.CtxSetCurrent(0, ctx) != success {
		return errors.New("no context")
	}
	mems := map[string]driver.CUdeviceptr{}
	var event driver.CUevent
	var stream driver.CUstream
	var pool driver.CUmemoryPool
	if r := t.StreamCreate(0, &stream, 1); r != success {
		return errors.New(r.String())
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		r, text := success, ""
		arg := func(i int) string {
			if i < len(f) {
				return f[i]
			}
			return ""
		}
		number := func(i int) (n uint64) {
			_, _ = fmt.Sscan(arg(i), &n)
			return n
		}
		switch f[0] {
		case "open": // name handle
			var h driver.CUipcMemHandle
			_, _ = hex.Decode(h.Reserved[:], []byte(arg(2)))
			var p driver.CUdeviceptr
			r = t.IpcOpenMemHandle_v2(0, &p, h, 1)
			mems[arg(1)] = p
			text = fmt.Sprint(uint64(p))
		case "range":
			var base driver.CUdeviceptr
			var n uint64
			r = t.MemGetAddressRange_v2(0, &base, &n, mems[arg(1)])
			text = fmt.Sprint(base == mems[arg(1)], n)
		case "free":
			r = t.MemFree_v2(0, mems[arg(1)])
		case "close":
			r = t.IpcCloseMemHandle(0, mems[arg(1)])
		case "read": // name offset
			var v uint32
			r = t.MemcpyDtoH_v2(0, unsafe.Pointer(&v), mems[arg(1)]+driver.CUdeviceptr(number(2)), 4)
			text = fmt.Sprint(v)
		case "fill": // name value count, on the stream
			r = t.MemsetD32Async(0, mems[arg(1)], uint32(number(2)), number(3), stream)
		case "event":
			var h driver.CUipcEventHandle
			_, _ = hex.Decode(h.Reserved[:], []byte(arg(1)))
			r = t.IpcOpenEventHandle(0, &event, h)
		case "wait":
			r = t.StreamWaitEvent(0, stream, event, 0)
		case "record":
			r = t.EventRecord(0, event, stream)
		case "query":
			r = t.EventQuery(0, event)
		case "synchronize":
			r = t.EventSynchronize(0, event)
		case "stream":
			r = t.StreamSynchronize(0, stream)
		case "slow": // a kernel's work: the stream does not get on for a while
			var fn driver.CUhostFn
			fn.Go = func(uintptr) { time.Sleep(300 * time.Millisecond) }
			r = t.LaunchHostFunc(0, stream, fn, 0)
		case "pool": // file descriptor 3
			r = t.MemPoolImportFromShareableHandle(0, &pool, 3, driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
		case "pointer": // name data
			var data driver.CUmemPoolPtrExportData
			_, _ = hex.Decode(data.Reserved[:], []byte(arg(2)))
			var p driver.CUdeviceptr
			r = t.MemPoolImportPointer(0, &p, pool, &data)
			mems[arg(1)] = p
		case "poolalloc":
			var p driver.CUdeviceptr
			r = t.MemAllocFromPoolAsync(0, &p, 100, pool, stream)
		case "poolfree":
			r = t.MemFreeAsync(0, mems[arg(1)], stream)
		case "vmm": // name size: file descriptor 4
			var h driver.CUmemGenericAllocationHandle
			var p driver.CUdeviceptr
			if r = t.MemImportFromShareableHandle(0, &h, 4,
				driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR); r != success {
				break
			}
			desc := driver.CUmemAccessDesc{Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE},
				Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
			if r = t.MemAddressReserve(0, &p, number(2), 0, 0, 0); r == success {
				if r = t.MemMap(0, p, number(2), 0, h, 0); r == success {
					r = t.MemSetAccess(0, p, number(2), &desc, 1)
				}
			}
			mems[arg(1)] = p
		case "exit":
			return nil
		default:
			return fmt.Errorf("what is %q", lines.Text())
		}
		fmt.Fprintln(out, r, text)
	}
	return lines.Err()
}

// peer is the other process.
type peer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startPeer(t *testing.T, files ...*os.File) *peer {
	t.Helper()
	return startPeerAs(t, "1", files...)
}

func startPeerAs(t *testing.T, kind string, files ...*os.File) *peer {
	t.Helper()
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ipcChild+"="+kind)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = files
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = in.Close()
		if p.cmd == nil {
			return // killed
		}
		if err := cmd.Wait(); err != nil {
			t.Error("the other process:", err)
		}
	})
	return p
}

// do tells the other process what to do and checks its answer.
func (p *peer) do(want string, format string, args ...any) {
	p.t.Helper()
	if got := p.ask(format, args...); got != want {
		p.t.Errorf("%s: %q, want %q", fmt.Sprintf(format, args...), got, want)
	}
}

func (p *peer) ask(format string, args ...any) string {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatalf("no answer to %s", format)
	}
	return strings.TrimSpace(p.out.Text())
}

func ipcDevice(t *testing.T) (*driver.Table, driver.CUcontext) {
	t.Helper()
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	tab := d.Table()
	var ctx driver.CUcontext
	must(t, tab.Init(0, 0))
	must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
	return tab, ctx
}

// TestIPCMemory: both processes see what the other writes, large and small allocations, and the rules of the
// description of cuIpcOpenMemHandle hold: one address for a handle opened twice, closed as often as opened, not opened
// where it comes from (CUDA_ERROR_INVALID_CONTEXT: what openucx/ucx#11603 shows of a GPU).
func TestIPCMemory(t *testing.T) {
	tab, ctx := ipcDevice(t)
	other := startPeer(t)
	for _, size := range []uint64{4096, 5 << 20} {
		var p, near driver.CUdeviceptr
		must(t, tab.MemAlloc_v2(ctx, &near, 512))
		must(t, tab.MemAlloc_v2(ctx, &p, size))
		must(t, tab.MemsetD32_v2(ctx, p, 11, size/4))
		must(t, tab.MemsetD32_v2(ctx, near, 5, 128))
		var h, h2 driver.CUipcMemHandle
		must(t, tab.IpcGetMemHandle(ctx, &h, p))
		must(t, tab.IpcGetMemHandle(ctx, &h2, p+100)) // of the allocation
		if h != h2 {
			t.Error("the handles of one allocation differ")
		}
		first := other.ask("open a %x", h.Reserved)
		other.do(first, "open b %x", h.Reserved)
		other.do(fmt.Sprintf("CUDA_SUCCESS true %d", size), "range a")
		other.do("CUDA_SUCCESS 11", "read a %d", size-4)
		other.do("CUDA_SUCCESS", "fill a 22 %d", size/8)
		other.do("CUDA_SUCCESS", "stream")
		v := make([]uint32, size/4)
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v[0]), p, size))
		if v[0] != 22 || v[size/8-1] != 22 || v[size/8] != 11 || v[size/4-1] != 11 {
			t.Errorf("%d bytes: %d %d %d %d", size, v[0], v[size/8-1], v[size/8], v[size/4-1])
		}
		must(t, tab.MemsetD32_v2(ctx, p, 33, 1))
		must(t, tab.CtxSynchronize(ctx))
		other.do("CUDA_SUCCESS 33", "read b 0")
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v[0]), near, 512))
		if v[0] != 5 || v[127] != 5 {
			t.Error("a neighbour has changed")
		}
		other.do("CUDA_ERROR_INVALID_VALUE", "free a")
		other.do("CUDA_SUCCESS", "close a")
		other.do("CUDA_SUCCESS 33", "read b 0")
		other.do("CUDA_SUCCESS", "close b")
		other.do("CUDA_ERROR_INVALID_VALUE", "close b")
		if got := other.ask("read b 0"); !strings.HasPrefix(got, "CUDA_ERROR_INVALID_VALUE") {
			t.Error("read after close:", got)
		}
		var q driver.CUdeviceptr
		if r := tab.IpcOpenMemHandle_v2(ctx, &q, h, 1); r != invalidCtx {
			t.Error("opened where it comes from:", r)
		}
		must(t, tab.MemFree_v2(ctx, p))
		must(t, tab.MemFree_v2(ctx, near))
		if got := other.ask("open a %x", h.Reserved); !strings.HasPrefix(got, "CUDA_ERROR_MAP_FAILED") {
			t.Error("opened memory that is freed:", got)
		}
	}
	// What is open when the other process ends needs no closing.
	var p driver.CUdeviceptr
	var h driver.CUipcMemHandle
	must(t, tab.MemAlloc_v2(ctx, &p, 100))
	must(t, tab.IpcGetMemHandle(ctx, &h, p))
	if got := other.ask("open z %x", h.Reserved); !strings.HasPrefix(got, "CUDA_SUCCESS") {
		t.Error(got)
	}
}

// TestIPCRefused: what has no handle (cuIpcGetMemHandle is for memory of cuMemAlloc; for memory of a pool
// chelsea0x3b/cudarc#521 shows CUDA_ERROR_INVALID_VALUE).
func TestIPCRefused(t *testing.T) {
	tab, ctx := ipcDevice(t)
	var h driver.CUipcMemHandle
	var p driver.CUdeviceptr
	refuse := func(what string, p driver.CUdeviceptr) {
		t.Helper()
		if r := tab.IpcGetMemHandle(ctx, &h, p); r != invalidValue {
			t.Errorf("%s: %v", what, r)
		}
		var capable uint32 = 9
		if r := tab.PointerGetAttribute(ctx, unsafe.Pointer(&capable),
			driver.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p); r == success && capable != 0 {
			t.Errorf("%s: said to be capable", what)
		}
	}
	must(t, tab.MemAllocManaged(ctx, &p, 100, 1))
	refuse("managed memory", p)
	must(t, tab.MemAllocAsync(ctx, &p, 100, 0))
	refuse("memory of a pool", p)
	var host unsafe.Pointer
	must(t, tab.MemHostAlloc(ctx, &host, 100, 0))
	refuse("host memory", driver.CUdeviceptr(uintptr(host)))
	refuse("no memory", 0x1234)
	must(t, tab.MemAlloc_v2(ctx, &p, 100))
	must(t, tab.MemFree_v2(ctx, p))
	refuse("freed memory", p)
	var q driver.CUdeviceptr
	// internal/conform/api: ipc/memory/open-zeros
	if r := tab.IpcOpenMemHandle_v2(ctx, &q, driver.CUipcMemHandle{}, 1); r != invalidValue {
		t.Error("a handle of zeros:", r)
	}
	if r := tab.IpcOpenMemHandle_v2(ctx, &q, driver.CUipcMemHandle{}, 0); r != invalidValue {
		t.Error("no flag:", r)
	}
	must(t, tab.MemAlloc_v2(ctx, &p, 100))
	if r := tab.IpcCloseMemHandle(ctx, p); r != invalidValue {
		t.Error("closed memory of its own:", r)
	}
	var e driver.CUevent
	var eh driver.CUipcEventHandle
	must(t, tab.EventCreate(ctx, &e, 2))
	if r := tab.IpcGetEventHandle(ctx, &eh, e); r != badHandle {
		t.Error("an event of one process:", r)
	}
	// internal/conform/api: ipc/event/open-zeros
	if r := tab.IpcOpenEventHandle(ctx, &e, eh); r != driver.CUDA_ERROR_MAP_FAILED {
		t.Error("an event handle of zeros:", r)
	}
}

// TestIPCEvent: each process waits for what the other has recorded, on the host and in streams.
func TestIPCEvent(t *testing.T) {
	tab, ctx := ipcDevice(t)
	other := startPeer(t)
	var e driver.CUevent
	var h driver.CUipcEventHandle
	var s driver.CUstream
	must(t, tab.EventCreate(ctx, &e, 6))
	must(t, tab.StreamCreate(ctx, &s, 1))
	must(t, tab.IpcGetEventHandle(ctx, &h, e))
	if r := tab.IpcOpenEventHandle(ctx, &e, h); r != invalidCtx {
		t.Error("opened where it comes from:", r)
	}
	other.do("CUDA_SUCCESS", "event %x", h.Reserved)
	other.do("CUDA_SUCCESS", "query") // never recorded
	release := make(chan struct{})
	must(t, tab.LaunchHostFunc(ctx, s, driver.CUhostFn{Go: func(uintptr) { <-release }}, 0))
	must(t, tab.EventRecord(ctx, e, s))
	other.do("CUDA_ERROR_NOT_READY", "query")
	if r := tab.EventQuery(ctx, e); r != driver.CUDA_ERROR_NOT_READY {
		t.Error(r)
	}
	other.do("CUDA_SUCCESS", "wait")
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	other.do("CUDA_SUCCESS", "stream")
	other.do("CUDA_SUCCESS", "query")
	must(t, tab.EventSynchronize(ctx, e))

	// The other direction: memory that its stream writes late is there after the wait.
	var p driver.CUdeviceptr
	var mh driver.CUipcMemHandle
	must(t, tab.MemAlloc_v2(ctx, &p, 4096))
	must(t, tab.MemsetD32_v2(ctx, p, 1, 1024))
	must(t, tab.IpcGetMemHandle(ctx, &mh, p))
	if got := other.ask("open m %x", mh.Reserved); !strings.HasPrefix(got, "CUDA_SUCCESS") {
		t.Fatal(got)
	}
	for i := range 3 {
		other.do("CUDA_SUCCESS", "slow")
		other.do("CUDA_SUCCESS", "fill m %d 1024", 100+i)
		other.do("CUDA_SUCCESS", "record")
		if r := tab.EventQuery(ctx, e); r != driver.CUDA_ERROR_NOT_READY {
			t.Error("before the record:", r)
		}
		if i == 2 {
			must(t, tab.EventSynchronize(ctx, e))
		} else {
			must(t, tab.StreamWaitEvent(ctx, s, e, 0))
		}
		v := new([1024]uint32)
		must(t, tab.MemcpyDtoHAsync_v2(ctx, unsafe.Pointer(v), p, 4096, s))
		must(t, tab.StreamSynchronize(ctx, s))
		if v[0] != 100+uint32(i) || v[1023] != v[0] {
			t.Errorf("read %d before it was written", v[0])
		}
		must(t, tab.EventQuery(ctx, e))
	}
	must(t, tab.EventDestroy_v2(ctx, e))
}

// TestIPCEventOfDead: a process that ends without reaching its record keeps nobody waiting.
func TestIPCEventOfDead(t *testing.T) {
	tab, ctx := ipcDevice(t)
	other := startPeer(t)
	var e driver.CUevent
	var h driver.CUipcEventHandle
	must(t, tab.EventCreate(ctx, &e, 6))
	must(t, tab.IpcGetEventHandle(ctx, &h, e))
	other.do("CUDA_SUCCESS", "event %x", h.Reserved)
	for range 20 {
		other.do("CUDA_SUCCESS", "slow")
	}
	other.do("CUDA_SUCCESS", "record")
	if err := other.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.cmd.Wait()
	other.cmd = nil
	must(t, tab.EventSynchronize(ctx, e))
}

// TestInterruptOfIPCEvent: a wait for a record of another process ends with the work of its context.
func TestInterruptOfIPCEvent(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	for name, wait := range map[string]func(tab *driver.Table, ctx driver.CUcontext, e driver.CUevent) driver.CUresult{
		"cuEventSynchronize": func(tab *driver.Table, ctx driver.CUcontext, e driver.CUevent) driver.CUresult {
			return tab.EventSynchronize(ctx, e)
		},
		"cuStreamWaitEvent": func(tab *driver.Table, ctx driver.CUcontext, e driver.CUevent) driver.CUresult {
			if r := tab.StreamWaitEvent(ctx, 0, e, 0); r != success {
				return r
			}
			return tab.CtxSynchronize(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, tab, ctx := open(t, Options{})
			other := startPeer(t)
			var e driver.CUevent
			var h driver.CUipcEventHandle
			must(t, tab.EventCreate(ctx, &e, 6))
			must(t, tab.IpcGetEventHandle(ctx, &h, e))
			other.do("CUDA_SUCCESS", "event %x", h.Reserved)
			for range 20 { // six seconds
				other.do("CUDA_SUCCESS", "slow")
			}
			other.do("CUDA_SUCCESS", "record")
			time.AfterFunc(20*time.Millisecond, func() { d.Interrupt(ctx) })
			want(t, name, soon(t, name, func() driver.CUresult {
				return wait(tab, ctx, e)
			}), driver.CUDA_ERROR_LAUNCH_TIMEOUT)
			if err := other.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = other.cmd.Wait()
			other.cmd = nil
		})
	}
}

// TestFreezeWaits: a handle is not given while work runs that may write to the memory, and work that does not end gives
// an error instead of waiting for ever.
func TestFreezeWaits(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	tab, ctx := ipcDevice(t)
	var s driver.CUstream
	var p driver.CUdeviceptr
	var h driver.CUipcMemHandle
	must(t, tab.StreamCreate(ctx, &s, 1))
	must(t, tab.MemAlloc_v2(ctx, &p, 4<<20))
	done := false
	must(t, tab.LaunchHostFunc(ctx, s, driver.CUhostFn{Go: func(uintptr) {
		time.Sleep(50 * time.Millisecond)
		done = true
	}}, 0))
	must(t, tab.MemsetD8Async(ctx, p, 3, 4<<20, s))
	must(t, tab.IpcGetMemHandle(ctx, &h, p))
	if !done {
		t.Error("memory moved under a stream that works")
	}
	v := make([]byte, 4<<20)
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v[0]), p, 4<<20))
	if v[0] != 3 || v[4<<20-1] != 3 {
		t.Error("contents are lost")
	}
	// Work goes on from other goroutines all the while.
	stop := make(chan struct{})
	ended := make(chan driver.CUresult)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				ended <- success
				return
			default:
			}
			if i%16 == 0 {
				tab.StreamSynchronize(ctx, s)
			}
			if r := tab.MemsetD8Async(ctx, p, 4, 4<<20, s); r != success {
				ended <- r
				return
			}
		}
	}()
	for range 50 {
		var q driver.CUdeviceptr
		must(t, tab.MemAlloc_v2(ctx, &q, 2<<20))
		must(t, tab.IpcGetMemHandle(ctx, &h, q))
		must(t, tab.MemFree_v2(ctx, q))
	}
	close(stop)
	must(t, <-ended)
}
