package format

import (
	"fmt"
	"io"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
)

// around is how many lines of the source are shown before and behind a place.
const around = 4

// pageHead is the page up to its summary.
const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>gocuda check</title>
<style>
:root { color-scheme: light dark; --line: #8884; --error: #c62828; --warning: #b26a00; --here: #ffd54f55; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
nav table, .code { border-collapse: collapse; } nav td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere; }
section { border: 1px solid var(--line); border-left: 5px solid var(--error); border-radius: 4px; margin: 1rem 0; padding: .8rem 1rem; }
section.warning { border-left-color: var(--warning); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
.code { width: 100%; font: 13px/1.45 ui-monospace, monospace; border: 1px solid var(--line); margin: .3rem 0 .8rem; }
.code td { padding: 0 .6rem; white-space: pre-wrap; overflow-wrap: anywhere; } .code td:first-child { color: gray; text-align: right; width: 4rem; }
.code tr.here { background: var(--here); }
.kind { font-weight: 600; }
</style></head><body>
<h1>gocuda check</h1>
`

// markup writes text into HTML or XML, between tags or as the value of an attribute. Both are written here: packages
// for templates and XML would come into every program with the library, and one of them keeps the linker from leaving
// out methods that nobody calls.
func markup(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\t", "&#x9;",
	"\n", "&#xA;", "\r", "&#xD;", "\x00", "\uFFFD")

// HTML writes a page with the source around each place.
func (r *Result) HTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "<p>%s ", markup(strings.TrimSpace(strings.TrimPrefix(r.Summary(), "========= "))))
	for _, c := range strings.Split(r.Checks.String(), ",") {
		n := 0
		for _, x := range r.Reports {
			if x.Check == c {
				n++
			}
		}
		fmt.Fprintf(&b, "%s: %d. ", markup(c), n)
	}
	b.WriteString("</p>\n")
	if len(r.Reports) == 0 {
		b.WriteString("<p>Nothing was found.</p>\n")
	} else {
		b.WriteString("<nav><table>")
		for i, x := range r.Reports {
			fmt.Fprintf(&b, "\n<tr><td><a href=\"#r%d\">%[1]d</a></td><td>%s</td><td>%s</td><td>%d×</td></tr>", i+1,
				markup(string(x.Severity)), markup(name(x)), x.Count)
		}
		b.WriteString("\n</table></nav>\n")
	}
	files := map[string][]string{}
	for i, x := range r.Reports {
		fmt.Fprintf(&b, "<section id=\"r%d\" class=\"%s\">\n<h2>%[1]d. <span class=\"kind\">%[3]s</span>: %[4]s</h2>\n"+
			"<pre>%[5]s</pre>\n", i+1, markup(string(x.Severity)), markup(x.Kind), markup(x.Title()),
			markup(plain(x.String())))
		for j := range x.Sites {
			r.show(&b, &x.Sites[j], files)
		}
		if x.Memory != nil {
			r.show(&b, &checker.Site{Call: &x.Memory.Made, Access: "allocated"}, files)
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// show writes the lines around a place, unless the program does not tell it; files are those that were read.
func (r *Result) show(b *strings.Builder, s *checker.Site, files map[string][]string) {
	file, at := sitePlace(s)
	if file == "" || r.Source == nil {
		return
	}
	lines, ok := files[file]
	if !ok {
		if text, err := r.Source(file); err == nil {
			lines = strings.Split(strings.ToValidUTF8(string(text), "?"), "\n")
		}
		files[file] = lines
	}
	title := fmt.Sprintf("%s:%d", file, at)
	if s.Access != "" {
		title = s.Access + ", " + title
	}
	fmt.Fprintf(b, "<div>%s</div>\n", markup(title))
	if at > len(lines) {
		return
	}
	b.WriteString(`<table class="code">`)
	for n := max(at-around, 1); n <= min(at+around, len(lines)); n++ {
		class := ""
		if n == at {
			class = ` class="here"`
		}
		fmt.Fprintf(b, "<tr%s><td>%d</td><td>%s</td></tr>", class, n, markup(strings.TrimRight(lines[n-1], "\r")))
	}
	b.WriteString("</table>\n")
}
