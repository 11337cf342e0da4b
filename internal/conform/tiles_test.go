package conform

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/tileset"
)

// TestTileCase: a case whose arguments are not those of its kernel fails before the launch, since the driver would read
// others; a case without a tolerance counts as exact.
func TestTileCase(t *testing.T) {
	kept := []fs.FS{os.DirFS("../tileir/lower/testdata"), os.DirFS("../tileir/testdata")}
	s, err := tileset.Open(kept...)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Cases, func(c tileset.Case) bool { return strings.HasPrefix(c.Name, "arith.addf.f16") })
	recorded := s.Cases[i]
	for words, change := range map[string]func(*tileset.Case){
		"": func(*tileset.Case) {},
		"one parameter more than there are arguments": func(c *tileset.Case) { c.Args = c.Args[:2] },
		"cuFuncGetParamInfo: CUDA_ERROR_INVALID_VALUE": func(c *tileset.Case) {
			c.Args = append(slices.Clone(c.Args), c.Args[0])
		},
		"parameter 1 has 8 bytes, its argument 4": func(c *tileset.Case) {
			c.Args = slices.Clone(c.Args)
			c.Args[1] = tileset.Arg{Value: "01020304"}
		},
	} {
		c := recorded
		c.Expect.Parameters = nil
		change(&c)
		index, err := json.Marshal(tileset.Set{Modules: s.Modules, Cases: []tileset.Case{c}})
		if err != nil {
			t.Fatal(err)
		}
		first := fstest.MapFS{"index.json": {Data: index}}
		r, err := Tiles(Options{Device: device.Options{Kind: device.Software}}, append([]fs.FS{first}, kept...)...)
		if err != nil {
			t.Fatal(err)
		}
		want := Count{Passed: 1, Equal: 1}
		if words != "" {
			want = Count{Failed: 1}
		}
		if got := r.Kinds[tileExact]; got != want {
			t.Errorf("%q: exact %+v, all %+v", words, got, r.Total())
		}
		if words != "" && (len(r.Cases) != 1 || !strings.Contains(r.Cases[0].Text, words)) {
			t.Errorf("%q: %+v", words, r.Cases)
		}
	}
}
