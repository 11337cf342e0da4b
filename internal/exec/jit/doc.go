// Package jit is the engine that turns kernels into machine code. It works over the register frame of package ir as the
// interpreter does, and gives the same bits.
//
// A function is compiled when it first runs, once for warps with all lanes active and once for any mask. Operations
// without a template are left to the interpreter one at a time (interp.Single): the code stores what it holds in
// registers, returns to Go, and is entered again after the operation. So is everything that schedules: barriers, calls,
// divergence.
//
// # Machine code
//
// The code runs on the goroutine's stack as a leaf that leaves the stack pointer alone, so a memory fault in it is a
// fault of its caller to the Go runtime and becomes a panic there (debug.SetPanicOnFault), like those of the
// interpreter. Before an access that can fault the code notes its operation, and where a lane's address cannot be told
// otherwise the addresses (context.go), so the fault names operation and thread. Global addresses outside the device
// window, misaligned ones and those of other state spaces are found by explicit checks and left to the interpreter.
//
// A CTA of a cluster has its shared memory in the shared window at its rank: accesses to its own are checked against
// context.sharedLow, those to others' go by way of the cluster (amd64/cluster.go), and what is neither is left to the
// interpreter.
//
// Every back edge counts the split's budget, so control returns to Go within a bounded number of operations.
//
// # Whole CTAs
//
// Kernels whose operations all have templates, and that call nothing and need no scheduler (plan.WholeCTA), also have
// code for whole CTAs of given dimensions (amd64/cta.go), which a launch prefers: it stays in machine code from the
// first warp's beginning to the last one's end, and goes on to the next CTA. Every warp has a frame with what the CTA's
// code keeps behind the rows (abi.Frame): the next warp's frame, where it goes on, which lanes it began with and which
// are left. At a barrier a warp notes where it goes on and jumps to where the next one does; without barriers warps run
// one after the other. Where all warps surely pass the same barriers the next warp's place is known, and warps that
// have nothing to do until the next barrier are left out (plan.Step, amd64/cta_step.go).
//
// Values are known better than in code of single warps, since dimensions are constants (plan.Values): what is the same
// for all lanes, or grows by a stride from lane to lane, is kept as a scalar (amd64/scalar.go) and takes no row. Where
// lanes part, those of the lower block run on, and the others wait at theirs (abi.Frame.Pend); whoever comes by takes
// them along. There is code for all lanes and code for some (amd64/cta_versions.go). Of large kernels most of the
// latter is written when lanes first come to it (amd64/cta_rest.go, code.complete): the code returns for it, and goes
// on with it.
//
// What the code cannot do (a fault's report, an address of another state space) stops the CTA (blockRunner.Restore):
// its warps go on as splits of the scheduler, each at the operation where it stood, and the kernel is compiled again
// without the assumption that did not hold.
//
// # Packages
//
// Package plan finds out what a generator needs to know of a function; package amd64 writes the code, by package asm;
// package abi is what that code and this package agree on: the context, what stands in a warp's frame, and why the code
// returns. This package is the engine: it decides what is compiled, keeps the versions and runs them. It knows a
// generator by the interface backend only. All of them build, and are tested, on every host; code runs where
// host_linux_amd64.go is built.
package jit
