package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// A rule looks at what a line of the opcode table cannot say: combinations of modifiers, ranges of immediates, operands
// of kind "any". It is named by rule=NAME in the table and runs when the modifiers and the operands fit the form. It
// returns "", or the text of the fault in the words of ptxas; it may also report several faults itself by
// [instCheck.Errorf].
//
// A family adds its rules to the ruleSet in its own file (rules_int.go, rules_mem.go, ...):
//
//	var rulesInt = ruleSet{
//		"bfind": func(ic *instCheck) string {
//			if ic.Has("shiftamt") && ic.Type(0).Bits == 16 {
//				return ic.Illegal("shiftamt")
//			}
//			return ""
//		},
//	}
//
// What a rule has: ic.Has and ic.One for modifiers, ic.Type(n) for the nth instruction type, ic.Arg(name) for the
// operand that the table calls name (nil when absent), ic.Source(name) for its syntax, ic.Target, ic.Func. To check an
// operand of kind "any", or one whose type depends on others, call ic.Resolve with the type word: it fills the Arg as
// for a T operand.
type rule = func(ic *instCheck) string

type ruleSet map[string]rule

// ruleSets lists the families. A name stands in one of them.
var ruleSets = []ruleSet{rulesControl, rulesInt, rulesFloat, rulesCvt, rulesMem, rulesSync, rulesAsync, rulesTMA,
	rulesTensor, rulesTexture}

func findRule(name string) rule {
	for _, s := range ruleSets {
		if r := s[name]; r != nil {
			return r
		}
	}
	return nil
}

// instCheck is what a rule sees of the instruction in hand.
type instCheck struct {
	Target Target
	Func   *Func        // the function that the instruction stands in
	AST    *ptx.Instr   //
	Match  *optab.Match // the form and its modifiers
	Args   []Arg        // operands as resolved; a rule may rewrite them

	c    *checker
	cand *candidate
	src  []ptx.Operand // parallel to Args
}

// Has says whether the modifier is present.
func (ic *instCheck) Has(word string) bool { return ic.Match.Has(word) }

// One returns the first of the words that is a modifier of the instruction, or "".
func (ic *instCheck) One(words ...string) string { return ic.Match.One(words...) }

// Type returns the nth instruction type; the zero Type when there are fewer.
func (ic *instCheck) Type(n int) *optab.Type { return optab.FindType(ic.Match.Type(n)) }

// index returns where the operand that the table calls name is in Args, or -1.
func (ic *instCheck) index(name string) int {
	for i := range ic.Args {
		if ic.Args[i].Op != nil && ic.Args[i].Op.Name == name {
			return i
		}
	}
	return -1
}

// Arg returns the operand that the table calls name, nil when the instruction does not have it.
func (ic *instCheck) Arg(name string) *Arg {
	if i := ic.index(name); i >= 0 {
		return &ic.Args[i]
	}
	return nil
}

// Source returns the syntax of the operand that the table calls name, nil when the instruction does not have it.
func (ic *instCheck) Source(name string) ptx.Operand {
	if i := ic.index(name); i >= 0 {
		return ic.src[i]
	}
	return nil
}

// Imm returns the value of a constant operand, and false when it is absent or not a constant.
func (ic *instCheck) Imm(name string) (uint64, bool) {
	a := ic.Arg(name)
	if a == nil || a.Kind != ArgImm {
		return 0, false
	}
	return a.Imm, true
}

// IsReg says whether the operand is a register (a vector counts when its elements are).
func (ic *instCheck) IsReg(name string) bool {
	a := ic.Arg(name)
	return a != nil && (a.Kind == ArgReg || a.Kind == ArgVec)
}

// Resolve checks src as an operand of the type word typ ("pred" for a predicate) and returns what it is. The second
// result is the fault, "" when there is none. A vector in braces is resolved element by element.
func (ic *instCheck) Resolve(op *optab.Operand, src ptx.Operand, typ string) (Arg, string) {
	t := optab.FindType(typ)
	if t.Name == "" {
		panic("check: rule resolves unknown type " + typ)
	}
	s := spec{op: op, kind: optab.KindType, typ: t, at: ic.c.position(op, typ), sym: ic.cand != nil && ic.cand.symOK}
	if t.Class == optab.Predicate {
		s.kind = optab.KindPred
	}
	if v, ok := src.(*ptx.Vector); ok {
		s.kind, s.n = optab.KindVec, len(v.Elems)
	}
	var a Arg
	if p := ic.c.operand(&s, src, &a); p.code != pOK {
		return a, ic.c.problemText(p, ic.AST)
	}
	return a, ""
}

// Elems returns the elements of a vector operand, or the operand itself as the only one.
func (ic *instCheck) Elems(a *Arg) []Arg {
	if a.Kind == ArgVec || a.Kind == ArgList {
		return a.Elems
	}
	return []Arg{*a}
}

// Errorf reports a fault at the instruction.
func (ic *instCheck) Errorf(format string, args ...any) {
	ic.c.errorf(ic.AST.Pos, Semantic, format, args...)
}

// Name is the instruction's first word.
func (ic *instCheck) Name() string { return ic.AST.Name }

// Illegal is the text for a modifier that the instruction does not take here.
func (ic *instCheck) Illegal(word string) string {
	return fmt.Sprintf("Illegal modifier '.%s' for instruction '%s'", word, ic.AST.Name)
}

// Combined is the text for two modifiers that exclude each other.
func (ic *instCheck) Combined(a, b string) string {
	return fmt.Sprintf("Modifier '.%s' cannot be combined with modifier '.%s'", a, b)
}

// Mismatch is the text for operands that do not fit.
func (ic *instCheck) Mismatch() string {
	return fmt.Sprintf("Arguments mismatch for instruction '%s'", ic.AST.Name)
}

// Types is the text for instruction types that do not go together.
func (ic *instCheck) Types() string {
	return fmt.Sprintf("Unexpected instruction types specified for '%s'", ic.AST.Name)
}

// NeedPTX returns the fault when the module's version (times ten) is older.
func (ic *instCheck) NeedPTX(feature string, version int) string {
	if ic.Target.PTX >= version {
		return ""
	}
	return needPTX(feature, version)
}

// NeedSM returns the fault when the module's target is lower.
func (ic *instCheck) NeedSM(feature string, sm int) string {
	if ic.Target.SM >= sm {
		return ""
	}
	return needSM(feature, sm)
}

// NeedTarget returns the fault when the module's target is not among names (sm_90a, sm_100f).
func (ic *instCheck) NeedTarget(feature string, names ...string) string {
	if ic.Target.Is(names...) {
		return ""
	}
	return fmt.Sprintf("Feature '%s' not supported on .target '%s'", feature, ic.Target)
}

func needPTX(feature string, version int) string {
	return fmt.Sprintf("Feature '%s' requires PTX ISA .version %d.%d or later", feature, version/10, version%10)
}

func needSM(feature string, sm int) string {
	return fmt.Sprintf("Feature '%s' requires .target sm_%d or higher", feature, sm)
}
