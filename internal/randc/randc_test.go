package randc

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
)

var (
	programs = flag.Int("programs", 20, "how many random functions are compared")
	first    = flag.Uint64("first", 1, "the seed of the first")
	levels   = flag.String("levels", "0,3", "optimisation levels of the kernels")
	engines  = flag.String("engines", "interpreter,jit-avx2,jit-avx512", "engines that run them")
)

// batch is how many functions a source file has; threads, for how many inputs each is computed.
const (
	batch   = 20
	threads = 64
)

// clang returns a clang that compiles to PTX.
func clang(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("GOCUDA_CLANG"), "clang-19", "clang-20", "clang-18", "clang-17", "clang"} {
		if name == "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "--print-targets").Output()
		if err == nil && bytes.Contains(out, []byte("nvptx64")) {
			return path
		}
	}
	skip.Without(t, skip.Tool, "a clang with an NVPTX back end (17 or later)")
	return ""
}

// source is a file with functions, a kernel for each, and a main function for the host that writes all results.
func source(seeds []uint64) string {
	var b, calls strings.Builder
	b.WriteString(Prelude)
	for _, s := range seeds {
		b.WriteString(Function(s))
		fmt.Fprintf(&b, `#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void k%[1]d(u64 *out, const u32 *in) { u32 i = __nvvm_read_ptx_sreg_tid_x(); out[i] = fn%[1]d(in + i * %[2]d); }
#endif
`, s, Inputs)
		fmt.Fprintf(&calls, "\tfor (int i = 0; i < %d; i++) { u64 x = fn%d(in + i * %d); fwrite(&x, 8, 1, stdout); }\n",
			threads, s, Inputs)
	}
	fmt.Fprintf(&b, `#ifndef __NVPTX__
#include <stdio.h>
int main(void) {
	static u32 in[%d];
	if (fread(in, 4, %[1]d, stdin) != %[1]d) return 1;
%[2]s	return 0;
}
#endif
`, threads*Inputs, calls.String())
	return b.String()
}

// inputs are words that are small, large or at an edge.
func inputs() []uint32 {
	r := rand.New(rand.NewPCG(7, 7))
	in := make([]uint32, threads*Inputs)
	for i := range in {
		switch r.IntN(4) {
		case 0:
			in[i] = uint32(edges[r.IntN(len(edges))])
		case 1:
			in[i] = r.Uint32N(64)
		case 2:
			in[i] = uint32(100+r.IntN(56)) << 23 // a float not far from one
		default:
			in[i] = r.Uint32()
		}
	}
	return in
}

func run(t *testing.T, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out.Bytes()
}

// TestAgainstHost compares random functions in kernels with the same functions on the host. -programs and -first choose
// how many and which; CONTRIBUTING.md has the command of the long run.
func TestAgainstHost(t *testing.T) {
	cc := clang(t)
	cudatest.SoftwareOnly(t)
	dir := t.TempDir()
	type device struct {
		name string
		c    *cuda.Context
	}
	var devices []device
	for _, e := range strings.Split(*engines, ",") {
		t.Setenv("GOCUDA_ENGINE", e)
		sys, err := cuda.Open(cuda.WithSoftware())
		if err != nil {
			t.Logf("%s is left out: %v", e, err) // a processor without the instruction set
			continue
		}
		c, err := sys.Context(0)
		if err != nil {
			t.Fatal(err)
		}
		// Without optimisation every value has a place in memory.
		if err := c.SetLimit(cu.CU_LIMIT_STACK_SIZE, 64<<10); err != nil {
			t.Fatal(err)
		}
		devices = append(devices, device{e, c})
	}
	in := inputs()
	var input bytes.Buffer
	if err := binary.Write(&input, binary.LittleEndian, in); err != nil {
		t.Fatal(err)
	}
	compared, bad := 0, 0
	said := time.Now()
	for at := 0; at < *programs && bad < 10; at += batch {
		if time.Since(said) > 30*time.Second {
			said = time.Now()
			t.Logf("%d of %d functions: %d results compared, %d functions differ", at, *programs, compared, bad)
		}
		var seeds []uint64
		for i := at; i < min(at+batch, *programs); i++ {
			seeds = append(seeds, *first+uint64(i))
		}
		file, program := filepath.Join(dir, "r.c"), filepath.Join(dir, "r")
		if err := os.WriteFile(file, []byte(source(seeds)), 0o666); err != nil {
			t.Fatal(err)
		}
		common := []string{"-w", "-ffp-contract=off", "-fno-strict-aliasing", file}
		run(t, nil, cc, append([]string{"-O1", "-o", program}, append(common, "-lm")...)...)
		want := make([]uint64, len(seeds)*threads)
		if err := binary.Read(bytes.NewReader(run(t, input.Bytes(), program)), binary.LittleEndian, want); err != nil {
			t.Fatal(err)
		}
		for _, level := range strings.Split(*levels, ",") {
			ptx := filepath.Join(dir, "r.ptx")
			run(t, nil, cc, append([]string{"-target", "nvptx64-nvidia-cuda", "-march=sm_90", "-Xclang",
				"-target-feature", "-Xclang", "+ptx80",
				"-S", "-O" + level, "-o", ptx}, common...)...)
			image, err := os.ReadFile(ptx)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range devices {
				compared += len(seeds) * threads
				bad += compare(t, d.c, d.name+" -O"+level, image, seeds, in, want)
			}
		}
	}
	t.Logf("%d functions from seed %d, levels %s, %d engines: %d results compared", *programs, *first, *levels,
		len(devices), compared)
}

// compare runs the kernels of an image and counts the functions with another result than want.
func compare(t *testing.T, c *cuda.Context, how string, image []byte, seeds []uint64, in []uint32,
	want []uint64) (bad int) {
	t.Helper()
	m, err := c.Load(image)
	if err != nil {
		t.Errorf("%s, seeds from %d: %v", how, seeds[0], err)
		return 1
	}
	defer m.Close()
	src, err := cuda.Upload(c, in)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	out, err := cuda.Alloc[uint64](c, threads)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for n, s := range seeds {
		k, err := m.Kernel(fmt.Sprintf("k%d", s))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Launch(nil, cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(threads)}, cuda.Ptr(out),
			cuda.Ptr(src)); err != nil {
			t.Fatal(err)
		}
		got, err := out.Download()
		if err != nil {
			t.Fatalf("%s, seed %d: %v", how, s, err)
		}
		for i, g := range got {
			if w := want[n*threads+i]; g != w {
				t.Errorf("%s, seed %d, thread %d: %#x on the device, %#x on the host", how, s, i, g, w)
				bad++
				break
			}
		}
	}
	return bad
}
