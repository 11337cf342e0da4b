package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	const want = `context 0: 1 blocks counted
context 1: 2 blocks counted
together: 30, at the addresses %v and %v
unloading the module alone: CUDA_ERROR_NOT_PERMITTED`
	var addresses [2]string
	if _, err := fmt.Sscanf(out.String(), want, &addresses[0], &addresses[1]); err != nil ||
		addresses[0] != addresses[1] || addresses[0] == "0x0" {
		t.Errorf("%q, want %q and one address: %v", out.String(), want, err)
	}
}
