package apidoc

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// Every function is found by its symbol, with words for each parameter, as package driver has them.
func TestEveryFunction(t *testing.T) {
	for s := range driver.Symbols() {
		f, ok := lookup(s.Name)
		if !ok {
			t.Errorf("%s is not found", s.Name)
			continue
		}
		if f.C != s.Name || f.Go == "" || !strings.HasPrefix(f.Signature, "func(") || len(f.Params) != len(s.Params) ||
			!strings.Contains(f.Prototype, s.Name+"(") {
			t.Errorf("%s: %+v", s.Name, f)
			continue
		}
		for i, p := range f.Params {
			if p.Name != s.Params[i].Name || p.Type != s.Params[i].Type || p.Words == "" {
				t.Errorf("%s: %+v", s.Name, p)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"cuModuleLoadDataEx": "cuModuleLoadDataEx", "ModuleLoadDataEx": "cuModuleLoadDataEx",
		"cu.ModuleLoadDataEx": "cuModuleLoadDataEx", "cu.cuModuleLoadDataEx": "cuModuleLoadDataEx",
		"cu.API.ModuleLoadDataEx": "cuModuleLoadDataEx",
		"cuMemAlloc":              "cuMemAlloc_v2", "cuMemAlloc_v2": "cuMemAlloc_v2", "MemAlloc_v1": "cuMemAlloc",
		"cuMemcpyHtoDAsync_v2_ptsz": "cuMemcpyHtoDAsync_v2", "cuGraphInstantiate": "cuGraphInstantiateWithFlags",
	} {
		f, err := Find(name)
		if err != nil || f.C != want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	var e *UnknownError
	if _, err := Find("cuMemAloc"); !errors.As(err, &e) || e.Meant != "cuMemAlloc" {
		t.Errorf("%v", err)
	}
	if f, err := Find("cuLaunchKernel"); err != nil || !strings.Contains(f.Cuda, "Kernel.Launch") {
		t.Errorf("%+v, %v", f, err)
	}
}
