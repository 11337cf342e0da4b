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
	// the last rank is killed by nobody but itself, between two operations
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
		if c.Rank() == c.Size()-1 {
			time.Sleep(300 * time.Millisecond) // the others have ended the first operation by then
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			time.Sleep(time.Minute)
			return nil, err
		}
		start := time.Now()
		limit := 30 * time.Second
		if onDriver() {
			// NCCL need not notice that a rank of its host is gone: then the deadline ends the wait
			limit = 10 * time.Second
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit/2)
			defer cancel()
		}
		err = AllReduce(c, nil, x.View, x.View, Sum)
		if err == nil {
			err = c.Wait(ctx, nil)
		}
		if !errors.Is(err, ErrRemote) && !(onDriver() && errors.Is(err, ErrTimeout)) {
			return nil, fmt.Errorf("%v, want ncclRemoteError", err)
		}
		if d := time.Since(start); d > limit {
			return nil, fmt.Errorf("the error came after %v", d)
		}
		return nil, nil
	}
}

func TestKilledRank(t *testing.T) {
	n := min(4, most(t))
	need(t, 2)
	id := "file:" + filepath.Join(t.TempDir(), "id")
	done := make(chan error, n)
	for i := range n {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=killed,%d,%d,%s", rankVariable, i, n, id))
		go func() {
			out, err := cmd.CombinedOutput()
			if i == n-1 {
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
	need(t, 2)
	contexts := devices(t, 2)
	comms, err := InitAll(context.Background(), contexts, Config{Timeout: deadline})
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuda.Upload(contexts[0], []int32{1})
	if err != nil {
		t.Fatal(err)
	}
	y, err := cuda.Upload(contexts[1], []int32{1})
	if err != nil {
		t.Fatal(err)
	}
	// NCCL connects ranks in the first operation, which does not end, queued or not, before all have begun it.
	if err := Group(func() error {
		return errors.Join(AllReduce(comms[0], nil, x.View, x.View, Sum), AllReduce(comms[1], nil, y.View, y.View, Sum))
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range comms {
		if err := c.Wait(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
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
	if err := errors.Join(x.Close(), y.Close()); err != nil {
		t.Error(err)
	}
}

func init() {
	programs["abort"] = func(ctx context.Context, c *Comm) (_ []byte, err error) {
		x, err := cuda.Upload(c.Context(), []int32{1, 2, 3})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.Context().Synchronize(), x.Close()) }() // streams are free
		if err := errors.Join(AllReduce(c, nil, x.View, x.View, Sum), c.Wait(ctx, nil)); err != nil {
			return nil, err
		}
		if c.Rank() == 0 {
			time.Sleep(100 * time.Millisecond)
			if err := c.Abort(); err != nil {
				return nil, err
			}
			if err := AllReduce(c, nil, x.View, x.View, Sum); !errors.Is(err, cuda.ErrClosed) {
				return nil, fmt.Errorf("an operation after Abort: %v", err)
			}
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err = AllReduce(c, nil, x.View, x.View, Sum)
		if err == nil {
			err = c.Wait(ctx, nil)
		}
		if !errors.Is(err, ErrRemote) && !errors.Is(err, ErrTimeout) {
			return nil, fmt.Errorf("%v, want that a rank is gone", err)
		}
		return nil, c.Abort()
	}
}

// A rank that gives up: the others' waits end with an error, and streams get free.
func TestAbort(t *testing.T) {
	need(t, 2)
	n := min(4, most(t))
	t.Run("process", func(t *testing.T) { inProcess(t, n, programs["abort"]) })
	t.Run("processes", func(t *testing.T) { processes(t, n, "abort", "file:"+t.TempDir()+"/id") })
}
