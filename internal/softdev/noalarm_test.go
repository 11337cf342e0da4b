package softdev

import (
	"io"
	"os"
	"testing"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/checker/finds"
	"github.com/gocuda/cuda/internal/corpus"
)

// TestNoAlarm runs every recorded launch with the checks, all of them on the interpreter and those that there are in
// machine code there: its results are the recorded ones, and nothing is reported but what is known to be true, all of
// it.
func TestNoAlarm(t *testing.T) {
	set := corpus.Open(os.DirFS(corpusFolder(t)))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range checkedRuns() {
		t.Run(run, func(t *testing.T) {
			engine, checks := checksOf(run)
			known := finds.List("corpus")
			met := make([]bool, len(known))
			seen := map[string]bool{}
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
				seen[name] = true
				d, err := New(Options{Check: []string{checks}, EngineName: engine, Recover: true, Stdout: io.Discard,
					Stderr: io.Discard, Reports: func(r *checker.Report) {
						if i := finds.Index(known, name, r); i >= 0 {
							met[i] = true
						} else {
							t.Errorf("%s: %s", name, r)
						}
					}})
				if err != nil {
					t.Fatal(err)
				}
				must(t, d.Table().Init(0, 0))
				for _, o := range (&corpus.Runner{T: d.Table()}).Run(m, build) {
					launches++
					if o.Status == corpus.Failed || o.Status == corpus.NotImplemented {
						t.Errorf("%s, launch %d of %s: %s %s", name, o.Launch, o.Kernel, o.Status, o.Text)
					}
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
			for i, f := range known {
				if on, _ := checker.Parse(checks); seen[f.Program] && !met[i] && on.Has(checker.KindCheck(f.Kind)) {
					t.Errorf("%s: the %s of %s is not found", f.Program, f.Kind, f.Kernel)
				}
			}
			t.Logf("%d launches", launches)
		})
	}
}
