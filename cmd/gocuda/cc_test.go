package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/cmd/gocuda/internal/cc"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// needClang skips the test without a clang that compiles CUDA.
func needClang(t *testing.T) {
	t.Helper()
	_, err := cc.Find(context.Background(), env.Read(nil).Clang)
	var none *cc.NotFoundError
	if errors.As(err, &none) {
		skip.Without(t, skip.Tool, err)
	}
	t.Setenv(env.Cache, t.TempDir())
}

func TestCC(t *testing.T) {
	needClang(t)
	root(t)
	const src = "cmd/gocuda/internal/cc/testdata/saxpy.cu"
	ptx := filepath.Join(t.TempDir(), "saxpy.ptx")
	works(t, "cc", "-ptx", "-arch=sm_90", "-o", ptx, src)
	contains(t, "inspect", works(t, "inspect", ptx), "kernel saxpy")

	// The same arguments and expected values as the recorded saxpy of testdata.
	for _, c := range [][2]string{{src, "saxpy"}, {src, "axpy"}, {src, "axpy<float>"}, {ptx, "saxpy"}} {
		out := works(t, "run", c[0], c[1], "--grid", "4", "--block", "256", "--device", "software", "f32:2.5",
			"@testdata/saxpy/x.npy", "@testdata/saxpy/y.npy", "i32:1000", "--expect", "2=testdata/saxpy/want.npy")
		contains(t, c[1], out, "check   argument 2 equals testdata/saxpy/want.npy (exact): ok")
	}
	contains(t, "help", works(t, "cc", "--help"), "gocuda cc -o prog prog.cu")
}

func TestCCSaysWhatToDo(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	for args, want := range map[string]string{
		"cc -dlto x.cu":             "-rdc=true alone",
		"cc":                        "Usage",
		"cc -o x":                   "no input file",
		"cc -clang /nowhere/x y.cu": "set GOCUDA_CLANG",
	} {
		var out, text strings.Builder
		run(strings.Fields(args), &out, &text)
		if s := out.String() + text.String(); !strings.Contains(s, want) {
			t.Errorf("%s: no %q in\n%s", args, want, s)
		}
	}
	needClang(t)
	root(t)
	t.Setenv(env.Lib, t.TempDir())
	var out, text strings.Builder
	if code := run([]string{"cc", "cmd/gocuda/internal/cc/testdata/saxpy.cu"}, &out, &text); code != 1 ||
		!strings.Contains(text.String(), "GOCUDA_LIB=build") {
		t.Errorf("code %d: %s", code, text.String())
	}
}
