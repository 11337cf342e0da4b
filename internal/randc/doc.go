// Package randc makes random C functions whose result the C standard fixes, for comparing what a compiler makes of them
// on a device with what it makes of them on the host: integers of all widths, floats, structs, arrays, loops, switches,
// calls, function pointers and recursion. A function is a pure function of its input words. Nothing in it is undefined
// or implementation-defined between the two targets: arithmetic is unsigned or of a width that cannot overflow, shifts
// are masked, divisors are not zero, conversions from floats are in range, a NaN is made canonical before its bits
// count, and contraction is switched off by the caller (-ffp-contract=off).
package randc
