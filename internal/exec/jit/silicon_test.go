package jit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/silicon"
	"github.com/gocuda/cuda/internal/skip"
)

// fullSet is the complete recorded set, when the checkout lies beside it.
const fullSet = "../../../../shared/silicon"

// isas are the instruction sets by name.
func isas() map[string]amd64.ISA {
	return map[string]amd64.ISA{"avx512": amd64.AVX512, "avx2": amd64.AVX2}
}

// needs is the thing without which an instruction set is not tested.
func needs(set amd64.ISA) skip.Thing {
	if set == amd64.AVX512 {
		return skip.AVX512
	}
	return skip.MachineCode
}

// eachISA runs a test for each instruction set that the processor has.
func eachISA(t *testing.T, f func(t *testing.T, e *engine)) {
	for name, set := range isas() {
		t.Run(name, func(t *testing.T) {
			if _, err := chooseISA(name); err != nil {
				skip.Without(t, needs(set), err)
			}
			e, err := newEngine(generators()[set])
			if err != nil {
				t.Fatal(err)
			}
			e.later = 0 // of all kernels a part of the code is left for later; testEngine's have it whole
			f(t, e)
		})
	}
}

func testEngine(t testing.TB) *engine {
	t.Helper()
	e, err := New("")
	if err != nil {
		skip.Without(t, skip.MachineCode, err)
	}
	return e.(*engine)
}

// lowered is the lowered kernel of a module.
func lowered(src, kernel string) (*ir.Kernel, *check.Module, error) {
	m, err := exectest.Check(src)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range m.Funcs {
		if f.Name == kernel {
			k, err := ir.LowerVerified(f, exectest.Symbols(m))
			return k, m, err
		}
	}
	return nil, nil, errors.New("no such kernel")
}

// runSilicon runs a recorded case and returns its outputs.
func runSilicon(t *testing.T, d *exectest.Device, s *silicon.Set, c *silicon.Case, k *ir.Kernel, cm *check.Module,
	code exec.Code, counters *exec.Counters) ([][]byte, error) {
	var frees []uint64
	defer func() {
		for _, a := range frees {
			d.Free(a)
		}
	}()
	alloc := func(n int) (uint64, []byte) {
		a, b := d.Alloc(n)
		frees = append(frees, a)
		return a, b
	}
	var addrs []uint64
	var outs [][]byte
	for i := range c.Operands {
		in := s.Input(c.Operands[i].Array)
		a, buf := alloc(len(in))
		copy(buf, in)
		addrs = append(addrs, a)
	}
	for i := range c.Outputs {
		a, buf := alloc(c.Outputs[i].Size)
		for j := range buf {
			buf[j] = 0xa5
		}
		addrs, outs = append(addrs, a), append(outs, buf)
	}
	vars := map[*check.Var]uint64{}
	where := map[*check.Var][]byte{}
	for _, v := range cm.Vars {
		if v.Space == "global" || v.Space == "const" {
			vars[v], where[v] = alloc(int(v.Size))
		}
	}
	for v, buf := range where {
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
	pa, params := alloc(len(addrs) * 8)
	for i, a := range addrs {
		*(*uint64)(unsafe.Pointer(&params[8*i])) = a
	}
	l := &exec.Launch{Code: code, Grid: c.Grid, Block: c.Block, Shared: c.Shared, Params: params, ParamAddr: pa,
		Mem: &d.Mem, Stack: 1024, Workers: 1,
		Device:  exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000},
		Cluster: k.Attrs.ReqNCtaPerCluster, Counters: counters}
	l.Consts = exec.NewConstRows(k, func(r *ir.ConstRow) uint64 { return vars[r.Var] })
	if err := exec.Run(l); err != nil {
		return nil, err
	}
	for i, b := range outs {
		outs[i] = bytes.Clone(b)
	}
	return outs, nil
}

// siliconRun is the recorded cases on one instruction set.
type siliconRun struct {
	name        string
	e           *engine
	n           exec.Counters
	ran, failed int
}

// TestSilicon runs the recorded instruction cases on the interpreter and on machine code; the outputs must be equal bit
// for bit. That the interpreter's are what an H200 gives is its own test.
func TestSilicon(t *testing.T) {
	if _, err := os.Stat(filepath.Join(fullSet, "index.json")); err != nil {
		skip.Without(t, skip.Recordings, err)
	}
	s, err := silicon.Open(os.DirFS(fullSet))
	if err != nil {
		t.Fatal(err)
	}
	var runs []*siliconRun
	for name, set := range isas() {
		if _, err := chooseISA(name); err != nil {
			t.Log(err)
			continue
		}
		e, err := newEngine(generators()[set])
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, &siliconRun{name: name, e: e})
	}
	if len(runs) == 0 {
		skip.Without(t, skip.MachineCode)
	}
	d := exectest.Open(t)
	for i := range s.Cases {
		c := &s.Cases[i]
		mod, err := s.Module(c.Group)
		if err != nil {
			t.Fatal(err)
		}
		k, cm, err := lowered(mod.Source(c.Kernel), c.Kernel)
		if err != nil {
			continue
		}
		d.Mem.Const = nil
		ci, err := interp.New().Compile(k)
		if err != nil {
			continue
		}
		want, wantErr := runSilicon(t, d, s, c, k, cm, ci, nil)
		for _, r := range runs {
			cj, err := r.e.Compile(k)
			if err != nil {
				t.Errorf("%s, %s: %v", r.name, c.ID, err)
				continue
			}
			got, err := runSilicon(t, d, s, c, k, cm, cj, &r.n)
			r.compare(t, c, want, got, wantErr, err)
		}
	}
	for _, r := range runs {
		t.Logf("%s: %d cases, %d failed; %d of %d warp instructions fell back", r.name, r.ran, r.failed,
			r.n.Fallbacks.Load(), r.n.WarpInstructions.Load())
	}
}

// compare compares outputs and faults of a case.
func (r *siliconRun) compare(t *testing.T, c *silicon.Case, want, got [][]byte, wantErr, err error) {
	t.Helper()
	r.ran++
	if wantErr != nil || err != nil {
		if wantErr == nil || err == nil || wantErr.Error() != err.Error() {
			r.failed++
			t.Errorf("%s, %s: interpreter: %v, machine code: %v", r.name, c.ID, wantErr, err)
		}
		return
	}
	for o := range want {
		if bytes.Equal(want[o], got[o]) || volatile(c) {
			continue
		}
		n := 0
		for n < len(want[o]) && want[o][n] == got[o][n] {
			n++
		}
		r.failed++
		t.Errorf("%s, %s: output %d differs from byte %d on: % x, interpreter % x", r.name, c.ID, o, n,
			got[o][n&^7:min(n&^7+16, len(got[o]))], want[o][n&^7:min(n&^7+16, len(want[o]))])
	}
	if r.failed > 60 {
		t.Fatal("too many")
	}
}

// volatile says whether a case's result differs from run to run: clocks and addresses.
func volatile(c *silicon.Case) bool { return c.Kind == "opaque" }
