package main

import (
	"bytes"
	"os"
	"testing"
)

// TestPage: the page is as the command would write it.
func TestPage(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; run go run ./internal/tools/apisupport in the root of the repository", page)
	}
}
