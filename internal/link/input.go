package link

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/hostobj"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// The driver's words for inputs that are nothing of what they should be (recorded).
const (
	logFormat  = "error   : Binary format for key='0', ident='' is not recognized"
	logArch    = "fatal   : Unknown arch name ''"
	logFatbin  = "fatal   : Could not find fatbin in '%s'"
	logArchive = "fatal   : unexpected archive format"
)

// unlimited stands for "no limit" where the checker asks for the largest shared memory: the limit is the whole
// program's business.
const unlimited = 1 << 62

// read takes an input apart and appends its modules.
func (l *Linker) read(kind Input, data []byte, name string, out *[]*Unit) *Error {
	switch kind {
	case InputPTX:
		switch image.Detect(data) {
		case image.PTX:
			return l.text(image.Text(data), name, "", out)
		case image.Cubin: // the driver looks at the bytes, not at the kind that the caller gave (recorded)
			return l.cubin(data, name, out)
		}
		return imageError(fault.New(fault.Format, "input "+name, 0, "is no PTX"), logFormat)
	case InputCubin:
		return l.cubin(data, name, out)
	case InputFatbin:
		switch image.Detect(data) {
		case image.Fatbin:
			c, err := fatbin.Parse(data)
			if err != nil {
				return imageError(err, faultLog(err))
			}
			return l.container(c, name, "", out)
		case image.PTX:
			return l.text(image.Text(data), name, "", out)
		case image.Cubin:
			return l.cubin(data, name, out)
		}
		return imageError(fault.New(fault.Format, "input "+name, 0, "is no fat binary"), logFormat+"\n"+logFormat)
	case InputObject:
		if !hostobj.IsHost(data) {
			return &Error{Class: NotObject, Log: fmt.Sprintf(logFatbin, name)}
		}
		all, err := hostobj.Containers(data)
		if err != nil {
			return imageError(err, "")
		}
		return l.containers(all, name, "", out)
	case InputLibrary:
		return l.library(data, name, out)
	case InputNVVM:
		return &Error{Class: NoCompiler, Detail: "there is no compiler for NVVM IR: give PTX"}
	}
	return &Error{Class: BadInput, Detail: fmt.Sprintf("there is no input kind %d", kind)}
}

// text adds PTX.
func (l *Linker) text(text []byte, name, member string, out *[]*Unit) *Error {
	if l.opts.DisablePTX {
		return imageError(fault.New(fault.JITDisabled, "PTX", 0, "compiling PTX is disabled"), "")
	}
	if bytes.Contains(text, []byte(runtimeMark)) {
		l.runtime = true
		return nil
	}
	u, err := l.parse(text, name, member)
	if err != nil {
		return err
	}
	for _, line := range u.Module.Warnings() {
		l.info(line)
	}
	u.Compile = l.compile
	*out = append(*out, u)
	return nil
}

// parse makes a unit of PTX, of which one link takes as much as one module.
func (l *Linker) parse(text []byte, name, member string) (*Unit, *Error) {
	if l.texts += uint64(len(text)); l.texts > image.MaxText {
		err := fault.New(fault.TooLarge, "input "+name, 0, "all texts together are over %d bytes", image.MaxText)
		return nil, imageError(err, "")
	}
	return parse(bytes.Clone(text), name, member,
		check.Options{SM: l.opts.SM, MaxShared: unlimited, Newest: l.opts.Newest, Stop: l.opts.Stop})
}

// cubin adds a CUDA ELF: an image of this linker's own when that is allowed. The checks come in the driver's order
// (recorded).
func (l *Linker) cubin(data []byte, name string, out *[]*Unit) *Error {
	const part = "cubin"
	if !bytes.HasPrefix(data, []byte(elf64.Magic)) {
		return imageError(fault.New(fault.Format, "input "+name, 0, "is no cubin"), "")
	}
	h, err := elf64.ParseHeader(data)
	switch {
	case err != nil:
		return imageError(fault.New(fault.NoBinary, part, 0, "%v", err), "")
	case h.Machine != elf64.MachineCUDA:
		return imageError(fault.New(fault.Arch, part, 18, "ELF for machine %d, CUDA is %d", h.Machine,
			elf64.MachineCUDA), logArch)
	}
	return l.elf(data, h, name, out)
}

// elf adds a CUDA ELF that was found in whatever input.
func (l *Linker) elf(data []byte, h elf64.Header, name string, out *[]*Unit) *Error {
	const part = "cubin"
	if l.opts.Relink {
		if p, err := readProgram(data); err == nil {
			return l.program(p, out)
		} else if !errors.Is(err, errForeign) {
			return imageError(err, "")
		}
	}
	if h.Type == elf64.TypeExec {
		return imageError(fault.New(fault.NoBinary, part, 16,
			"%s is a finished program; only relocatable device code (nvcc -rdc=true) can be linked", name), "")
	}
	arch, err := cubin.Identify(data)
	if err != nil || l.opts.SM != 0 && !arch.CubinRunsOn(l.opts.SM) {
		return imageError(fault.New(fault.NoBinary, part, 0, "%s is for another device", name), "")
	}
	if bytes.Contains(data, []byte(runtimeMark)) {
		l.runtime = true
		return nil
	}
	err = fault.Only(fault.NoBinary, part, 0, "'%s' holds only machine code for %s, which the software device does not link: "+
		"give the PTX, or a fat binary or object with PTX in it (nvcc -rdc=true -gencode arch=%s,code=%s)",
		name, arch, arch.Compute(), arch.Compute())
	return imageError(err, faultLog(err))
}

// containers adds the device code of a host file: of the relocatable containers where there are any, else of all. A
// file without device code adds nothing.
func (l *Linker) containers(all []hostobj.Container, name, member string, out *[]*Unit) *Error {
	for _, c := range hostobj.ForLinking(all) {
		if err := l.container(c.Container, name, member, out); err != nil {
			return err
		}
	}
	return nil
}

// container adds the entry of a fat binary that the driver would take: machine code before PTX. Where that is
// relocatable machine code, the PTX beside it takes its place; a finished program fails the link even with PTX beside
// it (recorded).
func (l *Linker) container(c *fatbin.Container, name, member string, out *[]*Unit) *Error {
	e, err := fatbin.Select(c.Entries, l.opts.device())
	if errors.Is(err, fault.NoBinary) {
		l.info(fmt.Sprintf(" No code for sm_%d in %s; continuing.", l.opts.SM, name))
		return nil
	}
	var data []byte
	if err == nil {
		data, err = l.budget.Payload(e)
	}
	if err != nil {
		return imageError(err, faultLog(err))
	}
	if e.Kind.IsPTX() {
		return l.payload(e, data, name, member, out)
	}
	h, err := elf64.ParseHeader(data)
	if err != nil || h.Machine != elf64.MachineCUDA || h.Class != elf64.Class64 {
		return imageError(fault.New(fault.Arch, "fatbin entry", e.Offset, "%s payload for %s is no 64-bit CUDA ELF",
			e.Kind, e.Arch), logArch)
	}
	if h.Type != elf64.TypeExec && !bytes.Contains(data, []byte(runtimeMark)) {
		text := l.opts.device()
		text.RunsSASS = false
		if p, err := fatbin.Select(c.Entries, text); err == nil {
			if data, err = l.budget.Payload(p); err != nil {
				return imageError(err, faultLog(err))
			}
			return l.payload(p, data, name, member, out)
		}
	}
	return l.elf(data, h, name, out)
}

func (l *Linker) payload(e *fatbin.Entry, data []byte, name, member string, out *[]*Unit) *Error {
	if image.Detect(data) != image.PTX {
		return imageError(fault.New(fault.Format, "fatbin entry", e.Offset, "%s payload does not start with .version",
			e.Kind), logFormat)
	}
	return l.text(image.Text(data), name, member, out)
}

// member is a file of a static library that has not been needed so far.
type member struct {
	units []*Unit
}

// needed says whether the member defines something that is used and undefined.
func (m *member) needed(t *table, o *Options, runtime bool) bool {
	for _, u := range m.units {
		for i := range u.names {
			if n := &u.names[i]; n.defined() {
				if s := t.byName[n.name]; s != nil && s.open(o, runtime) {
					return true
				}
			}
		}
	}
	return false
}

// library takes the members of a static library. One with a kernel is linked at once (recorded: a library alone brings
// its undefined names into the link); the others wait until something needs them.
func (l *Linker) library(data []byte, name string, out *[]*Unit) *Error {
	members, err := hostobj.Members(data)
	if err != nil {
		return &Error{Class: NotObject, Log: logArchive, Cause: err}
	}
	if runtimeFile(name) {
		l.runtime = true
		return nil
	}
	for _, m := range members {
		if !hostobj.IsHost(m.Data) {
			continue
		}
		all, err := hostobj.Containers(m.Data)
		if err != nil {
			return imageError(err, "")
		}
		var units []*Unit
		if err := l.containers(all, name, m.Name, &units); err != nil {
			return err
		}
		kernels := false
		for _, u := range units {
			kernels = kernels || u.kernels()
		}
		switch {
		case kernels:
			*out = append(*out, units...)
		case units != nil:
			l.pending = append(l.pending, &member{units})
		}
	}
	return nil
}

// runtimeMark is a variable that every build of the device runtime library defines.
const runtimeMark = "__CNPRT_VERSION_NUMBER__"

// runtimeFile says whether a file name is that of the device runtime library.
func runtimeFile(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return base == "libcudadevrt.a" || strings.EqualFold(base, "cudadevrt.lib")
}

// runtimeName says whether a function is one that the device runtime library defines, by the prefixes of
// cuda_device_runtime_api.h.
func runtimeName(name string) bool {
	return strings.HasPrefix(name, "cuda") || strings.HasPrefix(name, "__cudaCDP2")
}
