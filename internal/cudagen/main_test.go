package main

import (
	"path/filepath"
	"testing"
)

// TestFresh: the files on disk are what the generator writes.
func TestFresh(t *testing.T) {
	if err := run(filepath.Join("..", ".."), true); err != nil {
		t.Error(err)
	}
}
