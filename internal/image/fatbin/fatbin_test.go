package fatbin_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
)

// kept reads an image of the recorded selection (internal/image/testdata/corpus/README.md).
func kept(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "corpus", filepath.FromSlash(path)+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func arch(name string) sm.Arch {
	a, ok := sm.Parse(name)
	if !ok {
		panic(name)
	}
	return a
}

// A container that nvcc 13.0 wrote without compression, taken apart and written again, must be the
// same bytes.
func TestWriterLikeNvcc(t *testing.T) {
	for _, name := range []string{
		"modules/saxpy/saxpy.mode_none.fatbin", "broken/images/fatbin_only_sm80.fatbin",
		"modules/rdc_pair/rdc_pair.dlink.fatbin",
	} {
		data := kept(t, name)
		c, err := fatbin.Parse(data)
		if err != nil {
			t.Fatal(name, err)
		}
		var w fatbin.Writer
		for i := range c.Entries {
			e := &c.Entries[i]
			payload, err := e.Payload()
			if err != nil {
				t.Fatal(name, err)
			}
			if e.Flags.Compression() != fatbin.Stored {
				t.Fatal(name, "has a compressed entry")
			}
			err = w.Add(fatbin.Source{
				Kind: e.Kind, Arch: e.Arch, Major: e.Major, Minor: e.Minor, Ident: e.Ident, Options: e.Options,
				Flags: e.Flags, Data: payload,
			})
			if err != nil {
				t.Fatal(name, err)
			}
		}
		if !bytes.Equal(w.Bytes(), data) {
			t.Errorf("%s: %d bytes written, other than the %d read", name, len(w.Bytes()), len(data))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	text := []byte(".version 9.0\n.target sm_90a\n" + strings.Repeat(".address_size 64\n", 40))
	noise := make([]byte, 1000) // does not shrink
	x := uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	var w fatbin.Writer
	var want []fatbin.Source
	for _, c := range []fatbin.Compression{fatbin.Stored, fatbin.LZ4, fatbin.Zstd} {
		for _, s := range []fatbin.Source{
			{Kind: fatbin.PTX, Arch: arch("compute_90a"), Major: 9, Ident: "a.cu", Options: []byte("-lineinfo"),
				Data: text},
			{Kind: fatbin.ELF, Arch: arch("sm_100f"), Major: 1, Minor: 8, Data: noise},
			{Kind: fatbin.ELF, Arch: arch("sm_75"), Data: noise[:3]},
			{Kind: fatbin.ELF, Arch: arch("sm_75")},
			{Kind: fatbin.TileIR, Arch: arch("sm_120"), Major: 13, Minor: 3, Options: []byte{0, 1, 2},
				Data: noise[:700]},
		} {
			s.Compression = c
			if err := w.Add(s); err != nil {
				t.Fatal(c, err)
			}
			want = append(want, s)
		}
	}
	c, err := fatbin.Parse(w.Bytes())
	if err != nil || c.Problem != nil || c.Truncated || len(c.Entries) != len(want) {
		t.Fatalf("%v, %+v", err, c)
	}
	// What fatbinary 13.5 writes for Tile IR 13.3: the tag of the bytecode's header, minor, major.
	if e := c.Entries[4]; !bytes.Equal(w.Bytes()[e.Offset+0x18:e.Offset+0x1c], []byte{0, 0, 3, 13}) {
		t.Errorf("version of Tile IR: % x", w.Bytes()[e.Offset+0x18:e.Offset+0x1c])
	}
	for i, s := range want {
		e := &c.Entries[i]
		if e.Kind != s.Kind || e.Arch != s.Arch || e.Major != s.Major || e.Minor != s.Minor || e.Ident != s.Ident ||
			!bytes.Equal(e.Options, s.Options) {
			t.Errorf("entry %d: %+v, want %+v", i, e, s)
		}
		if got := e.Flags.Compression(); got != s.Compression && len(s.Data) > 0 {
			t.Errorf("entry %d: compression %v, want %v", i, got, s.Compression)
		}
		p, err := e.Payload()
		// A raw payload keeps its padding to 8 bytes: nothing in the container says where it ends.
		if err == nil && e.Flags.Compression() == fatbin.Stored && len(p) >= len(s.Data) && len(p) < len(s.Data)+8 {
			p = p[:len(s.Data)]
		}
		if err != nil || !bytes.Equal(p, s.Data) {
			t.Errorf("entry %d (%v, %v): %d bytes, %v; want %d", i, e.Kind, s.Compression, len(p), err, len(s.Data))
		}
	}
}

// Ranking of entries: measurements on a driver of release 597 with an sm_89 device, summarised in
// the format reference of the project (kind, processor, suffix, order).
func TestSelect(t *testing.T) {
	type entry struct {
		kind fatbin.Kind
		arch string
		more fatbin.Flags
	}
	elf := func(a string) entry { return entry{fatbin.ELF, a, 0} }
	ptx := func(a string) entry { return entry{fatbin.PTX, a, 0} }
	dev := func(n int) fatbin.Device { return fatbin.Device{SM: n, RunsSASS: true} }
	forced, disabled, both, noSASS := dev(90), dev(90), dev(90), dev(90)
	forced.ForcePTX, disabled.DisablePTX = true, true
	both.ForcePTX, both.DisablePTX = true, true
	noSASS.RunsSASS = false
	for _, c := range []struct {
		name string
		dev  fatbin.Device
		in   []entry
		want int // index, or -1
		err  fault.Class
	}{
		{"elf before ptx of the exact processor", dev(89), []entry{ptx("sm_89"), elf("sm_80")}, 1, 0},
		{"highest elf", dev(89), []entry{elf("sm_86"), elf("sm_89"), elf("sm_80")}, 1, 0},
		{"elf of a newer minor", dev(86), []entry{elf("sm_89"), ptx("sm_75")}, 1, 0},
		{"elf of another major", dev(90), []entry{elf("sm_80"), ptx("sm_75")}, 1, 0},
		{"first of equal elf", dev(90), []entry{elf("sm_90"), elf("sm_90")}, 0, 0},
		{"last of equal ptx", dev(90), []entry{ptx("sm_75"), ptx("sm_75")}, 1, 0},
		{"highest ptx", dev(90), []entry{ptx("sm_90"), ptx("sm_100"), ptx("sm_75")}, 0, 0},
		{"a before none", dev(90), []entry{elf("sm_90"), elf("sm_90a")}, 1, 0},
		{"a of another minor", dev(103), []entry{elf("sm_100a"), elf("sm_100f"), elf("sm_100")}, 1, 0},
		{"ptx a needs equality", dev(100), []entry{ptx("sm_90a"), ptx("sm_90")}, 1, 0},
		{"ptx f stays in the family", dev(120), []entry{ptx("sm_100f"), ptx("sm_80")}, 1, 0},
		{"sm_101 is sm_110", dev(110), []entry{elf("sm_101")}, 0, 0},
		{"finalizable loses a tie", dev(100), []entry{{fatbin.ELF, "sm_100", fatbin.FlagFinalizable | 1},
			elf("sm_100")}, 1, 0},
		{"unfinished elf before ptx", dev(90), []entry{ptx("sm_90"), {fatbin.MercuryELF, "sm_90", 0}}, 1, 0},
		{"embedded and desktop apart", dev(89), []entry{elf("sm_87"), ptx("sm_80")}, 1, 0},
		{"unknown kind is passed over", dev(90), []entry{{9, "sm_90", 0}, ptx("sm_75")}, 1, 0},
		{"relocatable ptx", dev(90), []entry{{fatbin.RelocatablePTX, "sm_90", 0}}, 0, 0},
		{"forced ptx", forced, []entry{elf("sm_90"), ptx("sm_75")}, 1, 0},
		{"forced, none", forced, []entry{elf("sm_90")}, -1, fault.NoBinary},
		{"disabled ptx", disabled, []entry{elf("sm_90"), ptx("sm_75")}, 0, 0},
		{"disabled, only ptx", disabled, []entry{ptx("sm_75")}, -1, fault.JITDisabled},
		{"both switches", both, []entry{elf("sm_90"), ptx("sm_75")}, -1, fault.JITDisabled},
		{"no machine code engine", noSASS, []entry{elf("sm_90"), ptx("sm_75")}, 1, 0},
		{"only lto", dev(90), []entry{{fatbin.LTOIR, "sm_90", 0}}, -1, fault.NoBinary},
		{"tile ir not taken", dev(90), []entry{{fatbin.TileIR, "sm_90", 0}}, -1, fault.NoBinary},
		{"nothing", dev(90), nil, -1, fault.NoBinary},
	} {
		var w fatbin.Writer
		for _, e := range c.in {
			if err := w.Add(fatbin.Source{Kind: e.kind, Arch: arch(e.arch), Flags: e.more,
				Data: []byte("12345678")}); err != nil {
				t.Fatal(err)
			}
		}
		box, err := fatbin.Parse(w.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := fatbin.Select(box.Entries, c.dev)
		switch {
		case c.want < 0:
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.err)
			}
		case err != nil || got != &box.Entries[c.want]:
			t.Errorf("%s: %+v, %v; want entry %d", c.name, got, err, c.want)
		}
	}
}

// Damage to single fields of a good container (format reference, failure cases). Offsets count from
// the start; the entry header is at 16.
func TestDamage(t *testing.T) {
	text := []byte(strings.Repeat(".version 9.0\n", 50))
	build := func(c fatbin.Compression) []byte {
		var w fatbin.Writer
		if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: arch("sm_75"), Ident: "x.cu", Compression: c,
			Data: text}); err != nil {
			t.Fatal(err)
		}
		return w.Bytes()
	}
	le := binary.LittleEndian
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[at:], v); return b }
	}
	put64 := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint64(b[at:], v); return b }
	}
	const ent = 16
	for _, c := range []struct {
		name string
		comp fatbin.Compression
		do   func([]byte) []byte
		want fault.Class // of Parse or Payload; 0: it still reads
	}{
		{"whole", fatbin.LZ4, func(b []byte) []byte { return b }, 0},
		{"empty", fatbin.Stored, func(b []byte) []byte { return nil }, fault.Format},
		{"header cut off", fatbin.Stored, func(b []byte) []byte { return b[:15] }, fault.Format},
		{"magic", fatbin.Stored, put32(0, 0xBA55D10A), fault.Format},
		{"version 2", fatbin.Stored, func(b []byte) []byte { b[4] = 2; return b }, fault.Format},
		{"header size 8", fatbin.Stored, func(b []byte) []byte { b[6] = 8; return b }, fault.Malformed},
		{"fat_size 2^40", fatbin.Stored, put64(8, 1<<40), fault.TooLarge},
		{"data cut off", fatbin.Zstd, func(b []byte) []byte { return b[:len(b)-9] }, fault.Corrupt},
		{"entry header size 63", fatbin.Stored, put32(ent+4, 63), fault.Malformed},
		{"entry header size beyond", fatbin.Stored, put32(ent+4, 1<<31), fault.Malformed},
		{"payload size wraps", fatbin.Stored, put64(ent+8, 1<<64-64), fault.Malformed},
		{"compressed size 0", fatbin.LZ4, put32(ent+16, 0), fault.Corrupt},
		{"compressed size beyond payload", fatbin.Zstd, put32(ent+16, 1<<20), fault.Corrupt},
		{"options beyond header", fatbin.Stored, put32(ent+20, 1<<20), fault.Malformed},
		{"identifier beyond header", fatbin.Stored, put32(ent+0x24, 1<<20), fault.Malformed},
		{"uncompressed size 0", fatbin.Zstd, put64(ent+0x38, 0), fault.Corrupt},
		{"uncompressed size 2^60", fatbin.Zstd, put64(ent+0x38, 1<<60), fault.TooLarge},
		{"uncompressed size of a bomb, lz4", fatbin.LZ4, put64(ent+0x38, 400<<20), fault.Corrupt},
		{"uncompressed size of a bomb, zstd", fatbin.Zstd, put64(ent+0x38, 400<<20), fault.Corrupt},
		{"one byte more, lz4", fatbin.LZ4, put64(ent+0x38, uint64(len(text))+2), fault.Corrupt},
		{"one byte less, zstd", fatbin.Zstd, put64(ent+0x38, uint64(len(text))), fault.Corrupt},
		{"zstd called lz4", fatbin.Zstd, put64(ent+0x28, 0x2011), fault.Corrupt},
		{"lz4 called zstd", fatbin.LZ4, put64(ent+0x28, 0x8011), fault.Corrupt},
		{"zlib", fatbin.LZ4, put64(ent+0x28, 0x1011), fault.Unsupported},
		{"two compressions", fatbin.LZ4, put64(ent+0x28, 0xa011), fault.Unsupported},
		{"obfuscated", fatbin.Zstd, put64(ent+0x28, 0x18011), fault.Obfuscated},
		// the driver loads it
		{"entry version 9", fatbin.Zstd, func(b []byte) []byte { b[ent+2], b[ent+3] = 9, 0; return b }, 0},
	} {
		box, err := fatbin.Parse(c.do(build(c.comp)))
		if err == nil {
			if len(box.Entries) != 1 {
				t.Errorf("%s: %d entries", c.name, len(box.Entries))
				continue
			}
			var p []byte
			if p, err = box.Entries[0].Payload(); err == nil && !bytes.Equal(p, text) {
				t.Errorf("%s: other text", c.name)
			}
		}
		if c.want == 0 && err != nil || c.want != 0 && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want class %v", c.name, err, c.want)
		}
	}
}

// Text beyond its limit is refused before it is decompressed, and where it is stored.
func TestTextLimit(t *testing.T) {
	for _, c := range []fatbin.Compression{fatbin.Stored, fatbin.LZ4, fatbin.Zstd} {
		for _, n := range []int{fatbin.MaxText, fatbin.MaxText + 1} {
			var w fatbin.Writer
			text := bytes.Repeat([]byte(" "), n)
			err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: arch("sm_75"), Compression: c, Data: text})
			if err != nil {
				t.Fatal(err)
			}
			box, err := fatbin.Parse(w.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			p, err := box.Entries[0].Payload()
			if n > fatbin.MaxText && !errors.Is(err, fault.TooLarge) || n <= fatbin.MaxText && !bytes.Equal(p, text) {
				t.Errorf("%s, %d bytes: %d bytes, %v", c, n, len(p), err)
			}
		}
	}
}

func TestParseAll(t *testing.T) {
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: arch("sm_75"), Data: []byte(".version 9.0")}); err != nil {
		t.Fatal(err)
	}
	one := w.Bytes()
	gap := make([]byte, 24)
	all, err := fatbin.ParseAll(bytes.Join([][]byte{one, gap, one, one, gap[:5]}, nil))
	if err != nil || len(all) != 3 || all[1].Offset != uint64(len(one)+24) {
		t.Fatalf("%d containers, %v", len(all), err)
	}
	all, err = fatbin.ParseAll(append(bytes.Clone(one), "garbage!"...))
	if !errors.Is(err, fault.Format) || len(all) != 1 {
		t.Fatalf("%d containers, %v", len(all), err)
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Offset != uint64(len(one)) {
		t.Errorf("error at %#x, want %#x", f.Offset, len(one))
	}
}

// arena is a memory of pieces at addresses.
type arena map[uint64][]byte

func (a arena) read(address, n uint64) ([]byte, bool) {
	for base, b := range a {
		if address >= base && address-base <= uint64(len(b)) && n <= uint64(len(b))-(address-base) {
			return b[address-base : address-base+n], true
		}
	}
	return nil, false
}

func TestWrapper(t *testing.T) {
	box := func(a string) []byte {
		var w fatbin.Writer
		if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: arch(a), Data: []byte(".version 9.0")}); err != nil {
			t.Fatal(err)
		}
		return w.Bytes()
	}
	linked := box("sm_90")
	mem := arena{0x2000: linked}
	for i, w := range []fatbin.Wrapper{
		{1, 0x2000, 0}, {2, 0x2000, 0x5000}, {2, 0x2000, 1}, // the list of version 2 is not looked at
		{1, 0, 0}, {1, 0x2004, 0}, {3, 0x2000, 0}, {1, 0x9000, 0},
	} {
		mem[0x1000] = w.Append(nil)
		got, err := fatbin.ReadWrapper(mem.read, 0x1000)
		if i >= 3 {
			if err == nil {
				t.Errorf("%+v: no error", w)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, linked) {
			t.Errorf("%+v: %d bytes, %v", w, len(got), err)
		}
	}
	mem[0x1000] = append([]byte{0xb0}, fatbin.Wrapper{1, 0x2000, 0}.Append(nil)[1:]...)
	if _, err := fatbin.ReadWrapper(mem.read, 0x1000); !errors.Is(err, fault.Format) {
		t.Errorf("wrong magic: %v", err)
	}
}

// FuzzParse holds that no input makes the reader panic, loop or hand out bytes from outside, and that
// what parses can be chosen from and decompressed or refused with a class.
func FuzzParse(f *testing.F) {
	for _, name := range []string{
		"broken/images/fatbin_ok_compressed.fatbin", "broken/images/fatbin_compressed_corrupt.fatbin",
		"broken/images/fatbin_ptx_only.fatbin",
		"broken/images/fatbin_random_after_header.fatbin", "broken/images/fatbin_header_only.fatbin",
		"modules/rdc_pair/rdc_a.lto.fatbin",
		"modules/saxpy/saxpy.cu118.compress_all.fatbin", "modules/saxpy/saxpy.tool_mode_speed_all.fatbin",
	} {
		f.Add(kept(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := fatbin.ParseAll(data)
		classed(t, err)
		for _, c := range all {
			if len(c.Entries)*fatbin.EntryHeaderSize > len(data) {
				t.Fatalf("%d entries from %d bytes", len(c.Entries), len(data))
			}
			for i := range c.Entries {
				e := &c.Entries[i]
				p, err := e.Payload()
				classed(t, err)
				if err == nil && uint64(len(p)) > max(e.PayloadSize, e.UncompressedSize) {
					t.Fatalf("payload of %d bytes, header says %d and %d", len(p), e.PayloadSize, e.UncompressedSize)
				}
			}
			for _, d := range []fatbin.Device{{SM: 90}, {SM: 90, RunsSASS: true},
				{SM: 121, RunsSASS: true, TileIR: true}} {
				_, _, err := fatbin.Resolve(c.Entries, d, nil)
				classed(t, err)
			}
		}
	})
}

func classed(t *testing.T, err error) {
	var c fault.Class
	if err != nil && !errors.As(err, &c) {
		t.Fatalf("error without a class: %v", err)
	}
}
