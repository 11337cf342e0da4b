package format

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
)

// The parts of SARIF 2.1.0 that are written (OASIS "Static Analysis Results Interchange Format", sections 3.13 to
// 3.34).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version"`
				URI     string      `json:"informationUri"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifRule struct {
		ID       string    `json:"id"`
		Short    sarifText `json:"shortDescription"`
		Full     sarifText `json:"fullDescription"`
		Help     sarifText `json:"help"`
		HelpURI  string    `json:"helpUri"`
		Defaults struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Occurrences  uint64            `json:"occurrenceCount"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			Line int `json:"startLine"`
		} `json:"region"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

const (
	module   = "github.com/gocuda/cuda"
	home     = "https://" + module
	helpPage = home + "/blob/main/docs/checker.md"
)

// version is that of the module in this program, with a digit at its beginning, as readers want it. Builds of the
// source tree have none.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if v, ok := strings.CutPrefix(m.Version, "v"); ok && m.Path == module {
				return v
			}
		}
	}
	return "0.0.0-devel"
}

// SARIF writes a log of one run. Code hosts show a result at its first location's line; paths stay as the compiler
// wrote them, so that those relative to a repository are found there.
func (r *Result) SARIF(w io.Writer) error {
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: make([]sarifRun, 1)}
	run := &log.Runs[0]
	run.Tool.Driver.Name, run.Tool.Driver.URI = "gocuda", home
	run.Tool.Driver.Version = version()
	run.Tool.Driver.Rules = []sarifRule{}
	run.ColumnKind = "utf16CodeUnits"
	run.Results = []sarifResult{}
	rules := map[string]int{}
	for _, x := range r.Reports {
		i, ok := rules[x.Kind]
		if !ok {
			i = len(rules)
			rules[x.Kind] = i
			about := checker.KindAbout(x.Kind)
			rule := sarifRule{ID: x.Kind, Short: sarifText{checker.KindTitle(x.Kind)}, Full: sarifText{about},
				Help: sarifText{about + " Found by the check " + x.Check + " of gocuda."}, HelpURI: helpPage}
			rule.Defaults.Level = string(x.Severity)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		text := strings.ToValidUTF8(x.String(), "?")
		res := sarifResult{
			RuleID: x.Kind, RuleIndex: i, Level: string(x.Severity), Message: sarifText{plain(text)},
			Locations:   []sarifLocation{},
			Occurrences: max(x.Count, 1),
		}
		print := fnv.New64a()
		fmt.Fprint(print, x.Kind)
		for j := range x.Sites {
			s := &x.Sites[j]
			at := location(s)
			fmt.Fprint(print, "\x00", s.Kernel, s.Func, filepath.Base(s.Source), s.SourceLine)
			if s.SourceLine == 0 {
				fmt.Fprint(print, s.Line)
			}
			if j == 0 {
				res.Locations = append(res.Locations, at)
				continue
			}
			at.ID, at.Message = j, &sarifText{strings.ToValidUTF8(s.Access, "?")}
			res.Related = append(res.Related, at)
		}
		if x.Memory != nil && x.Memory.Made.File != "" {
			at := sarifLocation{Physical: physical(x.Memory.Made.File, x.Memory.Made.Line),
				Message: &sarifText{"allocated by " + x.Memory.Made.String()}}
			if len(res.Locations) == 0 {
				res.Locations = append(res.Locations, at)
			} else {
				at.ID = len(x.Sites)
				res.Related = append(res.Related, at)
			}
			fmt.Fprint(print, "\x00", filepath.Base(x.Memory.Made.File), x.Memory.Made.Line)
		}
		res.Fingerprints = map[string]string{"gocudaDefect/v1": fmt.Sprintf("%016x", print.Sum64())}
		run.Results = append(run.Results, res)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&log)
}

// plain is the text of a report without the marks at its lines' beginnings.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, "========= "))
	}
	return strings.TrimSpace(b.String())
}

func location(s *checker.Site) (l sarifLocation) {
	if file, line := sitePlace(s); file != "" {
		l.Physical = physical(file, line)
	}
	switch {
	case s.Kernel != "" && s.Func != "":
		l.Logical = []sarifLogical{{s.Kernel + "::" + s.Func, "function"}}
	case s.Kernel != "":
		l.Logical = []sarifLogical{{s.Kernel, "function"}}
	case s.Call != nil && s.Call.Func != "":
		l.Logical = []sarifLogical{{s.Call.Func, "function"}}
	case s.Call != nil && s.Call.API != "":
		l.Logical = []sarifLogical{{s.Call.API, "function"}}
	}
	return l
}

func physical(file string, line int) *sarifPhysical {
	p := new(sarifPhysical)
	path := strings.ReplaceAll(strings.ToValidUTF8(file, "?"), `\`, "/")
	scheme := ""
	switch first, _, _ := strings.Cut(path, "/"); {
	case strings.HasPrefix(path, "/"):
		scheme = "file://"
	case len(path) > 2 && path[1] == ':': // a drive
		scheme = "file:///"
	case strings.Contains(first, ":"): // would be read as a scheme
		scheme = "./"
	}
	p.Artifact.URI, p.Region.Line = scheme+escapePath(path), max(line, 1)
	return p
}

// escapePath writes a path as a URI has it (RFC 3986, 3.3).
func escapePath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			strings.IndexByte("-_.~/:@!$&'()*+,;=", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
