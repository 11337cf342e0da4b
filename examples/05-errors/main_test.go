package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed: has a log: true",
		"argument 1 `overrun_param_1`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)",
		"out of memory: true",
		"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered, sticky: true",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "named: false") {
		t.Errorf("the fault is not explained:\n%s", out.String())
	}
}
