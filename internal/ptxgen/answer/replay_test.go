package answer

import (
	"fmt"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/ptxgen"
)

const (
	openVerdicts = 25 // bounds the mutants, of 1,600, that one side takes and the other refuses
	// bounds the rows that a cause reaches and that differ, counted once for each of their causes; it may only go down
	mostCaused = 2845
)

// listedRows are the rows of testdata/generated/differ.txt.
func listedRows(t *testing.T) map[uint64][]int {
	data, err := os.ReadFile("../../../testdata/generated/differ.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[uint64][]int{}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		var list []int
		for f := range strings.FieldsSeq(line) {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatalf("%q is no line of rows", line)
			}
			list = append(list, n)
		}
		if len(list) > 1 {
			listed[uint64(list[0])] = list[1:]
		}
	}
	return listed
}

// tally counts the rows of the replay.
type tally struct {
	programs, rows, listed int
	whole                  int // programs of which every row is compared
	// rows with a cause (an index of ptxgen.CauseList), and those of them that differ
	caused, differ map[int]int
}

func (c *tally) String() string {
	var b strings.Builder
	out := 0
	for i, cause := range ptxgen.CauseList() {
		if c.caused[i] > 0 {
			fmt.Fprintf(&b, "\n%-9s %d rows, %d differ: %s", cause.Name, c.caused[i], c.differ[i], cause.Reason)
		}
		out += c.caused[i]
	}
	return fmt.Sprintf("%d programs, %d of them in every row; %d rows, %d with a cause to differ, some with several; %d listed rows differ%s", c.programs, c.whole, c.rows, out, c.listed, b.String())
}

// replay runs a program and compares its rows with the recorded ones: those that have no cause to differ.
func (c *tally) replay(t *testing.T, e *engine, r *Record, p *ptxgen.Program, listed []int) {
	causes, err := p.Causes()
	if err != nil {
		t.Fatalf("seed %d: %v", r.Seed, err)
	}
	a := e.Run(p)
	if a.Out == nil {
		t.Errorf("seed %d, %s: %v %v %s", r.Seed, e.name, a.Load, a.Run, a.Call)
		if err := e.renew(); err != nil {
			t.Fatal(err)
		}
		return
	}
	c.programs++
	if !slices.ContainsFunc(causes, func(m uint32) bool { return m != 0 }) {
		c.whole++
	}
	var rows []int
	for k, s := range Sums(p, a.Out) {
		c.rows++
		for m := causes[k]; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			c.caused[n]++
			if s != r.Sums[k] {
				c.differ[n]++
			}
		}
		if s != r.Sums[k] && causes[k] == 0 {
			rows = append(rows, k)
		}
	}
	c.listed += len(rows)
	if !slices.Equal(rows, listed) {
		t.Errorf("seed %d, %s: rows %v differ, differ.txt has %v", r.Seed, e.name, rows, listed)
	}
}

// TestRecorded: what an H200 and its driver made of generated programs (testdata/generated): verdicts on mutants, and
// checksums of the rows of outputs. The short run takes a sample, -long all.
func TestRecorded(t *testing.T) {
	f, err := os.Open("../../../testdata/generated/answers.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, list, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	step := 20
	if *long {
		step = 1
	}
	engines, err := engines()
	if err != nil {
		t.Fatal(err)
	}
	listed := listedRows(t)
	c := tally{caused: map[int]int{}, differ: map[int]int{}}
	verdicts, stale := 0, 0
	for i := 0; i < len(list); i += step {
		r := &list[i]
		if r.Ends != "" {
			continue
		}
		p := r.Program()
		if Hash(p.Text) != r.Text {
			// The generator asks package check, which refuses what the driver refused in these: [name[0]].
			if r.Load == driver.CUDA_ERROR_INVALID_PTX && strings.Contains(r.Log, "Parsing error near '['") {
				continue
			}
			stale++
			continue
		}
		if r.Mutant {
			m, code, _ := engines[0].Load(p.Text)
			if code == driver.CUDA_SUCCESS {
				engines[0].T.ModuleUnload(engines[0].Ctx, m)
			}
			if (code == driver.CUDA_SUCCESS) != (r.Load == driver.CUDA_SUCCESS) {
				verdicts++
				t.Logf("mutant %d: %v, H200 %v %s", r.Seed, code, r.Load, r.Log)
			}
			continue
		}
		if r.Load != driver.CUDA_SUCCESS || r.Run != driver.CUDA_SUCCESS {
			continue
		}
		c.replay(t, &engines[c.programs%len(engines)], r, p, listed[r.Seed])
		delete(listed, r.Seed)
	}
	t.Logf("%v\n%d verdicts on mutants differ, %d texts are others", &c, verdicts, stale)
	if verdicts*step > openVerdicts || stale > 0 {
		t.Errorf("%d verdicts on mutants differ, %d texts are not those that were recorded", verdicts, stale)
	}
	caused := 0
	for _, n := range c.differ {
		caused += n
	}
	if caused > mostCaused {
		t.Errorf("%d rows that a cause reaches differ; the bound is %d", caused, mostCaused)
	}
	if *long && len(listed) > 0 {
		t.Errorf("differ.txt lists programs that did not run: %v", slices.Sorted(maps.Keys(listed)))
	}
}
