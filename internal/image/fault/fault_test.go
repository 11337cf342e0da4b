package fault_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fault"
)

func TestError(t *testing.T) {
	var err error = &fault.Error{Class: fault.Corrupt, Part: "entry", Offset: 0x40, Detail: "short",
		Cause: io.ErrUnexpectedEOF}
	if !errors.Is(err, fault.Corrupt) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fault.Format) {
		t.Error("class and cause are not found")
	}
	var c fault.Class
	if !errors.As(fault.New(fault.Target, "cubin", 0, "sm_%d", 80), &c) || c != fault.Target {
		t.Error("no class in", err)
	}
	if s := err.Error(); s != "entry at 0x40: short: unexpected EOF" {
		t.Errorf("%q", s)
	}
}

func TestClasses(t *testing.T) {
	for c := fault.Format; c <= fault.TooLarge; c++ {
		if c.Error() == "" || !strings.HasPrefix(c.Result().String(), "CUDA_ERROR_") {
			t.Errorf("class %d: %q, %q", c, c.Error(), c.Result())
		}
	}
	if fault.Class(0).Error() != fault.Class(99).Error() {
		t.Error("classes that do not exist differ")
	}
}
