// Package softdev is the software CUDA device: the state behind the driver API (devices, contexts, streams, events,
// memory, modules, libraries) and the argument checks and result codes of every entry point, with kernels run on the
// CPU by package exec.
//
// A Driver fills a driver.Table. It answers what the NVIDIA driver answers, also to nonsense; what it cannot do yet
// gives CUDA_ERROR_NOT_SUPPORTED, and Driver.LastDetail says in words what that was. Several Drivers can be open in one
// process; they share nothing.
//
// # Structure
//
// One file for each group of the API. Every entry point begins with Driver.enter, which turns the current context into
// a *context (handle.go, thread.go, enter.go). Work goes through streams (stream.go): a queue of operations with
// sequence numbers, so that an event, a wait and a synchronisation are all a pair (stream, number). Module code is in
// two layers: a library holds what does not depend on a context (text, checked module, lowered kernels), a module is an
// instance of it in one context (variables, constant rows).
//
// # What is not promised
//
// Handles are checked, but pointers to host memory are trusted as the C driver trusts them.
package softdev
