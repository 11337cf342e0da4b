// Package exectest runs PTX text on an engine in tests, without the driver above it. It is for tests only.
package exectest

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// Device is a window of device memory with an engine.
type Device struct {
	Mem    exec.Memory
	Engine exec.Engine

	t    testing.TB
	w    *mem.Window
	heap *mem.Heap
}

// Open makes a device that is closed when the test ends. Its engine is the interpreter.
func Open(t testing.TB) *Device {
	t.Helper()
	w, err := mem.OpenSize(8 << 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	d := &Device{Engine: interp.New(), t: t, w: w, heap: w.NewHeap(mem.Device, 4<<30)}
	d.Mem = exec.MemoryOf(w)
	return d
}

// Alloc returns n bytes of zeroed device memory: their address and the bytes.
func (d *Device) Alloc(n int) (addr uint64, data []byte) {
	d.t.Helper()
	a, err := d.heap.Alloc(uint64(max(n, 1)), 512)
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := d.w.Slice(a, uint64(n))
	if err != nil {
		d.t.Fatal(err)
	}
	clear(s)
	return a, s
}

// Free gives memory back.
func (d *Device) Free(addr uint64) {
	d.t.Helper()
	if err := d.heap.Free(addr); err != nil {
		d.t.Fatal(err)
	}
}

// Words views device memory as 32-bit words.
func Words(data []byte) []uint32 {
	w := make([]uint32, len(data)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return w
}

// Check parses and checks PTX text for sm_90.
func Check(src string) (*check.Module, error) {
	m, err := ptx.Parse([]byte(src))
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	cm, err := check.Check(m, check.Options{SM: 90})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return cm, nil
}

// Symbols gives every function of a module an address.
func Symbols(m *check.Module) *ir.Symbols {
	s := &ir.Symbols{Handles: map[*check.Func]uint64{}, Builtin: interp.Builtin}
	for i, f := range m.Funcs {
		s.Handles[f] = uint64(i+1) << 8
	}
	return s
}

// Module is a loaded module.
type Module struct {
	*check.Module
	d    *Device
	vars map[*check.Var]uint64
}

// Load checks PTX text and makes its variables.
func (d *Device) Load(src string) *Module {
	d.t.Helper()
	cm, err := Check(src)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.LoadChecked(cm)
}

// LoadChecked makes the variables of a checked module.
func (d *Device) LoadChecked(cm *check.Module) *Module {
	d.t.Helper()
	m := &Module{Module: cm, d: d, vars: map[*check.Var]uint64{}}
	for _, v := range cm.Vars {
		if v.Space == "global" || v.Space == "const" {
			a, data := d.Alloc(int(v.Size))
			copy(data, v.Init)
			if len(v.Relocs) > 0 {
				d.t.Fatalf("the initialiser of %s has addresses", v.Name)
			}
			m.vars[v] = a
		}
	}
	return m
}

// Var returns the address of a module variable.
func (m *Module) Var(name string) uint64 {
	for v, a := range m.vars {
		if v.Name == name {
			return a
		}
	}
	m.d.t.Helper()
	m.d.t.Fatalf("no variable %s", name)
	return 0
}

// Bytes returns the bytes of a module variable.
func (m *Module) Bytes(name string) []byte {
	m.d.t.Helper()
	for v, a := range m.vars {
		if v.Name == name {
			s, err := m.d.w.Slice(a, v.Size)
			if err != nil {
				m.d.t.Fatal(err)
			}
			return s
		}
	}
	m.d.t.Fatalf("no variable %s", name)
	return nil
}

// Kernel lowers and compiles an entry.
func (m *Module) Kernel(name string) (*Kernel, error) {
	for _, f := range m.Funcs {
		if f.Name != name || !f.Entry {
			continue
		}
		k, err := ir.LowerVerified(f, Symbols(m.Module))
		if err != nil {
			return nil, err
		}
		code, err := m.d.Engine.Compile(k)
		if err != nil {
			return nil, err
		}
		return &Kernel{Code: code, m: m}, nil
	}
	return nil, fmt.Errorf("no kernel %s", name)
}

// Kernel is a compiled entry.
type Kernel struct {
	Code exec.Code
	m    *Module
}

// Config is how a kernel is launched. The zero value is one thread on one worker.
type Config struct {
	Grid, Block, Cluster [3]uint32
	Shared               uint32
	Workers              int
	Quantum              int32
	Stack                uint32 // 1024 when 0
	Cooperative          bool
	Stop                 *atomic.Bool
	Sys                  exec.System
	Counters             *exec.Counters
	Texture              exec.TextureUnit
}

// Dim is a one-dimensional size.
func Dim(n uint32) [3]uint32 { return [3]uint32{n, 1, 1} }

// Run launches the kernel and waits for its end. Arguments are integers and floats of the parameters' sizes, or bytes.
func (k *Kernel) Run(c Config, args ...any) error {
	d := k.m.d
	d.t.Helper()
	kernel := k.Code.Kernel()
	if len(args) != len(kernel.Params) {
		d.t.Fatalf("%s has %d parameters, not %d", kernel.Name, len(kernel.Params), len(args))
	}
	pa, params := d.Alloc(int(kernel.ParamSize))
	defer d.Free(pa)
	for i, a := range args {
		p := &kernel.Params[i]
		to := params[p.Offset:]
		switch a := a.(type) {
		case uint64:
			binary.LittleEndian.PutUint64(to, a)
		case uint32:
			binary.LittleEndian.PutUint32(to, a)
		case float32:
			binary.LittleEndian.PutUint32(to, math.Float32bits(a))
		case []byte:
			copy(to[:p.Size], a)
		default:
			d.t.Fatalf("an argument of type %T", a)
		}
	}
	for _, x := range []*[3]uint32{&c.Grid, &c.Block} {
		for i := range x {
			x[i] = max(x[i], 1)
		}
	}
	l := &exec.Launch{Code: k.Code, Grid: c.Grid, Block: c.Block, Cluster: c.Cluster, Shared: c.Shared, Params: params,
		ParamAddr: pa, Mem: &d.Mem, Sys: c.Sys,
		Stack: c.Stack, Cooperative: c.Cooperative, Workers: max(c.Workers, 1), Quantum: c.Quantum, Stop: c.Stop,
		Counters: c.Counters, Texture: c.Texture,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000, MaxSharedSM: 233472}}
	if l.Stack == 0 {
		l.Stack = 1024
	}
	l.Consts = exec.NewConstRows(kernel, func(r *ir.ConstRow) uint64 { return k.m.vars[r.Var] })
	return exec.Run(l)
}

// System records what kernels say.
type System struct {
	mu      sync.Mutex
	Printed []string
	Failed  []string
}

// Printf implements exec.System.
func (s *System) Printf(text []byte) {
	s.mu.Lock()
	s.Printed = append(s.Printed, string(text))
	s.mu.Unlock()
}

// Malloc implements exec.System; the heap is always full.
func (s *System) Malloc(uint64) uint64 { return 0 }

// Free implements exec.System.
func (s *System) Free(uint64) {}

// Assert implements exec.System.
func (s *System) Assert(text string) {
	s.mu.Lock()
	s.Failed = append(s.Failed, text)
	s.mu.Unlock()
}
