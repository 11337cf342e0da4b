package driver_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// panicking is a table whose functions all panic with their symbols.
func panicking() *driver.Table {
	t := new(driver.Table)
	for s := range driver.Symbols() {
		f := reflect.ValueOf(t).Elem().FieldByName(s.Name[len("cu"):])
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic(s.Name) }))
	}
	return t
}

// Every function of both tables ends at the boundary, which is told which it was, and in which context.
func TestGuard(t *testing.T) {
	const cur = driver.CUcontext(0x1234)
	table := panicking()
	table.PerThread = panicking()
	calls := 0
	var got any
	table.Guard(func(field int, c driver.CUcontext, v any) driver.CUresult {
		calls++
		got = v
		if c != cur {
			t.Errorf("%v: context %#x", v, c)
		}
		if s, _ := driver.Lookup(v.(string)); s.Field != field {
			t.Errorf("%v: field %d, want %d", v, field, s.Field)
		}
		return driver.CUDA_ERROR_UNKNOWN
	})
	for s := range driver.Symbols() {
		for _, of := range []*driver.Table{table, table.PerThread} {
			f := reflect.ValueOf(of.Func(s.Field))
			args := make([]reflect.Value, f.Type().NumIn())
			for i := range args {
				args[i] = reflect.Zero(f.Type().In(i))
			}
			args[0] = reflect.ValueOf(cur)
			got = nil
			if r := f.Call(args)[0].Interface(); r != driver.CUDA_ERROR_UNKNOWN || got != s.Name {
				t.Errorf("%s: %v, panic %v", s.Name, r, got)
			}
		}
	}
	if calls != 2*driver.NumSymbols {
		t.Errorf("%d calls, want %d", calls, 2*driver.NumSymbols)
	}
}

// A function that returns and one that ends its goroutine are none of the boundary's business; one that is not provided
// stays so; a panic of the handler is the caller's.
func TestGuardPasses(t *testing.T) {
	table := &driver.Table{
		Init:           func(driver.CUcontext, uint32) driver.CUresult { return driver.CUDA_ERROR_NO_DEVICE },
		CtxSynchronize: func(driver.CUcontext) driver.CUresult { runtime.Goexit(); return 0 },
		DeviceGetCount: func(driver.CUcontext, *int32) driver.CUresult { panic("mine") },
	}
	table.Guard(func(_ int, _ driver.CUcontext, v any) driver.CUresult { panic(v) })
	if table.DeviceGet != nil {
		t.Error("a function that is not provided has come")
	}
	if r := table.Init(0, 0); r != driver.CUDA_ERROR_NO_DEVICE {
		t.Error(r)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		table.CtxSynchronize(0)
		t.Error("Goexit has been stopped")
	}()
	<-ended
	defer func() {
		if v := recover(); v != "mine" {
			t.Error(v)
		}
	}()
	table.DeviceGetCount(0, nil)
}

// The boundary costs a call no allocation.
func TestGuardAllocates(t *testing.T) {
	table := &driver.Table{CtxGetId: func(_ driver.CUcontext, _ driver.CUcontext, id *uint64) driver.CUresult {
		*id++
		return 0
	}}
	table.Guard(func(int, driver.CUcontext, any) driver.CUresult { return 0 })
	id := new(uint64)
	if n := testing.AllocsPerRun(100, func() { table.CtxGetId(0, 0, id) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGuard(b *testing.B) {
	call := func(_ driver.CUcontext, _ driver.CUcontext, id *uint64) driver.CUresult { *id++; return 0 }
	id := new(uint64)
	for _, guarded := range []bool{false, true} {
		table := &driver.Table{CtxGetId: call}
		name := "without"
		if guarded {
			table.Guard(func(int, driver.CUcontext, any) driver.CUresult { return 0 })
			name = "with"
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				table.CtxGetId(0, 0, id)
			}
		})
	}
}
