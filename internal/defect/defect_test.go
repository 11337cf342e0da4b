package defect_test

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/defect"
)

func caught(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = defect.Of(v)
		}
	}()
	f()
	return nil
}

func caughtCallback(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = defect.OfCallback("CUhostFn", v)
		}
	}()
	f()
	return nil
}

// again passes a panic on, as code generation does.
func again(f func()) {
	defer func() { panic(defect.Of(recover())) }()
	f()
}

type generic[T any] struct{ p *T }

func (g *generic[T]) get() T { return *g.p }

// line is the line of its caller.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

var errInner = errors.New("inner")

func TestPlace(t *testing.T) {
	want := 0
	list := []int{1}
	for name, f := range map[string]func(){
		"value":             func() { want = line(); panic("text") },
		"runtime":           func() { want = line(); list[len(list)]++ },
		"nil pointer":       func() { want = line(); (*generic[int])(nil).p = nil },
		"library":           func() { want = line(); _ = slices.Delete(list, 1, 3) },
		"passed on":         func() { again(func() { want = line(); panic("text") }) },
		"deferred function": func() { defer func() { want = line(); panic("second") }(); panic("first") },
	} {
		err := caught(f)
		var e *defect.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if place := fmt.Sprintf("internal/defect/defect_test.go:%d", want); e.Place != place {
			t.Errorf("%s: at %s, want %s", name, e.Place, place)
		}
		if !strings.Contains(string(e.Stack), "defect_test.go") {
			t.Errorf("%s: stack %s", name, e.Stack)
		}
	}
	err := caught(func() { (&generic[map[*defect.Error]int]{}).get() })
	if !strings.Contains(err.Error(), "internal/defect/defect_test.go:") {
		t.Errorf("method of a generic type: %v", err)
	}
}

func TestText(t *testing.T) {
	err := caught(func() { panic(fmt.Errorf("many\nlines: %w", errInner)) })
	pattern := `^internal error: many lines: inner at internal/defect/defect_test\.go:\d+; please report this with the image and the calls that led here at https://\S+$`
	if !regexp.MustCompile(pattern).MatchString(err.Error()) {
		t.Error(err)
	}
	if !errors.Is(err, errInner) {
		t.Error("the panic's error is lost")
	}
	if err := caught(func() { panic(strings.Repeat("ä", 1000)) }); len(err.Error()) > 800 {
		t.Errorf("%d bytes", len(err.Error()))
	}
	if err := caught(func() {}); err != nil {
		t.Error(err)
	}
}

func TestCallback(t *testing.T) {
	err := caughtCallback(func() { panic(errInner) })
	pattern := `^the program's CUhostFn panicked: inner at \S+defect_test\.go:\d+$`
	if !regexp.MustCompile(pattern).MatchString(err.Error()) || !errors.Is(err, errInner) {
		t.Error(err)
	}
}
