package ptxgen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Feature is a word of a form: what a slot of the form holds, or that an optional one is empty.
type Feature struct {
	Form *optab.Form
	Slot int    // -1 for a form without a choice
	Word string // "" for an empty slot
}

// String names a feature by the line of the table.
func (f Feature) String() string {
	s := f.Form.Syntax
	if f.Slot >= 0 {
		word := f.Word
		if word == "" {
			word = "none"
		}
		s += fmt.Sprintf(" [word %d: %s]", f.Slot+1, word)
	}
	return s
}

// newest is the newest PTX version that programs are written in, times ten.
const newest = 90

// Excluded says why no program uses a form, "" when programs do.
func Excluded(f *optab.Form) string {
	here := func(list []string) bool {
		return slices.Contains(list, "sm_90") || slices.Contains(list, "sm_90a")
	}
	switch {
	case f.SM > 90, len(f.Only) > 0 && !here(f.Only), f.PTX > newest, f.MaxPTX != 0 && f.MaxPTX < 78:
		return "not for sm_90a"
	case f.Rule == "unsynced":
		return "without .sync: PTX below 6.4, and sm_90 needs 7.8"
	case f.Name == "multimem":
		return "needs a multicast object over several devices"
	case f.Name == "trap", f.Name == "brkpt":
		return "ends the launch"
	}
	return ""
}

// Features lists every choice of every form that programs use, in an order that mixes the families. Nobody may write to
// it.
func Features() []Feature { return features() }

var features = sync.OnceValue(func() []Feature {
	var list []Feature
	for _, f := range optab.Get().Forms() {
		if Excluded(f) != "" {
			continue
		}
		n := len(list)
		for i := range f.Slots {
			s := &f.Slots[i]
			if len(s.Words) == 1 && !s.Optional {
				continue
			}
			for _, w := range s.Words {
				list = append(list, Feature{f, i, w})
			}
			if s.Optional {
				list = append(list, Feature{f, i, ""})
			}
		}
		if len(list) == n {
			list = append(list, Feature{f, -1, ""})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
})

// words chooses a word for each slot of a form, with that of a feature fixed.
func (g *gen) words(f *optab.Form, fixed Feature) []string {
	w := make([]string, len(f.Slots))
	for i := range f.Slots {
		s := &f.Slots[i]
		switch {
		case fixed.Form == f && fixed.Slot == i:
			w[i] = fixed.Word
		case s.Optional && g.IntN(10) < 7:
		default:
			w[i] = s.Words[g.IntN(len(s.Words))]
		}
	}
	return w
}

// match is what the table makes of a choice of words; nil when the form is not one of the program's version.
func (g *gen) match(f *optab.Form, words []string) *optab.Match {
	if f.PTX > g.version || f.Arch && g.target != "sm_90a" {
		return nil
	}
	var given []string
	for _, w := range words {
		if w != "" {
			given = append(given, w)
		}
	}
	m, miss := f.Fit(given)
	if miss.Kind != optab.MissNone {
		return nil
	}
	return &m
}

// mnemonic is the instruction's first words.
func mnemonic(f *optab.Form, words []string) string {
	s := f.Name
	for _, w := range words {
		if w != "" {
			s += "." + w
		}
	}
	return s
}

// used notes a use.
func (g *gen) used(f *optab.Form, words []string) {
	g.p.Uses = append(g.p.Uses, Use{f, words})
}

// feature writes a statement that holds a feature.
func (g *gen) feature(f Feature) {
	for range 60 {
		if g.form(f.Form, f) {
			return
		}
	}
	g.p.Missing = append(g.p.Missing, f)
}
