package link

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

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
	a := stored{"a", "m.o", []byte(text + ".visible .entry k() { ret; }\n")}
	b := stored{"b", "", []byte(text + ".visible .global .u32 v;\n")}
	sound := body(a, b)
	p, err := Load(wrap(0, 2, sound), Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Units) != 2 || p.Units[0].Name != "a" || p.Units[0].Member != "m.o" || p.Kernel("k") == nil || p.Variable("v") == nil {
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
		"an unknown flag":           wrap(4, 2, sound),
	} {
		var e *Error
		if _, err := Load(img, Options{SM: 90}); !errors.As(err, &e) || e.Class != Image || e.Result() != "CUDA_ERROR_INVALID_IMAGE" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A program that contradicts itself fails as its link would.
	if _, err := Load(wrap(0, 2, body(a, a)), Options{SM: 90}); !errors.Is(err, Duplicate) {
		t.Errorf("the same unit twice: %v", err)
	}
	if _, err := Load(wrap(0, 1, body(stored{"a", "", []byte("text")})), Options{SM: 90}); !errors.Is(err, PTX) {
		t.Errorf("no PTX: %v", err)
	}
}

// FuzzProgram gives any units to Load behind a right checksum.
func FuzzProgram(f *testing.F) {
	f.Add(uint32(0), uint32(1), body(stored{"a", "", []byte(text + ".visible .func f() { ret; }\n.visible .entry k() { call f; ret; }\n")}))
	f.Add(uint32(1), uint32(2), body(stored{"a", "", []byte(text + ".extern .global .u32 v;\n.global .u64 p = v;\n")}, stored{"b", "m", []byte(text + ".common .global .u32 v;\n")}))
	f.Fuzz(func(t *testing.T, flags, count uint32, b []byte) {
		p, err := Load(wrap(flags&3, count%8, b), Options{SM: 90})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Result() == "" {
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
