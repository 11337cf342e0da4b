package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/lazy"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// misplaced are the faults of an operation word that does not stand first: for these instructions it is part of the
// name, while all other modifiers may stand in any order (probed on an H200).
func misplaced(name string, words []string) []string {
	first := subNames[name]
	if first == "" {
		return nil
	}
	for i, w := range words {
		if i == 0 || !slices.Contains(strings.Fields(first), w) ||
			i == 1 && (words[0] == "cta" || words[0] == "cluster") {
			continue
		}
		if slices.Contains(strings.Fields(first), words[0]) {
			continue
		}
		switch name {
		case "shf":
			return []string{fmt.Sprintf("Unknown modifier '.%s'", w), "Not a name of any known instruction: 'shf'"}
		case "cvta":
			return []string{fmt.Sprintf("Unknown modifier '.%s'", w)}
		case "bar", "barrier":
			return []string{fmt.Sprintf("Unknown modifier '.%s'", w),
				fmt.Sprintf("Illegal modifier '.%s' for instruction '%s'", words[0], name)}
		}
		return []string{fmt.Sprintf("Unexpected instruction types specified for '%s'", name)}
	}
	return nil
}

// subNames are the operations that are part of an instruction's name.
var subNames = map[string]string{
	"mul": "lo hi wide", "mad": "lo hi wide", "mul24": "lo hi", "mad24": "lo hi", "shf": "l r", "cvta": "to",
	"bar": "red arrive", "barrier": "red arrive",
}

// comparison says whether ptxas calls a word a comparison qualifier.
func comparison(word string) bool { return optab.Meaning(word).Cmp != optab.NoCmp }

// rounding says whether ptxas calls a word a rounding modifier.
func rounding(word string) bool { return optab.Meaning(word).Round != optab.NoRound }

// knownWords holds every modifier of the table.
var knownWords = lazy.Func(func() map[string]bool {
	w := map[string]bool{}
	for _, f := range optab.Get().Forms() {
		for i := range f.Slots {
			for _, x := range f.Slots[i].Words {
				w[x] = true
			}
		}
	}
	return w
})

func longNameOf(in *ptx.Instr) string { return longName(in.Name, in.Mods) }

// longName is what ptxas calls an instruction in its messages: some have their operation in it.
func longName(name string, words []string) string {
	var with string
	switch name {
	case "mul", "mad", "mul24", "mad24":
		with = "lo hi wide"
	case "shf":
		with = "l r"
	case "div":
		with = "full"
	case "cvt":
		with = "pack"
	case "cvta":
		with = "to"
	case "brx":
		with = "idx"
	case "cp", "st", "red":
		if len(words) > 0 && words[0] == "async" {
			name += ".async"
			if len(words) > 1 && words[1] == "bulk" {
				name += ".bulk"
			}
		} else if len(words) > 2 && name == "cp" && words[0] == "reduce" {
			name = "cp.reduce.async.bulk"
		}
		return name
	default:
		return name
	}
	for _, w := range words {
		for _, x := range strings.Fields(with) {
			if w == x {
				return name + "." + w
			}
		}
	}
	return name
}

// missTexts are the faults of modifiers that fit no form, in the order in which ptxas has them: unknown words, types,
// .sat, .ftz, the others, rounding last.
func missTexts(name string, words []string, m *optab.Miss) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	known := knownWords()
	for _, w := range words {
		if !known[w] {
			add("Unknown modifier '.%s'", w)
		}
	}
	if m.Types {
		add("Unexpected instruction types specified for '%s'", name)
		return out
	}
	rounded := false
	for _, first := range []string{"sat", "ftz", ""} {
		for _, i := range m.Bad {
			w := words[i]
			switch {
			case !known[w]:
			case rounding(w):
				rounded = true
			case comparison(w):
				if first != "" {
					continue
				}
				add("Comparison qualifier is not allowed for instruction '%s'", name)
				if w == "lo" || w == "ls" || w == "hi" || w == "hs" {
					add("Mismatch between instruction type and comparison qualifier")
				}
			case w == first, first == "" && w != "sat" && w != "ftz":
				add("Illegal modifier '.%s' for instruction '%s'", w, name)
			}
		}
	}
	if rounded {
		add("Illegal rounding modifier for instruction '%s'", name)
	}
	for _, s := range m.Need {
		slot := m.Form.Slots[s].Words
		switch r, a := rounding(slot[0]), slices.Contains(slot, "approx"); {
		case slot[0] == "lo" || slot[0] == "hi" || slot[0] == "wide": // part of the name
			add("Unexpected instruction types specified for '%s'", name)
		case r && rounded:
		case r && a:
			add("Rounding modifier or '.approx' modifier required for instruction '%s'", name)
		case r:
			add("Rounding modifier required for instruction '%s'", name)
		case a:
			add(".approx modifier required for instruction '%s'", name)
		default:
			add("'.%s' modifier required for instruction '%s'", slot[0], name)
		}
	}
	if out == nil {
		add("Unexpected instruction types specified for '%s'", name)
	}
	return out
}
