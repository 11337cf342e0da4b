// Package cu is the whole CUDA driver API, function by function, under the C names without the prefix cu:
// cuModuleLoadData is [ModuleLoadData]. It needs no C compiler. The functions run on the device behind an [API]: the
// NVIDIA driver or the software CUDA device.
//
// Most programs want package cuda, which is built on this one. Use cu for what cuda does not offer; both mix freely,
// since cuda shows its handles.
//
// # Two forms
//
// Every function is a method of [API] and a function of the package. The function asks [Default] for the device, which
// opens it at the first call and never at import. [API.In] binds a context: a call through the result runs with that
// context current, whatever OS thread the goroutine is on. Without In, a call acts on the context that is current on
// the calling OS thread, as in C, so a program that uses [CtxSetCurrent] must hold its thread with
// [runtime.LockOSThread].
//
// # The rule of signatures
//
// Types, constants and struct members keep their C names (members with a capital). For the parameters of a function, in
// C order:
//
//   - An input stays an input. Scalars become Go's integers and floats (size_t is uint64), handles and enumerations
//     named types, structs by value Go structs.
//   - An output becomes a result, in C order; error comes last. Outputs that C lets you skip with NULL are always asked
//     for.
//   - A parameter that is read and written stays a pointer.
//   - A pointer and its count become one slice. Slices that share a count must have the same length, or the call fails
//     with an [ArgumentError] without reaching the device; edgeData and dependencyData may be nil. A nil or empty slice
//     is NULL with count zero. Host memory (void* with a byte count) is []byte.
//   - An array that the call fills has its size as a parameter (numNodes, numKernels, ...) and is a slice result. Where
//     C updates the count, the new count is a result after the slice, and size zero only asks for the count.
//   - const char* is string; text that C writes into a buffer or points to is a string result. A string with a NUL byte
//     inside is an ArgumentError.
//   - Memory that belongs to the driver (the image of [LinkComplete], the dependencies of [StreamGetCaptureInfo]) is
//     copied.
//   - A module image (image, code, fatCubin) is []byte. PTX text must end in NUL in C, so an image without any NUL byte
//     is copied and terminated.
//   - A callback is a Go function; the user data of C falls away, since a Go function carries its own. It runs on a
//     thread of the device and must not call the API, as in C.
//   - kernelParams is []unsafe.Pointer. extra is the parameter buffer itself as []byte, nil for none.
//   - Values of JIT and library options are []uintptr, since C stores numbers in the pointers. See below.
//   - void* stays unsafe.Pointer where it is memory of the host whose size depends on other arguments, is uintptr for
//     handles of the operating system, and [CUdeviceptr] where it is an address on the device.
//
// The plain name is the version that the headers of CUDA 13.5 mean by it: [CtxCreate] is cuCtxCreate_v4. Every version
// has an explicit name too: CtxCreate_v1 is the symbol cuCtxCreate, CtxCreate_v2 is cuCtxCreate_v2, and so on.
// [GraphInstantiate] is cuGraphInstantiateWithFlags. go doc finds no name that begins with cu here; the command gocuda
// does: gocuda doc cuModuleLoadDataEx.
//
// # Errors
//
// The error of a call is nil, or a [CUresult] that is not CUDA_SUCCESS, or an ArgumentError or [MissingError], which
// unwrap to a CUresult: errors.Is(err, cu.CUDA_ERROR_NOT_FOUND) always works.
//
// # Memory
//
// Go memory passed to a call must stay where it is while the device may use it. During the call this is so. After the
// call it matters for asynchronous copies, option values and kernel arguments behind addresses: keep a reference, or
// allocate with [MemHostAlloc]. [JITOptions] are options with the compiler's logs, which stay in place. Pass other
// addresses of Go memory in option values only with a [runtime.Pinner] held until the call, or for a link state until
// [LinkDestroy], is over; the collector does not see a uintptr. Unions and members of type uintptr are the same.
package cu
