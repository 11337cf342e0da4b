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
	var most int
	if _, err := fmt.Sscanf(out.String(), "last value 4; 0 bytes in use, %d at most\n", &most); err != nil || most < 4<<20 {
		t.Errorf("%q, %v: want 4 MiB or more", out.String(), err)
	}
}
