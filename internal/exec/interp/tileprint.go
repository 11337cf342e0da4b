package interp

import (
	"math/bits"
	"strings"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// mostTiles bounds what a print of tiles may have, in operands and in elements of one.
const (
	mostTiles    = 1 << 10
	mostElements = 1 << 24
)

// resolveTilePrint is gocuda_tile_print(format, shapes, elements), which package tileir/lower calls and describes: the
// text of whole tiles is written at once. A conversion of the format prints a whole tile, with brackets around every
// dimension (recorded on an H200).
func resolveTilePrint(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			p := tilePrinter{w: w, lane: i, words: argument(w, op, 1, i), elements: argument(w, op, 2, i)}
			p.left = int(p.word())
			if p.left > mostTiles {
				w.Throw(exec.FaultInstruction, i, op.Call.Builtin+" is called with too many operands")
			}
			p.print(cstring(w, i, argument(w, op, 0, i)))
			if s := w.CTA.Launch.Sys; s != nil {
				s.Printf(p.out)
			}
		}
	}
	return nil
}

// tilePrinter prints tiles of one lane.
type tilePrinter struct {
	w               *exec.Warp
	lane            int
	words, elements uint64 // addresses of the next description and of the arena
	left            int    // operands
	out             []byte
}

func (p *tilePrinter) word() uint32 {
	v := *(*uint32)(p.w.Ptr(ir.Generic, p.lane, p.words, 4, 4, false))
	p.words += 4
	return v
}

// print goes through a format. What is no conversion, or has no operand, comes out as vprintf has it.
func (p *tilePrinter) print(s string) {
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			i = len(s)
		}
		p.out = append(p.out, s[:i]...)
		if s = s[i:]; s == "" {
			return
		}
		// How long the conversion is, with zero for a value.
		f := formatter{read: func(uint64, uint32) uint64 { return 0 }, str: func(uint64) string { return "" }}
		n := f.conversion(s)
		switch {
		case n == 0:
			p.out = append(p.out, '%')
			n = 1
		case f.count == 0:
			p.out = append(p.out, f.out...)
		case p.left > 0:
			p.left--
			p.tile(s[:n])
		}
		s = s[n:]
	}
}

// tile prints the next operand.
func (p *tilePrinter) tile(conversion string) {
	// What package tileir/lower calls printInt and printLong.
	const word, long = 0, 1
	kind, at, rank := p.word(), uint64(p.word()), int(p.word())
	if rank > 64 {
		p.w.Throw(exec.FaultInstruction, p.lane, "a tile to be printed has too many dimensions")
	}
	shape := make([]uint64, rank)
	total := uint64(1)
	for i := range shape {
		shape[i] = uint64(p.word())
		if total *= shape[i]; total > mostElements {
			p.w.Throw(exec.FaultInstruction, p.lane, "a tile to be printed has too many elements")
		}
	}
	last := len(conversion) - 1
	// The width is that of the element, whatever the format says.
	if strings.IndexByte("diouxX", conversion[last]) >= 0 {
		plain, letter := strings.TrimRight(conversion[:last], "lh"), conversion[last:]
		switch kind {
		case word:
			conversion = plain + letter
		case long:
			conversion = plain + "l" + letter
		}
	}
	at += p.elements
	f := formatter{str: func(uint64) string { return "" }}
	f.read = func(_ uint64, n uint32) uint64 {
		v := *(*uint64)(p.w.Ptr(ir.Generic, p.lane, at, 8, 8, false))
		if n == 4 {
			v = uint64(uint32(v))
		}
		return v
	}
	var dim func(d int)
	dim = func(d int) {
		if d == rank {
			f.conversion(conversion)
			at += 8
			return
		}
		f.out = append(f.out, '[')
		for i := range shape[d] {
			if i > 0 {
				f.out = append(f.out, ", "...)
			}
			dim(d + 1)
		}
		f.out = append(f.out, ']')
	}
	dim(0)
	p.out = append(p.out, f.out...)
}
