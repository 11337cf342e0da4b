package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestMallocTakes: malloc in kernels gives addresses that are multiples of 16 (Programming Guide, "Dynamic Global
// Memory Allocation and Operations"), so that a heap holds at most its size by 16 allocations, however small they are.
func TestMallocTakes(t *testing.T) {
	_, tab, ctx := open(t, Options{Memory: 1 << 30})
	const size = 1 << 16
	must(t, tab.CtxSetLimit(ctx, driver.CU_LIMIT_MALLOC_HEAP_SIZE, size))
	var heap uint64
	must(t, tab.CtxGetLimit(ctx, &heap, driver.CU_LIMIT_MALLOC_HEAP_SIZE))
	const text = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.visible .entry k(.param .u64 out) {
	.reg .b64 %p,%n,%v; .reg .pred %q;
	.param .b64 a; .param .b64 r;
	ld.param.u64 %p,[out];
	mov.u64 %n,0;
again:
	st.param.b64 [a],1;
	call (r),malloc,(a);
	ld.param.b64 %v,[r];
	setp.eq.u64 %q,%v,0;
	@%q bra full;
	add.u64 %n,%n,1;
	bra again;
full:
	st.global.u64 [%p],%n;
	ret;
}`
	b := append([]byte(text), 0)
	var m driver.CUmodule
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&b[0])))
	var f driver.CUfunction
	must(t, tab.ModuleGetFunction(ctx, &f, m, cstr("k")))
	var out driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &out, 8))
	args := []unsafe.Pointer{unsafe.Pointer(&out)}
	must(t, tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, &args[0], nil))
	var n uint64
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&n), out, 8))
	if n == 0 || n > heap/16 {
		t.Errorf("%d allocations of a byte in a heap of %d bytes, want %d at most", n, heap, heap/16)
	}
}
