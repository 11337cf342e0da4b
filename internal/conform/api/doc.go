// Package api is a table of cases over the driver API: each case makes calls on a [driver.Table] and writes one line
// for every call. The same table runs on the NVIDIA driver and on the software device; testdata/h200.txt is what the
// driver answered with one device, h100x2.txt.gz with two, and the software device has to give the same lines.
//
// A line is
//
//	case: cuFunction(arguments) -> RESULT outputs
//
// Handles and addresses have names (CUmodule1: the first module that the case saw; the same name is the same handle).
// An output that the call left alone is "untouched" (it was filled with a pattern before). Text of logs is kept as the
// driver gives it, times and register counts left out.
//
// Where the driver crashes on a call the line says CRASH. Such a call is undefined; the software device gives the
// result that undefined.go names.
package api
