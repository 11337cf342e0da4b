package cc

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/include"
	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// BenchmarkCompile compares an object made by this package, with the device math library linked, with clang alone: two
// runs of it, for the device and for the host, with the same headers.
func BenchmarkCompile(b *testing.B) {
	clang, err := Find(b.Context(), env.Read(nil).Clang)
	if err != nil {
		skip.Without(b, skip.Tool, err)
	}
	const src = "testdata/saxpy.cu"
	dir, err := Install(b.TempDir(), "include", include.FS())
	if err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(b.TempDir(), "x.o")
	o, err := Parse([]string{"-c", "-o", out, src})
	if err != nil {
		b.Fatal(err)
	}
	lib := filepath.Join(b.TempDir(), devlib.FileName)
	if err := os.WriteFile(lib, devlib.Bitcode(), 0o666); err != nil {
		b.Fatal(err)
	}
	alone := &Driver{Options: o, Clang: clang, Include: dir}
	ours := &Driver{Options: o, Clang: clang, Include: dir, Library: lib, Stdout: io.Discard, Stderr: io.Discard}
	b.Run("clang", func(b *testing.B) {
		for b.Loop() {
			for _, args := range [][]string{append(alone.deviceArgs("90"), "-S", src, "-o", out+".ptx"),
				append(alone.hostArgs(src), "-c", src, "-o", out)} {
				if text, err := exec.Command(clang.Path, args...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, text)
				}
			}
		}
	})
	b.Run("cc", func(b *testing.B) {
		for b.Loop() {
			if err := ours.Run(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
