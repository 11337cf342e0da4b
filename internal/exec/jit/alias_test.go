package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// aliasKernel computes one operation of three numbers of each thread and stores the result; what else it stores says
// which of the numbers are used afterwards.
const aliasKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
	.reg .f32 %%f<8>; .reg .b32 %%r<4>; .reg .b64 %%q<8>;
	ld.param.u64 %%q1, [out]; ld.param.u64 %%q2, [in]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%q3, %%r1, 4;
	add.u64 %%q1, %%q1, %%q3; add.u64 %%q2, %%q2, %%q3;
	ld.global.f32 %%f0, [%%q2]; ld.global.f32 %%f1, [%%q2+256]; ld.global.f32 %%f2, [%%q2+512];
	%s;
	st.global.f32 [%%q1], %%f%d; %s
	ret;
}`

// TestAliases: the destination of an operation may be one of its sources, whichever of the sources end there.
func TestAliases(t *testing.T) { eachISA(t, testAliases) }

func testAliases(t *testing.T, e *engine) {
	forms := []string{"fma.rn.f32 %%f%d, %%f0, %%f1, %%f2", "fma.rn.f32 %%f%d, %%f0, 0f3F000000, %%f2",
		"fma.rn.f32 %%f%d, %%f2, %%f2, %%f0", "fma.rn.f32 %%f%d, %%f1, %%f0, %%f0", "sub.f32 %%f%d, %%f0, %%f1",
		"mul.f32 %%f%d, %%f1, %%f0", "div.rn.f32 %%f%d, %%f0, %%f1", "min.f32 %%f%d, %%f0, %%f2"}
	run := func(d *exectest.Device, text string) []byte {
		k, err := d.Load(text).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		in, data := d.Alloc(768)
		for i := range 192 {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i%37)*1.25-7))
		}
		out, result := d.Alloc(1024)
		err = k.Run(exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(64)}, out, in)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(result)
	}
	code, reference := exectest.Open(t), exectest.Open(t)
	code.Engine, reference.Engine = e, interp.New()
	for n := range 4 * len(forms) {
		d := n % 4
		op := fmt.Sprintf(forms[n/4], d)
		for live := range 8 {
			more := ""
			for i := range 3 {
				if live>>i&1 != 0 {
					more += fmt.Sprintf("st.global.f32 [%%q1+%d], %%f%d; ", 256*(i+1), i)
				}
			}
			text := fmt.Sprintf(aliasKernel, op, d, more)
			if !bytes.Equal(run(code, text), run(reference, text)) {
				t.Errorf("%s, then %s: another result", op, more)
			}
		}
	}
}
