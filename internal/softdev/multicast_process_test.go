package softdev

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/skip"
)

// teamChild is the value of ipcChild for a process with one device of a multicast team.
const teamChild = "team"

const teamPTX = `.version 8.6
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 v) {
	.reg .b64 %a; .reg .b32 %v;
	ld.param.u64 %a, [p]; ld.param.u32 %v, [v];
	multimem.red.relaxed.sys.global.add.u32 [%a], %v;
	ret;
}
.visible .entry sum(.param .u64 p, .param .u64 q) {
	.reg .b64 %a, %q; .reg .b32 %v;
	ld.param.u64 %a, [p]; ld.param.u64 %q, [q];
	multimem.ld_reduce.relaxed.sys.global.add.u32 %v, [%a];
	st.global.u32 [%q], %v;
	ret;
}
`

// member is a process's part in a team: one device, its memory, and the object.
type member struct {
	t       *driver.Table
	mc      driver.CUmemGenericAllocationHandle
	own, at driver.CUdeviceptr
	mod     driver.CUmodule
}

// join adds a device to the object, binds its memory, which waits for the others, and maps both.
func (m *member) join(dev int) (r driver.CUresult) {
	step := func(next func() driver.CUresult) {
		if r == success {
			r = next()
		}
	}
	mapped := func(h driver.CUmemGenericAllocationHandle) (p driver.CUdeviceptr) {
		access := driver.CUmemAccessDesc{Location: onDevice(dev), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
		step(func() driver.CUresult { return m.t.MemAddressReserve(0, &p, mem.Granule, 0, 0, 0) })
		step(func() driver.CUresult { return m.t.MemMap(0, p, mem.Granule, 0, h, 0) })
		step(func() driver.CUresult { return m.t.MemSetAccess(0, p, mem.Granule, &access, 1) })
		return p
	}
	var ctx driver.CUcontext
	var h driver.CUmemGenericAllocationHandle
	step(func() driver.CUresult { return m.t.DevicePrimaryCtxRetain(0, &ctx, driver.CUdevice(dev)) })
	step(func() driver.CUresult { return m.t.CtxSetCurrent(0, ctx) })
	step(func() driver.CUresult { return m.t.MulticastAddDevice(0, m.mc, driver.CUdevice(dev)) })
	step(func() driver.CUresult {
		prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: onDevice(dev),
			RequestedHandleTypes: shareableTypes}
		return m.t.MemCreate(0, &h, mem.Granule, &prop, 0)
	})
	step(func() driver.CUresult { return m.t.MulticastBindMem(0, m.mc, 0, h, 0, mem.Granule, 0) })
	m.own, m.at = mapped(h), mapped(m.mc)
	text := append([]byte(teamPTX), 0)
	step(func() driver.CUresult { return m.t.ModuleLoadData(0, &m.mod, unsafe.Pointer(&text[0])) })
	return r
}

func (m *member) launch(name string, a, b unsafe.Pointer) driver.CUresult {
	var f driver.CUfunction
	if r := m.t.ModuleGetFunction(0, &f, m.mod, cstr(name)); r != success {
		return r
	}
	args := [2]unsafe.Pointer{a, b}
	if r := m.t.LaunchKernel(0, f, 1, 1, 1, 1, 1, 1, 0, 0, &args[0], nil); r != success {
		return r
	}
	return m.t.CtxSynchronize(0)
}

// add adds a number to the first word of all members' memory.
func (m *member) add(v uint32) driver.CUresult {
	return m.launch("add", unsafe.Pointer(&m.at), unsafe.Pointer(&v))
}

// sum is that of the second words.
func (m *member) sum() (v uint32, r driver.CUresult) {
	at, out := m.at+4, m.own+8
	if r := m.launch("sum", unsafe.Pointer(&at), unsafe.Pointer(&out)); r != success {
		return 0, r
	}
	return m.word(2)
}

func (m *member) word(i int) (v uint32, r driver.CUresult) {
	r = m.t.MemcpyDtoH_v2(0, unsafe.Pointer(&v), m.own+driver.CUdeviceptr(4*i), 4)
	return v, r
}

func serveTeam(in io.Reader, out io.Writer) error {
	d, err := New(Options{Profiles: []string{"h200*3"}})
	if err != nil {
		return err
	}
	defer d.Close()
	m := &member{t: d.Table()}
	if m.t.Init(0, 0) != success {
		return errors.New("no device")
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var word, text string
		var n int
		_, _ = fmt.Sscan(lines.Text(), &word, &n, &text)
		r, v := success, uint32(0)
		switch word {
		case "fabric": // device handle
			var h driver.CUmemFabricHandle
			_, _ = hex.Decode(h.Data[:], []byte(text))
			r = m.t.MemImportFromShareableHandle(0, &m.mc, uintptr(unsafe.Pointer(&h)),
				driver.CU_MEM_HANDLE_TYPE_FABRIC)
		case "file": // number
			r = m.t.MemImportFromShareableHandle(0, &m.mc, uintptr(n), driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		case "join": // device
			r = m.join(n)
		case "add":
			r = m.add(uint32(n))
		case "set": // the second word
			r = m.t.MemsetD32_v2(0, m.own+4, uint32(n), 1)
		case "word":
			v, r = m.word(n)
		case "sum":
			v, r = m.sum()
		case "exit":
			return nil
		}
		fmt.Fprintln(out, r, v)
	}
	return lines.Err()
}

// TestMulticastProcesses: three processes, each with a device of a team, share an object by a handle of a fabric and by
// a file descriptor.
func TestMulticastProcesses(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	runtime.LockOSThread() // for the current context
	defer runtime.UnlockOSThread()
	d, tab, _ := open(t, Options{Profiles: []string{"h200*3"}})
	m := &member{t: tab}
	must(t, tab.MulticastCreate(0, &m.mc, &driver.CUmulticastObjectProp{NumDevices: 3, Size: mem.Granule,
		HandleTypes: uint64(shareableTypes)}))
	var fabric driver.CUmemFabricHandle
	must(t, tab.MemExportToShareableHandle(0, unsafe.Pointer(&fabric), m.mc, driver.CU_MEM_HANDLE_TYPE_FABRIC, 0))
	var fd int32
	must(t, tab.MemExportToShareableHandle(0, unsafe.Pointer(&fd), m.mc,
		driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
	file := os.NewFile(uintptr(fd), "team")
	defer file.Close()
	a, b := startPeerAs(t, teamChild), startPeerAs(t, teamChild, file)
	a.do("CUDA_SUCCESS 0", "fabric 1 %x", fabric.Data)
	b.do("CUDA_SUCCESS 0", "file 3")
	fmt.Fprintln(a.in, "join 1") // answered when all have joined
	fmt.Fprintln(b.in, "join 2")
	must(t, m.join(0))
	for _, p := range []*peer{a, b} {
		if !p.out.Scan() || strings.TrimSpace(p.out.Text()) != "CUDA_SUCCESS 0" {
			t.Fatal("join:", p.out.Text())
		}
	}
	a.do("CUDA_SUCCESS 0", "add 100")
	b.do("CUDA_SUCCESS 0", "add 20")
	must(t, m.add(3))
	a.do("CUDA_SUCCESS 123", "word 0")
	b.do("CUDA_SUCCESS 123", "word 0")
	if v, r := m.word(0); r != success || v != 123 {
		t.Error(v, r)
	}
	a.do("CUDA_SUCCESS 0", "set 5")
	b.do("CUDA_SUCCESS 0", "set 60")
	must(t, tab.MemsetD32_v2(0, m.own+4, 700, 1))
	must(t, tab.CtxSynchronize(0))
	a.do("CUDA_SUCCESS 765", "sum")
	b.do("CUDA_SUCCESS 765", "sum")
	if v, r := m.sum(); r != success || v != 765 {
		t.Error(v, r)
	}
	// memory of a process that has ended is there for those who have it open
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
	a.cmd = nil
	if v, r := m.sum(); r != success || v != 765 {
		t.Error("after the end of a process:", v, r)
	}
	// who holds the lock of a team and ends does not stop the others
	h := d.memHandles.get(uintptr(m.mc))
	gone := d.startAndEnd(t)
	h.multi.team.put(teamLock, uint64(gone))
	begin := time.Now()
	must(t, tab.MulticastUnbind(0, m.mc, 0, 0, mem.Granule))
	t.Logf("the lock of a process that has ended: %v", time.Since(begin))
	b.do("CUDA_ERROR_ILLEGAL_ADDRESS 0", "add 1")
}

// startAndEnd gives the number of a process that has ended.
func (d *Driver) startAndEnd(t *testing.T) int {
	p := startPeerAs(t, teamChild)
	pid := p.cmd.Process.Pid
	_ = p.in.Close()
	_ = p.cmd.Wait()
	p.cmd = nil
	return pid
}
