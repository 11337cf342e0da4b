package lower_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// lowerAny lowers bytes that the verifier accepts: the checker of PTX takes the text, or the error says which operation
// is to blame. It says whether the bytes are a module.
func lowerAny(t *testing.T, b []byte) bool {
	m, err := tileir.Parse(b)
	if err != nil || m.Verify() != nil {
		return false
	}
	p, err := lower.Module(m, lower.Options{MaxShared: 1 << 20})
	var e *lower.Error
	switch {
	case errors.As(err, &e):
		if e.Offset == 0 || e.Words == "" {
			t.Errorf("%#v", e)
		}
	case err != nil:
		t.Errorf("%T: %v", err, err)
	case len(p.PTX) > 1<<22: // constants
	default:
		if _, err := checked(p.PTX); err != nil {
			t.Errorf("%v\n%s", err, p.PTX)
		}
	}
	return true
}

// FuzzModule lowers any bytes.
func FuzzModule(f *testing.F) {
	for _, dir := range []string{kept, own} {
		r := readSet(f, dir)
		for i, m := range r.Modules {
			if dir == own || i%7 == 0 {
				f.Add(code(f, r, m.Name))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { lowerAny(t, b) })
}

// TestChanged lowers modules some of whose bytes are changed, and which are modules still.
func TestChanged(t *testing.T) {
	var codes [][]byte
	for _, dir := range []string{kept, own} {
		r := readSet(t, dir)
		for _, m := range r.Modules {
			codes = append(codes, code(t, r, m.Name))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 20000 {
		b := append([]byte{}, codes[rng.IntN(len(codes))]...)
		for range 1 + rng.IntN(3) {
			b[12+rng.IntN(len(b)-12)] = byte(rng.IntN(100))
		}
		if lowerAny(t, b) {
			valid++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d of 20000 are modules", valid)
	if valid < 500 {
		t.Errorf("%d of 20000 are modules", valid)
	}
}
