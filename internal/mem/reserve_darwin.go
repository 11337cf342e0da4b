package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge does nothing: macOS gives anonymous memory large pages by itself where it can.
func (m *mapping) adviseHuge(_, _ uint64) {}

// discard maps fresh memory over the range: MADV_DONTNEED of macOS keeps the content.
func discard(m *mapping, off uint64, b []byte) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(m.base, off), uintptr(len(b)), unix.PROT_NONE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE|unix.MAP_FIXED)
	return err
}

// PhysicalMemory returns the bytes of memory the host has, 0 when it does not say.
func PhysicalMemory() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}
