package softdev

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
)

// initBlocksProgram is a random kernel of blocks that exchange values through shared memory. Each thread stores to what
// is its own in several arrays, or does not; behind a barrier it loads from its own or from another thread's place.
// What is loaded is computed with, stored, and sometimes decides a branch. threads is a multiple of 32 if whole.
func initBlocksProgram(r *rand.Rand, threads int, whole bool) string {
	var b strings.Builder
	line := func(f string, args ...any) { fmt.Fprintf(&b, "\t"+f+"\n", args...) }
	b.WriteString(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b32 %w<8>;
	.reg .b64 %d<4>;
	.reg .b32 %t<8>;
	.reg .b64 %a<6>;
	.reg .pred %p<4>;
	.shared .align 16 .b8 cells[8448];
	ld.param.u64 %a0, [in];
	ld.param.u64 %a1, [out];
	mov.u32 %t0, %tid.x;
	mov.u32 %t1, %ctaid.x;
	mov.u32 %t2, %ntid.x;
	mad.lo.u32 %t3, %t1, %t2, %t0;
	mad.wide.u32 %a2, %t3, 128, %a1;
	mov.u32 %t4, cells;
`)
	for i := range 8 {
		line("add.u32 %%w%d, %%t3, %d;", i, r.IntN(100))
	}
	for i := range 4 {
		line("cvt.u64.u32 %%d%d, %%w%d;", i, i)
		line("setp.lt.u32 %%p%d, %%t0, %d;", i, r.IntN(threads+1))
	}
	type shape struct {
		text    string
		bytes   int
		operand func() string
	}
	word := func() string { return fmt.Sprintf("%%w%d", r.IntN(8)) }
	pair := func(n int) func() string {
		return func() string {
			var l []string
			for _, i := range r.Perm(8)[:n] {
				l = append(l, fmt.Sprintf("%%w%d", i))
			}
			return "{" + strings.Join(l, ", ") + "}"
		}
	}
	shapes := []shape{{"u8", 1, word}, {"u16", 2, word}, {"b32", 4, word}, {"f32", 4, word},
		{"b64", 8, func() string { return fmt.Sprintf("%%d%d", r.IntN(4)) }}, {"v2.b32", 8, pair(2)},
		{"v4.b32", 16, pair(4)}, {"v2.u16", 4, pair(2)}}
	rooms := []int{1, 4, 8, 16, 36} // bytes that a thread has in each array
	at := []int{0, 128, 640, 1664, 3712}
	misses := []int{3, 20, 1000}[r.IntN(3)] // one store of so many is left out
	label := 0
	use := func() {
		label++
		line("setp.gt.s32 %%p3, %s, %d;", word(), r.IntN(1000))
		line("@%%p3 bra L%d;\nL%d:", label, label)
	}
	compute := func() {
		op := []string{"add.u32", "xor.b32", "and.b32", "mul.lo.u32"}[r.IntN(4)]
		line("%s %s, %s, %s;", op, word(), word(), word())
	}
	fits := func(room int) shape {
		for {
			s := shapes[r.IntN(len(shapes))]
			if s.bytes <= room && (room%s.bytes == 0) {
				return s
			}
		}
	}
	guard := func() string {
		if r.IntN(4*misses) == 0 || r.IntN(12) == 0 {
			return fmt.Sprintf("@%%p%d ", r.IntN(3))
		}
		return ""
	}
	for range 1 + r.IntN(3) {
		for k, room := range rooms { // own places
			line("mad.lo.u32 %%t5, %%t0, %d, %%t4;", room)
			if room != 36 {
				for off := 0; off < room; {
					s := fits(room)
					for off%s.bytes != 0 || off+s.bytes > room {
						s = fits(room)
					}
					if r.IntN(misses) > 0 {
						line("%sst.shared.%s [%%t5+%d], %s;", guard(), s.text, at[k]+off, s.operand())
					}
					off += s.bytes
				}
			} else if r.IntN(misses) > 0 {
				line("st.shared.b32 [%%t5+%d], %s;", at[k], word())
			}
			if r.IntN(3) == 0 {
				compute()
			}
		}
		line("bar.sync 0;")
		for range 2 + r.IntN(6) {
			k := r.IntN(len(rooms))
			room := rooms[k]
			switch r.IntN(5) {
			case 0: // of one thread
				line("mov.u32 %%t5, cells+%d;", room*r.IntN(threads))
			case 1:
				line("mad.lo.u32 %%t5, %%t0, %d, %%t4;", room)
			case 2: // of a half of a warp
				line("shr.u32 %%t6, %%t0, 4;\n\tmad.lo.u32 %%t5, %%t6, %d, %%t4;", room)
			default:
				line("add.u32 %%t6, %%t0, %d;\n\trem.u32 %%t6, %%t6, %d;", r.IntN(threads), threads)
				line("mad.lo.u32 %%t5, %%t6, %d, %%t4;", room)
			}
			s := fits(min(room, 16))
			if room == 36 {
				s = shapes[2]
			}
			switch {
			case room == 16 && whole && r.IntN(3) == 0:
				n := []int{1, 2, 4}[r.IntN(3)]
				line("mad.lo.u32 %%t5, %%t0, 16, %%t4;")
				line("ldmatrix.sync.aligned.m8n8.x%d.shared.b16 %s, [%%t5+%d];", n, pair(n)(), at[k])
			default:
				line("%sld.shared.%s %s, [%%t5+%d];", guard(), s.text, s.operand(), at[k])
			}
			if r.IntN(3) == 0 {
				compute()
			}
			if r.IntN(2) == 0 {
				use()
			}
		}
		line("bar.sync 0;")
		for range r.IntN(3) { // the results, which depend on the order of warps, are not used
			line("mad.lo.u32 %%t5, %%t0, %d, %%t4;", 4*r.IntN(2))
			line("%satom.shared.add.u32 %%t7, [%%t5+%d], 1;\n\tbar.sync 0;", guard(), at[1])
		}
		for range r.IntN(4) { // global memory
			s := fits(16)
			switch r.IntN(4) {
			case 0:
				line("mad.wide.u32 %%a3, %%t3, %d, %%a0;", s.bytes)
				line("%sld.global.%s %s, [%%a3+%d];", guard(), s.text, s.operand(), 16*r.IntN(8))
			case 1:
				line("ld.global.%s %s, [%%a0+%d];", s.text, s.operand(), 16*r.IntN(64))
			case 2:
				line("rem.u32 %%t6, %%t3, 37;\n\tmad.wide.u32 %%a3, %%t6, 48, %%a0;")
				line("ld.%s %s, [%%a3];", s.text, s.operand())
			default:
				off := 16 * r.IntN(4)
				line("%sst.global.%s [%%a2+%d], %s;", guard(), s.text, off, s.operand())
				line("ld.global.%s %s, [%%a2+%d];", s.text, s.operand(), off)
			}
			if r.IntN(3) == 0 {
				use()
			}
		}
	}
	for i := range 8 {
		if r.IntN(5) > 0 {
			line("st.global.b32 [%%a2+%d], %%w%d;", 64+4*i, i)
		}
	}
	for i := range 4 {
		line("st.global.b64 [%%a2+%d], %%d%d;", 96+8*i, i)
	}
	b.WriteString("\tret;\n}\n\x00")
	return b.String()
}

// verdicts are what a run of a program gives: where the loads stand of which something is reported, what is undefined
// of the results, and what those bits that are not undefined are.
type verdicts struct {
	reports            map[string]bool
	undefined, results []byte
}

// TestInitEngines runs random programs with machine code and on the interpreter, in several orders: the reports are the
// same, so are the undefined bits of what the programs leave in memory, and all others.
func TestInitEngines(t *testing.T) {
	programs := 240
	if testing.Short() {
		programs = 60
	}
	const inSize, grid = 16 << 10, 5
	run := func(seed uint64, engine, checks string, order exec.Order, n *exec.Counters) (v verdicts) {
		r := rand.New(rand.NewPCG(seed, 7))
		threads := 32 * (1 + r.IntN(4))
		whole := r.IntN(4) > 0
		if !whole {
			threads -= 1 + r.IntN(31)
		}
		text := initBlocksProgram(r, threads, whole)
		v.reports = map[string]bool{}
		d, tab, ctx := open(t, Options{Check: []string{checks}, EngineName: engine, Order: order, Counters: n,
			Stdout: io.Discard, Stderr: io.Discard, Reports: func(r *checker.Report) {
				v.reports[fmt.Sprintf("%s, line %d", r.Kind, r.Sites[0].Line)] = true
			}})
		check := d.uninit.InitChecker
		var mod driver.CUmodule
		image := []byte(text)
		if e := tab.ModuleLoadData(ctx, &mod, unsafe.Pointer(&image[0])); e != 0 {
			t.Fatalf("seed %d: %v\n%s", seed, e, text)
		}
		var f driver.CUfunction
		must(t, tab.ModuleGetFunction(ctx, &f, mod, cstr("k")))
		outSize := uint64(128 * threads * grid)
		var in, out driver.CUdeviceptr
		must(t, tab.MemAlloc_v2(ctx, &in, inSize))
		must(t, tab.MemAlloc_v2(ctx, &out, outSize))
		data := make([]byte, inSize)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		must(t, tab.MemcpyHtoD_v2(ctx, in, unsafe.Pointer(&data[0]), inSize))
		for range []int{0, 1, 40}[r.IntN(3)] {
			check.Allocated(uint64(in)+r.Uint64N(inSize), 1)
		}
		args := [2]unsafe.Pointer{unsafe.Pointer(&in), unsafe.Pointer(&out)}
		for range 2 { // with memory that nobody has written, and then with what the program has
			must(t, tab.LaunchKernel(ctx, f, grid, 1, 1, uint32(threads), 1, 1, 0, 0, &args[0], nil))
		}
		must(t, tab.CtxSynchronize(ctx))
		memory := hostBytes(out, int(outSize))
		for i := uint64(0); i < outSize; i += 8 {
			un := check.Undefined(uint64(out)+i, 8).Lo
			v.undefined = binary.LittleEndian.AppendUint64(v.undefined, un)
			v.results = binary.LittleEndian.AppendUint64(v.results, binary.LittleEndian.Uint64(memory[i:])&^un)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return v
	}
	engines := slices.DeleteFunc(checkedEngines(), func(s string) bool { return s == "interpreter" })
	wrong, quick := 0, map[string]int{}
	for seed := range uint64(programs) {
		want := run(seed, "interpreter", "init", exec.Order{}, nil)
		if len(want.reports) > 0 {
			wrong++
		}
		for i, engine := range engines {
			var n exec.Counters
			checks := []string{"init", "init,memory", "init,race", "init,race,memory"}[(int(seed)+i)%4]
			order := orders[(seed+uint64(i))/4%3].order
			got := run(seed, engine, checks, order, &n)
			if n.Fallbacks.Load() == 0 {
				quick[engine]++
			}
			maps.DeleteFunc(got.reports, func(s string, _ bool) bool {
				return !strings.HasPrefix(s, checker.Uninitialised)
			})
			switch {
			case !maps.Equal(got.reports, want.reports):
				t.Fatalf("seed %d, %s with %s, order %v: reports %v, not %v", seed, engine, checks, order, got.reports,
					want.reports)
			case !slices.Equal(got.undefined, want.undefined):
				t.Fatalf("seed %d, %s with %s, order %v: other bits are undefined", seed, engine, checks, order)
			case !slices.Equal(got.results, want.results):
				t.Fatalf("seed %d, %s with %s, order %v: other results", seed, engine, checks, order)
			}
		}
	}
	t.Logf("%d programs, %d of them use what nobody has written; in machine code alone: %v", programs, wrong, quick)
	if wrong < programs/10 || wrong > programs*9/10 {
		t.Errorf("%d of %d programs use what nobody has written", wrong, programs)
	}
	for _, engine := range engines {
		if quick[engine] < programs/10 || quick[engine] > programs*9/10 {
			t.Errorf("%s ran %d of %d programs in machine code alone", engine, quick[engine], programs)
		}
	}
}
