package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec/trace"
)

func saxpyArgs(command string, more ...string) []string {
	return append([]string{command, "testdata/saxpy/saxpy.ptx", "saxpy", "--grid", "4", "--block", "256", "f32:2.5",
		"@testdata/saxpy/x.npy", "@testdata/saxpy/y.npy", "i32:1000",
		"--expect", "2=testdata/saxpy/want.npy"}, more...)
}

// The counts follow from the launch: 32 warps, of whose threads 1000 get past the bound; each reads two floats and
// writes one, and the arrays begin at a sector.
func TestTrace(t *testing.T) {
	root(t)
	page, prof := filepath.Join(t.TempDir(), "page.html"), filepath.Join(t.TempDir(), "prof.pb.gz")
	var r traceReport
	if err := json.Unmarshal([]byte(works(t, saxpyArgs("trace", "--json", "--html", page, "--pprof", prof)...)),
		&r); err != nil {
		t.Fatal(err)
	}
	s := r.Counts
	// 10 instructions until the branch and the return by all threads, 9 between them by the 1000 below the bound.
	work := s.Total
	global := trace.Traffic{Requests: 96, Bytes: 12000, Units: 375, Ideal: 375}
	if work.Global != global || work.Shared != (trace.Traffic{}) || work.Diverged != 1 || work.Branches != 32 ||
		work.Warps != 20*32 || work.Threads != 11*1024+9*1000 || work.Flops != (trace.Flops{F32: 2000}) {
		t.Errorf("%+v", work)
	}
	// An H200's multiprocessor has 2048 threads and 32 blocks; 4 blocks of 8 warps are on 132 of 64 warps each.
	if o := r.Occupancy; o == nil || o.Limits.Warps != 8 || o.Limits.Blocks != 32 || o.Blocks != 8 || o.Warps != 8 ||
		o.LimitedBy() != "block size" || o.Theoretical() != 1 || o.Launch() != 32.0/(132*64) {
		t.Errorf("%+v", o)
	}
	if v, ok := r.Metric("global_sectors_per_request"); !ok || v != 375.0/96 {
		t.Errorf("%v sectors per request", v)
	}
	if r.Speed == nil || r.Speed.MS <= 0 || len(r.Findings) != 1 || r.Findings[0].Rule != trace.SmallGrid {
		t.Errorf("%+v, %+v", r.Speed, r.Findings)
	}
	stores := 0
	for _, l := range s.Lines {
		if strings.HasPrefix(l.Text, "st.global") {
			stores++
			if want := (trace.Traffic{Requests: 32, Bytes: 4000, Units: 125, Ideal: 125}); l.Warps != 32 ||
				l.Threads != 1000 || l.Global != want {
				t.Errorf("%+v", l)
			}
		}
	}
	if stores != 1 {
		t.Errorf("%d stores", stores)
	}
	if len(r.Run.Checks) != 1 || !r.Run.Checks[0].OK {
		t.Errorf("%+v", r.Run.Checks)
	}
	if m := r.Machine; m != nil {
		if m.Warps != s.Operations || m.Fallbacks > m.Warps || len(m.Funcs) != 1 || m.Funcs[0].Native == 0 ||
			m.Funcs[0].Bytes == 0 || m.Funcs[0].WholeBytes == 0 || m.Fallbacks != 0 {
			t.Errorf("%+v, counted %d", m, s.Operations)
		}
	} else if r.Why == "" {
		t.Error("no machine code and no reason")
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the page", string(b), "st.global.f32", "pass blocks", "pass rows", "checked")
	contains(t, "the trace", works(t, saxpyArgs("trace", "--asm", "--top", "3")...), "warp instructions", "lines more",
		"375 sectors")
	profileHolds(t, prof)
}

func TestRunPprof(t *testing.T) {
	root(t)
	prof := filepath.Join(t.TempDir(), "prof.pb.gz")
	works(t, saxpyArgs("run", "--pprof", prof)...)
	profileHolds(t, prof)
}

// profileHolds looks for the names in the string table of a profile.
func profileHolds(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the profile", string(b), "saxpy", "warps", "threads", "saxpy.ptx")
}

// TestTraceBaseline compares a run with itself, and with files that are none.
func TestTraceBaseline(t *testing.T) {
	root(t)
	before, page := filepath.Join(t.TempDir(), "before.json"), filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(before, []byte(works(t, saxpyArgs("trace", "--json")...)), 0o666); err != nil {
		t.Fatal(err)
	}
	out := works(t, saxpyArgs("trace", "--baseline", before, "--html", page)...)
	contains(t, "the comparison", out, "metric", "global_sectors_per_request", "3.90625        3.90625")
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the page", string(b), "against ", "3.91 before, ", "unchanged")
	for name, text := range map[string]string{"none.json": "", "text.json": "text", "other.json": "{}"} {
		path := filepath.Join(t.TempDir(), name)
		if name != "none.json" {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		code, _, stderr := gocuda(saxpyArgs("trace", "--baseline", path)...)
		if code != 1 {
			t.Errorf("%s: exit code %d", name, code)
		}
		contains(t, name, stderr, "gocuda trace --json")
	}
}

// TestTraceHostile traces a kernel whose file names are markup, and one that names a file which is no source.
func TestTraceHostile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const secret = "not to be shown"
	source := `</script><img src=x onerror=alert(1)>.cu`
	ptx := `.version 8.0
.target sm_80
.address_size 64
.file 1 "` + strings.ReplaceAll(source, "/", "|") + `"
.file 2 "secret"
.visible .entry k()
{
	.reg .b32 %r<4>;
	.loc 1 1 0
	mov.u32 %r0, %tid.x;
	.loc 2 1 0
	mov.u32 %r1, %tid.y;
	ret;
}
`
	for name, text := range map[string]string{"k.ptx": ptx, "secret": secret,
		strings.ReplaceAll(source, "/", "|"): "</script><script>alert(2)</script>"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			if name != "k.ptx" && name != "secret" {
				continue // not all systems take such a name
			}
			t.Fatal(err)
		}
	}
	works(t, "trace", "k.ptx", "k", "--grid", "1", "--block", "32", "--html", "page.html")
	b, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	if strings.Count(page, "<script") != 1 || strings.Contains(page, "<img") || strings.Contains(page, secret) {
		t.Errorf("%s", page)
	}
	contains(t, "the page", page, "&lt;img src=x onerror=alert(1)&gt;.cu", "secret")
}
