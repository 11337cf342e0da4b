package limits

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// descriptor is a file descriptor of memory, which goes to the call that it is given to.
func (w *world) descriptor() int32 {
	if w.t == nil {
		return 0
	}
	fd := slot[int32](w)
	w.must("descriptor", w.t.MemExportToShareableHandle(0, unsafe.Pointer(fd), w.store(),
		driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
	return *fd
}

func (w *world) memoryHandleDesc() *driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
	p := slot[driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC](w)
	p.Type, p.Size = driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, granule
	*p.Handle.Fd() = w.descriptor()
	return p
}

func (w *world) externalMemory() driver.CUexternalMemory {
	return once(w, "external memory", func(out *driver.CUexternalMemory) {
		w.must("external memory", w.t.ImportExternalMemory(0, out, w.memoryHandleDesc()))
	})
}

func (w *world) semaphoreHandleDesc() *driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
	p := slot[driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC](w)
	p.Type = driver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
	*p.Handle.Fd() = w.descriptor()
	return p
}

// externalSemaphore is a binary one: whatever value a wait is given, it ends after a signal.
func (w *world) externalSemaphore() driver.CUexternalSemaphore {
	return once(w, "external semaphore", func(out *driver.CUexternalSemaphore) {
		w.must("external semaphore", w.t.ImportExternalSemaphore(0, out, w.semaphoreHandleDesc()))
	})
}

func (w *world) semaphores() *driver.CUexternalSemaphore {
	p := slot[driver.CUexternalSemaphore](w)
	*p = w.externalSemaphore()
	return p
}

// waitParams signals what is to be waited for.
func (w *world) waitParams() *driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
	if w.t != nil {
		w.must("signal", w.t.SignalExternalSemaphoresAsync(0, w.semaphores(),
			slot[driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS](w), 1, w.stream()))
	}
	return slot[driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS](w)
}

func (w *world) signalNode() *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
	p := slot[driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS](w)
	*p = driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS{ExtSemArray: w.semaphores(),
		ParamsArray: slot[driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS](w), NumExtSems: 1}
	return p
}

func (w *world) waitNode() *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS {
	p := slot[driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS](w)
	*p = driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{ExtSemArray: w.semaphores(),
		ParamsArray: slot[driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS](w), NumExtSems: 1}
	return p
}
