package softdev

import (
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"sort"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// null_arguments.json: what driver 580.159.04 (CUDA 13.0, H200) answers to every function with 0 for each argument, before cuInit, without
// a context, and with one.
func nullArguments(t *testing.T) map[string]map[string]string {
	t.Helper()
	b, err := os.ReadFile("testdata/null_arguments.json")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]map[string]string
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func callWithZeros(tab *driver.Table, name string) (driver.CUresult, bool) {
	f := reflect.ValueOf(tab.ByName(name))
	if !f.IsValid() || f.IsNil() {
		return 0, false
	}
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(f.Type().In(i))
	}
	return driver.CUresult(f.Call(args)[0].Uint()), true
}

func TestNullArguments(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	facts := nullArguments(t)
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, state := range []string{"noinit", "noctx", "ctx"} {
		t.Run(state, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			missing := 0
			for _, name := range names {
				expect := facts[name][state]
				d, err := New(Options{})
				if err != nil {
					t.Fatal(err)
				}
				tab := d.Table()
				if state != "noinit" {
					must(t, tab.Init(0, 0))
				}
				if state == "ctx" {
					var c driver.CUcontext
					must(t, tab.DevicePrimaryCtxRetain(0, &c, 0))
					must(t, tab.CtxSetCurrent(0, c))
				}
				got, ok := callWithZeros(tab, name)
				d.Close()
				if !ok {
					t.Errorf("%s is not in the table", name)
					continue
				}
				if got == driver.CUDA_ERROR_NOT_SUPPORTED && expect != got.String() {
					missing++
					continue
				}
				if got.String() != expect {
					t.Errorf("%s: %v, want %s", name, got, expect)
				}
			}
			t.Logf("%d of %d functions are not implemented", missing, len(names))
		})
	}
}
