package exec_test

import (
	"slices"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// TestVectorRegisterParameters: registers of vector type are parameters and results of functions, by name, through a pointer, in braces, and as a sink. An H200's driver
// runs such programs; what they compute is their arithmetic.
func TestVectorRegisterParameters(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.func (.reg .b32 r) sum(.reg .v2 .u32 x, .reg .u32 y) { add.u32 r, x.x, x.y; mad.lo.u32 r, r, 10, y; ret; }
.func (.reg .v4 .b32 r, .reg .u32 last) spread(.reg .u32 y, .reg .v2 .u32 x) {
	mov.b32 r.x, y; add.u32 r.y, y, 1; mov.b32 r.z, x.x; mov.b32 r.w, x.y; add.u32 last, x.x, 100; ret; }
.visible .entry k(.param .u64 at) {
	.reg .u64 a, f; .reg .v2 .u32 v; .reg .v4 .b32 w; .reg .u32 t, r, s;
	ld.param.u64 a, [at]; mov.u32 t, %tid.x; mad.wide.u32 a, t, 48, a;
	add.u32 v.x, t, 3; add.u32 v.y, t, 4; mov.u32 s, 5; mov.u32 r, 0;
	call (r), sum, (v, s);
	st.global.u32 [a], r;
	mov.u64 f, sum;
P:	.callprototype (.reg .b32 _) _ (.reg .v2 .u32 _, .reg .u32 _);
	call (r), f, ({s, t}, 7), P;
	st.global.u32 [a+4], r;
	call (w, r), spread, (t, v);
	st.global.v4.u32 [a+16], w; st.global.u32 [a+8], r;
	call (_, r), spread, (s, {s, s});
	st.global.u32 [a+12], r;
	ret;
}`
	engines := []exec.Engine{interp.New()}
	if e, err := jit.New(); err == nil {
		engines = append(engines, e)
	}
	for _, e := range engines {
		d := exectest.Open(t)
		d.Engine = e
		k, err := d.Load(text).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		at, out := d.Alloc(48 * 40)
		if err := k.Run(exectest.Config{Block: exectest.Dim(40)}, at); err != nil {
			t.Fatal(err)
		}
		words := exectest.Words(out)
		for i := range uint32(40) {
			want := []uint32{(2*i+7)*10 + 5, (5+i)*10 + 7, i + 103, 105, i, i + 1, i + 3, i + 4}
			if got := words[12*i:][:8]; !slices.Equal(got, want) {
				t.Fatalf("%s, thread %d: %d, want %d", e.Name(), i, got, want)
			}
		}
	}
}
