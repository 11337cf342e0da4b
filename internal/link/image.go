package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/ptx"
)

// Section is the section of a linked image that holds the program: set image.Device.Section to it.
const Section = ".gocuda.ptx"

// The program in its section, little-endian: the mark, u32 flags, u32 compute capability, u32 number of units, u32
// CRC-32 (IEEE) of all that follows; then for each unit, with flagCompile, its Compile, and u32 lengths of name, member
// and text, and these three.
const (
	programMark   = "gocuda\x00\x01"
	programHeader = len(programMark) + 16

	flagRuntime    = 1
	flagNoContract = 2 // of all units; images of today say it with flagCompile
	flagCompile    = 4
)

// program is a section's contents.
type program struct {
	flags, sm uint32
	units     []stored
}

type stored struct {
	name, member string
	text         []byte
	compile      Compile
}

// errForeign says that an ELF is no image of this linker.
var errForeign = errors.New("no program of this project's linker")

// readProgram finds the program in an image. Errors are errForeign or *fault.Error. The texts alias the data.
func readProgram(data []byte) (*program, error) {
	f, err := elf64.Parse(data)
	if err != nil {
		return nil, errForeign
	}
	s := f.Section(Section)
	if s == nil || f.Machine != elf64.MachineCUDA {
		return nil, errForeign
	}
	b, le := s.Data, binary.LittleEndian
	bad := func(at int, format string, args ...any) (*program, error) {
		return nil, fault.New(fault.Malformed, Section, s.Offset+uint64(at), format, args...)
	}
	if len(b) < programHeader || string(b[:len(programMark)]) != programMark {
		return bad(0, "no program of a known version in %d bytes", len(b))
	}
	h := b[len(programMark):programHeader]
	p := &program{flags: le.Uint32(h), sm: le.Uint32(h[4:])}
	n, sum := le.Uint32(h[8:]), le.Uint32(h[12:])
	if p.flags&^(flagRuntime|flagNoContract|flagCompile) != 0 {
		return bad(len(programMark), "unknown flags %#x", p.flags)
	}
	if crc32.ChecksumIEEE(b[programHeader:]) != sum {
		return bad(programHeader, "the checksum is wrong")
	}
	at := programHeader
	take := func(n uint32) []byte {
		t := b[at : at+int(n) : at+int(n)]
		at += int(n)
		return t
	}
	for i := range n {
		c := Compile{NoContract: p.flags&flagNoContract != 0}
		if p.flags&flagCompile != 0 {
			if len(b)-at < 4*compileWords {
				return bad(at, "unit %d of %d: %d bytes left", i, n, len(b)-at)
			}
			own, ok := parseCompile(take(4 * compileWords))
			if !ok {
				return bad(at-4*compileWords, "unit %d of %d was compiled in an unknown way", i, n)
			}
			own.NoContract = own.NoContract || c.NoContract
			c = own
		}
		rest := len(b) - at
		if rest < 12 {
			return bad(at, "unit %d of %d: %d bytes left", i, n, rest)
		}
		l := [3]uint32{le.Uint32(b[at:]), le.Uint32(b[at+4:]), le.Uint32(b[at+8:])}
		if uint64(l[0])+uint64(l[1])+uint64(l[2]) > uint64(rest-12) {
			return bad(at, "unit %d of %d has %d+%d+%d bytes, %d left", i, n, l[0], l[1], l[2], rest-12)
		}
		at += 12
		p.units = append(p.units, stored{string(take(l[0])), string(take(l[1])), take(l[2]), c})
	}
	if at != len(b) {
		return bad(at, "%d bytes after the last unit", len(b)-at)
	}
	return p, nil
}

// program adds the units of an image.
func (l *Linker) program(p *program, out *[]*Unit) *Error {
	if l.opts.DisablePTX {
		return imageError(fault.New(fault.JITDisabled, "PTX", 0, "compiling PTX is disabled"), "")
	}
	for _, s := range p.units {
		u, err := l.parse(s.text, s.name, s.member)
		if err != nil {
			return err
		}
		u.Compile = s.compile
		*out = append(*out, u)
	}
	l.runtime = l.runtime || p.flags&flagRuntime != 0
	return nil
}

// Load reads an image that [Linked.Image] made, in this process or another. Errors are *Error.
func Load(data []byte, o Options) (*Linked, error) {
	l := New(o)
	f, err := cubin.Parse(data)
	if err == nil && o.SM != 0 {
		err = f.CheckDevice(o.SM)
	}
	if err != nil {
		return nil, l.fail(imageError(err, faultLog(err)))
	}
	p, err := readProgram(data)
	if err != nil {
		if errors.Is(err, errForeign) {
			err = fault.Only(fault.NoBinary, "cubin", 0, "holds no program of this project's linker")
		}
		return nil, l.fail(imageError(err, faultLog(err)))
	}
	var units []*Unit
	if err := l.program(p, &units); err != nil {
		return nil, l.fail(err)
	}
	if err := l.table.add(units); err != nil {
		return nil, l.fail(err)
	}
	l.units = units
	return l.Complete()
}

// Image writes the program as a CUDA ELF: the modules' text in [Section], and beside it what tools read: a symbol and
// an empty code section for each kernel with its parameters and bounds, and the variables with their initial bytes. The
// code sections hold no machine code: on a GPU the kernels end with an illegal instruction.
func (p *Linked) Image() []byte {
	w := &elfWriter{}
	w.kernels(p)
	w.variables(p)
	w.section(Section, elf64.SHTProgbits, 0, p.store(), 0, 0, 8)
	return w.bytes(p.sm())
}

// sm is the compute capability that the program was linked for: without a device the highest that a unit names.
func (p *Linked) sm() int {
	sm := p.opts.SM
	if sm == 0 {
		for _, u := range p.Units {
			sm = max(sm, u.Module.Target.SM)
		}
	}
	return sm
}

// store is the contents of the section.
func (p *Linked) store() []byte {
	le := binary.LittleEndian
	flags := uint32(0)
	for _, u := range p.Units {
		if u.Compile != (Compile{}) {
			flags |= flagCompile
		}
	}
	var body []byte
	for _, u := range p.Units {
		if flags&flagCompile != 0 {
			body = u.Compile.append(body)
		}
		text := u.Text
		if text == nil {
			var b bytes.Buffer
			if err := ptx.Fprint(&b, u.Module.AST); err == nil { // a buffer takes everything
				text = b.Bytes()
			}
		}
		body = le.AppendUint32(body, uint32(len(u.Name)))
		body = le.AppendUint32(body, uint32(len(u.Member)))
		body = le.AppendUint32(body, uint32(len(text)))
		body = append(append(append(body, u.Name...), u.Member...), text...)
	}
	if p.Runtime {
		flags |= flagRuntime
	}
	b := append([]byte(nil), programMark...)
	b = le.AppendUint32(b, flags)
	b = le.AppendUint32(b, uint32(p.sm()))
	b = le.AppendUint32(b, uint32(len(p.Units)))
	b = le.AppendUint32(b, crc32.ChecksumIEEE(body))
	return append(b, body...)
}
