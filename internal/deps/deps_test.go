package deps

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

const module = "github.com/gocuda/cuda"

// pkg is what go list tells of a package, tests left out.
type pkg struct {
	ImportPath, Name string
	Imports, Deps    []string
}

// short is a package's path inside the module, "." for the module's own package.
func short(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// under says whether a package is root or lies below it; a root written =path is that package alone.
func under(path, root string) bool {
	if one, ok := strings.CutPrefix(root, "="); ok {
		return path == one
	}
	return path == root || strings.HasPrefix(path, root+"/")
}

func anyUnder(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return under(path, r) })
}

// layer is a package with all that lies below it, and what else of the module it may import.
type layer struct {
	root string
	may  []string
}

// layers are packages, with all that lies below them, and what else of the module they may import. The software
// device's parts stand on each other in the order image, ptx, ir, exec and know nothing of the driver's API above them;
// each device knows the table only; whoever needs a device asks internal/device; package cu is the API for it, and the
// module's own package stands on cu.
var layers = []layer{
	{"internal/defect", nil},
	{"internal/lazy", nil},
	{"internal/nearest", nil},
	{"internal/apidoc", []string{"internal/driver", "internal/nearest"}},
	{"internal/env", nil},
	{"internal/num", nil},
	{"internal/mem", nil},
	{"internal/tensormap", nil},
	{"internal/source", nil},
	{"internal/touch", nil}, // accesses of the process itself, for the race check
	{"internal/image", nil},
	{"internal/devlib", nil},
	{"internal/tileir", nil},
	{"internal/checker", nil}, // told of accesses and of what orders them; knows neither the engines nor the driver
	{"internal/ptx", nil},
	{"internal/ir", []string{"internal/ptx"}},
	{"internal/link", []string{"internal/image", "internal/ptx", "internal/ir"}},
	{"internal/exec", []string{"internal/checker", "internal/ir", "internal/ptx", "internal/mem", "internal/num",
		"internal/tensormap"}},
	{"internal/exec/jit/plan", []string{"internal/ir", "internal/ptx"}},
	{"internal/exec/jit/abi", []string{"internal/exec/jit/plan", "internal/exec/texture", "internal/ir"}},
	{"internal/exec/jit/amd64", []string{"internal/exec/jit/abi", "internal/exec/jit/plan", "=internal/exec",
		"internal/exec/texture", "internal/ir", "internal/ptx", "internal/num"}},
	{"internal/exec/jit/amd64/asm", nil},
	{"include", nil}, // headers for C++
	// drives clang; knows no device
	{"cmd/gocuda/internal/cc", []string{"internal/image", "internal/link", "internal/ptx"}},
	{"internal/driver", nil},
	{"internal/nvidia", []string{"internal/driver"}},
	{"internal/cudart", []string{"internal/driver"}}, // over any table
	{"internal/nccl", nil},
	{"internal/softnccl", []string{"internal/num"}},
	{"internal/softdev", []string{"internal/checker", "internal/tileir", "internal/driver", "internal/image",
		"internal/ptx", "internal/ir", "internal/link", "internal/exec", "internal/mem", "internal/num",
		"internal/tensormap", "internal/touch", "profiles"}},
	{"internal/ptxgen", []string{"internal/ptx", "internal/driver"}},
	{"internal/device", []string{"internal/driver", "internal/nvidia", "internal/softdev"}},
	{"profiles", nil},
	{"nccl/raw", []string{"internal/nccl", "cu"}},
	{"cu", []string{"internal/driver", "internal/device", "internal/image"}},
}

// everywhere are packages that all layers may import.
var everywhere = []string{"internal/defect", "internal/lazy", "internal/env", "internal/source"}

// outside says which packages may import modules of others.
var outside = []struct {
	path string
	may  []string
}{
	{"github.com/ebitengine/purego", []string{"internal/nvidia", "internal/nvrtc", "internal/nccl"}},
	{"github.com/klauspost/compress", []string{"internal/image"}},
	{"github.com/pierrec/lz4", []string{"internal/image"}},
	{"golang.org/x/sys", []string{"internal/mem", "internal/softdev", "internal/nvidia", "internal/exec/jit",
		"internal/exec/interp",
		"internal/touch", "internal/softnccl", "cmd/libcuda", "internal/conform/limits"}},
	{"github.com/alecthomas/kong", []string{"cmd/gocuda"}},
	{"github.com/ianlancetaylor/demangle", []string{"cmd/gocuda"}},
}

// testSupport are packages for tests: nothing else imports them, and nothing else imports testing.
var testSupport = []string{
	"internal/exec/exectest", "internal/num/numtest", "internal/exec/exectest/texts", "internal/driver/apitest",
	"cudatest", "internal/skip", "internal/tileir/tiletest",
}

func list(t *testing.T) []pkg {
	t.Helper()
	tool := skip.Command(t, "go")
	cmd := exec.Command(tool, "list", "-e", "-json=ImportPath,Name,Imports,Deps", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestDependences(t *testing.T) {
	all := list(t)
	if len(all) < 20 {
		t.Fatalf("go list names %d packages only", len(all))
	}
	seen := map[string]bool{}
	for i := range all {
		p := &all[i]
		self, ok := short(p.ImportPath)
		if !ok {
			t.Errorf("%s is not in the module", p.ImportPath)
			continue
		}
		for _, l := range layers {
			if !under(self, l.root) {
				continue
			}
			seen[l.root] = true
			for _, im := range p.Imports {
				if to, ok := short(im); ok && !under(to, l.root) && !anyUnder(to, l.may) && !anyUnder(to, everywhere) {
					t.Errorf("%s imports %s", self, to)
				}
			}
		}
		// Commands that need to look at several layers lie in internal/tools, not inside one.
		if p.Name == "main" && slices.ContainsFunc(layers, func(l layer) bool { return under(self, l.root) }) {
			t.Errorf("%s is a command inside a layer", self)
		}
		for _, im := range p.Imports {
			to, inside := short(im)
			switch {
			case inside && slices.Contains(testSupport, to) && !slices.Contains(testSupport, self):
				t.Errorf("%s imports %s, which is for tests", self, to)
			case im == "testing" && !slices.Contains(testSupport, self):
				t.Errorf("%s imports testing", self)
			case im == "C" && self != "cmd/libcuda":
				t.Errorf("%s uses cgo", self)
			case im == "C" || inside || !strings.Contains(strings.SplitN(im, "/", 2)[0], "."):
			default:
				known := false
				for _, o := range outside {
					if under(im, o.path) {
						known = true
						if !anyUnder(self, o.may) {
							t.Errorf("%s imports %s", self, im)
						}
					}
				}
				if !known {
					t.Errorf("%s imports %s, which the table in this test does not have", self, im)
				}
			}
		}
		// What the layers of the software device bring along, over whatever path.
		if anyUnder(self, []string{"internal/num", "internal/mem", "internal/tensormap", "internal/image",
			"internal/ptx", "internal/ir", "internal/link", "internal/exec"}) {
			for _, d := range p.Deps {
				if to, ok := short(d); ok && (to == "." ||
					anyUnder(to, []string{"cu", "internal/driver", "internal/nvidia", "internal/softdev",
						"internal/device"})) {
					t.Errorf("%s depends on %s", self, to)
				}
				if under(d, "github.com/ebitengine/purego") {
					t.Errorf("%s depends on %s", self, d)
				}
			}
		}
		if self == "internal/driver" {
			for _, d := range p.Deps {
				if strings.Contains(strings.SplitN(d, "/", 2)[0], ".") {
					t.Errorf("internal/driver depends on %s", d)
				}
			}
		}
		if self == "internal/softdev" && slices.Contains(p.Deps, module+"/internal/nvidia") {
			t.Error("the software device depends on the NVIDIA driver")
		}
	}
	for _, l := range layers {
		if !seen[l.root] {
			t.Errorf("there is no package %s", l.root)
		}
	}
}
