package main

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/tileir"
)

// tileModule describes a Tile IR module; the same facts whichever container it came from.
type tileModule struct {
	Where    string         `json:"where,omitempty"` // container and entry, "" for a bare file
	Version  string         `json:"version,omitempty"`
	Producer string         `json:"producer,omitempty"`
	Problem  string         `json:"problem,omitempty"`
	Entries  []tileEntry    `json:"entries"`
	Globals  []tileVariable `json:"globals,omitempty"`
	Text     string         `json:"text,omitempty"`
}

type tileEntry struct {
	Name   string      `json:"name"`
	Params []tileParam `json:"params"`
}

type tileParam struct {
	Type   string `json:"type"`
	Offset uint64 `json:"offset"`
	Size   uint64 `json:"size"`
}

type tileVariable struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Size     uint64 `json:"size"`
	Align    uint64 `json:"align"`
	Constant bool   `json:"constant,omitempty"`
	Private  bool   `json:"private,omitempty"`
}

// describeTile looks into a module. What lies behind its end, as in the entry of a fatbin, is not part of it.
func describeTile(data []byte, where string, text bool) tileModule {
	d := tileModule{Where: where}
	fail := func(err error) tileModule {
		d.Problem = firstLine(err)
		return d
	}
	kind, n, err := image.SizeIn(data)
	switch {
	case err != nil:
		return fail(err)
	case kind != image.TileIR:
		return fail(fmt.Errorf("%s instead of Tile IR", kind))
	case n < uint64(len(data)):
		data = data[:n]
	}
	m, err := tileir.Parse(data)
	if err != nil {
		return fail(err)
	}
	d.Version, d.Producer = fmt.Sprintf("13.%d", m.Minor), m.Producer
	if err := m.Verify(); err != nil {
		return fail(err)
	}
	for _, f := range m.Funcs {
		e := tileEntry{Name: f.Name, Params: []tileParam{}}
		for _, p := range f.Layout() {
			e.Params = append(e.Params, tileParam{tileType(p.Type), p.Offset, p.Size})
		}
		d.Entries = append(d.Entries, e)
	}
	for i := range m.Globals {
		g := &m.Globals[i]
		v := tileVariable{g.Name, tileType(g.Value.Type), g.Bytes(), g.Align, g.Constant,
			g.Visibility == tileir.Private}
		if v.Align == 0 {
			v.Align = g.Value.Type.Elem.Bytes()
		}
		d.Globals = append(d.Globals, v)
	}
	if text {
		b, err := m.Text()
		if err != nil {
			return fail(err)
		}
		d.Text = string(b)
	}
	return d
}

// tileType writes a type as a listing does.
func tileType(t *tileir.Type) string { return strings.TrimPrefix(t.String(), "!cuda_tile.") }

func (p *printer) tile(m *tileModule) {
	where := ""
	if m.Where != "" {
		where = " (" + m.Where + ")"
	}
	version := ""
	if m.Version != "" {
		version = " " + m.Version
	}
	p.line(1, "Tile IR%s%s", version, where)
	if m.Producer != "" {
		p.line(2, "producer: %q", m.Producer)
	}
	if m.Problem != "" {
		p.line(2, "problem: %s", m.Problem)
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		p.line(2, "entry %s", e.Name)
		for j, q := range e.Params {
			p.line(3, "parameter %d: %s, %d bytes at %d", j, q.Type, q.Size, q.Offset)
		}
	}
	for _, g := range m.Globals {
		what := "variable"
		if g.Constant {
			what = "constant"
		}
		if g.Private {
			what = "private " + what
		}
		p.line(2, "%s %s: %s, %d bytes aligned to %d", what, g.Name, g.Type, g.Size, g.Align)
	}
	for line := range strings.Lines(m.Text) {
		p.line(2, "%s", strings.TrimSuffix(line, "\n"))
	}
}
