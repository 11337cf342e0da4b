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
		"st.shared":    {Warps: 1, Threads: 32, Bytes: 128, Cycles: 32},
		"st.global.u":  {Warps: 1, Threads: 24, Bytes: 96, Sectors: 24},
		"st.global.v2": {Warps: 1, Threads: 8, Bytes: 64, Sectors: 1},
		"@%p0 bra":     {Warps: 1, Threads: 8, Diverged: 1},
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
	if s.GlobalBytes != 160 || s.SharedBytes != 128 || s.Divergences != 1 {
		t.Errorf("%+v", s)
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
