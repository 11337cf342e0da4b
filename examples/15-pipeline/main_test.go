package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 10000)
	var out strings.Builder
	if err := run(context.Background(), &out, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "440000 bytes in 7 pieces: 90000 spaces, 30000 of e, 10000 of z\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEnd: exactly whole pieces, nothing at all, and a context that has ended.
func TestEnd(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), &out, bytes.NewReader(make([]byte, 128<<10))); err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), &out, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "131072 bytes in 2 pieces: 0 spaces, 0 of e, 0 of z\n0 bytes in 0 pieces: 0 spaces, 0 of e, 0 of z\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ctx, &out, strings.NewReader("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
