package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// mods is modifiers.txt.
type mods struct {
	fields []*field
	flags  []value
	none   []string
}

// field is a field of Mods with a type of its own.
type field struct {
	name   string
	count  int
	values []value
}

func parse(text string) (*mods, error) {
	m := &mods{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		name, list := words[0], words[1:]
		switch name {
		case "none":
			m.none = append(m.none, list...)
			continue
		case "flag":
			m.flags = append(m.flags, values(list)...)
			continue
		}
		count := 1
		if base, ok := strings.CutSuffix(name, "*2"); ok {
			name, count = base, 2
		}
		i := slices.IndexFunc(m.fields, func(f *field) bool { return f.name == name })
		if i < 0 {
			i, m.fields = len(m.fields), append(m.fields, &field{name: name, count: count})
		}
		m.fields[i].values = append(m.fields[i].values, values(list)...)
	}
	return m, nil
}

// values reads constant=word,word and words that name themselves.
func values(list []string) []value {
	var out []value
	for _, x := range list {
		name, words, ok := strings.Cut(x, "=")
		if !ok {
			words = name
		}
		out = append(out, value{name, strings.Split(words, ",")})
	}
	return out
}

// meanings are the statements that a word leads to, in the order of the fields.
func (m *mods) meanings() map[string][]string {
	does := map[string][]string{}
	for _, f := range m.fields {
		for _, v := range f.values {
			for _, w := range v.words {
				c := f.name + identifier(v.name)
				s := fmt.Sprintf("if m.%s == 0 { m.%s = %s }", f.name, f.name, c)
				if f.count == 2 {
					s = fmt.Sprintf("if m.%s[0] == 0 { m.%s[0] = %s } else { m.%s[1] = %s }", f.name, f.name, c, f.name,
						c)
				}
				does[w] = append(does[w], s)
			}
		}
	}
	for _, v := range m.flags {
		for _, w := range v.words {
			does[w] = append(does[w], fmt.Sprintf("m.%s = true", identifier(v.name)))
		}
	}
	return does
}

// complete is an error when the table has a modifier that modifiers.txt lacks, or the reverse.
func (m *mods) complete(t *optab.Table) error {
	does, used := m.meanings(), map[string]bool{}
	for _, f := range t.Forms() {
		for _, s := range f.Slots {
			for _, w := range s.Words {
				used[w] = true
				if does[w] == nil && !slices.Contains(m.none, w) && !optab.IsType(w) &&
					optab.ShapeOf(w) == (optab.Shape{}) {
					return fmt.Errorf("%s.tab:%d: modifiers.txt does not say what .%s means", f.Group, f.Line, w)
				}
			}
		}
	}
	for _, w := range slices.Concat(sorted(keys(does)), m.none) {
		if !used[w] {
			return fmt.Errorf("modifiers.txt has .%s, which no instruction has", w)
		}
	}
	return nil
}

func keys(m map[string][]string) map[string]bool {
	set := map[string]bool{}
	for k := range m {
		set[k] = true
	}
	return set
}

func (m *mods) write(b *bytes.Buffer) {
	b.WriteString("\n// Mods is what an instruction's modifiers mean.\ntype Mods struct {\n\tTypes [MaxTypes]TypeID // in their order\n\tNumTypes uint8\n\tShape Shape // of matrices\n\n")
	for _, f := range m.fields {
		typ := f.name
		if f.count > 1 {
			typ = fmt.Sprintf("[%d]%s", f.count, typ)
		}
		fmt.Fprintf(b, "\t%s %s\n", f.name, typ)
	}
	b.WriteString("\n")
	for _, v := range m.flags {
		fmt.Fprintf(b, "\t%s bool // .%s\n", identifier(v.name), v.words[0])
	}
	b.WriteString("}\n\n// set notes a modifier that is no type.\nfunc (m *Mods) set(word string) {\n\tswitch word {\n")
	does := m.meanings()
	for _, w := range sorted(keys(does)) {
		fmt.Fprintf(b, "\tcase %q:\n\t\t%s\n", w, strings.Join(does[w], "\n\t\t"))
	}
	b.WriteString("\tdefault:\n\t\tif s := ShapeOf(word); s != (Shape{}) {\n\t\t\tm.Shape = s\n\t\t}\n\t}\n}\n")
}
