package softdev

import (
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// TestSupport: every function is implemented or has a reason why not, and no reason or remark is left over.
func TestSupport(t *testing.T) {
	d, err := New(Options{DriverVersion: driver.CUDA_VERSION})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	used := map[string]bool{}
	implemented := 0
	for s := range driver.Symbols() {
		x, ok := d.Support(s.Name)
		if !ok {
			t.Errorf("%s is not known", s.Name)
		}
		if x.Implemented {
			implemented++
		} else if x.Note == "" {
			t.Errorf("%s is not implemented, and nothing says why", s.Name)
		}
		for _, w := range without {
			if strings.HasPrefix(s.Name, w.prefix) && !x.Implemented {
				used[w.prefix] = true
				break
			}
		}
		for _, p := range partly {
			prefix, star := strings.CutSuffix(p.symbol, "*")
			if x.Implemented && (s.Name == p.symbol || star && strings.HasPrefix(s.Name, prefix)) {
				used[p.symbol] = true
			}
		}
	}
	for _, w := range without {
		if !used[w.prefix] {
			t.Errorf("no function needs the reason for %s", w.prefix)
		}
	}
	for _, p := range partly {
		if !used[p.symbol] {
			t.Errorf("no function has the remark for %s", p.symbol)
		}
	}
	if _, ok := d.Support("cuNothing"); ok {
		t.Error("cuNothing is known")
	}
	t.Logf("%d of %d functions", implemented, driver.NumSymbols)
}
