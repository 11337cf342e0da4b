package tileir

import "encoding/binary"

// Loc is a place in the source, by the number of its debug record; 0 is unknown. Module.Location says what it is.
type Loc uint32

// Location is a place in the source of a kernel.
type Location struct {
	File         string
	Line, Column uint64
	Function     string // the name of the subprogram that it lies in
	// Caller is the place of the call when the function is inlined there, 0 otherwise.
	Caller Loc
}

// debugTag says what a debug record is.
type debugTag uint8

// The tags of debug records.
const (
	debugUnknown debugTag = iota
	debugCompileUnit
	debugFile
	debugLexicalBlock
	debugLoc
	debugSubprogram
	debugCallSite
)

// debugRecord is a record of the debug section. References are numbers of records; those that must be there are.
type debugRecord struct {
	tag          debugTag
	scope        Loc // of a block or location
	file         Loc
	unit         Loc // compile unit of a subprogram
	callee       Loc
	caller       Loc
	name         string // file, subprogram
	directory    string
	linkage      string
	line, column uint64
	scopeLine    uint64
}

// location reports whether a record can be the place of an operation.
func (r *debugRecord) location() bool {
	return r.tag == debugLoc || r.tag == debugCallSite || r.tag == debugUnknown
}

// localScope reports whether a record can be the scope of a location.
func (r *debugRecord) localScope() bool {
	return r.tag == debugLexicalBlock || r.tag == debugSubprogram
}

// debugTable is the debug section.
type debugTable struct {
	lists   cursor // starts of the lists of each function in indices, u32 each
	indices cursor // u64 each
	table          // of records
	records []*debugRecord
	busy    map[uint64]bool
	depth   int
}

func readDebug(c *cursor) (t debugTable, err error) {
	n, ok := c.varint()
	switch {
	case !ok:
		return t, c.fail("failed to read total number of operations with debug info")
	case !c.pad(4):
		return t, c.fail("failed to skip padding for debug info index offset pointer")
	case c.left() == 0:
		return t, c.fail("failed to read debug info index offset pointer.")
	case n > c.left()/4:
		return t, c.fail("failed to skip debug info index offsets")
	}
	t.lists = c.sub(c.at, int(n*4))
	c.at += int(n * 4)
	n, ok = c.varint()
	switch {
	case !ok:
		return t, c.fail("failed to read total number of debug info indices")
	case !c.pad(8):
		return t, c.fail("failed to skip padding for debug info indices pointer")
	case c.left() == 0:
		return t, c.fail("failed to read debug info indices pointer")
	case n > c.left()/8:
		return t, c.fail("number of debug info indices (%d) exceeds the maximum of %d that can fit in the remaining payload of %d bytes.", n, c.left()/8, c.left())
	}
	t.indices = c.sub(c.at, int(n*8))
	c.at += int(n * 8)
	n, ok = c.varint()
	switch {
	case !ok:
		return t, c.fail("failed to read total number of debug info attributes")
	case n > c.left()/4:
		return t, c.fail("number of debug info attributes (%d) exceeds the maximum of %d that can fit in the remaining payload of %d bytes.", n, c.left()/4, c.left())
	case !c.pad(4):
		return t, c.fail("failed to skip padding for debug info offset pointer")
	case c.left() == 0:
		return t, c.fail("failed to read debug info offset pointer")
	case n > c.left()/4:
		return t, c.fail("failed to skip debug info offsets")
	}
	starts := c.sub(c.at, int(n*4))
	c.at += int(n * 4)
	t.table = table{starts: starts, size: 4, n: n, data: c.sub(c.at, len(c.data)-c.at)}
	t.records = make([]*debugRecord, n)
	t.busy = map[uint64]bool{}
	return t, nil
}

// locList walks over the places of a function and its operations.
type locList struct {
	unknown bool // all are
	missing bool // there is no such list
	next    uint64
}

// list gives list L-1 for L > 0; 0 says that no place is known.
func (t *debugTable) list(l uint64) locList {
	switch {
	case l == 0:
		return locList{unknown: true}
	case l-1 >= uint64(len(t.lists.data)/4):
		return locList{missing: true}
	}
	return locList{next: uint64(binary.LittleEndian.Uint32(t.lists.data[(l-1)*4:]))}
}

// nextLoc gives the next place of a list; ok is false when it is missing or no place.
func (m *Module) nextLoc(l *locList) (loc Loc, ok bool, err error) {
	t := &m.debug
	switch {
	case l.unknown:
		return 0, true, nil
	case l.missing || l.next >= uint64(len(t.indices.data)/8):
		return 0, false, nil
	}
	i := binary.LittleEndian.Uint64(t.indices.data[l.next*8:])
	l.next++
	if i == 0 {
		return 0, true, nil
	}
	r, err := m.debugRecord(i)
	return Loc(i), r != nil && r.location(), err
}

// debugRecord gives record i-1 for i > 0; nil when there is none, it is cut off or part of itself.
func (m *Module) debugRecord(i uint64) (*debugRecord, error) {
	t := &m.debug
	i--
	if i >= t.n || t.busy[i] {
		return nil, nil
	}
	if t.records[i] != nil {
		return t.records[i], nil
	}
	c, ok := t.record(i)
	if !ok {
		return nil, nil
	}
	tag, ok := c.varint()
	if !ok {
		return nil, nil
	}
	if t.depth++; t.depth > MaxNesting {
		return nil, c.bare(TooLarge, "debug records nest more than %d deep", MaxNesting)
	}
	t.busy[i] = true
	rest := c.sub(c.at, len(c.data)-c.at)
	r, err := m.parseDebug(debugTag(tag), &rest)
	delete(t.busy, i)
	t.depth--
	if err != nil {
		return nil, err
	}
	t.records[i] = r
	return r, nil
}

// debugReader reads the fields of a debug record; the first error stays.
type debugReader struct {
	m   *Module
	c   *cursor
	err error
}

// ref reads a reference to a record that is must allow; class is the record that it is read for.
func (d *debugReader) ref(what, class string, allowed func(*debugRecord) bool) Loc {
	if d.err != nil {
		return 0
	}
	i, ok := d.c.varint()
	var r *debugRecord
	var err error
	if ok && i == 0 {
		r = &debugRecord{}
	} else if ok {
		r, err = d.m.debugRecord(i)
	}
	switch {
	case err != nil:
		d.err = err
	case r == nil || !allowed(r):
		d.err = d.c.fail("failed to read %s attribute when parsing %s", what, class)
	}
	return Loc(i)
}

func (d *debugReader) string(what, class string) string {
	if d.err != nil {
		return ""
	}
	i, ok := d.c.varint()
	if !ok {
		d.err = d.c.fail("failed to read %s attribute when parsing %s", what, class)
		return ""
	}
	var s string
	s, d.err = d.m.strings.get(i, d.c)
	return s
}

func (d *debugReader) number(what, class string) uint64 {
	if d.err != nil {
		return 0
	}
	v, ok := d.c.varint()
	if !ok {
		d.err = d.c.fail("failed to read %s when parsing %s", what, class)
	}
	return v
}

func is(tag debugTag) func(*debugRecord) bool {
	return func(r *debugRecord) bool { return r.tag == tag }
}

func (m *Module) parseDebug(tag debugTag, c *cursor) (*debugRecord, error) {
	d := debugReader{m: m, c: c}
	r := &debugRecord{tag: tag}
	switch tag {
	case debugCompileUnit:
		r.file = d.ref("file", "DICompileUnitAttr", is(debugFile))
	case debugFile:
		r.name = d.string("file name", "DIFileAttr")
		r.directory = d.string("directory", "DIFileAttr")
	case debugLexicalBlock:
		const class = "DILexicalBlockAttr"
		r.scope = d.ref("scope", class, (*debugRecord).localScope)
		r.file = d.ref("file", class, is(debugFile))
		r.line = d.number("line number", class)
		r.column = d.number("column number", class)
	case debugLoc:
		r.scope = d.ref("scope", "DILocAttr", (*debugRecord).localScope)
		r.name = d.string("file name", "FileLineColLoc")
		r.line = d.number("line number", "FileLineColLoc")
		r.column = d.number("column number", "FileLineColLoc")
	case debugSubprogram:
		const class = "DISubprogramAttr"
		r.file = d.ref("file", class, is(debugFile))
		r.line = d.number("line number", class)
		r.name = d.string("name", class)
		r.linkage = d.string("linkage name", class)
		r.unit = d.ref("compile unit", class, is(debugCompileUnit))
		r.scopeLine = d.number("scope line number", class)
		if m.Minor >= 5 {
			d.number("flags", class)
		}
	case debugCallSite:
		r.callee = d.ref("callee", "CallSiteLoc", (*debugRecord).location)
		r.caller = d.ref("caller", "CallSiteLoc", (*debugRecord).location)
	default:
		r.tag = debugUnknown
	}
	if d.err != nil {
		return nil, d.err
	}
	return r, nil
}

// Location says where a place is; ok is false when that is unknown.
func (m *Module) Location(l Loc) (Location, bool) {
	var out Location
	for range MaxNesting {
		r := m.known(l)
		if r == nil {
			return out, false
		}
		switch r.tag {
		case debugCallSite:
			out.Caller, l = r.caller, r.callee
		case debugLoc:
			out.File, out.Line, out.Column = r.name, r.line, r.column
			if s := m.subprogram(r.scope); s != 0 {
				out.Function = m.known(s).name
			}
			return out, true
		default:
			return out, false
		}
	}
	return out, false
}

// known gives a record that has been read, nil for none.
func (m *Module) known(l Loc) *debugRecord {
	if l == 0 || uint64(l) > m.debug.n {
		return nil
	}
	return m.debug.records[l-1]
}

// subprogram gives the subprogram that a scope lies in, 0 for none.
func (m *Module) subprogram(scope Loc) Loc {
	for range MaxNesting {
		r := m.known(scope)
		switch {
		case r == nil:
			return 0
		case r.tag == debugSubprogram:
			return scope
		}
		scope = r.scope
	}
	return 0
}
