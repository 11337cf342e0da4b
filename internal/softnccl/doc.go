// Package softnccl is what package nccl does on software devices: the collective operations of NCCL over memory of the
// host, in one process and between processes of a host.
//
// # Parts
//
// A hub lies in the process that made the identifier. Every rank is a node of it: one in the hub's process by function
// calls, others by a Unix socket (where there is none, by TCP to 127.0.0.1). Nodes exchange small messages; data passes
// through memory: a rank reads what others offer, in their own buffers inside one process, and in memory files (Linux)
// between processes.
//
// # Order of float operations
//
// Of n ranks the element i of an all-reduce of count elements belongs to chunk c = i / ceil(count/n). Its result is
// ((x[c+1] + x[c+2]) + ...) + x[c], with the ranks modulo n, rounded to the type after each step: the way of a chunk
// around NCCL's ring (src/device/all_reduce.h), for one channel. For a reduce the chunk is the root, for a
// reduce-scatter the rank that receives. So the bits depend on the ranks and the count alone: not on how many processes
// they are in, on how many processors there are, or on who is faster.
//
// # Failures
//
// A process that ends without saying so fails every communicator that it is in, at once, with ncclRemoteError; one that
// hangs does when the timeout of the communicator passes. What ranks ask for is compared before data moves: different
// counts, types or operations are ncclInvalidUsage, where NCCL would hang or overwrite memory.
package softnccl
