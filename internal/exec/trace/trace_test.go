package trace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/skip"
)

const src = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %q<4>;
	.shared .align 4 .b8 s[4096];
	ld.param.u64 %q0, [o];
	mov.u32 %r0, %tid.x;
	mul.lo.u32 %r1, %r0, 128;
	mov.u32 %r2, s;
	add.u32 %r1, %r1, %r2;
	st.shared.u32 [%r1], %r0;
	setp.lt.u32 %p0, %r0, 8;
	@%p0 bra SMALL;
	mul.wide.u32 %q1, %r0, 64;
	add.u64 %q1, %q0, %q1;
	st.global.u32 [%q1], %r0;
	ret;
SMALL:
	st.global.v2.u32 [%q0], {%r0, %r0};
	ret;
}
`

// One warp: 32 stores to one bank of shared memory, 8 lanes that write the same 8 bytes, 24 that write 64 bytes apart.
func TestCounts(t *testing.T) {
	d := exectest.Open(t)
	e := New()
	d.Engine = e
	k, err := d.Load(src).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.Alloc(64 * 32)
	if err := k.Run(exectest.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}, a); err != nil {
		t.Fatal(err)
	}
	s := e.Kernels()[0].Summary()
	want := map[string]Count{
		"st.shared": {Warps: 1, Threads: 32,
			Memory: Memory{Shared: Traffic{Requests: 1, Bytes: 128, Units: 32, Ideal: 1}}},
		"st.global.u": {Warps: 1, Threads: 24,
			Memory: Memory{Global: Traffic{Requests: 1, Bytes: 96, Units: 24, Ideal: 3}}},
		"st.global.v2": {Warps: 1, Threads: 8,
			Memory: Memory{Global: Traffic{Requests: 1, Bytes: 64, Units: 1, Ideal: 1}}},
		"@%p0 bra": {Warps: 1, Threads: 32, Diverged: 1},
	}
	for _, l := range s.Lines {
		for prefix, c := range want {
			if strings.HasPrefix(l.Text, prefix) {
				if l.Count != c {
					t.Errorf("%s: %+v, want %+v", l.Text, l.Count, c)
				}
				delete(want, prefix)
			}
		}
	}
	if len(want) != 0 {
		t.Errorf("no lines for %v in %+v", want, s.Lines)
	}
	if w := s.Total; w.Global.Bytes != 160 || w.Shared.Bytes != 128 || w.Diverged != 1 || w.Branches != 1 {
		t.Errorf("%+v", w)
	}
	// go tool pprof reads the profile.
	path := filepath.Join(t.TempDir(), "p.pb.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WriteProfile(f, "k.ptx"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	skip.Command(t, "go")
	text, err := exec.Command("go", "tool", "pprof", "-raw", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "k k.ptx:") ||
		!strings.Contains(string(text), "warps/count[dflt] threads/count") {
		t.Errorf("%s", text)
	}
}

const inlined = `
.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 %out) twice (.reg .u32 %in)
{
	add.u32 %out, %in, %in; // twice
	ret;
}
.visible .entry k(.param .u64 o)
{
	.reg .b32 %r<8>;
	.reg .b64 %q<4>;
	ld.param.u64 %q0, [o];
	mov.u32 %r0, %tid.x;
	call (%r1), twice, (%r0);
	call (%r2), twice, (%r1);
	add.u32 %r3, %r1, %r2; mul.lo.u32 %r4, %r3, %r3; // two on a line
	st.global.u32 [%q0], %r4;
	ret;
}
`

// TestInlined counts a function that was put into the places of two calls under its own lines, and both instructions
// of a line.
func TestInlined(t *testing.T) {
	d := exectest.Open(t)
	e := New()
	d.Engine = e
	k, err := d.Load(inlined).Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.Alloc(4)
	if err := k.Run(exectest.Config{Grid: exectest.Dim(3), Block: exectest.Dim(32)}, a); err != nil {
		t.Fatal(err)
	}
	s := e.Kernels()[0].Summary()
	got := map[string]uint64{}
	for _, l := range s.Lines {
		got[strings.Fields(l.Text)[0]+" "+l.Func] = l.Warps
	}
	want := map[string]uint64{"ld.param.u64 k": 3, "mov.u32 k": 3, "add.u32 twice": 6, "add.u32 k": 6,
		"st.global.u32 k": 3, "ret; k": 3}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d executions, want %d", name, got[name], n)
		}
	}
	if n, ok := got["call k"]; ok {
		t.Errorf("the call: %d executions", n)
	}
	if len(e.Kernels()[0].Listings()) != 2 {
		t.Errorf("%+v", e.Kernels()[0].Listings())
	}
}
