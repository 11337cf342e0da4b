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
// [Open] takes the NVIDIA driver if it loads and has a device, and else the software device; [System.Kind] says which
// it was and [System.Why] the reason. [WithDriver], [WithSoftware] and the environment variable GOCUDA_DEVICE (driver,
// software or auto) decide otherwise: what is asked for by name is never replaced by the other. Several systems can be
// open in one process, for example to compare the two.
//
// # Contexts and goroutines
//
// A [Context] owns memory, streams and modules on one device. [Device.Primary] is the one that a process shares with
// the CUDA runtime, and right for most programs; [Device.NewContext] and [Device.NewGreenContext] make others. Nothing
// is ever current: each call binds the context of the object it is made on, so goroutines may use every object at the
// same time, on whatever threads they run, and no runtime.LockOSThread is needed. Only a Close must not run beside
// other uses of the same object. [Context.With] is for foreign libraries that want a current context.
//
// # Memory
//
// A [Buffer] owns device memory with elements of a Go type; any type without Go pointers will do. A [View] is a part of
// it, sliced as Go slices are. Copies to and from []T wait. Copies that do not wait (the methods with Async) take
// pinned memory only, since nothing would hold ordinary Go memory in its place: [AllocPinned] allocates such memory and
// [Register] makes a Go slice so. Buffers and pinned memory have the methods of their views; b.View and p.PinnedView
// are the whole of them as a view. [AllocManaged] gives one []T for host and device, [AllocMatrix] rows with a pitch,
// [AllocAsync] and [AllocFrom] memory from a pool in the order of a stream. [AllocArray], [NewTexture] and [NewSurface]
// are for the texture hardware.
//
// Device memory must be closed. The garbage collector never frees it: it sees neither the size nor what the device
// still does with it. [Context.CloseAll] and [System.CloseAll] close everything below them, also after a fault; [Scope]
// closes what was added to it. Close of a parent refuses to close over open children with an [*OpenError], which lists
// them, and [WithLeakReports] tells where forgotten ones were made.
//
// # Code
//
// [Context.Load] and [Context.LoadFS] load PTX, cubins and fat binaries, for example out of an embed.FS; the software
// device takes whatever has PTX in it. PTX comes from nvcc -ptx or clang, from a CUDA C++ text at run time (package
// nvrtc), or by hand. A kernel in C++ should be extern "C": otherwise its name is the mangled one, which
// [Module.Kernels] lists. [GlobalOf] gives access to variables of device code. [System.LoadLibrary] loads code once for
// several contexts, [Context.NewLinker] joins pieces. What the driver's compiler writes is in [Module.Log] or in the
// error.
//
// # Kernels
//
// [Module.Kernel] finds a kernel. [Kernel.Launch] takes a stream (nil is the default stream), a [LaunchConfig] and the
// arguments: [Ptr] for memory, [Val] for numbers, [StructArg] for structs. They are checked against the parameters of
// the kernel before the launch:
//
//	cuda: cuLaunchKernel (saxpy): CUDA_ERROR_INVALID_VALUE: invalid argument: argument 3 `n`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)
//
// Counts and sizes come from the driver (CUDA 12.4 and later) or the image, names and kinds from the PTX in the image.
// Arguments count from 0. A launch allocates nothing. [Bind1] to [Bind8] give a kernel Go types, so that the compiler
// checks; [Kernel.Prepare] keeps a launch for many uses. [Linear], [Grid2D] and [Grid3D] make a LaunchConfig whose grid
// covers a number of threads; its fields Shared (an extern __shared__ array), Cluster, Cooperative and Attrs can be set
// afterwards. [Kernel.Occupancy] and [Kernel.BestBlock] help to choose.
//
// # Streams, events, graphs
//
// Work in a [Stream] runs in order and streams run beside each other; an [Event] is a point in a stream that others
// wait for. Functions that queue work return before it is done. The default stream (nil) keeps step with all others but
// those made NonBlocking; copies that wait are in step with it too, so synchronise with a NonBlocking stream before you
// download what it computed. [Stream.Synchronize] waits; [Stream.Wait] waits until a context.Context ends, which stops
// the kernel on the software device and only the waiting on a GPU. [Stream.HostFunc] calls Go from a stream.
//
// A [Graph] is work described once and launched many times: recorded by [Stream.Capture], which leaves the stream
// usable whatever happens in it, or put together node by node: kernels, copies, fills, memory, host functions, events,
// other graphs, and bodies that run if, while or as a number says. [Graph.Instantiate] makes it a [GraphExec], which
// [GraphExec.Launch] queues with the cost of one launch, and [GraphExec.Update] changes.
//
// # Errors
//
// Errors from the driver are [*Error]: the function, the code, the kernel or variable, the compiler's log, and a
// detail. Codes compare with errors.Is(err, [ErrOutOfMemory]). Kernels run later than they are queued, so what goes
// wrong in one shows at a later call, and it breaks the context: every call then fails with that code. The first error
// says what happened, on the software device with kernel, block, thread and line of PTX; later ones quote it. On a GPU
// the process has lost the device then. The software device does the same unless it was opened [WithRecovery].
//
// # Testing
//
// Package cudatest opens a device in a test, checks that everything is closed, and runs the same test on a GPU with
// GOCUDA_TEST_DEVICE=driver.
package cuda
