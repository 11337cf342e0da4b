package checker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// Suppression is a line of a file of suppressions: reports that it fits are counted and not told.
//
//	# what is behind a number sign is for people
//	race-equal
//	race kernel=bfs_* file=*/bfs.cu line=30-40
//	leak func=main.*
//	* kernel=third_party_*
//
// The first word is a kind, or a check for all its kinds, or a pattern. All conditions have to hold for one of the
// report's sites. Patterns are those of path.Match; one for a file without a slash fits its last part. line is of the
// source, ptx of the PTX; func is the program's function that made the call.
type Suppression struct {
	kind, kernel, file, function string
	line, ptx                    [2]int32 // the first and the last; 0 for all
}

// Suppressions are the lines of a file.
type Suppressions []Suppression

// ReadSuppressions reads a file of suppressions; errors name the line.
func ReadSuppressions(r io.Reader) (list Suppressions, err error) {
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		x := Suppression{kind: words[0]}
		err := pattern(words[0])
		for _, w := range words[1:] {
			err = errors.Join(err, x.condition(w))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, x)
	}
	return list, s.Err()
}

func pattern(p string) error {
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("%q: %w", p, err)
	}
	return nil
}

func (x *Suppression) condition(word string) error {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return fmt.Errorf("%q is no condition: kernel=, file=, line=, ptx= or func= with a pattern or numbers", word)
	}
	switch name {
	case "kernel":
		x.kernel = value
	case "file":
		x.file = value
	case "func":
		x.function = value
	case "line":
		return lines(value, &x.line)
	case "ptx":
		return lines(value, &x.ptx)
	default:
		return fmt.Errorf("there is no condition %q: kernel, file, line, ptx, func", name)
	}
	return pattern(value)
}

// lines reads a line, or two with a hyphen between.
func lines(text string, to *[2]int32) error {
	first, last, two := strings.Cut(text, "-")
	if !two {
		last = first
	}
	for i, t := range []string{first, last} {
		n, err := strconv.ParseInt(t, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no line, and no range of lines", text)
		}
		to[i] = int32(n)
	}
	return nil
}

// fits says whether the suppression is for a report.
func (x *Suppression) fits(r *Report) bool {
	if !matches(x.kind, r.Kind) && x.kind != kinds[r.Kind].check.String() {
		return false
	}
	sites := r.Sites
	if len(sites) == 0 && r.Memory != nil {
		sites = []Site{{Call: &r.Memory.Made}}
	}
	for i := range sites {
		if x.fitsSite(&sites[i]) {
			return true
		}
	}
	return len(sites) == 0 && *x == Suppression{kind: x.kind}
}

func (x *Suppression) fitsSite(s *Site) bool {
	file, line, function := s.Source, s.SourceLine, s.Func
	if s.Call != nil {
		file, line, function = s.Call.File, int32(min(s.Call.Line, 1<<31-1)), s.Call.Func
	}
	return (x.kernel == "" || matches(x.kernel, s.Kernel)) && (x.file == "" || matchesFile(x.file, file)) &&
		(x.function == "" || matches(x.function, function)) && within(x.line, line) && within(x.ptx, s.Line)
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name) // patterns were tried when they were read
	return ok
}

func matchesFile(pattern, name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	for { // "*/bfs.cu" fits /src/gpu/bfs.cu
		if matches(pattern, name) {
			return true
		}
		_, rest, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		if !ok || !strings.HasPrefix(pattern, "*/") {
			return false
		}
		name = rest
	}
}

func within(lines [2]int32, n int32) bool { return lines[0] == 0 || n >= lines[0] && n <= lines[1] }
