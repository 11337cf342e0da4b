package bench

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// colours of the implementations in a plot, in their order.
var colours = [...]string{"#1b6ca8", "#d97706", "#4d7c0f", "#9333ea", "#6b7280", "#be123c"}

// SVG draws the ratios to native C, one group of bars a case, on a logarithmic scale.
func (r *Report) SVG(w io.Writer) error {
	var impls []string
	for _, i := range r.Impls {
		if i != Native && r.Means[i].Native > 0 {
			impls = append(impls, i)
		}
	}
	lo, hi := 0.0, 1.0 // powers of ten
	for _, row := range r.Rows {
		for _, i := range impls {
			if v := row.Cells[i].Native; v > 0 {
				lo, hi = min(lo, math.Floor(math.Log10(v))), max(hi, math.Ceil(math.Log10(v)))
			}
		}
	}
	const left, right, bar, gap, top = 120, 60, 9, 8, 40
	const width = 640
	x := func(v float64) float64 { return left + (math.Log10(v)-lo)/(hi-lo)*width }
	group := bar*max(len(impls), 1) + gap
	height := top + group*(len(r.Rows)+1) + 30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", left+width+right, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="14" font-size="13">Time relative to native C (left of 1 is faster)</text>`+"\n", left)
	for k, i := range impls {
		fmt.Fprintf(&b, `<rect x="%d" y="21" width="10" height="10" fill="%s"/><text x="%d" y="30">%s</text>`+"\n",
			left+k*110, colours[k%len(colours)], left+k*110+14, html.EscapeString(i))
	}
	for p := lo; p <= hi; p++ {
		at := x(math.Pow(10, p))
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", at, at, top, height-24, map[bool]string{true: "#000", false: "#ddd"}[p == 0], at, height-10, math.Pow(10, p))
	}
	draw := func(n int, name string, value func(impl string) float64) {
		y := top + n*group + gap/2
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-6, y+group/2,
			html.EscapeString(name))
		for k, i := range impls {
			v := value(i)
			if v == 0 {
				continue
			}
			from, to := min(x(1), x(v)), max(x(1), x(v))
			fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s %s: %s</title></rect><text x="%.1f" y="%d" font-size="8">%s</text>`+"\n",
				from, y+k*bar, max(to-from, 1), bar-1, colours[k%len(colours)], html.EscapeString(name),
				html.EscapeString(i), ratio(v), to+3, y+k*bar+bar-2, ratio(v))
		}
	}
	for n, row := range r.Rows {
		draw(n, row.Bench, func(i string) float64 { return row.Cells[i].Native })
	}
	draw(len(r.Rows), "geomean", func(i string) float64 { return r.Means[i].Native })
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// HTML writes a page with the table and the plot.
func (r *Report) HTML(w io.Writer) error {
	var table, plot strings.Builder
	r.Table(&table)
	if err := r.SVG(&plot); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>gocuda bench</title>\n<h1>gocuda bench</h1>\n%s<pre>%s</pre>\n", plot.String(), html.EscapeString(table.String()))
	return err
}
