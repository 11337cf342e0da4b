package image

import (
	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
)

// Device is what a choice depends on.
type Device struct {
	fatbin.Device
	// Section is the name of the section that marks a CUDA ELF made by this project's own linker. The
	// device runs such an image although it runs no machine code. "" means that there are none.
	Section string
}

// Program is what a device takes from an image.
type Program struct {
	Kind  Kind          // PTX, Cubin or TileIR
	Data  []byte        // the text without NUL, the ELF, the bytecode
	Entry *fatbin.Entry // the entry it came from; nil when the image was no container
	Cubin *cubin.File   // parsed Data when Kind is Cubin
}

// Resolve finds the part of an image that the device runs and reports damage and mismatch the way
// a driver does (fault.Class says with which result). PTX is recognised, not checked. An image that
// a real device would run and this one cannot, because it holds nothing but machine code, is class
// NoBinary with an explanation.
func Resolve(data []byte, d Device) (Program, error) {
	switch kind := Detect(data); kind {
	case PTX:
		if d.DisablePTX {
			return Program{}, fault.New(fault.JITDisabled, "PTX", 0, "compiling PTX is disabled")
		}
		text := Text(data)
		if len(text) > MaxText {
			return Program{}, fault.New(fault.TooLarge, "PTX", 0, "text of %d bytes, limit %d", len(text), MaxText)
		}
		return Program{Kind: PTX, Data: text}, nil
	case Cubin:
		return d.cubin(data, nil)
	case Fatbin:
		c, err := fatbin.Parse(data)
		if err != nil {
			return Program{}, err
		}
		e, payload, err := fatbin.Resolve(c.Entries, d.Device, func(elf []byte) bool {
			f, err := cubin.Parse(elf)
			return err == nil && d.own(f)
		})
		if err != nil {
			return Program{}, err
		}
		switch e.Kind {
		case fatbin.ELF, fatbin.MercuryELF:
			p, err := d.cubin(payload, e)
			if f, ok := err.(*fault.Error); ok && f.Class == fault.Target {
				f.Class = fault.Source
			}
			return p, err
		case fatbin.TileIR:
			return Program{Kind: TileIR, Data: payload, Entry: e}, nil
		}
		// Whether the text is PTX the compiler finds out (recorded: CUDA_ERROR_INVALID_PTX).
		return Program{Kind: PTX, Data: payload, Entry: e}, nil
	case TileIR:
		if d.TileIR {
			return Program{Kind: TileIR, Data: data}, nil
		}
		return Program{}, fault.New(fault.Format, "image", 0, "Tile IR needs a driver of CUDA 13.1 or later")
	default:
		return Program{}, fault.New(fault.Format, "image", 0, "%s cannot be loaded as a module", kind)
	}
}

func (d Device) own(f *cubin.File) bool {
	return d.Section != "" && f.ELF.Section(d.Section) != nil
}

func (d Device) cubin(data []byte, e *fatbin.Entry) (Program, error) {
	f, err := cubin.Parse(data)
	if err != nil {
		return Program{}, err
	}
	if err := f.CheckDevice(d.SM); err != nil {
		return Program{}, err
	}
	if !d.RunsSASS && !d.own(f) {
		return Program{}, fault.Only(fault.NoBinary, "cubin", 0,
			"holds only machine code for %s and the device runs PTX: "+
				"load the PTX or a fat binary with PTX in it (nvcc -gencode arch=%s,code=%s)",
			f.Arch, f.Arch.Compute(), f.Arch.Compute())
	}
	return Program{Kind: Cubin, Data: data, Entry: e, Cubin: f}, nil
}
