// Package num is the arithmetic of PTX: every floating format the ISA names, every rounding,
// and the results that NVIDIA silicon gives where the ISA leaves a choice (NaN payloads, flushed
// subnormals, clamped conversions).
//
// Values travel as bit patterns (uint16, uint32, uint64), never as Go floats, so that a NaN keeps
// its payload and no host decides a rounding. Inside, host floats are used only where IEEE 754 fixes
// the result on every host, and each product is written in a conversion (float32(x*y)), because some
// Go targets fuse x*y+z otherwise.
//
// Expectations come, in this order, from results recorded on an H200, from the PTX ISA manual
// (9.7.3 floating point, 9.7.4 half precision, 9.7.9.21 cvt), and from IEEE 754. The approximate functions
// have a study of their own, APPROX.md.
//
// Files: round.go formats, unpacking and the one rounding step; exact.go the integer engine for sums,
// products, quotients and roots; f32.go, f64.go, half.go arithmetic; compare.go minimum, maximum, ordering, classes;
// cvt.go, cvt_int.go, cvt_pack.go conversions; dot.go the tensor-core accumulation; approx*.go the approximate
// functions.
package num
