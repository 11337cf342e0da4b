//go:build unix

package image_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/skip"
)

// What is no regular file is refused at once: a pipe without a writer would keep its reader waiting, a device has no
// end.
func TestReadFileSpecial(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	const device = fs.ModeDevice | fs.ModeCharDevice
	cases := map[string]fs.FileMode{
		pipe: fs.ModeNamedPipe, socket: fs.ModeSocket,
		"/dev/zero": device, "/dev/null": device, "/dev/urandom": device, "/dev/tty": device,
	}
	if runtime.GOOS == "linux" {
		cases["/dev/full"] = device
	}
	for name, mode := range cases {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s is not there: %v", name, err)
			continue
		}
		done := make(chan error, 1)
		go func() {
			_, err := image.ReadFile(name)
			done <- err
		}()
		select {
		case err := <-done:
			var f *image.FileError
			if !errors.As(err, &f) || f.Mode != mode {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: no answer", name)
		}
	}
	if _, err := image.ReadFile(loop); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("link to itself: %v", err)
	}
}

// Files of /proc and /sys have sizes that say nothing of what they hold: 0, a page, or all addresses.
func TestReadFileProc(t *testing.T) {
	if runtime.GOOS != "linux" {
		skip.Without(t, skip.Linux)
	}
	for _, name := range []string{
		"/proc/self/maps", "/proc/self/mem", "/proc/kmsg", "/proc/kcore", "/sys/kernel/mm/transparent_hugepage/enabled",
	} {
		st, err := os.Stat(name)
		if err != nil {
			continue // containers lack some
		}
		data, err := image.ReadFile(name)
		var f *image.FileError
		switch {
		case errors.Is(err, fs.ErrPermission):
		case st.Size() > image.MaxFile:
			if !errors.As(err, &f) {
				t.Errorf("%s of %d bytes: %d bytes, %v", name, st.Size(), len(data), err)
			}
		case err != nil || int64(len(data)) > st.Size():
			t.Errorf("%s of %d bytes: %d bytes, %v", name, st.Size(), len(data), err)
		}
	}
}
