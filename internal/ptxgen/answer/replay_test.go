package answer

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// openVerdicts bounds the mutants, of 1,600, that one side takes and the other refuses. It comes from a comparison with ptxas 13.0, not from a whole replay.
const openVerdicts = 25

// openRows are the rows of testdata/generated/open.txt.
func openRows(t *testing.T) map[uint64][]int {
	data, err := os.ReadFile("../../../testdata/generated/open.txt")
	if err != nil {
		t.Fatal(err)
	}
	open := map[uint64][]int{}
	for line := range strings.Lines(string(data)) {
		var list []int
		for f := range strings.FieldsSeq(line) {
			n, err := strconv.Atoi(f)
			if err != nil {
				list = nil
				break
			}
			list = append(list, n)
		}
		if len(list) > 1 {
			open[uint64(list[0])] = list[1:]
		}
	}
	return open
}

// TestRecorded: what an H200 and its driver made of generated programs (testdata/generated): verdicts on mutants, and checksums of the rows of outputs. The short
// run takes a sample, -long all.
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
	open := openRows(t)
	programs, verdicts, stale, ran := 0, 0, 0, 0
	for i := 0; i < len(list); i += step {
		r := &list[i]
		if r.Ends != "" {
			continue
		}
		p := r.Program()
		if Hash(p.Text) != r.Text {
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
		ran++
		e := &engines[ran%len(engines)]
		a := e.Run(p)
		if a.Out == nil {
			t.Errorf("seed %d, %s: %v %v %s", r.Seed, e.name, a.Load, a.Run, a.Call)
			if err := e.renew(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		sums := Sums(p, a.Out)
		var rows []int
		for k, s := range sums {
			if s != r.Sums[k] && !slices.Contains(r.Plain, k) {
				rows = append(rows, k)
			}
		}
		if len(p.Open) == 0 && !slices.Equal(rows, open[r.Seed]) {
			programs++
			t.Errorf("seed %d, %s: rows %v differ, open.txt has %v", r.Seed, e.name, rows, open[r.Seed])
		}
	}
	t.Logf("%d programs ran; %d differ, %d verdicts on mutants differ, %d texts are others", ran, programs, verdicts, stale)
	if verdicts*step > openVerdicts || stale > 0 {
		t.Errorf("%d verdicts on mutants differ, %d texts are not those that were recorded", verdicts, stale)
	}
}
