// Package lower turns verified Tile IR modules into the text of PTX modules, in which a warp does the work of a tile
// block.
//
// Element e of a tile, counted row-major, belongs to lane e mod 32 and row e div 32. Tiles of one element, and tiles
// whose elements are all the same, are held in registers. Other tiles are either stored in the arena, a part of shared
// memory, or not made at all: what computes them is written where their elements are used. Operations that move
// elements (reshape, broadcast, permute, extract and the like) become arithmetic on the bits of the element's number,
// since all dimensions are powers of two.
//
// A root is an operation that makes lanes go over the elements of a tile: a store to memory, a reduction, a matrix
// product, or whatever has its result stored in the arena. It is written as a loop over rows with all that is computed
// in its place (plan.go says what is). Memory operations keep the order of the program where they must; tokens are
// satisfied by it.
//
// Results that the dialect fixes (integers, conversions, IEEE arithmetic, comparisons, data movement) have the bits
// that it says. Sums are added in the order that reduce.go, scan.go and mma.go describe.
package lower
