package jit

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Recorded modules: those of the checkout, and the complete set when it lies beside it.
const (
	corpusSubset = "../../../testdata/corpus"
	fullCorpus   = "../../../../shared/corpus"
)

// ctaShapes are the dimensions for which whole CTAs are compiled.
var ctaShapes = [][3]uint32{{256, 1, 1}, {16, 16, 1}, {32, 8, 1}, {7, 3, 2}}

// coverage is what is known of the kernels of a set of modules.
type coverage struct {
	kernels, whole, ctas int            // all; those with a template for every operation; those that also have code of whole CTAs
	avx2                 int            // those with a template for every operation that AVX2 can do too
	refused              map[string]int // forms that it cannot do
	ops, missing         int
	rest                 []string       // kernels with the forms that they miss
	apart                map[string]int // kernels without code of whole CTAs, by reason
	forms                map[string]int // forms without a template, by how many operations have them
}

// formName names the form of an operation without template.
func formName(op *ir.Op) string {
	switch op.Ctl {
	case ir.FrameAddr:
		return "address of a local variable"
	case ir.Special:
		return "mov of " + op.Name
	}
	if op.Match == nil {
		return "?"
	}
	parts := []string{op.Match.Form.Name}
	for _, w := range op.Match.Words {
		if w != "" {
			parts = append(parts, w)
		}
	}
	if len(op.Match.Words) == 0 {
		parts = append(parts, op.Match.Types...)
	}
	s := strings.Join(parts, ".")
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space == ir.FrameParam {
			s += " of functions"
		}
	}
	return s
}

// scheduled says whether an operation only lets others run: the scheduler does that for both engines.
func scheduled(op *ir.Op) bool {
	return op.Ctl == ir.Plain && (op.Opcode() == optab.OpNanosleep || strings.HasPrefix(op.Opcode().String(), "barrier."))
}

// covered says whether an operation is done in machine code, or does not count: control flow is the scheduler's in code of single splits.
func covered(op *ir.Op, e emitter) bool {
	switch op.Ctl {
	case ir.Plain, ir.Special, ir.FrameAddr:
		return e != nil || scheduled(op)
	}
	return true
}

// eachModule calls f for every module in a folder of recordings that has PTX of its own.
func eachModule(t *testing.T, dir string, f func(name, text string)) {
	t.Helper()
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		build := m.PTXBuild()
		if build == "" || strings.HasPrefix(build, "link:") {
			continue // what the linker makes is in other modules too
		}
		text, err := m.Image(build)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f(name, string(text))
	}
}

// eachKernel calls f for every kernel of a module that the device takes.
func eachKernel(text string, f func(*ir.Kernel)) {
	cm, err := exectest.Check(text)
	if err != nil {
		return // modules that are to be refused
	}
	for _, fn := range cm.Funcs {
		if !fn.Entry || !fn.Defined {
			continue
		}
		k, err := ir.Lower(fn, exectest.Symbols(cm))
		if err != nil {
			continue
		}
		if _, err := interp.Prepare(k); err != nil {
			continue // not supported at all
		}
		f(k)
	}
}

// cover compiles every kernel of the modules in a folder that have PTX, as single splits and as whole CTAs. known is
// what was found of modules before, by name and text: those of the repository are in the complete set too.
func cover(t *testing.T, dir string, known map[string]*coverage) *coverage {
	t.Helper()
	c := newCoverage()
	eachModule(t, dir, func(name, text string) {
		key := name + "\x00" + text
		one := known[key]
		if one == nil {
			one = newCoverage()
			eachKernel(text, func(k *ir.Kernel) { one.kernel(t, name, k) })
			known[key] = one
		}
		c.add(one)
	})
	return c
}

func newCoverage() *coverage {
	return &coverage{forms: map[string]int{}, apart: map[string]int{}, refused: map[string]int{}}
}

// add adds what was found of a module.
func (c *coverage) add(m *coverage) {
	c.kernels += m.kernels
	c.whole += m.whole
	c.ctas += m.ctas
	c.avx2 += m.avx2
	c.ops += m.ops
	c.missing += m.missing
	c.rest = append(c.rest, m.rest...)
	for _, x := range []struct{ to, from map[string]int }{{c.forms, m.forms}, {c.apart, m.apart}, {c.refused, m.refused}} {
		for k, n := range x.from {
			x.to[k] += n
		}
	}
}

func (c *coverage) kernel(t *testing.T, module string, k *ir.Kernel) {
	t.Helper()
	c.kernels++
	lacks := map[string]bool{}
	refused := false
	for _, f := range k.Funcs {
		native := make([]emitter, len(f.Ops))
		for i := range f.Ops {
			op := &f.Ops[i]
			native[i] = lookup(op)
			c.ops++
			if !covered(op, native[i]) {
				c.missing++
				c.forms[formName(op)]++
				lacks[formName(op)] = true
			}
		}
		a := analyse(f, native, false)
		for _, full := range []bool{true, false} {
			for _, set := range []isa{avx512, avx2} {
				_, _, err := generate(a, full, set)
				var no *NoCodeError
				if set == avx2 && errors.As(err, &no) && no.Why == WhyInstruction {
					refused = true
					for _, i := range no.Ops {
						c.refused[formName(&f.Ops[i])]++
					}
				} else if err != nil {
					t.Errorf("%s, %s, %s, all lanes %t, %v: %v", module, k.Name, f.Name, full, set, err)
				}
			}
		}
	}
	f := k.Funcs[0]
	native := make([]emitter, len(f.Ops))
	for i := range f.Ops {
		native[i] = lookup(&f.Ops[i])
	}
	a := analyse(f, native, true)
	var err error
	if no := ctaReady(k, a); no != nil {
		err = no
	}
	for _, dims := range ctaShapes {
		if err != nil {
			break
		}
		var one, two *ctaCode
		known := func() *values {
			v, err := evaluate(a, dims, make([]bool, len(f.Ops)))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if one, err = generateCTA(k, a, known(), ctaOptions{}); err == nil && dims[0] == 256 {
			two, err = generateCTA(k, a, known(), ctaOptions{apart: true})
			if err == nil && (!bytes.Equal(one.text, two.text) || !slices.Equal(one.points, two.points) || one.entries != two.entries || one.skip != two.skip || one.start != two.start) {
				t.Errorf("%s, %s: the code is another when its versions are written at the same time", module, k.Name)
			}
		}
		if err != nil {
			t.Errorf("%s, %s, blocks of %v: %v", module, k.Name, dims, err)
		}
	}
	if len(lacks) == 0 && !refused {
		c.avx2++
	}
	switch {
	case len(lacks) > 0:
		var list []string
		for f := range lacks {
			list = append(list, "`"+f+"`")
		}
		sort.Strings(list)
		c.rest = append(c.rest, fmt.Sprintf("| %s | `%s` | %s |", module, k.Name, strings.Join(list, ", ")))
		return
	case err == nil:
		c.ctas++
	default:
		why := err.Error()
		if i := strings.Index(why, " (PTX line"); i >= 0 {
			why = why[:i]
		}
		c.apart[why]++
	}
	c.whole++
}

// coverageFile is the report; update writes it.
const coverageFile = "../../../docs/jit-coverage.md"

var update = flag.Bool("update", false, "write docs/jit-coverage.md")

// Parts of the report.
const (
	coverageHead = `# What the JIT runs in machine code

Kernels of the recorded modules whose every operation has a template, so that nothing of them is left to Go's interpreter (but control flow between functions, waiting at
barriers and for other warps, which is the scheduler's in both engines). As whole CTAs: those that, in blocks of several shapes, also run without the scheduler.
Made and checked by ` + "`go test ./internal/exec/jit -run TestCoverage -update`" + `.
`
	fullHead = "\n## The complete set\n\nThese modules are not in the repository.\n"
)

func (c *coverage) report() string {
	var b strings.Builder
	share := func(n int) string { return fmt.Sprintf("%d | %.1f %%", n, 100*float64(n)/float64(c.kernels)) }
	fmt.Fprintf(&b, "\n| | kernels | share |\n|---|---|---|\n| all | %d | |\n| whole | %s |\n| whole with AVX2 | %s |\n| as whole CTAs | %s |\n", c.kernels, share(c.whole), share(c.avx2), share(c.ctas))
	fmt.Fprintf(&b, "\n%d of %d operations have no template. The kernels that have such:\n\n| module | kernel | missing |\n|---|---|---|\n", c.missing, c.ops)
	for _, r := range c.rest {
		b.WriteString(r + "\n")
	}
	return b.String()
}

// TestCoverage compiles every recorded kernel: nothing may fail, and the share of kernels that run whole must not fall.
func TestCoverage(t *testing.T) {
	testEngine(t)
	sets := []struct {
		dir, head string
		share     float64
	}{{corpusSubset, "\n## The modules of the repository\n", 0.88}, {fullCorpus, fullHead, 0.92}}
	text := coverageHead
	known := map[string]*coverage{}
	complete := true
	for _, s := range sets {
		if _, err := os.Stat(filepath.Join(s.dir, "modules")); err != nil && s.dir == fullCorpus {
			t.Log("the complete set is not beside the checkout")
			complete = false
			continue
		}
		c := cover(t, s.dir, known)
		for w, n := range c.apart {
			t.Logf("%6d not as whole CTAs: %s", n, w)
		}
		for w, n := range c.refused {
			t.Logf("%6d not by AVX2: %s", n, w)
		}
		t.Logf("%s: %d kernels, %d with a template for every operation (AVX2: %d), %d of them as whole CTAs; %d of %d operations have none", s.dir, c.kernels, c.whole, c.avx2, c.ctas, c.missing, c.ops)
		if share := float64(c.whole) / float64(c.kernels); share < s.share {
			t.Errorf("%s: %.3f of the kernels run whole, less than %.2f", s.dir, share, s.share)
		}
		text += s.head + c.report()
	}
	if *update {
		if !complete {
			t.Fatal("the report wants the complete set too")
		}
		if err := os.WriteFile(coverageFile, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	is := string(have)
	if !complete {
		is, _, _ = strings.Cut(is, fullHead)
	}
	if is != text {
		t.Errorf("%s is out of date: go test ./internal/exec/jit -run TestCoverage -update", coverageFile)
	}
}
