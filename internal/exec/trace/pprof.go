package trace

import (
	"compress/gzip"
	"io"
	"time"
)

// WriteProfile writes a profile in the format of pprof (profile.proto, gzipped): every PTX line with its counts, under
// the line of the source that it was compiled from where the PTX says so. file is the name of the PTX.
//
//	go tool pprof -top -sample_index=threads FILE
func (e *Engine) WriteProfile(w io.Writer, file string) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write(e.profile(file, time.Now())); err != nil {
		return err
	}
	return z.Close()
}

// Field numbers of profile.proto (github.com/google/pprof/proto/profile.proto).
const (
	profileSampleType    = 1
	profileSample        = 2
	profileLocation      = 4
	profileFunction      = 5
	profileStringTable   = 6
	profileTimeNanos     = 9
	profileDefaultSample = 14
	valueType            = 1
	valueUnit            = 2
	sampleLocation       = 1
	sampleValue          = 2
	locationID           = 1
	locationLine         = 4
	lineFunction         = 1
	lineLine             = 2
	functionID           = 1
	functionName         = 2
	functionSystemName   = 3
	functionFilename     = 4
)

// message is a protocol buffer under construction.
type message []byte

func (m *message) varint(v uint64) {
	for ; v >= 0x80; v >>= 7 {
		*m = append(*m, byte(v)|0x80)
	}
	*m = append(*m, byte(v))
}

func (m *message) number(field int, v uint64) {
	if v != 0 {
		m.varint(uint64(field) << 3)
		m.varint(v)
	}
}

func (m *message) bytes(field int, b []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) packed(field int, list ...uint64) {
	var p message
	for _, v := range list {
		p.varint(v)
	}
	m.bytes(field, p)
}

// builder numbers strings, functions and locations.
type builder struct {
	out     message
	strings map[string]uint64
	table   []string
	funcs   map[[2]string]uint64
	places  map[place]uint64
}

type place struct {
	fn, source uint64
	line, at   int32
}

func (b *builder) str(s string) uint64 {
	n, ok := b.strings[s]
	if !ok {
		n = uint64(len(b.table))
		b.strings[s] = n
		b.table = append(b.table, s)
	}
	return n
}

func (b *builder) function(name, file string) uint64 {
	key := [2]string{name, file}
	id, ok := b.funcs[key]
	if !ok {
		id = uint64(len(b.funcs) + 1)
		b.funcs[key] = id
		var m message
		m.number(functionID, id)
		m.number(functionName, b.str(name))
		m.number(functionSystemName, b.str(name))
		m.number(functionFilename, b.str(file))
		b.out.bytes(profileFunction, m)
	}
	return id
}

// location is a PTX line, and the source line that it is an inlined part of.
func (b *builder) location(p place) uint64 {
	id, ok := b.places[p]
	if !ok {
		id = uint64(len(b.places) + 1)
		b.places[p] = id
		var m message
		m.number(locationID, id)
		line := func(fn uint64, line int32) {
			var l message
			l.number(lineFunction, fn)
			l.number(lineLine, uint64(line))
			m.bytes(locationLine, l)
		}
		line(p.fn, p.line)
		if p.source != 0 {
			line(p.source, p.at)
		}
		b.out.bytes(profileLocation, m)
	}
	return id
}

func (e *Engine) profile(file string, now time.Time) []byte {
	b := &builder{strings: map[string]uint64{}, funcs: map[[2]string]uint64{}, places: map[place]uint64{}}
	b.str("")
	for _, t := range [][2]string{{"warps", "count"}, {"threads", "count"}, {"diverged", "count"}, {"bytes", "bytes"},
		{"sectors", "count"}, {"bank_passes", "count"}} {
		var m message
		m.number(valueType, b.str(t[0]))
		m.number(valueUnit, b.str(t[1]))
		b.out.bytes(profileSampleType, m)
	}
	for _, k := range e.Kernels() {
		for i, f := range k.Funcs {
			for j := range f.Ops {
				c := k.Count(i, j)
				if c.Warps == 0 {
					continue
				}
				op := &f.Ops[j]
				p := place{fn: b.function(f.Name, file), line: op.Line}
				if op.Loc.File != 0 {
					if name := f.Files[int(op.Loc.File)]; name != "" {
						p.source, p.at = b.function(f.Name+" (source)", name), op.Loc.Line
					}
				}
				var s message
				s.packed(sampleLocation, b.location(p))
				bytes := c.Global.Bytes + c.Shared.Bytes + c.Local.Bytes + c.Const.Bytes
				s.packed(sampleValue, c.Warps, c.Threads, c.Diverged, bytes, c.Global.Units, c.Shared.Units)
				b.out.bytes(profileSample, s)
			}
		}
	}
	b.out.number(profileTimeNanos, uint64(now.UnixNano()))
	b.out.number(profileDefaultSample, b.str("warps"))
	for _, s := range b.table {
		b.out.bytes(profileStringTable, []byte(s))
	}
	return b.out
}
