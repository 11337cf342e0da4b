package link_test

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/link"
)

// FuzzLoad: any bytes give a program or an *Error, and a program survives its own image.
func FuzzLoad(f *testing.F) {
	l := link.New(options())
	for _, file := range []string{"rdc_a.compute_90.ptx", "rdc_b.compute_90.ptx"} {
		if err := l.Add(link.InputPTX, need(f, "rdc_pair", file), file); err != nil {
			f.Fatal(err)
		}
	}
	p, err := l.Complete()
	if err != nil {
		f.Fatal(err)
	}
	img := p.Image()
	f.Add(img)
	f.Add(img[:len(img)/2])
	f.Add(need(f, "rdc_pair", "rdc_a.sm_90.cubin"))
	if p, err = link.Module([]byte(head+kernel("k", "mov.u32 r, 1;")), options()); err != nil {
		f.Fatal(err)
	}
	f.Add(p.Image())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := link.Load(data, options())
		var e *link.Error
		if err != nil {
			if !errors.As(err, &e) || e.Result() == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if _, err := link.Load(p.Image(), options()); err != nil {
			t.Fatalf("the image of a loaded program: %v", err)
		}
	})
}

// FuzzAdd: any bytes as any kind of input beside a sound one give a program or an *Error, never a panic, and an input
// that failed leaves no trace.
func FuzzAdd(f *testing.F) {
	for file, kind := range map[string]link.Input{"rdc_a.sm_90.cubin": link.InputCubin,
		"rdc_a.compute_90.ptx": link.InputPTX, "rdc_c.compute_90.ptx": link.InputPTX,
		"rdc_a.fatbin": link.InputFatbin, "rdc_a.lto.fatbin": link.InputFatbin, "rdc_a.o": link.InputObject,
		"rdc_pair.a": link.InputLibrary} {
		f.Add(uint8(kind), need(f, "rdc_pair", file))
	}
	f.Add(uint8(link.InputPTX), []byte(head+".extern .func f();\n.weak .global .u64 p = f;\n.visible .func g();\n.alias g, h;\n.weak .func h() { call g; ret; }\n"))
	base := need(f, "rdc_pair", "rdc_b.compute_90.ptx")
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		o := options()
		o.Relink = true
		l := link.New(o)
		if err := l.Add(link.InputPTX, base, "base"); err != nil {
			t.Fatal(err)
		}
		failed := l.Add(link.Input(kind%7), data, "fuzz")
		p, err := l.Complete()
		var e *link.Error
		for _, err := range []error{failed, err} {
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
		}
		if failed != nil && (err == nil || err.Error() != "error   : Undefined reference to 'shared_total' in 'base'") {
			t.Fatalf("after %v: %v", failed, err)
		}
		if p == nil {
			return
		}
		if _, err := link.Load(p.Image(), o); err != nil {
			t.Fatalf("the image of a linked program: %v", err)
		}
	})
}
