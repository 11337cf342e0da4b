package cc

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// The options are those of the NVCC manual, "NVCC Command Options".
func TestParse(t *testing.T) {
	tests := []struct {
		args string
		want func(o *Options)
	}{
		{"x.cu", func(o *Options) {}},
		{"-o p x.cu", func(o *Options) { o.Output = "p" }},
		{"--output-file=p x.cu", func(o *Options) { o.Output = "p" }},
		{"-ptx x.cu", func(o *Options) { o.Stage = PTX }},
		{"--fatbin x.cu", func(o *Options) { o.Stage = Fatbin }},
		{"-dc x.cu", func(o *Options) { o.Stage, o.Relocatable = Object, true }},
		{"-rdc=true x.cu", func(o *Options) { o.Relocatable = true }},
		{"--relocatable-device-code false x.cu", func(o *Options) {}},
		{"-arch=sm_80 x.cu", func(o *Options) { o.Archs = []string{"80"} }},
		{"--gpu-architecture compute_90a x.cu", func(o *Options) { o.Archs = []string{"90a"} }},
		{"-arch=native x.cu", func(o *Options) {}},
		{"-gencode arch=compute_70,code=sm_70 -gencode=arch=compute_90,code=[sm_90,compute_90] x.cu",
			func(o *Options) { o.Archs = []string{"70", "90"} }},
		{"-Iinc -I inc2 --include-path=inc3 -DN=3 -D M x.cu", func(o *Options) {
			o.Common = []string{"-I", "inc", "-I", "inc2", "-I", "inc3", "-D", "N=3", "-D", "M"}
		}},
		{"-std=c++20 -O3 x.cu", func(o *Options) { o.Common, o.Host = []string{"-std=c++20"}, []string{"-O3"} }},
		{"-Xcompiler -fopenmp,-Wall -L lib -lm x.cu", func(o *Options) {
			o.Host, o.Linker = []string{"-fopenmp", "-Wall"}, []string{"-fopenmp", "-Llib", "-lm"}
		}},
		{"x.cu -lgomp -lnvToolsExt -lm", func(o *Options) { o.Linker = []string{"-fopenmp", "-lm"} }},
		{"--expt-relaxed-constexpr --extended-lambda -Xptxas -v -lineinfo x.cu", func(o *Options) { o.LineInfo = true }},
		{"-use_fast_math -fmad=false -maxrregcount=32 x.cu", func(o *Options) {
			o.FastMath, o.NoContract, o.Registers = true, true, "32"
		}},
		{"--default-stream per-thread x.cu", func(o *Options) { o.PerThread = true }},
		{"-x cu -Wno-unused x.cu", func(o *Options) { o.CUDAFiles, o.Common = true, []string{"-Wno-unused"} }},
		{"-march=native x.cu", func(o *Options) { o.Host = []string{"-march=native"} }},
		{"-cuda 12.4 x.cu", func(o *Options) { o.CUDA = 12 }},
	}
	for _, c := range tests {
		want := &Options{CUDA: 13, Archs: []string{"90"}, Inputs: []string{"x.cu"}}
		c.want(want)
		got, err := Parse(strings.Fields(c.args))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", c.args, err, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for args, flag := range map[string]string{
		"-dlto x.cu": "-dlto", "-cubin x.cu": "-cubin", "-o": "-o", "": "", "-arch=gfx90a x.cu": "-arch=gfx90a",
		"-maxrregcount=x x.cu": "-maxrregcount=x", "-gencode code=sm_90 x.cu": "-gencode", "-c -o a x.cu y.cu": "-o",
		"-rdc=perhaps x.cu": "-rdc=perhaps", "--default-stream new x.cu": "--default-stream", "-x ada x.cu": "-x",
		"-cuda 11 x.cu": "-cuda",
	} {
		_, err := Parse(strings.Fields(args))
		var u *UsageError
		if !errors.As(err, &u) || u.Flag != flag {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-ptx\x00-arch=sm_90\x00x.cu")
	f.Fuzz(func(t *testing.T, s string) {
		if o, err := Parse(strings.Split(s, "\x00")); err == nil && (len(o.Inputs) == 0 || len(o.Archs) == 0) {
			t.Errorf("%q: %+v", s, o)
		}
	})
}
