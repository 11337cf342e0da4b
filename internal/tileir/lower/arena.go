package lower

import (
	"slices"

	"github.com/gocuda/cuda/internal/tileir"
)

// arenaName and depotName are the variables of a function: the arena, and what is printed. All names that are made here
// have a $, so that names of the module hardly meet them.
const (
	arenaName = "tile$arena"
	depotName = "tile$depot"
)

// arena gives out parts of shared memory.
type arena struct {
	size uint64 // largest end of a part so far
	used []part // by offset
	// packed is how many of the first parts are known to lie side by side from 0 on: no room is among them.
	packed int
}

type part struct {
	at, size uint64
	last     int // the number of the operation after which it is free
}

// arenaAlign is the alignment of parts: that of a row of 32 words.
const arenaAlign = 128

// take finds room that is needed until after an operation.
func (a *arena) take(size uint64, last int) uint64 {
	size = (size + arenaAlign - 1) &^ (arenaAlign - 1)
	at, i := uint64(0), a.packed
	if i > 0 {
		at = a.used[i-1].at + a.used[i-1].size
	}
	for ; i < len(a.used); i++ {
		if a.used[i].at-at >= size {
			break
		}
		if i == a.packed && a.used[i].at == at {
			a.packed++
		}
		at = a.used[i].at + a.used[i].size
	}
	a.used = slices.Insert(a.used, i, part{at, size, last})
	if i == a.packed {
		a.packed++
	}
	a.size = max(a.size, at+size)
	return at
}

// free gives back what is not needed from an operation on.
func (a *arena) free(now int) {
	n := len(a.used)
	if a.used = slices.DeleteFunc(a.used, func(p part) bool { return p.last < now }); len(a.used) < n {
		a.packed = 0
	}
}

// room takes room for n elements until after an operation.
func (g *fn) room(n, bytes int64, last int) int64 {
	g.w.check() // an operation may have many tiles
	at := g.arena.take(uint64(n)*uint64(bytes), last)
	if g.arena.size > g.w.o.MaxShared {
		panic(tooLarge{})
	}
	return int64(at)
}

// tooLarge says that the arena has no room.
type tooLarge struct{}

// slot gives the place of a stored value in the arena.
func (g *fn) slot(v *tileir.Val) int64 {
	if at, ok := g.slots[v]; ok {
		return at
	}
	at := int64(0)
	if a := g.forwards[v]; a != nil {
		at = g.slots[a]
	} else {
		at = g.room(v.Type.Elements(), typeOf(v.Type.Elem).bytes, g.last[v])
	}
	g.slots[v] = at
	return at
}

// farthest bounds how far from its register an access to the arena is: machine code checks registers, once for all
// accesses that are near.
const farthest = 1 << 12

// at is the address of an element in a part of the arena.
func (g *fn) at(slot, bytes int64, ix index) string {
	shift := log2(bytes)
	scaled := append(make(index, shift), ix...)
	r, rest := g.e.linear(scaled)
	base := g.arenaBase()
	disp := slot + rest
	if disp >= farthest {
		base = g.e.add(32, base, number(b32, disp&^(farthest-1)))
		disp &= farthest - 1
	}
	if !r.zero() {
		base = g.e.add(32, base, r)
	}
	return g.address(base, disp)
}

// arenaBase is the address of the arena.
func (g *fn) arenaBase() reg { return g.e.op(b32, "mov.b32", reg{text: arenaName}) }

// sync has the warp wait until all lanes have made their accesses to the arena.
func (g *fn) sync() { g.e.line("bar.warp.sync 0xffffffff") }
