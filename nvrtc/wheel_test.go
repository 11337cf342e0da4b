package nvrtc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/nvrtc"
)

// Programs may include CUDA's headers where they are installed beside the library: the toolkit's, or those of the
// Python packages.
func TestToolkitHeaders(t *testing.T) {
	rtc := compiler(t)
	found := false
	for _, dir := range rtc.HeaderFolders() {
		if _, err := os.Stat(filepath.Join(dir, "cuda_fp16.h")); err == nil {
			found = true
		}
	}
	if !found {
		skip.Without(t, skip.NVRTC, "no cuda_fp16.h beside ", rtc.Path())
	}
	major, minor, err := rtc.Version()
	if err != nil || major > 13 || major == 13 && minor > 0 {
		skip.Without(t, skip.NewerDriver, "NVRTC ", major, ".", minor, " writes PTX that CUDA 13.0 does not take ", err)
	}
	p, err := rtc.Compile(`#include <cuda_fp16.h>
#include <cooperative_groups.h>
extern "C" __global__ void twice(const __half *in, float *out) {
	unsigned i = cooperative_groups::this_grid().thread_rank();
	out[i] = __half2float(__hadd(in[i], in[i]));
}`, nvrtc.Options{Arch: "compute_90"})
	if err != nil {
		t.Fatal(err)
	}
	c := cudatest.Open(t)
	in := cudatest.Upload(t, c, []uint16{0x3c00, 0xc000, 0x3800}) // 1, -2, 0.5
	out := cudatest.Alloc[float32](t, c, 3)
	k := cudatest.Kernel(t, c, p.PTX, "twice")
	if err := k.Launch(nil, cuda.LinearBlock(3, 3), cuda.Ptr(in), cuda.Ptr(out)); err != nil {
		t.Fatal(err)
	}
	cudatest.Equal(t, out.View, []float32{2, -4, 1})
}
