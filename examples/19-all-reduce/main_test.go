package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/nccl"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	var absent *nccl.LoadError // on GPUs the work is NVIDIA's library's
	switch err := run(&out); {
	case errors.As(err, &absent):
		skip.Without(t, skip.NCCL, err)
	case err != nil:
		t.Fatal(err)
	}
	// Device i has i + k%1000 at place k.
	var n int
	if _, err := fmt.Sscanf(out.String(), "%d devices", &n); err != nil || n < 1 {
		t.Fatal(err, out.String())
	}
	ranks := n * (n - 1) / 2
	want := fmt.Sprintf("%d devices, 1048576 numbers each\n", n)
	for i := range n {
		want += fmt.Sprintf("device %d has the sums %d, %d, %d, ... %d\n", i, ranks, ranks+n, ranks+2*n,
			ranks+n*((1<<20-1)%1000))
	}
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
