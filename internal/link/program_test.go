package link

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/elf64"
)

// wrap makes an image whose section holds a program of the given units, sound up to the checksum.
func wrap(flags, count uint32, body []byte) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), programMark...)
	for _, x := range []uint32{flags, 90, count, crc32.ChecksumIEEE(body)} {
		b = le.AppendUint32(b, x)
	}
	w := &elfWriter{}
	w.section(Section, elf64.SHTProgbits, 0, append(b, body...), 0, 0, 8)
	return w.bytes(90)
}

// body is the units part of a program.
func body(units ...stored) []byte {
	var b []byte
	for _, u := range units {
		if u.compile != (Compile{}) {
			b = u.compile.append(b)
		}
		for _, n := range []int{len(u.name), len(u.member), len(u.text)} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		b = append(append(append(b, u.name...), u.member...), u.text...)
	}
	return b
}

const text = ".version 9.0\n.target sm_90\n.address_size 64\n"

// TestProgramForm: what a section with a right checksum may and may not hold.
func TestProgramForm(t *testing.T) {
	a := stored{"a", "m.o", []byte(text + ".visible .entry k() { ret; }\n"), Compile{}}
	b := stored{"b", "", []byte(text + ".visible .global .u32 v;\n"), Compile{}}
	sound := body(a, b)
	p, err := Load(wrap(0, 2, sound), Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Units) != 2 || p.Units[0].Name != "a" || p.Units[0].Member != "m.o" || p.Kernel("k") == nil ||
		p.Variable("v") == nil {
		t.Errorf("%d units, kernels %v", len(p.Units), p.Kernels)
	}
	if p, err := Load(wrap(0, 0, nil), Options{SM: 90}); err != nil || len(p.Kernels) != 0 {
		t.Errorf("an empty program: %v", err)
	}
	for name, img := range map[string][]byte{
		"fewer units than counted":  wrap(0, 3, sound),
		"more units than counted":   wrap(0, 1, sound),
		"a count beyond all bounds": wrap(0, 1<<32-1, sound),
		"a length beyond the end":   wrap(0, 1, binary.LittleEndian.AppendUint32(nil, 1<<32-1)),
		"lengths that overflow":     wrap(0, 1, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
		"an unknown flag":           wrap(8, 2, sound),
		"no room for options":       wrap(flagCompile, 1, make([]byte, 15)),
		"unknown options": wrap(flagCompile, 1,
			append(make([]byte, 12), 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
	} {
		var e *Error
		if _, err := Load(img, Options{SM: 90}); !errors.As(err, &e) || e.Class != Image ||
			e.Result().String() != "CUDA_ERROR_INVALID_IMAGE" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A program that contradicts itself fails as its link would.
	if _, err := Load(wrap(0, 2, body(a, a)), Options{SM: 90}); !errors.Is(err, Duplicate) {
		t.Errorf("the same unit twice: %v", err)
	}
	if _, err := Load(wrap(0, 1, body(stored{"a", "", []byte("text"), Compile{}})), Options{SM: 90}); !errors.Is(err,
		PTX) {
		t.Errorf("no PTX: %v", err)
	}
}

// TestProgramCompile: how a unit was compiled stays with it in an image, and in the image of that.
func TestProgramCompile(t *testing.T) {
	one := Compile{MaxRegisters: 32, MaxThreads: 128, MinBlocks: 2, Override: true}
	two := Compile{NoContract: true}
	img := wrap(flagCompile, 2, body(stored{"a", "", []byte(text + ".visible .entry k() { ret; }\n"), one},
		stored{"b", "", []byte(text + ".visible .entry l() { ret; }\n"), two}))
	for range 2 {
		p, err := Load(img, Options{SM: 90, Compile: Compile{MaxRegisters: 99}})
		if err != nil {
			t.Fatal(err)
		}
		if k, l := p.Compile(p.Kernel("k")), p.Compile(p.Kernel("l")); k != one || l != two {
			t.Errorf("%+v and %+v", k, l)
		}
		s := p.Symbols(0, 0)
		if s.NoContract(p.Kernel("k")) || !s.NoContract(p.Kernel("l")) {
			t.Error("mul and add stay apart in the wrong unit")
		}
		img = p.Image()
		f, err := cubin.Parse(img)
		if err != nil {
			t.Fatal(err)
		}
		if k, l := f.Kernel("k"), f.Kernel("l"); k.MaxRegisters != 32 || l.MaxRegisters != 0 {
			t.Errorf("the ELF says %d and %d registers", k.MaxRegisters, l.MaxRegisters)
		}
	}
}

// FuzzProgram gives any units to Load behind a right checksum.
func FuzzProgram(f *testing.F) {
	f.Add(uint32(0), uint32(1), body(stored{"a", "",
		[]byte(text + ".visible .func f() { ret; }\n.visible .entry k() { call f; ret; }\n"), Compile{}}))
	f.Add(uint32(1), uint32(2), body(stored{"a", "", []byte(text + ".extern .global .u32 v;\n.global .u64 p = v;\n"),
		Compile{}}, stored{"b", "m", []byte(text + ".common .global .u32 v;\n"), Compile{}}))
	f.Add(uint32(4), uint32(1), body(stored{"a", "", []byte(text + ".visible .entry k() { ret; }\n"),
		Compile{MaxRegisters: 32, Override: true}}))
	f.Fuzz(func(t *testing.T, flags, count uint32, b []byte) {
		p, err := Load(wrap(flags&7, count%8, b), Options{SM: 90})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Result() == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		q, err := Load(p.Image(), Options{SM: 90})
		if err != nil || len(q.Kernels) != len(p.Kernels) || len(q.Variables) != len(p.Variables) {
			t.Fatalf("after a round trip: %v", err)
		}
	})
}
