package corpus

import (
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func kept(t *testing.T) *Set {
	t.Helper()
	return Open(os.DirFS("../../testdata/corpus"))
}

// TestKeptModules reads every committed module whole: images, arrays, and what the manifests say about them.
func TestKeptModules(t *testing.T) {
	s := kept(t)
	names, err := s.Names()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, name := range names {
		m, err := s.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		kinds[m.Kind]++
		if m.Name != name || m.PTXBuild() == "" || len(m.Launches) == 0 {
			t.Errorf("%s: name %q, PTX %q, %d launches", name, m.Name, m.PTXBuild(), len(m.Launches))
		}
		for _, b := range m.Builds() {
			if m.link(b) != nil {
				continue
			}
			if img, err := m.Image(b); err != nil || len(img) == 0 {
				t.Errorf("%s, build %s: %d bytes, %v", name, b, len(img), err)
			}
		}
		for i := range m.Launches {
			l := &m.Launches[i]
			for _, a := range slices.Concat(l.Args, l.Buffers) {
				n := a.Count * ElementSize(a.DType)
				for _, d := range []*Data{a.Data, a.Expected} {
					if d == nil || a.Kind != "buffer" {
						continue
					}
					if b, err := m.Bytes(d, n); err != nil || len(b) != n {
						t.Errorf("%s:%d: an array has %d bytes, want %d; %v", name, i, len(b), n, err)
					}
				}
				if a.Compare != "" && !ValidRule(a.Compare) {
					t.Errorf("%s:%d: rule %q", name, i, a.Compare)
				}
			}
		}
	}
	if kinds["cuda"] < 50 || len(names) < 90 {
		t.Errorf("%d modules: %v", len(names), kinds)
	}
}

func TestBuilds(t *testing.T) {
	s := kept(t)
	for name, want := range map[string]string{"saxpy": "ptx90", "wgmma": "ptx90a", "h60_basic": "ptx",
		"rdc_pair": "link:ptx", "cdp": "link:ptx+devrt", "n_gridsync": "link:ptx+devrt"} {
		m, err := s.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.PTXBuild(); got != want {
			t.Errorf("%s runs from %s, want %s", name, got, want)
		}
		if m.DeviceRuntime() != (name == "cdp" || name == "n_gridsync") {
			t.Errorf("%s: device runtime %v", name, m.DeviceRuntime())
		}
	}
	m, err := s.Module("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Builds(); len(got) != 8 || got[0] != "ptx90" || !slices.Contains(got, "cu118.compress_all.fatbin") {
		t.Errorf("builds of saxpy: %v", got)
	}
	l := &Launch{Builds: []string{"ptx75"}}
	for b, want := range map[string]bool{"ptx75": true, "ptx90": false, "cu118.default.fatbin": true} {
		if l.Has(b) != want {
			t.Errorf("a kernel of the lowest PTX alone is in %s: %v", b, !want)
		}
	}
}

func TestDamagedSets(t *testing.T) {
	manifest := func(text string) fs.FS {
		return fstest.MapFS{"modules/m/manifest.json": &fstest.MapFile{Data: []byte(text)}}
	}
	if _, err := Open(fstest.MapFS{}).Names(); err == nil {
		t.Error("an empty folder is a set")
	}
	if _, err := Open(manifest("{")).Module("m"); err == nil || !strings.Contains(err.Error(), "m: manifest.json: ") {
		t.Errorf("half a manifest: %v", err)
	}
	for _, arg := range []string{`"count":-1`, `"count":9000000000`, `"size":-5`,
		`"kind":"struct","size":8,"pointers":[{"offset":1}]`, `"kind":"struct","size":8,"pointers":[{"offset":-8}]`,
		`"dims":[-1]`, `"dims":[65536,65536,65536]`, `"dims":[1,1,1,1]`, `"channels":9`} {
		if _, err := Open(manifest(`{"launches":[{"args":[{` + arg + `}]}]}`)).Module("m"); err == nil ||
			!strings.Contains(err.Error(), "launch 0") {
			t.Errorf("%s: %v", arg, err)
		}
	}
	m, err := Open(manifest(`{"name":"m","files":{"ptx":"m.ptx"},"launches":[]}`)).Module("m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Image("ptx"); err == nil {
		t.Error("an image that is not there is read")
	}
	if _, err := m.Image("cubin"); err == nil || !strings.Contains(err.Error(), "no build cubin") {
		t.Errorf("an unknown build: %v", err)
	}
	if _, err := m.Bytes(&Data{File: "data/0.bin"}, 4); err == nil {
		t.Error("an array that is not there is read")
	}
	bad := "!"
	if _, err := m.Bytes(&Data{Base64: &bad}, 4); err == nil {
		t.Error("bad base64 is read")
	}
	seven := 7
	if b, err := m.Bytes(&Data{Fill: &seven}, 3); err != nil || string(b) != "\x07\x07\x07" {
		t.Errorf("fill gives %x, %v", b, err)
	}
}

func f32(vs ...float32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// TestCompare holds the rules of testdata/corpus/README.md.
func TestCompare(t *testing.T) {
	nan, other := math.Float32frombits(0x7fc00000), math.Float32frombits(0xffc12345)
	next := math.Nextafter32(1, 2)
	for _, c := range []struct {
		name        string
		rule, dtype string
		got, want   []byte
		equal       bool
	}{
		{"equal bytes", "exact", "f32", f32(1, 2), f32(1, 2), true},
		{"one place off", "exact", "f32", f32(1, next), f32(1, 1), false},
		{"signed zeros", "exact", "f32", f32(0), f32(float32(math.Copysign(0, -1))), false},
		{"any NaN equals any NaN", "exact", "f32", f32(nan), f32(other), true},
		{"a NaN equals no number", "rel:100", "f32", f32(nan), f32(1), false},
		{"one place", "ulp:1", "f32", f32(next), f32(1), true},
		{"two places", "ulp:1", "f32", f32(math.Nextafter32(next, 2)), f32(1), false},
		{"across zero", "ulp:2", "f32", f32(math.SmallestNonzeroFloat32), f32(-math.SmallestNonzeroFloat32), true},
		{"relative", "rel:0.01", "f32", f32(100.9), f32(100), true},
		{"relative, too far", "rel:0.01", "f32", f32(101.1), f32(100), false},
		{"absolute", "abs:0.5", "f32", f32(1.5), f32(1), true},
		{"any part suffices", "rel:1e-9,abs:0.5", "f32", f32(1.5), f32(1), true},
		{"infinity", "rel:0.5", "f32", f32(float32(math.Inf(1))), f32(1), false},
		{"opposite infinities", "ulp:4", "f32", f32(float32(math.Inf(1))), f32(float32(math.Inf(-1))), false},
		{"half", "ulp:1", "f16", []byte{1, 0x3c}, []byte{0, 0x3c}, true},
		{"half, absolute", "abs:0.001", "f16", []byte{1, 0x3c}, []byte{0, 0x3c}, true},
		{"bfloat16", "abs:0.01", "bf16", []byte{0x81, 0x3f}, []byte{0x80, 0x3f}, true},
		{"integers", "exact", "i32", []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, false},
		{"integers, absolute", "abs:1", "i32", []byte{0xff, 0xff, 0xff, 0xff}, []byte{0, 0, 0, 0}, true},
		{"unsigned, absolute", "abs:1", "u32", []byte{0xff, 0xff, 0xff, 0xff}, []byte{0, 0, 0, 0}, false},
		{"complex", "abs:0.5", "c64", f32(1, 2.25), f32(1, 2), true},
		{"complex, one part", "abs:0.1", "c64", f32(1, 2.25), f32(1, 2), false},
		{"in any order", "sorted", "u32", []byte{1, 0, 0, 0, 2, 0, 0, 0}, []byte{2, 0, 0, 0, 1, 0, 0, 0}, true},
		{"in any order, but others", "sorted", "u32", []byte{1, 0, 0, 0, 1, 0, 0, 0}, []byte{2, 0, 0, 0, 1, 0, 0, 0},
			false},
		{"not compared", "none", "f32", f32(1), f32(2), true},
		{"another length", "exact", "f32", f32(1), f32(1, 2), false},
	} {
		d := Compare(c.rule, c.dtype, c.got, c.want)
		if (d == "") != c.equal {
			t.Errorf("%s: %q", c.name, d)
		}
	}
	if d := Compare("exact", "f32", f32(1, 3, 4), f32(1, 2, 2)); !strings.Contains(d, "2 of 3 elements differ") ||
		!strings.Contains(d, "[1] 3") {
		t.Errorf("the difference is told as %q", d)
	}
}

func TestRules(t *testing.T) {
	for rule, want := range map[string]bool{"exact": true, "none": true, "sorted": true, "ulp:1": true,
		"rel:1e-5,abs:1e-5": true, "ulp": false, "": false, "ulp:-1": false, "abs:x": false, "rel:nan": false,
		"exact,ulp:1": false} {
		if ValidRule(rule) != want {
			t.Errorf("%q: %v", rule, !want)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"name":"m","files":{"ptx":"m.ptx"},"recorded_from":"linked","link":[{"name":"x","inputs":[{"type":"ptx","file":"a"}]}],"launches":[{"kernel":"k","args":[{"kind":"buffer","dtype":"f32","count":4,"data":{"fill":0}}]}]}`))
	f.Add([]byte(`{"agreement":{"a":"same bits"},"files":{"a":"a.fatbin"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Open(fstest.MapFS{"modules/m/manifest.json": &fstest.MapFile{Data: b}}).Module("m")
		if err != nil {
			if m != nil {
				t.Error("a manifest with an error")
			}
			return
		}
		if !json.Valid(b) {
			t.Error("no JSON, no error")
		}
		for _, build := range m.Builds() {
			m.link(build)
		}
		m.DeviceRuntime()
	})
}
