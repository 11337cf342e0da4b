//go:build linux && cgo

package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// Every pointer of every function, leading to no memory: the call answers, or SIGSEGV ends the process as a driver in C
// does, and never with a text of the Go runtime.
func TestPointersToNothing(t *testing.T) {
	type call struct {
		name, how string
		which     int
		types     []string
	}
	var calls []call
	for s := range driver.Symbols() {
		var types []string
		fits := s.Exported
		for _, p := range s.Params {
			switch p.Type {
			case "CUipcMemHandle", "CUipcEventHandle", "CUeglFrame": // these go over the stack
				fits = false
			}
			types = append(types, p.Type)
		}
		for i, p := range s.Params {
			for _, how := range []string{"page", "end", "inside"} {
				if fits && strings.HasSuffix(p.Type, "*") {
					calls = append(calls, call{s.Name, how, i, types})
				}
			}
		}
	}
	if len(calls) < 1900 {
		t.Fatalf("%d calls", len(calls))
	}
	if testing.Short() {
		var some []call
		for i := 0; i < len(calls); i += 29 { // all three ways come up
			some = append(some, calls[i])
		}
		calls = some
	}
	bin := program(t, "pointers")
	var mu sync.Mutex
	var work sync.WaitGroup
	ended := map[string]int{}
	next := make(chan call)
	for range 4 {
		work.Add(1)
		go func() {
			defer work.Done()
			for c := range next {
				args := append([]string{c.name, strconv.Itoa(c.which), c.how}, c.types...)
				out, err := start1(t, "", []string{"GOCUDA_MEMORY=1G"}, bin, args...)
				how := "an answer"
				var exit *exec.ExitError
				switch {
				case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGSEGV:
					how = "SIGSEGV"
				case err != nil:
					how = err.Error()
				}
				if how != "an answer" && how != "SIGSEGV" || strings.Contains(out, "goroutine") ||
					strings.Contains(out, "internal error") ||
					how == "SIGSEGV" && out != "" && !strings.Contains(out, c.name) {
					t.Errorf("%s, parameter %d (%s): %s\n%.2000s", c.name, c.which, c.how, how, out)
				}
				mu.Lock()
				ended[how]++
				mu.Unlock()
			}
		}()
	}
	for _, c := range calls {
		next <- c
	}
	close(next)
	work.Wait()
	t.Logf("%d calls: %v", len(calls), ended)
	if ended["SIGSEGV"] == 0 || ended["an answer"] == 0 {
		t.Error("the calls do not reach their pointers")
	}
}
