package interp

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// TestCorpusCompiles lowers and prepares every kernel of the recorded modules' PTX. Functions that other modules define
// are the linker's business and counted apart.
func TestCorpusCompiles(t *testing.T) {
	dir := "../../../../shared/corpus"
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil {
		dir = "../../../testdata/corpus"
	}
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	kernels, extern, unsupported := 0, 0, 0
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		build := m.PTXBuild()
		if build == "" || m.Files[build] == "" {
			continue // it has to be linked first
		}
		text, err := m.Image(build)
		if err != nil {
			t.Fatal(err)
		}
		ast, err := ptx.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cm, err := check.Check(ast, check.Options{SM: 90})
		if err != nil && name == "h90_sm100" {
			continue // for a later target: the driver refuses it too
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		syms := &ir.Symbols{Handles: map[*check.Func]uint64{}, Builtin: Builtin}
		for i, g := range cm.Funcs {
			syms.Handles[g] = uint64(i+1) << 8
		}
		for _, f := range cm.Funcs {
			if !f.Entry || !f.Defined {
				continue
			}
			kernels++
			k, err := ir.LowerVerified(f, syms)
			var le *ir.Error
			if errors.As(err, &le) {
				extern++
				t.Logf("%s: %v", name, err)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			_, err = New().Compile(k)
			var u *exec.UnsupportedError
			if errors.As(err, &u) {
				unsupported++
				t.Logf("%s: %v", name, err)
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	t.Logf("%d kernels: %d need something from outside, %d use an instruction that is not implemented", kernels, extern,
		unsupported)
}
