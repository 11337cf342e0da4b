package softdev

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// spinPTX is a kernel whose blocks meet those of all other devices, round after round, at a counter that they poll
// without a pause. A device whose kernel does not get on stops all.
const spinPTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 counter, .param .u32 blocks, .param .u32 rounds) {
	.reg .b64 %a; .reg .b32 %n, %r, %v, %want, %t; .reg .pred %p;
	ld.param.u64 %a, [counter]; ld.param.u32 %n, [blocks]; ld.param.u32 %r, [rounds];
	mov.u32 %want, 0;
	mov.u32 %t, %tid.x;
again:
	add.u32 %want, %want, %n;
	setp.ne.u32 %p, %t, 0;
	@%p bra met;
	atom.add.release.sys.global.u32 %v, [%a], 1;
wait:
	ld.acquire.sys.global.u32 %v, [%a];
	setp.lt.u32 %p, %v, %want;
	@%p bra wait;
met:
	bar.sync 0;
	sub.u32 %r, %r, 1;
	setp.ne.u32 %p, %r, 0;
	@%p bra again;
	ret;
}
`

const (
	spinDevices = 8
	spinBlocks  = 3 // of each device
	spinRounds  = 10
	// spinLimit is far beyond what it takes, for machines with other things to do.
	spinLimit = 2 * time.Minute
)

// launchSpin launches the kernel in the current context.
func launchSpin(t *driver.Table, counter driver.CUdeviceptr) driver.CUresult {
	text := append([]byte(spinPTX), 0)
	var m driver.CUmodule
	if r := t.ModuleLoadData(0, &m, unsafe.Pointer(&text[0])); r != success {
		return r
	}
	var f driver.CUfunction
	if r := t.ModuleGetFunction(0, &f, m, cstr("spin")); r != success {
		return r
	}
	blocks, rounds := uint32(spinDevices*spinBlocks), uint32(spinRounds)
	args := [3]unsafe.Pointer{unsafe.Pointer(&counter), unsafe.Pointer(&blocks), unsafe.Pointer(&rounds)}
	return t.LaunchKernel(0, f, spinBlocks, 1, 1, 64, 1, 1, 0, 0, &args[0], nil)
}

// TestSpinInProcess: kernels of eight devices of a process wait for each other.
func TestSpinInProcess(t *testing.T) {
	for _, engine := range []string{"interpreter", "auto"} {
		t.Run(engine, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer limited(t)()
			_, tab, _ := open(t, Options{Profiles: []string{fmt.Sprintf("h200*%d", spinDevices)}, EngineName: engine})
			var ctx [spinDevices]driver.CUcontext
			for i := range ctx {
				must(t, tab.CtxCreate_v2(0, &ctx[i], 0, driver.CUdevice(i)))
				if i > 0 {
					must(t, tab.CtxEnablePeerAccess(0, ctx[0], 0))
				}
			}
			counter := alloc(t, tab, ctx[0], 4)
			must(t, tab.MemsetD32_v2(ctx[0], counter, 0, 1))
			must(t, tab.CtxSynchronize(ctx[0]))
			for i := range ctx {
				must(t, tab.CtxSetCurrent(0, ctx[i]))
				must(t, launchSpin(tab, counter))
			}
			for i := range ctx {
				must(t, tab.CtxSynchronize(ctx[i]))
			}
			var met uint32
			must(t, tab.MemcpyDtoH_v2(ctx[0], unsafe.Pointer(&met), counter, 4))
			if met != spinDevices*spinBlocks*spinRounds {
				t.Errorf("%d arrivals, want %d", met, spinDevices*spinBlocks*spinRounds)
			}
		})
	}
}

// limited ends the test program, with the stacks of all goroutines, when the test takes too long.
func limited(t *testing.T) (done func()) {
	timer := time.AfterFunc(spinLimit, func() {
		buf := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s stalls\n%s", t.Name(), buf[:runtime.Stack(buf, true)]))
	})
	return func() { timer.Stop() }
}

// spinChild is the value of ipcChild for a process with one of the devices.
const spinChild = "spin"

func serveSpin(in io.Reader, out io.Writer) error {
	d, err := New(Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	tab := d.Table()
	var ctx driver.CUcontext
	if tab.Init(0, 0) != success || tab.DevicePrimaryCtxRetain(0, &ctx, 0) != success ||
		tab.CtxSetCurrent(0, ctx) != success {
		return errors.New("no context")
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var h driver.CUipcMemHandle
		_, _ = hex.Decode(h.Reserved[:], lines.Bytes())
		var counter driver.CUdeviceptr
		r := tab.IpcOpenMemHandle_v2(0, &counter, h, 1)
		if r == success {
			r = launchSpin(tab, counter)
		}
		if r == success {
			r = tab.CtxSynchronize(0)
		}
		fmt.Fprintln(out, r)
	}
	return lines.Err()
}

// TestSpinInProcesses: kernels of eight devices of eight processes wait for each other.
func TestSpinInProcesses(t *testing.T) {
	defer limited(t)()
	tab, ctx := ipcDevice(t)
	counter := alloc(t, tab, ctx, 4)
	must(t, tab.MemsetD32_v2(ctx, counter, 0, 1))
	must(t, tab.CtxSynchronize(ctx))
	var h driver.CUipcMemHandle
	must(t, tab.IpcGetMemHandle(ctx, &h, counter))
	var all [spinDevices]*peer
	for i := range all {
		all[i] = startPeerAs(t, spinChild)
		fmt.Fprintf(all[i].in, "%x\n", h.Reserved)
	}
	for i, p := range all {
		if !p.out.Scan() || strings.TrimSpace(p.out.Text()) != "CUDA_SUCCESS" {
			t.Errorf("process %d: %s", i, p.out.Text())
		}
	}
	var met uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&met), counter, 4))
	if met != spinDevices*spinBlocks*spinRounds {
		t.Errorf("%d arrivals, want %d", met, spinDevices*spinBlocks*spinRounds)
	}
}
