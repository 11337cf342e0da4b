package optab

// Match is the result of fitting an instruction's modifiers to a form.
type Match struct {
	Form  *Form
	Words []string // the word chosen for each slot, "" for an optional slot that is absent
	Types []string // the types in order
	Mods  Mods     // the same without strings, for those who execute the instruction; set when the form fits
}

// Has says whether a modifier word was given.
func (m *Match) Has(word string) bool {
	for _, w := range m.Words {
		if w == word {
			return true
		}
	}
	return false
}

// One returns the first of the given words that is present, or "".
func (m *Match) One(words ...string) string {
	for _, w := range words {
		if m.Has(w) {
			return w
		}
	}
	return ""
}

// Type returns the nth type, "" when there are fewer.
func (m *Match) Type(n int) string {
	if n < len(m.Types) {
		return m.Types[n]
	}
	return ""
}

// Resolve turns an operand's type notation into a type word under this match.
func (m *Match) Resolve(notation string) string {
	switch notation {
	case "T":
		return m.Type(0)
	case "U":
		return m.Type(1)
	case "V":
		return m.Type(2)
	case "W":
		return m.Type(3)
	case "wide(T)":
		return Widen(m.Type(0))
	case "wide(U)":
		return Widen(m.Type(1))
	case "T/2":
		return Halve(m.Type(0))
	}
	return notation
}

// Position is an operand position of a form whose modifiers are known. Operands share it, so nobody may write to it.
type Position struct {
	Op   *Operand // the form's description, nil where there is none
	Type string   // the type word, "" where it has none
}

// NoPosition is that of an operand that no form describes.
func NoPosition() *Position { return &noPosition }

var noPosition Position

// MissKind says why modifiers did not fit a form.
type MissKind uint8

// The ways of not fitting, from far to near.
const (
	MissNone    MissKind = iota
	MissWord             // a word that no slot accepts
	MissTypes            // types missing, too many or not accepted
	MissNeeded           // a required modifier is absent
	MissOperand          // left to the checker
)

// Miss describes the nearest failure.
type Miss struct {
	Kind  MissKind
	Form  *Form
	Index int    // of the modifier, for MissWord
	Word  string // the modifier, or one word of the slot that is needed
	Score int

	Types bool  // the types do not fit, whatever Kind says
	Bad   []int // modifiers that no slot accepts, types aside
	Need  []int // slots that lack a required modifier, types aside
}

// Fit fits modifier words to one form. Types must come in the form's order. The other words may stand in any order, as
// the assembler accepts them; where two slots accept the same word (source and destination space), the first free one
// takes it.
func (f *Form) Fit(words []string) (Match, Miss) {
	m := Match{Form: f, Words: make([]string, len(f.Slots))}
	score := 0
	miss := Miss{Form: f}
	fail := func(k MissKind, i int, w string) {
		if miss.Kind == MissNone {
			miss.Kind, miss.Index, miss.Word = k, i, w
		}
		switch k {
		case MissTypes:
			miss.Types = true
		case MissWord:
			miss.Bad = append(miss.Bad, i)
		}
	}
	nextType := 0
	for i, w := range words {
		slot := -1
		if IsType(w) {
			for s := nextType; s < len(f.Slots); s++ {
				if !f.Slots[s].Type {
					if f.Slots[s].has(w) && m.Words[s] == "" {
						slot = s
						break
					}
					continue
				}
				if f.Slots[s].has(w) && m.Words[s] == "" {
					slot = s
					break
				}
				if !f.Slots[s].Optional {
					break
				}
			}
			if slot < 0 {
				fail(MissTypes, i, w)
				continue
			}
			if f.Slots[slot].Type {
				nextType = slot + 1
			}
			m.Types = append(m.Types, w)
		} else {
			for s := range f.Slots {
				if m.Words[s] == "" && !f.Slots[s].Type && f.Slots[s].has(w) {
					slot = s
					break
				}
			}
			if slot < 0 {
				fail(MissWord, i, w)
				continue
			}
		}
		m.Words[slot] = w
		score += 2
	}
	for s := range f.Slots {
		if m.Words[s] == "" && !f.Slots[s].Optional {
			if f.Slots[s].Type {
				fail(MissTypes, 0, f.Slots[s].Words[0])
			} else {
				fail(MissNeeded, 0, f.Slots[s].Words[0])
				miss.Need = append(miss.Need, s)
			}
			score--
		}
	}
	miss.Score = score
	if miss.Kind == MissNone {
		m.resolve()
	}
	return m, miss
}
