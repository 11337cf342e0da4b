// Package devmath has the mathematical functions that kernels lowered from Tile IR call, as PTX text.
//
// All are of our own, after published methods: argument reduction in several parts (Cody and Waite), for large angles
// with the bits of 2/π (Payne and Hanek), polynomials of package internal/tools/mathcoef, sums of two numbers where
// one is not exact enough. Bounds of their errors, in units in the last place, are those of the CUDA C++ Programming
// Guide for the functions of its mathematical library (Bound); special values are C99's (annex F). Subnormal numbers
// are neither flushed nor avoided.
package devmath

import (
	"fmt"
	"strings"
)

// function is how one function is made.
type function struct {
	name   string // tile$NAME_TYPE
	types  string // types of parameters: f f32, d f64, r s32
	result byte
	bound  int // of the error, in units in the last place; 0: exact
	make   func(b *builder, x []value) value
}

// functions are all of them. Bounds: CUDA C++ Programming Guide, tables of single and double precision functions.
var functions = []function{
	{"tile$exp_f32", "f", 'f', 1, func(b *builder, x []value) value { return b.exp32(x[0]) }},
	{"tile$exp2_f32", "f", 'f', 2, func(b *builder, x []value) value { return b.exp232(x[0]) }},
	{"tile$log_f32", "f", 'f', 1, func(b *builder, x []value) value { return b.log32(x[0], false) }},
	{"tile$log2_f32", "f", 'f', 1, func(b *builder, x []value) value { return b.log32(x[0], true) }},
	{"tile$pow_f32", "ff", 'f', 4, func(b *builder, x []value) value {
		return b.narrow(b.pow(b.widen(x[0]), b.widen(x[1]), true))
	}},
	{"tile$powi_f32", "fr", 'f', 4, func(b *builder, x []value) value {
		return b.narrow(b.pow(b.widen(x[0]), b.op("cvt.rn.f64.s32", x[1]), true))
	}},
	{"tile$sin_f32", "f", 'f', 2, func(b *builder, x []value) value { return b.narrow(b.sin(b.widen(x[0]), true)) }},
	{"tile$cos_f32", "f", 'f', 2, func(b *builder, x []value) value { return b.narrow(b.cos(b.widen(x[0]), true)) }},
	{"tile$tan_f32", "f", 'f', 4, func(b *builder, x []value) value { return b.narrow(b.tan(b.widen(x[0]), true)) }},
	{"tile$sinh_f32", "f", 'f', 3, func(b *builder, x []value) value { return b.narrow(b.sinh32(b.widen(x[0]))) }},
	{"tile$cosh_f32", "f", 'f', 2, func(b *builder, x []value) value { return b.narrow(b.cosh(b.widen(x[0]), true)) }},
	{"tile$tanh_f32", "f", 'f', 2, func(b *builder, x []value) value { return b.narrow(b.tanh32(b.widen(x[0]))) }},
	{"tile$atan2_f32", "ff", 'f', 3, func(b *builder, x []value) value {
		return b.narrow(b.atan2(b.widen(x[0]), b.widen(x[1]), true))
	}},
	{"tile$fmod_f32", "ff", 'f', 0, func(b *builder, x []value) value {
		return b.narrow(b.fmod(b.widen(x[0]), b.widen(x[1])))
	}},
	{"tile$exp_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.exp(x[0]) }},
	{"tile$exp2_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.exp2(x[0]) }},
	{"tile$log_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.log(x[0]) }},
	{"tile$log2_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.log2(x[0]) }},
	{"tile$pow_f64", "dd", 'd', 2, func(b *builder, x []value) value { return b.pow(x[0], x[1], false) }},
	{"tile$powi_f64", "dr", 'd', 2, func(b *builder, x []value) value {
		return b.pow(x[0], b.op("cvt.rn.f64.s32", x[1]), false)
	}},
	{"tile$sin_f64", "d", 'd', 2, func(b *builder, x []value) value { return b.sin(x[0], false) }},
	{"tile$cos_f64", "d", 'd', 2, func(b *builder, x []value) value { return b.cos(x[0], false) }},
	{"tile$tan_f64", "d", 'd', 2, func(b *builder, x []value) value { return b.tan(x[0], false) }},
	{"tile$sinh_f64", "d", 'd', 2, func(b *builder, x []value) value { return b.sinh(x[0]) }},
	{"tile$cosh_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.cosh(x[0], false) }},
	{"tile$tanh_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.tanh(x[0]) }},
	{"tile$atan2_f64", "dd", 'd', 2, func(b *builder, x []value) value { return b.atan2(x[0], x[1], false) }},
	{"tile$fmod_f64", "dd", 'd', 0, func(b *builder, x []value) value { return b.fmod(x[0], x[1]) }},
	{"tile$rsqrt_f64", "d", 'd', 1, func(b *builder, x []value) value { return b.rsqrt(x[0]) }},
}

// bitsTable is the module's table of the bits of 2/π.
const bitsTable = "tile$two_over_pi"

// Source returns the PTX text of a device function or table, without the module's directives, and the names of those
// that must stand before it. Functions are called tile$OP_TYPE, OP being one of exp, exp2, log, log2, pow, powi
// (whose second parameter is an s32), sin, cos, tan, sinh, cosh, tanh, atan2 (y, x), fmod, and TYPE f32 or f64; there
// is also tile$rsqrt_f64. They need PTX ISA 7.0 and sm_80.
func Source(name string) (ptx string, deps []string, ok bool) {
	if name == bitsTable {
		words := make([]string, len(twoOverPiBits))
		for i, w := range twoOverPiBits {
			words[i] = fmt.Sprintf("0x%016x", w)
		}
		list := strings.Join(words, ",\n\t")
		return fmt.Sprintf(".const .align 8 .b64 %s[%d] = {\n\t%s\n};\n", name, len(words), list), nil, true
	}
	f := find(name)
	if f == nil {
		return "", nil, false
	}
	b := &builder{}
	params := make([]value, len(f.types))
	list := make([]string, len(f.types))
	for i, t := range []byte(f.types) {
		params[i] = value(fmt.Sprintf("%%x%d", i))
		list[i] = fmt.Sprintf(".reg %s %s", registerTypes[t], params[i])
	}
	b.copy("%y", f.result, f.make(b, params))
	head := fmt.Sprintf(".func (.reg %s %%y) %s(%s)\n{\n", registerTypes[f.result], name, strings.Join(list, ", "))
	if b.table {
		deps = []string{bitsTable}
	}
	return head + b.registers() + b.text.String() + "\tret;\n}\n", deps, true
}

// Bound returns the largest error of a function in units in the last place of its type, 0 for exact ones.
func Bound(name string) (ulp int, ok bool) {
	if f := find(name); f != nil {
		return f.bound, true
	}
	return 0, false
}

// Names returns the names of all functions.
func Names() []string {
	names := make([]string, len(functions))
	for i, f := range functions {
		names[i] = f.name
	}
	return names
}

func find(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}
