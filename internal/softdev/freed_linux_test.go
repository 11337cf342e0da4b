package softdev

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/driver"
)

// Registered memory is the program's, which may take it away under queued work.
func TestRegisteredGoneUnderQueuedWork(t *testing.T) {
	for _, w := range freedWork {
		t.Run(w.name, func(t *testing.T) {
			_, tab, a := open(t, Options{})
			s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
			q := alloc(t, tab, a, freedSize)
			b, err := unix.Mmap(-1, 0, freedSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Munmap(b)
			must(t, tab.MemHostRegister_v2(a, unsafe.Pointer(&b[0]), freedSize, 0))
			g := newGate()
			g.hold(t, tab, a, s)
			must(t, w.queue(tab, a, s, driver.CUdeviceptr(uintptr(unsafe.Pointer(&b[0]))), q))
			// and not given back, where something else might come
			if err := unix.Mprotect(b, unix.PROT_NONE); err != nil {
				t.Fatal(err)
			}
			close(g.open)
			// the driver has pinned the pages, and goes on (recorded)
			want(t, "wait", tab.StreamSynchronize(a, s), lost(w.value))
		})
	}
}
