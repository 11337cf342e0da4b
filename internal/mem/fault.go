package mem

import "runtime"

// Faulted says whether a recovered value is the runtime's error for an access to memory that is not there, and to which
// address. The goroutine must have called debug.SetPanicOnFault(true): without it the runtime ends the process. The
// runtime gives no address for faults in the first page of the address space; those are nil pointers of Go code, never
// device addresses.
func Faulted(recovered any) (addr uint64, ok bool) {
	e, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return 0, false
	}
	return uint64(e.Addr()), true
}
