package tileset

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda/internal/setfile"
)

// kept are the folders that hold the set in the repository.
const kept, modules = "../tileir/lower/testdata", "../tileir/testdata"

// one is the kept set with the first case whose name begins so alone, as files.
func one(t *testing.T, prefix string) (index []byte, files fstest.MapFS) {
	t.Helper()
	s, err := Open(os.DirFS(kept), os.DirFS(modules))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Cases, func(c Case) bool { return strings.HasPrefix(c.Name, prefix) })
	s.Cases = s.Cases[i:][:1]
	s.Modules = slices.DeleteFunc(s.Modules, func(m Module) bool { return m.Name != s.Cases[0].Module })
	if index, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	files = fstest.MapFS{}
	for _, name := range []string{"modules.bin", "data.bin"} {
		b, err := setfile.Read(name, os.DirFS(kept), os.DirFS(modules))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: b}
	}
	return index, files
}

// TestDamagedSet: a set whose cases could not be run, or would pass without being compared, is refused.
func TestDamagedSet(t *testing.T) {
	base, files := one(t, "arith.addf.f16")
	type edit = func(*Set, *Case)
	two, long := 2, strings.Repeat("0", 18)
	result := func(change func(b *Buffer)) edit { return func(_ *Set, c *Case) { change(&c.Buffers[2]) } }
	how := func(text string) edit { return result(func(b *Buffer) { b.Compare = json.RawMessage(text) }) }
	for name, x := range map[string]struct {
		change edit
		words  string // of the error; none for a set that is read
	}{
		"nothing":            {func(*Set, *Case) {}, ""},
		"buffer as null":     {func(_ *Set, c *Case) { c.Buffers[0].Compare = json.RawMessage("null") }, ""},
		"result of nothing":  {result(func(b *Buffer) { b.Result[1] = 0 }), "0 bytes recorded of 264"},
		"result too short":   {result(func(b *Buffer) { b.Result[1] = 3 }), "3 bytes recorded"},
		"result outside":     {result(func(b *Buffer) { b.Result[0] = 1 << 62 }), "of a file of"},
		"result before":      {result(func(b *Buffer) { b.Result[0] = -1 }), "of a file of"},
		"no result":          {result(func(b *Buffer) { b.Result = nil }), "go together"},
		"no comparison":      {result(func(b *Buffer) { b.Compare = nil }), "go together"},
		"another comparison": {how(`"bit"`), "cannot unmarshal"},
		"negative tolerance": {how(`{"rel": -1}`), "a tolerance of"},
		"negative units":     {how(`{"ulp": -1}`), "a tolerance of"},
		"tolerance, integers": {result(func(b *Buffer) {
			b.Type, b.Compare = "i64", json.RawMessage(`{"rel": 1}`)
		}), "a tolerance for i64"},
		"unknown type":    {result(func(b *Buffer) { b.Type = "f12" }), `element type "f12"`},
		"half an element": {result(func(b *Buffer) { b.Size--; b.Result[1]-- }), "263 bytes of element type"},
		"huge buffer":     {result(func(b *Buffer) { b.Size = 1 << 40 }), "buffer 2 of 1099511627776 bytes"},
		"negative buffer": {result(func(b *Buffer) { b.Size = -1 }), "buffer 2 of -1 bytes"},
		"empty buffer":    {result(func(b *Buffer) { b.Size = 0 }), "buffer 2 of 0 bytes"},
		"long contents":   {func(_ *Set, c *Case) { c.Buffers[0].Init.Data[1]++ }, "257 bytes recorded of 256"},
		"argument's buffer": {func(_ *Set, c *Case) {
			c.Buffers, c.Args[2].Buffer = c.Buffers[:2], &two
		}, "argument 2: buffer 2 of 2"},
		"missing argument":  {func(_ *Set, c *Case) { c.Args = c.Args[:2] }, "2 arguments for 3 parameters"},
		"half a byte":       {func(_ *Set, c *Case) { c.Args[0] = Arg{Value: "0"} }, "odd length"},
		"no value":          {func(_ *Set, c *Case) { c.Args[0] = Arg{} }, "argument 0: 0 bytes"},
		"long value":        {func(_ *Set, c *Case) { c.Args[0] = Arg{Value: long} }, "argument 0: 9 bytes"},
		"no end":            {func(_ *Set, c *Case) { c.Expect.Sync = "" }, "is not recorded"},
		"no module":         {func(_ *Set, c *Case) { c.Module = "x" }, `no module "x"`},
		"two modules":       {func(s *Set, _ *Case) { s.Modules = append(s.Modules, s.Modules[0]) }, "is there twice"},
		"module of nothing": {func(s *Set, _ *Case) { s.Modules[0].Code[1] = 0 }, "no Tile IR"},
		"module cut":        {func(s *Set, _ *Case) { s.Modules[0].Code[1]-- }, "module arith.addf"},
		"module elsewhere":  {func(s *Set, _ *Case) { s.Modules[0].Code[0]++ }, "no Tile IR"},
		"module outside":    {func(s *Set, _ *Case) { s.Modules[0].Code = Range{1 << 62, 1 << 62} }, "of a file of"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Set
			if err := json.Unmarshal(base, &s); err != nil {
				t.Fatal(err)
			}
			x.change(&s, &s.Cases[0])
			index, err := json.Marshal(&s)
			if err != nil {
				t.Fatal(err)
			}
			files["index.json"] = &fstest.MapFile{Data: index}
			got, err := Open(files)
			switch {
			case x.words == "" && err != nil:
				t.Fatal(err)
			case x.words != "" && (err == nil || !strings.Contains(err.Error(), x.words)):
				t.Fatalf("error %v, want one with %q", err, x.words)
			case err == nil && got.Cases[0].Buffers[0].Compare != nil:
				t.Error("a buffer that is not compared has a tolerance")
			}
		})
	}
	for _, text := range []string{"", "[]", `{"Cases":[{`, `{"Cases":[{"Grid":[-1]}]}`, `{} {}`} {
		files["index.json"] = &fstest.MapFile{Data: []byte(text)}
		if _, err := Open(files); err == nil {
			t.Errorf("index.json of %q is read", text)
		}
	}
}
