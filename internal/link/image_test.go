package link_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/link"
)

// device is the software device as package image sees it.
var device = image.Device{Device: fatbin.Device{SM: 90}, Section: link.Section}

// TestImageIsCubin reads an image with the reader of cubins, and resolves it as a module load does, bare and in a fat
// binary.
func TestImageIsCubin(t *testing.T) {
	p := linked(t, unit{"a", `.visible .global .u32 v = 5;
.visible .const .u64 c[2];
.weak .global .f32 z;
.global .attribute(.managed) .u64 m;
.visible .entry one(.param .u64 a, .param .u32 b, .param .align 16 .b8 s[48]) .maxntid 64, 2, 1 { ret; }
.weak .entry two() .reqntid 32 { ret; }
`})
	img := p.Image()
	if k := image.Detect(img); k != image.Cubin {
		t.Fatal(k)
	}
	f, err := cubin.Parse(img)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range f.Kernels {
		names = append(names, k.Name)
	}
	if !slices.Equal(names, kernelNames(p)) || len(f.Functions) != 0 || f.Relocatable || f.Arch.String() != "sm_90" {
		t.Errorf("kernels %v, %v; want %v on sm_90", names, f.Arch, kernelNames(p))
	}
	one, two := f.Kernel("one"), f.Kernel("two")
	if one == nil || two == nil {
		t.Fatal("a kernel is missing")
	}
	if want := []cubin.Param{{Ordinal: 0, Offset: 0, Size: 8}, {Ordinal: 1, Offset: 8, Size: 4},
		{Ordinal: 2, Offset: 16, Size: 48}}; !slices.Equal(one.Params, want) || one.ParamSize != 64 {
		t.Errorf("parameters %v of %d bytes", one.Params, one.ParamSize)
	}
	if one.MaxThreads != [3]uint32{64, 2, 1} || two.ReqThreads != [3]uint32{32, 1, 1} || !two.Weak || one.Weak {
		t.Errorf("bounds %v %v, weak %v %v", one.MaxThreads, two.ReqThreads, one.Weak, two.Weak)
	}
	for _, g := range []cubin.Global{
		{Name: "v", Size: 4, Section: ".nv.global.init", Bank: -1, Visible: true, Initialised: true},
		{Name: "c", Size: 16, Section: ".nv.constant3", Bank: 3, Visible: true, Initialised: true},
		{Name: "z", Size: 4, Section: ".nv.global", Bank: -1, Visible: true, Weak: true},
		{Name: "m", Size: 8, Section: ".nv.global", Offset: 8, Bank: -1, Managed: true},
	} {
		if got := f.Global(g.Name); got == nil || *got != g {
			t.Errorf("variable %+v, want %+v", got, g)
		}
	}
	part, err := image.Resolve(img, device)
	if err != nil || part.Kind != image.Cubin {
		t.Fatal(part.Kind, err)
	}
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.ELF, Arch: sm.Arch{Number: 90}, Data: img}); err != nil {
		t.Fatal(err)
	}
	if part, err = image.Resolve(w.Bytes(), device); err != nil || part.Kind != image.Cubin {
		t.Fatal(part.Kind, err)
	}
	if q, err := link.Load(part.Data, options()); err != nil || !slices.Equal(kernelNames(q), kernelNames(p)) {
		t.Error(err)
	}
}

// TestLoadRefuses: images of others, for another device, and damaged ones; every single byte of the program's section
// is covered by a check.
func TestLoadRefuses(t *testing.T) {
	var e *link.Error
	if _, err := link.Load(need(t, "rdc_pair", "rdc_a.sm_90.cubin"), options()); !errors.As(err, &e) ||
		e.Result().String() != "CUDA_ERROR_NO_BINARY_FOR_GPU" || !errors.Is(err, fault.NoBinary) {
		t.Errorf("NVIDIA's cubin: %v", err)
	}
	if _, err := link.Load([]byte("nothing"), options()); !errors.As(err, &e) ||
		e.Result().String() != "CUDA_ERROR_INVALID_IMAGE" {
		t.Errorf("text: %v", err)
	}
	p := linked(t, unit{"a", kernel("k", "mov.u32 r, 1;")}, unit{"b", ".visible .global .u32 v;\n"})
	img := p.Image()
	o := options()
	o.SM = 80
	if _, err := link.Load(img, o); !errors.As(err, &e) || e.Result().String() != "CUDA_ERROR_NO_BINARY_FOR_GPU" {
		t.Errorf("on sm_80: %v", err)
	}
	f, err := cubin.Parse(img)
	if err != nil {
		t.Fatal(err)
	}
	s := f.ELF.Section(link.Section)
	for i := uint64(0); i < s.Size; i++ {
		// The device that the program was linked for (12 to 15) is told by the ELF header too and not read.
		if 12 <= i && i < 16 {
			continue
		}
		b := slices.Clone(img)
		b[s.Offset+i] ^= 0x10
		if _, err := link.Load(b, options()); !errors.Is(err, fault.Malformed) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}
