// Package cuda runs CUDA code from Go: on an NVIDIA GPU through its driver, or without one on the software CUDA device
// of this module. It needs no cgo, no C compiler and no CUDA toolkit.
//
//	sys, err := cuda.Open()
//	c, err := sys.Context(0)
//	mod, err := c.Load(image) // PTX, cubin or fat binary
//	saxpy, err := mod.Kernel("saxpy")
//	x, err := cuda.Upload(c, data)
//	y, err := cuda.Alloc[float32](c, n)
//	err = saxpy.Launch(nil, cuda.Linear(n), cuda.Val(a), cuda.Ptr(x), cuda.Ptr(y), cuda.Val(int32(n)))
//	result, err := y.Download()
//
// The programs in the folder examples are a course, from a query of the devices to a pipeline for data of any length.
// Package cu has the whole driver API under its C names; docs/names.md says which function of this package stands for
// which of the driver.
//
// # Systems and devices
//
// [Open] opens the NVIDIA driver if it loads and has a device, and otherwise the software device; [System.Kind] returns
// which, and [System.Why] the reason. [WithDriver], [WithSoftware] and the environment variable GOCUDA_DEVICE (driver,
// software or auto) select one explicitly: an explicit choice is never replaced. Several systems can be open in one
// process, for example to compare the two.
//
// # Contexts and goroutines
//
// A [Context] owns memory, streams and modules on one device. [Device.Primary] returns the one that a process shares
// with the CUDA runtime, which is right for most programs; [Device.NewContext] and [Device.NewGreenContext] create
// others. No context is ever current: each call binds the context of its receiver, so goroutines may use every object
// at the same time, on whatever threads they run, and no runtime.LockOSThread is needed. Only Close must not run at the
// same time as other uses of the same object. [Context.With] is for foreign libraries that need a current context.
//
// # Memory
//
// A [Buffer] owns device memory with elements of a Go type, which may be any type without Go pointers. A [View] is a
// part of it, sliced as Go slices are. Copies to and from []T wait. Asynchronous copies (the methods with Async) take
// pinned memory only, since nothing would keep ordinary Go memory in place: [AllocPinned] allocates pinned memory and
// [Register] pins a Go slice. Buffers and pinned memory have the methods of their views; b.View and p.PinnedView are
// the whole of them as a view. [AllocManaged] allocates a []T shared by host and device, [AllocMatrix] rows with a
// pitch, [AllocAsync] and [AllocFrom] memory from a pool in stream order. [AllocArray], [NewTexture] and [NewSurface]
// are for the texture hardware.
//
// Device memory must be closed. The garbage collector never frees it: it knows neither its size nor what the device
// still does with it. [Context.CloseAll] and [System.CloseAll] close everything below them, also after a fault; [Scope]
// closes what was added to it. Closing a parent with open children fails with an [*OpenError], which lists them, and
// [WithLeakReports] records where they were made.
//
// # Code
//
// [Context.Load] and [Context.LoadFS] load PTX, cubins, fat binaries and Tile IR, for example from an embed.FS; the
// software device needs PTX or Tile IR in the image. PTX comes from `gocuda cc`, nvcc -ptx or clang, from CUDA C++
// source at run time (package nvrtc), or is written by hand. A kernel in C++ should be extern "C": otherwise its name
// is the mangled one, which [Module.Kernels] lists. [GlobalOf] gives access to variables of device code.
// [System.LoadLibrary] loads code once for several contexts, [Context.NewLinker] links several pieces. The messages of
// the driver's compiler are in [Module.Log] or in the error.
//
// # Kernels
//
// [Module.Kernel] returns a kernel. [Kernel.Launch] takes a stream (nil is the default stream), a [LaunchConfig] and
// the arguments: [Ptr] for memory, [Val] for numbers, [StructArg] for structs. They are checked against the parameters
// of the kernel before the launch:
//
//	cuda: cuLaunchKernel (saxpy): CUDA_ERROR_INVALID_VALUE: invalid argument: argument 3 `n`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)
//
// Counts and sizes come from the driver (CUDA 12.4 and later) or the image, names and kinds from the PTX in the image.
// Arguments count from 0. A launch allocates nothing. [Bind1] to [Bind8] give a kernel Go types, which the Go compiler
// checks; [Kernel.Prepare] makes a launch that can be repeated. [Linear], [Grid2D] and [Grid3D] make a LaunchConfig
// whose grid covers a number of threads; its fields Shared (the size of an extern __shared__ array in bytes), Cluster,
// Cooperative and Attrs can be set afterwards. [Kernel.Occupancy] and [Kernel.BestBlock] help to choose a block size.
//
// # Streams, events, graphs
//
// Work in a [Stream] runs in order; streams run concurrently. An [Event] is a point in a stream that others wait for.
// Functions that queue work return before it is done. The default stream (nil) synchronises with all other streams
// except those made NonBlocking; copies that wait are ordered with it too, so synchronise with a NonBlocking stream
// before you download what it computed. [Stream.Synchronize] waits; [Stream.Wait] waits until a context.Context ends,
// which stops the kernel on the software device and only the wait on a GPU. [Stream.HostFunc] calls Go from a stream.
//
// A [Graph] is work described once and launched many times: recorded by [Stream.Capture], which leaves the stream
// usable whatever happens in it, or built node by node: kernels, copies, fills, allocations, host functions, events,
// child graphs, and conditional bodies (if, while, switch). [Graph.Instantiate] makes a [GraphExec], which
// [GraphExec.Launch] queues at the cost of one launch and [GraphExec.Update] changes.
//
// # Errors
//
// Errors of the driver are [*Error]: the function, the code, the kernel or variable, the compiler's log, and details.
// Compare codes with errors.Is(err, [ErrOutOfMemory]). Kernels run after they are queued, so an error in one is
// returned by a later call, and it breaks the context: every further call fails with that code. The first error has the
// cause, on the software device with kernel, block, thread and line of PTX; later ones quote it. On a GPU the process
// has lost the device then. The software device behaves the same unless it was opened [WithRecovery].
//
// # Testing
//
// Package cudatest opens a device in a test, checks that everything is closed, and runs the same test on a GPU with
// GOCUDA_TEST_DEVICE=driver.
package cuda
