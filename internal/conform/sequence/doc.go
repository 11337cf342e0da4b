// Package sequence generates sequences of driver API calls from a seed, runs them on a [driver.Table] and compares
// answers. The same interpreter runs them on the NVIDIA driver, for a recording, and on the software device.
//
// A sequence is text, one call a line, so that a recording stays usable when the generator changes:
//
//	cuStreamCreate(&+stream1, 1)
//	[2] cuMemsetD32Async(mem1+16, 7, 4, stream1)
//
// [2] is the thread that makes the call; without it, thread 1 does. One call is made at a time: what a thread does is
// ordered. Arguments are
//
//	NULL  12  -1  0x10  1.5  "text"    plain values
//	stream1  mem1+16                   what an earlier call gave, and an offset from it
//	h+64                               pageable memory of the interpreter
//	&  &_  &f  &[4]  &=3               outputs: shown; only whether it was written; a struct's fields; an array; a number that is read as well
//	&u4  &u8  &w4                      outputs through void*: a number of 4 or 8 bytes, 4 words
//	&+name                             an output that later calls use
//	u4:5  u8:5                         a number through void*
//	{A:1 B.C:mem1}  <A:1>              a struct by pointer and by value
//	[1 2]                              an array
//	k(mem1 5)                          kernel parameters
//	fn  @ptx                           a callback, an image
//
// and three lines are no calls: "set P N" writes a word of host memory, "later MS P N" does so after a time, "show P N"
// shows words. A call that uses what no call gave is not made; its answer is SKIPPED.
package sequence
