package cubin_test

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fault"
)

// kept reads an image of the recorded selection (internal/image/testdata/corpus/README.md).
func kept(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "corpus", filepath.FromSlash(path)+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The generations: the same source by CUDA 11.8, 12.4 and 13.0 for sm_90, and for others by 13.0.
// Processor numbers are in the file names; the toolkit is what compiled them.
func TestGenerations(t *testing.T) {
	for _, c := range []struct {
		file    string
		arch    string
		osabi   byte
		version int
		tools   int
	}{
		{"modules/saxpy/saxpy.cu118.sm_90.cubin", "sm_90", cubin.OSABIOld, 118, 0},
		{"modules/saxpy/saxpy.cu124.sm_90.cubin", "sm_90", cubin.OSABIOld, 124, 0},
		{"modules/saxpy/saxpy.sm_90.cubin", "sm_90", cubin.OSABINew, 130, 1},
		{"modules/saxpy/saxpy.sm_100.cubin", "sm_100", cubin.OSABINew, 130, 1},
		{"modules/saxpy/saxpy.sm_120.cubin", "sm_120", cubin.OSABINew, 130, 1},
		{"modules/wgmma/wgmma.sm_90a.cubin", "sm_90a", cubin.OSABINew, 130, 1},
	} {
		data := kept(t, c.file)
		f, err := cubin.Parse(data)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if f.Arch.String() != c.arch || f.OSABI != c.osabi || f.APIVersion != c.version || len(f.Tool) != c.tools {
			t.Errorf("%s: %v, OS ABI %#x, API version %d, %d tools; want %+v", c.file, f.Arch, f.OSABI, f.APIVersion,
				len(f.Tool), c)
		}
		if c.tools > 0 && (f.Tool[0].Name != "ptxas" ||
			f.Tool[0].Version != "Cuda compilation tools, release 13.0, V13.0.88" ||
			f.Tool[0].Options != "-arch "+c.arch) {
			t.Errorf("%s: tool %+v", c.file, f.Tool[0])
		}
		if a, err := cubin.Identify(data); err != nil || a.Number != f.Arch.Number {
			t.Errorf("%s: Identify %v, %v", c.file, a, err)
		}
		if err := f.CheckDevice(f.Arch.Number); err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if err := f.CheckDevice(75); !errors.Is(err, fault.Target) {
			t.Errorf("%s on sm_75: %v", c.file, err)
		}
	}
}

// Properties that come from the source: launch bounds, clusters, managed and constant variables.
func TestProperties(t *testing.T) {
	f, err := cubin.Parse(kept(t, "modules/bounds/bounds.sm_90.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	if k := f.Kernel("lb256_4"); k == nil || k.MaxThreads != [3]uint32{256, 1, 1} {
		t.Errorf("__launch_bounds__(256, 4): %+v", k)
	}
	if k := f.Kernel("fixed_cluster"); k == nil || k.ClusterDim != [3]uint32{2, 1, 1} || !k.ExplicitCluster {
		t.Errorf("__cluster_dims__(2, 1, 1): %+v", k)
	}
	if k := f.Kernel("lots_shared"); k == nil || k.StaticShared != 48000 {
		t.Errorf("48000 bytes of shared memory: %+v", k)
	}
	if f.Kernel("absent") != nil || f.Global("absent") != nil {
		t.Error("found something absent")
	}
	m, err := cubin.Parse(kept(t, "modules/managed/managed.sm_90.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	managed := 0
	for _, g := range m.Globals {
		if g.Managed {
			managed++
		}
	}
	if managed == 0 {
		t.Errorf("no managed variable among %+v", m.Globals)
	}
	s, err := cubin.Parse(kept(t, "modules/stack/stack.cu124.sm_90.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	// CUDA 12.4 could not bound alloca; the driver reports 0 bytes of local memory for it.
	if k := s.Kernel("use_alloca"); k == nil || k.MinStackSize != cubin.UnknownStack || k.LocalSize() != 0 {
		t.Errorf("alloca: %+v", k)
	}
}

func TestDecodeInfo(t *testing.T) {
	records, err := cubin.DecodeInfo([]byte{
		1, 4, 0, 0,
		2, 0x4c, 3, 0,
		3, 0x1b, 0xff, 0,
		4, 0x2f, 8, 0, 5, 0, 0, 0, 24, 0, 0, 0,
		4, 0xee, 1, 0, 9, 0, 0, 0, // one byte, padded to four
	})
	if err != nil || len(records) != 5 {
		t.Fatalf("%+v, %v", records, err)
	}
	if w, ok := records[3].Word(1); !ok || w != 24 || records[3].ID != cubin.AttrRegCount ||
		records[3].ID.String() != "REGCOUNT" {
		t.Errorf("register count: %+v", records[3])
	}
	if _, ok := records[3].Word(2); ok {
		t.Error("word beyond the record")
	}
	if records[1].Value != 3 || records[2].Value != 255 || len(records[4].Data) != 1 ||
		records[4].ID.String() != "ATTR_EE" {
		t.Errorf("%+v", records)
	}
	for _, bad := range [][]byte{{5, 4, 0, 0}, {0, 0, 0, 0}, {4, 1, 8, 0, 1, 2, 3, 4}, {1, 4, 0, 0, 1}} {
		if r, err := cubin.DecodeInfo(bad); !errors.Is(err, fault.Malformed) {
			t.Errorf("% x: %+v, %v", bad, r, err)
		}
	}
}

// Registers limit the threads of a block. Driver's answers on an H200 (CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
// are compared over the corpus; here the arithmetic at the edges.
func TestMaxThreadsPerBlock(t *testing.T) {
	for _, c := range []struct {
		fn   cubin.Function
		want uint32
	}{
		{cubin.Function{Registers: 64}, 1024},
		{cubin.Function{Registers: 65}, 896}, // 2304 registers a warp, 28 warps
		{cubin.Function{Registers: 255}, 256},
		{cubin.Function{Registers: 16, MaxThreads: [3]uint32{128, 2, 1}}, 256},
		{cubin.Function{Registers: 16, ReqThreads: [3]uint32{100, 0, 0}}, 100},
		{cubin.Function{}, 1024},
	} {
		if got := c.fn.MaxThreadsPerBlock(65536, 1024); got != c.want {
			t.Errorf("%d registers, bounds %v %v: %d, want %d", c.fn.Registers, c.fn.MaxThreads, c.fn.ReqThreads, got,
				c.want)
		}
	}
}

// FuzzParse holds that no input makes the reader panic or report more than the file holds.
func FuzzParse(f *testing.F) {
	for _, name := range []string{
		"broken/images/cubin_ok.cubin", "broken/images/cubin_nvinfo_zeroed.cubin",
		"broken/images/cubin_shnum_65000.cubin",
		"broken/images/cubin_symtab_size_huge.cubin", "broken/images/cubin_truncated_at_sections.cubin",
		"modules/saxpy/saxpy.cu118.sm_90.cubin", "modules/bounds/bounds.sm_90.cubin",
		"modules/managed/managed.sm_90.cubin",
		"modules/rdc_pair/rdc_pair.linked.no_inputs.cubin",
	} {
		f.Add(kept(f, name))
	}
	extended := kept(f, "broken/images/cubin_ok.cubin") // extended section numbering
	shoff := binary.LittleEndian.Uint64(extended[40:])
	binary.LittleEndian.PutUint64(extended[shoff+32:], uint64(binary.LittleEndian.Uint16(extended[60:])))
	binary.LittleEndian.PutUint32(extended[shoff+40:], uint32(binary.LittleEndian.Uint16(extended[62:])))
	binary.LittleEndian.PutUint32(extended[60:], 0xffff0000)
	if _, err := cubin.Parse(extended); err != nil {
		f.Fatal("extended numbering: ", err)
	}
	f.Add(extended)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := cubin.Parse(data)
		var class fault.Class
		if err != nil {
			if !errors.As(err, &class) {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if len(c.Kernels)+len(c.Functions) > len(data)/64 || len(c.Globals) > len(data)/24 {
			t.Fatalf("%d kernels, %d functions, %d variables from %d bytes", len(c.Kernels), len(c.Functions),
				len(c.Globals), len(data))
		}
		for i := range c.Kernels {
			c.Kernels[i].MaxThreadsPerBlock(65536, 1024)
		}
		_ = c.DebugPTX()
	})
}
