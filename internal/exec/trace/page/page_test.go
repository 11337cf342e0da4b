package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gocuda/cuda/internal/exec/trace"
)

// hostile are names and texts that must stay texts, wherever they stand.
var hostile = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `<!--`, `]]>`,
	`</style><style>*{display:none}`, `</title><h1>`, `javascript:alert(1)`, `{{.Title}}`, `&lt;b&gt;`, "`${alert(1)}`",
	"a\x00b\x1b[31m\r\nc", "\xff\xfe\xc0<b>", "\u202egnp.exe\u2066", "\u2028alert(1)\u2029", `\";alert(1);//`,
	strings.Repeat("<", 100000),
}

func report(name string, lines int) *trace.Report {
	s := &trace.Summary{Kernel: name, Mix: []trace.Share{{Class: trace.GlobalMemory, Warps: 10}}}
	for i := range lines {
		l := trace.Line{Func: name, Line: int32(i + 1), Text: name, Source: name + ".cu", At: int32(i/4 + 1)}
		l.Warps, l.Threads, l.Branches, l.Diverged = uint64(10+i%7), 64, 10, 9
		l.Global = trace.Traffic{Requests: 10, Bytes: 1280, Units: 320, Ideal: 40}
		l.Shared = trace.Traffic{Requests: 10, Bytes: 1280, Units: 320, Ideal: 10}
		s.Lines = append(s.Lines, l)
		if i%4 == 0 {
			s.Sources = append(s.Sources, trace.SourceLine{File: l.Source, Line: l.At, PTX: 4, Work: l.Work})
		}
	}
	s.Total = s.Lines[0].Work
	s.Uncounted = []trace.Place{{Func: name, Line: 1, Text: name}}
	r := &trace.Report{Launches: 1, Counts: s, Speed: &trace.Speed{Engine: name, MS: 1},
		Occupancy: &trace.Occupancy{Threads: 32, Warps: 1, Registers: 8, Blocks: 1, MaxWarps: 64, SMs: 132, Grid: 1,
			Limits: trace.Limits{Blocks: 1, Warps: 1, Registers: 1, Shared: 1}}}
	r.Finish()
	return r
}

func input(name string, lines int) *Input {
	in := &Input{Title: name, Facts: []Fact{{"image", name}}, Report: report(name, lines),
		Baseline: report(name, 1), BaselineName: name, Stages: []Stage{{name, name + "\n" + name}},
		PTX: []trace.Listing{{Func: name}}}
	for i := range lines {
		in.PTX[0].Lines = append(in.PTX[0].Lines, trace.Listed{Line: int32(i + 1), Text: name, Source: name + ".cu",
			At: int32(i/4 + 1)}, trace.Listed{Line: int32(i + 1), Text: name, Label: true})
	}
	in.Source = func(file string) ([]byte, error) {
		if file != name+".cu" {
			return nil, errors.New("no such file")
		}
		line := strings.NewReplacer("\x00", "0", "\n", " ").Replace(name) // a file with zeros is not shown
		return []byte(strings.Repeat(line+"\n", lines)), nil
	}
	return in
}

func write(t *testing.T, in *Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tags counts what begins with < in a page.
func tags(page string) map[string]int {
	n := map[string]int{}
	for i := strings.IndexByte(page, '<'); i >= 0; {
		rest := page[i+1:]
		end := strings.IndexAny(rest, " \t\n>")
		if end < 0 {
			end = len(rest)
		}
		n[rest[:end]]++
		next := strings.IndexByte(rest, '<')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return n
}

// TestHostile writes pages about names with markup in them: they have the same elements as that of a plain name.
func TestHostile(t *testing.T) {
	const lines = 9
	want := tags(write(t, input("plain", lines)))
	if want["script"] != 1 || want["/script"] != 1 || want["tr"] < 2*lines {
		t.Fatal(want)
	}
	for _, name := range hostile {
		in := input(name, lines)
		page := write(t, in)
		got := tags(page)
		for tag, n := range got {
			if want[tag] != n {
				t.Errorf("%.40q: %d of <%.40s, want %d", name, n, tag, want[tag])
			}
		}
		for tag, n := range want {
			if got[tag] != n {
				t.Errorf("%.40q: %d of <%s, want %d", name, got[tag], tag, n)
			}
		}
		if !utf8.ValidString(page) || strings.ContainsAny(page, "\x00\x1b\r\u202e\u2066\u2028\u2029") {
			t.Errorf("%.40q: characters that are not text", name)
		}
		for _, bad := range []string{" onerror=alert", " onmouseover='", "href=\"javascript"} {
			if i := strings.Index(page, bad); i >= 0 && !strings.Contains(page[:i], "&#34;&gt;&lt;img") &&
				!strings.Contains(page[:i], "&#39;") {
				t.Errorf("%.40q: %q stands in the page", name, bad)
			}
		}
	}
}

// TestPolicy compares the policy with what the page has: a script or a style that it does not name does not run.
func TestPolicy(t *testing.T) {
	page := write(t, input("k", 3))
	for _, what := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(page, "<"+what+">")
		body, _, ok := strings.Cut(rest, "</"+what+">")
		sum := sha256.Sum256([]byte(body))
		hash := base64.StdEncoding.EncodeToString(sum[:])
		want := what + "-src &#39;sha256-" + strings.ReplaceAll(hash, "+", "&#43;") + "&#39;"
		if !ok || len(body) < 1000 || !strings.Contains(page, want) {
			t.Errorf("the policy has no %s", want)
		}
	}
	for _, bad := range []string{"http://", "https://", "src=", "url(", "@import", " style="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// TestSize writes a page about a kernel of 100,000 lines.
func TestSize(t *testing.T) {
	in := input("mad.lo.s32 %r1, %r2, %r3, %r4;", 100000)
	in.Stages[0].Text = strings.Repeat("a line of a stage\n", 1<<20)
	page := write(t, in)
	if n := len(page); n > 4<<20 || n < 200<<10 {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"lines left out", "other lines that were executed", "... cut here"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// TestContents looks for what a page about one line has to say.
func TestContents(t *testing.T) {
	in := input("ld.global.u32 %r1, [%rd1];", 1)
	in.Report = report("ld.global.u32 %r1, [%rd1];", 1)
	in.Baseline = nil
	page := write(t, in)
	for _, want := range []string{"uncoalesced global access", "32.0 sectors per request, ideal 4.0",
		"32.0 passes per request, ideal 1.0", "9 of 10 executions divided the warp (90 %)", "6.4 of 32", "10.0 %", "8.00 x",
		"32.00 x", `data-h="9999`, `data-g="1"`, `id="p0-1"`, `href="#p0-1"`, "low occupancy", "not of a GPU"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, m := range trace.Metrics {
		if _, ok := in.Report.Metric(m.Key); ok && !strings.Contains(page, fmt.Sprintf(`id="m-%s"`, m.Key)) {
			t.Errorf("the page does not say what %s is", m.Key)
		}
	}
	in = input("k", 2)
	in.Source = nil // of a file that cannot be read there are the numbers
	if page := write(t, in); !strings.Contains(page, `aria-label="Source"`) ||
		!strings.Contains(page, "k.cu (the file") {
		t.Error("the lines of a source that cannot be read are not in the page")
	}
	in.Report.Counts.Sources = nil
	if page := write(t, in); !strings.Contains(page, "<h2>PTX</h2>") || strings.Contains(page, `aria-label="Source"`) {
		t.Error("without lines of a source there are no two sides")
	}
}

// TestBaseline compares two runs.
func TestBaseline(t *testing.T) {
	in := input("k", 1)
	in.Baseline = report("k", 1)
	in.Baseline.Metrics[0].Value *= 2 // warp instructions
	in.Baseline.Speed = nil
	page := write(t, in)
	for _, want := range []string{`20 before, <span class="better">-50.0 %`, "unchanged"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}
