package sequence

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

var recording = flag.String("recording", "testdata/h200.txt.gz", "the driver's answers")

// difference is a kind of call that the software device answers otherwise than the recorded driver.
type difference struct {
	call, driver, software string // the beginnings of the three texts
	state                  bool   // what the call does is another thing too: the rest of the sequence is not compared
	reason                 string
}

// differences are all that is known, each with the reason why it stays.
var differences = []difference{
	{"cuDeviceGetName(", "CUDA_SUCCESS", "CUDA_SUCCESS", false, "the software device says what it is"},
	{"cuDeviceGetPCIBusId(", `CUDA_SUCCESS pciBusId="0000:`, `CUDA_SUCCESS pciBusId="0000:00:00.0"`, false,
		"the place of one machine's device"},
	{"cuGetProcAddress", "CUDA_SUCCESS pfn=set", "CUDA_ERROR_NOT_SUPPORTED", false,
		"a Go program has no C functions to point to; cmd/libcuda's tests have it"},
	{"cuStreamCreate", "CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_CONTEXT phStream=untouched", false,
		"the driver leaves a value that names no stream"},
	{"cuGreenCtxStreamCreate(", "CUDA_ERROR_INVALID_CONTEXT phStream=set",
		"CUDA_ERROR_INVALID_CONTEXT phStream=untouched", false, "the driver leaves a value that names no stream"},
	{"cuLinkAddData_v2(", "CUDA_ERROR_UNKNOWN", "CUDA_ERROR_INVALID_SOURCE", false,
		"a symbol defined twice: the driver answers the one or the other, and varies"},
	{"cuCtxPopCurrent(", "CUDA_SUCCESS pctx=untouched", "CUDA_SUCCESS pctx=ctx", true,
		"the form of CUDA 3.1 varies with what ran before in the process"},
}

// The most that there may be; with the same recording they may only go down.
const (
	mostDifferences = 7
	mostVaries      = 28
	mostAfter       = 69 // calls after a difference in state
)

// TestReplay: the software device gives the driver's answer for every call of every recorded sequence.
func TestReplay(t *testing.T) {
	list, err := ReadFile(*recording)
	if err != nil {
		t.Fatal(err)
	}
	used := make([]int, len(differences))
	seen := map[string]int{}
	calls, equal, known, after := 0, 0, 0, 0
	var varies []string
	for _, r := range list {
		var steps []Step
		for _, l := range r.Lines {
			c, err := Parse(l.Call)
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, Step{Call: c})
		}
		lost := false
		run(t, steps, func(i int, answer string) {
			l := r.Lines[i]
			calls++
			if lost {
				after++
				return
			}
			if l.Answer == answer {
				equal++
				return
			}
			// A sequence that lasted too long, or crashed, in one of the two recordings ends with such an answer.
			if l.Answer == Varies || l.Answer == Crash {
				varies = append(varies, r.Name+": "+l.Call)
				return
			}
			call := steps[i].Call
			call.Thread = 1
			n := slices.IndexFunc(differences, func(d difference) bool {
				return strings.HasPrefix(call.String(), d.call) && strings.HasPrefix(l.Answer, d.driver) &&
					strings.HasPrefix(answer, d.software)
			})
			if n >= 0 {
				known++
				used[n]++
				lost = differences[n].state
				return
			}
			key := steps[i].Fn + " " + result(l.Answer) + " " + result(answer)
			if seen[key]++; seen[key] == 1 {
				t.Errorf("%s: %s\ndriver   %s\nsoftware %s\n%s", r.Name, l.Call, l.Answer, answer,
					text(steps[max(0, i-*before):i]))
			}
		})
	}
	for key, n := range seen {
		if n > 1 {
			t.Logf("%d times: %s", n, key)
		}
	}
	for n, d := range differences {
		if used[n] == 0 {
			t.Errorf("%s is listed as different and is not", d.call)
		}
	}
	if len(differences) > mostDifferences || len(varies) > mostVaries || after > mostAfter {
		t.Errorf("%d differences, %d varying answers, %d calls after a difference; the bounds are %d, %d and %d",
			len(differences), len(varies), after, mostDifferences, mostVaries, mostAfter)
	}
	t.Logf("%d sequences, %d calls: %d equal, %d in %d known differences, %d after those, %d that varied:\n%s",
		len(list), calls, equal, known, len(differences), after, len(varies), strings.Join(varies, "\n"))
}
