// Command subset writes a smaller set of recorded modules from a larger one, in the same format (see
// testdata/corpus/README.md).
//
//	go run ./internal/tools/corpussubset FROM TO MODULE[=BUILD,...] ...
//
// It takes the launches and their arrays, the source, and of the images the build that an sm_90 device should run from
// PTX and those named. What a manifest says about other builds and how long loading took is left out; nothing else is
// changed. Arrays are compressed where that helps.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/corpus"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "subset:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("two folders and at least one module are needed: FROM TO MODULE[=BUILD,...] and so on")
	}
	fsys := os.DirFS(args[0])
	set := corpus.Open(fsys)
	for _, a := range args[2:] {
		name, builds, _ := strings.Cut(a, "=")
		m, err := set.Module(name)
		if err != nil {
			return err
		}
		keep := map[string]bool{m.PTXBuild(): true}
		for _, b := range strings.FieldsFunc(builds, func(r rune) bool { return r == ',' }) {
			if m.Files[b] == "" {
				return fmt.Errorf("%s has no build %s", name, b)
			}
			keep[b] = true
		}
		if err := copyModule(fsys, m, keep, args[1]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// dropped are fields of a manifest that say nothing about the kept builds.
var dropped = []string{"load_ms", "load_ms_alone", "library", "offline_linked", "determinism", "independent_checks"}

// arrayFile is how a manifest names an array in a file.
var arrayFile = regexp.MustCompile(`data/[0-9a-f]+\.bin`)

func copyModule(fsys fs.FS, m *corpus.Manifest, keep map[string]bool, to string) error {
	dir := path.Join("modules", m.Name)
	b, err := fs.ReadFile(fsys, path.Join(dir, "manifest.json"))
	if err != nil {
		return err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	for _, k := range dropped {
		delete(raw, k)
	}
	for _, k := range []string{"files", "driver", "agreement"} {
		var by map[string]json.RawMessage
		if err := json.Unmarshal(raw[k], &by); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		for build := range by {
			if !keep[build] && (k != "driver" || build != m.RecordedFrom) {
				delete(by, build)
			}
		}
		if raw[k], err = json.Marshal(by); err != nil {
			return err
		}
	}
	out, err := lines(raw)
	if err != nil {
		return err
	}
	dst := filepath.Join(to, filepath.FromSlash(dir))
	if err := os.MkdirAll(filepath.Join(dst, "data"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dst, "manifest.json"), out, 0o666); err != nil {
		return err
	}
	whole := map[string]bool{} // copied as they are
	for build := range keep {
		whole[m.Files[build]+".gz"] = true
	}
	var source string
	if err := json.Unmarshal(raw["source"], &source); err == nil && strings.HasSuffix(source, ".cu") {
		whole[source] = true
	}
	for f := range whole {
		b, err := fs.ReadFile(fsys, path.Join(dir, f))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dst, f), b, 0o666); err != nil {
			return err
		}
	}
	arrays := map[string]bool{}
	for _, f := range arrayFile.FindAllString(string(out), -1) {
		arrays[f] = true
	}
	for f := range arrays {
		name := filepath.Join(dst, filepath.FromSlash(f))
		b, err := fs.ReadFile(fsys, path.Join(dir, f))
		if errors.Is(err, fs.ErrNotExist) { // compressed already
			b, err = fs.ReadFile(fsys, path.Join(dir, f+".gz"))
			name += ".gz"
		} else if err == nil {
			var z []byte
			if z, err = compress(b); len(z) < len(b)*9/10 {
				b, name = z, name+".gz"
			}
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			return err
		}
	}
	if len(arrays) == 0 {
		return os.Remove(filepath.Join(dst, "data"))
	}
	return nil
}

func compress(b []byte) ([]byte, error) {
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return z.Bytes(), nil
}

// lines writes a manifest with one line a field and one line a launch.
func lines(raw map[string]json.RawMessage) ([]byte, error) {
	order := []string{"name", "kind", "producer", "description", "tags", "source", "flags", "recorded_on",
		"recorded_from", "files", "agreement", "link", "driver", "notes"}
	rest := make([]string, 0, len(raw))
	known := map[string]bool{"launches": true}
	for _, k := range order {
		known[k] = true
	}
	for k := range raw {
		if !known[k] {
			rest = append(rest, k)
		}
	}
	sort.Strings(rest)
	var b bytes.Buffer
	b.WriteString("{\n")
	for _, k := range append(order, rest...) {
		if v := raw[k]; v != nil {
			fmt.Fprintf(&b, "%q:", k)
			if err := json.Compact(&b, v); err != nil {
				return nil, err
			}
			b.WriteString(",\n")
		}
	}
	var ls []json.RawMessage
	if err := json.Unmarshal(raw["launches"], &ls); err != nil {
		return nil, err
	}
	b.WriteString(`"launches":[`)
	for i, l := range ls {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		if err := json.Compact(&b, l); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}
