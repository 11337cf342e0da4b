package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/devlib/kernels"
)

const (
	recordedWords   = 1024 // hashes of a function in hashes.bin, of 2^22 arguments each
	recordedSamples = 2048 // tuples of a function in samples.bin
)

// pack writes what the repository keeps of a recording: the table; of the hashes the sum over all 2^32 arguments and
// those of some groups; of the samples the first kernels.Samples tuples.
func pack(run, dir string) error {
	table, err := os.ReadFile(filepath.Join(run, "table.txt"))
	if err != nil {
		return err
	}
	hashes, err := os.ReadFile(filepath.Join(run, "hashes.bin"))
	if err != nil {
		return err
	}
	samples, err := os.ReadFile(filepath.Join(run, "samples.bin"))
	if err != nil {
		return err
	}
	var h, s bytes.Buffer
	// the last record of a run that was cut short may not be whole
	for len(hashes) >= 32+8*recordedWords {
		h.Write(hashes[:32])
		words := make([]uint64, recordedWords)
		if _, err := binary.Decode(hashes[32:], binary.LittleEndian, words); err != nil {
			return err
		}
		hashes = hashes[32+8*recordedWords:]
		total, few := uint64(0), []uint64{}
		for _, w := range words {
			total += w
		}
		for _, g := range kernels.HashGroups() {
			few = append(few, words[g])
		}
		binary.Write(&h, binary.LittleEndian, append([]uint64{total}, few...))
	}
	known := map[string]devlib.Function{}
	for _, f := range devlib.Functions() {
		known[f.Name] = f
	}
	for len(samples) > 0 {
		f := known[strings.TrimRight(string(samples[:32]), "\x00")]
		outs := kernels.Outs(f)
		words := samples[32:]
		if len(words) < 8*recordedSamples*len(outs) {
			break
		}
		s.Write(samples[:32])
		for i := range kernels.Samples * len(outs) {
			s.Write(words[8*i:][:kernels.Width(outs[i%len(outs)])])
		}
		samples = words[8*recordedSamples*len(outs):]
	}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
	w.Write(s.Bytes())
	if err := w.Close(); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"h200.txt": table, "h200-hashes.bin": h.Bytes(),
		"h200-samples.bin.gz": z.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
