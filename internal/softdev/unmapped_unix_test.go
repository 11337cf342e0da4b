//go:build unix

package softdev

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
)

// edge is memory behind which there is none.
type edge struct {
	b   []byte
	end uint64
}

func newEdge(t *testing.T, size int) *edge {
	t.Helper()
	page := os.Getpagesize()
	n := (size + page - 1) / page * page
	b, err := unix.Mmap(-1, 0, n+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	if err := unix.Mprotect(b[n:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return &edge{b[:n], uint64(uintptr(unsafe.Pointer(&b[0]))) + uint64(n)}
}

// put writes the bytes right before the end and gives their address.
func (e *edge) put(b []byte) unsafe.Pointer {
	copy(e.b[len(e.b)-len(b):], b)
	return foreign(e.end - uint64(len(b)))
}

// An image whose header promises more than is mapped, cut at many places: the driver reads on and ends the process,
// here it is an image that is not valid. Before its last byte every format has said that there is more.
func TestImageAtUnmappedPage(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	kept := func(name string) []byte {
		b := unzipped(t, filepath.Join("..", "image", "testdata", "corpus", filepath.FromSlash(name)))
		if b == nil {
			t.Fatalf("%s is not there", name)
		}
		return b
	}
	text := append(kept("broken/images/ptx_ok.ptx"), 0)
	box := kept("modules/saxpy/saxpy.mode_speed.fatbin")
	const success, noImage = driver.CUDA_SUCCESS, driver.CUDA_ERROR_INVALID_IMAGE
	for _, c := range []struct {
		name  string
		image []byte
		kind  driver.CUjitInputType
		whole driver.CUresult // of a load of the whole image
	}{
		{"PTX", text, driver.CU_JIT_INPUT_PTX, success},
		{"comment", append([]byte("/*"+string(make60k())+"*/"), text...), driver.CU_JIT_INPUT_PTX, success},
		{"fatbin", box, driver.CU_JIT_INPUT_FATBINARY, success},
		{"cubin", kept("broken/images/cubin_ok.cubin"), driver.CU_JIT_INPUT_CUBIN, driver.CUDA_ERROR_NO_BINARY_FOR_GPU},
		{"linked image", linkAll(t, d, ctx, ptxInput("a", string(text[:len(text)-1]))), driver.CU_JIT_INPUT_CUBIN,
			success},
		{"Tile IR", tileImage(), driver.CU_JIT_INPUT_FATBINARY, noImage},
		{"wrapper", fatbin.Wrapper{Version: 1, Data: 1 << 40}.Append(nil), driver.CU_JIT_INPUT_FATBINARY, noImage},
		{"archive", kept("modules/rdc_pair/rdc_pair.a"), driver.CU_JIT_INPUT_LIBRARY, noImage},
		{"host object", kept("modules/saxpy/saxpy.host.o"), driver.CU_JIT_INPUT_OBJECT, noImage},
		{"COFF", append([]byte{0x64, 0x86}, make([]byte, 5000)...), driver.CU_JIT_INPUT_OBJECT, noImage},
		{"LTO-IR", kept("modules/rdc_pair/rdc_a.ltoir"), driver.CU_JIT_INPUT_NVVM, noImage},
	} {
		e := newEdge(t, len(c.image))
		kind, size, err := image.SizeOf(d.memory.hostBytes, uint64(uintptr(e.put(c.image))))
		if err != nil {
			size = uint64(len(c.image)) // nothing that a module load takes
		}
		if kind == image.PTX {
			size++ // the NUL
		}
		step := max(1, len(c.image)/150)
		for cut := 0; cut <= len(c.image); {
			p := e.put(c.image[:cut])
			expect := noImage
			if uint64(cut) >= size {
				expect = c.whole
			}
			var m driver.CUmodule
			got := [3]driver.CUresult{
				tab.ModuleLoadData(ctx, &m, p), tab.ModuleLoadDataEx(ctx, &m, p, 0, nil, nil),
				tab.ModuleLoadFatBinary(ctx, &m, p),
			}
			if got != [3]driver.CUresult{expect, expect, expect} {
				t.Errorf("%s, %d bytes of %d: modules %v, want %v", c.name, cut, len(c.image), got, expect)
			}
			if expect != success {
				var l driver.CUlibrary
				r := tab.LibraryLoadData(ctx, &l, p, nil, nil, 0, nil, nil, 0)
				if r == success {
					r = tab.LibraryGetModule(ctx, &m, l)
					must(t, tab.LibraryUnload(ctx, l))
				}
				if r != expect && !(c.name == "wrapper" && cut == len(c.image)) {
					t.Errorf("%s, %d bytes of %d: library %v, want %v", c.name, cut, len(c.image), r, expect)
				}
			}
			if cut < len(c.image) {
				var s driver.CUlinkState
				must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
				r := tab.LinkAddData_v2(ctx, s, c.kind, p, uint64(len(c.image)), nil, 0, nil, nil)
				want(t, c.name+" to the linker", r, bad)
				must(t, tab.LinkDestroy(ctx, s))
			}
			switch {
			case cut < 80 || len(c.image)-cut <= 80:
				cut++
			default:
				cut = min(cut+step, len(c.image)-80)
			}
		}
		runtime.KeepAlive(e)
	}
}

// make60k is the inside of a comment that is longer than what is looked at first.
func make60k() []byte {
	b := make([]byte, 60<<10)
	for i := range b {
		b[i] = '-'
	}
	return b
}

// tileImage is the frame of a Tile IR file (published bytecode specification): a header, a section of 5,000 bytes, the
// end.
func tileImage() []byte {
	b := append([]byte("\x7fTileIR\x00\x0d\x01\x00\x00\x83\x88\x27\x10"), make([]byte, 5010)...)
	return b
}

// A header that promises as much as a container may have allocates as much as there is.
func TestPromiseAllocatesNothing(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	e := newEdge(t, 1<<20)
	head := []byte("\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff\xff\x7f\x00\x00\x00\x00")
	p := e.put(append(head, make([]byte, 1<<20-len(head))...))
	var m driver.CUmodule
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	want(t, "load", tab.ModuleLoadData(ctx, &m, p), driver.CUDA_ERROR_INVALID_IMAGE)
	runtime.ReadMemStats(&b)
	if n := b.TotalAlloc - a.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// The driver reads PTX for the linker to its NUL, whatever its size is said to be (recorded); so does the software
// device where there is no memory of that size.
func TestLinkSizeBeyondMemory(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	e := newEdge(t, 4096)
	p := e.put([]byte(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n\x00"))
	for _, size := range []uint64{1, 1 << 20, 1 << 40, 1<<63 + 5, ^uint64(0)} {
		var s driver.CUlinkState
		must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
		must(t, tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, p, size, nil, 0, nil, nil))
		must(t, tab.LinkDestroy(ctx, s))
	}
}

// Addresses where no process has memory, and the last page.
func TestImageNowhere(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	for _, at := range []uint64{1, 8, 4095, 0x8000, 1<<47 - 1, 1 << 47, 1 << 62, 1<<63 + 8, ^uint64(0) - 4095,
		^uint64(0)} {
		var m driver.CUmodule
		var l driver.CUlibrary
		var s driver.CUlinkState
		must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
		r := tab.ModuleLoadData(ctx, &m, foreign(at))
		want(t, "module", r, driver.CUDA_ERROR_INVALID_IMAGE)
		must(t, tab.LibraryLoadData(ctx, &l, foreign(at), nil, nil, 0, nil, nil, 0))
		want(t, "library", tab.LibraryGetModule(ctx, &m, l), driver.CUDA_ERROR_INVALID_IMAGE)
		for _, size := range []uint64{1, 4096, 1 << 40, ^uint64(0)} {
			want(t, "link", tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, foreign(at), size, nil, 0, nil, nil),
				bad)
		}
		must(t, tab.LinkDestroy(ctx, s))
	}
}

// The count of symbols allocates nothing before they are read.
func TestSymbolCount(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	names, addrs := [1]uintptr{}, [1]uintptr{}
	ids := []driver.CUjit_option{
		driver.CU_JIT_GLOBAL_SYMBOL_NAMES, driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES, driver.CU_JIT_GLOBAL_SYMBOL_COUNT,
	}
	values := []uintptr{address(t, &names[0]), address(t, &addrs[0]), 1<<32 - 1}
	var m driver.CUmodule
	r := tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(cstr(modulePTX)), 3, &ids[0], &values[0])
	want(t, "NULL among the names", r, bad)
}

// TestRegisterNothing: memory that is not there, or not all of it, cannot be page-locked ("Page-locks the memory range
// specified", CUDA Driver API, cuMemHostRegister).
func TestRegisterNothing(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	e := newEdge(t, 3*os.Getpagesize())
	for _, n := range []int{1, os.Getpagesize(), len(e.b)} {
		p := foreign(e.end - uint64(n))
		want(t, "all of it", tab.MemHostRegister_v2(ctx, p, uint64(n), 0), driver.CUDA_SUCCESS)
		must(t, tab.MemHostUnregister(ctx, p))
		for _, more := range []uint64{1, 1 << 21, 1 << 40, 1 << 46} {
			want(t, "and what is behind it", tab.MemHostRegister_v2(ctx, p, uint64(n)+more, 0),
				driver.CUDA_ERROR_INVALID_VALUE)
		}
	}
	for _, at := range []uint64{1, 4095, 4096, e.end, e.end + 1} {
		want(t, "nothing", tab.MemHostRegister_v2(ctx, foreign(at), 1, 0), driver.CUDA_ERROR_INVALID_VALUE)
	}
	runtime.KeepAlive(e)
}
