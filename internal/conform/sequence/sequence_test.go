package sequence

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/softdev"
)

var (
	seeds = flag.Int("seeds", 400, "how many sequences the model's test runs")
	first = flag.Uint64("first", 0, "the seed that it begins with")
)

// facts are what an H200's driver answered to zeros.
func facts(t testing.TB) map[string]Facts {
	b, err := os.ReadFile("../../softdev/testdata/null_arguments.json")
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]struct{ Ctx, Noctx string }
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	code := map[string]driver.CUresult{}
	for r := range driver.CUresult(1000) {
		if n, known := r.Name(); known {
			code[n] = r
		}
	}
	f := map[string]Facts{}
	for name, v := range list {
		a, okA := code[v.Noctx]
		b, okB := code[v.Ctx]
		if okA && okB {
			f[name] = Facts{a, b}
		}
	}
	return f
}

// software is a device with its table.
func software(t testing.TB) *softdev.Driver {
	d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// run makes the calls of a sequence on a device of its own, and gives each answer to see.
func run(t testing.TB, steps []Step, see func(i int, answer string)) {
	d := software(t)
	m := NewMachine(d.Table())
	for i, s := range steps {
		timer := time.AfterFunc(20*time.Second, func() {
			panic(fmt.Sprintf("hangs: %v in\n%s", s.Call, text(steps[:i+1])))
		})
		see(i, m.Do(s.Call))
		timer.Stop()
	}
	m.Close()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func text(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%v\n", s.Call)
	}
	return b.String()
}

// result is the code that an answer begins with.
func result(answer string) string {
	r, _, _ := strings.Cut(answer, " ")
	return r
}

// TestModel: the software device gives the results that the model predicts.
func TestModel(t *testing.T) {
	known := facts(t)
	if testing.Short() {
		*seeds = min(*seeds, 120)
	}
	exact, among, all, skipped := 0, 0, 0, 0
	problems := map[string]int{}
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		steps := Generate(seed, Options{Length: 24, Threads: 3, Facts: known})
		run(t, steps, func(i int, answer string) {
			s := steps[i]
			if !s.api() {
				return
			}
			all++
			r := result(answer)
			switch {
			case r == "WRONG":
				t.Errorf("seed %d: %v: %s", seed, s.Call, answer)
			case r == "SKIPPED":
				skipped++
			case s.Want == nil:
			case slices.ContainsFunc(s.Want, func(w driver.CUresult) bool { return w.String() == r }):
				if len(s.Want) == 1 {
					exact++
				} else {
					among++
				}
			default:
				key := fmt.Sprintf("%s -> %s, want %v", s.Fn, r, s.Want)
				problems[key]++
				if problems[key] == 1 {
					t.Errorf("seed %d: %v -> %s, want %v\n%s", seed, s.Call, answer, s.Want,
						text(steps[max(0, i-*before):i]))
				}
			}
		})
	}
	t.Logf("%d calls: %d predicted exactly (%.1f %%), %d as one of several, %d skipped", all, exact,
		100*float64(exact)/float64(all), among, skipped)
}

var before = flag.Int("before", 0, "calls before a wrong one to show")

var write = flag.String("write", "", "file for the sequences to record, compressed with gzip")

// TestWriteSequences writes the sequences that are to be recorded, if it is asked to.
func TestWriteSequences(t *testing.T) {
	if *write == "" {
		skip.Without(t, skip.Argument, "-write")
	}
	known := facts(t)
	var list []Recorded
	calls := 0
	for seed := range uint64(*seeds) {
		r := Recorded{Name: fmt.Sprintf("%s %d", Topics()[seed%uint64(len(Topics()))], seed)}
		for _, s := range Generate(seed, Options{Length: 24, Threads: 3, Facts: known}) {
			r.Lines = append(r.Lines, Line{Call: s.Call.String()})
		}
		calls += len(r.Lines)
		list = append(list, r)
	}
	if err := WriteFile(*write, list); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sequences, %d calls", len(list), calls)
}
