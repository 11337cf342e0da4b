package lower_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// most lines of PTX, so that even large tiles load fast: the text does not grow with the size of a tile.
const mostLines = 5000

// TestLines counts the lines of PTX of all modules.
func TestLines(t *testing.T) {
	for _, dir := range []string{kept, own} {
		r := readSet(t, dir)
		worst, name := 0, ""
		for _, m := range r.Modules {
			p, err := compile(code(t, r, m.Name))
			var e *lower.Error
			if errors.As(err, &e) && e.Op.Info().NotSM90 != "" {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			if n := bytes.Count(p.PTX, []byte("\n")); n > worst {
				worst, name = n, m.Name
			}
		}
		t.Logf("%s: at most %d lines, of %s", dir, worst, name)
		if worst > mostLines {
			t.Errorf("%s has %d lines", name, worst)
		}
	}
}

// TestTooLarge bounds shared memory: tiles that do not fit are refused with the operation that wants them.
func TestTooLarge(t *testing.T) {
	r := readSet(t, own)
	m, err := tileir.Parse(code(t, r, "attention.128x128x32"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	p, err := lower.Module(m, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	need := p.Entries[0].Shared
	if _, err = lower.Module(m, lower.Options{MaxShared: need}); err != nil {
		t.Errorf("%d bytes are not enough: %v", need, err)
	}
	_, err = lower.Module(m, lower.Options{MaxShared: need - 1})
	var e *lower.Error
	if !errors.As(err, &e) || e.Offset == 0 || !strings.Contains(e.Words, "shared memory") {
		t.Errorf("%d bytes are enough: %v", need-1, err)
	}
}

// TestFault has kernels fault: the fault names the place in the source, from the module's debug records.
func TestFault(t *testing.T) {
	r := readSet(t, kept)
	p, err := compile(code(t, r, "debug.lines.13.4"))
	if err != nil {
		t.Fatal(err)
	}
	cm, err := checked(p.PTX)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range devices(t) {
		k, err := d.LoadChecked(cm).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		err = k.Run(exectest.Config{Block: exectest.Dim(lower.Threads)}, uint64(64))
		var f *exec.Fault
		if !errors.As(err, &f) || f.Kind != exec.FaultAddress || f.File == "" || f.Loc.Line == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%s: %s:%d", name, f.File, f.Loc.Line)
	}
}
