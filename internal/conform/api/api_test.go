package api

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/softdev"
)

// software runs a case on a software device of its own.
func software(t *testing.T, c Case) string {
	t.Helper()
	d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	c.Execute(d.Table(), t.TempDir(), &b)
	if err := d.Close(); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	return b.String()
}

func TestDump(t *testing.T) {
	f, err := os.Create(os.Getenv("DUMP"))
	if err != nil {
		t.Skip()
	}
	defer f.Close()
	prefix := os.Getenv("PREFIX")
	n := 0
	for _, c := range Cases() {
		if !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		n++
		f.WriteString(software(t, c))
	}
	t.Log(n)
}
