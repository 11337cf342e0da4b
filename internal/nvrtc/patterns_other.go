//go:build !windows

package nvrtc

const builtinsPattern = "libnvrtc-builtins.so*"

var wheelPatterns = []string{"cu1?/lib/libnvrtc.so.*", "cuda_nvrtc/lib/libnvrtc.so.*"}
