package tileir

import (
	"errors"
	"runtime/metrics"
	"testing"
)

// allocated is how many bytes the program has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// What reading, checking and printing may allocate: an operation of a few bytes becomes values, names and a line of
// text.
const (
	allocPerByte = 4 << 10
	allocBase    = 32 << 20
	fuzzText     = 1 << 20
)

// try does all there is to do with any bytes. It says whether they are a valid module.
func try(t testing.TB, data []byte) bool {
	t.Helper()
	before := allocated()
	m, err := Parse(data)
	if err == nil {
		err = m.Verify()
	}
	valid := err == nil
	if valid {
		_, err = m.text(fuzzText)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Class != TooLarge) {
			t.Errorf("a verified module cannot be printed: %v", err)
		}
		for _, f := range m.Funcs {
			walk(t, m, f)
		}
	}
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%T is no *Error: %v", err, err)
	}
	if e != nil && (e.Offset > uint64(len(data)) || e.Words == "" || e.Class == 0) {
		t.Errorf("%#v in %d bytes", e, len(data))
	}
	if n := allocated() - before; n > uint64(len(data))*allocPerByte+allocBase {
		t.Errorf("%d bytes allocated for %d", n, len(data))
	}
	return valid
}

// walk asks for everything that a lowering would.
func walk(t testing.TB, m *Module, f *Func) {
	b, err := f.Body()
	if err != nil {
		t.Fatal(err)
	}
	m.Location(f.Loc)
	var block func(*Block)
	block = func(b *Block) {
		for _, o := range b.Ops {
			m.Location(o.Loc)
			n := 0
			for i := range o.Info().Operands {
				n += len(o.Group(i))
			}
			if n != len(o.Operands) {
				t.Errorf("%s: groups have %d operands of %d", o.Code, n, len(o.Operands))
			}
			if o.Extra != nil && o.Extra.Constant != nil {
				o.Extra.Constant.Bits(o.Extra.Constant.Type.Elements() - 1)
			}
			for _, r := range o.Regions {
				for _, inner := range r.Blocks {
					block(inner)
				}
			}
		}
	}
	block(b)
}

// FuzzModule: no bytes make the package panic or take memory out of proportion, and what is verified can be printed.
func FuzzModule(f *testing.F) {
	r := load(f, kept)
	for i, m := range r.Modules {
		if i%8 == 0 && m.Code[1] < 4096 {
			f.Add(cut(r.modules, m.Code))
		}
	}
	for i, m := range r.Bad {
		if i%4 == 0 && m.Code[1] < 2048 {
			f.Add(cut(r.bad, m.Code))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { try(t, data) })
}

// FuzzSections changes what is in the sections and leaves the frame whole: most changes of a file break its frame, and
// nothing more is read.
func FuzzSections(f *testing.F) {
	r := load(f, kept)
	for i, m := range r.Modules {
		c := cursor{data: cut(r.modules, m.Code)}
		var mod Module
		s, err := mod.sections(&c)
		if err != nil {
			f.Fatal(err)
		}
		if i%4 != 0 || m.Code[1] > 3000 {
			continue
		}
		var parts [numSections][]byte
		for id := range s {
			if s[id] != nil {
				parts[id] = s[id].data
			}
		}
		f.Add(mod.Minor, parts[sectionString], parts[sectionFunc], parts[sectionDebug], parts[sectionConstant],
			parts[sectionType], parts[sectionGlobal])
	}
	f.Fuzz(func(t *testing.T, minor byte, strings, funcs, debug, constants, types, globals []byte) {
		b := frame(minor%MaxMinor+1, [numSections][]byte{sectionString: strings, sectionFunc: funcs,
			sectionDebug: debug, sectionConstant: constants,
			sectionType: types, sectionGlobal: globals})
		try(t, b)
	})
}

// TestPrefixes cuts modules off at every byte.
func TestPrefixes(t *testing.T) {
	r := load(t, kept)
	for i, m := range r.Modules {
		code := cut(r.modules, m.Code)
		if i%40 != 0 || len(code) > 4096 {
			continue
		}
		for n := range code {
			if try(t, code[:n:n]) {
				t.Errorf("%s: %d bytes of %d are a module", m.Name, n, len(code))
			}
		}
		if !try(t, code) {
			t.Errorf("%s is no module", m.Name)
		}
	}
}

// TestBytes changes each byte of some modules to some others.
func TestBytes(t *testing.T) {
	r := load(t, kept)
	for i, m := range r.Modules {
		code := cut(r.modules, m.Code)
		if i%60 != 0 || len(code) > 2048 {
			continue
		}
		for n := range code {
			b := append([]byte(nil), code...)
			for _, v := range []byte{0, 1, code[n] + 1, code[n] - 1, 0x7f, 0x80, 0xff} {
				b[n] = v
				try(t, b)
			}
		}
	}
}
