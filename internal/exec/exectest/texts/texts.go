// Package texts makes inputs for fuzz targets: PTX texts that are edited, and random numbers that an input decides. It
// is for tests only.
package texts

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Seeds adds the parser's small modules, which lie in a folder, and one kernel with most kinds of control flow to a
// fuzz target that takes a text and edits.
func Seeds(f *testing.F, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.ptx.gz"))
	for _, name := range files {
		z, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(z))
		if err != nil {
			f.Fatal(err)
		}
		b, err := io.ReadAll(io.LimitReader(r, 1<<14))
		if err == nil && len(b) < 1<<14 {
			f.Add(b, []byte{})
			f.Add(b, []byte("edits"))
		}
	}
	f.Add([]byte(`.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 sm[64];
.func (.reg .b32 r) add1(.reg .b32 a) { add.u32 r, a, 1; ret; }
.visible .entry k(.param .u64 p) {
	.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<3>; .local .align 4 .b8 lm[16];
	ld.param.u64 %d0, [p];
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p0, %r0, 7;
	@%p0 bra L1;
	call (%r1), add1, (%r0);
	st.local.u32 [lm], %r1;
	bar.sync 0;
L1:	shfl.sync.idx.b32 %r2|%p1, %r0, 0, 31, 0xffffffff;
	@!%p1 bra L2;
	st.shared.u32 [sm], %r2;
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p2, %r0, 0;
	@%p2 bra L1;
L2:	st.global.u32 [%d0], %r2;
	ret;
}`), []byte{1, 2, 3})
}

// Edit changes a text word by word, so that much of what comes out still parses: three bytes an edit choose what to do,
// a line, and another line.
func Edit(text, edits []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) < 2 {
		return text
	}
	at := func(b byte, salt int) int { return (int(b)*7919 + salt) % len(lines) }
	for i := 0; i+3 <= len(edits) && i < 60; i += 3 {
		x, y := at(edits[i+1], i), at(edits[i+2], i/3)
		switch edits[i] % 6 {
		case 0:
			lines[x], lines[y] = lines[y], lines[x]
		case 1:
			lines[x] = lines[y]
		case 2:
			lines[x] = nil
		case 3:
			lines[x] = append(append(append([]byte{}, lines[x]...), ' '), lines[y]...)
		default: // a word of one line for a word of the other
			a, b := bytes.Fields(lines[x]), bytes.Fields(lines[y])
			if len(a) > 0 && len(b) > 0 {
				a[int(edits[i+2])%len(a)] = b[int(edits[i+1])%len(b)]
				lines[x] = bytes.Join(a, []byte(" "))
			}
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// Choices are random numbers whose upper bits are the bytes of an input, so that a fuzzer which changes a byte changes
// one of a generator's choices. Behind the input's end they are random.
func Choices(input []byte) *rand.Rand {
	return rand.New(&choices{input, rand.NewPCG(uint64(len(input)), 7)})
}

type choices struct {
	input []byte
	rest  rand.Source
}

// Uint64 implements rand.Source.
func (c *choices) Uint64() uint64 {
	v := c.rest.Uint64()
	if len(c.input) > 0 {
		v = v>>8 | uint64(c.input[0])<<56
		c.input = c.input[1:]
	}
	return v
}
