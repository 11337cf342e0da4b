// Package checker finds data races in what kernels do to memory. It knows events (accesses, barriers, fences, copies),
// not the engine that makes them nor the driver that the program calls.
//
// # Order
//
// Two accesses race when they touch the same byte, one of them writes, nothing orders them, and they are not both
// strong with scopes that include each other's thread (PTX ISA, chapter 8). What orders is followed with vector clocks:
// the order in which accesses happened to be made says nothing. Every thread has an epoch, a number that grows when the
// thread releases what it did; a clock says up to which epoch the work of each thread is known to its owner. Epochs
// come from one counter for the whole launch, so that "all threads of a block up to now" is a single number, and the
// clocks that a barrier leaves behind are small and shared.
//
// Asynchronous copies are the accesses of actors of their own, whose work becomes known where the program waits for it.
// Accesses of the async proxy ask a second clock of the issuing thread, which a proxy fence sets, whether they may see
// what was written by ordinary stores.
package checker
