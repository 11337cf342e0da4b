// Package cuda runs CUDA code from Go: on an NVIDIA GPU through its driver, or without one on the software CUDA device of this module. It needs no cgo, no C compiler and
// no CUDA toolkit.
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
// The programs in the folder examples are a course in twelve steps. Package cu has the whole driver API under its C names; docs/names.md says which function of this package
// stands for which of the driver.
//
// # Systems and devices
//
// [Open] takes the NVIDIA driver if it loads and has a device, and else the software device; [System.Kind] says which it was and [System.Why] the reason. [WithDriver],
// [WithSoftware] and the environment variable GOCUDA_DEVICE (driver, software or auto) decide otherwise: what is asked for by name is never replaced by the
// other. Several systems can be open in one process, for example to compare the two.
//
// # Contexts and goroutines
//
// A [Context] owns memory, streams and modules on one device. [Device.Primary] is the one that a process shares with the CUDA runtime, and right for most programs;
// [Device.NewContext] and [Device.NewGreenContext] make others. Nothing is ever current: each call binds the context of the object it is made on, so goroutines may use
// every object at the same time, on whatever threads they run, and no runtime.LockOSThread is needed. Only a Close must not run beside other uses of the same
// object. [Context.With] is for foreign libraries that want a current context.
//
// # Memory
//
// A [Buffer] owns device memory with elements of a Go type; any type without Go pointers will do. A [View] is a part of it, sliced as Go slices are. Copies to and from []T
// wait. Copies that do not wait (the methods with Async) take pinned memory only, since nothing would hold ordinary Go memory in its place: [AllocPinned] allocates such
// memory and [Register] makes a Go slice so. [AllocManaged] gives one []T for host and device, [AllocMatrix] rows with a pitch, [AllocAsync] and [AllocFrom] memory from a pool in
// the order of a stream.
//
// Device memory must be closed. The garbage collector never frees it: it sees neither the size nor what the device still does with it. [Scope] closes many
// things in the right order, [WithLeakReports] tells where forgotten ones were made, and a parent refuses to close over open children with an [*OpenError].
//
// # Kernels
//
// [Context.Load] and [Context.LoadFS] load code, [Module.Kernel] finds a kernel in it. [Kernel.Launch] takes a stream (nil is the default stream), a [LaunchConfig] and the
// arguments: [Ptr] for memory, [Val] for numbers, [StructArg] for structs. They are checked against the parameters of the kernel before the launch:
//
//	cuda: cuLaunchKernel (saxpy): CUDA_ERROR_INVALID_VALUE: invalid argument: argument 3 `n`: 8 bytes given (int), kernel wants 4 (.u32); pass int32(v)
//
// Counts and sizes come from the driver (CUDA 12.4 and later) or the image, names and kinds from the PTX in the image. Arguments count from 0. A launch allocates nothing.
// [Bind1] to [Bind8] give a kernel Go types, so that the compiler checks; [Kernel.Prepare] keeps a launch for many uses.
//
// # Streams, events, graphs
//
// Work in a [Stream] runs in order and streams run beside each other; an [Event] is a point in a stream that others wait for. Functions that queue work return before it is
// done. [Stream.Synchronize] waits; [Stream.Wait] waits until a context.Context ends, which stops the kernel on the software device and only the waiting on a GPU.
// [Stream.HostFunc] calls Go from a stream. A [Graph] is work described once and launched many times: recorded by [Stream.Capture], which leaves the stream usable whatever
// happens in it, or put together node by node.
//
// # Errors
//
// Errors from the driver are [*Error]: the function, the code, the kernel or variable, the compiler's log, and a detail. Codes compare with errors.Is(err, [ErrOutOfMemory]).
// Kernels run later than they are queued, so what goes wrong in one shows at a later call, and it breaks the context: every call then fails with that code. The
// first error says what happened, on the software device with kernel, block, thread and line of PTX; later ones quote it. On a GPU the process has lost
// the device then. The software device does the same unless it was opened [WithRecovery].
//
// # Testing
//
// Package cudatest opens a device in a test, checks that everything is closed, and runs the same test on a GPU with GOCUDA_TEST_DEVICE=driver.
package cuda
