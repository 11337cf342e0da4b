//go:build !gocuda_nodriver && (amd64 || arm64)

package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/skip"
)

// childVariable makes the test binary the program of TestSignalsWhileCompiling; its value is the library.
const childVariable = "GOCUDA_NVRTC_CHILD"

func TestMain(m *testing.M) {
	if lib := os.Getenv(childVariable); lib != "" {
		os.Exit(child(lib))
	}
	os.Exit(m.Run())
}

// fakeLibrary compiles testdata/fakenvrtc.c.
func fakeLibrary(t *testing.T) string {
	t.Helper()
	skip.Command(t, "gcc")
	lib := filepath.Join(t.TempDir(), "libfakenvrtc.so")
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-Wall", "-o", lib, "testdata/fakenvrtc.c").CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return lib
}

func actions(t *testing.T) (all [signals + 1]action) {
	t.Helper()
	for sig := 1; sig <= signals; sig++ {
		all[sig], _ = getAction(sig)
	}
	return all
}

func compile(path string) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	p, err := l.Create("", "k.cu", nil, nil)
	if err != nil {
		return err
	}
	return errors.Join(p.Compile(nil), p.Destroy())
}

// What a compilation does to the handlers of signals is undone, and what the program does meanwhile is not.
func TestSignalsAreKept(t *testing.T) {
	lib := fakeLibrary(t)
	before := actions(t)
	done := make(chan error)
	go func() { done <- compile(lib) }()
	time.Sleep(150 * time.Millisecond)
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	ignored, _ := getAction(int(syscall.SIGHUP))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for sig, a := range actions(t) {
		want := before[sig]
		if sig == int(syscall.SIGHUP) {
			want = ignored
		}
		if a != want {
			t.Errorf("signal %d: %+x, want %+x", sig, a, want)
		}
	}
	if ignored.handler != 1 {
		t.Error("signal.Ignore has not been here")
	}
}

// A signal that comes while the library compiles is the program's.
func TestSignalsWhileCompiling(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+fakeLibrary(t))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "terminated 3 times\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func child(lib string) int {
	c := make(chan os.Signal, 3)
	signal.Notify(c, syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- compile(lib) }()
	n := 0
	for _, after := range []time.Duration{200 * time.Millisecond, 250 * time.Millisecond, 200 * time.Millisecond} {
		time.Sleep(after) // while it has them, after it has given them back, and at the end
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			fmt.Println(err)
			return 1
		}
		select {
		case <-c:
			n++
		case <-time.After(10 * time.Second):
		}
	}
	if err := <-done; err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("terminated %d times\n", n)
	return 0
}
