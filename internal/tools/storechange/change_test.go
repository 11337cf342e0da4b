package main

import (
	"bytes"
	"strings"
	"testing"
)

const module = `.version 8.5
.target sm_90
.address_size 64
	// .globl	kernel // -- Begin function kernel
.visible .entry kernel(
	.param .u64 kernel_param_0 /* an array */
)
{
	.reg .pred 	%p<2>;
	.reg .b16 	%rs<2>;
	.reg .b32 	%r<3>;
	.reg .f32 	%f<3>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [kernel_param_0];
	mov.u32 	%r1, %tid.x;
	setp.eq.s32 	%p1, %r1, 0;
	cvt.rn.f32.u32 	%f1, %r1;
	cvt.u16.u32 	%rs1, %r1;
	@%p1 st.global.u32 	[%rd1], %r1;
	st.global.f32 	[%rd1+4], %f1;
	st.global.v2.f32 	[%rd1+8], {%f1, %f2};
	st.u8 	[%rd1+16], %rs1;
	st.global.u64 	[%rd1+24], 7;
	st.global.f32 	[%rd1+32], 0f3F800000;
	red.global.add.u32 	[%rd1+36], %r1;
	atom.global.add.u32 	%r2, [%rd1+40], %r1;
	atom.global.cas.b32 	%r2, [%rd1+40], %r1, %r2;
	ret;
}
`

// TestChanges turns over the value of each store, and of nothing else; every result is PTX, and fits where the module
// was. A value that is a float stays a number: the highest bit of its fraction changes.
func TestChanges(t *testing.T) {
	data := append([]byte("ELF..."), module...)
	data = append(data, 0, 1, 2)
	found := texts(data)
	if len(found) != 1 || found[0].at != 6 {
		t.Fatalf("%d modules", len(found))
	}
	lines := bare(found[0].body)
	if err := valid(lines); err != nil {
		t.Fatal(err)
	}
	var got []string
	all := stores([][]string{lines})
	for i := range all {
		changed := bytes.Clone(data)
		with := append([]string{}, lines...)
		with[all[i].line] = all[i].changed()
		if err := valid(with); err != nil {
			t.Errorf("%s: %v", with[all[i].line], err)
		}
		if err := write(changed, found[0], with); err != nil {
			t.Error(err)
		}
		if len(changed) != len(data) || !bytes.Equal(changed[len(data)-3:], data[len(data)-3:]) {
			t.Error("bytes beside the module changed")
		}
		got = append(got, strings.Join(strings.Fields(all[i].changed()), " "))
	}
	want := []string{
		"{.reg .b32 zq;not.b32 zq,%r1;@%p1 st.global.u32 [%rd1], zq;}",
		"{.reg .b32 zq;xor.b32 zq,%f1,0x400000;st.global.f32 [%rd1+4], zq;}",
		"{.reg .b32 zq;xor.b32 zq,%f1,0x400000;st.global.v2.f32 [%rd1+8], {zq, %f2};}",
		"{.reg .b16 zq;not.b16 zq,%rs1;st.u8 [%rd1+16], zq;}",
		"{.reg .b64 zq;not.b64 zq,7;st.global.u64 [%rd1+24], zq;}",
		"{.reg .b32 zq;xor.b32 zq,0x3F800000,0x400000;st.global.f32 [%rd1+32], zq;}",
		"{.reg .b32 zq;not.b32 zq,%r1;red.global.add.u32 [%rd1+36], zq;}",
		"{.reg .b32 zq;not.b32 zq,%r1;atom.global.add.u32 %r2, [%rd1+40], zq;}",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSpread(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 100} {
		order := spread(n, 12)
		seen := map[int]bool{}
		for _, i := range order {
			if i < 0 || i >= n || seen[i] {
				t.Errorf("spread(%d): %v", n, order)
			}
			seen[i] = true
		}
		if len(order) != min(n, 12) {
			t.Errorf("spread(%d) gives %d", n, len(order))
		}
	}
}
