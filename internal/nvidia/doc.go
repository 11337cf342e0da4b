// Package nvidia is the NVIDIA driver behind a [driver.Table]. It is the only package that knows how to open a shared
// library.
//
// Importing it does nothing. [Open] finds libcuda.so.1 (nvcuda.dll) and fills a table; every function looks for its
// symbol when it is first called, through cuGetProcAddress_v2 with the version pinned that the symbol came with, or
// with dlsym under its exact name when the driver has no cuGetProcAddress_v2 (before CUDA 12.0). So a driver older than
// the API works, and a newer one cannot change the meaning of a function. A function that the driver does not have
// answers CUDA_ERROR_NOT_SUPPORTED, the answer that a table gives for everything a device cannot do;
// CUDA_ERROR_NOT_FOUND is left to the look-ups of the API, whose callers must be able to trust it. [Driver.Missing]
// names the symbol and the CUDA version that it needs.
//
// # The context of a call
//
// With a context in cur the call is bracketed by cuCtxPushCurrent and cuCtxPopCurrent on the same OS thread: the thread
// has afterwards the context it had before, as [driver.Table] demands. On Linux a few instructions of assembly
// (gocuda_nvidia_bracket) do all three in one crossing from Go to C, so nothing can come between them and the OS thread
// need not be locked. On Windows there are three crossings under runtime.LockOSThread. With cur zero the call runs on
// the thread that the goroutine happens to be on, so callers that rely on the thread's own context hold it with
// runtime.LockOSThread. The functions that work on the thread's stack of contexts (cuCtxCreate, cuCtxDestroy,
// cuCtxAttach, cuCtxDetach, cuCtxPushCurrent, cuCtxPopCurrent, cuCtxSetCurrent, cuGLCtxCreate, cuVDPAUCtxCreate) take
// no notice of cur.
//
// # Memory
//
// A pointer becomes a uintptr only in the argument list of a function marked go:uintptrescapes, which keeps what it
// points to alive until the call is over, and forces it to the heap; heap objects do not move, a stack may. Callers
// lose nothing: an argument of a call through a function value escapes anyhow.
//
// # Cost
//
// A call costs no allocation of its own. Measured with BenchmarkCall on a 2-core Xeon VM (Go 1.26, linux/amd64, against
// a C function that returns at once; the cost of the driver's own work comes on top):
//
//	arguments           cur = 0      cur set (push, call and pop)
//	 2                  33 ns        37 ns
//	11 (cuLaunchKernel) 36 ns        41 ns
//	with a float        54 ns
//
// The arguments travel in a frame from a pool that the assembly reads itself. purego.SyscallN, which copies them three
// times, takes 75 ns for the same calls, and with a plain list of arguments one allocation more.
//
// # Callbacks
//
// One C-callable function per signature is made when it is first needed. The user data that C sees is a key of a
// registry; the Go function and its own user data are found there. cuLaunchHostFunc and cuStreamAddCallback run a
// function once and forget it; a host function captured into a graph is kept until the graphs that hold it are gone (a
// user object retained by the graph tells); functions of cuDeviceRegisterAsyncNotification and cuLogsRegisterCallback
// are kept until they are unregistered. CUoccupancyB2DSize has no user data: each running call has a C function of its
// own, from a pool of at most 64.
//
// A panic in a Go callback must not unwind through C. On a thread of the driver it is caught and kept for
// [Driver.CallbackPanic]. In a CUoccupancyB2DSize, which runs inside the call on the caller's thread, it is caught, C
// gets 0, and the panic goes on in the caller once C has returned.
//
// # Leaving it out
//
// With the build tag gocuda_nodriver, and on systems for which there is no NVIDIA driver, [Open] fails with a
// [*LoadError] that says so, and purego is not linked. A program built with
//
//	CGO_ENABLED=0 go build -tags gocuda_nodriver
//
// is then a static binary without an interpreter segment. Without the tag, purego makes even a program built with
// CGO_ENABLED=0 use the dynamic loader and the C library of the system, whether it opens the driver or not.
package nvidia
