package format

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
)

// around is how many lines of the source are shown before and behind a place.
const around = 4

type (
	htmlPage struct {
		Summary string
		Checks  []htmlCheck
		Reports []htmlReport
	}
	htmlCheck struct {
		Name  string
		Count int
	}
	htmlReport struct {
		*checker.Report
		Number int
		Name   string
		Text   string
		Places []htmlPlace
	}
	htmlPlace struct {
		Title string
		Lines []htmlLine
	}
	htmlLine struct {
		Number int
		Text   string
		Here   bool
	}
)

var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
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
<p>{{.Summary}} {{range .Checks}}{{.Name}}: {{.Count}}. {{end}}</p>
{{if .Reports}}<nav><table>{{range .Reports}}
<tr><td><a href="#r{{.Number}}">{{.Number}}</a></td><td>{{.Severity}}</td><td>{{.Name}}</td><td>{{.Count}}×</td></tr>{{end}}
</table></nav>{{else}}<p>Nothing was found.</p>{{end}}
{{range .Reports}}<section id="r{{.Number}}" class="{{.Severity}}">
<h2>{{.Number}}. <span class="kind">{{.Kind}}</span>: {{.Title}}</h2>
<pre>{{.Text}}</pre>
{{range .Places}}<div>{{.Title}}</div>
{{if .Lines}}<table class="code">{{range .Lines}}<tr{{if .Here}} class="here"{{end}}><td>{{.Number}}</td><td>{{.Text}}</td></tr>{{end}}</table>{{end}}
{{end}}</section>
{{end}}</body></html>
`))

// HTML writes a page with the source around each place.
func (r *Result) HTML(w io.Writer) error {
	p := htmlPage{Summary: strings.TrimSpace(strings.TrimPrefix(r.Summary(), "========= "))}
	for _, c := range strings.Split(r.Checks.String(), ",") {
		n := 0
		for _, x := range r.Reports {
			if x.Check == c {
				n++
			}
		}
		p.Checks = append(p.Checks, htmlCheck{c, n})
	}
	files := map[string][]string{}
	for i, x := range r.Reports {
		h := htmlReport{Report: x, Number: i + 1, Name: name(x), Text: plain(x.String())}
		for j := range x.Sites {
			h.Places = r.show(h.Places, &x.Sites[j], files)
		}
		if x.Memory != nil {
			h.Places = r.show(h.Places, &checker.Site{Call: &x.Memory.Made, Access: "allocated"}, files)
		}
		p.Reports = append(p.Reports, h)
	}
	return page.Execute(w, p)
}

// show adds the lines around a place, unless they are shown or cannot be read.
func (r *Result) show(list []htmlPlace, s *checker.Site, files map[string][]string) []htmlPlace {
	file, at := sitePlace(s)
	if file == "" || r.Source == nil {
		return list
	}
	lines, ok := files[file]
	if !ok {
		if b, err := r.Source(file); err == nil {
			lines = strings.Split(strings.ToValidUTF8(string(b), "?"), "\n")
		}
		files[file] = lines
	}
	p := htmlPlace{Title: strings.TrimSpace(fmt.Sprintf("%s, %s:%d", s.Access, file, at))}
	if s.Access == "" {
		p.Title = fmt.Sprintf("%s:%d", file, at)
	}
	for n := max(at-around, 1); n <= min(at+around, len(lines)); n++ {
		p.Lines = append(p.Lines, htmlLine{n, strings.TrimRight(lines[n-1], "\r"), n == at})
	}
	if at > len(lines) {
		p.Lines = nil
	}
	return append(list, p)
}
