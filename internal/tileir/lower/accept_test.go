package lower_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// TestAccepted lowers every module that the verifier accepts, of those that were made to break rules or come close to
// it: what comes out passes the checker of PTX, or the error says which operation is to blame.
func TestAccepted(t *testing.T) {
	refused := map[string]int{}
	lowered := 0
	for _, set := range []struct{ index, code string }{{"rules.json", "rules.bin"}, {"bad.json", "bad.bin"}} {
		var list struct {
			Modules []struct {
				Kind string
				Code [2]int
			}
			Bad []struct {
				Kind string
				Code [2]int
			}
		}
		if err := json.Unmarshal(readFile(t, modules, set.index), &list); err != nil {
			t.Fatal(err)
		}
		all := readFile(t, modules, set.code)
		for i, m := range append(list.Modules, list.Bad...) {
			b := all[m.Code[0] : m.Code[0]+m.Code[1]]
			mod, err := tileir.Parse(b)
			if err != nil || mod.Verify() != nil {
				continue
			}
			p, err := lower.Module(mod, lower.Options{})
			var e *lower.Error
			switch {
			case errors.As(err, &e):
				refused[e.Op.String()+": "+e.Words]++
				if e.Offset == 0 || e.Offset >= uint64(len(b)) {
					t.Errorf("%s %d (%s): offset %d", set.index, i, m.Kind, e.Offset)
				}
				continue
			case err != nil:
				t.Errorf("%s %d (%s): %v", set.index, i, m.Kind, err)
				continue
			}
			lowered++
			if _, err := checked(p.PTX); err != nil {
				t.Errorf("%s %d (%s): %v\n%s", set.index, i, m.Kind, err, p.PTX)
			}
		}
	}
	for what, n := range refused {
		t.Logf("%3d refused: %s", n, what)
	}
	t.Logf("%d modules lowered", lowered)
	if lowered < 100 {
		t.Errorf("%d modules lowered", lowered)
	}
}
