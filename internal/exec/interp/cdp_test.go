package interp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// launcher is a System that takes launches of kernels. Kernel 0x100 takes 12 bytes, 0x200 none.
type launcher struct {
	silent
	b     *bench
	t     *testing.T
	mu    sync.Mutex
	live  map[uint64]bool
	taken []launched
}

type launched struct {
	entry       uint64
	grid, block [3]uint32
	shared      uint32
	params      []byte
	stream      uint64
}

func (l *launcher) Malloc(n uint64) uint64 {
	a, _ := l.b.alloc(l.t, int(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[a] = true
	return a
}

func (l *launcher) Free(a uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live[a] {
		l.t.Errorf("%#x is given back and was not taken", a)
	}
	delete(l.live, a)
}

func (l *launcher) ChildParams(entry uint64) (uint32, bool) {
	switch entry {
	case 0x100:
		return 12, true
	case 0x200:
		return 0, true
	}
	return 0, false
}

func (l *launcher) Child(entry uint64, grid, block [3]uint32, shared uint32, params []byte, stream uint64) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, launched{entry, grid, block, shared, params, stream})
	if grid[0] == 0 {
		return 9 // cudaErrorInvalidConfiguration
	}
	return 0
}

// cdpKernel declares the device runtime as nvcc does and stores the 32-bit result r of the body at its parameter.
func cdpKernel(body string) string {
	return `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 ret) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 ret) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b64 ret) cudaGetParameterBuffer(.param .b64 a, .param .b64 n);
.extern .func (.param .b32 ret) cudaLaunchDevice(.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 ret) __cudaCDP2StreamCreateWithFlags(.param .b64 p, .param .b32 f);
.extern .func (.param .b32 ret) __cudaCDP2EventCreateWithFlags(.param .b64 p, .param .b32 f);
.extern .func (.param .b32 ret) __cudaCDP2EventRecord(.param .b64 e, .param .b64 s);
.extern .func (.param .b32 ret) __cudaCDP2StreamDestroy(.param .b64 s);
.extern .func (.param .b32 ret) __cudaCDP2Malloc(.param .b64 p, .param .b64 n);
.visible .entry k(.param .u64 o)
{
.reg .b64 d, e, q; .reg .b32 r;
.param .b64 a0, a1, r64; .param .b32 a2, r32; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];
ld.param.u64 d, [o];
mov.u32 r, 12345;
` + body + `
st.global.u32 [d], r;
ret;
}
`
}

const (
	cdpDims = "st.param.b32 [g], 2;\nst.param.b32 [g+4], 3;\nst.param.b32 [g+8], 4;\nst.param.b32 [b], 32;\nst.param.b32 [b+4], 5;\nst.param.b32 [b+8], 6;\nst.param.b32 [a2], 77;\n"
	// cdpBuffer gets a buffer for the kernel in e and puts it into q.
	cdpBuffer = cdpDims + "st.param.b64 [a0], e;\ncall (r64), __cudaCDP2GetParameterBufferV2, (a0, g, b, a2);\nld.param.b64 q, [r64];\n"
	cdpLaunch = "st.param.b64 [a0], q;\nst.param.b64 [a1], 4;\ncall (r32), __cudaCDP2LaunchDeviceV2, (a0, a1);\nld.param.b32 r, [r32];\n"
	cdpFill   = "st.u64 [q], 0x1122334455667788;\nst.u32 [q+8], 99;\n"
)

// TestDeviceLaunch calls the device runtime (cuda_device_runtime_api.h; CUDA C++ Programming Guide, "Device-side Launch
// from PTX").
func TestDeviceLaunch(t *testing.T) {
	maps.Copy(builtins, deviceRuntime) // here every program is linked with the device runtime
	params := append(binary.LittleEndian.AppendUint64(nil, 0x1122334455667788), 99, 0, 0, 0)
	full := launched{0x100, [3]uint32{2, 3, 4}, [3]uint32{32, 5, 6}, 77, params, StreamFireAndForget}
	bare := full
	bare.entry, bare.params = 0x200, nil
	v1 := full
	v1.stream = 0
	for _, c := range []struct {
		name, body string
		result     uint32
		want       []launched
		left       int // allocations that remain
	}{
		{"second version", "mov.u64 e, 0x100;\n" + cdpBuffer + cdpFill + cdpLaunch, 0, []launched{full}, 0},
		{"a kernel without parameters", "mov.u64 e, 0x200;\n" + cdpBuffer + cdpLaunch, 0, []launched{bare}, 0},
		{"no such kernel", "mov.u64 e, 0x300;\n" + cdpBuffer + "cvt.u32.u64 r, q;\n", 0, nil, 0},
		{"the same buffer twice", "mov.u64 e, 0x100;\n" + cdpBuffer + cdpFill + cdpLaunch + cdpLaunch,
			cudaErrorInvalidValue, []launched{full}, 0},
		{"no buffer", "mov.u64 q, 0;\n" + cdpLaunch, cudaErrorInvalidValue, nil, 0},
		{"first version", "st.param.b64 [a0], 8;\nst.param.b64 [a1], 12;\ncall (r64), cudaGetParameterBuffer, (a0, a1);\nld.param.b64 q, [r64];\n" + cdpFill + cdpDims +
			"st.param.b64 [a0], 0x100;\nst.param.b64 [a1], q;\nst.param.b64 [r64], 0;\ncall (r32), cudaLaunchDevice, (a0, a1, g, b, a2, r64);\nld.param.b32 r, [r32];\n", 0, []launched{v1}, 0},
		{"a buffer of the first version in the second call",
			"st.param.b64 [a0], 8;\nst.param.b64 [a1], 12;\ncall (r64), cudaGetParameterBuffer, (a0, a1);\nld.param.b64 q, [r64];\n" + cdpLaunch,
			cudaErrorInvalidDeviceFunc, nil, 0},
		{"stream", "add.u64 q, d, 8;\nst.param.b64 [a0], q;\nst.param.b32 [a2], 1;\ncall (r32), __cudaCDP2StreamCreateWithFlags, (a0, a2);\nld.global.u64 e, [d+8];\nst.param.b64 [a0], e;\n" +
			"call (r32), __cudaCDP2StreamDestroy, (a0);\nld.param.b32 r, [r32];\n", 0, nil, 0},
		{"a stream that blocks", "st.param.b64 [a0], d;\nst.param.b32 [a2], 0;\ncall (r32), __cudaCDP2StreamCreateWithFlags, (a0, a2);\nld.param.b32 r, [r32];\n", cudaErrorInvalidValue, nil, 0},
		{"event", "add.u64 q, d, 8;\nst.param.b64 [a0], q;\nst.param.b32 [a2], 2;\ncall (r32), __cudaCDP2EventCreateWithFlags, (a0, a2);\nld.global.u64 e, [d+8];\nst.param.b64 [a0], e;\nst.param.b64 [a1], 0;\n" +
			"call (r32), __cudaCDP2EventRecord, (a0, a1);\nld.param.b32 r, [r32];\n", 0, nil, 1},
		{"memory", "add.u64 q, d, 8;\nst.param.b64 [a0], q;\nst.param.b64 [a1], 16;\ncall (r32), __cudaCDP2Malloc, (a0, a1);\nld.global.u64 e, [d+8];\nst.u64 [e+8], e;\nld.param.b32 r, [r32];\n", 0, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			l := &launcher{b: b, t: t, live: map[uint64]bool{}}
			out, err := runCDP(t, b, cdpKernel(c.body), l)
			if err != nil {
				t.Fatal(err)
			}
			if out != c.result {
				t.Errorf("result %d, want %d", out, c.result)
			}
			if len(l.taken) != len(c.want) || len(l.live) != c.left {
				t.Fatalf("launches %+v, %d allocations left; want %+v and %d", l.taken, len(l.live), c.want, c.left)
			}
			for i, got := range l.taken {
				want := c.want[i]
				if !bytes.Equal(got.params, want.params) {
					t.Errorf("parameters % x, want % x", got.params, want.params)
				}
				got.params, want.params = nil, nil
				if got.entry != want.entry || got.grid != want.grid || got.block != want.block ||
					got.shared != want.shared || got.stream != want.stream {
					t.Errorf("launch %+v, want %+v", got, want)
				}
			}
		})
	}
	// A system that takes no launches says so.
	_, err := runCDP(t, newBench(t), cdpKernel("mov.u64 e, 0x100;\n"+cdpBuffer), silent{})
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != exec.FaultUnsupported {
		t.Errorf("without a launcher: %v", err)
	}
}

func runCDP(t *testing.T, b *bench, src string, sys exec.System) (uint32, error) {
	t.Helper()
	code, _, err := compile(src, "k", 90)
	if err != nil {
		t.Fatal(err)
	}
	out, mem := b.alloc(t, 64)
	clear(mem)
	pa, params := b.alloc(t, 8)
	*(*uint64)(unsafe.Pointer(&params[0])) = out
	l := &exec.Launch{Code: code, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: params, ParamAddr: pa,
		Mem: &b.mem, Stack: 1024, Workers: 1, Sys: sys,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000}}
	l.Consts = exec.NewConstRows(code.Kernel(), func(*ir.ConstRow) uint64 { return 0 })
	err = exec.Run(l)
	return *(*uint32)(unsafe.Pointer(&mem[0])), err
}
