package driver

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver/apitest"
)

func TestEveryExportedSymbolResolves(t *testing.T) {
	api := apitest.Load(t)
	plain, variants := 0, 0
	for _, name := range api.Exported {
		s, ok := Lookup(name)
		if slices.Contains(api.Hidden, name) {
			if ok {
				t.Errorf("%s has no prototype but resolves", name)
			}
			continue
		}
		if !ok {
			t.Errorf("%s: not found", name)
			continue
		}
		if PerThreadVariant(name) != "" {
			variants++
			if s.Name+PerThreadVariant(name) != name {
				t.Errorf("%s resolves to %s", name, s.Name)
			}
			continue
		}
		plain++
		if s.Name != name || !s.Exported {
			t.Errorf("%s resolves to %s, exported %t", name, s.Name, s.Exported)
		}
	}
	// 682 exported symbols of the 13.0 library: 11 have no prototype, 99 are variants with per-thread default stream.
	if plain != 572 || variants != 99 || len(api.Hidden) != 11 {
		t.Errorf("%d plain, %d variants, %d undocumented", plain, variants, len(api.Hidden))
	}
	if !slices.Equal(Undocumented(), api.Hidden) {
		t.Errorf("Undocumented() = %v", Undocumented())
	}
	for _, name := range []string{"", "cuNothing", "cuInit_ptsz", "cuMemcpy_ptsz", "cuLaunchKernel_ptds", "cuInit "} {
		if s, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %s", name, s.Name)
		}
	}
}

func TestSymbolsDescribeTheTable(t *testing.T) {
	api := apitest.Load(t)
	typ := reflect.TypeFor[Table]()
	i := 0
	for s := range Symbols() {
		f := typ.Field(i)
		if f.Name != strings.TrimPrefix(s.Name, "cu") || s.Field != i {
			t.Fatalf("symbol %s (field %d) is beside field %s", s.Name, s.Field, f.Name)
		}
		if f.Type.NumIn() != len(s.Params)+1 || f.Type.In(0) != reflect.TypeFor[CUcontext]() ||
			f.Type.Out(0) != reflect.TypeFor[CUresult]() {
			t.Errorf("%s: %s does not fit %d parameters", s.Name, f.Type, len(s.Params))
		}
		i++
	}
	bases := map[string]bool{}
	n := 0
	for _, f := range api.Functions {
		bases[f.Base] = true
		if f.Variant != "" {
			continue
		}
		n++
		s, ok := Lookup(f.Name)
		if !ok || s.Base != f.Base || s.Group != f.Group || s.Deprecated != f.Deprecated ||
			len(s.Params) != len(f.Params) {
			t.Errorf("%s: %+v", f.Name, s)
			continue
		}
		for j, p := range f.Params {
			if q := s.Params[j]; q.Name != p.Name || q.Type != p.Type || q.Out != p.Out {
				t.Errorf("%s: parameter %d is %+v", f.Name, j, q)
			}
		}
	}
	if i != NumSymbols || n != i || n != 616 {
		t.Errorf("%d functions in the JSON, %d in the table, NumSymbols %d", n, i, NumSymbols)
	}
	if len(bases) != 516 { // logical functions of the headers
		t.Errorf("%d bases", len(bases))
	}
	for base, want := range api.Current {
		if got := Current(base); got != want {
			t.Errorf("Current(%s) = %s, want %s", base, got, want)
		}
	}
	for variant, names := range api.PerThread {
		for _, name := range names {
			if s, ok := Lookup(name + "_" + variant); !ok || s.Name != name {
				t.Errorf("%s_%s: %v %t", name, variant, s.Name, ok)
			}
		}
	}
}

func TestRecordsHaveTheLayoutOfC(t *testing.T) {
	if n := apitest.Load(t).CheckRecords(t, recordTypes); n != 1054 {
		t.Errorf("%d members compared", n)
	}
}

func TestEnumsHaveTheValuesOfC(t *testing.T) {
	if n := apitest.Load(t).CheckEnums(t, enumValues); n != 1122 {
		t.Errorf("%d constants", n)
	}
}

func TestFillNotSupported(t *testing.T) {
	var tab Table
	tab.Init = func(CUcontext, uint32) CUresult { return CUDA_SUCCESS }
	tab.FillNotSupported()
	for s := range Symbols() {
		f := tab.Func(s.Field)
		if f == nil {
			t.Fatalf("%s is nil", s.Name)
		}
		v := reflect.ValueOf(f)
		in := make([]reflect.Value, v.Type().NumIn())
		for i := range in {
			in[i] = reflect.Zero(v.Type().In(i))
		}
		want := CUDA_ERROR_NOT_SUPPORTED
		if s.Name == "cuInit" {
			want = CUDA_SUCCESS
		}
		if got := v.Call(in)[0].Interface(); got != want {
			t.Errorf("%s answers %v", s.Name, got)
		}
	}
	if tab.Func(-1) != nil || tab.Func(NumSymbols) != nil || new(Table).Func(0) != nil {
		t.Error("Func of no field is not nil")
	}
}

func TestByName(t *testing.T) {
	tab := &Table{LaunchHostFunc: func(CUcontext, CUstream, CUhostFn, uintptr) CUresult { return CUDA_ERROR_NOT_READY }}
	if _, ok := tab.ByName("cuLaunchHostFunc").(func(CUcontext, CUstream, CUhostFn, uintptr) CUresult); !ok {
		t.Errorf("cuLaunchHostFunc is %T", tab.ByName("cuLaunchHostFunc"))
	}
	for _, name := range []string{"cuLaunchHostFunc_ptsz", "cuInit", "cuNothing"} {
		if f := tab.ByName(name); f != nil {
			t.Errorf("%s is %T", name, f)
		}
	}
	tab.PerThread = DerivePerThread(tab)
	if tab.ByName("cuLaunchHostFunc_ptsz") == nil {
		t.Error("cuLaunchHostFunc_ptsz is nil")
	}
}

// The expectation is the table of the JSON, which was read off cudaTypedefs.h.
func TestResolveProc(t *testing.T) {
	api := apitest.Load(t)
	for base, entries := range api.Entries {
		for _, asked := range []int{1000, 2000, 3020, 4000, 7000, 7010, 10010, 11030, 11990, 12000, 12080, 13000,
			13010, 13030, 13050, 14000} {
			for flags := range uint64(3) {
				variants := false
				for _, e := range entries {
					variants = variants || e.Variant != ""
				}
				best, want := -1, ""
				for _, e := range entries {
					if (e.Variant != "") == (flags == 2 && variants) && e.Version <= asked && e.Version > best {
						best, want = e.Version, e.Symbol
					}
				}
				status := CU_GET_PROC_ADDRESS_SUCCESS
				if want == "" {
					status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				}
				got, st := ResolveProc(base, asked, CUDA_VERSION, flags)
				if got != want || st != status {
					t.Errorf("ResolveProc(%s, %d, %d) = %q, %d; want %q, %d", base, asked, flags, got, st, want, status)
				}
				if want != "" {
					if _, ok := Lookup(want); !ok {
						t.Errorf("%s resolves to %s, which is not there", base, want)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		name   string
		ver    int
		have   int
		flags  uint64
		want   string
		status CUdriverProcAddressQueryResult
	}{
		{"cuMemAlloc", 13000, CUDA_VERSION, 0, "cuMemAlloc_v2", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuMemAlloc", 3010, CUDA_VERSION, 0, "cuMemAlloc", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuCtxCreate", 12000, CUDA_VERSION, 0, "cuCtxCreate_v3", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuStreamBeginCapture", 10000, CUDA_VERSION, 0, "cuStreamBeginCapture", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuStreamBeginCapture", 10010, CUDA_VERSION, 2, "cuStreamBeginCapture_v2_ptsz", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuGetProcAddress", 11030, CUDA_VERSION, 0, "cuGetProcAddress", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuProfilerStart", 4000, CUDA_VERSION, 0, "cuProfilerStart", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuGLGetDevices", 13000, CUDA_VERSION, 0, "cuGLGetDevices_v2", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuMemAllocAsync", 11010, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
		{"cuNothing", 13000, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
		{"", 13000, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
		{"cuMemAlloc_v2", 13000, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
		{"cuFuncGetParamCount", 13020, CUDA_VERSION, 0, "cuFuncGetParamCount", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuFuncGetParamCount", 13010, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
		{"cuFuncGetParamCount", 13000, 13000, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
		{"cuFuncGetParamCount", 13050, 13010, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
		{"cuGraphAddNode", 13040, 13050, 0, "cuGraphAddNode_v3", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuGraphAddNode", 13040, 13000, 0, "cuGraphAddNode_v2", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuLaunchHostFunc", 13050, 13050, 2, "cuLaunchHostFunc_v2_ptsz", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuLaunchHostFunc", 13050, 13000, 2, "cuLaunchHostFunc_ptsz", CU_GET_PROC_ADDRESS_SUCCESS},
		{"cuEventCreateFromEGLSync", 13000, CUDA_VERSION, 0, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
	} {
		if got, st := ResolveProc(c.name, c.ver, c.have, c.flags); got != c.want || st != c.status {
			t.Errorf("ResolveProc(%s, %d, %d) = %q, %d", c.name, c.ver, c.flags, got, st)
		}
	}
}

func TestResults(t *testing.T) {
	api := apitest.Load(t)
	for _, e := range api.Enums {
		if e.Tag != "cudaError_enum" {
			continue
		}
		for _, v := range e.Values {
			r := CUresult(v[1].(float64))
			if name, ok := r.Name(); !ok || name != v[0] || r.String() != name {
				t.Errorf("name of %d is %q, want %q", uint32(r), name, v[0])
			}
			if text, ok := r.Text(); !ok || text == "" {
				t.Errorf("%v has no text", r)
			}
		}
		if len(e.Values) != len(results) {
			t.Errorf("%d results, want %d", len(results), len(e.Values))
		}
	}
	if _, ok := CUresult(12345).Name(); ok || CUresult(12345).String() != "CUresult(12345)" {
		t.Errorf("unknown code: %v", CUresult(12345))
	}
}

func TestDerivePerThread(t *testing.T) {
	var log []CUstream
	tab := &Table{
		StreamQuery: func(_ CUcontext, s CUstream) CUresult { log = append(log, s); return CUDA_ERROR_NOT_READY },
		StreamSynchronize: func(cur CUcontext, s CUstream) CUresult {
			log = append(log, s+100)
			return CUresult(cur)
		},
		MemcpyHtoDAsync_v2: func(_ CUcontext, _ CUdeviceptr, src unsafe.Pointer, n uint64, s CUstream) CUresult {
			log = append(log, s)
			if src == nil {
				return CUDA_ERROR_INVALID_VALUE
			}
			return CUDA_SUCCESS
		},
		LaunchKernelEx: func(_ CUcontext, c *CUlaunchConfig, _ CUfunction, _ *unsafe.Pointer, _ *uintptr) CUresult {
			log = append(log, c.HStream)
			return CUDA_SUCCESS
		},
	}
	p := DerivePerThread(tab)
	var b byte
	cfg := CUlaunchConfig{GridDimX: 3}
	if r := p.StreamQuery(0, 0); r != CUDA_ERROR_NOT_READY {
		t.Errorf("StreamQuery = %v", r)
	}
	p.StreamQuery(0, 7)
	if r := p.MemcpyHtoD_v2(5, 1, unsafe.Pointer(&b), 1); r != 5 {
		t.Errorf("copy answers %v, not the result of the synchronisation", r)
	}
	if r := p.MemcpyHtoD_v2(5, 1, nil, 1); r != CUDA_ERROR_INVALID_VALUE {
		t.Errorf("failed copy answers %v", r)
	}
	p.LaunchKernelEx(0, &cfg, 1, nil, nil)
	if cfg.HStream != 0 {
		t.Error("the caller's config was changed")
	}
	if want := []CUstream{2, 7, 2, 102, 2, 2}; !slices.Equal(log, want) {
		t.Errorf("streams %v, want %v", log, want)
	}
	if p.MemcpyDtoH_v2 != nil || p.EventRecord != nil {
		t.Error("a function without its base is provided")
	}
	// every variant of the library can be derived from a full table
	full := new(Table)
	full.FillNotSupported()
	d := DerivePerThread(full)
	for s := range Symbols() {
		if has := d.Func(s.Field) != nil; has != (s.HasPTDS || s.HasPTSZ) {
			t.Errorf("%s: derived %t, variant %t", s.Name, has, s.HasPTDS || s.HasPTSZ)
		}
	}
}

func TestRegistry(t *testing.T) {
	var r Registry
	a, b := r.Add("a"), r.Add("b")
	if a == 0 || a == b || r.Get(a) != "a" || r.Len() != 2 {
		t.Fatalf("keys %d %d, %v", a, b, r.Get(a))
	}
	if r.Take(a) != "a" || r.Take(a) != nil || r.Get(b) != "b" || r.Len() != 1 {
		t.Error("Take")
	}
	if c := r.Add("c"); c == a || c == b {
		t.Errorf("key %d was used again", c)
	}
}

func TestString(t *testing.T) {
	b := []byte("sm_90\x00rest")
	if s := String(&b[0]); s != "sm_90" {
		t.Errorf("%q", s)
	}
	if s := String(nil); s != "" {
		t.Errorf("%q", s)
	}
}
