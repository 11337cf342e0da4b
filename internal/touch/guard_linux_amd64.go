package touch

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const most = 256 // accesses that are noted between two looks

// shared is what the handler works with, at the offsets that handler_linux_amd64.s has.
type shared struct {
	base, size uintptr
	pages      uintptr // a byte for each page
	old        uintptr // the handler before
	n          uint64  // accesses noted, and those beyond the room
	list       [most]note
	last       uintptr // page that was open already when it faulted, and how often
	_          uint64  // how often
	dfl        action  // the default action
}

type note struct {
	addr uintptr
	_    uintptr // of the instruction
	what uint64  // 1 for a load, 3 for a store, 0 while it is being noted
}

// What a page is.
const (
	pageFree   = iota
	pageClosed // no rights, or no right to write
	_
	pageOpened // by the handler, or it has been closed
)

// action is the kernel's struct sigaction.
type action struct{ handler, flags, restorer, mask uint64 }

// state is the process's, as its handlers are.
var (
	state shared
	owner atomic.Pointer[Guard]
)

func entries() (handler, restorer uintptr)

// Guard sees accesses in a range of addresses.
type Guard struct {
	base, size uint64
	pages      []byte
	set        []Range
}

// Open begins to see accesses; they are in no range at first. Errors: ErrUnsupported.
func Open(base, size uint64) (*Guard, error) {
	g := &Guard{base: base, size: size}
	if !owner.CompareAndSwap(nil, g) {
		return nil, ErrUnsupported
	}
	var err error
	g.pages, err = unix.Mmap(-1, 0, int(size/PageSize), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		owner.Store(nil)
		return nil, ErrUnsupported
	}
	state.base, state.size, state.pages = uintptr(base), uintptr(size), uintptr(unsafe.Pointer(&g.pages[0]))
	return g, nil
}

// install makes the handler the first one.
func install() bool {
	const (
		saSiginfo, saRestorer, saOnStack, saRestart = 4, 0x04000000, 0x08000000, 0x10000000
	)
	h, r := entries()
	var now action
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSEGV), 0,
		uintptr(unsafe.Pointer(&now)), 8, 0, 0); e != 0 {
		return false
	}
	if now.handler == uint64(h) {
		return true
	}
	state.old = uintptr(now.handler)
	a := action{uint64(h), saSiginfo | saRestorer | saOnStack | saRestart, uint64(r), ^uint64(0)}
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSEGV), uintptr(unsafe.Pointer(&a)), 0,
		8, 0, 0)
	return e == 0
}

func protect(lo, hi uint64, prot uintptr) bool {
	_, _, e := syscall.RawSyscall(syscall.SYS_MPROTECT, uintptr(lo), uintptr(hi-lo), prot)
	return e == 0
}

func (g *Guard) mark(r Range, what byte) {
	p := g.pages[(r.Lo-g.base)/PageSize : (r.Hi-g.base)/PageSize]
	for i := range p {
		p[i] = what
	}
}

// Set takes ranges, which do not overlap and lie in that of Open, in place of those before. Accesses of the program in
// them are seen from then on.
func (g *Guard) Set(ranges []Range) {
	g.Release()
	if len(ranges) == 0 || !install() {
		return
	}
	for _, r := range ranges {
		prot := uintptr(unix.PROT_READ)
		if r.Reads {
			prot = unix.PROT_NONE
		}
		g.mark(r, pageClosed)
		if !protect(r.Lo, r.Hi, prot) {
			protect(r.Lo, r.Hi, unix.PROT_READ|unix.PROT_WRITE)
			return
		}
		g.set = append(g.set, r)
	}
}

// Release opens all ranges.
func (g *Guard) Release() {
	for _, r := range g.set {
		protect(r.Lo, r.Hi, unix.PROT_READ|unix.PROT_WRITE)
		g.mark(r, pageOpened)
	}
	g.set = g.set[:0]
}

// Closed says whether there are ranges.
func (g *Guard) Closed() bool { return len(g.set) > 0 }

// Take gives what was seen since the last time.
func (g *Guard) Take() (list []Access) {
	n := atomic.SwapUint64(&state.n, 0)
	for i := range min(n, most) {
		p := &state.list[i]
		if what := atomic.SwapUint64(&p.what, 0); what != 0 {
			list = append(list, Access{uint64(p.addr), what&2 != 0})
		}
	}
	return list
}

// Close ends it.
func (g *Guard) Close() {
	g.Release()
	state.size = 0
	_ = unix.Munmap(g.pages)
	owner.CompareAndSwap(g, nil)
}
