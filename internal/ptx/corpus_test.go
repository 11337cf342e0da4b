package ptx

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// readText reads a file, unpacked if its name ends in .gz.
func readText(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// sharedDir is the folder of recorded data beside the repository.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(filepath.Join(dir, "corpus")); err != nil {
		skip.Without(t, skip.Recordings, err)
	}
	return dir
}

func checkFiles(t *testing.T, files []string) {
	t.Helper()
	if len(files) == 0 {
		t.Fatal("no files")
	}
	lines := 0
	for _, f := range files {
		text := readText(t, f)
		lines += bytes.Count(text, []byte{'\n'})
		m, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if err := roundTrip(m); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	t.Logf("%d files, %d lines", len(files), lines)
}

// TestTestdata reads the modules kept with the package; all come from real
// compilers or ran on an H200.
func TestTestdata(t *testing.T) {
	var files []string
	for _, p := range []string{"*.ptx", "*.ptx.gz"} {
		f, err := filepath.Glob(filepath.Join("testdata", p))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f...)
	}
	checkFiles(t, files)
}

// TestShared reads every recorded module: all were accepted by driver 580.
func TestShared(t *testing.T) {
	dir := sharedDir(t)
	for _, p := range []string{"corpus/modules/*/*.ptx.gz", "silicon/*.ptx", "bench/kernels/ptx/*.ptx"} {
		t.Run(strings.ReplaceAll(p, "/", "_"), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p)))
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, files)
		})
	}
}

// BenchmarkParse reads the largest module at hand: 50,000 lines where the
// benchmark kernels are, else the largest of testdata.
func BenchmarkParse(b *testing.B) {
	path := filepath.Join("..", "..", "..", "shared", "bench", "kernels", "ptx", "big50k.ptx")
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("testdata", "asm_ptx.ptx.gz")
	}
	text := readText(b, path)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
