// Package numtest has what an H200 (driver 580.159.04) gives for every input of the approximate functions, as hashes,
// and the kernel that computes them. It is for tests only.
package numtest

import (
	"embed"
	"encoding/binary"
	"flag"
	"fmt"
	"strings"
	"testing"
)

// All says that a test is to look at every result.
var All = flag.Bool("all", false, "compare every result of the approximate functions")

// h200.bin has a little-endian word for each 2^24 consecutive inputs of each function, in the order of names.
// samples.txt has a line for each further set of inputs: function, first, step and count in decimal, hash.
//
//go:embed h200.bin samples.txt
var files embed.FS

// names are the functions with 32 bits of input. Those of f64 take the input as the upper word and get Low as the lower
// one; their result is the upper word xor the lower one.
var names = []string{
	"rcp.approx.f32", "rcp.approx.ftz.f32", "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", "sqrt.approx.f32",
	"sqrt.approx.ftz.f32",
	"ex2.approx.f32", "ex2.approx.ftz.f32", "lg2.approx.f32", "lg2.approx.ftz.f32", "sin.approx.f32",
	"sin.approx.ftz.f32",
	"cos.approx.f32", "cos.approx.ftz.f32", "tanh.approx.f32", "rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64",
	"ex2.approx.f16x2", "tanh.approx.f16x2", "ex2.approx.ftz.bf16x2", "tanh.approx.bf16x2",
}

// Low times the input is the lower word of an f64 operand.
const Low = 0x9e3779b9

// Inputs are First, First+Step and so on, Count of them. Hash is the sum, modulo 2^64, of Mix over them and an H200's
// results.
type Inputs struct {
	First, Step uint32
	Count       int
	Hash        uint64
}

// Mix is a word that an input and its result add to a hash: the finalizer of splitmix64.
func Mix(input, result uint32) uint64 {
	h := uint64(input)<<32 | uint64(result)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Compare makes a test of each function, in which sum, made by open, hashes results. With -all that is every result,
// else some of each function: the table's rows, powers of two, what is next to the special operands.
func Compare(t *testing.T, open func(t *testing.T, name string) (sum func(in Inputs) uint64)) {
	t.Helper()
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			sets := samples(t, name)
			if *All {
				sets = append(sets, every(t, i)...)
			}
			sum := open(t, name)
			for _, in := range sets {
				if got := sum(in); got != in.Hash {
					t.Errorf("not the H200's: a result of %#08x + %d*i, i < %#x; hash %016x, want %016x", in.First,
						in.Step, in.Count, got, in.Hash)
				}
			}
		})
	}
}

// samples are the sets of samples.txt for a function.
func samples(t *testing.T, name string) (sets []Inputs) {
	text, err := files.ReadFile("samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var of string
		var in Inputs
		if _, err := fmt.Sscanf(line, "%s 0x%x %d %d %x", &of, &in.First, &in.Step, &in.Count, &in.Hash); err != nil {
			t.Fatalf("samples.txt: %q: %v", line, err)
		}
		if of == name {
			sets = append(sets, in)
		}
	}
	if len(sets) == 0 {
		t.Fatalf("samples.txt has nothing of %s", name)
	}
	return sets
}

// every divides all inputs of function i into sets.
func every(t *testing.T, i int) (sets []Inputs) {
	words, err := files.ReadFile("h200.bin")
	if err != nil {
		t.Fatal(err)
	}
	const n = 256
	for k := range n {
		sets = append(sets, Inputs{uint32(k << 24), 1, 1 << 24, binary.LittleEndian.Uint64(words[8*(n*i+k):])})
	}
	return sets
}

// CTA is how many inputs a CTA of 256 threads of Kernel's hashes; the Count of every set is a multiple.
const CTA = 1 << 16

// Kernel is the text of a kernel sweep(out, first, step), which adds the hash of a function's results to the word at
// out.
func Kernel(name string) string {
	body := "mov.b32 f, x; " + name + " g, f; mov.b32 y, g;"
	switch {
	case strings.HasSuffix(name, ".f64"):
		body = fmt.Sprintf("mul.lo.u32 lo, x, %#x; mov.b64 d, {lo, x}; %s e, d; mov.b64 {lo, y}, e; xor.b32 y, y, lo;",
			Low, name)
	case strings.HasSuffix(name, "x2"):
		body = name + " y, x;"
	}
	return `.version 7.8
.target sm_90
.address_size 64
.visible .entry sweep(.param .u64 out, .param .u32 first, .param .u32 step) {
	.reg .b32 x, y, lo, i, end, t; .reg .f32 f, g; .reg .f64 d, e; .reg .b64 h, k, s, p; .reg .pred z;
	ld.param.u64 p, [out]; ld.param.u32 x, [first]; ld.param.u32 t, [step];
	mov.u32 i, %ctaid.x; shl.b32 i, i, 16; add.u32 end, i, 0x10000;
	mov.u32 lo, %tid.x; add.u32 i, i, lo; mad.lo.u32 x, i, t, x; shl.b32 t, t, 8;
	mov.u64 s, 0;
L:	` + body + `
	mov.b64 h, {y, x};
	shr.u64 k, h, 30; xor.b64 h, h, k; mul.lo.u64 h, h, 0xbf58476d1ce4e5b9;
	shr.u64 k, h, 27; xor.b64 h, h, k; mul.lo.u64 h, h, 0x94d049bb133111eb;
	shr.u64 k, h, 31; xor.b64 h, h, k; add.u64 s, s, h;
	add.u32 x, x, t; add.u32 i, i, 256; setp.lt.u32 z, i, end; @z bra L;
	red.global.add.u64 [p], s;
	ret;
}`
}
