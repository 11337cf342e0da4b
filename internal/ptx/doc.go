// Package ptx reads and writes PTX, NVIDIA's virtual instruction set, up to
// ISA 9.0: a scanner, a parser that builds a syntax tree with positions, and a
// printer. It knows the shape of the language only; which modifiers, types and
// targets go together is the business of ptx/check.
package ptx
