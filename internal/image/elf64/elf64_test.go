package elf64_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fault"
)

// row is a section of a hand-made file (System V gABI, section header).
type row struct {
	name, typ, link uint32
	off, size       uint64
	entsize         uint64
}

// build writes a file: header, body at offset 64, section table behind it. Row 0 is the null section.
func build(body []byte, names uint16, rows ...row) []byte {
	le := binary.LittleEndian
	b := make([]byte, 64, 64+len(body)+64*len(rows))
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[18:], elf64.MachineX86)
	b = append(b, body...)
	le.PutUint64(b[40:], uint64(len(b)))
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], uint16(len(rows)))
	le.PutUint16(b[62:], names)
	for _, r := range rows {
		h := make([]byte, 64)
		le.PutUint32(h, r.name)
		le.PutUint32(h[4:], r.typ)
		le.PutUint64(h[24:], r.off)
		le.PutUint64(h[32:], r.size)
		le.PutUint32(h[40:], r.link)
		le.PutUint64(h[56:], r.entsize)
		b = append(b, h...)
	}
	return b
}

func TestSymbols(t *testing.T) {
	le := binary.LittleEndian
	table := []byte("\x00.a\x00.sym\x00x\x00") // names: 1 .a, 4 .sym, 9 x
	sym := func(name uint32, shndx uint16) []byte {
		s := make([]byte, 24)
		le.PutUint32(s, name)
		s[4] = 0x12 // global function
		le.PutUint16(s[6:], shndx)
		return s
	}
	body := append([]byte(nil), table...)
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	symAt := uint64(64 + len(body))
	body = append(body, make([]byte, 24)...)
	body = append(body, sym(9, 1)...)
	body = append(body, sym(10, 0xfff1)...) // the empty tail of x; absolute
	body = append(body, sym(9, 0xffff)...)  // index in the extended table
	shAt := symAt + 4*24
	body = append(body, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0)
	rows := []row{{}, {name: 1, typ: elf64.SHTStrtab, off: 64, size: uint64(len(table))},
		{name: 4, typ: elf64.SHTSymtab, off: symAt, size: 4 * 24, link: 1, entsize: 24},
		{typ: elf64.SHTSymtabShndx, off: shAt, size: 16, link: 2, entsize: 4}}
	f, err := elf64.Parse(build(body, 1, rows...))
	if err != nil {
		t.Fatal(err)
	}
	if f.Section(".a") == nil || f.Symtab() == nil || f.Symtab().Name != ".sym" || f.Section("none") != nil {
		t.Errorf("%+v", f.Sections)
	}
	syms, err := f.Symbols(f.Symtab())
	if err != nil || len(syms) != 4 {
		t.Fatalf("%+v, %v", syms, err)
	}
	got := fmt.Sprint(syms[1].Name, syms[1].Section, syms[1].Type(), syms[1].Bind(), syms[2].Name, syms[2].Section,
		syms[3].Section)
	if want := fmt.Sprint("x", 1, 2, 1, "", -1, 2); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, change := range map[string]func([]row){
		"entry size":          func(r []row) { r[2].entsize = 16 },
		"partial symbol":      func(r []row) { r[2].size-- },
		"no string table":     func(r []row) { r[2].link = 9 },
		"names cut off":       func(r []row) { r[1].size = 10 },
		"no extended indexes": func(r []row) { r[3].link = 0 },
	} {
		r := append([]row(nil), rows...)
		change(r)
		f, err := elf64.Parse(build(body, 1, r...))
		if err == nil {
			_, err = f.Symbols(f.Symtab())
		}
		if !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Files that only want to cost time and memory: sections over the same bytes, names into one string.
func TestHostile(t *testing.T) {
	body := make([]byte, 4096)
	for i := range body {
		body[i] = 'x'
	}
	body[len(body)-1] = 0
	overlap := make([]row, 20)
	named := make([]row, 40)
	for i := range overlap {
		overlap[i] = row{typ: elf64.SHTProgbits, off: 64, size: uint64(len(body))}
	}
	for i := range named {
		named[i] = row{typ: elf64.SHTProgbits, name: 1}
	}
	overlap[0], named[0] = row{}, row{}
	named[1] = row{typ: elf64.SHTStrtab, off: 64, size: uint64(len(body))}
	for name, data := range map[string][]byte{"overlap": build(body, 0, overlap...),
		"names": build(body, 1, named...)} {
		if _, err := elf64.Parse(data); !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := elf64.Parse(build(body, 0, overlap[:3]...)); err != nil {
		t.Error("two sections over the same bytes:", err)
	}
}
