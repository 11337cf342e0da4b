package fatbin

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/image/fault"
)

// WrapperMagic starts the structure through which a host program points at its containers
// (__fatBinC_Wrapper_t of the public header fatbinary_section.h).
const WrapperMagic = 0x466243B1

// WrapperSize is the size of a wrapper in bytes on a 64-bit host.
const WrapperSize = 24

// Memory reads n bytes at an absolute address. The slice may alias the memory; false means that the
// range cannot be read. It is never asked for more than a format declares.
type Memory func(address, n uint64) ([]byte, bool)

// Wrapper is the decoded structure; the pointers are absolute addresses.
type Wrapper struct {
	Version uint32 // 1: one container; 2: linked image plus the containers it was linked from
	Data    uint64 // address of the container
	// Extra is the address of the file name (version 1, normally 0) or of the zero-terminated array
	// of container addresses (version 2).
	Extra uint64
}

// ParseWrapper decodes the 24 bytes of a wrapper. A wrong magic or version is class Format.
func ParseWrapper(b []byte) (Wrapper, error) {
	const part = "fatbin wrapper"
	le := binary.LittleEndian
	if len(b) < WrapperSize {
		return Wrapper{}, fault.New(fault.Format, part, 0, "%d bytes, a wrapper has %d", len(b), WrapperSize)
	}
	if m := le.Uint32(b); m != WrapperMagic {
		return Wrapper{}, fault.New(fault.Format, part, 0, "magic %#x, need %#x", m, WrapperMagic)
	}
	w := Wrapper{le.Uint32(b[4:]), le.Uint64(b[8:]), le.Uint64(b[16:])}
	if w.Version != 1 && w.Version != 2 {
		return Wrapper{}, fault.New(fault.Format, part, 4, "version %d, need 1 or 2", w.Version)
	}
	return w, nil
}

// Append adds the 24 bytes of the wrapper to b.
func (w Wrapper) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, WrapperMagic)
	b = le.AppendUint32(b, w.Version)
	b = le.AppendUint64(b, w.Data)
	return le.AppendUint64(b, w.Extra)
}

// ReadWrapper follows the wrapper at an address and gives the container it points at. The list of containers that
// version 2 has besides was linked into that one. Errors are *fault.Error.
func ReadWrapper(mem Memory, address uint64) ([]byte, error) {
	const part = "fatbin wrapper"
	b, ok := mem(address, WrapperSize)
	if !ok {
		return nil, fault.New(fault.Format, part, 0, "memory at %#x cannot be read", address)
	}
	w, err := ParseWrapper(b)
	if err != nil {
		return nil, err
	}
	if w.Data == 0 || w.Data%8 != 0 {
		return nil, fault.New(fault.Format, part, 8, "container address %#x", w.Data)
	}
	return ReadContainer(mem, w.Data)
}

// ContainerSize reads the header of the container at an address and gives its total length in bytes.
func ContainerSize(mem Memory, address uint64) (uint64, error) {
	b, ok := mem(address, HeaderSize)
	if !ok {
		return 0, fault.New(fault.Format, "fatbin header", 0, "memory at %#x cannot be read", address)
	}
	h, err := parseHeader(b)
	if err != nil {
		return 0, err
	}
	return uint64(h.headerSize) + h.fatSize, nil
}

// ReadContainer gives the bytes of the container at an address, as long as its header declares.
func ReadContainer(mem Memory, address uint64) ([]byte, error) {
	n, err := ContainerSize(mem, address)
	if err != nil {
		return nil, err
	}
	b, ok := mem(address, n)
	if !ok {
		return nil, fault.New(fault.Malformed, "fatbin", 0,
			"memory at %#x ends before the %d bytes that the container declares", address, n)
	}
	return b, nil
}
