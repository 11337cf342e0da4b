package main

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// TestRender: every form of the table is on the page, and each is counted once.
func TestRender(t *testing.T) {
	table := optab.Get()
	text, err := render(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range table.Names() {
		if !bytes.Contains(text, []byte("`"+n)) {
			t.Errorf("%s is not on the page", n)
		}
	}
	again, err := render(table)
	if err != nil || !bytes.Equal(text, again) {
		t.Error("a second rendering differs")
	}
}
