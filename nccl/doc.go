// Package nccl is NVIDIA's Collective Communications Library for Go: all-reduce, broadcast, gather and the like over
// the memory of several GPUs, in one process or in many, on one machine or on many. It needs no C compiler. On GPUs the
// work is done by NVIDIA's library, which is opened at run time; on software devices by this module, between the
// devices of a process and the processes of a host, so that programs for several GPUs can be tested without any:
//
//	comms, err := nccl.InitAll(ctx, contexts, nccl.Config{}) // one process, a device each
//	...
//	err = nccl.Group(func() error {
//		for i, c := range comms {
//			if err := nccl.AllReduce(c, streams[i], x[i].View, x[i].View, nccl.Sum); err != nil {
//				return err
//			}
//		}
//		return nil
//	})
//
// In a program of many processes each calls [Init] with the same [ID], which one of them makes with [NewID] and hands
// round; a [Rendezvous] does that, for example by a [File].
//
// # Order and threads
//
// An operation is queued in a stream, as a kernel is, and the call returns; it runs when the stream of every rank has
// come to it. All ranks must issue the operations of a communicator in the same order. Every call binds the context of
// its communicator, so goroutines may call from any OS thread; a [Group] belongs to the goroutine that calls it.
//
// # Errors and dead peers
//
// A communicator can fail after a call has returned, since a peer died: [Comm.Err] tells, and [Comm.Wait] waits for a
// stream and for such errors at the same time, up to the deadline of a context.Context, at which it aborts the
// communicator. Communicators are non-blocking inside (ncclConfig_t.blocking = 0), so that no call waits in the library
// for a peer: each ends with its context.Context or with Config.Timeout.
//
// # Software devices
//
// An identifier of software devices joins ranks of one host: in one process everywhere, in several on Linux. Integers,
// minima and maxima are NCCL's. Sums and products of floats have a fixed order: element i of an all-reduce of count
// elements over n ranks belongs to chunk c = i / ceil(count/n), and its result is ((x[c+1] + x[c+2]) + ...) + x[c] with
// the ranks modulo n, rounded to the type at each step, as a chunk goes around NCCL's ring. In averages and in sums
// with a scalar the product is fused with the sum, but for 8-bit floats, as recorded. For a reduce c is the root, for a
// reduce-scatter the rank that receives. It does not depend on how many processes the ranks are in.
package nccl
