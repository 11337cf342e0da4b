package ptxgen

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Mutant makes a short program with one change, which is probably not valid any more. It is there to be compiled, not
// to be run.
func Mutant(seed uint64) *Program {
	g := newGen(seed)
	p := g.generate(1)
	lines := strings.SplitAfter(p.Text, "\n")
	for range 200 {
		i := g.IntN(len(lines))
		if line, ok := g.mutate(lines[i]); ok && line != lines[i] {
			lines[i] = line
			break
		}
	}
	p.Text = strings.Join(lines, "")
	return p
}

var (
	register    = regexp.MustCompile(`%[a-zA-Z_]+[0-9]*`)
	number      = regexp.MustCompile(`\b[0-9]+\b`)
	modifier    = regexp.MustCompile(`\.[a-zA-Z][a-zA-Z0-9_:]*`)
	instruction = regexp.MustCompile(`^(@!?%\w+ )?[a-z][a-z0-9]*[. ]`)
)

// allWords are the modifiers of the table.
var allWords = sync.OnceValue(func() []string {
	var list []string
	seen := map[string]bool{}
	for _, f := range optab.Get().Forms() {
		for i := range f.Slots {
			for _, w := range f.Slots[i].Words {
				if !seen[w] {
					seen[w] = true
					list = append(list, w)
				}
			}
		}
	}
	return list
})

var typeWords = []string{"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16",
	"f16x2", "bf16", "bf16x2", "f32", "f64", "pred", "tf32", "e4m3x2"}

// replace changes one of the matches of a pattern.
func (g *gen) replace(line string, r *regexp.Regexp, with func(old string) string) (string, bool) {
	all := r.FindAllStringIndex(line, -1)
	if len(all) == 0 {
		return line, false
	}
	at := all[g.IntN(len(all))]
	return line[:at[0]] + with(line[at[0]:at[1]]) + line[at[1]:], true
}

// mutate changes a line in one place.
func (g *gen) mutate(line string) (string, bool) {
	text := strings.TrimSuffix(line, "\n")
	isInst := instruction.MatchString(text) && strings.HasSuffix(text, ";")
	word := func() string { return "." + allWords()[g.IntN(len(allWords()))] }
	if !isInst && !g.chance(4) {
		return line, false // most changes are of instructions
	}
	out, ok := "", false
	switch g.IntN(20) {
	case 0, 1, 2: // another type
		out, ok = g.replace(text, modifier, func(old string) string {
			if optab.IsType(old[1:]) {
				return "." + pick(g, typeWords...)
			}
			return old
		})
	case 3, 4: // another word for one
		out, ok = g.replace(text, modifier, func(string) string { return word() })
	case 5: // a word less
		out, ok = g.replace(text, modifier, func(string) string { return "" })
	case 6, 7: // a word more
		out, ok = g.replace(text, modifier, func(old string) string { return pick(g, old+word(), word()+old) })
	case 8: // the operands in another order, one less, or one twice
		head, rest, found := strings.Cut(strings.TrimSuffix(text, ";"), " ")
		list := strings.Split(rest, ",")
		if !isInst || !found || len(list) < 2 {
			return line, false
		}
		i, j := g.IntN(len(list)), g.IntN(len(list))
		switch g.IntN(3) {
		case 0:
			list[i], list[j] = list[j], list[i]
		case 1:
			list = append(list[:i], list[i+1:]...)
		default:
			list = append(list, list[i])
		}
		out, ok = head+" "+strings.Join(list, ",")+";", true
	case 9, 10, 11: // another register
		out, ok = g.replace(text, register, func(string) string {
			s := regSets[g.IntN(len(regSets))]
			return fmt.Sprintf("%s%d", s.prefix, g.IntN(s.n+1))
		})
	case 12: // an operand of another kind
		out, ok = g.replace(text, register, func(old string) string {
			return pick(g, "1", "1.5", "-1", "0x100000000", "%tid", "%tid.x", "%clock64", "gs", "cs", "_", "!"+old,
				"-"+old, "nowhere", "{"+old+","+old+"}", "["+old+"]", old+".x", old+"|%p0", "k", "0f3F800000")
		})
	case 13, 14: // another number
		out, ok = g.replace(text, number, func(old string) string {
			return pick(g, "0", "1", "3", "7", "16", "33", "128", "256", "65536", "4294967295", "4294967296",
				"18446744073709551615", "-1", "-"+old, "1.5", "")
		})
	case 15: // a line less
		return "", true
	case 16: // a line twice
		return line + line, true
	case 17: // punctuation
		chars := ",;[]{}()+@|"
		c := chars[g.IntN(len(chars))]
		at := strings.IndexByte(text, c)
		if at < 0 {
			return line, false
		}
		out, ok = text[:at]+pick(g, "", ";", ",", string(c)+string(c))+text[at+1:], true
	case 18: // the header
		switch {
		case strings.HasPrefix(text, ".version"):
			out, ok = ".version "+pick(g, "1.0", "6.0", "7.7", "7.8", "8.0", "9.1", "10.0", "8"), true
		case strings.HasPrefix(text, ".target"):
			out, ok = ".target "+pick(g, "sm_80", "sm_90", "sm_90f", "sm_100", "sm_70", "sm_90,texmode_independent",
				"sm_90,debug"), true
		case strings.HasPrefix(text, ".address_size"):
			out, ok = ".address_size 32", true
		case strings.HasPrefix(text, "."):
			out, ok = pick(g, ".visible ", ".extern ", ".weak ", ".common ", ".align 8 ", ".align 3 ")+text, true
		}
	default: // a guard
		if !isInst || text[0] == '@' {
			return line, false
		}
		out, ok = pick(g, "@%p0 ", "@!%p1 ", "@%b0 ", "@%nope ", "@1 ", "@%pf ")+text, true
	}
	return out + "\n", ok
}
