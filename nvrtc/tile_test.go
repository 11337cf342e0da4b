package nvrtc_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/nvrtc"
)

const tileSource = `
#include <cuda_tile.h>
extern "C" __tile_global__ void add(float *x, float *y, float *z) {
	namespace ct = cuda::tiles;
	int at = ct::bid().x * 128;
	auto i = ct::iota<ct::tile<int, ct::shape<128>>>();
	ct::store(z + at + i, ct::load(x + at + i) + ct::load(y + at + i));
}
`

// TestTile compiles a tile kernel to Tile IR and runs it. NVRTC before 13.1 gives the typed error, whatever the
// program.
func TestTile(t *testing.T) {
	rtc := compiler(t)
	major, minor, err := rtc.Version()
	if err != nil {
		t.Fatal(err)
	}
	include := filepath.Join(filepath.Dir(rtc.Path()), "..", "include")
	flags := []string{"-std=c++20", "-I" + include, "-I" + filepath.Join(include, "cccl")}
	o := nvrtc.Options{Arch: "sm_90", Tile: true, Flags: flags}
	p, err := rtc.Compile(tileSource, o)
	if major < 13 || major == 13 && minor < 1 {
		var e *nvrtc.MissingError
		if !errors.As(err, &e) {
			t.Errorf("NVRTC %d.%d: %v, want a *MissingError", major, minor, err)
		}
		return
	}
	if _, absent := os.Stat(filepath.Join(include, "cuda_tile.h")); absent != nil {
		skip.Without(t, skip.NVRTC, "the headers of the CUDA toolkit: ", absent)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(p.TileIR, []byte("\x7fTileIR\x00")) {
		t.Fatalf("%d bytes, no Tile IR", len(p.TileIR))
	}
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, p.TileIR)
	add, err := m.Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	data, want := make([]float32, 256), make([]float32, 256)
	for i := range data {
		data[i] = float32(i) / 3
		want[i] = data[i] + data[i]
	}
	x, z := cudatest.Upload(t, c, data), cudatest.Upload(t, c, make([]float32, len(data)))
	if err := add.Launch(nil, cuda.LinearBlock(2, 1), cuda.Ptr(x), cuda.Ptr(x), cuda.Ptr(z)); err != nil {
		t.Fatal(err)
	}
	cudatest.Equal(t, z.View, want)
}
