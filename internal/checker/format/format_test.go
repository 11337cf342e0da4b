package format

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gocuda/cuda/internal/checker"
)

// sample is a race with two places, a leak, a defect without a source whose name XML does not allow, and a warning.
func sample() *Result {
	log := checker.NewLog(nil, nil)
	at := func(line int32) checker.Site {
		return checker.Site{Kernel: "k<1>", Place: checker.Place{Line: 9 + line, Source: "src/a b.cu",
			SourceLine: line}, Access: "write", Size: 4}
	}
	log.Add(&checker.Report{Kind: checker.Races, Space: "global", Sites: []checker.Site{at(2), at(3)}})
	// the same, the other way round
	log.Add(&checker.Report{Kind: checker.Races, Space: "global", Sites: []checker.Site{at(3), at(2)}})
	log.Add(&checker.Report{Kind: checker.Leaked, Memory: &checker.Allocation{Size: 64,
		Made: checker.Call{API: "cuMemAlloc", Func: "main.run", File: "/src/m.go", Line: 5}}})
	log.Add(&checker.Report{Kind: checker.Deadlock,
		Sites: []checker.Site{{Kernel: "k\x01\xff", Place: checker.Place{Line: 7}, Access: "waits"}}})
	log.Add(&checker.Report{Kind: checker.EqualRace, Space: "shared", Sites: []checker.Site{at(4), at(4)}})
	return &Result{Checks: checker.Race | checker.Sync | checker.Leak, Reports: log.Reports(), Suppressed: 2,
		Source: func(name string) ([]byte, error) {
			if name == "src/a b.cu" {
				return []byte("one\ntwo <&>\nthree\nfour\n"), nil
			}
			return nil, errors.New("none")
		}}
}

func written(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := sample().Write(name, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSON(t *testing.T) {
	var x struct {
		Errors, Warnings, Suppressed int
		Reports                      []checker.Report
	}
	if err := json.Unmarshal(written(t, "x.json"), &x); err != nil {
		t.Fatal(err)
	}
	if x.Errors != 3 || x.Warnings != 1 || x.Suppressed != 2 || len(x.Reports) != 4 || x.Reports[0].Count != 2 ||
		x.Reports[0].Sites[1].SourceLine != 3 {
		t.Errorf("%+v", x)
	}
}

func TestText(t *testing.T) {
	text := string(written(t, "x.txt"))
	if !strings.HasSuffix(text, "========= ERROR SUMMARY: 3 errors, 1 warning, 2 suppressed\n") ||
		!strings.Contains(text, "found 2 times") {
		t.Error(text)
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "=========") {
			t.Errorf("line %q", line)
		}
	}
}

// The parts of JUnit XML.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// Suites, failures and tests are counted as JUnit's readers expect, and the bytes are XML whatever a kernel's name
// holds.
func TestJUnit(t *testing.T) {
	var x junitSuites
	if err := xml.Unmarshal(written(t, "x.xml"), &x); err != nil {
		t.Fatal(err)
	}
	if x.Tests != 4 || x.Failures != 3 || len(x.Suites) != 3 || x.Suites[0].Name != "gocuda race" ||
		x.Suites[0].Failures != 1 || x.Suites[0].Tests != 2 {
		t.Errorf("%+v", x)
	}
	if c := x.Suites[0].Cases[0]; c.File != "src/a b.cu" || c.Line != 2 || c.Failure == nil ||
		c.Failure.Type != "race" {
		t.Errorf("%+v", c)
	}
	// What a reader gets back is the report as it was written, but for what XML cannot have.
	for i, r := range sample().Reports {
		var texts []string
		for _, s := range x.Suites {
			for _, c := range s.Cases {
				texts = append(texts, c.Output)
				if c.Failure != nil {
					texts = append(texts, c.Failure.Text)
				}
			}
		}
		if !slices.Contains(texts, clean(r.String())) {
			t.Errorf("report %d, %q, is not among %q", i, r.String(), texts)
		}
	}
	if s := "a<b>&\"'\t\n\r"; !strings.Contains(unmarked(t, s), s) {
		t.Errorf("%q is read as %q", s, unmarked(t, s))
	}
	var b bytes.Buffer
	if err := (&Result{Checks: checker.Race}).JUnit(&b); err != nil ||
		!strings.Contains(b.String(), `tests="1" failures="0"`) {
		t.Errorf("%v %s", err, b.String())
	}
}

// What the standard requires (SARIF 2.1.0, 3.13 to 3.34): the version, a tool's name, a message of each result, rule
// indices that lead to the rule, URIs without blanks, lines above zero.
func TestSARIF(t *testing.T) {
	var x sarifLog
	d := json.NewDecoder(bytes.NewReader(written(t, "x.sarif")))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	if x.Version != "2.1.0" || len(x.Runs) != 1 || x.Runs[0].Tool.Driver.Name == "" || len(x.Runs[0].Results) != 4 {
		t.Fatalf("%+v", x)
	}
	prints := map[string]bool{}
	for _, r := range x.Runs[0].Results {
		if r.Message.Text == "" || x.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID ||
			r.Level != "error" && r.Level != "warning" || len(r.Locations) != 1 {
			t.Errorf("%+v", r)
		}
		prints[r.Fingerprints["gocudaDefect/v1"]] = true
		for _, l := range append(r.Locations, r.Related...) {
			if p := l.Physical; p != nil && (strings.Contains(p.Artifact.URI, " ") || p.Region.Line < 1) {
				t.Errorf("%+v", p)
			}
		}
	}
	race, leak := x.Runs[0].Results[0], x.Runs[0].Results[1]
	if race.Locations[0].Physical.Artifact.URI != "src/a%20b.cu" || race.Related[0].Physical.Region.Line != 3 ||
		race.Occurrences != 2 {
		t.Errorf("%+v", race)
	}
	if leak.Locations[0].Physical.Artifact.URI != "file:///src/m.go" {
		t.Errorf("%+v", leak)
	}
	if d := x.Runs[0].Tool.Driver; d.Version == "" || d.Version[0] < '0' || d.Version[0] > '9' || d.URI == "" {
		t.Errorf("%+v", d)
	}
	for _, r := range x.Runs[0].Tool.Driver.Rules {
		if r.Short.Text == "" || !strings.HasSuffix(r.Full.Text, ".") || r.Help.Text == "" || r.HelpURI == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(prints) != 4 {
		t.Errorf("fingerprints %v", prints)
	}
}

// TestPaths: a URI is read back as the path, absolute where the path is.
func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"a b.cu": "a b.cu", "/x/ü%#?.cu": "/x/ü%#?.cu", `C:\x\y z.cu`: "/C:/x/y z.cu", "gen:1.cu": "./gen:1.cu",
		"a/b:c;d=(1)!.cu": "a/b:c;d=(1)!.cu", "/src//a..b/~c.cu": "/src//a..b/~c.cu",
	} {
		uri := physical(path, 1).Artifact.URI
		u, err := url.Parse(uri)
		if err != nil || u.Path != want || u.RawQuery != "" || u.Fragment != "" || u.Host != "" ||
			(u.Scheme == "file") != strings.HasPrefix(want, "/") {
			t.Errorf("%q is %q: %+v, %v", path, uri, u, err)
		}
	}
}

func TestHTML(t *testing.T) {
	text := string(written(t, "x.html"))
	for _, want := range []string{`<tr class="here"><td>2</td><td>two &lt;&amp;&gt;</td></tr>`, `<a href="#r4">4</a>`,
		"k&lt;1&gt;", `class="warning"`, "write, src/a b.cu:2", "found 2 times"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// TestHTMLHostile writes a page about names and sources with markup in them.
func TestHTMLHostile(t *testing.T) {
	bad := "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>\x00\x1b\u202e\xff"
	r := &Result{Checks: checker.All, Source: func(string) ([]byte, error) { return []byte(bad), nil },
		Reports: []*checker.Report{{Kind: checker.OutOfBounds, Count: 1, Severity: checker.Error, Space: bad,
			Check: "memory", Sites: []checker.Site{{Kernel: bad, Access: bad,
				Place: checker.Place{Func: bad, Source: bad, SourceLine: 1}}},
			Memory: &checker.Allocation{Made: checker.Call{API: bad, Func: bad, File: bad, Line: 1}}}}}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Count(page, "<style>") != 1 ||
		strings.Count(page, "</style>") != 1 || strings.ContainsAny(page, "\x00\x1b\u202e") ||
		!utf8.ValidString(page) || !strings.Contains(page, "&lt;script&gt;") {
		t.Error(page)
	}
}

func TestNames(t *testing.T) {
	if err := sample().Write("x.pdf", new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), ".sarif") {
		t.Error(err)
	}
}

// unmarked is what a reader of XML makes of marked text, in an attribute and between tags.
func unmarked(t *testing.T, s string) string {
	t.Helper()
	var x struct {
		A    string `xml:"a,attr"`
		Text string `xml:",chardata"`
	}
	if err := xml.Unmarshal([]byte(`<x a="`+markup(s)+`">`+markup(s)+`</x>`), &x); err != nil {
		t.Fatal(err)
	}
	if x.A != x.Text {
		t.Errorf("%q between tags, %q in an attribute", x.Text, x.A)
	}
	return x.Text
}
