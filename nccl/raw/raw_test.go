package raw

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

func open(t *testing.T) *Library {
	t.Helper()
	l, err := Open("")
	var load *LoadError
	if errors.As(err, &load) {
		skip.Without(t, skip.NCCL, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpen(t *testing.T) {
	_, err := Open("/nonexistent/libnccl.so.2")
	var load *LoadError
	if !errors.As(err, &load) {
		t.Fatalf("%v, want a LoadError", err)
	}
}

// What needs no GPU: version, texts of errors, identifiers, and arguments that NCCL refuses.
func TestLibrary(t *testing.T) {
	l := open(t)
	v, err := l.GetVersion()
	if err != nil || v < 20000 {
		t.Fatalf("version %d, %v", v, err)
	}
	for r := Success; r < NumResults; r++ {
		text, err := l.GetErrorString(r)
		if err != nil {
			t.Fatal(err)
		}
		if want := texts[r]; text != want && v >= Version {
			t.Errorf("text of %d: %q, recorded %q", r, text, want)
		}
	}
	a, err := l.GetUniqueId()
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.GetUniqueId()
	if err != nil {
		t.Fatal(err)
	}
	if a == b || a == (UniqueId{}) {
		t.Errorf("identifiers %x and %x", a.Internal[:16], b.Internal[:16])
	}
	// "nranks" has to be positive: the struct by value must not disturb the arguments beside it.
	if _, err := l.CommInitRank(0, a, 0); err == nil {
		t.Error("a communicator without ranks")
	}
	if err := l.CommDestroy(0); err != nil {
		t.Errorf("ncclCommDestroy(NULL): %v; NCCL takes it", err)
	}
	if _, err := l.CommCount(0); !errors.Is(err, InvalidArgument) {
		t.Errorf("ncclCommCount(NULL): %v", err)
	}
}
