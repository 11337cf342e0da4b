package exec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/skip"
)

func BenchmarkManyBlocks(b *testing.B) {
	d := exectest.Open(b)
	k, err := d.Load(entry("", "st.global.u32 [%o], %t;")).Kernel("k")
	if err != nil {
		b.Fatal(err)
	}
	const grid, block = 4096, 256
	a, _ := d.Alloc(4 * grid * block)
	c := config(grid, block)
	b.SetBytes(4 * grid * block)
	for b.Loop() {
		if err := k.Run(c, a); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSHA256 runs long straight code with many registers.
func BenchmarkSHA256(b *testing.B) {
	src, err := os.ReadFile(filepath.Join("../../../shared/bench/kernels/ptx", "sha256.ptx"))
	if err != nil {
		skip.Without(b, skip.Recordings, err)
	}
	d := exectest.Open(b)
	m := d.Load(string(src))
	name := ""
	for _, f := range m.Funcs {
		if f.Entry {
			name = f.Name
		}
	}
	k, err := m.Kernel(name)
	if err != nil {
		b.Fatal(err)
	}
	var args []any
	for _, p := range k.Code.Kernel().Params {
		if p.Size == 8 {
			a, _ := d.Alloc(1 << 20)
			args = append(args, a)
		} else {
			args = append(args, uint32(1024))
		}
	}
	for b.Loop() {
		if err := k.Run(config(8, 128), args...); err != nil {
			b.Fatal(err)
		}
	}
}
