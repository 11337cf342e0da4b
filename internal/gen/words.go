package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// wordsFile has the meaning of each parameter in api/; it says itself how.
const wordsFile = "parameters.txt"

// words are the meanings of parameters.
type words struct {
	text  map[string]string // key as in the file -> words
	stars []string          // the keys of functions with a star
	used  map[string]bool
}

var wordsLine = regexp.MustCompile(`^(?:(cu\w*(?:\*\w*)*)\.)?(\w+)(?:\(([\w*]+)\))?: (.+)$`)

func loadWords(path string) (*words, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w := &words{text: map[string]string{}, used: map[string]bool{}}
	for i, l := range strings.Split(string(b), "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		m := wordsLine.FindStringSubmatch(l)
		if m == nil || m[1] != "" && m[3] != "" {
			return nil, fmt.Errorf("%s:%d: not a parameter and its words", path, i+1)
		}
		key := l[:len(l)-len(m[4])-2]
		if w.text[key] != "" {
			return nil, fmt.Errorf("%s:%d: %s has words already", path, i+1, key)
		}
		w.text[key] = m[4]
		if strings.Contains(m[1], "*") {
			w.stars = append(w.stars, key)
		}
	}
	return w, nil
}

// of returns the words of a parameter: of its function, of functions that a star stands for (the longest pattern
// counts), of its name with its type, of its name.
func (w *words) of(f *Function, p *Param) (string, error) {
	base, stars := clean(p.Type)
	best := f.Name + "." + p.Name
	if w.text[best] == "" {
		best = ""
		for _, key := range w.stars {
			fn, name, _ := strings.Cut(key, ".")
			if name == p.Name && len(key) > len(best) && starred(fn, f.Name) {
				best = key
			}
		}
	}
	typed := p.Name + "(" + strings.ReplaceAll(base, " ", "") + strings.Repeat("*", stars) + ")"
	for _, key := range []string{best, typed, p.Name} {
		if text := w.text[key]; text != "" {
			w.used[key] = true
			return text, nil
		}
	}
	return "", fmt.Errorf("%s has no words for %s of %s (%s)", wordsFile, p.Name, f.Name, p.Type)
}

// starred matches a name with a pattern in which stars stand for anything.
func starred(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		at := strings.Index(name, part)
		switch {
		case at < 0 || i == 0 && at > 0:
			return false
		case i == len(parts)-1:
			return part == "" || strings.HasSuffix(name, part)
		}
		name = name[at+len(part):]
	}
	return name == ""
}

// unused are the keys that no parameter needs.
func (w *words) unused() []string {
	var left []string
	for key := range w.text {
		if !w.used[key] {
			left = append(left, key)
		}
	}
	return left
}

// parameterDoc is the list of a function's parameters in the documentation of package cu: what each means, and where it
// went in Go.
func (d *dialect) parameterDoc(f *Function, s *signature) (string, error) {
	if len(f.Params) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("//\n// Parameters, under their names in C:\n")
	for i, p := range f.Params {
		text, err := d.m.Words.of(f, p)
		if err != nil {
			return "", err
		}
		if place := s.places[i]; place != "" {
			text = fmt.Sprintf("%s (%s): %s.", p.Name, place, text)
		} else {
			text = fmt.Sprintf("%s: %s.", p.Name, text)
		}
		wrapDoc(&b, "//   - ", "//     ", text)
	}
	return b.String(), nil
}

// wrapDoc writes a text in lines of at most 120 columns.
func wrapDoc(b *strings.Builder, first, next, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case len(line)+1+len(word) > 120:
			b.WriteString(line + "\n")
			line = next
		default:
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
