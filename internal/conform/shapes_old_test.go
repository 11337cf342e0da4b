package conform

//lint:file-ignore SA1019 the deprecated functions are part of the API, and the only ones with a float by value

import (
	"testing"

	"github.com/gocuda/cuda/cu"
)

func (s *shapes) oldLaunch(t *testing.T) {
	f := s.function(t, "scale")
	got := s.scaled(t, func(p cu.CUdeviceptr) {
		s.must(t, "cuFuncSetBlockShape", s.c.FuncSetBlockShape(f, 100, 1, 1))
		s.must(t, "cuParamSetv", s.c.ParamSetv(f, 0, bytesOf([]cu.CUdeviceptr{p})))
		s.must(t, "cuParamSetf", s.c.ParamSetf(f, 8, 0.5)) // a float by value
		s.must(t, "cuParamSeti", s.c.ParamSeti(f, 12, 100))
		s.must(t, "cuParamSetSize", s.c.ParamSetSize(f, 16))
		s.must(t, "cuLaunchGrid", s.c.LaunchGrid(f, 1, 1))
	})
	if got[0] != 0.75 || got[99] != 0.75 {
		t.Errorf("%v %v, want 0.75", got[0], got[99])
	}
}

func (s *shapes) texref(t *testing.T) {
	r, err := s.c.TexRefCreate()
	s.must(t, "cuTexRefCreate", err)
	defer s.c.TexRefDestroy(r)
	s.must(t, "cuTexRefSetMipmapLevelBias", s.c.TexRefSetMipmapLevelBias(r, 0.375)) // a float by value
	bias, err := s.c.TexRefGetMipmapLevelBias(r)
	s.must(t, "cuTexRefGetMipmapLevelBias", err)
	if bias != 0.375 {
		t.Errorf("bias %v", bias)
	}
}
