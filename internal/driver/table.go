// Package driver is the contract between the devices and everything above them: the CUDA driver API with its C-level
// types, as a table of functions that a device fills.
//
// Almost all of it is generated from api/cuda-13.5.json: types, constants and structs with the layout of the C headers
// on a 64-bit host, the Table, a description of every symbol, the versions of the entry points for cuGetProcAddress,
// and the texts of the result codes. [Table] itself, a field for each of the driver's 616 functions, is in
// zz_generated_table.go; package nvidia fills one with the functions of the NVIDIA driver, package softdev one with the
// software device's, package cu and the C library call through it.
//
// The package imports nothing but the standard library and keeps no state apart from the registry of callbacks
// that a device makes for itself (see Registry).
package driver

//go:generate go run -C ../gen . -root ../..
