package nvrtc

const builtinsPattern = "nvrtc-builtins64_*.dll"

var wheelPatterns = []string{"cu1?/bin/x86_64/nvrtc64_*_0.dll", "cu1?/bin/nvrtc64_*_0.dll",
	"cuda_nvrtc/bin/nvrtc64_*_0.dll"}
