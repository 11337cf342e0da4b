package softdev

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
)

var (
	ownStore    = regexp.MustCompile(`^\s*(?:@!?%\w+\s+)?st\.(?:volatile\.)?(?:shared|local)\b[^;]*;`)
	ownVariable = regexp.MustCompile(`^\s*\.(shared|local)\s+(?:\.align\s+\d+\s+)?\.[bus](\d+)\s+([\w$]+)(?:\[(\d+)\])?\s*;`)
)

// filled is a text whose kernels begin with writing a byte to all of their shared and local variables; ok is false
// where there is none.
func filled(text string, value byte) (out string, ok bool) {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		b.WriteString(line)
		m := ownVariable.FindStringSubmatch(line)
		if m == nil || m[1] == "shared" && !strings.HasPrefix(line, "\t") {
			continue
		}
		var bits, count int
		_, _ = fmt.Sscan(m[2], &bits)
		if count = 1; m[4] != "" {
			_, _ = fmt.Sscan(m[4], &count)
		}
		n++
		fmt.Fprintf(&b, "\t{ .reg .b32 %%fa%[1]d, %%fv%[1]d; .reg .b64 %%fq%[1]d; .reg .pred %%fp%[1]d;\n"+
			"\tmov.u32 %%fv%[1]d, 0;\n\tFILL%[1]d: cvt.u64.u32 %%fq%[1]d, %%fv%[1]d;\n"+
			"\t{ .reg .b64 %%fb; mov.u64 %%fb, %[2]s; add.u64 %%fb, %%fb, %%fq%[1]d; mov.u32 %%fa%[1]d, %[3]d;\n"+
			"\tst.%[4]s.u8 [%%fb], %%fa%[1]d; }\n\tadd.u32 %%fv%[1]d, %%fv%[1]d, 1;\n"+
			"\tsetp.lt.u32 %%fp%[1]d, %%fv%[1]d, %[5]d;\n\t@%%fp%[1]d bra FILL%[1]d; bar.sync 0; }\n",
			n, m[3], value, m[1], count*bits/8)
	}
	return b.String(), n > 0
}

// fillings are the bytes of which memory consists that nobody has written.
var fillings = []byte{0x00, 0xff, 0x5b, 0xa4}

// computed says whether results that memory's filling changes are more than copies of it.
func computed(results [][]byte) bool {
	for i := range results[0] {
		same, copied, sign := true, true, true
		for j, r := range results {
			same = same && r[i] == results[0][i]
			copied = copied && r[i] == fillings[j]
			sign = sign && r[i] == byte(int8(fillings[j])>>7) // of a conversion, which copies too
		}
		if !same && !copied && !sign {
			return true
		}
	}
	return false
}

// initLines are the lines of the first operation that each report of the check init names.
func initLines(list []*checker.Report) map[int32]bool {
	lines := map[int32]bool{}
	for _, r := range list {
		if r.Check == "init" {
			lines[r.Sites[0].Line] = true
		}
	}
	return lines
}

// TestInitMutants takes a store to shared or local memory from kernels that are right, or the contents that the host
// gives an array. Mutants that compute other results where what nobody has written then has other bytes, or end
// otherwise, use it; the check says so, of the same loads with machine code. Results that merely are those bytes are
// copies, which are no defect.
func TestInitMutants(t *testing.T) {
	cases, dir := labelledCases(t)
	tried, proven, reported := 0, 0, 0
	sparse := testing.Short() && dir == fullCases // of the few that are kept all are tried
	chance := rand.New(rand.NewPCG(16, 5))
	machine := slices.DeleteFunc(checkedEngines(), func(name string) bool { return name == "interpreter" })
	judge := func(what string, fill func(value byte) outcome, check func(engine string) outcome) {
		var results [][]byte
		uses := false
		var first outcome
		for i, v := range fillings {
			x := fill(v)
			if i == 0 {
				first = x
			}
			uses = uses || (x.err == nil) != (first.err == nil) || len(x.read) != len(first.read)
			results = append(results, x.read)
		}
		tried++
		found := check("interpreter")
		for _, engine := range machine {
			if x := check(engine); !maps.Equal(initLines(x.list), initLines(found.list)) {
				t.Errorf("%s: %s reports of lines %v, the interpreter of %v", what, engine, initLines(x.list),
					initLines(found.list))
			}
		}
		said := slices.ContainsFunc(found.list, func(r *checker.Report) bool { return r.Check == "init" })
		if said {
			reported++
		}
		if !uses && !computed(results) {
			return
		}
		proven++
		if !said {
			t.Errorf("%s: its results depend on what nobody has written, and nothing is reported (%v)", what, found.err)
		}
	}
	for _, k := range cases {
		// Threads that wait for others may not end; what asynchronous operations read and write counts as written.
		class, _, _ := strings.Cut(k.ID, "/")
		if k.Verdict != "clean" || k.MayHang || class == "race.message" || class == "race.lock" ||
			class == "race.async" || strings.HasPrefix(class, "host.") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "cases", k.PTX))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		k.limit = 2 * time.Second
		run := func(text, engine string) outcome { return k.try(text, engine, exec.Order{}, []string{"init"}) }
		lines := strings.SplitAfter(text, "\n")
		for i, line := range lines {
			if !ownStore.MatchString(line) || sparse && chance.IntN(4) > 0 {
				continue
			}
			mutant := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")
			if _, ok := filled(mutant, 0); !ok {
				continue
			}
			judge(fmt.Sprintf("%s without line %d", k.ID, i+1), func(v byte) outcome {
				f, _ := filled(mutant, v)
				return run(f, "interpreter") // in the order of the check
			}, func(engine string) outcome { return run(mutant, engine) })
		}
		for i := range k.Steps {
			s := &k.Steps[i]
			if s.Op != "alloc" || s.Kind != "device" || s.Init == nil || s.Init == "none" || s.Prefix != 0 ||
				sparse && chance.IntN(4) > 0 {
				continue
			}
			had := s.Init
			judge(fmt.Sprintf("%s without the contents of %s", k.ID, s.Name), func(v byte) outcome {
				words := make([]any, (s.Bytes+3)/4)
				for j := range words {
					words[j] = float64(int32(uint32(v) * 0x01010101))
				}
				s.Init = words
				return run(text, "interpreter")
			}, func(engine string) outcome {
				s.Init = nil
				return run(text, engine)
			})
			s.Init = had
		}
	}
	t.Logf("%d mutants, %d proven to use what nobody has written; %d reported", tried, proven, reported)
	if proven < 10 {
		t.Errorf("only %d mutants were proven wrong", proven)
	}
}
