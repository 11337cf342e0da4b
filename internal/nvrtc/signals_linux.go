//go:build !gocuda_nodriver && (amd64 || arm64)

package nvrtc

import (
	"syscall"
	"time"
	"unsafe"
)

// action is the kernel's struct sigaction.
type action struct {
	handler, flags, restorer, mask uint64
}

const (
	saOnStack = 0x08000000
	signals   = 31 // those that have a meaning; the others are real-time signals
	watchTime = 100 * time.Microsecond
)

// goOwn says whether Go's runtime, or nobody, has set the action: a handler of Go's runs on the signal stack.
func (a *action) goOwn() bool { return a.flags&saOnStack != 0 || a.handler <= 1 && a.flags == 0 }

func getAction(sig int) (a action, ok bool) {
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), 0, uintptr(unsafe.Pointer(&a)), 8, 0, 0)
	return a, e == 0
}

func setAction(sig int, a *action) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(a)), 0, 8, 0, 0)
}

// keepSignals calls f and sees to it that signals stay the program's. NVRTC (13.0, in its first compilation) takes
// SIGINT, SIGTERM and SIGXFSZ by signal, and gives them back by signal, which loses the flags of Go's handler: it then
// runs on a goroutine's stack, which ends the process. While NVRTC has them a signal would run its handler there. So
// what it has set is undone as soon as it is seen, and at the end. What the program itself sets meanwhile stays: Go's
// handlers have a flag that tells them.
func keepSignals(f func()) {
	saved := map[int]action{}
	for sig := 1; sig <= signals; sig++ {
		if a, ok := getAction(sig); ok && a.goOwn() {
			saved[sig] = a
		}
	}
	restore := func() {
		for sig, own := range saved {
			if a, ok := getAction(sig); ok && !a.goOwn() {
				setAction(sig, &own)
			}
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(watchTime)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				restore()
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		<-stopped
		restore()
	}()
	f()
}
