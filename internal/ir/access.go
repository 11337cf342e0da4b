package ir

import "github.com/gocuda/cuda/internal/ptx/optab"

// Access is what an operation does to memory with one of its operands.
type Access struct {
	Addr  *Arg
	Size  uint32 // bytes of a lane
	Write bool
}

// Access is that of a load, a store or an atomic operation, or the read of an asynchronous copy; ok is false for
// operations that access no memory, or do otherwise.
func (o *Op) Access() (a Access, ok bool) {
	at, value := 0, 1 // the operands with the address, and with what is moved
	switch o.Effect() {
	case optab.MemLoad:
		at, value = 1, 0
	case optab.MemStore, optab.MemAtomic:
		if len(o.Args) > 0 && o.Args[0].Kind != Addr {
			at, value = 1, 2
		}
		a.Write = true
	case optab.MemCopy:
		if from, n := o.Arg("b"), o.Arg("n"); from != nil && n != nil && n.Kind == Imm {
			return Access{Addr: from, Size: uint32(n.Bits)}, true
		}
		return a, false
	default:
		return a, false
	}
	t := o.Mods().LastType()
	if t == optab.NoTypeID || max(at, value) >= len(o.Args) || o.Args[at].Kind != Addr {
		return a, false
	}
	a.Addr, a.Size = &o.Args[at], t.Bytes()
	if v := &o.Args[value]; v.Kind == Vec {
		a.Size *= uint32(len(v.Elems))
	}
	return a, true
}
