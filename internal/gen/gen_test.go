package main

import "testing"

// The files in the repository are what the generator makes from the JSON.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Fatal(err)
	}
}
