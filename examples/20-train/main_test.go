package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/nccl"
)

// TestRun: the loss falls, on whatever devices there are.
func TestRun(t *testing.T) {
	var out strings.Builder
	var absent *nccl.LoadError // on GPUs the work is NVIDIA's library's
	switch err := run(&out); {
	case errors.As(err, &absent):
		skip.Without(t, skip.NCCL, err)
	case err != nil:
		t.Fatal(err)
	}
	var first, last float64
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if _, err := fmt.Sscanf(lines[0], "step   0: loss %f", &first); err != nil {
		t.Fatal(err, out.String())
	}
	if _, err := fmt.Sscanf(lines[len(lines)-2], "step 300: loss %f", &last); err != nil {
		t.Fatal(err, out.String())
	}
	if first < 0.1 || last > first/10 {
		t.Errorf("the loss went from %v to %v\n%s", first, last, out.String())
	}
}

const ranks = 8

// TestProcesses: one process with eight software devices and eight processes with one come to the same weights, bit for
// bit, and print the same losses.
func TestProcesses(t *testing.T) {
	if os.Getenv("RANK") != "" { // one of the eight
		if err := runRank(os.Stdout); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Setenv("GOCUDA_DEVICE", "software")
	t.Setenv("GOCUDA_PROFILE", fmt.Sprintf("h200*%d", ranks))
	var one strings.Builder
	if err := run(&one); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d ranks; checksum", ranks); !strings.Contains(one.String(), want) {
		t.Fatalf("%q does not have %q", one.String(), want)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil { // for rank 0
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	outs, errs := make([][]byte, ranks), make([]error, ranks)
	done := make(chan struct{})
	for i := range ranks {
		go func() {
			defer func() { done <- struct{}{} }()
			c := exec.Command(exe, "-test.run=^"+name+"$")
			c.Env = append(os.Environ(), fmt.Sprint("RANK=", i), fmt.Sprint("WORLD_SIZE=", ranks),
				fmt.Sprint("LOCAL_RANK=", i), "MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port)
			outs[i], errs[i] = c.CombinedOutput()
		}()
	}
	for range ranks {
		<-done
	}
	for i, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v\n%s", i, err, outs[i])
		}
	}
	if !strings.Contains(string(outs[0]), one.String()) {
		t.Errorf("one process:\n%s\n%d processes:\n%s", one.String(), ranks, outs[0])
	}
}
