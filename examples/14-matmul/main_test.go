package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	var took string
	var blocks int
	_, err := fmt.Sscanf(out.String(), "0 of 10000 elements are wrong; %s %d blocks fit on a multiprocessor\n", &took, &blocks)
	d, bad := time.ParseDuration(strings.TrimSuffix(took, ";"))
	if err != nil || bad != nil || d <= 0 || d > time.Minute || blocks < 2 {
		t.Errorf("%q, %v", out.String(), err)
	}
}
