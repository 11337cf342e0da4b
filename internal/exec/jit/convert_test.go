package jit

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// TestNarrowFloatInWideRegister: a float narrower than the register that it is converted into leaves the rest of the
// register zero, as the interpreter has it. Generated program 1 found it.
func TestNarrowFloatInWideRegister(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) {
		for _, form := range []string{"rp.f16.f64", "rz.f16.f64", "rn.sat.f32.f64", "rn.f32.f64", "rn.f16.f32"} {
			src := form[len(form)-3:]
			text := ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at) {\n.reg .b64 %q<4>; .reg .f64 %d; .reg .f32 %f; .reg .b32 %t;\n" +
				"ld.param.u64 %q0, [at]; mov.u32 %t, %tid.x; cvt.rn.f64.u32 %d, %t; add.f64 %d, %d, 0.25; cvt.rn.f32.f64 %f, %d;\n" +
				"mad.wide.u32 %q0, %t, 8, %q0; mov.u64 %q1, -1; cvt." + form + " %q1, %" +
				map[string]string{"f64": "d", "f32": "f"}[src] + ";\nst.global.u64 [%q0], %q1; ret; }"
			d := exectest.Open(t)
			var first []byte
			for _, engine := range []exec.Engine{interp.New(), e} {
				d.Engine = engine
				k, err := d.Load(text).Kernel("k")
				if err != nil {
					t.Fatal(err)
				}
				at, out := d.Alloc(8 * 64)
				if err := k.Run(exectest.Config{Block: exectest.Dim(64)}, at); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = bytes.Clone(out)
				} else if !bytes.Equal(out, first) {
					t.Errorf("cvt.%s: %x, the interpreter has %x", form, out[:16], first[:16])
				}
			}
		}
	})
}
