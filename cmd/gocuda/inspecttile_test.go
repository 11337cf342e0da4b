package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
)

// tileRecording is a module of internal/tileir/testdata, the text that tileirdisasm prints of it, and its first case.
type tileRecording struct {
	code, text []byte
	entry      string
	params     [][2]uint64
}

func tileRecordings(t *testing.T) []tileRecording {
	t.Helper()
	file := func(name string) []byte {
		f, err := os.Open(filepath.Join("../../internal/tileir/testdata", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var index struct {
		Modules []struct {
			Name       string
			Code, Text [2]int
		}
		Cases []struct {
			Module, Entry string
			Expect        struct{ Parameters [][2]uint64 }
		}
	}
	if err := json.Unmarshal(file("index.json"), &index); err != nil {
		t.Fatal(err)
	}
	codes, texts := file("modules.bin"), file("texts.bin")
	var out []tileRecording
	for _, m := range index.Modules {
		r := tileRecording{code: codes[m.Code[0]:][:m.Code[1]], text: texts[m.Text[0]:][:m.Text[1]]}
		for _, c := range index.Cases {
			if c.Module == m.Name {
				r.entry, r.params = c.Entry, c.Expect.Parameters
				break
			}
		}
		if r.entry != "" {
			out = append(out, r)
		}
	}
	return out
}

func TestInspectTile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	type report struct {
		Kind  string
		Tiles []tileModule `json:"tile_modules"`
	}
	inspect := func(path string) report {
		var r report
		if err := json.Unmarshal([]byte(works(t, "inspect", "--json", "--text", path)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := tileRecordings(t)
	global := -1
	var picked []tileRecording
	for i, r := range all {
		if global < 0 && bytes.Contains(r.text, []byte("global ")) {
			global = len(picked)
		} else if i%97 != 0 {
			continue
		}
		picked = append(picked, r)
	}
	same := func(what string, m *tileModule, r *tileRecording) {
		t.Helper()
		if m.Problem != "" || m.Text != string(r.text) || !strings.HasPrefix(m.Version, "13.") || len(m.Entries) == 0 {
			t.Errorf("%s: %+v", what, *m)
			return
		}
		for _, e := range m.Entries {
			if e.Name != r.entry {
				continue
			}
			var got [][2]uint64
			for _, p := range e.Params {
				got = append(got, [2]uint64{p.Offset, p.Size})
			}
			if len(got) != len(r.params) {
				t.Errorf("%s: %d parameters, want %d", what, len(got), len(r.params))
				return
			}
			for i := range got {
				if got[i] != r.params[i] {
					t.Errorf("%s: parameter %d at %v, want %v", what, i, got[i], r.params[i])
				}
			}
			return
		}
		t.Errorf("%s has no entry %s", what, r.entry)
	}

	var w fatbin.Writer
	arch := sm.Arch{Number: 90}
	for i := range picked {
		r := &picked[i]
		got := inspect(write("bare", r.code))
		if len(got.Tiles) != 1 {
			t.Fatalf("%d modules", len(got.Tiles))
		}
		same("a bare file", &got.Tiles[0], r)
		s := fatbin.Source{Kind: fatbin.TileIR, Arch: arch, Major: 13, Minor: uint16(r.code[9]), Data: r.code,
			Compression: []fatbin.Compression{fatbin.Stored, fatbin.LZ4, fatbin.Zstd}[i%3]}
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	container := w.Bytes()
	got := inspect(write("fatbin", container))
	if len(got.Tiles) != len(picked) {
		t.Fatalf("%d modules in the fatbin, want %d", len(got.Tiles), len(picked))
	}
	for i := range picked {
		same(got.Tiles[i].Where, &got.Tiles[i], &picked[i])
	}

	r := &picked[global]
	out := works(t, "inspect", write("global", r.code))
	contains(t, "inspect", out, "Tile IR 13.", "entry "+r.entry, " aligned to ", "parameter 0: tile<")
	if strings.Contains(out, "{") {
		t.Errorf("operations without --text:\n%s", out)
	}
	contains(t, "inspect --text", works(t, "inspect", "--text", filepath.Join(dir, "global")), "entry @"+r.entry+"(")

	// A file that is cut off: the report is there, and the exit code says that it is of no use.
	code, _, stderr := gocuda("inspect", write("cut", r.code[:len(r.code)/2]))
	if code != 1 || stderr == "" {
		t.Errorf("a damaged file: exit code %d, %q", code, stderr)
	}
	bad := bytes.Clone(r.code)
	bad[9] = 6
	if code, _, stderr = gocuda("inspect", write("version", bad)); code != 1 || !strings.Contains(stderr, "13.6") {
		t.Errorf("version 13.6: exit code %d, %q", code, stderr)
	}
}
