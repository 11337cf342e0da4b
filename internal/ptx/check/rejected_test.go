package check

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rejection is a form that the compiler of an H200's driver refused (silicon/rejected.json.gz), with its log.
type rejection struct{ ID, Group, PTX, Stage, Log string }

// guess collects the registers that a body uses and gives each the type that some form of the instruction wants: a form
// that is to be refused must be refused with the best operands. The data set does not say how registers were declared.
type guess struct {
	c     *checker
	types map[string]string
}

func (g *guess) set(name, typ string) {
	if strings.HasPrefix(name, "%") && g.types[name] == "" {
		if _, isSReg := findSReg(name); !isSReg {
			g.types[name] = typ
		}
	}
}

func (g *guess) operand(s *spec, a ptx.Operand) {
	typ := ""
	if s != nil {
		switch s.kind {
		case optab.KindPred:
			typ = "pred"
		case optab.KindMem, optab.KindTex, optab.KindSurf, optab.KindSamp:
			typ = "b64"
			if s.space == "shared" {
				typ = "b32"
			}
		case optab.KindType, optab.KindVec, optab.KindImm:
			// The recordings' registers had 16 bits at least: cvt.rn.bf16.s8 and the like are refused there for them
			// alone; with 8 bits an H200 takes these (TestBytes of internal/conform).
			typ = fmt.Sprintf("b%d", max(s.typ.Bits, 16))
			if s.typ.Class == optab.Predicate {
				typ = "pred"
			}
		}
	}
	var walk func(a ptx.Operand)
	walk = func(a ptx.Operand) {
		switch a := a.(type) {
		case *ptx.Ident:
			if typ != "" {
				g.set(a.Name, typ)
			}
		case *ptx.Not:
			walk(a.X)
		case *ptx.Neg:
			walk(a.X)
		case *ptx.Vector:
			for _, e := range a.Elems {
				walk(e)
			}
		case *ptx.Addr:
			if a.Base != nil {
				walk(a.Base)
			}
			for _, e := range a.Extra {
				g.operand(nil, e)
			}
		case *ptx.Pair:
			walk(a.First)
			if s != nil && s.pair != nil {
				g.operand(s.pair, a.Second)
			} else {
				walk(a.Second)
			}
		}
	}
	walk(a)
}

// instr types the registers of an instruction by its nth candidate; false when there are fewer.
func (g *guess) instr(in *ptx.Instr, n int) bool {
	if in.Guard != nil {
		g.set(in.Guard.Reg.Name, "pred")
	}
	o := g.c.opcodeOf(in)
	if n >= len(o.cands) {
		return n == 0
	}
	cd := &o.cands[n]
	if len(in.Args) < cd.need || len(in.Args) > len(cd.specs) {
		return true
	}
	skips := len(cd.specs) - len(in.Args)
	i := 0
	for j := range cd.specs {
		s := &cd.specs[j]
		if s.op.Optional && skips > 0 && (i == len(in.Args) || !plausible(s, in.Args[i])) {
			skips--
			continue
		}
		if i == len(in.Args) {
			break
		}
		g.operand(s, in.Args[i])
		i++
	}
	return true
}

// everyName types what is left as b32, so that no name is unknown.
func (g *guess) everyName(body string) {
	for i := 0; i < len(body); i++ {
		if body[i] != '%' {
			continue
		}
		j := i + 1
		for j < len(body) && (body[j] == '_' || body[j] == '$' || body[j]-'0' <= 9 || (body[j]|0x20)-'a' < 26) {
			j++
		}
		if j > i+1 {
			g.set(body[i:j], "b32")
		}
		i = j
	}
}

// verdict tries a rejected form with every candidate's operand types. It returns the faults of the first try, or nil
// when some typing was accepted.
func verdict(t *testing.T, r rejection) Errors {
	t.Helper()
	decl, body := "", r.PTX
	if strings.HasPrefix(r.ID, ".const ") {
		typ, init, _ := strings.Cut(strings.TrimPrefix(r.ID, ".const "), "/")
		decl = ".const .align 8 " + typ + " ci = " + init + ";\n"
	}
	if strings.Contains(body, "...") { // an abbreviated vector of eight
		body = strings.ReplaceAll(body, "{%r0, ..., %r7}", "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}")
		body = strings.ReplaceAll(body, "{...}", "{%a, %b, %c, %a, %a, %b, %c, %a}")
	}
	word := r.ID
	if i := strings.IndexAny(word, "./ ;"); i > 0 {
		word = word[:i]
	}
	build := func(regs string) string {
		return ".version 9.0\n.target sm_90\n.address_size 64\n" + decl +
			".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.shared .align 16 .b8 sm[4096];\n.shared .align 8 .b64 mb;\n" + regs + body + "\nret;\n}\n"
	}
	m, err := ptx.Parse([]byte(build("")))
	if err != nil {
		return Errors{{Text: err.Error()}}
	}
	var first Errors
	for n := 0; n < 64; n++ {
		c := &checker{tab: optab.Get(), ops: map[*ptx.Operation]*opcode{}, m: &Module{Target: Target{SM: 90, PTX: 90}}}
		g := &guess{c: c, types: map[string]string{}}
		for _, name := range []string{"%m", "%o", "%x0", "%x1"} {
			g.set(name, "b64")
		}
		g.set("%i", "b32")
		more := false
		f := m.Decls[len(m.Decls)-1].(*ptx.Func)
		for in := range f.Body.Instrs() { // first the form itself: the others only carry its operands
			if in.Name == word {
				more = g.instr(in, n) || more
			}
		}
		if n > 0 && !more {
			break
		}
		for in := range f.Body.Instrs() {
			if in.Name != word {
				g.instr(in, 0)
			}
		}
		g.everyName(body)
		names := make([]string, 0, len(g.types))
		for name := range g.types {
			names = append(names, name)
		}
		sort.Strings(names)
		var regs strings.Builder
		for _, name := range names {
			fmt.Fprintf(&regs, ".reg .%s %s;\n", g.types[name], name)
		}
		list := faults(t, build(regs.String()))
		if len(list) == 0 {
			return nil
		}
		if first == nil {
			first = list
		}
	}
	return first
}

// TestRejected: what the driver's compiler refuses is refused. -v prints counts and forms that are wrongly accepted or
// refused with another text; -run 'TestRejected/^int$' takes one group.
func TestRejected(t *testing.T) {
	var all []rejection
	if err := json.Unmarshal(readText(t, filepath.Join(shared(t, "silicon"), "rejected.json.gz")), &all); err != nil {
		t.Fatal(err)
	}
	var groups []string
	byGroup := map[string][]rejection{}
	for _, r := range all {
		if byGroup[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		byGroup[r.Group] = append(byGroup[r.Group], r)
	}
	for _, name := range groups {
		t.Run(name, func(t *testing.T) { rejectGroup(t, byGroup[name]) })
	}
}

func rejectGroup(t *testing.T, list []rejection) {
	const show = 12
	var total, accepted, same, unknown int
	for _, r := range list {
		list := verdict(t, r)
		missing := false
		for _, e := range list {
			missing = missing || strings.HasPrefix(e.Text, "Not a name of any known")
		}
		if r.Stage == "runtime" { // it compiles
			if list != nil && !missing {
				t.Errorf("%s compiles, but is refused here: %v", r.ID, list)
			}
			continue
		}
		total++
		switch {
		case list == nil:
			if accepted++; accepted <= show {
				t.Errorf("accepted %s\n\tdriver %s", strings.ReplaceAll(r.PTX, "\n", " "),
					strings.ReplaceAll(r.Log, "\n", " // "))
			}
			continue
		case missing:
			unknown++
			continue
		}
		first, _, _ := strings.Cut(r.Log, "\n")
		if _, text, ok := strings.Cut(first, ": "); ok && strings.HasSuffix(list[0].Text, text) {
			same++
		} else if total-accepted-same-unknown <= show {
			t.Logf("%s\n\tdriver %s\n\there   %s", r.ID, strings.ReplaceAll(r.Log, "\n", " // "), list[0].Text)
		}
	}
	t.Logf("%5d refused by the driver, %5d accepted here, %5d with the driver's first line, %5d not in the table",
		total, accepted, same, unknown)
}
