package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// saxpy on 1000 elements of which argument 3 has 900: in block 3 of 256 threads thread 132 is the first behind them, and its warp has 27 more.
func TestRunMemcheck(t *testing.T) {
	root(t)
	args := func(more ...string) []string {
		return append([]string{"run", "testdata/saxpy/saxpy.ptx", "saxpy", "--grid", "4", "--block", "256", "f32:2.5", "f32[1000]~1", "f32[900]=1", "i32:1000", "--memcheck", "--engine", "interpreter"}, more...)
	}
	var out, errs bytes.Buffer
	if code := run(args("--json"), &out, &errs); code != 1 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r runReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Memcheck || len(r.MemoryErrors) != 1 {
		t.Fatalf("%+v", r)
	}
	e := r.MemoryErrors[0]
	if e.Argument != 3 || e.Kind != "out of bounds" || e.Size != 4 || e.Block != [3]uint32{3} || e.Thread != [3]uint32{132} || e.More != 27 || e.Near.Size != 3600 || e.Address != e.Near.Address+3600 || e.Line == 0 {
		t.Errorf("%+v", e)
	}
	out.Reset()
	if code := run(args(), &out, &errs); code != 1 {
		t.Fatalf("exit code %d", code)
	}
	contains(t, "the report", out.String(), "by thread (132,0,0) of block (3,0,0) and 27 more of its warp", "that is argument 3, f32[900]=1", "memory  1 error\n")
	good := args()
	for i := range good {
		good[i] = strings.Replace(good[i], "f32[900]", "f32[1000]", 1)
	}
	contains(t, "a run without errors", works(t, good...), "memory  0 errors")
}
