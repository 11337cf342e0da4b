// Package image tells what a piece of device code is — PTX text, a cubin, a fat binary, Tile IR, a
// host file with device code inside — how long it is, what it holds, and which part of it a device
// takes. The formats themselves are in the packages below it.
package image

import (
	"bytes"
	"encoding/binary"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/hostobj"
)

// Kind is what an image is.
type Kind uint8

// The kinds of image.
const (
	Unknown       Kind = iota
	PTX                // text that starts with .version
	Cubin              // CUDA ELF
	Fatbin             // container of images
	FatbinWrapper      // pointers to containers, in memory only
	TileIR             // CUDA Tile IR bytecode
	LTOIR              // link-time optimisation input, also OptiX IR
	HostObject         // ELF, COFF or PE for the host
	Archive            // static library
	Bitcode            // LLVM bitcode
)

var kindNames = [...]string{"unknown", "ptx", "cubin", "fatbin", "fatbin-wrapper", "tile-ir", "lto-ir", "host-object",
	"archive", "bitcode"}

// String is a short lower-case name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Unknown]
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// First bytes of the formats that have no package of their own here.
const (
	magicTileIR  = "\x7fTileIR\x00"
	magicLTOIR   = "\xed\x43\x4e\x7f"
	magicBitcode = "BC\xc0\xde"
	magicBCWrap  = "\xde\xc0\x17\x0b"
	magicThin    = "!<thin>\n"
)

// Detect tells what data starts with. It looks at the first bytes, for ELF at the machine type, and
// for text past white space and comments at the first word, which must be .version. It does not
// check that the rest is sound: an ELF cut off before its machine type, a container of another
// version and text with a byte order mark are Unknown, as they are to the driver (CUDA 13.0).
func Detect(data []byte) Kind {
	switch {
	case len(data) == 0:
		return Unknown
	case bytes.HasPrefix(data, []byte(magicTileIR)):
		return TileIR
	case bytes.HasPrefix(data, []byte(elf64.Magic)):
		h, err := elf64.ParseHeader(data)
		switch {
		case err != nil && len(data) < 20:
			return Unknown
		case h.Machine == elf64.MachineCUDA:
			return Cubin
		}
		return HostObject
	case bytes.HasPrefix(data, []byte(magicLTOIR)):
		return LTOIR
	case bytes.HasPrefix(data, []byte(magicBitcode)), bytes.HasPrefix(data, []byte(magicBCWrap)):
		return Bitcode
	case bytes.HasPrefix(data, []byte(hostobj.ArchiveMagic)), bytes.HasPrefix(data, []byte(magicThin)):
		return Archive
	case len(data) >= 8 && binary.LittleEndian.Uint32(data) == fatbin.WrapperMagic:
		if v := binary.LittleEndian.Uint32(data[4:]); v == 1 || v == 2 {
			return FatbinWrapper
		}
		return Unknown
	case len(data) >= 6 && binary.LittleEndian.Uint32(data) == fatbin.Magic:
		if binary.LittleEndian.Uint16(data[4:]) == 1 {
			return Fatbin
		}
		return Unknown
	case isPTX(data):
		return PTX
	case hostobj.IsHost(data):
		return HostObject
	}
	return Unknown
}

// isPTX reports whether the first word of the text is .version.
func isPTX(data []byte) bool {
	const version = ".version"
	rest := skipSpace(data)
	if !bytes.HasPrefix(rest, []byte(version)) {
		return false
	}
	return len(rest) == len(version) || !wordByte(rest[len(version)])
}

// skipSpace passes over white space and comments (PTX ISA, Comments). An unfinished comment leaves
// nothing.
func skipSpace(b []byte) []byte {
	for len(b) > 0 {
		switch c := b[0]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			b = b[1:]
		case bytes.HasPrefix(b, []byte("//")):
			n := bytes.IndexByte(b, '\n')
			if n < 0 {
				return nil
			}
			b = b[n+1:]
		case bytes.HasPrefix(b, []byte("/*")):
			n := bytes.Index(b[2:], []byte("*/"))
			if n < 0 {
				return nil
			}
			b = b[n+4:]
		default:
			return b
		}
	}
	return nil
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '%' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Text gives PTX up to its first NUL.
func Text(data []byte) []byte {
	if n := bytes.IndexByte(data, 0); n >= 0 {
		return data[:n:n]
	}
	return data
}
