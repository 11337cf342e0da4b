//go:build unix

package softdev

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// Files that have no end, no size or too much of it, through every call that loads a file: an answer at once, and no
// memory. Recorded are the answers to a directory (OUT_OF_MEMORY: the driver believes the size) and to an empty file
// (INVALID_IMAGE); the others follow from these.
func TestLoadOddFiles(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	dir := t.TempDir()
	file := func(name, head string, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			skip.Without(t, skip.SparseFiles, err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		noImage  = driver.CUDA_ERROR_INVALID_IMAGE
		noMemory = driver.CUDA_ERROR_OUT_OF_MEMORY
		unknown  = driver.CUDA_ERROR_UNKNOWN
		large    = 100 << 30
	)
	elf := "\x7fELF\x02\x01\x01" + string(make([]byte, 9)) + "\x02\x00\xbe\x00"
	type answers struct{ module, library, ptx, fatbin, archive driver.CUresult }
	same := func(r driver.CUresult) answers { return answers{r, r, r, r, r} }
	cases := map[string]answers{
		pipe: same(noImage), "/dev/zero": same(noImage), "/dev/null": same(noImage), "/dev/urandom": same(noImage),
		dir: same(noMemory), file("empty", "", 0): same(noImage),
		file("text", ".version 8.0\n.target sm_90\n", large): same(noMemory),
		file("container", "\x50\xed\x55\xba\x01\x00", large): same(noMemory),
		file("archive", "!<arch>\n", large):                  same(noMemory),
		file("elf", elf, large):                              same(noMemory),
	}
	// A library takes unknown bytes and fails when it is used, and what is no archive is UNKNOWN (both recorded).
	cases[file("zeros", "", large)] = answers{noImage, success, noImage, noImage, unknown}
	var a, b runtime.MemStats
	for name, w := range cases {
		runtime.ReadMemStats(&a)
		done := make(chan answers, 1)
		go func() {
			var got answers
			var m driver.CUmodule
			got.module = tab.ModuleLoad(ctx, &m, cstr(name))
			var l driver.CUlibrary
			got.library = tab.LibraryLoadFromFile(ctx, &l, cstr(name), nil, nil, 0, nil, nil, 0)
			if got.library == success {
				must(t, tab.LibraryUnload(ctx, l))
			}
			add := func(kind driver.CUjitInputType) driver.CUresult {
				var s driver.CUlinkState
				must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
				defer tab.LinkDestroy(ctx, s)
				return tab.LinkAddFile_v2(ctx, s, kind, cstr(name), 0, nil, nil)
			}
			got.ptx, got.fatbin = add(driver.CU_JIT_INPUT_PTX), add(driver.CU_JIT_INPUT_FATBINARY)
			got.archive = add(driver.CU_JIT_INPUT_LIBRARY)
			done <- got
		}()
		select {
		case got := <-done:
			if got != w {
				t.Errorf("%s: %v, want %v (%s)", name, got, w, d.LastDetail(ctx))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: no answer", name)
		}
		runtime.ReadMemStats(&b)
		if n := b.TotalAlloc - a.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
	}
}
