package checker

import (
	"fmt"
	"sync"
)

// InitChecker finds uses of what nobody has written. It follows undefined bits through memory and, told by the engine,
// through registers. Copying them is no defect; a branch, an address and a store's predicate that depend on them are,
// and so is a result computed from them that the program reads. Its methods may be called from several goroutines at
// once.
type InitChecker struct {
	mu      sync.Mutex
	log     *Log
	global  *Bytes
	origins []*valueOrigin
	known   map[originKey]Origin
	seen    map[originPlace]*Report
	// made describes the memory at an address; host says whether the program sees it without a call.
	made func(addr uint64) *Allocation
	host func(addr uint64) bool
}

// NewInit makes a checker. made describes the memory that an address lies in; host says whether the program reads it
// without a call, and writes it: such memory always counts as defined.
func NewInit(log *Log, made func(addr uint64) *Allocation, host func(addr uint64) bool) *InitChecker {
	return &InitChecker{
		log: log, global: NewBytes(false), made: made, host: host,
		known: map[originKey]Origin{}, seen: map[originPlace]*Report{},
		origins: []*valueOrigin{{space: "register"}},
	}
}

// originPlace is an operation of a program.
type originPlace struct {
	p    Program
	site uint32
}

// valueOrigin is where undefined bits come from: the load that met them first, the last load of them, and the first
// operation that computed with them.
type valueOrigin struct {
	space             string
	first, last, calc Site
	at                originKey
	addr              uint64
	made              *Allocation
}

type originKey struct{ first, last, calc originPlace }

// Allocated makes global memory that nobody has written. Freed memory counts as defined.
func (i *InitChecker) Allocated(addr, n uint64) { i.set(addr, n, true) }

// Freed forgets global memory.
func (i *InitChecker) Freed(addr, n uint64) { i.set(addr, n, false) }

// Written makes global memory defined: by the host, or by a fill.
func (i *InitChecker) Written(addr, n uint64) { i.set(addr, n, false) }

func (i *InitChecker) set(addr, n uint64, fresh bool) {
	if n == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.global.SetRange(addr, n, fresh)
}

// Copied is a copy by the driver; to names the call where it goes to memory of the host, which is a use of results.
func (i *InitChecker) Copied(dst, src, n uint64, to string) {
	if n == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if to == "" {
		i.global.Copy(dst, i.global, src, n)
		return
	}
	i.global.Find(src, n, func(addr uint64, o Origin) { i.use(to, Site{}, originPlace{}, addr, o) })
}

// Launch begins a grid.
func (i *InitChecker) Launch(p Program) *InitLaunch { return &InitLaunch{i: i, p: p} }

// InitLaunch is one grid.
type InitLaunch struct {
	i *InitChecker
	p Program
}

// Lost changes when bytes of global memory that were defined may have become undefined.
func (l *InitLaunch) Lost() uint64 { return l.i.global.lost.Load() }

// LockGlobal is global memory, which nobody else touches until UnlockGlobal.
func (l *InitLaunch) LockGlobal() *Bytes {
	l.i.mu.Lock()
	return l.i.global
}

// UnlockGlobal ends LockGlobal.
func (l *InitLaunch) UnlockGlobal() { l.i.mu.Unlock() }

// Block begins a block of threads.
func (l *InitLaunch) Block(at, dims [3]uint32) *InitBlock {
	return &InitBlock{l: l, at: at, dims: dims, Shared: NewBytes(true)}
}

// InitBlock is one block of threads.
type InitBlock struct {
	l        *InitLaunch
	at, dims [3]uint32
	Shared   *Bytes // by offset
}

// Next makes it another block of the same grid.
func (b *InitBlock) Next(at [3]uint32) {
	b.at = at
	b.Shared.Reset()
}

// Of says whether it is a block of a launch.
func (b *InitBlock) Of(l *InitLaunch) bool { return b != nil && b.l == l }

// LockGlobal is that of the launch.
func (b *InitBlock) LockGlobal() *Bytes { return b.l.LockGlobal() }

// UnlockGlobal ends LockGlobal.
func (b *InitBlock) UnlockGlobal() { b.l.UnlockGlobal() }

// HostSees says whether the program reads memory at an address without a call.
func (b *InitBlock) HostSees(addr uint64) bool { return b.l.i.host(addr) }

// side describes a thread's operation.
func (b *InitBlock) side(site uint32, thread int, access string, size uint32) Site {
	n, d := uint32(thread), b.dims
	s := Site{
		Kernel: b.l.p.Name(), Place: b.l.p.Place(site), Access: access, Size: size, Block: b.at,
		Thread: [3]uint32{n % d[0], n / d[0] % d[1], n / d[0] / d[1]},
	}
	if s.Func == s.Kernel {
		s.Func = ""
	}
	return s
}

// Loaded is the origin of a value that a thread has loaded and some bits of which are undefined.
func (b *InitBlock) Loaded(site uint32, thread int, space string, addr uint64, size uint32, had Origin) Origin {
	i := b.l.i
	i.mu.Lock()
	defer i.mu.Unlock()
	old := i.origins[had&^computed]
	k := old.at
	here := originPlace{b.l.p, site}
	if k.last == here || k.first == here && k.last == (originPlace{}) {
		return had
	}
	if k.first.p == nil {
		k.first = here
	} else {
		k.last = here
	}
	o, ok := i.known[k]
	if !ok {
		n := *old
		n.at = k
		side := b.side(site, thread, "read", size)
		if k.first == here {
			n.first, n.space, n.addr = side, space, addr
			if space == "global" {
				n.made = i.made(addr)
			}
		} else {
			n.last = side
		}
		o = i.add(k, &n)
	}
	return o | had&computed
}

func (i *InitChecker) add(k originKey, n *valueOrigin) Origin {
	o := Origin(len(i.origins))
	i.origins = append(i.origins, n)
	i.known[k] = o
	return o
}

// Computed is the origin of what a thread computes with undefined bits.
func (b *InitBlock) Computed(site uint32, thread int, had Origin) Origin {
	if had.Computed() {
		return had
	}
	i := b.l.i
	i.mu.Lock()
	defer i.mu.Unlock()
	old := i.origins[had]
	k := old.at
	k.calc = originPlace{b.l.p, site}
	o, ok := i.known[k]
	if !ok {
		n := *old
		n.at = k
		n.calc = b.side(site, thread, "computation", 0)
		o = i.add(k, &n)
	}
	return o | computed
}

// Use is a use of undefined bits by a thread that a program may not make; what names it.
func (b *InitBlock) Use(site uint32, thread int, what string, o Origin) {
	i := b.l.i
	i.mu.Lock()
	defer i.mu.Unlock()
	i.use(what, b.side(site, thread, what, 0), originPlace{b.l.p, site}, 0, o)
}

func (i *InitChecker) use(what string, by Site, here originPlace, addr uint64, id Origin) {
	o := i.origins[id&^computed]
	k := o.at.first
	if k.p == nil { // of registers: by who computes with it, or uses it
		k = o.at.calc
	}
	if k.p == nil {
		k = here
	}
	if had := i.seen[k]; had != nil {
		i.log.Again(had)
		return
	}
	r := &Report{Kind: Uninitialised, Space: o.space, Address: o.addr, Memory: o.made}
	for _, s := range []Site{o.first, o.last, o.calc, by} {
		if s.Kernel != "" {
			r.Sites = append(r.Sites, s)
		}
	}
	if by.Kernel != "" {
		r.Where = "the " + what + " depends on bits that nobody has written"
	} else {
		r.Where = fmt.Sprintf("%s has bytes, from %#x on, that were computed from bits that nobody has written", what,
			addr)
	}
	i.seen[k] = i.log.Add(r)
}

// Undefined are the undefined bits of up to 16 bytes of global memory.
func (i *InitChecker) Undefined(addr, n uint64) Value {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.global.Load(addr, n)
}
