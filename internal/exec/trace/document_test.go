package trace

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/kernels.md")

// TestMetricsDocument compares the tables of docs/kernels.md with those of the program.
func TestMetricsDocument(t *testing.T) {
	const path = "../../../docs/kernels.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var metrics, findings strings.Builder
	metrics.WriteString("| number | `key` | meaning | rule from |\n| --- | --- | --- | --- |\n")
	for _, m := range Metrics {
		fmt.Fprintf(&metrics, "| %s (%s) | `%s` | %s | %s |\n", m.Name, m.Unit, m.Key, m.Meaning, m.Source)
	}
	findings.WriteString("| rule | reported is | what may help |\n| --- | --- | --- |\n")
	for _, r := range rules {
		fmt.Fprintf(&findings, "| `%s` | %s | %s |\n", r.Rule, r.When, r.Hint)
	}
	text := string(b)
	for name, want := range map[string]string{"metrics": metrics.String(), "findings": findings.String()} {
		from, to := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		head, rest, ok := strings.Cut(text, from)
		got, tail, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Fatalf("no table of %s", name)
		}
		if got != want {
			text = head + from + want + to + tail
			if !*update {
				t.Errorf("the table of %s is old; go test ./internal/exec/trace -run TestMetricsDocument -update", name)
			}
		}
	}
	if *update && text != string(b) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
