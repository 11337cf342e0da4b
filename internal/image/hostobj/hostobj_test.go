package hostobj_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/hostobj"
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

// A program built by nvcc -rdc=true: the device linker's image under a version 2 wrapper, the
// translation unit under a version 1 wrapper (sections and relocations read with readelf).
func TestProgram(t *testing.T) {
	f, err := hostobj.Parse(kept(t, "host/hostprog_rdc"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Format != "elf" || f.Machine != "x86-64" || f.Type != "executable" || len(f.ModuleIDs) == 0 {
		t.Errorf("%+v", f)
	}
	if len(f.Containers) != 2 {
		t.Fatalf("%d containers", len(f.Containers))
	}
	linked, unit := f.Containers[0], f.Containers[1]
	if linked.Section != ".nv_fatbin" || linked.Relocatable || linked.Wrapper != 2 || linked.Offset != 0x3110 {
		t.Errorf("linked image: %+v", linked)
	}
	if unit.Section != "__nv_relfatbin" || !unit.Relocatable || unit.Wrapper != 1 || unit.Offset != 0x4d00 {
		t.Errorf("translation unit: %+v", unit)
	}
	if got := hostobj.ForLinking(f.Containers); len(got) != 1 || got[0].Offset != unit.Offset {
		t.Errorf("for linking: %+v", got)
	}
}

func TestObjectAndArchive(t *testing.T) {
	object := kept(t, "modules/rdc_pair/rdc_a.o")
	f, err := hostobj.Parse(object)
	if err != nil || f.Type != "object" || len(f.Containers) != 1 || !f.Containers[0].Relocatable {
		t.Fatalf("%+v, %v", f, err)
	}
	members, err := hostobj.Members(kept(t, "modules/rdc_pair/rdc_pair.a"))
	if err != nil || len(members) != 1 || members[0].Name != "rdc_b.o" {
		t.Fatalf("%+v, %v", members, err)
	}
	all, err := hostobj.Containers(kept(t, "modules/rdc_pair/rdc_pair.a"))
	if err != nil || len(all) != 1 || all[0].Member != "rdc_b.o" || len(all[0].Entries) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := hostobj.Parse(kept(t, "broken/images/cubin_ok.cubin")); !errors.Is(err, fault.Format) {
		t.Errorf("cubin: %v", err)
	}
}

// member writes one archive member the way ar does (System V and BSD archive format).
func member(name, data string) string {
	s := fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", name, 0, 0, 0, "100644", len(data), data)
	if len(data)%2 == 1 {
		s += "\n"
	}
	return s
}

func TestArchiveNames(t *testing.T) {
	const long = "a_name_longer_than_sixteen.o"
	names := func(ms []hostobj.Member) string {
		var s []string
		for _, m := range ms {
			s = append(s, m.Name+"="+string(m.Data))
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct{ name, in, want string }{
		{"gnu", member("/", "\x00\x00\x00\x00") + member("//", long+"/\nother_long_name.o/\n") + member("/0", "one") +
			member("short.o/", "two") + member("/30", "3"), long + "=one short.o=two other_long_name.o=3"},
		{"64-bit index", member("/SYM64/", "12345678") + member("x.o/", ""), "x.o="},
		{"bsd", member("__.SYMDEF SORTED", "1234") + member("#1/28", long+"body") + member("plain.o", "p"),
			long + "=body plain.o=p"},
		{"bsd index under a long name", member("#1/20", "__.SYMDEF SORTED\x00\x00\x00\x00data") + member("y.o", "1"),
			"y.o=1"},
		{"empty", "", ""},
		{"padding at the end", member("x.o/", "12") + "\n", "x.o=12"},
	} {
		ms, err := hostobj.Members([]byte(hostobj.ArchiveMagic + c.in))
		if err != nil || names(ms) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, names(ms), err, c.want)
		}
	}
	for _, c := range []struct {
		name, in string
		want     fault.Class
	}{
		{"thin", "!<thin>\n" + member("x.o/", ""), fault.Unsupported},
		{"no magic", "hello", fault.Format},
		{"what the driver called an unexpected archive format", hostobj.ArchiveMagic + "nothing", fault.Malformed},
		{"size beyond the file", hostobj.ArchiveMagic + strings.Replace(member("x.o/", "ab"), "2  ", "999", 1),
			fault.Malformed},
		{"no size", hostobj.ArchiveMagic + strings.Replace(member("x.o/", "ab"), "2  ", "x  ", 1), fault.Malformed},
		{"end mark", hostobj.ArchiveMagic + strings.Replace(member("x.o/", "ab"), "`", "'", 1), fault.Malformed},
		{"name beyond the table", hostobj.ArchiveMagic + member("/7", "ab"), fault.Malformed},
		{"bsd name longer than the member", hostobj.ArchiveMagic + member("#1/9", "ab"), fault.Malformed},
	} {
		if ms, err := hostobj.Members([]byte(c.in)); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v; want %v", c.name, names(ms), err, c.want)
		}
	}
}

func container(t testing.TB) []byte {
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: sm.Arch{Number: 75},
		Data: []byte(".version 9.0")}); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// coff writes a COFF object (or, with PE set, a program) of two sections (PE format specification).
func coff(name string, body []byte, pe bool) []byte {
	le := binary.LittleEndian
	var b []byte
	if pe {
		b = make([]byte, 64)
		copy(b, "MZ")
		le.PutUint32(b[60:], 64)
		b = append(b, "PE\x00\x00"...)
	}
	at := len(b)
	const header, row = 20, 40
	data := at + header + 2*row
	end := data + len(body)
	b = le.AppendUint16(b, 0x8664)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, uint32(end)) // symbols: none, then the string table
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, 0)
	field := name
	if len(name) > 8 {
		field = "/4"
	}
	for _, s := range []string{".text", field} {
		b = append(b, (s + "\x00\x00\x00\x00\x00\x00\x00\x00")[:8]...)
		b = le.AppendUint32(b, uint32(len(body)))
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, uint32(len(body)))
		b = le.AppendUint32(b, uint32(data))
		b = append(b, make([]byte, 16)...)
	}
	b = append(b, body...)
	b = le.AppendUint32(b, uint32(4+len(name)+1))
	return append(append(b, name...), 0)
}

func TestCOFF(t *testing.T) {
	box := container(t)
	for _, c := range []struct {
		section string
		pe      bool
		format  string
		reloc   bool
	}{
		{".nv_fatb", true, "pe", false}, {".nv_fatbin", false, "coff", false}, {"__nv_relfatbin", false, "coff", true},
	} {
		data := coff(c.section, box, c.pe)
		f, err := hostobj.Parse(data)
		if err != nil || f.Format != c.format || f.Machine != "x86-64" || len(f.Containers) != 1 ||
			f.Containers[0].Relocatable != c.reloc {
			t.Errorf("%s: %+v, %v", c.section, f, err)
			continue
		}
		if at := f.Containers[0].Offset; !bytes.Equal(data[at:at+uint64(len(box))], box) {
			t.Errorf("%s: container at %#x", c.section, at)
		}
	}
	cut := coff(".nv_fatb", box, true)
	if _, err := hostobj.Parse(cut[:140]); !errors.Is(err, fault.Malformed) {
		t.Errorf("cut off: %v", err)
	}
}

// FuzzContainers holds that no input makes the readers panic or find more than the file holds.
func FuzzContainers(f *testing.F) {
	for _, name := range []string{"modules/rdc_pair/rdc_a.o", "modules/rdc_pair/rdc_pair.a", "host/hostprog_rdc"} {
		f.Add(kept(f, name))
	}
	f.Add(coff(".nv_fatb", container(f), true))
	f.Add(coff("__nv_relfatbin", container(f), false))
	f.Add([]byte(hostobj.ArchiveMagic + member("//", "a_name_longer_than_sixteen.o/\n") + member("/0", "one") +
		member("#1/4", "abcdef")))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := hostobj.Containers(data)
		var c fault.Class
		if err != nil && !errors.As(err, &c) {
			t.Fatalf("error without a class: %v", err)
		}
		if len(all) > len(data)/8 {
			t.Fatalf("%d containers in %d bytes", len(all), len(data))
		}
		hostobj.ForLinking(all)
	})
}
