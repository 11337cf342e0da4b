package interp

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// locks128 serialise 128-bit atomics by address where the processor has none. They are atomic against each other, as
// the ISA asks of atomics of one size.
var locks128 [64]sync.Mutex

// swap128 stores v where p has what want points at, or anyway when want is nil, and returns what was there.
func swap128(p *[2]uint64, want *[2]uint64, v [2]uint64) [2]uint64 {
	if !has128 {
		lock := &locks128[uintptr(unsafe.Pointer(p))>>4&63]
		lock.Lock()
		defer lock.Unlock()
		old := *p
		if want == nil || old == *want {
			*p = v
		}
		return old
	}
	old := *p // as a first guess
	if want != nil {
		old = *want
	}
	for {
		var was [2]uint64
		was[0], was[1] = cas128(unsafe.Pointer(p), old[0], old[1], v[0], v[1])
		if want != nil || was == old {
			return was
		}
		old = was
	}
}

func atom128(op *ir.Op, ac access, d, b, c *ir.Arg) handler {
	cas := op.Mods().Func == optab.FuncCas
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			p := (*[2]uint64)(ac.pointer(w, l, true))
			var v, want [2]uint64
			v[0], v[1] = get128(w, b, l)
			var old [2]uint64
			if cas {
				want = v
				v[0], v[1] = get128(w, c, l)
				old = swap128(p, &want, v)
			} else {
				old = swap128(p, nil, v)
			}
			set128(w, d, l, old[0], old[1])
		}
	}
}
