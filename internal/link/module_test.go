package link_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// TestModuleAlone: what loading one module makes of names that it does not define. The first four are recorded (package
// check's ptx_probe.json.gz: module/decl_decl, module/open_extern, module/extern_var_def, module/alias; broken.json:
// ptx_func_declared_not_defined; the corpus's README: an extern function that is called and missing fails the load, an
// extern variable does not).
func TestModuleAlone(t *testing.T) {
	for _, c := range []struct{ name, text, result, log string }{
		{"declared twice", ".func f();\n.func f();\n", "CUDA_ERROR_INVALID_PTX",
			"ptxas fatal   : Unresolved extern function 'f'"},
		{"open array", ".extern .global .u32 x[];\n", "CUDA_ERROR_INVALID_PTX",
			"ptxas fatal   : Unresolved extern variable 'x'"},
		{"declared and defined", ".extern .global .u32 v;\n.visible .global .u32 v;\n", "", ""},
		{"alias", ".visible .func f() { ret; }\n.visible .func g();\n.alias g,f;\n", "", ""},
		{"extern function called", extern("f") + kernel("k", call("f")), "CUDA_ERROR_INVALID_PTX",
			"ptxas fatal   : Unresolved extern function 'f'"},
		{"extern function not called", extern("f") + kernel("k", "mov.u32 r, 1;"), "", ""},
		{"extern variable", ".extern .global .u32 v;\n" + kernel("k", "ld.global.u32 r, [v];"), "", ""},
		{"dynamic shared memory", ".extern .shared .b8 s[];\n" + kernel("k", "ld.shared.u32 r, [s];"), "", ""},
		{"system function", ".extern .func (.param .b64 p) malloc(.param .b64 n);\n" +
			kernel("k", "{\n.param .b64 a, b;\nst.param.b64 [a], 8;\ncall (b), malloc, (a);\n}"), "", ""},
	} {
		p, err := link.Module([]byte(head+c.text), options())
		var e *link.Error
		switch {
		case err == nil && c.result == "" && p != nil:
		case err == nil || !errors.As(err, &e) || e.Result().String() != c.result || e.Log != c.log:
			t.Errorf("%s: %v, want %s %s", c.name, err, c.result, c.log)
		}
	}
	// The device runtime's functions are no module's (recorded: the PTX of cdp and n_gridsync is INVALID_PTX by
	// itself).
	for module, file := range map[string]string{"cdp": "cdp.compute_90.ptx", "n_gridsync": "n_gridsync.compute_90.ptx",
		"rdc_pair": "rdc_a.compute_90.ptx"} {
		_, err := link.Module(need(t, module, file), options())
		var e *link.Error
		if !errors.As(err, &e) || e.Result().String() != "CUDA_ERROR_INVALID_PTX" {
			t.Errorf("%s: %v", file, err)
		}
	}
	if p, err := link.Module([]byte(head+".func g() { ret; }\n"+kernel("a", "mov.u32 r, 2;")+
		kernel("b", "mov.u32 r, 3;")), options()); err != nil {
		t.Error(err)
	} else if got := words(t, p, "b", 1, 0); got[0] != 3 {
		t.Errorf("%d, want 3", got[0])
	}
}

// TestSingle makes an image of a checked module without its text: the printed tree stands in.
func TestSingle(t *testing.T) {
	tree, err := ptx.Parse([]byte(head + ".global .u32 v = 4;\n" + kernel("k", "ld.global.u32 r, [v];")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := check.Check(tree, check.Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	p, err := link.Single(m, nil, options())
	if err != nil {
		t.Fatal(err)
	}
	q, err := link.Load(p.Image(), options())
	if err != nil {
		t.Fatal(err)
	}
	if got := words(t, q, "k", 1, 0); got[0] != 4 {
		t.Errorf("%d, want 4", got[0])
	}
	if v := q.Variable("v"); v == nil || v.Size != 4 {
		t.Error("a variable without linkage is not found by name")
	}
}

// orderOpen are modules whose order of kernels has no known rule: in fnptr kernels that call through pointers come in
// another order than that of the file.
var orderOpen = map[string]bool{"fnptr": true}

// TestEnumerationOrder compares the order of kernels of every recorded PTX module with the driver's (manifests'
// "driver").
func TestEnumerationOrder(t *testing.T) {
	dir := fullCorpus
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		dir = keptCorpus
		t.Log("the full corpus is not beside the repository; using what is kept")
	}
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		for build, record := range m.Driver {
			file := m.Files[build]
			type functions struct {
				Count     int `json:"function_count"`
				Functions []struct{ Name string }
				Differs   string `json:"differs_from"`
			}
			var d functions
			if filepath.Ext(file) != ".ptx" || json.Unmarshal(record, &d) != nil || d.Count == 0 {
				continue
			}
			// the record lists attributes that differ; names and their order are those of the other build
			if d.Differs != "" {
				var base functions
				if json.Unmarshal(m.Driver[d.Differs], &base) != nil || base.Count != d.Count ||
					len(base.Functions) != base.Count {
					continue
				}
				d = base
			}
			text, err := gunzip(t, filepath.Join(dir, "modules", name, file+".gz"))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := link.Module(text, options())
			if err != nil {
				t.Errorf("%s %s: %v", name, build, err)
				continue
			}
			var want []string
			for _, f := range d.Functions {
				want = append(want, f.Name)
			}
			compared++
			if got := kernelNames(p); orderOpen[name] {
				if slices.Equal(got, want) {
					t.Errorf("%s %s: the order is the driver's now: take it out of orderOpen", name, build)
				}
			} else if !slices.Equal(got, want) {
				t.Errorf("%s %s: kernels %v, the driver's order is %v", name, build, got, want)
			}
		}
	}
	t.Logf("%d modules compared", compared)
	if compared < 60 {
		t.Errorf("only %d modules compared", compared)
	}
}
