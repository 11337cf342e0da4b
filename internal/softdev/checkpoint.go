package softdev

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// checkpoint is how far the process is stopped by the cuCheckpointProcess... functions. They serve the process that
// calls them: others would have to be reached by a channel that they listen at. Of them only answers for processes that
// do not exist, and questions about the own one, were recorded (reach/checkpoint); the rest follows the documentation.
//
// The memory of the devices is the process's own. A checkpoint has nothing to bring to the host, and a restore nothing
// to bring back: whatever saves the process's memory meanwhile has it all, and no work is under way.
type checkpoint struct {
	mu    sync.Mutex
	state atomic.Uint32                 // driver.CUprocessState
	open  atomic.Pointer[chan struct{}] // closed when calls may go on; nil while the process runs
	let   func()                        // lets submitted work go on
	held  atomic.Bool                   // let is to be called and Driver.freezing to be unlocked, by whoever clears it
}

// process checks whether a call is about this process (recorded: reach/checkpoint): there has to be such a process, and
// CUDA has to run in it.
func (d *Driver) process(pid int32) driver.CUresult {
	switch state := d.state.Load(); {
	case !processRuns(int(pid)):
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	case int(pid) != os.Getpid():
		d.explain(nil, "a software device stops and saves the process that it is in, and no other")
		return notSupported
	case state == driverNew:
		return driver.CUDA_ERROR_NOT_INITIALIZED
	case state == driverClosed:
		return driver.CUDA_ERROR_DEINITIALIZED
	}
	return success
}

func (d *Driver) checkpointGetState(_ driver.CUcontext, pid int32, out *driver.CUprocessState) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := d.process(pid); r != success {
		return r
	}
	*out = driver.CUprocessState(d.checkpoint.state.Load())
	return success
}

// checkpointGetRestoreThreadID names the process's first thread. Whoever calls cuCheckpointProcessRestore does the
// work, so that none has to run for it.
func (d *Driver) checkpointGetRestoreThreadID(_ driver.CUcontext, pid int32, out *int32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := d.process(pid); r != success {
		return r
	}
	*out = pid
	return success
}

// change goes from one state to another if f succeeds.
func (d *Driver) change(pid int32, from, to driver.CUprocessState, f func() driver.CUresult) driver.CUresult {
	if r := d.process(pid); r != success {
		return r
	}
	x := &d.checkpoint
	x.mu.Lock()
	defer x.mu.Unlock()
	if driver.CUprocessState(x.state.Load()) != from {
		return driver.CUDA_ERROR_ILLEGAL_STATE
	}
	r := f()
	if r == success {
		x.state.Store(uint32(to))
	}
	return r
}

// checkpointLock holds back the calls of other threads and waits for the work that is queued. Where that does not end
// in time everything goes on.
func (d *Driver) checkpointLock(_ driver.CUcontext, pid int32, args *driver.CUcheckpointLockArgs) driver.CUresult {
	return d.change(pid, driver.CU_PROCESS_STATE_RUNNING, driver.CU_PROCESS_STATE_LOCKED, func() driver.CUresult {
		var limit time.Duration // none
		if args != nil {
			if args.Reserved0 != 0 || args.Reserved1 != [7]uint64{} {
				return invalidValue
			}
			limit = time.Duration(args.TimeoutMs) * time.Millisecond
		}
		d.freezing.Lock() // until checkpointUnlock or Close
		d.checkpoint.let = d.still()
		open := make(chan struct{})
		d.checkpoint.open.Store(&open)
		d.checkpoint.held.Store(true)
		if !d.state.CompareAndSwap(driverReady, driverLocked) {
			d.unlock()
			return driver.CUDA_ERROR_DEINITIALIZED
		}
		r := d.drain(0, limit)
		if r != success {
			d.unlock()
		}
		if d.state.Load() == driverClosed { // meanwhile
			return driver.CUDA_ERROR_DEINITIALIZED
		}
		return r
	})
}

// unlock undoes checkpointLock, once: Close does so while it waits for work.
func (d *Driver) unlock() {
	if !d.checkpoint.held.Swap(false) {
		return
	}
	d.checkpoint.let()
	d.freezing.Unlock()
	d.state.CompareAndSwap(driverLocked, driverReady)
	d.letCalls()
}

// letCalls lets calls go on that wait in ready.
func (d *Driver) letCalls() {
	if open := d.checkpoint.open.Swap(nil); open != nil {
		close(*open)
	}
}

// locked waits until calls may go on.
func (d *Driver) locked() {
	if open := d.checkpoint.open.Load(); open != nil {
		<-*open
	}
}

func (d *Driver) checkpointCheckpoint(_ driver.CUcontext, pid int32,
	args *driver.CUcheckpointCheckpointArgs) driver.CUresult {
	return d.change(pid, driver.CU_PROCESS_STATE_LOCKED, driver.CU_PROCESS_STATE_CHECKPOINTED, func() driver.CUresult {
		if args != nil && args.CustomStorageInfo_out != nil {
			d.explain(nil, "the memory of a checkpoint is the process's own: there is no storage to choose")
			return notSupported
		}
		return success
	})
}

// checkpointRestore takes pairs of a device and itself. A device's memory stays where it is.
func (d *Driver) checkpointRestore(_ driver.CUcontext, pid int32,
	args *driver.CUcheckpointRestoreArgs) driver.CUresult {
	return d.change(pid, driver.CU_PROCESS_STATE_CHECKPOINTED, driver.CU_PROCESS_STATE_LOCKED, func() driver.CUresult {
		if args == nil {
			return success
		}
		if args.CustomStorageInfo_out != nil {
			d.explain(nil, "the memory of a checkpoint is the process's own: there is no storage to choose")
			return notSupported
		}
		if n := args.GpuPairsCount; n > uint32(len(d.devices)) || n > 0 && args.GpuPairs == nil {
			return invalidValue
		}
		for _, p := range unsafe.Slice(args.GpuPairs, args.GpuPairsCount) {
			if !d.hasDevice(p.OldUuid) || !d.hasDevice(p.NewUuid) {
				return invalidValue
			}
			if p.OldUuid != p.NewUuid {
				d.explain(nil, "the memory of a software device cannot move to another one")
				return notSupported
			}
		}
		return success
	})
}

func (d *Driver) hasDevice(id driver.CUuuid) bool {
	for _, dev := range d.devices {
		if dev.uuid() == id.Bytes {
			return true
		}
	}
	return false
}

func (d *Driver) checkpointUnlock(_ driver.CUcontext, pid int32, args *driver.CUcheckpointUnlockArgs) driver.CUresult {
	return d.change(pid, driver.CU_PROCESS_STATE_LOCKED, driver.CU_PROCESS_STATE_RUNNING, func() driver.CUresult {
		if args != nil && args.Reserved != [8]uint64{} {
			return invalidValue
		}
		d.unlock()
		return success
	})
}

// flushGPUDirectRDMAWrites has nothing to wait for (recorded: success): what others write to the memory of the device,
// other processes that have its file among them, goes through the caches of the host.
func (d *Driver) flushGPUDirectRDMAWrites(cur driver.CUcontext, target driver.CUflushGPUDirectRDMAWritesTarget,
	scope driver.CUflushGPUDirectRDMAWritesScope) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	// recorded: of targets only the current context, and of scopes the two
	if target != driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
		scope != driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
			scope != driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES {
		return invalidValue
	}
	return success
}

func (d *Driver) checkpointTable(t *driver.Table) {
	t.CheckpointProcessGetState = d.checkpointGetState
	t.CheckpointProcessGetRestoreThreadId = d.checkpointGetRestoreThreadID
	t.CheckpointProcessLock = d.checkpointLock
	t.CheckpointProcessCheckpoint = d.checkpointCheckpoint
	t.CheckpointProcessRestore = d.checkpointRestore
	t.CheckpointProcessUnlock = d.checkpointUnlock
	t.FlushGPUDirectRDMAWrites = d.flushGPUDirectRDMAWrites
}
