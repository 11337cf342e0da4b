package devmath

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/ir"
)

// TestNative holds that every operation of every function is machine code: one that is not costs more than all others.
func TestNative(t *testing.T) {
	names, list := engines()
	for i, name := range names[:len(names)-1] { // the last is the interpreter
		d := exectest.Open(t)
		d.Engine = list[i]
		for _, f := range functions {
			k, err := d.Load(module(f)).Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			funcs, err := jit.List(k.Code.Kernel(), exectest.Dim(128), name)
			if err != nil {
				t.Fatal(err)
			}
			for j, native := range funcs[0].Native { // the kernel, with the function put into it
				if op := &k.Code.Kernel().Funcs[0].Ops[j]; !native && op.Ctl == ir.Plain {
					t.Errorf("%s, %s: %s is no machine code", f.name, name, op)
				}
			}
		}
	}
}
