package silicon

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const tiny = `{"format":1,"machine":"m","inputs":[{"name":"a","type":"b32","offset":0,"count":2,"size":8}],"groups":[{"name":"g","file":"g.ptx","target":"sm_90","cases":1}],
"cases":[{"id":"x","group":"g","kernel":"k","kind":"exact","n":2,"grid":[1,1,1],"block":[2,1,1],"operands":[{"array":"a","type":"b32"}],"outputs":[{"type":"b32","offset":0,"size":8}]}]}`

const tinyPTX = ".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 p0)\n{\n\tret;\n}\n\n.global .u32 v;\n\n.visible .entry l()\n{\n\tret;\n}\n"

func tinySet(index string) fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{"index.json": file(index), "inputs.bin": file("\x01\x00\x00\x00\x02\x00\x00\x00"),
		"outputs.bin": file("\x03\x00\x00\x00\x04\x00\x00\x00"), "g.ptx": file(tinyPTX)}
}

func TestOpen(t *testing.T) {
	s, err := Open(tinySet(tiny))
	if err != nil {
		t.Fatal(err)
	}
	c := &s.Cases[0]
	if string(s.Input("a")) != "\x01\x00\x00\x00\x02\x00\x00\x00" ||
		string(s.Expected(&c.Outputs[0])) != "\x03\x00\x00\x00\x04\x00\x00\x00" || c.Block != [3]uint32{2, 1, 1} {
		t.Errorf("%+v", c)
	}
	m, err := s.Module("g")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Kernels) != 2 || !strings.Contains(m.Header, ".global .u32 v;") || strings.Contains(m.Header, ".entry") {
		t.Errorf("%+v", m)
	}
	if one := m.Source("l"); !strings.Contains(one, ".entry l()") || strings.Contains(one, ".entry k(") {
		t.Errorf("%s", one)
	}
	if one := m.Keep(func(k string) bool {
		return k == "k"
	}); !strings.Contains(one, ".entry k(") || strings.Contains(one, ".entry l()") ||
		!strings.Contains(one, ".global") {
		t.Errorf("%s", one)
	}
	if _, err := s.Module("h"); err == nil {
		t.Error("a group that is not there")
	}
	for name, damage := range map[string][2]string{
		"another format":               {`"format":1`, `"format":2`},
		"an input beyond the file":     {`"offset":0,"count":2`, `"offset":4,"count":2`},
		"an input before it":           {`"offset":0,"count":2`, `"offset":-1,"count":2`},
		"an input of a wrapping size":  {`"size":8}],"groups"`, `"size":9223372036854775807}],"groups"`},
		"an unknown array":             {`"array":"a"`, `"array":"b"`},
		"an output beyond the file":    {`"offset":0,"size":8}]}]`, `"offset":8,"size":8}]}]`},
		"an output of a wrapping size": {`"offset":0,"size":8}]}]`, `"offset":8,"size":9223372036854775807}]}]`},
		"half an index":                {`"cases":[`, `"cases":`},
	} {
		text := strings.Replace(tiny, damage[0], damage[1], 1)
		if text == tiny {
			t.Fatalf("%s: nothing was damaged", name)
		}
		if _, err := Open(tinySet(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, gone := range []string{"index.json", "inputs.bin", "outputs.bin"} {
		f := tinySet(tiny)
		delete(f, gone)
		if _, err := Open(f); err == nil {
			t.Errorf("no error without %s", gone)
		}
		f[gone+".gz"] = &fstest.MapFile{Data: []byte("no gzip")}
		if _, err := Open(f); err == nil || !strings.Contains(err.Error(), gone+".gz") {
			t.Errorf("damaged %s.gz: %v", gone, err)
		}
	}
}

// TestKeptSet holds what testdata/silicon promises: every group, nearly every case, and launches that fit their arrays.
func TestKeptSet(t *testing.T) {
	s, err := Open(os.DirFS("../../testdata/silicon"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Groups) != 31 || len(s.Cases) != 6910 {
		t.Errorf("%d groups, %d cases", len(s.Groups), len(s.Cases))
	}
	kinds, seen := map[string]int{}, map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		kinds[c.Kind]++
		if seen[c.ID] {
			t.Errorf("%s is there twice", c.ID)
		}
		seen[c.ID] = true
		threads := 1
		for j := range 3 {
			threads *= int(c.Grid[j] * c.Block[j])
		}
		m, err := s.Module(c.Group)
		if err != nil {
			t.Fatal(err)
		}
		if threads != c.N || m.Kernels[c.Kernel] == "" {
			t.Errorf("%s: %d threads for n = %d; kernel of %d bytes", c.ID, threads, c.N, len(m.Kernels[c.Kernel]))
		}
		for _, o := range c.Operands {
			a := s.arrays[o.Array]
			if !o.Pointer && c.N*max(o.PerThread, 1) > a.Count {
				t.Errorf("%s reads %d elements of %s, which has %d", c.ID, c.N*max(o.PerThread, 1), a.Name, a.Count)
			}
		}
		for _, o := range c.Outputs {
			if !o.Pointer && c.N*max(o.PerThread, 1)*ElementSize(o.Type) != o.Size {
				t.Errorf("%s: an output has %d bytes", c.ID, o.Size)
			}
		}
	}
	if kinds["exact"] != 6396 {
		t.Errorf("%v", kinds)
	}
}

func TestCompare(t *testing.T) {
	f := func(vs ...uint32) []byte {
		var b []byte
		for _, v := range vs {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		return b
	}
	for _, c := range []struct {
		typ       string
		got, want []byte
		diff      Diff
	}{
		{"b32", f(1, 2), f(1, 2), Diff{Elements: 2, First: -1}},
		{"b32", f(1, 2), f(1, 3), Diff{Elements: 2, Different: 1, First: 1, Got: "00000002", Want: "00000003",
			MaxULP: math.MaxUint64}},
		{"f32", f(0x3f800001, 0x3f800003), f(0x3f800000, 0x3f800000),
			Diff{Elements: 2, Different: 2, First: 0, Got: "3f800001", Want: "3f800000", MaxULP: 3}},
		{"f32", f(1), f(0x80000001), Diff{Elements: 1, Different: 1, First: 0, Got: "00000001", Want: "80000001",
			MaxULP: 2}},
		{"f32", f(0x7fc00000), f(0x7fffffff), Diff{Elements: 1, Different: 1, First: 0, Got: "7fc00000",
			Want: "7fffffff", MaxULP: 0}},
		{"f32", f(0x7f800000), f(0x7f7fffff), Diff{Elements: 1, Different: 1, First: 0, Got: "7f800000",
			Want: "7f7fffff", MaxULP: math.MaxUint64}},
		{"f16x2", f(0x3c003c02), f(0x3c013c00), Diff{Elements: 1, Different: 1, First: 0, Got: "3c003c02",
			Want: "3c013c00", MaxULP: 2}},
		{"f64", f(5, 0), f(2, 0), Diff{Elements: 1, Different: 1, First: 0, Got: "0000000000000005",
			Want: "0000000000000002", MaxULP: 3}},
	} {
		if d := Compare(&Output{Type: c.typ}, c.got, c.want); d != c.diff {
			t.Errorf("%s %x %x: %+v", c.typ, c.got, c.want, d)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Open(tinySet(string(b)))
		if err != nil {
			return
		}
		for i := range s.Cases { // everything that a replay reads lies inside the files
			for _, o := range s.Cases[i].Operands {
				s.Input(o.Array)
			}
			for j := range s.Cases[i].Outputs {
				s.Expected(&s.Cases[i].Outputs[j])
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(tinyPTX)
	f.Add(".visible .entry ")
	f.Add(".visible .entry k")
	f.Fuzz(func(t *testing.T, text string) {
		m := split(text)
		names := make([]string, 0, len(m.Kernels))
		for k := range m.Kernels {
			names = append(names, k)
		}
		if kept := m.Keep(func(k string) bool { return slices.Contains(names, k) }); len(kept) > len(text) {
			t.Error("more text than there was")
		}
	})
}

func ExampleOpen() {
	s, err := Open(os.DirFS("../../testdata/silicon"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Machine, s.Cases[0].ID)
	// Output: NVIDIA H200 mul.f32;add.f32
}
