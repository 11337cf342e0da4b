package bench

import (
	"fmt"
	"math"
)

// Size says how large the problems are.
type Size int

// The sizes. Full is the one that is compared; the others are for interpreters and tests.
const (
	Full Size = iota
	Small
	Tiny
)

func (s Size) String() string { return [...]string{"full", "small", "tiny"}[s] }

// pick is the number for the size.
func (s Size) pick(full, small, tiny int) int { return [...]int{full, small, tiny}[s] }

// direction of a buffer.
type direction uint8

const (
	in direction = 1 << iota
	out
)

// buffer is device memory with its contents before the launch.
type buffer struct {
	init []byte
	dir  direction
}

// argument is a buffer by its number, a texture of one, or a value.
type argument struct {
	buffer int // -1 for a value
	size   int // bytes of the value
	bits   uint64
	image  int // width and height of a texture, 0 for none
}

// Case is a workload in one size.
type Case struct {
	Name        string
	file, entry string  // of the PTX
	Unit        string  // of what Work counts
	Work        float64 // units of one launch
	n           int
	grid, block [3]uint32
	launches    int  // of a sample, which ends with one wait
	again       bool // a second launch gives the same result
	buffers     []buffer
	rgba        bool // of its texture
	args        []argument
	verify      func(c *Case, got [][]byte) error
}

func (c *Case) input(b []byte) { c.buf(b, in) }
func (c *Case) output(n int)   { c.buf(make([]byte, n), out) }
func (c *Case) inout(b []byte) { c.buf(b, in|out); c.again = false }
func (c *Case) i32(v int) {
	c.args = append(c.args, argument{buffer: -1, size: 4, bits: uint64(uint32(v))})
}
func (c *Case) u32(v uint32) { c.args = append(c.args, argument{buffer: -1, size: 4, bits: uint64(v)}) }
func (c *Case) f32(v float32) {
	c.args = append(c.args, argument{buffer: -1, size: 4, bits: uint64(math.Float32bits(v))})
}
func (c *Case) u64(v uint64)                { c.args = append(c.args, argument{buffer: -1, size: 8, bits: v}) }
func (c *Case) work(w float64, unit string) { c.Work, c.Unit = w, unit }

func (c *Case) buf(b []byte, d direction) {
	c.args = append(c.args, argument{buffer: len(c.buffers)})
	c.buffers = append(c.buffers, buffer{b, d})
}

// texture gives the kernel an image of texels of four bytes as a texture with linear filtering, clamped coordinates and
// results as floats: of a float32 with coordinates in texels, or of four unsigned channels with coordinates from 0 to
// 1.
func (c *Case) texture(b []byte, width int, rgba bool) {
	c.input(b)
	c.args[len(c.args)-1].image = width
	c.rgba = rgba
}

func (c *Case) shape(gx, gy, bx, by int) {
	c.grid, c.block = [3]uint32{uint32(gx), uint32(gy), 1}, [3]uint32{uint32(bx), uint32(by), 1}
}

// Names lists the cases in their order.
func Names() []string {
	names := make([]string, len(cases))
	for i := range cases {
		names[i] = cases[i].name
	}
	return names
}

// Default are the cases that run when none are named: all but big50k, which gcc and PoCL take minutes to compile.
func Default() []string { return Names()[:len(cases)-1] }

// New makes a case with its data.
func New(name string, size Size) (*Case, error) {
	for i := range cases {
		if cases[i].name == name {
			c := &Case{Name: name, file: name, entry: name, launches: 1, again: true}
			cases[i].make(c, size)
			return c, nil
		}
	}
	return nil, fmt.Errorf("bench: no case %q", name)
}

// near says whether a result is close enough; NaN never is.
func near(got, want, rel, abs float64) bool {
	return math.Abs(got-want) <= abs+float64(rel*math.Abs(want))
}

func wrong(format string, args ...any) error { return fmt.Errorf("wrong result "+format, args...) }
