package softdev

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// TestProgramsShared loads one text several times: the modules have one program, with variables of their own, and it
// goes with the last of them.
func TestProgramsShared(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		d, tab, ctx := open(t, Options{EngineName: engine})
		var other driver.CUcontext
		if r := d.create(ctx, &other, 0, 0, apiVersion2); r != success {
			t.Fatal(r)
		}
		load := func(ctx driver.CUcontext, text string) (*program, driver.CUmodule) {
			m := load(t, d, ctx, text)
			return d.modules.get(uintptr(m)).prog, m
		}
		a, ma := load(ctx, addPTX)
		b, mb := load(other, addPTX)
		c, mc := load(ctx, addPTX)
		x, mx := load(ctx, addPTX+"// another text\n")
		if a != b || a != c {
			t.Error("the same text has several programs")
		}
		if a == x {
			t.Error("different texts have one program")
		}
		global := func(ctx driver.CUcontext, m driver.CUmodule) (p driver.CUdeviceptr) {
			must(t, tab.ModuleGetGlobal_v2(ctx, &p, nil, m, cstr("bias")))
			return p
		}
		if global(ctx, ma) == global(other, mb) || global(ctx, ma) == global(ctx, mc) {
			t.Error("two modules have one variable")
		}
		for _, m := range []driver.CUmodule{ma, mc, mx} {
			must(t, tab.ModuleUnload(ctx, m))
		}
		must(t, tab.ModuleUnload(other, mb))
		runtime.KeepAlive([]*program{a, b, c, x})
		a, b, c, x = nil, nil, nil, nil
		for range 100 {
			runtime.GC()
			d.programs.mu.Lock()
			n := len(d.programs.known)
			d.programs.mu.Unlock()
			if n == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("programs stay known after their modules are gone")
	})
}

// Texture references have one state for each program: such modules do not share.
func TestProgramsNotShared(t *testing.T) {
	d, _, ctx := open(t, Options{})
	const text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .texref tex0;\n.visible .entry k() { ret; }\n"
	a, b := d.modules.get(uintptr(load(t, d, ctx, text))), d.modules.get(uintptr(load(t, d, ctx, text)))
	if a.prog == b.prog {
		t.Error("two modules share a texture reference")
	}
}

// BenchmarkLoadAgain loads a text that is loaded already, and one that is not.
func BenchmarkLoadAgain(b *testing.B) {
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%t", again), func(b *testing.B) {
			d, tab, ctx := open(b, Options{})
			load(b, d, ctx, fmt.Sprintf(soakPTX, 0))
			n := 0
			for b.Loop() {
				if !again {
					n++
				}
				m := load(b, d, ctx, fmt.Sprintf(soakPTX, n))
				fn(b, d, ctx, m, "mix")
				must(b, tab.ModuleUnload(ctx, m))
			}
		})
	}
}
