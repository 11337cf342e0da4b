//go:build unix

package cc

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// makePipe makes a pipe with a name.
func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

// feed writes to a pipe as soon as a reader has opened it. It gives up when done is closed, since then the reader is
// gone.
func feed(name string, data []byte, done <-chan struct{}) error {
	for {
		// Without a reader the open fails at once; it does not block.
		f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			_, err = f.Write(data)
			return errors.Join(err, f.Close())
		}
		if !errors.Is(err, syscall.ENXIO) {
			return err
		}
		select {
		case <-done:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}
