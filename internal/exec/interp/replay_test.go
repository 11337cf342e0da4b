package interp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tensormap"
)

// fullCorpus is the folder of recorded modules, when it lies beside the checkout.
const fullCorpus = "../../../../shared/corpus"

// silent is a System for kernels that say nothing.
type silent struct{}

func (silent) Printf([]byte)        {}
func (silent) Malloc(uint64) uint64 { return 0 }
func (silent) Free(uint64)          {}
func (silent) Assert(string)        {}

// replay runs recorded launches straight on the engine.
type replay struct {
	*bench
	t       *testing.T
	m       *corpus.Manifest
	buffers map[string][]byte
	addr    map[string]uint64
	vars    map[*check.Var]uint64
	grid    uint64
}

func (r *replay) data(d *corpus.Data, n int) []byte {
	b, err := r.m.Bytes(d, n)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

type expectation struct {
	got, want      []byte
	rule, dtype, n string
}

// buffer makes a buffer; an output without contents is poisoned.
func (r *replay) buffer(a *corpus.Arg, exp *[]expectation) uint64 {
	n := a.Count * corpus.ElementSize(a.DType)
	p, b := r.alloc(r.t, n)
	for i := range b {
		b[i] = 0xa5
	}
	copy(b, r.data(a.Data, n))
	if a.ID != "" {
		r.buffers[a.ID], r.addr[a.ID] = b, p
	}
	if a.Output && a.Expected != nil {
		*exp = append(*exp, expectation{b, r.data(a.Expected, n), a.Compare, a.DType, a.ID})
	}
	return p
}

var replayTypes = map[string]tensormap.DataType{"u8": tensormap.Uint8, "u16": tensormap.Uint16, "u32": tensormap.Uint32,
	"i32": tensormap.Int32,
	"u64": tensormap.Uint64, "i64": tensormap.Int64, "f16": tensormap.Float16, "f32": tensormap.Float32,
	"f64": tensormap.Float64, "bf16": tensormap.BFloat16}

func (r *replay) arg(a *corpus.Arg, exp *[]expectation) []byte {
	u64 := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	switch a.Kind {
	case "buffer":
		return u64(r.buffer(a, exp))
	case "ref":
		if a.Output && a.Expected != nil {
			b := r.buffers[a.ID]
			*exp = append(*exp, expectation{b, r.data(a.Expected, len(b)), a.Compare, a.DType, a.ID})
		}
		return u64(r.addr[a.ID] + uint64(a.Addend))
	case "scalar":
		b, err := hex.DecodeString(a.Hex)
		if err != nil {
			r.t.Fatal(err)
		}
		return b
	case "tensormap":
		m := tensormap.Map{Type: replayTypes[a.DType], Rank: len(a.GDim), Address: r.addr[a.ID] + uint64(a.Addend),
			Interleave: tensormap.Interleave(a.Interleave),
			Swizzle:    tensormap.Swizzle(a.Swizzle), L2Promotion: uint8(a.L2), NaN: a.OOB != 0}
		copy(m.Dim[:], a.GDim)
		copy(m.Stride[1:], a.GStride)
		copy(m.Box[:], a.Box)
		copy(m.ElementStride[:], a.EStride)
		b, err := tensormap.Encode(&m)
		if err != nil {
			r.t.Fatal(err)
		}
		return b[:]
	}
	r.t.Fatalf("an argument of kind %s", a.Kind)
	return nil
}

// launch runs one recorded launch and returns what to compare.
func (r *replay) launch(code exec.Code, l *corpus.Launch) ([]expectation, error) {
	var exp []expectation
	for i := range l.Buffers {
		r.buffer(&l.Buffers[i], &exp)
	}
	k := code.Kernel()
	pa, params := r.alloc(r.t, int(k.ParamSize))
	for i := range l.Args {
		copy(params[k.Params[i].Offset:], r.arg(&l.Args[i], &exp))
	}
	x := &exec.Launch{Code: code, Grid: l.Grid, Block: l.Block, Shared: l.DynamicShared, Params: params, ParamAddr: pa,
		Mem: &r.mem, Stack: 1024, Workers: 2,
		Sys: silent{}, Cooperative: l.Cooperative,
		Device: exec.DeviceInfo{SMs: 132, WarpsPerSM: 64, CTAsPerSM: 32, ClockKHz: 1980000}}
	// the driver's workspace for the grid barrier of cooperative groups; it stays for later launches
	if l.Cooperative && r.grid == 0 {
		var b []byte
		r.grid, b = r.alloc(r.t, 256)
		clear(b)
	}
	x.Env[1], x.Env[2] = uint32(r.grid>>32), uint32(r.grid)
	if n := l.Limits["stack"]; n != 0 {
		x.Stack = uint32(n)
	}
	x.Cluster = k.Attrs.ReqNCtaPerCluster
	copy(x.Cluster[:], l.Cluster)
	x.Consts = exec.NewConstRows(k, func(c *ir.ConstRow) uint64 { return r.vars[c.Var] })
	return exp, exec.Run(x)
}

// TestRecordedModules replays modules of the recorded corpus that exercise warp operations, barriers, asynchronous
// copies, clusters and tensor maps. What the driver and linker contribute is another package's test.
func TestRecordedModules(t *testing.T) {
	dir := fullCorpus
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil {
		dir = "../../../testdata/corpus"
	}
	set := corpus.Open(os.DirFS(dir))
	for _, name := range []string{"cluster_dsm", "cp_async", "fences", "gridsync", "h73_alloca", "h78_cluster",
		"h80_elect", "its", "mbarrier_bulk", "pdl", "reduce_redux",
		"reduce_warp", "setmaxnreg", "tma_odd", "tma_store", "tma_swizzle", "tma_tensor", "vote_match", "n_warp",
		"scan", "stack", "recursion", "t_matmul"} {
		t.Run(name, func(t *testing.T) {
			m, err := set.Module(name)
			if errors.Is(err, fs.ErrNotExist) && dir != fullCorpus {
				skip.Without(t, skip.Recordings, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			image, err := m.Image(m.PTXBuild())
			if err != nil {
				t.Fatal(err)
			}
			r := &replay{bench: newBench(t), t: t, m: m, buffers: map[string][]byte{}, addr: map[string]uint64{}}
			for i := range m.Launches {
				l := &m.Launches[i]
				if !l.Has(m.PTXBuild()) {
					continue
				}
				code, cm, err := compile(string(image), l.Kernel, 90)
				if errors.Is(err, errNotThere) {
					t.Logf("%s: %v", l.Kernel, err)
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", l.Kernel, err)
				}
				r.vars = map[*check.Var]uint64{}
				for _, v := range cm.Vars {
					if v.Space == "global" || v.Space == "const" {
						a, b := r.alloc(t, int(v.Size))
						clear(b)
						copy(b, v.Init)
						r.vars[v] = a
					}
				}
				exp, err := r.launch(code, l)
				if l.Failure != nil && l.Failure.Code != 0 {
					var f *exec.Fault
					if !errors.As(err, &f) || l.Failure.Code == 715 && f.Kind != exec.FaultInstruction {
						t.Errorf("launch %d of %s: %v, want %s", i, l.Kernel, err, l.Failure.Result)
					}
					continue
				}
				if err != nil {
					t.Errorf("launch %d of %s: %v", i, l.Kernel, err)
					continue
				}
				for _, e := range exp {
					if d := corpus.Compare(e.rule, e.dtype, e.got, e.want); d != "" {
						t.Errorf("launch %d of %s, %s: %s", i, l.Kernel, e.n, d)
					}
				}
			}
		})
	}
}
