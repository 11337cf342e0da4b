// Package page writes what package trace counted as a page of HTML: one file that needs no other, runs no script but
// its own, and shows every name and text of an image or a source file as text.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"path"
	"strings"

	"github.com/gocuda/cuda/internal/exec/trace"
	"github.com/gocuda/cuda/internal/source"
)

//go:embed page.html
var markup string

//go:embed page.css
var style string

//go:embed page.js
var script string

// How much of a kernel is shown. The JSON has everything.
const (
	maxRows  = 2500      // of PTX, and of the source
	maxHot   = 60        // lines of the table
	maxStage = 256 << 10 // bytes of a stage
	maxText  = 400       // bytes of a line
	longFile = 150       // lines of a file of which not all are shown
	context  = 6         // lines around those that were executed
)

// Input is what the page shows.
type Input struct {
	Title    string // the kernel
	Facts    []Fact // about the launch
	Report   *trace.Report
	Baseline *trace.Report // another run to compare with; nil for none
	// BaselineName is where it comes from.
	BaselineName string
	PTX          []trace.Listing
	// Source reads a file that the PTX names; an error leaves it out.
	Source func(name string) ([]byte, error)
	Stages []Stage
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Stage is a text of the compiler.
type Stage struct{ Title, Text string }

// view is what the template reads.
type view struct {
	Title, Policy string
	Style         template.CSS
	Script        template.JS
	Facts         []Fact
	BaselineName  string
	Findings      []finding
	Tiles         []tile
	Memory        []memory
	Uncounted     []string
	Limits        []limit
	OccupancyText string
	Mix           []share
	Heats         []string
	Files, Funcs  []block
	Hot           []hotLine
	HotLeft       int
	Meanings      []trace.Metric
	Stages        []Stage
}

// Write writes the page.
func Write(w io.Writer, in *Input) error {
	t, err := template.New("page").Parse(markup)
	if err != nil {
		return err
	}
	v := &view{Title: clean(in.Title), Policy: policy(), Style: template.CSS(style), Script: template.JS(script),
		BaselineName: clean(in.BaselineName), Heats: heatNames(), Meanings: meanings(in.Report)}
	for _, f := range in.Facts {
		v.Facts = append(v.Facts, Fact{f.Name, clean(f.Value)})
	}
	b := &builder{in: in, ids: map[lineKey]string{}, groups: map[lineKey]int{}}
	b.number()
	v.Findings, v.Tiles = b.findings(), b.tiles()
	v.Memory, v.Uncounted = b.memory()
	v.Limits, v.OccupancyText = b.occupancy()
	v.Mix = b.mix()
	v.Files, v.Funcs = b.files(), b.funcs()
	v.Hot, v.HotLeft = b.hot()
	for _, s := range in.Stages {
		text := s.Text
		if len(text) > maxStage {
			text = text[:maxStage] + "\n... cut here"
		}
		v.Stages = append(v.Stages, Stage{clean(s.Title), source.Printable(text)})
	}
	return t.Execute(w, v)
}

// policy lets the page run its own script and style and nothing else, wherever a text of an image may end up.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; base-uri 'none'; form-action 'none'"
}

// clean makes a name or a line of somebody else's fit to be shown in one line.
func clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return strings.ReplaceAll(source.Printable(s), "\n", "\uFFFD")
}

// short is the last part of a path, whatever system wrote it.
func short(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }
