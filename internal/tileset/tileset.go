// Package tileset reads and replays recorded Tile IR kernels: modules as bytecode, with what their kernels wrote on an
// H200. The format is that of the set's README (internal/tileir/lower/testdata holds a part of the set).
//
// Runner replays cases through the driver API (internal/driver.Table) and so runs on any device.
package tileset

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/gocuda/cuda/internal/setfile"
)

// Module is a recorded module.
type Module struct {
	Name, Family string
	Code         Range
}

// Range is a part of one of the set's binary files: an offset and a length, in bytes.
type Range [2]int

// of returns the part, or an error if the file is shorter.
func (r Range) of(b []byte) ([]byte, error) {
	if r[0] < 0 || r[1] < 0 || r[0] > len(b) || r[1] > len(b)-r[0] {
		return nil, fmt.Errorf("tile set: bytes %d to %d of a file of %d", r[0], r[0]+r[1], len(b))
	}
	return b[r[0]:][:r[1]], nil
}

// Case is a launch of a kernel.
type Case struct {
	Name, Module, Entry string
	Grid                [3]uint32
	Args                []Arg
	Buffers             []Buffer
	Expect              Expect
}

// Arg is an argument: an address in a buffer, or a value.
type Arg struct {
	Buffer *int // index in Case.Buffers
	Offset uint64
	Type   string
	Value  string // bytes in hexadecimal, little-endian
}

// Size is the argument's size in bytes.
func (a *Arg) Size() int {
	if a.Buffer != nil {
		return 8
	}
	return len(a.Value) / 2
}

// Bytes returns the argument as the kernel gets it, with the addresses of the buffers.
func (a *Arg) Bytes(buffers []uint64) ([8]byte, error) {
	var b [8]byte
	if a.Buffer != nil {
		putWord(b[:], buffers[*a.Buffer]+a.Offset)
		return b, nil
	}
	_, err := hex.Decode(b[:], []byte(a.Value))
	return b, err
}

// Buffer is global memory that a kernel uses.
type Buffer struct {
	Type string // of its elements
	Size int    // in bytes
	Init struct {
		Fill *byte `json:",omitempty"`
		Data *Range
	}
	Pointers []struct { // words that hold addresses of buffers
		At, Buffer int
		Offset     uint64
	} `json:",omitempty"`
	Result  *Range
	Compare json.RawMessage // "bits", or a tolerance; none for what is not compared
}

// Expect is what the H200 answered.
type Expect struct {
	Launch, Sync, Stdout string
	Globals              map[string]string // contents after the launch, in hexadecimal
	GlobalsBefore        map[string]string `json:"globals_before"`
	Parameters           [][2]uint64       `json:",omitempty"` // offset and size of each parameter
}

// Set is a set of recorded cases.
type Set struct {
	Modules []Module
	Cases   []Case

	code, data []byte
}

// Open reads a set: index.json, modules.bin and data.bin, each as it is or with .gz, each from the first file system
// that has it. What a case names lies within its files and buffers, or the set is refused.
func Open(from ...fs.FS) (*Set, error) {
	var s Set
	index, err := setfile.Read("index.json", from...)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(index, &s); err != nil {
		return nil, fmt.Errorf("index.json: %w", err)
	}
	if s.code, err = setfile.Read("modules.bin", from...); err != nil {
		return nil, err
	}
	if s.data, err = setfile.Read("data.bin", from...); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("index.json: %w", err)
	}
	return &s, nil
}

// Code returns the bytecode of a module.
func (s *Set) Code(name string) ([]byte, error) {
	for i := range s.Modules {
		if m := &s.Modules[i]; m.Name == name {
			return m.Code.of(s.code)
		}
	}
	return nil, fmt.Errorf("tile set: no module %q", name)
}

// Family returns the family of a case's module, such as arith or kernel.
func (s *Set) Family(c *Case) string {
	for i := range s.Modules {
		if s.Modules[i].Name == c.Module {
			return s.Modules[i].Family
		}
	}
	return ""
}

// Bytes returns a part of the recorded data.
func (s *Set) Bytes(r Range) ([]byte, error) { return r.of(s.data) }

// Contents returns what the buffers of a case hold before the launch, given their addresses.
func (s *Set) Contents(c *Case, addresses []uint64) ([][]byte, error) {
	all := make([][]byte, len(c.Buffers))
	for i := range c.Buffers {
		b := &c.Buffers[i]
		all[i] = make([]byte, b.Size)
		switch {
		case b.Init.Fill != nil:
			for j := range all[i] {
				all[i][j] = *b.Init.Fill
			}
		case b.Init.Data != nil:
			data, err := s.Bytes(*b.Init.Data)
			if err != nil {
				return nil, err
			}
			copy(all[i], data)
		}
		for _, p := range b.Pointers {
			putWord(all[i][p.At:], addresses[p.Buffer]+p.Offset)
		}
	}
	return all, nil
}

// Compare compares the contents of buffer i after the launch with what is recorded, within the case's tolerance. equal
// says that all bits are those recorded; a buffer that the case does not compare is equal.
func (s *Set) Compare(c *Case, i int, got []byte) (equal bool, err error) {
	b := &c.Buffers[i]
	if b.Result == nil || b.Compare == nil {
		return true, nil
	}
	want, err := s.Bytes(*b.Result)
	if err != nil {
		return false, err
	}
	if equal, err = compare(b.Type, got, want, b.Compare); err != nil {
		err = fmt.Errorf("buffer %d: %w", i, err)
	}
	return equal, err
}
