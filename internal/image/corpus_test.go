package image_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/hostobj"
)

// corpora gives the directories of recorded images: the small selection kept with the package and,
// when it lies beside the repository (../shared/corpus), the whole recording it was taken from. All
// were made and run on an H200 with driver 580 (CUDA 13.0); testdata/corpus/README.md describes them.
func corpora(t testing.TB) map[string]string {
	all := map[string]string{"kept": filepath.Join("testdata", "corpus")}
	full := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(filepath.Join(full, "index.json")); err == nil {
		all["full"] = full
	} else {
		t.Log("the full corpus is not beside the repository (../shared/corpus); using the kept selection alone")
	}
	return all
}

// overCorpora runs a test over each of them; full tells which counts to expect.
func overCorpora(t *testing.T, test func(t *testing.T, dir string, full bool)) {
	for name, dir := range corpora(t) {
		t.Run(name, func(t *testing.T) { test(t, dir, name == "full") })
	}
}

func readGzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(path, err)
	}
	return data
}

// h200 is the device on which the corpus was recorded, with its machine code engine.
var h200 = image.Device{Device: fatbin.Device{SM: 90, RunsSASS: true}}

// soft is a device of the same processor that runs PTX only.
var soft = image.Device{Device: fatbin.Device{SM: 90}}

// driverFunction is what cuFuncGetAttribute and cuFuncGetParamInfo reported.
type driverFunction struct {
	Name       string
	Attributes map[string]any
	Params     [][2]uint32
}

type driverRecord struct {
	FunctionCount int `json:"function_count"`
	Functions     []driverFunction
	Globals       []struct {
		Name  string
		Size  uint64
		Error string
	}
	DiffersFrom string `json:"differs_from"`
	Load        string
}

type manifest struct {
	Name   string
	Files  map[string]string
	Driver map[string]driverRecord
}

func manifests(t testing.TB, dir string) []manifest {
	paths, err := filepath.Glob(filepath.Join(dir, "modules", "*", "manifest.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no manifests", err)
	}
	sort.Strings(paths)
	var all []manifest
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var m manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(p, err)
		}
		all = append(all, m)
	}
	return all
}

// full gives a build's record with the differences applied to what it differs from.
func (m manifest) full(build string) driverRecord {
	r := m.Driver[build]
	if r.DiffersFrom == "" {
		return r
	}
	base := m.full(r.DiffersFrom)
	out := base
	out.FunctionCount = r.FunctionCount
	out.Functions = slices.Clone(base.Functions)
	for _, d := range r.Functions {
		for i := range out.Functions {
			f := &out.Functions[i]
			if f.Name != d.Name {
				continue
			}
			attrs := map[string]any{}
			for k, v := range f.Attributes {
				attrs[k] = v
			}
			for k, v := range d.Attributes {
				attrs[k] = v
			}
			f.Attributes = attrs
			if d.Params != nil {
				f.Params = d.Params
			}
		}
	}
	if r.Globals != nil {
		out.Globals = r.Globals
	}
	return out
}

// attributes derives from a cubin the values of cuFuncGetAttribute that the file alone decides.
func attributes(f *cubin.File, fn *cubin.Function) map[string]int {
	a := map[string]int{
		"SHARED_SIZE_BYTES": int(fn.StaticShared),
		"LOCAL_SIZE_BYTES":  int(fn.LocalSize()),
		"NUM_REGS":          int(fn.Registers),
		"PTX_VERSION":       f.Virtual,
		"BINARY_VERSION":    f.Arch.Number,
	}
	const regs, threads, shared = 65536, 1024, 49152 // H200: registers and threads a block, default shared memory
	a["MAX_THREADS_PER_BLOCK"] = int(fn.MaxThreadsPerBlock(regs, threads))
	a["CONST_SIZE_BYTES"] = int(f.ConstantSize())
	a["MAX_DYNAMIC_SHARED_SIZE_BYTES"] = shared - int(fn.StaticShared)
	a["CLUSTER_SIZE_MUST_BE_SET"] = 0
	if fn.ExplicitCluster {
		a["CLUSTER_SIZE_MUST_BE_SET"] = 1
	}
	for i, k := range []string{"REQUIRED_CLUSTER_WIDTH", "REQUIRED_CLUSTER_HEIGHT", "REQUIRED_CLUSTER_DEPTH"} {
		a[k] = int(fn.ClusterDim[i])
	}
	return a
}

// Every cubin that ran on the recording device, alone or chosen from a fat binary: the reader must
// tell the same functions, in the driver's order, with the same parameters and attributes, and the
// same variables, as the driver reported (manifests, "driver").
func TestCubinsAgainstDriver(t *testing.T) { overCorpora(t, testCubinsAgainstDriver) }

func testCubinsAgainstDriver(t *testing.T, dir string, full bool) {
	var cubins, fatbins, ptx, functions, params, attrs, globals int
	for _, m := range manifests(t, dir) {
		for build := range m.Driver {
			file, ok := m.Files[build]
			if !ok {
				continue // a differing build whose image is not stored
			}
			data := readGzip(t, filepath.Join(dir, "modules", m.Name, file+".gz"))
			want := m.full(build)
			p, err := image.Resolve(data, h200)
			if want.Load != "" && p.Kind != image.PTX {
				if err == nil {
					t.Errorf("%s %s: resolved, driver says %s", m.Name, build, want.Load)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", m.Name, build, err)
				continue
			}
			switch {
			case p.Kind == image.PTX:
				ptx++
				continue
			case p.Entry != nil:
				fatbins++
			default:
				cubins++
			}
			f := p.Cubin
			var got, names []string
			for _, k := range f.Kernels {
				got = append(got, k.Name)
			}
			for _, k := range want.Functions {
				names = append(names, k.Name)
			}
			if want.FunctionCount != len(got) {
				t.Errorf("%s %s: %d kernels, driver has %d", m.Name, build, len(got), want.FunctionCount)
			}
			// The order is recorded for the base build; other compilers may lay out theirs otherwise.
			if m.Driver[build].DiffersFrom != "" {
				sort.Strings(got)
				sort.Strings(names)
			}
			if !slices.Equal(got, names) {
				t.Errorf("%s %s: kernels\n%q, driver\n%q", m.Name, build, got, names)
				continue
			}
			for _, w := range want.Functions {
				functions++
				fn := f.Kernel(w.Name)
				if len(fn.Params) != len(w.Params) {
					t.Errorf("%s %s %s: %d params, driver has %d", m.Name, build, w.Name, len(fn.Params), len(w.Params))
					continue
				}
				for i, p := range fn.Params {
					params++
					if w.Params[i] != [2]uint32{p.Offset, p.Size} {
						t.Errorf("%s %s %s: param %d is %d+%d, driver says %v", m.Name, build, w.Name, i, p.Offset,
							p.Size, w.Params[i])
					}
				}
				for k, v := range attributes(f, fn) {
					dv, ok := w.Attributes[k]
					if !ok {
						continue
					}
					if _, unavailable := dv.(string); unavailable {
						continue // FUNCTION_NOT_LOADED under lazy loading
					}
					attrs++
					if dv != float64(v) {
						t.Errorf("%s %s %s: %s is %d, driver says %v (min %d frame %d regs %d)", m.Name, build, w.Name,
							k, v, dv, fn.MinStackSize, fn.FrameSize, fn.Registers)
					}
				}
			}
			for _, w := range want.Globals {
				if w.Error != "" {
					continue
				}
				globals++
				if g := f.Global(w.Name); g == nil || g.Size != w.Size {
					t.Errorf("%s %s: variable %s is %+v, driver says %d bytes", m.Name, build, w.Name, g, w.Size)
				}
			}
		}
	}
	t.Logf("equal to the driver's record: %d cubins and %d cubins from fat binaries (%d builds are PTX); %d functions, %d parameters, %d attributes, %d variables",
		cubins, fatbins, ptx, functions, params, attrs, globals)
	least := [3]int{10, 10, 80}
	if full {
		least = [3]int{107, 117, 1250}
	}
	if cubins < least[0] || fatbins < least[1] || functions < least[2] {
		t.Errorf("fewer than %v", least)
	}
}

// brokenRecord is what the driver answered to one damaged or mismatched image.
type brokenRecord struct {
	Name, Image string
	Bytes       int
	Load        struct {
		Code     int
		Name     string
		ErrorLog string `json:"error_log"`
	} `json:"cuModuleLoadDataEx"`
	Functions []struct {
		Name       string
		PTXVersion int `json:"ptx_version"`
	}
	Behaviour string `json:"driver_behaviour"`
}

func brokenRecords(t testing.TB, dir string) []brokenRecord {
	b, err := os.ReadFile(filepath.Join(dir, "broken", "broken.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []brokenRecord
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// crashed is this package's answer where the driver died or hung instead of answering.
var crashed = map[string]fault.Class{
	"cubin_elf_header_then_random": fault.Malformed,
	"cubin_shentsize_0":            fault.Malformed,
	"cubin_shnum_65000":            fault.Malformed,
	"cubin_shoff_huge":             fault.Malformed,
	"cubin_shstrndx_past":          fault.Malformed,
	"cubin_symtab_size_huge":       fault.Malformed,
	"fatbin_entry_size_huge":       fault.Malformed,
}

// What cuModuleLoadDataEx answered to each image of broken/ (driver 580): where the container level
// decides, class and log line must be the driver's; where it does not, the image must come through
// as PTX text.
//
// The same must hold for a device that runs PTX alone, as far as the driver rejects: it answers like
// the driver before it looks for what it can run.
func TestBrokenAgainstDriver(t *testing.T) { overCorpora(t, testBrokenAgainstDriver) }

func testBrokenAgainstDriver(t *testing.T, dir string, _ bool) {
	var settled, loads, text, died int
	for _, r := range brokenRecords(t, dir) {
		data := readGzip(t, filepath.Join(dir, "broken", r.Image+".gz"))
		if len(data) != r.Bytes {
			t.Errorf("%s: %d bytes, record says %d", r.Name, len(data), r.Bytes)
		}
		p, err := image.Resolve(data, h200)
		var class fault.Class
		if err != nil && !errors.As(err, &class) {
			t.Errorf("%s: error without a class: %v", r.Name, err)
			continue
		}
		switch {
		case r.Load.Name == "":
			if class != crashed[r.Name] || class == 0 {
				t.Errorf("%s: %v, want class %v (driver: %s)", r.Name, err, crashed[r.Name], r.Behaviour)
			}
			died++
		case err != nil:
			if class.Result().String() != r.Load.Name {
				t.Errorf("%s: %v (%s), driver says %s", r.Name, err, class.Result(), r.Load.Name)
			}
			if !strings.HasPrefix(r.Load.ErrorLog, class.Log()) || class.Log() == "" && r.Load.ErrorLog != "" {
				t.Errorf("%s: log %q, driver wrote %q", r.Name, class.Log(), r.Load.ErrorLog)
			}
			settled++
		case p.Kind == image.PTX:
			text++
			if r.Load.Code == 200 || r.Load.Code == 209 {
				t.Errorf("%s: passes as PTX, driver says %s", r.Name, r.Load.Name)
			}
		default:
			if r.Load.Code != 0 || len(p.Cubin.Kernels) != len(r.Functions) {
				t.Errorf("%s: loads with %d kernels, driver says %s and %d", r.Name, len(p.Cubin.Kernels), r.Load.Name,
					len(r.Functions))
			}
			for i, f := range r.Functions {
				if p.Cubin.Kernels[i].Name != f.Name || p.Cubin.Virtual != f.PTXVersion {
					t.Errorf("%s: kernel %d is %s for %d, driver has %s for %d", r.Name, i, p.Cubin.Kernels[i].Name,
						p.Cubin.Virtual, f.Name, f.PTXVersion)
				}
			}
			loads++
		}
		q, softErr := image.Resolve(data, soft)
		switch {
		case err != nil:
			if !errors.Is(softErr, class) {
				t.Errorf("%s: PTX device says %v, machine code device %v", r.Name, softErr, err)
			}
		case strings.HasPrefix(r.Name, "cubin_"), r.Name == "fatbin_two_sm90": // no PTX in it
			if !errors.Is(softErr, fault.NoBinary) {
				t.Errorf("%s: PTX device says %v, want NoBinary", r.Name, softErr)
			}
		case softErr != nil || q.Kind != image.PTX:
			t.Errorf("%s: PTX device takes %v, %v; want the PTX", r.Name, q.Kind, softErr)
		}
		// The same bytes through every other entry point must not fail otherwise than by an error.
		if _, err := image.Inspect(data, r.Name); err != nil && image.Detect(data) != image.Unknown {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	t.Logf("%d rejected as the driver does, %d machine code that loads, %d PTX for the compiler to judge, %d where the driver died", settled, loads, text, died)
	if settled+loads+text+died != 108 {
		t.Errorf("%d images, corpus has 108", settled+loads+text+died)
	}
}

// images gives every stored image of a corpus by its path without ".gz".
func images(t testing.TB, dir string) map[string][]byte {
	all := map[string][]byte{}
	for _, pattern := range []string{"modules/*/*.gz", "host/*.gz", "broken/images/*.gz"} {
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, p := range paths {
			rel, err := filepath.Rel(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.TrimSuffix(filepath.ToSlash(rel), ".gz")] = readGzip(t, p)
		}
	}
	return all
}

var archInName = regexp.MustCompile(`(?:sm|compute)_(\d+[af]?)\.`)

// Every sound image is what its name says: kind by extension, processor by the name of the file.
func TestKinds(t *testing.T) { overCorpora(t, testKinds) }

func testKinds(t *testing.T, dir string, full bool) {
	kinds := map[string]image.Kind{
		".ptx": image.PTX, ".cubin": image.Cubin, ".fatbin": image.Fatbin, ".o": image.HostObject,
		".a": image.Archive, ".ltoir": image.LTOIR, "": image.HostObject, ".ttir": image.Unknown,
	}
	count := map[image.Kind]int{}
	for name, data := range images(t, dir) {
		if strings.HasPrefix(name, "broken/") {
			continue
		}
		want, ok := kinds[filepath.Ext(name)]
		if !ok {
			t.Errorf("%s: extension not known to the test", name)
		}
		got := image.Detect(data)
		count[got]++
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		r, err := image.Inspect(data, name)
		if (err != nil) != (want == image.Unknown) {
			t.Errorf("%s: %v", name, err)
		}
		if r.Problem != "" {
			t.Errorf("%s: %s", name, r.Problem)
		}
		named := archInName.FindStringSubmatch(name)
		switch got {
		case image.Cubin:
			f, err := cubin.Parse(data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if named != nil && f.Arch.String() != "sm_"+named[1] {
				t.Errorf("%s: is for %v", name, f.Arch)
			}
			if rel := strings.Contains(name, "rdc_a.sm") || strings.Contains(name, "rdc_b.sm") ||
				strings.Contains(name, "rdc_c.sm"); f.Relocatable != rel {
				t.Errorf("%s: relocatable %v", name, f.Relocatable)
			}
		case image.PTX:
			h := r.PTX
			if h.Version == "" || len(h.Targets) == 0 || h.AddressSize != 64 {
				t.Errorf("%s: header %+v", name, h)
			} else if named != nil && h.Targets[0] != "sm_"+named[1] {
				t.Errorf("%s: target %q", name, h.Targets)
			}
		}
	}
	t.Log(count)
	if full && (count[image.Cubin] != 215 || count[image.PTX] != 266 || count[image.Fatbin] != 113) {
		t.Error("the corpus stores 215 cubins, 266 PTX and 113 fat binaries")
	}
}

var listed = regexp.MustCompile(`^\s+(ELF|PTX) file\s+\d+: .*\.(sm_\d+[af]?)\.(?:cubin|ptx)$`)

// The entries of every container are those that NVIDIA's cuobjdump listed (containers.txt), in its order.
func TestContainersAgainstCuobjdump(t *testing.T) { overCorpora(t, testContainers) }

func testContainers(t *testing.T, dir string, full bool) {
	b, err := os.ReadFile(filepath.Join(dir, "containers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	var file string
	for _, line := range strings.Split(string(b), "\n") {
		if line != "" && line[0] != ' ' {
			file = line
			want[file] = nil
		} else if m := listed.FindStringSubmatch(line); m != nil {
			want[file] = append(want[file], m[1]+" "+m[2])
		}
	}
	files, entries := 0, 0
	for file, list := range want {
		path := file
		if !strings.HasPrefix(file, "host/") {
			path = "modules/" + file
		}
		stored := filepath.Join(dir, filepath.FromSlash(path)+".gz")
		if _, err := os.Stat(stored); err != nil {
			continue // the tool wrote the same bytes under another name, which is stored
		}
		files++
		data := readGzip(t, stored)
		var all []*fatbin.Container
		var err error
		if image.Detect(data) == image.Fatbin {
			all, err = fatbin.ParseAll(data)
		} else {
			var found []hostobj.Container
			found, err = hostobj.Containers(data)
			// cuobjdump leaves out relocatable code where there is whole-program code too.
			whole := slices.ContainsFunc(found, func(c hostobj.Container) bool { return !c.Relocatable })
			for _, c := range found {
				if !whole || !c.Relocatable {
					all = append(all, c.Container)
				}
			}
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		// It numbers ELF and PTX apart and may print one kind of a container before the other, so
		// each kind's order is compared.
		got := map[string][]string{}
		for _, c := range all {
			if c.Problem != nil || c.Truncated {
				t.Errorf("%s: %v", file, c.Problem)
			}
			for i := range c.Entries {
				e := &c.Entries[i]
				switch e.Kind {
				case fatbin.ELF:
					got["ELF"] = append(got["ELF"], "ELF "+e.Arch.String())
				case fatbin.PTX:
					got["PTX"] = append(got["PTX"], "PTX "+e.Arch.String())
				case fatbin.LTOIR:
					// not listed: "Can't deobfuscate entry"
					if _, err := e.Payload(); !errors.Is(err, fault.Obfuscated) {
						t.Errorf("%s: LTO-IR payload: %v", file, err)
					}
					continue
				default:
					t.Errorf("%s: kind %v", file, e.Kind)
				}
				payload, err := e.Payload()
				if err != nil {
					t.Errorf("%s: entry %d: %v", file, i, err)
					continue
				}
				entries++
				if k := image.Detect(payload); k != image.Cubin && k != image.PTX ||
					(k == image.PTX) != e.Kind.IsPTX() {
					t.Errorf("%s: entry %d of kind %v holds %v", file, i, e.Kind, k)
				}
				if e.Kind == fatbin.ELF {
					if f, err := cubin.Parse(payload); err != nil || f.Arch != e.Arch {
						t.Errorf("%s: entry %d for %v holds %+v, %v", file, i, e.Arch, f, err)
					}
				}
			}
		}
		for _, kind := range []string{"ELF", "PTX"} {
			var w []string
			for _, s := range list {
				if strings.HasPrefix(s, kind) {
					w = append(w, s)
				}
			}
			if !slices.Equal(got[kind], w) {
				t.Errorf("%s: %q, cuobjdump lists %q", file, got[kind], w)
			}
		}
	}
	t.Logf("%d of %d listed files stored, %d entries", files, len(want), entries)
	if files < 16 || full && files < 100 {
		t.Error("fewer files than the corpus has")
	}
}

// memory is readable from base on for data and nothing else; base is chosen so that data ends where
// a page does.
func memory(data []byte) (mem image.Memory, base uint64) {
	const page = 4096
	base = 1<<40 - uint64(len(data))
	if len(data)%page == 0 {
		base -= 8 // not page-aligned at either end
	}
	return func(address, n uint64) ([]byte, bool) {
		if address < base || address-base > uint64(len(data)) || n > uint64(len(data))-(address-base) {
			return nil, false
		}
		return data[address-base : address-base+n], true
	}, base
}

// An image given by address alone is found whole, though nothing behind it can be read.
func TestFetch(t *testing.T) { overCorpora(t, testFetch) }

func testFetch(t *testing.T, dir string, _ bool) {
	whole := 0
	for name, data := range images(t, dir) {
		kind := image.Detect(data)
		stored := data
		if kind == image.PTX {
			data = image.Text(data)
			stored = append(slices.Clone(data), 0)
		}
		mem, base := memory(stored)
		got, err := image.Fetch(mem, base)
		loadable := kind == image.PTX || kind == image.Cubin || kind == image.Fatbin
		switch {
		case !loadable:
			if !errors.Is(err, fault.Format) {
				t.Errorf("%s: %v, want class Format for %v", name, err, kind)
			}
		case err != nil:
			if !strings.HasPrefix(name, "broken/") {
				t.Errorf("%s: %v", name, err)
			}
			if p, rerr := image.Resolve(data, h200); rerr == nil {
				t.Errorf("%s: loads as %v with a length, by address: %v", name, p.Kind, err)
			}
		default:
			whole++
			if got.Kind != kind {
				t.Errorf("%s: %v, want %v", name, got.Kind, kind)
			}
			// Two images carry more than they declare: a second container and stray bytes; a few
			// damaged ones declare less.
			if !bytes.HasPrefix(data, got.Data) {
				t.Errorf("%s: other bytes", name)
			} else if len(got.Data) != len(data) && !strings.HasPrefix(name, "broken/") {
				t.Errorf("%s: %d bytes of %d", name, len(got.Data), len(data))
			}
			_, e1 := image.Resolve(data, h200)
			_, e2 := image.Resolve(got.Data, h200)
			if (e1 == nil) != (e2 == nil) {
				t.Errorf("%s: with its length %v, by address %v", name, e1, e2)
			}
		}
	}
	t.Logf("%d images found whole", whole)
}
