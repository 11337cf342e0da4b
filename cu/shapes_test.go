package cu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
)

// The tests of this file give the API a table of their own and look at what arrives in C form. The expectations are the
// rule in doc.go.

func TestOutputsBecomeResults(t *testing.T) {
	api := New(&driver.Table{
		CtxGetStreamPriorityRange: func(cur driver.CUcontext, least, greatest *int32) driver.CUresult {
			*least, *greatest = int32(cur), -5
			return 0
		},
		EventElapsedTime_v2: func(_ driver.CUcontext, ms *float32, a, b driver.CUevent) driver.CUresult {
			*ms = float32(a) / float32(b)
			return 0
		},
		MemHostAlloc: func(_ driver.CUcontext, pp *unsafe.Pointer, n uint64, flags uint32) driver.CUresult {
			b := make([]byte, n)
			b[0] = byte(flags)
			*pp = unsafe.Pointer(&b[0])
			return 0
		},
	}).In(11)
	least, greatest, err := api.CtxGetStreamPriorityRange()
	if err != nil || least != 11 || greatest != -5 {
		t.Errorf("%d %d %v", least, greatest, err)
	}
	if api.Context() != 11 || api.In(0).Context() != 0 {
		t.Error("In")
	}
	if ms, err := api.EventElapsedTime(1, 4); ms != 0.25 || err != nil {
		t.Errorf("%v %v", ms, err)
	}
	if p, err := api.MemHostAlloc(8, 2); err != nil || *(*byte)(p) != 2 {
		t.Errorf("%v %v", p, err)
	}
}

func TestStrings(t *testing.T) {
	long := strings.Repeat("kernel_", 30)
	var got []string
	name := []byte("software device\x00")
	api := New(&driver.Table{
		ModuleGetFunction: func(_ driver.CUcontext, f *driver.CUfunction, m driver.CUmodule,
			name *byte) driver.CUresult {
			got = append(got, driver.String(name))
			*f = driver.CUfunction(m) + 1
			return 0
		},
		DeviceGetName: func(_ driver.CUcontext, p *byte, n int32, _ driver.CUdevice) driver.CUresult {
			copy(unsafe.Slice(p, n), "software device")
			return 0
		},
		FuncGetName: func(_ driver.CUcontext, p **byte, _ driver.CUfunction) driver.CUresult {
			*p = &name[0]
			return 0
		},
		GraphInstantiate: func(_ driver.CUcontext, e *driver.CUgraphExec, _ driver.CUgraph, _ *driver.CUgraphNode,
			log *byte, n uint64) driver.CUresult {
			for i := range unsafe.Slice(log, n) {
				unsafe.Slice(log, n)[i] = 'x' // not even a NUL
			}
			return 0
		},
		LinkAddData_v2: func(_ driver.CUcontext, _ driver.CUlinkState, _ driver.CUjitInputType, data unsafe.Pointer,
			n uint64, name *byte, _ uint32, _ *driver.CUjit_option, _ *uintptr) driver.CUresult {
			if name != nil || n != 5 || *(*byte)(unsafe.Add(data, 5)) != 0 {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			return 0
		},
		DeviceGetLuid: func(_ driver.CUcontext, luid *byte, mask *uint32, _ driver.CUdevice) driver.CUresult {
			copy(unsafe.Slice(luid, 8), "12345678")
			*mask = 3
			return 0
		},
	})
	for _, n := range []string{"axpy", "", strings.Repeat("a", 63), strings.Repeat("a", 64), long} {
		f, err := api.ModuleGetFunction(7, n)
		if err != nil || f != 8 || got[len(got)-1] != n {
			t.Errorf("%q arrives as %q: %v %v", n, got[len(got)-1], f, err)
		}
	}
	_, err := api.ModuleGetFunction(7, "a\x00b")
	var arg *ArgumentError
	if !errors.As(err, &arg) || arg.Func != "cuModuleGetFunction" || arg.Param != "name" ||
		!errors.Is(err, CUDA_ERROR_INVALID_VALUE) || len(got) != 5 {
		t.Errorf("NUL inside: %v", err)
	}
	if s, err := api.DeviceGetName(0); s != "software device" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if s, err := api.FuncGetName(1); s != "software device" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if _, _, log, err := api.GraphInstantiate_v1(1); len(log) != 256 || err != nil {
		t.Errorf("log of %d bytes, %v", len(log), err)
	}
	if err := api.LinkAddData(1, CU_JIT_INPUT_PTX, []byte(".vers"), "", nil, nil); err != nil {
		t.Error(err)
	}
	if luid, mask, err := api.DeviceGetLuid(0); string(luid[:]) != "12345678" || mask != 3 || err != nil {
		t.Errorf("%s %d %v", luid, mask, err)
	}
}

// An image that ends before what its header declares does not come to the driver, which would read behind the slice.
func TestCutImages(t *testing.T) {
	called := false
	done := func() driver.CUresult { called = true; return 0 }
	api := New(&driver.Table{
		ModuleLoadData:      func(driver.CUcontext, *driver.CUmodule, unsafe.Pointer) driver.CUresult { return done() },
		ModuleLoadFatBinary: func(driver.CUcontext, *driver.CUmodule, unsafe.Pointer) driver.CUresult { return done() },
		ModuleLoadDataEx: func(driver.CUcontext, *driver.CUmodule, unsafe.Pointer, uint32,
			*driver.CUjit_option, *uintptr) driver.CUresult {
			return done()
		},
		LibraryLoadData: func(driver.CUcontext, *driver.CUlibrary, unsafe.Pointer, *driver.CUjit_option, *uintptr,
			uint32, *driver.CUlibraryOption, *uintptr, uint32) driver.CUresult {
			return done()
		},
		LinkAddData_v2: func(driver.CUcontext, driver.CUlinkState, driver.CUjitInputType, unsafe.Pointer, uint64, *byte,
			uint32, *driver.CUjit_option, *uintptr) driver.CUresult {
			return done()
		},
	})
	le := binary.LittleEndian
	elf := make([]byte, 64+2*64+100) // a header, two sections, the bytes of one
	copy(elf, "\x7fELF\x02\x01\x01\x41\x08")
	le.PutUint16(elf[16:], 2)
	le.PutUint16(elf[18:], 190)
	le.PutUint64(elf[40:], 64)
	le.PutUint16(elf[58:], 64)
	le.PutUint16(elf[60:], 2)
	le.PutUint32(elf[128+4:], 1)
	le.PutUint64(elf[128+24:], 192)
	le.PutUint64(elf[128+32:], 100)
	box := append([]byte("\x50\xed\x55\xba\x01\x00\x10\x00\xc8\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 200)...)
	tile := append([]byte("\x7fTileIR\x00\x0d\x01\x00\x00\x03\x64"), make([]byte, 101)...)
	for name, image := range map[string][]byte{"cubin": elf, "container": box, "Tile IR": tile} {
		least := map[string]int{"cubin": 20, "container": 6, "Tile IR": 8}[name] // before that it is an unknown format
		for n := least; n <= len(image); n++ {
			b := image[:n:n]
			calls := []func() error{
				func() error { _, err := api.ModuleLoadData(b); return err },
				func() error { _, err := api.ModuleLoadDataEx(b, nil, nil); return err },
				func() error { _, err := api.ModuleLoadFatBinary(b); return err },
				func() error { _, err := api.LibraryLoadData(b, nil, nil, nil, nil); return err },
				func() error { return api.LinkAddData(1, CU_JIT_INPUT_FATBINARY, b, "", nil, nil) },
			}
			for i, call := range calls {
				called = false
				err := call()
				var e *ImageError
				cut := errors.As(err, &e) && errors.Is(err, CUDA_ERROR_INVALID_IMAGE) && e.Func != "" && e.Param != ""
				if n < len(image) && (!cut || called) || n == len(image) && (err != nil || !called) {
					t.Errorf("%s, %d bytes of %d, call %d: %v, called %t", name, n, len(image), i, err, called)
				}
			}
		}
	}
}

func TestImagesAreTerminated(t *testing.T) {
	var got []byte
	var ptr unsafe.Pointer
	want := 0
	api := New(&driver.Table{
		ModuleLoadData: func(_ driver.CUcontext, m *driver.CUmodule, image unsafe.Pointer) driver.CUresult {
			ptr = image
			if image != nil {
				got = append([]byte(nil), unsafe.Slice((*byte)(image), want)...)
			}
			return 0
		},
	})
	text := []byte(".version 8.0\n")
	want = len(text) + 1
	if _, err := api.ModuleLoadData(text); err != nil || !bytes.Equal(got, append(bytes.Clone(text), 0)) {
		t.Errorf("%q %v", got, err)
	}
	withNUL := append(bytes.Clone(text), 0)
	if _, err := api.ModuleLoadData(withNUL); err != nil || ptr != unsafe.Pointer(&withNUL[0]) {
		t.Error("a terminated image was copied")
	}
	box := append([]byte("\x50\xed\x55\xba\x01\x00\x10\x00\x40\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 64)...)
	want = len(box)
	if _, err := api.ModuleLoadData(box); err != nil || ptr != unsafe.Pointer(&box[0]) {
		t.Error("a binary image was copied")
	}
	// What is too short for a header is not one that a driver reads behind.
	want = 64
	padded := append([]byte("\x7fELF"), make([]byte, 60)...)
	if _, err := api.ModuleLoadData([]byte("\x7fELF")); err != nil || !bytes.Equal(got, padded) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := api.ModuleLoadData(nil); err != nil || ptr != nil {
		t.Error("no image is not NULL")
	}
}

func TestSlices(t *testing.T) {
	type edges struct {
		from, to []driver.CUgraphNode
		data     *driver.CUgraphEdgeData
	}
	var got edges
	api := New(&driver.Table{
		GraphAddDependencies_v2: func(_ driver.CUcontext, _ driver.CUgraph, from, to *driver.CUgraphNode,
			data *driver.CUgraphEdgeData, n uint64) driver.CUresult {
			got = edges{slices.Clone(unsafe.Slice(from, n)), slices.Clone(unsafe.Slice(to, n)), data}
			return 0
		},
		GraphGetNodes: func(_ driver.CUcontext, _ driver.CUgraph, nodes *driver.CUgraphNode,
			n *uint64) driver.CUresult {
			if nodes == nil {
				*n = 3
				return 0
			}
			all := []driver.CUgraphNode{4, 5, 6}
			c := copy(unsafe.Slice(nodes, *n), all)
			*n = uint64(c)
			return 0
		},
		LibraryEnumerateKernels: func(_ driver.CUcontext, k *driver.CUkernel, n uint32,
			_ driver.CUlibrary) driver.CUresult {
			for i := range unsafe.Slice(k, n) {
				unsafe.Slice(k, n)[i] = driver.CUkernel(i + 1)
			}
			return 0
		},
		ModuleLoadDataEx: func(_ driver.CUcontext, m *driver.CUmodule, _ unsafe.Pointer, n uint32,
			o *driver.CUjit_option, v *uintptr) driver.CUresult {
			if n != 2 || unsafe.Slice(o, n)[1] != driver.CU_JIT_LOG_VERBOSE || unsafe.Slice(v, n)[1] != 1 {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			*m = 9
			return 0
		},
		LinkComplete: func(_ driver.CUcontext, _ driver.CUlinkState, p *unsafe.Pointer, n *uint64) driver.CUresult {
			*p, *n = unsafe.Pointer(&linked[0]), 4
			return 0
		},
		CoredumpGetAttribute: func(_ driver.CUcontext, _ driver.CUcoredumpSettings, v unsafe.Pointer,
			n *uint64) driver.CUresult {
			*(*byte)(v) = byte(*n)
			*n = 1
			return 0
		},
		StreamGetCaptureInfo_v3: func(_ driver.CUcontext, _ driver.CUstream, st *driver.CUstreamCaptureStatus,
			id *uint64, g *driver.CUgraph, deps **driver.CUgraphNode, data **driver.CUgraphEdgeData,
			n *uint64) driver.CUresult {
			*st, *id, *g, *deps, *n = driver.CU_STREAM_CAPTURE_STATUS_ACTIVE, 77, 5, &captured[0], 2
			return 0
		},
		MemcpyHtoD: func(_ driver.CUcontext, _ driver.CUdeviceptr_v1, src unsafe.Pointer, n uint32) driver.CUresult {
			if src == nil && n == 0 {
				return 0
			}
			return driver.CUDA_ERROR_UNKNOWN
		},
		TensorMapEncodeTiled: func(_ driver.CUcontext, m *driver.CUtensorMap, _ driver.CUtensorMapDataType, rank uint32,
			_ uintptr, _, strides *uint64, _, _ *uint32, _ driver.CUtensorMapInterleave, _ driver.CUtensorMapSwizzle,
			_ driver.CUtensorMapL2promotion, _ driver.CUtensorMapFloatOOBfill) driver.CUresult {
			if uintptr(unsafe.Pointer(m))%64 != 0 || rank != 2 || *strides != 512 {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			m.Opaque[15] = 42
			return 0
		},
		TensorMapReplaceAddress: func(_ driver.CUcontext, m *driver.CUtensorMap, a uintptr) driver.CUresult {
			if uintptr(unsafe.Pointer(m))%64 != 0 {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			m.Opaque[0] = uint64(a)
			return 0
		},
	})
	if err := api.GraphAddDependencies(1, []CUgraphNode{1, 2}, []CUgraphNode{3, 4}, nil); err != nil ||
		!slices.Equal(got.from, []driver.CUgraphNode{1, 2}) || !slices.Equal(got.to, []driver.CUgraphNode{3, 4}) ||
		got.data != nil {
		t.Errorf("%+v %v", got, err)
	}
	got = edges{}
	for _, err := range []error{
		api.GraphAddDependencies(1, []CUgraphNode{1, 2}, []CUgraphNode{3}, nil),
		api.GraphAddDependencies(1, []CUgraphNode{1, 2}, []CUgraphNode{3, 4}, make([]CUgraphEdgeData, 1)),
	} {
		var arg *ArgumentError
		if !errors.As(err, &arg) || !errors.Is(err, CUDA_ERROR_INVALID_VALUE) || got.from != nil {
			t.Errorf("different lengths: %v", err)
		}
	}
	if nodes, n, err := api.GraphGetNodes(1, 0); nodes == nil && n == 0 || len(nodes) != 0 || n != 3 || err != nil {
		t.Errorf("count only: %v %d %v", nodes, n, err)
	}
	if nodes, n, err := api.GraphGetNodes(1, 10); !slices.Equal(nodes, []CUgraphNode{4, 5, 6}) || n != 3 || err != nil {
		t.Errorf("more than there are: %v %d %v", nodes, n, err)
	}
	if nodes, _, err := api.GraphGetNodes(1, 2); !slices.Equal(nodes, []CUgraphNode{4, 5}) || err != nil {
		t.Errorf("fewer than there are: %v %v", nodes, err)
	}
	if _, _, err := api.GraphGetNodes(1, 1<<60); !errors.Is(err, CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("absurd size: %v", err)
	}
	if k, err := api.LibraryEnumerateKernels(2, 1); !slices.Equal(k, []CUkernel{1, 2}) || err != nil {
		t.Errorf("%v %v", k, err)
	}
	if m, err := api.ModuleLoadDataEx([]byte("x"), []CUjit_option{CU_JIT_MAX_REGISTERS, CU_JIT_LOG_VERBOSE},
		[]uintptr{32, 1}); m != 9 || err != nil {
		t.Errorf("%v %v", m, err)
	}
	if _, err := api.ModuleLoadDataEx(nil, []CUjit_option{CU_JIT_MAX_REGISTERS}, nil); !errors.Is(err,
		CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("options without values: %v", err)
	}
	image, err := api.LinkComplete(1)
	if string(image) != "cubi" || err != nil || &image[0] == &linked[0] {
		t.Errorf("%q %v", image, err)
	}
	if v := make([]byte, 6); true {
		if n, err := api.CoredumpGetAttribute(CU_COREDUMP_FILE, v); n != 1 || v[0] != 6 || err != nil {
			t.Errorf("%d %v %v", n, v, err)
		}
	}
	st, id, g, deps, data, err := api.StreamGetCaptureInfo(0)
	if st != CU_STREAM_CAPTURE_STATUS_ACTIVE || id != 77 || g != 5 || !slices.Equal(deps, []CUgraphNode{8, 9}) ||
		data != nil || err != nil {
		t.Errorf("%v %v %v %v %v %v", st, id, g, deps, data, err)
	}
	if err := api.MemcpyHtoD_v1(0, nil); err != nil {
		t.Error(err)
	}
	m, err := api.TensorMapEncodeTiled(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4096, []uint64{128, 64}, []uint64{512},
		[]uint32{32, 32}, []uint32{1, 1}, 0, 0, 0, 0)
	if err != nil || m.Opaque[15] != 42 {
		t.Errorf("%v %v", m, err)
	}
	if _, err := api.TensorMapEncodeTiled(0, 0, []uint64{1, 1}, nil, []uint32{1, 1}, []uint32{1, 1}, 0, 0, 0,
		0); !errors.Is(err, CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("strides missing: %v", err)
	}
	if err := api.TensorMapReplaceAddress(&m, 8192); err != nil || m.Opaque[0] != 8192 || m.Opaque[15] != 42 {
		t.Errorf("%v %v", m, err)
	}
}

var (
	linked   = []byte("cubin")
	captured = []driver.CUgraphNode{8, 9}
)

func TestStructsByValueAndFloats(t *testing.T) {
	api := New(&driver.Table{
		MemAdvise_v2: func(_ driver.CUcontext, p driver.CUdeviceptr, n uint64, a driver.CUmem_advise,
			l driver.CUmemLocation) driver.CUresult {
			if p != 64 || n != 2 || a != driver.CU_MEM_ADVISE_SET_READ_MOSTLY ||
				l != (driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: 3}) {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			return 0
		},
		IpcOpenMemHandle_v2: func(_ driver.CUcontext, p *driver.CUdeviceptr, h driver.CUipcMemHandle,
			_ uint32) driver.CUresult {
			*p = driver.CUdeviceptr(h.Reserved[63])
			return 0
		},
		ParamSetf: func(_ driver.CUcontext, _ driver.CUfunction, _ int32, v float32) driver.CUresult {
			return driver.CUresult(v * 2)
		},
		TexRefSetBorderColor: func(_ driver.CUcontext, _ driver.CUtexref, c *float32) driver.CUresult {
			return driver.CUresult(unsafe.Slice(c, 4)[3])
		},
	})
	if err := api.MemAdvise(64, 2, CU_MEM_ADVISE_SET_READ_MOSTLY,
		CUmemLocation{Type: CU_MEM_LOCATION_TYPE_DEVICE, Id: 3}); err != nil {
		t.Error(err)
	}
	var h CUipcMemHandle
	h.Reserved[63] = 200
	if p, err := api.IpcOpenMemHandle(h, 0); p != 200 || err != nil {
		t.Errorf("%v %v", p, err)
	}
	if err := api.ParamSetf(1, 0, 50); err != error(CUDA_ERROR_NO_DEVICE) { // 100
		t.Error(err)
	}
	if err := api.TexRefSetBorderColor(1, [4]float32{0, 0, 0, 101}); err != error(CUDA_ERROR_INVALID_DEVICE) {
		t.Error(err)
	}
}

func TestCallbacks(t *testing.T) {
	api := New(&driver.Table{
		LaunchHostFunc: func(_ driver.CUcontext, _ driver.CUstream, f driver.CUhostFn, data uintptr) driver.CUresult {
			if f.IsNil() {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			f.Go(data)
			return 0
		},
		StreamAddCallback: func(_ driver.CUcontext, s driver.CUstream, f driver.CUstreamCallback, data uintptr,
			_ uint32) driver.CUresult {
			f.Go(s, driver.CUDA_ERROR_LAUNCH_FAILED, data)
			return 0
		},
		OccupancyMaxPotentialBlockSize: func(_ driver.CUcontext, grid, block *int32, _ driver.CUfunction,
			f driver.CUoccupancyB2DSize, fixed uint64, _ int32) driver.CUresult {
			*grid = int32(fixed)
			if !f.IsNil() {
				*grid = int32(f.Go(128))
			}
			*block = 128
			return 0
		},
		LogsRegisterCallback: func(_ driver.CUcontext, f driver.CUlogsCallback, data uintptr,
			h *driver.CUlogsCallbackHandle) driver.CUresult {
			msg := []byte("first line, rest")
			f.Go(data, driver.CU_LOG_LEVEL_WARNING, &msg[0], 10)
			*h = 6
			return 0
		},
		DeviceRegisterAsyncNotification: func(_ driver.CUcontext, _ driver.CUdevice, f driver.CUasyncCallback,
			data uintptr, h *driver.CUasyncCallbackHandle) driver.CUresult {
			var info driver.CUasyncNotificationInfo
			info.Type = driver.CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET
			info.Info.OverBudget().BytesOverBudget = 1 << 40
			f.Go(&info, data, 3)
			return 0
		},
		UserObjectCreate: func(_ driver.CUcontext, o *driver.CUuserObject, p uintptr, f driver.CUhostFn, _,
			_ uint32) driver.CUresult {
			f.Go(p)
			return 0
		},
		HostFunc: func(run func()) (uintptr, uintptr, func()) { run(); return 1, 2, run },
	})
	ran := 0
	if err := api.LaunchHostFunc(0, func() { ran++ }); err != nil || ran != 1 {
		t.Errorf("%d %v", ran, err)
	}
	if err := api.LaunchHostFunc(0, nil); err != error(CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("nil function: %v", err)
	}
	var status CUresult
	if err := api.StreamAddCallback(4, func(s CUstream, r CUresult) {
		ran += int(s)
		status = r
	}, 0); err != nil || ran != 5 || status != CUDA_ERROR_LAUNCH_FAILED {
		t.Errorf("%d %v %v", ran, status, err)
	}
	if g, b, err := api.OccupancyMaxPotentialBlockSize(1, func(n int32) uint64 {
		return uint64(n) * 4
	}, 0, 0); g != 512 || b != 128 || err != nil {
		t.Errorf("%d %d %v", g, b, err)
	}
	if g, _, err := api.OccupancyMaxPotentialBlockSize(1, nil, 9, 0); g != 9 || err != nil {
		t.Errorf("%d %v", g, err)
	}
	var line string
	if h, err := api.LogsRegisterCallback(func(l CUlogLevel, m string) {
		line = m
	}); h != 6 || line != "first line" || err != nil {
		t.Errorf("%d %q %v", h, line, err)
	}
	var over uint64
	if _, err := api.DeviceRegisterAsyncNotification(0, func(i *CUasyncNotificationInfo, h CUasyncCallbackHandle) {
		over = i.Info.OverBudget().BytesOverBudget
	}); over != 1<<40 || err != nil {
		t.Errorf("%d %v", over, err)
	}
	if _, err := api.UserObjectCreate(func() { ran = 100 }, 1, 0); ran != 100 || err != nil {
		t.Errorf("%d %v", ran, err)
	}
	if fn, data, release, err := api.HostFunc(func() {
		ran++
	}); fn != 1 || data != 2 || release == nil || err != nil || ran != 101 {
		t.Errorf("%d %d %d %v", fn, data, ran, err)
	}
	if _, _, _, err := New(new(driver.Table)).HostFunc(func() {}); !errors.Is(err, CUDA_ERROR_NOT_SUPPORTED) {
		t.Errorf("%v", err)
	}
}

func TestLaunch(t *testing.T) {
	var params []unsafe.Pointer
	var extra []uintptr
	api := New(&driver.Table{
		LaunchKernel: func(_ driver.CUcontext, _ driver.CUfunction, gx, gy, gz, bx, by, bz, shared uint32,
			s driver.CUstream, p *unsafe.Pointer, e *uintptr) driver.CUresult {
			if gx != 1 || gy != 2 || gz != 3 || bx != 4 || by != 5 || bz != 6 || shared != 7 || s != 8 {
				return driver.CUDA_ERROR_INVALID_VALUE
			}
			params, extra = nil, nil
			if p != nil {
				params = slices.Clone(unsafe.Slice(p, 2))
			}
			if e != nil {
				extra = slices.Clone(unsafe.Slice(e, 5))
				if *(*uint64)(addr(extra[3])) != 12 || *(*byte)(addr(extra[1])) != 0xab {
					return driver.CUDA_ERROR_UNKNOWN
				}
			}
			return 0
		},
	})
	x, y := new(int32), new(float32)
	if err := api.LaunchKernel(9, 1, 2, 3, 4, 5, 6, 7, 8, []unsafe.Pointer{unsafe.Pointer(x), unsafe.Pointer(y)},
		nil); err != nil || params[0] != unsafe.Pointer(x) || params[1] != unsafe.Pointer(y) || extra != nil {
		t.Errorf("%v %v %v", params, extra, err)
	}
	buf := make([]byte, 12)
	buf[0] = 0xab
	// CU_LAUNCH_PARAM_BUFFER_POINTER is 1, _SIZE 2, _END 0 (cuda.h)
	if err := api.LaunchKernel(9, 1, 2, 3, 4, 5, 6, 7, 8, nil, buf); err != nil || params != nil || extra[0] != 1 ||
		extra[2] != 2 || extra[4] != 0 {
		t.Errorf("%v %v %v", params, extra, err)
	}
}

// addr reads an address that the array of launch parameters carries as a number.
func addr(u uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&u)) }

func TestMissingFunctions(t *testing.T) {
	_, err := New(new(driver.Table)).MemAllocAsync(1, 0)
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Symbol != "cuMemAllocAsync" || missing.Since != 11020 ||
		!errors.Is(err, CUDA_ERROR_NOT_SUPPORTED) {
		t.Errorf("%v", err)
	}
	if !strings.Contains(err.Error(), "cuMemAllocAsync") || !strings.Contains(err.Error(), "11.2") {
		t.Errorf("%q", err)
	}
	if err := (API{}).CtxSynchronize(); !errors.Is(err, CUDA_ERROR_NOT_INITIALIZED) {
		t.Errorf("zero API: %v", err)
	}
}

func TestPerThread(t *testing.T) {
	table := &driver.Table{
		StreamQuery: func(_ driver.CUcontext, s driver.CUstream) driver.CUresult { return driver.CUresult(s) },
		Init:        func(driver.CUcontext, uint32) driver.CUresult { return driver.CUDA_ERROR_TIMEOUT },
	}
	if _, ok := New(table).PerThread(); ok {
		t.Error("variants without a table")
	}
	table.PerThread = driver.DerivePerThread(table)
	p, ok := New(table).PerThread()
	// CU_STREAM_PER_THREAD is 2
	if !ok || p.StreamQuery(0) != error(CUDA_ERROR_OUT_OF_MEMORY) || p.Init(0) != error(CUDA_ERROR_TIMEOUT) {
		t.Errorf("%t %v %v", ok, p.StreamQuery(0), p.Init(0))
	}
	if err := New(table).StreamQuery(0); err != nil {
		t.Errorf("the plain API changed: %v", err)
	}
}

func TestResultText(t *testing.T) {
	for _, c := range []struct {
		r           CUresult
		name, error string
	}{
		{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "CUDA_ERROR_NOT_FOUND: named symbol not found"},
		{CUDA_SUCCESS, "CUDA_SUCCESS", "CUDA_SUCCESS: no error"},
		{CUresult(4711), "", "CUresult(4711): unrecognized error code"},
	} {
		if c.r.Name() != c.name || c.r.Error() != c.error {
			t.Errorf("%q %q", c.r.Name(), c.r.Error())
		}
	}
	if CUDA_SUCCESS.Err() != nil || CUDA_ERROR_UNKNOWN.Err() != error(CUDA_ERROR_UNKNOWN) {
		t.Error("Err")
	}
	if CUDA_ERROR_UNKNOWN.String() != "CUDA_ERROR_UNKNOWN" {
		t.Error("String")
	}
}

func TestUnknownChoiceOfDevice(t *testing.T) {
	t.Setenv(env.Device, "gpu")
	api, err := openDefault()
	var dev *DeviceError
	if api != nil || !errors.As(err, &dev) || dev.Choice != "gpu" ||
		!strings.Contains(err.Error(), "driver, software or auto") {
		t.Errorf("%v %v", api, err)
	}
}

func TestAllocations(t *testing.T) {
	table := new(driver.Table)
	table.LaunchKernel = func(driver.CUcontext, driver.CUfunction, uint32, uint32, uint32, uint32, uint32, uint32,
		uint32, driver.CUstream, *unsafe.Pointer, *uintptr) driver.CUresult {
		return 0
	}
	table.MemcpyHtoD_v2 = func(driver.CUcontext, driver.CUdeviceptr, unsafe.Pointer, uint64) driver.CUresult {
		return 0
	}
	table.MemcpyDtoHAsync_v2 = func(driver.CUcontext, unsafe.Pointer, driver.CUdeviceptr, uint64,
		driver.CUstream) driver.CUresult {
		return 0
	}
	table.CtxSetCurrent = func(driver.CUcontext, driver.CUcontext) driver.CUresult {
		return driver.CUDA_ERROR_INVALID_CONTEXT
	}
	table.CtxGetStreamPriorityRange = func(driver.CUcontext, *int32, *int32) driver.CUresult { return 0 }
	table.ModuleGetGlobal_v2 = func(driver.CUcontext, *driver.CUdeviceptr, *uint64, driver.CUmodule,
		*byte) driver.CUresult {
		return 0
	}
	api := New(table).In(1)
	params := []unsafe.Pointer{nil, nil}
	host := make([]byte, 64)
	for _, c := range []struct {
		name string
		most float64
		call func() error
	}{
		{"LaunchKernel", 0, func() error { return api.LaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, params, nil) }},
		{"MemcpyHtoD", 0, func() error { return api.MemcpyHtoD(1, host) }},
		{"MemcpyDtoHAsync", 0, func() error { return api.MemcpyDtoHAsync(host, 1, 0) }},
		{"CtxSetCurrent", 0, func() error { _ = api.CtxSetCurrent(1); return nil }},
		{"CtxGetStreamPriorityRange", 1, func() error { _, _, err := api.CtxGetStreamPriorityRange(); return err }},
		{"ModuleGetGlobal", 1, func() error { _, _, err := api.ModuleGetGlobal(1, "constants"); return err }},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := c.call(); err != nil {
				t.Error(err)
			}
		}); n > c.most {
			t.Errorf("%s: %v allocations, at most %v wanted", c.name, n, c.most)
		}
	}
}

func BenchmarkLaunchKernel(b *testing.B) {
	api := New(&driver.Table{LaunchKernel: func(driver.CUcontext, driver.CUfunction, uint32, uint32, uint32, uint32,
		uint32, uint32, uint32, driver.CUstream, *unsafe.Pointer, *uintptr) driver.CUresult {
		return 0
	}})
	params := []unsafe.Pointer{nil, nil}
	b.ReportAllocs()
	for b.Loop() {
		if err := api.LaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, params, nil); err != nil {
			b.Fatal(err)
		}
	}
}
