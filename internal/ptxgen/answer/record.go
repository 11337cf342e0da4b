package answer

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/ptxgen"
)

// Record is what is kept of an answer: a line of JSON.
type Record struct {
	Seed   uint64          `json:"seed"`
	Mutant bool            `json:"mutant,omitempty"`
	Text   string          `json:"text"` // Hash of the program's text
	Open   []string        `json:"open,omitempty"`
	Load   driver.CUresult `json:"load,omitempty"`
	Log    string          `json:"log,omitempty"`
	Run    driver.CUresult `json:"run,omitempty"`
	Call   string          `json:"call,omitempty"`
	Sums   []uint32        `json:"sums,omitempty"`  // of the rows
	Ends   string          `json:"ends,omitempty"`  // how the process that ran it ended, when that was before its time
	Plain  []int           `json:"plain,omitempty"` // rows that differ without optimisation
	// the first rows that differ from what was expected, up to 256 bytes of each
	Differ map[int][]byte `json:"differ,omitempty"`
}

// Program makes the program of a record. Its text is the recorded one while [ptxgen.Version] is that of the set: Text
// tells.
func (r *Record) Program() *ptxgen.Program {
	if r.Mutant {
		return ptxgen.Mutant(r.Seed)
	}
	return ptxgen.Generate(r.Seed)
}

// Hash identifies a text.
func Hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

// NewRecord makes the record of a program's answer.
func NewRecord(p *ptxgen.Program, mutant bool, a *Answer) Record {
	r := Record{Seed: p.Seed, Mutant: mutant, Text: Hash(p.Text), Load: a.Load, Log: a.Log, Run: a.Run, Call: a.Call,
		Open: p.Open}
	if a.Out != nil {
		r.Sums = Sums(p, a.Out)
	}
	return r
}

// Head is the first line of a recorded set.
type Head struct {
	Format  int    `json:"format"`  // 1
	Version int    `json:"version"` // ptxgen.Version of the generator that made the programs
	Device  string `json:"device"`
}

// Write writes a set, compressed.
func Write(w io.Writer, head Head, list []Record) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	if err := e.Encode(head); err != nil {
		return err
	}
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return err
		}
	}
	return z.Close()
}

// Read reads a set.
func Read(r io.Reader) (head Head, list []Record, err error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return head, nil, err
	}
	d := json.NewDecoder(z)
	if err := d.Decode(&head); err != nil {
		return head, nil, err
	}
	if head.Format != 1 {
		return head, nil, fmt.Errorf("a recorded set of format %d, not 1", head.Format)
	}
	for {
		var x Record
		if err := d.Decode(&x); err == io.EOF {
			return head, list, nil
		} else if err != nil {
			return head, nil, err
		}
		list = append(list, x)
	}
}
