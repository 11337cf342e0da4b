package image

import (
	"bytes"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
)

// Limits on images that come as a pointer without a length.
const (
	// MaxText is the longest PTX text, in bytes.
	MaxText = fatbin.MaxText
	// MaxELF is the largest cubin, in bytes.
	MaxELF = fatbin.MaxPayload
	// MaxFile is the largest file that holds any image, in bytes.
	MaxFile = 2 << 30
	// MaxTileIR is the largest Tile IR file, in bytes.
	MaxTileIR = 512 << 20
)

// Memory reads n bytes at an absolute address; false means that they cannot be read. The functions
// here never ask for bytes beyond what the format has declared so far, and text is read in pieces
// that do not cross a 4096-byte boundary, so that a text may end right before unmapped memory.
type Memory = fatbin.Memory

// page is the granularity in which text is read; no supported system protects smaller pieces.
const page = 4096

// Image is an image taken from memory.
type Image struct {
	Kind Kind
	// Data is the whole image. For a wrapper it is the container it points at, and Kind is Fatbin.
	Data []byte
}

// Fetch takes the image at an address from memory, following a wrapper to its container. Errors are
// *fault.Error; images that a module load does not accept (objects, archives, LTO-IR, bitcode,
// anything unknown) are class Format.
func Fetch(mem Memory, address uint64) (Image, error) {
	kind, size, err := SizeOf(mem, address)
	if err != nil {
		return Image{Kind: kind}, err
	}
	if kind == FatbinWrapper {
		data, err := fatbin.ReadWrapper(mem, address)
		return Image{Fatbin, data}, err
	}
	data, ok := mem(address, size)
	if !ok {
		return Image{Kind: kind}, fault.New(fault.Malformed, "image", 0,
			"memory at %#x ends before the %d bytes that the %s declares", address, size, kind)
	}
	return Image{Kind: kind, Data: data}, nil
}

// SizeOf tells what lies at an address and how long it is, in bytes: tables and sections for an ELF,
// the header for a container, the sections for Tile IR, the first NUL (not counted) for PTX, 24 for a
// wrapper. Errors are *fault.Error.
func SizeOf(mem Memory, address uint64) (Kind, uint64, error) {
	head := peek(mem, address, elf64.HeaderSize)
	if len(head) == 0 {
		return Unknown, 0, fault.New(fault.Format, "image", 0, "memory at %#x cannot be read", address)
	}
	kind := Detect(head)
	var (
		size uint64
		err  error
	)
	switch kind {
	case Fatbin:
		size, err = fatbin.ContainerSize(mem, address)
	case FatbinWrapper:
		size = fatbin.WrapperSize
	case Cubin:
		size, err = elfSize(mem, address)
	case TileIR:
		size, err = tileSize(mem, address)
	case PTX, Unknown, HostObject:
		// A text may open with a longer comment than was looked at, and a COFF header is only two
		// bytes that text can hold as well; so text decides.
		text, terr := readText(mem, address)
		if terr == nil && isPTX(text) {
			return PTX, uint64(len(text)), nil
		}
		if kind == PTX {
			return PTX, 0, terr
		}
		err = fault.New(fault.Format, "image", 0, "%s (first bytes % x)", kind, head[:min(len(head), 8)])
	default:
		err = fault.New(fault.Format, "image", 0, "%s cannot be loaded as a module", kind)
	}
	if err != nil {
		return kind, 0, err
	}
	return kind, size, nil
}

// SizeIn tells what data begins with and how long that is, which may be more than there is. Behind the data it sees
// zeros to the end of a page, so that text needs no NUL. Errors are *fault.Error.
func SizeIn(data []byte) (Kind, uint64, error) {
	have := uint64(len(data))
	room := have/page*page + page
	return SizeOf(func(address, n uint64) ([]byte, bool) {
		switch {
		case address > room || n > room-address:
			return nil, false
		case address <= have && n <= have-address:
			return data[address : address+n], true
		}
		b := make([]byte, n)
		if address < have {
			copy(b, data[address:])
		}
		return b, true
	}, 0)
}

// Cut says what is missing of an image that declares its length and ends before; nil when it is whole, or of a kind
// that declares none. What is larger than this package's limits is not looked at.
func Cut(data []byte) error {
	kind := Detect(data)
	switch kind {
	case Cubin, Fatbin, FatbinWrapper, TileIR:
	default:
		return nil
	}
	if int64(len(data)) > kind.limit() {
		return nil
	}
	_, n, err := SizeIn(data)
	if err == nil && n > uint64(len(data)) {
		err = fault.New(fault.Malformed, "image", 0, "a %s that declares %d bytes ends after %d", kind, n, len(data))
	}
	return err
}

// peek reads up to n bytes, fewer where a text ends or the memory does. It crosses into the next page
// only when the bytes before it start a binary format, whose fixed header must be there.
func peek(mem Memory, address, n uint64) []byte {
	first := min(n, page-address%page)
	b, ok := mem(address, first)
	if !ok {
		return nil
	}
	if first == n {
		return b
	}
	for _, magic := range []string{elf64.Magic, magicTileIR, "\xb1\x43\x62\x46", "\x50\xed\x55\xba"} {
		k := min(len(b), len(magic))
		if string(b[:k]) == magic[:k] {
			more, ok := mem(address, headerNeed(magic))
			if ok {
				return more
			}
			return b
		}
	}
	return b
}

// headerNeed is the length of the fixed header behind a magic.
func headerNeed(magic string) uint64 {
	switch magic {
	case elf64.Magic:
		return elf64.HeaderSize
	case magicTileIR:
		return tileHeader
	case "\xb1\x43\x62\x46":
		return fatbin.WrapperSize
	}
	return fatbin.HeaderSize
}

// readText reads up to the first NUL.
func readText(mem Memory, address uint64) ([]byte, error) {
	for n := uint64(0); n < MaxText; {
		step := page - (address+n)%page
		b, ok := mem(address+n, step)
		if !ok {
			return nil, fault.New(fault.Malformed, "PTX", n, "text at %#x has no NUL before its memory ends", address)
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			text, ok := mem(address, n+uint64(i))
			if !ok {
				return nil, fault.New(fault.Malformed, "PTX", 0, "memory at %#x cannot be read", address)
			}
			return text, nil
		}
		n += step
	}
	return nil, fault.New(fault.TooLarge, "PTX", 0, "text at %#x has no NUL within %d bytes", address, MaxText)
}

// elfSize is the largest end of the section table and of every section, and of the program header
// table where that follows directly, as it does in every cubin. A program header table elsewhere and
// the ranges in it are left out: the driver loads images in which they point nowhere, and sections
// cover what they cover.
func elfSize(mem Memory, address uint64) (uint64, error) {
	b, ok := mem(address, elf64.HeaderSize)
	if !ok {
		return 0, fault.New(fault.Malformed, "ELF header", 0, "memory at %#x cannot be read", address)
	}
	h, err := elf64.ParseHeader(b)
	if err != nil {
		return 0, err
	}
	size := uint64(elf64.HeaderSize)
	if h.Class != elf64.Class64 {
		return size, nil // its reader refuses it by the header
	}
	grow := func(at uint64, part string, off, n uint64) error {
		if off > MaxELF || n > MaxELF || off+n > MaxELF {
			return fault.New(fault.Malformed, part, at, "bytes %#x+%#x are beyond the limit of %d", off, n,
				uint64(MaxELF))
		}
		size = max(size, off+n)
		return nil
	}
	if h.Shoff == 0 {
		return size, nil
	}
	if h.Shentsize != elf64.SectionSize {
		return 0, fault.New(fault.Malformed, "ELF header", 58, "section entry size %d, need %d", h.Shentsize,
			elf64.SectionSize)
	}
	row := func(i uint64) (elf64.Section, error) {
		at := h.Shoff + i*elf64.SectionSize
		if at > MaxELF {
			return elf64.Section{}, fault.New(fault.Malformed, "ELF section table", at, "beyond the limit of %d",
				uint64(MaxELF))
		}
		b, ok := mem(address+at, elf64.SectionSize)
		if !ok {
			return elf64.Section{}, fault.New(fault.Malformed, "ELF section table", at, "memory ends before section %d",
				i)
		}
		s, _ := elf64.RawSection(b)
		return s, nil
	}
	if h.Shoff > MaxELF {
		return 0, fault.New(fault.Malformed, "ELF header", 40, "section table at %#x, limit %d", h.Shoff,
			uint64(MaxELF))
	}
	first, err := row(0)
	if err != nil {
		return 0, err
	}
	count := uint64(h.Shnum)
	if count == 0 {
		count = first.Size
	}
	if count > elf64.MaxSections {
		return 0, fault.New(fault.Malformed, "ELF header", 60, "%d sections, limit %d", count, elf64.MaxSections)
	}
	if err := grow(40, "ELF section table", h.Shoff, count*elf64.SectionSize); err != nil {
		return 0, err
	}
	for i := uint64(1); i < count; i++ {
		s, err := row(i)
		if err != nil {
			return 0, err
		}
		if elf64.HasFileBytes(h.Machine, s.Type) {
			if err := grow(h.Shoff+i*elf64.SectionSize, "ELF section", s.Offset, s.Size); err != nil {
				return 0, err
			}
		}
	}
	if end := h.Phoff + uint64(h.Phnum)*uint64(h.Phentsize); h.Phoff >= elf64.HeaderSize && h.Phoff <= (size+7)&^7 {
		size = max(size, end)
	}
	return size, nil
}

// tileHeader is the size of the fixed header of a Tile IR file: magic, two version bytes, a tag.
const tileHeader = 12

// tileSize walks the sections of a Tile IR file to its end marker (published format, section 5.3 of
// the bytecode specification): id byte, length, optional alignment with padding, data.
func tileSize(mem Memory, address uint64) (uint64, error) {
	const part = "Tile IR"
	at := uint64(tileHeader)
	short := func() error {
		return fault.New(fault.Malformed, part, at, "memory ends inside the section list")
	}
	next := func() (byte, bool) {
		b, ok := mem(address+at, 1)
		if !ok {
			return 0, false
		}
		at++
		return b[0], true
	}
	varint := func() (uint64, error) {
		var v uint64
		for shift := 0; shift < 64; shift += 7 {
			b, ok := next()
			if !ok {
				return 0, short()
			}
			if shift == 63 && b > 1 {
				break
			}
			v |= uint64(b&0x7f) << shift
			if b < 0x80 {
				return v, nil
			}
		}
		return 0, fault.New(fault.Malformed, part, at, "number of more than 64 bits")
	}
	for at < MaxTileIR {
		id, ok := next()
		if !ok {
			return 0, short()
		}
		if id&0x7f == 0 {
			return at, nil
		}
		length, err := varint()
		if err != nil {
			return 0, err
		}
		if id&0x80 != 0 {
			align, err := varint()
			if err != nil {
				return 0, err
			}
			if align == 0 || align&(align-1) != 0 || align > MaxTileIR {
				return 0, fault.New(fault.Malformed, part, at, "alignment %d", align)
			}
			at = (at + align - 1) &^ (align - 1)
		}
		if length > MaxTileIR || at+length > MaxTileIR {
			return 0, fault.New(fault.TooLarge, part, at, "section of %d bytes, limit of the file %d", length,
				MaxTileIR)
		}
		at += length
	}
	return 0, fault.New(fault.TooLarge, part, at, "no end within %d bytes", MaxTileIR)
}
