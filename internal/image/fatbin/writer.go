package fatbin

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
)

// Source is an image to be put into a container.
type Source struct {
	Kind         Kind
	Arch         sm.Arch
	Major, Minor uint16 // see Entry
	Ident        string
	Options      []byte
	Flags        Flags // beyond those for compression and suffix; 0 means 64-bit, Linux
	Compression  Compression
	Data         []byte // PTX gets its NUL here if it has none
}

// Writer builds a container with the layout of the CUDA 13.0 tools. The zero value is ready.
type Writer struct{ entries []byte }

// Add appends an entry. It fails (class TooLarge or Unsupported) when the image is beyond MaxPayload
// or the compression is none of Stored, LZ4 and Zstd.
func (w *Writer) Add(s Source) error {
	const part = "fatbin writer"
	data := s.Data
	if s.Kind.IsPTX() && (len(data) == 0 || data[len(data)-1] != 0) {
		data = append(data[:len(data):len(data)], 0)
	}
	if len(data) > MaxPayload {
		return fault.New(fault.TooLarge, part, uint64(len(w.entries)), "image of %d bytes, limit %d", len(data),
			MaxPayload)
	}
	flags := s.Flags
	if flags == 0 {
		flags = Flag64Bit | FlagLinux
	}
	switch s.Arch.Suffix {
	case 'a':
		flags |= FlagArchSuffix
	case 'f':
		flags |= FlagFamily
	}
	stored := data
	var compressed uint32
	var uncompressed uint64
	if len(data) == 0 {
		s.Compression = Stored // there is no compressed form of nothing
	}
	switch s.Compression {
	case Stored:
	case LZ4, Zstd:
		var err error
		if s.Compression == LZ4 {
			flags |= FlagLZ4
			stored, err = toLZ4(data)
		} else {
			flags |= FlagZstd
			stored, err = toZstd(data)
		}
		if err != nil {
			return &fault.Error{Class: fault.Unsupported, Part: part, Offset: uint64(len(w.entries)),
				Detail: "compressing with " + s.Compression.String(), Cause: err}
		}
		compressed, uncompressed = uint32(len(stored)), uint64(len(data))
	default:
		return fault.New(fault.Unsupported, part, uint64(len(w.entries)), "compression %s", s.Compression)
	}
	if len(s.Ident) > math.MaxUint16 || len(s.Options) > math.MaxUint16 {
		return fault.New(fault.TooLarge, part, uint64(len(w.entries)),
			"identifier of %d and options of %d bytes, limit %d", len(s.Ident), len(s.Options), math.MaxUint16)
	}

	// The strings behind the fixed part: identifier, then for text inputs (and wherever there are
	// options) a descriptor {offset, length} and the option string. Each ends in NUL, padded to 8.
	var tail []byte
	var identAt, optionsAt uint32
	if s.Ident != "" {
		identAt = EntryHeaderSize
		tail = pad8(append(append(tail, s.Ident...), 0))
	}
	if s.Kind.IsPTX() || s.Kind == LTOIR || len(s.Options) > 0 {
		optionsAt = uint32(EntryHeaderSize + len(tail))
		tail = binary.LittleEndian.AppendUint32(tail, optionsAt+8)
		tail = binary.LittleEndian.AppendUint32(tail, uint32(len(s.Options)))
		tail = pad8(append(append(tail, s.Options...), 0))
	}

	le := binary.LittleEndian
	padded := (len(stored) + 7) &^ 7
	b := w.entries
	b = le.AppendUint16(b, uint16(s.Kind))
	b = le.AppendUint16(b, entryVersion)
	b = le.AppendUint32(b, uint32(EntryHeaderSize+len(tail)))
	b = le.AppendUint64(b, uint64(padded))
	b = le.AppendUint32(b, compressed)
	b = le.AppendUint32(b, optionsAt)
	if s.Kind == TileIR {
		b = append(b, 0, 0, byte(s.Minor), byte(s.Major))
	} else {
		b = le.AppendUint16(b, s.Minor)
		b = le.AppendUint16(b, s.Major)
	}
	b = le.AppendUint32(b, uint32(s.Arch.Number))
	b = le.AppendUint32(b, identAt)
	b = le.AppendUint32(b, uint32(len(s.Ident)))
	b = le.AppendUint64(b, uint64(flags))
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, uncompressed)
	b = append(b, tail...)
	b = pad8(append(b, stored...))
	if len(b) > MaxContainer {
		return fault.New(fault.TooLarge, part, uint64(len(w.entries)), "container of %d bytes, limit %d", len(b),
			MaxContainer)
	}
	w.entries = b
	return nil
}

// Bytes gives the container with the entries added so far.
func (w *Writer) Bytes() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, HeaderSize+len(w.entries))
	b = le.AppendUint32(b, Magic)
	b = le.AppendUint16(b, containerVersion)
	b = le.AppendUint16(b, HeaderSize)
	b = le.AppendUint64(b, uint64(len(w.entries)))
	return append(b, w.entries...)
}

// pad8 appends zeros up to a multiple of 8; every part it is used on starts at such a multiple.
func pad8(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func toLZ4(data []byte) ([]byte, error) {
	out := make([]byte, lz4.CompressBlockBound(len(data)))
	c := lz4.CompressorHC{Level: lz4.Level9}
	n, err := c.CompressBlock(data, out)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return literalLZ4(data), nil
	}
	return out[:n], nil
}

// literalLZ4 writes data as one run of literals: the block compressor gives nothing for data that
// does not shrink, while the container needs a block that expands to it.
func literalLZ4(data []byte) []byte {
	n := len(data)
	if n < 15 {
		return append([]byte{byte(n) << 4}, data...)
	}
	out := []byte{15 << 4}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(n)), data...)
}

func toZstd(data []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.EncodeAll(data, nil), nil
}
