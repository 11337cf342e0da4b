package link_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// The recorded modules: those kept in the repository, more inputs of them kept with this package, and the whole set
// when it lies beside the repository. All were made by NVIDIA's tools and recorded on an H200 with driver 580 (CUDA
// 13.0).
const (
	keptCorpus = "../../testdata/corpus"
	keptInputs = "testdata"
	fullCorpus = "../../../shared/corpus"
)

// options are those of the device that the recording is from.
func options() link.Options {
	return link.Options{SM: 90, Builtin: interp.Builtin, Runtime: interp.DeviceRuntime}
}

func gunzip(t testing.TB, path string) ([]byte, error) {
	t.Helper()
	z, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		t.Fatal(path, err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(path, err)
	}
	return b, nil
}

// input finds a file of a recorded module; nil when it is not kept.
func input(t testing.TB, module, file string) []byte {
	t.Helper()
	for _, p := range []string{filepath.Join(keptCorpus, "modules", module), filepath.Join(keptInputs, module),
		filepath.Join(fullCorpus, "modules", module)} {
		b, err := gunzip(t, filepath.Join(p, file+".gz"))
		if err == nil {
			return b
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return nil
}

// need is input for files that must be there.
func need(t testing.TB, module, file string) []byte {
	t.Helper()
	b := input(t, module, file)
	if b == nil {
		t.Fatalf("%s/%s is not there", module, file)
	}
	return b
}

func manifest(t testing.TB, module string) *corpus.Manifest {
	t.Helper()
	m, err := corpus.Open(os.DirFS(keptCorpus)).Module(module)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// machine runs linked programs straight on the interpreter.
type machine struct {
	t    *testing.T
	w    *mem.Window
	heap *mem.Heap
	mem  exec.Memory
}

func newMachine(t *testing.T) *machine {
	w, err := mem.OpenSize(64 << 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &machine{t: t, w: w, heap: w.NewHeap(mem.Device, 8<<30),
		mem: exec.MemoryOf(w)}
}

func (m *machine) alloc(n int) (uint64, []byte) {
	a, err := m.heap.Alloc(uint64(max(n, 1)), 512)
	if err != nil {
		m.t.Fatal(err)
	}
	b, err := m.w.Slice(a, uint64(n))
	if err != nil {
		m.t.Fatal(err)
	}
	return a, b
}

// instance is a program with memory for its variables.
type instance struct {
	*machine
	p    *link.Linked
	syms *ir.Symbols
	vars map[*check.Var]uint64
}

const handles = 0x1000 // addresses of functions, below any memory

func (m *machine) load(p *link.Linked) *instance {
	x := &instance{machine: m, p: p, syms: p.Symbols(handles, 256), vars: map[*check.Var]uint64{}}
	blocks := map[*check.Var][]byte{}
	for _, v := range p.Variables {
		x.vars[v], blocks[v] = m.alloc(int(v.Size))
	}
	for v, b := range blocks {
		p.Write(b, v, x.syms, func(w *check.Var) uint64 { return x.vars[w] })
	}
	return x
}

// system is what kernels ask for: a heap, and a queue of launches made by kernels.
type system struct {
	x     *instance
	mu    sync.Mutex
	queue []child
}

type child struct {
	entry       *check.Func
	grid, block [3]uint32
	shared      uint32
	params      []byte
}

func (*system) Printf([]byte) {}
func (*system) Assert(string) {}
func (*system) Free(uint64)   {}

func (s *system) Malloc(n uint64) uint64 {
	a, err := s.x.heap.Alloc(n, 512)
	if err != nil {
		return 0
	}
	return a
}

func (s *system) kernel(entry uint64) *check.Func {
	for f, h := range s.x.syms.Handles {
		if h == entry && f.Entry {
			return f
		}
	}
	return nil
}

func (s *system) ChildParams(entry uint64) (uint32, bool) {
	f := s.kernel(entry)
	if f == nil {
		return 0, false
	}
	k, err := ir.LowerVerified(f, s.x.syms)
	if err != nil {
		s.x.t.Error(err)
		return 0, false
	}
	return uint32(k.ParamSize), true
}

func (s *system) Child(entry uint64, grid, block [3]uint32, shared uint32, params []byte, stream uint64) uint32 {
	f := s.kernel(entry)
	if f == nil {
		return 98
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, child{f, grid, block, shared, params})
	return 0
}

// run launches a kernel and after it, in order, what it launched.
func (x *instance) run(kernel string, grid, block [3]uint32, shared uint32, cooperative bool, params []byte) error {
	x.t.Helper()
	f := x.p.Kernel(kernel)
	if f == nil {
		x.t.Fatalf("no kernel %s", kernel)
	}
	s := &system{x: x, queue: []child{{f, grid, block, shared, params}}}
	for len(s.queue) > 0 {
		c := s.queue[0]
		s.queue = s.queue[1:]
		k, err := ir.LowerVerified(c.entry, x.syms)
		if err != nil {
			x.t.Fatal(err)
		}
		code, err := interp.New().Compile(k)
		if err != nil {
			x.t.Fatal(err)
		}
		at, b := x.alloc(int(k.ParamSize))
		copy(b, c.params)
		l := &exec.Launch{Code: code, Grid: c.grid, Block: c.block, Shared: c.shared, Params: b, ParamAddr: at,
			Mem: &x.mem, Sys: s, Stack: 1024, Workers: 2,
			Cooperative: cooperative, Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32,
				ClockKHz: 1980000}}
		l.Consts = exec.NewConstRows(k, func(r *ir.ConstRow) uint64 { return x.vars[r.Var] })
		if err := exec.Run(l); err != nil {
			return err
		}
	}
	return nil
}

// compiles says whether the engine has all that the kernels need.
func compiles(p *link.Linked) error {
	for _, f := range p.Kernels {
		k, err := ir.LowerVerified(f, p.Symbols(handles, 256))
		if err != nil {
			return err
		}
		if _, err = interp.New().Compile(k); err != nil {
			return err
		}
	}
	return nil
}

// data is the contents of a recorded array.
func data(t *testing.T, module string, d *corpus.Data, n int) []byte {
	t.Helper()
	switch {
	case d == nil:
		return nil
	case d.Base64 != nil:
		b, err := base64.StdEncoding.DecodeString(*d.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return b
	case d.File != "":
		p := filepath.Join(keptCorpus, "modules", module, d.File)
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			b, err = gunzip(t, p+".gz")
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	case d.Fill != nil:
		return bytes.Repeat([]byte{byte(*d.Fill)}, n)
	}
	return nil
}

// replay runs the recorded launches of a module on a program linked of it and compares every output; it returns how
// many arrays were compared.
func replay(t *testing.T, p *link.Linked, module string) (compared int) {
	t.Helper()
	m := manifest(t, module)
	var x *instance
	for i := range m.Launches {
		l := &m.Launches[i]
		if l.Fresh || x == nil {
			x = newMachine(t).load(p)
		}
		type output struct {
			got, want   []byte
			rule, dtype string
		}
		var outs []output
		f := p.Kernel(l.Kernel)
		if f == nil {
			t.Errorf("launch %d: no kernel %s", i, l.Kernel)
			continue
		}
		k, err := ir.LowerVerified(f, x.syms)
		if err != nil {
			t.Error(err)
			continue
		}
		params := make([]byte, k.ParamSize)
		for j := range l.Args {
			a := &l.Args[j]
			var b []byte
			switch a.Kind {
			case "buffer":
				n := a.Count * corpus.ElementSize(a.DType)
				at, mem := x.alloc(n)
				copy(mem, data(t, module, a.Data, n))
				b = binary.LittleEndian.AppendUint64(nil, at)
				if a.Output && a.Expected != nil {
					outs = append(outs, output{mem, data(t, module, a.Expected, n), a.Compare, a.DType})
				}
			case "scalar":
				if b, err = hex.DecodeString(a.Hex); err != nil {
					t.Fatal(err)
				}
			default:
				t.Fatalf("argument of kind %s", a.Kind)
			}
			copy(params[k.Params[j].Offset:], b)
		}
		if err := x.run(l.Kernel, l.Grid, l.Block, l.DynamicShared, l.Cooperative, params); err != nil {
			t.Errorf("launch %d of %s: %v", i, l.Kernel, err)
			continue
		}
		for _, g := range l.GlobalsOut {
			v := p.Variable(g.Name)
			if v == nil {
				t.Errorf("no variable %s", g.Name)
				continue
			}
			b, err := x.w.Slice(x.vars[v], v.Size)
			if err != nil {
				t.Fatal(err)
			}
			outs = append(outs, output{b, data(t, module, g.Expected, len(b)), g.Compare, g.DType})
		}
		for j, o := range outs {
			compared++
			if d := corpus.Compare(o.rule, o.dtype, o.got, o.want); d != "" {
				t.Errorf("launch %d of %s, output %d: %s", i, l.Kernel, j, d)
			}
		}
	}
	return compared
}

// kernelNames are the names in the driver's order.
func kernelNames(p *link.Linked) []string {
	var out []string
	for _, k := range p.Kernels {
		out = append(out, k.Name)
	}
	return out
}
