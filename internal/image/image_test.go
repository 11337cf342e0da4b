package image_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
)

// First bytes: public headers and format documentation; text by the PTX ISA (white space, comments).
// What the driver says to a byte order mark, to .target first and to blank text is in the corpus.
func TestDetect(t *testing.T) {
	elf := func(machine uint16, n int) string {
		b := make([]byte, 64)
		copy(b, "\x7fELF\x02\x01\x01")
		binary.LittleEndian.PutUint16(b[18:], machine)
		return string(b[:n])
	}
	for _, c := range []struct {
		in   string
		want image.Kind
	}{
		{"", image.Unknown}, {"\n", image.Unknown}, {"x", image.Unknown},
		{".version 9.0", image.PTX}, {".version", image.PTX}, {".version\x00", image.PTX},
		{".versions 9.0", image.Unknown},
		{" \t\r\n\v\f.version 9.0", image.PTX}, {"// a\n/* b\n* /**/.version 9.0", image.PTX},
		{"/* .version 9.0", image.Unknown}, {"// .version 9.0", image.Unknown}, {"/.version", image.Unknown},
		{"\xef\xbb\xbf.version 9.0", image.Unknown}, {".target sm_75", image.Unknown},
		{elf(190, 64), image.Cubin}, {elf(190, 20), image.Cubin}, {elf(190, 19), image.Unknown},
		{elf(62, 64), image.HostObject}, {elf(183, 64), image.HostObject},
		{"\x50\xed\x55\xba\x01\x00\x10\x00", image.Fatbin}, {"\x50\xed\x55\xba\x02\x00", image.Unknown},
		{"\x50\xed\x55\xba", image.Unknown},
		{"\xb1\x43\x62\x46\x01\x00\x00\x00", image.FatbinWrapper},
		{"\xb1\x43\x62\x46\x02\x00\x00\x00", image.FatbinWrapper}, {"\xb1\x43\x62\x46\x03\x00\x00\x00", image.Unknown},
		{"\x7fTileIR\x00\x0d\x01\x00\x00", image.TileIR}, {"\xed\x43\x4e\x7f", image.LTOIR},
		{"BC\xc0\xde", image.Bitcode}, {"\xde\xc0\x17\x0b", image.Bitcode},
		{"!<arch>\n", image.Archive}, {"!<thin>\n", image.Archive},
		{"\x64\x86" + strings.Repeat("\x00", 18), image.HostObject},
	} {
		if got := image.Detect([]byte(c.in)); got != c.want {
			t.Errorf("%.24q: %v, want %v", c.in, got, c.want)
		}
	}
}

func TestScanPTX(t *testing.T) {
	h := image.ScanPTX([]byte("// x\n.version 8.8 // y\n.target\tsm_100f , debug,texmode_independent\n.address_size/**/64\n.visible .entry k() { ret; }\x00junk"))
	if h.Version != "8.8" || strings.Join(h.Targets, " ") != "sm_100f debug texmode_independent" ||
		h.AddressSize != 64 || h.Lines != 5 {
		t.Errorf("%+v", h)
	}
	for _, s := range []string{"", ".version", ".version 9.0", ".version 9.0\n.target", ".target ,,,,",
		".version 9.0 .target sm_75,"} {
		image.ScanPTX([]byte(s))
	}
	if h := image.ScanPTX([]byte(".version 1.0\n.version 2.0\n.target sm_75")); h.Version != "1.0" || h.Targets != nil {
		t.Errorf("%+v", h)
	}
}

// Tile IR files end with the section of id 0 (published bytecode specification, sections).
func TestTileSize(t *testing.T) {
	head := "\x7fTileIR\x00\x0d\x01\x00\x00"
	for _, c := range []struct {
		in   string
		want int // 0: error
	}{
		{head + "\x00", 13},
		{head + "\x03\x02ab\x00trailing", 17},
		{head + "\x83\x02\x10\xcbab\x00", 19}, // section data aligned to 16 at offset 16
		{head + "\x03\x82\x00ab\x00", 18},
		{head + "\x03\x7fab", 0}, {head + "\x03", 0}, {head, 0}, {head + "\x83\x02\x03ab\x00", 0},
		{head + "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0}, {head + "\x03\xff\xff\xff\xff\x0f", 0},
	} {
		mem, base := memory([]byte(c.in))
		kind, size, err := image.SizeOf(mem, base)
		if kind != image.TileIR || (err != nil) != (c.want == 0) || err == nil && size != uint64(c.want) {
			t.Errorf("%q: %v, %d, %v; want %d", c.in, kind, size, err, c.want)
		}
	}
}

// Text is found up to its NUL over page boundaries, and a missing NUL is an error, not a fault.
func TestFetchText(t *testing.T) {
	for _, n := range []int{0, 1, 63, 4095, 4096, 4097, 12289} {
		text := ".version 9.0" + strings.Repeat("\n", n)
		mem, base := memory([]byte(text + "\x00"))
		im, err := image.Fetch(mem, base)
		if err != nil || im.Kind != image.PTX || string(im.Data) != text {
			t.Errorf("%d more: %v, %d bytes, %v", n, im.Kind, len(im.Data), err)
		}
		mem, base = memory([]byte(text))
		if _, err := image.Fetch(mem, base); !errors.Is(err, fault.Malformed) {
			t.Errorf("%d more, no NUL: %v", n, err)
		}
		comment := "/*" + strings.Repeat("x", n) + "*/" + text + "\x00" // longer than the first look
		mem, base = memory([]byte(comment))
		if im, err := image.Fetch(mem, base); err != nil || im.Kind != image.PTX || len(im.Data) != len(comment)-1 {
			t.Errorf("comment of %d: %v, %v", n, im.Kind, err)
		}
	}
	for _, s := range []string{"\x00", "hello\x00", "\x7fELF", "!<arch>\n\x00"} {
		mem, base := memory([]byte(s))
		if _, err := image.Fetch(mem, base); !errors.Is(err, fault.Format) {
			t.Errorf("%q: %v", s, err)
		}
	}
	none := func(uint64, uint64) ([]byte, bool) { return nil, false }
	if _, err := image.Fetch(none, 4096); !errors.Is(err, fault.Format) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestFetchWrapper(t *testing.T) {
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: sm.Arch{Number: 75},
		Data: []byte(".version 9.0")}); err != nil {
		t.Fatal(err)
	}
	const base = 0x10000
	all := fatbin.Wrapper{Version: 1, Data: base + fatbin.WrapperSize}.Append(nil)
	all = append(all, w.Bytes()...)
	mem := func(a, n uint64) ([]byte, bool) {
		if a < base || a-base > uint64(len(all)) || n > uint64(len(all))-(a-base) {
			return nil, false
		}
		return all[a-base:][:n], true
	}
	im, err := image.Fetch(mem, base)
	if err != nil || im.Kind != image.Fatbin || string(im.Data) != string(w.Bytes()) {
		t.Errorf("%v, %v", im.Kind, err)
	}
}

// A fat binary whose machine code entry promises sm_90 and holds an ELF for sm_80 (format reference:
// INVALID_SOURCE), and an ELF image that this project's linker made.
func TestResolve(t *testing.T) {
	elf := readGzip(t, filepath.Join("testdata", "corpus", "broken", "images", "cubin_sm_80.cubin.gz"))
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.ELF, Arch: sm.Arch{Number: 90}, Data: elf}); err != nil {
		t.Fatal(err)
	}
	if _, err := image.Resolve(w.Bytes(), h200); !errors.Is(err, fault.Source) {
		t.Errorf("%v, want class Source", err)
	}
	own := soft
	f, err := cubin.Parse(elf)
	if err != nil {
		t.Fatal(err)
	}
	own.SM, own.Section = 86, f.ELF.Sections[len(f.ELF.Sections)-1].Name
	p, err := image.Resolve(elf, own)
	if err != nil || p.Kind != image.Cubin || p.Cubin == nil {
		t.Errorf("own image: %v, %v", p.Kind, err)
	}
	var box fatbin.Writer
	if err := box.Add(fatbin.Source{Kind: fatbin.ELF, Arch: sm.Arch{Number: 80}, Data: elf,
		Compression: fatbin.Zstd}); err != nil {
		t.Fatal(err)
	}
	if p, err = image.Resolve(box.Bytes(), own); err != nil || p.Entry == nil || p.Cubin == nil {
		t.Errorf("own image in a fat binary: %v, %v", p.Kind, err)
	}
	own.Section = ""
	if _, err = image.Resolve(box.Bytes(), own); !errors.Is(err, fault.NoBinary) {
		t.Errorf("foreign image: %v", err)
	}
	off := soft
	off.DisablePTX = true
	if _, err = image.Resolve([]byte(".version 9.0"), off); !errors.Is(err, fault.JITDisabled) {
		t.Errorf("PTX switched off: %v", err)
	}
	tile := "\x7fTileIR\x00\x0d\x01\x00\x00\x00"
	if _, err = image.Resolve([]byte(tile), soft); !errors.Is(err, fault.Format) {
		t.Errorf("Tile IR on a 13.0 driver: %v", err)
	}
}

// The report is plain data that survives JSON, down to a kernel inside an entry inside an archive member.
func TestInspectNested(t *testing.T) {
	data := readGzip(t, filepath.Join("testdata", "corpus", "modules", "rdc_pair", "rdc_pair.a.gz"))
	r, err := image.Inspect(data, "rdc_pair.a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Kind    string
		Archive struct {
			Members []struct {
				Name, Kind string
				Host       struct {
					Containers []struct {
						Section string
						Entries []struct {
							Kind, Arch, Compression, Version string
							Image                            struct {
								Kind  string
								PTX   struct{ Targets []string }
								Cubin struct {
									Relocatable bool
									Kernels     []struct {
										Name   string
										Params []struct{ Offset, Size int }
									}
									Functions []struct{ Name string }
									Globals   []struct {
										Name string
										Size int
									}
								}
							}
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	if tree.Kind != "archive" || len(tree.Archive.Members) != 1 || tree.Archive.Members[0].Kind != "host-object" {
		t.Fatalf("%s", b)
	}
	c := tree.Archive.Members[0].Host.Containers
	if len(c) != 1 || c[0].Section != "__nv_relfatbin" || len(c[0].Entries) != 2 {
		t.Fatalf("%s", b)
	}
	ptx, elf := c[0].Entries[0], c[0].Entries[1]
	if ptx.Kind != "ptx" || ptx.Arch != "compute_90" || ptx.Version != "9.0" || ptx.Compression != "zstd" ||
		ptx.Image.PTX.Targets[0] != "sm_90" {
		t.Errorf("%+v", ptx)
	}
	// rdc_b defines the kernel bump and the device function mix (names from the linker's messages).
	if elf.Kind != "elf" || elf.Arch != "sm_90" || !elf.Image.Cubin.Relocatable || len(elf.Image.Cubin.Kernels) != 1 ||
		elf.Image.Cubin.Kernels[0].Name != "bump" {
		t.Errorf("%+v", elf)
	}
	var names []string
	for _, f := range elf.Image.Cubin.Functions {
		names = append(names, f.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "_Z3mixii") {
		t.Errorf("device functions %q", names)
	}
}

// FuzzImage drives every entry point with the same bytes: nothing panics, every error has a class, and an
// image found by address alone is the head of the data.
func FuzzImage(f *testing.F) {
	dir := filepath.Join("testdata", "corpus")
	for _, name := range []string{
		"broken/images/ptx_ok.ptx", "broken/images/cubin_ok.cubin", "broken/images/fatbin_ok_compressed.fatbin",
		"modules/rdc_pair/rdc_pair.a", "modules/saxpy/saxpy.ptx_only.fatbin",
		"modules/rdc_pair/rdc_pair.linked.no_inputs.cubin",
	} {
		f.Add(readGzip(f, filepath.Join(dir, filepath.FromSlash(name)+".gz")))
	}
	f.Add([]byte("\x7fTileIR\x00\x0d\x01\x00\x00\x83\x02\x10\xcbab\x00"))
	f.Add([]byte("/* c */ .version 9.0\n.target sm_90a, debug\n.address_size 64\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := func(err error) {
			var c fault.Class
			if err != nil && (!errors.As(err, &c) || c.Result() == 0) {
				t.Fatalf("error without a class: %v", err)
			}
		}
		_, err := image.Inspect(data, "fuzz")
		check(err)
		for _, d := range []image.Device{h200, soft} {
			p, err := image.Resolve(data, d)
			check(err)
			if err == nil && p.Kind == image.Cubin && p.Cubin == nil {
				t.Fatal("cubin without its file")
			}
		}
		mem, base := memory(data)
		im, err := image.Fetch(mem, base)
		check(err)
		if err == nil && im.Kind != image.Fatbin && string(im.Data) != string(data[:len(im.Data)]) {
			t.Fatalf("%v: other bytes", im.Kind)
		}
		image.ScanPTX(data)
	})
}
