package mem

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages in a range. It is called once for a whole region, not for each allocation, since
// ranges with different advice cannot merge to one kernel mapping. Kernels without large pages refuse, which costs only
// time.
func (m *mapping) adviseHuge(off, n uint64) {
	_ = unix.Madvise(m.bytes(off, n), unix.MADV_HUGEPAGE)
}

func discard(_ *mapping, _ uint64, b []byte) error {
	return unix.Madvise(b, unix.MADV_DONTNEED)
}

// PhysicalMemory returns the bytes of memory the host has, 0 when it does not say.
func PhysicalMemory() uint64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	return uint64(si.Totalram) * uint64(si.Unit)
}
