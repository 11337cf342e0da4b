package cuda

import (
	"bytes"
	"strings"
	"sync"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
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

// signatures knows the parameters of the kernels in an image, as far as the image tells. It reads the text when a
// kernel is first looked up. A nil *signatures knows nothing: the software device is asked instead, which knows what it
// runs.
type signatures struct {
	once    sync.Once
	text    []byte // PTX, a copy of the program's
	kernels map[string][]param
}

// newSignatures takes what is needed of an image for devices of the NVIDIA driver, of which most are alike.
func newSignatures(img []byte, devices ...*Device) map[*Device]*signatures {
	all, bySM := map[*Device]*signatures{}, map[int]*signatures{}
	for _, d := range devices {
		if d.sys.Kind() == Software {
			continue
		}
		major, minor, err := d.ComputeCapability()
		if err != nil {
			continue
		}
		sm := 10*major + minor
		if _, ok := bySM[sm]; !ok {
			bySM[sm] = imageSignatures(img, sm)
		}
		all[d] = bySM[sm]
	}
	return all
}

// imageSignatures takes what is needed of an image for a compute capability. What it cannot read has no signatures: the
// driver may know formats that this package does not.
func imageSignatures(img []byte, sm int) *signatures {
	d := image.Device{Device: fatbin.Device{SM: sm, ForcePTX: true}}
	p, err := image.Resolve(img, d)
	if err != nil {
		// No PTX: the tables of the machine code know sizes, not names.
		d.RunsSASS, d.ForcePTX = true, false
		if p, err = image.Resolve(img, d); err != nil {
			return nil
		}
	}
	s := &signatures{kernels: map[string][]param{}}
	switch p.Kind {
	case image.PTX:
		s.text = bytes.Clone(p.Data)
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
				s.kernels[strings.Clone(f.Name)] = params
			}
		}
	}
	return s
}

// of returns the parameters of a kernel; ok is false when the image says nothing of it.
func (s *signatures) of(name string) (params []param, ok bool) {
	if s == nil {
		return nil, false
	}
	s.once.Do(s.read)
	params, ok = s.kernels[name]
	return params, ok
}

func (s *signatures) read() {
	m, err := ptx.Parse(s.text)
	s.text = nil
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
}

// declare is what PTX says of a parameter; the type is empty for vectors, which are bytes of no type.
func (p *param) declare(name, typ string, pointer, array bool) {
	p.name = name
	if typ == "" {
		return
	}
	p.typ = "." + typ
	switch c := typ[0]; {
	case pointer:
		p.class, p.typ = classPointer, p.typ+" .ptr"
	case c == 'f' || typ == "bf16" || typ == "bf16x2":
		p.class = classFloat
	case typ == "u64" || typ == "s64":
		p.class = classAddress
	case c == 'u' || c == 's':
		p.class = classInt
	}
	if array {
		p.class, p.typ = classStruct, p.typ+"[]"
	}
}

func ptxParams(f *ptx.Func) ([]param, bool) {
	params := make([]param, len(f.Params))
	at := uint32(0)
	for i, v := range f.Params {
		t, ok := optab.TypeOf(v.Type)
		if !ok || v.Vec != 0 {
			return nil, false
		}
		elem := uint32(t.Bytes())
		p := param{size: elem}
		p.declare(v.Name, v.Type, v.Ptr != nil, len(v.Dims) > 0)
		n := uint64(elem)
		for _, d := range v.Dims {
			if d < 1 || n > 1<<20/d {
				return nil, false
			}
			n *= d
		}
		p.size = uint32(n)
		align := max(uint32(v.Align), elem, 1)
		at = (at + align - 1) / align * align
		p.offset = at
		at += p.size
		params[i] = p
	}
	return params, true
}

// maxParams bounds the count of parameters that are asked for: 32764 bytes of parameters, the limit since PTX 8.1, hold
// no more.
const maxParams = 32764

// kernelParams asks the driver for the parameters of a function and adds what the device or the image tells. known is
// false when none knows (a driver before CUDA 12.4 and an image that cannot be read).
func (c *Context) kernelParams(f cu.CUfunction, name string, sigs *signatures) (params []param, known bool) {
	told, ok := sigs.of(name)
	for i := range uint64(maxParams) {
		off, size, err := c.api.FuncGetParamInfo(f, i)
		if err != nil {
			if code, _ := err.(cu.CUresult); code == ErrInvalidValue {
				break // behind the last one
			}
			return told, ok
		}
		params = append(params, param{offset: uint32(off), size: uint32(size)})
	}
	for i, p := range c.dev.sys.dev.Params(driver.CUfunction(f)) {
		params[i].declare(p.Name, p.Type, p.Pointer, p.Array)
	}
	if len(told) != len(params) {
		return params, true
	}
	for i := range params {
		if told[i].size != params[i].size {
			return params, true
		}
	}
	for i, p := range told { // offsets are the driver's
		params[i].name, params[i].class, params[i].typ = p.name, p.class, p.typ
	}
	return params, true
}
