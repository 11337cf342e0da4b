package nccl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocuda/cuda"
)

func init() {
	// rank 2 is killed by nobody but itself, between two operations
	programs["killed"] = func(ctx context.Context, c *Comm) ([]byte, error) {
		x, err := cuda.Upload(c.Context(), []int32{1, 2, 3})
		if err != nil {
			return nil, err
		}
		if err := AllReduce(c, nil, x.View, x.View, Sum); err != nil {
			return nil, err
		}
		if err := c.Wait(ctx, nil); err != nil {
			return nil, err
		}
		if c.Rank() == 2 {
			time.Sleep(300 * time.Millisecond) // the others have ended the first operation by then
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			time.Sleep(time.Minute)
			return nil, err
		}
		start := time.Now()
		err = AllReduce(c, nil, x.View, x.View, Sum)
		if err == nil {
			err = c.Wait(ctx, nil)
		}
		if !errors.Is(err, ErrRemote) {
			return nil, fmt.Errorf("%v, want ncclRemoteError", err)
		}
		if d := time.Since(start); d > 30*time.Second {
			return nil, fmt.Errorf("the error came after %v", d)
		}
		return nil, nil
	}
}

func TestKilledRank(t *testing.T) {
	const n = 4
	id := "file:" + filepath.Join(t.TempDir(), "id")
	done := make(chan error, n)
	for i := range n {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=killed,%d,%d,%s", rankVariable, i, n, id))
		go func() {
			out, err := cmd.CombinedOutput()
			if i == 2 {
				err = nil // killed, as it should be
			} else if err != nil {
				err = fmt.Errorf("rank %d: %w\n%s", i, err, out)
			}
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A rank that does nothing: the others' waits end with their deadline, and streams get free.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	contexts := devices(t, 2)
	comms, err := InitAll(ctx, contexts, Config{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuda.Upload(contexts[0], []int32{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := AllReduce(comms[0], nil, x.View, x.View, Sum); err != nil {
		t.Fatal(err)
	}
	err = comms[0].Wait(ctx, nil)
	if !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a timeout", err)
	}
	for _, c := range comms {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
