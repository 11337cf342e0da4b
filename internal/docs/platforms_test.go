package docs

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPlatforms: how much slower the interpreter is, by docs/platforms.md, is what docs/bench.md has measured.
func TestPlatforms(t *testing.T) {
	all := pages(t)
	rows := func(name string) (list [][]string) {
		for line := range strings.Lines(all[filepath.Join(root, "docs", name)]) {
			if strings.HasPrefix(line, "| ") {
				cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				list = append(list, cells)
			}
		}
		return list
	}
	// | bench | native C | better native | PoCL | machine code | / native | / better native | / PoCL | interpreter |
	const machine, interpreter, columns = 4, 8, 9
	seconds := func(text string) float64 {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			return 0
		}
		return d.Seconds()
	}
	factors := map[string]float64{}
	for _, r := range rows("bench.md") {
		if len(r) == columns && seconds(r[machine]) > 0 {
			factors[r[0]] = seconds(r[interpreter]) / seconds(r[machine])
		}
	}
	compared := 0
	for _, r := range rows("platforms.md") {
		said, err := strconv.ParseFloat(r[len(r)-1], 64)
		if len(r) != 2 || err != nil {
			continue
		}
		compared++
		// the page may round, and so do the times
		if f := factors[r[0]]; math.Abs(said-f) > 0.5+f/50 {
			t.Errorf("%s: %v, measured %.1f", r[0], said, f)
		}
	}
	if compared < 10 {
		t.Errorf("only %d factors", compared)
	}
}
