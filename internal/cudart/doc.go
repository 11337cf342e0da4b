// Package cudart is the CUDA runtime API on a [driver.Table]: what a runtime library answers, over whatever device
// fills the table. The C front of libcudart.so calls it (cmd/libcuda); it knows nothing of C and nothing of the device.
//
// A [Runtime] has a method for each function of the API. Most are the driver's functions with the primary context of
// the thread's device made current first, and are generated from api/cudart-13.0.json (zz_generated_driver.go); the
// others are in the files named after what they are about. What the runtime keeps for an OS thread is in a [Thread],
// which the caller hands over with each call.
//
// Kernels are kernels of libraries (cuLibraryLoadData), which every context has: a program's images are loaded when one
// of their kernels or variables is first needed, and the handle of a kernel serves all devices.
package cudart
