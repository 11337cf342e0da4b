package softdev

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

const sizesHead = ".version 8.5\n.target sm_90a\n.address_size 64\n"

// Values that stand before and behind a variable of the size under test, and the value that is stored at an offset from
// it.
const (
	guardLow  = 0x1111111111111111
	guardHigh = 0x2222222222222222
	attack    = 0x4141414141414141
)

// sizePositions are modules that declare something of SIZE bytes and store attack at OFF from its beginning. Kernel k
// leaves the two guards in memory when it comes to its end.
var sizePositions = map[string]string{
	"argument": `.func (.param .b64 r) f(.param .b64 l, .param .align 16 .b8 x[SIZE], .param .b64 h) { .reg .b64 a; ld.param.b64 a,[xOFF]; st.param.b64 [r],a; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out];
		.param .b64 l; .param .align 16 .b8 x[SIZE]; .param .b64 h; .param .b64 r; st.param.b64 [l],LOW; st.param.b64 [h],HIGH; st.param.b64 [xOFF],ATTACK;
		call (r),f,(l,x,h); ld.param.b64 a,[l]; ld.param.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"result": `.func (.param .align 16 .b8 x[SIZE]) f(.param .b64 l, .param .b64 h, .param .b64 p) { .reg .b64 a,b,q; st.param.b64 [xOFF],ATTACK;
		ld.param.b64 a,[l]; ld.param.b64 b,[h]; ld.param.b64 q,[p]; st.global.v2.b64 [q],{a,b}; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out];
		.param .b64 l; .param .b64 h; .param .b64 o; .param .align 16 .b8 x[SIZE]; st.param.b64 [l],LOW; st.param.b64 [h],HIGH; st.param.b64 [o],p; call (x),f,(l,h,o); ret; }`,
	"body parameter": `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out];
		.param .b64 l; .param .b8 x[SIZE]; .param .b64 h; st.param.b64 [l],LOW; st.param.b64 [h],HIGH; st.param.b64 [xOFF],ATTACK;
		ld.param.b64 a,[l]; ld.param.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"address of an argument": `.func (.param .b64 r) f(.param .b64 l, .param .align 16 .b8 x[SIZE], .param .b64 h) { .reg .b64 a; mov.b64 a,x; st.local.b64 [aOFF],ATTACK; ld.local.b64 a,[a]; st.param.b64 [r],a; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out];
		.param .b64 l; .param .align 16 .b8 x[SIZE]; .param .b64 h; .param .b64 r; st.param.b64 [l],LOW; st.param.b64 [h],HIGH;
		call (r),f,(l,x,h); ld.param.b64 a,[l]; ld.param.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"pointer with another prototype": `.func (.param .b64 r) f(.param .b64 l, .param .align 16 .b8 x[64], .param .b64 h) { .reg .b64 a; ld.param.b64 a,[x]; st.param.b64 [r],a; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p,a,b,q; ld.param.u64 p,[out]; mov.u64 q,f; P: .callprototype (.param .b64 r) _ (.param .b64 l, .param .align 16 .b8 x[SIZE], .param .b64 h);
		.param .b64 l; .param .align 16 .b8 x[SIZE]; .param .b64 h; .param .b64 r; st.param.b64 [l],LOW; st.param.b64 [h],HIGH; st.param.b64 [xOFF],ATTACK;
		call (r),q,(l,x,h),P; ld.param.b64 a,[l]; ld.param.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"entry": `.visible .entry k(.param .u64 out, .param .b8 x[SIZE]) { .reg .b64 p,a; ld.param.u64 p,[out]; ld.param.b64 a,[xOFF]; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
	"local": `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out];
		.local .b64 l; .local .align 16 .b8 x[SIZE]; .local .b64 h; st.local.b64 [l],LOW; st.local.b64 [h],HIGH; ld.local.b64 a,[l]; ld.local.b64 b,[h]; st.global.v2.b64 [p],{a,b}; st.local.b64 [xOFF],ATTACK; ret; }`,
	"local of a function": `.func f(.reg .u64 p, .reg .u32 n) { .reg .b64 a,b; .reg .pred q; .local .b64 l; .local .align 16 .b8 x[SIZE]; .local .b64 h; st.local.b64 [l],LOW; st.local.b64 [h],HIGH;
		setp.eq.u32 q,n,0; @q bra E; sub.u32 n,n,1; call f,(p,n); ld.local.b64 a,[l]; ld.local.b64 b,[h]; st.global.v2.b64 [p],{a,b}; E: st.local.b64 [xOFF],ATTACK; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; .local .align 16 .b8 x[SIZE]; call f,(p,3); ret; }`,
	"shared": `.shared .b64 l; .shared .align 16 .b8 x[SIZE]; .shared .b64 h; ` + sizesShared,
	"shared twice": `.shared .b64 l; .shared .align 16 .b8 x[SIZE]; .shared .align 16 .b8 y[SIZE]; .shared .b64 h; ` +
		strings.Replace(sizesShared, "ret;", "st.shared.b64 [y],ATTACK; ret;", 1),
	"shared of a body": `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out];
		.shared .b64 l; .shared .align 16 .b8 x[SIZE]; .shared .b64 h; st.shared.b64 [l],LOW; st.shared.b64 [h],HIGH; ld.shared.b64 a,[l]; ld.shared.b64 b,[h]; st.global.v2.b64 [p],{a,b}; st.shared.b64 [xOFF],ATTACK; ret; }`,
	"const": `.const .b64 l = LOW; .const .align 16 .b8 x[SIZE] = {1}; .const .b64 h = HIGH; .visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out]; ld.const.b64 a,[xOFF];
		ld.const.b64 a,[l]; ld.const.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"global": `.global .b64 l = LOW; .global .align 16 .b8 x[SIZE]; .global .b64 h = HIGH; ` +
		sizesGlobal,
	"global with a value": `.global .b64 l = LOW; .global .align 16 .b8 x[SIZE] = {1}; .global .b64 h = HIGH; ` +
		sizesGlobal,
	"global that wraps": `.global .b64 l = LOW; .global .b8 x[SIZE]; .global .b8 y[SIZE]; .global .b64 h = HIGH; .global .b8 z[SIZE]; .global .b8 w[SIZE] = {1}; ` + sizesGlobal,
	"managed":           `.global .attribute(.managed) .b64 l = LOW; .global .attribute(.managed) .b8 x[SIZE] = {1}; .global .attribute(.managed) .b64 h = HIGH; ` + sizesGlobal,
	"extern global":     `.global .b64 l = LOW; .extern .global .b8 x[SIZE]; .global .b64 h = HIGH; ` + sizesGlobal,
	"set of registers":  `.visible .entry k(.param .u64 out) { .reg .b64 p; .reg .b64 %x<SIZE>; ld.param.u64 p,[out]; mov.b64 %x0,LOW; st.global.b64 [p],%x0; st.global.b64 [p+8],HIGH; ret; }`,
	"prototype alone":   `.extern .func (.param .b8 r[SIZE]) f(.param .b8 x[SIZE]); .visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
	"second dimension":  `.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; .local .b64 x[4][SIZE]; st.local.b64 [x+OFF],ATTACK; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
	"directives":        `.visible .entry k(.param .u64 out) .maxntid SIZE, 1, 1 .minnctapersm SIZE .maxnreg SIZE { .reg .b64 p; ld.param.u64 p,[out]; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
	"align global": `.global .b64 l = LOW; .global .align SIZE .b8 x[16] = {1}; .global .b64 h = HIGH; ` +
		sizesGlobal,
	"align const":          `.const .b64 l = LOW; .const .align SIZE .b8 x[16] = {1}; .const .b64 h = HIGH; .visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out]; ld.const.b64 a,[xOFF]; ld.const.b64 a,[l]; ld.const.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ret; }`,
	"align shared":         `.shared .b64 l; .shared .align SIZE .b8 x[16]; .shared .b64 h; ` + sizesShared,
	"align dynamic shared": `.shared .b64 l; .extern .shared .align SIZE .b8 x[]; .shared .b64 h; ` + sizesShared,
	"align unused shared":  `.extern .shared .align SIZE .b8 x[]; .shared .b64 l; .visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; st.shared.b64 [l],LOW; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
	"align local":          `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out]; .local .b64 l; .local .align SIZE .b8 x[16]; .local .b64 h; st.local.b64 [l],LOW; st.local.b64 [h],HIGH; ld.local.b64 a,[l]; ld.local.b64 b,[h]; st.global.v2.b64 [p],{a,b}; st.local.b64 [xOFF],ATTACK; ret; }`,
	"align local of a func": `.func f(.reg .u64 p) { .reg .b64 a,b; .local .b64 l; .local .align SIZE .b8 x[16]; .local .b64 h; st.local.b64 [l],LOW; st.local.b64 [h],HIGH; ld.local.b64 a,[l]; ld.local.b64 b,[h]; st.global.v2.b64 [p],{a,b}; st.local.b64 [xOFF],ATTACK; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; .local .b8 x[8]; st.local.b8 [x],1; call f,(p); ret; }`,
	"align argument": `.func f(.param .b64 l, .param .align SIZE .b8 x[16], .param .b64 h, .param .b64 o) { .reg .b64 a,b,p; ld.param.b64 a,[l]; ld.param.b64 b,[h]; ld.param.b64 p,[o]; st.global.v2.b64 [p],{a,b}; mov.b64 a,x; st.local.b64 [aOFF],ATTACK; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p,[out]; .param .b64 l; .param .align SIZE .b8 x[16]; .param .b64 h; .param .b64 o; st.param.b64 [l],LOW; st.param.b64 [h],HIGH; st.param.b64 [o],p; st.param.b64 [x],0; call f,(l,x,h,o); ret; }`,
	"align entry": `.visible .entry k(.param .u64 out, .param .align SIZE .b8 x[16]) { .reg .b64 p,a; ld.param.u64 p,[out]; ld.param.b64 a,[xOFF]; st.global.b64 [p],LOW; st.global.b64 [p+8],HIGH; ret; }`,
}

const (
	sizesShared = `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out]; st.shared.b64 [l],LOW; st.shared.b64 [h],HIGH; ld.shared.b64 a,[l]; ld.shared.b64 b,[h]; st.global.v2.b64 [p],{a,b}; st.shared.b64 [xOFF],ATTACK; ret; }`
	sizesGlobal = `.visible .entry k(.param .u64 out) { .reg .b64 p,a,b; ld.param.u64 p,[out]; ld.global.b64 a,[l]; ld.global.b64 b,[h]; st.global.v2.b64 [p],{a,b}; ld.global.b64 a,[xOFF]; ret; }`
)

// TestSizes declares variables of all kinds with sizes and alignments around every power of two, and reaches out of
// them. Whatever the answer is, the process lives, and a kernel that comes to its end has left the neighbours alone.
func TestSizes(t *testing.T) {
	var sizes []uint64
	for k := range 64 {
		for _, d := range []uint64{^uint64(0), 0, 1} {
			sizes = append(sizes, 1<<k+d)
		}
	}
	for _, engine := range []string{"interpreter", "auto"} {
		t.Run(engine, func(t *testing.T) {
			d, tab, ctx := open(t, Options{EngineName: engine, Memory: 256 << 20, Recover: true})
			r := rand.New(rand.NewPCG(7, 7))
			x := &sizeRunner{d: d, tab: tab, ctx: ctx}
			x.renew(t)
			outcomes := map[driver.CUresult]int{}
			for _, name := range slices.Sorted(maps.Keys(sizePositions)) {
				text := sizePositions[name]
				for _, size := range sizes {
					if testing.Short() && r.IntN(6) != 0 {
						continue
					}
					offs := []int64{0, int64(size) - 8, int64(size), -8, 8, -16, int64(size) - 4, int64(size)/2&^7 - 8,
						int64(size) &^ 15, 1 << 31, 1 << 32, -1 << 31, -1 << 32, 1<<63 - 8, -1 << 63, 4 << 20,
						128<<20 - 8}
					for n := range 3 {
						off := offs[r.IntN(len(offs))]
						if n == 0 {
							off = int64(size) - 8
						}
						src := sizesHead + strings.NewReplacer("SIZE", fmt.Sprint(size), "OFF", fmt.Sprintf("+%d", off),
							"LOW", fmt.Sprint(guardLow), "HIGH", fmt.Sprint(guardHigh), "ATTACK",
							fmt.Sprint(attack)).Replace(text)
						res, low, high := x.run(t, src, uint32(1+31*r.IntN(2)+32*r.IntN(2)))
						outcomes[res]++
						if res == driver.CUDA_SUCCESS && (low != guardLow || high != guardHigh) {
							t.Fatalf("%s of %d bytes, offset %d: the guards are %#x and %#x\n%s", name, size, off, low,
								high, src)
						}
						if res == driver.CUDA_ERROR_UNKNOWN {
							t.Errorf("%s of %d bytes, offset %d: %v: %s", name, size, off, res, d.LastDetail(x.ctx))
						}
						if !strings.Contains(text, "OFF") || res == driver.CUDA_ERROR_INVALID_PTX {
							break
						}
					}
				}
			}
			t.Log(outcomes)
			for _, must := range []driver.CUresult{driver.CUDA_SUCCESS, driver.CUDA_ERROR_INVALID_PTX,
				driver.CUDA_ERROR_ILLEGAL_ADDRESS, driver.CUDA_ERROR_OUT_OF_MEMORY} {
				if outcomes[must] == 0 {
					t.Errorf("nothing gave %v: the modules are not what they should be", must)
				}
			}
		})
	}
}

// sizeRunner loads modules and launches their kernel k one after another, on a context that it renews after each fault.
type sizeRunner struct {
	d   *Driver
	tab *driver.Table
	ctx driver.CUcontext
	out driver.CUdeviceptr

	broken bool // a kernel has broken the context
}

func (x *sizeRunner) renew(t *testing.T) {
	t.Helper()
	must(t, x.tab.DevicePrimaryCtxReset_v2(0, 0))
	must(t, x.tab.DevicePrimaryCtxRetain(0, &x.ctx, 0))
	must(t, x.tab.MemAlloc_v2(x.ctx, &x.out, 16))
}

// room makes the kernel's memory larger.
func (x *sizeRunner) room(t *testing.T, n uint64) {
	t.Helper()
	must(t, x.tab.MemAlloc_v2(x.ctx, &x.out, n))
}

// run gives the first result that is no success, and the two words that the kernel left.
func (x *sizeRunner) run(t *testing.T, src string, threads uint32) (r driver.CUresult, low, high uint64) {
	t.Helper()
	var m driver.CUmodule
	if r = x.tab.ModuleLoadData(x.ctx, &m, unsafe.Pointer(cstr(src))); r != driver.CUDA_SUCCESS {
		return r, 0, 0
	}
	f := fn(t, x.d, x.ctx, m, "k")
	var buf [16]byte
	must(t, x.tab.MemcpyHtoD_v2(x.ctx, x.out, unsafe.Pointer(&buf[0]), 16))
	second := make([]byte, 64<<10) // of kernels with two parameters
	params := []unsafe.Pointer{unsafe.Pointer(&x.out), unsafe.Pointer(&second[0])}
	if r = x.tab.LaunchKernel(x.ctx, f, 1, 1, 1, threads, 1, 1, 0, 0, &params[0], nil); r == driver.CUDA_SUCCESS {
		r = x.tab.CtxSynchronize(x.ctx)
	}
	if r != driver.CUDA_SUCCESS && x.tab.CtxSynchronize(x.ctx) != driver.CUDA_SUCCESS {
		x.broken = true
		x.renew(t)
		return r, 0, 0
	}
	must(t, x.tab.MemcpyDtoH_v2(x.ctx, unsafe.Pointer(&buf[0]), x.out, 16))
	must(t, x.tab.ModuleUnload(x.ctx, m))
	return r, binary.LittleEndian.Uint64(buf[:]), binary.LittleEndian.Uint64(buf[8:])
}

// TestParameterBounds reads and writes at the edges of a function's parameter, from both sides of the call. An access
// that leaves it is an illegal address, one that is not aligned to its size a misaligned address (PTX ISA 9.7.9.8, ld),
// which comes first as it does for the other spaces.
func TestParameterBounds(t *testing.T) {
	const bad, crooked = driver.CUDA_ERROR_ILLEGAL_ADDRESS, driver.CUDA_ERROR_MISALIGNED_ADDRESS
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, ctx := open(t, Options{EngineName: engine, Recover: true})
		x := &sizeRunner{d: d, tab: tab, ctx: ctx}
		x.renew(t)
		for _, c := range []struct {
			off  int64
			typ  string
			want driver.CUresult
		}{
			{0, "u64", 0}, {24, "u64", 0}, {32, "u64", bad}, {-8, "u64", bad}, {1 << 32, "u64", bad},
			{-1 << 63, "u64", bad}, {1<<63 - 8, "u64", bad},
			{1, "u8", 0}, {31, "u8", 0}, {32, "u8", bad}, {-1, "u8", bad}, {2, "u32", crooked}, {30, "u32", crooked},
			{-4, "u32", bad}, {4, "u64", crooked},
			{-12, "v2.u32", crooked}, {8, "v2.u32", 0}, {28, "v2.u32", crooked}, {16, "v4.u32", 0},
			{24, "v4.u32", crooked}, {-16, "v4.u32", bad}, {32, "v4.u32", bad},
		} {
			regs := map[string]string{"v2.u32": "{w,w2}", "v4.u32": "{w,w2,w3,w4}", "u64": "a"}[c.typ]
			if regs == "" {
				regs = "w"
			}
			for _, text := range []string{
				`.func f(.param .b64 l, .param .align 16 .b8 x[32], .param .b64 h) { .reg .b64 a; .reg .b32 w,w2,w3,w4; ld.param.TYPE REGS,[xOFF]; ret; }
				.visible .entry k(.param .u64 out) { .param .b64 l; .param .align 16 .b8 x[32]; .param .b64 h; st.param.b64 [l],1; st.param.b64 [h],2; st.param.b64 [x],3; call f,(l,x,h); ret; }`,
				`.func (.param .align 16 .b8 x[32]) f(.param .b64 l) { .reg .b64 a; .reg .b32 w,w2,w3,w4; mov.u64 a,1; mov.u32 w,1; mov.u32 w2,1; mov.u32 w3,1; mov.u32 w4,1; st.param.TYPE [xOFF],REGS; ret; }
				.visible .entry k(.param .u64 out) { .param .b64 l; .param .align 16 .b8 x[32]; st.param.b64 [l],1; call (x),f,(l); ret; }`,
				`.func f(.param .b64 l, .param .align 16 .b8 x[32], .param .b64 h) { ret; }
				.visible .entry k(.param .u64 out) { .reg .b64 a; .reg .b32 w,w2,w3,w4; mov.u64 a,1; mov.u32 w,1; mov.u32 w2,1; mov.u32 w3,1; mov.u32 w4,1;
				.param .b64 l; .param .align 16 .b8 x[32]; .param .b64 h; st.param.b64 [l],1; st.param.b64 [h],2; st.param.TYPE [xOFF],REGS; call f,(l,x,h); ret; }`,
			} {
				src := sizesHead + strings.NewReplacer("TYPE", c.typ, "REGS", regs, "OFF",
					fmt.Sprintf("+%d", c.off)).Replace(text)
				if r, _, _ := x.run(t, src, 32); r != c.want {
					t.Errorf("%s: %s at %d: %v, want %v\n%s", engine, c.typ, c.off, r, c.want, text)
				}
			}
		}
	}
}

// TestThreadMemory launches kernels whose threads need more local memory than there is. Hardware gives local memory a
// part of device memory, and a launch for which it does not suffice is out of memory (CUDA Driver API, cuLaunchKernel);
// what a kernel needs besides is known only when it calls.
func TestThreadMemory(t *testing.T) {
	const local = `.visible .entry k(.param .u64 out) { .reg .b64 a; .local .b8 x[500000]; st.local.b64 [x],1; st.local.b64 [x+499992],1; ld.param.u64 a,[out]; st.global.b64 [a],7; ret; }`
	const deep = `.func f(.reg .u32 n) { .reg .pred q; .param .align 16 .b8 x[400000]; .reg .u64 a; setp.eq.u32 q,n,0; @q ret; st.param.b64 [x],1; st.param.b64 [x+399992],1; sub.u32 n,n,1; call f,(n); ld.param.b64 a,[x]; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 a; call f,(DEPTH); ld.param.u64 a,[out]; st.global.b64 [a],7; ret; }`
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, ctx := open(t, Options{EngineName: engine, Recover: true, Memory: 256 << 20, Workers: 4})
		x := &sizeRunner{d: d, tab: tab, ctx: ctx}
		x.renew(t)
		for _, c := range []struct {
			text    string
			threads uint32
			want    driver.CUresult
			later   bool // the context is broken
		}{
			{local, 1, driver.CUDA_SUCCESS, false},
			{local, 1024, driver.CUDA_ERROR_OUT_OF_MEMORY, false},
			{local, 256, driver.CUDA_SUCCESS, false},
			{strings.Replace(deep, "DEPTH", "2", 1), 1, driver.CUDA_SUCCESS, false},
			{strings.Replace(deep, "DEPTH", "5", 1), 512, driver.CUDA_ERROR_OUT_OF_MEMORY, true},
			{strings.Replace(deep, "DEPTH", "20", 1), 1, driver.CUDA_ERROR_ILLEGAL_ADDRESS, true},
			{local, 32, driver.CUDA_SUCCESS, false},
		} {
			for range 3 {
				x.broken = false
				r, word, _ := x.run(t, sizesHead+c.text, c.threads)
				if r != c.want || r == driver.CUDA_SUCCESS && word != 7 {
					t.Errorf("%s: %d threads: %v, %d; want %v\n%s", engine, c.threads, r, word, c.want, c.text)
				}
				if x.broken != c.later {
					t.Errorf("%s: %d threads: the context is broken: %v, want %v\n%s", engine, c.threads, x.broken,
						c.later, c.text)
				}
			}
		}
	}
}

// TestCooperativeGridBeforeMemory launches a cooperative grid that is too large for the device in blocks and in local
// memory: the blocks are what the error tells (an H200 gives CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE for the program
// cg_grid_sync of clients/cuda-programs).
func TestCooperativeGridBeforeMemory(t *testing.T) {
	const text = `.visible .entry k(.param .u64 out) { .reg .b64 a; .local .b8 x[5000]; st.local.b64 [x],1; ret; }`
	d, tab, ctx := open(t, Options{Recover: true, Memory: 256 << 20})
	f := fn(t, d, ctx, load(t, d, ctx, sizesHead+text), "k")
	var zero uint64
	params := []unsafe.Pointer{unsafe.Pointer(&zero)}
	want(t, "cooperative grid", tab.LaunchCooperativeKernel(ctx, f, 1<<20, 1, 1, 1024, 1, 1, 0, 0, &params[0]),
		driver.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
}

// TestParameterForRegister passes a scalar .param variable for a parameter that is a register, and takes a result of
// that kind so: ptxas 13.0 takes both.
func TestParameterForRegister(t *testing.T) {
	const text = `.func (.reg .b32 o) f(.reg .b32 x) { add.u32 o,x,1; ret; }
		.visible .entry k(.param .u64 out) { .reg .b64 a,b; .reg .b32 s; .param .b32 y; .param .b32 z; st.param.b32 [y],7; call (z),f,(y);
		ld.param.b32 s,[z]; cvt.u64.u32 b,s; ld.param.u64 a,[out]; st.global.b64 [a],b; ret; }`
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, ctx := open(t, Options{EngineName: engine, Recover: true})
		x := &sizeRunner{d: d, tab: tab, ctx: ctx}
		x.renew(t)
		if r, word, _ := x.run(t, sizesHead+text, 32); r != driver.CUDA_SUCCESS || word != 8 {
			t.Errorf("%s: %v, %d; want 8", engine, r, word)
		}
	}
}
