package softdev

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/skip"
)

// The recorded corpus: the whole set when it lies beside the repository, else what is kept of it. Recorded on an H200
// with driver 580.159.04.
const (
	fullCorpus = "../../../shared/corpus"
	keptCorpus = "../../testdata/corpus"
)

func corpusFolder(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(fullCorpus, "index.json")); err == nil {
		return fullCorpus
	}
	t.Log("the full corpus is not beside the repository; using what is kept")
	return keptCorpus
}

func unzipped(t testing.TB, name string) []byte {
	t.Helper()
	z, err := os.ReadFile(name + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recordedModule is what the driver says of a loaded module (manifests' "driver").
type recordedModule struct {
	Count     int `json:"function_count"`
	Functions []struct {
		Name       string
		Attributes map[string]int32
		Params     [][2]uint64
	}
	Globals []struct {
		Name  string
		Size  uint64
		Error string
	}
	Differs string `json:"differs_from"`
}

// attributeIDs are the manifests' names of CUfunction_attribute.
var attributeIDs = map[string]driver.CUfunction_attribute{
	"MAX_THREADS_PER_BLOCK": driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
	"SHARED_SIZE_BYTES":     driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
	"CONST_SIZE_BYTES":      driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
	"LOCAL_SIZE_BYTES":      driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
	"NUM_REGS":              driver.CU_FUNC_ATTRIBUTE_NUM_REGS, "PTX_VERSION": driver.CU_FUNC_ATTRIBUTE_PTX_VERSION,
	"BINARY_VERSION":                       driver.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
	"CACHE_MODE_CA":                        driver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
	"MAX_DYNAMIC_SHARED_SIZE_BYTES":        driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	"PREFERRED_SHARED_MEMORY_CARVEOUT":     driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	"CLUSTER_SIZE_MUST_BE_SET":             driver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
	"REQUIRED_CLUSTER_WIDTH":               driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
	"REQUIRED_CLUSTER_HEIGHT":              driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
	"REQUIRED_CLUSTER_DEPTH":               driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
	"NON_PORTABLE_CLUSTER_SIZE_ALLOWED":    driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
	"CLUSTER_SCHEDULING_POLICY_PREFERENCE": driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
}

// compilersOwn are attributes that the hardware's compiler decides: registers, the stack with spilled registers, the
// constants that it invents, and how many threads fit with those registers. They are compared only where a bound is
// known.
var compilersOwn = map[string]bool{"NUM_REGS": true, "LOCAL_SIZE_BYTES": true}

// otherKernels are containers whose PTX has other kernels than the machine code beside it.
var otherKernels = map[string]string{"wmma cu118.default.fatbin": "the source leaves kernels out for the compute capability of the PTX"}

// attributesOpen are modules and attributes that differ, with the reason.
var attributesOpen = map[string]string{}

// TestRecordedModules loads every recorded module from every build that holds PTX and compares what the driver says of
// it: kernels and their order, offsets and sizes of parameters, attributes, sizes of variables; and the same of a
// library.
func TestRecordedModules(t *testing.T) {
	dir := corpusFolder(t)
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	d, tab, ctx := open(t, Options{})
	modules, attributes := 0, 0
	used := map[string]bool{}
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		for build, record := range m.Driver {
			var r recordedModule
			if json.Unmarshal(record, &r) != nil || r.Count == 0 {
				continue
			}
			changed := map[string]map[string]int32{} // attributes that differ from the other build's
			globals := r.Globals
			if r.Differs != "" {
				for _, f := range r.Functions {
					changed[f.Name] = f.Attributes
				}
				var base recordedModule
				if json.Unmarshal(m.Driver[r.Differs], &base) != nil || base.Count != r.Count {
					continue
				}
				r = base
			}
			if globals == nil {
				globals = r.Globals
			}
			text := unzipped(t, filepath.Join(dir, "modules", name, m.Files[build]))
			if text == nil || image.Detect(text) == image.Cubin {
				continue
			}
			part, err := image.Resolve(text, d.devices[0].imageDevice())
			if err != nil {
				continue // machine code alone
			}
			// Where a container has machine code for the device, the driver ran that, and its PTX is another
			// compilation of the source.
			as := d.devices[0].imageDevice()
			as.RunsSASS = true
			other := false
			if full, err := image.Resolve(text, as); err == nil && part.Entry != nil {
				other = full.Kind != image.PTX
			}
			if other && otherKernels[name+" "+build] != "" {
				continue
			}
			text = append(text, 0)
			what := name + " " + build
			var mod driver.CUmodule
			if code := tab.ModuleLoadData(ctx, &mod, unsafe.Pointer(&text[0])); code != success {
				t.Errorf("%s: %v: %s", what, code, d.LastDetail(ctx))
				continue
			}
			modules++
			kernels := compareFunctions(t, what, d, ctx, mod, &r)
			for i, f := range kernels {
				must(t, tab.FuncLoad(ctx, f))
				want := r.Functions[i]
				for key, id := range attributeIDs {
					w, ok := changed[want.Name][key]
					if !ok {
						if w, ok = want.Attributes[key]; !ok {
							continue
						}
					}
					if compilersOwn[key] || other && key == "PTX_VERSION" {
						continue
					}
					var got int32
					must(t, tab.FuncGetAttribute(ctx, &got, id, f))
					attributes++
					open := name + " " + key
					if got == w {
						continue
					}
					if attributesOpen[open] != "" {
						used[open] = true
						continue
					}
					t.Errorf("%s: %s of %s is %d, the driver's is %d", what, key, want.Name, got, w)
				}
			}
			for _, g := range globals {
				var n uint64
				w := "CUDA_SUCCESS"
				if g.Error != "" {
					w = g.Error
				}
				if code := tab.ModuleGetGlobal_v2(ctx, nil, &n, mod, cstr(g.Name)); code.String() != w || n != g.Size {
					t.Errorf("%s: variable %s: %v, %d bytes, the driver's has %d", what, g.Name, code, n, g.Size)
				}
			}
			must(t, tab.ModuleUnload(ctx, mod))
			compareLibrary(t, what, tab, ctx, text, &r)
		}
	}
	for open := range attributesOpen {
		if !used[open] {
			t.Errorf("%s: listed as different and is equal", open)
		}
	}
	t.Logf("%d builds compared, %d attributes", modules, attributes)
	if modules < 90 {
		t.Errorf("only %d builds compared", modules)
	}
}

// functionsOpen are modules whose order of kernels has no known rule: in fnptr kernels that call through pointers come
// in another order than that of the file.
var functionsOpen = map[string]bool{"fnptr": true}

func compareFunctions(t *testing.T, what string, d *Driver, ctx driver.CUcontext, mod driver.CUmodule,
	r *recordedModule) []driver.CUfunction {
	t.Helper()
	tab := d.Table()
	var count uint32
	must(t, tab.ModuleGetFunctionCount(ctx, &count, mod))
	if int(count) != r.Count || len(r.Functions) != r.Count {
		t.Errorf("%s: %d functions, the driver finds %d", what, count, r.Count)
		return nil
	}
	fs := make([]driver.CUfunction, count)
	must(t, tab.ModuleEnumerateFunctions(ctx, &fs[0], count, mod))
	module, _, _ := strings.Cut(what, " ")
	for i, f := range r.Functions {
		var name *byte
		must(t, tab.FuncGetName(ctx, &name, fs[i]))
		if functionsOpen[module] {
			must(t, tab.ModuleGetFunction(ctx, &fs[i], mod, cstr(f.Name)))
		} else if got := driver.String(name); got != f.Name {
			t.Errorf("%s: function %d is %s, the driver's is %s", what, i, got, f.Name)
			return nil
		}
		var params [][2]uint64
		for j := uint64(0); ; j++ {
			var p [2]uint64
			if tab.FuncGetParamInfo(ctx, fs[i], j, &p[0], &p[1]) != success {
				break
			}
			params = append(params, p)
		}
		if !slices.Equal(params, f.Params) {
			t.Errorf("%s: parameters of %s %v, the driver's are %v", what, f.Name, params, f.Params)
		}
	}
	return fs
}

// compareLibrary: kernels of a library come in the reverse order.
func compareLibrary(t *testing.T, what string, tab *driver.Table, ctx driver.CUcontext, text []byte,
	r *recordedModule) {
	t.Helper()
	var l driver.CUlibrary
	must(t, tab.LibraryLoadData(ctx, &l, unsafe.Pointer(&text[0]), nil, nil, 0, nil, nil, 0))
	defer func() { must(t, tab.LibraryUnload(ctx, l)) }()
	var count uint32
	must(t, tab.LibraryGetKernelCount(ctx, &count, l))
	if int(count) != len(r.Functions) {
		t.Errorf("%s: the library has %d kernels, the module %d", what, count, len(r.Functions))
		return
	}
	ks := make([]driver.CUkernel, count)
	must(t, tab.LibraryEnumerateKernels(ctx, &ks[0], count, l))
	module, _, _ := strings.Cut(what, " ")
	for i, k := range ks {
		var name *byte
		must(t, tab.KernelGetName(ctx, &name, k))
		if w := r.Functions[len(ks)-1-i].Name; driver.String(name) != w && !functionsOpen[module] {
			t.Errorf("%s: kernel %d of the library is %s, want %s", what, i, driver.String(name), w)
		}
	}
}

// brokenOpen are images for which the driver's answer depends on what lies behind them in memory; as files they are
// refused.
var brokenOpen = map[string]string{"fatbin_truncated_payload": "the container says that it is longer than its memory"}

// TestBrokenImages gives every damaged or mismatched image of the corpus to each call that loads images. Images that
// the driver runs and that hold nothing but machine code are refused here with an explanation; where the driver
// crashed, the image is invalid.
func TestBrokenImages(t *testing.T) {
	dir := filepath.Join(fullCorpus, "broken")
	if _, err := os.Stat(dir); err != nil {
		skip.Without(t, skip.Recordings, "TestBrokenPTX has what is kept of it")
	}
	b, err := os.ReadFile(filepath.Join(dir, "broken.json"))
	if err != nil {
		t.Fatal(err)
	}
	var images []struct {
		Name, Image string
		Data        string  `json:"cuModuleLoadData"`
		Load        string  `json:"cuModuleLoad"`
		Library     string  `json:"cuLibraryLoadData"`
		FatBinary   *string `json:"cuModuleLoadFatBinary"`
		Ex          *struct {
			Name string
			Log  string `json:"error_log"`
		} `json:"cuModuleLoadDataEx"`
		Behaviour string `json:"driver_behaviour"`
	}
	if err := json.Unmarshal(b, &images); err != nil {
		t.Fatal(err)
	}
	d, tab, ctx := open(t, Options{PTX: "9.0"})
	file := filepath.Join(t.TempDir(), "image")
	compared, machine := 0, 0
	for _, img := range images {
		data := unzipped(t, filepath.Join(dir, img.Image))
		if data == nil {
			continue
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if brokenOpen[img.Name] != "" {
			var m driver.CUmodule
			if r := tab.ModuleLoad(ctx, &m, cstr(file)); r == success {
				t.Errorf("%s: %v", img.Name, r)
			}
			continue
		}
		buf := append(slices.Clone(data), make([]byte, 16)...) // text ends with NUL
		p := unsafe.Pointer(&buf[0])
		var m driver.CUmodule
		var l driver.CUlibrary
		log := make([]byte, 4096)
		ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{address(t, &log[0]), uintptr(len(log))}
		ex := tab.ModuleLoadDataEx(ctx, &m, p, 2, &ids[0], &values[0])
		text := driver.String(&log[0])
		answers := map[string]driver.CUresult{"cuModuleLoadDataEx": ex,
			"cuModuleLoadData": tab.ModuleLoadData(ctx, &m, p), "cuModuleLoad": tab.ModuleLoad(ctx, &m, cstr(file)),
			"cuModuleLoadFatBinary": tab.ModuleLoadFatBinary(ctx, &m, p),
			"cuLibraryLoadData":     tab.LibraryLoadData(ctx, &l, p, nil, nil, 0, nil, nil, 0)}
		if img.Ex == nil || strings.Contains(img.Behaviour, "died") {
			if img.Behaviour == "" {
				t.Errorf("%s: nothing is recorded", img.Name)
			}
			if ex != driver.CUDA_ERROR_INVALID_IMAGE { // the corpus's README
				t.Errorf("%s: %v; the driver: %s", img.Name, ex, img.Behaviour)
			}
			continue
		}
		wants := map[string]string{"cuModuleLoadDataEx": img.Ex.Name, "cuModuleLoadData": img.Data,
			"cuModuleLoad": img.Load, "cuLibraryLoadData": img.Library}
		if img.FatBinary != nil {
			wants["cuModuleLoadFatBinary"] = *img.FatBinary
		}
		explained := false
		for call, w := range wants {
			if w == "" {
				continue
			}
			compared++
			got := answers[call]
			if got.String() == w {
				continue
			}
			if w == "CUDA_SUCCESS" && got == driver.CUDA_ERROR_NO_BINARY_FOR_GPU &&
				strings.Contains(text, "machine code") {
				machine++
				explained = true
				continue
			}
			t.Errorf("%s: %s: %v, the driver gives %s (%s)", img.Name, call, got, w, d.LastDetail(ctx))
		}
		if ex.String() == img.Ex.Name && text != img.Ex.Log && !explained {
			t.Errorf("%s: error log %q, the driver's is %q", img.Name, text, img.Ex.Log)
		}
	}
	t.Logf("%d answers compared, %d of them for machine code that only hardware runs", compared, machine)
	if compared < 60 {
		t.Errorf("only %d answers compared", compared)
	}
}
