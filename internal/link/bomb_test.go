package link_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/skip"
)

// bomb is a container with one entry: a relocatable ELF for sm_90 that the linker takes for a part of the device
// runtime library, and zeros up to n bytes (a multiple of 128 KiB), as a Zstandard frame of run-length blocks, 4 bytes
// for each 128 KiB (RFC 8878, 3.1.1).
func bomb(t testing.TB, n uint64) []byte {
	t.Helper()
	le := binary.LittleEndian
	elf := make([]byte, 64, 128)
	copy(elf, "\x7fELF\x02\x01\x01\x41\x08") // OS ABI and version of CUDA 13
	le.PutUint16(elf[16:], elf64.TypeRel)
	le.PutUint16(elf[18:], elf64.MachineCUDA)
	le.PutUint32(elf[48:], 90<<8)
	elf = append(elf, "__CNPRT_VERSION_NUMBER__"...)
	const block = 128 << 10
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0} // magic; content size of 8 bytes, single segment
	frame = le.AppendUint64(frame, n)
	header := func(size, kind int, last bool) {
		h := uint32(size)<<3 | uint32(kind)<<1
		if last {
			h |= 1
		}
		frame = append(frame, byte(h), byte(h>>8), byte(h>>16))
	}
	header(len(elf), 0, false)
	frame = append(frame, elf...)
	for left := int(n) - len(elf); left > 0; left -= block {
		header(min(left, block), 1, left <= block)
		frame = append(frame, 0)
	}
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.ELF, Arch: sm.Arch{Number: 90}, Data: frame}); err != nil {
		t.Fatal(err)
	}
	c := w.Bytes()
	entry := c[fatbin.HeaderSize:]
	le.PutUint32(entry[16:], uint32(len(frame)))
	le.PutUint64(entry[0x28:], uint64(fatbin.Flag64Bit|fatbin.FlagZstd))
	le.PutUint64(entry[0x38:], n)
	return c
}

// A library of 200 objects of 16 KiB that promise half a gigabyte each fails after the work of a few.
func TestArchiveOfBombs(t *testing.T) {
	skip.Short(t, "decompresses 2 GiB")
	const members = 200
	files, order := map[string][]byte{"m.o": hostObject(bomb(t, fatbin.MaxPayload))}, make([]string, members)
	for i := range order {
		order[i] = "m.o"
	}
	if err := link.New(options()).Add(link.InputLibrary, archive(files, order[0]), "bomb.a"); err != nil {
		t.Fatalf("one alone: %v", err) // or the test shows nothing
	}
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	err := link.New(options()).Add(link.InputLibrary, archive(files, order...), "bombs.a")
	runtime.ReadMemStats(&b)
	if !errors.Is(err, fault.TooLarge) {
		t.Errorf("%v", err)
	}
	if n := b.TotalAlloc - a.TotalAlloc; n > 4<<30 { // the budget is 2 GiB and 64 times 3 MiB
		t.Errorf("%d bytes allocated", n)
	}
}

// The texts of one link are bounded together, as that of one module is.
func TestLinkTextLimit(t *testing.T) {
	text := func(i, n int) []byte {
		head := fmt.Sprintf(".version 9.0\n.target sm_90\n.address_size 64\n.visible .func f%d() { ret; }\n", i)
		return []byte(head + strings.Repeat("\n", n-len(head)))
	}
	l := link.New(options())
	for i := range 2 {
		if err := l.Add(link.InputPTX, text(i, image.MaxText/2-100), "half"); err != nil {
			t.Fatal(err)
		}
	}
	err := l.Add(link.InputPTX, text(2, 1000), "more")
	var e *link.Error
	if !errors.As(err, &e) || !errors.Is(err, fault.TooLarge) || e.Result().String() != "CUDA_ERROR_INVALID_IMAGE" {
		t.Errorf("%v", err)
	}
	if err := l.Add(link.InputPTX, text(3, 150), "less"); err != nil { // what failed does not count
		t.Errorf("after the failure: %v", err)
	}
	if err := link.New(options()).Add(link.InputPTX, text(4, image.MaxText+1), "one"); !errors.Is(err, fault.TooLarge) {
		t.Errorf("one text: %v", err)
	}
}
