package finds

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/checker"
)

var update = flag.Bool("update", false, "write the table of docs/checker.md anew")

// TestLines: every line is a find, of a kind that there is, with its proof.
func TestLines(t *testing.T) {
	lines := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	list := List("")
	if len(list) != lines || lines == 0 {
		t.Errorf("%d lines, %d finds", lines, len(list))
	}
	for _, f := range list {
		if checker.KindCheck(f.Kind) == 0 || len(f.Why) < 20 {
			t.Errorf("%+v", f)
		}
	}
}

// TestTable: the table of docs/checker.md is what the list says.
func TestTable(t *testing.T) {
	const name, begin, end = "../../../docs/checker.md", "<!-- finds -->\n", "<!-- end of finds -->"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(page, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatal("docs/checker.md has no place for the table")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s| where | kernel | kind | why it is true |\n| --- | --- | --- | --- |\n", head, begin)
	for _, f := range List("") {
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", f.Set, f.Program, cmp.Or(f.Kernel, "several"), f.Kind, f.Why)
	}
	fmt.Fprintf(&b, "%s%s", end, tail)
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(b.Bytes(), page) {
		t.Errorf("docs/checker.md is stale: go test ./internal/checker/finds -update")
	}
}
