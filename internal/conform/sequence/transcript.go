package sequence

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Recorded is a sequence with a device's answers; without them the answers are empty.
type Recorded struct {
	Name  string // its topic and seed
	Lines []Line
}

// Line is a call and its answer.
type Line struct{ Call, Answer string }

// The answers that no device gives.
const (
	Crash  = "CRASH"  // the process died in the call
	Hang   = "HANG"   // the call did not return
	Varies = "VARIES" // two recordings differ
)

// Write writes sequences: a line with # and the name, then the calls.
func Write(w io.Writer, list []Recorded) error {
	b := bufio.NewWriter(w)
	for _, r := range list {
		fmt.Fprintf(b, "# %s\n", r.Name)
		for _, l := range r.Lines {
			b.WriteString(l.Call)
			if l.Answer != "" {
				b.WriteString(" -> " + l.Answer)
			}
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]Recorded, error) {
	var list []Recorded
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if name, ok := strings.CutPrefix(s.Text(), "# "); ok {
			list = append(list, Recorded{Name: name})
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("a line before the first name: %q", s.Text())
		}
		call, answer, _ := strings.Cut(s.Text(), " -> ")
		if _, err := Parse(call); err != nil {
			return nil, err
		}
		last := &list[len(list)-1]
		last.Lines = append(last.Lines, Line{call, answer})
	}
	return list, s.Err()
}

// Merge makes one recording of two: where they differ there is no answer. What only one of them has is as the other leaves it.
func Merge(a, b Recorded) Recorded {
	m := Recorded{Name: a.Name}
	for i, l := range a.Lines {
		if i < len(b.Lines) && b.Lines[i].Answer != l.Answer {
			l.Answer = Varies
		}
		m.Lines = append(m.Lines, l)
	}
	return m
}
