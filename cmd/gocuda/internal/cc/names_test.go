package cc

import (
	"errors"
	"testing"
)

func TestFindKernel(t *testing.T) {
	// Symbols as clang 19 writes them for: __global__ void step(float*, int); template <class T> void ns::scale(T*, T);
	// extern "C" plain(void).
	ptx := []byte(`
.visible .entry _Z4stepPfi(
.weak .entry _ZN2ns5scaleIfEEvPT_S1_(
.weak .entry _ZN2ns5scaleIdEEvPT_S1_(
.entry plain()
`)
	for name, want := range map[string]string{
		"step": "_Z4stepPfi", "_Z4stepPfi": "_Z4stepPfi", "plain": "plain", "none": "none",
		"ns::scale<float>": "_ZN2ns5scaleIfEEvPT_S1_",
	} {
		if got, err := FindKernel(ptx, name); got != want || err != nil {
			t.Errorf("FindKernel(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	var many *AmbiguousError
	if _, err := FindKernel(ptx, "scale"); !errors.As(err, &many) || len(many.Kernels) != 2 {
		t.Errorf("scale: %v, want two kernels", err)
	}
}
