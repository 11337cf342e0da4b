package softdev

import (
	"io"
	"os"
	"testing"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/corpus"
)

// trueReads are the recorded kernels that do use what nobody wrote, and why.
var trueReads = map[string]string{
	"vm": "its program (5 2 10 7 8 ...) reads the top of the stack (8) before it pushes anything (0)",
}

// TestInitModules runs every recorded launch with the check for uninitialised memory: there is no alarm but of kernels
// that use it.
func TestInitModules(t *testing.T) {
	set := corpus.Open(os.DirFS(corpusFolder(t)))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	launches := 0
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		build := m.PTXBuild()
		if build == "" {
			continue
		}
		var reports []*checker.Report
		d, err := New(Options{Check: []string{"init"}, Recover: true, Stdout: io.Discard, Stderr: io.Discard,
			Reports: func(r *checker.Report) { reports = append(reports, r) }})
		if err != nil {
			t.Fatal(err)
		}
		run := &corpus.Runner{T: d.Table()}
		must(t, d.Table().Init(0, 0))
		for _, o := range run.Run(m, build) {
			launches++
			if o.Status == corpus.Failed {
				t.Errorf("%s, launch %d of %s: %s", name, o.Launch, o.Kernel, o.Text)
			}
		}
		for _, r := range reports {
			if trueReads[r.Sites[0].Kernel] == "" {
				t.Errorf("%s: %s", name, r)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d launches", launches)
}
