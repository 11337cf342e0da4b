package exec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// TestVectorRegisterParameters: registers of vector type are parameters and results of functions, by name, through a
// pointer, and as a sink. An H200's driver runs such programs; what they compute is their arithmetic.
func TestVectorRegisterParameters(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.func (.reg .b32 r) sum(.reg .v2 .u32 x, .reg .u32 y) { add.u32 r, x.x, x.y; mad.lo.u32 r, r, 10, y; ret; }
.func (.reg .v4 .b32 r, .reg .u32 last) spread(.reg .u32 y, .reg .v2 .u32 x) {
	mov.b32 r.x, y; add.u32 r.y, y, 1; mov.b32 r.z, x.x; mov.b32 r.w, x.y; add.u32 last, x.x, 100; ret; }
.visible .entry k(.param .u64 at) {
	.reg .u64 a, f; .reg .v2 .u32 v, u; .reg .v4 .b32 w; .reg .u32 t, r, s;
	ld.param.u64 a, [at]; mov.u32 t, %tid.x; mad.wide.u32 a, t, 48, a;
	add.u32 v.x, t, 3; add.u32 v.y, t, 4; mov.u32 s, 5; mov.u32 r, 0;
	call (r), sum, (v, s);
	st.global.u32 [a], r;
	mov.u64 f, sum;
P:	.callprototype (.reg .b32 _) _ (.reg .v2 .u32 _, .reg .u32 _);
	mov.u32 u.x, s; mov.u32 u.y, t; call (r), f, (u, 7), P;
	st.global.u32 [a+4], r;
	call (w, r), spread, (t, v);
	st.global.v4.u32 [a+16], w; st.global.u32 [a+8], r;
	mov.u32 u.y, s; call (_, r), spread, (s, u);
	st.global.u32 [a+12], r;
	ret;
}`
	engines := []exec.Engine{interp.New()}
	if e, err := jit.New(""); err == nil {
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

// TestVectorParameters passes vectors of every type and size through functions whose parameter and result are
// registers, called by name and through a pointer. The components come back in the opposite order. There are no .param
// variables of vector type: ptxas 13.0 refuses them (check/testdata/ptxas.txt).
func TestVectorParameters(t *testing.T) {
	engines := []exec.Engine{interp.New()}
	if e, err := jit.New(""); err == nil {
		engines = append(engines, e)
	}
	for _, typ := range []string{"u8", "b16", "s16", "f16", "b32", "u32", "f32", "f16x2", "b64", "s64", "f64"} {
		bits := map[byte]int{'8': 8, '6': 16, '2': 32, '4': 64}[typ[len(typ)-1]]
		if typ == "f16x2" {
			bits = 32
		}
		for _, n := range []int{2, 4} {
			if n*bits > 128 {
				continue
			}
			narrow := fmt.Sprintf("b%d", bits) // of loads and stores
			move := func(to, from string) string { return fmt.Sprintf("mov.b%d %s, %s; ", bits, to, from) }
			if bits == 8 {
				move = func(to, from string) string {
					return fmt.Sprintf("cvt.u16.u8 h, %s; cvt.u8.u16 %s, h; ", from, to)
				}
			}
			var back, set, store []string
			for i := range n {
				c, d := "xyzw"[i:i+1], "xyzw"[n-1-i:n-i]
				back = append(back, move("o."+c, "x."+d))
				if bits == 8 {
					set = append(set, fmt.Sprintf("mov.u16 h, %d; cvt.u8.u16 v.%s, h; ", 17+i, c))
				} else {
					set = append(set, move("v."+c, fmt.Sprint(17+i)))
				}
				store = append(store, fmt.Sprintf("st.global.%s [a+%d], w.%s; ", narrow, 8*i, c))
			}
			reg := fmt.Sprintf(".reg .v%d .%s", n, typ)
			text := ".version 8.0\n.target sm_90\n.address_size 64\n" +
				".func (" + reg + " o) f(" + reg + " x) { .reg .b16 h; " + strings.Join(back, "") + "ret; }\n" +
				".visible .entry k(.param .u64 at) { .reg .u64 a, p; .reg .b16 h; " + reg +
				" v, w; ld.param.u64 a, [at]; " + strings.Join(set, "") +
				"P: .callprototype (" + reg + " _) _ (" + reg + " _);\n"
			for _, call := range []string{
				"call (w), f, (v);", "mov.u64 p, f; call (w), p, (v), P;",
				"call (w), f, (v); call (w), f, (w); call (w), f, (w);",
			} {
				src := text + call + strings.Join(store, "") + "ret; }"
				for _, e := range engines {
					d := exectest.Open(t)
					d.Engine = e
					k, err := d.Load(src).Kernel("k")
					if err != nil {
						t.Fatalf("%v\n%s", err, src)
					}
					at, out := d.Alloc(32)
					if err := k.Run(exectest.Config{}, at); err != nil {
						t.Fatalf("%s: %v\n%s", e.Name(), err, src)
					}
					for j := range n {
						want := byte(17 + n - 1 - j)
						if got := out[8*j:][:bits/8]; got[0] != want || slices.ContainsFunc(got[1:], func(b byte) bool {
							return b != 0
						}) {
							t.Errorf("%s: component %d of .v%d.%s through %q is %x, want %d", e.Name(), j, n, typ, call,
								got, want)
						}
					}
				}
			}
		}
	}
}
