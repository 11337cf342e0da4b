package api

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Transcript is what a device answered: the lines of each case, by the case's name.
type Transcript struct {
	Header []string // the lines that begin with #
	Cases  map[string][]string
}

// ReadTranscript reads what Record wrote.
func ReadTranscript(r io.Reader) (*Transcript, error) {
	t := &Transcript{Cases: map[string][]string{}}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if strings.HasPrefix(line, "#") {
			t.Header = append(t.Header, line)
			continue
		}
		name, _, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("line %d has no case: %q", n, line)
		}
		t.Cases[name] = append(t.Cases[name], line)
	}
	return t, s.Err()
}

// varies ends a line on which two recordings differ.
const varies = " -> VARIES"

// Merge makes one transcript of a case out of two recordings: from the first line on which they differ there is no
// answer.
func Merge(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for i := range x {
		if i < len(y) && x[i] == y[i] {
			continue
		}
		call, _, _ := strings.Cut(x[i], " -> ")
		return strings.Join(x[:i], "") + strings.TrimSuffix(call, "\n") + varies + "\n"
	}
	return a
}

// compare returns the first line on which a software device's transcript of a case differs from the driver's, as both
// have it; empty when there is none.
func compare(name string, driver, software []string) (want, got string) {
	line := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return "(nothing)"
	}
	for i := range max(len(driver), len(software)) {
		want, got = line(driver, i), line(software, i)
		if want == got {
			continue
		}
		call, _, _ := strings.Cut(want, " -> ")
		mine, result, _ := strings.Cut(got, " -> ")
		result, _, _ = strings.Cut(result, " ")
		sensible, known := undefined[name]
		dead := strings.HasSuffix(want, " -> CRASH") || strings.HasSuffix(want, varies)
		switch {
		case call != mine:
		case known && result == sensible.String():
			return "", ""
		case !known && dead && strings.HasPrefix(result, "CUDA_ERROR_"):
			return "", ""
		}
		return want, got
	}
	return "", ""
}

// Awaited says whether a case has no recording yet.
func (x *Set) Awaited(name string) bool { return x.unrecorded(name) >= 0 }

func (x *Set) unrecorded(name string) int {
	return slices.IndexFunc(x.Unrecorded, func(u string) bool {
		return u == name || strings.HasPrefix(name, u) && strings.HasSuffix(u, "/")
	})
}

// Verdict is the outcome of a comparison with the driver's transcript.
type Verdict struct {
	Cases, Lines int
	Equal, Known int      // cases that are equal, and those that differ as Differences says
	Unrecorded   int      // cases that Unrecorded names
	Problems     []string // what else is not as it should be
}

// Judge compares a software device's transcript of every case with the driver's, tr. The lines of a case are asked for
// by its index in Cases.
func (x *Set) Judge(tr *Transcript, lines func(i int, c Case) []string) Verdict {
	used := make([]bool, len(x.Differences))
	reason := func(name string) bool {
		for i, d := range x.Differences {
			if d.Case == name || strings.HasPrefix(name, d.Case) && strings.HasSuffix(d.Case, "/") {
				used[i] = true
				return true
			}
		}
		return false
	}
	awaited := make([]bool, len(x.Unrecorded))
	await := func(name string) bool {
		i := x.unrecorded(name)
		if i >= 0 {
			awaited[i] = true
		}
		return i >= 0
	}
	var v Verdict
	seen := map[string]bool{}
	for i, c := range x.Cases() {
		v.Cases++
		seen[c.Name] = true
		want, ok := tr.Cases[c.Name]
		if !ok && await(c.Name) {
			v.Unrecorded++
			for _, line := range lines(i, c) {
				if strings.Contains(line, ": # panic: ") {
					v.Problems = append(v.Problems, line)
				}
			}
			continue
		}
		if !ok {
			v.Problems = append(v.Problems, c.Name+" is not recorded")
			continue
		}
		v.Lines += len(want)
		w, g := compare(c.Name, want, lines(i, c))
		switch {
		case w == "" && g == "":
			v.Equal++
		case reason(c.Name):
			v.Known++
		default:
			v.Problems = append(v.Problems, "\ndriver   "+w+"\nsoftware "+g)
		}
	}
	for name := range tr.Cases {
		if !seen[name] {
			v.Problems = append(v.Problems, name+" is recorded and no case")
		}
	}
	for i, u := range x.Unrecorded {
		if !awaited[i] {
			v.Problems = append(v.Problems, u+" is listed as not recorded, and is or is no case")
		}
	}
	for i, d := range x.Differences {
		if !used[i] {
			v.Problems = append(v.Problems, d.Case+" is listed as different and is equal")
		}
	}
	return v
}

// Lines splits the text that a case wrote.
func Lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
