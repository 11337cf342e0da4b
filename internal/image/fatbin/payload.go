package fatbin

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/gocuda/cuda/internal/image/fault"
)

// No valid stream of these formats can expand more: an LZ4 length byte adds at most 255 bytes, a
// 4-byte Zstandard run-length block at most 128 KiB. A header that promises more is lying, and is
// refused before memory is allocated.
const (
	maxRatioLZ4  = 255
	maxRatioZstd = 128 << 10 / 4
)

// Payload gives the image: decompressed where it was compressed, and for PTX cut at the first NUL.
// A raw payload aliases the container. Errors are *fault.Error: the header's own (Err), Corrupt,
// Obfuscated, Unsupported or TooLarge.
func (e *Entry) Payload() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	part := "fatbin " + e.Kind.String() + " payload"
	at := e.Offset + uint64(e.HeaderSize)
	if e.Flags&FlagTransformed != 0 {
		return nil, fault.New(fault.Obfuscated, part, at, "stored transformed (flags %#x); reading it needs a key",
			uint64(e.Flags))
	}
	data := e.stored
	c := e.Flags.Compression()
	switch c {
	case Stored:
	case LZ4, Zstd:
		if e.CompressedSize == 0 || uint64(e.CompressedSize) > e.PayloadSize {
			return nil, fault.New(fault.Corrupt, part, at, "compressed size %d of a payload of %d bytes",
				e.CompressedSize, e.PayloadSize)
		}
		limit := uint64(MaxPayload)
		if e.Kind.IsPTX() {
			limit = MaxText + 1 // with its NUL
		}
		var err error
		if data, err = decompress(c, data[:e.CompressedSize], e.UncompressedSize, limit); err != nil {
			if f, ok := err.(*fault.Error); ok {
				f.Part, f.Offset = part, at
			}
			return nil, err
		}
	default:
		return nil, fault.New(fault.Unsupported, part, at, "compression flags %#x", uint64(e.Flags&compressionFlags))
	}
	if e.Kind.IsPTX() {
		if n := bytes.IndexByte(data, 0); n >= 0 {
			data = data[:n:n]
		}
		if len(data) > MaxText {
			return nil, fault.New(fault.TooLarge, part, at, "text of %d bytes, limit %d", len(data), MaxText)
		}
	}
	return data, nil
}

// Budget bounds how many bytes are decompressed out of one file: a small file of many bombs would otherwise keep its
// reader busy for hours.
type Budget struct{ left int64 }

// NewBudget is the budget of a file of size bytes: 2 GiB and 64 times its size, which no file of a compiler comes near.
func NewBudget(size int) *Budget { return &Budget{2<<30 + 64*int64(size)} }

// Payload is the payload of an entry of the file; when it would exceed the budget the error is of class TooLarge, and
// nothing is decompressed.
func (b *Budget) Payload(e *Entry) ([]byte, error) {
	if e.Flags.Compression() != Stored {
		if b.left -= int64(min(e.UncompressedSize, MaxPayload)); b.left < 0 {
			return nil, fault.New(fault.TooLarge, "fatbin "+e.Kind.String()+" payload", e.Offset,
				"not decompressed: the payloads of this file add up to too much")
		}
	}
	return e.Payload()
}

// decompress expands src to exactly size bytes, which must not be more than limit.
func decompress(c Compression, src []byte, size, limit uint64) ([]byte, error) {
	ratio := uint64(maxRatioLZ4)
	if c == Zstd {
		ratio = maxRatioZstd
	}
	switch {
	case size == 0:
		return nil, fault.New(fault.Corrupt, "", 0, "uncompressed size 0 of a compressed payload")
	case size > MaxPayload:
		return nil, fault.New(fault.TooLarge, "", 0, "uncompressed size %d, limit %d", size, MaxPayload)
	case size > uint64(len(src))*ratio:
		return nil, fault.New(fault.Corrupt, "", 0, "%d bytes of %s cannot hold %d", len(src), c, size)
	case size > limit:
		return nil, fault.New(fault.TooLarge, "", 0, "uncompressed size %d, limit %d", size, limit)
	}
	var (
		out []byte
		err error
	)
	if c == LZ4 {
		out, err = unLZ4(src, int(size))
	} else {
		out, err = unZstd(src, int(size))
	}
	if err == nil && uint64(len(out)) != size {
		err = fmt.Errorf("gives %d bytes", len(out))
	}
	if err != nil {
		return nil, &fault.Error{Class: fault.Corrupt, Detail: fmt.Sprintf("%s of %d bytes for %d", c, len(src), size),
			Cause: err}
	}
	return out, nil
}

func unLZ4(src []byte, size int) ([]byte, error) {
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(src, out)
	if err != nil {
		return nil, err
	}
	return out[:n], nil
}

func unZstd(src []byte, size int) ([]byte, error) {
	// Compare the frame's own declaration first: it costs no memory.
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, err
	}
	if h.HasFCS && h.FrameContentSize != uint64(size) {
		return nil, fmt.Errorf("frame declares %d bytes", h.FrameContentSize)
	}
	// The capacity of the output is the limit. The window may be larger than a small payload.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxPayload), zstd.WithDecoderMaxWindow(MaxPayload), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(src, make([]byte, 0, size))
}
