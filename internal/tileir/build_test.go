package tileir

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// file makes a Tile IR file out of the records of its tables. The function k has the last type.
type file struct {
	minor byte
	types [][]byte
	body  []byte
}

func uv(vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// frame makes a file of sections; empty ones are left out.
func frame(minor byte, sections [numSections][]byte) []byte {
	b := append([]byte(Magic), Major, minor, 0, 0)
	for id, data := range sections {
		if len(data) == 0 {
			continue
		}
		b = append(b, byte(id)|0x80)
		b = append(b, uv(uint64(len(data)), 8)...)
		for len(b)%8 != 0 {
			b = append(b, 0xcb)
		}
		b = append(b, data...)
	}
	return append(b, sectionEnd)
}

// records makes a table of records.
func records(size int, list [][]byte) []byte {
	t := uv(uint64(len(list)))
	for len(t)%size != 0 {
		t = append(t, 0xcb)
	}
	at := uint64(0)
	for _, r := range list {
		if size == 4 {
			t = binary.LittleEndian.AppendUint32(t, uint32(at))
		} else {
			t = binary.LittleEndian.AppendUint64(t, at)
		}
		at += uint64(len(r))
	}
	return append(t, slices.Concat(list...)...)
}

func (f *file) bytes() []byte {
	fn := uv(1, 0, uint64(len(f.types)-1))
	fn = append(fn, funcEntry, 0)
	s := [numSections][]byte{
		sectionString: records(4, [][]byte{[]byte("k")}),
		sectionType:   records(4, f.types),
		sectionFunc:   append(append(fn, uv(uint64(len(f.body)))...), f.body...),
	}
	return frame(f.minor, s)
}

var i32 = []byte{3}

func tile(elem uint64, dims ...uint64) []byte {
	b := append([]byte{tagTile}, uv(elem, uint64(len(dims)))...)
	for _, d := range dims {
		b = binary.LittleEndian.AppendUint64(b, d)
	}
	return b
}

var returns = []byte{byte(Return), 0, 0}

// tooLarge reports whether an error is of class TooLarge.
func tooLarge(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == TooLarge
}

// TestNesting: types, attributes and regions that nest without end are refused, not followed.
func TestNesting(t *testing.T) {
	t.Run("types", func(t *testing.T) {
		f := file{minor: 1, body: returns}
		for i := range uint64(1 << 16) {
			f.types = append(f.types, append([]byte{tagFunction}, uv(1, i+1, 0)...))
		}
		f.types = append(f.types, i32, append([]byte{tagFunction}, uv(1, 0, 0)...))
		if _, err := check(f.bytes()); !tooLarge(err) {
			t.Error(err)
		}
	})
	t.Run("regions", func(t *testing.T) {
		f := file{minor: 1, types: [][]byte{{tagFunction, 0, 0}}}
		for range 1 << 16 {
			f.body = append(f.body, byte(Loop), 0, 0, 1, 1, 0, 1)
		}
		if _, err := check(f.bytes()); !tooLarge(err) {
			t.Error(err)
		}
	})
	t.Run("attributes", func(t *testing.T) {
		f := file{minor: 1, types: [][]byte{i32, tile(0), append([]byte{tagFunction}, uv(1, 1, 0)...)}}
		f.body = append([]byte{byte(Assume), 1}, slices.Repeat([]byte{byte(ArrayValue), 1}, 1<<16)...)
		if _, err := check(f.bytes()); !tooLarge(err) {
			t.Error(err)
		}
	})
}

// TestTypeWithinItself: a type that is part of itself is no type.
func TestTypeWithinItself(t *testing.T) {
	f := file{minor: 1, body: returns, types: [][]byte{append([]byte{tagFunction}, uv(1, 0, 0)...)}}
	_, err := check(f.bytes())
	if err == nil || !strings.Contains(err.Error(), "failed to get parameter type") {
		t.Error(err)
	}
}

// TestLongText: a short module whose text is longer than any limit is refused by the printer, after little work. Types
// double in text with each of 60 levels, and a name grows with each assume.
func TestLongText(t *testing.T) {
	f := file{minor: 1, types: [][]byte{{tagFunction, 0, 0}}}
	for i := range uint64(60) {
		f.types = append(f.types, append([]byte{tagFunction}, uv(2, i, i, 0)...))
	}
	bools := uint64(len(f.types))
	f.types = append(f.types, []byte{0}, tile(bools), append([]byte{tagFunction}, uv(1, bools+1, 0)...))
	// if of an argument, with a result of the long type; both parts return.
	part := append([]byte{1, 0, 1}, returns...)
	f.body = slices.Concat([]byte{byte(If), 1}, uv(bools-1), []byte{0, 2}, part, part, returns)
	b := f.bytes()
	m, err := Parse(b)
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.text(1 << 20); !tooLarge(err) {
		t.Error(err)
	}

	f = file{minor: 1, types: [][]byte{i32, tile(0), append([]byte{tagFunction}, uv(1, 1, 0)...)}}
	for i := range uint64(20000) {
		f.body = append(append(f.body, byte(Assume), 1, byte(BoundedValue), 0), uv(i)...)
	}
	f.body = append(f.body, returns...)
	if m, err = Parse(f.bytes()); err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.text(1 << 20); !tooLarge(err) {
		t.Error(err)
	}
}

// TestTypesAreOne: equal types of a module are one object, whatever their records.
func TestTypesAreOne(t *testing.T) {
	f := file{minor: 1, body: returns, types: [][]byte{i32, i32, tile(0), tile(1), tile(0, 1),
		append([]byte{tagFunction}, uv(3, 2, 3, 4, 0)...)}}
	m, err := Parse(f.bytes())
	if err != nil {
		t.Fatal(err)
	}
	p := m.Funcs[0].Params()
	if p[0] != p[1] || p[0] == p[2] {
		t.Errorf("%v", p)
	}
}

// TestBodiesTogether decodes functions of one module from several goroutines.
func TestBodiesTogether(t *testing.T) {
	r := load(t, kept)
	for _, m := range r.Modules {
		if !strings.HasPrefix(m.Name, "versions.all") {
			continue
		}
		mod, err := Parse(cut(r.modules, m.Code))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, f := range mod.Funcs {
			for range 2 {
				wg.Go(func() {
					if _, err := f.Body(); err != nil {
						t.Errorf("%s: %v", f.Name, err)
					}
				})
			}
		}
		wg.Wait()
	}
}

// TestLocation asks for the places of the recorded modules with debug records; file, lines and inlining are those that
// they were made with (../shared/tileir, family debug).
func TestLocation(t *testing.T) {
	r := load(t, kept)
	for _, m := range r.Modules {
		if m.Name != "debug.lines.13.1" && m.Name != "debug.lines.13.5" {
			continue
		}
		mod, err := Parse(cut(r.modules, m.Code))
		if err != nil {
			t.Fatal(err)
		}
		b, err := mod.Funcs[0].Body()
		if err != nil {
			t.Fatal(err)
		}
		at := func(i int) Location {
			l, ok := mod.Location(b.Ops[i].Loc)
			if !ok {
				t.Errorf("%s: operation %d has no place", m.Name, i)
			}
			return l
		}
		if l := at(0); l.File != "a.py" || l.Line != 5 || l.Column != 1 || l.Function != "k" || l.Caller != 0 {
			t.Errorf("%s: %+v", m.Name, l)
		}
		inlined := at(6)
		if inlined.Line != 33 || inlined.Function != "inlined" || inlined.Caller == 0 {
			t.Errorf("%s: %+v", m.Name, inlined)
		}
		if l, ok := mod.Location(inlined.Caller); !ok || l.Line != 9 || l.Column != 12 {
			t.Errorf("%s: called from %+v", m.Name, l)
		}
	}
}

// TestTable holds the table of operations together: opcodes in the order of versions, formats that name what there is.
func TestTable(t *testing.T) {
	since := uint8(0)
	for _, c := range Opcodes() {
		i := c.Info()
		if i.Since < since {
			t.Errorf("%s is older than an operation with a lower opcode", c)
		}
		since = i.Since
		if uint64(c) > lastOpcode[i.Since] {
			t.Errorf("%s: opcode %#x, the last of 13.%d is %#x", c, uint8(c), i.Since, lastOpcode[i.Since])
		}
		for _, r := range i.Rules {
			for _, s := range r.Slots {
				has := func(x Slot) bool { return x.Name == s }
				if !slices.ContainsFunc(i.Operands, has) && !slices.ContainsFunc(i.Results, has) {
					t.Errorf("%s: rule about %q", c, s)
				}
			}
		}
	}
	if n := len(Opcodes()); n != 105 {
		t.Errorf("%d operations", n) // 108 of 13.5 without entry, global and module, which stand in no body
	}
}
