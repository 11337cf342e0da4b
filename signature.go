package cuda

import (
	"sync"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/ptx"
)

// param is a parameter of a kernel.
type param struct {
	offset, size uint32 // bytes
	name         string // "" when unknown
	class        paramClass
	typ          string // as PTX writes it, for example ".u32"; "" when unknown
}

// paramClass is what a value for the parameter has to be, as far as PTX says.
type paramClass uint8

const (
	classAny     paramClass = iota // unknown, or bytes of no type
	classInt                       // .u8 to .s64
	classAddress                   // .u64 and .s64: a number or an address
	classPointer                   // with .ptr: an address
	classFloat                     // .f16, .f32, .f64
	classStruct                    // an array of bytes
)

// signatures knows the parameters of the kernels in an image, as far as its PTX tells; it reads the image when a kernel is first looked up.
type signatures struct {
	once    sync.Once
	image   []byte
	dev     *Device
	kernels map[string][]param
}

func newSignatures(image []byte, dev *Device) *signatures { return &signatures{image: image, dev: dev} }

// of returns the parameters of a kernel; ok is false when the image says nothing of it.
func (s *signatures) of(name string) (params []param, ok bool) {
	s.once.Do(s.read)
	params, ok = s.kernels[name]
	return params, ok
}

// read goes through the image. What it cannot read has no signatures: the driver may know formats that this package does not.
func (s *signatures) read() {
	data := s.image
	s.image = nil
	major, minor, err := s.dev.ComputeCapability()
	if err != nil {
		return
	}
	d := image.Device{Device: fatbin.Device{SM: 10*major + minor, ForcePTX: true}}
	p, err := image.Resolve(data, d)
	if err != nil {
		// No PTX: the tables of the machine code know sizes, not names.
		d.RunsSASS, d.ForcePTX = true, false
		if p, err = image.Resolve(data, d); err != nil {
			return
		}
	}
	s.kernels = map[string][]param{}
	switch p.Kind {
	case image.PTX:
		m, err := ptx.Parse(p.Data)
		if m == nil || err != nil {
			return
		}
		for _, decl := range m.Decls {
			if f, ok := decl.(*ptx.Func); ok && f.Kind == ptx.KindEntry {
				if params, ok := ptxParams(f); ok {
					s.kernels[f.Name] = params
				}
			}
		}
	case image.Cubin:
		for i := range p.Cubin.Kernels {
			f := &p.Cubin.Kernels[i]
			params := make([]param, len(f.Params))
			for j, q := range f.Params {
				if q.Ordinal != j {
					params = nil
					break
				}
				params[j] = param{offset: q.Offset, size: q.Size}
			}
			if len(params) == len(f.Params) {
				s.kernels[f.Name] = params
			}
		}
	}
}

// ptxSizes are the sizes of PTX's types in bytes.
var ptxSizes = map[string]uint32{
	"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
	"b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16,
	"texref": 8, "samplerref": 8, "surfref": 8,
}

func ptxParams(f *ptx.Func) ([]param, bool) {
	params := make([]param, len(f.Params))
	at := uint32(0)
	for i, v := range f.Params {
		elem, ok := ptxSizes[v.Type]
		if !ok || v.Vec != 0 {
			return nil, false
		}
		p := param{name: v.Name, size: elem, typ: "." + v.Type}
		switch c := v.Type[0]; {
		case v.Ptr != nil:
			p.class, p.typ = classPointer, p.typ+" .ptr"
		case c == 'f' || v.Type == "bf16" || v.Type == "bf16x2":
			p.class = classFloat
		case v.Type == "u64" || v.Type == "s64":
			p.class = classAddress
		case c == 'u' || c == 's':
			p.class = classInt
		}
		if len(v.Dims) > 0 {
			n := int64(elem)
			for _, d := range v.Dims {
				if d < 1 || n > 1<<20/d {
					return nil, false
				}
				n *= d
			}
			p.size, p.class, p.typ = uint32(n), classStruct, p.typ+"[]"
		}
		align := max(uint32(v.Align), elem)
		at = (at + align - 1) / align * align
		p.offset = at
		at += p.size
		params[i] = p
	}
	return params, true
}

// maxParams bounds the count of parameters that are asked for: 32764 bytes of parameters, the limit since PTX 8.1, hold no more.
const maxParams = 32764

// kernelParams asks the driver for the parameters of a function and adds what the image tells. known is false when neither knows (a driver before CUDA 12.4 and an
// image that cannot be read).
func (c *Context) kernelParams(f cu.CUfunction, name string, sigs *signatures) (params []param, known bool) {
	fromImage, ok := sigs.of(name)
	for i := range uint64(maxParams) {
		off, size, err := c.api.FuncGetParamInfo(f, i)
		if err != nil {
			if code, _ := err.(cu.CUresult); code == ErrInvalidValue {
				break // behind the last one
			}
			return fromImage, ok
		}
		params = append(params, param{offset: uint32(off), size: uint32(size)})
	}
	if len(fromImage) != len(params) {
		return params, true
	}
	for i := range params {
		if fromImage[i].size != params[i].size {
			return params, true
		}
	}
	for i, p := range fromImage { // offsets are the driver's
		params[i].name, params[i].class, params[i].typ = p.name, p.class, p.typ
	}
	return params, true
}
