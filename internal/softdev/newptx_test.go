package softdev

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestNewerPTX: what is newer than the device's version is taken when everything in it is known, and else refused with
// words that say what to compile with. The driver's words in the log are those that were recorded for 9.1 and 99.0.
func TestNewerPTX(t *testing.T) {
	const body = ".target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) { .reg .b64 d; .reg .b32 r;\n" +
		"\tld.param.u64 d, [a]; mov.b32 r, 7;%s st.global.b32 [d], r; ret; }\n%s"
	const compile = "nvidia-cuda-nvrtc==13.0.*"
	for _, c := range []struct {
		version, more, end string
		ptx                string // Options.PTX
		result             driver.CUresult
		log, detail        string
	}{
		{version: "9.0"},
		{version: "9.1"},
		{version: "9.5"},
		{"9.1", "", "", "9.0", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 9.1;", compile},
		{"9.3", "", "", "9.2", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 9.3;", compile},
		{"9.2", "", "", "9.2", driver.CUDA_SUCCESS, "", ""},
		{"9.6", "", "", "", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 9.6;", compile},
		{"5.9", "", "", "", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 5.9;",
			"there is no PTX 5.9"},
		{"9.5", " frob.b32 r, r;", "", "", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "frob", compile},
		{"9.5", "", ".frob { 1 }\n", "", driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 9.5;",
			compile},
		{"9.0", " frob.b32 r, r;", "", "", driver.CUDA_ERROR_INVALID_PTX, "frob", "frob"},
	} {
		t.Run(c.version+c.more+c.end+c.ptx, func(t *testing.T) {
			d, tab, ctx := open(t, Options{PTX: c.ptx})
			text := []byte(".version " + c.version + "\n" + fmt.Sprintf(body, c.more, c.end) + "\x00")
			log := make([]byte, 4096)
			ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
			values := []uintptr{address(t, &log[0]), uintptr(len(log))}
			var m driver.CUmodule
			r := tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(&text[0]), 2, &ids[0], &values[0])
			if got := driver.String(&log[0]); r != c.result || !strings.Contains(got, c.log) ||
				(c.log == "") != (got == "") {
				t.Errorf("%v, want %v; log %q, want %q", r, c.result, got, c.log)
			}
			if got := d.LastDetail(ctx); !strings.Contains(got, c.detail) {
				t.Errorf("detail %q, want %q", got, c.detail)
			}
			if r == driver.CUDA_SUCCESS {
				var f driver.CUfunction
				var p driver.CUdeviceptr
				must(t, tab.ModuleGetFunction(ctx, &f, m, cstr("k")))
				must(t, tab.MemAlloc_v2(ctx, &p, 4))
				args := []unsafe.Pointer{unsafe.Pointer(&p)}
				must(t, tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, &args[0], nil))
				var got uint32
				must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got), p, 4))
				must(t, tab.MemFree_v2(ctx, p))
				if got != 7 {
					t.Errorf("%d", got)
				}
				must(t, tab.ModuleUnload(ctx, m))
			}
			// A link answers alike.
			var s driver.CUlinkState
			must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
			if r := tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, unsafe.Pointer(&text[0]), uint64(len(text)),
				cstr("k.ptx"), 0, nil, nil); r != c.result {
				t.Errorf("link: %v, want %v", r, c.result)
			}
			must(t, tab.LinkDestroy(ctx, s))
		})
	}
	for _, v := range []string{"8.9", "9.6", "9", "nine"} {
		var bad *PTXVersionError
		if _, err := New(Options{PTX: v}); !errors.As(err, &bad) {
			t.Errorf("PTX %q: %v", v, err)
		}
	}
}
