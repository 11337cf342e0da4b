package softdev

import (
	"bytes"
	"os"
	"sort"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
)

func TestScratchCorpus(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	set := corpus.Open(os.DirFS("../../../shared/corpus"))
	mods, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("ONLY")
	counts := map[string]int{}
	for _, name := range mods {
		if only != "" && name != only {
			continue
		}
		var out bytes.Buffer
		d, err := New(Options{Stdout: &out, Recover: true})
		if err != nil {
			t.Fatal(err)
		}
		d.Table().Init(0, 0)
		r := &corpus.Runner{T: d.Table(), Printed: func() string { s := out.String(); out.Reset(); return s }, Detail: func(c driver.CUcontext) string { return d.LastDetail(c) }}
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		b := m.PTXBuild()
		if b == "" {
			continue
		}
		res := r.Run(m, b)
		for _, x := range res {
			counts[x.Status.String()]++
			if x.Status != corpus.Passed {
				text := x.Text
				if len(text) > 220 {
					text = text[:220]
				}
				t.Logf("%s %s #%d %s: %s: %s", x.Module, x.Build, x.Launch, x.Kernel, x.Status, text)
			}
		}
		d.Close()
	}
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		t.Log(k, counts[k])
	}
}
