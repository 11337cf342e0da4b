package check

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/skip"
)

// shared returns a folder of the recorded data: the whole recording beside the repository, else what the repository
// keeps of it (testdata), or skips.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	root := []string{"..", "..", ".."}
	whole := filepath.Join(slices.Concat(root, []string{"..", "shared"}, parts)...)
	kept := filepath.Join(slices.Concat(root, []string{"testdata"}, parts)...)
	for _, p := range []string{whole, kept} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	skip.Without(t, skip.Recordings, whole, " and ", kept)
	return ""
}

func readText(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// outcome counts what a module's check reported.
type outcome struct{ unknown, other int }

func checkText(t testing.TB, name string, text []byte, opts Options, show int) (o outcome) {
	t.Helper()
	m, err := ptx.Parse(text)
	if err != nil {
		t.Errorf("%s: parse: %v", name, err)
		o.other++
		return o
	}
	opts.keep = 1 << 20
	_, err = Check(m, opts)
	var list Errors
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("%s: %v", name, err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Text, "Not a name of any known") {
			o.unknown++
			continue
		}
		o.other++
		if o.other <= show {
			line := ""
			if ls := strings.Split(string(text), "\n"); int(e.Line) > 0 && int(e.Line) <= len(ls) {
				line = strings.TrimSpace(ls[e.Line-1])
			}
			t.Logf("%s:%v\n\t%s", name, e, line)
		}
	}
	return o
}

// TestSiliconModules checks the modules that an H200 ran: every one is legal.
func TestSiliconModules(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "silicon"), "*.ptx*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no modules", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f), ".gz"), ".ptx"), func(t *testing.T) {
			text := readText(t, f)
			start := time.Now()
			o := checkText(t, filepath.Base(f), text, Options{SM: 90}, 12)
			t.Logf("unknown instructions %d, other faults %d (%v)", o.unknown, o.other,
				time.Since(start).Round(time.Millisecond))
			if o.other+o.unknown > 0 {
				t.Errorf("%d faults in legal instructions", o.other+o.unknown)
			}
		})
	}
}

// TestCorpusModules checks the recorded modules: the driver accepted those for targets that the H200 has.
func TestCorpusModules(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "corpus", "modules"), "*", "*.ptx.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal("no modules", err)
	}
	clean, unknown := 0, 0
	for _, f := range files {
		text := readText(t, f)
		o := checkText(t, filepath.Base(f), text, Options{}, 2)
		if o == (outcome{}) {
			clean++
		}
		unknown += o.unknown
		if o.other > 0 {
			t.Errorf("%s: %d faults in a legal module", filepath.Base(f), o.other)
		}
	}
	if !reflect.ValueOf(noArgRest).IsZero() {
		t.Error("the part that operands share has been written to")
	}
	t.Logf("%d modules, %d without faults, %d instructions not in the table", len(files), clean, unknown)
}
