// Package fatbin reads and writes NVIDIA fat binaries: containers of PTX, cubins and other device
// images, from which a driver picks one for its device.
//
// The layout is not published by NVIDIA; it is known from public headers (fatbinary_section.h),
// independent open-source readers and measurements. The reader is as lenient as the driver is: an
// entry that is broken stays in the list with its error, and only choosing it fails.
package fatbin

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
)

const (
	// Magic starts a container (bytes 50 ED 55 BA).
	Magic = 0xBA55ED50
	// HeaderSize is the size of a container header in bytes.
	HeaderSize = 16
	// EntryHeaderSize is the size of the fixed part of an entry header in bytes.
	EntryHeaderSize = 64

	containerVersion = 1
	entryVersion     = 0x0101

	// MaxContainer is the largest fat_size in bytes: the driver reads the field as a signed 32-bit number.
	MaxContainer = 1<<31 - 1
	// MaxPayload is the largest decompressed payload in bytes.
	MaxPayload = 512 << 20
	// MaxText is the longest PTX text in bytes. Hostile text takes up to 40 times its length once it is read and
	// checked.
	MaxText = 64 << 20
)

// Kind says what an entry holds (entry header offset 0).
type Kind uint16

// The kinds of entry.
const (
	PTX            Kind = 0x01
	ELF            Kind = 0x02
	LegacyCubin    Kind = 0x04  // text cubins before CUDA 3
	LTOIR          Kind = 0x08  // link-time optimisation input
	MercuryELF     Kind = 0x10  // ELF that is finished at load time
	Index          Kind = 0x20  // index file for nvJitLink
	RelocatablePTX Kind = 0x40  // nvFatbinAddReloc
	TileIR         Kind = 0x80  // CUDA Tile IR bytecode
	Nested         Kind = 0x100 // table of further entries
)

var kindNames = map[Kind]string{
	PTX: "ptx", ELF: "elf", LegacyCubin: "legacy-cubin", LTOIR: "lto-ir", MercuryELF: "mercury-elf",
	Index: "index", RelocatablePTX: "relocatable-ptx", TileIR: "tile-ir", Nested: "nested",
}

// String is a short name, or the number for an unknown kind.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return "kind-" + hex(uint64(k))
}

// IsPTX reports whether the payload is PTX text that a driver compiles at load.
func (k Kind) IsPTX() bool { return k == PTX || k == RelocatablePTX }

// Flags is the flag word of an entry header (offset 0x28).
type Flags uint64

// Flag bits.
const (
	Flag64Bit    Flags = 1 << 0
	FlagDebug    Flags = 1 << 1
	FlagCUDA     Flags = 1 << 2
	FlagOpenCL   Flags = 1 << 3
	FlagLinux    Flags = 1 << 4
	FlagMacOS    Flags = 1 << 5
	FlagWindows  Flags = 1 << 6
	FlagZlib     Flags = 1 << 12 // named once, never seen
	FlagLZ4      Flags = 1 << 13
	FlagLZ4Other Flags = 1 << 14 // named once, never seen
	FlagZstd     Flags = 1 << 15
	// FlagTransformed marks a payload that is stored obfuscated, as all LTO-IR is.
	FlagTransformed Flags = 1 << 16
	FlagArchSuffix  Flags = 1 << 20 // target with suffix a
	FlagFamily      Flags = 1 << 21 // target with suffix f
	// FlagFinalizable is on cubins for compute capability 10.0 and up; such an entry loses a tie.
	FlagFinalizable Flags = 1 << 24
)

const compressionFlags = FlagZlib | FlagLZ4 | FlagLZ4Other | FlagZstd

// Compression is how a payload is stored.
type Compression uint8

// The ways of storing a payload.
const (
	Stored Compression = iota
	LZ4                // plain LZ4 block, no frame
	Zstd               // one Zstandard frame
	UnknownCompression
)

// String is "none", "lz4", "zstd" or "unknown".
func (c Compression) String() string {
	switch c {
	case Stored:
		return "none"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "unknown"
}

// Compression decodes the flag bits. The driver goes by the flags alone, never by the bytes.
func (f Flags) Compression() Compression {
	switch f & compressionFlags {
	case 0:
		return Stored
	case FlagLZ4:
		return LZ4
	case FlagZstd:
		return Zstd
	}
	return UnknownCompression
}

// Entry is one image in a container.
type Entry struct {
	Offset           uint64 // of the entry header, from the start of the container
	Kind             Kind
	Version          uint16 // 0x0101; the driver does not look at it
	HeaderSize       uint32 // bytes, payload starts there
	PayloadSize      uint64 // bytes as stored, padded to 8
	CompressedSize   uint32 // bytes without padding; 0 when stored raw
	Major, Minor     uint16 // PTX: ISA version; ELF: 1 and the ELF ABI version; LTO-IR and Tile IR: its version
	Arch             sm.Arch
	Flags            Flags
	Key              uint64 // obfuscation key or, for LTO-IR, a word of its header
	UncompressedSize uint64 // bytes; 0 when stored raw
	Ident            string // what the toolkit calls the source
	Options          []byte // compile options in force; text for PTX, binary for some cubins

	stored []byte
	err    error
}

// Err is what is wrong with the entry's header, or nil. It is an *fault.Error.
func (e *Entry) Err() error { return e.err }

// Stored gives the payload bytes as they lie in the container, padding included; nil when Err is set.
func (e *Entry) Stored() []byte { return e.stored }

// Container is one parsed fat binary.
type Container struct {
	Offset     uint64 // in the data given to ParseAll
	HeaderSize uint16
	Size       uint64 // fat_size: bytes of all entries, header not included
	Truncated  bool   // the data ends before header and entries do
	Entries    []Entry
	// Problem is why reading stopped before the end of the entries, or nil. The driver ignores it:
	// what came before the broken place stays selectable.
	Problem error
}

// Total is the container's length in bytes as its header declares it.
func (c *Container) Total() uint64 { return uint64(c.HeaderSize) + c.Size }

// header is a decoded container header.
type header struct {
	headerSize uint16
	fatSize    uint64
}

func parseHeader(data []byte) (header, error) {
	const part = "fatbin header"
	le := binary.LittleEndian
	if len(data) < 4 || le.Uint32(data) != Magic {
		return header{}, fault.New(fault.Format, part, 0, "no fatbin magic")
	}
	if len(data) < HeaderSize {
		return header{}, fault.New(fault.Format, part, 0, "%d bytes, a header has %d", len(data), HeaderSize)
	}
	if v := le.Uint16(data[4:]); v != containerVersion {
		return header{}, fault.New(fault.Format, part, 4, "container version %d, need %d", v, containerVersion)
	}
	h := header{le.Uint16(data[6:]), le.Uint64(data[8:])}
	if h.headerSize < HeaderSize {
		return header{}, fault.New(fault.Malformed, part, 6, "header size %d, need at least %d", h.headerSize,
			HeaderSize)
	}
	if h.fatSize > MaxContainer {
		return header{}, fault.New(fault.TooLarge, part, 8, "%d bytes of entries, limit %d", h.fatSize, MaxContainer)
	}
	return h, nil
}

// Parse reads the container at the start of data; bytes after it are ignored, as the driver does.
// The error is for the header alone (*fault.Error of class Format, Malformed or TooLarge); damaged
// entries are told by Entry.Err, a broken chain of entries by Container.Problem.
func Parse(data []byte) (*Container, error) {
	h, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	c := &Container{HeaderSize: h.headerSize, Size: h.fatSize}
	// The entries start after header_size bytes and run for fat_size bytes; a header_size that is
	// too large therefore reads nonsense and finds nothing, which is what the driver answers too.
	end := c.Total()
	c.Truncated = end > uint64(len(data))
	at := uint64(h.headerSize)
	for at < end {
		if at >= uint64(len(data)) || uint64(len(data))-at < EntryHeaderSize || end-at < EntryHeaderSize {
			c.Problem = fault.New(fault.Malformed, "fatbin entry", at, "header of %d bytes leaves the container",
				EntryHeaderSize)
			break
		}
		e, next := parseEntry(data, at, end)
		if _, known := kindNames[e.Kind]; !known && e.err != nil {
			c.Problem = e.err
			break
		}
		c.Entries = append(c.Entries, e)
		if next <= at || next-at < EntryHeaderSize {
			if e.err != nil {
				c.Problem = e.err
			}
			break
		}
		at = next
	}
	return c, nil
}

// parseEntry reads the entry at data[at:], for which 64 bytes are there; the container ends at end,
// which may lie beyond the data. next is where the following entry starts; 0 if that is unknowable.
func parseEntry(data []byte, at, end uint64) (e Entry, next uint64) {
	le := binary.LittleEndian
	b := data[at:]
	e = Entry{
		Offset: at, Kind: Kind(le.Uint16(b)), Version: le.Uint16(b[2:]), HeaderSize: le.Uint32(b[4:]),
		PayloadSize: le.Uint64(b[8:]), CompressedSize: le.Uint32(b[16:]),
		Minor: le.Uint16(b[0x18:]), Major: le.Uint16(b[0x1a:]),
		Flags: Flags(le.Uint64(b[0x28:])), Key: le.Uint64(b[0x30:]), UncompressedSize: le.Uint64(b[0x38:]),
	}
	if e.Kind == TileIR { // the version as the header of the bytecode ends: tag, minor, major
		e.Minor, e.Major = uint16(b[0x1a]), uint16(b[0x1b])
	}
	e.Arch = sm.Arch{Number: int(le.Uint32(b[0x1c:]) & 0x7fffffff)}
	switch {
	case e.Flags&FlagArchSuffix != 0:
		e.Arch.Suffix = 'a'
	case e.Flags&FlagFamily != 0:
		e.Arch.Suffix = 'f'
	}
	const part = "fatbin entry"
	room := end - at
	if e.PayloadSize > room || uint64(e.HeaderSize) > room-e.PayloadSize {
		e.err = fault.New(fault.Malformed, part, at,
			"header of %d and payload of %d bytes leave the container, which has %d left", e.HeaderSize, e.PayloadSize,
			room)
		return e, 0
	}
	next = at + uint64(e.HeaderSize) + e.PayloadSize
	if e.HeaderSize < EntryHeaderSize {
		// The driver takes the bytes at the wrong place for the image and fails on those.
		class := fault.Malformed
		if e.Kind == ELF {
			class = fault.Arch
		}
		e.err = fault.New(class, part, at+4, "header size %d, need at least %d", e.HeaderSize, EntryHeaderSize)
		return e, next
	}
	if next > uint64(len(data)) {
		class := fault.Corrupt
		if e.Kind == ELF {
			class = fault.Arch
		}
		e.err = fault.New(class, part, at, "payload of %d bytes is cut off: the data ends %d bytes too early",
			e.PayloadSize, next-uint64(len(data)))
		return e, next
	}
	hdr := b[:e.HeaderSize]
	if off, n := le.Uint32(b[0x20:]), le.Uint32(b[0x24:]); off != 0 {
		s, ok := span(hdr, off, n)
		if !ok {
			e.err = fault.New(fault.Malformed, part, at+0x20, "identifier %#x+%#x leaves the header of %d bytes", off,
				n, e.HeaderSize)
			return e, next
		}
		e.Ident = string(s)
	}
	if off := le.Uint32(b[0x14:]); off != 0 {
		d, ok := span(hdr, off, 8)
		if ok {
			e.Options, ok = span(hdr, le.Uint32(d), le.Uint32(d[4:]))
		}
		if !ok {
			e.Options = nil
			e.err = fault.New(fault.Malformed, part, at+0x14, "options at %#x leave the header of %d bytes", off,
				e.HeaderSize)
			return e, next
		}
	}
	e.stored = b[e.HeaderSize : uint64(e.HeaderSize)+e.PayloadSize : uint64(e.HeaderSize)+e.PayloadSize]
	return e, next
}

func span(b []byte, off, n uint32) ([]byte, bool) {
	if uint64(off)+uint64(n) > uint64(len(b)) {
		return nil, false
	}
	return b[off : off+n : off+n], true
}

// ParseAll reads every container in data: they lie back to back, 8-byte aligned, with zero bytes
// between them (as in the sections of a host file). It stops at the first thing that is neither zero
// nor a container and gives what it has with the error.
func ParseAll(data []byte) ([]*Container, error) {
	var all []*Container
	for at := uint64(0); at < uint64(len(data)); {
		rest := data[at:]
		if len(rest) < 8 {
			if allZero(rest) {
				break
			}
			return all, fault.New(fault.Format, "fatbin section", at, "%d stray bytes", len(rest))
		}
		if binary.LittleEndian.Uint64(rest) == 0 {
			at += 8
			continue
		}
		c, err := Parse(rest)
		if err != nil {
			return all, shift(err, at)
		}
		c.Offset = at
		all = append(all, c)
		if c.Truncated {
			break
		}
		at += (c.Total() + 7) &^ 7
	}
	return all, nil
}

// shift moves an error's offset from one part's start to that of the data around it.
func shift(err error, by uint64) error {
	if f, ok := err.(*fault.Error); ok {
		g := *f
		g.Offset += by
		return &g
	}
	return err
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	if v == 0 {
		return "0x0"
	}
	var b []byte
	for ; v != 0; v >>= 4 {
		b = append([]byte{digits[v&15]}, b...)
	}
	return "0x" + string(b)
}
