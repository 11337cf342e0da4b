// Command coverage writes docs/ptx-coverage.md: every instruction form of the opcode table, the PTX version and target
// that it needs, and what the software device does with it. It is run in the root of the repository; with -check it
// only says whether the page is as it would be written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

const page = "docs/ptx-coverage.md"

// device is the target that the software device offers: that of the hardware whose results were recorded.
var device = check.Target{SM: 90, Suffix: "a", PTX: check.MaxPTX}

// engines are asked in order; what the lowering makes other operations of needs none. The code generator runs what it
// has no template for through the interpreter, so the interpreter's answer is the device's.
var engines = []struct {
	name     string
	supports func(optab.Opcode) bool
}{{"interpreter", interp.Supports}, {"lowering", ir.Expands}}

// sections are the parts of the manual's instruction chapter (PTX ISA 9.7) in its order, with the first words that
// stand in each.
var sections = []struct{ title, names string }{
	{"Integer arithmetic", "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a"},
	{"Extended-precision integer arithmetic", "addc subc madc"},
	{"Floating point", "add sub mul fma mad div abs neg min max testp copysign rcp sqrt rsqrt sin cos lg2 ex2 tanh"},
	{"Comparison and selection", "set setp selp slct"},
	{"Logic and shift", "and or xor not cnot lop3 shf shl shr"},
	{"Data movement and conversion", "mov shfl prmt ld ldu st multimem prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt mapa getctarank cp tensormap"},
	{"Texture", "tex tld4 txq istypep"},
	{"Surface", "suld sust sured suq"},
	{"Control flow", "bra brx call ret exit"},
	{"Parallel synchronisation and communication",
		"bar barrier membar fence atom red vote match activemask redux griddepcontrol elect mbarrier clusterlaunchcontrol"},
	{"Warp-level matrix", "wmma mma ldmatrix stmatrix movmatrix"},
	{"Asynchronous warpgroup matrix", "wgmma"},
	{"Tensor cores of the fifth generation", "tcgen05"},
	{"Stack", "stacksave stackrestore alloca"},
	{"Video", "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4"},
	{"Miscellaneous", "brkpt nanosleep pmevent trap setmaxnreg"},
}

func main() {
	onlyCheck := flag.Bool("check", false, "say whether "+page+" is fresh instead of writing it")
	flag.Parse()
	text, err := render(optab.Get())
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
	if *onlyCheck {
		old, err := os.ReadFile(page)
		if err == nil && bytes.Equal(old, text) {
			return
		}
		if err == nil {
			err = fmt.Errorf("%s is stale: run go run ./internal/tools/ptxcoverage", page)
		}
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
	if err = os.MkdirAll(filepath.Dir(page), 0o777); err == nil {
		err = os.WriteFile(page, text, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// row is one line of the page; forms that differ only in the N of a matrix shape share one.
type row struct {
	syntax, needs, status string
	forms                 int
}

type tally struct{ forms, yes, elsewhere, missing int }

// render makes the page.
func render(t *optab.Table) ([]byte, error) {
	section, floating := map[string]int{}, 0
	for i, s := range sections {
		if s.title == "Floating point" {
			floating = i
		}
		for _, n := range strings.Fields(s.names) {
			if _, ok := section[n]; !ok {
				section[n] = i
			}
		}
	}
	lists := make([][]*optab.Form, len(sections))
	for _, f := range t.Forms() {
		i, ok := section[f.Name]
		if !ok {
			return nil, fmt.Errorf("%s.tab:%d: instruction %s stands in no section of the page", f.Group, f.Line,
				f.Name)
		}
		if f.Group == "float" { // add, min and their like stand in two chapters
			i = floating
		}
		lists[i] = append(lists[i], f)
	}
	var body bytes.Buffer
	var total tally
	var sums []tally
	for i, s := range sections {
		order := map[string]int{}
		for k, n := range strings.Fields(s.names) {
			order[n] = k
		}
		fs := lists[i]
		sort.SliceStable(fs, func(a, b int) bool { return order[fs[a].Name] < order[fs[b].Name] })
		var rows []*row
		seen := map[row]*row{}
		var sum tally
		for _, f := range fs {
			st, kind := status(f)
			switch kind {
			case there:
				sum.yes++
			case elsewhere:
				sum.elsewhere++
			default:
				sum.missing++
			}
			sum.forms++
			key := row{syntax: syntax(f), needs: needs(f), status: st}
			r := seen[key]
			if r == nil {
				r = &row{key.syntax, key.needs, key.status, 0}
				seen[key] = r
				rows = append(rows, r)
			}
			r.forms++
		}
		sums = append(sums, sum)
		total.forms, total.yes, total.elsewhere, total.missing = total.forms+sum.forms, total.yes+sum.yes,
			total.elsewhere+sum.elsewhere, total.missing+sum.missing
		fmt.Fprintf(&body, "\n## %s\n\n| form | needs | software device |\n|---|---|---|\n", s.title)
		for _, r := range rows {
			fmt.Fprintf(&body, "| `%s` | %s | %s |\n", strings.ReplaceAll(r.syntax, "|", "\\|"), r.needs, r.status)
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `# PTX coverage

Generated from the opcode table (internal/ptx/optab/*.tab) by `+"`go run ./internal/tools/ptxcoverage`"+`; do not edit.

Forms are those of PTX ISA %d.%d. Braces with commas stand for one of the words, brackets for words that may be absent;
N in a matrix shape stands for every width that the manual has. "needs" is the first PTX version and the target. The
software device is an %s: forms that need another target are recognised and refused with the message of NVIDIA's
compiler.

| | forms | run by the software device | need another target or version | not implemented |
|---|---:|---:|---:|---:|
`, check.MaxPTX/10, check.MaxPTX%10, device)
	for i, s := range sections {
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d |\n", s.title, sums[i].forms, sums[i].yes, sums[i].elsewhere,
			sums[i].missing)
	}
	fmt.Fprintf(&out, "| all | %d | %d | %d | %d |\n", total.forms, total.yes, total.elsewhere, total.missing)
	out.Write(body.Bytes())
	return out.Bytes(), nil
}

var shape = regexp.MustCompile(`^(m\d+)n\d+(k\d+)$`)

// syntax writes a form as the manual does: name, modifiers, operands by name.
func syntax(f *optab.Form) string {
	var b strings.Builder
	b.WriteString(f.Name)
	for i := range f.Slots {
		s := &f.Slots[i]
		words := s.Words
		if f.Name == "wgmma" && len(words) == 1 {
			words = []string{shape.ReplaceAllString(words[0], "${1}nN$2")}
		}
		text := "." + strings.Join(words, ", .")
		switch {
		case s.Optional:
			text = "[" + text + "]"
		case len(words) > 1:
			text = "{" + text + "}"
		}
		b.WriteString(text)
	}
	for i := range f.Operands {
		o := &f.Operands[i]
		text := operand(o)
		if i > 0 {
			text = ", " + text
		} else {
			b.WriteByte(' ')
		}
		if o.Optional {
			text = "[" + text + "]"
		}
		b.WriteString(text)
	}
	return b.String()
}

func operand(o *optab.Operand) string {
	text := o.Name
	switch o.Kind {
	case optab.KindMem:
		text = "(" + text + ")"
	case optab.KindTex:
		text = "(" + text + ", coordinates)"
	case optab.KindSurf:
		text = "(" + text + ", coordinates)"
	}
	if o.Pair != nil {
		p := "|" + operand(o.Pair)
		if o.Pair.Optional {
			p = "[" + p + "]"
		}
		text += p
	}
	return text
}

// needs is the PTX version and target of a form.
func needs(f *optab.Form) string {
	text := fmt.Sprintf("PTX %d.%d", f.PTX/10, f.PTX%10)
	if f.MaxPTX != 0 {
		text += fmt.Sprintf(" to %d.%d", f.MaxPTX/10, f.MaxPTX%10)
	}
	switch {
	case len(f.Only) > 0:
		text += ", " + strings.Join(f.Only, " or ")
	case f.Arch:
		text += fmt.Sprintf(", sm_%da", f.SM)
	default:
		text += fmt.Sprintf(", sm_%d", f.SM)
	}
	return text
}

// availability sorts forms by what the device can say of them.
type availability uint8

const (
	there availability = iota
	elsewhere
	missing
)

// status is the last column.
func status(f *optab.Form) (string, availability) {
	switch {
	case len(f.Only) > 0 && !device.Is(f.Only...), f.SM > device.SM:
		return "other target", elsewhere
	case f.PTX > device.PTX:
		return "later PTX", elsewhere
	}
	for _, e := range engines {
		if e.supports(f.Op) {
			return e.name, there
		}
	}
	return "not implemented", missing
}
