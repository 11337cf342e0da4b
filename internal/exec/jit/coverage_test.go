package jit

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
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
	// all; those with a template for every operation; those that also have code of whole CTAs
	kernels, whole, ctas int
	avx2                 int            // those with a template for every operation that AVX2 can do too
	refused              map[string]int // forms that it cannot do
	ops, missing         int
	rest                 []string       // kernels with the forms that they miss
	apart                map[string]int // kernels without code of whole CTAs, by reason
	// forms without a template that Go cannot do without the scheduler, by how many operations have them
	forms  map[string]int
	served map[string]int // forms without a template that Go does, likewise
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
	return op.Ctl == ir.Plain && (op.Opcode() == optab.OpNanosleep ||
		strings.HasPrefix(op.Opcode().String(), "barrier."))
}

// covered says whether an operation is done in machine code, or does not count: control flow is the scheduler's in code
// of single splits.
func covered(op *ir.Op, native bool) bool {
	switch op.Ctl {
	case ir.Plain, ir.Special, ir.FrameAddr:
		return native || scheduled(op)
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
func eachKernel(text string, f func(*ir.Kernel, *interp.Single)) {
	cm, err := exectest.Check(text)
	if err != nil {
		return // modules that are to be refused
	}
	for _, fn := range cm.Funcs {
		if !fn.Entry || !fn.Defined {
			continue
		}
		k, err := ir.LowerVerified(fn, exectest.Symbols(cm))
		if err != nil {
			continue
		}
		s, err := interp.Prepare(k)
		if err != nil {
			continue // not supported at all
		}
		f(k, s)
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
			eachKernel(text, func(k *ir.Kernel, s *interp.Single) { one.kernel(t, name, k, s) })
			known[key] = one
		}
		c.add(one)
	})
	return c
}

func newCoverage() *coverage {
	return &coverage{forms: map[string]int{}, apart: map[string]int{}, refused: map[string]int{},
		served: map[string]int{}}
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
	for _, x := range []struct{ to, from map[string]int }{{c.forms, m.forms}, {c.apart, m.apart},
		{c.refused, m.refused}, {c.served, m.served}} {
		for k, n := range x.from {
			x.to[k] += n
		}
	}
}

func (c *coverage) kernel(t *testing.T, module string, k *ir.Kernel, s *interp.Single) {
	t.Helper()
	c.kernels++
	lacks := map[string]bool{}
	refused := false
	for _, f := range k.Funcs {
		native := make([]bool, len(f.Ops))
		for i := range f.Ops {
			op := &f.Ops[i]
			native[i] = generators()[amd64.AVX512].Supports(op)
			c.ops++
			if covered(op, native[i]) {
				continue
			}
			if serves, _ := s.Serves(f.Index, int32(i)); serves {
				c.served[formName(op)]++
			} else {
				c.missing++
				c.forms[formName(op)]++
				lacks[formName(op)] = true
			}
		}
		a := plan.Analyse(f, native, false)
		for _, full := range []bool{true, false} {
			for _, set := range []amd64.ISA{amd64.AVX512, amd64.AVX2} {
				_, _, err := generators()[set].CompileWarp(a, full, nil)
				var no *plan.NoCodeError
				if set == amd64.AVX2 && errors.As(err, &no) && no.Why == plan.WhyInstruction {
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
	a := analyseWhole(generators()[amd64.AVX512], k, s, nil, nil)
	var err error
	if no := plan.WholeCTA(k, a); no != nil {
		err = no
	}
	for _, dims := range ctaShapes {
		if err != nil {
			break
		}
		known := func() *plan.Values {
			v, err := plan.Evaluate(a, dims, make([]bool, len(f.Ops)))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if _, err = generators()[amd64.AVX512].CompileCTA(k, known(), abi.CTAOptions{}); err == nil &&
			dims[0] == 256 {
			some := abi.CTAOptions{Later: true}
			var c *abi.CTACode
			if c, err = generators()[amd64.AVX512].CompileCTA(k, known(), some); err == nil {
				_, err = generators()[amd64.AVX512].CompileRest(k, c, some)
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

Kernels of the recorded modules whose every operation is done in machine code, by a template or by a routine in Go that
machine code calls for the whole warp (but control flow between functions, waiting at barriers and for other warps,
which is the scheduler's in both engines). As whole CTAs: those that, in blocks of several shapes, also run without the
scheduler.
Made and checked by ` + "`go test ./internal/exec/jit -run TestCoverage -update`" + `.
`
	fullHead = "\n## The complete set\n\nThese modules are not in the repository.\n"
)

func (c *coverage) report() string {
	var b strings.Builder
	share := func(n int) string { return fmt.Sprintf("%d | %.1f %%", n, 100*float64(n)/float64(c.kernels)) }
	fmt.Fprintf(&b, "\n| | kernels | share |\n|---|---|---|\n| all | %d | |\n| whole | %s |\n| whole with AVX2 | %s |\n| as whole CTAs | %s |\n", c.kernels, share(c.whole), share(c.avx2), share(c.ctas))
	table := func(head string, counts map[string]int) {
		names := slices.Sorted(maps.Keys(counts))
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n\n| | |\n|---|---|\n", head)
		for _, n := range names {
			fmt.Fprintf(&b, "| %s | %d |\n", n, counts[n])
		}
	}
	fmt.Fprintf(&b, "\n%d of %d operations have neither a template nor a routine.\n", c.missing, c.ops)
	if len(c.rest) > 0 {
		b.WriteString("\n| module | kernel | missing |\n|---|---|---|\n")
	}
	for _, r := range c.rest {
		b.WriteString(r + "\n")
	}
	table("Operations that routines in Go do:", c.served)
	table("Kernels that do not run as whole CTAs, by reason:", c.apart)
	return b.String()
}

// TestCoverage compiles every recorded kernel: nothing may fail, and the share of kernels that run whole must not fall.
func TestCoverage(t *testing.T) {
	testEngine(t)
	sets := []struct {
		dir, head string
		ctas      float64 // the share of the kernels that run as whole CTAs
	}{{corpusSubset, "\n## The modules of the repository\n", 0.95}, {fullCorpus, fullHead, 0.96}}
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
		if c.whole != c.kernels || c.avx2 != c.kernels {
			t.Errorf("%s: of %d kernels %d run whole, %d with AVX2", s.dir, c.kernels, c.whole, c.avx2)
		}
		if share := float64(c.ctas) / float64(c.kernels); share < s.ctas {
			t.Errorf("%s: %.3f of the kernels run as whole CTAs, less than %.2f", s.dir, share, s.ctas)
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
