package interp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/silicon"
)

// fullSet is the complete recorded set, when the checkout lies beside it; committedSet nearly all of its forms on fewer
// inputs.
const (
	fullSet      = "../../../../shared/silicon"
	committedSet = "../../../testdata/silicon"
)

// bench runs PTX text straight on the engine, without the driver above it.
type bench struct {
	w    *mem.Window
	heap *mem.Heap
	mem  exec.Memory
}

func newBench(t testing.TB) *bench {
	w, err := mem.OpenSize(64 << 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	b := &bench{w: w, heap: w.NewHeap(mem.Device, 8<<30)}
	b.mem = exec.MemoryOf(w)
	return b
}

func (b *bench) alloc(t testing.TB, n int) (uint64, []byte) {
	a, err := b.heap.Alloc(uint64(max(n, 1)), 512)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.w.Slice(a, uint64(n))
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

// errSkip is an instruction that is not there yet.
var errNotThere = errors.New("not implemented")

func compile(src, kernel string, sm int) (exec.Code, *check.Module, error) {
	m, err := ptx.Parse([]byte(src))
	if err != nil {
		return nil, nil, fmt.Errorf("parse: %w", err)
	}
	cm, err := check.Check(m, check.Options{SM: sm})
	if err != nil {
		return nil, nil, fmt.Errorf("check: %w", err)
	}
	for _, f := range cm.Funcs {
		if f.Name != kernel {
			continue
		}
		syms := &ir.Symbols{Handles: map[*check.Func]uint64{}, Builtin: Builtin}
		for i, g := range cm.Funcs {
			syms.Handles[g] = uint64(i+1) << 8
		}
		k, err := ir.LowerVerified(f, syms)
		if err != nil {
			return nil, nil, fmt.Errorf("lower: %w", err)
		}
		c, err := New().Compile(k)
		var u *exec.UnsupportedError
		if errors.As(err, &u) {
			return nil, nil, fmt.Errorf("%w: %s", errNotThere, u.Feature)
		}
		return c, cm, err
	}
	return nil, nil, fmt.Errorf("no kernel %s", kernel)
}

func (b *bench) runCase(t testing.TB, s *silicon.Set, c *silicon.Case) (diffs []silicon.Diff, err error) {
	mod, err := s.Module(c.Group)
	if err != nil {
		return nil, err
	}
	code, cm, err := compile(mod.Source(c.Kernel), c.Kernel, 90)
	if err != nil {
		return nil, err
	}
	var addrs []uint64
	var outs [][]byte
	var frees []uint64
	defer func() {
		for _, a := range frees {
			b.heap.Free(a)
		}
	}()
	for i := range c.Operands {
		in := s.Input(c.Operands[i].Array)
		a, buf := b.alloc(t, len(in))
		copy(buf, in)
		addrs, frees = append(addrs, a), append(frees, a)
	}
	for i := range c.Outputs {
		a, buf := b.alloc(t, c.Outputs[i].Size)
		for j := range buf {
			buf[j] = 0xa5
		}
		addrs, frees, outs = append(addrs, a), append(frees, a), append(outs, buf)
	}
	vars := map[*check.Var]uint64{}
	b.mem.Const = func(addr uint64) bool {
		for v, a := range vars {
			if v.Space == "const" && addr-a < v.Size {
				return true
			}
		}
		return false
	}
	for _, v := range cm.Vars {
		if v.Space != "global" && v.Space != "const" {
			continue
		}
		a, buf := b.alloc(t, int(v.Size))
		clear(buf)
		vars[v], frees = a, append(frees, a)
	}
	for v, a := range vars {
		buf, _ := b.w.Slice(a, v.Size)
		copy(buf, v.Init)
		for _, r := range v.Relocs {
			x := uint64(r.Addend)
			if r.Var != nil {
				x += vars[r.Var]
			}
			if r.Mask != 0 {
				x = (x & r.Mask) >> r.Shift
			}
			for j := 0; j < r.Size; j++ {
				buf[int(r.Offset)+j] = byte(x >> (8 * j))
			}
		}
	}
	pa, params := b.alloc(t, len(addrs)*8)
	frees = append(frees, pa)
	for i, a := range addrs {
		*(*uint64)(unsafe.Pointer(&params[8*i])) = a
	}
	k := code.Kernel()
	l := &exec.Launch{Code: code, Grid: c.Grid, Block: c.Block, Shared: c.Shared, Params: params, ParamAddr: pa,
		Mem: &b.mem, Stack: 1024, Workers: 1,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000}}
	l.Cluster = k.Attrs.ReqNCtaPerCluster
	l.Consts = exec.NewConstRows(k, func(r *ir.ConstRow) uint64 { return vars[r.Var] })
	if err := exec.Run(l); err != nil {
		return nil, err
	}
	for i := range c.Outputs {
		diffs = append(diffs, silicon.Compare(&c.Outputs[i], outs[i], s.Expected(&c.Outputs[i])))
	}
	return diffs, nil
}

func openSet(t testing.TB) *silicon.Set {
	dir := fullSet
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		dir = committedSet
	}
	s, err := silicon.Open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSilicon replays the recorded instruction cases on the interpreter: go test -run 'TestSilicon/int$' -v.
func TestSilicon(t *testing.T) {
	s := openSet(t)
	byGroup := map[string][]*silicon.Case{}
	for i := range s.Cases {
		byGroup[s.Cases[i].Group] = append(byGroup[s.Cases[i].Group], &s.Cases[i])
	}
	var names []string
	for g := range byGroup {
		names = append(names, g)
	}
	sort.Strings(names)
	for _, g := range names {
		t.Run(g, func(t *testing.T) {
			b := newBench(t)
			passed, failed, missing := 0, 0, 0
			reasons := map[string]int{}
			for _, c := range byGroup[g] {
				diffs, err := b.runCase(t, s, c)
				if errors.Is(err, errNotThere) {
					missing++
					reasons[strings.SplitN(err.Error(), "\n", 2)[0]]++
					continue
				}
				if err != nil {
					failed++
					if failed <= 20 || testing.Verbose() {
						t.Logf("%s [%s]: %v", c.ID, c.Kind, err)
					}
					continue
				}
				bad := ""
				for i, d := range diffs {
					if d.Different > 0 {
						bad += fmt.Sprintf(" output %d: %d of %d differ, first [%d] got %s want %s, max %d ulp;", i,
							d.Different, d.Elements, d.First, d.Got, d.Want, d.MaxULP)
					}
				}
				if bad != "" && c.Exact() {
					failed++
					if failed <= 20 || testing.Verbose() {
						t.Logf("%s [%s]:%s", c.ID, c.Kind, bad)
					}
					continue
				}
				if bad != "" && testing.Verbose() {
					t.Logf("%s [%s, not bit-exact]:%s", c.ID, c.Kind, bad)
				}
				passed++
			}
			for r, n := range reasons {
				if testing.Verbose() {
					t.Logf("not implemented, %d cases: %s", n, r)
				}
			}
			t.Logf("%s: %d passed, %d failed, %d not implemented", g, passed, failed, missing)
			if failed > 0 {
				t.Fail()
			}
		})
	}
}
