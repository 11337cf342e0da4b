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

// readFacts reads recorded answers of the NVIDIA driver.
func readFacts(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
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

// TestNullArguments calls every function with 0 for each argument, before cuInit, without a context, and with one.
// null_arguments.json holds what driver 580.159.04 (CUDA 13.0, H200) answered.
func TestNullArguments(t *testing.T) {
	var facts map[string]map[string]string
	readFacts(t, "null_arguments.json", &facts)
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	sort.Strings(names)
	gone := map[string]bool{} // not implemented, but with the driver's argument checks
	for _, a := range absents {
		gone["cu"+a.name] = true
	}
	for _, state := range []string{"ctx", "noctx", "noinit"} {
		t.Run(state, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			checked := 0
			for _, name := range names {
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
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				expect := facts[name][state]
				switch {
				case !ok:
					t.Errorf("%s is not in the table", name)
				case !d.Implements(name) && !gone[name]:
				case expect == "CRASH signal 11": // where the driver dies any error will do
					if got == driver.CUDA_SUCCESS {
						t.Errorf("%s: success, but the driver died", name)
					}
				case got.String() != expect:
					t.Errorf("%s: %v, want %s", name, got, expect)
				default:
					checked++
				}
			}
			t.Logf("%d of %d functions checked", checked, len(names))
		})
	}
}
