package lower_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tileset"
)

var keep = flag.Bool("keep", false, "write testdata from ../shared/tileir")

// most is how many bytes of data a case in testdata may have.
const most = 3 << 10

// TestKept compares testdata with the set that it was copied from.
func TestKept(t *testing.T) {
	if _, err := os.Stat(fullSet); err != nil {
		skip.Without(t, skip.Recordings, fullSet)
	}
	r := readSet(t, fullSet)
	var data []byte
	part := tileset.Set{Modules: r.Modules}
	take := func(at *tileset.Range) *tileset.Range {
		if at == nil {
			return nil
		}
		b, err := r.Bytes(*at)
		if err != nil {
			t.Fatal(err)
		}
		i := bytes.Index(data, b)
		if i < 0 {
			i = len(data)
			data = append(data, b...)
		}
		return &tileset.Range{i, at[1]}
	}
	for _, c := range r.Cases {
		n := 0
		for _, b := range c.Buffers {
			if b.Init.Data != nil {
				n += b.Size
			}
			if b.Result != nil {
				n += b.Size
			}
		}
		if n > most {
			continue
		}
		for i := range c.Buffers {
			b := &c.Buffers[i]
			b.Init.Data, b.Result = take(b.Init.Data), take(b.Result)
		}
		part.Cases = append(part.Cases, c)
	}
	index, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"index.json": index, "data.bin": data} {
		path := filepath.Join(kept, name+".gz")
		if *keep {
			var z bytes.Buffer
			w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
			w.Write(b)
			w.Close()
			if err := os.WriteFile(path, z.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(readFile(t, kept, name), b) {
			t.Errorf("%s is not what %s has: run go test ./internal/tileir/lower -run TestKept -keep", path, fullSet)
		}
	}
}
