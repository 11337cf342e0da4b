package softdev

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

// memcheckPTX has a kernel for each kind of access; line numbers count from the first line, which is empty.
const memcheckPTX = `
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 first[4];
.global .align 64 .u32 second[4];
.visible .entry store(.param .u64 p, .param .u32 n)
{
	.reg .b64 %q<3>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %q0, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r0, %tid.x;
	mad.lo.u32 %r0, %r2, %r3, %r0;
	setp.ge.u32 %p, %r0, %r1;
	mul.wide.u32 %q1, %r0, 4;
	add.u64 %q1, %q0, %q1;
	@!%p st.global.u32 [%q1], %r0; // line 21
	ret;
}
.visible .entry load(.param .u64 p, .param .u64 out)
{
	.reg .b64 %q<3>;
	.reg .b32 %r<4>;
	ld.param.u64 %q0, [p];
	ld.global.v2.u32 {%r0, %r1}, [%q0]; // line 29
	ld.param.u64 %q1, [out];
	add.u32 %r0, %r0, %r1;
	st.global.u32 [%q1], %r0;
	ret;
}
.visible .entry add(.param .u64 p)
{
	.reg .b64 %q<3>;
	.reg .b32 %r<4>;
	ld.param.u64 %q0, [p];
	atom.global.add.u32 %r0, [%q0], 1; // line 40
	ret;
}
.visible .entry sharedstore(.param .u32 off)
{
	.reg .b32 %r<4>;
	.shared .align 4 .b8 tile[64];
	ld.param.u32 %r0, [off];
	mov.u32 %r1, tile;
	add.u32 %r1, %r1, %r0;
	st.shared.u32 [%r1], %r0; // line 50
	ret;
}
.visible .entry localstore(.param .u64 off)
{
	.reg .b64 %q<4>;
	.local .align 4 .b8 buf[64];
	ld.param.u64 %q0, [off];
	mov.u64 %q1, buf;
	add.u64 %q1, %q1, %q0;
	st.local.u32 [%q1], 1; // line 60
	ret;
}
.visible .entry variable(.param .u64 off)
{
	.reg .b64 %q<4>;
	ld.param.u64 %q0, [off];
	mov.u64 %q1, first;
	add.u64 %q1, %q1, %q0;
	st.global.u32 [%q1], 1; // line 69
	mov.u64 %q1, second;
	st.global.u32 [%q1], 1;
	ret;
}
.visible .entry tidy(.param .u64 p) // nothing that a checker minds
{
	.reg .b64 %q<4>;
	.reg .b32 %r<4>;
	.local .align 4 .b8 buf[64];
	.shared .align 4 .b8 tile[128];
	ld.param.u64 %q0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %q1, %r0, 4;
	add.u64 %q0, %q0, %q1;
	mov.u32 %r1, tile;
	shl.b32 %r2, %r0, 2;
	add.u32 %r1, %r1, %r2;
	st.shared.u32 [%r1], %r0;
	bar.sync 0;
	ld.shared.u32 %r3, [%r1];
	st.local.u32 [buf+60], %r3;
	ld.local.u32 %r3, [buf+60];
	atom.global.add.u32 %r2, [%q0], %r3;
	ret;
}
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry again(.param .u32 rounds)
{
	.reg .b64 %q<4>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u32 %r0, [rounds];
	mov.u64 %q0, 64;
	{ .param .b64 pn; .param .b64 pr;
	st.param.b64 [pn], %q0;
	call (pr), malloc, (pn);
	ld.param.b64 %q1, [pr]; }
L:
	st.global.u32 [%q1+4], %r0; // line 109
	setp.ne.u32 %p, %r0, 1;
	@%p bra M;
	{ .param .b64 pp;
	st.param.b64 [pp], %q1;
	call free, (pp); }
M:
	sub.u32 %r0, %r0, 1;
	setp.ge.s32 %p, %r0, 0;
	@%p bra L;
	ret;
}
`

type memcheckCase struct {
	t    *testing.T
	d    *Driver
	tab  *driver.Table
	ctx  driver.CUcontext
	mod  driver.CUmodule
	errs []*checker.Report
}

func newMemcheckCase(t *testing.T, engine string) *memcheckCase {
	m := &memcheckCase{t: t}
	m.d, m.tab, m.ctx = open(t, Options{EngineName: engine, Workers: 1, Check: []string{"memory"},
		Reports: func(e *checker.Report) {
			m.errs = append(m.errs, e)
		}})
	must(t, m.tab.ModuleLoadData(m.ctx, &m.mod, unsafe.Pointer(cstr(memcheckPTX))))
	return m
}

func (m *memcheckCase) alloc(n uint64) (p driver.CUdeviceptr) {
	must(m.t, m.tab.MemAlloc_v2(m.ctx, &p, n))
	return p
}

func (m *memcheckCase) launch(kernel string, grid, block uint32, params ...unsafe.Pointer) driver.CUresult {
	m.t.Helper()
	var f driver.CUfunction
	must(m.t, m.tab.ModuleGetFunction(m.ctx, &f, m.mod, cstr(kernel)))
	must(m.t, m.tab.LaunchKernel(m.ctx, f, grid, 1, 1, block, 1, 1, 0, 0, unsafe.SliceData(params), nil))
	return m.tab.CtxSynchronize(m.ctx)
}

func onEngines(t *testing.T, f func(t *testing.T, engine string)) {
	for _, engine := range []string{"interpreter", "jit"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "jit" {
				var none *jit.UnavailableError
				if _, err := jit.New(""); errors.As(err, &none) {
					skip.Without(t, skip.MachineCode, err)
				}
			}
			f(t, engine)
		})
	}
}

// TestMemcheck makes bad accesses of every kind. What each is follows from what was allocated.
func TestMemcheck(t *testing.T) {
	cases := []struct {
		name   string
		run    func(m *memcheckCase) driver.CUresult
		kind   string
		access string
		line   int32
		thread uint32
		block  uint32
		more   int
		where  string
		api    string // that allocated
		freed  string
	}{
		{name: "behind the end", run: func(m *memcheckCase) driver.CUresult {
			p, n := m.alloc(400), uint32(1000)
			m.alloc(512) // its neighbour
			return m.launch("store", 2, 64, unsafe.Pointer(&p), unsafe.Pointer(&n))
		}, kind: checker.OutOfBounds, access: "write", line: 21, block: 1, thread: 36, more: 27,
			where: "immediately after allocation 1: 400 bytes of device memory", api: "cuMemAlloc"},
		{name: "guarded", run: func(m *memcheckCase) driver.CUresult {
			// a multiple of the allocation granularity: the next allocation would begin here
			p, n := m.alloc(512), uint32(131)
			m.alloc(512)
			return m.launch("store", 3, 64, unsafe.Pointer(&p), unsafe.Pointer(&n))
		}, kind: checker.OutOfBounds, access: "write", line: 21, block: 2, thread: 0, more: 2,
			where: "immediately after allocation 1: 512 bytes", api: "cuMemAlloc"},
		{name: "across the end", run: func(m *memcheckCase) driver.CUresult {
			p, out := m.alloc(12), m.alloc(4)
			p += 8
			return m.launch("load", 1, 1, unsafe.Pointer(&p), unsafe.Pointer(&out))
		}, kind: checker.OutOfBounds, access: "read", line: 29,
			where: "the last 4 bytes are past the end of allocation 1: 12 bytes", api: "cuMemAlloc"},
		{name: "before", run: func(m *memcheckCase) driver.CUresult {
			p, out := m.alloc(1024), m.alloc(4)
			p -= 64
			return m.launch("load", 1, 1, unsafe.Pointer(&p), unsafe.Pointer(&out))
		}, kind: checker.OutOfBounds, access: "read", line: 29, where: "64 bytes before allocation 1: 1024 bytes",
			api: "cuMemAlloc"},
		{name: "freed", run: func(m *memcheckCase) driver.CUresult {
			p := m.alloc(1024)
			must(m.t, m.tab.MemFree_v2(m.ctx, p))
			m.alloc(1024) // does not get its place
			p += 100
			return m.launch("add", 1, 1, unsafe.Pointer(&p))
		}, kind: checker.UseAfterFree, access: "write", line: 40,
			where: "byte 100 of what was allocation 1: 1024 bytes", api: "cuMemAlloc", freed: "cuMemFree"},
		{name: "freed, large", run: func(m *memcheckCase) driver.CUresult {
			p := m.alloc(8 << 20)
			must(m.t, m.tab.MemFree_v2(m.ctx, p))
			return m.launch("add", 1, 1, unsafe.Pointer(&p))
		}, kind: checker.UseAfterFree, access: "write", line: 40, where: "byte 0 of what was allocation 1",
			api: "cuMemAlloc", freed: "cuMemFree"},
		{name: "freed in stream order", run: func(m *memcheckCase) driver.CUresult {
			var p driver.CUdeviceptr
			must(m.t, m.tab.MemAllocAsync(m.ctx, &p, 256, 0))
			if r := m.launch("add", 1, 1, unsafe.Pointer(&p)); r != success {
				return r
			}
			must(m.t, m.tab.MemFreeAsync(m.ctx, p, 0))
			return m.launch("add", 1, 1, unsafe.Pointer(&p))
		}, kind: checker.UseAfterFree, access: "write", line: 40, where: "byte 0 of what was allocation 1: 256 bytes",
			api: "cuMemAllocAsync", freed: "cuMemFreeAsync"},
		{name: "freed in the kernel", run: func(m *memcheckCase) driver.CUresult {
			rounds := uint32(9) // the store that follows is the same instruction
			return m.launch("again", 1, 1, unsafe.Pointer(&rounds))
		}, kind: checker.UseAfterFree, access: "write", line: 109,
			where: "byte 4 of what was 64 bytes of memory of malloc in a kernel", api: "malloc", freed: "free"},
		{name: "null", run: func(m *memcheckCase) driver.CUresult {
			p := driver.CUdeviceptr(16)
			return m.launch("add", 1, 1, unsafe.Pointer(&p))
		}, kind: checker.Null, access: "write", line: 40, where: "16 bytes after NULL"},
		{name: "misaligned", run: func(m *memcheckCase) driver.CUresult {
			p := m.alloc(64) + 2
			return m.launch("add", 1, 1, unsafe.Pointer(&p))
		}, kind: checker.Misaligned, access: "write", line: 40,
			where: "the address is no multiple of 4; byte 2 of allocation 1", api: "cuMemAlloc"},
		{name: "shared", run: func(m *memcheckCase) driver.CUresult {
			off := uint32(64) // inside the granule that the hardware gives out
			return m.launch("sharedstore", 1, 1, unsafe.Pointer(&off))
		}, kind: checker.OutOfBounds, access: "write", line: 50,
			where: "0 bytes past the end of the 64 bytes of static shared memory, the last of which is tile"},
		{name: "local", run: func(m *memcheckCase) driver.CUresult {
			off := uint64(64) // inside the stack
			return m.launch("localstore", 1, 1, unsafe.Pointer(&off))
		}, kind: checker.OutOfBounds, access: "write", line: 60,
			where: "past the end of the thread's local variables (64 bytes"},
		{name: "between variables", run: func(m *memcheckCase) driver.CUresult {
			off := uint64(20)
			return m.launch("variable", 1, 1, unsafe.Pointer(&off))
		}, kind: checker.OutOfBounds, access: "write", line: 69, where: "4 bytes past the end of variable first (16 bytes)",
			api: "cuModuleLoadData"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, engine string) {
				m := newMemcheckCase(t, engine)
				want := driver.CUDA_ERROR_ILLEGAL_ADDRESS
				if c.kind == checker.Misaligned {
					want = driver.CUDA_ERROR_MISALIGNED_ADDRESS
				}
				if r := c.run(m); r != want {
					t.Fatalf("%v, want %v", r, want)
				}
				if len(m.errs) != 1 {
					t.Fatalf("%d reports", len(m.errs))
				}
				e := m.errs[0]
				s := &e.Sites[0]
				if e.Kind != c.kind || s.Access != c.access || s.Line != c.line || s.Block != [3]uint32{c.block} ||
					s.Thread != [3]uint32{c.thread} || s.More != c.more || !strings.Contains(e.Where, c.where) {
					t.Errorf("report\n%s\nwant %s, %s, line %d, block %d, thread %d, %d more, %q", e, c.kind, c.access,
						c.line, c.block, c.thread, c.more, c.where)
				}
				if c.api == "" {
					if e.Memory != nil {
						t.Errorf("an allocation is named: %v", e.Memory)
					}
					return
				}
				if e.Memory == nil || e.Memory.Made.API != c.api || e.Memory.Freed.API != c.freed {
					t.Fatalf("allocation %+v, want it from %s, freed by %q", e.Memory, c.api, c.freed)
				}
				if c.api != "malloc" && (!strings.HasSuffix(e.Memory.Made.File, "memcheck_test.go") ||
					e.Memory.Made.Line == 0) {
					t.Errorf("allocated at %+v", e.Memory.Made)
				}
				if text := m.d.LastDetail(m.ctx); !strings.Contains(text, c.where) || !strings.Contains(text, c.api) {
					t.Errorf("detail %q", text)
				}
			})
		})
	}
}

// TestMemcheckTidy runs what has no fault, and what the neighbours of an allocation hold: the checker reports the
// second frees alone, and all memory comes back.
func TestMemcheckTidy(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		m := newMemcheckCase(t, engine)
		var free, after, all uint64
		must(t, m.tab.MemGetInfo_v2(m.ctx, &free, &all))
		for i := range 3 {
			p, n := m.alloc(400), uint32(100)
			if r := m.launch("store", 2, 64, unsafe.Pointer(&p), unsafe.Pointer(&n)); r != success {
				t.Fatal(r, m.d.LastDetail(m.ctx))
			}
			q := m.alloc(128)
			must(t, m.tab.MemsetD32_v2(m.ctx, q, 0, 32))
			if r := m.launch("tidy", 2, 32, unsafe.Pointer(&q)); r != success {
				t.Fatal(r, m.d.LastDetail(m.ctx))
			}
			var got [32]uint32
			must(t, m.tab.MemcpyDtoH_v2(m.ctx, unsafe.Pointer(&got), q, 128))
			for k := range got {
				if got[k] != uint32(2*k) {
					t.Fatalf("round %d: element %d is %d", i, k, got[k])
				}
			}
			for _, x := range []driver.CUdeviceptr{p, q} {
				must(t, m.tab.MemFree_v2(m.ctx, x))
			}
			if r := m.tab.MemFree_v2(m.ctx, p); r != invalidValue {
				t.Errorf("free of freed memory: %v", r)
			}
			if text := m.d.LastDetail(m.ctx); !strings.Contains(text, "was freed by cuMemFree") {
				t.Errorf("detail of a second free: %q", text)
			}
		}
		must(t, m.tab.MemGetInfo_v2(m.ctx, &after, &all))
		if after > free || free-after > 4<<20 {
			t.Errorf("%d bytes free, %d before", after, free)
		}
		if len(m.errs) != 1 || m.errs[0].Kind != checker.DoubleFree || m.errs[0].Count != 3 ||
			m.errs[0].Memory.Freed.API != "cuMemFree" {
			t.Errorf("reports: %v, want the second frees", m.errs)
		}
	})
}

// TestMemoryErrorText holds the report's form, which people and scripts read.
func TestMemoryErrorText(t *testing.T) {
	e := &checker.Report{
		Kind: checker.UseAfterFree, Space: "global", Address: 0x1064, Where: "the address is byte 100 of what was X",
		Sites: []checker.Site{{
			Kernel: "k", Place: checker.Place{Func: "f", Line: 31, Source: "a.cu", SourceLine: 12}, Access: "write",
			Size:  4,
			Block: [3]uint32{3}, Thread: [3]uint32{8}, More: 23, LastThread: [3]uint32{31}, LastAddress: 0x10c0,
		}},
		Memory: &checker.Allocation{
			Made:  checker.Call{API: "cuMemAlloc", Func: "main.run", File: "/src/main.go", Line: 33},
			Freed: checker.Call{API: "cuMemFree"},
		},
	}
	want := `========= Invalid __global__ write of size 4 bytes: use after free
=========     in kernel k, function f, PTX line 31 (a.cu:12)
=========     by thread (8,0,0) in block (3,0,0) and 23 more of its warp, up to thread (31,0,0) at 0x10c0
=========     address 0x1064
=========     the address is byte 100 of what was X
=========     allocated by cuMemAlloc in main.run (main.go:33)
=========     freed by cuMemFree
`
	if got := fmt.Sprint(e); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMemcheckNames: reports name the functions of the driver, also where the method that does the work is called
// otherwise.
func TestMemcheckNames(t *testing.T) {
	d, tab, ctx := open(t, Options{Memcheck: true})
	for method, want := range map[string]string{"primaryReset": "cuDevicePrimaryCtxReset", "memAlloc": "cuMemAlloc",
		"memFree": "cuMemFree"} {
		if got := d.apiNames[method]; got != want {
			t.Errorf("%s is %q, want %q", method, got, want)
		}
	}
	for method, name := range d.apiNames {
		if _, ok := driver.Lookup(name); !ok {
			t.Errorf("%s is %s, which is no function of the driver", method, name)
		}
	}
	for _, c := range []struct {
		want string
		call func(p *driver.CUdeviceptr) driver.CUresult
	}{
		{"cuMemAllocPitch", func(p *driver.CUdeviceptr) driver.CUresult {
			var pitch uint64
			return tab.MemAllocPitch_v2(ctx, p, &pitch, 100, 2, 4)
		}},
		{"cuMemAllocManaged", func(p *driver.CUdeviceptr) driver.CUresult {
			return tab.MemAllocManaged(ctx, p, 64, 1)
		}},
		{"cuMemAllocAsync", func(p *driver.CUdeviceptr) driver.CUresult { return tab.MemAllocAsync(ctx, p, 64, 0) }},
	} {
		var p driver.CUdeviceptr
		must(t, c.call(&p))
		must(t, tab.CtxSynchronize(ctx))
		var made []string
		for _, x := range d.memory.check.live {
			made = append(made, x.open(d.apiNames).Made.API)
		}
		if !slices.Contains(made, c.want) {
			t.Errorf("allocations by %q, want %s", made, c.want)
		}
	}
}
