package softdev

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
)

// barrierLine is an operation that threads meet at; the last operand is its member mask or its count of threads, where
// it has one.
var barrierLine = regexp.MustCompile(`^\s*(bar\.(?:sync|red|arrive|warp\.sync)|barrier\.(?:cta\.)?(?:sync|red|arrive)|barrier\.cluster\.(?:arrive|wait)|shfl\.sync|vote\.sync)[a-z0-9.:]*\s*([^;]*);`)

// mutants are the texts of which one barrier, mask or count is not what it was.
func mutants(text string) (list []string) {
	lines := strings.SplitAfter(text, "\n")
	with := func(i int, line string) {
		list = append(list, strings.Join(lines[:i], "")+line+"\n"+strings.Join(lines[i+1:], ""))
	}
	for i, line := range lines {
		m := barrierLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		operands := strings.Split(m[2], ",")
		last := strings.TrimSpace(operands[len(operands)-1])
		narrow := func(to string) { with(i, strings.Replace(line, last+";", to+";", 1)) }
		switch name := m[1]; {
		case name == "shfl.sync" || name == "vote.sync":
			narrow("0x0000ffff")
		case name == "bar.warp.sync":
			with(i, "")
			narrow("0x0000ffff")
		case strings.HasPrefix(name, "barrier.cluster"):
			with(i, "")
		case len(operands) == 2 && !strings.Contains(name, "red"):
			with(i, "")
			narrow("32")
		case !strings.Contains(name, "red"): // the result of a reduction is needed
			with(i, "")
		}
	}
	return list
}

// TestBarrierMutants takes a barrier from kernels that are right, or narrows a mask or a count. Mutants that give other
// results, or do not end, in one of the orders in which the two or four warps of their blocks, and their blocks, can
// get their turns are wrong, and the checks say so in the first order already. (Warps run from barrier to barrier, so
// that these orders are all schedules of that grain.) Of the others nothing is held: an order of finer grain may prove
// them wrong.
func TestBarrierMutants(t *testing.T) {
	cases, dir := labelledCases(t)
	tried, proven, reported := 0, 0, 0
	chance := rand.New(rand.NewPCG(16, 3))
	share := 30 // of a hundred
	switch {
	case dir == keptCases: // fewer kernels
		share = 60
	case testing.Short():
		share = 20
	}
	for _, k := range cases {
		class, _, _ := strings.Cut(k.ID, "/")
		switch class {
		case "race.shared", "race.warp", "race.named", "race.cluster", "sync.block", "sync.warp", "sync.ptx",
			"sync.cluster":
		default:
			continue
		}
		if k.Verdict != "clean" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "cases", k.PTX))
		if err != nil {
			t.Fatal(err)
		}
		right := k.try(string(text), "interpreter", exec.Order{}, nil)
		if right.err != nil {
			t.Fatalf("%s: %v", k.ID, right.err)
		}
		k.limit = 5 * time.Second // some do not end
		for i, m := range mutants(string(text)) {
			if chance.IntN(100) >= share {
				continue
			}
			tried++
			wrong := false
			for _, o := range smallOrders() {
				got := k.try(m, "interpreter", o, nil)
				if got.err != nil || !bytes.Equal(got.read, right.read) {
					wrong = true
					break
				}
			}
			found := k.try(m, "interpreter", exec.Order{}, []string{"race,sync,memory"})
			if len(found.list) > 0 {
				reported++
			}
			if !wrong {
				continue
			}
			proven++
			if len(found.list) == 0 {
				t.Errorf("%s, mutant %d gives other results (%v), and nothing is reported", k.ID, i, found.err)
			}
		}
	}
	t.Logf("%d mutants, %d proven wrong; %d reported", tried, proven, reported)
	if proven < 10 {
		t.Errorf("only %d mutants were proven wrong", proven)
	}
}

// smallOrders are the orders of two warps or blocks, and those of four that exec.Order has.
func smallOrders() (list []exec.Order) {
	list = []exec.Order{{}, {Reverse: true}}
	for first := range uint64(4) {
		for _, step := range []uint64{1, 3} {
			list = append(list, exec.Order{Seed: first<<32 | 4 | step})
		}
	}
	return list
}
