package format

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/source"
)

// around is how many lines of the source are shown before and behind a place.
const around = 4

//go:embed page.css
var style string

// pageHead is the page up to its style. It needs nothing from elsewhere and runs no script, whatever names an image
// brings along.
const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gocuda check</title>
<style>
`

// markup writes text into HTML or XML, between tags or as the value of an attribute. Both are written here: packages
// for templates and XML would come into every program with the library, and one of them keeps the linker from leaving
// out methods that nobody calls.
func markup(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\t", "&#x9;",
	"\n", "&#xA;", "\r", "&#xD;", "\x00", "\uFFFD")

// shown is markup of a text that somebody else wrote, fit to be shown.
func shown(s string) string { return markup(source.Printable(s)) }

// HTML writes a page with the source around each place.
func (r *Result) HTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(pageHead + style + "</style></head><body>\n<h1 id=\"top\">gocuda check</h1>\n")
	fmt.Fprintf(&b, "<p>%s</p>\n<ul class=\"counts\">",
		markup(strings.TrimSpace(strings.TrimPrefix(r.Summary(), "========= "))))
	for _, c := range strings.Split(r.Checks.String(), ",") {
		n, class := 0, ""
		for _, x := range r.Reports {
			if x.Check == c {
				n, class = n+1, ` class="some"`
			}
		}
		fmt.Fprintf(&b, "<li%s>%s: <b>%d</b></li>", class, markup(c), n)
	}
	b.WriteString("</ul>\n")
	if len(r.Reports) == 0 {
		b.WriteString("<p>Nothing was found.</p>\n")
	} else {
		b.WriteString(`<nav aria-label="Reports"><table><thead><tr><th class="n">#</th><th>severity</th>` +
			`<th>what and where</th><th class="n">times</th></tr></thead><tbody>` + "\n")
		for i, x := range r.Reports {
			fmt.Fprintf(&b, `<tr><td class="n"><a href="#r%[1]d">%[1]d</a></td><td class="%[2]s-text">%[2]s</td>`+
				`<td class="name">%[3]s</td><td class="n">%[4]d</td></tr>`+"\n", i+1, markup(string(x.Severity)),
				shown(name(x)), max(x.Count, 1))
		}
		b.WriteString("</tbody></table></nav>\n")
	}
	files := map[string][]string{}
	for i, x := range r.Reports {
		fmt.Fprintf(&b, "<section id=\"r%[1]d\" class=\"%[2]s\">\n<h2>%[1]d. %[3]s</h2>\n", i+1,
			markup(string(x.Severity)), shown(x.Title()))
		times := "once"
		if x.Count > 1 {
			times = fmt.Sprintf("%d times", x.Count)
		}
		fmt.Fprintf(&b, "<div class=\"dim\">%s, check %s, found %s. <a href=\"#top\">All reports</a></div>\n",
			markup(x.Kind), markup(x.Check), times)
		text := plain(x.String())
		if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, x.Title()+"\n") {
			text = rest
		}
		fmt.Fprintf(&b, "<pre>%s</pre>\n", shown(text))
		var places []spot
		for j := range x.Sites {
			places = r.show(places, &x.Sites[j])
		}
		if x.Memory != nil {
			places = r.show(places, &checker.Site{Call: &x.Memory.Made, Access: "allocated"})
		}
		for j := range places {
			r.excerpt(&b, &places[j], files)
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// spot is a line of the source with what happens there.
type spot struct {
	file     string
	at       int
	accesses []string
}

// show adds a place, or what happens there to one that is shown.
func (r *Result) show(list []spot, s *checker.Site) []spot {
	file, at := sitePlace(s)
	if file == "" || r.Source == nil {
		return list
	}
	access := cmp.Or(strings.TrimSpace(s.Access), "here")
	for i := range list {
		if p := &list[i]; p.file == file && p.at == at {
			if !slices.Contains(p.accesses, access) {
				p.accesses = append(p.accesses, access)
			}
			return list
		}
	}
	return append(list, spot{file, at, []string{access}})
}

// excerpt writes the lines around a place, unless they cannot be read.
func (r *Result) excerpt(b *strings.Builder, p *spot, files map[string][]string) {
	lines, ok := files[p.file]
	if !ok {
		if text, err := r.Source(p.file); err == nil {
			lines = strings.Split(string(text), "\n")
		}
		files[p.file] = lines
	}
	fmt.Fprintf(b, "<div class=\"place\">%s</div>\n",
		shown(fmt.Sprintf("%s, %s:%d", strings.Join(p.accesses, " and "), p.file, p.at)))
	if p.at > len(lines) {
		return
	}
	b.WriteString(`<table class="code">`)
	for n := max(p.at-around, 1); n <= min(p.at+around, len(lines)); n++ {
		class := ""
		if n == p.at {
			class = ` class="here"`
		}
		fmt.Fprintf(b, "<tr%s><td>%d</td><td>%s</td></tr>", class, n, shown(strings.TrimRight(lines[n-1], "\r")))
	}
	b.WriteString("</table>\n")
}
