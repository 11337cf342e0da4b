package cc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// begins is how a message of clang begins.
var begins = regexp.MustCompile(`(?m)^(In file included from |[^\n:]+:\d+:\d+: (warning|error|fatal error|remark): |(clang[^:\n]*: )?(warning|error): )`)

// counts is clang's last line, which says how many messages there were.
var counts = regexp.MustCompile(`(?m)^\d+ (warnings?|errors?)( and \d+ errors?)? generated.*\n`)

// say writes what clang said of device and host code, that which is in both once.
func (d *Driver) say(device, host []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Stderr.Write(device)
	if len(device) == 0 {
		d.Stderr.Write(host)
		return
	}
	known := map[string]bool{}
	for _, m := range messages(device) {
		known[m] = true
	}
	for _, m := range messages(host) {
		if !known[m] {
			fmt.Fprint(d.Stderr, m)
		}
	}
}

// messages takes text apart.
func messages(text []byte) []string {
	text = counts.ReplaceAll(text, nil)
	var all []string
	start, include := 0, false
	for _, at := range begins.FindAllIndex(text, -1) {
		if !include && at[0] > start {
			all = append(all, string(text[start:at[0]]))
			start = at[0]
		}
		include = bytes.HasPrefix(text[at[0]:], []byte("In file"))
	}
	if start < len(text) {
		all = append(all, string(text[start:]))
	}
	return all
}

// missing is the error for a header that is not there.
var missing = regexp.MustCompile(`fatal error: '([^']+)' file not found`)

// openHeaders begin the names of headers in CCCL; libraries those of libraries that are NVIDIA's alone.
var (
	openHeaders = []string{"cuda/", "cub/", "thrust/", "nv/target"}
	libraries   = map[string]string{"cublas": "cuBLAS", "cusparse": "cuSPARSE", "cufft": "cuFFT",
		"cusolver": "cuSOLVER", "curand.h": "cuRAND for the host", "cudnn": "cuDNN", "npp": "NPP",
		"nvjpeg": "nvJPEG", "cutensor": "cuTENSOR",
		"nvml": "NVML", "cudaGL": "OpenGL interoperability", "cuda_gl_interop": "OpenGL interoperability"}
)

// absent says where a header comes from.
func absent(header string) string {
	for _, p := range openHeaders {
		if strings.HasPrefix(header, p) {
			return "a copy of CCCL (docs/cc.md): pip download --no-deps nvidia-cuda-cccl, unpack it, and name its folder " +
				"in GOCUDA_CCCL or with -I"
		}
	}
	for p, name := range libraries {
		if strings.HasPrefix(header, p) {
			return name + " is a library of NVIDIA's toolkit: neither its headers nor its functions are part of gocuda"
		}
	}
	return ""
}

// explain says more of what clang refuses by design.
func explain(text []byte) string {
	if m := missing.FindSubmatch(text); m != nil {
		return absent(string(m[1]))
	}
	switch s := string(text); {
	case strings.Contains(s, "reference to __global__ function"):
		return "kernels are launched by the host: clang has no dynamic parallelism, that is kernels that launch kernels"
	case sharedObject.Match(text):
		return "one declaration for each such variable, without an initializer"
	case strings.Contains(s, "unsupported CUDA gpu architecture"):
		return "-arch=sm_90, or a newer clang"
	}
	return ""
}
