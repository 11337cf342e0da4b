package lower_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/setfile"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
	"github.com/gocuda/cuda/internal/tileset"
)

// The recordings are modules with what their kernels wrote on an H200. Those in testdata are the cases with little data
// of the set beside the repository (../shared/tileir), which its README describes; their modules are in package
// tileir's.
const (
	kept    = "testdata"
	own     = "testdata/own"
	modules = "../testdata"
	fullSet = "../../../../shared/tileir"
)

var (
	only = flag.String("case", "", "run the recorded cases whose names begin so")
	show = flag.Bool("ptx", false, "print the PTX of the cases")
)

// readSet reads a set of recorded cases.
func readSet(t testing.TB, dir string) *tileset.Set {
	t.Helper()
	s, err := tileset.Open(os.DirFS(dir), os.DirFS(modules))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := setfile.Read(name, os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// code gives the bytecode of a module.
func code(t testing.TB, s *tileset.Set, name string) []byte {
	t.Helper()
	b, err := s.Code(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compile gives the PTX of bytecode.
func compile(b []byte) (*lower.Program, error) {
	m, err := tileir.Parse(b)
	if err != nil {
		return nil, err
	}
	if err := m.Verify(); err != nil {
		return nil, err
	}
	return lower.Module(m, lower.Options{})
}

func checked(src []byte) (*check.Module, error) {
	m, err := ptx.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return check.Check(m, check.Options{SM: 90, MaxShared: lower.DefaultMaxShared})
}

// devices have the engines that run here, by name.
func devices(t testing.TB) map[string]*exectest.Device {
	out := map[string]*exectest.Device{}
	open := func(name string, e exec.Engine) {
		d := exectest.Open(t)
		d.Engine = e
		out[name] = d
	}
	open("interpreter", interp.New())
	for _, isa := range []string{"avx512", "avx2"} {
		e, err := jit.New(isa)
		if err != nil {
			t.Log(err)
			continue
		}
		open(isa, e)
	}
	return out
}

// outcome is what a launch left.
type outcome struct {
	buffers [][]byte
	load    time.Duration // from bytecode to the end of the first launch
	parts   [3]time.Duration
}

// system has a heap.
type system struct {
	exectest.System
	d *exectest.Device
}

func (s *system) Malloc(n uint64) uint64 {
	a, _ := s.d.Alloc(int(n))
	return a
}

func (s *system) Free(a uint64) {
	if a != 0 {
		s.d.Free(a)
	}
}

// run runs a case. The error says what is wrong with the answers, or why there are none.
func runCase(t testing.TB, s *tileset.Set, c *tileset.Case, d *exectest.Device) (out outcome, err error) {
	start := time.Now()
	p, err := compile(code(t, s, c.Module))
	if err != nil {
		return out, err
	}
	if *show {
		t.Logf("%s\n%s", c.Name, p.PTX)
	}
	cm, err := checked(p.PTX)
	if err != nil {
		return out, err
	}
	out.load = time.Since(start)
	out.parts[0] = out.load
	m := d.LoadChecked(cm)
	for name, want := range c.Expect.GlobalsBefore {
		if got := hex.EncodeToString(m.Bytes(name)); got != want {
			return out, fmt.Errorf("global %s is %s before the launch, not %s", name, got, want)
		}
	}
	addrs := make([]uint64, len(c.Buffers))
	out.buffers = make([][]byte, len(c.Buffers))
	for i, b := range c.Buffers {
		addrs[i], out.buffers[i] = d.Alloc(b.Size)
		defer d.Free(addrs[i])
	}
	contents, err := s.Contents(c, addrs)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range contents {
		copy(out.buffers[i], b)
	}
	var args []any
	for _, a := range c.Args {
		v, err := a.Bytes(addrs)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, v[:a.Size()])
	}
	start = time.Now()
	k, err := m.Kernel(c.Entry)
	if err != nil {
		return out, err
	}
	out.parts[1] = time.Since(start)
	sys := &system{d: d}
	err = k.Run(exectest.Config{Grid: c.Grid, Block: exectest.Dim(lower.Threads), Workers: 2, Sys: sys, Stack: 4096},
		args...)
	out.load += time.Since(start)
	out.parts[2] = time.Since(start) - out.parts[1]
	var fault *exec.Fault
	switch {
	case c.Expect.Sync == "CUDA_ERROR_LAUNCH_FAILED":
		if !errors.As(err, &fault) || fault.Kind != exec.FaultTrap {
			return out, fmt.Errorf("the launch ends with %v, not a trap", err)
		}
	case err != nil:
		return out, err
	}
	if got := strings.Join(sys.Printed, ""); !tileset.SameText(got, c.Expect.Stdout) {
		return out, fmt.Errorf("printed %q, not %q", got, c.Expect.Stdout)
	}
	for name, want := range c.Expect.Globals {
		if got := hex.EncodeToString(m.Bytes(name)); got != want {
			return out, fmt.Errorf("global %s is %s, not %s", name, got, want)
		}
	}
	for i := range out.buffers {
		out.buffers[i] = bytes.Clone(out.buffers[i])
	}
	if c.Expect.Sync != "CUDA_SUCCESS" {
		return out, nil
	}
	for i, b := range out.buffers {
		if _, err := s.Compare(c, i, b); err != nil {
			return out, err
		}
	}
	return out, nil
}

// TestRecorded runs the recorded cases in every engine: each gives what the H200 gave, and all give the same bits.
func TestRecorded(t *testing.T) { replay(t, readSet(t, kept)) }

// TestOwn runs kernels of our own, whose results NumPy computed: loops that exchange tiles, reductions and scans of all
// shapes, matrix products with ragged edges, overlapping loads and stores.
func TestOwn(t *testing.T) { replay(t, readSet(t, own)) }

// TestRecordedAll does so with all cases.
func TestRecordedAll(t *testing.T) {
	if _, err := os.Stat(fullSet); err != nil {
		skip.Without(t, skip.Recordings, fullSet)
	}
	replay(t, readSet(t, fullSet))
}

// replay runs the cases of a set.
func replay(t *testing.T, s *tileset.Set) {
	type count struct{ equal, differ, refused int }
	table := map[string]map[string]*count{}
	es := devices(t)
	names := make([]string, 0, len(es))
	for n := range es {
		names = append(names, n)
	}
	sort.Strings(names)
	var loads []time.Duration
	for i := range s.Cases {
		c := &s.Cases[i]
		if !strings.HasPrefix(c.Name, *only) {
			continue
		}
		f := s.Family(c)
		if table[f] == nil {
			table[f] = map[string]*count{}
			for _, n := range names {
				table[f][n] = &count{}
			}
		}
		var first outcome
		for j, n := range names {
			out, err := runCase(t, s, c, es[n])
			k := table[f][n]
			var refused *lower.Error
			switch {
			case errors.As(err, &refused):
				k.refused++
				t.Errorf("%s: %s: %v", c.Name, n, err)
			case err != nil:
				k.differ++
				t.Errorf("%s: %s: %v", c.Name, n, err)
			default:
				k.equal++
			}
			if err == nil && (f == "kernel" || f == "more") && n != "interpreter" {
				loads = append(loads, out.load)
				if out.load > 50*time.Millisecond {
					t.Logf("%s: %s: %v: to checked PTX, to the kernel, first launch %v", c.Name, n, out.load, out.parts)
				}
			}
			if j == 0 {
				first = out
				continue
			}
			for b := range out.buffers {
				if len(c.Buffers[b].Pointers) == 0 && len(first.buffers) > b &&
					!bytes.Equal(out.buffers[b], first.buffers[b]) {
					t.Errorf("%s: buffer %d differs between %s and %s", c.Name, b, names[0], n)
				}
			}
		}
	}
	fams := make([]string, 0, len(table))
	for f := range table {
		fams = append(fams, f)
	}
	sort.Strings(fams)
	for _, f := range fams {
		counts := ""
		for _, n := range names {
			k := table[f][n]
			counts += fmt.Sprintf("  %s %d/%d/%d", n, k.equal, k.differ, k.refused)
		}
		t.Logf("%-10s%s (equal/differ/refused)", f, counts)
	}
	if len(loads) > 0 {
		slices.Sort(loads)
		t.Logf("load to the end of the first launch: median %v, worst %v", loads[len(loads)/2], loads[len(loads)-1])
	}
}
