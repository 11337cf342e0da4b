// Package format writes the reports of checks: as text, JSON, JUnit XML, SARIF 2.1.0 and HTML.
package format

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
)

// Result is what a program's checks have found.
type Result struct {
	Checks     checker.Checks
	Reports    []*checker.Report
	Suppressed int
	// Source reads a file of the program's source for HTML; nil reads none.
	Source func(name string) ([]byte, error)
}

// count is how many reports have a severity.
func (r *Result) count(s checker.Severity) (n int) {
	for _, x := range r.Reports {
		if x.Severity == s {
			n++
		}
	}
	return n
}

// Errors is how many reports are errors.
func (r *Result) Errors() int { return r.count(checker.Error) }

// formats are the writers by the ends of file names.
var formats = map[string]func(*Result, io.Writer) error{
	".txt": (*Result).Text, ".json": (*Result).JSON, ".xml": (*Result).JUnit, ".sarif": (*Result).SARIF,
	".html": (*Result).HTML,
}

// Known says whether a file name's end names a format.
func Known(name string) error {
	if formats[strings.ToLower(filepath.Ext(name))] == nil {
		return fmt.Errorf("%q: a name for reports ends in .txt, .json, .xml (JUnit), .sarif or .html", name)
	}
	return nil
}

// Write writes in the format that a file name's end names.
func (r *Result) Write(name string, w io.Writer) error {
	if err := Known(name); err != nil {
		return err
	}
	return formats[strings.ToLower(filepath.Ext(name))](r, w)
}

// Summary is the last line of the text.
func (r *Result) Summary() string {
	n := r.Errors()
	s := fmt.Sprintf("========= ERROR SUMMARY: %d error%s", n, map[bool]string{n != 1: "s"}[true])
	if w := r.count(checker.Warning); w > 0 {
		s += fmt.Sprintf(", %d warning%s", w, map[bool]string{w != 1: "s"}[true])
	}
	if r.Suppressed > 0 {
		s += fmt.Sprintf(", %d suppressed", r.Suppressed)
	}
	return s + "\n"
}

// Text writes the reports as they are shown when they are found, with counts.
func (r *Result) Text(w io.Writer) error {
	for _, x := range r.Reports {
		text := x.String()
		if x.Count > 1 {
			text += fmt.Sprintf("=========     found %d times\n", x.Count)
		}
		if _, err := io.WriteString(w, text+"=========\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, r.Summary())
	return err
}

// JSON writes one object.
func (r *Result) JSON(w io.Writer) error {
	reports := r.Reports
	if reports == nil {
		reports = []*checker.Report{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Version    int               `json:"version"`
		Checks     string            `json:"checks"`
		Errors     int               `json:"errors"`
		Warnings   int               `json:"warnings"`
		Suppressed int               `json:"suppressed"`
		Reports    []*checker.Report `json:"reports"`
	}{1, r.Checks.String(), r.Errors(), r.count(checker.Warning), r.Suppressed, reports})
}

// JUnit writes JUnit XML: a suite for each check, in it a failed test for each error, a test that passes with text for
// each warning, and one that passes where there is nothing to tell.
func (r *Result) JUnit(w io.Writer) error {
	var suites strings.Builder
	tests, failures := 0, 0
	for _, check := range strings.Split(r.Checks.String(), ",") {
		var cases strings.Builder
		n, failed := 0, 0
		for _, x := range r.Reports {
			if x.Check != check {
				continue
			}
			n++
			fmt.Fprintf(&cases, "    <testcase classname=%s name=%s", attribute(check+"."+x.Kind), attribute(name(x)))
			if file, line := place(x); file != "" {
				fmt.Fprintf(&cases, " file=%s line=\"%d\"", attribute(file), line)
			}
			text := markup(clean(x.String()))
			if x.Severity == checker.Error {
				failed++
				fmt.Fprintf(&cases, ">\n      <failure message=%s type=%s>%s</failure>\n    </testcase>\n",
					attribute(x.Title()), attribute(x.Kind), text)
			} else {
				fmt.Fprintf(&cases, ">\n      <system-out>%s</system-out>\n    </testcase>\n", text)
			}
		}
		if n == 0 {
			n = 1
			fmt.Fprintf(&cases, "    <testcase classname=%s name=\"no defect\"></testcase>\n", attribute(check))
		}
		fmt.Fprintf(&suites, "  <testsuite name=%s tests=\"%d\" failures=\"%d\">\n%s  </testsuite>\n",
			attribute("gocuda "+check), n, failed, cases.String())
		tests, failures = tests+n, failures+failed
	}
	_, err := fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%d\" failures=\"%d\">\n"+
		"%s</testsuites>\n", tests, failures, suites.String())
	return err
}

// attribute is the value of an attribute, in quotes.
func attribute(s string) string { return `"` + markup(clean(s)) + `"` }

// clean leaves out of a text what XML does not allow: names come from the program's bytes.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// place is the file and line that a report is shown at; "" where the program does not tell.
func place(r *checker.Report) (file string, line int) {
	for i := range r.Sites {
		if file, line := sitePlace(&r.Sites[i]); file != "" {
			return file, line
		}
	}
	if r.Memory != nil && r.Memory.Made.File != "" {
		return r.Memory.Made.File, r.Memory.Made.Line
	}
	return "", 0
}

func sitePlace(s *checker.Site) (file string, line int) {
	if s.Call != nil {
		return s.Call.File, s.Call.Line
	}
	if s.SourceLine > 0 {
		return s.Source, int(s.SourceLine)
	}
	return "", 0
}

// name is a short name of a report.
func name(r *checker.Report) string {
	file, line := place(r)
	where := ""
	if file != "" {
		where = fmt.Sprintf(" at %s:%d", filepath.Base(file), line)
	}
	kernel := ""
	for i := range r.Sites {
		kernel = cmp.Or(kernel, r.Sites[i].Kernel)
		if where == "" && r.Sites[i].Line > 0 {
			where = fmt.Sprintf(" at PTX line %d", r.Sites[i].Line)
		}
	}
	if kernel != "" {
		where = " in " + kernel + where
	}
	return r.Kind + where
}
