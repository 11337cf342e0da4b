package devlib_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/devlib/kernels"
	"github.com/gocuda/cuda/internal/skip"
)

// record is a line of testdata/h200.txt: what an H200 made of NVIDIA's library and of ours.
type record struct {
	n, equal, nan, worst uint64
	ours                 uint64 // hash of our results of the first 2048 tuples there; 0 if the function has changed
}

// readTable returns the recorded comparisons by function, without those of functions that have changed since; of the
// latter, those whose bits were found equal to the recorded ones are in it as such.
func readTable(t testing.TB) map[string]record {
	t.Helper()
	data, err := os.ReadFile("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]record{}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		if len(w) < 8 || w[0] == "#" {
			continue
		}
		var r record
		for i, p := range []*uint64{&r.n, &r.equal, &r.nan, &r.worst} {
			if *p, err = strconv.ParseUint(w[3+i], 10, 64); err != nil {
				t.Fatal(line, err)
			}
		}
		if r.ours, err = strconv.ParseUint(w[16], 16, 64); err != nil {
			t.Fatal(line, err)
		}
		m[w[0]] = r
	}
	if data, err = os.ReadFile("testdata/changed.txt"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		switch {
		case w[0] == "#":
		case w[1] == "equal":
			m[w[0]] = record{n: m[w[0]].n, equal: m[w[0]].n}
		default:
			delete(m, w[0])
		}
	}
	return m
}

// recorded is the number of tuples that our own results were hashed of on the GPU.
const recorded = 2048

func sumOf(words []uint64) (s uint64) {
	for _, v := range words {
		s = (s ^ v) * 0x9e3779b97f4a7c15
		s ^= s >> 29
	}
	return s
}

// TestSamples compares results on the software device with those on an H200: ours must be what ours were there; against
// NVIDIA's, functions whose bits were found equal must have the same bits, others lie as near as they were there.
func TestSamples(t *testing.T) {
	z, err := os.Open("testdata/h200-samples.bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	r, err := gzip.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	table := readTable(t)
	list := devlib.Functions()
	known := map[string]devlib.Function{}
	for _, f := range list {
		known[f.Name] = f
	}
	d := openDevice(t, list)
	done := 0
	for len(data) > 0 {
		name := string(bytes.TrimRight(data[:32], "\x00"))
		data = data[32:]
		f, ok := known[name]
		if !ok {
			t.Fatalf("samples of %s", name)
		}
		slots, outs := strings.TrimPrefix(kernels.Slots(f), "-"), kernels.Outs(f)
		var in []uint64
		for i := range recorded {
			for s := range len(slots) {
				in = append(in, kernels.Tuple(slots[s], 1, uint64(i), s))
			}
		}
		got := d.run(t, f, in, recorded)
		rec, ok := table[name]
		if sum := sumOf(got); ok && rec.ours != 0 && sum != rec.ours {
			t.Errorf("%s: hash of our results %016x, on the H200 %016x", name, sum, rec.ours)
		}
		got = got[:kernels.Samples*len(outs)]
		exact := ok && rec.equal == rec.n
		for i, g := range got {
			typ := outs[i%len(outs)]
			w := kernels.Width(typ)
			var word [8]byte
			copy(word[:], data[:w])
			data = data[w:]
			want := binary.LittleEndian.Uint64(word[:])
			switch {
			case g == want:
			case kernels.NaN(typ, g) && kernels.NaN(typ, want):
				// which operand's payload a NaN of double has depends on the order that compilers gave them
				if exact && typ == 'f' {
					t.Errorf("%s, tuple %d: %#x, the H200 gave %#x", name, i/len(outs), g, want)
				}
			case !ok:
				// changed since: TestAccuracy alone judges it
			case rec.nan != 0 && kernels.NaN(typ, g) != kernels.NaN(typ, want):
				// as there; the hash has it
			case exact || kernels.NaN(typ, g) != kernels.NaN(typ, want) || kernels.Distance(typ, g, want) > rec.worst:
				t.Errorf("%s, tuple %d: %#x, the H200 gave %#x", name, i/len(outs), g, want)
			}
		}
		done++
	}
	if done != len(list) {
		t.Errorf("samples of %d functions", done)
	}
}

// readHashes returns the recorded hashes of NVIDIA's results: of all 2^32 arguments, then of the kept groups.
func readHashes(t testing.TB) map[string][]uint64 {
	t.Helper()
	data, err := os.ReadFile("testdata/h200-hashes.bin")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]uint64{}
	for len(data) > 0 {
		h := make([]uint64, 1+len(kernels.HashGroups()))
		n, err := binary.Decode(data[32:], binary.LittleEndian, h)
		if err != nil {
			t.Fatal(err)
		}
		m[string(bytes.TrimRight(data[:32], "\x00"))] = h
		data = data[32+n:]
	}
	return m
}

// TestHashes compares the results of functions whose bits are NVIDIA's with the hashes of an H200: one group of 2^22
// arguments each, another for each function; with -long all 2^32 arguments.
func TestHashes(t *testing.T) {
	table, hashes := readTable(t), readHashes(t)
	var list []devlib.Function
	floats := 0
	for _, f := range devlib.Functions() {
		rec := table[f.Name]
		if !kernels.Sweep(f) || rec.n == 0 || rec.equal != rec.n {
			continue
		}
		if strings.Contains(kernels.Slots(f)+kernels.Outs(f), "f") {
			floats++
		}
		if rec.n == 1<<32 {
			list = append(list, f)
		}
	}
	if floats < 72 {
		t.Errorf("%d functions of one argument with a float have the bits of the H200, not 72", floats)
	}
	if testing.Short() {
		skip.Without(t, skip.Time, "four million arguments for each function")
	}
	d := openDevice(t, list)
	for i, f := range list {
		h := hashes[f.Name]
		if len(h) == 0 {
			t.Errorf("%s: no hashes", f.Name)
			continue
		}
		sum := func(group int) (s uint64) {
			const part = 1 << 20
			in := make([]uint64, part)
			outs := len(kernels.Outs(f))
			for p := range kernels.HashGroup / part {
				for k := range in {
					in[k] = uint64(group)*kernels.HashGroup + uint64(p*part+k)
				}
				for k, out := 0, d.run(t, f, in, part); k < part; k++ {
					s += kernels.Hash(in[k], out[k*outs:][:outs])
				}
			}
			return s
		}
		t.Run(f.Name, func(t *testing.T) {
			// groups around 1 and elsewhere, another for each function
			groups := kernels.HashGroups()
			k := []int{15, 16, 17, 47, 48, 14, 64, 65, 66, 67}[i%10]
			if got := sum(groups[k]); got != h[1+k] {
				t.Errorf("arguments from %#x: hash %016x, the H200's %016x", groups[k]*kernels.HashGroup, got, h[1+k])
			}
			if !*long {
				return
			}
			var total uint64
			for g := range 1 << 32 / kernels.HashGroup {
				total += sum(g)
			}
			if total != h[0] {
				t.Errorf("all arguments: hash %016x, the H200's %016x", total, h[0])
			}
			fmt.Println(f.Name, "all 2^32 arguments as on the H200")
		})
	}
}
