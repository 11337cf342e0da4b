package tileir

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Magic starts a Tile IR file.
const Magic = "\x7fTileIR\x00"

// The sections of a file.
const (
	sectionEnd = iota
	sectionString
	sectionFunc
	sectionDebug
	sectionConstant
	sectionType
	sectionGlobal
	sectionProducer // 13.3
	numSections
)

// sectionAlign is the least alignment that a section must declare.
var sectionAlign = [numSections]uint64{sectionString: 4, sectionType: 4, sectionConstant: 8, sectionDebug: 8,
	sectionFunc: 8}

// Parse takes a file apart, all but the bodies of its functions. Errors are *Error.
func Parse(data []byte) (*Module, error) {
	c := cursor{data: data}
	m := &Module{}
	sections, err := m.sections(&c)
	if err != nil {
		return nil, err
	}
	if err := m.readTables(&c, &sections); err != nil {
		return nil, err
	}
	var list []globalRecord
	if s := sections[sectionGlobal]; s != nil {
		if list, err = m.globalRecords(s); err != nil {
			return nil, orFail(err, &c, "failed to parse global section")
		}
	}
	s := sections[sectionFunc]
	if s == nil {
		return nil, c.fail("function section is mandatory")
	}
	records, err := m.funcRecords(s)
	if err != nil {
		return nil, orFail(err, &c, "failed to parse function section")
	}
	if s := sections[sectionDebug]; s != nil {
		if m.debug, err = readDebug(s); err != nil {
			return nil, err
		}
	}
	if err := m.makeGlobals(list, &c); err != nil {
		return nil, err
	}
	if err := m.makeFuncs(records, &c); err != nil {
		return nil, err
	}
	return m, nil
}

// errSilent is what a reader of a part returns when NVIDIA's prints nothing there: the caller says what failed.
var errSilent = fmt.Errorf("part cannot be read")

// orFail replaces a silent error.
func orFail(err error, c *cursor, words string) error {
	if err == errSilent {
		return c.fail("%s", words)
	}
	return err
}

// sections reads the header and finds the sections. Where one occurs twice, the last counts.
func (m *Module) sections(c *cursor) (s [numSections]*cursor, err error) {
	if err := m.header(c); err != nil {
		return s, err
	}
	for {
		id, ok := c.byte()
		if !ok {
			return s, c.fail("unexpected end of data while reading section header")
		}
		aligned := id&0x80 != 0
		id &= 0x7f
		if id == sectionEnd {
			switch {
			case aligned:
				return s, c.fail("end section should not have alignment flag set")
			case c.left() != 0:
				return s, c.fail("end section is not the last section")
			}
			return s, nil
		}
		if id >= numSections {
			return s, c.fail("unknown section ID: %d", id)
		}
		length, ok := c.varint()
		if !ok {
			return s, c.fail("failed to read section length")
		}
		if length > c.left() {
			return s, c.fail("section length %d exceeds remaining data size %d", length, c.left())
		}
		align := uint64(1)
		if aligned {
			if align, ok = c.varint(); !ok {
				return s, c.fail("failed to parse section header")
			}
			if align == 0 || align&(align-1) != 0 {
				return s, c.fail("invalid alignment value: %d", align)
			}
			if !c.pad(align) {
				return s, c.fail("failed to parse section header")
			}
		}
		if need := sectionAlign[id]; need != 0 && (!aligned || align%need != 0) {
			has := "has no alignment flag set"
			if aligned {
				has = fmt.Sprintf("has alignment of %d", align)
			}
			return s, c.fail("section %d must have alignment that is a multiple of %d bytes, but %s", id, need, has)
		}
		at := c.at
		if _, ok := c.bytes(length); !ok {
			return s, c.fail("section length %d exceeds remaining bytecode data. %d", length, c.left())
		}
		sub := c.sub(at, int(length))
		s[id] = &sub
	}
}

func (m *Module) header(c *cursor) error {
	if !strings.HasPrefix(string(c.data[:min(len(c.data), len(Magic))]), Magic) {
		return c.bare(Malformed, "input does not correspond to Tile IR bytecode")
	}
	c.at = len(Magic)
	major, _ := c.byte()
	minor, _ := c.byte()
	tag, ok := c.bytes(2)
	if !ok {
		return c.fail("failed to parse bytecode header")
	}
	t := binary.LittleEndian.Uint16(tag)
	version := func(format string, args ...any) error {
		e := c.fail(format, args...)
		e.Class = Version
		return e
	}
	if major != Major || minor < MinMinor || minor > MaxMinor {
		return version("unsupported Tile version %d.%d.%d, this reader supports versions [%d.%d - %d.%d]", major, minor,
			t, Major, MinMinor, Major, MaxMinor)
	}
	switch {
	case t&^1 != 0:
		return version("header has unrecognized version tag bits (%#04x);", t&^1)
	case t != 0 && minor != MaxMinor:
		return version("public-preview bytecode at version %d.%d.%d is not readable; preview content is only valid at the current version %d.%d",
			major, minor, t, Major, MaxMinor)
	case t != 0:
		return version("preview content is not supported")
	}
	m.Minor = minor
	return nil
}

// readTables reads strings, producer, types and constants.
func (m *Module) readTables(c *cursor, sections *[numSections]*cursor) (err error) {
	if s := sections[sectionString]; s == nil {
		return c.fail("string section is mandatory")
	} else if m.strings, err = readStrings(s); err != nil {
		return orFail(err, c, "failed to parse string section")
	}
	if s := sections[sectionProducer]; s != nil {
		i, ok := s.varint()
		if !ok {
			return c.fail("failed to parse producer section")
		}
		if m.Producer, err = m.strings.get(i, s); err != nil {
			return err
		}
	}
	if s := sections[sectionType]; s != nil {
		if m.types, err = readTypes(s, m.Minor); err != nil {
			return orFail(err, c, "failed to parse type section")
		}
	}
	if s := sections[sectionConstant]; s != nil {
		if m.constants, err = readConstants(s); err != nil {
			return orFail(err, c, "failed to parse constant section")
		}
	}
	return nil
}

// table is a counted list of records with an array of their starts in front.
type table struct {
	starts cursor // the array, size bytes each
	size   uint64
	n      uint64
	data   cursor
}

// start is where record i begins in the data.
func (t *table) start(i uint64) uint64 {
	if t.size == 4 {
		return uint64(binary.LittleEndian.Uint32(t.starts.data[i*4:]))
	}
	return binary.LittleEndian.Uint64(t.starts.data[i*8:])
}

// record gives record i; ok is false when its bounds are wrong. The end of a record is the start of the next.
func (t *table) record(i uint64) (cursor, bool) {
	if i >= t.n {
		return cursor{}, false
	}
	start, end := t.start(i), uint64(len(t.data.data))
	if i+1 < t.n {
		end = t.start(i + 1)
	}
	if end < start || end > uint64(len(t.data.data)) {
		return cursor{}, false
	}
	return t.data.sub(int(start), int(end-start)), true
}

// readTable reads the number of records and their starts; what is the word for the records in messages.
func readTable(c *cursor, size uint64, what string) (t table, err error) {
	t.size = size
	n, fits, ok := c.count(size)
	switch {
	case !ok:
		return t, errSilent
	case n == 0:
		return t, nil
	case !fits:
		return t, c.fail("number of %s (%d) exceeds the maximum of %d that can fit in the remaining payload of %d bytes.", what, n, c.left()/size, c.left())
	case !c.pad(size):
		return t, errSilent
	}
	at := c.at
	if _, ok := c.bytes(n * size); !ok {
		return t, errSilent
	}
	t.n = n
	t.starts = c.sub(at, int(n*size))
	t.data = c.sub(c.at, len(c.data)-c.at)
	return t, nil
}

// stringTable is the string section.
type stringTable struct{ table }

func readStrings(c *cursor) (stringTable, error) {
	t, err := readTable(c, 4, "strings")
	return stringTable{t}, err
}

// get gives a string; c is where the index was read.
func (t *stringTable) get(i uint64, c *cursor) (string, error) {
	if i >= t.n {
		return "", c.bare(Malformed, "string index %d out of bounds", i)
	}
	// NVIDIA's reader takes a start beyond the data for the end, and what would end before it starts for the rest.
	start, end := t.start(i), uint64(len(t.data.data))
	if i+1 < t.n {
		end = t.start(i + 1)
	}
	all := uint64(len(t.data.data))
	start = min(start, all)
	if end < start || end > all {
		end = all
	}
	return string(t.data.data[start:end]), nil
}

func readConstants(c *cursor) ([]cursor, error) {
	n, ok := c.varint()
	switch {
	case !ok:
		return nil, errSilent
	case n >= 1<<32-1:
		return nil, c.fail("varint value exceeds maximum supported capacity. (expected value less than %d, got %d).",
			1<<32-2, n)
	case n == 0:
		return nil, nil
	case !c.pad(8):
		return nil, errSilent
	case n > c.left()/8:
		return nil, c.fail("insufficient data for constant indices")
	}
	at := c.at
	c.at += int(n * 8)
	t := table{starts: c.sub(at, int(n*8)), size: 8, n: n, data: c.sub(c.at, len(c.data)-c.at)}
	out := make([]cursor, n)
	for i := range out {
		start, end := t.start(uint64(i)), uint64(len(t.data.data))
		if uint64(i)+1 < n {
			end = t.start(uint64(i) + 1)
		}
		if end < start {
			return nil, c.fail("invalid constant start indices: end (%d) is less than start (%d) for constant %d", end,
				start, i)
		}
		if end > uint64(len(t.data.data)) {
			return nil, c.fail("constant %d extends beyond available data: size=%d, start=%d, total data size=%d", i,
				end-start, start, len(t.data.data))
		}
		out[i] = t.data.sub(int(start), int(end-start))
	}
	return out, nil
}

// globalRecord is a record of the global section.
type globalRecord struct {
	name, typ, constant, align, visibility uint64
	isConstant                             bool
	at                                     cursor
}

func (m *Module) globalRecords(c *cursor) ([]globalRecord, error) {
	n, fits, ok := c.count(4)
	if !ok {
		return nil, c.fail("failed to read number of global.")
	}
	if !fits {
		return nil, c.fail("number of globals (%d) exceeds the maximum of %d that can fit in the remaining payload of %d bytes.", n, c.left()/4, c.left())
	}
	out := make([]globalRecord, n)
	for i := range out {
		g := &out[i]
		g.at = *c
		for _, f := range []struct {
			to   *uint64
			what string
		}{{&g.name, "global symbol name string."}, {&g.typ, "global value type"},
			{&g.constant, "global value constant index"}, {&g.align, "global alignment"}} {
			if *f.to, ok = c.varint(); !ok {
				return nil, c.fail("failed to read %s", f.what)
			}
		}
		if m.Minor < 3 {
			continue
		}
		if g.visibility, ok = c.varint(); !ok {
			return nil, c.fail("failed to read VarInt for enum attribute.")
		}
		constant, ok := c.varint()
		if !ok {
			return nil, c.fail("failed to read global constant flag")
		}
		g.isConstant = constant != 0
	}
	return out, nil
}

func (m *Module) makeGlobals(list []globalRecord, c *cursor) error {
	m.Globals = make([]Global, len(list))
	for i := range list {
		r := &list[i]
		if r.constant >= uint64(len(m.constants)) {
			return c.fail("global value constant index out of bounds")
		}
		name, err := m.strings.get(r.name, &r.at)
		if err != nil {
			return err
		}
		if name == "" {
			return c.fail("global symbol name at index %d is empty", r.name)
		}
		t, err := m.types.get(r.typ)
		if err != nil {
			return err
		}
		value, err := m.constant(t, r.constant)
		if err != nil {
			return err
		}
		if r.visibility >= uint64(len(visibilityNames)) {
			return c.fail("invalid symbol visibility value: %d", r.visibility)
		}
		m.Globals[i] = Global{Name: name, Value: value, Align: r.align, Visibility: Visibility(r.visibility),
			Constant: r.isConstant, Offset: r.at.base + uint64(r.at.at)}
	}
	return nil
}

// funcRecord is a record of the function section.
type funcRecord struct {
	name, typ, loc uint64
	flags          byte
	hints          *Attr
	body           cursor
	at             cursor
}

// The flags of a function record.
const (
	funcPrivate  = 1
	funcEntry    = 2
	funcHasHints = 4     // before 13.5
	funcForm     = 4 | 8 // from 13.5 on
)

func (m *Module) funcRecords(c *cursor) ([]funcRecord, error) {
	n, ok := c.varint()
	if !ok {
		return nil, errSilent
	}
	if n > uint64(len(c.data)) {
		return nil, c.fail("number of functions (%d) exceeds payload size (%d)", n, len(c.data))
	}
	var out []funcRecord
	for range n {
		r := funcRecord{at: *c}
		var ok1, ok2, ok3, ok4 bool
		r.name, ok1 = c.varint()
		r.typ, ok2 = c.varint()
		r.flags, ok3 = c.byte()
		if !ok1 || !ok2 || !ok3 {
			return nil, errSilent
		}
		if r.loc, ok4 = c.varint(); !ok4 {
			return nil, errSilent
		}
		if words := flagWords(r.flags, m.Minor); words != "" {
			return nil, c.fail("function entry %s", words)
		}
		if err := m.funcAttributes(c, &r); err != nil {
			return nil, err
		}
		length, ok := c.varint()
		if !ok {
			return nil, errSilent
		}
		if length > c.left() {
			return nil, c.fail("function body length %d exceeds remaining bytecode data (%d bytes)", length, c.left())
		}
		r.body = c.sub(c.at, int(length))
		c.at += int(length)
		out = append(out, r)
	}
	return out, nil
}

// flagWords says what is wrong with the flags of a function record, "" when nothing is.
func flagWords(flags byte, minor uint8) string {
	known := byte(funcPrivate | funcEntry | funcHasHints)
	if minor >= 5 {
		known = funcPrivate | funcEntry | funcForm
	}
	form := flags & funcForm >> 2
	switch {
	case minor < 4:
		return ""
	case flags&^known != 0:
		return fmt.Sprintf("has unrecognized flag bits (0x%X);", flags&^known)
	case minor < 5:
		return ""
	case form == 1 && flags&funcEntry != 0:
		return "cannot be both kernel and extern impl"
	case form == 2:
		return "has testing form in non-test build"
	case form == 3:
		return "has reserved form value"
	}
	return ""
}

// funcAttributes reads what stands between location and length: hints, and from 13.5 on attributes of the parameters.
func (m *Module) funcAttributes(c *cursor, r *funcRecord) error {
	entry := r.flags&funcEntry != 0
	d := decoder{m: m, c: c}
	if entry && (r.flags&funcHasHints != 0 || m.Minor >= 5) {
		a, err := d.tagged()
		if err != nil {
			return err
		}
		r.hints = a
	}
	if m.Minor >= 5 {
		if _, err := d.tagged(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) makeFuncs(records []funcRecord, c *cursor) error {
	for i := range records {
		r := &records[i]
		name, err := m.strings.get(r.name, &r.at)
		if err != nil {
			return err
		}
		if name == "" {
			return c.fail("function name at index %d is empty", r.name)
		}
		if r.typ >= m.types.n {
			return c.fail("function signature index %d out of bounds for function '%s'", r.typ, name)
		}
		t, err := m.types.get(r.typ)
		if err != nil {
			return err
		}
		if t == nil {
			return c.fail("failed to parse type at index %d for function '%s", r.typ, name)
		}
		if t.Kind != Function {
			return c.fail("function signature index %d does not refer to a function type for function '%s', got type: '%s'", r.typ, name, t)
		}
		f := &Func{Name: name, Type: t, Private: r.flags&funcPrivate != 0, Entry: r.flags&funcEntry != 0,
			Hints: r.hints, module: m, body: r.body,
			Offset: r.at.base + uint64(r.at.at)}
		f.locs = m.debug.list(r.loc)
		var ok bool
		if f.Loc, ok, err = m.nextLoc(&f.locs); err != nil {
			return err
		} else if !ok {
			return c.fail("failed to read function location for '%s'", name)
		}
		if f.Hints != nil && f.Hints.Kind != HintsValue {
			return c.fail("invalid optimization hints attribute for function '%s'", name)
		}
		m.Funcs = append(m.Funcs, f)
	}
	return nil
}

// enumeration reads the number of an enumeration with n members.
func enumeration(c *cursor, n int) (uint8, error) {
	v, ok := c.varint()
	if !ok {
		return 0, c.fail("failed to read VarInt for enum attribute.")
	}
	if uint32(v) >= uint32(n) {
		return 0, c.fail("invalid integer value for enum type: %d", uint32(v))
	}
	return uint8(v), nil
}
