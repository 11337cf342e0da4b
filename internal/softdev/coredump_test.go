package softdev

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

const coredumpPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry broken(.param .u64 where, .param .u32 mark)
{
	.reg .pred %p;
	.reg .b32 %lane, %mark, %sum;
	.reg .b64 %where, %wide;
	.shared .align 4 .b32 words[64];
	.local .align 4 .b32 own[2];
	ld.param.u64 %where, [where];
	ld.param.u32 %mark, [mark];
	mov.u32 %lane, %tid.x;
	add.u32 %sum, %lane, %mark;
	mul.wide.u32 %wide, %sum, 3;
	mov.u32 %mark, words;
	shl.b32 %lane, %lane, 2;
	add.u32 %mark, %mark, %lane;
	st.shared.u32 [%mark], %sum;
	st.local.u32 [own+4], %sum;
	bar.sync 0;
	setp.eq.u32 %p, %lane, 132;
	@%p st.global.u64 [%where], %wide;
	ld.shared.u32 %sum, [%mark];
	ld.local.u32 %lane, [own+4];
	add.u32 %sum, %sum, %lane;
	cvt.u64.u32 %wide, %sum;
	setp.eq.u32 %p, %sum, 0;
	@%p st.global.u64 [%where], %wide;
	ret;
}
`

// readCore is the dump that a folder has: one in each form.
func readCore(t *testing.T, dir string) (x core, text string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(list) != 2 || filepath.Ext(list[0]) != ".json" || filepath.Ext(list[1]) != ".txt" {
		t.Fatalf("files %q, %v", list, err)
	}
	b, err := os.ReadFile(list[0])
	if err == nil {
		err = json.Unmarshal(b, &x)
	}
	plain, e := os.ReadFile(list[1])
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	return x, string(plain)
}

// breakKernel launches the kernel with a bad address.
func breakKernel(t *testing.T, d *Driver, ctx driver.CUcontext) {
	t.Helper()
	f := fn(t, d, ctx, load(t, d, ctx, coredumpPTX), "broken")
	where, mark := uint64(0x1230), uint32(1000)
	args := []unsafe.Pointer{unsafe.Pointer(&where), unsafe.Pointer(&mark)}
	must(t, d.Table().LaunchKernel(ctx, f, 1, 1, 1, 64, 1, 1, 0, 0, &args[0], nil))
	want(t, "fault", d.Table().CtxSynchronize(ctx), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
}

func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// TestCoredump: with the variable a fault leaves the registers of its warp by their names, and the memory of its block.
// What has to stand there follows from the kernel.
func TestCoredump(t *testing.T) {
	dir := t.TempDir()
	d, _, ctx := open(t, Options{LookupEnv: environment(map[string]string{"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1",
		"CUDA_COREDUMP_FILE": filepath.Join(dir, "dump_%p")})})
	breakKernel(t, d, ctx)
	x, text := readCore(t, dir)
	if x.Result != "CUDA_ERROR_ILLEGAL_ADDRESS" || x.Kernel != "broken" || x.Line != 24 || x.Address != "0x1230" ||
		x.Size != 8 || !x.Write || x.Thread == nil || *x.Thread != [3]uint32{33} || x.Process != os.Getpid() {
		t.Errorf("fault %+v", x)
	}
	if x.Grid == nil || x.Grid.Block != [3]uint32{64, 1, 1} || len(x.Grid.Parameters) != 2 ||
		x.Grid.Parameters[0].Bytes != "3012000000000000" || x.Grid.Parameters[1].Bytes != "e8030000" {
		t.Errorf("launch %+v", x.Grid)
	}
	if x.Warp == nil || x.Warp.Index != 1 || x.Warp.Live != "ffffffff" {
		t.Fatalf("warp %+v", x.Warp)
	}
	registers := map[string][]string{}
	for _, r := range x.Warp.Registers {
		registers[r.Name] = r.Values
	}
	for lane := range 32 {
		sum := uint64(lane + 32 + 1000)
		for name, v := range map[string]uint64{"%sum": sum, "%wide": 3 * sum} {
			got := "none"
			if list := registers[name]; list != nil {
				got = list[lane]
			}
			if n, err := strconv.ParseUint(got, 16, 64); err != nil || n != v {
				t.Errorf("%s of lane %d is %s, want %x", name, lane, got, v)
			}
		}
	}
	word := func(text string, i int) string { return text[8*i : 8*i+8] }
	if len(x.Shared) < 512 || word(x.Shared, 33) != "09040000" || word(x.Shared, 0) != "e8030000" {
		t.Errorf("shared memory %.600s", x.Shared)
	}
	if len(x.Warp.Local) != 32 || !strings.Contains(x.Warp.Local[1], "09040000") {
		t.Errorf("local memory %q", x.Warp.Local)
	}
	for _, s := range []string{"illegal address: write of 8 bytes at 0x1230", "%sum:", "shared memory:", "parameter where"} {
		if !strings.Contains(text, s) {
			t.Errorf("the text has no %q", s)
		}
	}
	// A context of the driver has the settings of the environment, and the first fault counts.
	if !d.coredump.enabled {
		t.Error("not enabled")
	}
}

// TestCoredumpOfProgram: a program turns dumps on by itself, with machine code or without; registers and local memory
// are then in it only where the interpreter runs kernels with their names, memory is left out on demand.
func TestCoredumpOfProgram(t *testing.T) {
	for _, engine := range []string{"interpreter", "auto"} {
		dir := t.TempDir()
		d, tab, ctx := open(t, Options{EngineName: engine})
		set := func(attr driver.CUcoredumpSettings, v unsafe.Pointer, n uint64) {
			t.Helper()
			must(t, tab.CoredumpSetAttribute(ctx, attr, v, &n))
		}
		on, name := byte(1), cstr(filepath.Join(dir, "dump"))
		set(driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, unsafe.Pointer(&on), 1)
		set(driver.CU_COREDUMP_LIGHTWEIGHT, unsafe.Pointer(&on), 1)
		set(driver.CU_COREDUMP_FILE, unsafe.Pointer(name), uint64(len(dir)+6))
		on = 0
		n := uint64(1)
		must(t, tab.CoredumpGetAttribute(ctx, driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, unsafe.Pointer(&on), &n))
		if on != 1 {
			t.Error("not enabled")
		}
		breakKernel(t, d, ctx)
		x, _ := readCore(t, dir)
		if x.Result != "CUDA_ERROR_ILLEGAL_ADDRESS" || x.Kernel != "broken" || x.Line != 24 || x.Shared != "" ||
			x.Warp != nil && (x.Warp.Local != nil || x.Warp.Registers != nil) {
			t.Errorf("%s: %+v", engine, x)
		}
	}
}

// TestCoredumpNotWritten: a name that cannot be written leaves the fault as it is, and a pipe is not opened.
func TestCoredumpNotWritten(t *testing.T) {
	d, tab, ctx := open(t, Options{LookupEnv: environment(map[string]string{"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1",
		"CUDA_COREDUMP_FILE": filepath.Join(t.TempDir(), "none", "dump")})})
	var it driver.CUlogIterator
	must(t, tab.LogsCurrent(ctx, &it, 0))
	breakKernel(t, d, ctx)
	buf, n := make([]byte, 4096), uint64(4096)
	must(t, tab.LogsDumpToMemory(ctx, &it, &buf[0], &n, 0))
	if text := driver.String(&buf[0]); !strings.Contains(text, "the core dump was not written") {
		t.Errorf("the log has %q", text)
	}
}
