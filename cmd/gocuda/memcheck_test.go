package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// saxpy on 1000 elements of which argument 2 has 900: in block 3 of 256 threads thread 132 is the first behind them,
// and its warp has 27 more.
func TestRunMemcheck(t *testing.T) {
	root(t)
	args := func(more ...string) []string {
		return append([]string{"run", "testdata/saxpy/saxpy.ptx", "saxpy", "--grid", "4", "--block", "256", "f32:2.5",
			"f32[1000]~1", "f32[900]=1", "i32:1000", "--memcheck", "--engine", "interpreter"}, more...)
	}
	var out, errs bytes.Buffer
	if code := run(args("--json"), &out, &errs); code != 1 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r runReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Looked, []string{"memory"}) || len(r.Reports) != 1 {
		t.Fatalf("%+v", r)
	}
	e := r.Reports[0]
	s := &e.Sites[0]
	if e.Argument == nil || *e.Argument != 2 || e.Kind != checker.OutOfBounds || s.Size != 4 ||
		s.Block != [3]uint32{3} ||
		s.Thread != [3]uint32{132} || s.More != 27 || e.Memory.Size != 3600 || e.Address != e.Memory.Address+3600 ||
		s.Line == 0 {
		t.Errorf("%+v", e)
	}
	out.Reset()
	if code := run(args(), &out, &errs); code != 1 {
		t.Fatalf("exit code %d", code)
	}
	contains(t, "the report", out.String(), "by thread (132,0,0) in block (3,0,0) and 27 more of its warp",
		"that is argument 2, f32[900]=1", "memory  1 error\n")
	good := args()
	for i := range good {
		good[i] = strings.Replace(good[i], "f32[900]", "f32[1000]", 1)
	}
	contains(t, "a run without errors", works(t, good...), "memory  0 errors")
}

// windowed are addresses of device memory: the window's, which is aligned to 1 TiB, and the rest.
var windowed = regexp.MustCompile(`0x[0-9a-f]+([0-9a-f]{10})\b`)

// A kernel told to fill 1024 elements of 1000 stores behind them where the allocation, in units of 512 bytes, still is:
// both engines say who did what, where, in the same words. In block 3 of 256 threads thread 232 is the first behind
// them, and its warp has 23 more; the store is line 19.
func TestRunMemcheckStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fill.ptx")
	text := `.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 n)
{
	.reg .b64 %q<3>;
	.reg .b32 %r<5>;
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
	@%p bra END;
	st.global.u32 [%q1], %r0;
END:
	ret;
}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	engines := []string{"interpreter"}
	if _, err := jit.New(""); err == nil {
		engines = append(engines, "jit")
	} else {
		t.Log(err)
	}
	var first string
	for _, engine := range engines {
		var out, errs bytes.Buffer
		if code := run([]string{"run", file, "fill", "--grid", "4", "--block", "256", "u32[1000]", "u32:1024",
			"--memcheck", "--device", "software", "--engine", engine}, &out, &errs); code != 1 {
			t.Fatalf("%s: exit code %d: %s", engine, code, errs.String())
		}
		report := out.String()
		contains(t, engine, report, "Invalid __global__ write of size 4 bytes: out of bounds\n",
			"in kernel fill, PTX line 19\n", "by thread (232,0,0) in block (3,0,0) and 23 more of its warp, up to thread (255,0,0) at 0x",
			"the address is immediately after allocation 1: 4000 bytes of device memory at 0x",
			"that is argument 0, u32[1000]\n", "memory  1 error\n")
		contains(t, engine, errs.String(), "CUDA_ERROR_ILLEGAL_ADDRESS", "write of 4 bytes", "kernel fill",
			"PTX line 19", "block (3,0,0), thread (232,0,0)", "immediately after allocation 1: 4000 bytes")
		report = windowed.ReplaceAllString(report+errs.String(), "0x..$1")
		if first == "" {
			first = report
		} else if report != first {
			t.Errorf("the %s says\n%s\nthe %s\n%s", engine, report, engines[0], first)
		}
	}
}

// TestRunLeak finds no leak where the command has allocated everything itself.
func TestRunLeak(t *testing.T) {
	root(t)
	out := works(t, saxpyArgs("run", "--device", "software", "--check=leak")...)
	contains(t, "the run", out, "leak    0 errors")
}
