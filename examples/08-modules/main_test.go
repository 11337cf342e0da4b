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
	var blocks [2]int
	_, err := fmt.Sscanf(out.String(), "context 0: [2 4 6] after 1 launches; %d blocks of 256 threads fit on a multiprocessor\n"+
		"context 1: [100 200 300] after 2 launches; %d blocks of 256 threads fit on a multiprocessor\n", &blocks[0], &blocks[1])
	if err != nil || blocks[0] < 2 || blocks[1] != blocks[0] {
		t.Errorf("%q, %v", out.String(), err)
	}
}
