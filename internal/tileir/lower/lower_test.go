package lower_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
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

type recordings struct {
	Modules []struct {
		Name, Family string
		Code         [2]int
	}
	Cases         []recorded
	modules, data []byte
}

type recorded struct {
	Name, Module, Entry string
	Grid                [3]uint32
	Args                []struct {
		Buffer *int
		Offset uint64
		Type   string
		Value  string
	}
	Buffers []struct {
		Type string
		Size int
		Init struct {
			Fill *byte
			Data []int
		}
		Pointers []struct {
			At, Buffer int
			Offset     uint64
		}
		Result  []int
		Compare json.RawMessage
	}
	Expect struct {
		Launch, Sync, Stdout string
		Globals              map[string]string
		GlobalsBefore        map[string]string `json:"globals_before"`
	}
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path + ".gz")
	if errors.Is(err, os.ErrNotExist) {
		if b, err = os.ReadFile(path); err == nil {
			return b
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

func readSet(t testing.TB, dir string) *recordings {
	t.Helper()
	var r recordings
	if err := json.Unmarshal(readFile(t, dir, "index.json"), &r); err != nil {
		t.Fatal(err)
	}
	code := modules
	if dir == own {
		code = own
	}
	r.modules, r.data = readFile(t, code, "modules.bin"), readFile(t, dir, "data.bin")
	return &r
}

// code gives the bytecode of a module.
func (r *recordings) code(t testing.TB, name string) []byte {
	for _, m := range r.Modules {
		if m.Name == name {
			return r.modules[m.Code[0] : m.Code[0]+m.Code[1]]
		}
	}
	t.Fatalf("no module %s", name)
	return nil
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
func (r *recordings) run(t testing.TB, c *recorded, d *exectest.Device) (out outcome, err error) {
	start := time.Now()
	p, err := compile(r.code(t, c.Module))
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
		if b.Init.Fill != nil {
			for j := range out.buffers[i] {
				out.buffers[i][j] = *b.Init.Fill
			}
		} else {
			copy(out.buffers[i], r.data[b.Init.Data[0]:b.Init.Data[0]+b.Init.Data[1]])
		}
	}
	for i, b := range c.Buffers {
		for _, x := range b.Pointers {
			binary.LittleEndian.PutUint64(out.buffers[i][x.At:], addrs[x.Buffer]+x.Offset)
		}
	}
	var args []any
	for _, a := range c.Args {
		if a.Buffer != nil {
			args = append(args, addrs[*a.Buffer]+a.Offset)
			continue
		}
		v, err := hex.DecodeString(a.Value)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, v)
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
	if got, want := lines(strings.Join(sys.Printed, "")), lines(c.Expect.Stdout); !slices.Equal(got, want) {
		return out, fmt.Errorf("printed %q, not %q", got, want)
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
	for i, b := range c.Buffers {
		if b.Result == nil || b.Compare == nil {
			continue
		}
		want := r.data[b.Result[0] : b.Result[0]+b.Result[1]]
		if err := compare(b.Type, out.buffers[i], want, b.Compare); err != nil {
			return out, fmt.Errorf("buffer %d: %w", i, err)
		}
	}
	return out, nil
}

// lines are those of a text in any order: blocks print when they come to it.
func lines(s string) []string {
	l := strings.Split(s, "\n")
	sort.Strings(l)
	return l
}

// compare compares buffers as the README of the recordings says.
func compare(typ string, got, want []byte, how json.RawMessage) error {
	var tol struct {
		ULP      *int64
		Rel, Abs float64
	}
	bits := string(how) == `"bits"`
	if !bits {
		if err := json.Unmarshal(how, &tol); err != nil {
			return err
		}
	}
	n := map[string]int{"i1": 1, "i8": 1, "e4m3": 1, "e5m2": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4,
		"tf32": 4, "i64": 8, "f64": 8}[typ]
	if n == 0 {
		return fmt.Errorf("type %s", typ)
	}
	wrong, first := 0, ""
	for i := 0; i+n <= len(want); i += n {
		var g, w [8]byte
		copy(g[:], got[i:i+n])
		copy(w[:], want[i:i+n])
		a, b := binary.LittleEndian.Uint64(g[:]), binary.LittleEndian.Uint64(w[:])
		if a == b {
			continue
		}
		x, isFloat := value(typ, a)
		y, _ := value(typ, b)
		ok := isFloat && math.IsNaN(x) && math.IsNaN(y)
		switch {
		case ok || bits:
		case math.IsNaN(x) || math.IsNaN(y):
		case tol.ULP != nil:
			ok = x == y || !math.IsInf(x, 0) && !math.IsInf(y, 0) && abs(order(a, n)-order(b, n)) <= *tol.ULP
		default:
			ok = x == y || math.Abs(x-y) <= tol.Abs+tol.Rel*math.Abs(y)
		}
		if !ok {
			wrong++
			if first == "" {
				first = fmt.Sprintf("element %d is %#x (%g), not %#x (%g)", i/n, a, x, b, y)
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d differ: %s", wrong, len(want)/n, first)
	}
	return nil
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// order maps the bits of floats to integers in the order of their values.
func order(v uint64, n int) int64 {
	s := int64(v << (64 - 8*n))
	if s < 0 {
		s = math.MinInt64 - s
	}
	return s >> (64 - 8*n)
}

// value gives a float as float64.
func value(typ string, v uint64) (float64, bool) {
	switch typ {
	case "f64":
		return math.Float64frombits(v), true
	case "f32", "tf32":
		return float64(math.Float32frombits(uint32(v))), true
	case "bf16":
		return float64(math.Float32frombits(uint32(v) << 16)), true
	case "f16":
		return float64(math.Float32frombits(num.F16ToF32(uint16(v)))), true
	case "e4m3":
		if v&0x7f == 0x7f {
			return math.NaN(), true
		}
	case "e5m2":
		if v&0x7f > 0x7c {
			return math.NaN(), true
		}
	default:
		return float64(int64(v)), false
	}
	return float64(v), true
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
func replay(t *testing.T, r *recordings) {
	type count struct{ equal, differ, refused int }
	table := map[string]map[string]*count{}
	family := map[string]string{}
	for _, m := range r.Modules {
		family[m.Name] = m.Family
	}
	es := devices(t)
	names := make([]string, 0, len(es))
	for n := range es {
		names = append(names, n)
	}
	sort.Strings(names)
	var loads []time.Duration
	for i := range r.Cases {
		c := &r.Cases[i]
		if !strings.HasPrefix(c.Name, *only) {
			continue
		}
		f := family[c.Module]
		if table[f] == nil {
			table[f] = map[string]*count{}
			for _, n := range names {
				table[f][n] = &count{}
			}
		}
		var first outcome
		for j, n := range names {
			out, err := r.run(t, c, es[n])
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
		s := ""
		for _, n := range names {
			k := table[f][n]
			s += fmt.Sprintf("  %s %d/%d/%d", n, k.equal, k.differ, k.refused)
		}
		t.Logf("%-10s%s (equal/differ/refused)", f, s)
	}
	if len(loads) > 0 {
		slices.Sort(loads)
		t.Logf("load to the end of the first launch: median %v, worst %v", loads[len(loads)/2], loads[len(loads)-1])
	}
}
