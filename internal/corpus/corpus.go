// Package corpus reads and replays recorded CUDA modules: images from real compilers with launches, inputs and the
// outputs that real hardware gave. The format is described in testdata/corpus/README.md.
//
// A replay goes through the driver API (internal/driver.Table) and so runs on any device.
package corpus

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/setfile"
)

// Data is the contents of an array.
type Data struct {
	Base64 *string `json:"base64"`
	File   string  `json:"file"`
	Fill   *int    `json:"fill"`
}

// Arg is a kernel parameter, or a buffer that one points at.
type Arg struct {
	Kind     string `json:"kind"`
	DType    string `json:"dtype"`
	Count    int    `json:"count"`
	Data     *Data  `json:"data"`
	Output   bool   `json:"output"`
	Expected *Data  `json:"expected"`
	Compare  string `json:"compare"`
	ID       string `json:"id"`
	Addend   int64  `json:"addend"`
	Hex      string `json:"hex"`
	Size     int    `json:"size"`
	Bytes    *Data  `json:"bytes"`
	Pointers []struct {
		Offset int    `json:"offset"`
		ID     string `json:"id"`
		Addend int64  `json:"addend"`
	} `json:"pointers"`
	Name string `json:"name"` // global_value

	// textures and surfaces
	Res        string     `json:"res"`
	Fmt        string     `json:"fmt"`
	Channels   int        `json:"channels"`
	Dims       []int      `json:"dims"`
	Address    []string   `json:"address"`
	Filter     string     `json:"filter"`
	Read       string     `json:"read"`
	Normalized bool       `json:"normalized"`
	Layered    bool       `json:"layered"`
	Cubemap    bool       `json:"cubemap"`
	SRGB       bool       `json:"srgb"`
	Border     [4]float32 `json:"border"`
	Gather     bool       `json:"gather"`
	Levels     int        `json:"levels"`

	// tensor maps
	GDim       []uint64 `json:"gdim"`
	GStride    []uint64 `json:"gstride"`
	Box        []uint32 `json:"box"`
	EStride    []uint32 `json:"estride"`
	Swizzle    int      `json:"swizzle"`
	Interleave int      `json:"interleave"`
	OOB        int      `json:"oob"`
	L2         int      `json:"l2"`
}

// Global is a module variable written before or compared after a launch.
type Global struct {
	Name     string `json:"name"`
	DType    string `json:"dtype"`
	Count    int    `json:"count"`
	Data     *Data  `json:"data"`
	Expected *Data  `json:"expected"`
	Compare  string `json:"compare"`
}

// Failure is what a launch that must fail does.
type Failure struct {
	Result      string `json:"result"`
	Code        int    `json:"code"`
	Where       string `json:"where"`
	UsableAfter bool   `json:"context_usable_after"`
	NextCall    string `json:"next_call"`
}

// Launch is one recorded launch.
type Launch struct {
	Kernel         string         `json:"kernel"`
	Grid           [3]uint32      `json:"grid"`
	Block          [3]uint32      `json:"block"`
	Cluster        []uint32       `json:"cluster"`
	DynamicShared  uint32         `json:"dynamic_shared"`
	Cooperative    bool           `json:"cooperative"`
	PDL            bool           `json:"programmatic_serialization"`
	Fresh          bool           `json:"fresh"`
	Builds         []string       `json:"builds"`
	Args           []Arg          `json:"args"`
	Buffers        []Arg          `json:"buffers"`
	Limits         map[string]int `json:"limits"`
	FuncAttributes map[string]int `json:"func_attributes"`
	GlobalsIn      []Global       `json:"globals_in"`
	GlobalsOut     []Global       `json:"globals_out"`
	Printf         *string        `json:"printf_expected"`
	PrintfCompare  string         `json:"printf_compare"`
	Stderr         *string        `json:"stderr_expected"`
	Failure        *Failure       `json:"failure"`
	Note           string         `json:"note"`
}

// Manifest is a recorded module.
type Manifest struct {
	Name         string                     `json:"name"`
	Kind         string                     `json:"kind"`
	Producer     string                     `json:"producer"`
	Tags         []string                   `json:"tags"`
	RecordedFrom string                     `json:"recorded_from"`
	Files        map[string]string          `json:"files"`
	Agreement    map[string]json.RawMessage `json:"agreement"`
	Launches     []Launch                   `json:"launches"`
	Link         []Link                     `json:"link"`
	Driver       map[string]json.RawMessage `json:"driver"`
	Library      json.RawMessage            `json:"library"`

	set *Set
}

// Link is a recorded use of the driver's linker.
type Link struct {
	Name   string `json:"name"`
	Inputs []struct {
		Type string `json:"type"` // ptx, cubin, object, fatbin, library, nvvm
		File string `json:"file"`
		Text string `json:"text"`
	} `json:"inputs"`
	Stage  string `json:"stage"`
	Code   int    `json:"code"`
	Result string `json:"result"`
	Error  string `json:"error"`
}

// Set is a folder of modules.
type Set struct {
	fsys fs.FS
}

// Open opens a folder that has index.json and modules/.
func Open(fsys fs.FS) *Set { return &Set{fsys: fsys} }

// Names lists the modules.
func (s *Set) Names() ([]string, error) {
	es, err := fs.ReadDir(s.fsys, "modules")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range es {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	sort.Strings(out)
	return out, nil
}

// Module reads a module's manifest.
func (s *Set) Module(name string) (*Manifest, error) {
	b, err := setfile.Read(path.Join("modules", name, "manifest.json"), s.fsys)
	if err != nil {
		return nil, err
	}
	m := &Manifest{set: s}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: manifest.json: %w", name, err)
	}
	for i := range m.Launches {
		l := &m.Launches[i]
		for _, args := range [][]Arg{l.Args, l.Buffers} {
			for j := range args {
				if err := args[j].valid(); err != nil {
					return nil, fmt.Errorf("%s: manifest.json: launch %d: %w", name, i, err)
				}
			}
		}
		for _, gs := range [][]Global{l.GlobalsIn, l.GlobalsOut} {
			for j := range gs {
				if gs[j].Count < 0 || gs[j].Count > maxArray/16 {
					return nil, fmt.Errorf("%s: manifest.json: launch %d: variable %s has %d elements", name, i,
						gs[j].Name, gs[j].Count)
				}
			}
		}
	}
	return m, nil
}

// maxArray bounds an array in bytes. Manifests are data from strangers: no number of theirs may take all memory.
const maxArray = 1 << 32

// valid checks the numbers that sizes are computed from.
func (a *Arg) valid() error {
	if a.Count < 0 || a.Count > maxArray/16 || a.Size < 0 || a.Size > maxArray {
		return fmt.Errorf("an array of %d elements, %d bytes", a.Count, a.Size)
	}
	for _, p := range a.Pointers {
		if p.Offset < 0 || p.Offset > a.Size-8 {
			return fmt.Errorf("a pointer at %d in a struct of %d bytes", p.Offset, a.Size)
		}
	}
	n := int64(16)
	for _, d := range a.Dims {
		if d < 1 || n > maxArray/int64(d) {
			return fmt.Errorf("an image of %v", a.Dims)
		}
		n *= int64(d)
	}
	if len(a.Dims) > 3 || a.Channels < 0 || a.Channels > 4 {
		return fmt.Errorf("an image of %v with %d channels", a.Dims, a.Channels)
	}
	return nil
}

// Image returns the bytes of a build ("ptx90", "default.fatbin", ...).
func (m *Manifest) Image(build string) ([]byte, error) {
	f, ok := m.Files[build]
	if !ok {
		return nil, fmt.Errorf("%s has no build %s", m.Name, build)
	}
	return m.file(f)
}

func (m *Manifest) file(name string) ([]byte, error) {
	return setfile.Read(path.Join("modules", m.Name, name), m.set.fsys)
}

// LinkBuild is the prefix of the builds that are made by linking: "link:" and the name of a recorded link.
const LinkBuild = "link:"

// link returns the recorded link of a build, nil when the build is an image.
func (m *Manifest) link(build string) *Link {
	name, ok := strings.CutPrefix(build, LinkBuild)
	if !ok {
		return nil
	}
	for i := range m.Link {
		if m.Link[i].Name == name {
			return &m.Link[i]
		}
	}
	return nil
}

// DeviceRuntimeFile is the name of NVIDIA's device runtime library, which is in no set: a link of its name with an
// empty archive is enough for a device that has the library's functions itself.
const DeviceRuntimeFile = "libcudadevrt.a"

// DeviceRuntime says whether the module was linked with NVIDIA's device runtime library: its kernels launch kernels or
// wait for their grid.
func (m *Manifest) DeviceRuntime() bool {
	l := m.link(m.linkedPTX())
	return m.RecordedFrom == "linked" && (l == nil || l.deviceRuntime())
}

func (l *Link) deviceRuntime() bool {
	for _, in := range l.Inputs {
		if in.File == DeviceRuntimeFile {
			return true
		}
	}
	return false
}

// linkedPTX is the build that links PTX, with the device runtime library where the module needs it.
func (m *Manifest) linkedPTX() string {
next:
	for _, l := range m.Link {
		if l.Code != 0 || len(l.Inputs) == 0 {
			continue
		}
		for _, in := range l.Inputs {
			if in.File != DeviceRuntimeFile && (in.Type != "ptx" || in.File == "") {
				continue next
			}
		}
		return LinkBuild + l.Name
	}
	return ""
}

// PTXBuild returns the build with the PTX that an sm_90 device should run, "" when there is none.
func (m *Manifest) PTXBuild() string {
	if m.RecordedFrom == "linked" {
		if b := m.linkedPTX(); b != "" {
			return b
		}
	}
	for _, b := range []string{"ptx90a", "ptx90", "ptx", "ptx80", "ptx75"} {
		if m.Files[b] != "" {
			return b
		}
	}
	best := ""
	for b, f := range m.Files {
		if path.Ext(f) == ".ptx" && (best == "" || b < best) && b != "ptx100" {
			best = b
		}
	}
	return best
}

// Builds lists the builds that hold PTX and ran on the recorded machine with the recorded results: that of PTXBuild
// first, then texts and fatbins.
func (m *Manifest) Builds() []string {
	first := m.PTXBuild()
	var out []string
	if first != "" {
		out = append(out, first)
	}
	var rest []string
	for b := range m.Agreement {
		if e := path.Ext(m.Files[b]); b != first && (e == ".ptx" || e == ".fatbin") {
			rest = append(rest, b)
		}
	}
	sort.Strings(rest)
	return append(out, rest...)
}

// Has says whether a build holds the launch's kernel.
func (l *Launch) Has(build string) bool {
	if len(l.Builds) == 0 {
		return true
	}
	for _, b := range l.Builds {
		if b == build || b == "ptx75" && build != "ptx90" && build != "ptx90a" {
			return true
		}
	}
	return false
}

// Bytes returns the contents of an array of n bytes.
func (m *Manifest) Bytes(d *Data, n int) ([]byte, error) {
	switch {
	case d == nil:
		return nil, nil
	case d.Base64 != nil:
		return base64.StdEncoding.DecodeString(*d.Base64)
	case d.File != "":
		return setfile.Read(path.Join("modules", m.Name, d.File), m.set.fsys)
	case d.Fill != nil:
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(*d.Fill)
		}
		return b, nil
	}
	return nil, nil
}

// ElementSize is the size of a dtype in bytes.
func ElementSize(dtype string) int {
	switch dtype {
	case "i8", "u8", "bool", "e4m3", "e5m2":
		return 1
	case "i16", "u16", "f16", "bf16":
		return 2
	case "i64", "u64", "f64", "c64":
		return 8
	case "c128":
		return 16
	}
	return 4
}
