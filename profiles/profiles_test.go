package profiles

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAllProfiles(t *testing.T) {
	names := Names()
	for _, want := range []string{"a100", "generic", "h200", "l4"} {
		if p, err := Get(want); err != nil || p.ID != want {
			t.Errorf("Get(%s) = %v, %v", want, p, err)
		}
	}
	h200, err := Get("")
	if err != nil || h200.ID != Default {
		t.Fatal(h200, err)
	}
	uuids := map[[16]byte]string{}
	for _, n := range names {
		p, err := Get(strings.ToUpper(n))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Name, "software device") {
			t.Errorf("%s: the name %q does not say that it is software", n, p.Name)
		}
		if len(p.Attributes) != len(h200.Attributes) || len(p.Limits) != len(h200.Limits) {
			t.Errorf("%s: %d attributes, %d limits; the H200 has %d, %d", n, len(p.Attributes), len(p.Limits),
				len(h200.Attributes), len(h200.Limits))
		}
		for i, a := range p.Attributes {
			if b := h200.Attributes[i]; a.ID != b.ID || a.Name != b.Name {
				t.Errorf("%s: attribute %d %s, the H200 has %d %s", n, a.ID, a.Name, b.ID, b.Name)
			}
			if v, ok := p.Attribute(a.ID); !ok || v != a.Value {
				t.Errorf("%s: Attribute(%d) = %d, %v", n, a.ID, v, ok)
			}
			if got, ok := p.AttributeByName(strings.TrimPrefix(a.Name, "CU_DEVICE_ATTRIBUTE_")); !ok || got.ID != a.ID {
				t.Errorf("%s: AttributeByName(%s) = %v, %v", n, a.Name, got, ok)
			}
		}
		for o := range 8 {
			u := p.UUID(o)
			if other := uuids[u]; other != "" || u[6]>>4 != 8 || u[8]>>6 != 2 || u != p.UUID(o) {
				t.Errorf("%s: UUID(%d) = %x, also of %s", n, o, u, other)
			}
			uuids[u] = n
		}
		// Shared memory of a block, opted in, and what the system reserves must fit a multiprocessor.
		sm, _ := p.Attribute(81)
		optin, _ := p.Attribute(97)
		reserved, _ := p.Attribute(111)
		if optin+reserved != sm {
			t.Errorf("%s: %d + %d reserved bytes of shared memory are not the multiprocessor's %d", n, optin, reserved,
				sm)
		}
	}
	for _, bad := range []string{"h300", "../profiles", "h200.json", " h200"} {
		var u *UnknownError
		if _, err := Get(bad); !errors.As(err, &u) || len(u.Known) != len(names) ||
			!strings.Contains(err.Error(), "h200") {
			t.Errorf("Get(%q): %v", bad, err)
		}
	}
	if _, ok := h200.Attribute(0); ok {
		t.Error("attribute 0 exists")
	}
	if _, ok := h200.Attribute(999); ok {
		t.Error("attribute 999 exists")
	}
	if _, ok := h200.Limit(10); ok {
		t.Error("limit 10 (CU_LIMIT_MAX) exists")
	}
}

// Values that an H200 gave (driver 580.159.04): cuDeviceGetProperties, cuDeviceGetTexture1DLinearMaxWidth,
// cuCtxSetLimit followed by cuCtxGetLimit.
func TestH200(t *testing.T) {
	p, err := Get("h200")
	if err != nil {
		t.Fatal(err)
	}
	if major, minor := p.ComputeCapability(); major != 9 || minor != 0 {
		t.Errorf("compute capability %d.%d", major, minor)
	}
	want := [14]int32{1024, 1024, 1024, 64, 2147483647, 65535, 65535, 49152, 65536, 32, 2147483647, 65536, 1980000, 512}
	if got := p.Properties(); got != want {
		t.Errorf("properties %v, want %v", got, want)
	}
	for bytes, width := range map[uint64]uint64{1: 1 << 30, 2: 1 << 30, 4: 1 << 30, 8: 1 << 29, 16: 1 << 28, 0: 0} {
		if got := p.Texture1DLinearMaxWidth(bytes); got != width {
			t.Errorf("Texture1DLinearMaxWidth(%d) = %d, want %d", bytes, got, width)
		}
	}
	for _, c := range []struct {
		id      int32
		set, is uint64
		ok      bool
	}{
		{0, 0, 0, true}, {0, 1, 16, true}, {0, 1000, 1008, true}, {0, 1025, 1040, true}, {0, 65536, 65536, true},
		{0, 524288, 0, false}, {0, 1 << 40, 0, false},
		{1, 0, 524288, true}, {1, 4096, 524288, true}, {1, 1 << 20, 1 << 20, true}, {1, 1 << 31, 1 << 31, true},
		{1, 1 << 36, 1 << 31, true},
		{2, 0, 4 << 20, true}, {2, 1 << 20, 4 << 20, true}, {2, 10 << 20, 10 << 20, true}, {2, 1 << 30, 1 << 30, true},
		{4, 0, 32, true}, {4, 2048, 2048, true}, {4, 1 << 20, 599186, true},
		{5, 0, 0, true}, {5, 33, 33, true}, {5, 128, 128, true}, {5, 129, 0, false},
		{6, 0, 0, true}, {6, 1, 3932160, true}, {6, 1 << 20, 3932160, true}, {6, 30 << 20, 30 << 20, true},
		{6, 60 << 20, 0, false},
	} {
		l, ok := p.Limit(c.id)
		if !ok || l.Set != Settable {
			t.Errorf("limit %d: %+v, %v", c.id, l, ok)
			continue
		}
		if v, ok := l.Round(c.set); ok != c.ok || ok && v != c.is {
			t.Errorf("%s = %d gives %d, %v; want %d, %v", l.Name, c.set, v, ok, c.is, c.ok)
		}
	}
	for id, set := range map[int32]Set{3: Unsupported, 7: Denied, 8: Denied, 9: Unsupported} {
		if l, ok := p.Limit(id); !ok || l.Set != set {
			t.Errorf("limit %d: %+v, want %q", id, l, set)
		}
	}
}

// Attribute names and numbers must be those of the driver API.
func TestNamesAgainstAPI(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "api", "cuda-13.5.json"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Enums []struct {
			Tag    string
			Values [][2]any
		}
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	enum := map[string]map[string]int32{}
	for _, e := range api.Enums {
		m := map[string]int32{}
		for _, v := range e.Values {
			if n, ok := v[1].(float64); ok && n >= -1<<31 && n < 1<<31 {
				m[v[0].(string)] = int32(n)
			}
		}
		enum[e.Tag] = m
	}
	for _, n := range Names() {
		p, err := Get(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Attributes {
			if id, ok := enum["CUdevice_attribute_enum"][a.Name]; !ok || id != a.ID {
				t.Errorf("%s: %s is %d, the API says %d, %v", n, a.Name, a.ID, id, ok)
			}
		}
		for _, l := range p.Limits {
			if id, ok := enum["CUlimit_enum"][l.Name]; !ok || id != l.ID {
				t.Errorf("%s: %s is %d, the API says %d, %v", n, l.Name, l.ID, id, ok)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := files.ReadFile("generic.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(string) string{
		"empty":         func(string) string { return "" },
		"not JSON":      func(s string) string { return s[1:] },
		"text after":    func(s string) string { return s + "{}" },
		"unknown field": func(s string) string { return strings.Replace(s, `"about"`, `"abut"`, 1) },
		"no id":         func(s string) string { return strings.Replace(s, `"id": "generic"`, `"id": ""`, 1) },
		"no memory": func(s string) string {
			return strings.Replace(s, `"totalMemory": 1073741824`, `"totalMemory": 0`, 1)
		},
		"unknown source": func(s string) string {
			return strings.Replace(s, `"value": 1024, "source": "assumed"`, `"value": 1024, "source": "x"`, 1)
		},
		"order": func(s string) string {
			return strings.Replace(s, `{"id": 3, "name": "CU_DEVICE`, `{"id": 300, "name": "CU_DEVICE`, 1)
		},
		"no threads": func(s string) string {
			return strings.Replace(s, `PER_BLOCK", "value": 1024`, `PER_BLOCK", "value": 0`, 1)
		},
		"range": func(s string) string {
			return strings.Replace(s, `PER_BLOCK", "value": 1024`, `PER_BLOCK", "value": 4294967296`, 1)
		},
		"limit": func(s string) string { return strings.Replace(s, `"clamp"`, `"bend"`, 1) },
	} {
		text := edit(string(good))
		if text == string(good) {
			t.Errorf("%s: nothing was changed", name)
			continue
		}
		var ie *InvalidError
		if _, err := Parse([]byte(text)); !errors.As(err, &ie) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExpand(t *testing.T) {
	for list, want := range map[string]string{"": "", "h200": "h200", "h200*2,l4": "h200,h200,l4",
		" h200 * 3": "h200,h200,h200", "a100,a100*1": "a100,a100"} {
		got, err := Expand(strings.Split(list, ","))
		if err != nil || strings.Join(got, ",") != want {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"h200*", "h200*0", "h200*-1", "h200*x", "h200*65", "h200*60,l4*5", "h200*2*2",
		"h200*99999999999999999999"} {
		var bad *CountError
		if got, err := Expand(strings.Split(list, ",")); !errors.As(err, &bad) {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}
