package sequence

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
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

// ReadFile reads a file that WriteFile wrote.
func ReadFile(path string) ([]Recorded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return Read(z)
}

// WriteFile writes sequences, compressed with gzip.
func WriteFile(path string, list []Recorded) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(Write(z, list), z.Close(), f.Close())
}

// once ends the name of a sequence for whose second recording time did not suffice: what varies in it is not known.
const once = " once"

// Join makes one list of several recordings: what was recorded twice, each sequence one time.
func Join(lists ...[]Recorded) []Recorded {
	var all []Recorded
	seen := map[string]bool{}
	for _, list := range lists {
		for _, r := range list {
			if len(r.Lines) == 0 || strings.HasSuffix(r.Name, once) || seen[r.Name] {
				continue
			}
			seen[r.Name] = true
			all = append(all, r)
		}
	}
	return all
}

// Merge makes one recording of two: where they differ there is no answer. What only one of them has is as the other
// leaves it.
func Merge(a, b Recorded) Recorded {
	m := Recorded{Name: a.Name}
	if len(b.Lines) == 0 {
		m.Name += once
	}
	for i, l := range a.Lines {
		if i < len(b.Lines) && b.Lines[i].Answer != l.Answer {
			l.Answer = Varies
		}
		m.Lines = append(m.Lines, l)
	}
	return m
}
