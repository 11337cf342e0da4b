// Command subset writes a smaller set of instruction cases from a larger one, in the same format (see
// testdata/silicon/README.md).
//
//	go run ./internal/tools/siliconsubset -drop '/(all|wide)$' -blocks mma=2,wgmma=1 FROM TO
//
// Nothing is computed: every byte of the new set was recorded. Cases are dropped as a whole (-group, -drop), or cut to
// their first blocks (-blocks), which is sound for groups whose blocks read and write only elements of their own; the
// command refuses it where the description of the case does not show that. Input arrays are cut to what the kept cases
// read, equal outputs share their bytes, and all files are compressed. The same arguments give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/setfile"
	"github.com/gocuda/cuda/internal/silicon"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "subset:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	fl := flag.NewFlagSet("subset", flag.ContinueOnError)
	groups := fl.String("group", "", "keep only these groups, separated by commas")
	drop := fl.String("drop", "", "drop the cases whose name GROUP:ID matches this regular expression")
	blocks := fl.String("blocks", "", "GROUP=N,...: keep only the first N blocks of the cases of a group")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() != 2 {
		return errors.New("two folders are needed: FROM and TO")
	}
	w := &writer{keep: map[string]bool{}, blocks: map[string]uint32{}}
	for _, g := range strings.FieldsFunc(*groups, comma) {
		w.keep[g] = true
	}
	for _, b := range strings.FieldsFunc(*blocks, comma) {
		g, n, _ := strings.Cut(b, "=")
		v, err := strconv.ParseUint(n, 10, 32)
		if err != nil || v == 0 {
			return fmt.Errorf("-blocks %s: GROUP=N is needed", b)
		}
		w.blocks[g] = uint32(v)
	}
	if *drop != "" {
		re, err := regexp.Compile(*drop)
		if err != nil {
			return err
		}
		w.drop = re
	}
	fsys := os.DirFS(fl.Arg(0))
	set, err := silicon.Open(fsys)
	if err != nil {
		return err
	}
	raw, err := readIndex(fsys)
	if err != nil {
		return err
	}
	files, err := w.files(set, raw)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(fl.Arg(1), 0o777); err != nil {
		return err
	}
	total := 0
	for _, f := range files {
		var z bytes.Buffer
		g, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := g.Write(f.data); err != nil {
			return err
		}
		if err := g.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(fl.Arg(1), f.name+".gz"), z.Bytes(), 0o666); err != nil {
			return err
		}
		total += z.Len()
	}
	fmt.Printf("%d of %d cases, %d bytes\n", w.cases, len(set.Cases), total)
	return nil
}

func comma(r rune) bool { return r == ',' }

// index is index.json with cases and head fields as they are written there, so that nothing gets lost.
type index struct {
	head  map[string]json.RawMessage
	cases []map[string]json.RawMessage
}

func readIndex(fsys fs.FS) (*index, error) {
	b, err := setfile.Read("index.json", fsys)
	if err != nil {
		return nil, err
	}
	x := &index{}
	if err := json.Unmarshal(b, &x.head); err != nil {
		return nil, err
	}
	return x, json.Unmarshal(x.head["cases"], &x.cases)
}

type file struct {
	name string
	data []byte
}

type writer struct {
	keep   map[string]bool
	drop   *regexp.Regexp
	blocks map[string]uint32
	cases  int

	need map[string]int // bytes of an input array that kept cases read
	out  bytes.Buffer
	at   map[[32]byte]int
}

func (w *writer) wants(c *silicon.Case) bool {
	return (len(w.keep) == 0 || w.keep[c.Group]) && (w.drop == nil || !w.drop.MatchString(c.Group+":"+c.ID))
}

func (w *writer) files(set *silicon.Set, raw *index) ([]file, error) {
	w.need, w.at = map[string]int{}, map[[32]byte]int{}
	count := map[string]int{}
	kernels := map[string]map[string]bool{}
	var lines [][]byte
	for i := range set.Cases {
		c := &set.Cases[i]
		if !w.wants(c) {
			continue
		}
		line, err := w.add(set, c, raw.cases[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		lines = append(lines, line)
		count[c.Group]++
		if kernels[c.Group] == nil {
			kernels[c.Group] = map[string]bool{}
		}
		kernels[c.Group][c.Kernel] = true
	}
	w.cases = len(lines)
	var arrays [][]byte
	var in bytes.Buffer
	for i := range set.Inputs {
		a := set.Inputs[i]
		n := w.need[a.Name]
		if n == 0 {
			continue
		}
		b := set.Input(a.Name)[:n]
		a.Offset, a.Count, a.Size = in.Len(), n/silicon.ElementSize(a.Type), n
		in.Write(b)
		in.Write(make([]byte, -n&7))
		line, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, line)
	}
	var out []file
	var groups [][]byte
	for _, g := range set.Groups {
		if count[g.Name] == 0 {
			continue
		}
		line, err := json.Marshal(struct {
			silicon.Group
			Cases int `json:"cases"`
		}{g, count[g.Name]})
		if err != nil {
			return nil, err
		}
		groups = append(groups, line)
		m, err := set.Module(g.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, file{g.File, []byte(m.Keep(func(k string) bool { return kernels[g.Name][k] }))})
	}
	var ix bytes.Buffer
	ix.WriteString("{")
	for _, k := range []string{"format", "machine", "sm", "driver", "cuda", "ptx_version", "seed"} {
		fmt.Fprintf(&ix, "%q:%s,", k, raw.head[k])
	}
	fmt.Fprintf(&ix, "\n\"subset\":{\"cases_before\":%d,\"blocks\":", len(set.Cases))
	b, err := json.Marshal(w.blocks)
	if err != nil {
		return nil, err
	}
	ix.Write(b)
	ix.WriteString("}")
	for _, l := range []struct {
		name  string
		lines [][]byte
	}{{"inputs", arrays}, {"groups", groups}, {"cases", lines}} {
		fmt.Fprintf(&ix, ",\n%q:[\n%s\n]", l.name, bytes.Join(l.lines, []byte(",\n")))
	}
	ix.WriteString("}\n")
	return append(out, file{"index.json", ix.Bytes()}, file{"inputs.bin", in.Bytes()},
		file{"outputs.bin", w.out.Bytes()}), nil
}

// add takes a case over: its line of the new index, its outputs, and the inputs that it needs.
func (w *writer) add(set *silicon.Set, c *silicon.Case, raw map[string]json.RawMessage) ([]byte, error) {
	n, blocks := c.N, c.Grid[0]
	if keep := w.blocks[c.Group]; keep != 0 && keep < blocks {
		if c.Grid[1] != 1 || c.Grid[2] != 1 || raw["cluster"] != nil {
			return nil, errors.New("only a grid of one dimension without clusters can be cut")
		}
		n = int(uint64(c.N) * uint64(keep) / uint64(blocks))
		blocks = keep
	}
	for _, o := range c.Operands {
		all := set.Input(o.Array)
		size := len(all)
		if !o.Pointer {
			size = n * max(o.PerThread, 1) * (len(all) / arrayCount(set, o.Array))
		} else if n != c.N {
			// An array that a block addresses by its own number: it divides evenly.
			if len(all)%int(c.Grid[0]) != 0 {
				return nil, fmt.Errorf("array %s does not divide into blocks", o.Array)
			}
		}
		if size > len(all) {
			return nil, fmt.Errorf("array %s has %d bytes, the case reads %d", o.Array, len(all), size)
		}
		w.need[o.Array] = max(w.need[o.Array], size)
	}
	outs := make([]map[string]any, 0, len(c.Outputs))
	for i := range c.Outputs {
		o := &c.Outputs[i]
		b := set.Expected(o)
		if n != c.N {
			if len(b)%int(c.Grid[0]) != 0 {
				return nil, fmt.Errorf("output %d does not divide into blocks", i)
			}
			b = b[:len(b)/int(c.Grid[0])*int(blocks)]
		}
		h := sha256.Sum256(b)
		off, ok := w.at[h]
		if !ok {
			off = w.out.Len()
			w.at[h] = off
			w.out.Write(b)
			w.out.Write(make([]byte, -len(b)&7))
		}
		m := map[string]any{"type": o.Type, "offset": off, "size": len(b)}
		if o.PerThread != 0 {
			m["per_thread"] = o.PerThread
		}
		if o.Pointer {
			m["pointer"] = true
		}
		outs = append(outs, m)
	}
	line := map[string]any{}
	for k, v := range raw {
		line[k] = v
	}
	line["n"], line["grid"], line["outputs"] = n, [3]uint32{blocks, c.Grid[1], c.Grid[2]}, outs
	return json.Marshal(line)
}

func arrayCount(set *silicon.Set, name string) int {
	for i := range set.Inputs {
		if set.Inputs[i].Name == name {
			return set.Inputs[i].Count
		}
	}
	return 1
}
