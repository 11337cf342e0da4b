package conform

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
)

// byteKernel has the 16 bits of in, %rs2, become those of out, %rs1.
func byteKernel(body string) string {
	return `.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .b16 %rs<3>;
	.reg .b32 %r<4>;
	.reg .f32 %f1;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd1, %r1, 2, %rd1;
	mad.wide.u32 %rd2, %r1, 2, %rd2;
	ld.global.u16 %rs2, [%rd1];
	` + body + `
	st.global.u16 [%rd2], %rs1;
	ret;
}
`
}

// TestBytes: conversions between registers of 8 bits and bf16, which the recorded forms lack, since their registers are
// wider. All results are an H200's (driver 580.159.04).
func TestBytes(t *testing.T) {
	c := openContext(t)
	const (
		toByte   = "{ .reg .b8 m; cvt.%s.%s.bf16 m, %%rs2; mov.b16 %%rs1, {m, 0}; }"
		fromByte = "{ .reg .b8 a, b; mov.b16 {a, b}, %%rs2; cvt.%s.%s.%s %%rs1, a; }"
	)
	floats := []uint16{0x3fc0, 0xbfc0, 0x42fe, 0x4300, 0xc300, 0xc301, 0x4380, 0x7f80, 0xff80, 0x7fc0, 0x3f00, 0xbf00,
		0x0000, 0x8000, 0x4020, 0x4060}
	integers := []uint16{0, 1, 0x7f, 0x80, 0xff, 0x55}
	for _, x := range []struct {
		body string
		in   []uint16
		want []uint16
	}{
		{fmt.Sprintf(toByte, "rni", "s8"), floats,
			[]uint16{0x2, 0xfe, 0x7f, 0x7f, 0x80, 0x80, 0x7f, 0x7f, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x4}},
		{fmt.Sprintf(toByte, "rzi", "s8"), floats,
			[]uint16{0x1, 0xff, 0x7f, 0x7f, 0x80, 0x80, 0x7f, 0x7f, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3}},
		{fmt.Sprintf(toByte, "rmi", "s8"), floats,
			[]uint16{0x1, 0xfe, 0x7f, 0x7f, 0x80, 0x80, 0x7f, 0x7f, 0x80, 0x0, 0x0, 0xff, 0x0, 0x0, 0x2, 0x3}},
		{fmt.Sprintf(toByte, "rpi", "s8"), floats,
			[]uint16{0x2, 0xff, 0x7f, 0x7f, 0x80, 0x80, 0x7f, 0x7f, 0x80, 0x0, 0x1, 0x0, 0x0, 0x0, 0x3, 0x4}},
		{fmt.Sprintf(toByte, "rni", "u8"), floats,
			[]uint16{0x2, 0x0, 0x7f, 0x80, 0x0, 0x0, 0xff, 0xff, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x4}},
		{fmt.Sprintf(toByte, "rzi", "u8"), floats,
			[]uint16{0x1, 0x0, 0x7f, 0x80, 0x0, 0x0, 0xff, 0xff, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3}},
		{fmt.Sprintf(toByte, "rmi", "u8"), floats,
			[]uint16{0x1, 0x0, 0x7f, 0x80, 0x0, 0x0, 0xff, 0xff, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3}},
		{fmt.Sprintf(toByte, "rpi", "u8"), floats,
			[]uint16{0x2, 0x0, 0x7f, 0x80, 0x0, 0x0, 0xff, 0xff, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x3, 0x4}},
		{fmt.Sprintf(fromByte, "rn", "bf16", "s8"), integers, []uint16{0x0, 0x3f80, 0x42fe, 0xc300, 0xbf80, 0x42aa}},
		{fmt.Sprintf(fromByte, "rz", "bf16", "s8"), integers, []uint16{0x0, 0x3f80, 0x42fe, 0xc300, 0xbf80, 0x42aa}},
		{fmt.Sprintf(fromByte, "rn", "f16", "s8"), integers, []uint16{0x0, 0x3c00, 0x57f0, 0xd800, 0xbc00, 0x5550}},
		{fmt.Sprintf(fromByte, "rn", "bf16", "u8"), integers, []uint16{0x0, 0x3f80, 0x42fe, 0x4300, 0x437f, 0x42aa}},
		{fmt.Sprintf(fromByte, "rz", "bf16", "u8"), integers, []uint16{0x0, 0x3f80, 0x42fe, 0x4300, 0x437f, 0x42aa}},
		{fmt.Sprintf(fromByte, "rn", "f16", "u8"), integers, []uint16{0x0, 0x3c00, 0x57f0, 0x5800, 0x5bf8, 0x5550}},
		{"{ .reg .b8 a, b; mov.b16 {a, b}, %rs2; cvt.u16.u8 %rs1, b; }", []uint16{0x1280}, []uint16{0x12}},
		{"{ .reg .b8 a, b; mov.b16 {a, b}, %rs2; cvt.s16.s8 %rs1, a; }", []uint16{0x1280}, []uint16{0xff80}},
	} {
		got, err := runBytes(c, byteKernel(x.body), x.in)
		if err != nil {
			t.Errorf("%s: %v", x.body, err)
			continue
		}
		for i, w := range x.want {
			if got[i] != w {
				t.Errorf("%s: %#x becomes %#x, want %#x", x.body, x.in[i], got[i], w)
			}
		}
	}
	const mismatch = "Arguments mismatch for instruction 'cvt'"
	for _, x := range []struct{ body, log string }{
		{"cvt.rzi.s8.bf16 %rs1, %rs2;", mismatch},
		{"cvt.rzi.u8.bf16 %r1, %rs2;", mismatch},
		{"cvt.rn.bf16.s8 %rs1, %rs2;", mismatch},
		{"cvt.rn.bf16.u8 %rs1, %rs2;", mismatch},
		{"{ .reg .b8 m; cvt.rni.sat.s8.bf16 m, %rs2; mov.b16 %rs1, {m, 0}; }",
			"Illegal modifier '.sat' for instruction 'cvt'"},
	} {
		_, err := c.Load([]byte(byteKernel(x.body)))
		var e *cuda.Error
		if !errors.As(err, &e) || !errors.Is(err, cu.CUDA_ERROR_INVALID_PTX) || !strings.Contains(e.Log, x.log) {
			t.Errorf("%s: %v", x.body, err)
		}
	}
}

// openContext is the first device's primary context.
func openContext(t *testing.T) *cuda.Context {
	t.Helper()
	sys, err := cuda.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := sys.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func runBytes(c *cuda.Context, text string, in []uint16) (_ []uint16, err error) {
	l, err := c.Load([]byte(text))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	k, err := l.Kernel("k")
	if err != nil {
		return nil, err
	}
	src, err := cuda.Upload(c, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := cuda.Alloc[uint16](c, len(in))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if err := k.Launch(nil, cuda.Linear(len(in)), cuda.Ptr(src), cuda.Ptr(dst)); err != nil {
		return nil, err
	}
	return dst.Download()
}
