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
		"CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed; the compiler says:\nptxas application ptx input, line ",
		"argument 1 `overrun_param_1`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)",
		"a pebibyte: cuda: cuMemAlloc",
		"CUDA_ERROR_OUT_OF_MEMORY",
		"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
		"The context is lost",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if !strings.HasPrefix(out.String(), "device: software\n") {
		return // the driver does not say where
	}
	for _, want := range []string{"kernel overrun", "thread (1,0,0)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
