// Command support writes docs/api-support.md: every function of the driver API, and what the software device does with
// it. It is run in the root of the repository; with -check it only says whether the page is as it would be written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

const page = "docs/api-support.md"

func main() {
	onlyCheck := flag.Bool("check", false, "say whether "+page+" is fresh instead of writing it")
	flag.Parse()
	text, err := render()
	if err != nil {
		fail(err)
	}
	if !*onlyCheck {
		if err := os.WriteFile(page, text, 0o666); err != nil {
			fail(err)
		}
		return
	}
	old, err := os.ReadFile(page)
	if err != nil {
		fail(err)
	}
	if !bytes.Equal(old, text) {
		fail(fmt.Errorf("%s is not as it would be written; run go run ./internal/tools/apisupport", page))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "support:", err)
	os.Exit(1)
}

// groupTitles are the groups of the API (the groups of the headers), in the order of the page; what is not here comes
// after them by its own name.
var groupTitles = []struct{ group, title string }{
	{"CUDA_ERROR", "Errors"}, {"CUDA_INITIALIZE", "Initialisation"}, {"CUDA_VERSION", "Version"},
	{"CUDA_DEVICE", "Devices"}, {"CUDA_DEVICE_DEPRECATED", "Devices, deprecated"},
	{"CUDA_PRIMARY_CTX", "Primary contexts"}, {"CUDA_CTX", "Contexts"}, {"CUDA_CTX_DEPRECATED", "Contexts, deprecated"},
	{"CUDA_MODULE", "Modules"}, {"CUDA_MODULE_DEPRECATED", "Modules, deprecated"},
	{"CUDA_LIBRARY", "Libraries"}, {"CUDA_MEM", "Memory"}, {"CUDA_VA", "Virtual memory"},
	{"CUDA_MALLOC_ASYNC", "Memory in stream order"}, {"CUDA_MULTICAST", "Multicast"},
	{"CUDA_LOGICAL_ENDPOINT", "Logical endpoints"}, {"CUDA_FABRIC_COPY", "Copies over a fabric"},
	{"CUDA_CLIQUE", "Cliques of a fabric"},
	{"CUDA_UNIFIED", "Unified addressing"},
	{"CUDA_STREAM", "Streams"}, {"CUDA_EVENT", "Events"}, {"CUDA_EXTRES_INTEROP", "Resources of other APIs"},
	{"CUDA_MEMOP", "Memory operations of streams"}, {"CUDA_EXEC", "Execution"},
	{"CUDA_EXEC_DEPRECATED", "Execution, deprecated"}, {"CUDA_GRAPH", "Graphs"}, {"CUDA_OCCUPANCY", "Occupancy"},
	{"CUDA_TEXREF_DEPRECATED", "Texture references, deprecated"},
	{"CUDA_SURFREF_DEPRECATED", "Surface references, deprecated"}, {"CUDA_TEXOBJECT", "Texture objects"},
	{"CUDA_SURFOBJECT", "Surface objects"}, {"CUDA_TENSOR_MEMORY", "Tensor maps"},
	{"CUDA_PEER_ACCESS", "Peer access"}, {"CUDA_GREEN_CONTEXTS", "Green contexts"},
	{"CUDA_DRIVER_ENTRY_POINT", "Entry points"}, {"CUDA_COREDUMP", "Core dumps"}, {"CUDA_LOGS", "Error logs"},
	{"CUDA_CHECKPOINT", "Checkpoints"}, {"CUDA_PROFILER", "Profiler"},
	{"CUDA_PROFILER_DEPRECATED", "Profiler, deprecated"}, {"CUDA_GRAPHICS", "Graphics"}, {"CUDA_GL", "OpenGL"},
	{"CUDA_GL_DEPRECATED", "OpenGL, deprecated"}, {"CUDA_EGL", "EGL"}, {"CUDA_VDPAU", "VDPAU"},
}

func render() ([]byte, error) {
	d, err := softdev.New(softdev.Options{DriverVersion: driver.CUDA_VERSION})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	type group struct {
		title string
		rank  int
		rows  []string
		have  int
	}
	groups := map[string]*group{}
	bases, old := map[string]bool{}, 0
	all, have, notes, unrecorded := 0, 0, 0, 0
	for s := range driver.Symbols() {
		x, ok := d.Support(s.Name)
		if !ok || !x.Implemented && x.Note == "" {
			return nil, fmt.Errorf("%s: nothing says why it is not implemented", s.Name)
		}
		g := groups[s.Group]
		if g == nil {
			g = &group{title: strings.TrimPrefix(s.Group, "CUDA_"), rank: len(groupTitles)}
			for i, t := range groupTitles {
				if t.group == s.Group {
					g.title, g.rank = t.title, i
				}
			}
			groups[s.Group] = g
		}
		mark := "no"
		if x.Implemented {
			mark = "yes"
			if !x.Recorded {
				mark = "yes, not recorded"
				unrecorded++
			}
			g.have++
			have++
			if x.Note != "" {
				notes++
			}
		}
		all++
		bases[s.Base] = true
		if x.Recorded {
			old++
		}
		g.rows = append(g.rows, fmt.Sprintf("| `%s` | %s | %s | %s |", s.Name, since(s.Since), mark, x.Note))
	}
	var order []*group
	for _, g := range groups {
		order = append(order, g)
	}
	sort.Slice(order, func(i, j int) bool {
		if order[i].rank != order[j].rank {
			return order[i].rank < order[j].rank
		}
		return order[i].title < order[j].title
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!-- Written by internal/tools/apisupport. DO NOT EDIT. -->
# The driver API on the software device

%d of %d functions do what they are for, %d of them with a remark; the others answer CUDA_ERROR_NOT_SUPPORTED, after
the checks of their arguments that a driver makes. The functions of per-thread default streams (`+"`_ptds`, `_ptsz`"+`) are
those without the ending. The table is that of CUDA %s: %d names, %d functions with their older versions; a number is the
CUDA version that brought the function.

What a driver answered is recorded for CUDA 13.0, and as a driver of 13.0 the software device answers unless it is asked
for a newer version (`+"`GOCUDA_DRIVER_VERSION`"+`, [environment.md](environment.md)). "Not recorded" are %d functions that came
later: no such driver was at hand, so they follow the documentation, and as a driver of 13.0 they answer
CUDA_ERROR_NOT_SUPPORTED. Of the %d functions of 13.0 the software device does %d.
`, have, all, notes, since(driver.CUDA_VERSION), len(bases), all, unrecorded, old, have-unrecorded)
	for _, g := range order {
		fmt.Fprintf(&b, "\n## %s (%d of %d)\n\n| function | since | | |\n| --- | --- | --- | --- |\n%s\n", g.title,
			g.have, len(g.rows), strings.Join(g.rows, "\n"))
	}
	return b.Bytes(), nil
}

func since(v int) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10)
}
