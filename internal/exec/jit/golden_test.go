package jit

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// generators make code of both instruction sets.
var generators = sync.OnceValue(func() map[amd64.ISA]backend {
	return map[amd64.ISA]backend{amd64.AVX512: amd64.New(amd64.AVX512), amd64.AVX2: amd64.New(amd64.AVX2)}
})

// goldenFile has a hash of the machine code of every recorded kernel: a change that is to leave the code as it is shows
// here that it does, one that changes the code says so with -update.
const goldenFile = "testdata/golden.txt.gz"

// goldenHash is the hash of a kernel's machine code: of every function for all lanes and for some, and of whole CTAs of
// four shapes, for both instruction sets. Code that cannot be made counts with its reason.
func goldenHash(k *ir.Kernel, s *interp.Single) string {
	h := sha256.New()
	put := func(code []byte, err error, points ...int32) {
		if err != nil {
			fmt.Fprintln(h, err)
			return
		}
		binary.Write(h, binary.LittleEndian, int64(len(code)))
		h.Write(code)
		binary.Write(h, binary.LittleEndian, points)
	}
	for _, f := range k.Funcs {
		native := make([]bool, len(f.Ops))
		for i := range f.Ops {
			native[i] = generators()[amd64.AVX512].Supports(&f.Ops[i])
		}
		a := plan.Analyse(f, native, false)
		for _, full := range []bool{true, false} {
			for _, set := range []amd64.ISA{amd64.AVX512, amd64.AVX2} {
				code, entry, err := generators()[set].CompileWarp(a, full, nil)
				put(code, err, entry...)
			}
		}
	}
	f := k.Funcs[0]
	a := analyseWhole(generators()[amd64.AVX512], k, s, nil, nil)
	if err := plan.WholeCTA(k, a); err != nil {
		put(nil, err)
		return fmt.Sprintf("%x", h.Sum(nil)[:8])
	}
	for _, dims := range ctaShapes {
		for _, set := range []amd64.ISA{amd64.AVX512, amd64.AVX2} {
			v, err := plan.Evaluate(a, dims, make([]bool, len(f.Ops)))
			var c *abi.CTACode
			if err == nil {
				c, err = generators()[set].CompileCTA(k, v, abi.CTAOptions{})
			}
			var text []byte
			var points []int32
			if err == nil {
				text, points = c.Text, []int32{c.Start, c.Entries[0], c.Entries[1], c.Skip}
			}
			put(text, err, points...)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// goldenLines returns a line for each kernel of a folder of recorded modules.
func goldenLines(t *testing.T, dir string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	eachModule(t, dir, func(name, text string) {
		source := sha256.Sum256([]byte(text))
		eachKernel(text, func(k *ir.Kernel, s *interp.Single) {
			lines[fmt.Sprintf("%s %x %s", name, source[:4], k.Name)] = goldenHash(k, s)
		})
	})
	return lines
}

// TestGoldenCode holds the machine code of every recorded kernel to its hash. -update writes the hashes anew.
func TestGoldenCode(t *testing.T) {
	testEngine(t)
	dir := fullCorpus
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil || testing.Short() {
		if *update {
			t.Fatal("the hashes want the complete set, and no -short")
		}
		dir = corpusSubset
	}
	have := goldenLines(t, dir)
	if *update {
		if err := writeGolden(have); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := readGolden()
	if err != nil {
		t.Fatal(err)
	}
	for k, h := range have {
		switch w := want[k]; {
		case w == "":
			t.Errorf("%s: no hash; go test ./internal/exec/jit -run TestGoldenCode -update", k)
		case w != h:
			t.Errorf("%s: the machine code is another: %s, not %s", k, h, w)
		}
	}
	if dir == fullCorpus && len(want) != len(have) {
		t.Errorf("%d kernels have a hash, %d were compiled", len(want), len(have))
	}
}

func writeGolden(lines map[string]string) (err error) {
	f, err := os.Create(goldenFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(z, k, lines[k])
	}
	return z.Close()
}

func readGolden() (map[string]string, error) {
	f, err := os.Open(goldenFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	lines := map[string]string{}
	for l := range strings.Lines(string(b)) {
		l = strings.TrimSuffix(l, "\n")
		i := strings.LastIndexByte(l, ' ')
		lines[l[:i]] = l[i+1:]
	}
	return lines, err
}
