package main

import (
	"encoding/json"
	"testing"
)

func TestDoc(t *testing.T) {
	code, out, errs := gocuda("doc", "cuModuleLoadDataEx")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	contains(t, "doc", out, "CUresult cuModuleLoadDataEx(", "cu.ModuleLoadDataEx",
		"func(image []byte, options []CUjit_option, optionValues []uintptr) (module CUmodule, err error)",
		"Context.Load", "since   CUDA 2.1", "the software device does it: images need PTX or Tile IR",
		"unsigned int numOptions (the length of options)", "CUDA_ERROR_INVALID_PTX")
	code, out, errs = gocuda("doc", "--json", "cu.FuncGetParamCount")
	var d documented
	if err := json.Unmarshal([]byte(out), &d); code != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	if d.Function == nil || d.C != "cuFuncGetParamCount" || d.Since != "13.2" || d.Software.Recorded ||
		d.Software.Needs != "13.2" || len(d.Params) != 2 || d.Params[1].Place != "result" {
		t.Errorf("%s", out)
	}
	code, _, errs = gocuda("doc", "cuModulLoadDataEx")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	contains(t, "doc", errs, "did you mean cuModuleLoadDataEx?")
}
